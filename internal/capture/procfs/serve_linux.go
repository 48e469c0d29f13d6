package procfs

import (
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"regexp"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

// atOnce is how many questions are answered at a time, because each may wait for a file system. Further ones are
// refused.
const atOnce = 64

// helper answers questions.
type helper struct {
	conn    *net.UnixConn
	watched *watched
}

// Serve is the helper: it drops the rights that it does not need, and answers questions until its client is gone.
func Serve(end *os.File, giveUp func() error) error {
	conn, err := connect(end)
	if err != nil {
		return err
	}
	defer conn.Close()
	text := make([]byte, maxMessage)
	n, err := conn.Read(text)
	var of Watched
	if err == nil {
		err = json.Unmarshal(text[:n], &of)
	}
	if err != nil {
		return err
	}
	h := helper{conn, watch(of)}
	if err := giveUp(); err != nil {
		h.say(answer{Error: int(unix.EPERM), Text: []byte(err.Error())})
		return err
	}
	h.say(answer{})
	h.watched.look()
	room := make(chan struct{}, atOnce)
	for {
		n, err := conn.Read(text)
		if errors.Is(err, io.EOF) || n == 0 {
			return nil
		}
		var q question
		if err == nil {
			err = json.Unmarshal(text[:n], &q)
		}
		if err != nil {
			return err
		}
		select {
		case room <- struct{}{}:
			go func() {
				defer func() { <-room }()
				a, err := h.answer(q)
				a.ID, a.Error = q.ID, errnoOf(err)
				h.say(a)
			}()
		default:
			h.say(answer{ID: q.ID, Error: int(unix.EBUSY)})
		}
	}
}

func errnoOf(err error) int {
	var errno unix.Errno
	switch {
	case err == nil:
		return 0
	case errors.As(err, &errno):
		return int(errno)
	}
	return int(unix.EIO)
}

// say sends an answer, and closes the descriptor that it passes.
func (h *helper) say(a answer) {
	var rights []byte
	if a.file != nil {
		defer a.file.Close()
		rights = unix.UnixRights(int(a.file.Fd()))
	}
	if text, err := json.Marshal(a); err == nil {
		_, _, _ = h.conn.WriteMsgUnix(text, rights, nil) // on failure the client is gone
	}
}

// The names that are answered; none of them leads out of /proc/PID.
var (
	opened   = []string{"maps", "mem", "pagemap", "auxv", "environ"}
	linked   = []string{"exe", "ns/mnt"}
	known    = []string{"exe", "ns/net"}
	mapFiles = regexp.MustCompile(`^map_files/[0-9a-f]{1,16}-[0-9a-f]{1,16}$`)
)

// isCode reports whether a name refers to a file with code: the executable of a process, or a file that it has
// mapped.
func isCode(name string) bool { return name == "exe" || mapFiles.MatchString(name) }

// answer answers a question about a watched process. It keeps the process's directory open, so that it does not
// examine another process that reuses the number.
func (h *helper) answer(q question) (answer, error) {
	path := "/proc/" + strconv.Itoa(q.PID)
	dir, err := unix.Open(path, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return answer{}, err
	}
	defer unix.Close(dir)
	peek := NewPeeker(q.PID)
	defer peek.Close()
	if !h.watched.allows(q.PID) {
		return answer{}, unix.EPERM
	}
	here := "/proc/self/fd/" + strconv.Itoa(dir) + "/"
	switch {
	case q.Do == doOpen && slices.Contains(opened, q.Name):
		file, err := os.Open(here + q.Name)
		return answer{file: file}, err
	case q.Do == doOpen && isCode(q.Name):
		file, err := openPlain(dir, q.Name)
		return answer{file: file}, err
	case q.Do == doReadlink && slices.Contains(linked, q.Name):
		to, err := os.Readlink(here + q.Name)
		return answer{Text: []byte(to)}, err
	case q.Do == doIdentify && (slices.Contains(known, q.Name) || isCode(q.Name)):
		id, _, err := stated(dir, q.Name, 0)
		return answer{Identity: id}, err
	case q.Do == doSockets:
		list, err := socketsFrom(here+"fd", q.FD)
		return answer{Sockets: list[:min(len(list), maxSockets)]}, err
	case q.Do == doPeek:
		s, err := peek.peek(q.FD, q.Inode)
		return answer{Socket: s}, err
	}
	return answer{}, unix.EINVAL
}

// openPlain opens plain files only, because opening a device can have effects.
func openPlain(dir int, name string) (*os.File, error) {
	fd, err := unix.Openat(dir, name, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	_, kind, err := stated(fd, "", unix.AT_EMPTY_PATH)
	if err != nil {
		return nil, err
	}
	if kind != unix.S_IFREG {
		return nil, unix.EINVAL
	}
	return os.Open("/proc/self/fd/" + strconv.Itoa(fd))
}
