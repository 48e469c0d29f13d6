// SPDX-License-Identifier: GPL-2.0
/* Who put the work into a queue that a thread of Python takes from it: probes where an item
 * is put into a SimpleQueue, and where what takes one returns. Executors keep their work in
 * such queues. This is an object of its own because it is optional; the maps of all but the
 * items are the recorder's. */
#include "kernel.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "abi.h"
#include "common.h"
#include "runtime.h"
#include "context.h"

/* Beside those of enum event_type. */
enum queue_event_type {
	EVENT_TAKEN = 116, /* a thread took an item from a queue */
};

/* The thread in the head took it. */
struct taken_event {
	struct head h;
	u64 put; /* when it was put in; 0: that was not seen, and what follows is 0 */
	u64 queue;
	u64 putter_start;
	u32 putter_tid;
	u32 executor; /* 1: it is work of an executor, by the name of its type */
	struct runtime_ids ids; /* the context in which it was put in */
};

/* An item by its address: it is there until it is taken. */
struct item_key {
	u64 address;
	u64 tgid;
};

struct item {
	u64 put;
	u64 queue;
	u64 start;
	u32 tid;
	u32 executor;
	u64 contexts;
	s64 context;
	s64 from[CONTEXT_DEPTH];
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, struct item_key);
	__type(value, struct item);
} items SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct cost);
} queue_costs SEC(".maps");

/* Where objects keep their type, and types their name: with the interpreter's lock, and in
 * builds without. */
enum { TYPE_OFFSET = 8, NAME_OFFSET = 24, FREE_TYPE_OFFSET = 24, FREE_NAME_OFFSET = 40 };

/* Whether at an address is the name of the type of what concurrent.futures puts into its
 * queue. */
static __always_inline u32 names_work(u64 address)
{
	static const char work[] = "_WorkItem";
	char name[sizeof(work)] = {};

	if (bpf_probe_read_user(name, sizeof(name), (void *)address))
		return 0;
	for (u32 i = 0; i < sizeof(work); i++)
		if (name[i] != work[i])
			return 0;
	return 1;
}

static __always_inline u32 is_work(u64 object)
{
	return names_work(read_word(read_word(object + TYPE_OFFSET) + NAME_OFFSET)) ||
	       names_work(read_word(read_word(object + FREE_TYPE_OFFSET) + FREE_NAME_OFFSET));
}

/* The first argument of a method lies where the second of the C function points. */
static __always_inline void on_put(struct pt_regs *regs, struct watch *w, struct task_struct *t)
{
	struct item_key key = {read_word(FN_ARG2(regs)), t->tgid};
	struct item i = {};
	struct runtime_ids ids = {};
	u64 context;

	if (!key.address)
		return;
	context = current_context(w, t);
	if (context)
		name_context(&ids, w, context, t->tgid);
	i.put = bpf_ktime_get_ns();
	i.queue = FN_ARG1(regs);
	i.start = t->start_boottime;
	i.tid = t->pid;
	i.executor = is_work(key.address);
	i.contexts = context ? w->contexts : 0;
	i.context = ids.context;
	__builtin_memcpy(i.from, ids.from, sizeof(i.from));
	bpf_map_update_elem(&items, &key, &i, BPF_ANY);
}

static __always_inline void on_taken(struct pt_regs *regs, struct task_struct *t)
{
	struct item_key key = {FN_RESULT(regs), t->tgid};
	struct taken_event *e;
	struct item *i;

	if (!key.address)
		return; /* there was none */
	e = reserve(sizeof(*e), HOOK_IO);
	if (!e)
		return;
	__builtin_memset(e, 0, sizeof(*e));
	fill_head(&e->h, EVENT_TAKEN, t);
	i = bpf_map_lookup_elem(&items, &key);
	if (i) {
		e->put = i->put;
		e->queue = i->queue;
		e->putter_start = i->start;
		e->putter_tid = i->tid;
		e->executor = i->executor;
		e->ids.contexts = i->contexts;
		e->ids.context = i->context;
		__builtin_memcpy(e->ids.from, i->from, sizeof(i->from));
		bpf_map_delete_elem(&items, &key);
	}
	submit(e);
}

#define PROBE(work)                                                                \
	({                                                                         \
		struct task_struct *t = bpf_get_current_task_btf();                \
		struct watch *w = watch_of(t->tgid);                               \
		u32 key = 0;                                                       \
		struct cost *c = bpf_map_lookup_elem(&queue_costs, &key);          \
		bool timed = c && c->runs++ % METER_EVERY == 0;                    \
		u64 began = timed ? bpf_ktime_get_ns() : 0;                        \
                                                                                   \
		if (w)                                                             \
			work;                                                      \
		if (c && timed) {                                                  \
			c->ns += bpf_ktime_get_ns() - began;                       \
			c->timed++;                                                \
		}                                                                  \
		0;                                                                 \
	})

SEC("uprobe.multi/queue_put")
int queue_put(struct pt_regs *regs)
{
	return PROBE(on_put(regs, w, t));
}

SEC("uprobe.multi/queue_taken")
int queue_taken(struct pt_regs *regs)
{
	return PROBE(on_taken(regs, t));
}

char LICENSE[] SEC("license") = "GPL";

/* Types reach the Go side only if the object's BTF mentions them. */
#define EXPORT(type, name) type *export_##name __attribute__((unused))
EXPORT(enum queue_event_type, queue_event_type);
EXPORT(struct taken_event, taken_event);
EXPORT(struct cost, cost);
