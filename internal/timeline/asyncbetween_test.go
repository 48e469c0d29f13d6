package timeline

import "testing"

// In a turn in which two requests go on, ids between two of which the triggers name one of them are
// that one's, as is what one of those between asked for in turn.
func TestIDsBetween(t *testing.T) {
	first, second := requestRef(1), requestRef(2)
	sure := func(r ref) giver { return giver{r, [2]ref{nobody, nobody}} }
	w := asyncWalk{chains: newChains(0), named: map[int32]bool{7: true}, turn: asyncTurn{of: nobody, counter: 20, conn: 7}}
	w.ids.expect([]move{{counter: 10}, {counter: 20}, {counter: 80}})
	w.ids.give(10, sure(first), 1)
	w.ids.give(20, sure(second), 2)
	w.ids.give(80, sure(nobody), 3)
	for _, sent := range []move{
		{kind: moveSend, exec: 30, trigger: 5},  // of the first, in its turn
		{kind: moveSend, exec: 40, trigger: 6},  // again
		{kind: moveSend, exec: 50, trigger: 35}, // what it asked for between
		{kind: moveSend, exec: 60, trigger: 15}, // of the second
		{kind: moveSend, exec: 70, trigger: 55}, // nobody knows whose
	} {
		w.notePoint(&sent)
	}
	w.notePoint(&move{kind: moveBlock})
	for id, want := range map[int64]ref{
		9: first, 19: second, 29: nobody, 30: first, 33: first, 45: first, 50: first, 51: nobody, 59: nobody, 60: nobody, 65: nobody, 80: nobody,
	} {
		if got := w.ids.find(id); got != want {
			t.Errorf("id %d is of %d, want %d", id, got, want)
		}
	}
}
