// A file that another thread puts at the library's number, without libc, between the library's look at the number and its
// mmap: the file's bytes are never shown, and nothing is written to it. A filter of system calls stops the mapping thread
// at its mmap (seccomp_unotify(2)); where there is none, the program says so.
#include "stops.h"

#define SIZE (64 << 10)
#define LOW 100

static int file, fd;
static volatile int listener = -1, armed, replaced = -1, saved;

// The calling thread's mappings of descriptors from LOW on wait for the listener.
static int listens(void) {
    struct sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 4),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[4])),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, LOW, 0, 2),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 1 << 16, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    return filters(steps, sizeof steps / sizeof *steps);
}

static void *replaces(void *unused) {
    while (listener == -1)
        usleep(1000);
    for (;;) {
        struct seccomp_notif call = {0};
        if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call) != 0)
            continue;
        if (armed) {
            armed = 0;
            replaced = call.data.args[4];
            saved = fcntl(replaced, F_DUPFD, 0);
            CHECK(syscall(SYS_dup3, file, replaced, 0) == replaced);
        }
        struct seccomp_notif_resp answer = {.id = call.id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};
        CHECK(ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer) == 0);
    }
    return unused;
}

// The library's file is back, and the program's is nowhere mapped and as it was.
static void restored(void) {
    CHECK(!armed && replaced >= LOW);
    CHECK(syscall(SYS_dup3, saved, replaced, 0) == replaced && close(saved) == 0);
    replaced = -1;
    static char text[SIZE];
    CHECK(pread(file, text, SIZE, 0) == SIZE);
    for (int i = 0; i < SIZE; i++)
        CHECK(text[i] == 'x');
    FILE *maps = fopen("/proc/self/maps", "r");
    CHECK(maps);
    while (fgets(text, sizeof text, maps))
        CHECK(!strstr(text, "the-program's"));
    fclose(maps);
}

int main(void) {
    static char text[SIZE];
    memset(text, 'x', SIZE);
    file = memfd_create("the-program's", 0);
    CHECK(file >= 0 && write(file, text, SIZE) == SIZE);
    fd = node();
    int both = PROT_READ | PROT_WRITE;
    char *map = mmap(NULL, 8192, both, MAP_SHARED, fd, 0x4000);
    CHECK(map != MAP_FAILED);
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, replaces, NULL) == 0);
    int number = listens();
    if (number < 0) {
        fprintf(stderr, "skipped: no filter of system calls: %s\n", strerror(errno));
        return 0;
    }
    listener = number;

    armed = 1;
    CHECK(mmap(NULL, 8192, both, MAP_SHARED, fd, 0x4000) == MAP_FAILED && errno == ENODEV);
    restored();

    // At a place that was free, and at places that were not: nobody else's mapping comes there.
    char *place = mmap(NULL, 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(place != MAP_FAILED && munmap(place, 8192) == 0);
    armed = 1;
    int fixed = MAP_SHARED | MAP_FIXED_NOREPLACE;
    CHECK(mmap(place, 8192, both, fixed, fd, 0x4000) == MAP_FAILED && errno == ENODEV);
    restored();
    CHECK(mmap(place, 8192, both, fixed, fd, 0x4000) == place);
    armed = 1;
    fixed = MAP_SHARED | MAP_FIXED;
    CHECK(mmap(place, 8192, both, fixed, fd, 0x4000) == MAP_FAILED && errno == ENODEV);
    restored();
    fixed = MAP_SHARED | MAP_FIXED_NOREPLACE;
    CHECK(mmap(place, 8192, both, fixed, fd, 0x4000) == MAP_FAILED && errno == EEXIST);
    fixed = MAP_SHARED | MAP_FIXED;
    CHECK(mmap(place, 8192, both, fixed, fd, 0x4000) == place && munmap(place, 8192) == 0);

    // A mapping that the node moves keeps what it shows.
    strcpy(map, "stays");
    armed = 1;
    struct words words = {(uintptr_t)map, (1ull << 32) + 0x8000};
    CHECK(ioctl(fd, MOVE, &words) == 0 && !strcmp(map, "stays"));
    strcpy(map, "written");
    restored();
    CHECK(ioctl(fd, MOVE, &words) == 0 && !strcmp(map, "other"));
    return 0;
}
