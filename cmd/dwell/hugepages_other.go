//go:build !linux

package main

// useHugePages does nothing: see its namesake.
func useHugePages(int64) {}
