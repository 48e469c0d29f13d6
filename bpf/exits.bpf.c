// SPDX-License-Identifier: GPL-2.0
/* Reads and writes on sockets where the kernel does not pass the sockets: they are told at the
 * end of the system call, from its result and its descriptor. Every system call of every process
 * comes here, so this object is loaded where the recorder's own programs for sockets are
 * refused. Its maps are shared with the recorder's, except that of what is remembered of
 * sockets: found.h. */
#define BY_ADDRESS
#include "kernel.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "abi.h"
#include "common.h"
#include "runtime.h"
#include "context.h"
#include "descriptor.h"
#include "flow.h"
#include "transfer.h"
#include "unix.h"
#include "sockets.h"
#include "lookup.h"
#include "datagram.h"
#include "io.h"
#include "exchange.h"
#include "door.h"
#include "listing.h"

char LICENSE[] SEC("license") = "GPL";

/* What a system call did with which socket. */
struct call {
	u64 fd;
	u64 messages; /* address of several, which each have a length; 0: there is one */
	u32 flags;
	u32 pad;
};

static __always_inline bool is_read(struct pt_regs *r, struct call *c)
{
	c->fd = (u32)SYS_ARG1(r);
	switch (SYSCALL_NR(r)) {
	case NR_read:
	case NR_readv:
		return true;
	case NR_recvmsg:
		c->flags = SYS_ARG3(r);
		return true;
	case NR_recvmmsg:
		c->messages = SYS_ARG2(r);
		c->flags = SYS_ARG4(r);
		return true;
	case NR_recvfrom:
		c->flags = SYS_ARG4(r);
		return true;
	}
	return false;
}

static __always_inline bool is_write(struct pt_regs *r, struct call *c)
{
	c->fd = (u32)SYS_ARG1(r);
	switch (SYSCALL_NR(r)) {
	case NR_sendmmsg:
		c->messages = SYS_ARG2(r);
		return true;
	case NR_splice:
		c->fd = (u32)SYS_ARG3(r);
		return true;
	case NR_write:
	case NR_writev:
	case NR_sendto:
	case NR_sendmsg:
	case NR_sendfile:
		return true;
	}
	return false;
}

/* The socket that a descriptor stands for now; NULL if it is none. A thread that closes it while
 * another one reads makes that read unseen, or that of the next socket with this descriptor. */
static __always_inline struct sock *socket_of(struct task_struct *t, u64 fd, u64 *number)
{
	struct file *f = open_file(t, fd);
	struct inode *i = f ? BPF_CORE_READ(f, f_inode) : 0;
	struct socket *s;

	if (!i || (BPF_CORE_READ(i, i_mode) & S_IFMT) != S_IFSOCK)
		return 0;
	*number = BPF_CORE_READ(i, i_ino);
	s = BPF_CORE_READ(f, private_data);
	return s ? BPF_CORE_READ(s, sk) : 0;
}

/* Forgets what was at the address of a socket if that was another one. */
static __always_inline void renew(struct sock *sk, u64 number)
{
	struct found *at = found_at(sk);

	if (at && at->number && at->number != number)
		forget_flow(sk);
}

static __always_inline void keep_number(struct sock *sk, u64 number)
{
	struct found *at = found_at(sk);

	if (at)
		at->number = number;
}

enum { MMSG_LENGTH = 56 }; /* in struct mmsghdr */

/* How much went with one of the messages of a call. */
static __always_inline int length_of(struct call *c, u32 index, int ret)
{
	return c->messages ? (int)read_half(c->messages + index * MMSGHDR + MMSG_LENGTH) : ret;
}

/* Functions of their own: out of a loop the compiler would take the places of fields with it,
 * also of those that it is asked first whether the kernel has them. */
static __noinline int read_one(struct sock *sk, int n, int flags)
{
	on_received(sk, n, flags);
	return 0;
}

static __noinline int write_one(struct sock *sk, int n)
{
	if (paused())
		count_write();
	else
		on_sent(sk, n);
	return 0;
}

/* Does work for each message that a call which is_kind accepts was about: sk is its socket, n
 * its length. */
#define AT_EXIT(is_kind, work)                                                     \
	do {                                                                       \
		struct task_struct *t = bpf_get_current_task_btf();                \
		struct pt_regs *r = user_regs(t);                                  \
		struct call c = {};                                                \
		struct sock *sk;                                                   \
		u64 number;                                                        \
                                                                                   \
		if (!r || !is_kind(r, &c))                                         \
			break;                                                     \
		sk = socket_of(t, c.fd, &number);                                  \
		if (!sk)                                                           \
			break;                                                     \
		renew(sk, number);                                                 \
		for (u32 i = 0; i < BATCH && (i == 0 || (c.messages && i < (u32)ret)); i++) { \
			int n = length_of(&c, i, ret);                             \
                                                                                   \
			work;                                                      \
		}                                                                  \
		keep_number(sk, number);                                           \
	} while (0)

/* A connection was made, or taken from its queue: of those of TCP that is known already. */
static __always_inline void on_made(struct task_struct *t, u64 fd, bool accepted)
{
	struct watch *w = watch_of(t->tgid);
	u64 number;
	struct sock *sk = socket_of(t, fd, &number);
	struct unix_sock *us;
	struct unix_address *name;

	if (!sk || !w)
		return;
	renew(sk, number);
	if (is_unix_stream(sk)) {
		us = to_unix_sock(sk);
		name = accepted ? name_of(us) : peer_name(us);
		forget_flow(sk);
		if (name && accepted)
			tell_accepted((u64)sk, name, t->tgid);
		else if (name)
			tell_connected((u64)sk, name, t, w);
	} else if (accepted && !flow_at(sk, 0))
		adopt(sk);
	keep_number(sk, number);
}

static __noinline int on_read_exit(int ret)
{
	struct task_struct *t = bpf_get_current_task_btf();
	struct pt_regs *r = user_regs(t);
	s32 nr = r ? SYSCALL_NR(r) : -1;

	if (ret < 0 || !in_watched())
		return 0;
	if (nr == NR_accept || nr == NR_accept4)
		on_made(t, ret, true);
	else if (nr == NR_connect)
		on_made(t, (u32)SYS_ARG1(r), false);
	else
		AT_EXIT(is_read, read_one(sk, n, c.flags));
	return 0;
}

static __always_inline void on_write_exit(int ret)
{
	if (ret > 0 && in_watched())
		AT_EXIT(is_write, write_one(sk, n));
}

SEC("tp_btf/sys_exit")
int BPF_PROG(received_at_exit, struct pt_regs *regs, long ret)
{
	return paused() ? 0 : METERED(PROGRAM_READ, on_read_exit(ret));
}

SEC("tp_btf/sys_exit")
int BPF_PROG(sent_at_exit, struct pt_regs *regs, long ret)
{
	return METERED(PROGRAM_WRITE, on_write_exit(ret));
}

/* Of a segment of TCP, as it is in its header. */
struct segment {
	u32 begin, end; /* sequence numbers of its data */
	u32 fin;
};

static __always_inline bool read_segment(struct sk_buff *skb, struct segment *s)
{
	enum { SEQ = 4, OFFSET = 12, FLAGS = 13, HEADER = 16, FIN = 1 };
	u8 header[HEADER];
	u32 length = BPF_CORE_READ(skb, len);

	if (bpf_probe_read_kernel(header, sizeof(header), BPF_CORE_READ(skb, data)))
		return false;
	s->begin = __builtin_bswap32(*(u32 *)(header + SEQ));
	s->end = s->begin + length - (header[OFFSET] >> 4) * 4;
	s->fin = header[FLAGS] & FIN;
	return true;
}

/* Before the segment is taken in. One that closes a gap makes readable what came after the
 * gap, too: that shows when the next one comes. */
static __always_inline void on_segment(struct sock *sk, struct sk_buff *skb)
{
	struct flow *f = flow_at(sk, 0);
	struct segment s;
	struct stamp *last;
	struct cursor c;
	bool unread;

	if (!f)
		f = adopt(sk);
	else if (f->gaps != gaps)
		rejoin_flow(sk, f, 0);
	if (!f || !read_segment(skb, &s) || !read_cursor(sk, &c))
		return;
	last = &f->stamps[(f->head - 1) & STAMP_MASK];
	unread = f->head != f->tail;
	if (!unread && before(c.copied, c.next))
		f->stamped_from = c.next; /* it came as no segment does */
	else if (unread && before(last->end, c.next))
		last->end = c.next;
	if (before(c.next, s.begin))
		return; /* after a gap */
	if (s.fin && !f->fin)
		f->fin = bpf_ktime_get_ns();
	if (!before(c.next, s.end))
		return; /* nothing new */
	if (unread && !before(last->end, s.end))
		last->ts = bpf_ktime_get_ns(); /* it came before, and there was no room */
	else
		add_stamp(f, s.end);
}

SEC("tp_btf/tcp_probe")
int BPF_PROG(segment_came, struct sock *sk, struct sk_buff *skb)
{
	return paused() ? 0 : METERED(PROGRAM_ARRIVAL, on_segment(sk, skb));
}
