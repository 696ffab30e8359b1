// Children that share their parent's memory (vfork(2), CLONE_VM) do not begin to use the device, and leave the parent to do so.
#include <sched.h>

#include "check.h"

static int fd;
static char stack[1 << 18] __attribute__((aligned(16)));

static int opens(void *unused) {
    (void)unused;
    int error = open("/dev/dri/renderD128", O_RDWR) < 0 ? errno : 0;
    _exit(error);
}

static int maps(void *unused) {
    (void)unused;
    char *map = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0x4000);
    _exit(map == MAP_FAILED ? errno : 0);
}

// What the child says that runs in this memory, as vfork makes it or with the descriptors as well.
static int child(int (*runs)(void *), int flags) {
    int status;
    pid_t number = clone(runs, stack + sizeof stack, CLONE_VM | SIGCHLD | flags, NULL);
    CHECK(number > 0 && waitpid(number, &status, 0) == number && WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void *begins(void *unused) {
    fd = node();
    CHECK(adds(fd, 1));
    return unused;
}

int main(void) {
    CHECK(child(opens, CLONE_VFORK) == ENODEV);
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, begins, NULL) == 0 && pthread_join(thread, NULL) == 0);
    // This thread has no connection yet.
    CHECK(child(maps, CLONE_VFORK) == ENODEV);
    // ThreadSanitizer's own `clone` keeps the child's function in the parent's frame, which has gone when a parent does not wait.
    CHECK(getenv("CRESTLINE_SANITIZER") || child(maps, CLONE_FILES) == ENODEV);
    CHECK(adds(fd, 2));
    // By now it has one, which is the parent's.
    CHECK(child(maps, CLONE_VFORK) == 0);
    char *map = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0x4000);
    CHECK(map != MAP_FAILED && remap_file_pages(map, 4096, 0, 1, 0) == -1 && errno == EINVAL);
    return 0;
}
