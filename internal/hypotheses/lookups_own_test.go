package hypotheses

import (
	"strings"
	"testing"

	"github.com/getdwell/dwell/recording"
)

func TestWhatAsksForNames(t *testing.T) {
	python := func(name string) recording.Frame {
		return recording.Frame{Type: recording.FramePython, Function: name}
	}
	native := func(name, module string) recording.Frame {
		return recording.Frame{Type: recording.FrameNative, Function: name, Module: module}
	}
	for _, tc := range []struct {
		name    string
		frames  []recording.Frame // innermost first
		managed bool
		want    string
	}{
		{"an interpreter's own functions are left out, and what the C library does itself",
			[]recording.Frame{native("_nss_dns_gethostbyaddr_r", "libnss_dns.so.2"), native("gethostbyaddr_r", "libc.so.6"), native("socket_gethostbyaddr", "_socket.so"), native("cfunction_call", "python3.11"), python("getfqdn")},
			true, "getfqdn > gethostbyaddr_r"},
		{"machine code of the service names all", []recording.Frame{native("getaddrinfo", "libc.so.6"), native("resolve", "shop")}, false, "resolve > getaddrinfo"},
	} {
		if got := strings.Join(towards(tc.frames, tc.managed), " > "); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
	}
}
