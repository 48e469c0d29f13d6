package report

import (
	"strconv"
	"strings"

	"github.com/getdwell/dwell/internal/timeline"
)

// WebCause is how one cause of time is drawn, on the page and in a terminal.
type WebCause struct {
	Name  string `json:"name"`
	Light string `json:"light"` // colour on a light background
	Dark  string `json:"dark"`  // on a dark background
	Means string `json:"means"` // in words: what a request with this cause does or waits for
}

// Unaccounted names the time of a request that its segments leave, next to the causes.
const Unaccounted = "unaccounted"

// WebCauses returns all causes in the order of timeline.Cause, and Unaccounted. Each kind of cause has a hue of its
// own from Okabe and Ito's palette, which can be distinguished with any colour vision: CPUs are orange, locks held by
// others are red, peers are blue, the loop is purple, unknown time is grey. Within a kind, lightness differs.
func WebCauses() []WebCause {
	looks := map[timeline.Cause]WebCause{
		timeline.CauseUnknown:         {"", "#8a8f98", "#7d838d", "of unknown cause"},
		timeline.CauseOnCPU:           {"", "#e08e00", "#f0a202", "computing"},
		timeline.CauseRunnable:        {"", "#f0c75e", "#f7d774", "waiting for a processor"},
		timeline.CauseLock:            {"", "#c8442d", "#e8593f", "waiting for a lock"},
		timeline.CauseInterpreterLock: {"", "#8f2a3a", "#b8415a", "waiting for the interpreter's lock"},
		timeline.CausePool:            {"", "#e88a6c", "#f3a48a", "waiting for a worker or a connection"},
		timeline.CauseCondition:       {"", "#c9749f", "#e08fbb", "waiting for another thread"},
		timeline.CauseRemote:          {"", "#1670ad", "#3b94d9", "waiting for a peer"},
		timeline.CauseClient:          {"", "#63b3dd", "#8accf0", "waiting for the client"},
		timeline.CauseEventLoop:       {"", "#6a4c9c", "#9b7fd4", "waiting for the event loop"},
		timeline.CauseGC:              {"", "#9a6400", "#bf8420", "stopped by the garbage collector"},
		timeline.CauseDisk:            {"", "#00806a", "#12a88c", "waiting for a disk"},
		timeline.CausePageFault:       {"", "#57b894", "#7ed8b5", "in page faults"},
		timeline.CauseIPC:             {"", "#2f5d8a", "#5a8cba", "waiting for a pipe, file or program"},
		timeline.CauseSleep:           {"", "#b5bac2", "#a7adb8", "sleeping"},
	}
	out := make([]WebCause, 0, timeline.NumCauses+1)
	for c := range timeline.NumCauses {
		look := looks[c]
		look.Name = c.String()
		out = append(out, look)
	}
	return append(out, WebCause{Unaccounted, "#d5d8dd", "#4d535c", "not accounted for"})
}

// WebPhase is one phase of a request's time.
type WebPhase struct {
	Name  string `json:"name"`
	Means string `json:"means"` // in words: what happens in it
}

// WebPhases returns all phases in the order of timeline.Phase.
func WebPhases() (out []WebPhase) {
	means := map[timeline.Phase]string{
		timeline.PhaseQueue:   "a call waits for a free connection",
		timeline.PhaseDNS:     "the call's host name is looked up",
		timeline.PhaseConnect: "the call's connection is opened",
		timeline.PhaseTLS:     "the call's connection does the TLS handshake",
		timeline.PhaseSend:    "the call is written",
		timeline.PhaseRemote:  "the peer has the call",
		timeline.PhasePickUp:  "the peer's answer has arrived, and nobody has read it",
		timeline.PhaseReceive: "the peer's answer is read",
		timeline.PhaseUnread:  "the request has arrived, and nobody has read it",
		timeline.PhaseHandler: "the request is read, and waits for no call",
	}
	for p := range timeline.NumPhases {
		out = append(out, WebPhase{p.String(), means[p]})
	}
	return out
}

// inWords says what a request with this cause does. It adds the cause's name if the words do not contain it, unless
// it was named before.
func inWords(c timeline.Cause, named map[string]bool) string {
	words, name := WebCauses()[c].Means, c.String()
	if named[name] || strings.Contains(words, strings.ReplaceAll(name, "-", " ")) {
		return words
	}
	named[name] = true
	return words + " (" + name + ")"
}

// causesOf returns how long each cause took of a request; the last entry is the unaccounted time.
func causesOf(r *timeline.Request) (sums [timeline.NumCauses + 1]Duration) {
	for s := r.Segments(); s.Next(); {
		sums[s.Cause] += s.To.Sub(s.From)
	}
	sums[timeline.NumCauses] = r.Unaccounted()
	return sums
}

// mainCause returns the cause that took most of a request; NumCauses stands for the unaccounted time.
func mainCause(r *timeline.Request) (most timeline.Cause) {
	sums := causesOf(r)
	for c := range sums {
		if sums[c] > sums[most] {
			most = timeline.Cause(c)
		}
	}
	return most
}

func causeName(c timeline.Cause) string {
	if c == timeline.NumCauses {
		return Unaccounted
	}
	return c.String()
}

// inks are the terminal's styles of the causes, by name. Each is the one of a terminal's 256 colours nearest to the
// middle between the page's colours on a light and a dark background, because the terminal's background is not known.
func inks() map[string]style {
	out := map[string]style{}
	for _, c := range WebCauses() {
		light, dark := channels(c.Light), channels(c.Dark)
		var between [3]int
		for i := range between {
			between[i] = (light[i] + dark[i]) / 2
		}
		out[c.Name] = style("38;5;" + strconv.Itoa(nearest256(between)))
	}
	return out
}

// channels returns red, green and blue of "#rrggbb".
func channels(hex string) (out [3]int) {
	for i := range out {
		v, _ := strconv.ParseUint(hex[1+2*i:3+2*i], 16, 8) // a colour of the table above
		out[i] = int(v)
	}
	return out
}

// nearest256 returns the nearest of a terminal's 256 colours: from its cube with six steps per channel, and its
// greys.
func nearest256(c [3]int) int {
	far := func(of [3]int) (sum int) {
		for i := range of {
			sum += (of[i] - c[i]) * (of[i] - c[i])
		}
		return sum
	}
	steps := [...]int{0, 95, 135, 175, 215, 255}
	best, least := 0, 1<<30
	for i := range 216 {
		if d := far([3]int{steps[i/36], steps[i/6%6], steps[i%6]}); d < least {
			best, least = 16+i, d
		}
	}
	for i := range 24 {
		if grey := 8 + 10*i; far([3]int{grey, grey, grey}) < least {
			best, least = 232+i, far([3]int{grey, grey, grey})
		}
	}
	return best
}
