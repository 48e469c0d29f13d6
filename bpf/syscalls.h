// SPDX-License-Identifier: GPL-2.0
/* What a blocked or waking thread's system call tells. Numbers are those of x86-64. */
#pragma once

enum {
	NR_read = 0, NR_write = 1, NR_close = 3, NR_poll = 7, NR_pread64 = 17,
	NR_pwrite64 = 18, NR_readv = 19, NR_writev = 20,
	NR_select = 23, NR_nanosleep = 35, NR_sendto = 44, NR_recvfrom = 45,
	NR_sendmsg = 46, NR_recvmsg = 47, NR_shutdown = 48, NR_fsync = 74, NR_fdatasync = 75,
	NR_ftruncate = 77, NR_rt_sigtimedwait = 128, NR_futex = 202,
	NR_io_getevents = 208, NR_semtimedop = 220, NR_clock_nanosleep = 230,
	NR_epoll_wait = 232, NR_pselect6 = 270, NR_ppoll = 271, NR_epoll_pwait = 281,
	NR_sync_file_range = 277, NR_fallocate = 285, NR_preadv = 295, NR_pwritev = 296,
	NR_preadv2 = 327, NR_pwritev2 = 328,
	NR_recvmmsg = 299, NR_sendmmsg = 307, NR_epoll_pwait2 = 441,
	NR_futex_waitv = 449, NR_futex_wake = 454, NR_futex_wait = 455,
	NR_futex_requeue = 456,
};

/* Whether the wait ends by itself after a time. */
static __always_inline bool is_timed(struct pt_regs *r)
{
	switch ((s32)r->orig_ax) {
	case NR_nanosleep:
	case NR_clock_nanosleep:
		return true;
	case NR_epoll_wait:
	case NR_epoll_pwait:
		return (s32)r->r10 >= 0;
	case NR_poll:
		return (s32)r->dx >= 0;
	case NR_futex:
	case NR_futex_waitv:
	case NR_epoll_pwait2:
	case NR_semtimedop:
		return r->r10 != 0;
	case NR_ppoll:
	case NR_rt_sigtimedwait:
		return r->dx != 0;
	case NR_select:
	case NR_pselect6:
	case NR_io_getevents:
	case NR_recvmmsg:
	case NR_futex_wait:
		return r->r8 != 0;
	}
	return false;
}

/* Whether the call hands a futex on: only then is a waker a releaser. */
static __always_inline bool is_release(struct pt_regs *r)
{
	u32 op;

	switch ((s32)r->orig_ax) {
	case NR_futex_wake:
	case NR_futex_requeue:
		return true;
	case NR_futex:
		op = r->si & 0x7f;
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
	return (s32)r->orig_ax == NR_futex && (r->si & 0x7f) == 0 && (u32)r->dx == 2;
}
