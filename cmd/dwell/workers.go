package main

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/getdwell/dwell/recording"
)

// mostWorkers bounds how many processors an analysis uses, because a service may run on the same host. Each worker
// repeats some work of the others.
const mostWorkers = 4

// workers returns one worker for each processor that dwell may use.
func workers() recording.Workers { return workersOn(min(runtime.GOMAXPROCS(0), mostWorkers)) }

// workersOn returns n workers, each on a thread of its own if there are as many processors.
func workersOn(n int) recording.Workers {
	if n == 1 {
		return recording.Workers{}
	}
	return recording.Workers{N: n, Each: func(things int, do func(worker, i int)) {
		var next atomic.Int64
		var all sync.WaitGroup
		var failed atomic.Pointer[defect]
		for worker := range min(n, things) {
			all.Go(func() {
				defer func() {
					if d := defectOf(recover()); d != nil {
						failed.Store(d)
					}
				}()
				for i := int(next.Add(1)) - 1; i < things; i = int(next.Add(1)) - 1 {
					do(worker, i)
				}
			})
		}
		all.Wait()
		if d := failed.Load(); d != nil {
			panic(d) // in the goroutine that waits for it
		}
	}}
}
