package unwind

// The object and its Go types are built from bpf/ and committed, so that building dwell
// needs no C compiler. Rebuild them with: go generate ./internal/capture/...

//go:generate go tool bpf2go -cc clang -cflags "-O2 -mcpu=v3 -Wall -Werror -Wpadded -Wno-unused-function" -target amd64,arm64 -type occasion -type left_out -type stack_mark -type cost moments ../../../bpf/unwind.bpf.c -- -I../../../bpf
