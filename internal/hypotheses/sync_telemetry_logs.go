package hypotheses

import (
	"strings"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// logFunctions are the functions through which logging libraries hand a record to its outputs, by the ends of their
// names, and by the file if the name alone could be anybody's. Whatever a thread waits for beneath them, it waits to
// get a log out.
var logFunctions = []struct {
	of         recording.FrameType
	name, file string
}{
	{recording.FramePython, "callHandlers", "logging/__init__.py"},
	{recording.FramePython, "emit", "loguru/_handler.py"},
	{recording.FrameRuby, "write", "logger/log_device.rb"},
	{recording.FrameJVM, "AppenderAttachableImpl.appendLoopOnAppenders", ""}, // Logback
	{recording.FrameJVM, "AppenderControl.callAppender", ""},                 // Log4j 2
}

func logFunction(f *recording.Frame) bool {
	for _, l := range logFunctions {
		if f.Type == l.of && strings.HasSuffix(f.Function, l.name) && strings.HasSuffix(f.File, l.file) {
			return true
		}
	}
	return false
}

// logStacks reports for each stack whether it gets a log out; nil if none does.
func logStacks(c *diagnosis.Case) []bool {
	out, some := make([]bool, len(c.Stacks)), false
	for i := range c.Stacks { // a caller comes before what it calls
		s := &c.Stacks[i]
		out[i] = s.Caller >= 0 && out[s.Caller] || logFunction(&c.Frames[s.Frame])
		some = some || out[i]
	}
	if !some {
		return nil
	}
	return out
}

// logs reports whether a stack gets a log out.
func (t *telemetry) logs(id timeline.StackID) bool {
	return id != timeline.None && t.logging != nil && t.logging[id]
}

// logKind tells what a wait beneath the functions of a logging library is for. Waits for the interpreter's lock, or for
// the collector, do not count: they would be anywhere else too.
func logKind(cause timeline.Cause) (sendKind, bool) {
	switch cause {
	case timeline.CauseLock:
		return sendLock, true
	case timeline.CauseDisk:
		return sendFile, true
	case timeline.CauseSleep, timeline.CauseIPC, timeline.CauseCondition, timeline.CauseUnknown:
		return sendAsleep, true
	}
	return 0, false
}

// logCalls finds the calls that get logs out: those whose stacks show it. If nearly all calls of one operation of a
// peer with a known stack do, the others of that operation count too: their stacks were not taken.
func (t *telemetry) logCalls() {
	if t.logging == nil {
		return
	}
	type key struct {
		process         recording.ProcessID
		peer, operation string
	}
	type group struct {
		calls        []timeline.CallID
		named, shown int
	}
	groups := map[key]*group{}
	for i := range t.c.Calls {
		call := &t.c.Calls[i]
		k := key{call.Process, call.Peer, call.Operation}
		if groups[k] == nil {
			groups[k] = &group{}
		}
		g := groups[k]
		g.calls = append(g.calls, timeline.CallID(i))
		named, shown := t.logCall(call)
		if named {
			g.named++
		}
		if shown {
			g.shown++
			t.logged[timeline.CallID(i)] = true
		}
	}
	for _, g := range groups {
		if g.shown < sendsTold || 10*g.shown < 9*g.named {
			continue
		}
		for _, id := range g.calls {
			t.logged[id] = true
		}
	}
}

// logCall reports whether a stack of a call is known, and whether one gets a log out.
func (t *telemetry) logCall(call *timeline.Call) (named, shown bool) {
	for _, id := range waitStacks(t.c, call) {
		named = true
		shown = shown || t.logs(id)
	}
	return named, shown
}
