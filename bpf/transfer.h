// SPDX-License-Identifier: GPL-2.0
/* One read or write, as io.h and lookup.h pass it on, and what a read takes. */
#pragma once

/* When its bytes reached the socket. */
struct arrival {
	u64 first, last;
	u32 merged;
	u32 pad;
};

struct transfer {
	struct arrival arrival;
	u64 now;
	u64 offset;
	u64 bytes;
	u32 dir;
	u32 eof;
};

/* When the bytes [begin, end) reached the socket; forgets the stamps of bytes that
 * are read. */
static __always_inline void take_stamps(struct flow *f, u32 begin, u32 end, struct arrival *a)
{
	u32 head = *(volatile u32 *)&f->head, tail = f->tail, next = tail;

	for (u32 i = 0; i < STAMPS; i++) {
		struct stamp *s = &f->stamps[(tail + i) & STAMP_MASK];

		if (tail + i == head || a->last)
			break;
		if (before(begin, s->end)) {
			if (!a->first)
				a->first = s->ts;
			a->merged |= s->merged;
			if (!before(s->end, end))
				a->last = s->ts;
		}
		if (!before(end, s->end))
			next = tail + i + 1;
	}
	f->tail = next;
	if (before(begin, f->stamped_from))
		a->first = 0;
	if (!before(f->stamped_from, end))
		a->last = 0;
}

/* Notes what a read took, and when that had arrived; false if it was nothing new. */
static __always_inline bool take(struct sock *sk, struct flow *f, struct transfer *x)
{
	struct cursor c;
	u32 begin;

	if (!read_cursor(sk, &c))
		return false;
	if (!x->bytes) {
		if (f->eof || !c.fin)
			return false;
		f->eof = 1;
		x->eof = 1;
		x->arrival.first = x->arrival.last = f->fin;
		x->offset = f->offset[DIR_READ];
		return true;
	}
	begin = c.copied - (u32)x->bytes;
	take_stamps(f, begin, c.copied, &x->arrival);
	if (before(f->next_read, begin))
		f->offset[DIR_READ] += begin - f->next_read; /* read unseen, as by splice */
	f->next_read = c.copied;
	x->offset = f->offset[DIR_READ];
	f->offset[DIR_READ] += x->bytes;
	return true;
}
