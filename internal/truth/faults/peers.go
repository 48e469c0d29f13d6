package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Peers whose fault it is, by what the services are told of them.
const (
	choked   = "127.0.0.1:21524" // has little room for what it has not read
	late     = "127.0.0.1:21525" // accepts late, and its queue is short
	database = "127.0.0.1:21526" // speaks PostgreSQL's protocol
	single   = "127.0.0.1:21527" // does one thing at a time
)

// peers starts them.
func (st *stage) peers() error {
	one := &http.Server{Handler: http.HandlerFunc(st.inTurn)}
	server := &http.Server{Handler: http.HandlerFunc(st.reads), ConnContext: func(ctx context.Context, c net.Conn) context.Context {
		_ = c.(*net.TCPConn).SetReadBuffer(64 << 10) // else the kernel makes room for more
		return ctx
	}}
	st.stop = append(st.stop, func() { server.Close() }, func() { one.Close() })
	for _, at := range []string{choked, late, database, single} {
		l, err := net.Listen("tcp", "0.0.0.0"+strings.TrimPrefix(at, "127.0.0.1"))
		if err != nil {
			return err
		}
		switch at {
		case choked:
			go server.Serve(l)
		case single:
			go one.Serve(l)
		case late:
			raw, err := l.(*net.TCPListener).SyscallConn()
			if err != nil {
				return err
			}
			if err := raw.Control(func(fd uintptr) { _ = unix.Listen(int(fd), 1) }); err != nil {
				return err
			}
			go server.Serve(latecomer{l, st})
		case database:
			st.stop = append(st.stop, func() { l.Close() })
			go sessions(l)
		}
	}
	return st.starve()
}

// late is how late a peer is at the moment.
func (st *stage) late() time.Duration { return time.Duration(st.delay.Load()) * time.Microsecond }

// reads takes what it is sent in pieces, late, and answers.
func (st *stage) reads(w http.ResponseWriter, r *http.Request) {
	for {
		if _, err := io.CopyN(io.Discard, r.Body, 64<<10); err != nil {
			break
		}
		time.Sleep(st.late())
	}
	reply(w)
}

func reply(w http.ResponseWriter) {
	w.Header().Set("Content-Length", "7")
	_, _ = w.Write([]byte("answer\n"))
}

// inTurn answers after ?delay= us; unless it is mended, it does nothing else meanwhile.
func (st *stage) inTurn(w http.ResponseWriter, r *http.Request) {
	if st.late() > 0 {
		st.turn <- struct{}{} // who came first is first, which a mutex does not see to
		defer func() { <-st.turn }()
	}
	us, _ := strconv.Atoi(r.FormValue("delay"))
	time.Sleep(time.Duration(us) * time.Microsecond)
	reply(w)
}

// latecomer accepts nothing for a while after each connection.
type latecomer struct {
	net.Listener
	st *stage
}

func (l latecomer) Accept() (net.Conn, error) {
	time.Sleep(l.st.late())
	return l.Listener.Accept()
}

// random is where a source of random numbers is that runs out of them.
func (st *stage) random() string { return st.dir + "/random" }

// starve gives random numbers for one request at a time, and none while they are not taken.
func (st *stage) starve() error {
	if err := unix.Mkfifo(st.random(), 0o600); err != nil {
		return fmt.Errorf("%s: %w", st.random(), err)
	}
	f, err := os.OpenFile(st.random(), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	st.stop = append(st.stop, func() { f.Close() })
	go func() {
		for ; ; time.Sleep(max(time.Millisecond, st.late())) {
			if left, _ := unix.IoctlGetInt(int(f.Fd()), unix.TIOCINQ); left > 0 {
				continue
			}
			if _, err := f.Write(make([]byte, 16)); err != nil {
				return
			}
		}
	}()
	return nil
}

func sessions(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go session(c)
	}
}

// session says of each command that it was done, and whether a transaction is open.
func session(c net.Conn) {
	defer c.Close()
	in, state := bufio.NewReader(c), byte('I')
	said := "R\x00\x00\x00\x08\x00\x00\x00\x00" // to the first message, which has no type
	for size := 4; ; size = 5 {
		head := make([]byte, size)
		if _, err := io.ReadFull(in, head); err != nil {
			return
		}
		body := make([]byte, max(4, min(1<<16, binary.BigEndian.Uint32(head[size-4:])))-4)
		if _, err := io.ReadFull(in, body); err != nil {
			return
		}
		switch verb, _, _ := strings.Cut(string(body), "\x00"); verb {
		case "BEGIN":
			state = 'T'
		case "COMMIT":
			state = 'I'
		}
		if _, err := fmt.Fprintf(c, "%sZ\x00\x00\x00\x05%c", said, state); err != nil {
			return
		}
		said = "C\x00\x00\x00\x0dUPDATE 1\x00"
	}
}
