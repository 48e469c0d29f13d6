package hypotheses

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline/build"
	"github.com/getdwell/dwell/recording"
)

// A worker begins with a queue of requests, which drains: each takes 10 ms once it is read, at
// first as later.
func TestAQueueThatDrainsIsNoStart(t *testing.T) {
	story := `1ms manifest cpus=2 hooks="sched io sockets arrivals"
1ms process id=1 pid=100 start=1000000 runtime=python comm=shop
1ms thread id=1 tid=101 process=1
1ms thread-state thread=1 on=1
`
	free := 400_000
	for i := range 160 {
		arrived := 1500 + 10*i
		if i >= 50 {
			arrived = 1_000_000 + 12_500*(i-50)
		}
		read := max(free, arrived)
		free = read + 10_000
		story += fmt.Sprintf(`%[4]dus conn id=%[1]d side=in process=1 existing=1 local=127.0.0.1:80 peer=127.0.0.1:%[5]d
%[2]dus chunk conn=%[1]d thread=1 dir=read bytes=40 arrived=%[4]dus last=%[4]dus
%[2]dus http-request conn=%[1]d head=40 method=GET route=/a
%[3]dus chunk conn=%[1]d thread=1 dir=write bytes=60
%[3]dus http-response conn=%[1]d head=60 status=200
`, i+1, read, free, arrived, 5000+i)
	}
	lines := strings.Split(strings.TrimSpace(story), "\n")
	slices.SortStableFunc(lines, func(a, b string) int { return cmp.Compare(micros(a), micros(b)) })
	rec, err := recording.ParseText(strings.NewReader(strings.Join(lines, "\n") + "\n4000ms end reason=time\n"))
	if err != nil {
		t.Fatal(err)
	}
	tl, err := build.Recording(rec)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range diagnosis.Diagnose(tl, All(), diagnosis.Options{}).Findings {
		if f.ID == "cold-start" {
			t.Errorf("found %s", f.Title)
		}
	}
}

// micros is the time of a line in microseconds.
func micros(line string) int {
	at, unit := 0, ""
	_, _ = fmt.Sscanf(line, "%d%s", &at, &unit)
	if unit == "ms" {
		at *= 1000
	}
	return at
}
