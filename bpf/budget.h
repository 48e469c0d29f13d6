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

/* Whether there is credit for what costs as much as so many hits; then it was charged. */
static __always_inline bool pay_from(u64 *account, u64 *credited, u64 times)
{
	u64 now = bpf_ktime_get_ns();
	u64 credit = *account;

	__sync_fetch_and_add(&hits, times);
	if (!share)
		return false;
	if (now > *credited)
		credit += (now - *credited) / share;
	if (credit > most)
		credit = most;
	*credited = now;
	if (credit < times * hit_cost)
		return false;
	*account = credit - times * hit_cost;
	return true;
}

/* Charges a process for what a program did beside, since a time. */
static __always_inline void charge(struct watch *w, u64 since)
{
	u64 took = bpf_ktime_get_ns() - since;

	w->credit -= took < w->credit ? took : w->credit;
}

/* Whether the process may be charged for a hit; then it was. */
static __always_inline bool pay(struct watch *w)
{
	return pay_from(&w->credit, &w->credited, 1);
}
