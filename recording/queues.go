package recording

// Taken says that a thread of Python took an item from a queue.SimpleQueue, and which thread had put it in. Executors
// keep their work in such queues.
type Taken struct {
	Thread   ThreadID  // that took the item
	Putter   ThreadID  // that had put it in; NoThread: that was not seen, and none of the following fields is known
	Put      Time      // when it was put in
	Context  ContextID // in which it was put in, as in Chunk
	Queue    int64     // address of the queue
	Executor int64     // 1: the item is work submitted to an executor of concurrent.futures
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
