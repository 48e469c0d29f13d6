// SPDX-License-Identifier: GPL-2.0
/* The few kernel types that the programs read. Every access is relocated against
 * the running kernel's BTF (CO-RE), so only names and types matter here, neither
 * order nor offsets; fields of anonymous unions are listed flat, and pad is ours.
 */
#pragma once

typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef unsigned long long __u64;
typedef signed char __s8;
typedef short __s16;
typedef int __s32;
typedef long long __s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s32 s32;
typedef __s64 s64;
typedef _Bool bool;
#define true 1
#define false 0

/* Constants of the BPF interface (uapi/linux/bpf.h). */
enum {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_LRU_HASH = 9,
	BPF_MAP_TYPE_SK_STORAGE = 24,
	BPF_MAP_TYPE_RINGBUF = 27,
	BPF_MAP_TYPE_TASK_STORAGE = 29,
};
enum { BPF_ANY = 0, BPF_NOEXIST = 1 };
enum { BPF_F_NO_PREALLOC = 1 };
enum { BPF_LOCAL_STORAGE_GET_F_CREATE = 1 };
enum { BPF_RB_NO_WAKEUP = 1 };

/* Constants of the kernel. */
enum { AF_UNIX = 1, AF_INET = 2, AF_INET6 = 10 };
enum { IPPROTO_TCP = 6, IPPROTO_UDP = 17, IPPROTO_MPTCP = 262 };
enum {
	TCP_ESTABLISHED = 1,
	TCP_SYN_SENT = 2,
	TCP_SYN_RECV = 3,
	TCP_FIN_WAIT1 = 4,
	TCP_TIME_WAIT = 6,
	TCP_CLOSE = 7,
	TCP_CLOSE_WAIT = 8,
	TCP_LAST_ACK = 9,
	TCP_LISTEN = 10,
};
enum { SHUTDOWN_MASK = 3 };
enum { MSG_PEEK = 2, MSG_ERRQUEUE = 0x2000 };
enum { PF_IO_WORKER = 0x10, PF_KTHREAD = 0x200000 };
enum { SOCK_DONE_BIT = 1 };
enum { ECONNREFUSED = 111, ECONNRESET = 104, EPIPE = 32 };

#include "arch.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

typedef struct {
	int counter;
} atomic_t;

struct signal_struct {
	atomic_t live;
};

struct ns_common {
	unsigned int inum;
};

struct net {
	struct ns_common ns;
};

struct sched_entity {
	u64 sum_exec_runtime;
};

struct super_block {
	u32 s_dev;
};

struct inode {
	u16 i_mode;
	u8 pad[6];
	struct super_block *i_sb;
	unsigned long i_ino;
	s64 i_size;
};

struct qstr {
	const unsigned char *name;
};

struct dentry {
	struct qstr d_name;
};

struct path {
	struct dentry *dentry;
};

struct file {
	struct inode *f_inode;
	struct path f_path;
	void *private_data;
};

struct fdtable {
	unsigned int max_fds;
	u32 pad;
	struct file **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

struct task_io_accounting {
	u64 rchar;
	u64 wchar;
	u64 read_bytes;
};

struct task_struct {
	unsigned int __state;
	unsigned int flags;
	u8 on_rq;
	u8 pad[7];
	int pid;
	int tgid;
	void *stack;
	u64 start_boottime;
	char comm[16];
	struct task_struct *real_parent;
	struct task_struct *group_leader;
	struct signal_struct *signal;
	struct sched_entity se;
	unsigned long min_flt;
	unsigned long maj_flt;
	struct files_struct *files;
	struct task_io_accounting ioac;
	struct thread_struct thread;
};

struct in6_addr {
	u8 bytes[16];
};

typedef struct {
	struct net *net;
} possible_net_t;

struct sock_common {
	__be32 skc_daddr;
	__be32 skc_rcv_saddr;
	__be16 skc_dport;
	u16 skc_num;
	u16 skc_family;
	volatile unsigned char skc_state;
	u8 pad;
	possible_net_t skc_net;
	struct in6_addr skc_v6_daddr;
	struct in6_addr skc_v6_rcv_saddr;
	unsigned long skc_flags;
};

struct upid {
	int nr;
};

struct pid {
	struct upid numbers[0];
};

struct sk_buff {
	struct sock *sk;
	unsigned char *data;
	u32 len;
	u32 pad;
};

struct sk_buff_head {
	struct sk_buff *prev;
	u32 qlen;
	u32 pad;
};

struct sock {
	struct sock_common __sk_common;
	struct sk_buff_head sk_receive_queue;
	struct pid *sk_peer_pid;
	int sk_err;
	u16 sk_protocol;
	u16 sk_type;
	u8 sk_shutdown;
	u8 sk_userlocks;
	u8 pad[6];
	u32 sk_ack_backlog;
	u32 sk_max_ack_backlog;
};

struct socket {
	struct sock *sk;
};

struct minmax {
	u32 pad[6];
};

struct tcp_sock {
	struct minmax rtt_min; /* of a way there and back, us */
	u64 first_tx_mstamp; /* when the newest segment that was acknowledged was sent, us */
	u64 tcp_clock_cache; /* when it last looked at the clock, as it does before it sends */
	u64 tcp_wstamp_ns;   /* and at what time on that clock it last tried to send a segment */
	u32 rcv_nxt;
	u32 copied_seq;
	u32 write_seq; /* after the last byte written */
	u32 snd_nxt;   /* after the last byte sent */
	u32 snd_una;   /* after the last byte acknowledged */
	u32 packets_out;
	u32 mss_cache;
	u32 snd_wnd;
	bool is_mptcp;
	u8 nonagle : 4;
	u8 bits : 4;
	u8 pad[6];
};

struct sockaddr_un {
	u16 sun_family;
	char sun_path[108];
};

struct unix_address {
	int len; /* of the name, with its family */
	struct sockaddr_un name[0];
};

struct unix_sock {
	struct unix_address *addr;
	struct sock *peer;
};

struct mptcp_sock {
	u64 bytes_received;
	u64 bytes_consumed;
};

struct linux_binprm;
struct seq_file;
struct bpf_map;

struct bpf_iter_meta {
	struct seq_file *seq;
	u64 session_id;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

struct bpf_iter__tcp {
	struct bpf_iter_meta *meta;
	struct sock_common *sk_common;
};

struct bpf_iter__unix {
	struct bpf_iter_meta *meta;
	struct unix_sock *unix_sk;
};

struct bpf_iter__bpf_sk_storage_map {
	struct bpf_iter_meta *meta;
	struct bpf_map *map;
	struct sock *sk;
	void *value;
};

#pragma clang attribute pop
