// SPDX-License-Identifier: GPL-2.0
/* Which goroutine is on a CPU, at each tick of a timer: goroutines change without the
 * scheduler's knowledge. */
#pragma once

static __always_inline void on_sample(void)
{
	struct task_struct *t = bpf_get_current_task_btf();
	struct watch *w = watch_of(t->tgid);
	struct sample_event *e;
	u64 goid;

	if (!w || !w->go_goid)
		return;
	goid = current_goid(w, t);
	e = reserve(sizeof(*e), HOOK_SAMPLES);
	if (!e)
		return;
	fill_head(&e->h, EVENT_SAMPLE, t);
	e->goid = goid;
	submit(e);
}

SEC("perf_event")
int sample(void *ctx)
{
	return paused() ? 0 : METERED(PROGRAM_SAMPLE, on_sample());
}
