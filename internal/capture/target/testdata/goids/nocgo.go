//go:build !cgo

package main

func touch() {}
