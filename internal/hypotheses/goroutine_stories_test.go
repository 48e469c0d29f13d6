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

// at adds a fact at a time in microseconds; numbers in it in braces are such times, too.
func (l *goLines) at(us int, fact string, times ...any) {
	*l = append(*l, fmt.Sprintf("%09dus ", us)+fmt.Sprintf(fact, times...))
}

// waiting plays requests to a Go service, 50 ms apart, that wait 20 ms each for what is
// not known, or for a mutex that another goroutine has, which computes meanwhile.
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

// goroutineStories are Go services of which it was not seen all the time who waits for whom.
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
		{"refresh-under-lock/go-probes-away-undecided", before + within + " for 5 ms in the midst of them waits for locks are not recorded.",
			func() *recording.Recording { return waiting(none, away("go-locks", 5_000, 10_000)) }},
		{"refresh-under-lock/go-probes-elsewhere-refuted", before + within + " 20 ms later waits for locks are not recorded for 5 ms.",
			func() *recording.Recording { return waiting(none, away("go-locks", 40_000, 45_000)) }},
	}
}
