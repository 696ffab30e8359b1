// Children whose mappings the node does not know lose them, and are served all the same; a child without a free descriptor keeps them.
#include "check.h"
#include <sys/resource.h>
#include <sys/syscall.h>

static sigjmp_buf back;

static void caught(int signal) {
    siglongjmp(back, signal);
}

static int reads(char *map, const char *text) {
    if (sigsetjmp(back, 1))
        return 0;
    return !strcmp(map, text);
}

static int faults(char *map) {
    int signal = sigsetjmp(back, 1);
    if (signal == 0)
        *(volatile char *)map = 1;
    return signal == SIGSEGV;
}

static void reap(pid_t child) {
    int status;
    CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static char *map_of(int fd) {
    char *map = mmap(NULL, 2 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0x4000);
    CHECK(map != MAP_FAILED && !strcmp(map, "first"));
    return map;
}

int main(int count, char **arguments) {
    struct sigaction action = {.sa_handler = caught};
    CHECK(sigaction(SIGSEGV, &action, NULL) == 0 && sigaction(SIGBUS, &action, NULL) == 0);
    if (count > 1) {
        // Before the library has descriptors: it puts them at high numbers.
        struct rlimit few = {64, 64};
        CHECK(setrlimit(RLIMIT_NOFILE, &few) == 0);
    }
    int fd = node();
    char *map = map_of(fd), *hole = map_of(fd);
    CHECK(munmap(hole, 4096) == 0);
    if (count > 1) {
        while (dup(2) >= 0)
            continue;
        pid_t child = fork();
        if (child == 0) {
            CHECK(reads(map, "first") && adds(fd, 1));
            _exit(0);
        }
        reap(child);
        return 0;
    }
    pid_t child = fork();
    if (child == 0) {
        CHECK(faults(map) && faults(map + 4096) && faults(hole + 4096));
        CHECK(adds(fd, 2));
        map_of(fd);
        _exit(0);
    }
    reap(child);
    child = syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
    if (child == 0) {
        CHECK(reads(map, "first") && adds(fd, 3) && faults(map) && faults(hole + 4096));
        map_of(fd);
        _exit(0);
    }
    reap(child);
    CHECK(reads(map, "first") && adds(fd, 4));
    (void)arguments;
    return 0;
}
