// SPDX-License-Identifier: GPL-2.0
/* Which callback of Node resolved a promise, or was called because the thread pool had done
 * something, or another thread had sent a message, and who had sent that one some. What a promise leads to runs once that callback is over, under no id of its own; the
 * callback's id tells who asked for the timer, or the work, that it waited for. This is an object
 * of its own because it is optional; the watched set is the recorder's. */
#include "kernel.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "abi.h"
#include "common.h"
#include "runtime.h"
#include "budget.h"
#include "promises.h"

/* Beside those of enum event_type. */
enum node_event_type {
	EVENT_PROMISES_SPENT = 113, /* the process has used up what promises may cost */
	EVENT_WORK_SPENT,	    /* or work of the thread pool */
};

struct node_spent_event {
	struct head h;
};

static __always_inline void tell_spent(struct task_struct *t, u32 what)
{
	struct node_spent_event *e = reserve(sizeof(*e), HOOK_BOUNDARIES);

	if (!e)
		return;
	fill_head(&e->h, what, t);
	submit(e);
}

/* Whether what a thread of a process does is to be told. */
static __always_inline bool in_loop(struct watch *w, struct task_struct *t)
{
	return t->pid == t->tgid && w->async_ids && !paused();
}

/* Tells of a callback, or of a message by a port. Ids are doubles. */
static __always_inline bool tell(struct task_struct *t, enum boundary_kind what, u64 exec, u64 trigger, u64 counter, u64 port)
{
	struct boundary_event *e = reserve(sizeof(*e), HOOK_BOUNDARIES);

	if (!e)
		return false;
	fill_head(&e->h, EVENT_BOUNDARY, t);
	__builtin_memset(&e->ids, 0, sizeof(e->ids));
	e->ids.exec = exec;
	e->ids.trigger = trigger;
	e->ids.counter = counter;
	e->ids.goid = port;
	e->waiter = 0;
	e->what = what;
	submit(e);
	return true;
}

/* Tells of a callback, once. */
static __always_inline void tell_once(struct watch *w, struct task_struct *t, enum boundary_kind what,
				      u64 exec, u64 trigger, u64 counter)
{
	if (exec && exec != w->resolved && tell(t, what, exec, trigger, counter, 0))
		w->resolved = exec;
}

/* What waits for a promise is looked for while so much of what may be saved is left, 1 in so many: after that
 * it is told only which callbacks resolve any. */
enum { KEPT = 2 };

/* Tells that a promise is resolved, and what waits for it: of the first that a callback resolves, and of the others
 * too where that is looked for. */
static __always_inline void tell_resolved(struct watch *w, struct task_struct *t, u64 *ids, u64 promise)
{
	bool first = ids[0] != w->resolved, looks = w->v8.promise && w->credit > most / KEPT;
	struct boundary_event *e;
	u64 since = bpf_ktime_get_ns();

	if (!ids[0] || (!first && !looks))
		return;
	e = reserve(sizeof(*e), HOOK_BOUNDARIES);
	if (!e)
		return;
	fill_head(&e->h, EVENT_BOUNDARY, t);
	__builtin_memset(&e->ids, 0, sizeof(e->ids));
	e->ids.exec = ids[0];
	e->ids.trigger = ids[1];
	e->ids.counter = ids[2];
	e->waiter = looks ? waiter_of(&w->v8, promise) : 0;
	if (e->waiter > NOBODY)
		remember(w, e->waiter);
	e->what = first ? BOUNDARY_RESOLVED : BOUNDARY_AWAITED;
	submit(e);
	w->resolved = ids[0];
	if (looks)
		charge(w, since);
}

/* A promise is resolved, on any thread, by the callback that runs: by the function that a program was
 * given for that, in whose context it is, or by v8::Promise::Resolver::Resolve() of a handle. */
SEC("uprobe.multi/promise_resolved")
int promise_resolved(struct pt_regs *ctx)
{
	struct task_struct *t = bpf_get_current_task_btf();
	struct watch *w = watch_of(t->tgid);
	u64 ids[3] = {}, promise;

	if (!w || !w->resolves)
		return 0;
	if (!pay(w)) {
		w->resolves = 0;
		tell_spent(t, EVENT_PROMISES_SPENT);
	} else if (in_loop(w, t) && !bpf_probe_read_user(ids, sizeof(ids), (void *)w->async_ids)) {
		promise = is_object(FN_ARG2(ctx)) ? word_of(FN_ARG2(ctx), CONTEXT_FIRST) : read_word(FN_ARG1(ctx));
		tell_resolved(w, t, ids, promise);
	}
	return 0;
}

/* V8 has moved what is new: v8::internal::Relocatable::PostGarbageCollectionProcessing(). Where that was it is written
 * where it is now, until the place is used again. */
SEC("uprobe.multi/collected")
int collected(void *ctx)
{
	struct task_struct *t = bpf_get_current_task_btf();
	struct watch *w = watch_of(t->tgid);
	struct boundary_event *e;
	u64 to;

	if (!w || !w->resolves || !in_loop(w, t) || !pay(w))
		return 0;
	for (int i = 0; i < WAITERS; i++) {
		to = moved_to(&w->v8, w->waiters[i]);
		if (!to)
			continue;
		e = reserve(sizeof(*e), HOOK_BOUNDARIES);
		if (!e)
			return 0;
		fill_head(&e->h, EVENT_BOUNDARY, t);
		__builtin_memset(&e->ids, 0, sizeof(e->ids));
		e->ids.goid = to;
		e->waiter = w->waiters[i];
		e->what = BOUNDARY_MOVED;
		submit(e);
		w->waiters[i] = to;
	}
	return 0;
}

static const u64 FIRST_ID = 0x3ff0000000000000; /* 1.0; pointers and small numbers are less, as doubles are compared by their bits */

enum { WRAP_WORDS = 8 };

/* What a hit costs, in hits of promise_resolved: it comes alone, after a sleep. */
enum { WORK_HIT = 4 };

/* Whether a process may still be told of what the thread pool and other threads do. */
static __always_inline bool pay_work(struct watch *w, struct task_struct *t)
{
	if (!w || !w->works)
		return false;
	if (pay_from(&w->work_credit, &w->work_credited, WORK_HIT))
		return true;
	w->works = 0;
	tell_spent(t, EVENT_WORK_SPENT);
	return false;
}

/* The ids of an object that Node calls back, which stand behind each other somewhere in the words
 * at an address, where nothing else looks like them. The second is what it was asked for by. */
static __always_inline bool read_wrap(u64 address, u64 counter, u64 *id, u64 *trigger)
{
	u64 words[WRAP_WORDS] = {};

	if (bpf_probe_read_user(words, sizeof(words), (void *)address))
		return false;
	for (int i = 0; i + 1 < WRAP_WORDS; i++) {
		*id = words[i];
		*trigger = words[i + 1];
		if (*id < FIRST_ID || *id > counter)
			continue;
		return !*trigger || (*trigger >= FIRST_ID && *trigger < *id);
	}
	return false;
}

/* Tells of the callback of such an object. */
static __always_inline void tell_done(struct task_struct *t, u64 address)
{
	struct watch *w = watch_of(t->tgid);
	u64 counter, id, trigger;

	if (!pay_work(w, t) || !in_loop(w, t))
		return;
	counter = read_word(w->async_ids + ASYNC_COUNTER);
	if (read_wrap(address, counter, &id, &trigger))
		tell_once(w, t, BOUNDARY_DONE, id, trigger, counter);
}

/* Before the callback of what was done with a file: node::fs::AfterInteger(uv_fs_t *) and its
 * like. The first word of that is the address of the object that has the ids: its sixth and
 * seventh word up to Node 20, the eighth and ninth since. */
enum { WRAP_AT = 4 * sizeof(u64) };

SEC("uprobe.multi/file_done")
int file_done(struct pt_regs *ctx)
{
	tell_done(bpf_get_current_task_btf(), read_word(FN_ARG1(ctx)) + WRAP_AT);
	return 0;
}

/* Before that of other work of the thread pool: what node::ThreadPoolWork::ScheduleWork() gives
 * to uv_queue_work for that, with the uv_work_t. This is the third member of a ThreadPoolWork,
 * which follows the object that has the ids. */
SEC("uprobe.multi/work_done")
int work_done(struct pt_regs *ctx)
{
	enum { BEFORE = 2 };

	tell_done(bpf_get_current_task_btf(), FN_ARG1(ctx) - (BEFORE + WRAP_WORDS) * sizeof(u64));
	return 0;
}

/* A message is sent to another thread: node::worker::MessagePort::PostMessage(), of an object that
 * has ids of its own, where that of a file has them. */
SEC("uprobe.multi/port_posts")
int port_posts(struct pt_regs *ctx)
{
	struct task_struct *t = bpf_get_current_task_btf();
	struct watch *w = watch_of(t->tgid);
	u64 ids[3] = {}, id, trigger;

	if (!pay_work(w, t) || !in_loop(w, t))
		return 0;
	if (bpf_probe_read_user(ids, sizeof(ids), (void *)w->async_ids) || !read_wrap(FN_ARG1(ctx) + WRAP_AT, ids[2], &id, &trigger))
		return 0;
	tell(t, BOUNDARY_POSTED, ids[0], ids[1], ids[2], id);
	return 0;
}

/* A port is said to have messages: MessagePort::OnMessage() takes them, one after the other. */
SEC("uprobe.multi/port_wakes")
int port_wakes(void *ctx)
{
	struct task_struct *t = bpf_get_current_task_btf();
	struct watch *w = watch_of(t->tgid);

	if (pay_work(w, t) && in_loop(w, t))
		w->taking = 0;
	return 0;
}

/* It asks for the next, in vain at last: MessagePort::ReceiveMessage(context, mode, ports). Its callback
 * runs behind that, under the port's own id. In another mode a program takes one by itself. */
SEC("uprobe.multi/port_takes")
int port_takes(struct pt_regs *ctx)
{
	struct task_struct *t = bpf_get_current_task_btf();
	struct watch *w = watch_of(t->tgid);
	u64 counter, id, trigger;
	enum boundary_kind what;

	if (!pay_work(w, t) || !in_loop(w, t))
		return 0;
	counter = read_word(w->async_ids + ASYNC_COUNTER);
	if (!read_wrap(FN_ARG1(ctx) + WRAP_AT, counter, &id, &trigger))
		return 0;
	if ((u32)FN_ARG3(ctx)) {
		what = BOUNDARY_TAKES;
	} else {
		what = w->taking ? BOUNDARY_MESSAGE : BOUNDARY_MESSAGES;
		w->taking = 1;
	}
	begin_turn(w);
	tell(t, what, id, trigger, counter, id);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";

/* Types reach the Go side only if the object's BTF mentions them. */
#define EXPORT(type, name) type *export_##name __attribute__((unused))
EXPORT(enum node_event_type, node_event_type);
EXPORT(struct node_spent_event, node_spent_event);
