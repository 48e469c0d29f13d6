package capture

// The objects and their Go types are built from bpf/ and committed, so that building
// dwell needs no C compiler. Rebuild them with: go generate ./internal/capture

//go:generate go tool bpf2go -cc clang -cflags "-O2 -mcpu=v3 -Wall -Werror -Wpadded" -target amd64,arm64 -type event_type -type hook -type program -type cost -type off_state -type waker_kind -type side -type direction -type closer -type head -type runtime_ids -type off_event -type file_event -type context_event -type task_event -type address -type listen_event -type conn_event -type path_event -type chunk_event -type datagram_event -type send_event -type boundary_kind -type boundary_event -type late_event -type retransmit_event -type sample_event -type task_record -type base_record -type watch -type port_key -type loss probes ../../bpf/dwell.bpf.c -- -I../../bpf
