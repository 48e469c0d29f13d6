package report

import (
	"strconv"

	"github.com/getdwell/dwell/internal/timeline"
)

// WebCause is how one cause of time is drawn, on the page and in a terminal.
type WebCause struct {
	Name  string `json:"name"`
	Light string `json:"light"` // colour on a light ground
	Dark  string `json:"dark"`  // on a dark one
	Means string `json:"means"`
}

// Unaccounted is what a request's segments leave of it, beside the causes.
const Unaccounted = "unaccounted"

// WebCauses are all causes in the order of timeline.Cause, and Unaccounted. Kinds of
// causes have a hue each, of Okabe and Ito's palette, which is told apart with any
// colour vision: a CPU is orange, others' locks are red, peers are blue, the loop is
// purple, what nobody knows is grey. Within a kind lightness differs.
func WebCauses() []WebCause {
	looks := map[timeline.Cause]WebCause{
		timeline.CauseUnknown:         {"", "#8a8f98", "#7d838d", "asleep, and nobody knows for what"},
		timeline.CauseOnCPU:           {"", "#e08e00", "#f0a202", "running on a processor"},
		timeline.CauseRunnable:        {"", "#f0c75e", "#f7d774", "ready to run, waiting for a processor"},
		timeline.CauseLock:            {"", "#c8442d", "#e8593f", "waiting for a lock that another one holds"},
		timeline.CauseInterpreterLock: {"", "#8f2a3a", "#b8415a", "waiting for the interpreter's lock"},
		timeline.CausePool:            {"", "#e88a6c", "#f3a48a", "waiting for a thread or a thing of a pool"},
		timeline.CauseCondition:       {"", "#c9749f", "#e08fbb", "waiting until another one says that it is so"},
		timeline.CauseRemote:          {"", "#1670ad", "#3b94d9", "waiting for a peer over the network"},
		timeline.CauseClient:          {"", "#63b3dd", "#8accf0", "waiting for the client to send or to take"},
		timeline.CauseEventLoop:       {"", "#6a4c9c", "#9b7fd4", "the event loop works for other requests"},
		timeline.CauseGC:              {"", "#9a6400", "#bf8420", "the collector stops the threads"},
		timeline.CauseDisk:            {"", "#00806a", "#12a88c", "waiting for a disk"},
		timeline.CausePageFault:       {"", "#57b894", "#7ed8b5", "waiting for memory to be there"},
		timeline.CauseIPC:             {"", "#2f5d8a", "#5a8cba", "waiting for another program on this host"},
		timeline.CauseSleep:           {"", "#b5bac2", "#a7adb8", "asleep until a timer"},
	}
	out := make([]WebCause, 0, timeline.NumCauses+1)
	for c := range timeline.NumCauses {
		look := looks[c]
		look.Name = c.String()
		out = append(out, look)
	}
	return append(out, WebCause{Unaccounted, "#d5d8dd", "#4d535c", "what dwell could not account for"})
}

// causesOf is how long each cause took of a request, and last what none accounts for.
func causesOf(r *timeline.Request) (sums [timeline.NumCauses + 1]Duration) {
	for s := r.Segments(); s.Next(); {
		sums[s.Cause] += s.To.Sub(s.From)
	}
	sums[timeline.NumCauses] = r.Unaccounted()
	return sums
}

// mainCause is the cause that took most of a request; NumCauses: what none accounts for.
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

// inks are the terminal's styles of the causes, by name: of the 256 colours that terminals
// have, those nearest to the page's, between that on a light ground and that on a dark
// one, as nobody knows a terminal's ground.
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

// channels are red, green and blue of "#rrggbb".
func channels(hex string) (out [3]int) {
	for i := range out {
		v, _ := strconv.ParseUint(hex[1+2*i:3+2*i], 16, 8) // a colour of the table above
		out[i] = int(v)
	}
	return out
}

// nearest256 is the colour of a terminal's 256 that differs least, of its cube of six steps
// of each channel and of its greys.
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
