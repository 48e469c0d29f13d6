// SPDX-License-Identifier: GPL-2.0
/* Which moments of watched threads are worth a stack. The stack itself is walked by
 * the OpenTelemetry eBPF profiler's program, which these call. They are an object of
 * their own because they are optional: the watched set is shared with the recorder's. */
#include "kernel.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "abi.h"
#include "common.h"
#include "runtime.h"
#include "syscalls.h"
#include "span.h"

enum { MAP_PROG_ARRAY = 3 };

/* On what occasion a stack is taken; also the index of what that costs. */
enum occasion { STACK_ON_CPU, STACK_BLOCKED, STACK_WALK, OCCASIONS };

/* Every stack asked for, announced before it is walked: it says whose it is, and a mark
 * that no stack follows is a stack that was lost. */
struct stack_mark {
	u64 ts;
	u64 start; /* start_boottime of the thread */
	u64 goid;
	u32 tid;
	u32 tgid;
	u32 occasion;
	u32 cpu;
};

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 256 << 10);
} marks SEC(".maps");

/* Why stacks that were wanted were not taken: no room for their marks; the allowance. */
enum left_out { LEFT_NO_ROOM, LEFT_ALLOWANCE, LEFT_OUT };

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, LEFT_OUT);
	__type(key, u32);
	__type(value, u64);
} stacks_left_out SEC(".maps");

static __always_inline void leave_out(u32 why)
{
	u64 *n = bpf_map_lookup_elem(&stacks_left_out, &why);

	if (n)
		++*n;
}

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, OCCASIONS);
	__type(key, u32);
	__type(value, struct cost);
} stack_costs SEC(".maps");

/* The profiler's entry program. */
struct {
	__uint(type, MAP_PROG_ARRAY);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(u32));
	__uint(value_size, sizeof(u32));
} walker SEC(".maps");

/* ns between two stacks of one thread at one place, where its waits are brief; an eighth of
 * it where they are not. */
const volatile u64 gap = 0;

/* What walking stacks of waits may cost a CPU: so many ns in each window of time. A busy
 * service of many threads would pay for all their turns otherwise. Waits for locks may
 * use all of it, others half: what those wait for is known without a stack. Where the
 * thread waited only briefly the last time, a quarter: the next is likely as brief. */
const volatile u64 allowance = 0;
enum { WINDOW = 50000000, BRIEF = 1000000 };

struct spent {
	u64 window; /* its number */
	u64 ns;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct spent);
} spent SEC(".maps");

static __always_inline void spend(u64 ns, u64 now)
{
	u32 zero = 0;
	struct spent *s = bpf_map_lookup_elem(&spent, &zero);

	if (!s)
		return;
	if (s->window != now / WINDOW) {
		s->window = now / WINDOW;
		s->ns = 0;
	}
	s->ns += ns;
}

static __always_inline bool affordable(u32 turn, bool brief, u64 now)
{
	u32 zero = 0;
	struct spent *s = bpf_map_lookup_elem(&spent, &zero);
	u64 share = brief ? allowance / 4 : turn >= WAIT_LOCK ? allowance : allowance / 2;

	if (!s)
		return false;
	if (s->window != now / WINDOW)
		return true;
	return s->ns < share;
}

static __always_inline struct cost *begin(u32 occasion, u64 *began)
{
	struct cost *c = bpf_map_lookup_elem(&stack_costs, &occasion);

	*began = c && c->runs++ % METER_EVERY == 0 ? bpf_ktime_get_ns() : 0;
	return c;
}

static __always_inline void end(struct cost *c, u64 began)
{
	if (c && began)
		note_cost(c, began, in_watched());
}

static __always_inline u32 turn_of(struct pt_regs *r)
{
	switch (SYSCALL_NR(r)) {
	case NR_futex:
	case NR_futex_waitv:
	case NR_futex_wait:
		/* The multiplier of Fibonacci hashing, of 32 bits. */
		return WAIT_LOCK + ((u32)(STACK_POINTER(r) >> 4) * 0x9E3779B1u >> (32 - LOCK_TURN_BITS));
	case NR_read:
	case NR_readv:
	case NR_write:
	case NR_writev:
		return WAIT_FILE;
	case NR_sendto:
	case NR_recvfrom:
	case NR_sendmsg:
	case NR_recvmsg:
	case NR_recvmmsg:
	case NR_sendmmsg:
	case NR_accept:
	case NR_accept4:
	case NR_connect:
	case NR_poll:
	case NR_ppoll:
	case NR_select:
	case NR_pselect6:
	case NR_epoll_wait:
	case NR_epoll_pwait:
	case NR_epoll_pwait2:
		return WAIT_NET;
	}
	return WAIT_REST;
}

/* Notes how long the thread's last wait was, as far as what it did not run tells, and
 * that another begins. */
static __always_inline void note_wait(struct turns *s, struct task_struct *t, u32 turn, u64 now)
{
	u64 ran = t->se.sum_exec_runtime;
	u32 bit = 1 << (s->turn & 31);

	if (s->since && now - s->since < ran - s->ran + BRIEF)
		s->brief |= bit;
	else
		s->brief &= ~bit;
	s->since = now;
	s->ran = ran;
	s->turn = turn;
}

/* Takes the thread's turn, if it has one now. */
static __always_inline bool take_turn(struct task_struct *t, u32 turn, u64 sp)
{
	struct span *span = bpf_task_storage_get(&spans, t, 0, 0);
	u64 now = bpf_ktime_get_ns();
	struct turns *s;
	bool brief;

	if (!span || turn >= TURNS)
		return false;
	s = &span->turns;
	note_wait(s, t, turn, now);
	brief = s->brief >> turn & 1;
	if (s->last[turn] && s->sp[turn] == sp && now - s->last[turn] < (brief ? gap : gap / 8))
		return false;
	if (!affordable(turn, brief, now)) {
		leave_out(LEFT_ALLOWANCE);
		return false;
	}
	s->last[turn] = now;
	s->sp[turn] = sp;
	return true;
}

enum { ASLEEP = 0x3, EXITING = 0x4 }; /* TASK_NORMAL, PF_EXITING */

/* A thread that is no longer runnable is about to leave its CPU. What is not told from
 * it is a thread that is preempted just before it goes to sleep: rare. One that exits
 * has no memory left to walk its stack in. */
static __always_inline bool blocks(struct task_struct *t)
{
	return (t->__state & ASLEEP) && !(t->flags & EXITING);
}

/* Where a thread of Go has no goroutine it only looks for one: its stack is the
 * scheduler's and says nothing of what any goroutine waits for. */
static __always_inline bool is_idle_go(struct watch *w, struct task_struct *t, u64 goid)
{
	return w->go_goid && !goid && stored_g(w, t);
}

static __always_inline bool mark(struct task_struct *t, u32 occasion, u64 goid)
{
	struct stack_mark *m = bpf_ringbuf_reserve(&marks, sizeof(*m), 0);

	if (!m) {
		leave_out(LEFT_NO_ROOM);
		return false;
	}
	m->ts = bpf_ktime_get_ns();
	m->start = t->start_boottime;
	m->goid = goid;
	m->tid = t->pid;
	m->tgid = t->tgid;
	m->occasion = occasion;
	m->cpu = bpf_get_smp_processor_id();
	bpf_ringbuf_submit(m, BPF_RB_NO_WAKEUP);
	return true;
}

/* The call that does not return returns from here: what it took can be told. */
static __noinline int walk(void *ctx)
{
	bpf_tail_call(ctx, &walker, 0);
	return 0;
}

static __always_inline void walk_metered(void *ctx)
{
	u32 key = STACK_WALK;
	struct cost *c = bpf_map_lookup_elem(&stack_costs, &key);
	u64 began = bpf_ktime_get_ns(), ended;

	walk(ctx);
	ended = bpf_ktime_get_ns();
	spend(ended - began, ended);
	if (!c)
		return;
	c->ns += ended - began;
	c->inside += ended - began;
	c->runs++;
	c->timed++;
}

static __always_inline bool wanted_blocked(void)
{
	struct task_struct *t = bpf_get_current_task_btf();
	struct watch *w = watch_of(t->tgid);
	struct pt_regs *r;
	u64 goid;
	u32 turn;

	if (!w || !blocks(t))
		return false;
	r = user_regs(t);
	if (!r)
		return false;
	goid = current_goid(w, t);
	turn = turn_of(r);
	if (is_idle_go(w, t, goid) || !take_turn(t, turn, turn >= WAIT_LOCK ? STACK_POINTER(r) : 0))
		return false;
	return mark(t, STACK_BLOCKED, goid);
}

static __always_inline bool wanted_on_cpu(void)
{
	struct task_struct *t = bpf_get_current_task_btf();
	struct watch *w = watch_of(t->tgid);

	return w && mark(t, STACK_ON_CPU, current_goid(w, t));
}

SEC("perf_event")
int stack_blocked(void *ctx)
{
	struct cost *c;
	bool wanted;
	u64 began;

	if (paused())
		return 0;
	c = begin(STACK_BLOCKED, &began);
	wanted = wanted_blocked();

	end(c, began);
	if (wanted)
		walk_metered(ctx);
	return 0;
}

SEC("perf_event")
int stack_on_cpu(void *ctx)
{
	struct cost *c;
	bool wanted;
	u64 began;

	if (paused())
		return 0;
	c = begin(STACK_ON_CPU, &began);
	wanted = wanted_on_cpu();

	end(c, began);
	if (wanted)
		walk_metered(ctx);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";

#define EXPORT(type, name) type *export_##name __attribute__((unused))
EXPORT(enum occasion, occasion);
EXPORT(enum left_out, left_out);
EXPORT(struct stack_mark, stack_mark);
EXPORT(struct cost, cost);
