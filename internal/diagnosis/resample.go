package diagnosis

import "slices"

// How sure a saving is: a cause is taken out of the very requests it was seen in, so the
// question is how much that effect varies. Blocks of requests (blocksOf) are drawn with
// replacement, as many as there are; before and after are computed on the same draw. Of
// the differences of all draws the middle 90 % are the interval.
const (
	resamples = 200
	outside   = resamples * 5 / 100 // on either side of the interval
)

// statistics by which a saving is judged.
const (
	statMean = 0
	stat50   = 50
	stat99   = 99
)

// drawsOf returns how often each of n blocks is in each resample. The sequence is fixed: the
// numbers of splitmix64 from 0 on, each scaled to 0..n-1.
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

// draws returns those of a symptom.
func (l *ledger) draws(symptom int) [][]int {
	if l.samples[symptom] == nil {
		l.samples[symptom] = drawsOf(len(l.symptoms[symptom].runs))
	}
	return l.samples[symptom]
}

// before returns a quantile of what is left of a symptom's requests, in each resample.
func (l *ledger) before(symptom, percent int) []Duration {
	list := &l.befores[symptom][percent/stat99]
	if *list == nil {
		var runs sortedRuns
		for _, o := range l.order(symptom) {
			runs = append(runs, o.left)
		}
		for _, times := range l.draws(symptom) {
			*list = append(*list, runs.drawn(times, percent))
		}
	}
	return *list
}

// interval returns where the saving of a statistic lies; it holds the saving itself.
func (l *ledger) interval(symptom int, m *removal, stat int, saving Duration) Range {
	if m.requests == 0 {
		return Range{}
	}
	diffs := make([]Duration, 0, resamples)
	for i, times := range l.draws(symptom) {
		if stat != statMean {
			diffs = append(diffs, l.before(symptom, stat)[i]-m.after.drawn(times, stat))
			continue
		}
		var sum Duration
		n := 0
		for k, often := range times {
			sum += m.by[k] * Duration(often)
			n += m.sizes[k] * often
		}
		diffs = append(diffs, sum/Duration(max(1, n)))
	}
	slices.Sort(diffs)
	return Range{min(diffs[outside], saving), max(diffs[resamples-1-outside], saving)}
}
