//go:build linux && (amd64 || arm64)

package capture

import (
	"errors"
	"slices"
	"testing"
)

// forest is a tree of processes that grows while it is entered.
type forest struct {
	family  []int
	watched map[int]bool
	entered []int
	looks   int
	grow    func(f *forest) // after each look
}

func (f *forest) entering() entering {
	return entering{
		family: func(int) ([]int, error) {
			f.looks++
			found := slices.Clone(f.family)
			if f.grow != nil {
				f.grow(f)
			}
			return found, nil
		},
		joined: func(pid int) bool { return f.watched[pid] },
		enter: func(pid int) error {
			f.watched[pid] = true
			f.entered = append(f.entered, pid)
			return nil
		},
	}
}

// A server that goes on forking is entered once; its later children join by themselves.
func TestAForkingTreeIsEnteredOnce(t *testing.T) {
	f := &forest{family: []int{1, 2, 3}, watched: map[int]bool{}}
	f.grow = func(f *forest) {
		for range 100 {
			child := len(f.family) + 1
			f.family = append(f.family, child)
			f.watched[child] = f.looks > 1 // those of the first look were made before their parent was entered
		}
	}
	whole, err := enterTree(1, f.entering())
	if !whole || err != nil || f.looks != 3 || len(f.entered) != 103 {
		t.Errorf("whole %v, %v; %d looks, %d entered, want 3 and 103", whole, err, f.looks, len(f.entered))
	}
}

// A chain of processes, each of which makes the next one and ends, may stay ahead; it is said so.
func TestAChainOfForksIsGivenUp(t *testing.T) {
	f := &forest{family: []int{1}, watched: map[int]bool{}}
	f.grow = func(f *forest) { f.family = append(f.family, len(f.family)+1) }
	whole, err := enterTree(1, f.entering())
	if whole || err != nil || f.looks != maxLooks {
		t.Errorf("whole %v, %v, %d looks", whole, err, f.looks)
	}
}

// A child that ends meanwhile is no reason to fail; that the process itself cannot be entered is.
func TestWhoCannotBeEntered(t *testing.T) {
	refused := errors.New("refused")
	for pid, want := range map[int]error{1: refused, 2: nil} {
		e := (&forest{family: []int{1, 2}, watched: map[int]bool{}}).entering()
		enter := e.enter
		e.enter = func(p int) error {
			if p == pid {
				return refused
			}
			return enter(p)
		}
		if _, err := enterTree(1, e); !errors.Is(err, want) {
			t.Errorf("%d is refused: %v", pid, err)
		}
	}
	e := entering{family: func(int) ([]int, error) { return nil, refused }}
	if _, err := enterTree(1, e); !errors.Is(err, refused) {
		t.Errorf("no process: %v", err)
	}
}
