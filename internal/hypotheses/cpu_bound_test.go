package hypotheses

import (
	"strings"
	"testing"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/timeline/build"
	"github.com/getdwell/dwell/recording"
)

// computed plays 90 requests of a Go service that compute in some code, and returns the lead about that.
func computed(t *testing.T, of func(i int) recording.Time, frames ...string) diagnosis.Finding {
	t.Helper()
	return computedIn(t, of, func(int) int { return 0 }, frames)
}

// computedIn is computed, with each request sampled in one of the frames.
func computedIn(t *testing.T, of func(i int) recording.Time, in func(i int) int, frames []string) diagnosis.Finding {
	t.Helper()
	l := goLines{
		`000000001us manifest cpus=2 hooks="sched io sockets arrivals goroutines parks samples stacks"`,
		`000000001us process id=1 pid=100 runtime=go comm=shop`,
		`000000001us thread id=1 tid=101 process=1`, `000000001us thread-state thread=1 on=1`,
		`000000001us conn id=1 side=in process=1 existing=1 local=127.0.0.1:80 peer=127.0.0.1:5000`,
	}
	for i, f := range frames {
		id := len(frames) - i
		caller := ""
		if id > 1 {
			caller = " caller=" + string(rune('0'+id-1))
		}
		if !strings.HasPrefix(f, "type=") {
			f = "type=go " + f
		}
		l = append(l, `000000001us frame id=`+string(rune('0'+id))+" "+f)
		l.at(2+id, "stack id=%d frame=%d"+caller, id, id)
	}
	for i := range 90 {
		at, took := (i+1)*10_000, int(of(i)/us)
		l.at(at, "off thread=1 since=%dus woken=%dus syscall=epoll_pwait waker-kind=interrupt", at-5000, at-5)
		l.at(at+10, "chunk conn=1 thread=1 dir=read offset=%d bytes=40 arrived=%dus last=%dus goroutine=7", 40*i, at-10, at-10)
		l.at(at+11, "http-request conn=1 offset=%d head=40 method=GET route=/x", 40*i)
		l.at(at+took/2, "stack-at thread=1 stack=%d goroutine=7", len(frames)-in(i))
		l.at(at+took, "chunk conn=1 thread=1 dir=write offset=%d bytes=60 goroutine=7", 60*i)
		l.at(at+took+1, "http-response conn=1 offset=%d head=60 status=200", 60*i)
	}
	tl, err := build.Recording(l.recording())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range diagnosis.Diagnose(tl, All(), diagnosis.Options{}).Leads {
		if f.ID == "cpu-bound" {
			return f
		}
	}
	t.Fatal("to compute is no lead")
	return diagnosis.Finding{}
}

// A constructor of a server that calls the service's code, as that of Python's handlers does, does not make anything
// for it.
func TestWhatCallsTheServiceIsNotWhatItMakes(t *testing.T) {
	server := []string{
		`function="main.page" file=/srv/main.go line=25`,
		`function="github.com/made/up/server.(*Server).loadHandler" file=/m/pkg/mod/github.com/made/up@v1.2.0/server.go line=70`,
		`function="github.com/made/up/server.accept" file=/m/pkg/mod/github.com/made/up@v1.2.0/server.go line=40`,
	}
	f := computedIn(t, func(int) recording.Time { return 1650 * us }, func(i int) int { return min(i%3, 1) }, server)
	if strings.Contains(f.Title+f.Next, "for about as long") || strings.Contains(f.Next, "makes") {
		t.Errorf("said %q, and to do %q", f.Title, f.Next)
	}
}

// What a library does is named. If it makes something each time, the fix asks about that.
func TestWhatIsMadeForEachRequestIsNamed(t *testing.T) {
	parsing := []string{
		`function="text/template/parse.lexText" file=/go/src/text/template/parse/lex.go line=300`,
		`function="html/template.(*Template).ParseGlob" file=/go/src/html/template/template.go line=400`,
		`function="github.com/made/up/render.(*Pages).loadAll" file=/m/pkg/mod/github.com/made/up@v1.2.0/render.go line=70`,
		`function="github.com/made/up/render.(*Pages).Write" file=/m/pkg/mod/github.com/made/up@v1.2.0/render.go line=60`,
		`function="main.page" file=/srv/main.go line=25`,
	}
	pydoc := []string{
		`type=native function=_PyEval_EvalFrameDefault module=python3.11`,
		`type=python function=ModuleScanner.run file=/usr/lib/python3.11/pydoc.py line=2195`,
		`type=python function=BaseHTTPRequestHandler.handle file=/usr/lib/python3.11/http/server.py line=432`,
	}
	installed := []string{
		`type=python function=hashpw file=/usr/lib/python3.11/hashlib.py line=80`,
		`type=python function=BcryptAuth.check file=/srv/venv/lib/python3.11/site-packages/made_up/auth.py line=187`,
		`type=python function=BaseRequestHandler.__init__ file=/usr/lib/python3.11/socketserver.py line=755`,
	}
	same := func(int) recording.Time { return 1650 * us }
	varied := func(i int) recording.Time { return recording.Time(200+i%10*400) * us }
	for _, c := range []struct {
		name   string
		of     func(int) recording.Time
		frames []string
		says   string
		asks   bool
	}{
		{"parsed each time", same, parsing, "beneath render.(*Pages).loadAll (render.go:70), about as long in each request", true},
		{"parsed, more or less", varied, parsing, "beneath render.(*Pages).loadAll (render.go:70)", false},
		{"a language's own library, in native code", varied, pydoc, "; 100 % of the CPU time is in ModuleScanner.run (pydoc.py:2195) (16 samples: 81 % to 100 %)", false},
		{"nothing is known to be the service's", same, installed, "; 100 % of the CPU time is in BcryptAuth.check (auth.py:187) (16 samples: 81 % to 100 %)", false},
		{"rendered", same, parsing[3:], "beneath render.(*Pages).Write (render.go:60)", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := computed(t, c.of, c.frames...)
			if !strings.HasSuffix(f.Title, c.says) || strings.Contains(f.Fix, "compute it once") != c.asks {
				t.Errorf("%s\n%s", f.Title, f.Fix)
			}
		})
	}
}
