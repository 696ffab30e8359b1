// Files that a program puts where the library keeps descriptors of its own: at any time, in any way, they stay the
// program's, and the node goes on. With an argument the system calls are made without libc, which the library cannot see.
#include "check.h"
#include <sys/syscall.h>

#define SIZE (64 << 10)
#define LOW 100

static int file, bare;
static struct stat mine;
static char taken[4096];

// Puts the file at each number that is open above those of the program; how many there were.
static int take(int way) {
    int count = 0;
    for (int fd = LOW; fd < 4096; fd++) {
        if (taken[fd] || fcntl(fd, F_GETFD) == -1)
            continue;
        int got = bare       ? (int)syscall(SYS_dup3, file, fd, 0)
                  : way == 0 ? dup2(file, fd)
                             : dup3(file, fd, O_CLOEXEC);
        CHECK(got == fd);
        taken[fd] = 1;
        count++;
        // Descriptors that have moved out of the way are the library's matter.
        if (!bare && count == 8)
            break;
    }
    return count;
}

static int is_mine(int fd) {
    struct stat now;
    return fstat(fd, &now) == 0 && now.st_dev == mine.st_dev && now.st_ino == mine.st_ino;
}

static void intact(void) {
    static char now[SIZE];
    CHECK(pread(file, now, SIZE, 0) == SIZE);
    for (int i = 0; i < SIZE; i++)
        CHECK(now[i] == 'x');
    CHECK(fstat(file, &mine) == 0 && mine.st_size == SIZE);
    for (int fd = LOW; fd < 4096; fd++)
        CHECK(!taken[fd] || is_mine(fd));
}

// The program's files there go again, by the program.
static void give(void) {
    for (int fd = LOW; fd < 4096; fd++)
        if (taken[fd]) {
            CHECK(close(fd) == 0);
            taken[fd] = 0;
        }
}

static void maps(int node_, const char *text) {
    char *map = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, node_, 0x4000);
    CHECK(map != MAP_FAILED);
    strcpy(map + 0x100, text);
    CHECK(munmap(map, 8192) == 0);
}

static volatile int stop;

static void *works(void *argument) {
    int fd = *(int *)argument;
    for (uint64_t i = 0; !stop; i++) {
        CHECK(adds(fd, i));
        maps(fd, "thread");
    }
    return NULL;
}

static void *waits(void *argument) {
    struct words words = {300, 0};
    CHECK(ioctl(*(int *)argument, WAIT, &words) == 0);
    CHECK(adds(*(int *)argument, 5));
    return NULL;
}

static volatile int hits;

static void handler(int number) {
    (void)number;
    int error = errno;
    for (int fd = LOW; fd < 1024; fd++)
        if (!taken[fd] && fcntl(fd, F_GETFD) != -1) {
            // Uses of that very descriptor are over by then.
            CHECK(dup2(file, fd) == fd);
            taken[fd] = 1;
            hits++;
            break;
        }
    errno = error;
}

static int without_libc(int fd) {
    CHECK(take(0) >= 3);
    for (int i = 0; i < 3; i++) {
        struct words words = {i, 77};
        int result = ioctl(fd, ADD, &words);
        CHECK((result == 0 && words.first == i + 1u) || (result == -1 && errno == ENODEV));
        void *map = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0x4000);
        CHECK(map == MAP_FAILED && errno == ENODEV);
        intact();
    }
    return 0;
}

int main(int count, char **arguments) {
    (void)arguments;
    bare = count > 1;
    FILE *stream = tmpfile();
    CHECK(stream);
    file = fileno(stream);
    static char text[SIZE];
    memset(text, 'x', SIZE);
    CHECK(write(file, text, SIZE) == SIZE && fstat(file, &mine) == 0);

    // Before the first open.
    for (int fd = 190; fd < 200; fd++)
        CHECK(dup2(file, fd) == fd);
    for (int fd = 760; fd < 790; fd++)
        CHECK(dup2(file, fd) == fd);
    int fd = node();
    maps(fd, "first");
    for (int other = 190; other < 790; other++)
        taken[other] = is_mine(other);
    intact();
    CHECK(taken[195] && taken[775] && adds(fd, 1));
    give();

    // Between open and mmap.
    if (bare)
        return without_libc(fd);
    CHECK(take(0) >= 3);
    maps(fd, "second");
    intact();
    CHECK(adds(fd, 2));
    give();

    // Between requests; the node moves a mapping afterwards.
    char *map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0x4000);
    CHECK(map != MAP_FAILED);
    for (int i = 0; i < 20; i++) {
        CHECK(take(i % 2) >= 3 && adds(fd, i));
        struct words words = {(uintptr_t)map, ((uint64_t)(i % 2) << 32) + 0x8000};
        CHECK(ioctl(fd, MOVE, &words) == 0 && !strcmp(map, i % 2 ? "other" : "this"));
        intact();
        give();
    }
    CHECK(munmap(map, 4096) == 0);

    // Closing them closes nothing.
    for (int other = LOW; other < 4096; other++)
        CHECK(close(other) == -1 && errno == EBADF);
    CHECK(close_range(LOW, ~0u, 0) == 0 && adds(fd, 3));
    closefrom(LOW);
    maps(fd, "third");

    // A child of vfork has copies: what it does to them is its own matter.
    pid_t child = vfork();
    if (child == 0) {
        for (int other = LOW; other < 4096; other++)
            if (fcntl(other, F_GETFD) != -1)
                dup2(file, other);
        _exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    maps(fd, "fourth");
    intact();
    CHECK(adds(fd, 4));

    // While another thread waits for an answer.
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, waits, &fd) == 0);
    usleep(100000);
    CHECK(take(0) >= 4);
    CHECK(pthread_join(thread, NULL) == 0);
    intact();
    give();

    // While others work.
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&threads[i], NULL, works, &fd) == 0);
    for (int i = 0; i < 100; i++) {
        take(i % 2);
        intact();
        give();
    }
    stop = 1;
    for (int i = 0; i < 2; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);

    // In handlers of signals.
    signal(SIGALRM, handler);
    struct itimerval often = {{0, 5000}, {0, 5000}};
    setitimer(ITIMER_REAL, &often, NULL);
    for (uint64_t i = 0; hits < 100; i++)
        CHECK(adds(fd, i));
    memset(&often, 0, sizeof often);
    setitimer(ITIMER_REAL, &often, NULL);
    intact();
    give();

    // A new thread, and a child, find everything as it was.
    stop = 0;
    child = fork();
    if (child == 0) {
        CHECK(adds(fd, 6));
        maps(fd, "child");
        CHECK(take(0) >= 3 && adds(fd, 7));
        maps(fd, "child");
        intact();
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    maps(fd, "last");
    intact();
    return 0;
}
