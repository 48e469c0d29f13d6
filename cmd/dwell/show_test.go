package main

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/getdwell/dwell/internal/diagnosis"
	"github.com/getdwell/dwell/internal/report"
)

func TestShowJSONIsOneLineForEachRequest(t *testing.T) {
	rec, err := bundled("bad")
	if err != nil {
		t.Fatal(err)
	}
	a, err := analyse(rec, diagnosis.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := report.ShowJSON(&out, a.timeline, report.Filter{}); err != nil {
		t.Fatal(err)
	}
	lines := bytes.Split(bytes.TrimSpace(out.Bytes()), []byte("\n"))
	r := a.report.Requests
	if want := r.Count + r.Cut + r.Excluded; want < 20 || len(lines) != want {
		t.Errorf("%d lines for %d requests", len(lines), want)
	}
	for i, line := range lines {
		if !json.Valid(line) {
			t.Errorf("line %d is not JSON", i+1)
		}
	}
}
