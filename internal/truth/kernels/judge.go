package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/getdwell/dwell/internal/truth/kernels/outcome"
)

const (
	theFault   = "connection-churn" // of the demo
	leastShare = 0.99               // of calls, that are to be given to the requests that made them
	mostLost   = 0.01               // share of the events
	mostOff    = 1                  // request that an event that was lost may cost
)

// problems are what must hold on every kernel, and does not.
func problems(o *outcome.Outcome) error {
	var all []error
	must := func(holds bool, format string, args ...any) {
		if !holds {
			all = append(all, fmt.Errorf(format, args...))
		}
	}
	d, m, t := o.Doctor, o.Demo, o.Truth
	must(o.Kmsg == "", "the kernel complains: %s", o.Kmsg)
	must(d.CanRecord && d.Error == "", "doctor: cannot record, without %v %s", d.Without, d.Error)
	must(m.Error == "", "demo: %s", m.Error)
	must(m.Live && m.Requests > 0, "demo: live %v, %d requests", m.Live, m.Requests)
	must(slices.Contains(m.Findings, theFault), "demo: found %v, not %s", m.Findings, theFault)
	must(!slices.Contains(m.Repaired, theFault), "demo: %s found in the repaired variant", theFault)
	must(m.Associated >= leastShare, "demo: %.1f %% of the calls associated", 100*m.Associated)
	must(t.Error == "", "truth: %s", t.Error)
	must(t.Requests > 0 && t.Requests-t.Matched-t.Cut <= mostOff && t.Extra <= mostOff,
		"truth: %d requests sent, %d found, %d cut, %d extra", t.Requests, t.Matched, t.Cut, t.Extra)
	must(t.Exchanges > 0 && t.Wrong == 0 && float64(t.Right) >= leastShare*float64(t.Exchanges),
		"truth: of %d calls %d given to their request, %d to another", t.Exchanges, t.Right, t.Wrong)
	must(float64(m.Lost) <= mostLost*float64(m.Events), "demo: %d of %d events lost", m.Lost, m.Events)
	must(float64(t.Lost) <= mostLost*float64(t.Events), "truth: %d of %d events lost", t.Lost, t.Events)
	return errors.Join(all...)
}
