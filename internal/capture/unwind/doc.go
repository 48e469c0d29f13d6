// Package unwind takes stacks of watched threads: when a timer finds a thread running, and when a thread leaves its
// CPU to wait. The OpenTelemetry eBPF profiler, which only this package uses, walks the stacks of many language
// runtimes. This package decides when to walk and what to do with the stacks.
package unwind
