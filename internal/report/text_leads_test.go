package report

import (
	"strings"
	"testing"
)

// A lead in one line also names its code, if there is room.
func TestALeadOfOneLineNamesItsCode(t *testing.T) {
	r := &Report{}
	r.Seen.titles = map[string]string{"cpu-bound": "Requests compute"}
	f := &Finding{ID: "cpu-bound", Title: "Requests compute: an ordinary one spends 61 % of its time on the CPU for its own work, and that is far more than there is room for"}
	for place, want := range map[string]string{"shop.page (shop.py:41)": "requests compute, in shop.page (shop.py:41)\n", "thread shop": "requests compute\n"} {
		f.Place = place
		p := newPage(TextOptions{})
		p.brevity = brevity{spread: true}
		moreLeads(p, r, []*Finding{f}, false)
		if got := p.b.String(); !strings.HasSuffix(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
