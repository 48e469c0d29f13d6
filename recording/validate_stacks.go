package recording

// stackFact checks that frames and stacks are declared before they are used. The outermost stack comes first, so
// callers cannot form a cycle.
func (v *validator) stackFact(fact Fact) {
	switch f := fact.(type) {
	case *Frame:
		v.declare(v.frames[f.ID], int64(f.ID))
		v.notNegative("line", f.Line)
		v.frames[f.ID] = true
	case *Stack:
		v.declare(v.stacks[f.ID], int64(f.ID))
		if f.Caller != NoStack {
			v.stack(f.Caller)
		}
		if !v.frames[f.Frame] {
			v.report("frame %d is not declared before", f.Frame)
		}
		v.stacks[f.ID] = true
	case *StackAt:
		v.thread(f.Thread)
		v.stack(f.Stack)
	}
}

func (v *validator) stack(id StackID) {
	if !v.stacks[id] {
		v.report("stack %d is not declared before", id)
	}
}
