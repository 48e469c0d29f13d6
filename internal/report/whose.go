package report

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/getdwell/dwell/internal/timeline"
)

// Whose is what is known about which request a call belongs to.
type Whose struct {
	Call      timeline.CallID  `json:"call"`
	Peer      string           `json:"peer"`
	Operation string           `json:"operation"`
	Sent      timeline.Time    `json:"sent_ns"` // on the recording's monotonic clock
	Request   *WhoseRequest    `json:"request"` // null: unattributed
	Rule      string           `json:"rule"`
	Because   string           `json:"because"` // the rule as a sentence
	Certainty string           `json:"certainty"`
	Others    []WhoseCandidate `json:"others"` // those that rules proposed come first
}

// WhoseRequest is a request to which a call may belong.
type WhoseRequest struct {
	ID       timeline.RequestID `json:"id"`
	Endpoint string             `json:"endpoint"`
	Start    timeline.Time      `json:"start_ns"`
	Duration Duration           `json:"duration_ns"`
}

// WhoseCandidate is a request to which a call was not attributed.
type WhoseCandidate struct {
	WhoseRequest
	Rules []string `json:"overruled_rules,omitempty"` // that proposed it
	Bar   string   `json:"bar,omitempty"`             // why the call cannot belong to it
}

// NewWhose returns which request a call belongs to; it fails if there is no such call.
func NewWhose(tl *timeline.Timeline, id int) (*Whose, error) {
	if id < 0 || id >= len(tl.Calls) {
		if len(tl.Calls) == 0 {
			return nil, fmt.Errorf("there is no call %d: no calls were recorded", id)
		}
		return nil, fmt.Errorf("there is no call %d: calls are numbered from 0 to %d, as dwell show prints them", id, len(tl.Calls)-1)
	}
	c := &tl.Calls[id]
	w := &Whose{
		Call: c.ID, Peer: c.Peer, Operation: c.Operation, Sent: c.SendFrom,
		Rule: c.Why, Because: timeline.RuleText(c.Why), Certainty: c.Certainty().String(), Others: []WhoseCandidate{},
	}
	of := func(r timeline.RequestID) WhoseRequest {
		q := &tl.Requests[r]
		return WhoseRequest{r, q.Endpoint, q.Start, q.Duration()}
	}
	if c.Request != timeline.None {
		r := of(c.Request)
		w.Request = &r
	}
	for _, o := range tl.Owners(c.ID) {
		w.Others = append(w.Others, WhoseCandidate{of(o.Request), o.Rules, o.Bar.String()})
	}
	return w, nil
}

// WhoseJSON writes the result as one line.
func WhoseJSON(w io.Writer, x *Whose) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(x); err != nil {
		return fmt.Errorf("write whose call %d is as JSON: %w", x.Call, err)
	}
	return nil
}

// mostOthers is how many requests without any supporting rule are listed.
const mostOthers = 12

// WhoseText writes the result for people: the answer, the rule, and the other candidates.
func WhoseText(w io.Writer, x *Whose, o TextOptions) error {
	p := newPage(o)
	name := x.Peer
	if x.Operation != "" {
		name = x.Operation + " at " + x.Peer
	}
	whose := "nobody's"
	if x.Request != nil {
		whose = "of " + x.Request.name()
	}
	p.wrap(bold, "", fmt.Sprintf("call %d, %s: %s", x.Call, name, whose), 2)
	p.wrap(plain, "  ", fmt.Sprintf("%s: %s (%s)", sureness(x.Certainty), x.Because, x.Rule), 2)
	for i, c := range x.Others {
		if len(c.Rules) == 0 && i >= mostOthers {
			p.line(dim, "  ... and %d more requests that were open", len(x.Others)-i)
			break
		}
		p.wrap(plain, "  ", "not of "+c.name()+": "+c.because(), 4)
	}
	if len(x.Others) == 0 {
		p.line(dim, "  no other request was open in that process")
	}
	return p.flush(w)
}

func (r *WhoseRequest) name() string {
	return fmt.Sprintf("request %d (%s, %s)", r.ID, r.Endpoint, human(r.Duration))
}

// because says why a call was not attributed to a candidate.
func (c *WhoseCandidate) because() string {
	text := map[string]string{
		"": "it was open too, and nothing speaks for it", "unread": "it had not been read when the call was sent",
		"answered": "it was over when the call was sent", "session": "the call's session was in a transaction of another request",
	}[c.Bar]
	if len(c.Rules) == 0 {
		return text
	}
	last := c.Rules[len(c.Rules)-1]
	said := fmt.Sprintf("%s (%s) proposed it, and was overruled", timeline.RuleText(last), last)
	if c.Bar == "" {
		return said
	}
	return said + "; " + text
}

// sureness explains a certainty.
func sureness(certainty string) string {
	switch certainty {
	case "told":
		return "a fact tells"
	case "ordered":
		return "the order tells"
	case "usual":
		return "inferred from what usually follows"
	}
	return "not known"
}
