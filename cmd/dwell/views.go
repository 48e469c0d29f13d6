package main

import (
	"fmt"
	"strings"

	"github.com/getdwell/dwell/internal/report"
)

// underUsage describes the flag --under, which why and show share.
const underUsage = "show the time beneath a function, such as 'Cache#get' or Cache.get, by cause"

// under prints the time beneath a function.
func (a *analysis) under(w world, o whyOptions, requests int, text report.TextOptions) error {
	a.noStacks(w, o)
	u := report.NewUnder(a.timeline, a.report, report.UnderOptions{Query: o.under, Endpoint: o.endpoint, Requests: requests})
	if len(u.Functions) == 0 {
		near := "no stack has a function like it"
		if list := report.Similar(a.timeline, o.under); len(list) > 0 {
			near = "there are: " + strings.Join(list, ", ")
		}
		return fmt.Errorf("dwell %s %s: no function %q was seen in a stack (%s)", o.command, o.path, o.under, near)
	}
	if o.json {
		return report.UnderJSON(w.out, u)
	}
	return report.UnderText(w.out, u, text)
}

// noStacks says why a view that needs stacks is empty.
func (a *analysis) noStacks(w world, o whyOptions) {
	if len(a.timeline.Stacks) == 0 {
		fmt.Fprintf(w.err, "dwell %s %s: it has no stacks (recorded with --stacks=off, or where they cannot be taken: see dwell doctor)\n", o.command, o.path)
	}
}
