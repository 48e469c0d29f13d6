//go:build linux

package main

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/getdwell/dwell/internal/capture/target"
)

func TestDoctorTellsRequiredFromOptional(t *testing.T) {
	checks := []target.Check{
		{Name: "kernel", OK: true, Required: true, Detail: "6.18.4"},
		{Name: "rights", Required: true, Detail: "not root", Remedy: "try sudo"},
		{Name: "uprobes", Detail: "locked down", Remedy: "boot without lockdown"},
	}
	const want = `ok       kernel   6.18.4
missing  rights   not root
                  -> try sudo
without  uprobes  locked down
                  -> boot without lockdown

dwell cannot record here until what is missing above is put right. It can still read recordings: dwell why REC.
`
	var got strings.Builder
	if err := printChecks(&got, checks, false, false); err != nil {
		t.Fatal(err)
	}
	if got.String() != want {
		t.Errorf("got\n%swant\n%s", got.String(), want)
	}
	if canRecord(checks) || !canRecord(checks[:1]) {
		t.Error("a missing requirement, and it alone, must prevent recording")
	}
}

// A process that stays ends with its context, and not before.
func TestUntilEnded(t *testing.T) {
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan struct{})
	var told atomic.Bool
	go func() {
		defer close(ended)
		untilEnded(ctx)
		if !told.Load() {
			t.Error("it ended by itself")
		}
	}()
	told.Store(true)
	end()
	<-ended
}
