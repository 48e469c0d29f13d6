// SPDX-License-Identifier: GPL-2.0
/* What a process hands to its TLS library to be encrypted, as far as that may be the head
 * of a request. They are an object of their own because they are optional; the ring and
 * the watched set are the recorder's. */
#include "kernel.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "abi.h"
#include "common.h"

/* Beside those of enum event_type. */
enum tls_event_type {
	EVENT_TLS_WRITE = 80,
	EVENT_TLS_SPENT, /* the process has used up what probing it may cost */
};

enum {
	TLS_SHORT = 512,
	TLS_LONG = 2048, /* signatures and tokens may come before what a request is about */
};

struct tls_write_event {
	struct head h;
	u64 ssl;    /* address of the library's connection */
	u64 bytes;  /* how many there are */
	u32 data_len;
	u32 pad;
};

struct tls_spent_event {
	struct head h;
};

/* What probing one process may still cost, in ns. */
struct tls_account {
	u64 credit;
	u64 since; /* when credit was last added to */
	u64 hits;
	u64 spent; /* 1: all, and the recorder was told */
};

/* By tgid; only processes that are probed have one. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 512);
	__type(key, u32);
	__type(value, struct tls_account);
} tls_accounts SEC(".maps");

/* What a hit costs the process, in ns: mostly the trap, which no program can time. */
const volatile u64 hit_cost = 0;
/* Credit is added at 1/share of the time that goes by, up to most. */
const volatile u64 share = 0;
const volatile u64 most = 0;

static __always_inline void tell_spent(struct task_struct *t)
{
	struct tls_spent_event *e = reserve(sizeof(*e), HOOK_IO);

	if (!e)
		return;
	fill_head(&e->h, EVENT_TLS_SPENT, t);
	submit(e);
}

/* Whether the process may be probed now; then it has been paid for. */
static __always_inline bool pay(struct task_struct *t)
{
	u32 tgid = t->tgid;
	struct tls_account *a = bpf_map_lookup_elem(&tls_accounts, &tgid);
	u64 now = bpf_ktime_get_ns();
	u64 credit;

	if (!a || a->spent || !share)
		return false;
	a->hits++;
	credit = a->credit + (now - a->since) / share;
	if (credit > most)
		credit = most;
	a->since = now;
	if (credit < hit_cost) {
		a->spent = 1;
		tell_spent(t);
		return false;
	}
	a->credit = credit - hit_cost;
	return true;
}

/* A macro, because the verifier wants the room as a constant. */
#define TELL_WRITE(room)                                                           \
	do {                                                                       \
		struct tls_write_event *e = reserve(sizeof(*e) + (room), HOOK_IO); \
		u64 length = bytes < (room) ? bytes : (room);                      \
                                                                                   \
		if (!e)                                                            \
			return;                                                    \
		fill_head(&e->h, EVENT_TLS_WRITE, t);                              \
		e->ssl = ssl;                                                      \
		e->bytes = bytes;                                                  \
		e->pad = 0;                                                        \
		e->data_len = length;                                              \
		if (bpf_probe_read_user(e + 1, length, (void *)buffer))            \
			e->data_len = 0;                                           \
		submit(e);                                                         \
	} while (0)

static __always_inline void on_write(u64 ssl, u64 buffer, u64 bytes)
{
	struct task_struct *t = bpf_get_current_task_btf();
	char first = 0;

	if (!watch_of(t->tgid) || !bytes || !pay(t))
		return;
	bpf_probe_read_user(&first, 1, (void *)buffer);
	if (bytes > TLS_SHORT && first >= 'A' && first <= 'Z') /* as methods begin */
		TELL_WRITE(TLS_LONG);
	else
		TELL_WRITE(TLS_SHORT);
}

SEC("uprobe.multi/tls_write")
int tls_write(struct pt_regs *ctx)
{
	on_write(FN_ARG1(ctx), FN_ARG2(ctx), (u32)FN_ARG3(ctx)); /* an int */
	return 0;
}

SEC("uprobe.multi/tls_write_ex")
int tls_write_ex(struct pt_regs *ctx)
{
	on_write(FN_ARG1(ctx), FN_ARG2(ctx), FN_ARG3(ctx));
	return 0;
}

char LICENSE[] SEC("license") = "GPL";

/* Types reach the Go side only if the object's BTF mentions them. */
#define EXPORT(type, name) type *export_##name __attribute__((unused))
EXPORT(enum tls_event_type, tls_event_type);
EXPORT(struct tls_write_event, tls_write_event);
EXPORT(struct tls_spent_event, tls_spent_event);
EXPORT(struct tls_account, tls_account);
