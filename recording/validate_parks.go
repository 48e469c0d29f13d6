package recording

// parkFact checks facts about goroutines that wait for each other, and about queues.
func (v *validator) parkFact(fact Fact) {
	switch f := fact.(type) {
	case *Park:
		v.thread(f.Thread)
		v.thread(f.Left)
		v.span("since", f.Since)
		if f.Stack != NoStack {
			v.stack(f.Stack)
		}
		if f.Goroutine <= NoGoroutine || f.Since == NoTime {
			v.report("goroutine %d parked since %d", f.Goroutine, f.Since)
		}
	case *Taken:
		v.thread(f.Thread)
		if f.Putter != NoThread {
			v.thread(f.Putter)
			v.span("put", f.Put)
		}
	case *Unpark:
		v.thread(f.Thread)
		if f.Stack != NoStack {
			v.stack(f.Stack)
		}
	case *Pause:
		v.thread(f.Thread)
		v.span("since", f.Since)
		v.span("stopped", f.Stopped)
	}
}
