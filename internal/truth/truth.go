// Package truth compares what dwell rebuilt with what the programs themselves logged:
// the client's log (internal/load), the truth service's log of each request, and the
// upstream's log of each exchange. Nothing in it is taken from dwell's own output.
package truth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// Served is what a truth service says it did for one request; ns.
type Served struct {
	ID       int   `json:"id"`
	Port     int   `json:"port"`    // of the client
	Ordinal  int   `json:"ordinal"` // on that connection, from 0
	Start    int64 `json:"start"`   // CLOCK_MONOTONIC
	End      int64 `json:"end"`
	Slept    int64 `json:"slept"`
	Computed int64 `json:"computed"`           // in its busy loop
	Waited   int64 `json:"waited"`             // for the upstream
	Ran      int64 `json:"ran,omitempty"`      // on a CPU; 0 if the service cannot know
	Runnable int64 `json:"runnable,omitempty"` // if Ran is known
}

// Nobody is the id that a service sends with calls that it makes for no request.
const Nobody = -2

// Exchange is what the upstream says of one call it answered.
type Exchange struct {
	ID      int   `json:"id"`      // of the request that it was made for, or Nobody
	Port    int   `json:"port"`    // of the service
	Ordinal int   `json:"ordinal"` // on that connection, from 0
	Start   int64 `json:"start"`   // CLOCK_MONOTONIC, ns
	End     int64 `json:"end"`
}

// ReadLines reads a log of one JSON object a line. A torn last line is dropped.
func ReadLines[T any](r io.Reader) ([]T, error) {
	var all []T
	for dec := json.NewDecoder(r); ; {
		var one T
		err := dec.Decode(&one)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return all, nil
		}
		if err != nil {
			return nil, fmt.Errorf("line %d of a truth log: %w", len(all)+1, err)
		}
		all = append(all, one)
	}
}

// Now is CLOCK_MONOTONIC in ns.
func Now() int64 {
	var ts unix.Timespec
	// It cannot fail for this clock.
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts)
	return ts.Nano()
}

// place is a connection and how many requests it has carried.
type place struct {
	port   int
	served atomic.Int64
}

type placeKey struct{}

// Place returns the client's port and the ordinal of this request on its connection.
// It counts, so it is asked once per request; the server is Serve's.
func Place(r *http.Request) (port, ordinal int) {
	p := r.Context().Value(placeKey{}).(*place)
	return p.port, int(p.served.Add(1)) - 1
}

// Serve serves until the process ends, and prints "ready" when it listens. With secure
// it speaks TLS, with the certificate that tests of net/http use.
func Serve(listen string, secure bool, handler http.HandlerFunc) error {
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return err
	}
	server := httptest.NewUnstartedServer(handler)
	server.Listener.Close()
	server.Listener = l
	server.Config.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		return context.WithValue(ctx, placeKey{}, &place{port: c.RemoteAddr().(*net.TCPAddr).Port})
	}
	if secure {
		server.StartTLS()
	} else {
		server.Start()
	}
	fmt.Println("ready")
	select {}
}
