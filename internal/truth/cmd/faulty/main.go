// Command faulty is the Go service of the fault bench: each request computes (OWN_CPU us), asks
// the upstream (OWN_CALL us), and does what FAULT names, or what stands in its place where that
// is mended (FIXED=1). GET /cost tells how many requests did so, and how long that took, in ns. COST
// (us) and MANY say how much; ROUTES are the upstream's paths. The
// services in the other languages (internal/truth/services/faulty.*) take the same environment.
package main

import (
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// thing is the service; its names are replaced by others in each run.
type thing struct {
	fixed           bool
	ownCPU, ownCall time.Duration
	cost            time.Duration
	many            int
	routes          []string
	upstream        string // host:port
	secure          string // the same over TLS
	client          *http.Client
	churns          *http.Client // opens a connection for each call
	small           *http.Client // has two connections
	fault           func(r *http.Request)
	served, spent   atomic.Int64 // requests, and ns in the fault or what stands in its place
}

func main() {
	s := newThing()
	fault, ok := s.faults()[os.Getenv("FAULT")]
	if !ok {
		log.Fatalf("FAULT=%s: no such fault", os.Getenv("FAULT"))
	}
	s.fault = fault
	listener, err := net.Listen("tcp", "127.0.0.1:"+os.Getenv("PORT"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("ready")
	log.Fatal(http.Serve(listener, http.HandlerFunc(s.serveThing)))
}

func newThing() *thing {
	insecure := &tls.Config{InsecureSkipVerify: true} // of a certificate for tests
	number := func(name string) int {
		n, _ := strconv.Atoi(os.Getenv(name))
		return n
	}
	us := func(name string) time.Duration { return time.Duration(number(name)) * time.Microsecond }
	return &thing{
		fixed: os.Getenv("FIXED") == "1", ownCPU: us("OWN_CPU"), ownCall: us("OWN_CALL"), cost: us("COST"), many: number("MANY"),
		routes: strings.Split(os.Getenv("ROUTES"), ","), upstream: os.Getenv("UPSTREAM"), secure: os.Getenv("SECURE"),
		client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 256, TLSClientConfig: insecure}},
		churns: &http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: insecure}},
		small:  &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 2, MaxConnsPerHost: 2}},
	}
}

func (s *thing) serveThing(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/cost" {
		fmt.Fprintln(w, s.served.Load(), s.spent.Load())
		return
	}
	s.priceThing(vary(s.ownCPU))
	s.ask(r, asked{s.client, "GET", "http://" + s.upstream + "/" + s.routes[0]}, s.ownCall)
	begun := time.Now()
	s.fault(r)
	s.spent.Add(int64(time.Since(begun)))
	s.served.Add(1)
	w.Header().Set("Content-Length", "3")
	_, _ = w.Write([]byte("ok\n"))
}

// vary draws between half and one and a half times as much.
func vary(d time.Duration) time.Duration {
	return time.Duration(float64(d) * (0.5 + rand.Float64()))
}

//go:noinline
func (s *thing) priceThing(d time.Duration) { spin(d) }

//go:noinline
func (s *thing) digestThing(d time.Duration) { spin(d) }

// spin computes for so long.
func spin(d time.Duration) {
	for until := time.Now().Add(d); time.Now().Before(until); {
	}
}

// asked is whom a call asks, with which client and method.
type asked struct {
	client      *http.Client
	method, url string
}

func (s *thing) ask(r *http.Request, of asked, delay time.Duration) {
	url := fmt.Sprintf("%s?delay=%d", of.url, vary(delay).Microseconds())
	req, err := http.NewRequestWithContext(r.Context(), of.method, url, nil)
	if err != nil {
		log.Fatal(err)
	}
	res, err := of.client.Do(req)
	if err != nil {
		log.Print(err)
		return
	}
	_, _ = io.Copy(io.Discard, res.Body)
	res.Body.Close()
}

// asks asks for a route of those that are drawn, and at most so long.
func (s *thing) asks(r *http.Request, route int, tail string) {
	s.ask(r, asked{s.client, "GET", "http://" + s.upstream + "/" + s.routes[route] + tail}, s.cost)
}
