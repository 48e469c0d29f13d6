package main

import (
	"fmt"
	"strings"

	"github.com/getdwell/dwell/recording"
)

// overload is a recording of a Python service whose one thread reads requests far more slowly than they come: it waits for
// the interpreter ten times for each, for a thread that serves nobody. Half of those that have come always lie unread.
func overload(requests int) (*recording.Recording, error) {
	var text strings.Builder
	at := 1_000_000
	say := func(format string, a ...any) { fmt.Fprintf(&text, "%d "+format+"\n", append([]any{at}, a...)...) }
	text.WriteString("# dwell recording, text form 1\n")
	say(`manifest tool=overload kernel=6 arch=amd64 cpus=2 hooks="arrivals io late processes sched sockets stacks"`)
	say("process id=1 pid=7 comm=shop exe=shop runtime=python")
	say("thread id=1 tid=7 process=1 name=serve")
	say("thread-state thread=1 syscall=recvfrom")
	say("thread id=2 tid=8 process=1 name=report")
	say("thread-state thread=2 on=1")
	say("frame id=1 type=python function=handle file=shop/app.py line=41")
	say("stack id=1 frame=1")
	say("frame id=2 function=take_gil module=python3.11")
	say("stack id=2 caller=1 frame=2")
	begin := at
	for i := range requests {
		say("conn id=%d process=1 local=10.0.0.1:80 peer=10.0.%d.%d:20001 existing=1", i+1, i/250%250, i%250+1)
	}
	slept, syscall := at, "recvfrom"
	for i := range requests {
		came := begin + 500_000*(i+1)
		if at = max(at, came); i == 0 {
			say("off thread=1 since=%d woken=%d waker-kind=other syscall=%s", slept, at-5_000, syscall)
		}
		at += 1_000
		say("chunk conn=%d thread=1 bytes=100 arrived=%d last=%d first=%d", i+1, came, came, at)
		say("http-request conn=%d head=100 method=GET route=/prices/{}", i+1)
		for range 10 {
			at += 20_000
			slept = at
			say("stack-at thread=1 stack=2 origin=blocked")
			at += 80_000
			say("off thread=1 since=%d woken=%d waker-kind=thread waker=2 release=1 syscall=futex timed=1", slept, at-1_000)
		}
		at += 1_000
		say("chunk conn=%d thread=1 dir=write bytes=200 first=%d", i+1, at)
		say("http-response conn=%d head=50 status=200 length=150", i+1)
	}
	at += 1_000
	say("end reason=time")
	return recording.Load(strings.NewReader(text.String()))
}
