// Threads map, move and unmap side by side, some over mappings of the node, and others have memory of their own: no move takes what is
// theirs, and what the node is told is what is there at the end, which is printed.
#include "check.h"

enum { MOVES = 400, PAGES = 4, LEN = PAGES * 4096, OWN = 8 };

static int fd;
static volatile int stop;
static const int both = PROT_READ | PROT_WRITE, fixed = MREMAP_MAYMOVE | MREMAP_FIXED;

static char *maps(void) {
    char *map = mmap(NULL, LEN, both, MAP_SHARED, fd, 0x4000);
    CHECK(map != MAP_FAILED);
    return map;
}

static void *moves(void *unused) {
    for (int i = 0; i < MOVES; i++) {
        char *room = i % 2 ? maps() : mmap(NULL, LEN, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        char *map = maps();
        CHECK(room != MAP_FAILED && mremap(map, LEN, LEN, fixed, room) == room);
        if (i == MOVES - 1) {
            char line[64];
            int len = sprintf(line, "%lx\n", (unsigned long)room);
            CHECK(write(1, line, len) == len);
        } else {
            CHECK(munmap(room, LEN) == 0);
        }
    }
    return unused;
}

static void *keeps(void *unused) {
    while (!stop) {
        char *own[OWN];
        for (int i = 0; i < OWN; i++) {
            own[i] = mmap(NULL, LEN, both, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            CHECK(own[i] != MAP_FAILED);
            memset(own[i], 0x11, LEN);
        }
        for (int i = 0; i < OWN; i++) {
            for (int at = 0; at < LEN; at += 4096)
                CHECK(own[i][at] == 0x11);
            CHECK(munmap(own[i], LEN) == 0);
        }
    }
    return unused;
}

int main(void) {
    pthread_t moving[3], keeping[2];
    fd = node();
    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&keeping[i], NULL, keeps, NULL) == 0);
    for (int i = 0; i < 3; i++)
        CHECK(pthread_create(&moving[i], NULL, moves, NULL) == 0);
    for (int i = 0; i < 3; i++)
        CHECK(pthread_join(moving[i], NULL) == 0);
    stop = 1;
    for (int i = 0; i < 2; i++)
        CHECK(pthread_join(keeping[i], NULL) == 0);
    return 0;
}
