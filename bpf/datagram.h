// SPDX-License-Identifier: GPL-2.0
/* Datagrams that watched processes send to telemetry daemons, over UDP and over Unix
 * sockets. What is sent on the path of a request is time of the request. */
#pragma once

enum { SOCK_DGRAM = 2, LINE_PREFIX = 128, UNIX_PATH = 108, SOCKADDR_MAX = 28 };

/* The address that the call itself names, 0 if none: of sendto, sendmsg and sendmmsg. */
static __always_inline u64 named_address(struct pt_regs *r)
{
	switch (SYSCALL_NR(r)) {
	case NR_sendto:
		return SYS_ARG5(r);
	case NR_sendmsg:
	case NR_sendmmsg:
		return read_word(SYS_ARG2(r)); /* msg_name */
	}
	return 0;
}

/* Text only: metrics and log lines are, QUIC and most of what else fills a link with
 * datagrams is not. Eight bytes tell well enough what the recorder looks at. */
static __always_inline bool is_text(u64 buffer)
{
	u8 start[8];

	if (bpf_probe_read_user(start, sizeof(start), (void *)buffer))
		return false;
	for (u32 i = 0; i < sizeof(start); i++)
		if ((start[i] < 0x20 || start[i] > 0x7e) && start[i] != '\n')
			return false;
	return true;
}

static __always_inline void peer_path(struct sock *sk, char *path)
{
	struct unix_sock *us = to_unix_sock(sk), *peer;
	struct unix_address *address;

	if (!us)
		return;
	peer = (struct unix_sock *)BPF_CORE_READ(us, peer);
	if (!peer)
		return;
	address = BPF_CORE_READ(peer, addr);
	if (address)
		bpf_probe_read_kernel_str(path, UNIX_PATH, address->name[0].sun_path);
}

/* Puts the address that a call names in the place of the peer's. */
static __always_inline void overlay(struct address *a, u64 named)
{
	u8 in[SOCKADDR_MAX] = {};

	if (bpf_probe_read_user(in, a->family == AF_INET6 ? 24 : 8, (void *)named))
		return;
	a->peer_port = in[2] << 8 | in[3];
	if (a->family == AF_INET6)
		__builtin_memcpy(a->peer, in + 8, 16);
	else
		__builtin_memcpy(a->peer, in + 4, 4);
}

static __always_inline void name_peer(struct send_event *e, struct sock *sk, u64 named)
{
	fill_address(&e->addr, sk);
	if (e->addr.family == AF_UNIX) {
		__builtin_memset(e->addr.local, 0, sizeof(e->addr.local));
		__builtin_memset(e->addr.peer, 0, sizeof(e->addr.peer));
		if (named)
			bpf_probe_read_user_str(e->path, UNIX_PATH, (void *)named + 2);
		else
			peer_path(sk, e->path);
		return;
	}
	if (named)
		overlay(&e->addr, named);
}

static __always_inline void on_datagram(struct sock *sk, struct watch *w, int ret)
{
	struct task_struct *t = bpf_get_current_task_btf();
	struct pt_regs *r = user_regs(t);
	struct send_event *e;
	u32 length = ret;
	u64 buffer;

	if (!r || ret < 8)
		return;
	buffer = datagram_buffer(r, 0);
	if (!buffer || !is_text(buffer))
		return;
	e = reserve(sizeof(*e) + LINE_PREFIX, HOOK_IO);
	if (!e)
		return;
	fill_head(&e->h, EVENT_SEND, t);
	e->goid = current_goid(w, t);
	e->bytes = ret;
	e->path[0] = 0;
	name_peer(e, sk, named_address(r));
	barrier_var(length);
	if (length > LINE_PREFIX)
		length = LINE_PREFIX;
	e->data_len = bpf_probe_read_user(e + 1, length, (void *)buffer) ? 0 : length;
	submit(e);
}
