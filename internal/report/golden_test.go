package report_test

import (
	"bytes"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/hypotheses"
	"github.com/getdwell/dwell/internal/report"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/internal/timeline/build"
	"github.com/getdwell/dwell/recording"
)

var update = flag.Bool("update", false, "write what is shown into the golden files")

const stories = "../hypotheses/testdata/"

// load builds the timeline of a recording, in text form, and its report.
func load(t *testing.T, text string, o diagnosis.Options) (*timeline.Timeline, *report.Report) {
	t.Helper()
	rec, err := recording.ParseText(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	tl, err := build.Recording(rec)
	if err != nil {
		t.Fatal(err)
	}
	return tl, report.Build(diagnosis.Diagnose(tl, hypotheses.All(), o), tl)
}

func story(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(stories, filepath.FromSlash(name)+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func golden(t *testing.T, name string, write func(io.Writer) error) string {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("%s (-update accepts it):\n%s", name, b.String())
	}
	return b.String()
}

func TestText(t *testing.T) {
	for name, from := range map[string]string{
		"churn-overload.txt": "connection-churn/overload-supported",
		"churn.txt":          "connection-churn/supported",
		"healthy.txt":        "connection-churn/refuted",
		"lossy.txt":          "connection-churn/undecided",
		"slow-peer.txt":      "slow-peer/supported",
		"blocked.txt":        "event-loop-blocked/supported",
	} {
		t.Run(name, func(t *testing.T) {
			_, r := load(t, story(t, from), diagnosis.Options{})
			text := golden(t, name, func(w io.Writer) error { return report.Text(w, r, report.TextOptions{}) })
			lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
			if len(lines) > 40 {
				t.Errorf("%d lines do not fit one screen", len(lines))
			}
			for _, l := range lines {
				if n := utf8.RuneCountInString(l); n > 100 {
					t.Errorf("%d columns: %s", n, l)
				}
			}
		})
	}
}

func TestTextInColour(t *testing.T) {
	_, r := load(t, story(t, "connection-churn/supported"), diagnosis.Options{})
	var plain, painted bytes.Buffer
	if err := report.Text(&plain, r, report.TextOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := report.Text(&painted, r, report.TextOptions{Color: true}); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(plain.String(), "\x1b") || !strings.Contains(painted.String(), "\x1b[1m") {
		t.Error("colour is not where it was asked for")
	}
	stripped := painted.String()
	if n := len(regexp.MustCompile(`\x1b\[38;5;\d+m█`).FindAllString(stripped, -1)); n < 2 {
		t.Errorf("%d bars in the colour of their cause", n)
	}
	stripped = regexp.MustCompile(`\x1b\[38;5;\d+m`).ReplaceAllString(stripped, "")
	for _, code := range []string{"0", "1", "2", "31", "32", "33"} {
		stripped = strings.ReplaceAll(stripped, "\x1b["+code+"m", "")
	}
	trim := func(s string) string { // painting hides spaces at the ends of lines
		var b strings.Builder
		for line := range strings.Lines(s) {
			b.WriteString(strings.TrimRight(line, " \n") + "\n")
		}
		return b.String()
	}
	if trim(stripped) != trim(plain.String()) {
		t.Errorf("colour changes the text:\n%s\n%s", trim(stripped), trim(plain.String()))
	}
}

func TestShow(t *testing.T) {
	tl, _ := load(t, story(t, "connection-churn/overload-supported"), diagnosis.Options{})
	golden(t, "show.txt", func(w io.Writer) error {
		return report.ShowText(w, tl, report.Filter{Slowest: 2}, report.TextOptions{})
	})
	tl, _ = load(t, story(t, "connection-churn/supported"), diagnosis.Options{})
	text := golden(t, "show.json", func(w io.Writer) error {
		return report.ShowJSON(w, tl, report.Filter{Slowest: 2, Endpoint: "GET /prices/{}"})
	})
	if n := strings.Count(text, "\n"); n != 2 {
		t.Errorf("%d lines for two requests", n)
	}
	var none bytes.Buffer
	if err := report.ShowText(&none, tl, report.Filter{Endpoint: "GET /else"}, report.TextOptions{}); err != nil || none.String() != "No request to show: of 24 requests none is chosen.\n" {
		t.Errorf("%v %q", err, none.String())
	}
}

func TestWhyJSON(t *testing.T) {
	for name, from := range map[string]string{"churn.json": "connection-churn/supported", "lossy.json": "connection-churn/undecided"} {
		_, r := load(t, story(t, from), diagnosis.Options{})
		golden(t, name, func(w io.Writer) error { return report.WhyJSON(w, r) })
	}
}

func TestWithoutRequests(t *testing.T) {
	const head = "1000 manifest hooks=\"arrivals io sched sockets\"\n1000 process id=1 pid=7 comm=app\n1000 thread id=1 tid=7 process=1\n"
	for name, facts := range map[string]string{
		"none-http2.txt": "2000 conn id=1 process=1 local=10.0.0.1:80 peer=10.0.0.9:5000\n3000 conn-protocol conn=1 protocol=http2\n" +
			"3000 chunk conn=1 thread=1 bytes=24 arrived=2500 last=2500 first=3000\n",
		"none-outgoing.txt": "2000 conn id=1 side=out process=1 thread=1 local=10.0.0.1:4000 peer=10.0.0.9:5000\n",
		"none-ended.txt": "2000 conn id=1 process=1 local=10.0.0.1:80 peer=10.0.0.9:5000\n3000 chunk conn=1 thread=1 dir=read bytes=40 arrived=2500 last=2500 first=3000\n" +
			"3000 http-request conn=1 head=40 method=GET route=/a\n",
		"none-identified.txt": "2000 conn id=1 process=1 local=10.0.0.1:80 peer=10.0.0.9:5000\n3000 chunk conn=1 thread=1 dir=read bytes=40 arrived=2500 last=2500 first=3000\n" +
			"3000 http-request conn=1 head=40 method=GET route=/a\n4000 chunk conn=1 thread=1 bytes=40\n4000 http-response conn=1 head=40 status=200\n" +
			"5000 unseen process=1 what=ids from=1000\n",
		"none-at-all.txt": "2000 missing what=no-btf why=\"the kernel has no BTF\"\n",
	} {
		_, r := load(t, head+facts+"9000000 end reason=time\n", diagnosis.Options{})
		golden(t, name, func(w io.Writer) error { return report.Text(w, r, report.TextOptions{}) })
	}
}
