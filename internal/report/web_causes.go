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
		timeline.CauseUnknown:         {Light: "#8a8f98", Dark: "#7d838d"},
		timeline.CauseOnCPU:           {Light: "#e08e00", Dark: "#f0a202"},
		timeline.CauseRunnable:        {Light: "#f0c75e", Dark: "#f7d774"},
		timeline.CauseLock:            {Light: "#c8442d", Dark: "#e8593f"},
		timeline.CauseInterpreterLock: {Light: "#8f2a3a", Dark: "#b8415a"},
		timeline.CausePool:            {Light: "#e88a6c", Dark: "#f3a48a"},
		timeline.CauseCondition:       {Light: "#c9749f", Dark: "#e08fbb"},
		timeline.CauseRemote:          {Light: "#1670ad", Dark: "#3b94d9"},
		timeline.CauseClient:          {Light: "#63b3dd", Dark: "#8accf0"},
		timeline.CauseEventLoop:       {Light: "#6a4c9c", Dark: "#9b7fd4"},
		timeline.CauseGC:              {Light: "#9a6400", Dark: "#bf8420"},
		timeline.CauseDisk:            {Light: "#00806a", Dark: "#12a88c"},
		timeline.CausePageFault:       {Light: "#57b894", Dark: "#7ed8b5"},
		timeline.CauseIPC:             {Light: "#2f5d8a", Dark: "#5a8cba"},
		timeline.CauseSleep:           {Light: "#b5bac2", Dark: "#a7adb8"},
	}
	out := make([]WebCause, 0, timeline.NumCauses+1)
	for c := range timeline.NumCauses {
		look := looks[c]
		look.Name, look.Means = c.String(), c.Words()
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
	words, name := c.Words(), c.String()
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
