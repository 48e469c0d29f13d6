//go:build linux && (amd64 || arm64)

package capture

import (
	"strings"
	"testing"
)

// parkEvent is the event of a probe that goroutine 7 hits on thread 100, with one argument.
func parkEvent(ts uint64, act golocksParkAct, word uint64) golocksParkEvent {
	h := head(probesEventType(eventGoPark), ts, 100, 1)
	e := golocksParkEvent{Goid: 7, Word: word, Act: uint32(act)}
	e.H.Ts, e.H.Start, e.H.Tid, e.H.Tgid, e.H.Type = h.Ts, h.Start, h.Tid, h.Tgid, h.Type
	return e
}

// A wait lies between the events of its beginning and its end. The word of a reader lies 12 bytes into its
// sync.RWMutex, the word of a mutex 4 bytes. A wait that began under probes that were then detached has no end.
// Waits that are still open are reported last.
func TestParks(t *testing.T) {
	d := watching(t)
	d.golang.parks.open(100, nil) // without stacks
	feed(d, parkEvent(2000, golocksParkActPARK_BEGIN_MUTEX, 0x1004))
	feed(d, parkEvent(2500, golocksParkActPARK_END, 0))
	feed(d, parkEvent(2600, golocksParkActPARK_END, 0)) // of a wait that was not seen to begin
	feed(d, parkEvent(2700, golocksParkActPARK_BEGIN_COND, 0x3000))
	d.forgetParks(setOf(golocksParkActPARK_BEGIN_COND), 2750)
	feed(d, parkEvent(2800, golocksParkActPARK_END, 0))
	feed(d, parkEvent(2900, golocksParkActPARK_RELEASE, 0x1004))
	feed(d, parkEvent(3000, golocksParkActPARK_STOP, 0))
	feed(d, parkEvent(3010, golocksParkActPARK_STOPPED, 0))
	feed(d, parkEvent(3030, golocksParkActPARK_START, 0))
	feed(d, parkEvent(3100, golocksParkActPARK_BEGIN_READ, 0x200c))
	d.finishParks()
	got := facts(d)
	for _, want := range []string{
		"2500 Park &{Thread:1 Goroutine:7 Parent:0 Left:1 Since:2000 Reason:mutex Object:4096 Word:4100 Stack:0 Open:0}",
		"2900 Unpark &{Thread:1 Goroutine:7 Parent:0 Word:4100 Woken:0 Stack:0}",
		"3030 Pause &{Thread:1 Since:3000 Stopped:3010 Stack:0}",
		"3100 Park &{Thread:1 Goroutine:7 Parent:0 Left:1 Since:3100 Reason:rw-read Object:8192 Word:8204 Stack:0 Open:1}",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
	if n := strings.Count(got, " Park "); n != 2 {
		t.Errorf("%d waits, want 2\n%s", n, got)
	}
}

// When a process ends, what was kept for it is dropped.
func TestParksOfAProcessThatEnds(t *testing.T) {
	d := watching(t)
	d.golang.parks.open(100, nil)
	feed(d, parkEvent(2000, golocksParkActPARK_BEGIN_MUTEX, 0x1004))
	feed(d, parkEvent(2100, golocksParkActPARK_STOP, 0))
	p := &d.golang.parks
	if len(p.waits) != 1 || len(p.stops) != 1 || len(p.tables) != 1 {
		t.Fatalf("not kept: %+v", p)
	}
	end := taskEvent(head(probesEventTypeEVENT_EXIT, 2200, 100, 1), "service")
	end.Last = 1
	feed(d, end)
	if n := len(p.waits) + len(p.stops) + len(p.tables) + len(p.known); n > 0 {
		t.Errorf("%d left: %+v", n, p)
	}
	if got := d.takeEnded(); len(got) != 1 || got[0] != 100 {
		t.Errorf("ended: %v", got)
	}
}
