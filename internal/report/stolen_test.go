package report

import (
	"strings"
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// Of 10 s of two processors, 6 s were busy and 13 s idle; a hypervisor gave 1 s to other guests: 5 %. The report
// shows it from 1 % on, and with --all from above 0 on.
func TestStolenTimeIsSaid(t *testing.T) {
	host := func(at timeline.Time, busy, idle, stolen int64) timeline.HostSample {
		return timeline.HostSample{Time: at, Host: recording.Host{Busy: busy, Idle: idle, Stolen: stolen}}
	}
	const second = 1_000_000_000
	tl := &timeline.Timeline{Hosts: []timeline.HostSample{host(1, second, second, second), host(10*second, 7*second, 14*second, 2*second)}}
	if got := stolen(tl); got != 50_000 {
		t.Errorf("%d millionths, want 50,000", got)
	}
	if got := stolen(&timeline.Timeline{}); got != 0 {
		t.Errorf("of no samples %d millionths", got)
	}
	for _, x := range []struct {
		share Decimal
		all   bool
		want  string
	}{
		{50_000, false, "a hypervisor took 5.0 % of the processors' time (steal), which shows as computing"},
		{9_000, false, ""},
		{9_000, true, "a hypervisor took 0.9 % of the processors' time (steal), which shows as computing"},
		{0, true, ""},
	} {
		text := cost(&Report{Recording: Recording{Stolen: x.share}}, x.all)
		if said := strings.Contains(text, "hypervisor"); said != (x.want != "") || !strings.Contains(text, x.want) {
			t.Errorf("%d, all %v: %s", x.share, x.all, text)
		}
	}
}
