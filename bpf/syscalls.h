// SPDX-License-Identifier: GPL-2.0
/* What a blocked or waking thread's system call tells. */
#pragma once

/* Whether the wait ends by itself after a time. */
static __always_inline bool is_timed(struct pt_regs *r)
{
	switch (SYSCALL_NR(r)) {
	case NR_nanosleep:
	case NR_clock_nanosleep:
		return true;
	case NR_epoll_wait:
	case NR_epoll_pwait:
		return (s32)SYS_ARG4(r) >= 0;
	case NR_poll:
		return (s32)SYS_ARG3(r) >= 0;
	case NR_futex:
	case NR_futex_waitv:
	case NR_epoll_pwait2:
	case NR_semtimedop:
		return SYS_ARG4(r) != 0;
	case NR_ppoll:
	case NR_rt_sigtimedwait:
		return SYS_ARG3(r) != 0;
	case NR_select:
	case NR_pselect6:
	case NR_io_getevents:
	case NR_recvmmsg:
	case NR_futex_wait:
		return SYS_ARG5(r) != 0;
	}
	return false;
}

/* Whether the call hands a futex on: only then is a waker a releaser. */
static __always_inline bool is_release(struct pt_regs *r)
{
	u32 op;

	switch (SYSCALL_NR(r)) {
	case NR_futex_wake:
	case NR_futex_requeue:
		return true;
	case NR_futex:
		op = SYS_ARG2(r) & 0x7f;
		/* WAKE, REQUEUE, CMP_REQUEUE, WAKE_OP, UNLOCK_PI, WAKE_BITSET, CMP_REQUEUE_PI */
		return op == 1 || op == 3 || op == 4 || op == 5 || op == 7 || op == 10 || op == 12;
	}
	return false;
}

/* Of glibc's pthread_mutex_t: who has it. The word that is waited on is at its start.
 * https://sourceware.org/git/?p=glibc.git;f=sysdeps/nptl/bits/struct_mutex.h */
enum { GLIBC_MUTEX_OWNER = 8 };

/* Whether the wait is what glibc does for a mutex: for its word not to be 2, which says
 * that it is held and waited for. Others wait for that value too: the owner read then
 * is checked by the recorder, who knows the threads. */
static __always_inline bool waits_for_mutex(struct pt_regs *r)
{
	return SYSCALL_NR(r) == NR_futex && (SYS_ARG2(r) & 0x7f) == 0 && (u32)SYS_ARG3(r) == 2;
}
