package recording

// Boundary marks a point where Node's loop thread begins callbacks that no socket caused, or
// where one of those does what tells for whom it runs. What it is stands in What:
//
//   - "timers", "immediates", "poll": such callbacks begin;
//   - "resolved": the callback whose id Exec is resolves a promise: what waits for that goes on
//     when it is over;
//   - "awaited": it resolves another;
//   - "moved": what waits for promises was moved, as others were that are new;
//   - "done": one begins that waited for work of the thread pool;
//   - "posted": a message is sent to another thread, by the port whose id Port is;
//   - "messages", "message": the next that came by a port is taken, and its callback runs; the
//     last time before another "messages" of the thread there is none;
//   - "takes": the program asks a port for one by itself, perhaps in vain;
//   - "spent": from now on, "resolved" and "done" are not told.
type Boundary struct {
	Thread  ThreadID
	Exec    int64 // of messages that come: that of the port, under which their callback runs
	Trigger int64 // of "resolved" and "done": what that callback was asked for by; of "posted": that of what runs; 0 unknown
	Counter int64
	What    string
	Port    int64
	Waiter  int64 // of "resolved" and "awaited": where what waits for that promise at last is; 1: nothing does; 0 unknown
	To      int64 // of "moved": where it is now
}

// Kind implements Fact.
func (*Boundary) Kind() Kind { return KindBoundary }

// Visit implements Fact.
func (f *Boundary) Visit(v Visitor) {
	v.Int("thread", (*int64)(&f.Thread))
	v.Int("exec", &f.Exec)
	v.Int("trigger", &f.Trigger)
	v.Int("counter", &f.Counter)
	v.Str("what", &f.What)
	v.Int("port", &f.Port)
	v.Int("waiter", &f.Waiter)
	v.Int("to", &f.To)
}
