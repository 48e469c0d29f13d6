package main

import (
	"testing"
	"time"
)

func TestStatusText(t *testing.T) {
	busy := pulse{
		elapsed: 12*time.Second + 400*time.Millisecond, requests: 1234, rate: 101,
		p50: 4_920 * time.Microsecond, p99: 61 * time.Millisecond, lost: 3, cpu: 27,
	}
	for _, c := range []struct {
		p     pulse
		width int
		tty   bool
		want  string
	}{
		{busy, 200, false, "recording 12s  1234 requests  101/s  p50 4.92 ms  p99 61.0 ms  lost 3  own CPU 2.7 %\n"},
		{busy, 20, true, "\r\x1b[Krecording 12s  1234"},
		{pulse{}, 200, false, "recording 0s  0 requests  0/s  no request yet  lost 0  own CPU 0.0 %\n"},
	} {
		if got := statusText(c.p, c.width, c.tty); got != c.want {
			t.Errorf("got  %q\nwant %q", got, c.want)
		}
	}
}

func TestShort(t *testing.T) {
	for d, want := range map[time.Duration]string{
		417 * time.Microsecond:   "417 us",
		1234 * time.Microsecond:  "1.23 ms",
		12340 * time.Microsecond: "12.3 ms",
		560 * time.Millisecond:   "560 ms",
		12400 * time.Millisecond: "12.4 s",
	} {
		if got := short(d); got != want {
			t.Errorf("%d: got %s, want %s", d, got, want)
		}
	}
}
