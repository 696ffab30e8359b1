// What a kernel's i915 answers to requests, a line for each: `name: result`. Results are errno names and values; nothing that differs from run to run
// (addresses, times, numbers of processes) is printed, so that two drivers of one device can be compared by diff.
//   gcc -O2 -I/usr/include/libdrm -o i915_ioctls i915_ioctls.c i915_ioctls/*.c
//   i915_ioctls            all areas
//   i915_ioctls AREA...    some of them
// Needs libdrm-dev, and root for the cases of privileged callers.
#include "i915_ioctls/i915_ioctls.h"

static const struct { const char *name; void (*run)(void); } areas[] = {
    {"version", area_version}, {"param", area_param}, {"auth", area_auth}, {"object", area_object},
    {"data", area_data}, {"map", area_map}, {"domain", area_domain}, {"tiling", area_tiling},
    {"context", area_context}, {"exec", area_exec}, {"reloc", area_reloc}, {"pin", area_pin},
    {"engine", area_engine}, {"fence", area_fence}, {"syncobj", area_syncobj}, {"prime", area_prime},
    {"query", area_query}, {"other", area_other}, {"draw", area_draw}, {"large", area_large}, {"hang", area_hang},
};

int fd, card;
int generation;
uint32_t chipset;

int call(int file, unsigned long request, void *arg) {
    int ret;
    do
        ret = ioctl(file, request, arg);
    while (ret < 0 && (errno == EINTR || errno == EAGAIN));
    return ret < 0 ? errno : 0;
}

static const char *area;

static void name_of(const char *name, va_list args) {
    printf("%s.", area);
    vprintf(name, args);
    printf(": ");
}

static const char *error_name(int error) {
    static char number[32];
    const char *text = error ? strerrorname_np(error) : "ok";
    if (!text) {
        snprintf(number, sizeof number, "errno %d", error);
        text = number;
    }
    return text;
}

void say(int error, const char *name, ...) {
    va_list args;
    va_start(args, name);
    name_of(name, args);
    va_end(args);
    printf("%s\n", error_name(error));
    fflush(stdout);
}

void tell(int error, long long value, const char *name, ...) {
    va_list args;
    va_start(args, name);
    name_of(name, args);
    va_end(args);
    if (error)
        printf("%s\n", error_name(error));
    else
        printf("%lld\n", value);
    fflush(stdout);
}

void show(const char *text, const char *name, ...) {
    va_list args;
    va_start(args, name);
    name_of(name, args);
    va_end(args);
    printf("%s\n", text);
    fflush(stdout);
}

uint64_t hash(const void *bytes, size_t len) {
    const uint8_t *at = bytes;
    uint64_t sum = 0xcbf29ce484222325;
    for (size_t i = 0; i < len; i++)
        sum = (sum ^ at[i]) * 0x100000001b3;
    return sum;
}

int open_node(const char *path) {
    int file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0) {
        perror(path);
        exit(1);
    }
    return file;
}

int param(int which, int *value) {
    struct drm_i915_getparam get = {.param = which, .value = value};
    return call(fd, DRM_IOCTL_I915_GETPARAM, &get);
}

uint32_t create(int file, uint64_t size) {
    struct drm_i915_gem_create arg = {.size = size};
    int error = call(file, DRM_IOCTL_I915_GEM_CREATE, &arg);
    if (error) {
        fprintf(stderr, "GEM_CREATE of %llu: %s\n", (unsigned long long)size, strerror(error));
        exit(1);
    }
    return arg.handle;
}

int destroy(int file, uint32_t handle) {
    struct drm_gem_close arg = {.handle = handle};
    return call(file, DRM_IOCTL_GEM_CLOSE, &arg);
}

int pwrite_at(int file, uint32_t handle, uint64_t offset, const void *from, uint64_t size) {
    struct drm_i915_gem_pwrite arg = {.handle = handle, .offset = offset, .size = size, .data_ptr = (uintptr_t)from};
    return call(file, DRM_IOCTL_I915_GEM_PWRITE, &arg);
}

int pread_at(int file, uint32_t handle, uint64_t offset, void *to, uint64_t size) {
    struct drm_i915_gem_pread arg = {.handle = handle, .offset = offset, .size = size, .data_ptr = (uintptr_t)to};
    return call(file, DRM_IOCTL_I915_GEM_PREAD, &arg);
}

int set_domain(int file, uint32_t handle, uint32_t read, uint32_t write) {
    struct drm_i915_gem_set_domain arg = {.handle = handle, .read_domains = read, .write_domain = write};
    return call(file, DRM_IOCTL_I915_GEM_SET_DOMAIN, &arg);
}

int set_tiling(int file, uint32_t handle, uint32_t mode, uint32_t stride) {
    struct drm_i915_gem_set_tiling arg = {.handle = handle, .tiling_mode = mode, .stride = stride};
    return call(file, DRM_IOCTL_I915_GEM_SET_TILING, &arg);
}

int wait_for(int file, uint32_t handle, int64_t nanoseconds) {
    struct drm_i915_gem_wait arg = {.bo_handle = handle, .timeout_ns = nanoseconds};
    return call(file, DRM_IOCTL_I915_GEM_WAIT, &arg);
}

int map_offset(int file, uint32_t handle, uint64_t flags, uint64_t *offset) {
    struct drm_i915_gem_mmap_offset arg = {.handle = handle, .flags = flags};
    int error = call(file, DRM_IOCTL_I915_GEM_MMAP_OFFSET, &arg);
    *offset = arg.offset;
    return error;
}

void *map(int file, uint32_t handle, uint64_t flags, size_t size) {
    uint64_t offset;
    if (map_offset(file, handle, flags, &offset))
        return NULL;
    void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, offset);
    return at == MAP_FAILED ? NULL : at;
}

int execute(int file, struct drm_i915_gem_exec_object2 *objects, int count, uint32_t bytes, uint64_t flags) {
    struct drm_i915_gem_execbuffer2 arg = {
        .buffers_ptr = (uintptr_t)objects, .buffer_count = count, .batch_len = bytes, .flags = flags};
    return call(file, DRM_IOCTL_I915_GEM_EXECBUFFER2, &arg);
}

uint64_t blit_engine(void) {
    return generation >= 6 ? I915_EXEC_BLT : I915_EXEC_RENDER;
}

uint32_t end_batch(int file) {
    static const uint32_t end[2] = {0x05000000, 0};
    uint32_t handle = create(file, 4096);
    pwrite_at(file, handle, 0, end, sizeof end);
    return handle;
}

int fill(int file, uint32_t target, uint32_t pitch, uint32_t x, uint32_t y, uint32_t width, uint32_t height, uint32_t colour, int tiled) {
    uint32_t words[] = {
        2u << 29 | 0x50 << 22 | 1 << 21 | 1 << 20 | (tiled ? 1 << 11 : 0) | 4,
        3 << 24 | 0xf0 << 16 | (tiled ? pitch / 4 : pitch),
        y << 16 | x, (y + height) << 16 | (x + width), 0, colour, 0x05000000, 0};
    struct drm_i915_gem_relocation_entry entry = {
        .target_handle = target, .offset = 16, .read_domains = I915_GEM_DOMAIN_RENDER, .write_domain = I915_GEM_DOMAIN_RENDER,
        .presumed_offset = -1};
    uint32_t batch = create(file, 4096);
    pwrite_at(file, batch, 0, words, sizeof words);
    struct drm_i915_gem_exec_object2 objects[2] = {
        {.handle = target, .flags = EXEC_OBJECT_WRITE}, {.handle = batch, .relocation_count = 1, .relocs_ptr = (uintptr_t)&entry}};
    int error = execute(file, objects, 2, sizeof words, blit_engine());
    destroy(file, batch);
    return error;
}

static int wanted(const char *name, char **argv) {
    if (!*argv)
        return 1;
    for (; *argv; argv++)
        if (!strcmp(*argv, name))
            return 1;
    return 0;
}

int main(int argc, char **argv) {
    (void)argc;
    fd = open_node("/dev/dri/renderD128");
    card = open_node("/dev/dri/card0");
    int id = 0;
    if (param(I915_PARAM_CHIPSET_ID, &id)) {
        fprintf(stderr, "this is no i915\n");
        return 1;
    }
    chipset = id;
    generation = id == 0x0f31 ? 7 : id == 0x0126 || id == 0x0116 || id == 0x0102 ? 6 : id == 0x0042 || id == 0x0046 ? 5 : 4;
    for (unsigned i = 0; i < sizeof areas / sizeof *areas; i++) {
        area = areas[i].name;
        if (wanted(area, argv + 1))
            areas[i].run();
    }
    return 0;
}
