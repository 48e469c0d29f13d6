// SPDX-License-Identifier: GPL-2.0
/* Which callback of Node resolved a promise. What a promise leads to runs once that callback
 * is over, under no id of its own; the callback's id tells who asked for the timer that it
 * waited for. This is an object of its own because it is optional; the watched set is the
 * recorder's. */
#include "kernel.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "abi.h"
#include "common.h"
#include "runtime.h"
#include "budget.h"

/* Beside those of enum event_type. */
enum node_event_type {
	EVENT_PROMISES_SPENT = 113, /* the process has used up what this may cost */
};

struct node_spent_event {
	struct head h;
};

static __always_inline void tell_spent(struct task_struct *t)
{
	struct node_spent_event *e = reserve(sizeof(*e), HOOK_BOUNDARIES);

	if (!e)
		return;
	fill_head(&e->h, EVENT_PROMISES_SPENT, t);
	submit(e);
}

/* A promise is resolved, on any thread. Told is one for each callback. Ids are doubles. */
SEC("uprobe.multi/promise_resolved")
int promise_resolved(void *ctx)
{
	struct task_struct *t = bpf_get_current_task_btf();
	struct watch *w = watch_of(t->tgid);
	struct boundary_event *e;
	u64 ids[3] = {};

	if (!w || !w->resolves)
		return 0;
	if (!pay(w)) {
		w->resolves = 0;
		tell_spent(t);
		return 0;
	}
	if (t->pid != t->tgid || !w->async_ids || paused() ||
	    bpf_probe_read_user(ids, sizeof(ids), (void *)w->async_ids))
		return 0;
	if (!ids[0] || ids[0] == w->resolved)
		return 0;
	e = reserve(sizeof(*e), HOOK_BOUNDARIES);
	if (!e)
		return 0;
	w->resolved = ids[0];
	fill_head(&e->h, EVENT_BOUNDARY, t);
	__builtin_memset(&e->ids, 0, sizeof(e->ids));
	e->ids.exec = ids[0];
	e->ids.trigger = ids[1];
	e->ids.counter = ids[2];
	e->what = BOUNDARY_RESOLVED;
	submit(e);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";

/* Types reach the Go side only if the object's BTF mentions them. */
#define EXPORT(type, name) type *export_##name __attribute__((unused))
EXPORT(enum node_event_type, node_event_type);
EXPORT(struct node_spent_event, node_spent_event);
