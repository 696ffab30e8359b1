// Eight threads on one file; their connections end with them.
#include "check.h"

static void *ask(void *fd) {
    for (uint64_t i = 0; i < 400; i++)
        CHECK(adds(*(int *)fd, i * 1000 + (uintptr_t)&i % 1000));
    char *map = mmap(NULL, 8192, PROT_READ, MAP_SHARED, *(int *)fd, 0);
    CHECK(map != MAP_FAILED && munmap(map, 8192) == 0);
    return NULL;
}

int main(void) {
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
