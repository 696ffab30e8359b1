// A program whose table of descriptors is full: calls that need a connection fail, the others work, nobody waits.
#include "check.h"
#include <sys/resource.h>

enum { THREADS = 60 };
static int fd;
static pthread_barrier_t all;
static int served, refused;

static void *ask(void *unused) {
    struct words words = {1, 77};
    if (ioctl(fd, ADD, &words) == 0) {
        CHECK(words.first == 2);
        __sync_fetch_and_add(&served, 1);
    } else {
        CHECK(errno == EMFILE);
        __sync_fetch_and_add(&refused, 1);
    }
    pthread_barrier_wait(&all);
    return unused;
}

int main(int count, char **arguments) {
    struct rlimit few = {32, 32};
    int before = -1;
    if (count > 1) {
        CHECK(setrlimit(RLIMIT_NOFILE, &few) == 0);
        // Not even the process can be introduced.
        int kept[32], number = 0;
        while (number < 32 && (kept[number] = dup(2)) >= 0)
            number++;
        before = open("/dev/dri/renderD128", O_RDWR);
        CHECK(before < 0 && errno == EMFILE);
        while (number > 0)
            close(kept[--number]);
    }
    fd = node();
    pthread_t threads[THREADS];
    CHECK(pthread_barrier_init(&all, NULL, THREADS) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, ask, NULL) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(served + refused == THREADS && served > 0 && refused > 0);
    CHECK(adds(fd, 5));
    (void)arguments;
    return 0;
}
