// No node: no device. The argument is the error that opening gives.
#include "check.h"

int main(int count, char **arguments) {
    CHECK(count == 2);
    int wanted = !strcmp(arguments[1], "ENOENT") ? ENOENT : ENODEV;
    CHECK(open("/dev/dri/renderD128", O_RDWR) == -1 && errno == wanted);
    CHECK(open("/dev/dri/card0", O_RDWR) == -1 && errno == wanted);
    struct stat stat_;
    int found = stat("/dev/dri/renderD128", &stat_);
    CHECK(wanted == ENOENT ? found == -1 && errno == ENOENT : found == 0);
    CHECK(stat("/dev/null", &stat_) == 0 && S_ISCHR(stat_.st_mode));
    return 0;
}
