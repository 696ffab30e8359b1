// A program that takes mappings away past libc: what it puts there stays its own, and what is left follows the node.
#include "check.h"

#include <sys/syscall.h>

static int fd;

static void move(char *page, uint64_t offset) {
    struct words words = {(uintptr_t)page, offset};
    CHECK(ioctl(fd, MOVE, &words) == 0);
}

int main(void) {
    fd = node();
    const int both = PROT_READ | PROT_WRITE;
    const uint64_t second = (1ull << 32) + 0x8000;
    char *map = mmap(NULL, 6 * 4096, both, MAP_SHARED, fd, 0x4000), *page[6];
    CHECK(map != MAP_FAILED);
    for (int i = 0; i < 6; i++)
        page[i] = map + i * 4096;
    // Memory of its own.
    CHECK(syscall(SYS_munmap, page[0], 4096) == 0);
    CHECK(syscall(SYS_mmap, page[0], 4096, both, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == (long)page[0]);
    strcpy(page[0], "own");
    move(page[0], second);
    CHECK(!strcmp(page[0], "own"));
    // A file of its own that others share.
    int file = memfd_create("own", 0);
    CHECK(ftruncate(file, 4096) == 0 && pwrite(file, "file", 5, 0) == 5);
    CHECK(syscall(SYS_mmap, page[1], 4096, both, MAP_SHARED | MAP_FIXED, file, 0) == (long)page[1]);
    move(page[1], second);
    CHECK(!strcmp(page[1], "file"));
    // Nothing.
    CHECK(syscall(SYS_munmap, page[2], 4096) == 0);
    move(page[2], second);
    CHECK(msync(page[2], 4096, MS_ASYNC) == -1 && errno == ENOMEM);
    // What is still the node's, there and back, and with the protection that it has by now.
    strcpy(page[3], "first");
    move(page[3], second);
    CHECK(!strcmp(page[3], "second"));
    CHECK(mprotect(page[4], 4096, PROT_NONE) == 0);
    move(page[4], second);
    struct words words = {1, 2};
    CHECK(write(memfd_create("sink", 0), page[4], 1) == -1 && errno == EFAULT);
    CHECK(mprotect(page[4], 4096, PROT_READ) == 0 && !strcmp(page[4], "second"));
    move(page[3], 0x4000 + 3 * 4096);
    CHECK(!strcmp(page[3], "first") && ioctl(fd, ADD, &words) == 0);
    // What has been found to be the program's is forgotten.
    move(page[0], second);
    CHECK(!strcmp(page[0], "own") && munmap(map, 6 * 4096) == 0);
    return 0;
}
