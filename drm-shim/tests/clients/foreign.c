// Closing numbers that are not the program's while another thread has the library put a descriptor there, or move it away:
// nothing of the library's is lost. A filter of system calls stops the closing threads (seccomp_unotify(2)); where there is
// none, the program says so.
#include "stops.h"

#define FIRST 768
#define MOST 772
#define HIGH 4096

static volatile int listener = -1, begun, refused;
static volatile int call_number;

// Such calls on the library's numbers wait for the listener.
static int listens(int nr) {
    struct sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 4),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, FIRST, 0, 2),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, HIGH, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    return filters(steps, sizeof steps / sizeof *steps);
}

static void *closes(void *number) {
    if (close((int)(intptr_t)number) == -1 && errno == EBADF)
        __atomic_fetch_add(&refused, 1, __ATOMIC_SEQ_CST);
    return NULL;
}

static void *closes_all(void *unused) {
    CHECK(close_range(700, ~0u, 0) == 0);
    return unused;
}

static int file;

static void *places(void *unused) {
    for (int number = FIRST; number < FIRST + 40; number++)
        CHECK(dup2(file, number) == number);
    return unused;
}

static void *begins(void *unused) {
    int nr = call_number, number = listens(nr);
    if (number < 0) {
        fprintf(stderr, "skipped: no filter of system calls: %s\n", strerror(errno));
        exit(0);
    }
    pthread_t threads[MOST - FIRST];
    listener = number;
    while (!begun)
        usleep(1000);
    for (intptr_t i = FIRST; i < begun; i++)
        CHECK(pthread_create(&threads[i - FIRST], NULL, nr == SYS_close_range ? closes_all : closes, (void *)i) == 0);
    for (int i = FIRST; i < begun; i++)
        CHECK(pthread_join(threads[i - FIRST], NULL) == 0);
    return unused;
}

// Threads that close the numbers from FIRST to `end`: once each has been stopped at such a call, or is over.
static int stopped(pthread_t *closer, int nr, int end, uint64_t *ids) {
    int count = 0;
    call_number = nr, begun = 0, refused = 0, listener = -1;
    CHECK(pthread_create(closer, NULL, begins, NULL) == 0);
    while (listener == -1)
        usleep(1000);
    begun = end;
    while (count + refused < end - FIRST) {
        struct pollfd ready = {listener, POLLIN, 0};
        struct seccomp_notif call = {0};
        if (poll(&ready, 1, 1) == 1 && ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call) == 0)
            ids[count++] = call.id;
    }
    return count;
}

static void go_on(pthread_t closer, uint64_t *ids, int count) {
    for (int i = 0; i < count; i++) {
        struct seccomp_notif_resp answer = {.id = ids[i], .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};
        CHECK(ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer) == 0);
    }
    CHECK(pthread_join(closer, NULL) == 0);
    CHECK(syscall(SYS_close, listener) == 0);
}

static void works(int fd) {
    char *map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0x4000);
    CHECK(map != MAP_FAILED && munmap(map, 4096) == 0 && adds(fd, 1));
}

int main(void) {
    pthread_t closer;
    uint64_t ids[MOST - FIRST];
    // Nothing is there yet, and when the threads go on it is.
    int count = stopped(&closer, SYS_close, MOST, ids);
    int fd = node();
    go_on(closer, ids, count);
    works(fd);
    // The program's file comes to a number whose descriptor is being looked at.
    file = memfd_create("the-program's", 0);
    count = stopped(&closer, SYS_fstat, MOST, ids);
    for (int number = FIRST; number < MOST; number++)
        CHECK(dup2(file, number) == number);
    go_on(closer, ids, count);
    for (int number = FIRST; number < MOST; number++)
        close(number);
    works(fd);
    // A descriptor moves to where another thread is about to close all that is not the library's.
    count = stopped(&closer, SYS_close_range, FIRST + 1, ids);
    pthread_t placer;
    CHECK(pthread_create(&placer, NULL, places, NULL) == 0);
    // It waits for that, or is over soon.
    usleep(100000);
    go_on(closer, ids, count);
    CHECK(pthread_join(placer, NULL) == 0);
    works(fd);
    return 0;
}
