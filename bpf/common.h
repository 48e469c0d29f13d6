// SPDX-License-Identifier: GPL-2.0
/* The maps that several subsystems share, and how events leave the kernel. */
#pragma once

enum { MAX_CPUS = 1024 };

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 16 << 20);
} events SEC(".maps");

/* Watched processes by tgid. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 8192);
	__type(key, u32);
	__type(value, struct watch);
} watched SEC(".maps");

/* Whether any watched process has a tgid that ends in these bits. A bystander pays for
 * this array, which costs a few instructions, and not for the hash. Slots are never
 * cleared: a stale one costs time, not truth. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, HINTS);
	__type(key, u32);
	__type(value, u32);
} watched_hints SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, PROGRAMS);
	__type(key, u32);
	__type(value, struct cost);
} costs SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, HOOKS);
	__type(key, u32);
	__type(value, struct loss);
} losses SEC(".maps");

/* How many of losses the recorder has already reported: index cpu * HOOKS + hook. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MAX_CPUS * HOOKS);
	__type(key, u32);
	__type(value, u64);
} reported SEC(".maps");

/* How often recording paused, and went on again: odd while it pauses. What was noted of a
 * thread or a socket under another number is of before a pause. */
volatile u32 gaps = 0;

static __always_inline bool paused(void)
{
	return gaps & 1;
}

static __noinline void count_loss(u32 hook)
{
	struct loss *l = bpf_map_lookup_elem(&losses, &hook);
	u32 index = bpf_get_smp_processor_id() * HOOKS + hook;
	u64 *reported_count = bpf_map_lookup_elem(&reported, &index);
	u64 now = bpf_ktime_get_ns();

	if (!l)
		return;
	if (!reported_count || l->count == *reported_count)
		l->first = now;
	l->count++;
	l->last = now;
}

/* Room in the ring, or NULL after counting the loss. */
#define reserve(bytes, hook)                                                       \
	({                                                                         \
		void *room = bpf_ringbuf_reserve(&events, bytes, 0);               \
		if (!room)                                                         \
			count_loss(hook);                                          \
		room;                                                              \
	})

static __always_inline void submit(void *event)
{
	bpf_ringbuf_submit(event, BPF_RB_NO_WAKEUP);
}

/* A clock reading costs as much as the rest of an event: callers that have one pass it. */
static __always_inline void fill_head_at(struct head *h, u32 type, struct task_struct *t, u64 ts)
{
	h->ts = ts;
	h->type = type;
	h->cpu = bpf_get_smp_processor_id();
	h->tid = t ? t->pid : 0;
	h->tgid = t ? t->tgid : 0;
	h->start = t ? t->start_boottime : 0;
}

static __always_inline void fill_head(struct head *h, u32 type, struct task_struct *t)
{
	fill_head_at(h, type, t, bpf_ktime_get_ns());
}

static __always_inline bool hinted(void *hints, u32 key)
{
	u32 slot = key & (HINTS - 1);
	u32 *hint = bpf_map_lookup_elem(hints, &slot);

	return hint && *hint;
}

static __always_inline void hint(void *hints, u32 key)
{
	u32 slot = key & (HINTS - 1), one = 1;

	bpf_map_update_elem(hints, &slot, &one, BPF_ANY);
}

static __always_inline struct watch *watch_of(u32 tgid)
{
	if (!hinted(&watched_hints, tgid))
		return 0;
	return bpf_map_lookup_elem(&watched, &tgid);
}

/* The kernel's own statistics of programs cost each run more than most runs take, for
 * every program of the host. So one run in METER_EVERY is timed here. */
static __always_inline u64 meter_begin(u32 program)
{
	struct cost *c = bpf_map_lookup_elem(&costs, &program);

	if (!c || c->runs++ % METER_EVERY)
		return 0;
	return bpf_ktime_get_ns();
}

/* What a timed run took; inside: a thread of a watched process spent it. */
static __always_inline void note_cost(struct cost *c, u64 began, bool inside)
{
	u64 end = bpf_ktime_get_ns();
	u64 clock = bpf_ktime_get_ns() - end; /* what reading the clock adds to a timed run */
	u64 took = end - began > clock ? end - began - clock : 0;

	c->ns += took;
	c->timed++;
	if (inside)
		c->inside += took;
}

static __always_inline bool in_watched(void)
{
	return watch_of(bpf_get_current_pid_tgid() >> 32);
}

static __always_inline void meter_end(u32 program, u64 began, bool inside)
{
	struct cost *c = bpf_map_lookup_elem(&costs, &program);

	if (c)
		note_cost(c, began, inside);
}

#define METERED(program, work)                                                     \
	({                                                                         \
		u64 began = meter_begin(program);                                  \
		work;                                                              \
		if (began)                                                         \
			meter_end(program, began, in_watched());                   \
		0;                                                                 \
	})

/* How much a service does shows in how often it writes, also while that is not recorded. */
static __always_inline void count_write(void)
{
	u32 program = PROGRAM_WRITE;
	struct cost *c = bpf_map_lookup_elem(&costs, &program);

	if (c)
		c->watched++;
}

static __always_inline int pass_write(void)
{
	if (in_watched())
		count_write();
	return 0;
}

/* The registers with which a task entered the kernel; NULL for kernel threads. */
static __always_inline struct pt_regs *user_regs(struct task_struct *t)
{
	if (t->flags & (PF_KTHREAD | PF_IO_WORKER))
		return 0;
	return (struct pt_regs *)bpf_task_pt_regs(t);
}
