package main

import (
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/getdwell/dwell/internal/demo"
	"github.com/getdwell/dwell/recording"
)

// A recording's page has its address from the beginning. It shows the progress of recording, what was written so far
// on request, and finally the whole recording.
func TestAPageIsThereWhileItsRecordingIsMade(t *testing.T) {
	shop, err := bundled(demo.Bad)
	if err != nil {
		t.Fatal(err)
	}
	fake := &fakeRecorder{begun: true}
	var first, later string
	write := func(events []recording.Event) {
		for _, e := range events {
			if err := fake.sink.Write(e); err != nil {
				t.Fatal(err)
			}
		}
		if err := fake.sink.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	o := recordOptions{command: "attach", path: filepath.Join(t.TempDir(), "rec"), pids: []int{1}, open: fake.open, view: true}
	stop := make(chan struct{})
	o.until = stop
	addressed := make(chan string, 1)
	fake.running = func() {
		address := <-addressed
		_, first = got(t, address)
		write(shop.Events[:len(shop.Events)*2/3])
		got(t, address+"so-far")
		_, later = got(t, address+"data.json")
		write(shop.Events[len(shop.Events)*2/3 : len(shop.Events)-1])
		close(stop)
	}
	if o.page, err = newPage("attach", 0); err != nil {
		t.Fatal(err)
	}
	defer o.page.close()
	addressed <- o.page.address()
	r, err := o.record(t.Context(), quiet())
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(first, "<h1>Recording 0s") || !strings.Contains(first, `href="so-far"`) {
		t.Errorf("before anything is written: %.600s", first)
	}
	a, err := analyseFile(quiet(), whyOptions{command: "attach", path: r.path})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.page.show(a, viewing{command: "attach", name: "rec"}); err != nil {
		t.Fatal(err)
	}
	_, whole := got(t, r.page.address()+"data.json")
	if some, all := requestsOn(t, later), requestsOn(t, whole); some == 0 || some >= all {
		t.Errorf("%d requests on the page while recording, %d on the whole one", some, all)
	}
	if status, _ := got(t, r.page.address()+"so-far"); status != http.StatusNotFound {
		t.Errorf("the whole page still offers a part: status %d", status)
	}
}

// A page that took two seconds of a processor may be made again after eighteen seconds.
func TestPagesOfAPartAreMadeSparingly(t *testing.T) {
	over := time.Unix(1000, 0)
	for rested, want := range map[time.Duration]bool{0: false, 17 * time.Second: false, 18 * time.Second: true} {
		if got := (sparing{2 * time.Second, over}).may(over.Add(rested)); got != want {
			t.Errorf("after %s: %v, want %v", rested, got, want)
		}
	}
	if !(sparing{}).may(over) {
		t.Error("the first page must wait")
	}
}

func got(t *testing.T, address string) (int, string) {
	t.Helper()
	answer, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

func requestsOn(t *testing.T, page string) int {
	t.Helper()
	var p struct {
		Report struct{ Requests struct{ Count int } }
	}
	if err := json.Unmarshal([]byte(page), &p); err != nil {
		t.Fatalf("%v: %.200s", err, page)
	}
	return p.Report.Requests.Count
}
