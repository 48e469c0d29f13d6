// SPDX-License-Identifier: GPL-2.0
/* The life of TCP connections, and when data reaches their sockets. */
#pragma once

static __always_inline void on_listen(struct sock *sk, struct task_struct *t)
{
	struct port_key key = {
		.netns = sk->__sk_common.skc_net.net->ns.inum,
		.port = sk->__sk_common.skc_num,
	};
	u32 tgid = t->tgid;
	struct listen_event *e;

	hint(&port_hints, key.port);
	if (bpf_map_update_elem(&ports, &key, &tgid, BPF_ANY))
		count_loss(HOOK_SOCKETS); /* no room: what comes in there is not taken for the service's */
	e = reserve(sizeof(*e), HOOK_SOCKETS);
	if (!e)
		return;
	fill_head(&e->h, EVENT_LISTEN, t);
	e->port = key.port;
	e->netns = key.netns;
	e->depth = 0;
	e->limit = sk->sk_max_ack_backlog;
	submit(e);
}

static __always_inline void on_connect(struct sock *sk, struct task_struct *t, struct watch *w)
{
	struct flow *f = new_flow(sk, SIDE_OUTBOUND);
	struct conn_event *e;

	if (!f)
		return;
	e = reserve_conn(EVENT_CONN, sk, f);
	if (!e)
		return;
	set_actor(&e->h, t);
	read_ids(&e->ids, w, t);
	submit(e);
}

/* A connection came up: ours, or one that a peer made to a port we listen on. */
static __always_inline void on_established(struct sock *sk, int old)
{
	struct flow *f = flow_at(sk, 0);
	struct cursor c = {};
	struct conn_event *e;
	u32 *owner = 0;

	if (f && f->gaps != gaps)
		rejoin_flow(sk, f, 0);
	if (!f) {
		if (old != TCP_SYN_RECV)
			return;
		owner = listener_of(sk);
		if (!owner || is_subflow(sk))
			return;
		f = new_flow(sk, SIDE_INBOUND);
		if (!f)
			return;
	}
	if (read_cursor(sk, &c)) {
		f->stamped_from = c.copied;
		f->next_read = c.copied;
	}
	e = reserve_conn(owner ? EVENT_CONN : EVENT_ESTABLISHED, sk, f);
	if (!e)
		return;
	e->owner = owner ? *owner : 0;
	submit(e);
}

static __always_inline u32 closer_of(struct sock *sk, struct flow *f, int old)
{
	int err = sk->sk_err;

	if (old == TCP_SYN_SENT && err == ECONNREFUSED)
		return CLOSER_REFUSED;
	if (err == ECONNRESET || err == EPIPE)
		return CLOSER_RESET;
	if (old == TCP_CLOSE_WAIT || old == TCP_LAST_ACK)
		return CLOSER_PEER;
	if (f->half_closed || !err)
		return CLOSER_US;
	return CLOSER_UNKNOWN;
}

/* The current thread is the one that closes only in its own call; else it may be a
 * bystander of an interrupt. */
static __always_inline bool is_closing(struct task_struct *t)
{
	struct pt_regs *r = user_regs(t);
	s32 nr = r ? SYSCALL_NR(r) : -1;

	return (nr == NR_close || nr == NR_shutdown) && watch_of(t->tgid);
}

static __always_inline void on_end(struct sock *sk, struct flow *f, u32 closer)
{
	struct task_struct *t = bpf_get_current_task_btf();
	struct conn_event *e;

	flush_pending(f);
	f->closed = 1;
	e = reserve_conn(EVENT_CLOSED, sk, f);
	if (!e)
		return;
	e->closer = closer;
	if (closer != CLOSER_RESET && is_closing(t))
		set_actor(&e->h, t);
	submit(e);
}

/* The moment a connection ends is that of our own close, if there is one: after the
 * peer's FIN we may still write, after a mere shutdown we may still read. */
static __always_inline void on_closing(struct sock *sk, int old, int new)
{
	struct flow *f = flow_at(sk, 0);
	bool whole = sk->sk_shutdown == SHUTDOWN_MASK;

	if (!f || f->closed)
		return;
	if (f->gaps != gaps)
		rejoin_flow(sk, f, 0);
	if (new == TCP_FIN_WAIT1) {
		f->half_closed = 1;
		if (whole)
			on_end(sk, f, CLOSER_US);
	} else if (new == TCP_LAST_ACK && whole) {
		on_end(sk, f, CLOSER_PEER);
	} else if (new == TCP_CLOSE) {
		on_end(sk, f, closer_of(sk, f, old));
	}
}

static __always_inline void on_state(struct sock *sk, int old, int new)
{
	struct task_struct *t;
	struct watch *w;

	if (new == TCP_SYN_SENT || (new == TCP_ESTABLISHED && old == TCP_SYN_RECV))
		forget_flow(sk);
	if (paused() && new != TCP_LISTEN) /* ports must be known later */
		return;
	if (new == TCP_ESTABLISHED) {
		if (sk->sk_protocol == IPPROTO_TCP)
			on_established(sk, old);
		return;
	}
	if (new != TCP_LISTEN && new != TCP_SYN_SENT) {
		on_closing(sk, old, new);
		return;
	}
	t = bpf_get_current_task_btf();
	w = watch_of(t->tgid);
	if (!w || sk->sk_protocol != IPPROTO_TCP)
		return;
	if (new == TCP_LISTEN)
		on_listen(sk, t);
	else
		on_connect(sk, t, w);
}

SEC("tp_btf/inet_sock_set_state")
int BPF_PROG(socket_state, struct sock *sk, int old, int new)
{
	return METERED(PROGRAM_STATE, on_state(sk, old, new));
}

static __always_inline void on_backlog(struct sock *sk)
{
	struct listen_event *e;

	if (sk->sk_protocol != IPPROTO_TCP || !listener_of(sk))
		return;
	e = reserve(sizeof(*e), HOOK_SOCKETS);
	if (!e)
		return;
	fill_head(&e->h, EVENT_BACKLOG, 0);
	e->port = sk->__sk_common.skc_num;
	e->netns = 0;
	e->depth = sk->sk_ack_backlog;
	e->limit = sk->sk_max_ack_backlog;
	submit(e);
}

static __always_inline void add_stamp(struct flow *f, u32 end)
{
	u32 head = f->head;
	struct stamp *last = &f->stamps[(head - 1) & STAMP_MASK];
	struct stamp *s = &f->stamps[head & STAMP_MASK];

	if (head - f->tail >= STAMPS) {
		last->end = end;
		last->merged = 1;
		return;
	}
	s->end = end;
	s->merged = 0;
	s->ts = bpf_ktime_get_ns();
	*(volatile u32 *)&f->head = head + 1; /* the reader may run on another CPU */
}

/* The peer has what was kept back: tells when that was sent. */
static __always_inline void on_late(struct sock *sk, struct flow *f)
{
	struct tcp_sock *tp = bpf_skc_to_tcp_sock(sk);
	struct late_event *e;
	u64 left;

	if (!tp || tp->snd_una != tp->write_seq)
		return; /* not yet: what arrives next tells */
	left = tp->first_tx_mstamp * 1000;
	if (left > f->held) {
		e = reserve(sizeof(*e), HOOK_IO);
		if (e) {
			fill_head(&e->h, EVENT_LATE, 0);
			e->id = f->id;
			e->offset = f->offset[DIR_WRITE];
			e->left = left;
			e->window = f->window;
			submit(e);
		}
	}
	f->held = 0;
}

static __always_inline void on_arrival(struct sock *sk, struct flow *f)
{
	struct stamp *last = &f->stamps[(f->head - 1) & STAMP_MASK];
	struct cursor c;

	if (f->udp) {
		if (f->udp != UDP_SERVES)
			add_stamp(f, f->head);
		return;
	}
	if (f->held)
		on_late(sk, f);
	if (!read_cursor(sk, &c))
		return;
	if (c.fin && !f->fin)
		f->fin = bpf_ktime_get_ns(); /* its own stamp: it carries no byte */
	if (f->head != f->tail ? !before(last->end, c.next) : !before(c.copied, c.next))
		return; /* nothing new */
	add_stamp(f, c.next);
}

/* A connection to a port of ours that was not seen to come up: it is older than the
 * recording, or a Multipath TCP one, whose own socket has no handshake. */
static __always_inline struct flow *adopt(struct sock *sk)
{
	struct cursor c = {};
	struct conn_event *e;
	u32 *owner = 0;
	struct flow *f;
	bool fresh;

	if (FIELD(sk, sk_protocol) == IPPROTO_TCP || FIELD(sk, sk_protocol) == IPPROTO_MPTCP)
		owner = listener_of(sk);
	if (!owner || !read_cursor(sk, &c) || is_subflow(sk))
		return 0;
	f = new_flow(sk, SIDE_INBOUND);
	if (!f)
		return 0;
	fresh = FIELD(sk, sk_protocol) == IPPROTO_MPTCP && !c.copied;
	if (fresh)
		f->stamped_from = 0;
	e = reserve_conn(EVENT_CONN, sk, f);
	if (!e)
		return f;
	e->existing = !fresh;
	e->rtt = round_trip(sk);
	e->owner = *owner;
	submit(e);
	return f;
}

static __always_inline void on_ready(struct sock *sk)
{
	u16 family = sk->__sk_common.skc_family;
	struct flow *f;

	if (is_unix_stream(sk)) {
		on_unix_ready(sk);
		return;
	}
	if (family != AF_INET && family != AF_INET6)
		return;
	if (sk->__sk_common.skc_state == TCP_LISTEN) {
		on_backlog(sk);
		return;
	}
	f = flow_at(sk, 0);
	if (!f)
		f = adopt(sk);
	else if (f->gaps != gaps)
		rejoin_flow(sk, f, 0);
	if (f)
		on_arrival(sk, f);
}

/* Of a connection that is followed: its peer acknowledged nothing for too long, or said that a
 * segment is missing. */
SEC("tp_btf/tcp_retransmit_skb")
int BPF_PROG(retransmitted, struct sock *sk)
{
	struct retransmit_event *e;
	struct flow *f;

	if (paused())
		return 0;
	f = flow_at(sk, 0);
	if (!f)
		return 0;
	e = reserve(sizeof(*e), HOOK_SOCKETS);
	if (!e)
		return 0;
	fill_head(&e->h, EVENT_RETRANSMIT, 0);
	e->id = f->id;
	submit(e);
	return 0;
}
