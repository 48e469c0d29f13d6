package waits

import (
	"strings"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/symbol"
	"github.com/getdwell/dwell/recording"
)

// ruleDepth is how many frames deep a rule looks.
const ruleDepth = 64

// ruleBook determines from stacks what waits are for.
type ruleBook struct {
	t     *timeline.Timeline
	names []string // by frame
	own   []bool   // by frame: it belongs to the application
	rules []compiledRule
	memo  map[ruleKey]verdict
	paths []int32 // by stack: equal for stacks of the same functions, whatever the lines
}

type ruleKey struct {
	stack   timeline.StackID
	runtime recording.Runtime
}

// verdict is what a rule says about a stack.
type verdict struct {
	code  string
	cause timeline.Cause
	frame timeline.FrameID // the outermost that the rule asked for
}

type compiledRule struct {
	waitRule
	steps []ruleStep
}

// ruleStep is one frame of a rule.
type ruleStep struct {
	next  bool // must be the very next frame
	first bool // must be the innermost frame of a language runtime
	names []frameName
}

// frameName is one name that a frame may have: the whole name, or (open) a beginning and an end with anything between.
type frameName struct {
	name, end string
	open      bool
	in        string
}

func newRuleBook(t *timeline.Timeline) *ruleBook {
	b := &ruleBook{t: t, memo: map[ruleKey]verdict{}}
	if len(t.Stacks) == 0 {
		return b
	}
	for i := range t.Frames {
		b.names = append(b.names, symbol.Plain(t.Frames[i]))
		b.own = append(b.own, symbol.Managed(t.Frames[i]) && symbol.OwnCode(t.Frames[i]))
	}
	b.paths = paths(t, b.names)
	for _, r := range waitRules() {
		c := compiledRule{waitRule: r}
		for _, f := range r.frames {
			c.steps = append(c.steps, compileStep(f))
		}
		b.rules = append(b.rules, c)
	}
	return b
}

func compileStep(text string) ruleStep {
	var s ruleStep
	text, s.next = strings.CutPrefix(text, "+")
	text, s.first = strings.CutPrefix(text, "^")
	for alt := range strings.SplitSeq(text, "|") {
		var n frameName
		n.name, n.in, _ = strings.Cut(alt, " in ")
		n.name, n.end, n.open = strings.Cut(n.name, "*")
		s.names = append(s.names, n)
	}
	return s
}

// of returns what the rules of a runtime say about a stack; no code if none fits.
func (b *ruleBook) of(id timeline.StackID, runtime recording.Runtime) verdict {
	if id == timeline.None {
		return verdict{frame: timeline.None}
	}
	key := ruleKey{id, runtime}
	v, ok := b.memo[key]
	if !ok {
		v = b.judge(id, runtime)
		b.memo[key] = v
	}
	return v
}

func (b *ruleBook) judge(id timeline.StackID, runtime recording.Runtime) verdict {
	frames := make([]timeline.FrameID, 0, ruleDepth)
	for ; id != timeline.None && len(frames) < ruleDepth; id = b.t.Stacks[id].Caller {
		if f := b.t.Stacks[id].Frame; b.t.Frames[f].Type != recording.FrameKernel {
			frames = append(frames, f)
		}
	}
	for i := range b.rules {
		r := &b.rules[i]
		if r.runtime != anyRuntime && r.runtime != int(runtime) {
			continue
		}
		if last := b.fits(r, frames); last >= 0 {
			return verdict{r.code, r.cause, frames[last]}
		}
	}
	return verdict{frame: timeline.None}
}

// fits returns the index of the frame that matches the last step of a rule, or -1.
func (b *ruleBook) fits(r *compiledRule, frames []timeline.FrameID) int {
	at := 0
	for k, s := range r.steps {
		found := -1
		for i := at; i < len(frames); i++ {
			if b.meets(s, frames[i]) && (!s.first || symbol.Managed(b.t.Frames[frames[i]])) {
				found = i
				break
			}
			if s.next || s.first && symbol.Managed(b.t.Frames[frames[i]]) || k == 0 && b.own[frames[i]] {
				break
			}
		}
		if found < 0 {
			return -1
		}
		at = found + 1
	}
	return at - 1
}

func (b *ruleBook) meets(s ruleStep, f timeline.FrameID) bool {
	for i := range s.names {
		if s.names[i].meets(b.names[f], &b.t.Frames[f]) {
			return true
		}
	}
	return false
}

func (n *frameName) meets(name string, f *recording.Frame) bool {
	if n.in != "" {
		if symbol.Managed(*f) && !strings.HasSuffix(f.File, n.in) || !symbol.Managed(*f) && !strings.HasPrefix(f.Module, n.in) {
			return false
		}
	}
	if !n.open {
		return strings.HasSuffix(name, n.name) && (len(name) == len(n.name) || separates(name[len(name)-len(n.name)-1]))
	}
	if !strings.HasSuffix(name, n.end) {
		return false
	}
	rest := name[:len(name)-len(n.end)]
	if strings.HasPrefix(rest, n.name) {
		return true
	}
	for i := strings.Index(rest, n.name); i > 0; {
		if separates(rest[i-1]) {
			return true
		}
		k := strings.Index(rest[i+1:], n.name)
		if k < 0 {
			break
		}
		i += 1 + k
	}
	return false
}

// separates reports whether a character separates the parts of a function's name.
func separates(c byte) bool {
	return c == '.' || c == ':' || c == '/' || c == '#' || c == '$' || c == ' '
}

// paths numbers stacks by their functions. If a stack has frames of a language runtime, only those count, because
// HotSpot's generated code may add different frames between them. In Ruby the frames below them count too: they
// distinguish its interpreter's lock from others. A stack's caller comes before it.
func paths(t *timeline.Timeline, names []string) []int32 {
	type step struct {
		caller int32
		name   string
		module string
	}
	seen, list, methods := map[step]int32{}, make([]int32, len(t.Stacks)), make([]bool, len(t.Stacks))
	for i := range t.Stacks {
		f := &t.Frames[t.Stacks[i].Frame]
		k := step{caller: -1, name: names[t.Stacks[i].Frame], module: f.Module}
		method := symbol.Managed(*f) && f.Type != recording.FrameRuby && !(f.Type == recording.FrameJVM && symbol.Stub(k.name))
		if c := t.Stacks[i].Caller; c != timeline.None {
			k.caller, methods[i] = list[c], methods[c]
			if !method && methods[c] {
				list[i] = list[c]
				continue
			}
		}
		methods[i] = methods[i] || method
		n, ok := seen[k]
		if !ok {
			n = int32(len(seen))
			seen[k] = n
		}
		list[i] = n
	}
	return list
}
