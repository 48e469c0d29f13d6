package main

import (
	"context"
	"fmt"
	"os/signal"
	"sort"
	"strings"
	"time"

	"github.com/getdwell/dwell/internal/report"
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// mostInstants bounds how many dumps --every makes of one recording.
const mostInstants = 10_000

// instants returns the instants for which a dump is requested.
func (o threadsOptions) instants(tl *timeline.Timeline, wall wallClock) ([]report.DumpOptions, error) {
	end := tl.End - 1
	switch {
	case o.at != "":
		at, err := instant(o.at, tl, wall)
		return []report.DumpOptions{{At: at, Chosen: "as asked for"}}, err
	case o.every > 0:
		if n := int64(tl.End.Sub(tl.Start)) / int64(o.every); n > mostInstants {
			least := (tl.End.Sub(tl.Start)/mostInstants + 1e9) / 1e9
			return nil, fmt.Errorf("--every %s: that is %d instants, more than %d (use --every %ds or more, or --at)", o.every, n, mostInstants, least)
		}
		var list []report.DumpOptions
		for at := tl.Start + timeline.Time(o.every); at <= end; at += timeline.Time(o.every) {
			if tl.WindowAt(at).From > at {
				continue // nothing was recorded at that time
			}
			list = append(list, report.DumpOptions{At: at, Chosen: "one every " + o.every.String()})
		}
		if list == nil {
			return nil, fmt.Errorf("--every %s: the recording is only %s long", o.every, short(time.Duration(tl.End.Sub(tl.Start))))
		}
		return list, nil
	case o.when != "":
		c, err := report.ParseCondition(o.when)
		if err != nil {
			return nil, err
		}
		var list []report.DumpOptions
		for _, at := range report.When(tl, c) {
			list = append(list, report.DumpOptions{At: at, Chosen: "as " + o.when + " began to hold"})
		}
		if list == nil && o.pid == 0 {
			return nil, fmt.Errorf("--when %q never held (dwell threads REC shows the instant at which most threads were blocked)", o.when)
		}
		if o.pid != 0 {
			list = list[:min(len(list), 1)] // it was watched for, and has happened
		}
		return list, nil
	}
	if at, n := report.MostBlocked(tl); n > 0 {
		return []report.DumpOptions{{At: at, Chosen: fmt.Sprintf("where most were blocked (%d)", n)}}, nil
	}
	return []report.DumpOptions{{At: end, Chosen: "at the end, for none was ever blocked"}}, nil
}

// instant reads a time: +2.5s or 2.5s since the start, -1s before the end, or wall time.
func instant(text string, tl *timeline.Timeline, wall wallClock) (timeline.Time, error) {
	var at timeline.Time
	if d, err := time.ParseDuration(text); err == nil {
		at = tl.Start + timeline.Time(d)
		if strings.HasPrefix(text, "-") {
			at = tl.End + timeline.Time(d)
		}
	} else if t, err := time.Parse(time.RFC3339Nano, text); err != nil {
		return 0, fmt.Errorf("--at %q: want +2.5s since the start, -1s before the end, or wall time as 2026-01-02T15:04:05Z", text)
	} else if wall == nil {
		return 0, fmt.Errorf("--at %q: the recording does not know the wall time (use +2.5s since its start)", text)
	} else {
		at = wall.monotonic(t.UnixNano())
	}
	if at < tl.Start || at >= tl.End {
		until := ""
		if wall != nil {
			until = fmt.Sprintf(", %s to %s", wallText(wall.at(tl.Start)), wallText(wall.at(tl.End)))
		}
		return 0, fmt.Errorf("--at %s: the recording is %s long%s", text, short(time.Duration(tl.End.Sub(tl.Start))), until)
	}
	if w := tl.WindowAt(at); w.From > at {
		return 0, fmt.Errorf("--at %s: nothing was recorded then (it goes on at +%.2fs; record with --windows=off to have all of it)", text, time.Duration(w.From.Sub(tl.Start)).Seconds())
	}
	return at, nil
}

// moment reads a time as instant does, or a time of day in UTC. It returns its span: a second if a time of day has no
// fraction, else an instant.
func moment(text string, tl *timeline.Timeline, wall wallClock) (from, to timeline.Time, err error) {
	day, err := time.Parse("15:04:05.999999999", text)
	if err != nil {
		at, err := instant(text, tl, wall)
		return at, at + 1, err
	}
	if wall == nil {
		return 0, 0, fmt.Errorf("--at %q: the recording does not know the wall time (use +2.5s since its start)", text)
	}
	long := timeline.Time(time.Second)
	if strings.Contains(text, ".") {
		long = 1
	}
	first := time.Unix(0, wall.at(tl.Start)).UTC().Truncate(24 * time.Hour)
	for n := range 2 { // the recording may extend past midnight
		at := first.AddDate(0, 0, n).Add(time.Duration(day.Hour())*time.Hour + time.Duration(day.Minute())*time.Minute + time.Duration(day.Second())*time.Second + time.Duration(day.Nanosecond()))
		from = wall.monotonic(at.UnixNano())
		if from+long > tl.Start && from < tl.End {
			return from, from + long, nil
		}
	}
	return 0, 0, fmt.Errorf("--at %s: the recording goes from %s to %s", text, wallText(wall.at(tl.Start)), wallText(wall.at(tl.End)))
}

// wallClock pairs readings of the recording's clock with wall time, in order.
type wallClock []clockPair

type clockPair struct {
	mono timeline.Time
	wall int64 // ns since the Unix epoch
}

func newWallClock(events []recording.Event) (w wallClock) {
	for _, e := range events {
		w.note(e)
	}
	return w
}

// note processes the next event.
func (w *wallClock) note(e recording.Event) {
	if c, ok := e.Fact.(*recording.Clock); ok {
		*w = append(*w, clockPair{e.Time, c.Wall})
	}
}

// at returns the wall time of a time; 0 if it is not known.
func (w wallClock) at(t timeline.Time) int64 {
	if len(w) == 0 {
		return 0
	}
	p := w[max(0, sort.Search(len(w), func(k int) bool { return w[k].mono > t })-1)]
	return p.wall + int64(t-p.mono)
}

// monotonic returns the time at a wall time.
func (w wallClock) monotonic(wall int64) timeline.Time {
	p := w[max(0, sort.Search(len(w), func(k int) bool { return w[k].wall > wall })-1)]
	return p.mono + timeline.Time(wall-p.wall)
}

// wallText prints a wall time in UTC, to the millisecond.
func wallText(ns int64) string {
	if ns == 0 {
		return ""
	}
	return time.Unix(0, ns).UTC().Format("2006-01-02T15:04:05.000Z07:00")
}

// pause waits; it returns false if a signal or ctx ended the wait.
func pause(ctx context.Context, d time.Duration) bool {
	ctx, stop := signal.NotifyContext(ctx, endings()...)
	defer stop()
	timer := time.NewTimer(max(0, d))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
