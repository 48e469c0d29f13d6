package load

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

// dialTimeout bounds one connection attempt.
const dialTimeout = 30 * time.Second

// worker owns at most one connection and sends one request at a time on it.
type worker struct {
	g       *generator
	conn    net.Conn
	in      *bufio.Reader
	out     []byte
	port    int
	ordinal int
	log     []Entry
	release func() bool // stops the watch that closes conn when the run ends
}

func (g *generator) newWorker() *worker { return &worker{g: g} }

// close ends the connection and hands the worker's log over.
func (w *worker) close() {
	w.hangUp()
	w.g.mu.Lock()
	defer w.g.mu.Unlock()
	w.g.log = append(w.g.log, w.log...)
}

// do sends one request and logs what became of it. A kept connection that the server
// closed meanwhile is replaced once, as every HTTP client does.
func (w *worker) do(j job) {
	e := Entry{ID: j.id, Intended: j.intended}
	if e.Intended == 0 {
		e.Intended = w.g.clock.now()
	}
	kept := w.conn != nil
	err := w.attempt(j, &e)
	if errors.Is(err, errNoAnswer) && kept {
		err = w.attempt(j, &e)
	}
	e.Done = w.g.clock.now()
	if err != nil {
		e.Err = err.Error()
		w.hangUp()
	}
	w.log = append(w.log, e)
}

// errNoAnswer: the connection ended before the first byte of an answer.
var errNoAnswer = errors.New("connection closed before an answer")

func (w *worker) attempt(j job, e *Entry) error {
	if err := w.connect(); err != nil {
		return err
	}
	e.Port, e.Ordinal = w.port, w.ordinal
	w.ordinal++
	w.out = append(w.out[:0], "GET "...)
	w.out = append(w.out, j.path...)
	w.out = append(w.out, " HTTP/1.1\r\nX-Request-Id: "...)
	w.out = strconv.AppendInt(w.out, int64(j.id), 10)
	w.out = append(w.out, "\r\n"...)
	w.out = append(w.out, w.g.head...)
	w.out = append(w.out, "\r\n"...)
	e.Sent = w.g.clock.now()
	if _, err := w.conn.Write(w.out); err != nil {
		w.hangUp()
		return errNoAnswer
	}
	if _, err := w.in.Peek(1); err != nil {
		w.hangUp()
		return errNoAnswer
	}
	a, err := readAnswer(w.in)
	e.Status = a.status
	if err != nil {
		return fmt.Errorf("reading the answer: %w", err)
	}
	if a.close || w.g.opt.Close {
		w.hangUp()
	}
	return nil
}

func (w *worker) connect() error {
	if w.conn != nil {
		return nil
	}
	d := net.Dialer{Timeout: dialTimeout}
	conn, err := d.DialContext(w.g.ctx, "tcp", w.g.address)
	if err != nil {
		return err
	}
	w.conn, w.ordinal = conn, 0
	w.port = conn.LocalAddr().(*net.TCPAddr).Port
	if w.in == nil {
		w.in = bufio.NewReader(conn)
	} else {
		w.in.Reset(conn)
	}
	w.release = watch(w.g.ctx, conn)
	return nil
}

func (w *worker) hangUp() {
	if w.conn == nil {
		return
	}
	w.release()
	w.conn.Close()
	w.conn = nil
}

// answer is what the client looks at in a response.
type answer struct {
	status int
	length int64 // -1: to the end of the connection, -2: chunked
	close  bool
}

// readAnswer reads one response, its body included.
func readAnswer(in *bufio.Reader) (answer, error) {
	a, err := readHead(in)
	if err != nil {
		return a, err
	}
	switch {
	case a.length >= 0:
		_, err = io.CopyN(io.Discard, in, a.length)
	case a.length == -2:
		err = discardChunks(in)
	default:
		a.close = true
		_, err = io.Copy(io.Discard, in)
	}
	return a, err
}

func readHead(in *bufio.Reader) (answer, error) {
	a := answer{length: -1}
	line, err := in.ReadSlice('\n')
	if err != nil {
		return a, err
	}
	if len(line) < 12 || string(line[:7]) != "HTTP/1." {
		return a, fmt.Errorf("not an HTTP/1 status line: %q", line)
	}
	a.close = line[7] == '0'
	if a.status, err = strconv.Atoi(string(line[9:12])); err != nil {
		return a, fmt.Errorf("status line %q: %w", line, err)
	}
	if a.status == 204 || a.status == 304 {
		a.length = 0
	}
	for {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return a, err
		}
		name, value, _ := strings.Cut(strings.TrimSpace(string(line)), ":")
		if name == "" {
			return a, nil
		}
		if err := a.header(name, strings.TrimSpace(value)); err != nil {
			return a, err
		}
	}
}

func (a *answer) header(name, value string) (err error) {
	switch {
	case strings.EqualFold(name, "Content-Length"):
		a.length, err = strconv.ParseInt(value, 10, 64)
	case strings.EqualFold(name, "Transfer-Encoding") && strings.EqualFold(value, "chunked"):
		a.length = -2
	case strings.EqualFold(name, "Connection"):
		a.close = strings.EqualFold(value, "close")
	}
	return err
}

func discardChunks(in *bufio.Reader) error {
	for {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return err
		}
		size, _, _ := strings.Cut(strings.TrimSpace(string(line)), ";")
		n, err := strconv.ParseInt(size, 16, 64)
		if err != nil {
			return fmt.Errorf("size of a chunk: %w", err)
		}
		if _, err := io.CopyN(io.Discard, in, n+2); err != nil {
			return err
		}
		if n == 0 {
			return nil
		}
	}
}
