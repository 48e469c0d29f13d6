package timeline

import "github.com/getdwell/dwell/internal/timeline/symbol"

// Construction is the building of an object, seen on a stack. Its class belongs to a library or to the service itself.
type Construction struct {
	Stack  StackID // its innermost frame is the constructor
	Class  string  // the class, as people write it: "Aws::DynamoDB::Client"
	Caller FrameID // the nearest frame of the service's own code outside the constructor, or None
}

// Constructions returns the constructors under way on a stack, the innermost first. Constructors of the runtime's own
// library are left out: programs build sockets and threads all the time, and servers that handle a request while they
// build its handler belong to that library too.
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
