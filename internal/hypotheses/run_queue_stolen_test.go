package hypotheses

import (
	"strings"
	"testing"

	"github.com/getdwell/dwell/internal/diagnosis"
)

// Waits for processors on a host with idle time may be what a hypervisor took. That is reported, with what shows it,
// and is not the service's doing.
func TestStolenTimeIsSaid(t *testing.T) {
	for stolen, said := range map[diagnosis.Share]bool{0: false, diagnosis.Whole / 5: true} {
		cd := waitsBeside(host{busy: diagnosis.Whole / 2, stolen: stolen}, nil, []diagnosis.Evidence{diagnosis.Part("", diagnosis.Whole/3)}, true)
		if got := strings.Contains(cd.Title, "a hypervisor gave 20 % of the processors' time to other machines") && strings.HasPrefix(cd.Decide, "vmstat 1") && cd.Others; got != said {
			t.Errorf("stolen %s: said %v\n%s\n%s", diagnosis.Percent(stolen), got, cd.Title, cd.Decide)
		}
	}
}

// The report says how long the waits are that make half of the time. Only short waits may be what an idle processor
// takes to wake up.
func TestHowLongWaitsForAProcessorAre(t *testing.T) {
	waits := func(us ...diagnosis.Time) (out []diagnosis.Span) {
		for i, d := range us {
			out = append(out, diagnosis.Span{Request: diagnosis.RequestID(i), From: 1000, To: 1000 + d*1000})
		}
		return out
	}
	for _, x := range []struct {
		spans []diagnosis.Span
		busy  diagnosis.Share
		said  string
		wakes bool
	}{
		{waits(30, 40, 50, 60), diagnosis.Whole / 10, "the host's 2 processors are only 10 % busy overall: 33 % of all request time, half of that in waits of at most 50.0 us", true},
		{waits(30, 40, 50, 60), diagnosis.Whole * 6 / 10, "half of that in waits of at most 50.0 us", false}, // the host is not idle
		{waits(30, 40, 50, 2000), diagnosis.Whole / 10, "half of that in waits of at most 2.00 ms", false},
	} {
		cd := waitsBeside(host{cpus: 2, busy: x.busy}, x.spans, []diagnosis.Evidence{diagnosis.Part("", diagnosis.Whole/3)}, true)
		if !strings.Contains(cd.Title, x.said) || strings.Contains(cd.Decide, "takes to wake up") != x.wakes {
			t.Errorf("%s\n%s", cd.Title, cd.Decide)
		}
	}
}
