// A descriptor of the node that a program finds when it starts, and one that comes by a socket.
#include "check.h"

static void is_node(int fd) {
    struct stat stat_;
    CHECK(fstat(fd, &stat_) == 0 && S_ISCHR(stat_.st_mode) && stat_.st_rdev == makedev(226, 128));
    CHECK(adds(fd, 1));
    CHECK(mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0) != MAP_FAILED);
}

int main(int count, char **arguments) {
    if (count > 1) {
        is_node(atoi(arguments[1]));
        // The other side of a socket that was inherited too.
        char byte, space[CMSG_SPACE(sizeof(int))];
        struct iovec part = {&byte, 1};
        struct msghdr message = {
            .msg_iov = &part, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof space};
        CHECK(recvmsg(atoi(arguments[2]), &message, 0) == 1);
        int fd;
        memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof fd);
        is_node(fd);
        return 0;
    }
    int fd = open("/dev/dri/renderD128", O_RDWR), pair[2];
    CHECK(fd >= 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
    char byte = 0, space[CMSG_SPACE(sizeof(int))] = {0};
    struct iovec part = {&byte, 1};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof space};
    struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
    *rights = (struct cmsghdr){CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
    memcpy(CMSG_DATA(rights), &fd, sizeof fd);
    CHECK(sendmsg(pair[0], &message, 0) == 1);
    char number[16], other[16];
    snprintf(number, sizeof number, "%d", fd);
    snprintf(other, sizeof other, "%d", pair[1]);
    execl("/proc/self/exe", arguments[0], number, other, NULL);
    CHECK(!"exec");
}
