// Package demo is a small shop to try dwell on: an HTTP service that answers every
// request from a database (an embedded store behind HTTPS, in a process of its own),
// through an HTTP client that was set up without care, or with it.
//
// The careless client opens a connection, with a full TLS handshake, for every call.
// Nothing is staged beyond that: no sleep, no counter, no label for dwell to find.
package demo

import "fmt"

// Mode says how the shop's HTTP client was set up.
type Mode string

// The modes.
const (
	Bad   Mode = "bad"   // a new connection for every call
	Fixed Mode = "fixed" // one client that keeps its connections
)

// ParseMode returns the Mode of that name.
func ParseMode(name string) (Mode, error) {
	switch m := Mode(name); m {
	case Bad, Fixed:
		return m, nil
	}
	return "", fmt.Errorf("unknown mode %q (want %s or %s)", name, Bad, Fixed)
}

// Products is how many products the store holds, numbered from 0.
const Products = 500

// ProductPath is the path of one product's page in the shop.
func ProductPath(i int) string { return fmt.Sprintf("/products/%d", i%Products) }
