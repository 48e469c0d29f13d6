package main

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// pulse is the recorder's current status.
type pulse struct {
	elapsed  time.Duration
	requests int64         // seen so far
	rate     int64         // recent requests per second
	p50, p99 time.Duration // of recent requests; 0: none yet
	lost     int64         // facts dropped so far
	cpu      int64         // own CPU including programs in the kernel, in thousandths of a core
	resting  bool          // between two windows of recording
	noStacks string        // why requested stacks are not taken
}

func (p pulse) String() string {
	latency := "no request yet"
	if p.p99 > 0 {
		latency = fmt.Sprintf("p50 %s  p99 %s", short(p.p50), short(p.p99))
	}
	resting := ""
	if p.resting {
		resting = "  resting (see --windows)"
	}
	return fmt.Sprintf("%5s  %d requests  %d/s  %s  lost %d  own CPU %d.%d %%%s",
		p.elapsed.Truncate(time.Second), p.requests, p.rate, latency, p.lost, p.cpu/10, p.cpu%10, resting)
}

// short prints a duration with three digits and its unit.
func short(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return fmt.Sprintf("%d us", d.Microseconds())
	case d < 10*time.Millisecond:
		return fmt.Sprintf("%.2f ms", float64(d)/1e6)
	case d < 100*time.Millisecond:
		return fmt.Sprintf("%.1f ms", float64(d)/1e6)
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}

// How often the status is shown: on a terminal as a line that replaces itself, elsewhere as plain lines.
const (
	liveEvery  = time.Second
	plainEvery = 5 * time.Second
)

// statusLine shows pulses until it is stopped.
type statusLine struct {
	stop, stopped chan struct{}
}

func showStatus(out io.Writer, read func() pulse) *statusLine {
	s := &statusLine{stop: make(chan struct{}), stopped: make(chan struct{})}
	width, tty := terminal(out)
	every := plainEvery
	if tty {
		every = liveEvery
	}
	ticker := time.NewTicker(every)
	go func() {
		defer close(s.stopped)
		defer ticker.Stop()
		for {
			select {
			case <-s.stop:
				if tty {
					fmt.Fprint(out, "\r\x1b[K")
				}
				return
			case <-ticker.C:
				fmt.Fprint(out, statusText(read(), width, tty))
			}
		}
	}()
	return s
}

func statusText(p pulse, width int, tty bool) string {
	text := "recording " + strings.TrimSpace(p.String())
	if !tty {
		return text + "\n"
	}
	if len(text) > width-1 { // a wrapped line could not be replaced
		text = text[:width-1]
	}
	return "\r\x1b[K" + text
}

// end removes the line and waits until printing has stopped.
func (s *statusLine) end() {
	close(s.stop)
	<-s.stopped
}
