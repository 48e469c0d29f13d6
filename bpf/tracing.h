// SPDX-License-Identifier: GPL-2.0
/* Where the kernel passes the sockets that are read and written, and get data. */
#pragma once

SEC("tp_btf/sock_recv_length")
int BPF_PROG(received, struct sock *sk, int ret, int flags)
{
	return paused() ? 0 : METERED(PROGRAM_READ, on_received(sk, ret, flags));
}

SEC("tp_btf/sock_send_length")
int BPF_PROG(sent, struct sock *sk, int ret, int flags)
{
	return paused() ? pass_write() : METERED(PROGRAM_WRITE, on_sent(sk, ret));
}

SEC("tp_btf/sk_data_ready")
int BPF_PROG(data_ready, struct sock *sk)
{
	return paused() ? 0 : METERED(PROGRAM_ARRIVAL, on_ready(sk));
}

/* Before Linux 6.3 there are no such tracepoints. The functions beneath them tell the same, with
 * the same arguments, at the same moment: a socket's own operations, which are called by
 * pointer and so are never inlined. */

struct msghdr;
struct page;

#define OF_SOCKET(socket, otherwise, work)                                         \
	({                                                                         \
		struct sock *sk = (socket)->sk;                                    \
		!sk ? 0 : paused() ? (otherwise) : (work);                         \
	})

#define SENT_BY(function)                                                          \
	SEC("fexit/" #function)                                                    \
	int BPF_PROG(sent_##function, struct socket *socket, struct msghdr *m,     \
		     unsigned long size, int ret)                                  \
	{                                                                          \
		return OF_SOCKET(socket, pass_write(), METERED(PROGRAM_WRITE, on_sent(sk, ret))); \
	}

#define RECEIVED_BY(function)                                                      \
	SEC("fexit/" #function)                                                    \
	int BPF_PROG(received_##function, struct socket *socket, struct msghdr *m, \
		     unsigned long size, int flags, int ret)                       \
	{                                                                          \
		return OF_SOCKET(socket, 0, METERED(PROGRAM_READ, on_received(sk, ret, flags))); \
	}

SENT_BY(inet_sendmsg)
SENT_BY(inet6_sendmsg)
SENT_BY(unix_stream_sendmsg)
SENT_BY(unix_dgram_sendmsg)
RECEIVED_BY(inet_recvmsg)
RECEIVED_BY(inet6_recvmsg)
RECEIVED_BY(unix_stream_recvmsg)

/* By it sendfile and splice write, which do so by sendmsg since 6.5. */
SEC("fexit/inet_sendpage")
int BPF_PROG(sent_inet_sendpage, struct socket *socket, struct page *p, int offset,
	     unsigned long size, int flags, long ret)
{
	return OF_SOCKET(socket, pass_write(), METERED(PROGRAM_WRITE, on_sent(sk, (int)ret)));
}

SEC("fentry/sock_def_readable")
int BPF_PROG(data_readable, struct sock *sk)
{
	return paused() ? 0 : METERED(PROGRAM_ARRIVAL, on_ready(sk));
}
