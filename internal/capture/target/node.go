package target

// NodeAsync says where a Node process keeps the async ids of its main thread: four
// doubles at Address: execution id, trigger id, last id given out, default trigger.
// The address is fixed for the life of the process.
type NodeAsync struct {
	Address uint64
	Workers int // async id tables of worker threads seen besides it
}

// NodeFinder looks for the async ids of one process. Making it reads the symbols of
// the executable once; each Find is then only a scan, so that a process which has
// just started can be asked again.
type NodeFinder struct{}

// NewNodeFinder prepares to search a process. It fails with ErrUnsupported where
// the executable does not export what is needed.
func NewNodeFinder(pid int) (*NodeFinder, error) { panic("todo") }

// Find scans the memory of the process. It fails with ErrNotReady while Node is
// starting, and with ErrUnsupported where nothing or more than one table fits.
func (f *NodeFinder) Find() (NodeAsync, error) { panic("todo") }

// Close frees what the finder holds open.
func (f *NodeFinder) Close() error { panic("todo") }

// NodeProbes are the places where Node's loop thread starts callbacks that no socket
// caused, for uprobes.
type NodeProbes struct {
	Path           string // of the file to attach to, valid while the process lives
	RunTimers      uint64 // file offset of node::Environment::RunTimers
	CheckImmediate uint64 // file offset of node::Environment::CheckImmediate
}

// NodeBoundaries finds the probe points of a running Node process.
func NodeBoundaries(pid int) (NodeProbes, error) { panic("todo") }
