package expect

import (
	"encoding/json"
	"fmt"
	"io"
)

// Diagnosis is the part of `dwell why --json` (docs/contract.md) that cases look at.
// It is declared here again on purpose: a script sees only the contract.
type Diagnosis struct {
	Version   int       `json:"version"`
	Recording Recording `json:"recording"`
	Requests  Requests  `json:"requests"`
	Calls     []Calls   `json:"calls"`
	Findings  []Item    `json:"findings"`
	Leads     []Item    `json:"leads"`
	Minor     []Item    `json:"minor"`
	Refuted   []Item    `json:"refuted"`
	Undecided []Item    `json:"undecided"`
}

// Recording describes the recording.
type Recording struct {
	Seconds  float64 `json:"seconds"`
	Events   int64   `json:"events"`
	Lost     int64   `json:"lost"`
	Overhead float64 `json:"overhead_cpu_share"` // of one core
}

// Requests summarises them; ns.
type Requests struct {
	Count       int64   `json:"count"`
	Cut         int64   `json:"cut"`
	Associated  float64 `json:"associated_share"`
	P50         int64   `json:"p50_ns"`
	P90         int64   `json:"p90_ns"`
	P99         int64   `json:"p99_ns"`
	Unaccounted float64 `json:"unaccounted_share"`
}

// Calls to one peer; ns.
type Calls struct {
	Peer      string           `json:"peer"`
	Operation string           `json:"operation"`
	Count     int64            `json:"count"`
	New       float64          `json:"new_connection_share"`
	P50       int64            `json:"p50_ns"`
	P99       int64            `json:"p99_ns"`
	Phases    map[string]int64 `json:"phases"`
}

// Item is a finding, or a refuted or undecided hypothesis.
type Item struct {
	ID       string     `json:"id"`
	Title    string     `json:"title"`
	Place    string     `json:"place"`
	Impact   Impact     `json:"impact"`
	Evidence []Evidence `json:"evidence"`
	Missing  string     `json:"missing"`
}

// Impact is what a fix is predicted to save; ns.
type Impact struct {
	P50   int64   `json:"p50_saving_ns"`
	P99   int64   `json:"p99_saving_ns"`
	Share float64 `json:"share"`
}

// Evidence is one measured quantity.
type Evidence struct {
	What  string          `json:"what"`
	Value float64         `json:"value"`
	Unit  string          `json:"unit"`
	Bound json.RawMessage `json:"bound"`
}

// String is the quantity as it is printed beside an expectation.
func (e Evidence) String() string {
	return fmt.Sprintf("%s = %.4g %s", e.What, e.Value, e.Unit)
}

// Read decodes what `dwell why --json` printed.
func Read(r io.Reader) (*Diagnosis, error) {
	var d Diagnosis
	if err := json.NewDecoder(r).Decode(&d); err != nil {
		return nil, fmt.Errorf("reading a diagnosis: %w", err)
	}
	if d.Version != 2 {
		return nil, fmt.Errorf("reading a diagnosis: its version is %d, this reads 2", d.Version)
	}
	return &d, nil
}
