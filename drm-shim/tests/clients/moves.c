// mremap of mappings of the node: they shrink and move, are followed there, and do not grow (VM_DONTEXPAND, mm/mremap.c).
#include "check.h"

#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif

static int fd;
static const int both = PROT_READ | PROT_WRITE;
static const uint64_t second = (1ull << 32) + 0x8000;

static void move(char *page, uint64_t offset) {
    struct words words = {(uintptr_t)page, offset};
    CHECK(ioctl(fd, MOVE, &words) == 0);
}

static int is_there(char *page) {
    return msync(page, 4096, MS_ASYNC) == 0;
}

static void fails(char *map, size_t len, size_t new_len, int flags, void *new, int error) {
    errno = 0;
    CHECK(mremap(map, len, new_len, flags, new) == MAP_FAILED);
    CHECK(errno == error);
}

int main(void) {
    fd = node();
    char *map = mmap(NULL, 3 * 4096, both, MAP_SHARED, fd, 0x4000);
    char *room = mmap(NULL, 8 * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(map != MAP_FAILED && room != MAP_FAILED && !strcmp(map, "first"));
    const int moves = MREMAP_MAYMOVE, fixed = MREMAP_MAYMOVE | MREMAP_FIXED;
    // What is refused changes nothing.
    fails(map, 3 * 4096, 4 * 4096, moves, NULL, EFAULT);
    fails(map, 3 * 4096, 4 * 4096, 0, NULL, EFAULT);
    fails(map, 3 * 4096, 4 * 4096, fixed, room, EFAULT);
    fails(map, 0, 4096, moves, NULL, EFAULT);
    fails(map, 3 * 4096, 3 * 4096, moves | MREMAP_DONTUNMAP, NULL, EINVAL);
    fails(map, 3 * 4096, 3 * 4096, MREMAP_FIXED, room, EINVAL);
    fails(map, 3 * 4096, 3 * 4096, fixed, room + 1, EINVAL);
    fails(map, 3 * 4096, 3 * 4096, fixed, map + 4096, EINVAL);
    fails(map + 1, 4096, 4096, moves, NULL, EINVAL);
    fails(map, 4096, 0, moves, NULL, EINVAL);
    fails(map, 4096, 4096, 64, NULL, EINVAL);
    fails(map, -4096ul, -8192ul, 0, NULL, EINVAL);
    fails(map, -1ul, 4096, 0, NULL, EINVAL);
    // Above all addresses of a process.
    fails(map, 3 * 4096, 4096, fixed, (void *)0x7ffffffff000, EINVAL);
    CHECK(mremap(map, 3 * 4096, 3 * 4096 - 7, moves, NULL) == map);
    CHECK(is_there(map + 2 * 4096) && is_there(room) && !strcmp(map, "first"));
    // It shrinks where it is.
    strcpy(map + 4096, "next");
    CHECK(mremap(map, 3 * 4096, 2 * 4096, 0, NULL) == map);
    CHECK(!is_there(map + 2 * 4096) && !strcmp(map + 4096, "next"));
    // It moves, and is followed.
    CHECK(mremap(map, 2 * 4096, 2 * 4096, fixed, room + 4096) == room + 4096);
    CHECK(!is_there(map) && !is_there(map + 4096));
    CHECK(!strcmp(room + 4096, "first") && !strcmp(room + 2 * 4096, "next"));
    move(room + 4096, second);
    CHECK(!strcmp(room + 4096, "second") && !strcmp(room + 2 * 4096, "next"));
    // Where it was, nothing is.
    char *own = mmap(map, 4096, both, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    strcpy(own, "own");
    move(own, second);
    CHECK(!strcmp(own, "own"));
    // A page of it moves over another mapping of the node, and shrinks on the way.
    char *other = mmap(NULL, 2 * 4096, both, MAP_SHARED, fd, 0x7000);
    CHECK(mremap(room + 2 * 4096, 4096, 4096, fixed, other + 4096) == other + 4096);
    CHECK(!strcmp(other + 4096, "next") && mremap(other, 2 * 4096, 4096, fixed, room + 6 * 4096) == room + 6 * 4096);
    CHECK(!is_there(other) && !is_there(other + 4096) && is_there(room + 6 * 4096));
    // Memory of the program's in the place of one.
    CHECK(mremap(own, 4096, 4096, fixed, room + 6 * 4096) == room + 6 * 4096);
    move(room + 6 * 4096, second);
    CHECK(!strcmp(room + 6 * 4096, "own") && munmap(room, 8 * 4096) == 0);
    return 0;
}
