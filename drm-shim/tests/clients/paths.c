// Paths of the device, by every function that takes one.
#include "check.h"

#define DEVICE "/sys/dev/char/226:128/device"
#define REAL "/sys/devices/pci0000:00/0000:00:02.0"

static void is_node(const struct stat *stat_) {
    CHECK(S_ISCHR(stat_->st_mode) && stat_->st_rdev == makedev(226, 128));
}

int main(void) {
    struct stat a, b;
    CHECK(stat("/dev/dri/renderD128", &a) == 0);
    is_node(&a);
    CHECK(lstat("//dev/./dri/renderD128", &b) == 0);
    is_node(&b);
    CHECK(a.st_ino == b.st_ino && a.st_dev == b.st_dev);
    CHECK(lstat("/dev/dri/by-path/render", &b) == 0 && S_ISLNK(b.st_mode));
    CHECK(stat("/dev/dri/by-path/render", &b) == 0);
    is_node(&b);
    struct statx x;
    CHECK(statx(AT_FDCWD, "/dev/dri/card0", 0, STATX_BASIC_STATS, &x) == 0);
    CHECK(S_ISCHR(x.stx_mode) && x.stx_rdev_major == 226 && x.stx_rdev_minor == 0);
    CHECK(access("/dev/dri/renderD128", R_OK | W_OK) == 0);
    CHECK(euidaccess("/dev/dri/renderD128", R_OK) == 0);
    CHECK(faccessat(AT_FDCWD, DEVICE "/vendor", R_OK, 0) == 0);
    CHECK(stat(DEVICE "/drm", &b) == 0 && S_ISDIR(b.st_mode));

    int dir = open("/dev/dri", O_RDONLY | O_DIRECTORY);
    CHECK(dir >= 0 && fstatat(dir, "renderD128", &b, 0) == 0);
    is_node(&b);
    int fd = openat(dir, "renderD128", O_RDWR);
    CHECK(fd >= 0 && adds(fd, 5));
    char text[PATH_MAX];
    snprintf(text, sizeof text, "/proc/self/fd/%d", fd);
    char link_[64] = {0};
    CHECK(readlink(text, link_, sizeof link_) == 19 && !strcmp(link_, "/dev/dri/renderD128"));
    CHECK(open("/dev/dri/renderD128", O_RDWR | O_DIRECTORY) == -1 && errno == ENOTDIR);

    int root = open("/", O_PATH), sys = openat(root, "sys", O_PATH);
    CHECK(fstatat(root, "dev/dri/renderD128", &b, 0) == 0);
    is_node(&b);
    CHECK(faccessat(sys, "dev/char/226:128/device/vendor", R_OK, 0) == 0);

    int seen = 0;
    DIR *list = opendir("/dev/dri");
    CHECK(list);
    for (struct dirent *entry; (entry = readdir(list));)
        if (!strcmp(entry->d_name, "renderD128") || !strcmp(entry->d_name, "card0"))
            seen += entry->d_type == DT_CHR;
    CHECK(seen == 2 && closedir(list) == 0);
    struct dirent **names;
    CHECK(scandir("/dev/dri", &names, NULL, alphasort) == 5);

    CHECK(realpath(DEVICE, text) == text && !strcmp(text, REAL));
    char *made = canonicalize_file_name(DEVICE "/subsystem");
    CHECK(made && !strcmp(made, "/sys/bus/pci"));
    free(made);
    made = realpath("/dev/dri/by-path/render", NULL);
    CHECK(made && !strcmp(made, "/dev/dri/renderD128"));
    free(made);
    memset(link_, '#', sizeof link_);
    CHECK(readlink(DEVICE "/subsystem", link_, sizeof link_) == 16);
    CHECK(!memcmp(link_, "../../../bus/pci#", 17));

    FILE *file = fopen(REAL "/uevent", "r");
    CHECK(file && fgets(text, sizeof text, file) && !strcmp(text, "DRIVER=i915\n"));
    CHECK(fclose(file) == 0);
    fd = open(DEVICE "/vendor", O_RDONLY);
    CHECK(fd >= 0 && read(fd, text, 7) == 7 && !memcmp(text, "0x8086\n", 7));

    errno = 0;
    CHECK(open("/dev/dri/renderD129", O_RDWR) == -1 && errno == ENOENT);
    CHECK(open(DEVICE "/nothing", O_RDWR | O_CREAT, 0600) == -1 && errno == ENOENT);
    CHECK(access(DEVICE "/nothing", F_OK) == -1 && errno == ENOENT);
    CHECK(stat("/dev/dri2", &a) == -1 && errno == ENOENT);
    CHECK(stat("/dev/null", &a) == 0 && a.st_rdev == makedev(1, 3));
    const char *volatile none = NULL;
    CHECK(stat(none, &a) == -1 && errno == EFAULT);
    return 0;
}
