package recording

import (
	"strings"
	"testing"
)

// sound is a recording without faults.
const sound = `
100 manifest tool=test hooks="io sched"
100 process id=1 pid=10 comm=app
100 thread id=1 tid=10 process=1
100 thread id=2 tid=11 process=1 creator=1
110 conn id=1 side=in process=1
120 off thread=1 since=105 woken=115 waker-kind=thread waker=2
130 chunk conn=1 thread=1 bytes=40 arrived=112 last=112 first=130
130 http-request conn=1 head=60 method=GET route=/
131 chunk conn=1 thread=1 offset=40 bytes=20 arrived=112 last=131 first=131
140 off thread=1 since=135 woken=135 state=preempted
150 chunk conn=1 thread=1 dir=write bytes=200 first=145
150 http-response conn=1 head=80 status=200 length=120
152 late conn=1 offset=200 left=151
153 gap from=153
154 unseen what=go-locks from=120
155 conn id=2 side=out process=1 thread=1 before=1
156 chunk conn=2 thread=1 dir=write bytes=31
156 command conn=2 length=31 operation=GET
158 chunk conn=2 thread=1 bytes=9
158 reply conn=2 length=9 outcome=ok
159 frame id=1 function=main
159 frame id=2 function=wait
159 stack id=1 frame=1
159 stack id=2 caller=1 frame=2
159 stack-at thread=1 stack=2 origin=blocked
159 datagram thread=1 protocol=statsd bytes=40 messages=2
160 closed conn=1 by=peer
170 end reason=time
`

func TestValidateAcceptsASoundRecording(t *testing.T) {
	if errs := validateText(t, sound); len(errs) > 0 {
		t.Fatal(errs)
	}
}

// Each case replaces one line of the sound recording and names the expected complaint.
func TestValidateFindsFaults(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{"100 manifest tool=test hooks=\"io sched\"\n", "", "event 0 (process at 100): the first event is not a manifest"},
		{"id=2 tid=11 process=1", "id=2 tid=11 process=3", "process 3 is not declared before"},
		{"id=2 tid=11", "id=1 tid=11", "id 1 is declared twice"},
		{"waker=2", "waker=5", "thread 5 is not declared before"},
		{"conn id=1 side=in process=1", "backlog port=1", "connection 1 is not declared before"},
		{"since=105 woken=115", "since=105 woken=104", "woken at 104, before it slept at 105"},
		{"since=105 woken=115", "since=99 woken=115", "since 99 is not between the start of the recording, 100, and the event"},
		{"since=105 woken=115", "since=105 woken=121", "woken 121 is not between"},
		{"since=135 woken=135", "since=119 woken=135", "thread 1 was off its CPU until 120 already"},
		{"offset=40 bytes=20", "offset=41 bytes=20", "offset 41: 40 bytes went this way before"},
		{"offset=40 bytes=20", "offset=39 bytes=20", "offset 39: 40 bytes went this way before"},
		{"bytes=200 first=145", "bytes=200 first=151", "first 151 is not between"},
		{"bytes=40 arrived=112 last=112", "bytes=40 arrived=113 last=112", "arrived 113 is after last 112"},
		{"head=60", "head=61", "bytes 0 to 61 were not seen: those seen are 0 to 60"},
		{"head=80", "offset=200 head=1", "bytes 200 to 201 were not seen"},
		{"length=31", "offset=31", "bytes 31 to 32 were not seen: those seen are 0 to 31"},
		{"length=31", "length=-1", "length -1 is negative"},
		{"length=9", "offset=9", "bytes 9 to 10 were not seen"},
		{"command conn=2", "command conn=1", "connection 1 is not outbound"},
		{"reply conn=2", "reply conn=1", "connection 1 is not outbound"},
		{"outcome=ok", "skipped=-1", "skipped -1 is negative"},
		{"datagram thread=1", "datagram thread=7", "thread 7 is not declared before"},
		{"frame id=2", "frame id=1", "id 1 is declared twice"},
		{"caller=1", "caller=2", "stack 2 is not declared before"},
		{"caller=1 frame=2", "caller=1 frame=3", "frame 3 is not declared before"},
		{"stack-at thread=1 stack=2", "stack-at thread=1", "stack 0 is not declared before"},
		{"stack-at thread=1", "stack-at thread=9", "thread 9 is not declared before"},
		{"waker=2", "waker=2 owner=6", "thread 6 is not declared before"},
		{"late conn=1", "late conn=3", "connection 3 is not declared before"},
		{"left=151", "left=153", "left 153 is not between"},
		{"gap from=153", "gap from=99", "from 99 is not between"},
		{"unseen what", "unseen process=4 what", "process 4 is not declared before"},
		{"from=120", "from=155", "from 155 is not between"},
		{"before=1", "before=2", "connection 2 is not declared before"},
		{"160 closed", "171 closed", "it comes after the end"},
		{"160 closed conn=1 by=peer", "160 closd conn=1", "does not know the kind"},
	} {
		text := strings.Replace(sound, c.old, c.new, 1)
		if text == sound {
			t.Fatalf("%q is not in the sound recording", c.old)
		}
		errs := validateText(t, text)
		found := false
		for _, err := range errs {
			found = found || strings.Contains(err.Error(), c.want)
		}
		if !found {
			t.Errorf("%q -> %q: errors %v, want %q", c.old, c.new, errs, c.want)
		}
	}
}

func TestValidateAllowsGapsWhereFactsWereLost(t *testing.T) {
	gap := strings.Replace(sound, "offset=40 bytes=20", "offset=90 bytes=20", 1)
	lost := strings.Replace(gap, "170 end", "165 loss hook=io count=3 from=129\n170 end", 1)
	if errs := validateText(t, lost); len(errs) > 0 {
		t.Errorf("lost from 129 to 165: %v", errs)
	}
	elsewhere := strings.Replace(gap, "170 end", "165 loss hook=io count=3 from=140\n170 end", 1)
	if errs := validateText(t, elsewhere); len(errs) == 0 {
		t.Error("a loss after the gap excused it")
	}
}

func TestValidateStopsListing(t *testing.T) {
	var b strings.Builder
	b.WriteString("1 manifest\n")
	for range 150 {
		b.WriteString("2 thread-exit thread=9\n")
	}
	errs := validateText(t, b.String())
	if len(errs) != maxProblems+1 || errs[maxProblems].Error() != "and 50 more errors" {
		t.Fatalf("%d errors, the last: %v", len(errs), errs[len(errs)-1])
	}
}

func validateText(t *testing.T, text string) []error {
	t.Helper()
	rec, err := ParseText(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return Validate(rec)
}
