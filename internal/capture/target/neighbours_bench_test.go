package target

import "testing"

// BenchmarkNeighbours is what each second of a recording costs for them.
func BenchmarkNeighbours(b *testing.B) {
	var n Neighbours
	for b.Loop() {
		n.Sample(func(int) bool { return false })
	}
	b.ReportMetric(float64(len(n.last)), "processes")
}
