// SPDX-License-Identifier: GPL-2.0
/* How what is remembered of a socket is found, and how the kernel's memory is read on the way.
 * Where tracepoints and functions pass a socket, it is in the socket's own storage, and the
 * verifier knows the types. What is found by walking from a descriptor is an address to the
 * verifier: nothing can be stored with that, and every field is read as any memory of the
 * kernel (BY_ADDRESS: see exits.bpf.c). */
#pragma once

#ifndef BY_ADDRESS

#define FIELD(pointer, field) ((pointer)->field)
#define BIT_FIELD(pointer, field) BPF_CORE_READ_BITFIELD(pointer, field)

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct flow);
} flows SEC(".maps");

/* NULL if there is none, unless one is to be made (BPF_LOCAL_STORAGE_GET_F_CREATE). */
static __always_inline struct flow *flow_at(struct sock *sk, u64 create)
{
	return bpf_sk_storage_get(&flows, sk, 0, create);
}

/* NULL if it is none of TCP. */
static __always_inline struct tcp_sock *tcp_of(struct sock *sk)
{
	return bpf_skc_to_tcp_sock(sk);
}

static __always_inline void forget_flow(struct sock *sk)
{
}

#else

#define FIELD(pointer, field) BPF_CORE_READ(pointer, field)
#define BIT_FIELD(pointer, field) BPF_CORE_READ_BITFIELD_PROBED(pointer, field)

/* An address is used again by another socket: number, of the file that stands for the socket,
 * tells one from the other. */
struct found {
	struct flow flow; /* first: the verifier wants no sum of what may be NULL */
	u64 number;	  /* 0: not known yet */
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, u64);
	__type(value, struct found);
} flows_found SEC(".maps");

static const struct found nothing;

static __always_inline struct found *found_at(struct sock *sk)
{
	u64 key = (u64)sk;

	return bpf_map_lookup_elem(&flows_found, &key);
}

static __always_inline struct flow *flow_at(struct sock *sk, u64 create)
{
	struct found *at = found_at(sk);
	u64 key = (u64)sk;

	if (!at && create) {
		bpf_map_update_elem(&flows_found, &key, &nothing, BPF_NOEXIST);
		at = found_at(sk);
	}
	return at ? &at->flow : 0;
}

static __always_inline struct tcp_sock *tcp_of(struct sock *sk)
{
	u16 family = FIELD(sk, __sk_common.skc_family);

	if ((family != AF_INET && family != AF_INET6) || FIELD(sk, sk_protocol) != IPPROTO_TCP)
		return 0;
	return (struct tcp_sock *)sk;
}

/* A new socket has the address of one that was. */
static __always_inline void forget_flow(struct sock *sk)
{
	u64 key = (u64)sk;

	bpf_map_delete_elem(&flows_found, &key);
}

#endif
