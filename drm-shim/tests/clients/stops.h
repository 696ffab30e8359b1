// A filter of system calls that stops a thread at chosen ones until another thread lets it go on (seccomp_unotify(2)).
#pragma once
#include "check.h"
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

// Puts the filter on the calling thread and those that it makes; the listener's descriptor, -1 where there is no such filter.
static inline int filters(struct sock_filter *steps, size_t count) {
    struct sock_fprog filter = {count, steps};
    CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &filter);
}
