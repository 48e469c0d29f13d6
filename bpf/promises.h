// SPDX-License-Identifier: GPL-2.0
/* What waits, at last, for a promise of V8: it is followed from promise to promise through the async
 * functions that await them. Objects are known by the types that V8 says they have; where anything is
 * not as expected, nothing is known. Their addresses stay the same but for when V8 collects what is new. */
#pragma once

/* Where things are, in bytes. */
enum v8_place {
	MAP_TYPE = 12,
	CONTEXT_WORDS = 24,
	CONTEXT_FIRST = 32,
	ASYNC_PROMISE = 80, /* of an async function that waits: its own promise; of an async generator, the first that was asked of it */
	ASKED_PROMISE = 32, /* and the promise of that */
	CAPABILITY_PROMISE = 8,
};

struct v8_promise {
	u64 map, properties, elements;
	u64 reactions; /* while it is pending: what is done when it is settled */
	u64 flags;
};

/* Small numbers are no objects: their last bit is 0, and their value is in the upper half. */
static const u64 PROMISE_SETTLED = 3ULL << 32;

/* Of a context: that around it, and what is its own. */
struct v8_context {
	u64 previous, first, second;
};

/* What is done when a promise is settled. In newer versions what a context is kept in stands before the rest. */
struct v8_reaction {
	u64 map;
	u64 words[5]; /* the next, what is called if it fails and if it does not, what is settled by that */
};

enum { HOPS = 16 };

/* Nobody waits for a promise, as that is settled. */
enum { NOBODY = 1 };

static __always_inline bool is_object(u64 value) { return value & 1; }

static __always_inline u64 word_of(u64 object, u64 place)
{
	return is_object(object) ? read_word(object - 1 + place) : 0;
}

/* The type of an object, 0 if it is none. */
static __always_inline u32 type_by(u64 map)
{
	return is_object(map) ? read_half(map - 1 + MAP_TYPE) & 0xffff : 0;
}

static __always_inline u32 type_of(u64 object) { return type_by(word_of(object, 0)); }

/* What is settled by what is called for a promise: that of an async function which awaits it; that of all of
 * several; that which is resolved with it; or that which .then() gave. Node has the last made for the others too where it
 * gives promises ids, so it comes last. Contexts of a program's own functions lead on to another context. */
static __always_inline u64 settled_by(const struct v8_types *v8, u64 called, u64 to)
{
	u64 context = word_of(called, v8->context);
	struct v8_context c = {};
	u32 type;

	if (is_object(context)) /* else, or where that fails, there are zeros */
		bpf_probe_read_user(&c, sizeof(c), (void *)(context - 1 + CONTEXT_WORDS));
	type = type_of(c.first);
	if (type == v8->async)
		return word_of(c.first, ASYNC_PROMISE);
	if (type == v8->generator)
		return word_of(word_of(c.first, ASYNC_PROMISE), ASKED_PROMISE);
	if (type_of(c.second) == v8->capability)
		return word_of(c.second, CAPABILITY_PROMISE);
	if (type == v8->promise && type_of(c.previous) == v8->oddball)
		return c.first;
	type = type_of(to);
	if (type == v8->promise)
		return to;
	return type == v8->capability ? word_of(to, CAPABILITY_PROMISE) : 0;
}

/* The last promise that waits for one; NOBODY if that is settled; 0 if that is not known: also where several do. */
static __always_inline u64 waiter_of(const struct v8_types *v8, u64 promise)
{
	for (int i = 0; i < HOPS; i++) {
		struct v8_promise p;
		struct v8_reaction r;
		u32 k;

		if (!is_object(promise) || bpf_probe_read_user(&p, sizeof(p), (void *)(promise - 1)))
			return 0;
		if (type_by(p.map) != v8->promise)
			return 0;
		if (p.flags & PROMISE_SETTLED)
			return NOBODY;
		if (!is_object(p.reactions))
			return promise;
		if (bpf_probe_read_user(&r, sizeof(r), (void *)(p.reactions - 1)))
			return 0;
		k = r.words[0] ? 1 : 0;
		if (r.words[k])
			return 0;
		promise = settled_by(v8, r.words[k + 2], r.words[k + 3]);
	}
	return 0;
}

/* Remembers what was told to wait. */
static __always_inline void remember(struct watch *w, u64 waiter)
{
	for (int i = 0; i < WAITERS; i++)
		if (w->waiters[i] == waiter)
			return;
	w->waiters[w->told++ & (WAITERS - 1)] = waiter;
}

/* Where what was at an address has been moved: V8 leaves that in place of its first word. 0: it was not. */
static __always_inline u64 moved_to(const struct v8_types *v8, u64 object)
{
	u64 to = word_of(object, 0);

	if (!to || is_object(to))
		return 0;
	return type_of(to | 1) == v8->promise ? to | 1 : 0;
}
