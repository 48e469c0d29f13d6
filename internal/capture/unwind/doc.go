// Package unwind takes stacks of watched threads: when a timer finds one running, and
// when one leaves its CPU to wait. The walk through the stacks of many language
// runtimes is that of the OpenTelemetry eBPF profiler, which only this package knows.
// When to walk, and what becomes of the stacks, is decided here.
package unwind
