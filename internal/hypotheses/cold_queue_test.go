package hypotheses

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/build"
	"github.com/getdwell/dwell/recording"
)

// A service begins with a queue of requests, which drains: each takes 10 ms once its turn comes, at first as later. The
// requests wait unread for a worker, or each on its own thread for the one session of a pool.
func TestAQueueThatDrainsIsNoStart(t *testing.T) {
	for name, one := range map[string]func(id, arrived, turn, done int) string{
		"a worker": func(id, arrived, turn, done int) string {
			return queuedCall(id, 1, arrived, turn, done)
		},
		"a pool": func(id, arrived, turn, done int) string {
			return fmt.Sprintf(`%[3]dus thread id=%[1]d tid=%[2]d process=1
%[3]dus thread-state thread=%[1]d on=1
%[4]dus off thread=%[1]d since=%[3]dus woken=%[4]dus waker-kind=thread waker=1 release=1 syscall=futex
%[5]dus stack-at thread=%[1]d stack=4 origin=blocked
`, id+1, 200+id, arrived, turn, arrived+1) + queuedCall(id, id+1, arrived, arrived, done)
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := diagnosis.Diagnose(draining(t, one), All(), diagnosis.Options{})
			for _, f := range append(d.Findings, d.Leads...) {
				if f.ID == "cold-start" {
					t.Errorf("found %s", f.Title)
				}
			}
			if name == "a pool" && d.Leads[0].ID != "pool-exhausted" {
				t.Errorf("the pool is not the first lead: %+v", d.Leads)
			}
		})
	}
}

// queuedCall returns the facts of a request that a thread reads and answers.
func queuedCall(id, thread, arrived, read, done int) string {
	return fmt.Sprintf(`%[2]dus conn id=%[1]d side=in process=1 existing=1 local=127.0.0.1:80 peer=127.0.0.1:%[5]d
%[3]dus chunk conn=%[1]d thread=%[6]d dir=read bytes=40 arrived=%[2]dus last=%[2]dus
%[3]dus http-request conn=%[1]d head=40 method=GET route=/a
%[4]dus chunk conn=%[1]d thread=%[6]d dir=write bytes=60
%[4]dus http-response conn=%[1]d head=60 status=200
`, id, arrived, read, done, 5000+id, thread)
}

// draining plays 160 requests, of which the first 50 come twice as fast as they are served.
func draining(t *testing.T, one func(id, arrived, turn, done int) string) *timeline.Timeline {
	t.Helper()
	story := `1ms manifest cpus=2 hooks="sched io sockets arrivals stacks"
1ms process id=1 pid=100 start=1000000 runtime=jvm comm=shop
1ms thread id=1 tid=101 process=1
1ms thread-state thread=1 on=1
1ms frame id=1 type=jvm function=com.shop.Prices.load
1ms stack id=1 frame=1
1ms frame id=2 type=jvm function=com.zaxxer.hikari.pool.HikariPool.getConnection
1ms stack id=2 caller=1 frame=2
1ms frame id=3 type=jvm function=java.util.concurrent.locks.LockSupport.park
1ms stack id=3 caller=2 frame=3
1ms frame id=4 type=jvm function=jdk.internal.misc.Unsafe.park
1ms stack id=4 caller=3 frame=4
`
	free := 0
	for i := range 160 {
		arrived := 1500 + 5000*i
		if i >= 50 {
			arrived = 500_000 + 12_500*(i-50)
		}
		turn := max(free, arrived)
		free = turn + 10_000
		story += one(i+1, arrived, turn, free)
	}
	lines := strings.Split(strings.TrimSpace(story), "\n")
	slices.SortStableFunc(lines, func(a, b string) int { return cmp.Compare(micros(a), micros(b)) })
	rec, err := recording.ParseText(strings.NewReader(strings.Join(lines, "\n") + "\n4000ms end reason=time\n"))
	if err != nil {
		t.Fatal(err)
	}
	tl, err := build.Recording(rec)
	if err != nil {
		t.Fatal(err)
	}
	return tl
}

// micros returns the time of a line in microseconds.
func micros(line string) int {
	at, unit := 0, ""
	_, _ = fmt.Sscanf(line, "%d%s", &at, &unit)
	if unit == "ms" {
		at *= 1000
	}
	return at
}
