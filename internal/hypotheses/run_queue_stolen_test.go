package hypotheses

import (
	"strings"
	"testing"

	"github.com/getdwell/dwell/internal/diagnosis"
)

// Waits for processors on a host with idle time may be what a hypervisor took: that is said, with what shows it, and is not the service's.
func TestStolenTimeIsSaid(t *testing.T) {
	for stolen, said := range map[diagnosis.Share]bool{0: false, diagnosis.Whole / 5: true} {
		cd := waitsBeside(host{busy: diagnosis.Whole / 2, stolen: stolen}, nil, []diagnosis.Evidence{diagnosis.Part("", diagnosis.Whole/3)}, true)
		if got := strings.Contains(cd.Title, "a hypervisor gave 20 % of the processors' time to others") && strings.HasPrefix(cd.Decide, "vmstat 1") && cd.Others; got != said {
			t.Errorf("stolen %s: said %v\n%s\n%s", diagnosis.Percent(stolen), got, cd.Title, cd.Decide)
		}
	}
}
