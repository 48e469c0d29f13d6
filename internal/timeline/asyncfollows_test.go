package timeline

import "testing"

// 21 calls are known, and after the answer of each what goes on first is of its own request, but for so many. Then call
// 22, of whom nothing is known, and those that are of the same, are of who goes on after it.
func TestWhoGoesOnFirst(t *testing.T) {
	const unknown, beside = CallID(22), CallID(23)
	for name, c := range map[string]struct {
		known, wrong int
		prepare      func(*asyncWalk)
		want         RequestID
	}{
		"as after all others":         {known: 21, want: 7},
		"others are seldom right":     {known: 21, wrong: 1, want: None},
		"few others are known":        {known: 19, want: None},
		"different ones after two":    {known: 21, want: None, prepare: func(w *asyncWalk) { w.followers = append(w.followers, follower{beside, requestRef(6)}) }},
		"it is known by better means": {known: 21, want: 5, prepare: func(w *asyncWalk) { w.chains.link(unknown, requestRef(5)) }},
		"nobody knows who goes on":    {known: 21, want: None, prepare: func(w *asyncWalk) { w.followers[len(w.followers)-1].who = callRef(24) }},
	} {
		w := &asyncWalk{chains: newChains(30)}
		for i := range c.known {
			w.chains.link(CallID(i), requestRef(1))
			w.followers = append(w.followers, follower{CallID(i), requestRef(1)})
			if i < c.wrong {
				w.followers[i].who = requestRef(2)
			}
		}
		w.chains.link(beside, callRef(unknown))
		w.followers = append(w.followers, follower{unknown, requestRef(7)})
		if c.prepare != nil {
			c.prepare(w)
		}
		w.countFollowers()
		if a, b := w.chains.known(callRef(unknown)), w.chains.known(callRef(beside)); a != c.want || b != c.want {
			t.Errorf("%s: they are of %d and %d, want %d", name, a, b, c.want)
		}
	}
}

// Only the first counts that goes on after an answer, by a promise of somebody who was known of before.
func TestWhatIsNotedAsGoingOn(t *testing.T) {
	first := requestRef(1)
	for name, c := range map[string]struct {
		turn asyncTurn
		m    move
		who  ref
		want int
	}{
		"after an answer":        {asyncTurn{of: callRef(3), conn: 1}, move{}, first, 1},
		"the second":             {asyncTurn{of: callRef(2), conn: 1}, move{}, first, 0},
		"after a request":        {asyncTurn{of: first, conn: 1}, move{}, first, 0},
		"after a timer":          {asyncTurn{of: callRef(3), conn: noConn}, move{}, first, 0},
		"of the thread pool":     {asyncTurn{of: callRef(3), conn: 1}, move{done: true}, first, 0},
		"of nobody known":        {asyncTurn{of: callRef(3), conn: 1}, move{}, nobody, 0},
		"of one not known":       {asyncTurn{of: callRef(3), conn: 1}, move{}, -9, 0},
		"promises have no names": {asyncTurn{of: callRef(3), conn: 2}, move{}, first, 0},
	} {
		w := promises()
		w.followers = []follower{{2, first}}
		if w.turn = c.turn; c.who == -9 {
			c.who = w.chains.someone()
		}
		if c.turn.conn == 2 {
			w.named = nil
		}
		w.follows(&c.m, c.who)
		if got := len(w.followers) - 1; got != c.want {
			t.Errorf("%s: %d noted, want %d", name, got, c.want)
		}
	}
}
