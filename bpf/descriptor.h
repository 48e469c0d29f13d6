// SPDX-License-Identifier: GPL-2.0
/* From a descriptor to what it stands for. */
#pragma once

enum { S_IFMT = 0170000, S_IFREG = 0100000, S_IFSOCK = 0140000 };

/* NULL if a thread has no such descriptor. */
static __always_inline struct file *open_file(struct task_struct *t, u64 fd)
{
	struct fdtable *table = BPF_CORE_READ(t, files, fdt);
	struct file *f = 0;

	if (!table || fd >= BPF_CORE_READ(table, max_fds))
		return 0;
	if (bpf_probe_read_kernel(&f, sizeof(f), BPF_CORE_READ(table, fd) + fd))
		return 0;
	return f;
}
