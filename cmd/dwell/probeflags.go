package main

import (
	"fmt"
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
	tls  capture.TLSHeads
	noGo bool
	all  bool // never pause

	version string // environment variable of the service
}

func addProbeFlags(c *cobra.Command, f *probeFlags) {
	c.Flags().StringVar(&f.tls, "tls-heads", "on",
		"on or off: name calls over TLS by method and path, for at most 1 % of a CPU per process")
	c.Flags().StringVar(&f.golang, "go-probes", "on",
		"on or off: probe Go programs, to assign calls to requests and to see what goroutines wait for; at most 3 % of a CPU, and 5 % more if goroutines wait for locks")
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
	probe, err := onOff("go-probes", f.golang)
	o.noGo = !probe
	if err != nil {
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

func onOff(flag, value string) (bool, error) {
	if value != "on" && value != "off" {
		return false, fmt.Errorf("--%s %q is neither on nor off", flag, value)
	}
	return value == "on", nil
}
