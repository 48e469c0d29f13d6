// Package corpus holds recordings of made-up services together with the truth, which
// the peers of those services logged: whose each call was. Its test says of each
// recording, and of each rule that decided, how many calls were given to the right
// request, to a wrong one, and to nobody. A rule for whose a call is earns its place here.
package corpus

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"text/tabwriter"

	"github.com/klauspost/compress/zstd"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/truth"
	"github.com/getdwell/dwell/recording"
)

// Where a recording and its truth are, below a folder.
const (
	RecordingSuffix = ".dwell.zst"
	TruthSuffix     = ".truth.zst"
)

// Pack compresses as well as can be: the corpus is committed.
func Pack(data []byte) ([]byte, error) {
	w, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression))
	if err != nil {
		return nil, err
	}
	return w.EncodeAll(data, nil), w.Close()
}

// Unpack undoes Pack.
func Unpack(data []byte) ([]byte, error) {
	r, err := zstd.NewReader(nil)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return r.DecodeAll(data, nil)
}

// PackTruth writes what the programs logged, as Load reads it.
func PackTruth(t truth.Truth) ([]byte, error) {
	data, err := json.Marshal(t)
	if err != nil {
		return nil, fmt.Errorf("packing a truth: %w", err)
	}
	return Pack(data)
}

// Load reads a recording and its truth.
func Load(packed, packedTruth []byte) (*recording.Recording, truth.Truth, error) {
	var logged truth.Truth
	data, err := Unpack(packed)
	if err != nil {
		return nil, logged, fmt.Errorf("unpacking a recording: %w", err)
	}
	rec, err := recording.Load(bytes.NewReader(data))
	if err != nil {
		return nil, logged, err
	}
	data, err = Unpack(packedTruth)
	if err == nil {
		err = json.Unmarshal(data, &logged)
	}
	if err != nil {
		return nil, logged, fmt.Errorf("reading a truth: %w", err)
	}
	return rec, logged, nil
}

// Count is how many calls were given to the request that they are of (or to none, being of
// none), to another one, and to none, and how many were not seen at all.
type Count struct{ Right, Wrong, Nobody, Unseen int }

// All calls that the truth knows.
func (c Count) All() int { return c.Right + c.Wrong + c.Nobody + c.Unseen }

func (c *Count) add(d Count) {
	c.Right += d.Right
	c.Wrong += d.Wrong
	c.Nobody += d.Nobody
	c.Unseen += d.Unseen
}

// Judgement is what is said of one recording: in all, and by the rule that decided.
type Judgement struct {
	Name string
	Sum  Count
	By   map[string]Count // by Call.Why
}

// Judge holds a timeline against the truth.
func Judge(name string, tl *timeline.Timeline, logged truth.Truth) Judgement {
	j := Judgement{Name: name, By: map[string]Count{}}
	for _, one := range truth.Attribute(tl, logged) {
		var c Count
		why := ""
		switch {
		case one.Call == nil:
			c.Unseen++
		case one.Call.Request == timeline.None && !one.Right:
			c.Nobody++
			why = one.Call.Why
		case one.Right:
			c.Right++
			why = one.Call.Why
		default:
			c.Wrong++
			why = one.Call.Why
		}
		j.Sum.add(c)
		if why != "" {
			of := j.By[why]
			of.add(c)
			j.By[why] = of
		}
	}
	return j
}

// WriteTable writes what is said of all recordings, as the committed table has it.
func WriteTable(w io.Writer, all []Judgement) error {
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	row := func(name string, c Count) {
		fmt.Fprintf(tab, "%d\t%d\t%d\t%d\t  %s\t\n", c.Right, c.Wrong, c.Nobody, c.Unseen, name)
	}
	fmt.Fprintln(tab, "right\twrong\tnobody\tunseen\t\t")
	var sum Count
	by := map[string]Count{}
	for _, j := range all {
		row(j.Name, j.Sum)
		sum.add(j.Sum)
		for _, why := range rules(j.By) {
			row("  "+why, j.By[why])
			of := by[why]
			of.add(j.By[why])
			by[why] = of
		}
	}
	row("ALL", sum)
	for _, why := range rules(by) {
		row("  "+why, by[why])
	}
	return tab.Flush()
}

// rules are the rules that decided, those that decided most first.
func rules(by map[string]Count) []string {
	return slices.SortedFunc(maps.Keys(by), func(a, b string) int {
		return cmp.Or(cmp.Compare(by[b].All(), by[a].All()), cmp.Compare(a, b))
	})
}
