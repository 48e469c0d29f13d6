// Package report turns a Diagnosis into what is shown: the view model, which is the JSON that scripts depend on, and
// text. It decides nothing.
package report

import (
	"fmt"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// Duration is recording.Duration, in nanoseconds.
type Duration = recording.Duration

// Version of the JSON contract, see docs/contract.md.
const Version = 2

// Report is the answer to "why is it slow". Its JSON form is the contract of `dwell why --json`; fields without a
// JSON name are only for the text.
type Report struct {
	Version   int         `json:"version"`
	Recording Recording   `json:"recording"`
	Requests  Requests    `json:"requests"`
	Endpoints []Endpoint  `json:"endpoints"`
	Processes []Process   `json:"processes"` // those that served requests, in the order in which they first did
	Calls     []CallGroup `json:"calls"`
	Findings  []Finding   `json:"findings"`
	Leads     []Finding   `json:"leads"`
	Minor     []Finding   `json:"minor"`
	Refuted   []Refuted   `json:"refuted"`
	Undecided []Undecided `json:"undecided"`
	SLOs      []SLO       `json:"slos,omitempty"`
	Flames    []*Flames   `json:"flames,omitempty"` // only if requested
	Dominant  []Dominant  `json:"dominant"`
	Seen      Seen        `json:"-"`
}

// Dominant is a mechanism that takes half of the time of an endpoint's requests, or half of the additional time of
// its slow ones, whatever its verdict is.
type Dominant struct {
	ID        string  `json:"id"`
	Place     string  `json:"place"`
	Endpoint  string  `json:"endpoint"`
	MeanShare Decimal `json:"mean_share"`
	SlowShare Decimal `json:"slow_share"` // of the additional time of slow requests compared with ordinary ones
	Steady    bool    `json:"steady"`     // takes its time in slow and ordinary requests alike: it may be what the requests are for

	others bool     // its time is the cost of other programs on the host
	chance bool     // chance decides which requests it hits
	With   []string `json:"with,omitempty"` // consequences whose time is included in its shares
}

// Recording says what was recorded and at what cost.
type Recording struct {
	Wall             int64   `json:"start_wall_ns,omitempty"` // of its start, since the Unix epoch; 0 not known
	Seconds          Decimal `json:"seconds"`
	Events           int     `json:"events"`
	Lost             int64   `json:"lost"`
	OverheadCPUShare Decimal `json:"overhead_cpu_share"`                          // of one core, including programs in the kernel
	OverheadLater    Decimal `json:"overhead_cpu_share_in_second_half,omitempty"` // in the second half of the recording; 0 not known
	Stolen           Decimal `json:"stolen_share,omitempty"`                      // of the processors' time, given to other guests by a hypervisor
	Truncated        bool    `json:"truncated,omitempty"`
	Of               string  `json:"of,omitempty"` // the container, pod or unit that was requested

	Windows *Windows `json:"windows,omitempty"` // nil if all of it was recorded and is analysed
	Excerpt *Excerpt `json:"excerpt,omitempty"` // nil if everything recorded is analysed

	WaitStacks *WaitStacks `json:"wait_stacks,omitempty"` // nil without stacks or waits
}

// Windows is the part of the time that was recorded, because recording all of it would have cost a saturated service
// too much.
type Windows struct {
	Count   int     `json:"count"`
	Seconds Decimal `json:"seconds"` // of all windows together
}

// Excerpt is the part analysed of a recording that is too long to be kept in memory.
type Excerpt struct {
	Windows    int     `json:"windows"`
	Seconds    Decimal `json:"seconds"`     // recorded time in them
	Requests   int64   `json:"requests"`    // that arrived in them
	OfRequests int64   `json:"of_requests"` // that arrived in the whole recording
}

// NewExcerpt returns nil if the whole recording is analysed.
func NewExcerpt(tl *timeline.Timeline, e *recording.Excerpt) *Excerpt {
	if e == nil {
		return nil
	}
	return &Excerpt{len(e.Windows), Decimal(int64(tl.InWindows(tl.Start, tl.End)) / 1000), e.Requests, e.Of}
}

// Text returns it as a sentence.
func (e *Excerpt) Text() string {
	return fmt.Sprintf("Analysed were %s s of it, in %s: %s of the %s requests that came (--windows=off analyses all, whatever memory that takes).",
		seconds(e.Seconds), plural(e.Windows, "window"), thousands(e.Requests), thousands(e.OfRequests))
}

// WaitStacks are shares of the time in requests' waits of a millisecond or more.
type WaitStacks struct {
	Own      Decimal `json:"own"`      // a stack was taken in that very wait
	Borrowed Decimal `json:"borrowed"` // all stacks taken at the same place agree
}

// LeftOut counts requests that are not measured.
type LeftOut struct {
	Cut       int `json:"cut"`
	Early     int `json:"early,omitempty"`     // the part of the cut ones that came while the ids of their runtime were searched for
	Unwatched int `json:"unwatched,omitempty"` // the part of the cut ones during which waits of goroutines were not watched
	Excluded  int `json:"excluded,omitempty"`

	UnwatchedP50 Duration `json:"unwatched_p50_ns,omitempty"`
}

// Requests sums up all measured requests; Cut and Excluded ones are counted separately.
type Requests struct {
	Traffic
	LeftOut
	AssociatedShare  Decimal  `json:"associated_share"` // of the calls
	InferredShare    Decimal  `json:"inferred_share"`   // of the calls: those associated by a rule, not by a fact that names the request
	Mean             Duration `json:"mean_ns"`
	P50              Duration `json:"p50_ns"`
	P90              Duration `json:"p90_ns"`
	P99              Duration `json:"p99_ns"`
	Max              Duration `json:"max_ns"`
	UnaccountedShare Decimal  `json:"unaccounted_share"` // of the requests' summed time
	UnknownShare     Decimal  `json:"unknown_share"`     // in segments whose cause is not known

	// Unconnected are addresses to which connections failed, nil if none did.
	Unconnected []Unconnected `json:"not_connected,omitempty"`

	singles []single // each request, if there are too few to decide anything
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

	// Example requests: one near p50, and the slowest.
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

// Traffic is how many requests were measured, how often requests came, and how they were answered.
type Traffic struct {
	Count     int        `json:"count"`
	PerSecond Decimal    `json:"per_second"`               // that came, measured or cut, on average over the recorded time
	Failed    []Answered `json:"failed,omitempty"`         // answers with a status of 500 or more, the most frequent first
	Unknown   int        `json:"status_unknown,omitempty"` // measured requests whose answer's status is not known
}

// Answered counts the requests that were answered with one status.
type Answered struct {
	Status int64 `json:"status"`
	Count  int   `json:"count"`
}

// CauseRow is the share of one phase and cause in the requests near p50 and near p99.
type CauseRow struct {
	Phase    string  `json:"phase"`
	Cause    string  `json:"cause"`
	P50Share Decimal `json:"p50_share"`
	P99Share Decimal `json:"p99_share"`
}

// Pair is a share of the requests near p50 and a share of those near p99.
type Pair struct {
	P50Share Decimal `json:"p50_share"`
	P99Share Decimal `json:"p99_share"`
}

// CallGroup is all calls to one peer with one operation.
type CallGroup struct {
	Peer               string  `json:"peer"`
	Operation          string  `json:"operation"`
	Count              int     `json:"count"`
	Cut                int     `json:"-"` // of measured requests, without a complete answer when they ended: they count in TimeShare only
	AssociatedShare    Decimal `json:"associated_share"`
	NewConnectionShare Decimal `json:"new_connection_share"`
	// NewConnections says why they were opened; nil if recording rested: then closed connections are not known.
	NewConnections *NewConnections `json:"new_connections,omitempty"`
	P50            Duration        `json:"p50_ns"`
	P99            Duration        `json:"p99_ns"`
	Max            Duration        `json:"max_ns"`
	TimeShare      Decimal         `json:"time_share"` // of the requests' summed time, the part in which one of these calls is under way
	Phases         Phases          `json:"phases"`
}

// Phases are mean durations. They sum to the mean duration of the calls, except for less than a nanosecond each.
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
	Why         string     `json:"why,omitempty"`          // of a lead: why it is not a finding; of a minor one: what it is worth; for people
	Decide      string     `json:"decide,omitempty"`       // of a lead: what would decide it
	ExplainedBy string     `json:"explained_by,omitempty"` // of a minor one: the finding whose consequence its time is

	mean, p50, p99 Duration // of the endpoint, before the fix
}

// Impact is what removing a finding's cause would save, with the bounds of a 90 % confidence interval.
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
	Unsure     bool     `json:"unsure,omitempty"`  // of a minor one: it would be worth having, but chance cannot be excluded
	MeanOf     []Saved  `json:"mean_of,omitempty"` // the parts of mean_saving_ns, the largest first

	told grounds
}

// Saved is the part of a saving of the mean that is one kind of time.
type Saved struct {
	Phase string   `json:"phase,omitempty"` // in which a request waits to be served: queue, unread-request, pick-up; otherwise see Cause
	Cause string   `json:"cause,omitempty"`
	Took  Duration `json:"ns"`
}

// grounds are the quantities that explain a saving.
type grounds struct {
	slow     Duration            // saving of the mean of the slow requests
	slowest  int                 // number of slow requests
	seen     Duration            // time of it that was seen, of the mean
	portions []diagnosis.Portion // the parts of MeanSaving, the largest first
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
	Why      string     `json:"why"`        // the deciding number and its bound, as a sentence
	Time     Decimal    `json:"time_share"` // the largest share of the mean, or of slow requests, that was seen of it
	Evidence []Evidence `json:"evidence"`
}

// Undecided is a hypothesis for which facts are missing.
type Undecided struct {
	ID       string     `json:"id"`
	Missing  string     `json:"missing"`
	Evidence []Evidence `json:"evidence,omitempty"`
	another  bool       // it needs another recording; nothing is missing in this one
}

// Seen is what the text says about a recording besides its requests.
type Seen struct {
	Processes []string // "node (pid 4242)", those that served most requests first
	Silent    int      // processes that served no requests
	Protocols []string // of the inbound connections, with counts
	Missing   []string
	Calls     int
	Outbound  int // connections
	NoRequest int // calls that belong to no known request

	titles map[string]string // of hypotheses, by their ids
	goAway bool              // waits of goroutines were not watched all the time
}
