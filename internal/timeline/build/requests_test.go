package build

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// A request that lay in its socket before recording began, and is read long after, took at least since then. A request
// that is read soon after may have come just before.
func TestWhatWaitedSinceBeforeTheRecordingCounts(t *testing.T) {
	for _, c := range []struct {
		read        string
		hooks       string
		queued, cut bool
		known       string // when the connection became known, and from what
	}{
		{"3100", "sched io sockets arrivals", true, false, "1ms"},
		{"900", "sched io sockets arrivals", false, true, "1ms"},
		{"3100", "sched io sockets", false, true, "1ms"},
		{"3100", "sched io sockets arrivals", true, false, "3099ms thread=2"},
		{"3100", "sched io sockets arrivals", false, true, "3099ms"}, // it came at that time
	} {
		at, by, _ := strings.Cut(c.known, " ")
		tl := parsed(t, fmt.Appendf(nil, `1ms manifest cpus=2 hooks="%[2]s"
1ms process id=1 pid=100 runtime=ruby comm=puma
1ms thread id=2 tid=102 process=1 name=worker
1ms thread-state thread=2 on=1
%[3]s conn id=1 side=in process=1 %[4]s existing=1 local=127.0.0.1:80 peer=127.0.0.1:5000
%[1]sms chunk conn=1 thread=2 dir=read bytes=40
%[1]sms http-request conn=1 head=40 method=GET route=/a
3200ms chunk conn=1 thread=2 dir=write bytes=40
3200ms http-response conn=1 head=40 status=200
3300ms end reason=time
`, c.read, c.hooks, at, by))
		r := &tl.Requests[0]
		if r.Queued != c.queued || r.Cut != c.cut || c.queued && r.Duration() != 3_199_000_000 {
			t.Errorf("known at %s, read at %s ms, %s: queued %v, cut %v, %d ns; want %v, %v", c.known, c.read, c.hooks, r.Queued, r.Cut, r.Duration(), c.queued, c.cut)
		}
	}
}

// A request that is open at the end for longer than every answered request took at least until then. A request that was
// open for less may be like the others, and one whose answer had begun may be a stream.
func TestWhatIsUnansweredAtTheEndCounts(t *testing.T) {
	const answered = `10ms chunk conn=1 thread=2 dir=read bytes=40 arrived=9ms last=9ms
10ms http-request conn=1 head=40 method=GET route=/a
%[1]dms chunk conn=1 thread=2 dir=write bytes=40
%[1]dms http-response conn=1 head=40 status=200
`
	for name, c := range map[string]struct {
		took, begins int
		more         string
		want         bool
	}{
		"for long":                   {200, 300, "", true},
		"for less than another took": {2000, 300, "", false},
		"for less than a second":     {200, 1400, "", false},
		"facts were lost meanwhile":  {200, 300, "900ms loss hook=io cpu=0 count=3 from=800ms\n", false},
		"none was answered":          {0, 300, "", false},
		"its answer has begun":       {200, 300, "400ms chunk conn=2 thread=3 dir=write bytes=40\n400ms http-response conn=2 head=40 length=4000 status=200\n", false},
	} {
		text := `1ms manifest cpus=2 hooks="sched io sockets arrivals"
1ms process id=1 pid=100 runtime=ruby comm=puma
1ms thread id=2 tid=102 process=1 name=worker
1ms thread id=3 tid=103 process=1 name=worker
1ms thread-state thread=2 on=1
1ms thread-state thread=3 on=1
2ms conn id=1 side=in process=1 local=127.0.0.1:80 peer=127.0.0.1:5000
2ms conn id=2 side=in process=1 local=127.0.0.1:80 peer=127.0.0.1:5001
` + ifAny(c.took, fmt.Sprintf(answered, c.took)) + fmt.Sprintf(`%[1]dms chunk conn=2 thread=3 dir=read bytes=40 arrived=%[1]dms last=%[1]dms
%[1]dms http-request conn=2 head=40 method=GET route=/a
`, c.begins) + c.more + "2200ms end reason=time\n"
		tl := parsed(t, sortedLines(text))
		r := &tl.Requests[len(tl.Requests)-1]
		if r.Unanswered != c.want || r.Cut == c.want || c.want && r.End != tl.End {
			t.Errorf("%s: unanswered %v, cut %v, until %v of %v", name, r.Unanswered, r.Cut, r.End, tl.End)
		}
	}
}

func ifAny(n int, text string) string {
	if n == 0 {
		return ""
	}
	return text
}

// sortedLines sorts the events of a recording in text form by time.
func sortedLines(text string) []byte {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	slices.SortStableFunc(lines, func(a, b string) int { return cmp.Compare(ms(a), ms(b)) })
	return []byte(strings.Join(lines, "\n") + "\n")
}

func ms(line string) (n int) {
	_, _ = fmt.Sscanf(line, "%dms", &n)
	return n
}
