// Package capture records a live service. It loads the programs of bpf/ into the kernel, follows a process tree and
// turns the programs' events into the facts of package recording. It decides nothing about requests.
package capture
