package diagnosis

// Hypothesis is one named mechanism that can make requests slow.
type Hypothesis struct {
	ID       string
	Title    string   // the mechanism in a short sentence
	Doc      string   // what supports it and what refutes it
	Needs    []string // hooks (recording.Hook...) without which it is undecided
	Where    bool     // says where the time goes, not why: a lead, or held to stricter bounds
	Work     bool     // it is what requests compute: where that is alike in all of them, it may be what they are for
	Queue    bool     // a wait for a server's turn: it is a consequence of a cause that explains half of it
	Explains []string // ids of mechanisms whose waits may be consequences of this one
	Family   string   // of hypotheses that work out the same things first; "" none
	Test     func(*Case) Result
}

// Result is what a hypothesis measured. What it is worth is decided by Diagnose, with the
// same bounds for all.
type Result struct {
	// Lead is what was measured, a clause: "peers take 64 % of all request time". Where
	// nothing could be taken out of any request, it is the whole reason, with its own bound
	// or the chances there were.
	Lead       string
	Candidates []Candidate // places that could be findings
	Evidence   []Evidence  // measured whether or not anything was found; the most telling first
	Undecided  string      // why it cannot be decided; "" if it can
	Another    bool        // Undecided for want of another recording: nothing is missing in this one
	Hidden     []Span      // time that could belong to it but was not accounted for
	Hides      string      // what Hidden is, follows "of a slow request"; "" is of unknown cause
	After      string      // id of the hypothesis that its candidates follow from: its leads are told after that one's
}

// Candidate is a place where the mechanism was seen.
type Candidate struct {
	Place    string
	Title    string // one sentence in the user's terms
	Fix      string // in the words of the target's ecosystem
	Next     string // how to look further
	Spans    []Span // what would go away in each request
	Seen     []Span // the mechanism's own time, where more of it was seen than would go away
	May      []Span // what would go away too where the fix does better than Spans assumes: the saving may be so much higher
	Decide   string // what would decide whether it is the cause at all: it is a lead at most; "" it is
	Evidence []Evidence
	Lead     string   // stands for the Result's if this is the largest candidate; "" does not
	Proven   bool     // a rule of its own stands in for the stricter bounds of Where
	Others   bool     // it is what programs beside the service cost: said apart, after what the service does
	Peer     bool     // it is the time of another service: where it is alike in all requests, it comes after what this one does
	AtLeast  bool     // more would go away than Spans, which cannot be told apart from the rest
	WhatIf   []WhatIf // what a replay says of the server that requests wait for
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

// Evidence is a measured quantity and what it was held against.
type Evidence struct {
	What     string
	Value    int64
	Unit     Unit
	Bound    int64
	Bounded  bool        // Bound means something
	Requests []RequestID // it was measured on, at most evidenceRequests of them
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

// Rate is an Evidence of so many things in a span of time.
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

// On returns the evidence pointing at requests, the first few of them.
func (e Evidence) On(ids []RequestID) Evidence {
	e.Requests = ids[:min(len(ids), evidenceRequests)]
	return e
}

const evidenceRequests = 10

// Range is where a saving lies with 90 % confidence.
type Range struct{ Low, High Duration }

// Impact is what removing a cause would save at one endpoint.
type Impact struct {
	Endpoint                    string
	Mean, P50, P99              Duration // savings of the mean and of the quantiles
	MeanRange, Range50, Range99 Range
	Share                       Share     // of all the time of the endpoint's requests
	Requests                    int       // that lose time
	Total                       Duration  // summed over the requests
	Slow                        Duration  // saved of the mean of the slow requests
	Seen                        Duration  // what was seen of it, of the mean
	Portions                    []Portion // what Mean is made of, the largest first
	Unsure                      bool      // of a minor finding: it would be worth having, but is not told from what is not
}

// Finding is a mechanism that was seen at a place: a finding proper, a lead, or a minor one.
type Finding struct {
	ID       string
	Title    string
	Place    string
	Impact   Impact   // at the endpoint where it is largest; of a lead the most that it could save
	Also     []Impact // at the others where it is a finding too
	Evidence []Evidence
	Fix      string
	Next     string
	AtLeast  bool // Impact is a lower bound
	WhatIf   []WhatIf

	Why         string // of a lead, why it is no finding; of a minor one, what it is worth here: a sentence without its full stop
	When        []Time // of a lead that happened a few times only
	Decide      string // of a lead: what would decide it
	ExplainedBy string // of a minor one: id of the finding whose consequence its time is

	weight Duration // by which leads are ranked, in their ranks
	rank   leadRank
}

// leadRank is what of a lead decides whether it comes before larger ones.
type leadRank struct {
	beside    bool  // it is what others cost, or may cost
	chance    bool  // whom it hits of the requests is chance: waits for a processor
	peer, own bool  // see Candidate; it is the service's own
	needless  bool  // it is a wait in the service itself that says where the time goes, and no request is for
	all       Share // of the mean
	before    Share // how much of the mean programs beside the service cost at most if it comes before them; 0: that does not tell
	slow      Share // of what is surely its own, where slow requests take much longer than ordinary ones: of that
	apart     Share // of the service's own there: of that and of what is beside it
}

// Outcome is a hypothesis of which nothing was seen, or nothing could be said.
type Outcome struct {
	ID       string
	Why      string // ruled out: the number that does it, a sentence without its full stop
	Time     Share  // ruled out: at most this of the mean or of slow requests was seen of it
	Evidence []Evidence
	Missing  string // undecided: what was missing
	Another  bool   // undecided: nothing was missing in this recording, it takes another one
}
