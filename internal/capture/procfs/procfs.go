// Package procfs reads data of a process that the kernel shows only to processes with rights over it. It uses the
// rights of this process or, if those were dropped, a helper process that keeps them. The helper passes descriptors
// and short answers; it parses nothing.
package procfs

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
)

// Open opens a file of a process, /proc/PID/..., for reading.
func Open(path string) (*os.File, error) {
	file, err := os.Open(path)
	if a, helped := helped(err, question{Do: doOpen}, path); helped {
		return a.file, nil
	}
	return file, err
}

// ReadFile reads a file of a process.
func ReadFile(path string) ([]byte, error) {
	file, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(file)
}

// Readlink returns the target of a link of a process.
func Readlink(path string) (string, error) {
	to, err := os.Readlink(path)
	if a, helped := helped(err, question{Do: doReadlink}, path); helped {
		return string(a.Text), nil
	}
	return to, err
}

// Identity distinguishes a file from other files that exist at this time.
type Identity struct{ Device, Inode uint64 }

// Identify returns which file a path leads to. The kernel answers, without asking the file system.
func Identify(path string) (Identity, error) {
	id, err := identify(path)
	if a, helped := helped(err, question{Do: doIdentify}, path); helped {
		return a.Identity, nil
	}
	return id, err
}

// Sockets returns the sockets of a process by inode, with the lowest descriptor for each.
func Sockets(pid int) (map[uint64]int, error) {
	path := "/proc/" + strconv.Itoa(pid) + "/fd"
	list, err := socketsFrom(path, 0)
	for q := (question{Do: doSockets}); ; {
		a, helped := helped(err, q, path)
		if !helped {
			break
		}
		list = append(list, a.Sockets...)
		if len(a.Sockets) < maxSockets {
			err = nil
			break
		}
		q.FD = list[len(list)-1].FD + 1
	}
	sockets := map[uint64]int{}
	for _, s := range slices.Backward(list) {
		sockets[s.Inode] = s.FD
	}
	return sockets, err
}

// held is a descriptor of a socket.
type held struct {
	FD    int
	Inode uint64
}

// socketsFrom lists the descriptors of sockets in a directory /proc/PID/fd, beginning with first, in order.
func socketsFrom(dir string, first int) ([]held, error) {
	file, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	names, err := file.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	var list []held
	for _, name := range names {
		fd, err := strconv.Atoi(name)
		if err != nil || fd < first {
			continue
		}
		link, err := os.Readlink(dir + "/" + name)
		if errors.Is(err, fs.ErrPermission) {
			return nil, err
		}
		if inode, ok := socketInode(link); ok { // a descriptor that was closed meanwhile is no longer a socket of the process
			list = append(list, held{fd, inode})
		}
	}
	slices.SortFunc(list, func(a, b held) int { return a.FD - b.FD })
	return list, nil
}

// socketInode reads a link of /proc/PID/fd such as "socket:[4026]".
func socketInode(link string) (uint64, bool) {
	number, ok := strings.CutPrefix(link, "socket:[")
	if !ok {
		return 0, false
	}
	inode, err := strconv.ParseUint(strings.TrimSuffix(number, "]"), 10, 64)
	return inode, err == nil
}

// Socket is the data of a socket.
type Socket struct {
	Cookie  uint64
	MPTCP   bool
	Backlog int64 // limit of a listener's queue, -1: unknown
}

// Peeker duplicates descriptors of another process to ask the kernel about them. It closes the duplicate at once; the
// socket is not affected.
type Peeker struct{ pid, pidfd int }

// Requests to the helper.
const (
	doOpen     = "open"
	doReadlink = "readlink"
	doIdentify = "identify"
	doSockets  = "sockets"
	doPeek     = "peek"
)

// question is a question to the helper about a process.
type question struct {
	ID    uint32
	Do    string
	PID   int
	Name  string `json:",omitempty"` // below /proc/PID
	FD    int    `json:",omitempty"`
	Inode uint64 `json:",omitempty"`
}

// answer is the helper's answer, with a descriptor if a file was requested.
type answer struct {
	ID       uint32
	Error    int      `json:",omitempty"` // an errno
	Text     []byte   `json:",omitempty"`
	Sockets  []held   `json:",omitempty"`
	Identity Identity `json:",omitzero"`
	Socket   Socket   `json:",omitzero"`
	file     *os.File
}

// maxSockets is the maximum number of sockets in an answer.
const maxSockets = 1000

// Watched says about which processes a helper answers questions: these processes and all their descendants, and the
// processes in their control groups or in the given groups, written as in /proc/PID/cgroup
// ("0::/system.slice/x.service").
type Watched struct {
	PIDs   []int
	Groups []string
}

// helped asks the helper, if there is one, for what this process was refused. It returns false if there is no answer.
func helped(refused error, q question, path string) (answer, bool) {
	if !errors.Is(refused, fs.ErrPermission) {
		return answer{}, false
	}
	rest, ok := strings.CutPrefix(path, "/proc/")
	pid, name, _ := strings.Cut(rest, "/")
	var err error
	if q.PID, err = strconv.Atoi(pid); err != nil || !ok {
		return answer{}, false
	}
	q.Name = name
	a, err := ask(q)
	return a, err == nil
}
