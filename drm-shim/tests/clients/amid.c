// Handlers of signals that ask the node and fork come between other calls, mmap among them: what is mapped is known, and children that
// go on have what their parent has.
#include "check.h"

enum { MAPS = 1500, LEFT = 3 };

static int fd;
static volatile int handled;
static pid_t parent;

static void handler(int number) {
    (void)number;
    int before = errno;
    if (getpid() != parent)
        return;
    handled++;
    CHECK(adds(fd, 5));
    if (handled % 8 == 0) {
        pid_t child = fork();
        if (child == 0)
            _exit(!adds(fd, 6));
        int status;
        CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    errno = before;
}

int main(void) {
    parent = getpid();
    fd = node();
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    CHECK(sigaction(SIGALRM, &action, NULL) == 0);
    for (int i = 0; i < MAPS; i++) {
        struct itimerval soon = {.it_value = {.tv_usec = 1 + i % 150}};
        CHECK(setitimer(ITIMER_REAL, &soon, NULL) == 0);
        char *map = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0x4000);
        CHECK(map != MAP_FAILED);
        if (i < MAPS - LEFT) {
            CHECK(munmap(map, 4096) == 0);
            continue;
        }
        char line[64];
        int len = sprintf(line, "%lx\n", (unsigned long)map);
        CHECK(write(1, line, len) == len);
    }
    struct itimerval never = {0};
    CHECK(setitimer(ITIMER_REAL, &never, NULL) == 0 && handled > MAPS / 8);
    return 0;
}
