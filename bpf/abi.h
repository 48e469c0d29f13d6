// SPDX-License-Identifier: GPL-2.0
/* Every structure that crosses from the kernel to the recorder, with explicit
 * padding. The Go side is generated from this file. Times are CLOCK_MONOTONIC ns;
 * `start` is the thread's start_boottime, which tells a reused tid from its
 * predecessor.
 */
#pragma once

enum { PREFIX = 512 }; /* payload bytes kept of one read or write */

enum event_type {
	EVENT_OFF = 1,
	EVENT_FORK,
	EVENT_EXEC,
	EVENT_EXIT,
	EVENT_RENAME,
	EVENT_LISTEN,
	EVENT_BACKLOG,
	EVENT_CONN,
	EVENT_ESTABLISHED,
	EVENT_CLOSED,
	EVENT_CHUNK,
	EVENT_DATAGRAM,
	EVENT_BOUNDARY,
	EVENT_SAMPLE,
	EVENT_SEND,
	EVENT_FILE,
	EVENT_LATE,
	EVENT_PATH,
	EVENT_RETRANSMIT,
	EVENT_CONTEXT,
};

/* Hooks as losses are counted; the order is that of the names in decode.go. */
enum hook {
	HOOK_SCHED,
	HOOK_PROCESSES,
	HOOK_SOCKETS,
	HOOK_IO,
	HOOK_DNS,
	HOOK_BOUNDARIES,
	HOOK_SAMPLES,
	HOOKS,
};

/* The programs that run often, as their cost is metered. */
enum program {
	PROGRAM_SWITCH,
	PROGRAM_WAKING,
	PROGRAM_STATE,
	PROGRAM_ARRIVAL,
	PROGRAM_READ,
	PROGRAM_WRITE,
	PROGRAM_SAMPLE,
	PROGRAMS,
};

enum { METER_EVERY = 64 }; /* runs of a program for one that is timed */

/* What a program cost on one CPU. */
struct cost {
	u64 runs;
	u64 timed; /* runs that were timed */
	u64 ns;    /* that those took */
	u64 inside; /* of that, on threads of watched processes */
	u64 watched; /* of PROGRAM_WRITE: writes of watched processes, also while recording pauses */
};

enum { HINTS = 8192 }; /* slots; a power of two */

enum off_state { OFF_SLEEP, OFF_DISK, OFF_PREEMPTED, OFF_OTHER, OFF_RUNNING };
enum waker_kind { WAKER_NONE, WAKER_THREAD, WAKER_OTHER, WAKER_INTERRUPT };
enum side { SIDE_INBOUND, SIDE_OUTBOUND };
enum direction { DIR_READ, DIR_WRITE };
enum closer { CLOSER_UNKNOWN, CLOSER_US, CLOSER_PEER, CLOSER_RESET, CLOSER_REFUSED };

struct head {
	u64 ts;
	u64 start;
	u32 tid; /* 0: no watched thread acted */
	u32 tgid;
	u32 type;
	u32 cpu;
};

enum { CONTEXT_DEPTH = 6 }; /* what a context is a copy of is followed so far */

/* What runs on a thread, as far as its language runtime tells. */
struct runtime_ids {
	u64 goid;
	u64 parent_goid;
	u64 exec; /* Node's ids are doubles, passed as their bits */
	u64 trigger;
	u64 counter;
	u64 contexts; /* Python: how many contexts had been numbered */
	s64 context;  /* number of the current one, or minus its address; 0 none */
	s64 from[CONTEXT_DEPTH]; /* what it is a copy of, and that, and so on */
};

/* In off_event.ahead: not seen. */
#define AHEAD_UNSEEN 0xffffffff

struct off_event {
	struct head h;
	u64 since;
	u64 woken; /* 0: the waking was not seen */
	u64 arg;
	u64 goid;
	u64 counter; /* Node's last async id, if it waits for events */
	u64 waker_start;
	u64 sp;  /* user stack pointer */
	u64 ran; /* CPU time used since it last came back; 0 unknown */
	u64 ino; /* of the file that it waits for; 0: none, or not known */
	s64 waker_context; /* of Python, in which a futex wake was made; as in runtime_ids */
	u32 waker_tid;
	u32 waker_tgid;
	u32 owner; /* tid in the glibc mutex that it waits for */
	s32 nr;	   /* syscall, -1 none */
	u8 state;
	u8 waker_kind;
	u8 release;
	u8 timed;
	u32 minor; /* page faults since it last came back, as they were counted */
	u32 major;
	u32 fetched; /* bytes it had read from storage since, through the page cache too */
	u32 in;	     /* bytes that its reads and writes moved since */
	u32 out;
	u32 dev; /* of the file that it waits for */
	u32 ahead; /* process that had the CPU until it came back; 0: none, the CPU was idle */
};

/* The context of Python in which a thread was woken or made, told when it was and was not told before: what
 * works for a task need do nothing else that shows whose it is. */
struct context_event {
	struct head h;
	struct runtime_ids ids;
};

/* A file that a thread waited for, told when it did and its name was not told lately. */
struct file_event {
	struct head h;
	u64 ino;
	u64 size;
	u32 dev;
	char name[64]; /* the end of its path */
	u32 pad;
};

/* A thread that started, was renamed, changed program or ended. */
struct task_event {
	struct head h;
	u64 creator_start; /* FORK: who made it */
	s64 creator_context; /* FORK of a thread: of Python, in which it was made; as in runtime_ids */
	u32 creator_tid;
	u32 creator_tgid;
	u32 last;    /* EXIT: the process ended with it */
	u32 old_tid; /* EXEC */
	char comm[16];
};

struct address {
	u8 local[16];
	u8 peer[16];
	u16 local_port;
	u16 peer_port;
	u16 family;
	u16 pad;
};

struct listen_event {
	struct head h;
	u32 port;
	u32 depth;
	u32 limit;
	u32 netns;
};

struct conn_event {
	struct head h;
	u64 id;
	u64 before; /* its id before recording paused; 0 none */
	struct runtime_ids ids;
	struct address addr;
	u32 side;
	u32 existing;
	u32 closer; /* CLOSED */
	u32 owner;  /* process that listens, for an inbound connection nobody has read */
	u32 udp;    /* 1: exchanges of a socket of UDP with one peer */
	u32 rtt;    /* EXISTING: the least that a way there and back took of late, us; 0: not known */
};

/* The name of the Unix socket that a connection is through; it comes before the rest. */
struct path_event {
	struct head h;
	u64 id;
	char path[108]; /* abstract names begin with NUL */
	u32 pad;
};

struct chunk_event {
	struct head h;
	u64 id;
	u64 offset;
	u64 bytes;
	u64 arrived;
	u64 last;
	u64 first;
	struct runtime_ids ids;
	u32 dir;
	u32 merged;
	u32 eof;
	u32 data_len;
};

/* The end of what was written left late. */
struct late_event {
	struct head h;
	u64 id;
	u64 offset; /* bytes written so far */
	u64 left;   /* when the end of them was sent */
	u64 window; /* as in struct flow */
};

/* A segment of a connection was sent again. */
struct retransmit_event {
	struct head h;
	u64 id;
};

struct datagram_event {
	struct head h;
	u64 arrived;
	struct address addr;
	u32 dir;
	u32 data_len;
};

/* A datagram that was sent, but for look-ups. */
struct send_event {
	struct head h;
	u64 goid;
	u64 bytes;
	struct address addr;
	char path[108]; /* Unix sockets: of the peer; abstract names begin with NUL */
	u32 data_len;
};

enum boundary_kind {
	BOUNDARY_TIMERS,     /* timers are about to run */
	BOUNDARY_IMMEDIATES, /* immediates are */
	BOUNDARY_RESOLVED,   /* a promise is resolved by the callback that has the execution id */
	BOUNDARY_DONE,       /* that callback is about to run, for the thread pool has done what it waits for */
	BOUNDARY_POSTED,     /* a message is sent to another thread by a port, whose id is in ids.goid */
	BOUNDARY_MESSAGES,   /* the messages that came by a port are about to be taken: the first, if there is one */
	BOUNDARY_MESSAGE,    /* and the next, if there is one */
	BOUNDARY_TAKES,      /* the program asks a port for one by itself */
	BOUNDARY_AWAITED,    /* a promise is resolved, not the first by that callback */
	BOUNDARY_MOVED,	     /* what waits for promises is elsewhere now: at ids.goid */
};

struct boundary_event {
	struct head h;
	struct runtime_ids ids;
	u64 waiter; /* of what resolves a promise: the address of what waits for that at last; 1: nothing; 0: not known */
	u64 what;   /* enum boundary_kind */
};

struct sample_event {
	struct head h;
	u64 goid;
};

/* One thread, read by the task iterator. */
struct task_record {
	u64 ts;
	u64 start;
	u64 since;
	u64 arg;
	u64 parent_start; /* of the parent process */
	u32 tid;
	u32 tgid;
	u32 parent;
	u32 pad;
	s32 nr;
	u32 state;
	char comm[16];
};

/* What tells objects of V8 apart, as it says itself: their types, and where a function keeps its context. 0: not known. */
struct v8_types {
	u32 promise;
	u32 async; /* what an async function is while it waits */
	u32 generator; /* and an async generator */
	u32 capability;
	u32 oddball; /* undefined, and its like */
	u32 context;
};

/* How many of those that wait for promises are followed as V8 moves them: a power of 2. */
enum { WAITERS = 32 };

/* A watched process. */
struct watch {
	u64 async_ids; /* address of Node's async_id_fields, 0 none */
	s32 go_tls;    /* offset of g from the thread pointer */
	s32 go_goid;   /* 0: no Go */
	s32 go_parent; /* -1: not known */
	s32 go_m;
	s32 go_curg;
	s32 py_state;	/* offset from the thread pointer of the pointer to Python's thread state; 0: not known */
	s32 py_context; /* offset of the current context in that */
	u32 py_copies;	/* 1: contexts are numbered as they are copied */
	u64 py_type;	/* address of their type */
	u64 contexts;	/* how many have been numbered */
	u64 credit;	/* ns that probes may still cost */
	u64 credited;	/* when to that was last added */
	u64 resolves;	/* 1: it is told which callback of Node resolved a promise */
	u64 works;	/* 1: or was of the thread pool */
	u64 work_credit; /* as credit, for that */
	u64 work_credited;
	u64 taking;	/* a message was asked for since the port was said to have some */
	struct v8_types v8;
	u64 waiters[WAITERS]; /* those that were told last */
	u64 told;	      /* how many were, one after another */
	u64 resolved;	/* id of the last that was told of since Node's loop last read, wrote, slept or ran timers */
};

/* A thread of any process, read by the task iterator. */
struct base_record {
	u64 base; /* thread pointer */
	u32 tid;
	u32 tgid;
};

struct port_key {
	u32 netns;
	u16 port;
	u16 pad;
};

struct loss {
	u64 count;
	u64 first; /* of those not yet acknowledged */
	u64 last;
};
