package target

import "testing"

// BenchmarkNeighbours measures their cost in each second of a recording.
func BenchmarkNeighbours(b *testing.B) {
	var n Neighbours
	for b.Loop() {
		n.Sample(func(int) bool { return false })
	}
	b.ReportMetric(float64(len(n.last)), "processes")
}
