package diagnosis

// Hypothesis is one named mechanism that can make requests slow.
type Hypothesis struct {
	ID       string
	Title    string   // the mechanism in a short sentence
	Doc      string   // what supports it and what refutes it
	Needs    []string // hooks (recording.Hook...) without which it is undecided
	Where    bool     // says where the time goes, not why: a lead, or held to stricter bounds
	Work     bool     // it is what requests compute: if it is alike in all of them, it may be their purpose
	Queue    bool     // a wait for a server's turn: it is a consequence of a cause that explains half of it
	Explains []string // ids of mechanisms whose waits may be consequences of this one
	Family   string   // shared by hypotheses that first compute the same things; "" none
	Test     func(*Case) Result
}

// Result is what a hypothesis measured. Diagnose decides what it is worth, with the same bounds for all.
type Result struct {
	// Lead is what was measured, a clause: "peers take 64 % of all request time". If nothing could be removed from any
	// request, it is the whole reason, with its own bound or with the number of chances there were.
	Lead       string
	Candidates []Candidate // places that could be findings
	Evidence   []Evidence  // measured whether or not anything was found; the most telling first
	Undecided  string      // why it cannot be decided; "" if it can
	Another    bool        // Undecided because it takes another recording: nothing is missing from this one
	Hidden     []Span      // time that could belong to it but was not accounted for
	Hides      string      // says what Hidden is, follows "of a slow request"; "" means unknown cause
	After      string      // id of the hypothesis that its candidates follow from: its leads come after those of that one
}

// Candidate is a place where the mechanism was seen.
type Candidate struct {
	Place    string
	Title    string // one sentence in the user's terms
	Fix      string // in the words of the target's ecosystem
	Next     string // how to investigate further
	Spans    []Span // what would go away in each request
	Seen     []Span // the mechanism's own time, if more of it was seen than would go away
	May      []Span // what would also go away if the fix does better than Spans assumes: this raises the upper bound of the saving
	Decide   string // what would decide whether it is the cause at all: until then it is a lead at most; "" if it is the cause
	Evidence []Evidence
	Lead     string   // replaces the Result's Lead if this is the largest candidate; "" does not
	Proven   bool     // a rule of its own replaces the stricter bounds of Where
	Others   bool     // it is what programs beside the service cost: reported separately, after what the service does
	Peer     bool     // it is the time of another service: if it is alike in all requests, it comes after what this service does
	AtLeast  bool     // more would go away than Spans, but it cannot be separated from the rest
	WhatIf   []WhatIf // what a replay says about the server that requests wait for
}

// Span is a piece of a request's time.
type Span struct {
	Request  RequestID
	From, To Time
}

// Unit of an Evidence.
type Unit int8

// Units.
const (
	UnitNS    Unit = iota // nanoseconds
	UnitShare             // millionths of a whole
	UnitCount
	UnitRate  // thousandths per second
	UnitRatio // thousandths
	UnitBytes
	UnitByteRate // thousandths of a byte per second
)

// String returns the name in the JSON contract, where shares, rates and ratios are decimal.
func (u Unit) String() string {
	return [...]string{"ns", "share", "count", "per_second", "ratio", "bytes", "bytes_per_second"}[u]
}

// Evidence is a measured quantity and the bound it was held against.
type Evidence struct {
	What     string
	Value    int64
	Unit     Unit
	Bound    int64
	Bounded  bool        // Bound is set
	Requests []RequestID // the requests it was measured on, at most evidenceRequests of them
}

// NS is an Evidence of a duration.
func NS(what string, d Duration) Evidence { return Evidence{What: what, Value: int64(d), Unit: UnitNS} }

// Count is an Evidence of a number of things.
func Count(what string, n int) Evidence {
	return Evidence{What: what, Value: int64(n), Unit: UnitCount}
}

// Part is an Evidence of a share.
func Part(what string, s Share) Evidence {
	return Evidence{What: what, Value: int64(s), Unit: UnitShare}
}

// Rate is an Evidence of a number of things per span of time.
func Rate(what string, n int, in Duration) Evidence {
	e := Evidence{What: what, Unit: UnitRate}
	if in >= milli {
		e.Value = int64(n) * 1_000_000 / int64(in/milli)
	}
	return e
}

// Against returns the evidence with its bound, in the evidence's unit.
func (e Evidence) Against(bound int64) Evidence {
	e.Bound, e.Bounded = bound, true
	return e
}

// On returns the evidence with references to the first few of some requests.
func (e Evidence) On(ids []RequestID) Evidence {
	e.Requests = ids[:min(len(ids), evidenceRequests)]
	return e
}

const evidenceRequests = 10

// Range contains a saving with 90 % confidence.
type Range struct{ Low, High Duration }

// Impact is what removing a cause would save at one endpoint.
type Impact struct {
	Endpoint                    string
	Mean, P50, P99              Duration // savings of the mean and of the quantiles
	MeanRange, Range50, Range99 Range
	Share                       Share     // share of all the time of the endpoint's requests
	Requests                    int       // number of requests that lose time
	Total                       Duration  // sum over the requests
	Slow                        Duration  // saving of the mean of the slow requests
	Seen                        Duration  // what was seen of it, per request on average
	Portions                    []Portion // what Mean consists of, the largest first
	Unsure                      bool      // for a minor finding: it may be worth having, but this is uncertain
}

// Finding is a mechanism that was seen at a place: a finding proper, a lead, or a minor one.
type Finding struct {
	ID       string
	Title    string
	Place    string
	Impact   Impact   // at the endpoint where it is largest; for a lead, the most that it could save
	Also     []Impact // at the other endpoints where it is a finding too
	Evidence []Evidence
	Fix      string
	Next     string
	AtLeast  bool // Impact is a lower bound
	WhatIf   []WhatIf

	Why         string // for a lead, why it is no finding; for a minor one, what it is worth here: a sentence without its full stop
	When        []Time // for a lead that happened only a few times
	Decide      string // for a lead: what would decide it
	ExplainedBy string // for a minor one: id of the finding whose consequence its time is

	weight Duration // leads with equal rank are sorted by it
	rank   leadRank
}

// leadRank determines whether a lead comes before larger ones.
type leadRank struct {
	beside    bool  // it is what other programs cost, or may cost
	chance    bool  // chance decides which requests it hits: waits for a processor
	peer, own bool  // peer: see Candidate; own: it is the service's own
	needless  bool  // it is a wait in the service itself that says where the time goes, and that no request needs
	all       Share // its share of the mean
	before    Share // it comes before other programs' cost that is at most this share of the mean; 0: it does not on this ground
	slow      Share // its certain share of the excess, if slow requests take much longer than ordinary ones
	apart     Share // the service's own share of the excess, as against what is beside it
}

// Outcome is a hypothesis of which nothing was seen, or that could not be decided.
type Outcome struct {
	ID       string
	Why      string // ruled out: the number that does it, a sentence without its full stop
	Time     Share  // ruled out: at most this share of the mean or of slow requests was seen of it
	Evidence []Evidence
	Missing  string // undecided: what was missing
	Another  bool   // undecided: nothing was missing from this recording, it takes another one
}
