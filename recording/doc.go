// Package recording holds the facts that dwell observes about a running service. It reads and writes their two forms:
// an append-only binary file, and a text with one event per line.
//
// # Text form
//
// Every line is an event: a time, the name of a kind, and fields.
//
//	# dwell recording, text form 1
//	1_000_000 process id=1 pid=4242 comm=node runtime=node
//	1.5ms     thread id=1 tid=4242 process=1
//	2ms       chunk conn=3 thread=1 dir=write bytes=180 first=2ms
//	9ms       missing what=no-btf why="the kernel has no BTF"
//
// Numbers are decimal, with optional underscores. A number with a unit (ns, us, ms, s) is a length of time in
// nanoseconds. Times count from zero, so 2ms is the time 2000000. A string is quoted as in Go unless it consists of
// letters, digits and any of _./:@{}*+-. An enum is written by name, or as a number if it has no name. Absent fields
// are zero or empty. A # at the start of a line or after a space begins a comment. A kind that this version does not
// know is kept as an UnknownFact; in it, quotes distinguish strings from numbers. Lines may be in any order: readers
// sort events by time and keep the order of lines with equal times.
//
// # Binary form
//
// See docs/recording-format.md.
package recording
