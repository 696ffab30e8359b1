// Descriptors of the node: duplicates share one file, errno is left alone, polling finds nothing to read.
#include "check.h"

static uint64_t files(int fd) {
    struct words words = {0, 0};
    CHECK(ioctl(fd, COUNT, &words) == 0);
    return words.first;
}

int main(void) {
    errno = 42;
    int fd = node();
    CHECK(errno == 42 && fd == 3 && fcntl(fd, F_GETFD) == FD_CLOEXEC);
    CHECK(!(fcntl(fd, F_GETFL) & O_NONBLOCK));
    struct stat stat_;
    CHECK(fstat(fd, &stat_) == 0 && S_ISCHR(stat_.st_mode) && (stat_.st_mode & 0777) == 0666);
    CHECK(stat_.st_rdev == makedev(226, 128) && stat_.st_size == 0);
    struct statx statx_;
    CHECK(statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &statx_) == 0);
    CHECK(S_ISCHR(statx_.stx_mode) && statx_.stx_rdev_major == 226 && statx_.stx_rdev_minor == 128);
    CHECK(statx_.stx_ino == stat_.st_ino);
    memset(&stat_, 0, sizeof stat_);
    CHECK(fstatat(fd, "", &stat_, AT_EMPTY_PATH) == 0 && stat_.st_rdev == makedev(226, 128));
    CHECK(adds(fd, 1) && errno == 42);

    struct words words = {ENOSPC, 0};
    CHECK(ioctl(fd, FAIL, &words) == -1 && errno == ENOSPC);
    CHECK(ioctl(fd, REQUEST(0xff), &words) == -1 && errno == ENOTTY);
    CHECK(ioctl(fd, ADD, (void *)16) == -1 && errno == EFAULT);
    CHECK(adds(fd, 2));

    int copy = dup(fd), other = dup2(fd, 100), third = fcntl(fd, F_DUPFD_CLOEXEC, 50);
    CHECK(copy == 4 && other == 100 && third == 50 && files(fd) == 1);
    int primary = open64("/dev/dri/card0", O_RDONLY);
    CHECK(primary == 5 && files(fd) == 2 && fcntl(primary, F_GETFD) == 0);
    CHECK(fstat(primary, &stat_) == 0 && stat_.st_rdev == makedev(226, 0));
    CHECK(close(fd) == 0 && files(copy) == 2 && adds(other, 3) && adds(third, 4));
    struct pollfd poll_ = {copy, POLLIN, 0};
    CHECK(poll(&poll_, 1, 0) == 0);
    CHECK(close(copy) == 0 && close(other) == 0 && files(primary) == 2);
    CHECK(close(third) == 0 && files(primary) == 1);
    CHECK(ioctl(fd, ADD, &words) == -1 && errno == EBADF);

    // Not the node's: a socket of the same kind, a file, a number of another device.
    int pair[2];
    CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) == 0);
    CHECK(ioctl(pair[0], ADD, &words) == -1 && errno == ENOTTY);
    CHECK(fstat(pair[0], &stat_) == 0 && S_ISSOCK(stat_.st_mode));
    return 0;
}
