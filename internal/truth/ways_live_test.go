package truth

import (
	"slices"
	"strings"
	"testing"
)

// otherWays are what stands in for a kernel that refuses the best way of what a recording needs,
// and scenarios that are as well recorded by another.
func otherWays() map[string]struct {
	refuse    string
	scenarios []string // runtime/name
} {
	return map[string]struct {
		refuse    string
		scenarios []string
	}{
		"scheduling": {"sched_switch", []string{"python/calm"}},
		"processes":  {"process_fork", []string{"ruby/two processes"}},
		"reads and writes at the end of system calls": {
			"received,received_inet_recvmsg,sent,sent_inet_sendmsg",
			[]string{"python/calm", "python/connection per call", "ruby/busy", "node/direct, full pool", "go/connection per request", "go/bodies"},
		},
	}
}

// What is needed is recorded right by another way, too, where the kernel refuses the best.
func TestByOtherWays(t *testing.T) {
	t.Parallel()
	for what, way := range otherWays() {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			played := 0
			for _, sc := range scenarios() {
				name := sc.runtime.name + "/" + sc.name
				if !slices.Contains(way.scenarios, name) {
					continue
				}
				played++
				t.Run(name, func(t *testing.T) {
					leaveOut(t)
					sc.refuse = way.refuse
					sc.causes = false // how well those are told is asserted of the best way
					try := sc.trying(t)
					try(func() []string { return sc.whole(t) })
				})
			}
			if played != len(way.scenarios) {
				t.Errorf("%d of the scenarios %s are there", played, strings.Join(way.scenarios, ", "))
			}
		})
	}
}
