package hypotheses

import (
	"testing"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline/build"
	"github.com/getdwell/dwell/recording"
)

// BenchmarkDiagnose diagnoses 10,000 requests of a loop that is busy with handshakes,
// without building their timeline.
func BenchmarkDiagnose(b *testing.B) {
	tl, err := build.Recording(done(loopOf(false, 10_000, 1200*us, cheap), 60))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if d := diagnosis.Diagnose(tl, All(), diagnosis.Options{}); len(d.Findings) == 0 {
			b.Fatal("nothing was found")
		}
	}
}

// BenchmarkDiagnoseHealthy diagnoses 100,000 requests that wait for nothing.
func BenchmarkDiagnoseHealthy(b *testing.B) {
	tl, err := build.Recording(done(loopOf(true, 100_000, 3000*us, cheap), 30))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		diagnosis.Diagnose(tl, All(), diagnosis.Options{})
	}
}

// BenchmarkDiagnoseConvoy diagnoses 32,000 requests, each of which waits for a lock
// behind up to 15 others.
func BenchmarkDiagnoseConvoy(b *testing.B) {
	tl, err := build.Recording(done(manyBursts(newScenario(recording.RuntimeJVM), 2000, 16, locked(cached, computing)), 50))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if d := diagnosis.Diagnose(tl, All(), diagnosis.Options{}); len(d.Findings) == 0 {
			b.Fatal("nothing was found")
		}
	}
}
