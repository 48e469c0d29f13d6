// SPDX-License-Identifier: GPL-2.0
/* One read or write, as io.h and lookup.h pass it on. */
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
