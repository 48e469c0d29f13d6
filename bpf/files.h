// SPDX-License-Identifier: GPL-2.0
/* What threads had of storage: page faults, bytes, and the file that one waits for. All
 * of it is read when a thread leaves its CPU: nothing hooks reads and writes themselves. */
#pragma once
#include "descriptor.h"
#include "span.h"

static __always_inline u32 grew(u64 now, u64 *was)
{
	u64 by = now - *was;

	*was = now;
	return by > 0xffffffff ? 0xffffffff : by;
}

/* Kernels may be built without the counters of bytes. */
static __always_inline void read_usage(struct task_struct *t, struct usage *base, struct used *u)
{
	bool first = !base->minor && !base->major;

	u->minor = grew(t->min_flt, &base->minor);
	u->major = grew(t->maj_flt, &base->major);
	if (bpf_core_field_exists(t->ioac.read_bytes))
		u->fetched = grew(t->ioac.read_bytes, &base->fetched);
	if (bpf_core_field_exists(t->ioac.rchar)) {
		u->in = grew(t->ioac.rchar, &base->in);
		u->out = grew(t->ioac.wchar, &base->out);
	}
	if (first) /* what came before it was watched is not known to be recent */
		__builtin_memset(u, 0, sizeof(*u));
}

/* Whether a thread waits for the file that its system call names first. Reads and writes
 * of sockets and pipes sleep in another state. */
static __always_inline bool waits_for_file(s32 nr, u8 state)
{
	switch (nr) {
	case NR_flock:
	case NR_fcntl: /* for its lock */
		return state == OFF_SLEEP;
	case NR_fsync:
	case NR_fdatasync:
	case NR_sync_file_range:
		return state == OFF_SLEEP || state == OFF_DISK;
	case NR_read:
	case NR_write:
	case NR_readv:
	case NR_writev:
	case NR_pread64:
	case NR_pwrite64:
	case NR_preadv:
	case NR_pwritev:
	case NR_preadv2:
	case NR_pwritev2:
	case NR_ftruncate:
	case NR_fallocate:
		return state == OFF_DISK;
	}
	return false;
}

/* The file that a thread's last page fault was for, where that is hooked. */
struct fault {
	u64 ino;
	u64 faults; /* the thread's count when it began: it is the same until it ends */
	u32 dev;
	u32 pad;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct fault);
} faults SEC(".maps");

enum { TELL_FILE_EVERY = 1000000000 };

struct file_key {
	u64 ino;
	u32 dev;
	u32 pad;
};

/* When each file was told last, in ns. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, struct file_key);
	__type(value, u64);
} told_files SEC(".maps");

static __noinline int tell_file(struct file *f, struct inode *i, struct file_key *key)
{
	struct task_struct *t = bpf_get_current_task_btf();
	struct file_event *e;
	u64 now = bpf_ktime_get_ns();
	u64 *told;

	if (!key)
		return 0;
	told = bpf_map_lookup_elem(&told_files, key);
	if (told && now - *told < TELL_FILE_EVERY)
		return 0;
	bpf_map_update_elem(&told_files, key, &now, BPF_ANY);
	e = reserve(sizeof(*e), HOOK_SCHED);
	if (!e)
		return 0;
	fill_head_at(&e->h, EVENT_FILE, t, now);
	e->ino = key->ino;
	e->dev = key->dev;
	e->pad = 0;
	e->size = BPF_CORE_READ(i, i_size);
	e->name[0] = 0;
	bpf_probe_read_kernel_str(e->name, sizeof(e->name), BPF_CORE_READ(f, f_path.dentry, d_name.name));
	submit(e);
	return 0;
}

/* The inode number of a regular file by its descriptor; 0 if it is none. */
static __always_inline u64 file_of(struct task_struct *t, u64 fd, u32 *dev)
{
	struct file *f = open_file(t, fd);
	struct file_key key = {};
	struct inode *i;

	*dev = 0;
	if (!f)
		return 0;
	i = BPF_CORE_READ(f, f_inode);
	if ((BPF_CORE_READ(i, i_mode) & S_IFMT) != S_IFREG)
		return 0;
	key.ino = BPF_CORE_READ(i, i_ino);
	key.dev = BPF_CORE_READ(i, i_sb, s_dev);
	tell_file(f, i, &key);
	*dev = key.dev;
	return key.ino;
}

/* The inode number of the file that a thread is about to sleep for; 0 if there is none
 * that can be told. */
static __always_inline u64 awaited_file(struct task_struct *t, struct pt_regs *r, u8 state, u32 *dev)
{
	s32 nr = r ? SYSCALL_NR(r) : -1;
	struct fault *f;

	*dev = 0;
	if (r && waits_for_file(nr, state))
		return file_of(t, (u32)SYS_ARG1(r), dev);
	if (state != OFF_DISK)
		return 0;
	f = bpf_task_storage_get(&faults, t, 0, 0);
	if (!f || !f->ino || f->faults != t->min_flt + t->maj_flt)
		return 0;
	*dev = f->dev;
	return f->ino;
}
