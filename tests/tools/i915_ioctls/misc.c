//Areas of i915_ioctls.c: what a device says of itself, who may do what, contexts, queries, and the rest.
#include "i915_ioctls.h"

static void text_of(const char *name, char *text, size_t len) {
    text[len] = 0;
    show(text, "%s", name);
}

void area_version(void) {
    char name[64] = "", date[64] = "", desc[64] = "";
    struct drm_version arg = {.name_len = 63, .name = name, .date_len = 63, .date = date, .desc_len = 63, .desc = desc};
    say(call(fd, DRM_IOCTL_VERSION, &arg), "call");
    text_of("name", name, arg.name_len);
    text_of("date", date, arg.date_len);
    text_of("desc", desc, arg.desc_len);
    tell(0, arg.version_major, "major");
    tell(0, arg.version_minor, "minor");
    tell(0, arg.version_patchlevel, "patchlevel");
    char two[3] = "..";
    struct drm_version shorter = {.name_len = 2, .name = two};
    say(call(fd, DRM_IOCTL_VERSION, &shorter), "short");
    show(two, "short.name");
    tell(0, shorter.name_len, "short.length");
    struct drm_version bad = {.name_len = 63, .name = (char *)16};
    say(call(fd, DRM_IOCTL_VERSION, &bad), "fault");
    for (int which = 0; which < 0x18; which++) {
        struct drm_get_cap cap = {.capability = which};
        int error = call(card, DRM_IOCTL_GET_CAP, &cap);
        tell(error, cap.value, "cap.%d", which);
    }
    struct drm_get_cap cap = {.capability = DRM_CAP_SYNCOBJ};
    tell(call(fd, DRM_IOCTL_GET_CAP, &cap), cap.value, "cap.render.syncobj");
    for (int which = 0; which < 7; which++) {
        struct drm_set_client_cap set = {.capability = which, .value = 1};
        int file = open_node("/dev/dri/card0");
        say(call(file, DRM_IOCTL_SET_CLIENT_CAP, &set), "client_cap.%d", which);
        close(file);
    }
    struct drm_set_client_cap set = {.capability = 1, .value = 1};
    say(call(fd, DRM_IOCTL_SET_CLIENT_CAP, &set), "client_cap.render");
}

void area_param(void) {
    for (int which = 0; which <= 72; which++) {
        int value = 0;
        int error = param(which, &value);
        tell(error, value, "%d", which);
    }
    int value;
    say(param(-1, &value), "negative");
    say(param(1 << 20, &value), "large");
    say(param(I915_PARAM_CHIPSET_ID, NULL), "null");
    say(param(I915_PARAM_CHIPSET_ID, (int *)8), "fault");
    say(param(12345, NULL), "unknown.null");
    struct drm_i915_setparam set = {.param = 1, .value = 1};
    say(call(card, DRM_IOCTL_I915_SETPARAM, &set), "set");
    say(call(fd, DRM_IOCTL_I915_SETPARAM, &set), "set.render");
}

void area_auth(void) {
    int one = open_node("/dev/dri/card0"), two = open_node("/dev/dri/card0");
    drm_auth_t magic = {0};
    say(call(one, DRM_IOCTL_GET_MAGIC, &magic), "get_magic");
    tell(0, magic.magic != 0, "get_magic.some");
    drm_auth_t again = {0};
    call(one, DRM_IOCTL_GET_MAGIC, &again);
    tell(0, again.magic == magic.magic, "get_magic.same");
    drm_auth_t other = {0};
    call(two, DRM_IOCTL_GET_MAGIC, &other);
    tell(0, other.magic != magic.magic, "get_magic.other");
    say(call(fd, DRM_IOCTL_GET_MAGIC, &again), "get_magic.render");
    // The first file that was opened is the master.
    say(call(card, DRM_IOCTL_AUTH_MAGIC, &magic), "auth_magic");
    say(call(card, DRM_IOCTL_AUTH_MAGIC, &magic), "auth_magic.twice");
    drm_auth_t unknown = {.magic = 99999};
    say(call(card, DRM_IOCTL_AUTH_MAGIC, &unknown), "auth_magic.unknown");
    say(call(two, DRM_IOCTL_AUTH_MAGIC, &other), "auth_magic.no_master");
    for (int index = 0; index < 3; index++) {
        struct drm_client client = {.idx = index};
        int error = call(card, DRM_IOCTL_GET_CLIENT, &client);
        tell(error, client.auth, "get_client.%d.auth", index);
        tell(error, (pid_t)client.pid == getpid(), "get_client.%d.own", index);
        tell(error, client.uid, "get_client.%d.uid", index);
    }
    struct drm_stats stats;
    memset(&stats, 0xff, sizeof stats);
    int error = call(card, DRM_IOCTL_GET_STATS, &stats);
    tell(error, stats.count, "get_stats");
    char name[64] = "";
    struct drm_unique unique = {.unique_len = 63, .unique = name};
    error = call(card, DRM_IOCTL_GET_UNIQUE, &unique);
    tell(error, unique.unique_len, "get_unique.before");
    struct drm_set_version version = {.drm_di_major = 1, .drm_di_minor = 4, .drm_dd_major = -1, .drm_dd_minor = -1};
    say(call(card, DRM_IOCTL_SET_VERSION, &version), "set_version");
    tell(0, version.drm_di_major * 100 + version.drm_di_minor, "set_version.interface");
    tell(0, version.drm_dd_major * 100 + version.drm_dd_minor, "set_version.driver");
    unique.unique_len = 63;
    say(call(card, DRM_IOCTL_GET_UNIQUE, &unique), "get_unique");
    show(strncmp(name, "pci:", 4) ? name : "pci", "get_unique.bus");
    struct drm_set_version wrong = {.drm_di_major = 2, .drm_di_minor = 0, .drm_dd_major = -1, .drm_dd_minor = -1};
    say(call(card, DRM_IOCTL_SET_VERSION, &wrong), "set_version.interface2");
    struct drm_set_version wrong_driver = {.drm_di_major = -1, .drm_di_minor = -1, .drm_dd_major = 2, .drm_dd_minor = 0};
    say(call(card, DRM_IOCTL_SET_VERSION, &wrong_driver), "set_version.driver2");
    say(call(two, DRM_IOCTL_SET_VERSION, &version), "set_version.no_master");
    say(call(two, DRM_IOCTL_SET_MASTER, NULL), "set_master.taken");
    say(call(card, DRM_IOCTL_SET_MASTER, NULL), "set_master.own");
    say(call(two, DRM_IOCTL_DROP_MASTER, NULL), "drop_master.no_master");
    say(call(card, DRM_IOCTL_DROP_MASTER, NULL), "drop_master");
    say(call(card, DRM_IOCTL_DROP_MASTER, NULL), "drop_master.twice");
    say(call(two, DRM_IOCTL_SET_MASTER, NULL), "set_master.free");
    say(call(card, DRM_IOCTL_SET_MASTER, NULL), "set_master.lost");
    say(call(two, DRM_IOCTL_DROP_MASTER, NULL), "drop_master.second");
    say(call(card, DRM_IOCTL_SET_MASTER, NULL), "set_master.back");
    say(call(fd, DRM_IOCTL_SET_MASTER, NULL), "set_master.render");
    close(one);
    close(two);
}

static int context_param(int set, uint32_t context, uint64_t which, uint32_t size, uint64_t *value) {
    struct drm_i915_gem_context_param arg = {.ctx_id = context, .param = which, .size = size, .value = *value};
    int error = call(fd, set ? DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM : DRM_IOCTL_I915_GEM_CONTEXT_GETPARAM, &arg);
    *value = arg.value;
    return error;
}

static int create_context(uint32_t flags, void *extensions, uint32_t *context) {
    struct drm_i915_gem_context_create_ext arg = {.flags = flags, .extensions = (uintptr_t)extensions};
    int error = call(fd, DRM_IOCTL_I915_GEM_CONTEXT_CREATE_EXT, &arg);
    *context = arg.ctx_id;
    return error;
}

static int destroy_context(uint32_t context, uint32_t pad) {
    struct drm_i915_gem_context_destroy arg = {.ctx_id = context, .pad = pad};
    return call(fd, DRM_IOCTL_I915_GEM_CONTEXT_DESTROY, &arg);
}

static void parameters(const char *name, uint32_t context) {
    for (int which = 0; which <= 0xe; which++) {
        uint64_t value = 0;
        int error = context_param(0, context, which, 0, &value);
        tell(error, value, "%s.get.%d", name, which);
    }
}

static int with_parameter(uint64_t which, uint32_t size, uint64_t value) {
    struct drm_i915_gem_context_create_ext_setparam set = {
        .base = {.name = I915_CONTEXT_CREATE_EXT_SETPARAM}, .param = {.param = which, .size = size, .value = value}};
    uint32_t context;
    int error = create_context(I915_CONTEXT_CREATE_FLAGS_USE_EXTENSIONS, &set, &context);
    if (!error)
        destroy_context(context, 0);
    return error;
}

static int stats(uint32_t context, uint32_t flags, uint32_t pad, struct drm_i915_reset_stats *arg) {
    *arg = (struct drm_i915_reset_stats){.ctx_id = context, .flags = flags, .pad = pad};
    return call(fd, DRM_IOCTL_I915_GET_RESET_STATS, arg);
}

void area_context(void) {
    uint32_t context, second;
    say(create_context(0, NULL, &context), "create");
    tell(0, context, "create.id");
    say(create_context(0, NULL, &second), "create.second");
    tell(0, second, "create.second.id");
    struct drm_i915_gem_context_create old = {.pad = 1};
    say(call(fd, DRM_IOCTL_I915_GEM_CONTEXT_CREATE, &old), "create.old.pad");
    uint32_t none;
    say(create_context(1 << 1, NULL, &none), "create.single_timeline");
    say(create_context(1 << 2, NULL, &none), "create.flag2");
    say(create_context(1u << 31, NULL, &none), "create.flag31");
    say(create_context(1, NULL, &none), "create.no_extension");
    if (none)
        destroy_context(none, 0);
    say(create_context(1, (void *)16, &none), "create.extension.fault");
    struct i915_user_extension unknown = {.name = 77};
    say(create_context(1, &unknown, &none), "create.extension.unknown");
    struct i915_user_extension clone = {.name = 1};
    say(create_context(1, &clone, &none), "create.extension.clone");
    struct drm_i915_gem_context_create_ext_setparam flagged = {.base = {.flags = 1}, .param = {.param = I915_CONTEXT_PARAM_RECOVERABLE}};
    say(create_context(1, &flagged, &none), "create.extension.flags");
    struct drm_i915_gem_context_create_ext_setparam reserved = {.base = {.rsvd = {1}}, .param = {.param = I915_CONTEXT_PARAM_RECOVERABLE}};
    say(create_context(1, &reserved, &none), "create.extension.reserved");
    struct drm_i915_gem_context_create_ext_setparam named = {.param = {.ctx_id = 5, .param = I915_CONTEXT_PARAM_RECOVERABLE}};
    say(create_context(1, &named, &none), "create.extension.context");
    struct drm_i915_gem_context_create_ext_setparam loop = {.param = {.param = I915_CONTEXT_PARAM_RECOVERABLE}};
    loop.base.next_extension = (uintptr_t)&loop;
    say(create_context(1, &loop, &none), "create.extension.loop");
    for (int which = 0; which <= 0xe; which++) {
        say(with_parameter(which, 0, 0), "create.param.%d.0", which);
        say(with_parameter(which, 0, 1), "create.param.%d.1", which);
        say(with_parameter(which, 8, 1), "create.param.%d.size8", which);
    }
    parameters("default", 0);
    parameters("own", context);
    parameters("unknown", 9999);
    for (int which = 0; which <= 0xe; which++) {
        for (int v = 0; v < 2; v++) {
            uint64_t value = v;
            say(context_param(1, second, which, 0, &value), "set.%d.%d", which, v);
        }
        uint64_t value = 0;
        say(context_param(1, second, which, 8, &value), "set.%d.size8", which);
        value = 0;
        say(context_param(1, 9999, which, 0, &value), "set.%d.unknown", which);
    }
    parameters("changed", second);
    for (int64_t priority = -1024; priority <= 1024; priority += 512) {
        uint64_t value = priority;
        say(context_param(1, second, I915_CONTEXT_PARAM_PRIORITY, 0, &value), "priority.%lld", (long long)priority);
    }
    struct { uint64_t extensions; struct { uint16_t class, instance; } engines[70]; } map;
    memset(&map, 0, sizeof map);
    map.engines[1].class = 1;
    say(with_parameter(I915_CONTEXT_PARAM_ENGINES, 8, (uintptr_t)&map), "engines.empty");
    say(with_parameter(I915_CONTEXT_PARAM_ENGINES, 12, (uintptr_t)&map), "engines.render");
    say(with_parameter(I915_CONTEXT_PARAM_ENGINES, 16, (uintptr_t)&map), "engines.render_copy");
    say(with_parameter(I915_CONTEXT_PARAM_ENGINES, 10, (uintptr_t)&map), "engines.size10");
    say(with_parameter(I915_CONTEXT_PARAM_ENGINES, 4, (uintptr_t)&map), "engines.size4");
    say(with_parameter(I915_CONTEXT_PARAM_ENGINES, 8 + 4 * 64, (uintptr_t)&map), "engines.64");
    say(with_parameter(I915_CONTEXT_PARAM_ENGINES, 8 + 4 * 65, (uintptr_t)&map), "engines.65");
    say(with_parameter(I915_CONTEXT_PARAM_ENGINES, 12, 16), "engines.fault");
    map.engines[0].class = 2;
    say(with_parameter(I915_CONTEXT_PARAM_ENGINES, 12, (uintptr_t)&map), "engines.video");
    map.engines[0].class = 3;
    say(with_parameter(I915_CONTEXT_PARAM_ENGINES, 12, (uintptr_t)&map), "engines.enhance");
    map.engines[0].class = 9;
    say(with_parameter(I915_CONTEXT_PARAM_ENGINES, 12, (uintptr_t)&map), "engines.class9");
    map.engines[0].class = 0;
    map.engines[0].instance = 1;
    say(with_parameter(I915_CONTEXT_PARAM_ENGINES, 12, (uintptr_t)&map), "engines.instance1");
    map.engines[0].class = map.engines[0].instance = 0xffff;
    say(with_parameter(I915_CONTEXT_PARAM_ENGINES, 12, (uintptr_t)&map), "engines.none");
    map.engines[0].class = map.engines[0].instance = 0;
    for (int name = 0; name < 5; name++) {
        struct i915_user_extension extension = {.name = name};
        map.extensions = (uintptr_t)&extension;
        say(with_parameter(I915_CONTEXT_PARAM_ENGINES, 12, (uintptr_t)&map), "engines.extension.%d", name);
    }
    struct drm_i915_reset_stats reset;
    say(stats(context, 0, 0, &reset), "stats");
    tell(0, reset.batch_active, "stats.active");
    tell(0, reset.batch_pending, "stats.pending");
    say(stats(0, 0, 0, &reset), "stats.default");
    say(stats(9999, 0, 0, &reset), "stats.unknown");
    say(stats(context, 1, 0, &reset), "stats.flags");
    say(stats(context, 0, 1, &reset), "stats.pad");
    say(destroy_context(0, 0), "destroy.default");
    say(destroy_context(9999, 0), "destroy.unknown");
    say(destroy_context(context, 1), "destroy.pad");
    say(destroy_context(context, 0), "destroy");
    say(destroy_context(context, 0), "destroy.twice");
    say(destroy_context(second, 0), "destroy.second");
    say(create_context(0, NULL, &context), "create.again");
    tell(0, context, "create.again.id");
    destroy_context(context, 0);
    struct drm_i915_gem_vm_control vm = {0};
    say(call(fd, DRM_IOCTL_I915_GEM_VM_CREATE, &vm), "vm_create");
    vm = (struct drm_i915_gem_vm_control){.flags = 1};
    say(call(fd, DRM_IOCTL_I915_GEM_VM_CREATE, &vm), "vm_create.flags");
    vm = (struct drm_i915_gem_vm_control){.vm_id = 1};
    say(call(fd, DRM_IOCTL_I915_GEM_VM_DESTROY, &vm), "vm_destroy");
    vm = (struct drm_i915_gem_vm_control){.vm_id = 1, .flags = 1};
    say(call(fd, DRM_IOCTL_I915_GEM_VM_DESTROY, &vm), "vm_destroy.flags");
}

static int ask(struct drm_i915_query_item *item) {
    struct drm_i915_query query = {.num_items = 1, .items_ptr = (uintptr_t)item};
    return call(fd, DRM_IOCTL_I915_QUERY, &query);
}

static uint8_t room[8192];

static void item(const char *name, uint64_t id, int32_t length, uint32_t flags, void *data) {
    struct drm_i915_query_item item = {.query_id = id, .length = length, .flags = flags, .data_ptr = (uintptr_t)data};
    int error = ask(&item);
    tell(error, item.length, "%s", name);
}

void area_query(void) {
    char name[32];
    for (int id = 0; id < 9; id++) {
        snprintf(name, sizeof name, "%d.length", id);
        item(name, id, 0, 0, NULL);
        snprintf(name, sizeof name, "%d.flags1", id);
        item(name, id, 0, 1, NULL);
        snprintf(name, sizeof name, "%d.short", id);
        item(name, id, 1, 0, room);
        snprintf(name, sizeof name, "%d.negative", id);
        item(name, id, -1, 0, room);
        snprintf(name, sizeof name, "%d.fault", id);
        item(name, id, 4096, 0, (void *)16);
        memset(room, 0xff, sizeof room);
        snprintf(name, sizeof name, "%d.not_zero", id);
        item(name, id, 4096, 0, room);
    }
    memset(room, 0, sizeof room);
    item("engines", DRM_I915_QUERY_ENGINE_INFO, 4096, 0, room);
    struct drm_i915_query_engine_info *engines = (void *)room;
    tell(0, engines->num_engines, "engines.count");
    for (unsigned i = 0; i < engines->num_engines && i < 8; i++) {
        struct drm_i915_engine_info *engine = &engines->engines[i];
        tell(0, engine->engine.engine_class, "engines.%u.class", i);
        tell(0, engine->engine.engine_instance, "engines.%u.instance", i);
        tell(0, engine->flags, "engines.%u.flags", i);
        tell(0, engine->capabilities, "engines.%u.capabilities", i);
        tell(0, engine->logical_instance, "engines.%u.logical", i);
    }
    memset(room, 0, sizeof room);
    item("regions", DRM_I915_QUERY_MEMORY_REGIONS, 4096, 0, room);
    struct drm_i915_query_memory_regions *regions = (void *)room;
    tell(0, regions->num_regions, "regions.count");
    tell(0, regions->regions[0].region.memory_class, "regions.0.class");
    tell(0, regions->regions[0].region.memory_instance, "regions.0.instance");
    tell(0, regions->regions[0].probed_size > 0, "regions.0.probed");
    tell(0, regions->regions[0].unallocated_size == regions->regions[0].probed_size, "regions.0.unallocated");
    struct drm_i915_query query = {.num_items = 1, .flags = 1, .items_ptr = (uintptr_t)room};
    say(call(fd, DRM_IOCTL_I915_QUERY, &query), "flags");
    query = (struct drm_i915_query){.num_items = 1, .items_ptr = 16};
    say(call(fd, DRM_IOCTL_I915_QUERY, &query), "fault");
    query = (struct drm_i915_query){.num_items = 0, .items_ptr = 16};
    say(call(fd, DRM_IOCTL_I915_QUERY, &query), "none");
    struct drm_i915_query_item two[2] = {{.query_id = 2}, {.query_id = 0}};
    query = (struct drm_i915_query){.num_items = 2, .items_ptr = (uintptr_t)two};
    say(call(fd, DRM_IOCTL_I915_QUERY, &query), "two");
    tell(0, two[0].length, "two.first");
}

static void register_at(const char *name, uint64_t offset) {
    struct drm_i915_reg_read read = {.offset = offset};
    say(call(fd, DRM_IOCTL_I915_REG_READ, &read), "reg_read.%s", name);
}

static void number(int file, const char *name, unsigned nr, unsigned long size, unsigned long direction) {
    static uint8_t block[256];
    memset(block, 0, sizeof block);
    say(call(file, _IOC(direction, 'd', nr, size), block), "%s.%02x", name, nr);
}

void area_other(void) {
    register_at("timestamp", 0x2358);
    register_at("timestamp.8b", 0x2359);
    register_at("timestamp.2", 0x235a);
    register_at("timestamp.7", 0x235f);
    register_at("upper", 0x235c);
    register_at("zero", 0);
    register_at("head", 0x2034);
    register_at("unaligned", 0x2357);
    register_at("beyond", 1ull << 32 | 0x2358);
    struct drm_i915_reg_read one = {.offset = 0x2358}, two = {.offset = 0x2358};
    call(fd, DRM_IOCTL_I915_REG_READ, &one);
    usleep(20000);
    call(fd, DRM_IOCTL_I915_REG_READ, &two);
    tell(0, two.val != one.val, "reg_read.runs");
    // Numbers of i915 that do nothing, and that do not exist.
    for (unsigned nr = 0x40; nr <= 0x5a; nr++) {
        number(card, "number.card", nr, 0, _IOC_NONE);
        number(fd, "number.render", nr, 0, _IOC_NONE);
    }
    static const unsigned others[] = {0x65, 0x67, 0x68, 0x6a, 0x6b, 0x76, 0x77, 0x78, 0x7d, 0x7e, 0x9e, 0x9f};
    for (unsigned i = 0; i < sizeof others / sizeof *others; i++) {
        number(card, "number.card", others[i], 64, _IOC_READ | _IOC_WRITE);
        number(fd, "number.render", others[i], 64, _IOC_READ | _IOC_WRITE);
    }
    // Numbers of the core. Those that outputs are needed for come below.
    for (unsigned nr = 0x07; nr <= 0x3f; nr++) {
        static const unsigned done[] = {0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x1e, 0x1f, 0x2d, 0x2e};
        int skip = 0;
        for (unsigned i = 0; i < sizeof done / sizeof *done; i++)
            skip |= done[i] == nr;
        if (!skip) {
            number(card, "core.card", nr, 64, _IOC_READ | _IOC_WRITE);
            number(fd, "core.render", nr, 64, _IOC_READ | _IOC_WRITE);
        }
    }
    for (unsigned nr = 0xa0; nr <= 0xd0; nr++) {
        // Sync objects have an area of their own.
        if (nr >= 0xbf && nr <= 0xcd && nr != 0xc6 && nr != 0xc7 && nr != 0xc8 && nr != 0xc9)
            continue;
        number(fd, "mode.render", nr, 64, _IOC_READ | _IOC_WRITE);
    }
    for (unsigned nr = 0xd1; nr <= 0xe0; nr++)
        number(card, "unknown", nr, 64, _IOC_READ | _IOC_WRITE);
    say(call(fd, _IOC(_IOC_READ, 'e', 0, 8), room), "type");
    say(call(fd, _IOC(_IOC_READ | _IOC_WRITE, 'd', 0, 8), NULL), "version.null");
    say(call(fd, DRM_IOCTL_I915_GEM_THROTTLE, NULL), "throttle");
    struct drm_i915_gem_get_aperture aperture = {0};
    int error = call(fd, DRM_IOCTL_I915_GEM_GET_APERTURE, &aperture);
    tell(error, aperture.aper_size, "aperture");
    tell(error, aperture.aper_available_size <= aperture.aper_size, "aperture.available");
    char byte;
    fcntl(fd, F_SETFL, O_NONBLOCK);
    say(read(fd, &byte, 1) < 0 ? errno : 0, "read");
    tell(lseek(fd, 0, SEEK_SET) < 0 ? errno : 0, 0, "lseek");
    tell(ftruncate(fd, 0) < 0 ? errno : 0, 0, "ftruncate");
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN | POLLOUT};
    tell(0, poll(&poll_fd, 1, 0), "poll");
    struct stat status;
    tell(fstat(fd, &status) ? errno : 0, S_ISCHR(status.st_mode), "stat.device");
    tell(0, status.st_rdev == makedev(226, 128), "stat.number");
}
