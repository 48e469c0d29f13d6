package build

import (
	"fmt"
	"strings"
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
)

// A Ruby thread waits for a Mutex again and again and, at the same depth of its stack, now and then for its next turn.
// One of its waits has no stack: it gets that of the others if nearly all of them agree.
func TestWaitsBorrowStacksWhereNearlyAllAgree(t *testing.T) {
	const mutex, turn = 3, 4
	for _, c := range []struct {
		what   string
		stacks []int // of waits of 1 ms each
		turn   string
		want   string
	}{
		{"all agree", repeat(mutex, 2), "", "lock"},
		{"one of 20 differs", append(repeat(mutex, 19), turn), "1ms", "lock"},
		{"one of 19 differs", append(repeat(mutex, 18), turn), "1ms", ""},
		{"one of 20 differs, and is longer than the others", append(repeat(mutex, 19), turn), "30ms", ""},
		{"for the interpreter alone", repeat(turn, 2), "1ms", "interpreter-lock"},
		{"for the interpreter, but one of 20", append(repeat(turn, 19), mutex), "1ms", "interpreter-lock"},
		{"there is no other", nil, "", ""},
	} {
		t.Run(c.what, func(t *testing.T) {
			tl := parsed(t, []byte(rubyWaits(c.stacks, turn, c.turn)))
			last := tl.Waits[len(tl.Waits)-1]
			got := last.Cause.String()
			if last.Quality != timeline.Inferred || !last.Borrowed {
				got = ""
			}
			if got != c.want {
				t.Errorf("the wait without a stack is %v by %q (%v, borrowed %v), want %q", last.Cause, last.Rule, last.Quality, last.Borrowed, c.want)
			}
		})
	}
}

func repeat(stack, n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = stack
	}
	return all
}

// rubyWaits is a recording of waits with these stacks, and one without a stack. Those with the stack turn take long,
// the others 1 ms.
func rubyWaits(stacks []int, turn int, long string) string {
	var b strings.Builder
	b.WriteString(`1ms manifest cpus=2 hooks="sched stacks"
1ms process id=1 pid=100 runtime=ruby comm=puma
1ms thread id=1 tid=101 process=1
1ms thread id=2 tid=102 process=1
1ms thread-state thread=1 on=1
1ms thread-state thread=2 on=1
1ms frame id=1 type=ruby function="Orders#add" file=/srv/orders.rb line=7
1ms frame id=2 type=ruby function="Thread::Mutex#synchronize" file="<cfunc>"
1ms frame id=3 type=native function=rb_native_cond_wait module=libruby-3.1.so.3.1.2
1ms frame id=4 type=native function=gvl_acquire module=libruby-3.1.so.3.1.2
1ms stack id=1 frame=1
1ms stack id=2 caller=1 frame=2
1ms stack id=3 caller=2 frame=3
1ms stack id=4 caller=1 frame=4
`)
	at := 10
	sleep := func(ms int) {
		fmt.Fprintf(&b, "%d.1ms off thread=1 since=%dms woken=%dms syscall=futex arg=4000 sp=900 waker-kind=thread waker=2 release=1\n", at+ms, at, at+ms)
		at += ms + 5
	}
	for _, stack := range stacks {
		ms := 1
		if stack == turn {
			fmt.Sscanf(long, "%dms", &ms)
		}
		fmt.Fprintf(&b, "%d.01ms stack-at thread=1 stack=%d origin=blocked\n", at, stack)
		sleep(ms)
	}
	sleep(1)
	fmt.Fprintf(&b, "%dms end reason=time\n", at)
	return b.String()
}
