// Package capture records a live service: it loads the programs of bpf/ into the
// kernel, follows a process tree and turns what the programs see into the facts of
// package recording. It decides nothing about requests.
package capture
