// SPDX-License-Identifier: GPL-2.0
/* What block devices do, for anybody: a service waits behind the others' requests, too.
 * It is summed up here; the recorder reads the sums once a second. */
#pragma once

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct block_device {
	u32 bd_dev;
};

struct gendisk {
	char disk_name[32];
	struct block_device *part0;
};

struct request_queue {
	struct gendisk *disk;
};

struct request {
	struct request_queue *q;
	u32 cmd_flags;
	u32 pad;
	u64 start_time_ns;
	u64 io_start_time_ns;
};

#pragma clang attribute pop

enum block_op { BLOCK_READ, BLOCK_WRITE, BLOCK_FLUSH, BLOCK_OPS };

struct block_key {
	u32 dev;
	u32 op;
};

enum { BLOCK_SLOTS = 40 }; /* of a histogram by powers of two of ns */

/* What a device did, and what its requests waited for. */
struct block_stat {
	char name[32];
	u64 count;
	u64 bytes;
	u64 queued_ns; /* before it was handed to the device */
	u64 device_ns;
	u64 longest_ns; /* of both */
	u64 slots[BLOCK_SLOTS]; /* of both */
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 256);
	__type(key, struct block_key);
	__type(value, struct block_stat);
} blocks SEC(".maps");

static const struct block_stat no_block;

static __always_inline u32 log2_slot(u64 v)
{
	u32 slot = 0;

	for (u32 shift = 32; shift; shift >>= 1)
		if (v >> shift) {
			v >>= shift;
			slot += shift;
		}
	return slot;
}

static __always_inline void on_block(struct request *rq, u32 bytes)
{
	u64 now = bpf_ktime_get_ns(), start = BPF_CORE_READ(rq, start_time_ns);
	u64 issued = BPF_CORE_READ(rq, io_start_time_ns);
	struct gendisk *disk = BPF_CORE_READ(rq, q, disk);
	struct block_key key = {};
	struct block_stat *s;
	u32 slot;

	if (!disk || !start || start > now)
		return;
	key.op = BPF_CORE_READ(rq, cmd_flags) & 0xff;
	if (key.op >= BLOCK_OPS)
		return;
	key.dev = BPF_CORE_READ(disk, part0, bd_dev);
	s = bpf_map_lookup_elem(&blocks, &key);
	if (!s) {
		bpf_map_update_elem(&blocks, &key, &no_block, BPF_NOEXIST);
		s = bpf_map_lookup_elem(&blocks, &key);
		if (!s)
			return;
		bpf_probe_read_kernel_str(s->name, sizeof(s->name), disk->disk_name);
	}
	if (issued < start || issued > now)
		issued = start;
	__sync_fetch_and_add(&s->count, 1);
	__sync_fetch_and_add(&s->bytes, bytes);
	__sync_fetch_and_add(&s->queued_ns, issued - start);
	__sync_fetch_and_add(&s->device_ns, now - issued);
	if (now - start > s->longest_ns) /* may lose a race against an equal one */
		s->longest_ns = now - start;
	slot = log2_slot(now - start);
	if (slot < BLOCK_SLOTS)
		__sync_fetch_and_add(&s->slots[slot], 1);
}

SEC("tp_btf/block_rq_complete")
int BPF_PROG(block_complete, struct request *rq, int error, unsigned int bytes)
{
	return COSTED(STORAGE_BLOCK, on_block(rq, bytes));
}
