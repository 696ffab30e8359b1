// Two devices of one node: paths, numbers, memories and descriptors of each, also in a child.
#include "check.h"

static const struct {
    const char *render, *card, *link, *real, *vendor, *id;
} devices[2] = {
    {"/dev/dri/renderD128", "/dev/dri/card0", "/sys/dev/char/226:128/device",
     "/sys/devices/pci0000:00/0000:00:02.0", "/sys/dev/char/226:0/device/vendor", "0x2a02\n"},
    {"/dev/dri/renderD129", "/dev/dri/card1", "/sys/dev/char/226:129/device",
     "/sys/devices/pci0001:00/0001:00:02.0", "/sys/dev/char/226:1/device/vendor", "0x0042\n"},
};

static dev_t number(int fd) {
    struct stat stat_;
    CHECK(fstat(fd, &stat_) == 0 && S_ISCHR(stat_.st_mode));
    return stat_.st_rdev;
}

// Each device's memory at one offset of its node.
static void fill(int fds[2], char text) {
    for (int i = 0; i < 2; i++) {
        // The fake node has the memories of a device one behind the other.
        off_t offset = 0x4000 + ((off_t)i << 33);
        char *map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fds[i], offset);
        CHECK(map != MAP_FAILED);
        memset(map, text + i, 4096);
        CHECK(munmap(map, 4096) == 0);
    }
}

int main(int count, char **arguments) {
    int fds[2];
    struct stat a, b;
    if (count == 3) {
        for (int i = 0; i < 2; i++) {
            int fd = atoi(arguments[1 + i]);
            CHECK(number(fd) == makedev(226, 128 + i) && adds(fd, i));
        }
        return 0;
    }
    for (int i = 0; i < 2; i++) {
        char text[PATH_MAX] = {0};
        CHECK(stat(devices[i].render, &a) == 0 && a.st_rdev == makedev(226, 128 + i));
        CHECK(stat(devices[i].card, &b) == 0 && b.st_rdev == makedev(226, i));
        CHECK(a.st_ino != b.st_ino && access(devices[i].vendor, R_OK) == 0);
        CHECK(realpath(devices[i].link, text) == text && !strcmp(text, devices[i].real));
        strcat(text, "/device");
        FILE *file = fopen(text, "r");
        CHECK(file && fgets(text, sizeof text, file) && !strcmp(text, devices[i].id));
        CHECK(fclose(file) == 0);
        int card = open(devices[i].card, O_RDWR | O_CLOEXEC);
        CHECK(card >= 0 && number(card) == makedev(226, i) && close(card) == 0);
        fds[i] = open(devices[i].render, O_RDWR | O_CLOEXEC);
        CHECK(fds[i] >= 0 && number(fds[i]) == makedev(226, 128 + i) && adds(fds[i], i));
        int copy = dup(fds[i]);
        CHECK(number(copy) == makedev(226, 128 + i) && adds(copy, i) && close(copy) == 0);
        snprintf(text, sizeof text, "/proc/self/fd/%d", fds[i]);
        char link_[64] = {0};
        CHECK(readlink(text, link_, sizeof link_) == 19 && !strcmp(link_, devices[i].render));
    }
    // A device that the node does not have.
    CHECK(open("/dev/dri/card2", O_RDWR) == -1 && errno == ENOENT);
    CHECK(access("/sys/devices/pci0002:00/0002:00:02.0", F_OK) == -1 && errno == ENOENT);
    int seen = 0;
    DIR *list = opendir("/dev/dri");
    for (struct dirent *entry; list && (entry = readdir(list));)
        seen += entry->d_type == DT_CHR;
    CHECK(seen == 4 && closedir(list) == 0);

    // Another error file for each.
    for (int i = 0; i < 2; i++) {
        char text[PATH_MAX];
        snprintf(text, sizeof text, "/sys/dev/char/226:%d/error", i);
        int fd = open(text, O_WRONLY);
        CHECK(fd >= 0 && dprintf(fd, "clear %d\n", i) > 0 && close(fd) == 0);
    }

    fill(fds, 'a');
    pid_t child = fork();
    if (child == 0) {
        for (int i = 0; i < 2; i++)
            CHECK(number(fds[i]) == makedev(226, 128 + i) && adds(fds[i], 7));
        fill(fds, 'k');
        exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    // Another program finds them, and knows nothing of them but what the node says.
    char first[16], second[16];
    CHECK(fcntl(fds[0], F_SETFD, 0) == 0 && fcntl(fds[1], F_SETFD, 0) == 0);
    snprintf(first, sizeof first, "%d", fds[0]);
    snprintf(second, sizeof second, "%d", fds[1]);
    execl("/proc/self/exe", arguments[0], first, second, NULL);
    CHECK(!"exec");
}
