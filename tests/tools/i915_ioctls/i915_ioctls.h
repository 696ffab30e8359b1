// Helpers of i915_ioctls.c, and its areas.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include <drm.h>
#include <i915_drm.h>

// The render node, and the card. What device it is: 4 to 7.
extern int fd, card;
extern int generation;
extern uint32_t chipset;

// ioctl, again when a signal has cut it short; 0 or the errno.
int call(int file, unsigned long request, void *arg);
// Lines: an error or ok; an error or a number; a text. Names are formats.
void say(int error, const char *name, ...) __attribute__((format(printf, 2, 3)));
void tell(int error, long long value, const char *name, ...) __attribute__((format(printf, 3, 4)));
void show(const char *text, const char *name, ...) __attribute__((format(printf, 2, 3)));
// FNV-1a.
uint64_t hash(const void *bytes, size_t len);

int open_node(const char *path);
int param(int which, int *value);
uint32_t create(int file, uint64_t size);
int destroy(int file, uint32_t handle);
int pwrite_at(int file, uint32_t handle, uint64_t offset, const void *from, uint64_t size);
int pread_at(int file, uint32_t handle, uint64_t offset, void *to, uint64_t size);
int set_domain(int file, uint32_t handle, uint32_t read, uint32_t write);
int set_tiling(int file, uint32_t handle, uint32_t mode, uint32_t stride);
int wait_for(int file, uint32_t handle, int64_t nanoseconds);
int map_offset(int file, uint32_t handle, uint64_t flags, uint64_t *offset);
void *map(int file, uint32_t handle, uint64_t flags, size_t size);
int execute(int file, struct drm_i915_gem_exec_object2 *objects, int count, uint32_t bytes, uint64_t flags);
// The engine that fills rectangles.
uint64_t blit_engine(void);
// An object of a page with the end of a batch.
uint32_t end_batch(int file);
// Fills a rectangle of 32-bit pixels by the blitter.
int fill(int file, uint32_t target, uint32_t pitch, uint32_t x, uint32_t y, uint32_t width, uint32_t height, uint32_t colour, int tiled);

void area_version(void), area_param(void), area_auth(void), area_object(void), area_data(void), area_map(void), area_domain(void), area_tiling(void),
    area_context(void), area_exec(void), area_reloc(void), area_pin(void), area_engine(void), area_fence(void), area_syncobj(void), area_prime(void),
    area_query(void), area_other(void), area_draw(void), area_large(void), area_hang(void);
