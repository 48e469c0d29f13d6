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
#include "budget.h"

/* Beside those of enum event_type. */
enum python_event_type {
	EVENT_CONTEXTS_SPENT = 112, /* the process has used up what numbering may cost */
};

struct python_spent_event {
	struct head h;
};

/* Of the type of an object; in builds without the interpreter's lock the other. */
enum { TYPE_OFFSET = 8, FREE_TYPE_OFFSET = 24 };

static __always_inline void tell_spent(struct task_struct *t)
{
	struct python_spent_event *e = reserve(sizeof(*e), HOOK_IO);

	if (!e)
		return;
	fill_head(&e->h, EVENT_CONTEXTS_SPENT, t);
	submit(e);
}

/* Where a function that copies the current context returns. */
SEC("uprobe.multi/context_copied")
int context_copied(struct pt_regs *regs)
{
	struct task_struct *t = bpf_get_current_task_btf();
	struct watch *w = watch_of(t->tgid);
	struct context_key key = {FN_RESULT(regs), t->tgid};
	struct runtime_ids of = {};
	struct context_ids made = {};
	u64 parent;

	if (!w || !w->py_copies || !key.address)
		return 0;
	if (!pay(w)) {
		w->py_copies = 0;
		w->contexts = 0; /* what is known of them will soon be of others */
		tell_spent(t);
		return 0;
	}
	if (read_word(key.address + TYPE_OFFSET) != w->py_type &&
	    read_word(key.address + FREE_TYPE_OFFSET) != w->py_type)
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
