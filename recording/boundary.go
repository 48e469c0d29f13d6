package recording

// Boundary marks a point where Node's loop thread begins callbacks that no socket caused, or where such a callback
// does something that shows whom it runs for. What says which:
//
//   - "timers", "immediates", "poll": such callbacks begin;
//   - "resolved": the callback with the id Exec resolves a promise. Code that waits for that promise continues when the
//     callback is over;
//   - "awaited": the same callback resolves another promise;
//   - "moved": the garbage collector moved an object that waits for a promise;
//   - "done": a callback begins that waited for work of the thread pool;
//   - "posted": a message is sent to another thread, by the port whose id is Port;
//   - "messages", "message": the next message that came by a port is taken and its callback runs. The last such event
//     before another "messages" of the thread found no message;
//   - "takes": the program itself asks a port for a message, perhaps in vain;
//   - "spent": from now on, promises that are resolved are not reported.
type Boundary struct {
	Thread  ThreadID
	Exec    int64 // of messages that come: the id of the port, under which their callback runs
	Trigger int64 // of "resolved" and "done": the id that asked for this callback; of "posted": that of the callback which runs; 0 unknown
	Counter int64
	What    string
	Port    int64
	Waiter  int64 // of "resolved" and "awaited": address of what finally waits for that promise; 1: nothing waits; 0 unknown
	To      int64 // of "moved": its new address
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
