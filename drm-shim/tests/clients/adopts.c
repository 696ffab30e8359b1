// A file that another thread puts at a number, without libc, while the library takes a descriptor of its own in under that
// number: the file stays the program's, and the library takes another number. A filter of system calls stops the thread
// at the library's first look at the number (seccomp_unotify(2)); where there is none, the program says so.
#include "stops.h"

#define SIZE (64 << 10)
#define LOW 100
#define HIGH 4096

static int file, fd;
static volatile int listener = -1, armed, at = -1;
static volatile char known[HIGH];

// Looks of the calling thread, and of those that it makes, at descriptors from LOW on wait for the listener.
static int listens(void) {
    struct sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fstat, 0, 4),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, LOW, 0, 2),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, HIGH, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    return filters(steps, sizeof steps / sizeof *steps);
}

static void *places(void *unused) {
    while (listener == -1)
        usleep(1000);
    for (;;) {
        struct seccomp_notif call = {0};
        if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call) != 0)
            continue;
        int number = call.data.args[0];
        if (armed && !known[number]) {
            armed = 0;
            CHECK(syscall(SYS_dup3, file, number, 0) == number);
            at = number;
        }
        struct seccomp_notif_resp answer = {.id = call.id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};
        CHECK(ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer) == 0);
    }
    return unused;
}

static void *asks(void *unused) {
    for (int i = 0; i < 3; i++)
        CHECK(adds(fd, i));
    char *map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    CHECK(map != MAP_FAILED && munmap(map, 4096) == 0);
    return unused;
}

// The program's file is where it was put, and as it was.
static void intact(void) {
    static char text[SIZE];
    struct stat mine, there;
    CHECK(!armed && at >= LOW);
    CHECK(fstat(file, &mine) == 0 && syscall(SYS_newfstatat, at, "", &there, AT_EMPTY_PATH) == 0);
    CHECK(mine.st_dev == there.st_dev && mine.st_ino == there.st_ino && mine.st_size == SIZE);
    CHECK(pread(at, text, SIZE, 0) == SIZE);
    for (int i = 0; i < SIZE; i++)
        CHECK(text[i] == 'x');
    CHECK(close(at) == 0);
    at = -1;
}

int main(void) {
    static char text[SIZE];
    memset(text, 'x', SIZE);
    file = memfd_create("the-program's", 0);
    CHECK(file >= 0 && write(file, text, SIZE) == SIZE);
    pthread_t placer, thread;
    CHECK(pthread_create(&placer, NULL, places, NULL) == 0);
    int number = listens();
    if (number < 0) {
        fprintf(stderr, "skipped: no filter of system calls: %s\n", strerror(errno));
        return 0;
    }
    // The connection of the process.
    armed = 1;
    listener = number;
    fd = node();
    intact();
    // Those of threads.
    for (int i = 0; i < 10; i++) {
        for (int other = LOW; other < HIGH; other++)
            known[other] = fcntl(other, F_GETFD) != -1;
        armed = 1;
        CHECK(pthread_create(&thread, NULL, asks, NULL) == 0 && pthread_join(thread, NULL) == 0);
        intact();
    }
    return 0;
}
