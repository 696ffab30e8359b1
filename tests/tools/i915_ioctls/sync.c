//Areas of i915_ioctls.c: fences, sync objects, dma-bufs.
#include "i915_ioctls.h"

typedef struct drm_i915_gem_exec_object2 Object;
typedef struct drm_i915_gem_execbuffer2 Exec;

// As <linux/sync_file.h> and <linux/dma-buf.h> have them.
struct sync_merge { char name[32]; int32_t fd2, fence; uint32_t flags, pad; };
struct sync_info { char name[32]; int32_t status; uint32_t flags, num_fences, pad; uint64_t sync_fence_info; };
#define SYNC_MERGE _IOWR('>', 3, struct sync_merge)
#define SYNC_INFO _IOWR('>', 4, struct sync_info)
struct buf_sync { uint64_t flags; };
#define BUF_SYNC _IOW('b', 0, struct buf_sync)
#define BUF_NAME _IOW('b', 1, uint64_t)
struct buf_fence { uint32_t flags; int32_t fd; };
#define BUF_EXPORT _IOWR('b', 2, struct buf_fence)
#define BUF_IMPORT _IOW('b', 3, struct buf_fence)

static int fenced(uint64_t flags, uint64_t in, int *out, uint32_t batch) {
    Object objects[1] = {{.handle = batch}};
    Exec arg = {.buffers_ptr = (uintptr_t)objects, .buffer_count = 1, .batch_len = 8, .flags = flags, .rsvd2 = in};
    int error = call(fd, DRM_IOCTL_I915_GEM_EXECBUFFER2_WR, &arg);
    *out = arg.rsvd2 >> 32;
    return error;
}

static int ready(int file, int milliseconds) {
    struct pollfd look = {.fd = file, .events = POLLIN};
    int count = poll(&look, 1, milliseconds);
    return count == 1 ? look.revents : count;
}

void area_fence(void) {
    uint32_t batch = end_batch(fd);
    int out = -1, none;
    say(fenced(I915_EXEC_FENCE_OUT, 0, &out, batch), "out");
    tell(0, out > 2, "out.descriptor");
    tell(0, ready(out, 5000), "out.poll");
    tell(0, fcntl(out, F_GETFD) == FD_CLOEXEC, "out.close_on_exec");
    struct sync_info info = {0};
    int error = call(out, SYNC_INFO, &info);
    tell(error, info.status, "out.status");
    tell(error, info.num_fences, "out.fences");
    info = (struct sync_info){.flags = 1};
    say(call(out, SYNC_INFO, &info), "out.info.flags");
    info = (struct sync_info){.pad = 1};
    say(call(out, SYNC_INFO, &info), "out.info.pad");
    say(fenced(I915_EXEC_FENCE_IN, out, &none, batch), "in");
    say(fenced(I915_EXEC_FENCE_IN, 9999, &none, batch), "in.unknown");
    say(fenced(I915_EXEC_FENCE_IN, fd, &none, batch), "in.node");
    say(fenced(I915_EXEC_FENCE_IN, 0xffffffff, &none, batch), "in.negative");
    say(fenced(I915_EXEC_FENCE_SUBMIT, out, &none, batch), "submit");
    say(fenced(I915_EXEC_FENCE_SUBMIT, 9999, &none, batch), "submit.unknown");
    say(fenced(I915_EXEC_FENCE_SUBMIT | I915_EXEC_FENCE_IN, out, &none, batch), "submit.in");
    say(fenced(I915_EXEC_FENCE_IN | I915_EXEC_FENCE_OUT, out, &none, batch), "in_out");
    tell(0, ready(none, 5000), "in_out.poll");
    struct sync_merge merge = {.name = "both", .fd2 = none};
    say(call(out, SYNC_MERGE, &merge), "merge");
    tell(0, ready(merge.fence, 5000), "merge.poll");
    struct sync_merge wrong = {.fd2 = 9999};
    say(call(out, SYNC_MERGE, &wrong), "merge.unknown");
    wrong = (struct sync_merge){.fd2 = none, .flags = 1};
    say(call(out, SYNC_MERGE, &wrong), "merge.flags");
    wrong = (struct sync_merge){.fd2 = none, .pad = 1};
    say(call(out, SYNC_MERGE, &wrong), "merge.pad");
    say(call(out, _IO('>', 9), NULL), "unknown_ioctl");
    char byte;
    tell(read(out, &byte, 1) < 0 ? errno : 0, 0, "read");
    close(merge.fence);
    close(none);
    close(out);
    // Without the flag no descriptor comes.
    Object objects[1] = {{.handle = batch}};
    Exec plain = {.buffers_ptr = (uintptr_t)objects, .buffer_count = 1, .batch_len = 8, .rsvd2 = 0x77};
    say(call(fd, DRM_IOCTL_I915_GEM_EXECBUFFER2_WR, &plain), "plain");
    // Arrays of sync objects.
    struct drm_syncobj_create sync = {0};
    call(fd, DRM_IOCTL_SYNCOBJ_CREATE, &sync);
    static struct drm_i915_gem_exec_fence fence;
    static const struct { const char *name; uint32_t handle, flags; uint64_t count; uint32_t rectangles; int pointer; } arrays[] = {
        {"signal", 0, I915_EXEC_FENCE_SIGNAL, 0, 1, 0}, {"wait", 0, I915_EXEC_FENCE_WAIT, 0, 1, 0}, {"both", 0, 3, 0, 1, 0}, {"flag2", 0, 4, 0, 1, 0},
        {"none", 0, 0, 0, 1, 0}, {"unknown", 12345, 1, 0, 1, 0}, {"empty", 0, 1, 0, 0, 0}, {"fault", 0, 1, 0, 1, 16},
        {"many", 0, 1, 0, 0x10000000, 0}, {"max", 0, 1, 0, 0xffffffff, 0},
    };
    for (unsigned i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        fence.flags = arrays[i].flags;
        fence.handle = arrays[i].handle ? arrays[i].handle : sync.handle;
        Exec arg = {.buffers_ptr = (uintptr_t)objects, .buffer_count = 1, .batch_len = 8, .flags = I915_EXEC_FENCE_ARRAY,
            .num_cliprects = arrays[i].rectangles, .cliprects_ptr = arrays[i].pointer ? 16 : (uintptr_t)&fence};
        say(call(fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &arg), "array.%s", arrays[i].name);
    }
    struct drm_syncobj_create fresh = {0};
    call(fd, DRM_IOCTL_SYNCOBJ_CREATE, &fresh);
    fence = (struct drm_i915_gem_exec_fence){.handle = fresh.handle, .flags = I915_EXEC_FENCE_WAIT};
    Exec arg = {.buffers_ptr = (uintptr_t)objects, .buffer_count = 1, .batch_len = 8, .flags = I915_EXEC_FENCE_ARRAY, .num_cliprects = 1, .cliprects_ptr = (uintptr_t)&fence};
    say(call(fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &arg), "array.wait.unsubmitted");
    // Timelines.
    struct drm_i915_gem_execbuffer_ext_timeline_fences lines = {.base = {.name = DRM_I915_GEM_EXECBUFFER_EXT_TIMELINE_FENCES}, .fence_count = 1, .handles_ptr = (uintptr_t)&fence};
    uint64_t point = 5;
    lines.values_ptr = (uintptr_t)&point;
    fence = (struct drm_i915_gem_exec_fence){.handle = fresh.handle, .flags = I915_EXEC_FENCE_SIGNAL};
    Exec timed = {.buffers_ptr = (uintptr_t)objects, .buffer_count = 1, .batch_len = 8, .flags = I915_EXEC_USE_EXTENSIONS, .cliprects_ptr = (uintptr_t)&lines};
    say(call(fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &timed), "timeline.signal");
    wait_for(fd, batch, -1);
    struct drm_syncobj_timeline_array query = {.handles = (uintptr_t)&fresh.handle, .points = (uintptr_t)&point, .count_handles = 1};
    error = call(fd, DRM_IOCTL_SYNCOBJ_QUERY, &query);
    tell(error, point, "timeline.point");
    point = 5;
    say(call(fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &timed), "timeline.again");
    point = 0;
    say(call(fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &timed), "timeline.0");
    point = 9;
    fence.flags = I915_EXEC_FENCE_WAIT;
    say(call(fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &timed), "timeline.wait.unsubmitted");
    lines.base.flags = 1;
    say(call(fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &timed), "timeline.flags");
    lines.base.flags = 0;
    lines.base.name = 7;
    say(call(fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &timed), "extension.unknown");
    lines.base.name = 0;
    timed.num_cliprects = 1;
    say(call(fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &timed), "extension.cliprects");
    timed.num_cliprects = 0;
    timed.flags |= I915_EXEC_FENCE_ARRAY;
    say(call(fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &timed), "extension.array");
    struct drm_syncobj_destroy gone = {.handle = fresh.handle};
    call(fd, DRM_IOCTL_SYNCOBJ_DESTROY, &gone);
    gone.handle = sync.handle;
    call(fd, DRM_IOCTL_SYNCOBJ_DESTROY, &gone);
    destroy(fd, batch);
}

static uint32_t new_sync(uint32_t flags) {
    struct drm_syncobj_create arg = {.flags = flags};
    return call(fd, DRM_IOCTL_SYNCOBJ_CREATE, &arg) ? 0 : arg.handle;
}

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000ll + time.tv_nsec;
}

static int wait_sync(uint32_t *handles, uint32_t count, int64_t until, uint32_t flags, uint32_t *first) {
    struct drm_syncobj_wait arg = {.handles = (uintptr_t)handles, .timeout_nsec = until, .count_handles = count, .flags = flags};
    int error = call(fd, DRM_IOCTL_SYNCOBJ_WAIT, &arg);
    *first = arg.first_signaled;
    return error;
}

static int array(unsigned long request, uint32_t *handles, uint32_t count, uint32_t pad) {
    struct drm_syncobj_array arg = {.handles = (uintptr_t)handles, .count_handles = count, .pad = pad};
    return call(fd, request, &arg);
}

static int wait_line(uint32_t *handles, uint64_t *points, uint32_t count, uint32_t flags) {
    struct drm_syncobj_timeline_wait arg = {.handles = (uintptr_t)handles, .points = (uintptr_t)points, .count_handles = count, .flags = flags};
    return call(fd, DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT, &arg);
}

void area_syncobj(void) {
    uint32_t first;
    struct drm_syncobj_create made = {.flags = 2};
    say(call(fd, DRM_IOCTL_SYNCOBJ_CREATE, &made), "create.flag1");
    uint32_t one = new_sync(0), two = new_sync(DRM_SYNCOBJ_CREATE_SIGNALED), both[2] = {one, two};
    tell(0, two - one, "create.handles");
    say(wait_sync(&one, 1, 0, 0, &first), "wait.fresh");
    say(wait_sync(&one, 1, 0, DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT, &first), "wait.fresh.for_submit");
    say(wait_sync(&one, 1, now() + 10000000, DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT, &first), "wait.fresh.for_submit.later");
    int error = wait_sync(&two, 1, 0, 0, &first);
    tell(error, first, "wait.signalled");
    say(wait_sync(both, 2, 0, 0, &first), "wait.both");
    error = wait_sync(both, 2, 0, DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT, &first);
    tell(error, first, "wait.any");
    say(wait_sync(both, 2, 0, DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT | DRM_SYNCOBJ_WAIT_FLAGS_WAIT_ALL, &first), "wait.all");
    say(wait_sync(both, 0, 0, 0, &first), "wait.none");
    say(wait_sync(both, 2, 0, 8, &first), "wait.flag3");
    say(wait_sync(both, 2, 0, 4, &first), "wait.available");
    uint32_t unknown = 12345;
    say(wait_sync(&unknown, 1, 0, 0, &first), "wait.unknown");
    say(wait_sync((uint32_t *)16, 1, 0, 0, &first), "wait.fault");
    struct drm_syncobj_wait padded = {.handles = (uintptr_t)&two, .count_handles = 1, .pad = 1};
    say(call(fd, DRM_IOCTL_SYNCOBJ_WAIT, &padded), "wait.pad");
    say(array(DRM_IOCTL_SYNCOBJ_SIGNAL, &one, 1, 0), "signal");
    error = wait_sync(both, 2, 0, DRM_SYNCOBJ_WAIT_FLAGS_WAIT_ALL, &first);
    tell(error, first, "signal.wait.all");
    say(array(DRM_IOCTL_SYNCOBJ_RESET, both, 2, 0), "reset");
    say(wait_sync(&two, 1, 0, 0, &first), "reset.wait");
    say(array(DRM_IOCTL_SYNCOBJ_SIGNAL, both, 0, 0), "signal.none");
    say(array(DRM_IOCTL_SYNCOBJ_SIGNAL, both, 2, 1), "signal.pad");
    say(array(DRM_IOCTL_SYNCOBJ_SIGNAL, &unknown, 1, 0), "signal.unknown");
    say(array(DRM_IOCTL_SYNCOBJ_RESET, both, 0, 0), "reset.none");
    say(array(DRM_IOCTL_SYNCOBJ_RESET, &unknown, 1, 0), "reset.unknown");
    say(array(DRM_IOCTL_SYNCOBJ_RESET, (uint32_t *)16, 1, 0), "reset.fault");
    // Descriptors.
    struct drm_syncobj_handle handle = {.handle = one};
    say(call(fd, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &handle), "export");
    int shared = handle.fd;
    tell(0, fcntl(shared, F_GETFD) == FD_CLOEXEC, "export.close_on_exec");
    handle = (struct drm_syncobj_handle){.fd = shared};
    say(call(fd, DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, &handle), "import");
    uint32_t same = handle.handle;
    tell(0, same != one, "import.other_handle");
    array(DRM_IOCTL_SYNCOBJ_SIGNAL, &one, 1, 0);
    say(wait_sync(&same, 1, 0, 0, &first), "import.signalled");
    handle = (struct drm_syncobj_handle){.fd = fd};
    say(call(fd, DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, &handle), "import.node");
    handle = (struct drm_syncobj_handle){.fd = 9999};
    say(call(fd, DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, &handle), "import.unknown");
    handle = (struct drm_syncobj_handle){.handle = 12345};
    say(call(fd, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &handle), "export.unknown");
    handle = (struct drm_syncobj_handle){.handle = one, .pad = 1};
    say(call(fd, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &handle), "export.pad");
    handle = (struct drm_syncobj_handle){.handle = one, .flags = 2};
    say(call(fd, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &handle), "export.flag1");
    handle = (struct drm_syncobj_handle){.handle = one, .flags = 1};
    say(call(fd, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &handle), "export.sync_file");
    int file = handle.fd;
    tell(0, ready(file, 100), "export.sync_file.poll");
    handle = (struct drm_syncobj_handle){.handle = two, .flags = 1};
    say(call(fd, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &handle), "export.sync_file.empty");
    handle = (struct drm_syncobj_handle){.handle = 12345, .flags = 1};
    say(call(fd, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &handle), "export.sync_file.unknown");
    handle = (struct drm_syncobj_handle){.handle = two, .fd = file, .flags = 1};
    say(call(fd, DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, &handle), "import.sync_file");
    say(wait_sync(&two, 1, 0, 0, &first), "import.sync_file.wait");
    handle = (struct drm_syncobj_handle){.handle = two, .fd = shared, .flags = 1};
    say(call(fd, DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, &handle), "import.sync_file.syncobj");
    handle = (struct drm_syncobj_handle){.handle = 12345, .fd = file, .flags = 1};
    say(call(fd, DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, &handle), "import.sync_file.handle");
    handle = (struct drm_syncobj_handle){.fd = file};
    say(call(fd, DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, &handle), "import.of_sync_file");
    close(file);
    close(shared);
    // Timelines.
    uint32_t line = new_sync(0);
    uint64_t point = 3;
    struct drm_syncobj_timeline_array points = {.handles = (uintptr_t)&line, .points = (uintptr_t)&point, .count_handles = 1};
    say(call(fd, DRM_IOCTL_SYNCOBJ_TIMELINE_SIGNAL, &points), "line.signal");
    point = 99;
    error = call(fd, DRM_IOCTL_SYNCOBJ_QUERY, &points);
    tell(error, point, "line.query");
    for (uint64_t at = 0; at < 6; at++)
        say(wait_line(&line, &at, 1, 0), "line.wait.%llu", (unsigned long long)at);
    uint64_t later = 9;
    say(wait_line(&line, &later, 1, DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT), "line.wait.for_submit");
    say(wait_line(&line, &later, 1, DRM_SYNCOBJ_WAIT_FLAGS_WAIT_AVAILABLE), "line.wait.available");
    say(wait_line(&line, &later, 1, 8), "line.wait.flag3");
    say(wait_line(&line, &later, 0, 0), "line.wait.none");
    say(wait_line(&line, NULL, 1, 0), "line.wait.null");
    point = 7;
    call(fd, DRM_IOCTL_SYNCOBJ_TIMELINE_SIGNAL, &points);
    point = 5;
    say(call(fd, DRM_IOCTL_SYNCOBJ_TIMELINE_SIGNAL, &points), "line.signal.backwards");
    error = call(fd, DRM_IOCTL_SYNCOBJ_QUERY, &points);
    tell(error, point, "line.query.backwards");
    points.flags = DRM_SYNCOBJ_QUERY_FLAGS_LAST_SUBMITTED;
    error = call(fd, DRM_IOCTL_SYNCOBJ_QUERY, &points);
    tell(error, point, "line.query.submitted");
    points.flags = 2;
    say(call(fd, DRM_IOCTL_SYNCOBJ_QUERY, &points), "line.query.flag1");
    say(call(fd, DRM_IOCTL_SYNCOBJ_TIMELINE_SIGNAL, &points), "line.signal.flags");
    points.flags = 0;
    points.count_handles = 0;
    say(call(fd, DRM_IOCTL_SYNCOBJ_QUERY, &points), "line.query.none");
    say(call(fd, DRM_IOCTL_SYNCOBJ_TIMELINE_SIGNAL, &points), "line.signal.none");
    points.count_handles = 1;
    points.points = 16;
    say(call(fd, DRM_IOCTL_SYNCOBJ_QUERY, &points), "line.query.fault");
    say(call(fd, DRM_IOCTL_SYNCOBJ_TIMELINE_SIGNAL, &points), "line.signal.fault");
    points.points = (uintptr_t)&point;
    points.handles = (uintptr_t)&one;
    point = 99;
    error = call(fd, DRM_IOCTL_SYNCOBJ_QUERY, &points);
    tell(error, point, "line.query.binary");
    struct drm_syncobj_transfer transfer = {.src_handle = line, .dst_handle = one, .src_point = 7};
    say(call(fd, DRM_IOCTL_SYNCOBJ_TRANSFER, &transfer), "transfer");
    transfer.src_point = 20;
    say(call(fd, DRM_IOCTL_SYNCOBJ_TRANSFER, &transfer), "transfer.later");
    transfer = (struct drm_syncobj_transfer){.src_handle = one, .dst_handle = line, .dst_point = 12};
    say(call(fd, DRM_IOCTL_SYNCOBJ_TRANSFER, &transfer), "transfer.to_line");
    points.handles = (uintptr_t)&line;
    error = call(fd, DRM_IOCTL_SYNCOBJ_QUERY, &points);
    tell(error, point, "transfer.query");
    transfer.pad = 1;
    say(call(fd, DRM_IOCTL_SYNCOBJ_TRANSFER, &transfer), "transfer.pad");
    transfer = (struct drm_syncobj_transfer){.src_handle = 12345, .dst_handle = line};
    say(call(fd, DRM_IOCTL_SYNCOBJ_TRANSFER, &transfer), "transfer.from_unknown");
    transfer = (struct drm_syncobj_transfer){.src_handle = one, .dst_handle = 12345};
    say(call(fd, DRM_IOCTL_SYNCOBJ_TRANSFER, &transfer), "transfer.to_unknown");
    struct drm_syncobj_destroy gone = {.handle = one, .pad = 1};
    say(call(fd, DRM_IOCTL_SYNCOBJ_DESTROY, &gone), "destroy.pad");
    gone.pad = 0;
    say(call(fd, DRM_IOCTL_SYNCOBJ_DESTROY, &gone), "destroy");
    say(call(fd, DRM_IOCTL_SYNCOBJ_DESTROY, &gone), "destroy.twice");
    gone.handle = 0;
    say(call(fd, DRM_IOCTL_SYNCOBJ_DESTROY, &gone), "destroy.0");
}

static int export_object(int file, uint32_t object, uint32_t flags, int *descriptor) {
    struct drm_prime_handle arg = {.handle = object, .flags = flags, .fd = -1};
    int error = call(file, DRM_IOCTL_PRIME_HANDLE_TO_FD, &arg);
    *descriptor = arg.fd;
    return error;
}

static int import_object(int file, int descriptor, uint32_t *object) {
    struct drm_prime_handle arg = {.fd = descriptor};
    int error = call(file, DRM_IOCTL_PRIME_FD_TO_HANDLE, &arg);
    *object = arg.handle;
    return error;
}

void area_prime(void) {
    uint32_t object = create(fd, 8192), handle;
    uint32_t value = 0x600dcafe;
    pwrite_at(fd, object, 4096, &value, 4);
    int buf, second;
    say(export_object(fd, object, DRM_CLOEXEC | DRM_RDWR, &buf), "export");
    tell(0, fcntl(buf, F_GETFD) == FD_CLOEXEC, "export.close_on_exec");
    tell(0, fcntl(buf, F_GETFL) & O_ACCMODE, "export.access");
    say(export_object(fd, object, 0, &second), "export.read_only");
    tell(0, fcntl(second, F_GETFD), "export.inherited");
    tell(0, fcntl(second, F_GETFL) & O_ACCMODE, "export.read_only.access");
    struct stat a, b;
    fstat(buf, &a);
    fstat(second, &b);
    tell(0, a.st_ino == b.st_ino, "export.same_file");
    tell(0, a.st_size, "export.size");
    close(second);
    static const uint32_t flags[] = {1, 4, 0x800, 0x80000000};
    for (unsigned i = 0; i < sizeof flags / sizeof *flags; i++) {
        say(export_object(fd, object, flags[i], &second), "export.flag.%x", flags[i]);
    }
    say(export_object(fd, 12345, 0, &second), "export.unknown");
    say(import_object(fd, buf, &handle), "import");
    tell(0, handle == object, "import.same_handle");
    int other = open_node("/dev/dri/renderD128");
    uint32_t foreign, again;
    say(import_object(other, buf, &foreign), "import.file");
    import_object(other, buf, &again);
    tell(0, foreign == again, "import.file.same_handle");
    value = 0;
    pread_at(other, foreign, 4096, &value, 4);
    tell(0, value == 0x600dcafe, "import.file.value");
    say(export_object(other, foreign, DRM_CLOEXEC, &second), "export.again");
    fstat(second, &b);
    tell(0, a.st_ino == b.st_ino, "export.again.same_file");
    close(second);
    say(import_object(fd, 9999, &handle), "import.unknown");
    say(import_object(fd, fd, &handle), "import.node");
    say(import_object(fd, -1, &handle), "import.negative");
    static const struct { const char *name; int64_t offset; int whence; } seeks[] = {
        {"end", 0, SEEK_END}, {"start", 0, SEEK_SET}, {"current", 0, SEEK_CUR}, {"set4096", 4096, SEEK_SET}, {"end-1", -1, SEEK_END}, {"data", 0, SEEK_DATA},
        {"hole", 0, SEEK_HOLE},
    };
    for (unsigned i = 0; i < sizeof seeks / sizeof *seeks; i++) {
        int64_t at = lseek(buf, seeks[i].offset, seeks[i].whence);
        tell(at < 0 ? errno : 0, at, "lseek.%s", seeks[i].name);
    }
    char byte = 0;
    say(read(buf, &byte, 1) < 0 ? errno : 0, "read");
    say(write(buf, &byte, 1) < 0 ? errno : 0, "write");
    say(ftruncate(buf, 4096) < 0 ? errno : 0, "ftruncate");
    struct pollfd look = {.fd = buf, .events = POLLIN | POLLOUT};
    tell(0, poll(&look, 1, 100) == 1 ? look.revents : -1, "poll");
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", buf);
    int reopened = open(path, O_RDWR);
    say(reopened < 0 ? errno : 0, "reopen");
    if (reopened >= 0)
        close(reopened);
    uint32_t *at = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, buf, 0);
    say(at == MAP_FAILED ? errno : 0, "mmap");
    static const uint64_t syncs[] = {1, 2, 3, 4, 5, 7, 0, 8, 0x10};
    for (unsigned i = 0; i < sizeof syncs / sizeof *syncs; i++) {
        struct buf_sync sync = {syncs[i]};
        say(call(buf, BUF_SYNC, &sync), "sync.%llx", (unsigned long long)syncs[i]);
    }
    if (at != MAP_FAILED) {
        tell(0, at[1024] == 0x600dcafe, "mmap.value");
        at[1025] = 0x1234;
        value = 0;
        pread_at(fd, object, 4100, &value, 4);
        tell(0, value, "mmap.pread");
        munmap(at, 8192);
    }
    at = mmap(NULL, 12288, PROT_READ, MAP_SHARED, buf, 0);
    say(at == MAP_FAILED ? errno : 0, "mmap.beyond");
    at = mmap(NULL, 4096, PROT_READ, MAP_SHARED, buf, 4096);
    say(at == MAP_FAILED ? errno : 0, "mmap.inside");
    at = mmap(NULL, 4096, PROT_READ, MAP_SHARED, buf, 8192);
    say(at == MAP_FAILED ? errno : 0, "mmap.end");
    export_object(fd, object, 0, &second);
    at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, second, 0);
    say(at == MAP_FAILED ? errno : 0, "mmap.read_only.write");
    close(second);
    say(call(buf, BUF_NAME, "a name"), "name");
    say(call(buf, BUF_NAME, (void *)16), "name.fault");
    say(call(buf, BUF_NAME, "a name that is longer than thirty-two bytes"), "name.long");
    for (unsigned flag = 0; flag < 5; flag++) {
        struct buf_fence fence = {.flags = flag, .fd = -1};
        int error = call(buf, BUF_EXPORT, &fence);
        say(error, "export_sync_file.%u", flag);
        if (!error)
            close(fence.fd);
    }
    struct buf_fence import = {.flags = 1, .fd = -1};
    say(call(buf, BUF_IMPORT, &import), "import_sync_file.negative");
    import.flags = 0;
    say(call(buf, BUF_IMPORT, &import), "import_sync_file.no_flag");
    say(call(buf, _IO('b', 9), NULL), "unknown_ioctl");
    // A descriptor keeps what handles give up.
    destroy(fd, object);
    destroy(other, foreign);
    say(import_object(other, buf, &foreign), "import.kept");
    value = 0;
    pread_at(other, foreign, 4096, &value, 4);
    tell(0, value == 0x600dcafe, "import.kept.value");
    close(buf);
    close(other);
}
