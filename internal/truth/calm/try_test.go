package calm

import (
	"context"
	"fmt"
	"slices"
	"testing"
)

// judged is a test, as it is told of.
type judged struct {
	ctx    context.Context
	failed []string
}

func (j *judged) Context() context.Context { return j.ctx }
func (j *judged) Error(args ...any)        { j.failed = append(j.failed, fmt.Sprint(args...)) }
func (*judged) Logf(string, ...any)        {}

// What fails is played again once others are over, and is no failure if it agrees then.
func TestWhatFailsIsPutOffOnce(t *testing.T) {
	for _, test := range []struct {
		name     string
		problems []string // of each attempt; "" is agreement
		happens  []string
		failed   []string
	}{
		{"at once", []string{""}, []string{"played"}, nil},
		{"later", []string{"late", ""}, []string{"played", "others", "played"}, nil},
		{"at last", []string{"late", "late", ""}, []string{"played", "others", "played", "played"}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			over, end := context.WithCancel(t.Context())
			end() // nobody waits for the host
			j := &judged{ctx: over}
			var happened []string
			TryLater(j, func() { happened = append(happened, "others") }, func() []string {
				problem := test.problems[0]
				test.problems = test.problems[1:]
				happened = append(happened, "played")
				return slices.DeleteFunc([]string{problem}, func(p string) bool { return p == "" })
			})
			if !slices.Equal(happened, test.happens) || !slices.Equal(j.failed, test.failed) {
				t.Errorf("%q, failed with %q; want %q, %q", happened, j.failed, test.happens, test.failed)
			}
		})
	}
}

// While others use the machine, one attempt will do.
func TestWhatFailsBesideOthersIsNotPlayedAgain(t *testing.T) {
	t.Setenv("DWELL_TRY_ONCE", "1")
	j, played := &judged{ctx: t.Context()}, 0
	Try(j, func() []string {
		played++
		return []string{"late"}
	})
	if played != 1 || !slices.Equal(j.failed, []string{"late"}) {
		t.Errorf("played %d times, failed with %q; want once, late", played, j.failed)
	}
}
