// A file that another thread keeps putting at a low number, by dup2, and closes again, while the library takes in what the
// node sends: no file of the program is taken for graphics memory, none is closed under the program, and no call fails. A
// filter of system calls stops the asking thread where the library moves a descriptor up (seccomp_unotify(2)); where
// there is none, the program says so.
#include "stops.h"

#define SIZE (64 << 10)
#define LOW 100

static int file, fd;
static struct stat mine;
static volatile int listener = -1, wanted = -1, placed, tries, stops, opened;

// The library's duplications onto numbers from LOW on wait for the listener.
static int listens(void) {
    struct sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fcntl, 0, 5),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, F_DUPFD_CLOEXEC, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, LOW, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    return filters(steps, sizeof steps / sizeof *steps);
}

// The program's thread: its file at the number, looked at for a while, and closed.
static void *places(void *unused) {
    for (;;) {
        int number = wanted;
        if (number < 0) {
            usleep(100);
            continue;
        }
        CHECK(dup2(file, number) == number);
        placed = 1;
        for (int i = 0; i < 20; i++) {
            struct stat now;
            CHECK(fstat(number, &now) == 0);
            CHECK(now.st_dev == mine.st_dev && now.st_ino == mine.st_ino);
            usleep(500);
        }
        CHECK(close(number) == 0);
        tries++;
        wanted = -1;
    }
    return unused;
}

static void *stands_between(void *unused) {
    while (listener == -1)
        usleep(1000);
    for (;;) {
        struct seccomp_notif call = {0};
        if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call) != 0)
            continue;
        int number = call.data.args[0];
        stops++;
        // Not before: a dup2 that comes late would take the number that the node's file has got meanwhile.
        if (opened && wanted < 0 && number < LOW) {
            placed = 0;
            wanted = number;
            // A dup2 that waits for the library is not waited for.
            for (int i = 0; i < 30 && !placed; i++)
                usleep(1000);
        }
        struct seccomp_notif_resp answer = {.id = call.id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};
        CHECK(ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer) == 0);
    }
    return unused;
}

static void *asks(void *unused) {
    for (int i = 0; i < 3; i++)
        CHECK(adds(fd, i));
    return unused;
}

int main(void) {
    static char text[SIZE];
    memset(text, 'x', SIZE);
    file = memfd_create("the-program's", 0);
    CHECK(file >= 0 && write(file, text, SIZE) == SIZE && fstat(file, &mine) == 0);
    // Numbers below are the program's from the start.
    while (dup(file) < 16)
        ;
    pthread_t placer, between, thread;
    CHECK(pthread_create(&placer, NULL, places, NULL) == 0);
    CHECK(pthread_create(&between, NULL, stands_between, NULL) == 0);
    int number = listens();
    if (number < 0) {
        fprintf(stderr, "skipped: no filter of system calls: %s\n", strerror(errno));
        return 0;
    }
    listener = number;
    fd = node();
    char *map = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0x4000);
    CHECK(map != MAP_FAILED);
    memset(map, 'G', 8192);
    opened = 1;
    for (int i = 0; i < 10; i++)
        CHECK(pthread_create(&thread, NULL, asks, NULL) == 0 && pthread_join(thread, NULL) == 0);
    while (wanted >= 0)
        usleep(1000);
    CHECK(stops > 10 && tries > 0);
    CHECK(pread(file, text, SIZE, 0) == SIZE);
    for (int i = 0; i < SIZE; i++)
        CHECK(text[i] == 'x');
    return 0;
}
