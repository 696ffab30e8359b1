// The working directory, extended attributes, paths that end in a slash, files whose contents change.
#include "check.h"
#include <sys/xattr.h>

#define CARD "/sys/devices/pci0000:00/0000:00:02.0/drm/card0"

static int refused(ssize_t result, int error) { return result == -1 && errno == error; }

int main(void) {
    char text[PATH_MAX];
    struct stat a;
    // As devtmpfs, sysfs and debugfs have it: none, and two errors for those that are not there.
    CHECK(listxattr("/dev/dri", text, sizeof text) == 0);
    CHECK(llistxattr("/sys/dev/char/226:128", NULL, 0) == 0);
    CHECK(refused(listxattr("/dev/dri/nothing", text, 9), ENOENT));
    CHECK(refused(getxattr("/dev/dri/card0", "system.posix_acl_access", text, 9), ENODATA));
    CHECK(refused(lgetxattr("/dev/dri/card0", "security.selinux", text, 9), ENODATA));
    CHECK(refused(getxattr(CARD "/uevent", "security.selinux", text, 9), ENODATA));
    CHECK(refused(getxattr(CARD "/uevent", "system.posix_acl_access", text, 9), EOPNOTSUPP));
    int fd = open("/dev/dri/renderD128", O_RDWR);
    CHECK(flistxattr(fd, text, sizeof text) == 0);
    CHECK(refused(fgetxattr(fd, "system.sockprotoname", text, sizeof text), EOPNOTSUPP));
    CHECK(refused(getxattr("/proc/self/exe/", "security.selinux", text, 9), ENOTDIR));

    CHECK(lstat("/sys/dev/char/226:0", &a) == 0 && S_ISLNK(a.st_mode));
    CHECK(lstat("/sys/dev/char/226:0/", &a) == 0 && S_ISDIR(a.st_mode));
    CHECK(lstat("/sys/dev/char/226:0/.", &a) == 0 && S_ISDIR(a.st_mode));
    CHECK(refused(lstat("/dev/dri/card0/", &a), ENOTDIR));
    CHECK(refused(open("/dev/dri/card0/", O_RDWR), ENOTDIR));

    // What the node hands out is opened, with the number and the flags that Linux gives it.
    int next = dup(0);
    CHECK(next >= 0 && close(next) == 0);
    fd = open(CARD "/error", O_RDONLY | O_NOFOLLOW);
    CHECK(fd == next && read(fd, text, sizeof text) == 10 && !memcmp(text, "the state\n", 10));
    CHECK(fcntl(fd, F_GETFD) == 0 && refused(write(fd, "1", 1), EBADF) && close(fd) == 0);
    FILE *file = fopen(CARD "/error", "re");
    CHECK(file && fgets(text, sizeof text, file) && !strcmp(text, "the state\n"));
    CHECK(fcntl(fileno(file), F_GETFD) == FD_CLOEXEC && fclose(file) == 0);
    fd = open(CARD "/error", O_RDWR | O_CLOEXEC);
    CHECK(fd == next && fcntl(fd, F_GETFD) == FD_CLOEXEC);
    CHECK(read(fd, text, 4) == 4 && write(fd, "2", 1) == 1 && close(fd) == 0);
    fd = open(CARD "/error", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    CHECK(fd >= 0 && write(fd, "1\n", 2) == 2 && close(fd) == 0);
    file = fopen(CARD "/error", "w");
    CHECK(file && fputs("1\n", file) >= 0 && fclose(file) == 0);
    CHECK(refused(open(CARD "/error", O_RDONLY | O_DIRECTORY), ENOTDIR));
    fd = dup(0);
    CHECK(fd == next && close(fd) == 0);
    fd = open(CARD "/error", O_PATH);
    CHECK(fd == next && close(fd) == 0);

    CHECK(chdir("/sys/dev/char/226:0") == 0);
    CHECK(getcwd(text, sizeof text) == text && !strcmp(text, CARD));
    CHECK(refused(getcwd(text, 5) ? 0 : -1, ERANGE));
    char *made = getcwd(NULL, 0);
    CHECK(made && !strcmp(made, CARD));
    free(made);
    CHECK(access("uevent", R_OK) == 0 && chdir("/dev/dri") == 0);
    CHECK(stat("renderD128", &a) == 0 && S_ISCHR(a.st_mode));
    fd = open("renderD128", O_RDWR);
    CHECK(fd >= 0 && adds(fd, 5));
    // A program that is started here is here too.
    pid_t child = fork();
    if (child == 0) {
        execlp("sh", "sh", "-c", "test -c card0 && test $(pwd -P) = /dev/dri", (char *)0);
        _exit(2);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    // Above is the system's.
    CHECK(chdir("..") == 0 && getcwd(text, sizeof text) && !strcmp(text, "/dev"));
    CHECK(stat("null", &a) == 0 && S_ISCHR(a.st_mode));
    int root = open("/", O_RDONLY);
    CHECK(fchdir(root) == 0 && getcwd(text, sizeof text) && !strcmp(text, "/"));
    CHECK(refused(chdir("/dev/dri/nothing"), ENOENT) && refused(chdir("/dev/dri/card0"), ENOTDIR));
    return 0;
}
