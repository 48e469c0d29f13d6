// SPDX-License-Identifier: GPL-2.0
/* Which context of Python is a copy of which. A task of asyncio has one of its own, copied
 * from that of whoever made it; so has a thread that works for one. This is an object of its
 * own because it is optional; the watched set and the contexts are the recorder's. */
#include "kernel.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "abi.h"
#include "common.h"
#include "runtime.h"
#include "context.h"

/* Beside those of enum event_type. */
enum python_event_type {
	EVENT_CONTEXTS_SPENT = 112, /* the process has used up what numbering may cost */
};

struct python_spent_event {
	struct head h;
};

enum { TYPE_OFFSET = 8 }; /* of the type of an object */

/* Credit is added at 1/share of the time that goes by, up to most. */
const volatile u64 share = 0;
const volatile u64 most = 0;

/* What a hit costs the process, in ns: mostly the traps, which no program can time. */
volatile u64 hit_cost = 0;

u64 hits = 0;

static __always_inline void tell_spent(struct task_struct *t)
{
	struct python_spent_event *e = reserve(sizeof(*e), HOOK_IO);

	if (!e)
		return;
	fill_head(&e->h, EVENT_CONTEXTS_SPENT, t);
	submit(e);
}

/* Whether the process may be charged for a hit; then it was. Else it is told once. */
static __always_inline bool pay(struct watch *w, struct task_struct *t)
{
	u64 now = bpf_ktime_get_ns();
	u64 credit = w->credit;

	__sync_fetch_and_add(&hits, 1);
	if (!share)
		return false;
	if (now > w->credited)
		credit += (now - w->credited) / share;
	if (credit > most)
		credit = most;
	w->credited = now;
	if (credit < hit_cost) {
		w->py_copies = 0;
		w->contexts = 0; /* what is known of them will soon be of others */
		tell_spent(t);
		return false;
	}
	w->credit = credit - hit_cost;
	return true;
}

/* Where a function that copies the current context returns. */
SEC("uprobe.multi/context_copied")
int context_copied(struct pt_regs *regs)
{
	struct task_struct *t = bpf_get_current_task_btf();
	struct watch *w = watch_of(t->tgid);
	struct context_key key = {regs->ax, t->tgid};
	struct runtime_ids of = {};
	struct context_ids made;
	u64 parent;

	if (!w || !w->py_copies || !key.address || !pay(w, t))
		return 0;
	if (read_word(key.address + TYPE_OFFSET) != w->py_type)
		return 0;
	parent = current_context(w, t);
	if (parent)
		name_context(&of, w, parent, t->tgid);
	made.id = __sync_fetch_and_add(&w->contexts, 1) + 1;
	made.from[0] = of.context;
	for (int i = 1; i < CONTEXT_DEPTH; i++)
		made.from[i] = of.from[i - 1];
	bpf_map_update_elem(&contexts, &key, &made, BPF_ANY);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";

/* Types reach the Go side only if the object's BTF mentions them. */
#define EXPORT(type, name) type *export_##name __attribute__((unused))
EXPORT(enum python_event_type, python_event_type);
EXPORT(struct python_spent_event, python_spent_event);
