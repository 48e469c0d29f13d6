package capture

//go:generate go tool bpf2go -cc clang -cflags "-O2 -mcpu=v3 -Wall -Werror -Wpadded -Wno-unused-function" -target amd64,arm64 exits ../../bpf/exits.bpf.c -- -I../../bpf
