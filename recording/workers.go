package recording

// Workers do pieces of work in parallel. The zero value does them one after another; the result is the same.
type Workers struct {
	N int // how many there are

	// Each calls do once for every i below n, and returns when all calls have returned. Calls with the same worker, a
	// number below N, do not overlap.
	Each func(n int, do func(worker, i int))
}

// count returns the number of workers: at least one, the caller itself.
func (w Workers) count() int {
	if w.Each == nil {
		return 1
	}
	return max(1, w.N)
}

// Do calls do for every i below n: see Each.
func (w Workers) Do(n int, do func(worker, i int)) {
	if w.Each != nil && n > 1 {
		w.Each(n, do)
		return
	}
	for i := range n {
		do(0, i)
	}
}

// Both does two things that do not depend on each other.
func (w Workers) Both(one, other func()) {
	w.Do(2, func(_, i int) { [...]func(){one, other}[i]() })
}

// Of makes one value for each of the workers.
func Of[T any](w Workers, made func() T) []T {
	all := make([]T, w.count())
	for i := range all {
		all[i] = made()
	}
	return all
}

// InPieces does n things in pieces of at most size. do gets the first index and the one after the last.
func (w Workers) InPieces(n, size int, do func(worker, from, to int)) {
	w.Do((n+size-1)/size, func(worker, i int) { do(worker, i*size, min(n, (i+1)*size)) })
}
