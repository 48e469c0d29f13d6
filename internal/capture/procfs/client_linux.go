package procfs

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

const (
	patience   = 2 * time.Second // for an answer that no file system can delay
	maxMessage = 64 << 10
)

// current is the helper of this process.
var current atomic.Pointer[client]

// client sends questions to a helper.
type client struct {
	conn    *net.UnixConn
	mu      sync.Mutex
	last    uint32
	waiting map[uint32]chan answer
}

var (
	errNoHelper = errors.New("there is no helper process")
	errGone     = errors.New("the helper process has ended")
)

// Pair returns a connection to a helper: the end for this process, and the end for the helper.
func Pair() (ours, its *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	return os.NewFile(uintptr(fds[0]), "helper"), os.NewFile(uintptr(fds[1]), "helper"), nil
}

func connect(end *os.File) (*net.UnixConn, error) {
	defer end.Close()
	conn, err := net.FileConn(end)
	if err != nil {
		return nil, err
	}
	unix, ok := conn.(*net.UnixConn)
	if !ok {
		conn.Close()
		return nil, errors.ErrUnsupported
	}
	return unix, nil
}

// Use makes this process ask the helper at the other end of a connection from now on, about the given processes. It
// waits until the helper is ready.
func Use(end *os.File, of Watched) error {
	conn, err := connect(end)
	if err != nil {
		return err
	}
	hello, err := json.Marshal(of)
	if err == nil && len(hello) > maxMessage {
		err = errors.New("too many processes are watched")
	}
	if err == nil {
		_, err = conn.Write(hello)
	}
	if err != nil {
		conn.Close()
		return err
	}
	c := &client{conn: conn, waiting: map[uint32]chan answer{}}
	ready := make(chan answer, 1)
	c.waiting[0] = ready
	go c.receive()
	select {
	case a, ok := <-ready:
		switch {
		case !ok:
			err = errGone
		case a.Error != 0:
			err = fmt.Errorf("%s: %w", a.Text, unix.Errno(a.Error))
		}
	case <-time.After(patience):
		err = os.ErrDeadlineExceeded
	}
	if err != nil {
		conn.Close()
		return err
	}
	current.Store(c)
	return nil
}

// Stop closes the connection, which lets the helper end.
func Stop() {
	if c := current.Swap(nil); c != nil {
		c.conn.Close()
	}
}

// ask asks the helper. Waiting for a file is not limited here: the callers have limits of their own.
func ask(q question) (answer, error) {
	c := current.Load()
	if c == nil {
		return answer{}, errNoHelper
	}
	came, err := c.send(q)
	if err != nil {
		return answer{}, err
	}
	var limit <-chan time.Time
	if q.Do != doOpen || !isCode(q.Name) {
		timer := time.NewTimer(patience)
		defer timer.Stop()
		limit = timer.C
	}
	select {
	case a, ok := <-came:
		switch {
		case !ok:
			return answer{}, errGone
		case a.Error != 0:
			return answer{}, unix.Errno(a.Error)
		case q.Do == doOpen && a.file == nil:
			return answer{}, unix.EIO
		}
		return a, nil
	case <-limit:
		return answer{}, os.ErrDeadlineExceeded
	}
}

func (c *client) send(q question) (<-chan answer, error) {
	came := make(chan answer, 1)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waiting == nil {
		return nil, errGone
	}
	c.last++
	q.ID = c.last
	text, err := json.Marshal(q)
	if err != nil {
		return nil, err
	}
	if _, err := c.conn.Write(text); err != nil {
		return nil, err
	}
	c.waiting[q.ID] = came
	return came, nil
}

// receive passes answers to the waiting callers until the helper is gone.
func (c *client) receive() {
	text, rights := make([]byte, maxMessage), make([]byte, unix.CmsgSpace(4))
	for {
		n, m, _, _, err := c.conn.ReadMsgUnix(text, rights)
		if err != nil || n == 0 {
			break
		}
		a := answer{file: fileIn(rights[:m])}
		if json.Unmarshal(text[:n], &a) != nil {
			break
		}
		c.mu.Lock()
		came := c.waiting[a.ID]
		delete(c.waiting, a.ID)
		c.mu.Unlock()
		if came != nil {
			came <- a
		}
	}
	c.conn.Close()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, came := range c.waiting {
		close(came)
	}
	c.waiting = nil
}

// fileIn returns the descriptor that came with a message.
func fileIn(rights []byte) *os.File {
	messages, err := unix.ParseSocketControlMessage(rights)
	if err != nil {
		return nil
	}
	for i := range messages {
		if fds, err := unix.ParseUnixRights(&messages[i]); err == nil && len(fds) == 1 {
			return os.NewFile(uintptr(fds[0]), "file of a process")
		}
	}
	return nil
}
