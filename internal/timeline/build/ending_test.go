package build

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
)

// The heads of a call say which side asks for its connection's end: the request takes precedence over the answer. If
// neither does, no side asked; if the answer was not seen, it is not known.
func TestWhoAsksForAConnectionsEnd(t *testing.T) {
	text, err := os.ReadFile("testdata/go_dial.txt")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ = bytes.Cut(text, []byte("-- recording --\n"))
	text, _, _ = bytes.Cut(text, []byte("-- expect --"))
	const ask, answer = "route=/call host=db", "conn=2 head=50 length=20 status=200"
	for _, x := range []struct {
		replace []string
		want    timeline.EndAsked
	}{
		{nil, timeline.EndNotAsked},
		{[]string{answer, answer + " close=1"}, timeline.EndByAnswer},
		{[]string{ask, ask + " close=1", answer, answer + " close=1"}, timeline.EndByRequest},
		{[]string{"3000000 http-response " + answer + "\n", ""}, timeline.EndNotSeen},
	} {
		story := strings.NewReplacer(x.replace...).Replace("# dwell recording, text form 1\n" + string(text))
		if tl := parsed(t, []byte(story)); len(tl.Conns) != 2 || tl.Conns[1].Asked != x.want || tl.Conns[0].Asked != timeline.EndNotSeen {
			t.Errorf("%q: %+v, want %d", x.replace, tl.Conns, x.want)
		}
	}
}
