// SPDX-License-Identifier: GPL-2.0
/* Where what sockets of watched processes read and write comes in: each kind of socket has its
 * own header. */
#pragma once

static __always_inline void on_received(struct sock *sk, int ret, int flags)
{
	struct watch *w;

	if (ret < 0 || flags & (MSG_PEEK | MSG_ERRQUEUE))
		return;
	w = watch_of(bpf_get_current_pid_tgid() >> 32);
	if (!w)
		return;
	if (is_stream(sk) || is_unix_stream(sk))
		on_read(sk, w, ret);
	else if (FIELD(sk, sk_protocol) == IPPROTO_UDP && ret) {
		on_answer(sk, ret);
		on_answered(sk, w, ret);
	}
}

static __always_inline void on_sent(struct sock *sk, int ret)
{
	struct watch *w = ret > 0 ? watch_of(bpf_get_current_pid_tgid() >> 32) : 0;

	if (!w)
		return;
	count_write();
	if (is_stream(sk) || is_unix_stream(sk))
		on_write(sk, w, ret);
	else if (FIELD(sk, sk_protocol) == IPPROTO_UDP && on_query(sk, ret))
		return;
	else if (FIELD(sk, sk_protocol) == IPPROTO_UDP) {
		on_datagram(sk, w, ret);
		on_asked(sk, w, ret);
	} else if (FIELD(sk, __sk_common.skc_family) == AF_UNIX && FIELD(sk, sk_type) == SOCK_DGRAM)
		on_datagram(sk, w, ret);
}
