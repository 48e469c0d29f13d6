package recording

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"
)

// thinned returns, as text, what is passed on of a recording given as text.
func thinned(t *testing.T, text string, windows ...Span) string {
	t.Helper()
	rec, err := ParseText(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	o := &outline{conn: 100, inbound: connSet{}}
	o.inbound.add(1)
	out := &Recording{}
	thin := newThinner(windows, o, func(e Event) { out.Events = append(out.Events, e) })
	for _, e := range rec.Events {
		thin.take(e)
	}
	thin.end()
	var b strings.Builder
	if err := FormatText(&b, out); err != nil {
		t.Fatal(err)
	}
	_, lines, _ := strings.Cut(b.String(), "\n")
	return strings.Join(strings.Fields(strings.ReplaceAll(lines, "\n", " | ")), " ")
}

const twoThreads = `
1 manifest tool=a
1 process id=1 pid=5
1 thread id=1 tid=5 process=1
1 thread id=2 tid=6 process=1
`

// What is cut at the edges of two windows:
//
//	window               20------40          60------80
//	thread 1  runs 1-10, sleeps 10------------50, runs -------90
//	thread 2  runs 1-------30, sleeps 30-35, runs --------70, sleeps 70-85
func TestThreadsAreClippedToWindows(t *testing.T) {
	got := thinned(t, twoThreads+`
1 thread-state thread=1 on=1
1 thread-state thread=2 on=1
35 off thread=2 since=30 woken=34 ran=29
50 off thread=1 since=10 woken=50 syscall=read ran=9
85 off thread=2 since=70 woken=85 syscall=futex ran=35
90 thread-state thread=1 on=1
90 thread-state thread=2 on=1
90 end reason=time
`, Span{20, 40}, Span{60, 80})
	want := strings.Join([]string{
		"1 manifest tool=a", "1 process id=1 pid=5", "1 thread id=1 tid=5 process=1", "1 thread id=2 tid=6 process=1", "20 gap from=1",
		"20 thread-state thread=2 on=1",
		"35 off thread=2 since=30 woken=34", // its Ran does not lie completely in the window
		"20 thread-state thread=1 since=20 syscall=read",
		"60 gap from=40",
		"60 thread-state thread=2 on=1", "70 thread-state thread=2 since=70 syscall=futex",
		"60 thread-state thread=1 on=1",
		"90 gap from=80", "90 end reason=time",
	}, " | ")
	if got != want+" |" && got != want {
		t.Errorf("got\n%s\nwant\n%s", strings.ReplaceAll(got, " | ", "\n"), strings.ReplaceAll(want, " | ", "\n"))
	}
}

// A connection continues in each window under another id. What came before a window is not known in it. An answer to
// an earlier request is not matched with the next one.
func TestConnectionsAreKnownAgainInEachWindow(t *testing.T) {
	got := thinned(t, twoThreads+`
5  conn id=1 process=1 peer="1.2.3.4:5" side=in thread=1
5  conn-protocol conn=1 protocol=http1
25 chunk conn=1 thread=1 bytes=10 arrived=15 last=22 first=25
25 http-request conn=1 method=GET route=/a length=0 head=10
45 chunk conn=1 thread=1 dir=write bytes=10 first=45
45 http-response conn=1 status=200
50 http-request conn=1 method=GET route=/b offset=10
65 http-request conn=1 method=GET route=/c offset=20
66 http-response conn=1 status=201
67 http-response conn=1 status=202
70 closed conn=1
90 end reason=time
`, Span{20, 40}, Span{60, 80})
	want := strings.Join([]string{
		"1 manifest tool=a", "1 process id=1 pid=5", "1 thread id=1 tid=5 process=1", "1 thread id=2 tid=6 process=1", "20 gap from=1",
		`25 conn id=101 process=1 peer=1.2.3.4:5 existing=1`, "25 conn-protocol conn=101 protocol=http1",
		"25 chunk conn=101 thread=1 bytes=10 last=22 first=25",
		"25 http-request conn=101 head=10 method=GET route=/a",
		"60 gap from=40",
		`65 conn id=102 process=1 peer=1.2.3.4:5 existing=1 before=101`, "65 conn-protocol conn=102 protocol=http1",
		"65 http-request conn=102 offset=20 method=GET route=/c",
		"67 http-response conn=102 status=202",
		"70 closed conn=102",
		"90 gap from=80", "90 end reason=time",
	}, " | ")
	if got != want+" |" && got != want {
		t.Errorf("got\n%s\nwant\n%s", strings.ReplaceAll(got, " | ", "\n"), strings.ReplaceAll(want, " | ", "\n"))
	}
}

// Things that begin and end between windows are not declared; those that last are.
func TestWhatEndsBetweenWindowsIsLeftOut(t *testing.T) {
	got := thinned(t, `
1 manifest tool=a
2 process id=1 pid=5
3 process id=2 pid=6
3 thread id=7 tid=6 process=2 creator=1
4 thread-exit thread=7
4 process-exit process=2
5 thread id=8 tid=7 process=1 creator=1
6 sample thread=8
21 sample thread=8
30 end reason=time
`, Span{20, 25})
	if want := "1 manifest tool=a | 2 process id=1 pid=5 | 5 thread id=8 tid=7 process=1 creator=1 | 20 gap from=1 | 21 sample thread=8 | 30 gap from=25 | 30 end reason=time"; got != want+" |" && got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// About as many facts of a long recording are passed on as are wanted: the same ones each time, from windows spread
// over all of it. A short recording is passed on completely. The number of requests is known for both.
func TestAPartOfARecording(t *testing.T) {
	const requests = 40_000
	events := []Event{{1, &Manifest{}}, {1, &Process{ID: 1}}, {1, &Conn{ID: 1, Process: 1, Existing: 1}}, {1, &Conn{ID: 2, Side: Outbound, Process: 1, Existing: 1}}}
	for i := range Time(requests) {
		at := 10 + 1_000_000*i
		events = append(events, Event{at, &HTTPRequest{Conn: 1, Method: "GET", Route: "/"}}, Event{at, &HTTPRequest{Conn: 2}}, Event{at + 500_000, &HTTPResponse{Conn: 1, Status: 200}})
	}
	var file bytes.Buffer
	w, err := NewWriter(&file)
	for i, e := range append(events, Event{10 + 1_000_000*requests, &End{}}) {
		if err == nil {
			err = w.Write(e)
		}
		if i%500 == 0 && err == nil { // once a second, like a recorder
			err = w.Flush()
		}
	}
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	read := func(p Part) (list []Event, rec *Recording) {
		rec, err := p.Stream(three(), bytes.NewReader(file.Bytes()), func(e Event) { list = append(list, e) })
		if err != nil {
			t.Fatal(err)
		}
		return list, rec
	}
	const most = 30_000
	list, rec := read(Part{Most: most})
	x := rec.Excerpt
	if x == nil || x.Of != requests || x.Requests < most/3*8/10 || len(list) > most*12/10 || len(x.Windows) != fewWindows {
		t.Fatalf("%d facts of %d, %+v", len(list), len(events), x)
	}
	quarter := Time(1_000_000 * requests / fewWindows)
	for i, w := range x.Windows {
		if w.From < Time(i)*quarter || w.To > Time(i+1)*quarter+quarter/10 {
			t.Errorf("window %d, from %d to %d, is not in its part of the recording", i, w.From, w.To)
		}
	}
	if again, _ := read(Part{Most: most}); !reflect.DeepEqual(list, again) {
		t.Error("read twice, two different parts")
	}
	if all, rec := read(Part{Most: int64(len(events) + 1)}); rec.Excerpt != nil || len(all) != len(events)+1 {
		t.Errorf("%d of %d facts: %+v", len(all), len(events)+1, rec.Excerpt)
	}
	at := Time(30_000_000_000)
	_, rec = read(Part{Most: most, Around: func(Overview) (Time, error) { return at, nil }})
	if w := rec.Excerpt.Windows; len(w) != 1 || w[0].From > at-1_000_000_000 || w[0].To < at+1_000_000_000 || w[0].To-w[0].From > 10_000_000_000 {
		t.Errorf("around %d: %v", at, w)
	}
}
