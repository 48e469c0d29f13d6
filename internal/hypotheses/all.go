// Package hypotheses holds the mechanisms that dwell tests, one file each. A
// hypothesis is a value: what it is, what it needs, and a pure test of a case.
package hypotheses

import "github.com/getdwell/dwell/internal/diagnosis"

// All returns the hypotheses in the order in which they are reported.
func All() []diagnosis.Hypothesis {
	all := []diagnosis.Hypothesis{
		connectionChurn(),
		slowDNS(),
		tlsHandshake(),
		credentialFetch(),
		clientPerRequest(),
		nPlusOne(),
		serialCalls(),
		slowPeer(),
		entropyWait(),
		syncTelemetry(),
		refreshUnderLock(),
		lockConvoy(),
		interpreterLock(),
		heldWhileWaiting(),
		poolExhausted(),
		gcPause(),
		linearScan(),
		cpuBound(),
		eventLoopBlocked(),
		disk(),
		pageFault(),
		sleepRetry(),
		childProcess(),
		delayedACK(),
		sendWindow(),
		retransmit(),
		headOfLine(),
		acceptQueue(),
		runQueue(),
		load(),
		coldStart(),
		release(),
		dwellItself(),
	}
	for i := range all { // if a deploy made requests slower, its mechanism says more than when that began
		if h := &all[i]; !h.Where && !h.Queue && h.ID != "release" {
			h.Explains = append(h.Explains, "release")
		}
		if h := &all[i]; !h.Where && !h.Queue {
			*h = settled(*h)
		}
	}
	return all
}
