package recording

// Kind implements Fact.
func (*Manifest) Kind() Kind { return KindManifest }

// Visit implements Fact.
func (f *Manifest) Visit(v Visitor) {
	v.Str("tool", &f.Tool)
	v.Str("kernel", &f.Kernel)
	v.Str("arch", &f.Arch)
	v.Int("cpus", &f.CPUs)
	v.Str("hooks", &f.Hooks)
	v.Str("target", &f.Target)
}

// Kind implements Fact.
func (*Clock) Kind() Kind { return KindClock }

// Visit implements Fact.
func (f *Clock) Visit(v Visitor) {
	v.Int("wall", &f.Wall)
	v.Int("suspended", &f.Suspended)
}

// Kind implements Fact.
func (*Loss) Kind() Kind { return KindLoss }

// Visit implements Fact.
func (f *Loss) Visit(v Visitor) {
	v.Str("hook", &f.Hook)
	v.Int("cpu", &f.CPU)
	v.Int("count", &f.Count)
	v.Int("from", (*int64)(&f.From))
}

// Kind implements Fact.
func (*Gap) Kind() Kind { return KindGap }

// Visit implements Fact.
func (f *Gap) Visit(v Visitor) {
	v.Int("from", (*int64)(&f.From))
}

// Kind implements Fact.
func (*Overhead) Kind() Kind { return KindOverhead }

// Visit implements Fact.
func (f *Overhead) Visit(v Visitor) {
	v.Int("user-cpu", &f.UserCPU)
	v.Int("bpf", &f.BPF)
	v.Int("rss", &f.RSS)
	v.Int("events", &f.Events)
	v.Int("inside", &f.Inside)
}

// Kind implements Fact.
func (*Host) Kind() Kind { return KindHost }

// Visit implements Fact.
func (f *Host) Visit(v Visitor) {
	v.Int("busy", &f.Busy)
	v.Int("idle", &f.Idle)
	v.Int("running", &f.Running)
	v.Int("pressure", &f.Pressure)
	v.Int("throttled", &f.Throttled)
	v.Int("overflows", &f.Overflows)
	v.Int("stolen", &f.Stolen)
}

// Kind implements Fact.
func (*End) Kind() Kind { return KindEnd }

// Visit implements Fact.
func (f *End) Visit(v Visitor) {
	v.Str("reason", &f.Reason)
}

// Kind implements Fact.
func (*Process) Kind() Kind { return KindProcess }

// Visit implements Fact.
func (f *Process) Visit(v Visitor) {
	v.Int("id", (*int64)(&f.ID))
	v.Int("pid", &f.PID)
	v.Int("start", &f.Start)
	v.Int("parent", (*int64)(&f.Parent))
	v.Str("comm", &f.Comm)
	v.Str("exe", &f.Exe)
	v.Enum("runtime", runtimeNames, (*int64)(&f.Runtime))
	v.Str("build", &f.Build)
	v.Str("version", &f.Version)
	v.Int("cpus", &f.CPUs)
}

// Kind implements Fact.
func (*Exec) Kind() Kind { return KindExec }

// Visit implements Fact.
func (f *Exec) Visit(v Visitor) {
	v.Int("process", (*int64)(&f.Process))
	v.Str("comm", &f.Comm)
	v.Str("exe", &f.Exe)
	v.Enum("runtime", runtimeNames, (*int64)(&f.Runtime))
	v.Str("build", &f.Build)
	v.Str("version", &f.Version)
}

// Kind implements Fact.
func (*ProcessExit) Kind() Kind { return KindProcessExit }

// Visit implements Fact.
func (f *ProcessExit) Visit(v Visitor) {
	v.Int("process", (*int64)(&f.Process))
}

// Kind implements Fact.
func (*Thread) Kind() Kind { return KindThread }

// Visit implements Fact.
func (f *Thread) Visit(v Visitor) {
	v.Int("id", (*int64)(&f.ID))
	v.Int("tid", &f.TID)
	v.Int("start", &f.Start)
	v.Int("process", (*int64)(&f.Process))
	v.Int("creator", (*int64)(&f.Creator))
	v.Str("name", &f.Name)
	v.Int("context", (*int64)(&f.Context))
}

// Kind implements Fact.
func (*ThreadExit) Kind() Kind { return KindThreadExit }

// Visit implements Fact.
func (f *ThreadExit) Visit(v Visitor) {
	v.Int("thread", (*int64)(&f.Thread))
}

// Kind implements Fact.
func (*ThreadState) Kind() Kind { return KindThreadState }

// Visit implements Fact.
func (f *ThreadState) Visit(v Visitor) {
	v.Int("thread", (*int64)(&f.Thread))
	v.Enum("state", offNames, (*int64)(&f.State))
	v.Int("since", (*int64)(&f.Since))
	v.Str("syscall", &f.Syscall)
	v.Int("on", &f.On)
}

// Kind implements Fact.
func (*Off) Kind() Kind { return KindOff }

// Visit implements Fact.
func (f *Off) Visit(v Visitor) {
	v.Int("thread", (*int64)(&f.Thread))
	v.Int("since", (*int64)(&f.Since))
	v.Int("woken", (*int64)(&f.Woken))
	v.Enum("state", offNames, (*int64)(&f.State))
	v.Enum("waker-kind", wakerNames, (*int64)(&f.WakerKind))
	v.Int("waker", (*int64)(&f.Waker))
	v.Int("release", &f.Release)
	v.Int("cpu", &f.CPU)
	v.Str("syscall", &f.Syscall)
	v.Int("arg", &f.Arg)
	v.Int("timed", &f.Timed)
	v.Int("goroutine", (*int64)(&f.Goroutine))
	v.Int("counter", &f.Counter)
	v.Int("sp", &f.SP)
	v.Int("owner", (*int64)(&f.Owner))
	v.Int("ran", &f.Ran)
	v.Int("file", (*int64)(&f.File))
	v.Int("minor", &f.Minor)
	v.Int("major", &f.Major)
	v.Int("fetched", &f.Fetched)
	v.Int("in", &f.In)
	v.Int("out", &f.Out)
	v.Int("context", (*int64)(&f.Context))
	v.Enum("ahead", aheadNames, (*int64)(&f.Ahead))
	v.Str("program", &f.Program)
}

// Usage is what a thread used since it last came back to a CPU.
type Usage struct {
	Minor   int64 // page faults, counted when each was over
	Major   int64 // the part of them that read from storage
	Fetched int64 // bytes it read from storage, not from the page cache
	In      int64 // bytes that its reads returned, from files, sockets and pipes alike
	Out     int64 // bytes that its writes transferred
}

// Kind implements Fact.
func (*File) Kind() Kind { return KindFile }

// Visit implements Fact.
func (f *File) Visit(v Visitor) {
	v.Int("id", (*int64)(&f.ID))
	v.Str("name", &f.Name)
	v.Int("size", &f.Size)
}
