// SPDX-License-Identifier: GPL-2.0
/* Reads and writes on sockets of watched processes. All programs that come here (door.h)
 * run in the caller's own system call, whose registers name the user's buffer. */
#pragma once

enum {
	MESSAGE_START = 1024, /* bytes of a message of which payload is taken */
	MERGE_AFTER = 16,     /* chunks one way before they are merged */
	MERGE_NS = 1000000,
	IOVECS = 64,
	SHORT = 128, /* most messages: less room, less to copy */
	NAGLE_OFF = 1,
	LONG = 2048, /* requests: signatures and tokens may come before what they are about */
};

/* Where the bytes of a system call are. */
struct source {
	u64 buffer;
	u64 iov;
	u64 count;
};

struct iovec {
	u64 base;
	u64 len;
};

static __always_inline void find_source(struct pt_regs *r, struct source *s)
{
	u64 iov[2], si, dx;
	s32 nr;

	s->buffer = 0;
	s->count = 0;
	s->iov = 0;
	if (!r)
		return;
	nr = SYSCALL_NR(r);
	si = SYS_ARG2(r);
	dx = SYS_ARG3(r);
	barrier_var(dx); /* or the compiler shares its load with another pointer's */
	switch (nr) {
	case NR_read:
	case NR_write:
	case NR_recvfrom:
	case NR_sendto:
		s->buffer = si;
		break;
	case NR_readv:
	case NR_writev:
		s->iov = si;
		s->count = dx;
		break;
	case NR_recvmsg:
	case NR_sendmsg:
		/* msg_iov and msg_iovlen of struct msghdr */
		if (bpf_probe_read_user(iov, sizeof(iov), (void *)si + 16))
			break;
		s->iov = iov[0];
		s->count = iov[1];
		break;
	}
}

/* Copies up to room bytes that lie in pieces; data has room for twice as many, because
 * the verifier does not relate an offset to a length. */
static __always_inline u32 gather(u8 *data, struct source *s, u64 bytes, const u32 room)
{
	struct iovec v;
	u64 take, done = 0;

	if (bytes > room)
		bytes = room;
	for (u32 i = 0; i < IOVECS; i++) {
		done &= 2 * room - 1; /* one range, however many pieces came before */
		if (i >= s->count || done >= bytes || done >= room)
			break;
		if (bpf_probe_read_user(&v, sizeof(v), (void *)(s->iov + i * sizeof(v))))
			break;
		take = bytes - done;
		if (v.len < take)
			take = v.len;
		if (take > room)
			take = room;
		if (bpf_probe_read_user(data + done, take, (void *)v.base))
			break;
		done += take;
	}
	done &= 2 * room - 1;
	return done > room ? room : done;
}

/* Copies up to room bytes that lie in one piece. */
static __always_inline u32 copy(u8 *data, struct source *s, u64 bytes, const u32 room)
{
	if (bytes > room)
		bytes = room;
	return bpf_probe_read_user(data, bytes, (void *)s->buffer) ? 0 : bytes;
}

static __always_inline struct flow *flow_of(struct sock *sk, struct watch *w, struct task_struct *t)
{
	struct flow *f = flow_at(sk, 0);
	struct conn_event *e;

	if (f) {
		if (f->gaps != gaps && f->local)
			rejoin_unix(sk, f);
		else if (f->gaps != gaps)
			rejoin_flow(sk, f, t);
		return f;
	}
	if (is_unix_stream(sk))
		return new_unix_flow(sk, t);
	f = new_flow(sk, listener_of(sk) ? SIDE_INBOUND : SIDE_OUTBOUND);
	if (!f)
		return 0;
	e = reserve_conn(EVENT_CONN, sk, f);
	if (!e)
		return f;
	set_actor(&e->h, t);
	e->existing = 1;
	e->rtt = round_trip(sk);
	submit(e);
	return f;
}

static __always_inline void merge(struct flow *f, struct transfer *x, struct task_struct *t,
				  struct watch *w)
{
	struct pending *p = &f->pending;

	if (!p->bytes) {
		p->first = x->now;
		p->offset = x->offset;
		p->arrived = x->arrival.first;
		p->start = t->start_boottime;
		p->tid = t->pid;
		p->tgid = t->tgid;
		p->dir = x->dir;
		p->merged = 0;
		read_ids(&p->ids, w, t);
	}
	p->bytes += x->bytes;
	p->last_ts = x->now;
	p->last = x->arrival.last;
	p->merged |= x->arrival.merged;
}

static __always_inline void fill_chunk(struct chunk_event *e, struct flow *f, struct transfer *x)
{
	e->id = f->id;
	e->offset = x->offset;
	e->bytes = x->bytes;
	e->arrived = x->arrival.first;
	e->last = x->arrival.last;
	e->first = x->now;
	e->dir = x->dir;
	e->merged = x->arrival.merged;
	e->eof = x->eof;
	e->data_len = 0;
}

static __always_inline void fill_event(struct chunk_event *e, struct flow *f, struct transfer *x,
				       struct task_struct *t, struct watch *w)
{
	fill_head_at(&e->h, EVENT_CHUNK, t, x->now);
	fill_chunk(e, f, x);
	read_ids(&e->ids, w, t);
}

static __always_inline void emit_plain(struct flow *f, struct transfer *x, struct task_struct *t,
				       struct watch *w)
{
	struct chunk_event *e = reserve(sizeof(*e), HOOK_IO);

	if (!e)
		return;
	fill_event(e, f, x, t, w);
	submit(e);
}

/* Whether the first bytes of a connection are a TLS record: types 20 to 24, major
 * version 3. */
static __always_inline void note_start(struct flow *f, struct chunk_event *e)
{
	u8 *data = (u8 *)(e + 1);

	if (!f->started && e->data_len > 2 && data[0] >= 20 && data[0] <= 24 && data[1] == 3)
		f->tls = 1;
	f->started = 1;
}

/* An event with room for so many bytes, filled by fetch. A macro, because the verifier
 * wants the room as a constant. */
#define EMIT_WITH(room, fetch)                                                     \
	do {                                                                       \
		struct chunk_event *e = reserve(sizeof(*e) + (room), HOOK_IO);     \
		u8 *data;                                                          \
                                                                                   \
		if (!e)                                                            \
			return;                                                    \
		data = (u8 *)(e + 1);                                              \
		fill_event(e, f, x, t, w);                                         \
		e->data_len = fetch;                                               \
		note_start(f, e);                                                  \
		submit(e);                                                         \
	} while (0)

static __always_inline void emit_prefix(struct flow *f, struct transfer *x, struct task_struct *t,
					struct watch *w)
{
	bool asks = (f->side == SIDE_INBOUND) == (x->dir == DIR_READ);
	struct source s;

	find_source(user_regs(t), &s);
	if (!s.buffer && asks && x->bytes > PREFIX)
		EMIT_WITH(2 * LONG, gather(data, &s, x->bytes, LONG));
	else if (!s.buffer)
		EMIT_WITH(2 * PREFIX, gather(data, &s, x->bytes, PREFIX));
	else if (asks && x->bytes > PREFIX)
		EMIT_WITH(LONG, copy(data, &s, x->bytes, LONG));
	else if (x->bytes <= SHORT)
		EMIT_WITH(SHORT, copy(data, &s, x->bytes, SHORT));
	else
		EMIT_WITH(PREFIX, copy(data, &s, x->bytes, PREFIX));
}

static __always_inline void transfer(struct flow *f, struct transfer *x, struct task_struct *t,
				     struct watch *w)
{
	u32 dir = x->dir & 1;
	u32 seen;

	if (t->pid == t->tgid)
		begin_turn(w);
	if (f->dir != dir) {
		f->dir = dir;
		f->seen[DIR_READ] = 0;
		f->seen[DIR_WRITE] = 0;
		f->chunks = 0;
	}
	seen = f->seen[dir];
	if (seen < MESSAGE_START)
		f->seen[dir] = seen + (x->bytes > MESSAGE_START ? MESSAGE_START : (u32)x->bytes);
	f->chunks++;
	if (f->pending.bytes && (f->pending.dir != dir || f->pending.tid != (u32)t->pid ||
				 x->now - f->pending.first > MERGE_NS))
		flush_pending(f);
	if (x->bytes && (f->tls || seen < MESSAGE_START ||
			 (x->bytes <= PREFIX && f->chunks <= MERGE_AFTER)))
		emit_prefix(f, x, t, w);
	else if (x->bytes && f->chunks > MERGE_AFTER)
		merge(f, x, t, w);
	else
		emit_plain(f, x, t, w);
}

static __always_inline bool is_stream(struct sock *sk)
{
	u16 protocol = FIELD(sk, sk_protocol);
	u16 family = FIELD(sk, __sk_common.skc_family);

	return (protocol == IPPROTO_TCP || protocol == IPPROTO_MPTCP) &&
	       (family == AF_INET || family == AF_INET6);
}

static __always_inline void on_read(struct sock *sk, struct watch *w, int ret)
{
	struct task_struct *t = bpf_get_current_task_btf();
	struct flow *f = flow_of(sk, w, t);
	struct transfer x = {.dir = DIR_READ};

	if (!f)
		return;
	x.now = bpf_ktime_get_ns();
	x.bytes = ret;
	if (f->local ? take_unix(sk, f, &x) : take(sk, f, &x))
		transfer(f, &x, t, w);
}

/* Notes that the end of what was written stays in the socket: until the peer acknowledges what
 * was sent before, if there is no room for more under way; or since Nagle's algorithm holds
 * less than a segment until then. Where nothing is under way, and there is room, it was tried
 * and this host's own network did not take it, which TCP tries again after 200 ms; or it was not,
 * as the program says that more is to come. A few loads for each write. */
static __always_inline void note_held(struct sock *sk, struct flow *f, u64 now)
{
	struct tcp_sock *tp = f->local ? 0 : tcp_of(sk);
	u32 unsent;

	f->held = 0;
	if (!tp)
		return;
	unsent = FIELD(tp, write_seq) - FIELD(tp, snd_nxt);
	if (!unsent)
		return;
	if (FIELD(tp, packets_out))
		f->window = unsent >= FIELD(tp, mss_cache) || BIT_FIELD(tp, nonagle) & NAGLE_OFF ? KEPT_NO_ROOM : KEPT_NAGLE;
	else if (unsent > FIELD(tp, snd_wnd))
		f->window = KEPT_NO_ROOM;
	else if (FIELD(tp, tcp_wstamp_ns) == FIELD(tp, tcp_clock_cache))
		f->window = KEPT_REFUSED;
	else
		return;
	f->held = now;
}

static __always_inline void on_write(struct sock *sk, struct watch *w, int ret)
{
	struct task_struct *t = bpf_get_current_task_btf();
	struct flow *f = flow_of(sk, w, t);
	struct transfer x = {.dir = DIR_WRITE};

	if (!f)
		return;
	x.now = bpf_ktime_get_ns();
	x.bytes = ret;
	x.offset = f->offset[DIR_WRITE];
	f->offset[DIR_WRITE] += ret;
	note_held(sk, f, x.now);
	transfer(f, &x, t, w);
}
