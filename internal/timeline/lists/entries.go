package lists

// Entry is what a map has under a key, made if it has nothing.
func Entry[K comparable, V any](m map[K]*V, k K) *V {
	v := m[k]
	if v == nil {
		v = new(V)
		m[k] = v
	}
	return v
}
