package protocol

import (
	"testing"

	"github.com/getdwell/dwell/recording"
)

func TestTelemetryDatagrams(t *testing.T) {
	const statsd, syslog = recording.ProtocolStatsD, recording.ProtocolSyslog
	for payload, want := range map[string]recording.Datagram{
		"shop.basket.size:3|g":                               {Protocol: statsd, Messages: 1},
		"a:1|c\nb:320|ms|@0.1\nc:-4|g\n":                     {Protocol: statsd, Messages: 3},
		"page.views:1:2:3|d|#env:prod,user:S3cr3t|c:ci-1|T1": {Protocol: statsd, Messages: 1},
		"users:S3cr3t|s":                                     {Protocol: statsd, Messages: 1},
		"_e{5,4}:title|text|#a:b":                            {Protocol: statsd, Messages: 1},
		"_sc|db|0":                                           {Protocol: statsd, Messages: 1},
		"<34>1 2026-01-01T00:00:00Z host app - - - S3cr3t":   {Protocol: syslog, Messages: 1},
		"<13>Oct 11 22:14:15 host app[1]: S3cr3t":            {Protocol: syslog, Messages: 1},
		"":                   {},
		"hello":              {},
		"a:1|x":              {},
		"a:one|c":            {},
		"a:1|c\nhello":       {},
		"GET / HTTP/1.1\r\n": {},
		"<html>":             {},
		"<999>1 x":           {},
		"\x00\x01\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x03a": {},
	} {
		want.Bytes = int64(len(payload))
		got, ok := Telemetry([]byte(payload), want.Bytes)
		if got != want || ok != (want.Protocol != recording.ProtocolUnknown) {
			t.Errorf("%q: %+v (%v), want %+v", payload, got, ok, want)
		}
	}
	// If a datagram was not captured completely, only the visible messages are counted.
	if got, _ := Telemetry([]byte("a:1|c\nb:2|c\nc:3"), 1400); got.Messages != 3 || got.Bytes != 1400 {
		t.Errorf("%+v", got)
	}
}

func FuzzTelemetry(f *testing.F) {
	f.Add([]byte("a:1|c\nb:2|g"), int64(40))
	f.Add([]byte("<34>1 x"), int64(7))
	f.Fuzz(func(t *testing.T, b []byte, size int64) {
		got, ok := Telemetry(b, max(size, int64(len(b))))
		if ok != (got.Messages > 0) || got.Messages > int64(len(b)) {
			t.Errorf("%+v", got)
		}
	})
}
