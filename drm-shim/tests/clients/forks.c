// Children: with and without mappings, while other threads ask, and what the parent has keeps working.
#include "check.h"

static void reap(pid_t child) {
    int status;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static volatile int stop;

static void *ask(void *fd) {
    for (uint64_t i = 0; !stop; i++)
        CHECK(adds(*(int *)fd, i));
    return NULL;
}

int main(void) {
    int fd = node();
    pid_t child = fork();
    if (child == 0) {
        CHECK(adds(fd, 1));
        int own = node();
        CHECK(adds(own, 2));
        // What stands for the device is shared with the parent.
        CHECK(shutdown(fd, SHUT_RDWR) == -1 && errno == ENOTSOCK);
        CHECK(close(fd) == 0);
        // The program's own sockets are sockets.
        int pair[2];
        char byte;
        CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) == 0 && shutdown(pair[0], SHUT_WR) == 0);
        CHECK(read(pair[1], &byte, 1) == 0);
        _exit(0);
    }
    CHECK(adds(fd, 3));
    reap(child);
    struct words count;
    CHECK(adds(fd, 4) && ioctl(fd, COUNT, &count) == 0 && count.first == 1);
    char *map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0x4000);
    CHECK(map != MAP_FAILED);
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, ask, &fd) == 0);
    child = fork();
    if (child == 0) {
        strcpy(map, "from the child");
        CHECK(adds(fd, 5));
        _exit(0);
    }
    reap(child);
    stop = 1;
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(!strcmp(map, "from the child") && adds(fd, 6));
    return 0;
}
