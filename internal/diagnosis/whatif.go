package diagnosis

import (
	"strconv"
	"strings"
)

// WhatIf is what a replay of the recorded arrivals at a server says about a change.
type WhatIf struct {
	Server         string // "lock S.rebuild"
	Change         string // "work x0.5": the form in which it can be requested
	Words          string // "its work at one half"
	Mean, P50, P99 Replayed
}

// Replayed is a latency as recorded (Was) and with a change (Is), scaled by the ratio that the replay gives. If both
// are 0, it was not replayed.
type Replayed struct{ Was, Is Duration }

// Decimal formats thousandths as a decimal without trailing zeros: "1.5".
func Decimal(thousandths int64) string {
	s := strconv.FormatInt(thousandths%1000+1000, 10)[1:]
	return strings.TrimSuffix(strconv.FormatInt(thousandths/1000, 10)+"."+strings.TrimRight(s, "0"), ".")
}

// Server is something that requests waited for a turn at, and that can be replayed.
type Server struct {
	Name               string // "lock S.rebuild"
	Servers            int
	Busy               Share    // share of the time
	Queue, Burstiness  int64    // thousandths: how many wait on average; index of dispersion: 1000 is by chance, more in bursts
	Waits              Share    // share of all request time
	Recorded, Replayed Duration // a request's mean wait for it: recorded, and according to the model
	Fits               bool     // the model reproduces the recording: what-if questions can be asked
	Turns              bool     // only turns that a request waited for are known: more load cannot be asked
	Work               []Work   // what it works on, the largest first
}

// Work is a piece of a server's work.
type Work struct {
	Function, Place string
	Share           Share
}
