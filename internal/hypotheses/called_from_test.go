package hypotheses

import (
	"strings"
	"testing"

	"github.com/getdwell/dwell/internal/diagnosis"
)

// Where holders did most of what they did comes from the stacks of that. The stacks where they let go afterwards count
// only if there are no others, however long they are.
func TestWhereAHolderLetsGoComesLast(t *testing.T) {
	tl := built(t, `1ms manifest cpus=2 hooks="sched io stacks"
1ms process id=1 pid=100 runtime=go comm=shop
1ms frame id=1 type=go function=main.fetch file=shop.go line=10
1ms frame id=2 type=go function=main.release file=shop.go line=20
1ms stack id=1 frame=1
1ms stack id=2 frame=2
60ms end reason=time
`)
	c := &diagnosis.Case{Timeline: tl}
	k := &contention{did: []deed{{kind: deedIO, stack: 0}, {kind: deedIO, stack: 1, later: true}}, weights: []Duration{10, 30}}
	if got := k.calledFrom(c, deedIO); !strings.Contains(got, "main.fetch") {
		t.Errorf("called from %s, want main.fetch", got)
	}
	k.did, k.weights = k.did[1:], k.weights[1:]
	if got := k.calledFrom(c, deedIO); !strings.Contains(got, "main.release") {
		t.Errorf("called from %s, want main.release: no other stack is known", got)
	}
}
