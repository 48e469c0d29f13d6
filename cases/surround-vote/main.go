// Command surroundvote keeps the attestation history of validators and answers whether
// they may sign: the database of a validator client, behind HTTP. It is configured by
// environment: see settings.
package main

import (
	"fmt"
	"log"
	"net/http"
	"os"
	"strconv"
)

// settings are what the case switches.
type settings struct {
	port       int
	file       string // of the database; made anew at each start
	validators int
	epochs     int  // of the validator with the longest history
	mirror     bool // keep history in a second order, too, and stop as soon as nothing can match
	backlog    int  // duties that are due when the service starts
	duties     int  // validators whose votes are due in a slot
	mapBytes   int  // bbolt's InitialMmapSize
	save       bool // a check that allows a vote saves it before it answers
	export     bool // something reads the database for long, again and again
}

func main() {
	s := settings{
		port: number("PORT", 25401), file: text("DB", "work/history.db"),
		validators: number("VALIDATORS", 20), epochs: number("EPOCHS", 54_000), mirror: number("MIRROR", 0) == 1,
		backlog: number("BACKLOG", 0), duties: number("DUTIES", 4), mapBytes: number("INITIAL_MMAP", 0),
		save: number("SAVE", 0) == 1, export: number("EXPORT", 0) == 1,
	}
	if err := serve(s); err != nil {
		log.Fatal(err)
	}
}

func serve(s settings) error {
	h, err := seeded(s)
	if err != nil {
		return err
	}
	http.HandleFunc("GET /checks/{slot}", func(w http.ResponseWriter, r *http.Request) { answer(w, r, h, s) })
	go keepWriting(h)
	if s.export {
		go keepExporting(h)
	}
	go backlog(h, s.backlog)
	fmt.Println("ready")
	return http.ListenAndServe("127.0.0.1:"+strconv.Itoa(s.port), nil)
}

// answer says which of the votes that are due in a slot may be signed.
func answer(w http.ResponseWriter, r *http.Request, h *history, s settings) {
	slot, err := strconv.Atoi(r.PathValue("slot"))
	if err != nil {
		http.Error(w, "a slot is a number", http.StatusBadRequest)
		return
	}
	for n := range s.duties {
		d := h.duty(slot*s.duties + n)
		allowed, err := h.allowed(d)
		if err == nil && allowed && s.save {
			err = h.save(d)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		fmt.Fprintf(w, "{\"validator\":%d,\"allowed\":%t}\n", d.validator, allowed)
	}
}

func text(name, or string) string {
	if v := os.Getenv(name); v != "" {
		return v
	}
	return or
}

func number(name string, or int) int {
	n, err := strconv.Atoi(text(name, strconv.Itoa(or)))
	if err != nil {
		log.Fatalf("%s: %v", name, err)
	}
	return n
}
