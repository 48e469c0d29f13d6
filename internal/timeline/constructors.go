package timeline

import "github.com/getdwell/dwell/internal/timeline/symbol"

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
		class, ok := symbol.Constructs(f)
		if !ok || !symbol.OwnCode(f) || f.File == "<cfunc>" {
			continue
		}
		c := Construction{Stack: id, Class: class, Caller: None}
		for s := t.Stacks[id].Caller; s >= 0; s = t.Stacks[s].Caller {
			caller := t.Stacks[s].Frame
			if _, same := symbol.Constructs(t.Frames[caller]); !same && symbol.Application(t.Frames[caller]) {
				c.Caller = caller
				break
			}
		}
		out = append(out, c)
	}
	return out
}
