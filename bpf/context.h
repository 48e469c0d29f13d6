// SPDX-License-Identifier: GPL-2.0
/* Whose code a thread of Python runs. Every task of asyncio runs in a context of its own
 * (contextvars), a copy of that of whoever made it, and so does work that is handed to a
 * thread with asyncio.to_thread, anyio or asgiref. */
#pragma once

/* A context of Python as it was numbered: by its address, which is used again once it
 * is gone. */
struct context_key {
	u64 address;
	u64 tgid;
};

struct context_ids {
	s64 id;
	u64 told; /* in a context_event */
	s64 from[CONTEXT_DEPTH];
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct context_key);
	__type(value, struct context_ids);
} contexts SEC(".maps");

/* The context in which a thread of Python runs code: that of the task, where asyncio
 * runs one. A thread keeps its state while it lets others run. Two reads. */
static __always_inline u64 current_context(struct watch *w, struct task_struct *t)
{
	u64 state;

	if (!w->py_state)
		return 0;
	state = read_word(THREAD_POINTER(t) + w->py_state);
	return state ? read_word(state + w->py_context) : 0;
}

/* Names the context at an address; ids->contexts is set, the rest is 0. */
static __always_inline void name_context(struct runtime_ids *ids, struct watch *w, u64 address,
					 u32 tgid)
{
	struct context_key key = {address, tgid};
	struct context_ids *c;

	ids->context = -(s64)address;
	if (!w->contexts)
		return;
	c = bpf_map_lookup_elem(&contexts, &key);
	if (!c)
		return;
	ids->context = c->id;
	__builtin_memcpy(ids->from, c->from, sizeof(ids->from));
}

/* The number of a context in which a thread was woken or made, or minus its address. The first
 * time a thread t of its process was, it is told what it is a copy of. */
static __always_inline s64 told_context(struct watch *w, struct context_key *key,
					struct task_struct *t, u64 at)
{
	struct context_event *e;
	struct context_ids *c;

	if (!w || !w->contexts)
		return -(s64)key->address;
	c = bpf_map_lookup_elem(&contexts, key);
	if (!c)
		return -(s64)key->address;
	if (c->told || key->tgid != t->tgid)
		return c->id;
	e = reserve(sizeof(*e), HOOK_SCHED);
	if (e) {
		fill_head_at(&e->h, EVENT_CONTEXT, t, at);
		__builtin_memset(&e->ids, 0, sizeof(e->ids));
		e->ids.context = c->id;
		__builtin_memcpy(e->ids.from, c->from, sizeof(e->ids.from));
		submit(e);
		c->told = 1;
	}
	return c->id;
}

static __always_inline void read_ids(struct runtime_ids *ids, struct watch *w,
				     struct task_struct *t)
{
	u64 fields[3] = {};
	u64 g, context;

	__builtin_memset(ids, 0, sizeof(*ids));
	if (w->go_goid) {
		g = current_g(w, t);
		if (g) {
			ids->goid = read_word(g + w->go_goid);
			if (w->go_parent > 0)
				ids->parent_goid = read_word(g + w->go_parent);
		}
	}
	context = current_context(w, t);
	if (context) {
		ids->contexts = w->contexts;
		name_context(ids, w, context, t->tgid);
	}
	if (w->async_ids && t->pid == t->tgid) {
		if (bpf_probe_read_user(fields, sizeof(fields), (void *)w->async_ids))
			return;
		ids->exec = fields[0];
		ids->trigger = fields[1];
		ids->counter = fields[2];
	}
}
