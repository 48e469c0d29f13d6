// SPDX-License-Identifier: GPL-2.0
/* What probes may cost a process: most of that are the traps, which no program can time, so
 * hits are counted and each is charged what the recorder has measured a trap to take. */
#pragma once

/* Credit is added at 1/share of the time that goes by, up to most. */
const volatile u64 share = 0;
const volatile u64 most = 0;

/* What a hit costs the process, in ns. */
volatile u64 hit_cost = 0;

u64 hits = 0;

/* Whether the process may be charged for a hit; then it was. */
static __always_inline bool pay(struct watch *w)
{
	u64 now = bpf_ktime_get_ns();
	u64 credit = w->credit;

	__sync_fetch_and_add(&hits, 1);
	if (!share)
		return false;
	if (now > w->credited)
		credit += (now - w->credited) / share;
	if (credit > most)
		credit = most;
	w->credited = now;
	if (credit < hit_cost)
		return false;
	w->credit = credit - hit_cost;
	return true;
}
