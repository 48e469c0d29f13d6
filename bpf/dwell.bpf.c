// SPDX-License-Identifier: GPL-2.0
/* The programs of dwell's recorder. They are one object because they share the
 * watched set and the storage of threads and sockets; each kernel subsystem has its
 * own header. They know nothing of requests. */
#include "kernel.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "abi.h"
#include "common.h"
#include "runtime.h"
#include "context.h"
#include "syscalls.h"
#include "files.h"
#include "sched.h"
#include "process.h"
#include "flow.h"
#include "transfer.h"
#include "unix.h"
#include "sockets.h"
#include "lookup.h"
#include "datagram.h"
#include "io.h"
#include "exchange.h"
#include "door.h"
#include "tracing.h"
#include "dump.h"
#include "listing.h"
#include "boundary.h"
#include "sample.h"

char LICENSE[] SEC("license") = "GPL";

/* Types reach the Go side only if the object's BTF mentions them. */
#define EXPORT(type, name) type *export_##name __attribute__((unused))
EXPORT(enum event_type, event_type);
EXPORT(enum hook, hook);
EXPORT(enum program, program);
EXPORT(struct cost, cost);
EXPORT(enum off_state, off_state);
EXPORT(enum waker_kind, waker_kind);
EXPORT(enum side, side);
EXPORT(enum direction, direction);
EXPORT(enum closer, closer);
EXPORT(struct off_event, off_event);
EXPORT(struct file_event, file_event);
EXPORT(struct context_event, context_event);
EXPORT(struct task_event, task_event);
EXPORT(struct listen_event, listen_event);
EXPORT(struct conn_event, conn_event);
EXPORT(struct path_event, path_event);
EXPORT(struct chunk_event, chunk_event);
EXPORT(struct datagram_event, datagram_event);
EXPORT(struct send_event, send_event);
EXPORT(enum boundary_kind, boundary_kind);
EXPORT(struct boundary_event, boundary_event);
EXPORT(struct late_event, late_event);
EXPORT(struct retransmit_event, retransmit_event);
EXPORT(struct sample_event, sample_event);
EXPORT(struct task_record, task_record);
EXPORT(struct base_record, base_record);
