// SPDX-License-Identifier: GPL-2.0
/* The life of watched processes and threads. Children join the watched set here, in
 * the kernel, so that none runs unseen. */
#pragma once

/* The tasks come from tracepoints of both kinds, and those of one kind do not tell their type
 * to the verifier: every field is read as any memory of the kernel. */
static __always_inline struct task_event *reserve_task(u32 type, struct task_struct *t)
{
	struct task_event *e = reserve(sizeof(*e), HOOK_PROCESSES);

	if (!e)
		return 0;
	fill_head(&e->h, type, 0);
	e->h.tid = BPF_CORE_READ(t, pid);
	e->h.tgid = BPF_CORE_READ(t, tgid);
	e->h.start = BPF_CORE_READ(t, start_boottime);
	e->creator_start = 0;
	e->creator_context = 0;
	e->creator_tid = 0;
	e->creator_tgid = 0;
	e->last = 0;
	e->old_tid = 0;
	bpf_probe_read_kernel(e->comm, sizeof(e->comm), t->comm);
	return e;
}

/* The context of Python in which the current thread makes another one of its process. */
static __always_inline s64 making_context(struct watch *w)
{
	struct task_struct *t = bpf_get_current_task_btf();
	struct context_key key = {current_context(w, t), t->tgid};

	return key.address ? told_context(w, &key, t, bpf_ktime_get_ns()) : 0;
}

static __always_inline int on_fork(struct task_struct *parent, struct task_struct *child)
{
	u32 tgid = BPF_CORE_READ(child, tgid), maker = BPF_CORE_READ(parent, tgid);
	struct watch *w = watch_of(maker);
	struct watch fresh = {};
	struct task_event *e;
	s64 context = 0;

	if (!w)
		return 0;
	if (tgid == maker) {
		context = making_context(w);
	} else {
		fresh = *w; /* same memory layout until it runs another program */
		hint(&watched_hints, tgid);
		if (bpf_map_update_elem(&watched, &tgid, &fresh, BPF_NOEXIST) && !watch_of(tgid))
			count_loss(HOOK_PROCESSES); /* no room: it runs unseen */
	}
	e = reserve_task(EVENT_FORK, child);
	if (!e)
		return 0;
	e->creator_start = BPF_CORE_READ(parent, start_boottime);
	e->creator_context = context;
	e->creator_tid = BPF_CORE_READ(parent, pid);
	e->creator_tgid = maker;
	submit(e);
	return 0;
}

static __always_inline int on_exec(struct task_struct *p, int old_pid)
{
	struct watch *w = watch_of(BPF_CORE_READ(p, tgid));
	struct task_event *e;

	if (!w)
		return 0;
	__builtin_memset(w, 0, sizeof(*w)); /* another program, other offsets */
	e = reserve_task(EVENT_EXEC, p);
	if (!e)
		return 0;
	e->old_tid = old_pid;
	submit(e);
	return 0;
}

static __always_inline int on_exit(struct task_struct *p)
{
	u32 tgid = BPF_CORE_READ(p, tgid);
	bool last = BPF_CORE_READ(p, signal, live.counter) == 0;
	struct task_event *e;

	if (!watch_of(tgid))
		return 0;
	if (last)
		bpf_map_delete_elem(&watched, &tgid);
	e = reserve_task(EVENT_EXIT, p);
	if (!e)
		return 0;
	e->last = last;
	submit(e);
	return 0;
}

/* At a tracepoint, with its types or without. */
#define BOTH_WAYS(tracepoint, name, call, ...)                                     \
	SEC("tp_btf/" tracepoint) int BPF_PROG(name, __VA_ARGS__) { return call; } \
	SEC("raw_tp/" tracepoint) int BPF_PROG(name##_raw, __VA_ARGS__) { return call; }

SEC("tp_btf/sched_process_fork")
int BPF_PROG(process_fork, struct task_struct *parent, struct task_struct *child)
{
	if (watch_of(parent->tgid) && !bpf_task_storage_get(&spans, child, 0, BPF_LOCAL_STORAGE_GET_F_CREATE))
		count_loss(HOOK_SCHED);
	return on_fork(parent, child);
}

/* This cannot keep anything of the child: see spans_late. */
SEC("raw_tp/sched_process_fork")
int BPF_PROG(process_fork_raw, struct task_struct *parent, struct task_struct *child)
{
	return on_fork(parent, child);
}

BOTH_WAYS("sched_process_exec", process_exec, on_exec(p, old_pid), struct task_struct *p, int old_pid)
BOTH_WAYS("sched_process_exit", process_exit, on_exit(p), struct task_struct *p)

SEC("tp_btf/task_rename")
int BPF_PROG(task_renamed, struct task_struct *t, const char *comm)
{
	struct task_event *e;

	if (!watch_of(t->tgid))
		return 0;
	e = reserve_task(EVENT_RENAME, t);
	if (!e)
		return 0;
	bpf_probe_read_kernel_str(e->comm, sizeof(e->comm), comm);
	submit(e);
	return 0;
}
