package report

import (
	"encoding/binary"
	"maps"
	"slices"

	"github.com/getdwell/dwell/internal/timeline"
)

// WebKnown is what is known about each measured request besides WebColumns, in the same order. With both, a page
// evaluates the expressions that Where takes, with the same result.
type WebKnown struct {
	Threads WebTexts `json:"threads"` // that served them
	Clients WebTexts `json:"clients"`

	// Calls are the kinds of calls. CallSets are the distinct sets of kinds that requests have: per set the number,
	// and indexes.
	Calls    []WebCalled `json:"calls"`
	CallSets Column      `json:"call_sets"`
	CallSet  Column      `json:"call_set"` // index of the request's set
	Made     Column      `json:"made"`     // twice the number of calls, plus one if some call opened a connection

	// Spent are pairs of a phase and a cause. Sets are the distinct sets of pairs: per set the number, and indexes.
	Spent []WebSpent `json:"spent"`
	Sets  Column     `json:"sets"`
	Set   Column     `json:"set"`  // index of the request's set
	Took  Column     `json:"took"` // ns of each pair of its set except the first, which took the rest of the request
}

// WebCalled is the part of a call that is compared.
type WebCalled struct {
	Peer      string `json:"peer"`
	Operation string `json:"operation"`
}

// WebSpent is the time of one phase that has one cause: indexes of the page's Phases and Causes.
type WebSpent struct {
	Phase int `json:"phase"` // the number of Phases stands for unaccounted time, which has none
	Cause int `json:"cause"`
}

// WebTexts are texts, one for each request, stored without the number at their end, as names of connections and
// goroutines have it.
type WebTexts struct {
	Count   int      `json:"count"`
	Prefix  []string `json:"prefix"`
	Text    Column   `json:"text"`    // of each text: index of its Prefix
	Number  Column   `json:"number"`  // and its number: 0 none, else the number plus one
	Request Column   `json:"request"` // of each request: 0 none, 1 the next new text, else the text's index plus two

	texts, prefixes dictionary[string]
}

// dictionary numbers distinct keys in order of appearance.
type dictionary[K comparable] map[K]int64

// of returns the number of a key, and whether it is new.
func (d dictionary[K]) of(key K) (int64, bool) {
	n, ok := d[key]
	if !ok {
		n = int64(len(d))
		d[key] = n
	}
	return n, !ok
}

func newWebTexts() WebTexts {
	return WebTexts{Prefix: []string{}, texts: dictionary[string]{}, prefixes: dictionary[string]{}}
}

func (t *WebTexts) add(text string) {
	n, first := t.texts.of(text)
	if !first {
		t.Request.add(n + 2)
		return
	}
	t.Request.add(1)
	t.Count++
	prefix, number := numbered(text)
	at, first := t.prefixes.of(prefix)
	if first {
		t.Prefix = append(t.Prefix, prefix)
	}
	t.Text.add(at)
	t.Number.add(number)
}

// numbered splits off the number at the end of a text, without leading zeros; 0 none, else the number plus one.
func numbered(text string) (string, int64) {
	at := len(text)
	for at > 0 && len(text)-at < 15 && text[at-1] >= '0' && text[at-1] <= '9' {
		at--
	}
	for at < len(text)-1 && text[at] == '0' {
		at++
	}
	if at == len(text) {
		return text, 0
	}
	n := int64(0)
	for _, digit := range text[at:] {
		n = n*10 + int64(digit-'0')
	}
	return text[:at], n + 1
}

// knowing collects the content of WebKnown.
type knowing struct {
	tl    *timeline.Timeline
	out   *WebKnown
	calls dictionary[WebCalled]
	spent dictionary[WebSpent]
	sets  [2]dictionary[string] // of calls, and of pairs in Spent: encoded as in a column
}

func newKnowing(tl *timeline.Timeline) *knowing {
	return &knowing{tl: tl, out: &WebKnown{Threads: newWebTexts(), Clients: newWebTexts(), Calls: []WebCalled{}, Spent: []WebSpent{}},
		calls: dictionary[WebCalled]{}, spent: dictionary[WebSpent]{}, sets: [2]dictionary[string]{{}, {}}}
}

func (k *knowing) add(r *timeline.Request) {
	if r.Strand == timeline.None {
		k.out.Threads.Request.add(0)
	} else {
		k.out.Threads.add(strandName(k.tl, r.Strand))
	}
	k.out.Clients.add(r.Peer)
	k.addCalls(r)
	k.addSpent(r)
}

func (k *knowing) addCalls(r *timeline.Request) {
	made, opened := int64(len(r.Calls)), int64(0)
	set := make([]int64, 0, len(r.Calls))
	for _, id := range r.Calls {
		c := &k.tl.Calls[id]
		if c.New {
			opened = 1
		}
		kind := WebCalled{c.Peer, c.Operation}
		n, first := k.calls.of(kind)
		if first {
			k.out.Calls = append(k.out.Calls, kind)
		}
		set = append(set, n)
	}
	slices.Sort(set)
	k.out.CallSet.add(k.setOf(0, &k.out.CallSets, slices.Compact(set)))
	k.out.Made.add(2*made + opened)
}

func (k *knowing) addSpent(r *timeline.Request) {
	sums := map[int64]Duration{}
	add := func(phase timeline.Phase, cause timeline.Cause, d Duration) {
		if d > 0 {
			kind := WebSpent{int(phase), int(cause)}
			n, first := k.spent.of(kind)
			if first {
				k.out.Spent = append(k.out.Spent, kind)
			}
			sums[n] += d
		}
	}
	for s := r.Segments(); s.Next(); {
		add(s.Phase, s.Cause, s.To.Sub(s.From))
	}
	add(timeline.NumPhases, timeline.NumCauses, r.Unaccounted())
	set := slices.Sorted(maps.Keys(sums))
	for i := range set { // the longest comes first, because it would take most bytes
		if sums[set[i]] > sums[set[0]] {
			set[0], set[i] = set[i], set[0]
		}
	}
	if len(set) > 1 {
		slices.Sort(set[1:])
		for _, n := range set[1:] {
			k.out.Took.add(int64(sums[n]))
		}
	}
	k.out.Set.add(k.setOf(1, &k.out.Sets, set))
}

// setOf numbers a set, and writes it if it is new.
func (k *knowing) setOf(of int, into *Column, set []int64) int64 {
	written := binary.AppendUvarint(nil, uint64(len(set)))
	for _, n := range set {
		written = binary.AppendUvarint(written, uint64(n))
	}
	n, first := k.sets[of].of(string(written))
	if first {
		*into = append(*into, written...)
	}
	return n
}
