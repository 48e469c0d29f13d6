package loops

import (
	"slices"
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/facts"
	"github.com/getdwell/dwell/recording"
)

// "|" begins a window. For port 1, "1>" sends a message, "1<" receives one, and "1?": the program asks for one
// itself; other ports likewise.
func TestWhichMessageAnswersWhich(t *testing.T) {
	for name, c := range map[string]struct {
		moves []string
		// by received message: the number of the one that it answers, 0: not known; nil: messages are left out
		want []int32
	}{
		"one after the other":    {[]string{"1>", "1<", "1>", "1<"}, []int32{1, 2}},
		"two under way":          {[]string{"1>", "1>", "1<", "1<"}, []int32{1, 2}},
		"by two ports":           {[]string{"1>", "2>", "2<", "1<"}, []int32{2, 1}},
		"one was under way":      {[]string{"1>", "1<", "1<"}, []int32{0, 1}},
		"one is left":            {[]string{"1>", "1<", "1>"}, []int32{1}},
		"none was sent":          {[]string{"1<", "1<"}, nil},
		"taken by the program":   {[]string{"1>", "1<", "1?", "1>"}, nil},
		"the other port is its":  {[]string{"1>", "1<", "2>", "2?"}, []int32{1}},
		"unseen between windows": {[]string{"1>", "1>", "1<", "|", "1<", "1>", "1<"}, []int32{1, 0, 3}},
		"two for each":           {slices.Repeat([]string{"1>", "1<", "1<"}, mailOpenAt+1), nil},
		"most are not answered":  {append([]string{"1<"}, slices.Repeat([]string{"1>"}, mailOpenAt+1)...), nil},
		"a tenth is not":         {append(slices.Repeat([]string{"1>", "1<"}, 200), slices.Repeat([]string{"1>"}, 20)...), first(200)},
		"more than a tenth, not": {append(slices.Repeat([]string{"1>", "1<"}, 200), slices.Repeat([]string{"1>"}, 30)...), nil},
	} {
		t.Run(name, func(t *testing.T) {
			kinds := map[byte]MoveKind{'>': MovePost, '<': MoveFired, '?': MoveAlong}
			var moves []Move
			windows := []timeline.Window{{}}
			for _, m := range c.moves {
				if m == "|" {
					windows = append(windows, timeline.Window{From: recording.Time(len(moves)), To: 10_000})
					continue
				}
				moves = append(moves, Move{At: recording.Time(len(moves)), Port: int64(m[0] - '0'), Kind: kinds[m[1]]})
			}
			var got []int32
			for _, m := range pairMail(moves, windows) {
				if m.Kind == MoveFired {
					got = append(got, m.Post)
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%v, want %v", got, c.want)
			}
		})
	}
}

func first(n int32) (all []int32) {
	for i := range n {
		all = append(all, i+1)
	}
	return all
}

// Requests 1 to 9 each ask a worker for something when they are read, and are answered at the worker's messages: in
// order, or two of them swapped.
func TestMessagesInTheirOrder(t *testing.T) {
	read := func(r timeline.RequestID) []Move {
		return []Move{{Kind: MoveBlock, Conn: NoConn}, {Kind: MoveRead, Request: r}, {Kind: MovePost, Port: 7, Request: timeline.None}}
	}
	answer := func(r timeline.RequestID) []Move {
		return []Move{{Kind: MoveFired, Port: 7, Exec: 7, Request: timeline.None}, {Kind: MoveFired, Exec: 7, Request: timeline.None}, {Kind: MoveRespond, Request: r}}
	}
	for name, c := range map[string]struct {
		answered []timeline.RequestID
		kept     bool
	}{
		"in order":     {[]timeline.RequestID{1, 2, 3, 4, 5, 6, 7, 8, 9}, true},
		"not in order": {[]timeline.RequestID{1, 2, 3, 5, 4, 6, 7, 8, 9}, false},
	} {
		var moves []Move
		for r := range timeline.RequestID(9) {
			moves = append(moves, read(r+1)...)
		}
		for _, r := range c.answered {
			moves = append(moves, answer(r)...)
		}
		paired := slices.ContainsFunc(pairMail(moves, []timeline.Window{{}}), func(m Move) bool { return m.Post > 0 })
		if paired != c.kept {
			t.Errorf("%s: paired %v", name, paired)
		}
	}
}

// What is resolved under the id of a port is resolved in the callback of a message, as long as messages are recorded.
func TestPromisesOfMessages(t *testing.T) {
	port, sleep := Move{Kind: MoveFired, Exec: 7}, Move{Kind: MoveBlock}
	sent, came := Move{Kind: MovePost, Port: 7}, Move{Kind: MoveFired, Port: 7, Exec: 7}
	moves := pairMail([]Move{sent, came, port, {Kind: MoveFired, Exec: 8}, port, sleep, port}, []timeline.Window{{}})
	for i, want := range []MoveKind{MovePost, MoveFired, MoveAlong, MoveFired, MoveAlong, MoveBlock, MoveFired} {
		if moves[i].Kind != want {
			t.Errorf("move %d is of kind %d, want %d", i, moves[i].Kind, want)
		}
	}
}

// In the callback of one message a program may resolve promises under ids of its own: what waits for them continues
// when the callback is over, in one turn.
func TestPromisesOfOneCallback(t *testing.T) {
	fired := func(id int64) Move { return Move{Kind: MoveFired, Exec: id} }
	came, over := Move{Kind: MoveFired, Port: 7, Exec: 7}, Move{Kind: MoveBoundary, Port: 7}
	moves := []Move{
		{Kind: MovePost, Port: 7}, fired(1), fired(2),
		came, fired(3), fired(4), {Kind: MoveSend}, fired(5), over, fired(6), fired(8),
	}
	for _, m := range pairMail(moves, []timeline.Window{{}}) {
		if m.Same != (m.Exec == 4) {
			t.Errorf("under id %d: %v", m.Exec, m.Same)
		}
	}
}

func TestMessagesAskedForInVain(t *testing.T) {
	var all []facts.Boundary
	for i, what := range []string{"messages", "message", "timers", "messages", "messages", "message", "message"} {
		all = append(all, facts.Boundary{At: recording.Time(i), Boundary: &recording.Boundary{Thread: 1, What: what}})
	}
	all = append(all, facts.Boundary{At: 9, Boundary: &recording.Boundary{Thread: 2, What: "messages"}})
	vain := InVain(all)
	for i, want := range []bool{false, true, false, true, false, false, true, true} {
		if vain[i] != want {
			t.Errorf("place %d: %v", i, vain[i])
		}
	}
}
