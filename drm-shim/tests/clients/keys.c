// A program that takes all keys of pthreads before its first call: connections of threads end with them all the same.
#include "check.h"

static void *ask(void *fd) {
    CHECK(adds(*(int *)fd, 1));
    return NULL;
}

int main(void) {
    pthread_key_t key;
    while (pthread_key_create(&key, NULL) == 0)
        continue;
    int fd = node();
    for (int i = 0; i < 40; i++) {
        pthread_t thread;
        CHECK(pthread_create(&thread, NULL, ask, &fd) == 0 && pthread_join(thread, NULL) == 0);
    }
    struct words words = {0, 0};
    for (int i = 0; i < 500 && words.second != 1; i++) {
        CHECK(ioctl(fd, COUNT, &words) == 0);
        usleep(2000);
    }
    CHECK(words.first == 1 && words.second == 1);
    return 0;
}
