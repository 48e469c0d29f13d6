package target

// GoLayout says where the Go runtime keeps the ids of goroutines. All offsets are in
// bytes.
//
// The g that runs on a thread is at *(thread pointer + TLS). It may be the thread's
// scheduler stack (g0): the goroutine is then (*(g+M))+CurG, zero when none.
type GoLayout struct {
	Version    string // of Go, as in "go1.26.1"
	TLS        int64  // of g from the thread pointer (FS base); mostly -8
	Goid       int64  // of goid (uint64) in g
	ParentGoid int64  // of parentGoid (uint64) in g; -1 before Go 1.21
	M          int64  // of m in g
	CurG       int64  // of curg in m
	G0         int64  // of g0 in m (0)
	Source     string // "dwarf" or "table": what the offsets in g and m rest on
}

// GoOffsets finds the layout of a running Go program from its executable. It fails
// with ErrUnsupported where the version is unknown or goroutines cannot be found.
func GoOffsets(pid int) (GoLayout, error) { panic("todo") }
