// Descriptors that come on the way, with and without close-on-exec, and when there is no room for one.
#include "check.h"
#include <sys/resource.h>

int main(void) {
    int fd = node();
    for (uint64_t cloexec = 0; cloexec < 2; cloexec++) {
        struct words words = {cloexec, 0};
        CHECK(ioctl(fd, INSTALL, &words) == 0);
        int got = words.first;
        CHECK(got == 4 + (int)cloexec && fcntl(got, F_GETFD) == (int)cloexec);
    }
    struct rlimit limit;
    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    limit.rlim_cur = 6;
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    struct words words = {1, 0};
    CHECK(ioctl(fd, INSTALL, &words) == 0 && (int64_t)words.first == -EMFILE);
    CHECK(open("/dev/dri/renderD128", O_RDWR) == -1 && errno == EMFILE);
    CHECK(adds(fd, 1));
    return 0;
}
