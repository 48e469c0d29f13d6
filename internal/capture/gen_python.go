package capture

//go:generate go tool bpf2go -cc clang -cflags "-O2 -mcpu=v3 -Wall -Werror -Wpadded -Wno-unused-function" -target amd64,arm64 -type python_event_type -type python_spent_event python ../../bpf/python.bpf.c -- -I../../bpf
