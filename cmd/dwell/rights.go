package main

import (
	"fmt"
	"os"
	"sync"
	"time"
)

// yieldRights drops rights when recording begins, or if that is impossible, when all hooks are active; then it calls
// joined.
func (o *recordOptions) yieldRights(w world, joined func()) {
	o.capture.begun = sync.OnceFunc(func() { o.dropRights(w) })
	o.capture.joined = func() {
		o.capture.begun()
		joined()
	}
}

// joined says that everything possible is recorded, and drops the right that was needed for that. If a recording ends
// before, the right is kept: changing the rights of a thread has to wait until it returns from the kernel, which may
// be checking a program for it.
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
		fmt.Fprintf(w.err, "all that can be seen is recorded from here on, %s later\n", short(after)) // scripts wait for this line
	}
}

// keeping says what a recorder will still do that needs rights.
type keeping struct {
	starts bool                     // programs are started that may have to be ended
	runs   bool                     // other programs will be started
	helper func() (*os.File, error) // the process that keeps dropped rights, or why there is none
	places []string                 // directories in which files are renamed and removed
	pids   []int                    // watched processes and all that belong to them
	groups []string                 // processes in these control groups too
}

func (o *recordOptions) keeping() keeping {
	return keeping{helper: o.helper, starts: o.starts, runs: o.runs, places: o.places, pids: o.pids, groups: o.capture.groups}
}

// dropRights drops what is not needed once recording has begun, if no other recording follows. After that, data of
// the service is read without these rights.
func (o *recordOptions) dropRights(w world) {
	if !o.only || w.dropRights == nil {
		return
	}
	if err := w.dropRights(o.keeping()); err != nil {
		fmt.Fprintf(w.err, "%v (recording goes on)\n", err)
	}
}
