// A wait with signals in it: it goes on, a handler may ask too, and a handler that jumps out leaves no old answer.
#include "check.h"

#include <time.h>

static int fd;
static volatile int count;
static sigjmp_buf away;

static void ask(int signal) {
    (void)signal;
    int before = errno;
    CHECK(adds(fd, 100 + count++));
    errno = before;
}

static void jump(int signal) {
    (void)signal;
    siglongjmp(away, 1);
}

static void every(int milliseconds, void (*handler)(int)) {
    struct sigaction action = {.sa_handler = handler};
    CHECK(sigaction(SIGALRM, &action, NULL) == 0);
    struct itimerval timer = {{0, milliseconds * 1000}, {0, milliseconds * 1000}};
    CHECK(setitimer(ITIMER_REAL, &timer, NULL) == 0);
}

int main(void) {
    fd = node();
    every(10, ask);
    struct words words = {200, 5};
    errno = 42;
    CHECK(ioctl(fd, WAIT, &words) == 0 && errno == 42 && words.second == 5);
    CHECK(count > 3);
    every(20, jump);
    if (sigsetjmp(away, 1) == 0) {
        ioctl(fd, WAIT, &words);
        CHECK(!"the signal comes first");
    }
    // The node may be writing into the program's memory: no handler runs before it has answered.
    struct timespec begin, end;
    words.first = 100;
    every(10, jump);
    CHECK(clock_gettime(CLOCK_MONOTONIC, &begin) == 0);
    if (sigsetjmp(away, 1) == 0) {
        ioctl(fd, WORK, &words);
        CHECK(!"the signal comes at the end");
    }
    every(0, jump);
    CHECK(clock_gettime(CLOCK_MONOTONIC, &end) == 0);
    CHECK((end.tv_sec - begin.tv_sec) * 1000 + (end.tv_nsec - begin.tv_nsec) / 1000000 >= 99);
    // A signal that ends the program does so in the middle.
    pid_t child = fork();
    if (child == 0) {
        words.first = 20000;
        ioctl(fd, WORK, &words);
        _exit(0);
    }
    usleep(100000);
    CHECK(kill(child, SIGTERM) == 0);
    int status;
    CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    every(0, ask);
    for (int i = 0; i < 10; i++)
        CHECK(adds(fd, i));
    return 0;
}
