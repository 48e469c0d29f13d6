package report

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/waits"
)

// WebPage is the content of the page of one recording (see internal/web). It contains everything on the page: the
// page only adds up and lays out, and derives nothing itself. Times count from the start of the recording.
type WebPage struct {
	Version int    `json:"version"`
	Kind    string `json:"kind"` // "recording"
	Name    string `json:"name"` // of the recording's file
	Live    bool   `json:"live"` // served: the page can ask for more

	Wall   int64    `json:"wall_ns"`  // of the start, since the Unix epoch; 0 not known
	Start  int64    `json:"start_ns"` // of the recording's clock, as in start_ns of requests
	Span   Duration `json:"span_ns"`
	Report *Report  `json:"report"` // as in dwell why --json
	Seen   WebSeen  `json:"seen"`

	Latency  *WebLatency   `json:"latency"`
	Requests []*WebRequest `json:"requests"` // described in full: some of many
	Frames   []Frame       `json:"frames"`   // of their stacks
	Flames   []*Flames     `json:"flames"`
	Trees    []*Tree       `json:"trees"`
	Under    []*Under      `json:"under"` // the time beneath functions, each for one endpoint; none if the page can ask for more
	Dumps    []*Dump       `json:"dumps"`
	Lanes    []*WebLanes   `json:"lanes"` // of the whole recording, and around the slowest request of some endpoints
	Causes   []WebCause    `json:"causes"`
	Phases   []WebPhase    `json:"phases"`

	Rules map[string]string `json:"rules"` // what the rules for calls and waits are based on, by their codes
}

// WebSeen is what a report says about a recording besides its requests.
type WebSeen struct {
	Processes  []string `json:"processes"` // those that served most requests first
	Silent     int      `json:"silent"`    // processes that served no requests
	Protocols  []string `json:"protocols"`
	Missing    []string `json:"missing"` // what could not be seen, and why
	Calls      int      `json:"calls"`
	NoRequest  int      `json:"calls_without_request"`
	Footer     string   `json:"footer"` // dwell's own cost, and what was lost: the last lines of the text
	Outbound   int      `json:"outbound_connections"`
	Unrecorded string   `json:"unrecorded"` // why there are no requests; "" if there are
	Where      string   `json:"where"`      // where the time is, a sentence
	Verdict    string   `json:"verdict"`    // whether something is wrong, a sentence
	Mood       string   `json:"mood"`       // of the verdict: wrong, look or fine
	FirstLead  int      `json:"first_lead"` // index of the lead that the verdict names, or else 0

	Promises []WebPromise `json:"promises"` // promised latencies, in the order of the report's slos
}

// WebPromise says whether a promise was kept, in the words of the text.
type WebPromise struct {
	Text string `json:"text"`
	Mood string `json:"mood"` // wrong, look or fine
}

// WebOptions say what a page contains.
type WebOptions struct {
	Name   string
	Wall   int64  // of the recording's start, since the Unix epoch; 0 not known
	Live   bool   // individual requests and instants are requested later
	Source Source // of code; nil: none
	Slim   bool   // without individual requests, stacks and threads
}

// Approximate limits of a page's content, in bytes of JSON.
const (
	detailBytes = 3 << 20
	flameBytes  = 1 << 20
	dumpBytes   = 1 << 20
)

// NewWebPage makes the view model of the page.
func NewWebPage(r *Report, d *diagnosis.Diagnosis, tl *timeline.Timeline, o WebOptions) *WebPage {
	p := &WebPage{
		Version: Version, Kind: "recording", Name: o.Name, Live: o.Live,
		Wall: o.Wall, Start: int64(tl.Start), Span: tl.End.Sub(tl.Start), Report: r, Seen: webSeen(r),
		Causes: WebCauses(), Phases: WebPhases(), Rules: waits.RuleTexts(), Latency: newWebLatency(tl, d, !o.Live && !o.Slim),
		Requests: []*WebRequest{}, Frames: []Frame{}, Dumps: []*Dump{}, Flames: []*Flames{}, Trees: []*Tree{}, Under: []*Under{}, Lanes: []*WebLanes{},
	}
	if o.Slim {
		return p
	}
	w := NewWebDetail(tl, o.Source)
	for _, id := range worthTelling(r, tl) {
		if w.bytes > detailBytes {
			break
		}
		p.Requests = append(p.Requests, w.request(id))
	}
	p.Frames = w.frames
	if len(tl.Stacks) > 0 {
		p.Flames, p.Trees = webFlames(AllFlames(tl, r, "")), webTrees(Trees(tl, r, TreeOptions{}))
	}
	if !o.Live {
		p.Under = webUnder(&underer{index: w.index, tl: tl}, r, p.Flames)
	}
	p.Dumps, p.Lanes = webDumps(tl, r, o.Source), webLanes(tl, r)
	return p
}

func webSeen(r *Report) WebSeen {
	s := WebSeen{Processes: orNone(r.Seen.Processes), Silent: r.Seen.Silent, Protocols: orNone(r.Seen.Protocols),
		Missing: orNone(r.Seen.Missing), Calls: r.Seen.Calls, NoRequest: r.Seen.NoRequest, Outbound: r.Seen.Outbound,
		Promises: []WebPromise{}}
	moods := map[style]string{red: "wrong", yellow: "look", green: "fine"}
	for i := range r.SLOs {
		text, how := r.SLOs[i].kept(r)
		s.Promises = append(s.Promises, WebPromise{text, moods[how]})
	}
	s.Footer = cost(r, true)
	if r.Requests.Count == 0 {
		p := newPage(TextOptions{Width: 10_000})
		noRequests(p, r)
		s.Unrecorded = p.b.String()
		return s
	}
	var mood style
	s.Where, s.Verdict, mood = sentences(r, map[string]bool{})
	s.Mood, s.FirstLead = moods[mood], firstLead(r)
	return s
}

func orNone(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// webJSON writes a page's model as JSON that is safe in an HTML document.
func webJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(true)
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("write the page's data: %w", err)
	}
	return nil
}

// WebJSON writes the page's model, safe in an HTML document. If the page is not served, latency is compressed.
func (p *WebPage) WebJSON(w io.Writer) error {
	if p.Live {
		return webJSON(w, p)
	}
	latency, err := packed(p.Latency)
	if err != nil {
		return err
	}
	return webJSON(w, struct {
		*WebPage
		Latency []byte `json:"latency"`
	}{p, latency})
}
