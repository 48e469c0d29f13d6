// Package report turns a Diagnosis into what is shown: the view model, which is the
// JSON that scripts depend on, and text. It decides nothing.
package report

import (
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// Duration is that of a recording, in nanoseconds.
type Duration = recording.Duration

// Version of the JSON contract, see docs/contract.md.
const Version = 1

// Report is the answer to "why is it slow". Its JSON form is the contract of
// `dwell why --json`; fields without a JSON name are for the text only.
type Report struct {
	Version   int         `json:"version"`
	Recording Recording   `json:"recording"`
	Requests  Requests    `json:"requests"`
	Endpoints []Endpoint  `json:"endpoints"`
	Calls     []CallGroup `json:"calls"`
	Findings  []Finding   `json:"findings"`
	Refuted   []Refuted   `json:"refuted"`
	Undecided []Undecided `json:"undecided"`
	Flames    []*Flames   `json:"flames,omitempty"` // only where asked for
	Seen      Seen        `json:"-"`
}

// Recording says what was recorded and at what cost.
type Recording struct {
	Seconds          Decimal `json:"seconds"`
	Events           int     `json:"events"`
	Lost             int64   `json:"lost"`
	OverheadCPUShare Decimal `json:"overhead_cpu_share"` // of one core, programs in the kernel included
	Truncated        bool    `json:"truncated,omitempty"`

	Windows *Windows `json:"windows,omitempty"` // nil where all of it was recorded

	WaitStacks *WaitStacks `json:"wait_stacks,omitempty"` // nil without stacks or waits
}

// Windows are what was recorded of the time, where recording all of it would have cost a
// saturated service too much.
type Windows struct {
	Count   int     `json:"count"`
	Seconds Decimal `json:"seconds"` // of all together
}

// WaitStacks are shares of the time in requests' waits of a millisecond or more.
type WaitStacks struct {
	Own      Decimal `json:"own"`      // a stack was taken in that very wait
	Borrowed Decimal `json:"borrowed"` // all stacks taken at the same place agree
}

// Requests sums up all measured requests; Cut and Excluded ones are counted apart.
type Requests struct {
	Count            int      `json:"count"`
	Cut              int      `json:"cut"`
	Excluded         int      `json:"excluded,omitempty"`
	AssociatedShare  Decimal  `json:"associated_share"` // of the calls
	P50              Duration `json:"p50_ns"`
	P90              Duration `json:"p90_ns"`
	P99              Duration `json:"p99_ns"`
	UnaccountedShare Decimal  `json:"unaccounted_share"` // of the requests' summed time
}

// Endpoint is one route and where its time goes.
type Endpoint struct {
	Name        string     `json:"name"`
	Count       int        `json:"count"`
	P50         Duration   `json:"p50_ns"`
	P90         Duration   `json:"p90_ns"`
	P99         Duration   `json:"p99_ns"`
	Causes      []CauseRow `json:"causes"`
	Unaccounted Pair       `json:"unaccounted"` // what the causes leave of 1

	ordinary, slow Duration // mean durations of the two sets
	total          Duration // summed over all its requests

	ordinaryIDs, slowIDs, allIDs []timeline.RequestID // the two sets, and all that are measured
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
	Peer               string   `json:"peer"`
	Operation          string   `json:"operation"`
	Count              int      `json:"count"`
	AssociatedShare    Decimal  `json:"associated_share"`
	NewConnectionShare Decimal  `json:"new_connection_share"`
	P50                Duration `json:"p50_ns"`
	P99                Duration `json:"p99_ns"`
	Phases             Phases   `json:"phases"`
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

// Finding is a supported hypothesis at a place.
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

	p50, p99 Duration // of the endpoint, before
}

// Impact is what removing a finding's cause would save.
type Impact struct {
	P50Saving Duration `json:"p50_saving_ns"`
	P99Saving Duration `json:"p99_saving_ns"`
	Share     Decimal  `json:"share"` // of the endpoint's summed time
	AtLeast   bool     `json:"lower_bound,omitempty"`
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
	ID          string     `json:"id"`
	Why         string     `json:"why"` // the number that refutes it and its bound, a sentence
	Evidence    []Evidence `json:"evidence"`
	ExplainedBy string     `json:"explained_by,omitempty"` // the finding whose consequence its time is
}

// Undecided is a hypothesis that could be neither supported nor refuted.
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
}
