// SPDX-License-Identifier: GPL-2.0
/* Suspects beneath a service: address spaces that grow, threads that wait for the lock of
 * theirs, the files that page faults are for, syncs of files, and what block devices do. An object of its
 * own, because a kernel may lack what it hooks: maps are shared with the recorder's. */
#include "kernel.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "abi.h"
#include "common.h"
#include "runtime.h"
#include "syscalls.h"
#include "files.h"

enum storage_event_type {
	EVENT_MAPPING = 96,
	EVENT_MEMORY_WAIT,
	EVENT_SYNC,
};

/* The programs, as their cost is metered. */
enum storage_program { STORAGE_FAULT, STORAGE_MAPPING, STORAGE_CONTENTION, STORAGE_BLOCK, STORAGE_SYNC, STORAGE_PROGRAMS };

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, STORAGE_PROGRAMS);
	__type(key, u32);
	__type(value, struct cost);
} storage_costs SEC(".maps");

static __always_inline struct cost *cost_begin(u32 program, u64 *began)
{
	struct cost *c = bpf_map_lookup_elem(&storage_costs, &program);

	*began = c && c->runs++ % METER_EVERY == 0 ? bpf_ktime_get_ns() : 0;
	return c;
}

static __always_inline void cost_end(struct cost *c, u64 began)
{
	if (c && began)
		note_cost(c, began, in_watched());
}

#define COSTED(program, work)                                                      \
	({                                                                         \
		u64 began;                                                         \
		struct cost *c = cost_begin(program, &began);                      \
		work;                                                              \
		cost_end(c, began);                                                \
		0;                                                                 \
	})

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct rw_semaphore {
	atomic_t owner; /* a pointer in truth: only its place is used */
};

struct mm_struct {
	struct rw_semaphore mmap_lock;
};

struct address_space {
	struct inode *host;
};

struct vm_unmapped_area_info {
	unsigned long length;
};

struct hlist_node___names {
	struct hlist_node___names *next;
};

struct hlist_head___names {
	struct hlist_node___names *first;
};

struct inode___names {
	struct hlist_head___names i_dentry;
};

struct dentry___names {
	struct qstr d_name;
	union {
		struct hlist_node___names d_alias;
	} d_u;
};

struct dentry___flat { /* the union has no name since Linux 7.1 */
	struct hlist_node___names d_alias;
};

struct task_struct___memory {
	struct mm_struct *mm;
};

#pragma clang attribute pop

/* What the last page fault of a thread is for, where the page was not simply mapped: the
 * recorder's program that sees the thread sleep looks here. */
static __always_inline void tell_inode(struct inode *i, struct file_key *key)
{
	struct inode___names *n = (void *)i;
	struct hlist_node___names *first = BPF_CORE_READ(n, i_dentry.first);
	struct dentry___names *d;
	struct task_struct *t = bpf_get_current_task_btf();
	u64 now = bpf_ktime_get_ns();
	u64 *told = bpf_map_lookup_elem(&told_files, key);
	struct file_event *e;

	if (told && now - *told < TELL_FILE_EVERY)
		return;
	bpf_map_update_elem(&told_files, key, &now, BPF_ANY);
	e = reserve(sizeof(*e), HOOK_SCHED);
	if (!e)
		return;
	fill_head_at(&e->h, EVENT_FILE, t, now);
	e->ino = key->ino;
	e->dev = key->dev;
	e->pad = 0;
	e->size = BPF_CORE_READ(i, i_size);
	e->name[0] = 0;
	if (first) {
		if (bpf_core_field_exists(struct dentry___names, d_u.d_alias))
			d = (void *)first - bpf_core_field_offset(struct dentry___names, d_u.d_alias);
		else
			d = (void *)first - bpf_core_field_offset(struct dentry___flat, d_alias);
		bpf_probe_read_kernel_str(e->name, sizeof(e->name), BPF_CORE_READ(d, d_name.name));
	}
	submit(e);
}

static __always_inline void on_fault(struct address_space *mapping)
{
	struct task_struct *t = bpf_get_current_task_btf();
	struct file_key key = {};
	struct inode *i;
	struct fault *f;

	if (!watch_of(t->tgid))
		return;
	f = bpf_task_storage_get(&faults, t, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!f)
		return;
	i = BPF_CORE_READ(mapping, host);
	key.ino = BPF_CORE_READ(i, i_ino);
	key.dev = BPF_CORE_READ(i, i_sb, s_dev);
	f->ino = key.ino;
	f->dev = key.dev;
	f->faults = t->min_flt + t->maj_flt;
	tell_inode(i, &key);
}

SEC("tp_btf/mm_filemap_fault")
int BPF_PROG(filemap_fault, struct address_space *mapping)
{
	return COSTED(STORAGE_FAULT, on_fault(mapping));
}

/* A part of an address space that was asked for. */
struct mapping_event {
	struct head h;
	u64 goid;
	u64 ino;
	u64 bytes;
	u64 before; /* mremap: the size it had */
	u32 dev;
	s32 nr;
};

enum { MAP_ANONYMOUS = 0x20 };

/* Smaller ones are what allocators do. */
enum { LEAST_MAPPED = 1 << 20, LEAST_ANONYMOUS = 16 << 20 };

static __always_inline void on_mapping(struct vm_unmapped_area_info *info)
{
	struct task_struct *t = bpf_get_current_task_btf();
	struct watch *w = watch_of(t->tgid);
	struct mapping_event *e;
	struct pt_regs *r;
	u64 bytes, before = 0, ino = 0;
	u32 dev = 0;

	if (!w)
		return;
	if (info->length < LEAST_MAPPED)
		return;
	r = user_regs(t);
	if (!r)
		return;
	switch (SYSCALL_NR(r)) {
	case NR_mmap:
		bytes = SYS_ARG2(r);
		if (!(SYS_ARG4(r) & MAP_ANONYMOUS))
			ino = file_of(t, (u32)SYS_ARG5(r), &dev);
		break;
	case NR_mremap:
		before = SYS_ARG2(r);
		bytes = SYS_ARG3(r);
		break;
	default:
		return;
	}
	if (!ino && !before && bytes < LEAST_ANONYMOUS)
		return;
	e = reserve(sizeof(*e), HOOK_SCHED);
	if (!e)
		return;
	fill_head(&e->h, EVENT_MAPPING, t);
	e->goid = current_goid(w, t);
	e->ino = ino;
	e->dev = dev;
	e->bytes = bytes;
	e->before = before;
	e->nr = SYSCALL_NR(r);
	submit(e);
}

SEC("tp_btf/vm_unmapped_area")
int BPF_PROG(unmapped_area, unsigned long addr, struct vm_unmapped_area_info *info)
{
	return COSTED(STORAGE_MAPPING, on_mapping(info));
}

/* A wait for the lock of an address space. */
struct memory_wait_event {
	struct head h;
	u64 goid;
	u64 since;
	u64 owner_start;
	u32 owner_tid; /* 0: not known, or readers */
	u32 owner_tgid;
	u32 write;
	s32 nr;
};

struct contention {
	u64 since; /* 0: waits for none */
	u64 owner_start;
	u32 owner_tid;
	u32 owner_tgid;
	u32 write;
	u32 pad;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct contention);
} contentions SEC(".maps");

enum { LCB_F_WRITE = 1 << 2, OWNED_BY_READERS = 1, OWNER_FLAGS = 7 };

/* Waits that are shorter are not worth an event. */
enum { LEAST_WAIT = 20000 };

static __always_inline u64 own_lock(struct task_struct *t)
{
	struct task_struct___memory *m = (void *)t;
	u64 mm = (u64)BPF_CORE_READ(m, mm);

	return mm ? mm + bpf_core_field_offset(struct mm_struct, mmap_lock) : 0;
}

static __always_inline void begins_to_wait(void *lock, u32 flags)
{
	struct task_struct *t = bpf_get_current_task_btf(), *owner;
	struct contention *c;
	u64 word = 0;

	if (!watch_of(t->tgid) || (u64)lock != own_lock(t))
		return;
	c = bpf_task_storage_get(&contentions, t, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!c)
		return;
	c->since = bpf_ktime_get_ns();
	c->write = !!(flags & LCB_F_WRITE);
	c->owner_tid = 0;
	c->owner_tgid = 0;
	c->owner_start = 0;
	bpf_probe_read_kernel(&word, sizeof(word), lock + bpf_core_field_offset(struct rw_semaphore, owner));
	owner = (void *)(word & ~(u64)OWNER_FLAGS);
	if (!owner || (word & OWNED_BY_READERS))
		return;
	c->owner_tid = BPF_CORE_READ(owner, pid);
	c->owner_tgid = BPF_CORE_READ(owner, tgid);
	c->owner_start = BPF_CORE_READ(owner, start_boottime);
}

SEC("tp_btf/contention_begin")
int BPF_PROG(lock_begin, void *lock, unsigned int flags)
{
	return COSTED(STORAGE_CONTENTION, begins_to_wait(lock, flags));
}

static __always_inline void ends_to_wait(void *lock)
{
	struct task_struct *t = bpf_get_current_task_btf();
	struct watch *w = watch_of(t->tgid);
	struct memory_wait_event *e;
	struct contention *c;
	struct pt_regs *r;
	u64 now;

	if (!w)
		return;
	c = bpf_task_storage_get(&contentions, t, 0, 0);
	if (!c || !c->since || (u64)lock != own_lock(t))
		return;
	now = bpf_ktime_get_ns();
	if (now - c->since >= LEAST_WAIT) {
		e = reserve(sizeof(*e), HOOK_SCHED);
		if (e) {
			fill_head_at(&e->h, EVENT_MEMORY_WAIT, t, now);
			e->goid = current_goid(w, t);
			e->since = c->since;
			e->owner_start = c->owner_start;
			e->owner_tid = c->owner_tid;
			e->owner_tgid = c->owner_tgid;
			e->write = c->write;
			r = user_regs(t);
			e->nr = r ? SYSCALL_NR(r) : -1;
			submit(e);
		}
	}
	c->since = 0;
}

SEC("tp_btf/contention_end")
int BPF_PROG(lock_end, void *lock)
{
	return COSTED(STORAGE_CONTENTION, ends_to_wait(lock));
}

#include "syncs.h"
#include "blocks.h"

char LICENSE[] SEC("license") = "GPL";

/* Types reach the Go side only if the object's BTF mentions them. */
#define EXPORT(type, name) type *export_##name __attribute__((unused))
EXPORT(enum storage_event_type, storage_event_type);
EXPORT(enum storage_program, storage_program);
EXPORT(struct mapping_event, mapping_event);
EXPORT(struct memory_wait_event, memory_wait_event);
EXPORT(struct sync_event, sync_event);
EXPORT(struct block_stat, block_stat);
EXPORT(struct block_key, block_key);
