package main

import (
	"fmt"
	"os"
	"sync"
	"time"
)

// yieldRights has rights given up as recording begins, or where that cannot be when all has joined, which is then told.
func (o *recordOptions) yieldRights(w world, joined func()) {
	o.capture.begun = sync.OnceFunc(func() { o.dropRights(w) })
	o.capture.joined = func() {
		o.capture.begun()
		joined()
	}
}

// joined says that all is recorded that can be, and drops the right that was needed for
// it. It is kept where a recording ends before: to change those of a thread takes until
// it comes back from the kernel, which may be checking a program for it.
func (o *recordOptions) joined(w world, stats pulse, after time.Duration) {
	if o.only && w.dropLast != nil {
		if err := w.dropLast(); err != nil {
			fmt.Fprintf(w.err, "%v (recording goes on)\n", err)
		}
	}
	if stats.noStacks != "" {
		fmt.Fprintln(w.err, stats.noStacks)
	}
	if o.announce && o.capture.soon {
		fmt.Fprintf(w.err, "all that can be seen is recorded from here on, %s later\n", short(after)) // scripts that need it wait for it
	}
}

// keeping says what a recorder goes on doing that takes rights.
type keeping struct {
	starts bool                     // programs are started that may have to be ended
	runs   bool                     // others are started from now on
	helper func() (*os.File, error) // who keeps rights that are given up, or why nobody does
	places []string                 // directories in which files are renamed and removed
	pids   []int                    // who is watched, and all that belong to them
	groups []string                 // and who is in these control groups
}

func (o *recordOptions) keeping() keeping {
	return keeping{helper: o.helper, starts: o.starts, runs: o.runs, places: o.places, pids: o.pids, groups: o.capture.groups}
}

// dropRights gives up what is not needed once recording has begun, if no other recording follows: whatever
// belongs to the service is read without it.
func (o *recordOptions) dropRights(w world) {
	if !o.only || w.dropRights == nil {
		return
	}
	if err := w.dropRights(o.keeping()); err != nil {
		fmt.Fprintf(w.err, "%v (recording goes on)\n", err)
	}
}
