package main

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"time"
)

// faults are what a request does beyond its own, by name.
func (s *thing) faults() map[string]func(r *http.Request) {
	return map[string]func(r *http.Request){
		"none":               func(*http.Request) {},
		"connection-churn":   s.connects,
		"n-plus-one":         s.eachThing,
		"serial-calls":       s.serial,
		"slow-peer":          s.slowPeer,
		"credential-fetch":   s.token(),
		"lock-convoy":        s.convoy(),
		"refresh-under-lock": s.refresh(),
		"pool-exhausted":     s.pool,
		"sleep-retry":        s.pause,
		"disk":               s.sync(),
		"child-process":      s.runs,
		"sync-telemetry":     s.counts(),
		"gc-pause":           s.garbage(),
		"cpu-bound":          s.computes,
		"linear-scan":        s.scan(),
		"slow-dns":           s.resolves(),
		"tls-handshake":      s.handshakes(),
	}
}

func (s *thing) connects(r *http.Request) {
	client := s.churns
	if s.fixed {
		client = s.client
	}
	s.ask(r, asked{client, "GET", "https://" + s.secure + "/" + s.routes[1]}, s.cost)
}

func (s *thing) eachThing(r *http.Request) {
	n := 2 + rand.IntN(s.many)
	if s.fixed {
		n = 1
	}
	for i := range n {
		s.asks(r, 1, fmt.Sprint("/", 1000+i))
	}
}

func (s *thing) serial(r *http.Request) {
	var all sync.WaitGroup
	for _, i := range rand.Perm(3) {
		if s.fixed {
			all.Go(func() { s.asks(r, 1+i, "") })
			continue
		}
		s.asks(r, 1+i, "")
	}
	all.Wait()
}

func (s *thing) slowPeer(r *http.Request) {
	delay := time.Millisecond
	if rand.IntN(5) == 0 && !s.fixed {
		delay += 5 * s.cost
	}
	s.ask(r, asked{s.client, "GET", "http://" + s.upstream + "/" + s.routes[1]}, delay)
}

func (s *thing) token() func(r *http.Request) {
	var have atomic.Bool
	return func(r *http.Request) {
		if !s.fixed || !have.Swap(true) {
			s.ask(r, asked{s.client, "POST", "http://" + s.upstream + "/oauth2/token"}, s.cost)
		}
	}
}

func (s *thing) convoy() func(*http.Request) {
	var mu sync.Mutex
	return func(*http.Request) {
		if s.fixed {
			s.digestThing(vary(s.cost))
			return
		}
		mu.Lock()
		defer mu.Unlock()
		s.digestThing(vary(s.cost))
	}
}

func (s *thing) refresh() func(r *http.Request) {
	var mu sync.Mutex
	return func(r *http.Request) {
		if !s.fixed {
			mu.Lock()
			defer mu.Unlock()
		}
		s.asks(r, 1, "")
	}
}

func (s *thing) pool(r *http.Request) {
	client := s.small
	if s.fixed {
		client = s.client
	}
	s.ask(r, asked{client, "GET", "http://" + s.upstream + "/" + s.routes[1]}, s.cost)
}

func (s *thing) pause(*http.Request) {
	if !s.fixed {
		time.Sleep(vary(s.cost))
	}
}

func (s *thing) sync() func(*http.Request) {
	var mu sync.Mutex
	journal, err := os.CreateTemp("", "faulty-*.journal")
	if err != nil {
		log.Fatal(err)
	}
	os.Remove(journal.Name())
	return func(*http.Request) {
		mu.Lock()
		_, _ = journal.Write(make([]byte, 512))
		mu.Unlock()
		if !s.fixed {
			_ = journal.Sync()
		}
	}
}

func (s *thing) runs(*http.Request) {
	if !s.fixed {
		_ = exec.Command("/bin/true").Run()
	}
}

func (s *thing) counts() func(*http.Request) {
	conn, err := net.Dial("udp", os.Getenv("STATSD"))
	if err != nil {
		log.Fatal(err)
	}
	return func(*http.Request) {
		for i := 0; i < s.many && !s.fixed; i++ {
			_, _ = fmt.Fprintf(conn, "thing.step%d:1|c", i)
		}
	}
}

type entry struct {
	next  *entry
	value [32]byte
}

// garbage replaces live data all the time; fixed: it is written where it is.
func (s *thing) garbage() func(*http.Request) {
	var entries []*entry
	fill := sync.OnceFunc(func() {
		for range 1 << 15 {
			entries = append(entries, chain())
		}
	})
	var mu sync.Mutex
	return func(*http.Request) {
		fill()
		for range s.many {
			at := rand.IntN(len(entries))
			if !s.fixed {
				e := chain()
				mu.Lock()
				entries[at] = e
				mu.Unlock()
				continue
			}
			mu.Lock()
			for e := entries[at]; e != nil; e = e.next {
				e.value[0]++
			}
			mu.Unlock()
		}
	}
}

func chain() (e *entry) {
	for i := range 16 {
		e = &entry{next: e, value: [32]byte{byte(i)}}
	}
	return e
}

func (s *thing) computes(*http.Request) {
	if rand.IntN(5) == 0 && !s.fixed {
		s.digestThing(5 * vary(s.cost))
	}
}

// scan looks for what it keeps of all requests, item by item; fixed: in a map.
func (s *thing) scan() func(*http.Request) {
	var mu sync.Mutex
	var things []string
	known := map[string]bool{}
	return func(*http.Request) {
		mu.Lock()
		defer mu.Unlock()
		for range s.many {
			key := fmt.Sprint("thing-", len(known))
			known[key] = true
			if !s.fixed {
				things = append(things, key)
			}
		}
		if s.fixed {
			return
		}
		s.findThing(things, "nobody")
	}
}

//go:noinline
func (s *thing) findThing(things []string, key string) (at int) {
	for i, one := range things {
		if len(one) == len(key) || one > key {
			at = i
		}
	}
	return at
}

func (s *thing) resolves() func(r *http.Request) {
	resolver := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp4", os.Getenv("DNS"))
	}}
	return func(r *http.Request) {
		if !s.fixed {
			_, _ = resolver.LookupNetIP(r.Context(), "ip4", s.routes[1]+".thing.test.")
		}
		s.ask(r, asked{s.client, "GET", "http://" + s.upstream + "/" + s.routes[1]}, time.Millisecond)
	}
}

// handshakes asks somebody else each time, over TLS; fixed: without.
func (s *thing) handshakes() func(r *http.Request) {
	var n atomic.Uint32
	_, secure, _ := net.SplitHostPort(s.secure)
	_, open, _ := net.SplitHostPort(s.upstream)
	return func(r *http.Request) {
		k := n.Add(1)
		at := fmt.Sprintf("https://127.7.%d.%d:%s/", k/200%200, k%200+1, secure)
		if s.fixed {
			at = fmt.Sprintf("http://127.7.%d.%d:%s/", k/200%200, k%200+1, open)
		}
		s.ask(r, asked{s.churns, "GET", at + s.routes[1]}, 500*time.Microsecond)
	}
}
