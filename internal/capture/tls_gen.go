package capture

//go:generate go tool bpf2go -cc clang -cflags "-O2 -mcpu=v3 -Wall -Werror -Wpadded -Wno-unused-function" -target amd64,arm64 -type tls_event_type -type tls_write_event -type tls_spent_event -type tls_account tlsProbes ../../bpf/tls.bpf.c -- -I../../bpf
