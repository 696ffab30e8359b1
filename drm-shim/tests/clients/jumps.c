// Calls that never come back: handlers that jump out of them at any depth, and threads that are cancelled in them.
#include "check.h"

static int fd;
static sigjmp_buf away;

static void jump(int signal) {
    (void)signal;
    siglongjmp(away, 1);
}

static int descriptors(void) {
    int count = 0;
    for (int i = 0; i < 4096; i++)
        count += fcntl(i, F_GETFD) >= 0;
    return count;
}

static void waits(int depth) {
    volatile char room[512];
    room[0] = depth;
    if (depth > 0)
        return waits(depth - 1);
    struct words words = {1000, room[0]};
    ioctl(fd, WAIT, &words);
}

static void *cancelled(void *unused) {
    CHECK(pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL) == 0);
    struct words words = {30, 0};
    ioctl(fd, WAIT, &words);
    return unused;
}

static void only(uint64_t connections) {
    struct words words = {0, 0};
    for (int i = 0; i < 5000 && words.second != connections; i++) {
        CHECK(ioctl(fd, COUNT, &words) == 0);
        usleep(2000);
    }
    printf("%d connections\n", (int)words.second);
    CHECK(words.second == connections);
}

int main(void) {
    fd = node();
    CHECK(adds(fd, 1));
    int before = descriptors();
    struct sigaction action = {.sa_handler = jump};
    CHECK(sigaction(SIGALRM, &action, NULL) == 0);
    for (volatile int i = 0; i < 40; i++) {
        struct itimerval timer = {{0, 0}, {0, 5000}};
        if (sigsetjmp(away, 1) == 0) {
            CHECK(setitimer(ITIMER_REAL, &timer, NULL) == 0);
            waits(i * 7 % 13);
            CHECK(!"the signal comes first");
        }
    }
    CHECK(adds(fd, 2));
    only(1);
    CHECK(descriptors() == before);
    for (int i = 0; i < 20; i++) {
        pthread_t thread;
        CHECK(pthread_create(&thread, NULL, cancelled, NULL) == 0);
        usleep(3000);
        CHECK(pthread_cancel(thread) == 0 && pthread_join(thread, NULL) == 0);
    }
    only(1);
    CHECK(descriptors() == before);
    return 0;
}
