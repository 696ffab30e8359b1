// Threads map and unmap while others fork: each child says how many mappings of the node it has.
#include "check.h"

static int fd;
static volatile int stop;

static void *maps(void *unused) {
    while (!stop) {
        char *map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0x4000);
        CHECK(map != MAP_FAILED && munmap(map, 4096) == 0);
    }
    return unused;
}

static void *forks(void *unused) {
    for (int i = 0; i < 100; i++) {
        pid_t child = fork();
        if (child == 0) {
            FILE *list = fopen("/proc/self/maps", "r");
            char line[512];
            int count = 0;
            CHECK(list);
            while (fgets(line, sizeof line, list))
                count += strstr(line, "memfd:") != NULL;
            dprintf(1, "%d\n", count);
            _exit(0);
        }
        int status;
        CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    return unused;
}

int main(void) {
    fd = node();
    // One that stays.
    CHECK(mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0x4000) != MAP_FAILED);
    pthread_t mapping[3];
    for (int i = 0; i < 3; i++)
        CHECK(pthread_create(&mapping[i], NULL, maps, NULL) == 0);
    forks(NULL);
    stop = 1;
    for (int i = 0; i < 3; i++)
        CHECK(pthread_join(mapping[i], NULL) == 0);
    CHECK(adds(fd, 1));
    return 0;
}
