// Threads that may be cancelled at any instruction (PTHREAD_CANCEL_ASYNCHRONOUS) and are, within the library's calls and
// between them: each ends as cancelled once its call is over, and leaves nothing behind.
#include "check.h"

#define ROUNDS 400

static int fd;

static void asynchronous(void) {
    CHECK(pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL) == 0);
}

static void *works(void *unused) {
    asynchronous();
    for (uint64_t i = 0;; i++) {
        struct stat stat;
        struct words words = {i, 77};
        ioctl(fd, ADD, &words);
        void *map = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
        munmap(map, 4096);
        fstat(fd, &stat);
        access("/dev/dri/renderD128", R_OK);
        dup2(-1, -1);
    }
    return unused;
}

static volatile int over;

static void *waits(void *unused) {
    asynchronous();
    struct words words = {100, 0};
    int result = ioctl(fd, WAIT, &words);
    over = 1 + result;
    return unused;
}

static sigjmp_buf away;

static void jump(int signal) {
    (void)signal;
    siglongjmp(away, 1);
}

// A thread that jumps out of a call can be cancelled where any thread can be.
static void *jumps(void *unused) {
    asynchronous();
    if (sigsetjmp(away, 1) == 0) {
        over = 2;
        struct words words = {10000, 0};
        ioctl(fd, WAIT, &words);
    }
    over = 3;
    for (;;)
        pause();
    return unused;
}

static void cancelled(pthread_t thread) {
    void *result;
    CHECK(pthread_cancel(thread) == 0 && pthread_join(thread, &result) == 0);
    CHECK(result == PTHREAD_CANCELED);
}

static int descriptors(void) {
    int count = 0;
    for (int i = 0; i < 4096; i++)
        count += fcntl(i, F_GETFD) >= 0;
    return count;
}

int main(void) {
    fd = node();
    CHECK(adds(fd, 1));
    int before = descriptors();
    pthread_t thread;
    for (int i = 0; i < ROUNDS; i++) {
        CHECK(pthread_create(&thread, NULL, works, NULL) == 0);
        usleep(i * 7919 % 1000);
        cancelled(thread);
    }
    CHECK(descriptors() == before);

    // What is asked for is done before the thread ends.
    CHECK(pthread_create(&thread, NULL, waits, NULL) == 0);
    usleep(30000);
    cancelled(thread);
    CHECK(!over && adds(fd, 2));

    struct sigaction action = {.sa_handler = jump};
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    CHECK(pthread_create(&thread, NULL, jumps, NULL) == 0);
    while (over != 2)
        usleep(1000);
    usleep(20000);
    CHECK(pthread_kill(thread, SIGUSR1) == 0);
    while (over != 3)
        usleep(1000);
    cancelled(thread);
    CHECK(descriptors() == before);
    return 0;
}
