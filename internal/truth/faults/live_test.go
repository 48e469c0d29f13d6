package main

import (
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/getdwell/dwell/internal/truth/calm"
)

// A sample of the bench: a fault in a runtime that is compiled, one in another, and a healthy service.
func TestSomeOfTheBenchLive(t *testing.T) {
	if testing.Short() {
		t.Skip("live")
	}
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED-NO-BPF: only root records")
	}
	t.Chdir("../../..") // the stage builds what it needs
	st, err := openStage(t.Context(), options{span: 5 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(st.close)
	if out, err := exec.Command(st.dir+"/dwell", "doctor").CombinedOutput(); err != nil {
		t.Skipf("SKIPPED-NO-BPF: dwell doctor: %v\n%s", err, out)
	}
	list, err := chosen(options{seeds: "1", only: "^(sleep-retry/go|n-plus-one/python|none/node)/"})
	if err != nil || len(list) != 3 {
		t.Fatalf("%d plans, %v", len(list), err)
	}
	for _, p := range list {
		t.Run(p.name(), func(t *testing.T) {
			calm.Try(t, func() []string {
				r, err := st.play(t.Context(), p)
				if err != nil {
					t.Fatal(err)
				}
				if t.Log(r.line()); (r.Twin == nil && len(r.Faulty.Said.falsely(&p)) == 0) || (r.Twin != nil && r.judged() && r.outcome() == right) {
					return nil
				}
				return []string{r.line()}
			})
		})
	}
}
