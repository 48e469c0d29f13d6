// Command service is the truth service in Go: GET /work?sleep=US&cpu=US&calls=N&delay=US&flow=F
// sleeps, computes, asks the upstream N times (which answers after delay), answers, and
// logs what it did. By the flow it asks one after the other (direct), with a body (post),
// over UDP (udp), or from goroutines of its own (all; nested: from goroutines of those), or
// from those of a pool, which wait for a task or the end in one select (pool); or it asks nobody and
// makes garbage, N times (garbage). PORT, UPSTREAM
// (address), SCHEME (https: over TLS), LOG (file) and MAX_CONNS (to the upstream; 0: any
// number) are in the environment, as for the services in the other languages.
package main

import (
	"bytes"
	"cmp"
	"crypto/tls"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/getdwell/dwell/internal/truth"
)

func main() {
	if err := serve("127.0.0.1:"+os.Getenv("PORT"), os.Getenv("UPSTREAM"), os.Getenv("LOG")); err != nil {
		log.Fatal(err)
	}
}

func serve(listen, upstream, name string) error {
	if name == "" {
		name = os.DevNull
	}
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	lines := make(chan truth.Served, 1<<16)
	go func() {
		enc := json.NewEncoder(file)
		for line := range lines {
			// A line lost here is missing from the truth, which the harness counts.
			_ = enc.Encode(line)
		}
	}()
	most, _ := strconv.Atoi(os.Getenv("MAX_CONNS"))
	client := &http.Client{Transport: &http.Transport{
		MaxIdleConnsPerHost: 64, MaxConnsPerHost: most,
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, // of a certificate for tests
	}}
	all, quit := shared{tasks: make(chan task)}, make(chan struct{})
	defer close(quit)
	for range poolSize {
		go answer(all.tasks, quit)
	}
	return truth.Serve(listen, false, func(w http.ResponseWriter, r *http.Request) {
		s := work(client, upstream, r, &all)
		w.Header().Set("Content-Length", "3")
		_, _ = w.Write([]byte("ok\n"))
		s.End = truth.Now()
		lines <- s
	})
}

// shared is what all requests have.
type shared struct {
	tasks   chan task
	counter counter
}

func work(client *http.Client, upstream string, r *http.Request, all *shared) truth.Served {
	s := truth.Served{Start: truth.Now()}
	s.Port, s.Ordinal = truth.Place(r)
	s.ID, _ = strconv.Atoi(r.Header.Get("X-Request-Id"))
	number := func(name string) int {
		n, _ := strconv.Atoi(r.FormValue(name))
		return n
	}
	if us := number("sleep"); us > 0 {
		time.Sleep(time.Duration(us) * time.Microsecond)
		s.Slept = truth.Now() - s.Start
	}
	from := truth.Now()
	for until := from + int64(number("cpu"))*1000; truth.Now() < until; {
	}
	s.Computed = truth.Now() - from
	from = truth.Now()
	url := cmp.Or(os.Getenv("SCHEME"), "http") + "://" + upstream + "/answer?delay=" + r.FormValue("delay")
	c := caller{client, upstream, r.FormValue("delay"), url, r.Header.Get("X-Request-Id"), all, r.Context().Done()}
	c.flow(r.FormValue("flow"), number("calls"))
	s.Waited = truth.Now() - from
	return s
}

// caller asks the upstream for one request.
type caller struct {
	client          *http.Client
	upstream, delay string // us
	url, id         string
	*shared
	gone <-chan struct{} // the client has given up
}

func (c caller) flow(name string, calls int) {
	if name == "pool" {
		c.pool(calls)
		return
	}
	var all sync.WaitGroup
	defer all.Wait()
	for range calls {
		switch name {
		case "all":
			all.Go(func() { c.ask(nil) })
		case "nested":
			all.Go(func() {
				var inner sync.WaitGroup
				inner.Go(func() { c.ask(nil) })
				inner.Wait()
				c.ask(nil)
			})
		case "udp":
			c.askDatagram()
		case "garbage":
			c.counter.garbage()
		case "post":
			c.ask(make([]byte, bodySize))
		default:
			c.ask(nil)
		}
	}
}

// bodySize is more than one write takes.
const bodySize = 20_000

func (c caller) ask(body []byte) {
	method := http.MethodGet
	if body != nil {
		method = http.MethodPost
	}
	req, err := http.NewRequest(method, c.url, bytes.NewReader(body))
	if err != nil {
		log.Fatal(err)
	}
	req.Header.Set("X-Request-Id", c.id)
	res, err := c.client.Do(req)
	if err != nil {
		log.Print(err)
		return
	}
	_, _ = io.Copy(io.Discard, res.Body)
	res.Body.Close()
}
