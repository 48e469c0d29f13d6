package diagnosis

import "slices"

// The certainty of a saving: a cause is removed from the very requests in which it was seen, so the question is how
// much that effect varies. Blocks of requests (blocksOf) are drawn with replacement, as many as there are; before and
// after are computed on the same draw. The interval is the middle 90 % of the differences of all draws.
const (
	resamples = 200
	outside   = resamples * 5 / 100 // on either side of the interval
)

// Statistics by which a saving is judged.
const (
	statMean = 0
	stat50   = 50
	stat99   = 99
)

// drawsOf returns how often each of n blocks is in each resample. The sequence is fixed: the numbers of splitmix64 from
// 0 on, each scaled to 0..n-1.
func drawsOf(n int) [][]int {
	out := make([][]int, resamples)
	var state uint64
	for i := range out {
		out[i] = make([]int, n)
		for range n {
			state += 0x9e3779b97f4a7c15
			z := state
			z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
			z = (z ^ z>>27) * 0x94d049bb133111eb
			z ^= z >> 31
			out[i][z>>32*uint64(n)>>32]++
		}
	}
	return out
}

// draws returns the resamples of a symptom.
func (l *ledger) draws(symptom int) [][]int {
	if l.samples[symptom] == nil {
		l.samples[symptom] = drawsOf(len(l.symptoms[symptom].runs))
	}
	return l.samples[symptom]
}

// before returns, for each resample, a quantile of what is left of a symptom's requests.
func (l *ledger) before(symptom, percent int) []Duration {
	list := &l.befores[symptom][percent/stat99]
	if *list == nil {
		var runs sortedRuns
		for _, o := range l.order(symptom) {
			runs = append(runs, o.left)
		}
		*list = runs.drawn(l.draws(symptom), percent)
	}
	return *list
}

// interval returns the range of the saving of a statistic; it includes the saving itself.
func (l *ledger) interval(symptom int, m *removal, stat int, saving Duration) Range {
	if m.requests == 0 {
		return Range{}
	}
	if stat == statMean {
		return middle(l.means(symptom, m.by), saving)
	}
	diffs := m.after.drawn(l.draws(symptom), stat)
	for i, before := range l.before(symptom, stat) {
		diffs[i] = before - diffs[i]
	}
	return middle(diffs, saving)
}

// means returns, for each resample, the mean per request of something that is summed by run.
func (l *ledger) means(symptom int, by []Duration) []Duration {
	runs := l.symptoms[symptom].runs
	out := make([]Duration, 0, resamples)
	for _, times := range l.draws(symptom) {
		var sum Duration
		n := 0
		for k, often := range times {
			sum += by[k] * Duration(often)
			n += len(runs[k]) * often
		}
		out = append(out, sum/Duration(max(1, n)))
	}
	return out
}

// middle returns the range of the middle 90 % of the resamples, extended to include the saving itself.
func middle(diffs []Duration, saving Duration) Range {
	slices.Sort(diffs)
	return Range{min(diffs[outside], saving), max(diffs[resamples-1-outside], saving)}
}

// drawnAnew returns the interval of the mean that is shown. Once the cause is gone, requests come to the processors at
// other times than they did. So their waits for processors, other than what is removed, are drawn separately: before
// and after come from two resamples. The argument besides contains those waits, by run.
func (l *ledger) drawnAnew(symptom int, m *removal, besides []Duration, saving Duration) Range {
	diffs, waits := l.means(symptom, m.by), l.means(symptom, besides)
	for i := range diffs {
		diffs[i] += waits[i] - waits[(i+1)%resamples]
	}
	return middle(diffs, saving)
}
