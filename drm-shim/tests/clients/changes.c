// The program gives up its user, and the node ends its connection.
#include "check.h"

int main(void) {
    int fd = node();
    struct words words = {1, 2};
    CHECK(ioctl(fd, ADD, &words) == 0);
    CHECK(setuid(65534) == 0);
    CHECK(ioctl(fd, DIE, &words) == -1 && errno == ENODEV);
    CHECK(ioctl(fd, ADD, &words) == -1 && errno == ENODEV);
    return 0;
}
