package build

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// At each time a message is sent (>), the program takes one by itself (?), one comes (<), or the port is searched and
// has none left: at once (0), or after others (.).
func TestWhatMessagesOfWorkersAnswer(t *testing.T) {
	for what, c := range map[string]struct {
		events string
		want   map[recording.Time]recording.Time // by when a message came: when the message that it answers was sent
	}{
		"each is answered before the next is sent":        {"><.><.", map[recording.Time]recording.Time{2: 1, 5: 4}},
		"one is not answered when the recording ends":     {"><.>", map[recording.Time]recording.Time{2: 1}},
		"the first answers what was sent before":          {"<.><.", map[recording.Time]recording.Time{4: 3}},
		"several are sent at once":                        {">><<.", map[recording.Time]recording.Time{}},
		"the program takes an answer by itself":           {">??0><.", map[recording.Time]recording.Time{3: 1, 6: 5}},
		"and sends the next before it looks for messages": {">?>?0<.", map[recording.Time]recording.Time{2: 1, 6: 3}},
	} {
		m, came := &portMail{}, []callback{}
		for i, e := range c.events {
			at := recording.Time(i + 1)
			switch e {
			case '>':
				m.posts(at)
			case '?':
				m.took = at
			default:
				m.comes(at, e == '0', e != '<')
				came = append(came, callback{At: at, Port: 7, Asked: recording.NoTime, Over: e != '<'})
			}
		}
		got := map[recording.Time]recording.Time{}
		for _, b := range m.answer(came, 7) {
			if b.Asked != recording.NoTime {
				got[b.At] = b.Asked
			}
		}
		if !maps.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", what, got, c.want)
		}
	}
}

// Each request has a worker call a peer, which takes 20 ms, and is answered when the worker has its answer.
func TestCallsOfWorkersAreOfWhoWaitsForThem(t *testing.T) {
	var b strings.Builder
	say := func(at recording.Time, format string, args ...any) {
		fmt.Fprintf(&b, "%d %s\n", at, fmt.Sprintf(format, args...))
	}
	say(1, "manifest hooks=%q", "sched wakings io sockets arrivals async")
	say(1, "process id=1 pid=9 runtime=node")
	say(1, "thread id=1 tid=9 process=1")
	say(1, "thread id=2 tid=10 process=1")
	say(1, "conn id=1 process=1 peer=10.0.0.9:1")
	say(1, "conn id=5 side=out process=1 thread=2 peer=10.0.0.2:80 existing=1")
	const us = 1000
	slept := [3]recording.Time{0, 2, 2}
	sleep := func(thread int, until recording.Time, by string) {
		say(until+5*us, "off thread=%d since=%d woken=%d syscall=epoll_pwait %s", thread, slept[thread], until, by)
	}
	for i := range recording.Time(4) {
		at := (i + 1) * 100_000 * us
		sleep(1, at, "waker-kind=interrupt")
		say(at+10*us, "chunk conn=1 thread=1 offset=%d bytes=40 arrived=%d last=%d first=%d", 40*i, at, at, at+10*us)
		say(at+10*us, "http-request conn=1 offset=%d head=40 method=GET route=/a", 40*i)
		say(at+50*us, "boundary thread=1 what=posted port=3")
		sleep(2, at+60*us, "waker-kind=thread waker=1")
		slept[1] = at + 80*us
		say(at+100*us, "chunk conn=5 thread=2 dir=write offset=%d bytes=30 first=%d", 30*i, at+100*us)
		say(at+100*us, "http-request conn=5 offset=%d head=30 method=GET route=/b", 30*i)
		slept[2] = at + 120*us
		answered := at + 20_000*us
		sleep(2, answered, "waker-kind=interrupt")
		say(answered+50*us, "chunk conn=5 thread=2 offset=%d bytes=20 arrived=%d last=%d first=%d", 20*i, answered, answered, answered+50*us)
		say(answered+50*us, "http-response conn=5 offset=%d head=20 status=200", 20*i)
		sleep(1, answered+200*us, "waker-kind=thread waker=2")
		slept[2] = answered + 220*us
		say(answered+300*us, "boundary thread=1 what=messages port=3 exec=3")
		say(answered+400*us, "chunk conn=1 thread=1 dir=write offset=%d bytes=20 first=%d", 20*i, answered+400*us)
		say(answered+400*us, "http-response conn=1 offset=%d head=20 status=200", 20*i)
		say(answered+420*us, "boundary thread=1 what=message port=3 exec=3")
		slept[1] = answered + 450*us
	}
	rec, err := recording.ParseText(strings.NewReader(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	tl, err := Recording(rec)
	if err != nil {
		t.Fatal(err)
	}
	for i := range tl.Calls {
		if c := &tl.Calls[i]; c.Request != timeline.RequestID(i) || c.Why != timeline.WhyHandOffEnd {
			t.Errorf("call %d is of %d, by %q", i, c.Request, c.Why)
		}
	}
	for i := range tl.Requests {
		remote := recording.Duration(0)
		for g := tl.Requests[i].Segments(); g.Next(); {
			if g.Cause == timeline.CauseRemote {
				remote += g.To.Sub(g.From)
			}
		}
		if remote < 19_000*us {
			t.Errorf("request %d waited %v for its worker's peer: %v", i, remote, tl.Requests[i].SegmentList())
		}
	}
	if len(tl.Calls) != 4 || len(tl.Requests) != 4 {
		t.Errorf("%d requests, %d calls", len(tl.Requests), len(tl.Calls))
	}
}
