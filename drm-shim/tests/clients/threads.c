// Eight threads on one file; their connections end with them.
#include "check.h"

static void *ask(void *fd) {
    for (uint64_t i = 0; i < 400; i++)
        CHECK(adds(*(int *)fd, i * 1000 + (uintptr_t)&i % 1000));
    char *map = mmap(NULL, 8192, PROT_READ, MAP_SHARED, *(int *)fd, 0);
    CHECK(map != MAP_FAILED && munmap(map, 8192) == 0);
    return NULL;
}

// What is not about the node takes little of a small stack.
static void *small(void *unused) {
    struct stat stat_;
    int dir = open("/etc", O_RDONLY), fd = openat(dir, "passwd", O_RDONLY);
    CHECK(fd >= 0 && fstat(fd, &stat_) == 0 && fstatat(dir, "passwd", &stat_, 0) == 0);
    CHECK(access("/etc/passwd", R_OK) == 0 && stat("/etc", &stat_) == 0);
    void *map = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
    CHECK(map != MAP_FAILED && munmap(map, 4096) == 0 && close(fd) == 0 && close(dir) == 0);
    return unused;
}

int main(void) {
    pthread_attr_t few;
    pthread_t first;
    CHECK(pthread_attr_init(&few) == 0);
    CHECK(pthread_attr_setstacksize(&few, PTHREAD_STACK_MIN) == 0);
    CHECK(pthread_create(&first, &few, small, NULL) == 0 && pthread_join(first, NULL) == 0);
    int fd = node();
    pthread_t threads[8];
    for (int i = 0; i < 8; i++)
        CHECK(pthread_create(&threads[i], NULL, ask, &fd) == 0);
    for (int i = 0; i < 8; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    struct words words = {0, 0};
    for (int i = 0; i < 500 && words.second != 1; i++) {
        CHECK(ioctl(fd, COUNT, &words) == 0);
        usleep(2000);
    }
    CHECK(words.first == 1 && words.second == 1);
    return 0;
}
