// Command pagebench makes the page of a recording with very many requests, made up, and
// writes it to a file or serves it: what a page weighs, and how fast a browser shows it
// (ui/test/bench.mjs), is measured with that.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"slices"
	"time"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/report"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/web"
	"github.com/getdwell/dwell/recording"
)

func main() {
	requests := flag.Int("requests", 120_000, "how many requests")
	rate := flag.Int("rate", 2000, "of them in a second")
	out := flag.String("o", "", "the file to write")
	serve := flag.Bool("serve", false, "serve the page, and print its address")
	flag.Parse()
	if err := run(*requests, *rate, *out, *serve); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(requests, rate int, out string, serve bool) error {
	tl := service(requests, rate)
	began := time.Now()
	d := diagnosis.Diagnose(tl, nil, diagnosis.Options{})
	page := report.NewWebPage(report.Build(d, tl), d, tl, report.WebOptions{Name: "made up", Live: serve})
	fmt.Fprintf(os.Stderr, "model of %d requests made in %s, %d of them in full\n", requests, time.Since(began).Round(time.Millisecond), len(page.Requests))
	if out != "" {
		f, err := os.Create(out)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := web.File(f, "made up", page); err != nil {
			return err
		}
		info, err := f.Stat()
		fmt.Fprintf(os.Stderr, "file of %d requests: %.2f MB\n", requests, float64(info.Size())/1e6)
		return err
	}
	var data bytes.Buffer
	if err := page.WebJSON(&data); err != nil {
		return err
	}
	socket, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return err
	}
	host := socket.Addr().String()
	fmt.Printf("http://%s/bench/\n", host)
	return http.Serve(socket, &web.Served{Host: host, Token: "bench", Title: "made up", Data: data.Bytes()})
}

// parts are what a request is made of: its own work, and two calls, of which some open connections.
var parts = []struct {
	phase timeline.Phase
	cause timeline.Cause
	call  int // 1, 2: of that call
}{
	{timeline.PhaseUnread, timeline.CauseRunnable, 0}, {timeline.PhaseHandler, timeline.CauseOnCPU, 0}, {timeline.PhaseQueue, timeline.CausePool, 1},
	{timeline.PhaseConnect, timeline.CauseRemote, 1}, {timeline.PhaseSend, timeline.CauseOnCPU, 1}, {timeline.PhaseRemote, timeline.CauseRemote, 1},
	{timeline.PhasePickUp, timeline.CauseRunnable, 1}, {timeline.PhaseHandler, timeline.CauseGC, 0}, {timeline.PhaseSend, timeline.CauseOnCPU, 2},
	{timeline.PhaseRemote, timeline.CauseRemote, 2}, {timeline.PhaseReceive, timeline.CauseOnCPU, 2}, {timeline.PhaseHandler, timeline.CauseDisk, 0},
}

// service is a timeline of requests to four endpoints of two processes, each of those parts, with spikes in which they wait for a lock.
// Every second is served by a goroutine of its own.
func service(requests, rate int) *timeline.Timeline {
	r := rand.New(rand.NewPCG(1, 2))
	end := timeline.Time(int64(requests) * 1_000_000_000 / int64(rate))
	tl := &timeline.Timeline{End: end, Windows: []timeline.Window{{From: 0, To: end}}, Events: requests * 20}
	for i := range 2 {
		tl.Processes = append(tl.Processes, timeline.Process{ID: recording.ProcessID(i), PID: int64(100 + i), Comm: "made-up", Start: recording.NoTime,
			End: recording.NoTime, Born: end / 2 * timeline.Time(i)})
	}
	for i := range 16 {
		tl.Strands = append(tl.Strands, timeline.Strand{Thread: recording.ThreadID(i), Name: fmt.Sprintf("worker %d", i)})
	}
	for i := range requests {
		at := timeline.Time(int64(i) * 1_000_000_000 / int64(rate))
		endpoint := r.IntN(4)
		took := int64(math.Exp(r.NormFloat64()*0.6) * 3e6 * float64(endpoint+1))
		spike := at%timeline.Time(10_000_000_000) < 600_000_000
		if spike {
			took += r.Int64N(90_000_000)
		}
		q := timeline.Request{ID: timeline.RequestID(i), RequestMore: new(timeline.RequestMore), Strand: timeline.StrandID(i % 16),
			Process: recording.ProcessID(2 * int64(at) / int64(end+1)), RequestBy: &timeline.RequestBy{Endpoint: fmt.Sprintf("GET /things-%d/{}", endpoint), Status: 200, Peer: fmt.Sprintf("10.0.0.1:%d", 40000+r.IntN(500))},
			Start: at, FirstRead: at, End: at + timeline.Time(took)}
		if i%2 == 1 {
			q.Strand = timeline.StrandID(len(tl.Strands))
			tl.Strands = append(tl.Strands, timeline.Strand{Goroutine: recording.GoroutineID(1000 + 7*i), Name: "goroutine"})
		}
		opens := r.IntN(10) == 0
		for k := range 2 {
			c := timeline.Call{ID: timeline.CallID(len(tl.Calls)), Request: q.ID, Peer: fmt.Sprintf("peer-%d.test", k), Operation: fmt.Sprintf("GET /parts-%d/{}", r.IntN(6)), New: opens && k == 0}
			q.Calls = append(q.Calls, c.ID)
			tl.Calls = append(tl.Calls, c)
		}
		q.SetSegments(pieces(r, &q, spike, opens))
		tl.Requests = append(tl.Requests, q)
	}
	return tl
}

// pieces cut a request at random into its parts.
func pieces(r *rand.Rand, q *timeline.Request, spike, opens bool) (out []timeline.Segment) {
	cuts := []timeline.Time{q.Start, q.End}
	for range len(parts) - 1 {
		cuts = append(cuts, q.Start+timeline.Time(r.Int64N(int64(q.End-q.Start))))
	}
	slices.Sort(cuts)
	for k, part := range parts {
		s := timeline.Segment{From: cuts[k], To: cuts[k+1], Phase: part.phase, Cause: part.cause, Call: timeline.None, Strand: q.Strand, Blocker: timeline.None}
		if part.phase == timeline.PhaseConnect && !opens {
			s.Phase = timeline.PhaseQueue
		}
		if spike && part.phase == timeline.PhaseHandler {
			s.Cause = timeline.CauseLock
		}
		if part.call > 0 {
			s.Call = q.Calls[part.call-1]
		}
		out = append(out, s)
	}
	return out
}
