// SPDX-License-Identifier: GPL-2.0
/* How long syncs of files take, a part of storage.bpf.c. */
#pragma once

/* A sync of a file, from its beginning to its end, whatever the thread did meanwhile. */
struct sync_event {
	struct head h;
	u64 goid;
	u64 since;
	u64 ino; /* 0: of no regular file */
	u32 dev;
	s32 nr;
};

struct syncing {
	u64 since;
	u64 inode; /* its address; 0: the thread syncs none */
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct syncing);
} syncs SEC(".maps");

/* Syncs that are shorter are not worth an event. */
enum { LEAST_SYNC = 20000 };

/* What a file system that lies on another one syncs beneath is part of that sync. */
static __always_inline void begins_to_sync(struct file *file)
{
	struct task_struct *t = bpf_get_current_task_btf();
	struct syncing *s;
	u64 inode;

	if (!watch_of(t->tgid))
		return;
	s = bpf_task_storage_get(&syncs, t, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	inode = (u64)BPF_CORE_READ(file, f_inode);
	if (!s || (s->inode && s->inode != inode))
		return;
	s->inode = inode;
	s->since = bpf_ktime_get_ns();
}

static __always_inline void tell_sync(struct inode *i, struct watch *w, u64 since, u64 now)
{
	struct task_struct *t = bpf_get_current_task_btf();
	struct pt_regs *r = user_regs(t);
	struct file_key key = {};
	struct sync_event *e;

	if ((BPF_CORE_READ(i, i_mode) & S_IFMT) == S_IFREG) {
		key.ino = BPF_CORE_READ(i, i_ino);
		key.dev = BPF_CORE_READ(i, i_sb, s_dev);
		tell_inode(i, &key);
	}
	e = reserve(sizeof(*e), HOOK_SCHED);
	if (!e)
		return;
	fill_head_at(&e->h, EVENT_SYNC, t, now);
	e->goid = current_goid(w, t);
	e->since = since;
	e->ino = key.ino;
	e->dev = key.dev;
	e->nr = r ? SYSCALL_NR(r) : -1;
	submit(e);
}

static __always_inline void ends_to_sync(struct inode *inode)
{
	struct task_struct *t = bpf_get_current_task_btf();
	struct watch *w = watch_of(t->tgid);
	struct syncing *s;
	u64 now;

	if (!w)
		return;
	s = bpf_task_storage_get(&syncs, t, 0, 0);
	if (!s || s->inode != (u64)inode)
		return;
	s->inode = 0;
	now = bpf_ktime_get_ns();
	if (now - s->since >= LEAST_SYNC)
		tell_sync(inode, w, s->since, now);
}

SEC("fentry/vfs_fsync_range")
int BPF_PROG(sync_begin, struct file *file)
{
	return COSTED(STORAGE_SYNC, begins_to_sync(file));
}

SEC("fexit/vfs_fsync_range")
int BPF_PROG(sync_end, struct file *file)
{
	return COSTED(STORAGE_SYNC, ends_to_sync(BPF_CORE_READ(file, f_inode)));
}

/* Where the kernel refuses what is attached to functions: of one file system. */
SEC("tp_btf/ext4_sync_file_enter")
int BPF_PROG(ext4_sync_begin, struct file *file)
{
	return COSTED(STORAGE_SYNC, begins_to_sync(file));
}

SEC("tp_btf/ext4_sync_file_exit")
int BPF_PROG(ext4_sync_end, struct inode *inode)
{
	return COSTED(STORAGE_SYNC, ends_to_sync(inode));
}
