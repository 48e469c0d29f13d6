package build

import (
	"fmt"
	"strings"
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
)

// Five threads run the same code on stacks of their own, two pages apart, and wait in four places of it: for a turn,
// for work, in a pool, and for a Mutex. The last thread has no stack of its wait for the Mutex, or has one of something
// else at that depth.
func TestLongWaitsBorrowStacksOfTheOtherThreadsOfTheirPool(t *testing.T) {
	const turn, work, pool, mutex = 3, 4, 5, 6
	all := []int{turn, work, pool}
	for _, c := range []struct {
		what  string
		other int   // number of other threads that wait for the Mutex and have their stack taken
		own   []int // places in which the last thread is seen
		odd   int   // a stack that one of the other threads has at that depth instead; 0 none
		ms    int   // how long it waits
		want  string
	}{
		{"four others wait there", 4, all, 0, 20, "lock"},
		{"three others do", 3, all, 0, 20, ""},
		{"one of five waits there for something else", 4, all, turn, 20, ""},
		{"it is seen in one place only where they are", 4, all[:1], 0, 20, "lock"},
		{"it is seen in none", 4, nil, 0, 20, ""},
		{"it is a short wait", 4, all, 0, 0, ""},
	} {
		t.Run(c.what, func(t *testing.T) {
			p := newPoolWaits()
			for thread := 1; thread <= 4; thread++ {
				for _, stack := range all {
					p.sleep(thread, stack, stack, 2)
				}
				if thread <= c.other {
					p.sleep(thread, mutex, mutex, 2)
				}
			}
			if c.odd != 0 {
				p.sleep(1, mutex, c.odd, 2)
			}
			for _, stack := range c.own {
				p.sleep(5, stack, stack, 2)
			}
			p.sleep(5, mutex, timeline.None, c.ms)
			tl := parsed(t, []byte(p.text()))
			last := tl.Waits[len(tl.Waits)-1]
			got := last.Cause.String()
			if last.Quality != timeline.Inferred || !last.Borrowed {
				got = ""
			}
			if got != c.want {
				t.Errorf("the wait without a stack is %v by %q (borrowed %v), want %q", last.Cause, last.Rule, last.Borrowed, c.want)
			}
		})
	}
}

// poolWaits writes a recording of threads that wait one after the other.
type poolWaits struct {
	strings.Builder
	at int // ms
}

func newPoolWaits() *poolWaits {
	p := &poolWaits{at: 10}
	p.WriteString(`1ms manifest cpus=2 hooks="sched stacks"
1ms process id=1 pid=100 runtime=ruby comm=puma
1ms thread id=9 tid=109 process=1
1ms thread-state thread=9 on=1
1ms frame id=1 type=ruby function="Orders#add" file=/srv/orders.rb line=7
1ms frame id=2 type=native function=gvl_acquire module=libruby-3.1.so.3.1.2
1ms frame id=3 type=ruby function="Thread::Queue#pop" file="<cfunc>"
1ms frame id=4 type=ruby function="Thread#join" file="<cfunc>"
1ms frame id=5 type=ruby function="Thread::Mutex#lock" file="<cfunc>"
1ms stack id=1 frame=1
1ms stack id=3 caller=1 frame=2
1ms stack id=4 caller=1 frame=3
1ms stack id=5 caller=1 frame=4
1ms stack id=6 caller=1 frame=5
`)
	for thread := 1; thread <= 5; thread++ {
		fmt.Fprintf(p, "1ms thread id=%d tid=%d process=1\n1ms thread-state thread=%d on=1\n", thread, 100+thread, thread)
	}
	return p
}

// sleep lets a thread wait in a place, and takes a stack of it unless that is None.
func (p *poolWaits) sleep(thread, place, stack, ms int) {
	if stack != timeline.None {
		fmt.Fprintf(p, "%d.01ms stack-at thread=%d stack=%d origin=blocked\n", p.at, thread, stack)
	}
	fmt.Fprintf(p, "%d.6ms off thread=%d since=%dms woken=%d.5ms syscall=futex arg=%d sp=%d waker-kind=thread waker=9 release=1\n",
		p.at+ms, thread, p.at, p.at+ms, 4000+100*thread, 8192*thread+10*place)
	p.at += ms + 5
}

func (p *poolWaits) text() string {
	fmt.Fprintf(p, "%dms end reason=time\n", p.at)
	return p.String()
}
