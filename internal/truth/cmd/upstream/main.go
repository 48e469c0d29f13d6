// Command upstream is the far end of the truth services: it answers GET /answer after
// ?delay= microseconds, and logs which request (by the header the service forwards)
// each exchange on each connection belonged to. Over UDP, on the same port, it does the same
// with datagrams "REQUEST NAME DELAY LOSE", answers "REQUEST NAME" and loses every LOSE-th.
package main

import (
	"encoding/json"
	"flag"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/getdwell/dwell/internal/truth"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:21410", "address")
	name := flag.String("log", "", "file for one line of JSON per exchange")
	secure := flag.Bool("tls", false, "speak TLS")
	flag.Parse()
	if err := serve(*listen, *name, *secure); err != nil {
		log.Fatal(err)
	}
}

func serve(listen, name string, secure bool) error {
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	lines := make(chan truth.Exchange, 1<<16)
	go func() {
		enc := json.NewEncoder(file)
		for line := range lines {
			// A line lost here is missing from the truth, which the harness counts.
			_ = enc.Encode(line)
		}
	}()
	if err := serveDatagrams(listen, lines); err != nil {
		return err
	}
	return truth.Serve(listen, secure, func(w http.ResponseWriter, r *http.Request) {
		start := truth.Now()
		port, ordinal := truth.Place(r)
		if us, _ := strconv.Atoi(r.FormValue("delay")); us > 0 {
			time.Sleep(time.Duration(us) * time.Microsecond)
		}
		// A body is read, or the connection would not be kept.
		_, _ = io.Copy(io.Discard, r.Body)
		id, _ := strconv.Atoi(r.Header.Get("X-Request-Id"))
		w.Header().Set("Content-Length", "7")
		_, _ = w.Write([]byte("answer\n"))
		lines <- truth.Exchange{ID: id, Port: port, Ordinal: ordinal, Start: start, End: truth.Now()}
	})
}
