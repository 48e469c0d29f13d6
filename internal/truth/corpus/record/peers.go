package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/getdwell/dwell/internal/truth"
)

// peers answer the calls of a made-up service over HTTP, as a Redis server and as a
// PostgreSQL server, and log whose each call is.
type peers struct {
	mu   sync.Mutex
	all  []truth.Exchange
	HTTP string // addresses
	REDIS,
	POSTGRES string
}

// exchange is one call while it is answered.
type exchange struct {
	p *peers
	x truth.Exchange
}

// begin waits as long as a call asks for, which comes as "ID:US".
func (p *peers) begin(what string, port, ordinal int) exchange {
	id, us, _ := strings.Cut(what, ":")
	n, err := strconv.Atoi(id)
	if err != nil {
		n = -1 // of the warm-up
	}
	e := exchange{p, truth.Exchange{ID: n, Port: port, Ordinal: ordinal, Start: truth.Now()}}
	if wait, _ := strconv.Atoi(us); wait > 0 {
		time.Sleep(time.Duration(float64(wait) * (0.75 + rand.Float64()/2) * 1000))
	}
	return e
}

func (e exchange) end() {
	e.x.End = truth.Now()
	e.p.mu.Lock()
	defer e.p.mu.Unlock()
	e.p.all = append(e.p.all, e.x)
}

// during are the calls that began between two times.
func (p *peers) during(from, to int64) (all []truth.Exchange) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, x := range p.all {
		if from <= x.Start && x.Start <= to {
			all = append(all, x)
		}
	}
	return all
}

// listen starts the peers; they end with the program.
func listen() (*peers, error) {
	p := &peers{}
	var err error
	if p.HTTP, err = freePort(); err != nil {
		return nil, err
	}
	go truth.Serve(p.HTTP, false, func(w http.ResponseWriter, r *http.Request) {
		port, ordinal := truth.Place(r)
		e := p.begin(r.Header.Get("X-Request-Id")+":"+r.FormValue("delay"), port, ordinal)
		defer e.end()
		_, _ = io.Copy(io.Discard, r.Body) // or the connection would not be kept
		w.Header().Set("Content-Length", "7")
		_, _ = w.Write([]byte("answer\n"))
	})
	if p.REDIS, err = p.serve(p.redis); err != nil {
		return nil, err
	}
	p.POSTGRES, err = p.serve(p.postgres)
	return p, err
}

func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}

// serve answers connections by a function until each ends.
func (p *peers) serve(answer func(*bufio.ReadWriter, int) error) (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				rw := bufio.NewReadWriter(bufio.NewReader(conn), bufio.NewWriter(conn))
				_ = answer(rw, conn.RemoteAddr().(*net.TCPAddr).Port) // it ends when its client goes
			}()
		}
	}()
	return l.Addr().String(), nil
}

// redis answers GET ID:US, and what clients say of themselves.
func (p *peers) redis(rw *bufio.ReadWriter, port int) error {
	for ordinal := 0; ; {
		args, err := command(rw.Reader)
		if err != nil {
			return err
		}
		switch strings.ToUpper(args[0]) {
		case "GET":
			e := p.begin(args[1], port, ordinal)
			ordinal++
			fmt.Fprint(rw, "$6\r\nanswer\r\n")
			err = rw.Flush()
			e.end()
		case "HELLO":
			kind, n := "*", 14
			if len(args) > 1 && args[1] == "3" {
				kind, n = "%", 7
			}
			fmt.Fprintf(rw, "%s%d\r\n$6\r\nserver\r\n$5\r\nredis\r\n$7\r\nversion\r\n$5\r\n7.2.0\r\n$5\r\nproto\r\n:%s\r\n", kind, n, "3")
			fmt.Fprint(rw, "$2\r\nid\r\n:1\r\n$4\r\nmode\r\n$10\r\nstandalone\r\n$4\r\nrole\r\n$6\r\nmaster\r\n$7\r\nmodules\r\n*0\r\n")
			err = rw.Flush()
		default:
			fmt.Fprint(rw, "+OK\r\n")
			err = rw.Flush()
		}
		if err != nil {
			return err
		}
	}
}

// command reads an array of strings.
func command(r *bufio.Reader) ([]string, error) {
	number := func(mark byte) (int, error) {
		line, err := r.ReadString('\n')
		if err != nil {
			return 0, err
		}
		if line[0] != mark {
			return 0, fmt.Errorf("a command begins with %q", line)
		}
		return strconv.Atoi(strings.TrimSpace(line[1:]))
	}
	n, err := number('*')
	if err != nil || n < 1 {
		return nil, fmt.Errorf("a command of %d words: %w", n, err)
	}
	args := make([]string, n)
	for i := range args {
		size, err := number('$')
		if err != nil {
			return nil, err
		}
		data := make([]byte, size+2)
		if _, err := io.ReadFull(r, data); err != nil {
			return nil, err
		}
		args[i] = string(data[:size])
	}
	return args, nil
}

// postgres answers SELECT 'ID:US'.
func (p *peers) postgres(rw *bufio.ReadWriter, port int) error {
	ready := []byte{'Z', 0, 0, 0, 5, 'I'}
	if _, err := message(rw.Reader); err != nil {
		return err
	}
	rw.Write([]byte{'R', 0, 0, 0, 8, 0, 0, 0, 0})
	rw.Write(ready)
	for ordinal := 0; ; ordinal++ {
		if err := rw.Flush(); err != nil {
			return err
		}
		if _, err := rw.ReadByte(); err != nil {
			return err
		}
		text, err := message(rw.Reader)
		if err != nil {
			return err
		}
		words := strings.Split(string(text), "'")
		if len(words) < 2 {
			return nil // it says goodbye
		}
		e := p.begin(words[1], port, ordinal)
		rw.Write(append([]byte{'C', 0, 0, 0, 13}, "SELECT 0\x00"...))
		rw.Write(ready)
		e.end()
	}
}

// message reads what has its length, which counts itself, in front.
func message(r io.Reader) ([]byte, error) {
	var length [4]byte
	if _, err := io.ReadFull(r, length[:]); err != nil {
		return nil, err
	}
	data := make([]byte, max(0, int(binary.BigEndian.Uint32(length[:]))-4))
	_, err := io.ReadFull(r, data)
	return data, err
}
