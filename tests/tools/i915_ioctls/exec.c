//Areas of i915_ioctls.c: batches, relocations, places, engines, and a batch that hangs.
#include "i915_ioctls.h"

typedef struct drm_i915_gem_exec_object2 Object;
typedef struct drm_i915_gem_execbuffer2 Exec;
typedef struct drm_i915_gem_relocation_entry Reloc;

static int submit(Exec *arg) {
    return call(fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, arg);
}

void area_exec(void) {
    uint32_t batch = end_batch(fd), object = create(fd, 4096);
    // Far from the end of addresses, so that long lists do not reach it.
    static Object one[1];
    Object two[2] = {{.handle = object}, {.handle = batch}};
    one[0].handle = batch;
    Exec plain = {.buffers_ptr = (uintptr_t)one, .buffer_count = 1, .batch_len = 8}, arg;
    say(submit(&plain), "plain");
#define WITH(...) (arg = plain, __VA_ARGS__, submit(&arg))
    say(WITH(arg.buffer_count = 0), "no_buffer");
    say(WITH(arg.buffer_count = 0xffffffff), "buffers.max");
    say(WITH(arg.buffer_count = 0x10000000), "buffers.many");
    say(WITH(arg.buffers_ptr = 0), "buffers.null");
    say(WITH(arg.buffers_ptr = 0xffff800000000000), "buffers.kernel");
    say(WITH(arg.batch_len = 0), "length.0");
    say(WITH(arg.batch_len = 4), "length.4");
    say(WITH(arg.batch_len = 12), "length.12");
    say(WITH(arg.batch_len = 4096), "length.4096");
    say(WITH(arg.batch_len = 4104), "length.beyond");
    say(WITH(arg.batch_start_offset = 4), "start.4");
    say(WITH(arg.batch_start_offset = 8, arg.batch_len = 4096), "start.beyond");
    say(WITH(arg.batch_start_offset = 4096), "start.end");
    say(WITH(arg.batch_start_offset = 0xfffffff8), "start.wraps");
    say(WITH(arg.DR1 = 1), "dr1");
    say(WITH(arg.DR4 = 1), "dr4");
    say(WITH(arg.DR4 = 0xffffffff), "dr4.all");
    say(WITH(arg.num_cliprects = 1), "cliprects");
    say(WITH(arg.cliprects_ptr = 1), "cliprects.pointer");
    say(WITH(arg.rsvd1 = 9999), "context.unknown");
    say(WITH(arg.rsvd1 = 1ull << 32), "context.upper");
    say(WITH(arg.rsvd2 = 5), "rsvd2");
    for (int ring = 0; ring < 8; ring++)
        say(WITH(arg.flags = ring), "ring.%d", ring);
    for (int bit = 6; bit < 64; bit++) {
        // Fences and the array of fences have an area of their own.
        if (bit == 16 || bit == 17 || bit == 19 || bit == 20 || bit == 21)
            continue;
        say(WITH(arg.flags = 1ull << bit), "flag.%d", bit);
    }
    say(WITH(arg.flags = I915_EXEC_CONSTANTS_ABSOLUTE), "constants.absolute");
    say(WITH(arg.flags = I915_EXEC_CONSTANTS_REL_SURFACE), "constants.surface");
    say(WITH(arg.flags = I915_EXEC_CONSTANTS_MASK), "constants.mask");
    say(WITH(arg.flags = I915_EXEC_BLT | I915_EXEC_CONSTANTS_ABSOLUTE), "constants.blt");
    for (int select = 0; select < 4; select++) {
        say(WITH(arg.flags = I915_EXEC_BSD | select << 13), "bsd.%d", select);
        say(WITH(arg.flags = I915_EXEC_RENDER | select << 13), "render.bsd%d", select);
    }
    say(WITH(arg.flags = I915_EXEC_SECURE | I915_EXEC_BLT), "secure.blt");
    say(WITH(arg.flags = I915_EXEC_GEN7_SOL_RESET | I915_EXEC_RENDER), "sol_reset.render");
    say(WITH(arg.flags = I915_EXEC_GEN7_SOL_RESET | I915_EXEC_BLT), "sol_reset.blt");
    say(WITH(arg.flags = I915_EXEC_BATCH_FIRST), "first.one");
    two[0].handle = batch, two[1].handle = object;
    say(execute(fd, two, 2, 8, I915_EXEC_BATCH_FIRST), "first.two");
    two[0].handle = object, two[1].handle = batch;
    say(execute(fd, two, 2, 8, 0), "two");
    two[0].handle = batch;
    say(execute(fd, two, 2, 8, 0), "same_twice");
    two[0].handle = 12345;
    say(execute(fd, two, 2, 8, 0), "unknown");
    two[0].handle = 0;
    say(execute(fd, two, 2, 8, 0), "handle0");
    two[0].handle = object;
    for (int bit = 0; bit < 12; bit++) {
        Object flagged[2] = {{.handle = object, .flags = 1ull << bit, .offset = bit == 4 ? 0x100000 : 0}, {.handle = batch}};
        say(execute(fd, flagged, 2, 8, 0), "object.flag.%d", bit);
    }
    Object high[2] = {{.handle = object, .flags = 1ull << 40}, {.handle = batch}};
    say(execute(fd, high, 2, 8, 0), "object.flag.40");
    static const uint64_t alignments[] = {1, 2, 3, 64, 4096, 4097, 8192, 12288, 65536, 1 << 20, 1 << 30, 1ull << 31, 1ull << 32, 1ull << 63};
    for (unsigned i = 0; i < sizeof alignments / sizeof *alignments; i++) {
        Object aligned[2] = {{.handle = object, .alignment = alignments[i]}, {.handle = batch}};
        int error = execute(fd, aligned, 2, 8, 0);
        say(error, "alignment.%llx", (unsigned long long)alignments[i]);
        if (!error && i < 9)
            tell(0, alignments[i] & (alignments[i] - 1) ? 0 : (long long)(aligned[0].offset & (alignments[i] - 1)), "alignment.%llx.offset",
                 (unsigned long long)alignments[i]);
    }
    static const uint64_t pads[] = {1, 4096, 8192, 1 << 20, 1ull << 32, ~0ull};
    for (unsigned i = 0; i < sizeof pads / sizeof *pads; i++) {
        Object padded[2] = {{.handle = object, .flags = EXEC_OBJECT_PAD_TO_SIZE, .pad_to_size = pads[i]}, {.handle = batch}};
        say(execute(fd, padded, 2, 8, 0), "pad.%llx", (unsigned long long)pads[i]);
    }
    Object unpadded[2] = {{.handle = object, .pad_to_size = 8192}, {.handle = batch}};
    say(execute(fd, unpadded, 2, 8, 0), "pad.without_flag");
    Object reserved[2] = {{.handle = object, .rsvd2 = 7}, {.handle = batch}};
    say(execute(fd, reserved, 2, 8, 0), "object.rsvd2");
    Object strange[2] = {{.handle = object, .offset = 0x123}, {.handle = batch}};
    say(execute(fd, strange, 2, 8, 0), "offset.unaligned");
    tell(0, strange[0].offset % 4096, "offset.unaligned.after");
    Object far[2] = {{.handle = object, .offset = 1ull << 40}, {.handle = batch}};
    say(execute(fd, far, 2, 8, 0), "offset.far");
    Object noncanonical[2] = {{.handle = object, .offset = 1ull << 63}, {.handle = batch}};
    say(execute(fd, noncanonical, 2, 8, 0), "offset.noncanonical");
    // The list lies where it can be written and not read, and where it can be read alone.
    Object *list = mmap(NULL, 4096, PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    list[0] = (Object){.handle = batch};
    say(execute(fd, list, 1, 8, 0), "list.write_only");
    mprotect(list, 4096, PROT_READ);
    say(execute(fd, list, 1, 8, 0), "list.read_only");
    mprotect(list, 4096, PROT_NONE);
    say(execute(fd, list, 1, 8, 0), "list.no_access");
    munmap(list, 4096);
    struct drm_i915_gem_execbuffer old = {.buffers_ptr = (uintptr_t)one, .buffer_count = 1, .batch_len = 8};
    say(call(card, DRM_IOCTL_I915_GEM_EXECBUFFER, &old), "old");
    // Batches that do not end where their length says, or not at all, up to the object's end.
    uint32_t words[4] = {0, 0, 0x05000000, 0};
    pwrite_at(fd, object, 0, words, sizeof words);
    Object late[1] = {{.handle = object}};
    say(execute(fd, late, 1, 16, 0), "noops");
    say(execute(fd, late, 1, 8, 0), "late_end");
    Exec tail = {.buffers_ptr = (uintptr_t)late, .buffer_count = 1, .batch_start_offset = 8, .batch_len = 8};
    say(submit(&tail), "tail");
    say(wait_for(fd, object, -1), "wait");
    destroy(fd, object);
    destroy(fd, batch);
}

static int relocated(uint32_t object, uint32_t batch, Reloc *entries, uint32_t count, uint64_t flags) {
    Object objects[2] = {{.handle = object}, {.handle = batch, .relocation_count = count, .relocs_ptr = (uintptr_t)entries}};
    return execute(fd, objects, 2, 8, flags);
}

void area_reloc(void) {
    uint32_t batch = end_batch(fd), object = create(fd, 4096);
    const Reloc good = {.target_handle = object, .offset = 64, .delta = 16, .read_domains = I915_GEM_DOMAIN_RENDER, .presumed_offset = -1};
    static Reloc entry;
    entry = good;
    say(relocated(object, batch, &entry, 1, 0), "plain");
    uint32_t word;
    pread_at(fd, batch, 64, &word, 4);
    tell(0, word == (uint32_t)entry.presumed_offset + 16, "plain.value");
    tell(0, entry.presumed_offset % 4096, "plain.presumed");
    Object known[2] = {{.handle = object}, {.handle = batch, .relocation_count = 1, .relocs_ptr = (uintptr_t)&entry}};
    word = 0;
    pwrite_at(fd, batch, 64, &word, 4);
    execute(fd, known, 2, 8, 0);
    pread_at(fd, batch, 64, &word, 4);
    tell(0, word, "presumed.value");
#define WITH_RELOC(...) (entry = good, __VA_ARGS__, relocated(object, batch, &entry, 1, 0))
    say(WITH_RELOC(entry.target_handle = 12345), "target.unknown");
    say(WITH_RELOC(entry.target_handle = 0), "target.0");
    say(WITH_RELOC(entry.target_handle = batch), "target.self");
    say(WITH_RELOC(entry.offset = 2), "offset.2");
    say(WITH_RELOC(entry.offset = 4092), "offset.last");
    say(WITH_RELOC(entry.offset = 4096), "offset.end");
    say(WITH_RELOC(entry.offset = ~0ull - 3), "offset.wraps");
    say(WITH_RELOC(entry.delta = 0xffffffff), "delta.max");
    static const uint32_t domains[] = {0, 1, 2, 4, 8, 0x10, 0x20, 0x40, 0x80, 0x100, 6, 0x42};
    for (unsigned i = 0; i < sizeof domains / sizeof *domains; i++) {
        say(WITH_RELOC(entry.read_domains = domains[i]), "read.%x", domains[i]);
        say(WITH_RELOC(entry.read_domains = domains[i], entry.write_domain = domains[i]), "write.%x", domains[i]);
        say(WITH_RELOC(entry.write_domain = domains[i]), "render.write.%x", domains[i]);
    }
    entry = good;
    say(relocated(object, batch, (Reloc *)16, 1, 0), "fault");
    say(relocated(object, batch, NULL, 1, 0), "null");
    say(relocated(object, batch, (Reloc *)0xffff800000000000, 1, 0), "kernel");
    say(relocated(object, batch, (Reloc *)16, 0, 0), "none");
    say(relocated(object, batch, &entry, 0xffffffff, 0), "count.max");
    say(relocated(object, batch, &entry, 0x10000000, 0), "count.many");
    entry.target_handle = 0;
    say(relocated(object, batch, &entry, 1, I915_EXEC_HANDLE_LUT), "lut.0");
    entry = good, entry.target_handle = 1;
    say(relocated(object, batch, &entry, 1, I915_EXEC_HANDLE_LUT), "lut.1");
    entry = good, entry.target_handle = 2;
    say(relocated(object, batch, &entry, 1, I915_EXEC_HANDLE_LUT), "lut.2");
    Object rest[2] = {{.handle = object}, {.handle = batch}};
    execute(fd, rest, 2, 8, 0);
    entry = good;
    entry.presumed_offset = rest[0].offset;
    rest[1].relocation_count = 1;
    rest[1].relocs_ptr = (uintptr_t)&entry;
    say(execute(fd, rest, 2, 8, I915_EXEC_NO_RELOC), "no_reloc");
    rest[0].offset = rest[0].offset ? 0 : 4096;
    entry.target_handle = 12345;
    say(execute(fd, rest, 2, 8, I915_EXEC_NO_RELOC), "no_reloc.wrong");
    // Entries that can be read alone, written alone.
    Reloc *list = mmap(NULL, 4096, PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    list[0] = good;
    say(relocated(object, batch, list, 1, 0), "list.write_only");
    list[0] = good;
    mprotect(list, 4096, PROT_READ);
    say(relocated(object, batch, list, 1, 0), "list.read_only");
    mprotect(list, 4096, PROT_NONE);
    say(relocated(object, batch, list, 1, 0), "list.no_access");
    munmap(list, 4096);
    // Of two errors the first.
    Reloc pair[2] = {good, good};
    pair[0].target_handle = 12345;
    pair[1].offset = 3;
    say(relocated(object, batch, pair, 2, 0), "two_errors");
    destroy(fd, object);
    destroy(fd, batch);
}

static int pinned(uint32_t object, uint32_t batch, uint64_t offset, uint64_t alignment, uint64_t flags, uint64_t *at) {
    Object objects[2] = {{.handle = object, .offset = offset, .alignment = alignment, .flags = EXEC_OBJECT_PINNED | flags}, {.handle = batch}};
    int error = execute(fd, objects, 2, 8, 0);
    *at = objects[0].offset;
    return error;
}

void area_pin(void) {
    uint32_t batch = end_batch(fd), object = create(fd, 8192), second = create(fd, 8192);
    static const uint64_t places[] = {0x100000, 0x123000, 0x123004, 0xffff000, 0x10000000, 0x1ffff000, 0x7ffff000, 0x7fffe000, 0x80000000,
        0xffffe000, 0xfffff000, 0x100000000, 1ull << 40, 1ull << 47, 1ull << 63, ~0xfffull};
    for (unsigned i = 0; i < sizeof places / sizeof *places; i++) {
        uint64_t at;
        int error = pinned(object, batch, places[i], 0, 0, &at);
        say(error, "at.%llx", (unsigned long long)places[i]);
        if (!error)
            tell(0, at == places[i], "at.%llx.there", (unsigned long long)places[i]);
        say(pinned(object, batch, places[i], 0, EXEC_OBJECT_SUPPORTS_48B_ADDRESS, &at), "at48.%llx", (unsigned long long)places[i]);
    }
    uint64_t at;
    say(pinned(object, batch, 0x123000, 4096, 0, &at), "aligned.4096");
    say(pinned(object, batch, 0x123000, 8192, 0, &at), "aligned.8192");
    say(pinned(object, batch, 0x124000, 8192, 0, &at), "aligned.8192.fits");
    say(pinned(object, batch, 0x200000, 1 << 20, 0, &at), "aligned.1m");
    Object both[3] = {{.handle = object, .offset = 0x400000, .flags = EXEC_OBJECT_PINNED}, {.handle = second, .offset = 0x402000, .flags = EXEC_OBJECT_PINNED},
        {.handle = batch}};
    say(execute(fd, both, 3, 8, 0), "adjacent");
    both[1].offset = 0x401000;
    say(execute(fd, both, 3, 8, 0), "overlap");
    both[1].offset = 0x400000;
    say(execute(fd, both, 3, 8, 0), "same_place");
    // A place that another object has used before, which need not stay there.
    say(pinned(second, batch, 0x400000, 0, 0, &at), "takes_over");
    destroy(fd, object);
    destroy(fd, second);
    destroy(fd, batch);
}

void area_engine(void) {
    uint32_t batch = end_batch(fd);
    // An engine map of a context: the ring's number is an index.
    struct { uint64_t extensions; struct { uint16_t class, instance; } engines[3]; } map = {.engines = {{1, 0}, {0, 0}, {0xffff, 0xffff}}};
    struct drm_i915_gem_context_create_ext_setparam set = {.param = {.param = I915_CONTEXT_PARAM_ENGINES, .size = generation >= 6 ? 20 : 16, .value = (uintptr_t)&map}};
    if (generation < 6)
        map.engines[0].class = 0, map.engines[1].class = map.engines[1].instance = 0xffff;
    struct drm_i915_gem_context_create_ext created = {.flags = 1, .extensions = (uintptr_t)&set};
    int error = call(fd, DRM_IOCTL_I915_GEM_CONTEXT_CREATE_EXT, &created);
    say(error, "map");
    if (!error) {
        for (unsigned ring = 0; ring < 6; ring++) {
            Object objects[1] = {{.handle = batch}};
            Exec arg = {.buffers_ptr = (uintptr_t)objects, .buffer_count = 1, .batch_len = 8, .flags = ring, .rsvd1 = created.ctx_id};
            say(submit(&arg), "map.ring.%u", ring);
        }
        Object objects[1] = {{.handle = batch}};
        Exec arg = {.buffers_ptr = (uintptr_t)objects, .buffer_count = 1, .batch_len = 8, .flags = 2 << 13, .rsvd1 = created.ctx_id};
        say(submit(&arg), "map.bsd");
        struct drm_i915_gem_context_destroy gone = {.ctx_id = created.ctx_id};
        call(fd, DRM_IOCTL_I915_GEM_CONTEXT_DESTROY, &gone);
        say(submit(&arg), "map.gone");
    }
    // Stores of a word, which batches of users may make through tables of their own.
    uint32_t object = create(fd, 4096);
    uint32_t words[] = {0x20 << 23 | 2, 0, 0, 0xc0ffee, 0x05000000, 0};
    Reloc entry = {.target_handle = object, .offset = 8, .delta = 0x80, .read_domains = I915_GEM_DOMAIN_INSTRUCTION,
        .write_domain = I915_GEM_DOMAIN_INSTRUCTION, .presumed_offset = -1};
    static const struct { const char *name; uint64_t ring; } rings[] = {{"render", I915_EXEC_RENDER}, {"blt", I915_EXEC_BLT}, {"bsd", I915_EXEC_BSD}};
    for (unsigned i = 0; generation >= 6 && i < 3; i++) {
        words[3] = 0xc0ffee + i;
        pwrite_at(fd, batch, 0, words, sizeof words);
        entry.presumed_offset = -1;
        Object objects[2] = {{.handle = object, .flags = EXEC_OBJECT_WRITE}, {.handle = batch, .relocation_count = 1, .relocs_ptr = (uintptr_t)&entry}};
        say(execute(fd, objects, 2, sizeof words, rings[i].ring), "store.%s", rings[i].name);
        uint32_t word = 0;
        error = pread_at(fd, object, 0x80, &word, 4);
        tell(error, word, "store.%s.value", rings[i].name);
    }
    // What the checker of batches says, where there is one.
    static const struct { const char *name; uint32_t words[6]; } batches[] = {
        {"load_register.harmless", {0x22 << 23 | 1, 0x2310, 0, 0x05000000}},
        {"load_register.error_mask", {0x22 << 23 | 1, 0x20b4, 0, 0x05000000}},
        {"load_register.unaligned", {0x22 << 23 | 1, 0x2313, 0, 0x05000000}},
        {"no_end", {0, 0, 0, 0, 0, 0}},
    };
    for (unsigned i = 0; generation >= 7 && i < sizeof batches / sizeof *batches; i++) {
        static uint32_t page[1024];
        memset(page, 0, sizeof page);
        memcpy(page, batches[i].words, sizeof batches[i].words);
        pwrite_at(fd, batch, 0, page, sizeof page);
        Object objects[1] = {{.handle = batch}};
        say(execute(fd, objects, 1, 24, I915_EXEC_RENDER), "check.%s", batches[i].name);
    }
    wait_for(fd, batch, -1);
    destroy(fd, object);
    destroy(fd, batch);
}

static void stats(const char *name, uint32_t context) {
    struct drm_i915_reset_stats arg = {.ctx_id = context};
    int error = call(fd, DRM_IOCTL_I915_GET_RESET_STATS, &arg);
    tell(error, arg.reset_count, "%s.count", name);
    tell(error, arg.batch_active, "%s.active", name);
    tell(error, arg.batch_pending, "%s.pending", name);
}

static uint32_t context_of(int file) {
    struct drm_i915_gem_context_create arg = {0};
    return call(file, DRM_IOCTL_I915_GEM_CONTEXT_CREATE, &arg) ? 0 : arg.ctx_id;
}

void area_hang(void) {
    uint32_t guilty = context_of(fd), innocent = context_of(fd), batch = create(fd, 4096), end = end_batch(fd);
    // A command that no engine knows, of two dwords as checkers of batches take it.
    static const uint32_t words[] = {0x7fff0000, 0, 0x05000000, 0};
    pwrite_at(fd, batch, 0, words, sizeof words);
    Object hangs[1] = {{.handle = batch}}, ends[1] = {{.handle = end}};
    Exec bad = {.buffers_ptr = (uintptr_t)hangs, .buffer_count = 1, .batch_len = sizeof words, .flags = I915_EXEC_RENDER, .rsvd1 = guilty};
    Exec good = {.buffers_ptr = (uintptr_t)ends, .buffer_count = 1, .batch_len = 8, .flags = I915_EXEC_RENDER, .rsvd1 = innocent};
    say(submit(&bad), "bad");
    struct drm_i915_gem_busy busy = {.handle = batch};
    int error = call(fd, DRM_IOCTL_I915_GEM_BUSY, &busy);
    tell(error, busy.busy, "bad.busy");
    struct drm_i915_gem_wait wait = {.bo_handle = batch, .timeout_ns = 1000000};
    say(call(fd, DRM_IOCTL_I915_GEM_WAIT, &wait), "bad.wait");
    say(submit(&good), "good");
    say(wait_for(fd, batch, -1), "wait");
    say(wait_for(fd, end, -1), "good.wait");
    stats("guilty", guilty);
    stats("innocent", innocent);
    stats("default", 0);
    say(submit(&good), "good.again");
    good.rsvd1 = guilty;
    say(submit(&good), "guilty.again");
    say(wait_for(fd, end, -1), "again.wait");
    say(call(fd, DRM_IOCTL_I915_GEM_THROTTLE, NULL), "throttle");
    uint32_t target = create(fd, 4096);
    say(fill(fd, target, 128, 0, 0, 32, 32, 0x2468ace0, 0), "fill");
    uint32_t word = 0;
    error = pread_at(fd, target, 128, &word, 4);
    tell(error, word, "fill.value");
    destroy(fd, target);
    // One more context that is not recoverable.
    struct drm_i915_gem_context_param fragile = {.ctx_id = context_of(fd), .param = I915_CONTEXT_PARAM_RECOVERABLE, .value = 0};
    say(call(fd, DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM, &fragile), "fragile");
    bad.rsvd1 = fragile.ctx_id;
    say(submit(&bad), "fragile.bad");
    say(wait_for(fd, batch, -1), "fragile.wait");
    stats("fragile", fragile.ctx_id);
    good.rsvd1 = fragile.ctx_id;
    say(submit(&good), "fragile.again");
    // Programs whose batches hang one after another get no more contexts.
    struct drm_i915_gem_context_create more = {0};
    say(call(fd, DRM_IOCTL_I915_GEM_CONTEXT_CREATE, &more), "create_context");
    destroy(fd, batch);
    destroy(fd, end);
}
