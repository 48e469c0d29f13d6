package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/getdwell/dwell/internal/capture"
)

// tlsHeads says whether calls over TLS are named, as it was typed.
type tlsHeads string

func addTLSFlag(c *cobra.Command, f *tlsHeads) {
	c.Flags().StringVar((*string)(f), "tls-heads", "on",
		"on or off: name calls over TLS by method and path, at no more than 1 % of a CPU to each process")
}

// options validates the flag.
func (f tlsHeads) options() (capture.TLSHeads, error) {
	switch f {
	case "on":
		return capture.DefaultTLSHeads(), nil
	case "off":
		return capture.TLSHeads{}, nil
	}
	return capture.TLSHeads{}, fmt.Errorf("--tls-heads %q is neither on nor off", string(f))
}
