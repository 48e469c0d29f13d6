package timeline_test

import (
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

func TestAThreadWaitsForItsSocketsWhereItReadsAfterwards(t *testing.T) {
	type sleep struct {
		syscall  string
		instance int64
		reads    bool
	}
	for name, test := range map[string]struct {
		sleeps []sleep
		want   timeline.Poll
		has    []bool // of each sleep
	}{
		"one instance, whose number is not told": {
			[]sleep{{"epoll_wait", 0, true}, {"epoll_pwait", 0, true}}, timeline.Poll{Syscall: "epoll_wait"}, []bool{true, true}},
		"more sleeps at another, after which it reads nothing": {
			[]sleep{{"epoll_pwait", 13, true}, {"epoll_pwait", 21, false}, {"epoll_pwait", 21, false}, {"epoll_pwait", 0, false}},
			timeline.Poll{Syscall: "epoll_pwait", Instance: 13}, []bool{true, false, false, true}},
		"a client that polls in a callback": {
			[]sleep{{"poll", 0, true}, {"poll", 0, true}, {"epoll_wait", 13, true}}, timeline.Poll{Syscall: "epoll_wait"}, []bool{false, false, true}},
	} {
		var list []timeline.Interval
		reads := map[*timeline.Off]bool{}
		for i, s := range test.sleeps {
			off := &timeline.Off{Arg: s.instance, OffBy: &timeline.OffBy{Syscall: s.syscall}}
			reads[off] = s.reads
			list = append(list, timeline.Interval{From: recording.Time(10 * i), To: recording.Time(10*i + 5), State: timeline.StateSleeping, Off: off})
		}
		own := timeline.OwnPoll(list, func(o *timeline.Off) bool { return reads[o] })
		if own != test.want {
			t.Errorf("%s: %+v, want %+v", name, own, test.want)
		}
		for i := range list {
			if got := own.Has(list[i].Off); got != test.has[i] {
				t.Errorf("%s: sleep %d is in it: %v, want %v", name, i, got, test.has[i])
			}
		}
	}
}
