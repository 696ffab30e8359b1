// A program that closes whatever is open, then goes on.
#include "check.h"

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
    return 0;
}
