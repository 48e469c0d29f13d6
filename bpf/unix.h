// SPDX-License-Identifier: GPL-2.0
/* Streams over Unix sockets that have a name, as services listen on behind a proxy, and
 * databases do. Pairs without a name are pipes between a program and its helpers.
 *
 * They have no sequence numbers, and nothing is traced when they connect or close. But the
 * listener is told of each new connection within connect(2), before anything can be sent on
 * it, and every socket that it accepts shares its name, one object in memory. */
#pragma once

enum { SOCK_STREAM = 1, RCV_SHUTDOWN = 1 };

/* Names under which watched processes listen, by the address of that object; the value is
 * one of them. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, u64);
	__type(value, u32);
} names SEC(".maps");

/* A connection that was told of, and not used yet. */
struct fresh {
	u64 id;
	u32 gaps;
	u32 pad;
};

/* By the address of a socket: what is found on the way to it is not to be trusted with
 * storage. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, u64);
	__type(value, struct fresh);
} fresh_flows SEC(".maps");

enum bpf_func_id { BPF_FUNC_skc_to_unix_sock = 178 };

/* Linux 5.16 has a helper for it; before, only what is read as any memory of the kernel can
 * be read of the result. */
static __always_inline struct unix_sock *to_unix_sock(struct sock *sk)
{
#ifndef BY_ADDRESS
	if (bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_skc_to_unix_sock))
		return bpf_skc_to_unix_sock(sk);
#endif
	return (struct unix_sock *)sk;
}

static __always_inline bool is_unix_stream(struct sock *sk)
{
	return FIELD(sk, __sk_common.skc_family) == AF_UNIX && FIELD(sk, sk_type) == SOCK_STREAM;
}

static __always_inline struct unix_address *name_of(struct unix_sock *us)
{
	return us ? BPF_CORE_READ(us, addr) : 0;
}

static __always_inline struct unix_address *peer_name(struct unix_sock *us)
{
	return us ? name_of((struct unix_sock *)BPF_CORE_READ(us, peer)) : 0;
}

static __always_inline void emit_path(u64 id, struct unix_address *name)
{
	u32 length = BPF_CORE_READ(name, len) - sizeof(u16);
	struct path_event *e = reserve(sizeof(*e), HOOK_SOCKETS); /* up to 6.1 the verifier wants the check at once */

	if (!e)
		return;
	fill_head(&e->h, EVENT_PATH, 0);
	e->id = id;
	e->pad = 0;
	__builtin_memset(e->path, 0, sizeof(e->path));
	barrier_var(length);
	if (length > sizeof(e->path))
		length = sizeof(e->path);
	bpf_probe_read_kernel(e->path, length, name->name[0].sun_path); /* abstract names have no end */
	submit(e);
}

static __always_inline struct conn_event *reserve_unix(u32 type, u64 id, u8 side)
{
	struct conn_event *e = reserve(sizeof(*e), HOOK_SOCKETS);

	if (!e)
		return 0;
	fill_head(&e->h, type, 0);
	e->id = id;
	__builtin_memset(&e->ids, 0, sizeof(e->ids));
	__builtin_memset(&e->addr, 0, sizeof(e->addr));
	e->addr.family = AF_UNIX;
	e->side = side;
	e->existing = 0;
	e->closer = CLOSER_UNKNOWN;
	e->owner = 0;
	e->before = 0;
	return e;
}

static __always_inline u64 begin_fresh(u64 socket, struct unix_address *name)
{
	struct fresh f = {.id = __sync_fetch_and_add(&last_flow, 1) + 1, .gaps = gaps};

	if (bpf_map_update_elem(&fresh_flows, &socket, &f, BPF_ANY)) {
		count_loss(HOOK_SOCKETS);
		return 0;
	}
	emit_path(f.id, name);
	return f.id;
}

/* A thread made a connection, with this socket. */
static __always_inline void tell_connected(u64 socket, struct unix_address *name, struct task_struct *t,
					   struct watch *w)
{
	u64 id = begin_fresh(socket, name);
	struct conn_event *e = id ? reserve_unix(EVENT_CONN, id, SIDE_OUTBOUND) : 0;

	if (!e)
		return;
	set_actor(&e->h, t);
	read_ids(&e->ids, w, t);
	submit(e);
	e = reserve_unix(EVENT_ESTABLISHED, id, SIDE_OUTBOUND);
	if (e)
		submit(e);
}

/* A connection was made to a process, which has this socket of it. */
static __always_inline void tell_accepted(u64 socket, struct unix_address *name, u32 owner)
{
	u64 id = begin_fresh(socket, name);
	struct conn_event *e = id ? reserve_unix(EVENT_CONN, id, SIDE_INBOUND) : 0;

	if (!e)
		return;
	e->owner = owner;
	submit(e);
}

/* A connection was made, and waits to be accepted: the newest one in the queue. Another
 * thread may have taken it already; then the connection is known by its first read. */
static __always_inline void on_unix_connect(struct sock *listener)
{
	struct task_struct *t = bpf_get_current_task_btf();
	u32 owner = BPF_CORE_READ(listener, sk_peer_pid, numbers[0].nr);
	struct unix_address *name = name_of(to_unix_sock(listener));
	struct watch *w = watch_of(t->tgid);
	u32 accepts = watch_of(owner) != 0;
	u64 key = (u64)name, end;

	barrier_var(accepts); /* or the compiler tests both pointers at once, which the verifier refuses */
	if (!name || (!w && !accepts))
		return;
	if (accepts)
		bpf_map_update_elem(&names, &key, &owner, BPF_ANY);
	if (!BPF_CORE_READ(listener, sk_receive_queue.qlen))
		return;
	end = (u64)BPF_CORE_READ(listener, sk_receive_queue.prev, sk);
	if (w)
		tell_connected((u64)BPF_CORE_READ((struct unix_sock *)end, peer), name, t, w);
	if (accepts)
		tell_accepted(end, name, owner);
}

/* A socket that is used, or has something to read, for the first time. One that was not
 * told of was there before, or its listener is not ours; t is of the thread that uses it,
 * NULL if none does yet. */
static __always_inline struct flow *new_unix_flow(struct sock *sk, struct task_struct *t)
{
	struct unix_sock *us = to_unix_sock(sk);
	struct unix_address *own = name_of(us), *name = own ? own : peer_name(us);
	u64 key = (u64)own, socket = (u64)sk;
	u32 *listens = bpf_map_lookup_elem(&names, &key);
	u32 owner = listens ? *listens : 0;
	struct fresh *known;
	struct conn_event *e;
	struct flow *f;

	if (!name || (!t && !owner))
		return 0;
	f = flow_at(sk, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!f)
		return 0;
	f->gaps = gaps;
	f->side = own ? SIDE_INBOUND : SIDE_OUTBOUND;
	f->local = 1;
	known = bpf_map_lookup_elem(&fresh_flows, &socket);
	if (known) {
		f->id = known->gaps == gaps ? known->id : 0;
		bpf_map_delete_elem(&fresh_flows, &socket);
	}
	if (f->id)
		return f;
	f->id = __sync_fetch_and_add(&last_flow, 1) + 1;
	emit_path(f->id, name);
	e = reserve_unix(EVENT_CONN, f->id, f->side);
	if (!e)
		return f;
	e->existing = 1;
	if (t)
		set_actor(&e->h, t);
	else
		e->owner = owner;
	submit(e);
	if (own && t) { /* from now on it is known who accepts under this name */
		u32 tgid = t->tgid;

		bpf_map_update_elem(&names, &key, &tgid, BPF_ANY);
	}
	return f;
}

/* What it is in a window of recording, as rejoin_flow. */
static __noinline void rejoin_unix(struct sock *sk, struct flow *f)
{
	struct unix_sock *us = to_unix_sock(sk);
	struct unix_address *own = name_of(us), *name = own ? own : peer_name(us);
	u64 before = f->id;
	struct conn_event *e;

	forget_passed(f);
	f->stamps[0].ts = f->stamps[1].ts = 0;
	if (name) /* else the peer is gone */
		emit_path(f->id, name);
	e = reserve_unix(EVENT_CONN, f->id, f->side);
	if (!e)
		return;
	e->existing = 1;
	e->before = before;
	submit(e);
}

/* The first stamp is when what is unread began to arrive, the second when it last grew. A
 * thread that is awake may have read it before this is told. */
static __always_inline void on_unix_ready(struct sock *sk)
{
	struct flow *f;

	if (sk->__sk_common.skc_state == TCP_LISTEN) {
		on_unix_connect(sk);
		return;
	}
	f = flow_at(sk, 0);
	if (!f)
		f = new_unix_flow(sk, 0);
	else if (f->gaps != gaps)
		rejoin_unix(sk, f);
	if (!f || !BPF_CORE_READ(sk, sk_receive_queue.qlen))
		return;
	f->stamps[1].ts = bpf_ktime_get_ns();
	if (!f->stamps[0].ts)
		f->stamps[0].ts = f->stamps[1].ts;
}

/* Notes what a read took; false if that was nothing new. Of what is left only the last
 * arrival is known. */
static __always_inline bool take_unix(struct sock *sk, struct flow *f, struct transfer *x)
{
	x->offset = f->offset[DIR_READ];
	if (!x->bytes) {
		if (f->eof || !(FIELD(sk, sk_shutdown) & RCV_SHUTDOWN))
			return false;
		f->eof = 1;
		x->eof = 1;
		return true;
	}
	f->offset[DIR_READ] += x->bytes;
	x->arrival.first = f->stamps[0].ts;
	x->arrival.last = f->stamps[1].ts;
	x->arrival.merged = f->merged;
	f->merged = BPF_CORE_READ(sk, sk_receive_queue.qlen) > 0;
	if (f->merged)
		f->stamps[0].ts = f->stamps[1].ts;
	else
		f->stamps[0].ts = f->stamps[1].ts = 0;
	return true;
}
