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

static __always_inline void fill_head(struct head *h, u32 type, struct task_struct *t)
{
	h->ts = bpf_ktime_get_ns();
	h->type = type;
	h->cpu = bpf_get_smp_processor_id();
	h->tid = t ? t->pid : 0;
	h->tgid = t ? t->tgid : 0;
	h->start = t ? t->start_boottime : 0;
}

static __always_inline struct watch *watch_of(u32 tgid)
{
	return bpf_map_lookup_elem(&watched, &tgid);
}

/* The registers with which a task entered the kernel; NULL for kernel threads. */
static __always_inline struct pt_regs *user_regs(struct task_struct *t)
{
	if (t->flags & (PF_KTHREAD | PF_IO_WORKER))
		return 0;
	return (struct pt_regs *)bpf_task_pt_regs(t);
}
