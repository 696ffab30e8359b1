// A client of the DRM node whose batches hang, until a limit, or until it is killed: commands that do not exist, or, with
// a seed, 64 KiB of random dwords, every other batch of them with a 3D command at its beginning.
//   gcc -O2 -o hangs hangs.c
//   hangs [batches [seed]]
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

// As <drm/i915_drm.h> has them, which Debian keeps in libdrm-dev.
struct create { uint64_t size; uint32_t handle, pad; };
struct pwrite { uint32_t handle, pad; uint64_t offset, size, data_ptr; };
struct object { uint32_t handle, relocation_count; uint64_t relocs_ptr, alignment, offset, flags, rsvd[2]; };
struct exec {
    uint64_t buffers_ptr;
    uint32_t buffer_count, batch_start_offset, batch_len, dr1, dr4, num_cliprects;
    uint64_t cliprects_ptr, flags, rsvd[2];
};
struct wait { uint32_t handle, flags; int64_t timeout_ns; };
#define GEM_CREATE _IOWR('d', 0x5b, struct create)
#define GEM_PWRITE _IOW('d', 0x5d, struct pwrite)
#define GEM_EXECBUFFER2 _IOW('d', 0x69, struct exec)
#define GEM_WAIT _IOWR('d', 0x6c, struct wait)
#define EXEC_RENDER 1

static void die(const char *what) {
    perror(what);
    exit(1);
}

static void ask(int fd, unsigned long request, void *arg, const char *what) {
    while (ioctl(fd, request, arg))
        if (errno != EINTR && errno != EAGAIN)
            die(what);
}

static uint32_t words[16384];

static void randomise(int round) {
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        words[i] = (uint32_t)random() << 16 ^ (uint32_t)random();
    if (round & 1)
        words[0] = (words[0] & 0x1fffffff) | 0x60000000;
}

// One batch on a file of its own, as clients that hang often get no more contexts.
static void hang(uint32_t bytes) {
    int fd = open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC);
    if (fd < 0)
        die("/dev/dri/renderD128");
    struct create create = {.size = sizeof words};
    ask(fd, GEM_CREATE, &create, "GEM_CREATE");
    struct pwrite write = {.handle = create.handle, .size = bytes, .data_ptr = (uintptr_t)words};
    ask(fd, GEM_PWRITE, &write, "GEM_PWRITE");
    struct object object = {.handle = create.handle};
    struct exec exec = {
        .buffers_ptr = (uintptr_t)&object, .buffer_count = 1, .batch_len = bytes, .flags = EXEC_RENDER};
    ask(fd, GEM_EXECBUFFER2, &exec, "EXECBUFFER2");
    struct wait wait = {.handle = create.handle, .timeout_ns = -1};
    ask(fd, GEM_WAIT, &wait, "GEM_WAIT");
    close(fd);
}

int main(int argc, char **argv) {
    int batches = argc > 1 ? atoi(argv[1]) : -1;
    if (argc > 2)
        srandom(strtoul(argv[2], NULL, 0));
    for (int round = 0; round != batches; round++) {
        if (argc > 2) {
            randomise(round);
            hang(sizeof words);
        } else {
            // Two dwords, as checkers of batches take it, and the end of the batch.
            words[0] = 0x7fff0000;
            words[1] = 0;
            words[2] = 0x05000000;
            hang(16);
        }
    }
    return 0;
}
