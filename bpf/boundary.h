// SPDX-License-Identifier: GPL-2.0
/* Where Node's loop thread begins callbacks that no socket caused. */
#pragma once

static __always_inline int on_boundary(enum boundary_kind what)
{
	struct task_struct *t = bpf_get_current_task_btf();
	struct watch *w = watch_of(t->tgid);
	struct boundary_event *e;

	if (!w || t->pid != t->tgid)
		return 0;
	e = reserve(sizeof(*e), HOOK_BOUNDARIES);
	if (!e) {
		begin_turn(w);
		return 0;
	}
	fill_head(&e->h, EVENT_BOUNDARY, t);
	read_ids(&e->ids, w, t);
	e->waiter = 0;
	e->what = what;
	begin_turn(w);
	submit(e);
	return 0;
}

SEC("uprobe.multi/run_timers")
int run_timers(void *ctx)
{
	return on_boundary(BOUNDARY_TIMERS);
}

SEC("uprobe.multi/check_immediate")
int check_immediate(void *ctx)
{
	return on_boundary(BOUNDARY_IMMEDIATES);
}
