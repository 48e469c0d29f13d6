package diagnosis

// Share is a part of a whole in millionths: integers compare the same everywhere.
type Share int64

// Whole is the share of everything.
const Whole Share = 1_000_000

// ShareOf returns part/whole, rounded down; 0 unless whole is positive.
func ShareOf(part, whole int64) Share {
	if whole <= 0 {
		return 0
	}
	if part > 1<<42 || part < -(1<<42) { // part*Whole would not fit
		return Share(part / (whole/int64(Whole) + 1))
	}
	return Share(part * int64(Whole) / whole)
}

// Of returns the share of d, rounded down.
func (s Share) Of(d Duration) Duration {
	return d/Duration(Whole)*Duration(s) + d%Duration(Whole)*Duration(s)/Duration(Whole)
}

// Options are the bounds that verdicts are held against. A zero field means its default.
type Options struct {
	Endpoint string // only requests of this endpoint, "" all
	SLOs     []SLO  // latencies that were promised

	MinRequests int      // fewer measured requests decide nothing; 20
	Worth       Share    // a saving is worth having if it is at least this share of the mean, of p50 or of p99; 5 %
	Resolution  Duration // and at least what can be measured; 20 us
	Present     Share    // a mechanism with a smaller share of the mean and of slow requests counts as absent; 2 %
	Open        Share    // a hypothesis is undecided if time of unknown cause would let it save this share; 10 %
	WhereShare  Share    // what says where, not why, must explain this much of slow minus ordinary; 50 %
	WhereRatio  int64    // and p99 must be at least this many times p50; 3
	LongHold    Duration // a callback this long holds an event loop; 10 ms
	Saturated   Share    // a server this busy is saturated; 90 %
}

func (o Options) withDefaults() Options {
	orDefault(&o.MinRequests, 20)
	orDefault(&o.Worth, Whole/20)
	orDefault(&o.Resolution, 20_000)
	orDefault(&o.Present, Whole/50)
	orDefault(&o.Open, Whole/10)
	orDefault(&o.WhereShare, Whole/2)
	orDefault(&o.WhereRatio, 3)
	orDefault(&o.LongHold, 10*milli)
	orDefault(&o.Saturated, Whole/10*9)
	return o
}

func orDefault[T ~int | ~int64](v *T, d T) {
	if *v == 0 {
		*v = d
	}
}
