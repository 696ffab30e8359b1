// What the clients share: a check that says where it failed, and the requests of the node that is none.
#pragma once
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(what)                                                                      \
    do {                                                                                 \
        if (!(what)) {                                                                   \
            printf("%s:%d: %s (errno %d: %s)\n", __FILE__, __LINE__, #what, errno,       \
                   strerror(errno));                                                     \
            exit(1);                                                                     \
        }                                                                                \
    } while (0)

struct words {
    uint64_t first, second;
};

#define REQUEST(number) _IOWR('d', number, struct words)
#define ADD REQUEST(0xa0)
// The number of DRM_IOCTL_I915_GEM_WAIT: handlers run in the middle of a wait, and after other requests.
#define WAIT REQUEST(0x6c)
#define WORK REQUEST(0xa7)
#define DIE REQUEST(0xa2)
#define INSTALL REQUEST(0xa3)
#define MOVE REQUEST(0xa4)
#define FAIL REQUEST(0xa5)
#define COUNT REQUEST(0xa6)

static inline int node(void) {
    int fd = open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC);
    CHECK(fd >= 0);
    return fd;
}

static inline int adds(int fd, uint64_t value) {
    struct words words = {value, 77};
    return ioctl(fd, ADD, &words) == 0 && words.first == value + 1 && words.second == 77;
}
