//go:build linux && (amd64 || arm64)

package capture

import (
	"errors"
	"slices"
	"testing"
)

// forest is a tree of processes that grows while it is being added.
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

// A server that keeps forking is added once; its later children join automatically.
func TestAForkingTreeIsEnteredOnce(t *testing.T) {
	f := &forest{family: []int{1, 2, 3}, watched: map[int]bool{}}
	f.grow = func(f *forest) {
		for range 100 {
			child := len(f.family) + 1
			f.family = append(f.family, child)
			f.watched[child] = f.looks > 1 // children of the first look were created before their parent was added
		}
	}
	whole, err := enterTree(1, f.entering())
	if !whole || err != nil || f.looks != 3 || len(f.entered) != 103 {
		t.Errorf("whole %v, %v; %d looks, %d entered, want 3 and 103", whole, err, f.looks, len(f.entered))
	}
}

// In a chain of processes, each of which creates the next one and ends, the chain may stay ahead; that is reported.
func TestAChainOfForksIsGivenUp(t *testing.T) {
	f := &forest{family: []int{1}, watched: map[int]bool{}}
	f.grow = func(f *forest) { f.family = append(f.family, len(f.family)+1) }
	whole, err := enterTree(1, f.entering())
	if whole || err != nil || f.looks != maxLooks {
		t.Errorf("whole %v, %v, %d looks", whole, err, f.looks)
	}
}

// If a child ends meanwhile, that is not an error; if the process itself cannot be added, it is.
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
