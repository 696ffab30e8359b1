// Mappings: what they show, cut in pieces, moved by the node, made by a request, of a dma-buf.
#include "check.h"

struct gem_mmap {
    uint32_t handle, pad;
    uint64_t offset, size, address, flags;
};

int main(void) {
    int fd = node(), both = PROT_READ | PROT_WRITE;
    char *map = mmap(NULL, 3 * 4096 - 5, both, MAP_SHARED, fd, 0x4000);
    CHECK(map != MAP_FAILED && !strcmp(map, "first"));
    strcpy(map + 0x100, "client");
    CHECK(mmap(NULL, 4096, both, MAP_SHARED, fd, 1 << 20) == MAP_FAILED && errno == EINVAL);
    CHECK(mmap(NULL, 4096, both, MAP_SHARED, fd, 12) == MAP_FAILED && errno == EINVAL);
    // What the system refuses although the node has a place for it: the node hears that nothing is mapped.
    CHECK(mmap((void *)1, 4096, both, MAP_SHARED | MAP_FIXED, fd, 0x4000) == MAP_FAILED && errno == EINVAL);

    // The first page shows the other memory from now on, and the second stays.
    strcpy(map + 4096, "stays");
    struct words words = {(uintptr_t)map, (1ull << 32) + 0x8000};
    CHECK(ioctl(fd, MOVE, &words) == 0);
    CHECK(!strcmp(map, "second") && !strcmp(map + 4096, "stays"));
    // Another thread's mapping has come to the address since the node has looked: it stays.
    words.second = 1ull << 63 | 0x4000;
    CHECK(ioctl(fd, MOVE, &words) == 0 && !strcmp(map, "second"));
    words.second = (1ull << 32) + 0x8000;
    // Calls that fail leave everything as it is, and the node does not hear of them.
    CHECK(mmap(map, 4096, both, MAP_FIXED | MAP_SHARED, 12345, 0) == MAP_FAILED && errno == EBADF);
    CHECK(mmap(map, 4096, both, MAP_FIXED | MAP_ANONYMOUS, -1, 0) == MAP_FAILED && errno == EINVAL);
    // The munmap of a sanitizer's runtime would go through its notes of all these addresses.
    CHECK(getenv("CRESTLINE_SANITIZER") || (munmap(map, (size_t)1 << 62) == -1 && errno == EINVAL));
    CHECK(!strcmp(map, "second") && ioctl(fd, MOVE, &words) == 0 && !strcmp(map, "second"));
    // Where nothing of ours is mapped, nothing is moved.
    char *plain = mmap(NULL, 4096, both, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    strcpy(plain, "plain");
    words.first = (uintptr_t)plain;
    CHECK(ioctl(fd, MOVE, &words) == 0 && !strcmp(plain, "plain"));
    CHECK(munmap(plain, 4096) == 0);

    CHECK(munmap(map + 4096, 4096) == 0 && !strcmp(map, "second"));
    CHECK(mmap(map, 8192, both, MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == map);
    CHECK(map[0] == 0);

    struct gem_mmap wish = {.offset = 0x1000, .size = 8192};
    CHECK(ioctl(fd, _IOWR('d', 0x5e, struct gem_mmap), &wish) == 0);
    char *made = (char *)(uintptr_t)wish.address;
    CHECK(!strcmp(made, "stays") && munmap(made, 8192) == 0);
    // The number says which call it is. Its argument once had no flags; it may be longer; what is too short for an address
    // tells none.
    struct { struct gem_mmap wish; uint64_t behind; } longer = {wish, 7};
    longer.wish.address = 0;
    for (int size = 32; size <= 48; size += 8) {
        longer.wish.address = 0, longer.wish.flags = 8, longer.behind = 7;
        CHECK(ioctl(fd, _IOC(_IOC_READ | _IOC_WRITE, 'd', 0x5e, size), &longer) == 0);
        made = (char *)(uintptr_t)longer.wish.address;
        CHECK(!strcmp(made, "stays") && munmap(made, 8192) == 0);
        CHECK(longer.wish.flags == 8 && longer.behind == 7);
    }

    words.first = 2;
    CHECK(ioctl(fd, INSTALL, &words) == 0);
    int buffer = words.first;
    // Its ends alone can be sought, and no position is kept (dma_buf_llseek).
    CHECK(lseek(buffer, 0, SEEK_END) == 8192 && lseek(buffer, 0, SEEK_SET) == 0 && lseek64(buffer, 0, SEEK_END) == 8192);
    struct { off_t offset; int whence; } bad[] = {
        {1, SEEK_SET}, {4096, SEEK_SET}, {8192, SEEK_SET}, {-1, SEEK_SET}, {-1, SEEK_END}, {1, SEEK_END}, {0, SEEK_CUR}, {4096, SEEK_CUR},
        {0, 3}, {0, 4}, {0, 99},
    };
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        errno = 0;
        CHECK(lseek(buffer, bad[i].offset, bad[i].whence) == -1 && errno == EINVAL);
        CHECK(lseek64(buffer, bad[i].offset, bad[i].whence) == -1 && errno == EINVAL);
    }
    // The node has no position (noop_llseek); other files have what they had.
    CHECK(lseek(fd, 5, SEEK_SET) == 0 && lseek(fd, 0, SEEK_CUR) == 0);
    int plainly = memfd_create("plainly", 0);
    CHECK(lseek(plainly, 5, SEEK_SET) == 5 && lseek(plainly, 2, SEEK_CUR) == 7 && close(plainly) == 0);
    CHECK(lseek(-1, 0, SEEK_SET) == -1 && errno == EBADF);
    int pipes[2];
    CHECK(pipe(pipes) == 0 && lseek(pipes[0], 0, SEEK_SET) == -1 && errno == ESPIPE);
    char *shared = mmap(NULL, 8192, both, MAP_SHARED, buffer, 0);
    CHECK(shared != MAP_FAILED && !strcmp(shared + 0x4000 - 0x4000, ""));
    CHECK(munmap(shared + 4096, 4096) == 0);
    // One that was opened to be read, as an export without DRM_RDWR is, is mapped to be read.
    char path[32];
    sprintf(path, "/proc/self/fd/%d", buffer);
    int reader = open(path, O_RDONLY);
    CHECK(reader >= 0 && mmap(NULL, 4096, both, MAP_SHARED, reader, 0) == MAP_FAILED && errno == EACCES);
    char *seen = mmap(NULL, 4096, PROT_READ, MAP_SHARED, reader, 0);
    CHECK(seen != MAP_FAILED && munmap(seen, 4096) == 0 && close(reader) == 0);
    // A name is a text, however long the request says: nothing behind it is read.
    char *edge = mmap(NULL, 8192, both, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(munmap(edge + 4096, 4096) == 0);
    strcpy(edge + 4093, "me");
    CHECK(ioctl(buffer, _IOW('b', 1, uint32_t), edge + 4093) == 0);
    CHECK(ioctl(buffer, _IOW('b', 1, uint64_t), edge + 4093) == 0);
    // A file without a name that is the program's own.
    int own = memfd_create("own", 0);
    CHECK(ftruncate(own, 4096) == 0);
    char *ours = mmap(NULL, 4096, both, MAP_SHARED, own, 0);
    CHECK(ours != MAP_FAILED && munmap(ours, 4096) == 0);
    return 0;
}
