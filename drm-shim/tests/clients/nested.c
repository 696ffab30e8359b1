// Handlers on a stack of their own that ask while a call waits: they take no connection away from it.
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
    ask(signal);
    siglongjmp(away, 1);
}

static void every(int milliseconds, void (*handler)(int)) {
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
    CHECK(sigaction(SIGALRM, &action, NULL) == 0);
    struct itimerval timer = {{0, milliseconds * 1000}, {0, milliseconds * 1000}};
    CHECK(setitimer(ITIMER_REAL, &timer, NULL) == 0);
}

// Stacks of threads lie above or below those of their handlers, wherever these are.
static void *work(void *stack) {
    stack_t own = {.ss_sp = stack, .ss_size = 1 << 18};
    CHECK(sigaltstack(&own, NULL) == 0);
    sigset_t alarm;
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    CHECK(pthread_sigmask(SIG_UNBLOCK, &alarm, NULL) == 0);
    every(10, ask);
    count = 0;
    while (count < 5) {
        struct words words = {100, 5};
        CHECK(ioctl(fd, WAIT, &words) == 0 && words.second == 5);
    }
    every(10, jump);
    for (volatile int i = 0; i < 10; i++) {
        if (sigsetjmp(away, 1) == 0) {
            struct words words = {1000, 5};
            ioctl(fd, WAIT, &words);
        }
    }
    every(0, ask);
    CHECK(adds(fd, 1));
    CHECK(pthread_sigmask(SIG_BLOCK, &alarm, NULL) == 0);
    return NULL;
}

int main(void) {
    fd = node();
    static char low[1 << 18];
    char high[1 << 18];
    char *middle = malloc(1 << 18);
    CHECK(middle != NULL);
    char *stacks[] = {low, high, middle};
    sigset_t alarm;
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    CHECK(pthread_sigmask(SIG_BLOCK, &alarm, NULL) == 0);
    for (int i = 0; i < 3; i++) {
        pthread_t thread;
        CHECK(pthread_create(&thread, NULL, work, stacks[i]) == 0);
        CHECK(pthread_join(thread, NULL) == 0);
    }
    struct words words = {0, 0};
    for (int i = 0; i < 5000 && words.second != 1; i++) {
        CHECK(ioctl(fd, COUNT, &words) == 0);
        usleep(2000);
    }
    CHECK(words.second == 1);
    return 0;
}
