// SPDX-License-Identifier: GPL-2.0
/* Ids that language runtimes keep in user memory. Every read may fail, and then the
 * id is 0: unknown. */
#pragma once

enum { ASYNC_COUNTER = 16 }; /* offset of the last id given out in async_id_fields */

static __always_inline u64 read_word(u64 address)
{
	u64 value = 0;

	if (bpf_probe_read_user(&value, sizeof(value), (void *)address))
		return 0;
	return value;
}

static __always_inline u32 read_half(u64 address)
{
	u32 value = 0;

	if (bpf_probe_read_user(&value, sizeof(value), (void *)address))
		return 0;
	return value;
}

/* Go's g of a thread: that of its scheduler while it is on the scheduler's stack. */
static __always_inline u64 stored_g(struct watch *w, struct task_struct *t)
{
#ifdef GO_G
	struct pt_regs *r = (struct pt_regs *)bpf_task_pt_regs(t);

	return r ? GO_G(r) : 0;
#else
	return read_word(THREAD_POINTER(t) + w->go_tls);
#endif
}

/* The goroutine that runs on a thread, also while the thread is on its scheduler
 * stack. */
static __always_inline u64 current_g(struct watch *w, struct task_struct *t)
{
	u64 g = stored_g(w, t);
	u64 m;

	if (!g || read_word(g + w->go_goid))
		return g;
	m = read_word(g + w->go_m); /* g0 has goid 0 */
	return m ? read_word(m + w->go_curg) : 0;
}

static __always_inline u64 current_goid(struct watch *w, struct task_struct *t)
{
	u64 g;

	if (!w->go_goid)
		return 0;
	g = current_g(w, t);
	return g ? read_word(g + w->go_goid) : 0;
}

/* Node's loop reads from a socket, or writes as it mostly does once a callback is over, begins callbacks
 * that no socket caused, or sleeps. */
static __always_inline void begin_turn(struct watch *w)
{
	w->resolved = 0;
}
