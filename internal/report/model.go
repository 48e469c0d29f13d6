// Package report turns a Diagnosis into what is shown: the view model, which is the
// JSON that scripts depend on, and text. It decides nothing.
package report

import (
	"fmt"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// Duration is that of a recording, in nanoseconds.
type Duration = recording.Duration

// Version of the JSON contract, see docs/contract.md.
const Version = 2

// Report is the answer to "why is it slow". Its JSON form is the contract of
// `dwell why --json`; fields without a JSON name are for the text only.
type Report struct {
	Version   int         `json:"version"`
	Recording Recording   `json:"recording"`
	Requests  Requests    `json:"requests"`
	Endpoints []Endpoint  `json:"endpoints"`
	Processes []Process   `json:"processes"` // that served them, in the order in which they first did
	Calls     []CallGroup `json:"calls"`
	Findings  []Finding   `json:"findings"`
	Leads     []Finding   `json:"leads"`
	Minor     []Finding   `json:"minor"`
	Refuted   []Refuted   `json:"refuted"`
	Undecided []Undecided `json:"undecided"`
	SLOs      []SLO       `json:"slos,omitempty"`
	Flames    []*Flames   `json:"flames,omitempty"` // only where asked for
	Dominant  []Dominant  `json:"dominant"`
	Seen      Seen        `json:"-"`
}

// Dominant is a mechanism that takes half of the time of an endpoint's requests, or makes
// half of what its slow ones take longer, whatever else is said of it.
type Dominant struct {
	ID        string  `json:"id"`
	Place     string  `json:"place"`
	Endpoint  string  `json:"endpoint"`
	MeanShare Decimal `json:"mean_share"`
	SlowShare Decimal `json:"slow_share"` // of what slow requests take longer than ordinary ones
	Steady    bool    `json:"steady"`     // where the time goes in slow and ordinary requests alike: it may be what they are for

	others bool     // it is what programs beside the service cost
	chance bool     // which requests it hits is chance
	With   []string `json:"with,omitempty"` // what goes with it, and is in its shares
}

// Recording says what was recorded and at what cost.
type Recording struct {
	Wall             int64   `json:"start_wall_ns,omitempty"` // of its start, since the Unix epoch; 0 not known
	Seconds          Decimal `json:"seconds"`
	Events           int     `json:"events"`
	Lost             int64   `json:"lost"`
	OverheadCPUShare Decimal `json:"overhead_cpu_share"`                          // of one core, programs in the kernel included
	OverheadLater    Decimal `json:"overhead_cpu_share_in_second_half,omitempty"` // of the recording; 0 not known
	Stolen           Decimal `json:"stolen_share,omitempty"`                      // of the processors' time, given to others by a hypervisor
	Truncated        bool    `json:"truncated,omitempty"`
	Of               string  `json:"of,omitempty"` // the container, pod or unit that was asked for

	Windows *Windows `json:"windows,omitempty"` // nil where all of it was recorded, and is analysed
	Excerpt *Excerpt `json:"excerpt,omitempty"` // nil where all that was recorded is analysed

	WaitStacks *WaitStacks `json:"wait_stacks,omitempty"` // nil without stacks or waits
}

// Windows are what was recorded of the time, where recording all of it would have cost a
// saturated service too much.
type Windows struct {
	Count   int     `json:"count"`
	Seconds Decimal `json:"seconds"` // of all together
}

// Excerpt is what was analysed of a recording that is too long to be kept in memory.
type Excerpt struct {
	Windows    int     `json:"windows"`
	Seconds    Decimal `json:"seconds"`     // of the time in them that was recorded
	Requests   int64   `json:"requests"`    // that came in them
	OfRequests int64   `json:"of_requests"` // that came in all of the recording
}

// NewExcerpt is nil where all of a recording is analysed.
func NewExcerpt(tl *timeline.Timeline, e *recording.Excerpt) *Excerpt {
	if e == nil {
		return nil
	}
	return &Excerpt{len(e.Windows), Decimal(int64(tl.InWindows(tl.Start, tl.End)) / 1000), e.Requests, e.Of}
}

// Text says it in a sentence.
func (e *Excerpt) Text() string {
	return fmt.Sprintf("Analysed were %s s of it, in %s: %s of the %s requests that came (--windows=off analyses all, whatever memory that takes).",
		seconds(e.Seconds), plural(e.Windows, "window"), thousands(e.Requests), thousands(e.OfRequests))
}

// WaitStacks are shares of the time in requests' waits of a millisecond or more.
type WaitStacks struct {
	Own      Decimal `json:"own"`      // a stack was taken in that very wait
	Borrowed Decimal `json:"borrowed"` // all stacks taken at the same place agree
}

// Requests sums up all measured requests; Cut and Excluded ones are counted apart.
type Requests struct {
	Traffic
	Cut              int      `json:"cut"`
	Early            int      `json:"early,omitempty"` // of the cut ones: they came while the ids of their runtime were looked for
	Excluded         int      `json:"excluded,omitempty"`
	AssociatedShare  Decimal  `json:"associated_share"` // of the calls
	InferredShare    Decimal  `json:"inferred_share"`   // of the calls: those of the associated ones whose request no fact names
	Mean             Duration `json:"mean_ns"`
	P50              Duration `json:"p50_ns"`
	P90              Duration `json:"p90_ns"`
	P99              Duration `json:"p99_ns"`
	Max              Duration `json:"max_ns"`
	UnaccountedShare Decimal  `json:"unaccounted_share"` // of the requests' summed time
	UnknownShare     Decimal  `json:"unknown_share"`     // in segments whose cause is not known

	// Unconnected are addresses to which connections did not come up, nil where all did.
	Unconnected []Unconnected `json:"not_connected,omitempty"`

	singles []single // each, where they are too few to decide anything
}

// Open is a cause that takes half of an endpoint's ordinary or slow requests, and that nothing in the report explains.
type Open struct {
	Cause string `json:"cause"`
	Pair
	Place *Frame `json:"place,omitempty"` // where most of it is spent

	is timeline.Cause
}

// Endpoint is one route and where its time goes.
type Endpoint struct {
	Name string `json:"name"`
	Traffic
	Mean        Duration   `json:"mean_ns"`
	P50         Duration   `json:"p50_ns"`
	P90         Duration   `json:"p90_ns"`
	P99         Duration   `json:"p99_ns"`
	Max         Duration   `json:"max_ns"`
	Causes      []CauseRow `json:"causes"`
	Unaccounted Pair       `json:"unaccounted"` // what the causes leave of 1
	Open        []Open     `json:"unexplained,omitempty"`
	Ordinary    Duration   `json:"ordinary_mean_ns"` // of the requests near p50
	Slow        Duration   `json:"slow_mean_ns"`     // near p99

	// Requests to look at: one near p50, and the slowest.
	Typical timeline.RequestID `json:"typical_request"`
	Slowest timeline.RequestID `json:"slowest_request"`

	ids requestSets
}

// requestSets are the requests near p50, those near p99, and all that are measured.
type requestSets struct {
	ordinary, slow, all []timeline.RequestID
	few                 bool     // too few to prove a cause
	total               Duration // summed over all
}

// Traffic is how many requests were measured, how often they came, and how they were answered.
type Traffic struct {
	Count     int        `json:"count"`
	PerSecond Decimal    `json:"per_second"`               // that came, measured or cut, on average over what was recorded
	Failed    []Answered `json:"failed,omitempty"`         // answers with a status from 500 on, the most frequent first
	Unknown   int        `json:"status_unknown,omitempty"` // of those measured: with what they were answered is not known
}

// Answered counts the requests that were answered with a status.
type Answered struct {
	Status int64 `json:"status"`
	Count  int   `json:"count"`
}

// CauseRow is what one phase and cause take of the requests near p50 and near p99.
type CauseRow struct {
	Phase    string  `json:"phase"`
	Cause    string  `json:"cause"`
	P50Share Decimal `json:"p50_share"`
	P99Share Decimal `json:"p99_share"`
}

// Pair is a share of the requests near p50 and one of those near p99.
type Pair struct {
	P50Share Decimal `json:"p50_share"`
	P99Share Decimal `json:"p99_share"`
}

// CallGroup is all calls to one peer with one operation.
type CallGroup struct {
	Peer               string  `json:"peer"`
	Operation          string  `json:"operation"`
	Count              int     `json:"count"`
	Cut                int     `json:"-"` // of measured requests, that had no whole answer when they ended: in TimeShare, and in nothing else
	AssociatedShare    Decimal `json:"associated_share"`
	NewConnectionShare Decimal `json:"new_connection_share"`
	// NewConnections says why; nil where recording rested: what was closed meanwhile is not known.
	NewConnections *NewConnections `json:"new_connections,omitempty"`
	P50            Duration        `json:"p50_ns"`
	P99            Duration        `json:"p99_ns"`
	Max            Duration        `json:"max_ns"`
	TimeShare      Decimal         `json:"time_share"` // of the requests' summed time one of these calls is under way
	Phases         Phases          `json:"phases"`
}

// Phases are mean durations; they sum to the mean duration of the calls, but for
// less than a nanosecond each.
type Phases struct {
	Queue   Duration `json:"queue"`
	DNS     Duration `json:"dns"`
	Connect Duration `json:"connect"`
	TLS     Duration `json:"tls"`
	Send    Duration `json:"send"`
	Remote  Duration `json:"remote"`
	PickUp  Duration `json:"pick-up"`
	Receive Duration `json:"receive"`
}

// Finding is a hypothesis that was seen at a place: a finding, a lead or a minor one.
type Finding struct {
	ID       string     `json:"id"`
	Title    string     `json:"title"`
	Endpoint string     `json:"endpoint"`
	Place    string     `json:"place"`
	Impact   Impact     `json:"impact"`
	Evidence []Evidence `json:"evidence"`
	Fix      string     `json:"fix"`
	Next     string     `json:"next,omitempty"`
	Also     []string   `json:"also,omitempty"` // other endpoints where it is a finding
	WhatIf   []WhatIf   `json:"what_if,omitempty"`

	When        []Duration `json:"when_ns,omitempty"`      // of a lead that happened a few times: when, since the start of the recording
	Why         string     `json:"why,omitempty"`          // of a lead: why it is no finding; of a minor one: what it is worth; for people
	Decide      string     `json:"decide,omitempty"`       // of a lead: what would decide it
	ExplainedBy string     `json:"explained_by,omitempty"` // of a minor one: the finding whose consequence its time is

	mean, p50, p99 Duration // of the endpoint, before
}

// Impact is what removing a finding's cause would save, and between what bounds that lies
// with 90 % confidence.
type Impact struct {
	MeanSaving Duration `json:"mean_saving_ns"`
	MeanLow    Duration `json:"mean_low_ns"`
	MeanHigh   Duration `json:"mean_high_ns"`
	P50Saving  Duration `json:"p50_saving_ns"`
	P50Low     Duration `json:"p50_low_ns"`
	P50High    Duration `json:"p50_high_ns"`
	P99Saving  Duration `json:"p99_saving_ns"`
	P99Low     Duration `json:"p99_low_ns"`
	P99High    Duration `json:"p99_high_ns"`
	Share      Decimal  `json:"share"` // of the endpoint's summed time
	AtLeast    bool     `json:"lower_bound,omitempty"`
	Unsure     bool     `json:"unsure,omitempty"`  // of a minor one: it would be worth having, but that is not told from chance
	MeanOf     []Saved  `json:"mean_of,omitempty"` // what mean_saving_ns is made of, the largest first

	told grounds
}

// Saved is how much of what is saved of the mean is of one kind of time.
type Saved struct {
	Phase string   `json:"phase,omitempty"` // in which nobody gets round to it: queue, unread-request, pick-up; else Cause tells
	Cause string   `json:"cause,omitempty"`
	Took  Duration `json:"ns"`
}

// grounds are what explains a saving.
type grounds struct {
	slow     Duration            // saved of the mean of the slow requests
	slowest  int                 // how many those are
	seen     Duration            // what was seen of it, of the mean
	portions []diagnosis.Portion // what MeanSaving is made of, the largest first
}

// Evidence is a measured quantity and the bound it was held against, if any.
type Evidence struct {
	What     string               `json:"what"`
	Value    Decimal              `json:"value"`
	Unit     string               `json:"unit"`
	Bound    *Decimal             `json:"bound"`
	Requests []timeline.RequestID `json:"requests,omitempty"`
}

// Refuted is a hypothesis that the numbers rule out.
type Refuted struct {
	ID       string     `json:"id"`
	Why      string     `json:"why"`        // the number that does it and its bound, a sentence
	Time     Decimal    `json:"time_share"` // at most this of the mean or of slow requests was seen of it
	Evidence []Evidence `json:"evidence"`
}

// Undecided is a hypothesis on which facts are missing.
type Undecided struct {
	ID       string     `json:"id"`
	Missing  string     `json:"missing"`
	Evidence []Evidence `json:"evidence,omitempty"`
	another  bool       // it takes another recording; nothing is missing in this one
}

// Seen is what the text says about a recording beyond its requests.
type Seen struct {
	Processes []string // "node (pid 4242)", those that served most requests first
	Silent    int      // processes that served none
	Protocols []string // of the inbound connections, with counts
	Missing   []string
	Calls     int
	Outbound  int // connections
	NoRequest int // calls that belong to no known request

	titles map[string]string // of hypotheses, by their ids
}
