// SPDX-License-Identifier: GPL-2.0
/* What is kept of a thread: of the span that it is off its CPU, and of its stacks. */
#pragma once

/* Counters of a thread, as the kernel keeps them. */
struct usage {
	u64 minor, major, fetched, in, out;
};

/* What they grew by while it was on a CPU. */
struct used {
	u32 minor, major, fetched, in, out;
	u32 pad;
};

/* Waits differ in kind, and a thread that serves requests waits for a socket between
 * any two waits for locks: each class has its own turn. Locks have several, by the place
 * in the code, as far as the stack pointer tells: an interpreter's own lock is waited for
 * just before and after every other. */
enum wait_class { WAIT_NET, WAIT_FILE, WAIT_REST, WAIT_LOCK };
enum { LOCK_TURN_BITS = 3, TURNS = WAIT_LOCK + (1 << LOCK_TURN_BITS) };

struct turns {
	u64 last[TURNS];
	u64 sp[TURNS]; /* of the last: places may share a turn, and alternate */
	u64 since; /* the last wait: when it began, */
	u64 ran;   /* the CPU time that the thread had used until then, */
	u32 turn;  /* and whose turn it was */
	u32 brief; /* bits: the last wait at a turn's place was brief */
};

/* Kept per thread: a per-CPU map would go wrong when threads migrate. */
struct span {
	u64 since; /* 0: on a CPU */
	u64 woken;
	u64 arg;
	u64 goid;
	u64 counter;
	u64 waker_start;
	u64 waker_context; /* its address */
	u32 waker_tid;
	u32 waker_tgid;
	s32 nr;
	u8 state;
	u8 waker_kind;
	u8 release;
	u8 timed;
	u64 runtime; /* CPU time used until it left */
	u64 ran;     /* of that, since it came back before */
	u64 sp;
	u32 owner; /* until it is read: whether there may be one */
	u32 dev;
	u32 gaps; /* when it left, see common.h */
	u32 pad;
	u64 ino; /* of the file that it waits for */
	struct usage base; /* when it left */
	struct used used;
	struct turns turns;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct span);
} spans SEC(".maps");
