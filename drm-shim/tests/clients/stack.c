// How much of the stack calls take beyond libc's own use: a handler's stack (SIGSTKSZ) has 8192 bytes, and what lies below
// it is the program's.
#include "check.h"

#include <dlfcn.h>
#include <sys/xattr.h>
#include <ucontext.h>

typedef long function(long, long, long, long, long, long);

static char stack[1 << 17] __attribute__((aligned(4096)));
static ucontext_t caller, callee;
static function *called;
static long arguments[6], result;

static long nothing(long a, long b, long c, long d, long e, long f) {
    return a + b + c + d + e + f;
}

static void call(void) {
    long *a = arguments;
    result = called(a[0], a[1], a[2], a[3], a[4], a[5]);
}

static long used(function *what) {
    called = what;
    memset(stack, 0xa5, sizeof stack);
    CHECK(getcontext(&callee) == 0);
    callee.uc_stack = (stack_t){.ss_sp = stack, .ss_size = sizeof stack};
    callee.uc_link = &caller;
    makecontext(&callee, call, 0);
    CHECK(swapcontext(&caller, &callee) == 0);
    const char *lowest = stack;
    while (*lowest == (char)0xa5)
        lowest++;
    return stack + sizeof stack - lowest;
}

static char *text(const char *format, const char *name) {
    char *line;
    CHECK(asprintf(&line, format, name) > 0);
    return line;
}

// The call with these arguments: `most` bytes beyond libc's own use, or -1 where libc's own is not asked.
static void measure(long most, const char *name, const char *note, long a, long b, long c, long d, long e, long f) {
    static void *libc;
    if (!libc)
        CHECK((libc = dlopen("libc.so.6", RTLD_NOW)));
    function *shim = (function *)dlsym(RTLD_DEFAULT, name), *own = (function *)dlsym(libc, name);
    CHECK(shim && own && shim != own);
    memcpy(arguments, (long[]){a, b, c, d, e, f}, sizeof arguments);
    long none = used(nothing);
    // What is looked up once has been.
    used(shim);
    long its = used(shim) - none, told = result, plain = used(own) - none;
    printf("%-12s %-34s %6ld, libc %5ld: %ld\n", name, note, its, plain, told);
    if (its - plain > most) {
        fprintf(stderr, "%s %s: %ld bytes of stack, libc %ld\n", name, note, its, plain);
        exit(1);
    }
}

#define MEASURE(most, name, note, a, b, c, d, e, f)                                                       \
    measure(most, name, note, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

static char buffer[8192];

static void paths(long most, const char *path) {
    MEASURE(most, "open", path, path, O_RDONLY | O_CLOEXEC, 0, 0, 0, 0);
    close(result);
    MEASURE(most, "openat", path, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0, 0, 0);
    MEASURE(most, "stat", path, path, buffer, 0, 0, 0, 0);
    MEASURE(most, "lstat", path, path, buffer, 0, 0, 0, 0);
    MEASURE(most, "fstatat", path, AT_FDCWD, path, buffer, 0, 0, 0);
    MEASURE(most, "statx", path, AT_FDCWD, path, 0, STATX_BASIC_STATS, buffer, 0);
    MEASURE(most, "access", path, path, R_OK, 0, 0, 0, 0);
    MEASURE(most, "faccessat", path, AT_FDCWD, path, R_OK, 0, 0, 0);
    MEASURE(most, "readlink", path, path, buffer, sizeof buffer, 0, 0, 0);
    MEASURE(most, "readlinkat", path, AT_FDCWD, path, buffer, sizeof buffer, 0, 0);
    MEASURE(most, "realpath", path, path, buffer, 0, 0, 0, 0);
    MEASURE(most, "getxattr", path, path, "user.none", buffer, 8, 0, 0);
    MEASURE(most, "listxattr", path, path, buffer, sizeof buffer, 0, 0, 0);
    MEASURE(most, "opendir", path, path, 0, 0, 0, 0, 0);
    MEASURE(most, "fopen", path, path, "r", 0, 0, 0, 0);
}

int main(void) {
    const long little = 1024;
    const char *tree = getenv("CRESTLINE_TREE");
    CHECK(tree);
    const char *plain[] = {"/dev/null", "/sys/x", "/sys/class/x", "/etc/passwd", "/proc/self/exe", "x",
                           text("%s/x", tree), text("%s-x", tree)};
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        paths(little, plain[i]);
    int dev = open("/dev", O_RDONLY | O_DIRECTORY);
    // Looks what the directory is.
    MEASURE(2048, "openat", "null in /dev", dev, "null", O_RDONLY | O_CLOEXEC, 0, 0, 0);
    MEASURE(2048, "fstatat", "null in /dev", dev, "null", buffer, 0, 0, 0);
    MEASURE(little, "chdir", "/", "/", 0, 0, 0, 0, 0);
    MEASURE(little, "getcwd", "", buffer, sizeof buffer, 0, 0, 0, 0);

    int null = open("/dev/null", O_RDWR), pair[2];
    CHECK(null >= 0 && socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) == 0);
    MEASURE(little, "ioctl", "TCGETS of /dev/null", null, 0x5401, buffer, 0, 0, 0);
    MEASURE(little, "ioctl", "DRM_IOCTL_VERSION of /dev/null", null, 0xc0406400, buffer, 0, 0, 0);
    MEASURE(little, "fstat", "/dev/null", null, buffer, 0, 0, 0, 0);
    MEASURE(little, "dup2", "", null, 100, 0, 0, 0, 0);
    MEASURE(little, "dup3", "", null, 100, O_CLOEXEC, 0, 0, 0);
    MEASURE(little, "close", "", 100, 0, 0, 0, 0, 0);
    MEASURE(little, "close", "not open", 1000, 0, 0, 0, 0, 0);
    MEASURE(little, "close_range", "", 100, 200, 0, 0, 0, 0);
    MEASURE(little, "shutdown", "of /dev/null", null, SHUT_RDWR, 0, 0, 0, 0);
    MEASURE(little, "flistxattr", "/dev/null", null, buffer, 8, 0, 0, 0);
    MEASURE(little, "mmap", "", 0, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    MEASURE(little, "munmap", "", result, 4096, 0, 0, 0, 0);
    // Of a socket of packets the node is asked, what it is.
    MEASURE(3072, "fstat", "a socket", pair[0], buffer, 0, 0, 0, 0);
    MEASURE(3072, "ioctl", "DRM_IOCTL_VERSION of a socket", pair[0], 0xc0406400, buffer, 0, 0, 0);

    // The device's own.
    paths(3072, "/dev/dri/renderD128");
    paths(3072, "/sys/dev/char/226:128/device/vendor");
    paths(4096, "/sys/dev/char/226:128/device/missing");
    int fd = node();
    struct words words = {1, 2};
    MEASURE(little, "fstat", "the node", fd, buffer, 0, 0, 0, 0);
    MEASURE(20 * 1024, "ioctl", "the node", fd, ADD, &words, 0, 0, 0);
    MEASURE(3072, "mmap", "the node", 0, 4096, PROT_READ, MAP_SHARED, fd, 0);
    MEASURE(3072, "munmap", "the node", result, 4096, 0, 0, 0, 0);
    return 0;
}
