package report

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/getdwell/dwell/internal/timeline/build"
	"github.com/getdwell/dwell/recording"
)

// Every request of this recording opens a connection through a SOCKS proxy that takes 3 ms for each of its two
// answers.
func TestTheHandshakeOfAProxyIsShown(t *testing.T) {
	text, err := os.ReadFile("../hypotheses/testdata/connection-churn/proxy-supported.txt")
	if err != nil {
		t.Fatal(err)
	}
	rec, err := recording.ParseText(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	tl, err := build.Recording(rec)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := ShowJSON(&out, tl, Filter{Slowest: 1}); err != nil {
		t.Fatal(err)
	}
	if want := `"proxy":"10.0.0.3:1080","tunnel_ns":60`; !strings.Contains(out.String(), want) {
		t.Errorf("no %s in %s", want, out.String())
	}
}
