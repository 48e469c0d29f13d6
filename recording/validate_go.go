package recording

// goFact checks facts about goroutines.
func (v *validator) goFact(fact Fact) {
	switch f := fact.(type) {
	case *Goroutine:
		v.process(f.Process)
		if f.ID <= NoGoroutine || f.Parent < NoGoroutine || f.Parent == f.ID {
			v.report("goroutine %d, started by %d", f.ID, f.Parent)
		}
	case *Context:
		v.process(f.Process)
		if f.ID <= NoContext || f.Parent == f.ID {
			v.report("context %d, a copy of %d", f.ID, f.Parent)
		}
	case *GoRun:
		v.thread(f.Thread)
		if f.Goroutine <= NoGoroutine {
			v.report("goroutine %d", f.Goroutine)
		}
	case *GoCall:
		v.outbound(f.Conn)
		v.thread(f.Thread)
		if f.Goroutine <= NoGoroutine {
			v.report("goroutine %d", f.Goroutine)
		}
	default:
		v.parkFact(fact)
	}
}
