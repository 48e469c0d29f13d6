package hypotheses

import (
	"strings"
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// Which side ends connections, and which side asks for that, decides where the fix is.
func TestWhoEndsConnections(t *testing.T) {
	asked := func(who timeline.EndAsked) map[timeline.EndAsked]int {
		return map[timeline.EndAsked]int{who: 9, timeline.EndNotAsked: 1}
	}
	for _, c := range []struct {
		end              ending
		closer, fix, not string
	}{
		{ending{peer: 10, asked: asked(timeline.EndByRequest)}, "the peer closes them right after its answer because our requests ask for it (Connection: close)", "DisableKeepAlives", "curl -v"},
		{ending{peer: 10, asked: asked(timeline.EndByAnswer)}, "the peer closes them right after its answer because the peer's answers ask for it (Connection: close)", "have the peer", "DisableKeepAlives"},
		{ending{peer: 10, asked: asked(timeline.EndNotAsked)}, "the peer closes them right after its answer, although neither side asked for it", "one http.Client", "DisableKeepAlives"},
		{ending{peer: 10, sealed: 10}, "the peer closes them right after its answer; TLS hides which side asks for it", "curl -v", "have the peer"},
		{ending{peer: 7, us: 3, sealed: 10}, "both sides close connections right after the answer (which one is first is chance: the peer 7 times, our side 3); TLS hides which side asks for it", "curl -v", "have the peer"},
		{ending{peer: 7, us: 3, asked: asked(timeline.EndByRequest)}, "both sides close connections right after the answer (which one is first is chance: the peer 7 times, our side 3) because our requests ask for it (Connection: close)", "DisableKeepAlives", "curl -v"},
		{ending{peer: 10}, "the peer closes them right after its answer", "one http.Client", "curl -v"},
		{ending{us: 10, asked: asked(timeline.EndByAnswer)}, "our side closes them first because the peer's answers ask for it (Connection: close)", "have the peer", "DisableKeepAlives"},
		{ending{us: 10}, "our side closes them first", "one http.Client", "DisableKeepAlives"},
		{ending{us: 10, ourIdle: 9}, "our side closes them when idle", "IdleConnTimeout", "have the peer"},
		{ending{idle: 10}, "the peer closes them when idle", "idle (keep-alive) timeout", "DisableKeepAlives"},
		{ending{}, "it was not seen which side closes them", "one http.Client", "DisableKeepAlives"},
	} {
		closer, fix := c.end.story(recording.RuntimeGo)
		if closer != c.closer || !strings.Contains(fix, c.fix) || strings.Contains(fix, c.not) {
			t.Errorf("%+v: %s; %s", c.end, closer, fix)
		}
	}
}
