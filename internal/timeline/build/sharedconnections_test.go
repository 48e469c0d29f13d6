package build

import (
	"fmt"
	"slices"
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// TestSharedConnection: calls of many requests on one connection are distinguished by how many requests could continue,
// and by what requests of their kind do at that point. Each response, written in the turn in which the last call of its
// request was answered, confirms it. A client that does not keep the order is not trusted.
func TestSharedConnection(t *testing.T) {
	for name, c := range map[string]struct {
		play  oneConn
		least int // percentage of the calls on the shared connection that are given to a request
		most  int
	}{
		"in the order asked for":           {oneConn{}, 99, 100},
		"in another order":                 {oneConn{mixed: true}, 0, 0},
		"held back":                        {oneConn{held: true}, 0, 0},
		"held back as a whole":             {oneConn{held: true, whole: true}, 99, 100},
		"asleep between":                   {oneConn{naps: true}, 99, 100},
		"after the thread pool":            {oneConn{jobs: true}, 97, 100},
		"going on as each is answered":     {oneConn{each: true}, 99, 100},
		"promises with ids":                {oneConn{named: true}, 99, 100},
		"held back, with ids":              {oneConn{named: true, held: true}, 0, 10},
		"of one endpoint":                  {oneConn{same: true, jobs: true}, 90, 100},
		"with calls beside":                {oneConn{aside: true}, 99, 100},
		"with calls beside, and ids":       {oneConn{aside: true, named: true}, 98, 100},
		"in another order, told who waits": {oneConn{mixed: true, waits: true}, 99, 100},
		"held back, told who waits":        {oneConn{held: true, waits: true}, 98, 100},
	} {
		c.play.random = 7
		text, truth := c.play.play(400)
		tl := parsed(t, []byte(text))
		slices.SortStableFunc(tl.Calls, func(a, b timeline.Call) int { return a.Ordinal - b.Ordinal })
		given, wrong, shared := 0, 0, 0
		for _, call := range tl.Calls {
			var want recording.ConnID
			if call.Conn != 20 {
				want = besideOf(call.Conn)
			} else {
				want = connOf(truth[shared])
				shared++
			}
			switch {
			case call.Request == timeline.None, call.Conn == 20 && call.Why != timeline.WhyShared && call.Why != timeline.WhyAwaited && !c.play.named:
			case tl.Requests[call.Request].Conn != want:
				wrong++
			case call.Conn == 20:
				given++
			}
		}
		if share := 100 * given / len(truth); shared != len(truth) || wrong > 0 || share < c.least || share > c.most {
			t.Errorf("%s: of %d calls (of %d) %d were given to requests, %d wrongly", name, shared, len(truth), given, wrong)
		}
	}
}

// The id of an immediate that writes commands shows its owner. This holds even if that request sent something else in
// the same turn, and if several more requests asked before the immediate ran.
func TestCommandsAskedForBesideOtherCalls(t *testing.T) {
	p := &immediates{random: 7}
	tl := parsed(t, []byte(p.play(400)))
	slices.SortStableFunc(tl.Calls, func(a, b timeline.Call) int { return a.Ordinal - b.Ordinal })
	commands, right, wrong, own, ownRight := 0, 0, 0, 0, 0
	for _, call := range tl.Calls {
		var want recording.ConnID
		if call.Conn == 20 {
			fmt.Sscanf(fmt.Sprintf("1%d", p.truth[commands]), "%d", &want)
			commands++
		} else {
			fmt.Sscanf("1"+fmt.Sprint(call.Conn)[1:], "%d", &want)
			own++
		}
		switch {
		case call.Request == timeline.None:
		case tl.Requests[call.Request].Conn != want:
			wrong++
		case call.Conn == 20:
			right++
		default:
			ownRight++
		}
	}
	if commands != len(p.truth) || wrong > 0 || 100*right < 83*commands || 100*ownRight < 99*own {
		t.Errorf("of %d commands %d are their requests', of %d calls of their own %d; %d are others'", commands, right, own, ownRight, wrong)
	}
}
