package timeline

import (
	"testing"

	"github.com/getdwell/dwell/recording"
)

// A wait is shown at the line of the service's own code, however deep in libraries it happens; the library's own frame
// distinguishes one pool from another.
func TestSiteOfIsTheServicesOwn(t *testing.T) {
	tl := &Timeline{}
	id := StackID(None)
	for i, f := range []string{"shop.Orders.list", "shop.Catalog.load", "com.zaxxer.hikari.pool.HikariPool.getConnection", "java.util.concurrent.SynchronousQueue.poll"} {
		tl.Frames = append(tl.Frames, recording.Frame{ID: recording.FrameID(i), Type: recording.FrameJVM, Function: f})
		tl.Stacks = append(tl.Stacks, Stack{Frame: FrameID(i), Caller: id})
		id = StackID(i)
	}
	if f, ok := tl.SiteOf(id); !ok || f.Function != "shop.Catalog.load" {
		t.Errorf("shown at %q", f.Function)
	}
	if f := tl.SiteFrame(id); f != 2 {
		t.Errorf("the pool is known by frame %d", f)
	}
}
