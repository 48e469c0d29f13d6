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

/* The goroutine that runs on a thread, also while the thread is on its scheduler
 * stack. */
static __always_inline u64 current_g(struct watch *w, struct task_struct *t)
{
	u64 g = read_word(t->thread.fsbase + w->go_tls);
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

static __always_inline void read_ids(struct runtime_ids *ids, struct watch *w,
				     struct task_struct *t)
{
	u64 fields[3] = {};
	u64 g;

	__builtin_memset(ids, 0, sizeof(*ids));
	if (w->go_goid) {
		g = current_g(w, t);
		if (g) {
			ids->goid = read_word(g + w->go_goid);
			if (w->go_parent > 0)
				ids->parent_goid = read_word(g + w->go_parent);
		}
	}
	if (w->async_ids && t->pid == t->tgid) {
		if (bpf_probe_read_user(fields, sizeof(fields), (void *)w->async_ids))
			return;
		ids->exec = fields[0];
		ids->trigger = fields[1];
		ids->counter = fields[2];
	}
}
