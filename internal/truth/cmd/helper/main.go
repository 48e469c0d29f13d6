// Command helper is a service whose requests wait for a goroutine that runs a program for them;
// with FIXED=1 that does not. PORT is in the environment.
package main

import (
	"log"
	"net/http"
	"os"
	"os/exec"

	"github.com/getdwell/dwell/internal/truth"
)

const helpers = 8

// job is what a request hands to a helper.
type job struct{ done chan []byte }

func thumbnail() []byte {
	if os.Getenv("FIXED") == "1" {
		return []byte("ok\n")
	}
	said, err := exec.Command("sh", "-c", "sleep 0.03; echo ok").Output()
	if err != nil {
		log.Print(err)
	}
	return said
}

func main() {
	jobs := make(chan job)
	for range helpers {
		go func() {
			for j := range jobs {
				j.done <- thumbnail()
			}
		}()
	}
	log.Fatal(truth.Serve("127.0.0.1:"+os.Getenv("PORT"), false, func(w http.ResponseWriter, _ *http.Request) {
		j := job{make(chan []byte, 1)}
		jobs <- j
		if _, err := w.Write(<-j.done); err != nil {
			log.Print(err)
		}
	}))
}
