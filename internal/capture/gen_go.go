package capture

//go:generate go tool bpf2go -cc clang -cflags "-O2 -mcpu=v3 -Wall -Werror -Wpadded -Wno-unused-function" -target amd64,arm64 -type go_call_event -type go_run_event -type go_program -type go_event golang ../../bpf/golang.bpf.c -- -I../../bpf
