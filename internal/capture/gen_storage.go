package capture

//go:generate go tool bpf2go -cc clang -cflags "-O2 -mcpu=v3 -Wall -Werror -Wpadded -Wno-unused-function" -target amd64,arm64 -type storage_event_type -type storage_program -type mapping_event -type memory_wait_event -type sync_event -type block_stat -type block_key -type cost storage ../../bpf/storage.bpf.c -- -I../../bpf
