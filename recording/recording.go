package recording

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"
)

// Recording is one capture session, read completely.
type Recording struct {
	// Events are ordered by Time; events of equal Time keep the order in which they
	// were written.
	Events []Event
	// Truncated says that there is no End fact: the recorder did not close it.
	Truncated bool
	// Dropped counts the bytes at the end of a binary file that were left out because they form no complete block. It
	// is 0 for the text form.
	Dropped int64
	// LeftOut counts the facts with values that no recording can hold: see Load.
	LeftOut int64
	// Excerpt is nil if the whole recording was read.
	Excerpt *Excerpt
}

var (
	// ErrEmpty says that a recording holds no events.
	ErrEmpty = errors.New("the recording is empty")
	// ErrNotRecording says that the input is neither form of a recording.
	ErrNotRecording = errors.New("not a dwell recording")
)

// NewerError says that a recording's format is newer than this version of dwell can read.
type NewerError struct {
	Version int // of the format, as found in the recording
}

// Error implements error.
func (e NewerError) Error() string {
	return fmt.Sprintf("the recording has format version %d, this dwell reads up to %d (use a newer dwell)", e.Version, Version)
}

// IsBinary reports whether a file that begins like this is a recording in its binary form.
func IsBinary(begin []byte) bool { return bytes.HasPrefix(begin, []byte(magic)) }

// Load reads a recording in either form. Facts with impossible values (times far from the others, negative sizes) are
// left out, and a Loss reports them. Errors are or wrap ErrEmpty, ErrNotRecording, NewerError or the error of r;
// errors of the text form name the line.
func Load(r io.Reader) (*Recording, error) { return LoadBy(Workers{}, r) }

// LoadBy is Load; several workers decode the blocks of a binary file.
func LoadBy(by Workers, r io.Reader) (*Recording, error) {
	events, dropped, err := read(by, r)
	if err != nil {
		return nil, err
	}
	return finish(by, events, dropped)
}

// read returns the events of either form in the order of the file, and how many bytes at the end form no complete
// block.
func read(by Workers, r io.Reader) ([]Event, int64, error) {
	in := bufio.NewReaderSize(r, 64<<10)
	start, err := in.Peek(512)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, 0, fmt.Errorf("read recording: %w", err)
	}
	switch {
	case len(start) == 0:
		return nil, 0, ErrEmpty
	case IsBinary(start):
		return readBinary(by, in)
	case bytes.HasPrefix([]byte(magic), start):
		return nil, 0, fmt.Errorf("%w: it was cut in its first bytes", ErrEmpty)
	case !looksLikeText(start):
		return nil, 0, ErrNotRecording
	}
	events, err := parseText(in)
	return events, 0, err
}

// looksLikeText reports whether start could be the beginning of the text form.
func looksLikeText(start []byte) bool {
	for len(start) > 0 {
		r, n := utf8.DecodeRune(start)
		if r == utf8.RuneError && n == 1 && len(start) >= utf8.UTFMax {
			return false
		}
		if r < ' ' && r != '\n' && r != '\r' && r != '\t' {
			return false
		}
		start = start[n:]
	}
	return true
}

// finish leaves out events that no recording can hold, and makes a recording of the rest.
func finish(by Workers, events []Event, dropped int64) (*Recording, error) {
	out := newScreen()
	rec, err := assemble(out.within(by, events), dropped)
	if err != nil || out.left == 0 {
		return rec, err
	}
	rec.LeftOut = out.left
	last := len(rec.Events) - 1
	loss := out.loss(rec.Events[0].Time, rec.Events[last].Time)
	rec.Events = slices.Insert(rec.Events, last+out.told(rec.Events[last]), loss)
	return rec, nil
}

// assemble orders the events and determines whether the recording was closed.
func assemble(events []Event, dropped int64) (*Recording, error) {
	if len(events) == 0 && dropped > 0 {
		return nil, fmt.Errorf("%w: it was cut before the end of its first block", ErrEmpty)
	}
	if len(events) == 0 {
		return nil, ErrEmpty
	}
	sortEvents(events)
	rec := &Recording{Events: events, Truncated: true, Dropped: dropped}
	for i := len(events) - 1; i >= 0 && rec.Truncated; i-- {
		_, ended := events[i].Fact.(*End)
		rec.Truncated = !ended
	}
	return rec, nil
}

// sortEvents is a stable merge sort. It takes linear time if the events are already in order, as nearly all are.
func sortEvents(events []Event) {
	if ordered(events) {
		return
	}
	mergeSort(events, make([]Event, (len(events)+1)/2))
}

func ordered(events []Event) bool {
	for i := 1; i < len(events); i++ {
		if events[i].Time < events[i-1].Time {
			return false
		}
	}
	return true
}

// fewEvents is the largest number of events that is sorted by insertion.
const fewEvents = 24

func mergeSort(events, spare []Event) {
	if len(events) <= fewEvents {
		insertionSort(events)
		return
	}
	mid := len(events) / 2
	mergeSort(events[:mid], spare)
	mergeSort(events[mid:], spare)
	if events[mid-1].Time <= events[mid].Time {
		return
	}
	left := spare[:copy(spare, events[:mid])]
	right := events[mid:]
	for i := range events {
		if len(left) == 0 {
			return
		}
		if len(right) == 0 || left[0].Time <= right[0].Time {
			events[i], left = left[0], left[1:]
		} else {
			events[i], right = right[0], right[1:]
		}
	}
}

func insertionSort(events []Event) {
	for i := 1; i < len(events); i++ {
		for k := i; k > 0 && events[k].Time < events[k-1].Time; k-- {
			events[k], events[k-1] = events[k-1], events[k]
		}
	}
}
