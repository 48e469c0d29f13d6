package recording

// Taken says that a thread of Python took an item from a queue.SimpleQueue, in which
// executors keep their work, and who had put it in.
type Taken struct {
	Thread   ThreadID  // that took it
	Putter   ThreadID  // that had put it in; NoThread: that was not seen, and nothing of what follows is known
	Put      Time      // when
	Context  ContextID // in which, as in Chunk
	Queue    int64     // address of the queue
	Executor int64     // 1: it is work that an executor of concurrent.futures was given
}

// Kind implements Fact.
func (*Taken) Kind() Kind { return KindTaken }

// Visit implements Fact.
func (f *Taken) Visit(v Visitor) {
	v.Int("thread", (*int64)(&f.Thread))
	v.Int("putter", (*int64)(&f.Putter))
	v.Int("put", (*int64)(&f.Put))
	v.Int("context", (*int64)(&f.Context))
	v.Int("queue", &f.Queue)
	v.Int("executor", &f.Executor)
}
