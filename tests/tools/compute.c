/*
 * Runs compute shaders whose results depend on barriers, shared memory and atomics, and compares them with arithmetic of the host.
 *
 *   cc -O2 -o compute compute.c -lEGL -lOpenGL
 *
 * compute [NAME ..]
 *     A NAME is one of the programs at the end; without names all are run. Prints a line for each case with its verdict.
 *     Exit status 1 says that a result is wrong, 2 that OpenGL refused something.
 *
 * Only integers are computed. Where the order of threads is free, what is compared does not depend on it.
 */
#define GL_GLEXT_PROTOTYPES
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GL/glcorearb.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define HEAD \
    "#version 420\n" \
    "#extension GL_ARB_compute_shader : require\n" \
    "#extension GL_ARB_shader_storage_buffer_object : require\n"

/* Width and height of the picture that fragments are drawn into. */
#define SIDE 64

static int status;

__attribute__((format(printf, 1, 2), noreturn)) static void refuse(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vprintf(format, list);
    va_end(list);
    putchar('\n');
    exit(2);
}

/* The line of a case: its name, and how many of its numbers are wrong. */
__attribute__((format(printf, 2, 3))) static void verdict(size_t wrong, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vprintf(format, list);
    va_end(list);
    if (wrong) {
        printf(": WRONG, %zu numbers\n", wrong);
        status = 1;
    } else {
        puts(": ok");
    }
    GLenum error = glGetError();
    if (error)
        refuse("GL error %#x", error);
}

static void *room(size_t bytes)
{
    void *at = calloc(1, bytes);
    if (!at)
        refuse("no memory");
    return at;
}

static void begin(void)
{
    static const EGLint wanted[] = {
        EGL_CONTEXT_MAJOR_VERSION, 4, EGL_CONTEXT_MINOR_VERSION, 2,
        EGL_CONTEXT_OPENGL_PROFILE_MASK, EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT, EGL_NONE,
    };
    EGLDisplay display = eglGetPlatformDisplay(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL);
    if (!eglInitialize(display, NULL, NULL) || !eglBindAPI(EGL_OPENGL_API))
        refuse("no EGL");
    EGLContext context = eglCreateContext(display, NULL, EGL_NO_CONTEXT, wanted);
    if (!context || !eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context))
        refuse("no core profile of OpenGL 4.2");
    printf("renderer: %s\n", (const char *)glGetString(GL_RENDERER));
    GLuint array, frame, target;
    glGenVertexArrays(1, &array);
    glBindVertexArray(array);
    glGenRenderbuffers(1, &target);
    glBindRenderbuffer(GL_RENDERBUFFER, target);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, SIDE, SIDE);
    glGenFramebuffers(1, &frame);
    glBindFramebuffer(GL_FRAMEBUFFER, frame);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, target);
    glViewport(0, 0, SIDE, SIDE);
}

static void shader(GLuint program, GLenum kind, const char *source)
{
    char log[4000];
    GLint good;
    GLuint object = glCreateShader(kind);
    glShaderSource(object, 1, &source, NULL);
    glCompileShader(object);
    glGetShaderiv(object, GL_COMPILE_STATUS, &good);
    if (!good) {
        glGetShaderInfoLog(object, sizeof log, NULL, log);
        refuse("%s\n%s", source, log);
    }
    glAttachShader(program, object);
    glDeleteShader(object);
}

static void use(GLuint program)
{
    char log[4000];
    GLint good;
    glLinkProgram(program);
    glGetProgramiv(program, GL_LINK_STATUS, &good);
    if (!good) {
        glGetProgramInfoLog(program, sizeof log, NULL, log);
        refuse("%s", log);
    }
    glUseProgram(program);
}

/* A compute shader by a format of its source. */
__attribute__((format(printf, 1, 2))) static void compute(const char *format, ...)
{
    char source[4000];
    va_list list;
    va_start(list, format);
    int length = vsnprintf(source, sizeof source, format, list);
    va_end(list);
    if (length < 0 || (size_t)length >= sizeof source)
        refuse("a shader is too long");
    GLuint program = glCreateProgram();
    shader(program, GL_COMPUTE_SHADER, source);
    use(program);
}

/* A storage buffer with these words, or zeros, bound at an index. */
static GLuint storage(GLuint index, size_t words, const uint32_t *contents)
{
    uint32_t *zeros = contents ? NULL : room(words * 4);
    GLuint buffer;
    glGenBuffers(1, &buffer);
    glBindBuffer(GL_SHADER_STORAGE_BUFFER, buffer);
    glBufferData(GL_SHADER_STORAGE_BUFFER, (GLsizeiptr)(words * 4), contents ? contents : zeros, GL_DYNAMIC_COPY);
    glBindBufferBase(GL_SHADER_STORAGE_BUFFER, index, buffer);
    free(zeros);
    return buffer;
}

/* Its words after all commands, and the end of the buffer. */
static uint32_t *taken(GLuint buffer, size_t words)
{
    uint32_t *result = room(words * 4);
    glMemoryBarrier(GL_ALL_BARRIER_BITS);
    glBindBuffer(GL_SHADER_STORAGE_BUFFER, buffer);
    glGetBufferSubData(GL_SHADER_STORAGE_BUFFER, 0, (GLsizeiptr)(words * 4), result);
    glDeleteBuffers(1, &buffer);
    return result;
}

/* How many of the numbers are not a permutation of 0..count. */
static size_t strays(const uint32_t *numbers, size_t count)
{
    char *seen = room(count);
    size_t wrong = 0;
    for (size_t i = 0; i < count; i++)
        wrong += numbers[i] >= count || seen[numbers[i]]++;
    free(seen);
    return wrong;
}

/* Sums of all numbers before one by shared memory, with two barriers a step, in groups of many shapes. */
static void scan(void)
{
    static const unsigned shapes[][3] = {
        { 1, 1, 1 }, { 2, 1, 1 }, { 7, 1, 1 }, { 8, 1, 1 }, { 9, 1, 1 }, { 16, 1, 1 }, { 17, 3, 1 }, { 31, 1, 1 }, { 3, 5, 7 },
        { 1, 16, 32 }, { 33, 31, 1 }, { 10, 10, 10 }, { 511, 2, 1 }, { 500, 1, 1 }, { 512, 1, 1 }, { 768, 1, 1 }, { 1024, 1, 1 },
    };
    GLint most;
    glGetIntegerv(GL_MAX_COMPUTE_WORK_GROUP_INVOCATIONS, &most);
    for (size_t i = 0; i < COUNT(shapes); i++) {
        const unsigned *shape = shapes[i], n = shape[0] * shape[1] * shape[2], groups = 3 * 2 * 2;
        if (n > (unsigned)most)
            continue;
        compute(HEAD
            "layout(local_size_x = %u, local_size_y = %u, local_size_z = %u) in;\n"
            "layout(std430, binding = 0) buffer Result { uint result[]; };\n"
            "shared uint m[%u];\n"
            "void main() {\n"
            "    uint i = gl_LocalInvocationIndex;\n"
            "    uint group = gl_WorkGroupID.x + gl_WorkGroupID.y * 3u + gl_WorkGroupID.z * 6u;\n"
            "    m[i] = i * i + group;\n"
            "    barrier();\n"
            "    for (uint step = 1u; step < %uu; step *= 2u) {\n"
            "        uint sum = m[i] + (i >= step ? m[i - step] : 0u);\n"
            "        barrier();\n"
            "        m[i] = sum;\n"
            "        barrier();\n"
            "    }\n"
            "    result[group * %uu + i] = m[%uu - i];\n"
            "}\n", shape[0], shape[1], shape[2], n, n, n, n - 1);
        GLuint buffer = storage(0, n * groups, NULL);
        glDispatchCompute(3, 2, 2);
        uint32_t *got = taken(buffer, n * groups);
        size_t wrong = 0;
        for (unsigned group = 0; group < groups; group++) {
            uint32_t sum = 0;
            for (unsigned k = 0; k < n; k++) {
                sum += k * k + group;
                wrong += got[group * n + n - 1 - k] != sum;
            }
        }
        verdict(wrong, "scan, groups of %u x %u x %u", shape[0], shape[1], shape[2]);
        free(got);
    }
}

/* What an atomic function makes of a number in memory. */
enum Function { ADD, MIN, MAX, AND, OR, XOR, EXCHANGE, SWAP };

static const struct {
    const char *name, *operand;
} FUNCTIONS[] = {
    { "atomicAdd", "v" }, { "atomicMin", "v" }, { "atomicMax", "v" }, { "atomicAnd", "v | %s(0xff0000ff)" },
    { "atomicOr", "v & %s(0xffff)" }, { "atomicXor", "v" }, { "atomicExchange", "v" }, { "atomicCompSwap", "v % %s(7), v" },
};

/* Of functions whose order does not count. */
static uint32_t applied(enum Function function, int is_signed, uint32_t old, uint32_t v)
{
    int less = is_signed ? (int32_t)v < (int32_t)old : v < old;
    switch (function) {
    case ADD: return old + v;
    case MIN: return less ? v : old;
    case MAX: return less ? old : v;
    case AND: return old & (v | 0xff0000ff);
    case OR: return old | (v & 0xffff);
    default: return old ^ v;
    }
}

#define ATOMIC_GROUPS 40
#define ATOMIC_SIZE 96
#define ATOMIC_ALL (ATOMIC_GROUPS * ATOMIC_SIZE)
#define CELLS 16
#define USED 13

/* The number of an invocation. Those of compare-and-swap are small, so that some comparisons are true. */
static uint32_t operand(enum Function function, unsigned id)
{
    return function == SWAP ? id % 50 : id * 2654435761u;
}

/* What a cell holds at first. */
static uint32_t initial(enum Function function, unsigned cell)
{
    return function == SWAP ? cell % 7 : 1000 + cell;
}

/*
 * For functions whose order counts. Each number that is stored is found by one invocation that stores another, or is there at the end.
 * An invocation whose comparison is false finds a number that was there.
 */
static size_t ordered(enum Function function, const uint32_t *found, uint32_t end, uint32_t begin, unsigned k, unsigned first, unsigned last)
{
    size_t wrong = 0;
    uint32_t sum = begin;
    char was[50] = { 0 };
    if (function == SWAP)
        was[begin] = 1;
    for (unsigned id = first; id < last; id++) {
        uint32_t v = operand(function, id);
        if (id % USED == k && (function == EXCHANGE || found[id] == v % 7)) {
            sum += v - found[id];
            if (function == SWAP)
                was[v] = 1;
        }
    }
    for (unsigned id = first; id < last && function == SWAP; id++)
        wrong += id % USED == k && (found[id] >= COUNT(was) || !was[found[id]]);
    return wrong + (sum != end);
}

static void atomics(void)
{
    for (int shared = 0; shared < 2; shared++)
        for (enum Function function = ADD; function <= SWAP; function++)
            for (int is_signed = 0; is_signed < 2; is_signed++) {
                const char *type = is_signed ? "int" : "uint";
                char term[60];
                snprintf(term, sizeof term, "%s", FUNCTIONS[function].operand);
                char *hole = strstr(term, "%s");
                if (hole)
                    snprintf(hole, sizeof term - (size_t)(hole - term), "%s%s", type, strstr(FUNCTIONS[function].operand, "%s") + 2);
                compute(HEAD
                    "layout(local_size_x = 96) in;\n"
                    "layout(std430, binding = 0) buffer Cells { %s cells[]; };\n"
                    "layout(std430, binding = 1) buffer Found { %s found[]; };\n"
                    "shared %s own[16];\n"
                    "void main() {\n"
                    "    uint i = gl_LocalInvocationIndex, id = gl_GlobalInvocationID.x, k = id %% 13u;\n"
                    "    %s v = %s(%s);\n"
                    "    if (i < 16u) own[i] = %s(%s);\n"
                    "    barrier();\n"
                    "    found[id] = %s(%s[k], %s);\n"
                    "    barrier();\n"
                    "    if (%d != 0 && i < 16u) cells[gl_WorkGroupID.x * 16u + i] = own[i];\n"
                    "}\n", type, type, type, type, type, function == SWAP ? "id % 50u" : "id * 2654435761u", type,
                    function == SWAP ? "i % 7u" : "1000u + i", FUNCTIONS[function].name, shared ? "own" : "cells", term, shared);
                uint32_t cells[CELLS * ATOMIC_GROUPS], want[CELLS * ATOMIC_GROUPS];
                for (unsigned i = 0; i < COUNT(cells); i++) {
                    cells[i] = initial(function, i);
                    want[i] = initial(function, shared ? i % CELLS : i);
                }
                GLuint buffer = storage(0, COUNT(cells), cells), results = storage(1, ATOMIC_ALL, NULL);
                glDispatchCompute(ATOMIC_GROUPS, 1, 1);
                uint32_t *got = taken(buffer, COUNT(cells)), *found = taken(results, ATOMIC_ALL);
                size_t wrong = 0;
                if (function < EXCHANGE) {
                    for (unsigned id = 0; id < ATOMIC_ALL; id++) {
                        uint32_t *cell = want + (shared ? id / ATOMIC_SIZE * CELLS : 0) + id % USED;
                        *cell = applied(function, is_signed, *cell, operand(function, id));
                    }
                    for (unsigned i = 0; i < COUNT(want); i++)
                        wrong += want[i] != got[i];
                } else {
                    for (unsigned group = 0; group < (shared ? ATOMIC_GROUPS : 1); group++)
                        for (unsigned k = 0; k < USED; k++) {
                            unsigned cell = group * CELLS + k, first = group * ATOMIC_SIZE;
                            unsigned last = shared ? first + ATOMIC_SIZE : ATOMIC_ALL;
                            wrong += ordered(function, found, got[cell], want[cell], k, first, last);
                        }
                }
                verdict(wrong, "%s of %s in %s memory", FUNCTIONS[function].name, type, shared ? "shared" : "global");
                free(got);
                free(found);
            }
}

/* A lock by compare-and-swap: additions that are no atomic ones lose nothing. */
static void lock(void)
{
    enum { GROUPS = 64, SIZE = 24 };
    compute(HEAD
        "layout(local_size_x = 24) in;\n"
        "layout(std430, binding = 0) coherent buffer Cells { uint taken; uint sum; uint swaps; };\n"
        "void main() {\n"
        "    for (uint turn = 0u; turn < 24u; turn++) {\n"
        "        if (turn == gl_LocalInvocationIndex) {\n"
        "            for (bool done = false; !done;) {\n"
        "                if (atomicCompSwap(taken, 0u, 1u) == 0u) {\n"
        "                    sum += gl_GlobalInvocationID.x;\n"
        "                    memoryBarrierBuffer();\n"
        "                    swaps += 1u;\n"
        "                    memoryBarrierBuffer();\n"
        "                    atomicExchange(taken, 0u);\n"
        "                    done = true;\n"
        "                }\n"
        "            }\n"
        "        }\n"
        "    }\n"
        "}\n");
    GLuint buffer = storage(0, 3, NULL);
    glDispatchCompute(GROUPS, 1, 1);
    uint32_t *got = taken(buffer, 3), all = GROUPS * SIZE;
    verdict((got[0] != 0) + (got[1] != all * (all - 1) / 2) + (got[2] != all), "a lock by atomicCompSwap");
    free(got);
}

/* Each invocation draws a ticket. */
static void tickets(void)
{
    enum { ALL = 65536 };
    compute(HEAD
        "layout(local_size_x = 64) in;\n"
        "layout(std430, binding = 0) buffer Counter { uint counter; };\n"
        "layout(std430, binding = 1) buffer Drawn { uint drawn[]; };\n"
        "void main() { drawn[gl_GlobalInvocationID.x] = atomicAdd(counter, 1u); }\n");
    GLuint results = storage(1, ALL, NULL), counter = storage(0, 1, NULL);
    glDispatchCompute(ALL / 64, 1, 1);
    uint32_t *drawn = taken(results, ALL), *end = taken(counter, 1);
    verdict(strays(drawn, ALL) + (*end != ALL), "tickets");
    free(drawn);
    free(end);
}

/* All of the memory that a group may share. */
static void limit(void)
{
    enum { GROUPS = 5, SIZE = 512 };
    GLint bytes;
    glGetIntegerv(GL_MAX_COMPUTE_SHARED_MEMORY_SIZE, &bytes);
    uint32_t words = (uint32_t)bytes / 4;
    compute(HEAD
        "layout(local_size_x = 512) in;\n"
        "layout(std430, binding = 0) buffer Result { uint result[]; };\n"
        "shared uint m[%u];\n"
        "void main() {\n"
        "    uint i = gl_LocalInvocationIndex, sum = 0u;\n"
        "    for (uint k = i; k < %uu; k += 512u) m[k] = k * 3u + gl_WorkGroupID.x;\n"
        "    barrier();\n"
        "    for (uint k = i; k < %uu; k += 512u) sum += m[%uu - k] * (k + 1u);\n"
        "    result[gl_WorkGroupID.x * 512u + i] = sum;\n"
        "}\n", words, words, words, words - 1);
    GLuint buffer = storage(0, GROUPS * SIZE, NULL);
    glDispatchCompute(GROUPS, 1, 1);
    uint32_t *got = taken(buffer, GROUPS * SIZE);
    size_t wrong = 0;
    for (uint32_t group = 0; group < GROUPS; group++)
        for (uint32_t i = 0; i < SIZE; i++) {
            uint32_t sum = 0;
            for (uint32_t k = i; k < words; k += SIZE)
                sum += ((words - 1 - k) * 3 + group) * (k + 1);
            wrong += got[group * SIZE + i] != sum;
        }
    verdict(wrong, "%d bytes of shared memory", bytes);
    free(got);
}

/* Groups without number in one direction, by the command and from memory. */
static void empty(void)
{
    static const GLuint groups[][3] = {
        { 0, 3, 3 }, { 3, 0, 3 }, { 3, 3, 0 }, { 2, 3, 4 }, { 0, 0, 0 }, { 65535, 0, 1 }, { 1, 1, 1 },
    };
    compute(HEAD
        "layout(local_size_x = 8) in;\n"
        "layout(std430, binding = 0) buffer Counter { uint counter; };\n"
        "void main() { atomicAdd(counter, 1u); }\n");
    GLuint counter = storage(0, 1, NULL), numbers;
    glGenBuffers(1, &numbers);
    glBindBuffer(GL_DISPATCH_INDIRECT_BUFFER, numbers);
    glBufferData(GL_DISPATCH_INDIRECT_BUFFER, sizeof groups, groups, GL_STATIC_DRAW);
    uint32_t want = 0;
    for (size_t i = 0; i < COUNT(groups); i++) {
        glDispatchCompute(groups[i][0], groups[i][1], groups[i][2]);
        glDispatchComputeIndirect((GLintptr)(i * sizeof *groups));
        want += 2 * 8 * groups[i][0] * groups[i][1] * groups[i][2];
    }
    uint32_t *got = taken(counter, 1);
    verdict(*got != want, "empty groups");
    free(got);
}

/* Atomic functions of images, and counters, in fragments. */
static void fragments(void)
{
    GLuint program = glCreateProgram(), images[2], counters, results = storage(1, SIDE * SIDE, NULL);
    shader(program, GL_VERTEX_SHADER,
        "#version 420\n"
        "void main() { gl_Position = vec4(vec2(gl_VertexID & 1, gl_VertexID >> 1) * 4.0 - 1.0, 0.0, 1.0); }\n");
    shader(program, GL_FRAGMENT_SHADER,
        "#version 420\n"
        "#extension GL_ARB_shader_storage_buffer_object : require\n"
        "layout(r32ui, binding = 0) uniform uimage2D flat_image;\n"
        "layout(r32i, binding = 1) uniform iimage3D volume;\n"
        "layout(binding = 0, offset = 4) uniform atomic_uint counter;\n"
        "layout(std430, binding = 1) buffer Drawn { uint drawn[]; };\n"
        "out vec4 colour;\n"
        "void main() {\n"
        "    ivec2 q = ivec2(gl_FragCoord.xy);\n"
        "    uint id = uint(q.y * 64 + q.x);\n"
        "    imageAtomicAdd(flat_image, q % 5, id);\n"
        "    imageAtomicMax(flat_image, ivec2(5, q.y % 3), id * 77u % 1009u);\n"
        "    imageAtomicMin(volume, ivec3(q % 3, q.x % 4), -int(id));\n"
        "    imageAtomicXor(volume, ivec3(3, 3, q.y % 4), int(id));\n"
        "    drawn[id] = atomicCounterIncrement(counter);\n"
        "    colour = vec4(1.0);\n"
        "}\n");
    use(program);
    static const uint32_t zeros[64];
    glGenTextures(2, images);
    glBindTexture(GL_TEXTURE_2D, images[0]);
    glTexStorage2D(GL_TEXTURE_2D, 1, GL_R32UI, 7, 7);
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, 7, 7, GL_RED_INTEGER, GL_UNSIGNED_INT, zeros);
    glBindTexture(GL_TEXTURE_3D, images[1]);
    glTexStorage3D(GL_TEXTURE_3D, 1, GL_R32I, 4, 4, 4);
    glTexSubImage3D(GL_TEXTURE_3D, 0, 0, 0, 0, 4, 4, 4, GL_RED_INTEGER, GL_INT, zeros);
    glBindImageTexture(0, images[0], 0, GL_FALSE, 0, GL_READ_WRITE, GL_R32UI);
    glBindImageTexture(1, images[1], 0, GL_TRUE, 0, GL_READ_WRITE, GL_R32I);
    glGenBuffers(1, &counters);
    glBindBufferBase(GL_ATOMIC_COUNTER_BUFFER, 0, counters);
    glBufferData(GL_ATOMIC_COUNTER_BUFFER, 16, zeros, GL_DYNAMIC_COPY);
    glDrawArrays(GL_TRIANGLES, 0, 3);
    glMemoryBarrier(GL_ALL_BARRIER_BITS);
    uint32_t flat_image[49], counted[4], want_flat[49] = { 0 };
    int32_t volume[64], want_volume[64] = { 0 };
    glGetTexImage(GL_TEXTURE_2D, 0, GL_RED_INTEGER, GL_UNSIGNED_INT, flat_image);
    glGetTexImage(GL_TEXTURE_3D, 0, GL_RED_INTEGER, GL_INT, volume);
    glGetBufferSubData(GL_ATOMIC_COUNTER_BUFFER, 0, 16, counted);
    for (uint32_t y = 0; y < SIDE; y++)
        for (uint32_t x = 0; x < SIDE; x++) {
            uint32_t id = y * SIDE + x, scaled = id * 77 % 1009;
            uint32_t *most = want_flat + y % 3 * 7 + 5;
            int32_t *least = want_volume + x % 4 * 16 + y % 3 * 4 + x % 3;
            want_flat[y % 5 * 7 + x % 5] += id;
            *most = scaled > *most ? scaled : *most;
            *least = -(int32_t)id < *least ? -(int32_t)id : *least;
            want_volume[y % 4 * 16 + 15] ^= (int32_t)id;
        }
    size_t wrong = 0;
    for (size_t i = 0; i < COUNT(want_flat); i++)
        wrong += flat_image[i] != want_flat[i];
    for (size_t i = 0; i < COUNT(want_volume); i++)
        wrong += volume[i] != want_volume[i];
    uint32_t *drawn = taken(results, SIDE * SIDE);
    verdict(wrong + (counted[0] != 0) + (counted[1] != SIDE * SIDE) + strays(drawn, SIDE * SIDE), "images and counters of fragments");
    free(drawn);
}

static const struct {
    const char *name;
    void (*run)(void);
} PROGRAMS[] = {
    { "scan", scan }, { "atomics", atomics }, { "lock", lock }, { "tickets", tickets },
    { "limit", limit }, { "empty", empty }, { "fragments", fragments },
};

int main(int argc, char **argv)
{
    for (int n = 1; n < argc; n++) {
        size_t i = 0;
        while (i < COUNT(PROGRAMS) && strcmp(argv[n], PROGRAMS[i].name))
            i++;
        if (i == COUNT(PROGRAMS)) {
            fprintf(stderr, "compute: there is no program %s; the programs are", argv[n]);
            for (i = 0; i < COUNT(PROGRAMS); i++)
                fprintf(stderr, " %s", PROGRAMS[i].name);
            fputc('\n', stderr);
            return 2;
        }
    }
    begin();
    for (size_t i = 0; i < COUNT(PROGRAMS); i++) {
        int wanted = argc == 1;
        for (int n = 1; n < argc; n++)
            wanted |= !strcmp(argv[n], PROGRAMS[i].name);
        if (wanted)
            PROGRAMS[i].run();
    }
    return status;
}
