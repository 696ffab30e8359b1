// A wait with signals in it: it goes on, a handler may ask too, and a handler that jumps out leaves no old answer.
#include "check.h"

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
    every(0, ask);
    for (int i = 0; i < 10; i++)
        CHECK(adds(fd, i));
    return 0;
}
