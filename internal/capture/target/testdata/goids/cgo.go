//go:build cgo

package main

// __thread int ours[100];
// static int touch(int i) { ours[i % 100] = i; return ours[3]; }
import "C"

// touch makes the program use thread-local storage besides the Go runtime's.
func touch() { C.touch(5) }
