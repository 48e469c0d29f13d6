package report

import (
	"math/bits"
	"slices"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// WebLatency is when every measured request came and how long it took.
type WebLatency struct {
	Count     int        `json:"count"`
	Endpoints []string   `json:"endpoints"`
	Columns   WebColumns `json:"columns"`
	Known     *WebKnown  `json:"known"` // nil if the page can ask for more
	Lines     WebLines   `json:"lines"`
	// EndpointLines has the lines of the first linedEndpoints of Endpoints.
	EndpointLines []WebLines `json:"endpoint_lines"`
	Cells         WebCells   `json:"cells"`
	Windows       []WebSpan  `json:"windows"` // in which all was recorded; one, unless recording rested
	Losses        []WebLoss  `json:"losses"`
	Least         Duration   `json:"least_ns"`
	Most          Duration   `json:"most_ns"`
}

// WebColumns holds the measured requests in order of start, with one number per request and column.
type WebColumns struct {
	ID         Column `json:"id"`         // difference to the previous one
	Start      Column `json:"start"`      // difference to the previous one, ns
	Duration   Column `json:"duration"`   // ns
	Endpoint   Column `json:"endpoint"`   // index of Endpoints
	Cause      Column `json:"cause"`      // index of the page's Causes: the cause that took most of it
	Generation Column `json:"generation"` // index of the report's processes
	Status     Column `json:"status"`
}

// WebLines are quantiles of the requests that began in each step of time; in a step without requests all are 0.
type WebLines struct {
	Step  Duration `json:"step_ns"`
	Count []int    `json:"count"`
	P50   []int64  `json:"p50_ns"`
	P99   []int64  `json:"p99_ns"`
	Max   []int64  `json:"max_ns"`
}

// WebCells is a grid over start and duration, for each endpoint. Cells without requests are left out, and there are
// Columns steps of time. A cell of row y holds durations from (4 + y%4) << (y/4) >> 2 ns on.
type WebCells struct {
	Step     Duration `json:"step_ns"`
	Columns  int      `json:"columns"`
	Count    int      `json:"count"`
	Endpoint Column   `json:"endpoint"`
	X        Column   `json:"x"`
	Y        Column   `json:"y"`
	Requests Column   `json:"requests"`
	Took     Column   `json:"took"` // ns of each cause, in the order of the page's Causes
}

// WebSpan is a span of time.
type WebSpan struct {
	From Duration `json:"from_ns"`
	To   Duration `json:"to_ns"`
}

// WebLoss is a span in which facts were lost.
type WebLoss struct {
	WebSpan
	Hook  string `json:"hook"`
	Count int64  `json:"count"`
}

const (
	webSteps = 240 // of time, in the grid
	perStep  = 20  // minimum average number of requests per step of the lines
	mostWide = 24  // maximum number of grid steps per step of the lines
	// linedEndpoints is how many endpoints, the most frequent first, have lines of their own.
	linedEndpoints = 32
)

// webRow returns the row of cells that contains a duration.
func webRow(d Duration) int64 {
	if d < 4 {
		return max(0, int64(d))
	}
	n := bits.Len64(uint64(d)) - 1
	return int64(n)*4 + int64(uint64(d)>>(n-2)&3)
}

type webCell struct {
	endpoint, x, y int64
}

// latency collects the content of WebLatency.
type latency struct {
	tl     *timeline.Timeline
	out    *WebLatency
	names  map[string]int64
	born   map[recording.ProcessID]int
	steps  [][webSteps][]Duration                        // of each endpoint
	cells  map[webCell]*[timeline.NumCauses + 2]Duration // the last entry is the count
	id     timeline.RequestID
	before timeline.Time
}

func newWebLatency(tl *timeline.Timeline, d *diagnosis.Diagnosis, known bool) *WebLatency {
	span := tl.End.Sub(tl.Start)
	l := &latency{tl: tl, names: map[string]int64{}, born: servedBy(d, tl), before: tl.Start,
		steps: make([][webSteps][]Duration, max(1, len(d.Symptoms))), cells: map[webCell]*[timeline.NumCauses + 2]Duration{},
		out: &WebLatency{Endpoints: []string{}, Windows: []WebSpan{}, Losses: []WebLoss{},
			Cells: WebCells{Step: max(1, (span+webSteps-1)/webSteps), Columns: webSteps}}}
	for i := range d.Symptoms {
		l.names[d.Symptoms[i].Endpoint] = int64(i)
		l.out.Endpoints = append(l.out.Endpoints, d.Symptoms[i].Endpoint)
	}
	k := newKnowing(tl)
	for r := range measured(d, tl) {
		l.add(r)
		if known {
			k.add(r)
		}
	}
	if known {
		l.out.Known = k.out
	}
	l.out.Lines = l.lines(l.steps)
	l.out.EndpointLines = []WebLines{}
	for i := range l.steps[:min(len(l.out.Endpoints), linedEndpoints)] {
		l.out.EndpointLines = append(l.out.EndpointLines, l.lines(l.steps[i:i+1]))
	}
	l.grid()
	for _, w := range tl.Windows {
		l.out.Windows = append(l.out.Windows, WebSpan{w.From.Sub(tl.Start), w.To.Sub(tl.Start)})
	}
	for _, x := range tl.Losses {
		l.out.Losses = append(l.out.Losses, WebLoss{WebSpan{x.From.Sub(tl.Start), x.To.Sub(tl.Start)}, x.Hook, x.Count})
	}
	return l.out
}

func (l *latency) add(r *timeline.Request) {
	o, c, took := l.out, &l.out.Columns, r.Duration()
	endpoint := l.names[r.Endpoint]
	c.ID.add(int64(r.ID - l.id))
	c.Start.add(int64(r.Start.Sub(l.before)))
	c.Duration.add(int64(took))
	c.Endpoint.add(endpoint)
	c.Cause.add(int64(mainCause(r)))
	c.Generation.add(int64(l.born[r.Process]))
	c.Status.add(r.Status)
	l.id, l.before = r.ID, max(l.before, r.Start)
	if o.Count == 0 || took < o.Least {
		o.Least = took
	}
	o.Most = max(o.Most, took)
	o.Count++
	x := min(max(0, int64(r.Start.Sub(l.tl.Start))/int64(o.Cells.Step)), webSteps-1)
	l.steps[endpoint][x] = append(l.steps[endpoint][x], took)
	at := webCell{endpoint, x, webRow(took)}
	cell := l.cells[at]
	if cell == nil {
		cell = new([timeline.NumCauses + 2]Duration)
		l.cells[at] = cell
	}
	for i, d := range causesOf(r) {
		cell[i] += d
	}
	cell[timeline.NumCauses+1]++
}

// lines returns the quantiles of the requests of several endpoints together.
func (l *latency) lines(of [][webSteps][]Duration) (line WebLines) {
	count := 0
	for i := range of {
		for _, ds := range of[i] {
			count += len(ds)
		}
	}
	wide := min(max(1, webSteps*perStep/max(1, count)), mostWide)
	line.Step = l.out.Cells.Step * Duration(wide)
	for from := 0; from < webSteps; from += wide {
		var ds []Duration
		for i := range of {
			ds = append(ds, slices.Concat(of[i][from:min(from+wide, webSteps)]...)...)
		}
		slices.Sort(ds)
		line.Count = append(line.Count, len(ds))
		var p50, p99, most Duration
		if n := len(ds); n > 0 {
			p50, p99, most = diagnosis.Quantile(ds, 50), diagnosis.Quantile(ds, 99), ds[n-1]
		}
		line.P50 = append(line.P50, int64(p50))
		line.P99 = append(line.P99, int64(p99))
		line.Max = append(line.Max, int64(most))
	}
	return line
}

func (l *latency) grid() {
	list := make([]webCell, 0, len(l.cells))
	for at := range l.cells {
		list = append(list, at)
	}
	slices.SortFunc(list, func(a, b webCell) int {
		return slices.Compare([]int64{a.endpoint, a.x, a.y}, []int64{b.endpoint, b.x, b.y})
	})
	c := &l.out.Cells
	for _, at := range list {
		cell := l.cells[at]
		c.Count++
		c.Endpoint.add(at.endpoint)
		c.X.add(at.x)
		c.Y.add(at.y)
		c.Requests.add(int64(cell[timeline.NumCauses+1]))
		for _, d := range cell[:timeline.NumCauses+1] {
			c.Took.add(int64(d))
		}
	}
}
