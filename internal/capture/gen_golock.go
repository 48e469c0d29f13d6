package capture

//go:generate go tool bpf2go -cc clang -cflags "-O2 -mcpu=v3 -Wall -Werror -Wpadded -Wno-unused-function" -target amd64,arm64 -type park_event_type -type park_act -type park_set -type park_event -type park_stack -type cost -type loss golocks ../../bpf/golock.bpf.c -- -I../../bpf
