// SPDX-License-Identifier: GPL-2.0
/* Name look-ups: datagrams to and from port 53. */
#pragma once

enum { DNS_PORT = 53, MMSGHDR = 64, BATCH = 2 };

static __always_inline u16 port_at(u64 sockaddr)
{
	u16 port = 0;

	if (!sockaddr || bpf_probe_read_user(&port, sizeof(port), (void *)(sockaddr + 2)))
		return 0;
	return __builtin_bswap16(port);
}

/* Address of the buffer of the index-th message of a system call; 0 unknown. */
static __always_inline u64 datagram_buffer(struct pt_regs *r, u32 index)
{
	u64 header = SYS_ARG2(r), iov = 0;

	switch (SYSCALL_NR(r)) {
	case NR_read:
	case NR_write:
	case NR_recvfrom:
	case NR_sendto:
		return index ? 0 : SYS_ARG2(r);
	case NR_readv:
	case NR_writev:
		return index ? 0 : read_word(SYS_ARG2(r));
	case NR_recvmmsg:
	case NR_sendmmsg:
		if (index >= (u32)SYS_ARG3(r))
			return 0;
		header += index * MMSGHDR;
		iov = read_word(header + 16);
		return iov ? read_word(iov) : 0;
	case NR_recvmsg:
	case NR_sendmsg:
		iov = index ? 0 : read_word(header + 16);
		return iov ? read_word(iov) : 0;
	}
	return 0;
}

static __always_inline u16 destination_port(struct sock *sk, struct pt_regs *r)
{
	u16 connected = __builtin_bswap16(FIELD(sk, __sk_common.skc_dport));

	if (connected)
		return connected;
	switch (SYSCALL_NR(r)) {
	case NR_sendto:
		return port_at(SYS_ARG5(r));
	case NR_sendmsg:
	case NR_sendmmsg:
		return port_at(read_word(SYS_ARG2(r))); /* msg_name */
	}
	return 0;
}

static __always_inline void emit_datagram(struct sock *sk, struct task_struct *t, u64 buffer,
					  struct transfer *x)
{
	struct datagram_event *e;
	u32 length = x->bytes;

	if (!buffer)
		return;
	e = reserve(sizeof(*e) + PREFIX, HOOK_DNS);
	if (!e)
		return;
	fill_head(&e->h, EVENT_DATAGRAM, t);
	fill_address(&e->addr, sk);
	e->dir = x->dir;
	e->arrived = x->arrival.first;
	barrier_var(length); /* or the bound is checked long before, and forgotten */
	if (length > PREFIX)
		length = PREFIX;
	e->data_len = bpf_probe_read_user(e + 1, length, (void *)buffer) ? 0 : length;
	submit(e);
}

/* Whether it is a query. sendmmsg comes here once for each message but does not say which: all are passed
 * on each time, and the recorder drops what it has seen. */
static __always_inline bool on_query(struct sock *sk, int ret)
{
	struct task_struct *t = bpf_get_current_task_btf();
	struct pt_regs *r = user_regs(t);
	struct transfer x = {.dir = DIR_WRITE};
	struct flow *f;

	if (!r || destination_port(sk, r) != DNS_PORT)
		return false;
	f = flow_at(sk, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!f)
		return true;
	f->udp = UDP_LOOKUPS;
	x.bytes = ret;
	for (u32 i = 0; i < BATCH; i++)
		emit_datagram(sk, t, datagram_buffer(r, i), &x);
	return true;
}

/* When the datagram that is read reached the socket; 0: not known. */
static __always_inline u64 take_datagram(struct flow *f)
{
	u64 at;

	if (f->tail == f->head)
		return 0;
	at = f->stamps[f->tail & STAMP_MASK].ts;
	f->tail++;
	return at;
}

static __always_inline void on_answer(struct sock *sk, int ret)
{
	struct task_struct *t = bpf_get_current_task_btf();
	struct flow *f = flow_at(sk, 0);
	struct pt_regs *r = user_regs(t);
	struct transfer x = {.dir = DIR_READ};

	if (!f || f->udp != UDP_LOOKUPS || !r)
		return;
	x.arrival.first = take_datagram(f);
	x.bytes = ret;
	emit_datagram(sk, t, datagram_buffer(r, 0), &x);
}
