// SPDX-License-Identifier: GPL-2.0
/* What differs between processors: registers by what they are for, where a thread's own
 * storage is, and the numbers of system calls.
 */
#pragma once

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

#if defined(__TARGET_ARCH_x86)

struct pt_regs {
	unsigned long bx, r10, r9, r8, ax, dx, si, di, orig_ax, sp;
};

struct thread_struct {
	unsigned long fsbase;
};

#define THREAD_POINTER(t) ((t)->thread.fsbase)
#define STACK_POINTER(r) ((r)->sp)
/* Of a system call; its number is -1 outside of any. */
#define SYSCALL_NR(r) ((s32)(r)->orig_ax)
#define SYS_ARG1(r) ((r)->di)
#define SYS_ARG2(r) ((r)->si)
#define SYS_ARG3(r) ((r)->dx)
#define SYS_ARG4(r) ((r)->r10)
#define SYS_ARG5(r) ((r)->r8)
/* Of a function of C, as it begins and as it returns. */
#define FN_ARG1(r) ((r)->di)
#define FN_ARG2(r) ((r)->si)
#define FN_ARG3(r) ((r)->dx)
#define FN_RESULT(r) ((r)->ax)
#define RETURN_ADDRESS(r) read_word((r)->sp)
/* Of a function of Go from 1.17 on. */
#define GO_ARG1(r) ((r)->ax)
#define GO_ARG2(r) ((r)->bx)
/* Where the first one is of a function in assembly, as it is called. */
#define GO_STACK_ARG1(r) ((r)->sp)

enum {
	NR_read = 0, NR_write = 1, NR_close = 3, NR_poll = 7, NR_mmap = 9, NR_pread64 = 17,
	NR_pwrite64 = 18, NR_readv = 19, NR_writev = 20,
	NR_select = 23, NR_mremap = 25, NR_nanosleep = 35, NR_sendfile = 40, NR_connect = 42, NR_accept = 43,
	NR_sendto = 44, NR_recvfrom = 45, NR_sendmsg = 46,
	NR_recvmsg = 47, NR_shutdown = 48, NR_fcntl = 72, NR_flock = 73, NR_fsync = 74, NR_fdatasync = 75, NR_ftruncate = 77,
	NR_rt_sigtimedwait = 128,
	NR_futex = 202, NR_io_getevents = 208, NR_semtimedop = 220, NR_clock_nanosleep = 230,
	NR_epoll_wait = 232, NR_pselect6 = 270, NR_ppoll = 271, NR_splice = 275, NR_sync_file_range = 277,
	NR_epoll_pwait = 281, NR_fallocate = 285, NR_accept4 = 288,
	NR_preadv = 295, NR_pwritev = 296, NR_recvmmsg = 299, NR_sendmmsg = 307,
	NR_preadv2 = 327, NR_pwritev2 = 328, NR_epoll_pwait2 = 441,
	NR_futex_waitv = 449, NR_futex_wake = 454, NR_futex_wait = 455,
	NR_futex_requeue = 456,
};

#elif defined(__TARGET_ARCH_arm64)

struct pt_regs {
	u64 regs[31];
	u64 sp;
	u64 orig_x0;
	s32 syscallno;
	u32 pad;
};

struct thread_struct {
	struct {
		unsigned long tp_value;
	} uw;
};

#define THREAD_POINTER(t) ((t)->thread.uw.tp_value)
#define STACK_POINTER(r) ((r)->sp)
#define SYSCALL_NR(r) ((r)->syscallno)
#define SYS_ARG1(r) ((r)->orig_x0)
#define SYS_ARG2(r) ((r)->regs[1])
#define SYS_ARG3(r) ((r)->regs[2])
#define SYS_ARG4(r) ((r)->regs[3])
#define SYS_ARG5(r) ((r)->regs[4])
#define FN_ARG1(r) ((r)->regs[0])
#define FN_ARG2(r) ((r)->regs[1])
#define FN_ARG3(r) ((r)->regs[2])
#define FN_RESULT(r) ((r)->regs[0])
#define RETURN_ADDRESS(r) ((r)->regs[30])
#define GO_ARG1(r) ((r)->regs[0])
#define GO_ARG2(r) ((r)->regs[1])
#define GO_STACK_ARG1(r) ((r)->sp + 8)
/* Go keeps its g in a register, but within C. */
#define GO_G(r) ((r)->regs[28])

enum { /* below -1: calls that there are not, as others do their work */
	NR_poll = -2, NR_select = -3, NR_epoll_wait = -4,
	NR_io_getevents = 4, NR_epoll_pwait = 22, NR_fcntl = 25, NR_flock = 32, NR_ftruncate = 46, NR_fallocate = 47,
	NR_close = 57, NR_read = 63, NR_write = 64, NR_readv = 65, NR_writev = 66,
	NR_pread64 = 67, NR_pwrite64 = 68, NR_preadv = 69, NR_pwritev = 70, NR_sendfile = 71, NR_pselect6 = 72,
	NR_ppoll = 73, NR_splice = 76, NR_fsync = 82, NR_fdatasync = 83, NR_sync_file_range = 84, NR_futex = 98,
	NR_nanosleep = 101, NR_clock_nanosleep = 115, NR_rt_sigtimedwait = 137,
	NR_semtimedop = 192, NR_accept = 202, NR_connect = 203, NR_sendto = 206,
	NR_recvfrom = 207, NR_shutdown = 210, NR_sendmsg = 211, NR_recvmsg = 212,
	NR_mremap = 216, NR_mmap = 222, NR_accept4 = 242, NR_recvmmsg = 243, NR_sendmmsg = 269,
	NR_preadv2 = 286, NR_pwritev2 = 287, NR_epoll_pwait2 = 441,
	NR_futex_waitv = 449, NR_futex_wake = 454, NR_futex_wait = 455,
	NR_futex_requeue = 456,
};

#else
#error "dwell records on x86-64 and arm64"
#endif

#pragma clang attribute pop
