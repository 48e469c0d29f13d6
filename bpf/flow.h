// SPDX-License-Identifier: GPL-2.0
/* What is remembered of one socket of a watched process. */
#pragma once

enum { STAMPS = 16, STAMP_MASK = 15 }; /* the verifier refuses 64 */

/* When the bytes up to a sequence number reached the socket. */
struct stamp {
	u32 end;
	u32 merged; /* later segments had to share it: too early for them */
	u64 ts;
};

/* Consecutive reads or writes waiting to leave as one event. */
struct pending {
	u64 first, last_ts;
	u64 offset, bytes;
	u64 arrived, last;
	u64 start;
	struct runtime_ids ids;
	u32 tid, tgid;
	u32 dir, merged;
};

/* What a socket of UDP does. */
enum { UDP_LOOKUPS = 1, UDP_ASKS, UDP_SERVES };

/* Why the end of what was written stays in the socket. */
enum kept {
	KEPT_NAGLE,   /* until what was sent before is acknowledged */
	KEPT_NO_ROOM, /* the peer, or the network, has no room for it */
	KEPT_REFUSED, /* this host's own network did not take it: a filter or a full queue dropped it */
};

struct flow {
	u64 id;
	u64 offset[2]; /* bytes that went each way, by enum direction */
	u64 fin;       /* when the peer's FIN came */
	u64 held;      /* when the write returned whose end stayed in the socket; 0: none did */
	u32 head, tail;
	u32 stamped_from; /* arrivals before this sequence number are unknown */
	u32 next_read;
	u32 seen[2]; /* bytes since the direction turned */
	u32 chunks;  /* reads or writes since then */
	u32 gaps;    /* when it became known, see common.h */
	u8 dir;
	u8 started; /* a byte was seen */
	u8 tls;
	u8 closed;
	u8 half_closed; /* we sent FIN, and still read */
	u8 eof;
	u8 side;
	u8 udp;	    /* what a socket of UDP does, see exchange.h; 0: it is none */
	u32 merged; /* a Unix socket: more is unread than was read, see take_unix */
	u8 local;   /* it is a Unix socket */
	u8 pad[3];
	u64 asked;  /* UDP: whom it was that was asked last, see exchange.h */
	u64 used;   /* and when */
	u64 window; /* why it is held, by enum kept */
	struct pending pending;
	struct stamp stamps[STAMPS];
};

#include "found.h"

/* Ports on which watched processes listen; the value is one of them. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, struct port_key);
	__type(value, u32);
} ports SEC(".maps");

/* Whether any of ports ends in these bits; see watched_hints. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, HINTS);
	__type(key, u32);
	__type(value, u32);
} port_hints SEC(".maps");

u64 last_flow = 0;

static __always_inline bool before(u32 a, u32 b)
{
	return (s32)(a - b) < 0;
}

/* Sequence numbers of the received stream. */
struct cursor {
	u32 next;   /* after the last byte that arrived in order */
	u32 copied; /* after the last byte that was read */
	u32 fin;
};

static __always_inline bool read_cursor(struct sock *sk, struct cursor *c)
{
	struct tcp_sock *tp;
	struct mptcp_sock *mp;

	c->fin = (FIELD(sk, __sk_common.skc_flags) >> SOCK_DONE_BIT) & 1; /* set before data_ready */
	if (FIELD(sk, sk_protocol) == IPPROTO_MPTCP) {
		mp = (void *)sk;
		if (!bpf_core_field_exists(mp->bytes_consumed))
			return false;
		c->next = (u32)BPF_CORE_READ(mp, bytes_received);
		c->copied = (u32)BPF_CORE_READ(mp, bytes_consumed);
		return true;
	}
	tp = tcp_of(sk);
	if (!tp)
		return false;
	c->next = FIELD(tp, rcv_nxt) - c->fin;
	c->copied = FIELD(tp, copied_seq);
	if (c->fin && before(c->next, c->copied))
		c->copied = c->next;
	return true;
}

/* Part of a Multipath TCP connection, whose own socket is the one that is read. */
static __always_inline bool is_subflow(struct sock *sk)
{
	struct tcp_sock *tp = tcp_of(sk);

	return tp && bpf_core_field_exists(tp->is_mptcp) && FIELD(tp, is_mptcp);
}

static __always_inline u32 *listener_of(struct sock *sk)
{
	struct port_key key = {.port = FIELD(sk, __sk_common.skc_num)};
	struct net *net;

	if (!hinted(&port_hints, key.port))
		return 0;
	net = FIELD(sk, __sk_common.skc_net.net);
	key.netns = FIELD(net, ns.inum);
	return bpf_map_lookup_elem(&ports, &key);
}

static __always_inline struct flow *new_flow(struct sock *sk, u8 side)
{
	struct flow *f = flow_at(sk, BPF_LOCAL_STORAGE_GET_F_CREATE);
	struct cursor c = {};

	if (!f)
		return 0;
	if (!f->id)
		f->id = __sync_fetch_and_add(&last_flow, 1) + 1;
	f->gaps = gaps;
	f->side = side;
	if (read_cursor(sk, &c)) {
		f->stamped_from = c.next;
		f->next_read = c.copied;
	}
	return f;
}

static __always_inline void fill_address(struct address *a, struct sock *sk)
{
	struct sock_common *c = &sk->__sk_common;

	__builtin_memset(a, 0, sizeof(*a));
	a->family = FIELD(c, skc_family);
	a->local_port = FIELD(c, skc_num);
	a->peer_port = __builtin_bswap16(FIELD(c, skc_dport));
	if (a->family == AF_INET6) {
		bpf_probe_read_kernel(a->local, 16, &c->skc_v6_rcv_saddr);
		bpf_probe_read_kernel(a->peer, 16, &c->skc_v6_daddr);
		return;
	}
	*(u32 *)a->local = FIELD(c, skc_rcv_saddr);
	*(u32 *)a->peer = FIELD(c, skc_daddr);
}

/* The least that a way to the peer and back took of late, as the kernel measured it: of the
 * handshake, or of a segment and its acknowledgement. */
static __noinline u32 round_trip(struct sock *sk)
{
	struct tcp_sock *tp = tcp_of(sk);
	u32 least[6]; /* when, and what, of the three least; all ones before there is any */

	if (!tp || !bpf_core_field_exists(tp->rtt_min) || bpf_probe_read_kernel(least, sizeof(least), &tp->rtt_min) || least[1] == ~0U)
		return 0;
	return least[1];
}

/* Emits a fact of a connection's life; t and w are of the thread that caused it, or
 * NULL. */
static __always_inline struct conn_event *reserve_conn(u32 type, struct sock *sk, struct flow *f)
{
	struct conn_event *e = reserve(sizeof(*e), HOOK_SOCKETS);

	if (!e)
		return 0;
	fill_head(&e->h, type, 0);
	e->id = f->id;
	__builtin_memset(&e->ids, 0, sizeof(e->ids));
	fill_address(&e->addr, sk);
	e->side = f->side;
	e->existing = 0;
	e->closer = CLOSER_UNKNOWN;
	e->owner = 0;
	e->before = 0;
	e->udp = 0;
	e->rtt = 0;
	return e;
}

static __always_inline void set_actor(struct head *h, struct task_struct *t)
{
	h->tid = t->pid;
	h->tgid = t->tgid;
	h->start = t->start_boottime;
}

/* Begins a flow anew, under an id of its own. */
static __always_inline void forget_passed(struct flow *f)
{
	f->gaps = gaps;
	f->id = __sync_fetch_and_add(&last_flow, 1) + 1;
	f->offset[DIR_READ] = f->offset[DIR_WRITE] = 0;
	f->seen[DIR_READ] = f->seen[DIR_WRITE] = 0;
	f->chunks = 0;
	f->pending.bytes = 0;
	f->held = 0;
}

/* A connection that was known before recording paused goes on as one that existed before
 * it was recorded: what was read and written meanwhile is not known. t is of the thread
 * that uses it, or NULL. */
static __noinline void rejoin_flow(struct sock *sk, struct flow *f, struct task_struct *t)
{
	u64 before = f->id;
	struct conn_event *e;
	struct cursor c = {};

	if (f->udp) { /* its next datagram declares it */
		f->asked = 0;
		f->gaps = gaps;
		return;
	}
	forget_passed(f);
	f->tail = f->head;
	if (read_cursor(sk, &c)) {
		f->stamped_from = c.next;
		f->next_read = c.copied;
	}
	e = reserve_conn(EVENT_CONN, sk, f);
	if (!e)
		return;
	if (t)
		set_actor(&e->h, t);
	e->existing = 1;
	e->rtt = round_trip(sk);
	e->before = before;
	submit(e);
}

static __noinline void flush_pending(struct flow *f)
{
	struct chunk_event *e;

	if (!f || !f->pending.bytes)
		return;
	e = reserve(sizeof(*e), HOOK_IO);
	if (e) {
		fill_head_at(&e->h, EVENT_CHUNK, 0, f->pending.last_ts);
		e->h.tid = f->pending.tid;
		e->h.tgid = f->pending.tgid;
		e->h.start = f->pending.start;
		e->id = f->id;
		e->offset = f->pending.offset;
		e->bytes = f->pending.bytes;
		e->arrived = f->pending.arrived;
		e->last = f->pending.last;
		e->first = f->pending.first;
		e->ids = f->pending.ids;
		e->dir = f->pending.dir;
		e->merged = f->pending.merged;
		e->eof = 0;
		e->data_len = 0;
		submit(e);
	}
	f->pending.bytes = 0;
}
