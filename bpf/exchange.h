// SPDX-License-Identifier: GPL-2.0
/* Exchanges over UDP: of sockets that ask others, when they sent, to whom, and when they
 * received; no payload. A socket that was given its port by name, or that is seen to receive
 * first, serves others, unless it is connected from a port that nobody chose: it asked before it
 * was watched. Nothing is told of those that serve. What only sends, as to a telemetry daemon, is
 * told of for the first few datagrams. */
#pragma once

enum { BOUND_BY_NAME = 8, ONE_WAY = 16 };
enum { SOCKET_IDLE = 5 }; /* s, after which the recorder may forget a socket */

/* Whether a socket has a port that the program chose. */
static __always_inline bool is_named(struct sock *sk)
{
	return BIT_FIELD(sk, sk_userlocks) & BOUND_BY_NAME;
}

static __always_inline bool is_connected(struct sock *sk)
{
	return FIELD(sk, __sk_common.skc_dport);
}

static __always_inline struct flow *udp_flow(struct sock *sk, u8 udp)
{
	struct flow *f = flow_at(sk, BPF_LOCAL_STORAGE_GET_F_CREATE);

	if (!f)
		return 0;
	f->udp = udp;
	f->side = SIDE_OUTBOUND;
	return f;
}

/* One number for an address and port. */
static __always_inline u64 mixed(struct address *a)
{
	u64 half[2];

	__builtin_memcpy(half, a->peer, sizeof(half));
	return (half[0] * 31 + half[1]) * 31 + a->peer_port + 1;
}

/* Declares what is exchanged with a peer from now on. */
static __always_inline void declare_exchanges(struct sock *sk, struct flow *f, struct address *to,
					      struct watch *w)
{
	struct task_struct *t = bpf_get_current_task_btf();
	struct conn_event *e;

	forget_passed(f);
	e = reserve_conn(EVENT_CONN, sk, f);
	if (!e)
		return;
	set_actor(&e->h, t);
	read_ids(&e->ids, w, t);
	e->addr = *to;
	e->existing = 1; /* nothing was opened */
	e->udp = 1;
	submit(e);
}

/* Tells of one datagram, unless many went the same way. */
static __always_inline void exchanged(struct flow *f, struct transfer *x, struct watch *w)
{
	struct task_struct *t = bpf_get_current_task_btf();
	u32 dir = x->dir & 1;

	if (t->pid == t->tgid)
		begin_turn(w);
	if (f->dir != dir) {
		f->dir = dir;
		f->chunks = 0;
	}
	if (f->chunks >= ONE_WAY)
		return;
	f->chunks++;
	x->offset = f->offset[dir];
	f->offset[dir] += x->bytes;
	emit_plain(f, x, t, w);
}

static __always_inline void on_asked(struct sock *sk, struct watch *w, int ret)
{
	struct flow *f = flow_at(sk, 0);
	struct pt_regs *r = user_regs(bpf_get_current_task_btf());
	struct transfer x = {.dir = DIR_WRITE, .bytes = ret};
	struct address to;
	u64 named, whom;

	if (!f)
		f = udp_flow(sk, !is_connected(sk) && is_named(sk) ? UDP_SERVES : UDP_ASKS);
	if (!f || f->udp != UDP_ASKS)
		return;
	x.now = bpf_ktime_get_ns();
	fill_address(&to, sk);
	named = r ? named_address(r) : 0;
	if (named)
		overlay(&to, named);
	whom = mixed(&to);
	if (f->asked != whom || f->gaps != gaps || x.now - f->used > SOCKET_IDLE * 1000000000ULL) {
		declare_exchanges(sk, f, &to, w);
		x.now = bpf_ktime_get_ns(); /* after what declares it */
	}
	f->asked = whom;
	f->used = x.now;
	exchanged(f, &x, w);
}

static __always_inline void on_answered(struct sock *sk, struct watch *w, int ret)
{
	struct flow *f = flow_at(sk, 0);
	struct transfer x = {.dir = DIR_READ, .bytes = ret};

	if (!f) {
		udp_flow(sk, is_connected(sk) && !is_named(sk) ? UDP_ASKS : UDP_SERVES);
		return;
	}
	if (f->udp != UDP_ASKS)
		return;
	x.now = bpf_ktime_get_ns();
	x.arrival.first = x.arrival.last = take_datagram(f);
	if (f->asked && f->gaps == gaps && x.now - f->used <= 2 * SOCKET_IDLE * 1000000000ULL)
		exchanged(f, &x, w);
}
