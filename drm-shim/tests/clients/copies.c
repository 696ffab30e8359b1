// Children that are made past libc's fork: what they ask is answered to them, and their parent keeps what it has.
#include "check.h"

#include <sched.h>
#include <sys/syscall.h>

struct version {
    int numbers[4];
    uint64_t name_len;
    char *name;
    uint64_t date_len;
    char *date;
    uint64_t desc_len;
    char *desc;
};

static int fd;
static char *map;
static char name[16] = "the parent's own";
static volatile int stop;

static void *ask(void *unused) {
    for (uint64_t i = 0; !stop; i++) {
        char *other = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0x8000);
        CHECK(other != MAP_FAILED && munmap(other, 4096) == 0 && adds(fd, i));
    }
    return unused;
}

static void child(int shares) {
    struct version version = {.name_len = sizeof name, .name = name};
    CHECK(ioctl(fd, _IOWR('d', 0, struct version), &version) == 0);
    CHECK(!memcmp(name, "i915", 4) && adds(fd, 5));
    strcpy(map, "from the child");
    int own = node();
    CHECK(adds(own, 6) && close(own) == 0);
    // What the library of the parent has open, where both have one table, is not to be closed.
    CHECK(shares || dup2(1, 768) == 768);
    CHECK(!shares || close_range(700, ~0u, 0) == 0);
    CHECK(adds(fd, 7));
    CHECK(munmap(map, 4096) == 0);
    // A child of libc's own.
    pid_t another = fork();
    if (another == 0) {
        CHECK(adds(fd, 8));
        _exit(0);
    }
    int status;
    CHECK(waitpid(another, &status, 0) == another && status == 0);
    _exit(0);
}

static void parent(pid_t other) {
    int status;
    CHECK(other > 0 && waitpid(other, &status, 0) == other && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK(!memcmp(name, "the parent's own", sizeof name) && adds(fd, 9));
    CHECK(!strcmp(map, "from the child"));
    struct words words = {0, 0};
    CHECK(ioctl(fd, COUNT, &words) == 0 && words.first == 1);
}

int main(void) {
    fd = node();
    map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0x4000);
    CHECK(map != MAP_FAILED);
    const long kinds[] = {SIGCHLD, SIGCHLD | CLONE_FILES};
    for (int i = 0; i < 2; i++) {
        pid_t other = syscall(SYS_clone, kinds[i], 0, 0, 0, 0);
        if (other == 0)
            child(i);
        parent(other);
    }
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, ask, NULL) == 0);
    for (int i = 0; i < 20; i++) {
        pid_t other = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
        if (other == 0)
            child(0);
        parent(other);
    }
    stop = 1;
    CHECK(pthread_join(thread, NULL) == 0);
    return 0;
}
