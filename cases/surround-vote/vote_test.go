package main

import (
	"path/filepath"
	"sync"
	"testing"
)

func testHistory(t testing.TB, epochs int, mirror bool) *history {
	h, err := seeded(settings{file: filepath.Join(t.TempDir(), "history.db"), validators: 20, epochs: epochs, mirror: mirror})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.db.Close() })
	return h
}

// Both ways of looking answer alike.
func TestSurrounds(t *testing.T) {
	full, near := testHistory(t, 500, false), testHistory(t, 500, true)
	for _, v := range []vote{
		{0, 500, 501}, // later than all
		{0, 100, 102}, // surrounds nothing: epochs touch
		{0, 98, 103},  // surrounds what was signed for 99 to 102
		{0, 499, 499}, // nothing
		{19, 48, 60}, {19, 10, 20},
	} {
		a, err := full.allowed(v)
		if err != nil {
			t.Fatal(err)
		}
		b, err := near.allowed(v)
		if err != nil || a != b {
			t.Errorf("%+v: allowed %t by the whole history, %t near its end (%v)", v, a, b, err)
		}
	}
	if ok, err := full.allowed(vote{0, 98, 103}); ok || err != nil {
		t.Errorf("a vote that surrounds others is allowed (%v)", err)
	}
}

// BenchmarkConcurrentChecks is what the team measured: 2,000 checks at once, alone, of
// validators that began four months ago: nobody writes meanwhile, and nothing else is to be done.
func BenchmarkConcurrentChecks(b *testing.B) {
	h := testHistory(b, 30_000, false)
	for b.Loop() {
		var all sync.WaitGroup
		for n := range concurrent {
			all.Go(func() {
				if ok, err := h.allowed(h.duty(n)); !ok || err != nil {
					b.Error(ok, err)
				}
			})
		}
		all.Wait()
	}
}
