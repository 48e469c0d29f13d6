package waits

import "testing"

// The stacks of a pool's threads lie whole pages apart, and so do their sleeps in the same functions. The places where
// two threads were both seen show how far.
func TestThreadsOfAPoolLieWholePagesApart(t *testing.T) {
	const far = 16 * stackStep
	for _, c := range []struct {
		name          string
		first, second []int64 // where each slept, by path; 0: not seen there
		shift         int64   // 0: they belong to no pool
	}{
		{"both wait for work, and where one waits for a lock the other was not seen", []int64{500, 300}, []int64{far + 500, 0}, far},
		{"never seen at the same place", []int64{500, 0}, []int64{0, far + 300}, 0},
		{"not by whole pages: one of them has other code above it", []int64{500, 300}, []int64{far + 564, far + 364}, 0},
		{"one place of five is elsewhere, as where code was compiled meanwhile", []int64{500, 300, 200, 160, 80}, []int64{far + 500, far + 300, far + 200, far + 160, far + 96}, far},
		{"one of four", []int64{500, 300, 200, 160}, []int64{far + 500, far + 300, far + 200, far + 176}, 0},
	} {
		ways := func(at []int64) *pooled {
			p := &pooled{ways: map[asleepIn]int64{}}
			for path, sp := range at {
				if sp != 0 {
					p.ways[asleepIn{int32(path), "futex"}] = sp
				}
			}
			return p
		}
		p := ways(c.second)
		if aligned := p.align(ways(c.first)); aligned != (c.shift != 0) || p.shift != c.shift {
			t.Errorf("%s: of one pool: %v, %d apart, want %d", c.name, aligned, p.shift, c.shift)
		}
	}
}
