package symbol

import (
	"testing"

	"github.com/getdwell/dwell/recording"
)

// The names that people read.
func TestFrameName(t *testing.T) {
	for _, c := range []struct {
		frame recording.Frame
		want  string
	}{
		{recording.Frame{Type: recording.FrameJVM, Function: "void com.amazonaws.ResponseMetadataCache.add(java.lang.Object, int)"}, "ResponseMetadataCache.add"},
		{recording.Frame{Type: recording.FrameJVM, Function: "org/shop/Api$Handler.get"}, "Api$Handler.get"},
		{recording.Frame{Type: recording.FramePython, Function: "handle", File: "/srv/orders.py"}, "orders.handle"},
		{recording.Frame{Type: recording.FramePython, Function: "Api.get.<locals>.run", File: "/srv/orders.py"}, "Api.get.run"},
		{recording.Frame{Type: recording.FrameGo, Function: "github.com/shop/cache.(*Cache).Get"}, "cache.(*Cache).Get"},
		{recording.Frame{Type: recording.FrameNative, Function: "_ZNK7Monitor4waitEl"}, "Monitor::wait"},
		{recording.Frame{Type: recording.FrameNative, Module: "prog"}, "prog"},
		{recording.Frame{Type: recording.FrameNative}, "[unknown]"},
		{recording.Frame{Type: recording.FrameV8, File: "/srv/a.js"}, "(anonymous) a.js"},
	} {
		if got := Name(c.frame); got != c.want {
			t.Errorf("%+v is %q, want %q", c.frame, got, c.want)
		}
	}
}
