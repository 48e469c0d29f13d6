// SPDX-License-Identifier: GPL-2.0
/* The life of watched processes and threads. Children join the watched set here, in
 * the kernel, so that none runs unseen. */
#pragma once

static __always_inline struct task_event *reserve_task(u32 type, struct task_struct *t)
{
	struct task_event *e = reserve(sizeof(*e), HOOK_PROCESSES);

	if (!e)
		return 0;
	fill_head(&e->h, type, t);
	e->creator_start = 0;
	e->creator_tid = 0;
	e->creator_tgid = 0;
	e->last = 0;
	e->old_tid = 0;
	bpf_probe_read_kernel(e->comm, sizeof(e->comm), t->comm);
	return e;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(process_fork, struct task_struct *parent, struct task_struct *child)
{
	struct watch *w = watch_of(parent->tgid);
	struct watch fresh = {};
	struct task_event *e;
	u32 tgid = child->tgid;

	if (!w)
		return 0;
	if (tgid != (u32)parent->tgid) {
		fresh = *w; /* same memory layout until it runs another program */
		hint(&watched_hints, tgid);
		if (bpf_map_update_elem(&watched, &tgid, &fresh, BPF_NOEXIST) && !watch_of(tgid))
			count_loss(HOOK_PROCESSES); /* no room: it runs unseen */
	}
	e = reserve_task(EVENT_FORK, child);
	if (!e)
		return 0;
	e->creator_start = parent->start_boottime;
	e->creator_tid = parent->pid;
	e->creator_tgid = parent->tgid;
	submit(e);
	return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(process_exec, struct task_struct *p, int old_pid)
{
	struct watch *w = watch_of(p->tgid);
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

SEC("tp_btf/sched_process_exit")
int BPF_PROG(process_exit, struct task_struct *p)
{
	u32 tgid = p->tgid;
	bool last = p->signal->live.counter == 0;
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
