package timeline

import (
	"strings"

	"github.com/getdwell/dwell/recording"
)

// Construction is the building of an object of a library or of the service's own, on a
// stack.
type Construction struct {
	Stack  StackID // whose innermost frame is the constructor
	Class  string  // what is built, as people call it: "Aws::DynamoDB::Client"
	Caller FrameID // the nearest frame of the service's own code outside of it, or None
}

// Constructions returns the constructors under way on a stack, the innermost first.
// Those of the runtime's own library are left out: sockets and threads are built at any
// time, and servers that handle a request while they build its handler are of that kind.
func (t *Timeline) Constructions(id StackID) (out []Construction) {
	for ; id >= 0 && int(id) < len(t.Stacks); id = t.Stacks[id].Caller {
		f := t.Frames[t.Stacks[id].Frame]
		class, ok := constructs(f)
		if !ok || !ownCode(f) || f.File == "<cfunc>" {
			continue
		}
		c := Construction{Stack: id, Class: class, Caller: None}
		for s := t.Stacks[id].Caller; s >= 0; s = t.Stacks[s].Caller {
			caller := t.Stacks[s].Frame
			if _, same := constructs(t.Frames[caller]); !same && Application(t.Frames[caller]) {
				c.Caller = caller
				break
			}
		}
		out = append(out, c)
	}
	return out
}

// constructs reports a frame that builds an object, and of which class. Names are all
// there is to go by: JavaScript's constructors are called as their class, so they are not
// known.
func constructs(f recording.Frame) (class string, ok bool) {
	name := plainName(f)
	suffix := ""
	switch f.Type {
	case recording.FrameRuby:
		suffix = "#initialize"
	case recording.FrameJVM:
		suffix = ".<init>"
	case recording.FramePython:
		suffix = "__init__"
	case recording.FrameGo:
		return constructsGo(name)
	}
	class, ok = strings.CutSuffix(name, suffix)
	if suffix == "" || !ok {
		return "", false
	}
	if class = strings.TrimSuffix(class, "."); f.Type == recording.FrameJVM {
		class = class[strings.LastIndexByte(class, '.')+1:]
	}
	if class == "" {
		class = strings.TrimSuffix(base(f.File), ".py")
	}
	return class, true
}

// constructsGo knows constructors by the convention: New, NewClient, NewFromConfig, and
// what loads the configuration they are made from.
func constructsGo(name string) (class string, ok bool) {
	name = name[strings.LastIndexByte(name, '/')+1:]
	pkg, function, _ := strings.Cut(name, ".")
	rest, ok := strings.CutPrefix(function, "New")
	if ok = ok && (rest == "" || rest[0] >= 'A' && rest[0] <= 'Z') && !strings.Contains(rest, "."); ok || function == "LoadDefaultConfig" {
		return pkg + "." + function, true
	}
	return "", false
}

// Makes reports a frame that, by its name, makes something which may be of use again: a
// constructor, or what parses, compiles or loads.
func Makes(f recording.Frame) bool {
	if f.Type == recording.FrameKernel {
		return false
	}
	if _, ok := constructs(f); ok {
		return true
	}
	name := plainName(f)
	name = name[strings.LastIndexAny(name, "./#:")+1:]
	for _, verb := range [...]string{"parse", "compile", "load"} {
		if len(name) >= len(verb) && strings.EqualFold(name[:len(verb)], verb) {
			rest := name[len(verb):]
			return rest == "" || rest[0] < 'a' || rest[0] > 'z'
		}
	}
	return false
}
