// SPDX-License-Identifier: GPL-2.0
/* Scheduling: one event for each span that a watched thread spent off its CPU. */
#pragma once

/* Whether a thread gets its span when it leaves a CPU. Up to Linux 6.3 that allocates memory
 * under the lock of the run queue, which must not be: there it has one from its fork on, or
 * from the listing of threads that a recording begins with. */
volatile u32 spans_late = 1;

static __always_inline u8 classify(bool preempt, u32 state)
{
	if (preempt || !(state & 0x3ff))
		return OFF_PREEMPTED; /* still runnable, whatever the state says */
	if (state & 1)
		return OFF_SLEEP;
	if (state & 2)
		return OFF_DISK;
	return OFF_OTHER;
}

static __always_inline void read_syscall(struct task_struct *t, struct span *s)
{
	struct pt_regs *r = user_regs(t);

	s->nr = -1;
	s->arg = 0;
	s->timed = 0;
	s->owner = 0;
	s->sp = r ? STACK_POINTER(r) : 0;
	if (!r || SYSCALL_NR(r) < 0)
		return;
	s->nr = SYSCALL_NR(r);
	s->arg = SYS_ARG1(r);
	s->timed = is_timed(r);
	s->owner = waits_for_mutex(r);
}

static __always_inline void forget_waker(struct span *s)
{
	s->woken = 0;
	s->waker_kind = WAKER_NONE;
	s->waker_tid = 0;
	s->waker_tgid = 0;
	s->waker_start = 0;
	s->waker_context = 0;
	s->release = 0;
}

/* The number of the context in which a thread was woken, or minus its address; 0 for none: who was
 * preempted was not. */
static __always_inline s64 waking_context(struct task_struct *t, struct span *s, u64 back)
{
	struct context_key key = {s->waker_context, s->waker_tgid};

	if (!key.address || s->state == OFF_PREEMPTED)
		return 0;
	return told_context(watch_of(s->waker_tgid), &key, t, back);
}

/* Emits the span that ended when the thread came back to a CPU, which a process had until then. */
static __always_inline void end_span(struct task_struct *t, struct span *s, u64 back, u32 ahead)
{
	s64 context = waking_context(t, s, back);
	struct off_event *e = reserve(sizeof(*e), HOOK_SCHED);

	if (e) {
		fill_head_at(&e->h, EVENT_OFF, t, back);
		e->since = s->since;
		e->arg = s->arg;
		e->goid = s->goid;
		e->counter = s->counter;
		e->sp = s->sp;
		e->ran = s->ran;
		e->owner = s->owner;
		e->minor = s->used.minor;
		e->major = s->used.major;
		e->fetched = s->used.fetched;
		e->in = s->used.in;
		e->out = s->used.out;
		e->dev = s->dev;
		e->ino = s->ino;
		e->ahead = ahead;
		e->nr = s->nr;
		e->state = s->state;
		e->timed = s->timed;
		if (s->state == OFF_PREEMPTED)
			forget_waker(s);
		/* A waking may come before the switch-out that it ends. Whoever slept
		 * and runs was woken: a waking seen before means at once. */
		e->woken = s->woken && s->woken < s->since ? s->since : s->woken;
		if (e->woken > back) /* woken once more while it came back */
			e->woken = back;
		if (s->state == OFF_PREEMPTED)
			e->woken = s->since;
		e->waker_kind = s->waker_kind;
		e->waker_start = s->waker_start;
		e->waker_context = context;
		e->waker_tid = s->waker_tid;
		e->waker_tgid = s->waker_tgid;
		e->release = s->release;
		submit(e);
	}
	s->since = 0;
	forget_waker(s);
}

/* A kernel may run no programs in the context of some tasks, such as the supervisor
 * of a virtual machine. A thread that takes over from one of them comes back unseen:
 * this shows when it leaves again, and the CPU time it has used says when it was. */
static __always_inline void end_unseen(struct task_struct *t, struct span *s, u64 now)
{
	u64 back = now - (t->se.sum_exec_runtime - s->runtime);

	if (back < s->woken)
		back = s->woken;
	if (back < s->since)
		back = s->since;
	end_span(t, s, back < now ? back : now, AHEAD_UNSEEN);
}

/* Forgets what was noted before recording paused. */
static __always_inline void rejoin_thread(struct span *s)
{
	if (s->gaps == gaps)
		return;
	s->gaps = gaps;
	s->since = 0;
	s->runtime = 0;
	__builtin_memset(&s->base, 0, sizeof(s->base));
	forget_waker(s);
}

/* Returns when, if the thread is watched. */
static __always_inline u64 switch_out(struct task_struct *t, u8 state)
{
	struct watch *w = watch_of(t->tgid);
	struct span *s;
	u64 now, runtime;

	if (!w)
		return 0;
	now = bpf_ktime_get_ns();
	s = bpf_task_storage_get(&spans, t, 0, spans_late ? BPF_LOCAL_STORAGE_GET_F_CREATE : 0);
	if (!s) {
		if (spans_late) /* no memory at once */
			count_loss(HOOK_SCHED);
		return now;
	}
	rejoin_thread(s);
	if (s->since)
		end_unseen(t, s, now);
	s->state = state;
	runtime = t->se.sum_exec_runtime;
	s->ran = s->runtime ? runtime - s->runtime : 0;
	s->runtime = runtime;
	s->goid = current_goid(w, t);
	read_syscall(t, s);
	read_usage(t, &s->base, &s->used);
	s->ino = awaited_file(t, user_regs(t), state, &s->dev);
	if (s->owner && !w->go_goid) /* Go has mutexes of its own */
		s->owner = read_half(s->arg + GLIBC_MUTEX_OWNER);
	else
		s->owner = 0;
	s->counter = 0;
	if (w->async_ids && t->pid == t->tgid &&
	    (s->nr == NR_epoll_pwait || s->nr == NR_epoll_wait)) {
		s->counter = read_word(w->async_ids + ASYNC_COUNTER);
		begin_turn(w);
	}
	s->since = now;
	return now;
}

static __always_inline void switch_in(struct task_struct *t, u64 now, u32 ahead)
{
	struct span *s = bpf_task_storage_get(&spans, t, 0, 0);

	if (!s)
		return;
	rejoin_thread(s);
	if (s->since)
		end_span(t, s, now ? now : bpf_ktime_get_ns(), ahead);
}

static __always_inline int on_switch(struct task_struct *prev, struct task_struct *next, u8 state)
{
	u64 began, now = 0;

	if (paused())
		return 0;
	began = meter_begin(PROGRAM_SWITCH);
	if (prev->pid)
		now = switch_out(prev, state);
	if (next->pid)
		switch_in(next, now, prev->tgid);
	if (began) /* the kernel has one of the two pay for it */
		meter_end(PROGRAM_SWITCH, began, watch_of(prev->tgid) || watch_of(next->tgid));
	return 0;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(sched_switch, bool preempt, struct task_struct *prev, struct task_struct *next,
	     unsigned int prev_state)
{
	return on_switch(prev, next, classify(preempt, prev_state));
}

/* Before 5.18 the tracepoint does not pass the state. */
SEC("tp_btf/sched_switch")
int BPF_PROG(sched_switch_stateless, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	return on_switch(prev, next, classify(preempt, prev->__state));
}

/* Of a kernel stack: the recorder sets it, as pages of 64 KiB make it larger. */
const volatile u32 thread_size = 16384;

/* Whether the current task is a bystander of an interrupt. Interrupts have a stack of
 * their own, except on entry from user mode: then no system call is under way. This
 * holds while the program itself needs little stack; from 64 bytes on, newer kernels
 * give it a private one. */
static __always_inline bool in_interrupt(struct task_struct *t, struct pt_regs *r)
{
	u32 here;

	if (!t->pid)
		return true;
	asm volatile("%0 = w10" : "=w"(here));
	if (here - (u32)(u64)t->stack >= thread_size)
		return true;
	return r && SYSCALL_NR(r) < 0;
}

static __always_inline void read_waker(struct span *s, struct task_struct *waker)
{
	struct pt_regs *r = user_regs(waker);
	struct watch *w;

	s->release = 0;
	s->waker_tid = 0;
	s->waker_tgid = 0;
	s->waker_start = 0;
	s->waker_context = 0;
	if (in_interrupt(waker, r)) {
		s->waker_kind = WAKER_INTERRUPT;
		return;
	}
	s->waker_kind = WAKER_OTHER;
	s->release = r && is_release(r);
	w = watch_of(waker->tgid);
	if (!w)
		return;
	if (s->release)
		s->waker_context = current_context(w, waker);
	s->waker_kind = WAKER_THREAD;
	s->waker_tid = waker->pid;
	s->waker_tgid = waker->tgid;
	s->waker_start = waker->start_boottime;
}

/* sched_waking runs on the waker's CPU, sched_wakeup may not. */
SEC("tp_btf/sched_waking")
int BPF_PROG(sched_waking, struct task_struct *p)
{
	struct span *s;
	u64 began;

	if (paused())
		return 0;
	began = meter_begin(PROGRAM_WAKING);
	s = bpf_task_storage_get(&spans, p, 0, 0);
	if (s) {
		read_waker(s, bpf_get_current_task_btf());
		s->woken = bpf_ktime_get_ns();
	}
	if (began)
		meter_end(PROGRAM_WAKING, began, in_watched());
	return 0;
}
