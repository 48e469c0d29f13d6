package peers

import (
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
)

// A Unix socket is named by its path, whatever host a client names there.
func TestPeerNames(t *testing.T) {
	for _, x := range []struct{ address, host, want string }{
		{"10.0.0.1:8080", "", "10.0.0.1:8080"},
		{"10.0.0.1:8080", "prices", "prices:8080"},
		{"10.0.0.1:443", "prices", "prices"},
		{"/run/prices.sock", "localhost", "/run/prices.sock"},
		{"@prices", "localhost", "@prices"},
		{"@", "", "@"},
	} {
		if got := Name(&timeline.Conn{Peer: x.address, Name: x.host}); got != x.want {
			t.Errorf("%s, called %q: %s, want %s", x.address, x.host, got, x.want)
		}
	}
}
