package hypotheses

import (
	"slices"
	"strings"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline/symbol"
)

// writing reports a wait for room to write: in a system call that writes, or in one that
// waits for a socket or pipe to be ready, beneath what writes.
func writing(c *diagnosis.Case, d *deed) bool {
	switch d.syscall {
	case "write", "writev", "sendto", "sendmsg", "sendmmsg":
		return true
	case "poll", "ppoll", "select", "pselect6":
	default:
		return false
	}
	for _, f := range c.StackFrames(d.stack) {
		if symbol.Application(f) {
			return false
		}
		if slices.ContainsFunc(writers, func(w string) bool { return strings.HasSuffix(f.Function, w) }) {
			return true
		}
	}
	return false
}

// writers are functions, by the ends of their names, that wait until they may write.
var writers = []string{
	"rb_io_maybe_wait_writable", "rb_io_wait_writable", "IO#write", "IO#syswrite", "IO#wait_writable", "IO#puts", "IO#print", "IO#<<", "IO#flush",
	"NioSocketImpl.implWrite", "SocketChannelImpl.write", "SocketChannelImpl.blockingWrite",
}
