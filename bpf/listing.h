// SPDX-License-Identifier: GPL-2.0
/* What a recording needs of sockets at its ends and in between: those that are there, what was
 * merged and not yet sent, and those that are gone. */
#pragma once

/* Connections that came in earlier are known before their next request arrives. The
 * iterator sees the recorder's own network namespace; elsewhere the first arrival
 * makes them known. */
SEC("iter/tcp")
int adopt_flows(struct bpf_iter__tcp *ctx)
{
	struct sock_common *common = ctx->sk_common;
	struct tcp_sock *tp;
	struct sock *sk;

	if (!common || common->skc_state != TCP_ESTABLISHED)
		return 0;
	tp = bpf_skc_to_tcp_sock(common);
	if (!tp)
		return 0;
	sk = (struct sock *)tp;
	if (!flow_at(sk, 0))
		adopt(sk);
	return 0;
}

/* Those that are open: of the others it is not told when they were closed. */
static __always_inline int list_open(struct bpf_iter_meta *meta, struct flow *f)
{
	u64 id;

	if (!f || !f->local)
		return 0;
	id = f->id;
	bpf_seq_write(meta->seq, &id, sizeof(id));
	return 0;
}

#ifndef BY_ADDRESS
/* These see all network namespaces; hardened kernels refuse them. */
SEC("iter/bpf_sk_storage_map")
int flush_flows(struct bpf_iter__bpf_sk_storage_map *ctx)
{
	if (ctx->sk && ctx->value)
		flush_pending(ctx->value);
	return 0;
}

SEC("iter/bpf_sk_storage_map")
int list_unix(struct bpf_iter__bpf_sk_storage_map *ctx)
{
	return ctx->sk ? list_open(ctx->meta, ctx->value) : 0;
}
#endif

/* These see one network namespace: that of the thread which opens them. */
SEC("iter/tcp")
int flush_tcp(struct bpf_iter__tcp *ctx)
{
	struct sock_common *common = ctx->sk_common;
	struct tcp_sock *tp = common ? bpf_skc_to_tcp_sock(common) : 0;

	if (tp)
		flush_pending(flow_at((struct sock *)tp, 0));
	return 0;
}

SEC("iter/unix")
int flush_unix(struct bpf_iter__unix *ctx)
{
	if (ctx->unix_sk)
		flush_pending(flow_at((struct sock *)ctx->unix_sk, 0));
	return 0;
}

SEC("iter/unix")
int list_unix_here(struct bpf_iter__unix *ctx)
{
	struct sock *sk = (struct sock *)ctx->unix_sk;

	return sk ? list_open(ctx->meta, flow_at(sk, 0)) : 0;
}
