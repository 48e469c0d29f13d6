package diagnosis

import (
	"strconv"
	"strings"
)

// WhatIf is what a replay of the recorded arrivals at a server says of a change.
type WhatIf struct {
	Server         string // "lock S.rebuild"
	Change         string // "work x0.5": as it can be asked for
	Words          string // "its work at one half"
	Mean, P50, P99 Replayed
}

// Replayed is a latency as recorded, and with a change: in the proportion in which the
// replay changes. Both 0 were not played.
type Replayed struct{ Was, Is Duration }

// Decimal writes thousandths as a decimal without needless zeros: "1.5".
func Decimal(thousandths int64) string {
	s := strconv.FormatInt(thousandths%1000+1000, 10)[1:]
	return strings.TrimSuffix(strconv.FormatInt(thousandths/1000, 10)+"."+strings.TrimRight(s, "0"), ".")
}

// Server is what requests waited for a turn of, and can be replayed.
type Server struct {
	Name               string // "lock S.rebuild"
	Servers            int
	Busy               Share    // of the time
	Queue, Burstiness  int64    // thousandths: how many wait on average; 1000 is by chance, more in bursts
	Waits              Share    // of all request time
	Recorded, Replayed Duration // mean wait of a request for it, and as the model has it
	Fits               bool     // the model reproduces the recording: what would be can be asked
	Turns              bool     // only turns are known that somebody waited for: more load cannot be asked
	Work               []Work   // what it works on, the largest first
}

// Work is a piece of a server's work.
type Work struct {
	Function, Place string
	Share           Share
}
