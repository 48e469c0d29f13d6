package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/getdwell/dwell/internal/capture"
)

// probeFlags say which programs are probed inside the service, as typed.
type probeFlags struct {
	tls, golang, windows, version string
}

// probeOptions are the parsed probeFlags.
type probeOptions struct {
	tls    capture.TLSHeads
	golang capture.GoProbes
	all    bool // never pause

	version string // environment variable of the service
}

func addProbeFlags(c *cobra.Command, f *probeFlags) {
	c.Flags().StringVar(&f.tls, "tls-heads", "on",
		"on or off: name calls over TLS by method and path, for at most 1 % of a CPU per process")
	c.Flags().StringVar(&f.golang, "go-probes", "on",
		"on, off, or a share of a CPU such as 20%: probe Go programs, to assign calls to requests and to see what goroutines wait for; on: at most 3 % of a CPU, and 5 % more if goroutines wait for locks")
	c.Flags().StringVar(&f.windows, "windows", "auto",
		"auto or off: if a service that uses all of its processor time causes tens of thousands of events a second, record windows of a second with rests between them")
	c.Flags().StringVar(&f.version, "version-env", "",
		"environment variable that holds the service's version, such as APP_VERSION, to tell releases apart; no other is read")
}

// options validates the flags.
func (f probeFlags) options() (o probeOptions, err error) {
	heads, err := onOff("tls-heads", f.tls)
	if heads {
		o.tls = capture.DefaultTLSHeads()
	}
	if err != nil {
		return o, err
	}
	if o.golang, err = goProbes(f.golang); err != nil {
		return o, err
	}
	if f.windows != "auto" && f.windows != "off" {
		return o, fmt.Errorf("--windows %q is neither auto nor off", f.windows)
	}
	o.all = f.windows == "off"
	if o.version = f.version; strings.ContainsAny(o.version, "=\x00") {
		return o, fmt.Errorf("--version-env %q is no name of a variable (as APP_VERSION)", f.version)
	}
	return o, nil
}

// goProbes reads how much probes on Go programs may cost.
func goProbes(value string) (capture.GoProbes, error) {
	if value == "on" || value == "off" {
		return capture.GoProbes{Off: value == "off"}, nil
	}
	number, percent := strings.CutSuffix(value, "%")
	n, err := strconv.ParseFloat(number, 64)
	if err != nil || !percent || !(n > 0 && n <= 100) {
		return capture.GoProbes{}, fmt.Errorf("--go-probes %q is neither on nor off nor a share of one CPU (as 20%%)", value)
	}
	return capture.GoProbes{Share: n / 100}, nil
}

func onOff(flag, value string) (bool, error) {
	if value != "on" && value != "off" {
		return false, fmt.Errorf("--%s %q is neither on nor off", flag, value)
	}
	return value == "on", nil
}
