package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/hypotheses"
	"github.com/getdwell/dwell/internal/report"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/build"
	"github.com/getdwell/dwell/recording"
)

// analysis is everything derived from one recording.
type analysis struct {
	timeline  *timeline.Timeline
	diagnosis *diagnosis.Diagnosis
	report    *report.Report
	wall      wallClock
	path      string // of the recording; "" if it is not kept
	all       bool   // print all that is known about what is ruled out
}

// analyse builds and diagnoses a recording.
func analyse(rec *recording.Recording, o diagnosis.Options) (*analysis, error) {
	tl, err := build.By(workers(), rec)
	if err != nil {
		return nil, err
	}
	return diagnosed(rebuilt{Timeline: tl, wall: newWallClock(rec.Events)}, o), nil
}

// diagnosed diagnoses a rebuilt recording.
func diagnosed(got rebuilt, o diagnosis.Options) *analysis {
	tl := got.Timeline
	d := diagnosis.DiagnoseBy(workers(), tl, hypotheses.All(), o)
	a := &analysis{timeline: tl, diagnosis: d, report: report.Build(d, tl), wall: got.wall}
	a.report.Recording.Wall = a.wall.at(tl.Start)
	a.report.Recording.Excerpt = report.NewExcerpt(tl, got.excerpt)
	return a
}

func analyseFile(w world, o whyOptions) (*analysis, error) {
	bounds, err := o.judging.options(o.endpoint)
	if err != nil {
		return nil, fmt.Errorf("dwell %s: %w", o.command, err)
	}
	got, err := o.rebuild(w)
	if err != nil {
		return nil, err
	}
	a := diagnosed(got, bounds)
	a.path, a.all = o.path, o.judging.all
	if o.endpoint == "" {
		return a, nil
	}
	if names := endpoints(a.timeline); !slices.Contains(names, o.endpoint) {
		return nil, fmt.Errorf("dwell %s %s: no request of endpoint %q in it (there are: %s)",
			o.command, o.path, o.endpoint, orNone(names))
	}
	return a, nil
}

func endpoints(tl *timeline.Timeline) []string {
	var names []string
	for i := range tl.Requests {
		names = append(names, tl.Requests[i].Endpoint)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func orNone(list []string) string {
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, ", ")
}

// empty reports whether no complete request was measured.
func (a *analysis) empty() bool {
	return a.report.Requests.Count == 0
}

// undecided reports whether nothing could be decided: anything beyond leads means that something was.
func (a *analysis) undecided() bool {
	r := a.report
	return len(r.Findings)+len(r.Minor)+len(r.Refuted) == 0
}

// instead says what there is if nothing could be decided.
func (a *analysis) instead() string {
	if n := len(a.report.Leads); n > 0 {
		return ", " + diagnosis.Plural(n, "lead") + " at most"
	}
	return ""
}

// withoutLatency counts the requests without a latency, by reason.
func withoutLatency(t *timeline.Timeline) string {
	words := map[string]string{"aborted": "closed without an answer", "upgrade": "an upgrade", "stream": "a stream", "long-poll": "a long poll", "unpaired": "with an answer that is not told apart"}
	n := map[string]int{}
	for i := range t.Requests {
		if why := t.Requests[i].Excluded; why != "" {
			n[cmp.Or(words[why], why)]++
		}
	}
	var list []string
	for _, why := range slices.Sorted(maps.Keys(n)) {
		list = append(list, fmt.Sprintf("%d %s", n[why], why))
	}
	return strings.Join(list, ", ")
}

// longest returns for how long the request was seen that was seen longest.
func (a *analysis) longest() (most diagnosis.Duration) {
	for i := range a.timeline.Requests {
		r := &a.timeline.Requests[i]
		most = max(most, r.End.Sub(r.Start))
	}
	return most
}

// whyEmpty says why no request was measured.
func (a *analysis) whyEmpty() string {
	r := a.report
	if r.Requests.Cut > 0 {
		return fmt.Sprintf("of %s none was recorded whole, the longest was seen for %s (record longer; or, if they hang, see with dwell threads what each thread waits for, and who has that)",
			diagnosis.Plural(r.Requests.Cut, "request"), diagnosis.Human(a.longest()))
	}
	if r.Requests.Excluded > 0 {
		return fmt.Sprintf("of %s none tells a latency: %s", diagnosis.Plural(r.Requests.Excluded, "request"), withoutLatency(a.timeline))
	}
	seen := "no connection was made to the target (send it requests while recording)"
	switch {
	case len(r.Seen.Protocols) > 0:
		seen = "seen instead: " + strings.Join(r.Seen.Protocols, ", ") + " (dwell takes HTTP/1.1 in the clear apart: watch the service behind the proxy that ends TLS or HTTP/2)"
	case r.Seen.Outbound > 0:
		seen = fmt.Sprintf("seen instead: %d outgoing connections, no incoming one (is it the process that serves?)", r.Seen.Outbound)
	}
	return "no HTTP request was recognised; " + seen
}
