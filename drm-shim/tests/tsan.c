// Names that the Rust compiler's ThreadSanitizer calls and older runtimes of C compilers do not have (`cargo xtask sanitize thread`).
#include <string.h>

void *__tsan_memset(void *to, int byte, size_t len) {
    return memset(to, byte, len);
}

void *__tsan_memcpy(void *to, const void *from, size_t len) {
    return memcpy(to, from, len);
}

void *__tsan_memmove(void *to, const void *from, size_t len) {
    return memmove(to, from, len);
}
