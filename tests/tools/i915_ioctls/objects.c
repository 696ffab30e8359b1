//Areas of i915_ioctls.c: objects, what is in them, mappings, domains, layouts, pictures.
#include "i915_ioctls.h"

static void created(const char *name, uint64_t size) {
    struct drm_i915_gem_create arg = {.size = size};
    int error = call(fd, DRM_IOCTL_I915_GEM_CREATE, &arg);
    tell(error, arg.size, "create.%s", name);
    if (!error)
        destroy(fd, arg.handle);
}

static int create_ext(uint64_t size, uint32_t flags, void *extensions) {
    struct drm_i915_gem_create_ext arg = {.size = size, .flags = flags, .extensions = (uintptr_t)extensions};
    int error = call(fd, DRM_IOCTL_I915_GEM_CREATE_EXT, &arg);
    if (!error)
        destroy(fd, arg.handle);
    return error;
}

static int advise(uint32_t handle, uint32_t advice, int *retained) {
    struct drm_i915_gem_madvise arg = {.handle = handle, .madv = advice, .retained = 77};
    int error = call(fd, DRM_IOCTL_I915_GEM_MADVISE, &arg);
    *retained = arg.retained;
    return error;
}

static int flink(int file, uint32_t handle, uint32_t *name) {
    struct drm_gem_flink arg = {.handle = handle};
    int error = call(file, DRM_IOCTL_GEM_FLINK, &arg);
    *name = arg.name;
    return error;
}

static int open_name(int file, uint32_t name, uint32_t *handle, uint64_t *size) {
    struct drm_gem_open arg = {.name = name};
    int error = call(file, DRM_IOCTL_GEM_OPEN, &arg);
    *handle = arg.handle;
    *size = arg.size;
    return error;
}

void area_object(void) {
    created("0", 0);
    created("1", 1);
    created("4095", 4095);
    created("4096", 4096);
    created("4097", 4097);
    created("65537", 65537);
    created("max", ~0ull);
    created("2^31_pages", 1ull << 43);
    created("wraps", ~0ull - 4000);
    uint32_t one = create(fd, 4096), two = create(fd, 4096);
    tell(0, one, "handle.first");
    tell(0, two, "handle.second");
    say(destroy(fd, one), "close");
    say(destroy(fd, one), "close.twice");
    say(destroy(fd, 0), "close.0");
    say(destroy(fd, 12345), "close.unknown");
    struct drm_gem_close pad = {.handle = two, .pad = 5};
    say(call(fd, DRM_IOCTL_GEM_CLOSE, &pad), "close.pad");
    two = create(fd, 4096);
    tell(0, two, "handle.again");
    destroy(fd, two);
    say(create_ext(4096, 0, NULL), "create_ext");
    say(create_ext(4096, 1, NULL), "create_ext.cpu_access");
    say(create_ext(4096, 2, NULL), "create_ext.flag1");
    say(create_ext(4096, 1u << 31, NULL), "create_ext.flag31");
    struct drm_i915_gem_memory_class_instance regions[2] = {{0, 0}, {1, 0}};
    struct drm_i915_gem_create_ext_memory_regions placed = {.num_regions = 1, .regions = (uintptr_t)regions};
    say(create_ext(4096, 0, &placed), "create_ext.system");
    placed.num_regions = 0;
    say(create_ext(4096, 0, &placed), "create_ext.no_region");
    placed.num_regions = 2;
    say(create_ext(4096, 0, &placed), "create_ext.two_regions");
    placed.num_regions = 1;
    placed.pad = 1;
    say(create_ext(4096, 0, &placed), "create_ext.pad");
    placed.pad = 0;
    placed.regions = 16;
    say(create_ext(4096, 0, &placed), "create_ext.regions_fault");
    placed.regions = (uintptr_t)&regions[1];
    say(create_ext(4096, 0, &placed), "create_ext.device_memory");
    struct drm_i915_gem_create_ext_protected_content protected = {.base = {.name = 1}};
    say(create_ext(4096, 0, &protected), "create_ext.protected");
    protected.flags = 1;
    say(create_ext(4096, 0, &protected), "create_ext.protected.flags");
    struct i915_user_extension unknown = {.name = 9};
    say(create_ext(4096, 0, &unknown), "create_ext.unknown");
    struct i915_user_extension pat = {.name = 2};
    say(create_ext(4096, 0, &pat), "create_ext.2");
    say(create_ext(4096, 0, (void *)16), "create_ext.fault");
    say(create_ext(0, 0, NULL), "create_ext.empty");
    int retained;
    uint32_t object = create(fd, 4096);
    int error = advise(object, I915_MADV_WILLNEED, &retained);
    tell(error, retained, "madvise.will_need");
    error = advise(object, 2, &retained);
    tell(error, retained, "madvise.2");
    error = advise(12345, I915_MADV_WILLNEED, &retained);
    tell(error, retained, "madvise.unknown");
    error = advise(object, I915_MADV_DONTNEED, &retained);
    tell(error, retained, "madvise.without_pages");
    error = advise(object, I915_MADV_WILLNEED, &retained);
    tell(error, retained, "madvise.without_pages.back");
    // The end of a batch.
    uint32_t word = 0x05000000;
    say(pwrite_at(fd, object, 0, &word, 4), "purged.pwrite");
    say(pread_at(fd, object, 0, &word, 4), "purged.pread");
    say(set_domain(fd, object, I915_GEM_DOMAIN_CPU, 0), "purged.set_domain.cpu");
    say(set_domain(fd, object, I915_GEM_DOMAIN_GTT, 0), "purged.set_domain.gtt");
    say(wait_for(fd, object, 0), "purged.wait");
    say(set_tiling(fd, object, I915_TILING_X, 512), "purged.set_tiling");
    struct drm_i915_gem_exec_object2 purged = {.handle = object};
    say(execute(fd, &purged, 1, 8, 0), "purged.execute");
    uint64_t offset;
    say(map_offset(fd, object, I915_MMAP_OFFSET_GTT, &offset), "purged.map_offset.gtt");
    say(map_offset(fd, object, I915_MMAP_OFFSET_WB, &offset), "purged.map_offset.wb");
    struct drm_i915_gem_mmap old = {.handle = object, .size = 4096};
    say(call(fd, DRM_IOCTL_I915_GEM_MMAP, &old), "purged.mmap");
    destroy(fd, object);
    object = create(fd, 4096);
    pwrite_at(fd, object, 0, &word, 4);
    error = advise(object, I915_MADV_DONTNEED, &retained);
    tell(error, retained, "madvise.with_pages");
    say(pwrite_at(fd, object, 0, &word, 4), "dont_need.pwrite");
    say(pread_at(fd, object, 0, &word, 4), "dont_need.pread");
    say(set_domain(fd, object, I915_GEM_DOMAIN_CPU, 0), "dont_need.set_domain");
    struct drm_i915_gem_exec_object2 unneeded = {.handle = object};
    say(execute(fd, &unneeded, 1, 8, 0), "dont_need.execute");
    error = advise(object, I915_MADV_WILLNEED, &retained);
    tell(error, retained, "madvise.with_pages.back");
    word = 0;
    pread_at(fd, object, 0, &word, 4);
    tell(0, word == 0x05000000, "madvise.kept");
    destroy(fd, object);

    object = create(card, 8192);
    uint32_t name, again, handle;
    uint64_t size;
    say(flink(card, object, &name), "flink");
    flink(card, object, &again);
    tell(0, name == again, "flink.same");
    say(flink(card, 12345, &again), "flink.unknown");
    say(flink(fd, create(fd, 4096), &again), "flink.render");
    say(open_name(card, name, &handle, &size), "open");
    tell(0, size, "open.size");
    tell(0, handle != object, "open.other_handle");
    int other = open_node("/dev/dri/card0");
    say(open_name(other, name, &again, &size), "open.file");
    tell(0, again, "open.file.handle");
    say(open_name(fd, name, &again, &size), "open.render");
    say(open_name(card, 0, &again, &size), "open.0");
    say(open_name(card, 99999, &again, &size), "open.unknown");
    destroy(card, object);
    say(open_name(other, name, &again, &size), "open.one_left");
    destroy(card, handle);
    close(other);
    say(open_name(card, name, &again, &size), "open.gone");

    static char page[8192] __attribute__((aligned(4096)));
    struct drm_i915_gem_userptr user = {.user_ptr = (uintptr_t)page, .user_size = 4096};
    error = call(fd, DRM_IOCTL_I915_GEM_USERPTR, &user);
    say(error, "userptr");
    if (!error)
        destroy(fd, user.handle);
    user = (struct drm_i915_gem_userptr){.user_ptr = (uintptr_t)page + 8, .user_size = 4096};
    say(call(fd, DRM_IOCTL_I915_GEM_USERPTR, &user), "userptr.unaligned");
    user = (struct drm_i915_gem_userptr){.user_ptr = (uintptr_t)page, .user_size = 0};
    say(call(fd, DRM_IOCTL_I915_GEM_USERPTR, &user), "userptr.empty");
    user = (struct drm_i915_gem_userptr){.user_ptr = (uintptr_t)page, .user_size = 4096, .flags = 4};
    say(call(fd, DRM_IOCTL_I915_GEM_USERPTR, &user), "userptr.flag2");
    user = (struct drm_i915_gem_userptr){.user_ptr = (uintptr_t)page, .user_size = 4096, .flags = 1};
    say(call(fd, DRM_IOCTL_I915_GEM_USERPTR, &user), "userptr.read_only");
}

void area_data(void) {
    static uint8_t bytes[16384], back[16384];
    for (unsigned i = 0; i < sizeof bytes; i++)
        bytes[i] = i * 7 + (i >> 8);
    uint32_t object = create(fd, 12288);
    say(pread_at(fd, object, 0, back, 12288), "new");
    tell(0, back[0] | back[5000] | back[12287], "new.value");
    say(pwrite_at(fd, object, 0, bytes, 12288), "pwrite");
    say(pread_at(fd, object, 0, back, 12288), "pread");
    tell(0, memcmp(bytes, back, 12288), "same");
    say(pwrite_at(fd, object, 4093, bytes, 7), "pwrite.crosses");
    say(pread_at(fd, object, 4090, back, 13), "pread.crosses");
    tell(0, memcmp(bytes, back + 3, 7), "crosses.same");
    say(pwrite_at(fd, object, 12288, bytes, 1), "pwrite.end");
    say(pwrite_at(fd, object, 12287, bytes, 2), "pwrite.beyond");
    say(pwrite_at(fd, object, ~0ull, bytes, 2), "pwrite.wraps");
    say(pwrite_at(fd, object, 0, bytes, ~0ull), "pwrite.huge");
    say(pwrite_at(fd, object, 99999, bytes, 0), "pwrite.nothing");
    say(pwrite_at(fd, 12345, 0, bytes, 0), "pwrite.unknown.nothing");
    say(pwrite_at(fd, 12345, 0, bytes, 4), "pwrite.unknown");
    say(pwrite_at(fd, object, 0, NULL, 4), "pwrite.null");
    say(pwrite_at(fd, object, 0, (void *)0xffff800000000000, 4), "pwrite.kernel");
    say(pwrite_at(fd, 12345, 0, (void *)0xffff800000000000, 4), "pwrite.unknown.kernel");
    say(pread_at(fd, object, 12288, back, 1), "pread.end");
    say(pread_at(fd, object, 12287, back, 2), "pread.beyond");
    say(pread_at(fd, object, ~0ull, back, 2), "pread.wraps");
    say(pread_at(fd, 12345, 0, back, 0), "pread.unknown.nothing");
    say(pread_at(fd, 12345, 0, back, 4), "pread.unknown");
    say(pread_at(fd, object, 0, NULL, 4), "pread.null");
    void *page = mmap(NULL, 4096, PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(page, bytes, 4096);
    say(pwrite_at(fd, object, 0, page, 4096), "pwrite.write_only");
    mprotect(page, 4096, PROT_READ);
    say(pread_at(fd, object, 0, page, 4096), "pread.read_only");
    mprotect(page, 4096, PROT_NONE);
    say(pwrite_at(fd, object, 0, page, 4096), "pwrite.no_access");
    void *zero = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap((char *)zero + 4096, 4096);
    memset(zero, 0x55, 4096);
    say(pwrite_at(fd, object, 0, zero, 8192), "pwrite.half");
    munmap(page, 4096);
    destroy(fd, object);
    for (int tiling = 1; tiling <= 2; tiling++) {
        object = create(fd, 65536);
        set_tiling(fd, object, tiling, 1024);
        say(pwrite_at(fd, object, 100, bytes, 9000), "tiled%d.pwrite", tiling);
        say(pread_at(fd, object, 100, back, 9000), "tiled%d.pread", tiling);
        tell(0, memcmp(bytes, back, 9000), "tiled%d.same", tiling);
        destroy(fd, object);
    }
}

static uint32_t pattern(unsigned i) {
    return i * 2654435761u;
}

static void mapped(const char *name, uint64_t flags) {
    uint32_t object = create(fd, 8192);
    uint64_t offset = 0;
    int error = map_offset(fd, object, flags, &offset);
    say(error, "offset.%s", name);
    if (error) {
        destroy(fd, object);
        return;
    }
    tell(0, offset % 4096, "offset.%s.aligned", name);
    uint64_t again;
    map_offset(fd, object, flags, &again);
    tell(0, again == offset, "offset.%s.same", name);
    void *whole = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);
    say(whole == MAP_FAILED ? errno : 0, "mmap.%s", name);
    void *more = mmap(NULL, 12288, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);
    say(more == MAP_FAILED ? errno : 0, "mmap.%s.beyond", name);
    void *inside = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset + 4096);
    say(inside == MAP_FAILED ? errno : 0, "mmap.%s.inside", name);
    void *first = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);
    say(first == MAP_FAILED ? errno : 0, "mmap.%s.part", name);
    void *private = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, offset);
    say(private == MAP_FAILED ? errno : 0, "mmap.%s.private", name);
    void *only = mmap(NULL, 8192, PROT_READ, MAP_SHARED, fd, offset);
    say(only == MAP_FAILED ? errno : 0, "mmap.%s.read", name);
    if (only != MAP_FAILED)
        say(mprotect(only, 8192, PROT_READ | PROT_WRITE) ? errno : 0, "mmap.%s.mprotect", name);
    int other = open_node("/dev/dri/renderD128");
    void *foreign = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, other, offset);
    say(foreign == MAP_FAILED ? errno : 0, "mmap.%s.other_file", name);
    close(other);
    if (whole != MAP_FAILED) {
        volatile uint32_t *words = whole;
        set_domain(fd, object, I915_GEM_DOMAIN_GTT, I915_GEM_DOMAIN_GTT);
        for (unsigned i = 0; i < 2048; i++)
            words[i] = pattern(i);
        static uint32_t back[2048];
        say(pread_at(fd, object, 0, back, 8192), "mmap.%s.pread", name);
        int wrong = 0;
        for (unsigned i = 0; i < 2048; i++)
            wrong += back[i] != pattern(i);
        tell(0, wrong, "mmap.%s.pread.wrong", name);
        uint32_t value = 0xabcd1234;
        pwrite_at(fd, object, 4100, &value, 4);
        set_domain(fd, object, I915_GEM_DOMAIN_GTT, 0);
        tell(0, words[1025] == value, "mmap.%s.pwrite", name);
        // A handle may go before its mapping.
        destroy(fd, object);
        words[3] = 5;
        tell(0, words[3], "mmap.%s.closed", name);
    }
}

void area_map(void) {
    mapped("gtt", I915_MMAP_OFFSET_GTT);
    mapped("wc", I915_MMAP_OFFSET_WC);
    mapped("wb", I915_MMAP_OFFSET_WB);
    mapped("uc", I915_MMAP_OFFSET_UC);
    mapped("fixed", I915_MMAP_OFFSET_FIXED);
    mapped("5", 5);
    uint64_t offset;
    say(map_offset(fd, 12345, I915_MMAP_OFFSET_GTT, &offset), "offset.unknown");
    say(map_offset(fd, 12345, 9, &offset), "offset.unknown.flags");
    say(map_offset(fd, 12345, I915_MMAP_OFFSET_FIXED, &offset), "offset.unknown.fixed");
    uint32_t object = create(fd, 8192);
    struct drm_i915_gem_mmap_offset padded = {.handle = object, .pad = 1, .flags = I915_MMAP_OFFSET_WB};
    say(call(fd, DRM_IOCTL_I915_GEM_MMAP_OFFSET, &padded), "offset.pad");
    struct i915_user_extension extension = {.name = 0};
    struct drm_i915_gem_mmap_offset extended = {.handle = object, .flags = I915_MMAP_OFFSET_WB, .extensions = (uintptr_t)&extension};
    say(call(fd, DRM_IOCTL_I915_GEM_MMAP_OFFSET, &extended), "offset.extension");
    extended.extensions = 16;
    say(call(fd, DRM_IOCTL_I915_GEM_MMAP_OFFSET, &extended), "offset.extension.fault");
    struct drm_i915_gem_mmap_gtt old_gtt = {.handle = object};
    say(call(fd, DRM_IOCTL_I915_GEM_MMAP_GTT, &old_gtt), "gtt");
    old_gtt.handle = 12345;
    say(call(fd, DRM_IOCTL_I915_GEM_MMAP_GTT, &old_gtt), "gtt.unknown");
    static const struct { const char *name; uint64_t offset, size, flags; } old[] = {
        {"whole", 0, 8192, 0}, {"part", 4096, 4096, 0}, {"beyond", 4096, 8192, 0}, {"end", 8192, 4096, 0}, {"nothing", 0, 0, 0},
        {"unaligned", 100, 4096, 0}, {"odd_size", 0, 100, 0}, {"wraps", ~0ull, 4096, 0}, {"wc", 0, 8192, I915_MMAP_WC},
        {"flag1", 0, 8192, 2},
    };
    for (unsigned i = 0; i < sizeof old / sizeof *old; i++) {
        struct drm_i915_gem_mmap arg = {.handle = object, .offset = old[i].offset, .size = old[i].size, .flags = old[i].flags};
        int error = call(fd, DRM_IOCTL_I915_GEM_MMAP, &arg);
        say(error, "mmap.%s", old[i].name);
        if (!error) {
            *(volatile uint32_t *)(uintptr_t)arg.addr_ptr = i;
            tell(0, *(volatile uint32_t *)(uintptr_t)arg.addr_ptr, "mmap.%s.value", old[i].name);
            say(munmap((void *)(uintptr_t)arg.addr_ptr, old[i].size) ? errno : 0, "mmap.%s.munmap", old[i].name);
        }
    }
    struct drm_i915_gem_mmap unknown = {.handle = 12345, .size = 4096};
    say(call(fd, DRM_IOCTL_I915_GEM_MMAP, &unknown), "mmap.unknown");
    void *nowhere = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
    say(nowhere == MAP_FAILED ? errno : 0, "node.0");
    nowhere = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 1ull << 45);
    say(nowhere == MAP_FAILED ? errno : 0, "node.far");
    destroy(fd, object);
    // The same words by each way.
    object = create(fd, 4096);
    volatile uint32_t *gtt = map(fd, object, I915_MMAP_OFFSET_GTT, 4096);
    volatile uint32_t *wb = map(fd, object, I915_MMAP_OFFSET_WB, 4096);
    volatile uint32_t *wc = map(fd, object, I915_MMAP_OFFSET_WC, 4096);
    if (gtt && wb && wc) {
        set_domain(fd, object, I915_GEM_DOMAIN_CPU, I915_GEM_DOMAIN_CPU);
        wb[10] = 0x1111;
        set_domain(fd, object, I915_GEM_DOMAIN_GTT, I915_GEM_DOMAIN_GTT);
        tell(0, gtt[10], "ways.gtt_sees_wb");
        gtt[11] = 0x2222;
        set_domain(fd, object, I915_GEM_DOMAIN_WC, I915_GEM_DOMAIN_WC);
        tell(0, wc[11], "ways.wc_sees_gtt");
        wc[12] = 0x3333;
        set_domain(fd, object, I915_GEM_DOMAIN_CPU, 0);
        tell(0, wb[12], "ways.wb_sees_wc");
        tell(0, wb[11], "ways.wb_sees_gtt");
    }
    destroy(fd, object);
}

void area_domain(void) {
    static const uint32_t domains[] = {0, 1, 2, 4, 8, 0x10, 0x20, 0x40, 0x80, 0x100, 0x41, 0xc0, 0x80000000};
    uint32_t object = create(fd, 4096);
    for (unsigned r = 0; r < sizeof domains / sizeof *domains; r++)
        for (unsigned w = 0; w < sizeof domains / sizeof *domains; w++)
            if (w == 0 || w == r || domains[w] == 1 || domains[w] == 0x40)
                say(set_domain(fd, object, domains[r], domains[w]), "set.%x.%x", domains[r], domains[w]);
    say(set_domain(fd, 12345, 1, 0), "unknown");
    say(set_domain(fd, 12345, 0, 0), "unknown.none");
    say(set_domain(fd, 12345, 2, 0), "unknown.render");
    struct drm_i915_gem_sw_finish finish = {.handle = object};
    say(call(fd, DRM_IOCTL_I915_GEM_SW_FINISH, &finish), "sw_finish");
    finish.handle = 12345;
    say(call(fd, DRM_IOCTL_I915_GEM_SW_FINISH, &finish), "sw_finish.unknown");
    for (uint32_t mode = 0; mode < 5; mode++) {
        struct drm_i915_gem_caching set = {.handle = object, .caching = mode}, get = {.handle = object};
        say(call(fd, DRM_IOCTL_I915_GEM_SET_CACHING, &set), "set_caching.%u", mode);
        int error = call(fd, DRM_IOCTL_I915_GEM_GET_CACHING, &get);
        tell(error, get.caching, "get_caching.%u", mode);
    }
    uint32_t fresh = create(fd, 4096);
    struct drm_i915_gem_caching get = {.handle = fresh};
    int error = call(fd, DRM_IOCTL_I915_GEM_GET_CACHING, &get);
    tell(error, get.caching, "get_caching.fresh");
    struct drm_i915_gem_caching none = {.handle = 12345, .caching = 0};
    say(call(fd, DRM_IOCTL_I915_GEM_SET_CACHING, &none), "set_caching.unknown");
    none.caching = 9;
    say(call(fd, DRM_IOCTL_I915_GEM_SET_CACHING, &none), "set_caching.unknown.9");
    say(call(fd, DRM_IOCTL_I915_GEM_GET_CACHING, &none), "get_caching.unknown");
    struct drm_i915_gem_busy busy = {.handle = object, .busy = 99};
    error = call(fd, DRM_IOCTL_I915_GEM_BUSY, &busy);
    tell(error, busy.busy, "busy.idle");
    busy.handle = 12345;
    say(call(fd, DRM_IOCTL_I915_GEM_BUSY, &busy), "busy.unknown");
    static const int64_t times[] = {0, 1, -1, 1000000000, INT64_MAX, INT64_MIN};
    for (unsigned i = 0; i < sizeof times / sizeof *times; i++) {
        struct drm_i915_gem_wait wait = {.bo_handle = object, .timeout_ns = times[i]};
        say(call(fd, DRM_IOCTL_I915_GEM_WAIT, &wait), "wait.idle.%u", i);
        tell(0, wait.timeout_ns > 0 ? 1 : wait.timeout_ns, "wait.idle.%u.left", i);
    }
    say(wait_for(fd, 12345, 0), "wait.unknown");
    struct drm_i915_gem_wait flags = {.bo_handle = object, .flags = 1};
    say(call(fd, DRM_IOCTL_I915_GEM_WAIT, &flags), "wait.flags");
    flags = (struct drm_i915_gem_wait){.bo_handle = 12345, .flags = 1};
    say(call(fd, DRM_IOCTL_I915_GEM_WAIT, &flags), "wait.unknown.flags");
    // Objects that a batch has used, and one that the blitter has written.
    uint32_t batch = end_batch(fd);
    struct drm_i915_gem_exec_object2 objects[2] = {{.handle = object}, {.handle = batch}};
    say(execute(fd, objects, 2, 8, 0), "used");
    say(wait_for(fd, object, -1), "used.wait");
    busy = (struct drm_i915_gem_busy){.handle = object};
    error = call(fd, DRM_IOCTL_I915_GEM_BUSY, &busy);
    tell(error, busy.busy, "used.busy");
    say(fill(fd, object, 128, 0, 0, 32, 32, 0x77, 0), "fill");
    uint32_t word;
    say(pread_at(fd, object, 4092, &word, 4), "fill.pread");
    tell(0, word, "fill.value");
    destroy(fd, object);
    destroy(fd, batch);
    destroy(fd, fresh);
}

static void tiling_of(const char *name, uint32_t handle) {
    struct drm_i915_gem_get_tiling get = {.handle = handle};
    int error = call(fd, DRM_IOCTL_I915_GEM_GET_TILING, &get);
    tell(error, get.tiling_mode, "%s.mode", name);
    tell(error, get.swizzle_mode, "%s.swizzle", name);
    tell(error, get.phys_swizzle_mode, "%s.phys_swizzle", name);
}

void area_tiling(void) {
    uint32_t object = create(fd, 1 << 20);
    tiling_of("fresh", object);
    static const uint32_t strides[] = {0, 1, 64, 128, 256, 384, 512, 513, 640, 1024, 4096, 8192, 16384, 32768, 65536, 131072, 262144, 0x80000000, 0xffffffff};
    for (uint32_t mode = 0; mode < 4; mode++)
        for (unsigned i = 0; i < sizeof strides / sizeof *strides; i++) {
            struct drm_i915_gem_set_tiling set = {.handle = object, .tiling_mode = mode, .stride = strides[i], .swizzle_mode = 9};
            int error = call(fd, DRM_IOCTL_I915_GEM_SET_TILING, &set);
            tell(error, set.stride, "set.%u.%x", mode, strides[i]);
            if (!error && i == 6)
                tell(0, set.swizzle_mode, "set.%u.%x.swizzle", mode, strides[i]);
        }
    set_tiling(fd, object, I915_TILING_X, 1024);
    tiling_of("x", object);
    set_tiling(fd, object, I915_TILING_Y, 1024);
    tiling_of("y", object);
    set_tiling(fd, object, I915_TILING_NONE, 0);
    tiling_of("none", object);
    say(set_tiling(fd, 12345, I915_TILING_X, 1024), "unknown");
    say(set_tiling(fd, 12345, 7, 1024), "unknown.mode");
    struct drm_i915_gem_get_tiling get = {.handle = 12345};
    say(call(fd, DRM_IOCTL_I915_GEM_GET_TILING, &get), "get.unknown");
    uint32_t small = create(fd, 4096);
    say(set_tiling(fd, small, I915_TILING_X, 512), "small.x");
    say(set_tiling(fd, small, I915_TILING_X, 8192), "small.x.wide");
    say(set_tiling(fd, small, I915_TILING_Y, 128), "small.y");
    destroy(fd, small);
    // What the processor sees in a tiled object: rows through the aperture, tiles past it.
    for (uint32_t mode = 1; mode <= 2; mode++) {
        uint32_t tiled = create(fd, 65536);
        set_tiling(fd, tiled, mode, 1024);
        uint32_t *gtt = map(fd, tiled, I915_MMAP_OFFSET_GTT, 65536), *wb = map(fd, tiled, I915_MMAP_OFFSET_WB, 65536);
        static uint32_t copy[16384];
        if (gtt && wb) {
            set_domain(fd, tiled, I915_GEM_DOMAIN_GTT, I915_GEM_DOMAIN_GTT);
            for (unsigned i = 0; i < 16384; i++)
                gtt[i] = pattern(i);
            set_domain(fd, tiled, I915_GEM_DOMAIN_CPU, I915_GEM_DOMAIN_CPU);
            tell(0, (long long)hash(wb, 65536), "mapped.%u.wb", mode);
            for (unsigned i = 0; i < 16384; i++)
                wb[i] = ~pattern(i);
            set_domain(fd, tiled, I915_GEM_DOMAIN_GTT, 0);
            memcpy(copy, gtt, 65536);
            tell(0, (long long)hash(copy, 65536), "mapped.%u.gtt", mode);
            pread_at(fd, tiled, 0, copy, 65536);
            tell(0, (long long)hash(copy, 65536), "mapped.%u.pread", mode);
            // Another layout: what is in memory stays.
            set_tiling(fd, tiled, I915_TILING_NONE, 0);
            set_domain(fd, tiled, I915_GEM_DOMAIN_GTT, 0);
            memcpy(copy, gtt, 65536);
            tell(0, (long long)hash(copy, 65536), "mapped.%u.linear", mode);
            set_tiling(fd, tiled, mode, 2048);
            set_domain(fd, tiled, I915_GEM_DOMAIN_GTT, 0);
            memcpy(copy, gtt, 65536);
            tell(0, (long long)hash(copy, 65536), "mapped.%u.wider", mode);
        }
        destroy(fd, tiled);
    }
    destroy(fd, object);
}

static void picture(const char *name, uint32_t handle, size_t size) {
    static uint8_t bytes[1 << 20];
    int error = pread_at(fd, handle, 0, bytes, size);
    tell(error, (long long)hash(bytes, size), "%s", name);
}

void area_draw(void) {
    for (int tiled = 0; tiled < 2; tiled++) {
        uint32_t target = create(fd, 256 << 10);
        if (tiled)
            set_tiling(fd, target, I915_TILING_X, 1024);
        int error = 0;
        for (unsigned i = 0; i < 64 && !error; i++)
            error = fill(fd, target, 1024, i * 3, i * 2, 256 - i * 4, 240 - i * 3, pattern(i), tiled);
        say(error, "fill.%d", tiled);
        picture(tiled ? "fill.1.picture" : "fill.0.picture", target, 256 << 10);
        uint32_t *gtt = map(fd, target, I915_MMAP_OFFSET_GTT, 256 << 10);
        if (gtt) {
            static uint32_t rows[256 * 256];
            set_domain(fd, target, I915_GEM_DOMAIN_GTT, 0);
            memcpy(rows, gtt, sizeof rows);
            tell(0, (long long)hash(rows, sizeof rows), "fill.%d.rows", tiled);
            munmap(gtt, 256 << 10);
        }
        destroy(fd, target);
    }
}

void area_large(void) {
    // More than the aperture; each way of looking at its ends.
    const uint64_t size = 272ull << 20;
    struct drm_i915_gem_create arg = {.size = size};
    int error = call(fd, DRM_IOCTL_I915_GEM_CREATE, &arg);
    say(error, "create");
    if (error)
        return;
    volatile uint32_t *gtt = map(fd, arg.handle, I915_MMAP_OFFSET_GTT, size);
    tell(0, gtt != NULL, "map");
    if (gtt) {
        gtt[0] = 1;
        gtt[size / 4 - 1] = 2;
        gtt[size / 8] = 3;
        tell(0, gtt[0] + gtt[size / 4 - 1] * 10 + gtt[size / 8] * 100, "gtt");
        uint32_t words[3];
        pread_at(fd, arg.handle, 0, &words[0], 4);
        pread_at(fd, arg.handle, size - 4, &words[1], 4);
        pread_at(fd, arg.handle, size / 2, &words[2], 4);
        tell(0, words[0] + words[1] * 10 + words[2] * 100, "pread");
    }
    say(destroy(fd, arg.handle), "close");
}
