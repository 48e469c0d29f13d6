package target

// Info describes a process. It fails with ErrNoProcess, ErrZombie or
// ErrKernelThread.
func Info(pid int) (Process, error) { panic("todo") }

// Threads lists the threads of a process, by tid.
func Threads(pid int) ([]Thread, error) { panic("todo") }

// Tree lists a process and its living descendants, parents before children.
func Tree(pid int) ([]Process, error) { panic("todo") }

// Find lists the processes whose comm, executable or first two arguments (base names
// only) match the regular expression, by pid; never dwell itself. No match is
// ErrNoProcess.
func Find(pattern string) ([]Process, error) { panic("todo") }

// Roots keeps the processes that do not descend from another one in the list: of a
// server and its workers, the server.
func Roots(all []Process) []Process { panic("todo") }
