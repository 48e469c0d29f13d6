/* A loop without ids: one thread, epoll, no runtime that dwell knows. It passes each
 * request on to HTTP (address:port), over one of POOL connections that it keeps, and
 * the answer back; a request that finds none of them idle waits in line. PORT is ours.
 */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { MOST = 4096, BYTES = 4096 };

struct end {
	int peer;    /* of the exchange under way, or -1 */
	int up;      /* a connection to the peer, not of a client */
	int bytes;   /* of the request that waits */
	char data[BYTES];
} ends[MOST];

static int line[MOST], head, tail, idle[MOST], idles, poller;

static int watched(int fd, int up)
{
	struct epoll_event e = { .events = EPOLLIN, .data.fd = fd };
	int one = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	epoll_ctl(poller, EPOLL_CTL_ADD, fd, &e);
	ends[fd].peer = -1;
	ends[fd].up = up;
	return fd;
}

static void pass(void)
{
	while (head != tail && idles) {
		int client = line[head++ % MOST], up = idle[--idles];

		ends[client].peer = up;
		ends[up].peer = client;
		if (write(up, ends[client].data, ends[client].bytes) < 0)
			exit(1);
	}
}

static void readable(int fd)
{
	struct end *e = &ends[fd];
	int n = read(fd, e->data, BYTES);

	if (n <= 0) {
		if (e->up)
			exit(1);
		close(fd);
	} else if (!e->up) {
		e->bytes = n;
		line[tail++ % MOST] = fd;
	} else {
		if (write(e->peer, e->data, n) < 0)
			exit(1);
		idle[idles++] = fd;
	}
	pass();
}

int main(void)
{
	struct sockaddr_in here = { .sin_family = AF_INET, .sin_port = htons(atoi(getenv("PORT"))) }, peer = here;
	char *address = getenv("HTTP"), *colon = strchr(address, ':');
	int one = 1, server = socket(AF_INET, SOCK_STREAM, 0);

	here.sin_addr.s_addr = peer.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	peer.sin_port = htons(atoi(colon + 1));
	poller = epoll_create1(0);
	setsockopt(server, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	if (bind(server, (void *)&here, sizeof here) || listen(server, 1024))
		return 1;
	for (int i = 0, n = atoi(getenv("POOL")); i < n; i++) {
		int fd = watched(socket(AF_INET, SOCK_STREAM, 0), 1);

		if (connect(fd, (void *)&peer, sizeof peer))
			return 1;
		idle[idles++] = fd;
	}
	watched(server, 0);
	puts("ready");
	fflush(stdout);
	for (;;) {
		struct epoll_event all[64];
		int n = epoll_wait(poller, all, 64, -1);

		for (int i = 0; i < n; i++) {
			if (all[i].data.fd == server)
				watched(accept(server, 0, 0), 0);
			else
				readable(all[i].data.fd);
		}
	}
}
