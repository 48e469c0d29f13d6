// Command golocks is a Go service whose goroutines wait for each other in one known way,
// PROBLEM, or no longer, with FIXED=1. GET /work?cpu=US&delay=US. One JSON line for each
// time that a lock was taken goes to LOG when it is told to end: when it was asked for,
// had and left, by which goroutine. PORT and UPSTREAM are as for the other services.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"sync"
	"syscall"

	"github.com/getdwell/dwell/internal/truth"
)

func main() {
	problem, ok := problems()[os.Getenv("PROBLEM")]
	if !ok {
		log.Fatalf("PROBLEM=%s is none of those known", os.Getenv("PROBLEM"))
	}
	it := &service{upstream: os.Getenv("UPSTREAM"), fixed: os.Getenv("FIXED") == "1",
		client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
	go it.writeLog(os.Getenv("LOG"))
	serve := problem(it)
	err := truth.Serve("127.0.0.1:"+os.Getenv("PORT"), false, func(w http.ResponseWriter, r *http.Request) {
		number := func(name string) int {
			n, _ := strconv.Atoi(r.FormValue(name))
			return n
		}
		id, _ := strconv.Atoi(r.Header.Get("X-Request-Id"))
		serve(&visit{it: it, id: id, cpu: number("cpu"), delay: number("delay")})
		w.Header().Set("Content-Length", "3")
		_, _ = w.Write([]byte("ok\n"))
	})
	log.Fatal(err)
}

// service is what all problems share.
type service struct {
	upstream string
	fixed    bool
	client   *http.Client

	mu    sync.Mutex // held for an append only
	lines []truth.Taken
}

// writeLog waits for the end and writes what was logged.
func (s *service) writeLog(name string) {
	end := make(chan os.Signal, 1)
	signal.Notify(end, syscall.SIGTERM)
	<-end
	var all bytes.Buffer
	s.mu.Lock()
	for _, line := range s.lines {
		// A line that cannot be written is missing from the truth, which the tests count.
		_ = json.NewEncoder(&all).Encode(line)
	}
	if err := os.WriteFile(name, all.Bytes(), 0o600); err != nil {
		log.Print(err)
	}
	os.Exit(0)
}

// visit is one request's dealings with a lock.
type visit struct {
	it             *service
	id, cpu, delay int
	taken          truth.Taken
}

func (v *visit) asks()   { v.taken.Asked = truth.Now() }
func (v *visit) has()    { v.taken.Had = truth.Now() }
func (v *visit) leaves() { v.taken.Left = truth.Now() }

// log notes it, later than it happened: nothing is held for it.
func (v *visit) log() {
	v.taken.Lock, v.taken.ID, v.taken.Thread = "it", v.id, goroutine()
	v.it.mu.Lock()
	v.it.lines = append(v.it.lines, v.taken)
	v.it.mu.Unlock()
}

// goroutine is the number of the one that calls, as the runtime prints it.
func goroutine() (id int) {
	var text [64]byte
	n := runtime.Stack(text[:], false)
	if _, err := fmt.Sscanf(string(text[:n]), "goroutine %d ", &id); err != nil {
		log.Fatal(err)
	}
	return id
}
