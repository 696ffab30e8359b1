// A program that closes whatever is open, then goes on.
#include "check.h"
#include <sys/syscall.h>

int main(void) {
    CHECK(adds(node(), 1));
    for (int fd = 3; fd < 1024; fd++)
        close(fd);
    int fd = node();
    CHECK(fd == 3 && adds(fd, 2));
    closefrom(3);
    fd = node();
    CHECK(fd == 3 && adds(fd, 3));
    CHECK(close_range(3, ~0u, 0) == 0);
    fd = node();
    CHECK(fd == 3 && adds(fd, 4));
    CHECK(mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0) != MAP_FAILED);

    // The library's descriptors have gone behind its back: files of the program's at their numbers can be closed.
    int own[64], count = 0;
    for (int number = 100; number < 4096 && count < 64; number++)
        if (fcntl(number, F_GETFD) != -1)
            own[count++] = number;
    CHECK(count >= 3 && syscall(SYS_close_range, 100, ~0u, 0) == 0);
    for (int i = 0; i < count; i++)
        CHECK(fcntl(STDOUT_FILENO, F_DUPFD, own[i]) == own[i]);
    for (int i = 0; i < count; i += 2)
        CHECK(close(own[i]) == 0 && fcntl(own[i], F_GETFD) == -1);
    CHECK(close_range(100, ~0u, 0) == 0);
    for (int i = 0; i < count; i++)
        CHECK(fcntl(own[i], F_GETFD) == -1);
    return 0;
}
