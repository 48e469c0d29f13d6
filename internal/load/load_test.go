package load

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// server counts requests per client port, as the far end sees them.
type server struct {
	mu   sync.Mutex
	seen map[int][]int // port -> request ids in order
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, port, _ := net.SplitHostPort(r.RemoteAddr)
	p, _ := strconv.Atoi(port)
	id, _ := strconv.Atoi(r.Header.Get("X-Request-Id"))
	s.mu.Lock()
	s.seen[p] = append(s.seen[p], id)
	s.mu.Unlock()
	switch r.URL.Path {
	case "/chunked":
		w.Write(bytes.Repeat([]byte("x"), 10_000))
		w.(http.Flusher).Flush()
		w.Write([]byte("end"))
	case "/empty":
		w.WriteHeader(http.StatusNoContent)
	case "/bad":
		http.Error(w, "no", http.StatusTeapot)
	case "/hangup":
		panic(http.ErrAbortHandler)
	default:
		fmt.Fprint(w, "hello")
	}
}

func start(t *testing.T) (*server, string) {
	s := &server{seen: map[int][]int{}}
	ts := httptest.NewServer(s)
	t.Cleanup(ts.Close)
	return s, ts.URL
}

// The open loop opens a connection when all it has are busy, not for every request.
func TestOpenLoopKeepsConnections(t *testing.T) {
	_, base := start(t)
	r, err := Run(context.Background(), Options{URL: base + "/", Rate: 400, For: 500 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	ports, atOnce := map[int]bool{}, 0
	for i, e := range r.Log {
		ports[e.Port] = true
		open := 0
		for _, other := range r.Log[:i+1] {
			if other.Done >= e.Intended {
				open++
			}
		}
		atOnce = max(atOnce, open)
	}
	// A worker is idle again a moment after it stamped its answer.
	if len(ports) > 2*atOnce+2 {
		t.Errorf("%d connections for %d requests of which at most %d were open at once", len(ports), len(r.Log), atOnce)
	}
}

func TestLogAgreesWithServer(t *testing.T) {
	for _, opt := range []Options{
		{Rate: 500, Seed: 1},
		{Rate: 500, Conns: 2, Seed: 2},
		{Workers: 3},
		{Workers: 2, Close: true},
		{Rate: 300, Close: true},
	} {
		t.Run(fmt.Sprintf("rate%v-workers%d-close%v", opt.Rate, opt.Workers, opt.Close), func(t *testing.T) {
			s, base := start(t)
			paths := []string{"/", "/chunked", "/empty"}
			opt.URL, opt.For = base+"/", 200*time.Millisecond
			opt.Path = func(i int) string { return paths[i%3] }
			r, err := Run(context.Background(), opt)
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Log) < 10 {
				t.Fatalf("only %d requests", len(r.Log))
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			for i, e := range r.Log {
				if e.ID != i || e.Err != "" || e.Intended > e.Sent || e.Sent >= e.Done {
					t.Fatalf("entry %d: %+v", i, e)
				}
				if ids := s.seen[e.Port]; !slices.Contains(ids, e.ID) || !opt.Close && ids[e.Ordinal] != e.ID {
					t.Fatalf("entry %+v, but the server saw %v on that port", e, ids)
				}
			}
			if opt.Conns > 0 && len(s.seen) > opt.Conns {
				t.Errorf("%d connections, at most %d allowed", len(s.seen), opt.Conns)
			}
		})
	}
}

func TestOpenLoopCountsTheQueue(t *testing.T) {
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(10 * time.Millisecond)
	}))
	defer slow.Close()
	r, err := Run(context.Background(), Options{URL: slow.URL, Rate: 400, Conns: 1, For: 200 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	last := r.Log[len(r.Log)-1]
	if last.Latency() < 10*last.Service() {
		t.Errorf("one connection of 10 ms at 400/s: the last latency %d should be many times its service time %d", last.Latency(), last.Service())
	}
}

func TestFailuresAreLogged(t *testing.T) {
	_, base := start(t)
	paths := []string{"/", "/bad", "/hangup"}
	r, err := Run(context.Background(), Options{
		URL: base, Workers: 1, For: 50 * time.Millisecond,
		Path: func(i int) string { return paths[i%3] },
	})
	if err != nil {
		t.Fatal(err)
	}
	if e := r.Log[1]; e.Status != http.StatusTeapot || e.Err != "" {
		t.Errorf("a bad status is an answer: %+v", e)
	}
	if e := r.Log[2]; !strings.Contains(e.Err, "closed before an answer") {
		t.Errorf("a lost answer is an error: %+v", e)
	}
	if s := r.Summary(); s.Errors == 0 || s.Failed == 0 || s.Answered+s.Errors != s.Requests {
		t.Errorf("summary %+v", s)
	}
}

func TestOutstandingAnswersAreGivenUp(t *testing.T) {
	hold := make(chan struct{})
	stuck := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-hold }))
	defer stuck.Close()
	defer close(hold)
	r, err := Run(context.Background(), Options{URL: stuck.URL, Workers: 1, For: 20 * time.Millisecond, Drain: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Log) != 1 || r.Log[0].Err == "" {
		t.Errorf("log %+v, want one error", r.Log)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	for _, opt := range []Options{
		{URL: "localhost:80", Rate: 1, For: 1},
		{URL: "http://localhost:80", For: 1},
		{URL: "http://localhost:80", Rate: 1, Workers: 1, For: 1},
		{URL: "http://localhost:80", Rate: 1},
	} {
		if _, err := Run(context.Background(), opt); err == nil {
			t.Errorf("%+v was accepted", opt)
		}
	}
}

func TestQuantile(t *testing.T) {
	values := []int64{10, 20, 30, 40}
	for percent, want := range map[int]int64{0: 10, 25: 10, 50: 20, 51: 30, 99: 40, 100: 40} {
		if got := Quantile(values, percent); got != want {
			t.Errorf("Quantile(%d) = %d, want %d", percent, got, want)
		}
	}
	if Quantile(nil, 50) != 0 {
		t.Error("no values: want 0")
	}
}

func TestLogRoundTrip(t *testing.T) {
	log := []Entry{{ID: 1, Intended: 2, Sent: 3, Done: 4, Port: 5, Ordinal: 6, Status: 200}, {ID: 2, Err: "lost"}}
	var buf bytes.Buffer
	if err := (&Result{Log: log}).WriteLog(&buf); err != nil {
		t.Fatal(err)
	}
	back, err := ReadLog(&buf)
	if err != nil || !slices.Equal(log, back) {
		t.Errorf("read %+v, %v", back, err)
	}
}
