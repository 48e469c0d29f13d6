// SPDX-License-Identifier: GPL-2.0
/* Where goroutines of Go wait for each other: probes on functions of its runtime that
 * are called only when somebody has to wait, or somebody who waits is let go. They are
 * an object of their own because they are loaded only for Go; maps are the recorder's.
 * Nothing is kept between two probes: begin and end are joined by the recorder. */
#include "kernel.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "abi.h"
#include "common.h"
#include "runtime.h"

/* Numbers of events from 64 on are those of optional objects. */
enum park_event_type { EVENT_GO_PARK = 72 };

/* What a probe tells. */
enum park_act {
	PARK_BEGIN_MUTEX,
	PARK_BEGIN_READ,
	PARK_BEGIN_WRITE,
	PARK_BEGIN_GROUP,
	PARK_BEGIN_COND,
	PARK_BEGIN_RECEIVE,
	PARK_BEGIN_SEND,
	PARK_BEGIN_SELECT,
	PARK_BEGIN_COLLECTOR,
	PARK_BEGIN_SLEEP,
	PARK_END,     /* the goroutine runs again */
	PARK_RELEASE, /* of what the word is the address */
	PARK_READY,   /* of the goroutine woken */
	PARK_CLOSED,  /* of the goroutine woken, whose channel is closed */
	PARK_CLOSING, /* the same, where waking it is compiled into that */
	PARK_STOP,    /* of all goroutines is asked for */
	PARK_STOPPED,
	PARK_START,
};

enum {
	PARK_FRAMES = 64,
	BPF_F_USER_STACK = 1 << 8,
	NOTIFY_LIST_LOCK = 8, /* behind the numbers of those who came to wait and were told */
};

struct park_event {
	struct head h;
	u64 goid;
	u64 parent_goid;
	u64 word;  /* what the probed function was passed first */
	u64 woken; /* PARK_READY to PARK_CLOSING */
	u32 act;
	u32 bytes; /* of the stack that follows; the caller of the probed function last */
};

struct park_stack {
	struct park_event e;
	u64 stack[PARK_FRAMES];
};

/* Sets of probes, each with a budget of its own, by what is waited for. */
enum park_set {
	PARK_LOCKS,
	PARK_CONDITIONS, /* sync.Cond */
	PARK_CHANNELS,
	PARK_PAUSES, /* the collector; all of it is rare */
	PARK_SLEEPS, /* for a time that is known beforehand */
	PARK_SETS,
};

/* By set: how often its probes were met. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, PARK_SETS);
	__type(key, u32);
	__type(value, struct cost);
} park_costs SEC(".maps");

/* Events for which there was no room. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct loss);
} park_losses SEC(".maps");

static __always_inline void lose(void)
{
	u32 zero = 0;
	struct loss *l = bpf_map_lookup_elem(&park_losses, &zero);

	if (!l)
		return;
	l->last = bpf_ktime_get_ns();
	if (!l->count++)
		l->first = l->last;
}

static __always_inline void fill(struct park_event *e, struct watch *w, struct task_struct *t,
				 u32 act)
{
	u64 g = current_g(w, t);

	fill_head(&e->h, EVENT_GO_PARK, t);
	e->goid = g ? read_word(g + w->go_goid) : 0;
	e->parent_goid = g && w->go_parent > 0 ? read_word(g + w->go_parent) : 0;
	e->word = 0;
	e->woken = 0;
	e->act = act;
	e->bytes = 0;
}

/* An event with the stack. At a function's entry its caller is on top of the stack, and
 * not found by frame pointers: it is told apart, as the last address, for kernels differ
 * in whether they know that. Elsewhere anything may be there. */
static __always_inline void tell_stack(struct pt_regs *regs, struct watch *w, u32 act, u64 word,
				       bool entry)
{
	struct task_struct *t = bpf_get_current_task_btf();
	struct park_stack *s = bpf_ringbuf_reserve(&events, sizeof(*s), 0);
	long n;

	if (!s) {
		lose();
		return;
	}
	fill(&s->e, w, t, act);
	s->e.word = word;
	if (act == PARK_READY)
		s->e.woken = read_word(read_word(GO_ARG2(regs)) + w->go_goid);
	if (act == PARK_CLOSED)
		s->e.woken = read_word(GO_ARG1(regs) + w->go_goid);
	if (act == PARK_CLOSING) /* what is to be called holds it behind the address of its code */
		s->e.woken = read_word(read_word(read_word(GO_STACK_ARG1(regs)) + 8) + w->go_goid);
	n = bpf_get_stack(regs, s->stack, (PARK_FRAMES - 1) * sizeof(u64), BPF_F_USER_STACK);
	s->e.bytes = n > 0 ? n : 0;
	s->stack[PARK_FRAMES - 1] = entry ? RETURN_ADDRESS(regs) : 0;
	submit(s);
}

static __always_inline void tell(struct watch *w, u32 act, u64 word)
{
	struct park_event *e = bpf_ringbuf_reserve(&events, sizeof(*e), 0);

	if (!e) {
		lose();
		return;
	}
	fill(e, w, bpf_get_current_task_btf(), act);
	e->word = word;
	submit(e);
}

static __always_inline int probed(struct pt_regs *regs, u32 act, u32 set)
{
	struct task_struct *t = bpf_get_current_task_btf();
	struct watch *w = watch_of(t->tgid);
	struct cost *c = bpf_map_lookup_elem(&park_costs, &set);
	bool timed = c && c->runs++ % METER_EVERY == 0;
	u64 began = timed ? bpf_ktime_get_ns() : 0;
	u64 word;

	if (w && w->go_goid) {
		word = GO_ARG1(regs); /* Go 1.17 and later pass arguments in ax, bx, cx */
		/* At the call that parks it bx is the lock within the channel. */
		if (act == PARK_BEGIN_RECEIVE || act == PARK_BEGIN_SEND)
			word = GO_ARG2(regs);
		/* Somebody waits where the list of them is locked, within which the lock is. */
		if (act == PARK_RELEASE && set == PARK_CONDITIONS)
			word -= NOTIFY_LIST_LOCK;
		if (act == PARK_BEGIN_SELECT || act == PARK_BEGIN_COLLECTOR || act == PARK_BEGIN_SLEEP)
			word = 0;
		if (act == PARK_END || act == PARK_STOPPED || act == PARK_START)
			tell(w, act, 0);
		else
			tell_stack(regs, w, act, word, set == PARK_LOCKS || set == PARK_PAUSES || act == PARK_READY || act == PARK_BEGIN_COND);
	}
	if (timed) {
		c->ns += bpf_ktime_get_ns() - began;
		c->timed++;
	}
	return 0;
}

#define PROBE(name, act, set)                                                      \
	SEC("uprobe.multi/" #name) int name(struct pt_regs *regs)                        \
	{                                                                          \
		return probed(regs, act, set);                                     \
	}

PROBE(park_mutex, PARK_BEGIN_MUTEX, PARK_LOCKS)
PROBE(park_read, PARK_BEGIN_READ, PARK_LOCKS)
PROBE(park_write, PARK_BEGIN_WRITE, PARK_LOCKS)
PROBE(park_group, PARK_BEGIN_GROUP, PARK_LOCKS)
PROBE(park_end, PARK_END, PARK_LOCKS)
PROBE(park_release, PARK_RELEASE, PARK_LOCKS)

PROBE(park_cond, PARK_BEGIN_COND, PARK_CONDITIONS)
PROBE(park_cond_end, PARK_END, PARK_CONDITIONS)
PROBE(park_notify, PARK_RELEASE, PARK_CONDITIONS)

PROBE(park_receive, PARK_BEGIN_RECEIVE, PARK_CHANNELS)
PROBE(park_send, PARK_BEGIN_SEND, PARK_CHANNELS)
PROBE(park_select, PARK_BEGIN_SELECT, PARK_CHANNELS)
PROBE(park_channel_end, PARK_END, PARK_CHANNELS)
PROBE(park_ready, PARK_READY, PARK_CHANNELS)
PROBE(park_closed, PARK_CLOSED, PARK_CHANNELS)
PROBE(park_closing, PARK_CLOSING, PARK_CHANNELS)

PROBE(park_collector, PARK_BEGIN_COLLECTOR, PARK_PAUSES)
PROBE(park_rare_end, PARK_END, PARK_PAUSES)
PROBE(park_stop, PARK_STOP, PARK_PAUSES)
PROBE(park_stopped, PARK_STOPPED, PARK_PAUSES)
PROBE(park_start, PARK_START, PARK_PAUSES)

PROBE(park_sleep, PARK_BEGIN_SLEEP, PARK_SLEEPS)
PROBE(park_sleep_end, PARK_END, PARK_SLEEPS)

char LICENSE[] SEC("license") = "GPL";

#define EXPORT(type, name) type *export_##name __attribute__((unused))
EXPORT(enum park_event_type, park_event_type);
EXPORT(enum park_act, park_act);
EXPORT(enum park_set, park_set);
EXPORT(struct park_event, park_event);
EXPORT(struct park_stack, park_stack);
EXPORT(struct cost, cost);
EXPORT(struct loss, loss);
