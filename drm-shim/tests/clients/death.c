// The node dies in the middle of a call.
#include "check.h"

static void *wait_(void *fd) {
    struct words words = {20000, 0};
    CHECK(ioctl(*(int *)fd, WAIT, &words) == -1 && errno == ENODEV);
    return NULL;
}

int main(void) {
    int fd = node();
    char *map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    CHECK(map != MAP_FAILED);
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, wait_, &fd) == 0);
    usleep(50000);
    struct words words = {0, 0};
    CHECK(ioctl(fd, DIE, &words) == -1 && errno == ENODEV);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(ioctl(fd, ADD, &words) == -1 && errno == ENODEV);
    CHECK(open("/dev/dri/renderD128", O_RDWR) == -1 && errno == ENODEV);
    CHECK(mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED && errno == ENODEV);
    strcpy(map, "still there");
    CHECK(munmap(map, 4096) == 0 && close(fd) == 0);
    return 0;
}
