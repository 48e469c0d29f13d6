// SPDX-License-Identifier: GPL-2.0
/* What a recording needs of threads at its ends: what they are at. */
#pragma once

/* Threads that already sleep enter their span here, so that their waking is seen. */
static __always_inline struct span *open_span(struct task_struct *t, u8 state)
{
	struct span *s = bpf_task_storage_get(&spans, t, 0, 0);
	bool known = s && s->gaps == gaps;

	if (!s)
		s = bpf_task_storage_get(&spans, t, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!s)
		count_loss(HOOK_SCHED);
	if (!s || known || state == OFF_RUNNING)
		return s;
	rejoin_thread(s);
	s->runtime = t->se.sum_exec_runtime;
	s->state = state;
	read_syscall(t, s);
	s->owner = 0;
	s->since = bpf_ktime_get_ns();
	return s;
}

/* An int up to Linux 7.0, then a byte: 0 or not shows in its first byte in both. */
static __always_inline bool is_queued(struct task_struct *t)
{
	return *(u8 *)__builtin_preserve_access_index(&t->on_rq) != 0;
}

SEC("iter/task")
int dump_tasks(struct bpf_iter__task *ctx)
{
	struct task_struct *t = ctx->task;
	struct task_record r = {};
	struct task_struct *parent;
	struct span *s;

	if (!t || !watch_of(t->tgid))
		return 0;
	r.start = t->start_boottime;
	r.tid = t->pid;
	r.tgid = t->tgid;
	parent = t->real_parent;
	if (parent) {
		r.parent = parent->tgid;
		r.parent_start = BPF_CORE_READ(parent, group_leader, start_boottime);
	}
	bpf_probe_read_kernel(r.comm, sizeof(r.comm), t->comm);
	r.state = is_queued(t) ? OFF_RUNNING : classify(false, t->__state);
	if (r.state == OFF_PREEMPTED)
		r.state = OFF_RUNNING;
	r.nr = -1;
	s = open_span(t, r.state);
	if (s && s->since && s->gaps == gaps) {
		r.since = s->since;
		r.nr = s->nr;
		r.arg = s->arg;
	}
	r.ts = bpf_ktime_get_ns();
	bpf_seq_write(ctx->meta->seq, &r, sizeof(r));
	return 0;
}

/* The thread pointers of all processes: where the ids of a runtime are found from. */
SEC("iter/task")
int dump_bases(struct bpf_iter__task *ctx)
{
	struct task_struct *t = ctx->task;
	struct base_record r = {};

	if (!t || !THREAD_POINTER(t))
		return 0;
	r.base = THREAD_POINTER(t);
	r.tid = t->pid;
	r.tgid = t->tgid;
	bpf_seq_write(ctx->meta->seq, &r, sizeof(r));
	return 0;
}
