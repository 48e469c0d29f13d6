// SPDX-License-Identifier: GPL-2.0
/* Where a goroutine hands a request to a pooled connection of net/http: a probe on
 * (*persistConn).roundTrip, whose receiver leads to the connection's descriptor. And
 * where the runtime lets a goroutine run on a thread, or takes one off that could run
 * on. They are an object of their own because they are loaded only for Go; maps are the
 * recorder's. */
#include "kernel.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "abi.h"
#include "common.h"
#include "runtime.h"

/* Numbers of events from 64 on are those of optional objects. */
enum go_event { EVENT_GO_CALL = 64, EVENT_GO_RUN, EVENT_GO_YIELD };

/* A goroutine handed a request to a connection; addr.family 0: which one is unknown. */
struct go_call_event {
	struct head h;
	u64 goid;
	u64 parent_goid;
	struct address addr;
};

/* A goroutine begins to run, or has to let others run. */
struct go_run_event {
	struct head h;
	u64 goid;
};

/* The programs, as their cost is metered. */
enum go_program { GO_CALL, GO_RUN, GO_YIELD, GO_PROGRAMS };

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, GO_PROGRAMS);
	__type(key, u32);
	__type(value, struct cost);
} go_costs SEC(".maps");

/* Where things are in user memory; the same in every Go since 1.17, which passes the
 * receiver of a method, at the function's entry, in rax. */
enum {
	PERSIST_CONN = 88, /* the data of persistConn.conn, an interface */
	INNER = 8,	   /* the data of an interface that a struct begins with */
	NETFD_SYSFD = 16,
	NETFD_FAMILY = 56,
	NETFD_SOTYPE = 64,
	LAYERS = 4, /* of connections in connections: TLS, and what users add */
	SOCK_STREAM = 1,
};

/* The descriptor of a net.TCPConn, or of one that other connections are wrapped around:
 * their types begin with the inner one. */
static __always_inline s64 descriptor_of(u64 conn)
{
	for (u32 i = 0; i < LAYERS && conn; i++) {
		u64 fd = read_word(conn);
		u64 family = fd ? read_word(fd + NETFD_FAMILY) : 0;

		if ((family == AF_INET || family == AF_INET6) &&
		    read_word(fd + NETFD_SOTYPE) == SOCK_STREAM)
			return read_word(fd + NETFD_SYSFD);
		conn = read_word(conn + INNER);
	}
	return -1;
}

static __always_inline struct sock *socket_of(struct task_struct *t, s64 fd)
{
	struct fdtable *table = BPF_CORE_READ(t, files, fdt);
	struct file **files, *file = 0;
	struct socket *socket;

	if (!table || fd < 0 || fd >= BPF_CORE_READ(table, max_fds))
		return 0;
	files = BPF_CORE_READ(table, fd);
	if (bpf_probe_read_kernel(&file, sizeof(file), files + fd) || !file)
		return 0;
	socket = BPF_CORE_READ(file, private_data);
	return socket ? BPF_CORE_READ(socket, sk) : 0;
}

static __always_inline void read_address(struct address *a, struct sock *sk)
{
	struct sock_common *c = &sk->__sk_common;

	a->family = BPF_CORE_READ(c, skc_family);
	a->local_port = BPF_CORE_READ(c, skc_num);
	a->peer_port = __builtin_bswap16(BPF_CORE_READ(c, skc_dport));
	if (a->family == AF_INET6) {
		BPF_CORE_READ_INTO(&a->local, c, skc_v6_rcv_saddr);
		BPF_CORE_READ_INTO(&a->peer, c, skc_v6_daddr);
		return;
	}
	*(u32 *)a->local = BPF_CORE_READ(c, skc_rcv_saddr);
	*(u32 *)a->peer = BPF_CORE_READ(c, skc_daddr);
}

static __always_inline void on_call(struct pt_regs *regs, struct watch *w, struct task_struct *t)
{
	struct go_call_event *e;
	struct sock *sk;
	u64 conn, g;

	g = current_g(w, t);
	conn = read_word(GO_ARG1(regs) + PERSIST_CONN);
	sk = socket_of(t, descriptor_of(conn));
	e = reserve(sizeof(*e), HOOK_IO);
	if (!e)
		return;
	fill_head(&e->h, EVENT_GO_CALL, t);
	__builtin_memset(&e->addr, 0, sizeof(e->addr));
	e->goid = g ? read_word(g + w->go_goid) : 0;
	e->parent_goid = g && w->go_parent > 0 ? read_word(g + w->go_parent) : 0;
	if (sk)
		read_address(&e->addr, sk);
	submit(e);
}

/* Goroutines that Go's runtime starts itself, before any of the program's: what sweeps
 * memory gives way after every page, mostly to nobody, a million times a second while it
 * is at it. */
enum { GO_HELPERS_FROM = 2, GO_HELPERS_TO = 4 };

/* By processor: the goroutine that was last seen to begin. */
struct begun {
	u64 goid;
	u64 tid;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct begun);
} go_begun SEC(".maps");

/* Whether it is known already: such a goroutine goes on where it was. */
static __always_inline bool goes_on(struct task_struct *t, u64 goid, u32 type)
{
	u32 zero = 0;
	struct begun *b = bpf_map_lookup_elem(&go_begun, &zero);

	if (!b)
		return false;
	if (goid >= GO_HELPERS_FROM && goid <= GO_HELPERS_TO &&
	    (type == EVENT_GO_YIELD || (b->goid == goid && b->tid == t->pid)))
		return true;
	b->goid = goid;
	b->tid = t->pid;
	return false;
}

static __always_inline void on_run(u64 goid, struct task_struct *t, u32 type)
{
	struct go_run_event *e;

	if (!goid || goes_on(t, goid, type))
		return;
	e = reserve(sizeof(*e), HOOK_SAMPLES);
	if (!e)
		return;
	fill_head(&e->h, type, t);
	e->goid = goid;
	submit(e);
}

#define PROBE(program, work)                                                       \
	({                                                                         \
		struct task_struct *t = bpf_get_current_task_btf();                \
		struct watch *w = watch_of(t->tgid);                               \
		u32 key = program;                                                 \
		struct cost *c = bpf_map_lookup_elem(&go_costs, &key);             \
		bool timed = c && c->runs++ % METER_EVERY == 0;                    \
		u64 began = timed ? bpf_ktime_get_ns() : 0;                        \
                                                                                   \
		if (w && w->go_goid)                                               \
			work;                                                      \
		if (timed) {                                                       \
			c->ns += bpf_ktime_get_ns() - began;                       \
			c->timed++;                                                \
		}                                                                  \
		0;                                                                 \
	})

SEC("uprobe.multi/go_call")
int go_call(struct pt_regs *regs)
{
	return PROBE(GO_CALL, on_call(regs, w, t));
}

SEC("uprobe.multi/go_run")
int go_run(struct pt_regs *regs)
{
	return PROBE(GO_RUN, on_run(read_word(GO_ARG1(regs) + w->go_goid), t, EVENT_GO_RUN));
}

SEC("uprobe.multi/go_yield")
int go_yield(struct pt_regs *regs)
{
	return PROBE(GO_YIELD, on_run(current_goid(w, t), t, EVENT_GO_YIELD));
}

char LICENSE[] SEC("license") = "GPL";

#define EXPORT(type, name) type *export_##name __attribute__((unused))
EXPORT(struct go_call_event, go_call_event);
EXPORT(struct go_run_event, go_run_event);
EXPORT(enum go_program, go_program);
EXPORT(enum go_event, go_event);
EXPORT(struct cost, cost);
