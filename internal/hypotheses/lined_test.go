package hypotheses

import (
	"strings"
	"testing"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/build"
	"github.com/getdwell/dwell/recording"
)

// The place where a lock is taken is named with its line, once: the line with most of the time in the function with
// most of the time.
func TestWhereALockIsTakenHasItsLine(t *testing.T) {
	tl := built(t, `1ms manifest cpus=2 hooks="sched io stacks"
1ms process id=1 pid=100 runtime=jvm comm=java
1ms frame id=1 type=jvm function=java.util.concurrent.ConcurrentHashMap.computeIfAbsent file=ConcurrentHashMap.java line=1708
1ms frame id=2 type=jvm function=com.shop.Catalog.cached file=Catalog.java line=25
1ms frame id=3 type=jvm function=com.shop.Catalog.cached file=Catalog.java line=31
1ms frame id=4 type=jvm function=com.shop.Prices.cached file=Prices.java line=7
1ms stack id=2 frame=2
1ms stack id=3 frame=3
1ms stack id=4 frame=4
1ms stack id=5 frame=1 caller=2
60ms end reason=time
`)
	c := &diagnosis.Case{Timeline: tl}
	tl.Locks = make([]timeline.Lock, 1)
	for _, test := range []struct {
		name string
		took [4]diagnosis.Time // on each stack
		want string
	}{
		{"ConcurrentHashMap.computeIfAbsent", [4]diagnosis.Time{5, 0, 0, 9}, ", taken in Catalog.cached (Catalog.java:25)"},
		{"Catalog.cached", [4]diagnosis.Time{4, 5, 8, 0}, " (Catalog.java:31)"},
		{"Catalog.cached (Catalog.java:31)", [4]diagnosis.Time{0, 5, 0, 0}, ""},
		{"Catalog.cached", [4]diagnosis.Time{}, ""},
	} {
		k := &contention{name: test.name}
		tl.Waits = nil
		for i, d := range test.took {
			if d > 0 {
				k.stays = append(k.stays, stay{diagnosis.Span{To: d}, timeline.None, timeline.WaitID(len(tl.Waits))})
				tl.Waits = append(tl.Waits, timeline.Wait{Stack: timeline.StackID(i)})
			}
		}
		if got := k.taken(c); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

// Requests of a JVM start threads of their own, and the runtime starts one after the other.
func TestThreadsAreToBeStartedOnce(t *testing.T) {
	const starts = "java.lang.Thread.start0 < java.lang.Thread.start < com.shop.Tasks.run < com.shop.Handler.handle"
	tl, err := build.Recording(done(bursts(newScenario(recording.RuntimeJVM), 4,
		locked("native pthread_mutex_lock < native JVM_StartThread < "+starts, func(t *thread) { t.computeIn(5000*us, starts) })), 50))
	if err != nil {
		t.Fatal(err)
	}
	d := diagnosis.Diagnose(tl, []diagnosis.Hypothesis{lockConvoy()}, diagnosis.Options{})
	if len(d.Findings) == 0 || !strings.Contains(d.Findings[0].Fix, "start threads once") {
		t.Errorf("%+v", d.Findings)
	}
}
