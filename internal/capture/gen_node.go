package capture

//go:generate go tool bpf2go -cc clang -cflags "-O2 -mcpu=v3 -Wall -Werror -Wpadded -Wno-unused-function" -target amd64,arm64 -type node_event_type -type node_spent_event node ../../bpf/node.bpf.c -- -I../../bpf
