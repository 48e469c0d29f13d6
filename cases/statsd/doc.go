// Package statsd tests what of the case can be tested without running it.
package statsd
