package hypotheses

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/getdwell/dwell/recording"
)

// goLines collects facts in text form, in any order.
type goLines []string

// at adds a fact at a time in microseconds.
func (l *goLines) at(us int, fact string, times ...any) {
	*l = append(*l, fmt.Sprintf("%09dus ", us)+fmt.Sprintf(fact, times...))
}

// waiting plays requests to a Go service, 50 ms apart, that wait 20 ms each: for something unknown, or for a mutex that
// another goroutine holds while it computes.
func waiting(forMutex func(i int) bool, more func(l *goLines, i, at int)) *recording.Recording {
	l := goLines{
		`000000001us manifest cpus=2 hooks="sched io sockets arrivals goroutines parks samples stacks"`,
		`000000001us process id=1 pid=100 runtime=go comm=shop`,
		`000000001us thread id=1 tid=101 process=1`, `000000001us thread-state thread=1 on=1`,
		`000000001us thread id=2 tid=102 process=1`, `000000001us thread-state thread=2 on=0`,
		`000000001us conn id=1 side=in process=1 existing=1 local=127.0.0.1:80 peer=127.0.0.1:5000`,
	}
	for i := range requestsPlayed {
		at := (i + 1) * 50_000
		l.at(at, "off thread=1 since=%dus woken=%dus syscall=epoll_pwait waker-kind=interrupt", at-20_000, at-5)
		l.at(at+10, "chunk conn=1 thread=1 dir=read offset=%d bytes=40 arrived=%dus last=%dus goroutine=7", 40*i, at-10, at-10)
		l.at(at+11, "http-request conn=1 offset=%d head=40 method=GET route=/a", 40*i)
		l.at(at+20_600, "off thread=1 since=%dus woken=%dus syscall=epoll_pwait waker-kind=interrupt", at+700, at+20_590)
		if forMutex(i) {
			l.at(at+600, "off thread=2 since=%dus woken=%dus syscall=futex goroutine=9", at-29_000, at+590)
			l.at(at+20_595, "unpark thread=2 goroutine=9 word=4100")
			l.at(at+20_610, "park thread=1 goroutine=7 left=1 since=%dus reason=mutex object=4096 word=4100", at+690)
		}
		l.at(at+20_700, "chunk conn=1 thread=1 dir=write offset=%d bytes=60 goroutine=7", 60*i)
		l.at(at+20_701, "http-response conn=1 offset=%d head=60 status=200", 60*i)
		more(&l, i, at)
	}
	l.at(1_300_000, "missing what=go-locks why=budget count=1 timed=1")
	return l.recording()
}

// recording returns what was collected, up to the end of all stories.
func (l goLines) recording() *recording.Recording {
	l.at(1_300_001, "end reason=time")
	slices.SortStableFunc(l, func(a, b string) int { return cmp.Compare(a[:9], b[:9]) })
	for i := range l {
		l[i] = strings.TrimLeft(l[i][:8], "0") + l[i][8:]
	}
	rec, err := recording.ParseText(strings.NewReader(strings.Join(l, "\n") + "\n"))
	if err != nil {
		panic(err)
	}
	return rec
}

// oneWorker plays a Go service in which one goroutine, 23, takes tasks from a channel with a buffer; each task is a
// call of 5 ms. Requests come six at once, and each waits for its result in a select. There is one processor, but the
// goroutine computes nothing.
func oneWorker() *recording.Recording {
	const atOnce, takes = 6, 5_000
	l := goLines{
		`000000001us manifest cpus=1 hooks="sched io sockets arrivals goroutines go-calls parks samples stacks"`,
		`000000001us process id=1 pid=100 runtime=go comm=shop`,
		`000000001us thread id=1 tid=101 process=1`, `000000001us thread-state thread=1 on=1`,
		`000000001us conn id=9 side=out process=1 existing=1 local=127.0.0.1:6000 peer=10.0.0.1:8080`,
		`000000001us frame id=1 type=go function=runtime.send`, `000000001us stack id=1 frame=1`,
	}
	for k := range atOnce {
		l.at(1, "conn id=%d side=in process=1 existing=1 local=127.0.0.1:80 peer=127.0.0.1:%d", k+1, 5000+k)
	}
	sleeps := func(from, to int) {
		l.at(to, "off thread=1 since=%dus woken=%dus syscall=epoll_pwait waker-kind=interrupt", from, to-5)
	}
	for i := range requestsPlayed {
		at := (i + 1) * 50_000
		sleeps(at-20_000, at)
		for k := range atOnce {
			goroutine, asked, answered := 100+k, at+10+4*k, at+takes*(k+1)
			l.at(asked, "chunk conn=%d thread=1 dir=read offset=%d bytes=40 arrived=%dus last=%dus goroutine=%d", k+1, 40*i, at-10, at-10, goroutine)
			l.at(asked+1, "http-request conn=%d offset=%d head=40 method=GET route=/a", k+1, 40*i)
			sleeps(answered-takes+100, answered-20)
			l.at(answered-10, "chunk conn=9 thread=1 dir=read offset=%d bytes=70 arrived=%dus last=%dus goroutine=10", 70*(atOnce*i+k), answered-30, answered-30)
			l.at(answered-9, "http-response conn=9 offset=%d head=50 length=20 status=200", 70*(atOnce*i+k))
			l.at(answered, "unpark thread=1 goroutine=23 woken=%d stack=1", goroutine)
			l.at(answered+70, "chunk conn=%d thread=1 dir=write offset=%d bytes=60 goroutine=%d", k+1, 60*i, goroutine)
			l.at(answered+71, "http-response conn=%d offset=%d head=60 status=200", k+1, 60*i)
			begun := answered - takes + 50
			l.at(begun, "go-call conn=9 thread=1 goroutine=23")
			l.at(begun+5, "chunk conn=9 thread=1 dir=write offset=%d bytes=50 goroutine=9", 50*(atOnce*i+k))
			l.at(begun+6, "http-request conn=9 offset=%d head=50 method=GET route=/thumbs host=db", 50*(atOnce*i+k))
		}
		l.at(at+40, "unpark thread=1 goroutine=100 woken=23 stack=1")
	}
	return l.recording()
}

// oneForAll plays a Go service in which six requests at once wait for a result, in a WaitGroup. The first of them gets
// it with a call of 5 ms. If late is set, the last one does, and it is read 4 ms after the others began to wait.
func oneForAll(late bool) *recording.Recording {
	const atOnce, takes = 6, 5_000
	l := goLines{
		`000000001us manifest cpus=2 hooks="sched io sockets arrivals goroutines go-calls parks samples stacks"`,
		`000000001us process id=1 pid=100 runtime=go comm=shop`,
		`000000001us thread id=1 tid=101 process=1`, `000000001us thread-state thread=1 on=1`,
		`000000001us conn id=9 side=out process=1 existing=1 local=127.0.0.1:6000 peer=10.0.0.1:8080`,
		`000000001us frame id=1 type=go function=main.price file=price.go line=20`, `000000001us stack id=1 frame=1`,
	}
	for k := range atOnce {
		l.at(1, "conn id=%d side=in process=1 existing=1 local=127.0.0.1:80 peer=127.0.0.1:%d", k+1, 5000+k)
	}
	for i := range requestsPlayed {
		at, gets := (i+1)*50_000, 0
		if late {
			gets = atOnce - 1
		}
		asks := at + 2_000*gets/5*2 + 40
		l.at(at, "off thread=1 since=%dus woken=%dus syscall=epoll_pwait waker-kind=interrupt", at-20_000, at-5)
		for k := range atOnce {
			asked := at + 10 + 4*k
			if late && k == gets {
				asked = asks - 20
			}
			l.at(asked, "chunk conn=%d thread=1 dir=read offset=%d bytes=40 arrived=%dus last=%dus goroutine=%d", k+1, 40*i, asked-10, asked-10, 100+k)
			l.at(asked+1, "http-request conn=%d offset=%d head=40 method=GET route=/a", k+1, 40*i)
			answered := asks + takes + 40 + 10*k
			if k != gets {
				l.at(asks+takes+k, "unpark thread=1 goroutine=%d word=4096", 100+gets)
				l.at(answered-4, "park thread=1 goroutine=%d left=1 since=%dus reason=wait-group object=4096 word=4096 stack=1", 100+k, asked+2)
			}
			l.at(answered, "chunk conn=%d thread=1 dir=write offset=%d bytes=60 goroutine=%d", k+1, 60*i, 100+k)
			l.at(answered+1, "http-response conn=%d offset=%d head=60 status=200", k+1, 60*i)
		}
		l.at(asks, "go-call conn=9 thread=1 goroutine=%d", 100+gets)
		l.at(asks+1, "chunk conn=9 thread=1 dir=write offset=%d bytes=50 goroutine=9", 50*i)
		l.at(asks+2, "http-request conn=9 offset=%d head=50 method=GET route=/price host=db", 50*i)
		l.at(asks+takes-20, "off thread=1 since=%dus woken=%dus syscall=epoll_pwait waker-kind=interrupt", asks+100, asks+takes-25)
		l.at(asks+takes-10, "chunk conn=9 thread=1 dir=read offset=%d bytes=70 arrived=%dus last=%dus goroutine=10", 70*i, asks+takes-30, asks+takes-30)
		l.at(asks+takes-9, "http-response conn=9 offset=%d head=50 length=20 status=200", 70*i)
	}
	return l.recording()
}

// oneProcessor plays a Go service that may run one goroutine at once, on a host with two processors. Every 50 ms
// another goroutine computes for 20 ms, on thread 2. A request that came meanwhile is then read on thread 1.
func oneProcessor(procs int) *recording.Recording {
	l := goLines{
		`000000001us manifest cpus=2 hooks="sched io sockets arrivals host goroutines parks samples stacks"`,
		`000000001us process id=1 pid=100 runtime=go comm=shop`,
		`000000001us thread id=1 tid=101 process=1`, `000000001us thread-state thread=1 state=sleep syscall=futex`,
		`000000001us thread id=2 tid=102 process=1`, `000000001us thread-state thread=2 state=sleep syscall=futex`,
		`000000001us conn id=1 side=in process=1 existing=1 local=127.0.0.1:80 peer=127.0.0.1:5000`,
		`000000001us frame id=1 type=go function=main.rebuild file=index.go line=20`, `000000001us stack id=1 frame=1`,
	}
	slept := 1
	for i := range requestsPlayed {
		at := (i + 1) * 50_000
		l.at(at, "host busy=%dus idle=%dus running=2", 12_000*i, 40_000*i)
		l.at(at, "off thread=2 since=%dus woken=%dus syscall=futex goroutine=0", max(1, at-29_900), at-5)
		l.at(at+10_000, "sample thread=2 goroutine=9")
		l.at(at+10_000, "stack-at thread=2 stack=1 origin=on-cpu goroutine=9")
		l.at(at+20_100, "off thread=1 since=%dus woken=%dus syscall=futex", slept, at+20_090)
		l.at(at+20_110, "chunk conn=1 thread=1 dir=read offset=%d bytes=40 arrived=%dus last=%dus goroutine=7", 40*i, at+1_000, at+1_000)
		l.at(at+20_111, "http-request conn=1 offset=%d head=40 method=GET route=/a", 40*i)
		l.at(at+20_200, "chunk conn=1 thread=1 dir=write offset=%d bytes=60 goroutine=7", 60*i)
		l.at(at+20_201, "http-response conn=1 offset=%d head=60 status=200", 60*i)
		slept = at + 20_300
	}
	if procs > 0 {
		l.at(1_300_000, "go-procs process=1 procs=%d", procs)
	}
	return l.recording()
}

// goroutineStories are Go services in which waits were not recorded all the time.
func goroutineStories() []story {
	none := func(int) bool { return false }
	away := func(what string, from, to int) func(*goLines, int, int) {
		return func(l *goLines, _, at int) { l.at(at+to, "unseen what=%s from=%dus", what, at+from) }
	}
	const before, within = "Each request of a Go service waits 20 ms for what is not known:\n", "|.7 waits 20 |.1|"
	return []story{
		{"lock-convoy/go-probes-elsewhere-refuted", before + within + " 20 ms later waits for locks are not recorded for 5 ms: it was no lock.",
			func() *recording.Recording { return waiting(none, away("go-locks", 40_000, 45_000)) }},
		{"lock-convoy/go-probes-away-undecided", before + within + " for 5 ms in the midst of them waits for locks are not recorded: it may be one, for what began then, or before, has no end.",
			func() *recording.Recording { return waiting(none, away("go-locks", 5_000, 10_000)) }},
		{"lock-convoy/go-channels-away-refuted", before + within + " for 5 ms in the midst of them waits for channels are not recorded; those for locks are.",
			func() *recording.Recording { return waiting(none, away("go-channels", 5_000, 10_000)) }},
		{"lock-convoy/go-probes-at-times-supported", "Three of four requests wait 20 ms for a mutex, with which another goroutine computes. While every fourth waits, waits for locks are not recorded.",
			func() *recording.Recording {
				return waiting(func(i int) bool { return i%4 < 3 }, func(l *goLines, i, at int) {
					if i%4 == 3 {
						away("go-locks", 100, 25_000)(l, i, at)
					}
				})
			}},
		{"pool-exhausted/go-select-supported", "Requests to a Go service come six at once. One goroutine does their tasks, in a call of 5 ms each; they wait for the results in a select.", oneWorker},
		{"run-queue/go-processors-supported", "A Go service may run one goroutine at once, on a host with two processors. Each request comes while another goroutine computes for 20 ms.",
			func() *recording.Recording { return oneProcessor(1) }},
		{"run-queue/go-processors-refuted", "What happens is as in go-processors-supported.txt, but the service may use both processors.",
			func() *recording.Recording { return oneProcessor(2) }},
		{"refresh-under-lock/go-shared-supported", "Of six requests to a Go service that come at once the first makes a call of 5 ms, for all: the others wait until it has the answer.",
			func() *recording.Recording { return oneForAll(false) }},
		{"refresh-under-lock/go-shared-refuted", "Five of six requests to a Go service wait for something that happens when the sixth comes, 4 ms later, and has made its call: that is no result that was being fetched.",
			func() *recording.Recording { return oneForAll(true) }},
		{"refresh-under-lock/go-probes-away-undecided", before + within + " for 5 ms in the midst of them waits for locks are not recorded.",
			func() *recording.Recording { return waiting(none, away("go-locks", 5_000, 10_000)) }},
		{"refresh-under-lock/go-probes-elsewhere-refuted", before + within + " 20 ms later waits for locks are not recorded for 5 ms.",
			func() *recording.Recording { return waiting(none, away("go-locks", 40_000, 45_000)) }},
	}
}
