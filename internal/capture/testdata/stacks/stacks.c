/* Threads that wait for known things in known places. */
#include <math.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noinline)) void nap(void)
{
	struct timespec t = {0, 30000000};
	nanosleep(&t, 0);
	__asm__ volatile("");
}

__attribute__((noinline)) void hold(void)
{
	pthread_mutex_lock(&lock);
	nap();
	pthread_mutex_unlock(&lock);
	__asm__ volatile("");
}

__attribute__((noinline)) double burn(void)
{
	volatile double x = 0;
	for (int i = 0; i < 3000000; i++)
		x += i * 0.5;
	return x;
}

static void *holder(void *unused)
{
	for (;;)
		hold();
	return unused;
}

int main(void)
{
	pthread_t t;
	char byte;

	pthread_create(&t, 0, holder, 0);
	pthread_create(&t, 0, holder, 0);
	for (;;) {
		burn();
		if (read(0, &byte, 1) == 0)
			return 0;
	}
}
