/*
 * Runs OpenCL programs and compares what they leave with arithmetic of the host.
 *
 * opencl KERNELS [NAME ..]
 *     KERNELS is opencl/kernels.cl, a NAME one of the programs below; without names all are run. Prints a line for each with its verdict.
 *     Exit status 1 says that a result is wrong, 2 that OpenCL refused something.
 *
 * Integers, moves and single operations of floats have to be exact; sums of linear filters and mathematical functions may differ as far as
 * the OpenCL 1.2 specification, 7.4, lets them (in units of the last place, with cl_khr_fp64 absent and denormals flushed).
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cl_device_id device;
static cl_context context;
static cl_command_queue queue;
static cl_program program;
/* What the program that runs has found wrong first, and how often. */
static char wrong[200];
static size_t wrongs;

static void check_(cl_int status, const char *what, int line)
{
    if (status != CL_SUCCESS) {
        printf("line %d: %s: error %d\n", line, what, status);
        exit(2);
    }
}
#define CL(call) check_(call, #call, __LINE__)

/* Random bits, the same in each run (Marsaglia's xorshift). */
static uint32_t state = 2463534242u;
static uint32_t noise(void)
{
    state ^= state << 13;
    state ^= state >> 17;
    return state ^= state << 5;
}

static void *room(size_t bytes)
{
    void *at = calloc(1, bytes ? bytes : 1);
    if (!at)
        exit(2);
    return at;
}

static uint32_t *random_words(size_t n)
{
    uint32_t *words = room(n * 4);
    for (size_t i = 0; i < n; i++)
        words[i] = noise();
    return words;
}

/* Small floats with a few bits behind the point. */
static float *random_floats(size_t n)
{
    float *values = room(n * 4);
    for (size_t i = 0; i < n; i++)
        values[i] = (float)(int32_t)(noise() % 200001 - 100000) / 4096.0f;
    return values;
}

static cl_mem buffer(const void *from, size_t bytes)
{
    cl_int status;
    cl_mem made = clCreateBuffer(context, CL_MEM_READ_WRITE | (from ? CL_MEM_COPY_HOST_PTR : 0), bytes, (void *)from, &status);
    check_(status, "clCreateBuffer", __LINE__);
    return made;
}

static void *content(cl_mem from, size_t bytes)
{
    void *at = room(bytes);
    CL(clEnqueueReadBuffer(queue, from, CL_TRUE, 0, bytes, at, 0, NULL, NULL));
    return at;
}

/* Runs a kernel. Arguments behind `args` are pairs of size and pointer. */
static void run_at(const char *name, cl_uint dims, const size_t *offset, const size_t *global, const size_t *local, int args, va_list list)
{
    cl_int status;
    cl_kernel kernel = clCreateKernel(program, name, &status);
    check_(status, name, __LINE__);
    for (int i = 0; i < args; i++) {
        size_t size = va_arg(list, size_t);
        CL(clSetKernelArg(kernel, (cl_uint)i, size, va_arg(list, void *)));
    }
    check_(clEnqueueNDRangeKernel(queue, kernel, dims, offset, global, local, 0, NULL, NULL), name, __LINE__);
    check_(clFinish(queue), name, __LINE__);
    CL(clReleaseKernel(kernel));
}

static void run1(const char *name, size_t global, size_t local, int args, ...)
{
    va_list list;
    va_start(list, args);
    run_at(name, 1, NULL, &global, local ? &local : NULL, args, list);
    va_end(list);
}

static void run3(const char *name, cl_uint dims, const size_t *global, const size_t *local, int args, ...)
{
    va_list list;
    va_start(list, args);
    run_at(name, dims, NULL, global, local, args, list);
    va_end(list);
}
#define MEM(m) sizeof(cl_mem), &(m)
#define VAL(v) sizeof(v), &(v)
#define LOCAL(n) (size_t)(n), NULL

static void note(const char *format, ...)
{
    if (!wrongs++) {
        va_list list;
        va_start(list, format);
        vsnprintf(wrong, sizeof wrong, format, list);
        va_end(list);
    }
}

static void same32(const char *what, size_t i, uint32_t got, uint32_t want)
{
    if (got != want)
        note("%s %zu is %#x, should be %#x", what, i, got, want);
}

static void same64(const char *what, size_t i, uint64_t got, uint64_t want)
{
    if (got != want)
        note("%s %zu is %#llx, should be %#llx", what, i, (unsigned long long)got, (unsigned long long)want);
}

static void exactly(const char *what, size_t i, float got, float want)
{
    if (!(got == want))
        note("%s %zu is %.9g, should be %.9g", what, i, got, want);
}

/* Within so many units of the last place of the wanted value, and never closer than `floor`. */
static void nearly(const char *what, size_t i, float got, double want, double ulps, double floor_)
{
    int exponent;
    frexp(want, &exponent);
    double allowed = fmax(ldexp(ulps, exponent - 24), floor_);
    if (!(fabs(got - want) <= allowed))
        note("%s %zu is %.9g, should be %.9g", what, i, got, want);
}

static uint32_t saturated(int64_t x, int64_t low, int64_t high)
{
    return (uint32_t)(x < low ? low : x > high ? high : x);
}

enum { N = 192 };

static void ints(void)
{
    static const char *const rows[12] = { "sum", "mul_hi", "quotient", "remainder", "shifts", "rotate", "clz and compare", "abs_diff",
                                          "hadd", "saturation", "mad24", "upsample" };
    uint32_t *a = random_words(N), *b = random_words(N);
    for (int i = 0; i < 40; i++)
        b[i] >>= i % 32, a[i * 2] >>= (i * 7) % 32;
    a[0] = 0x80000000, b[0] = 3, b[1] = 0, a[2] = 0, b[3] = 0x80000000, a[4] = b[4];
    cl_mem ma = buffer(a, N * 4), mb = buffer(b, N * 4), mo = buffer(NULL, 12 * N * 4);
    run1("ints", N, 64, 3, MEM(ma), MEM(mb), MEM(mo));
    uint32_t *out = content(mo, 12 * N * 4);
    for (size_t i = 0; i < N; i++) {
        uint32_t ux = a[i], uy = b[i];
        int32_t x = (int32_t)ux, y = (int32_t)uy;
        uint32_t turn = uy & 31;
        uint32_t want[12] = {
            ux + uy * 3 - (ux ^ uy),
            (uint32_t)(((int64_t)x * y) >> 32),
            y ? (uint32_t)((int64_t)x / y) : 0,
            uy ? ux % uy : 0,
            (ux << (uy & 31)) ^ (uint32_t)(x >> (uy & 7)) ^ (ux >> (uy & 15)),
            turn ? ux << turn | ux >> (32 - turn) : ux,
            (ux ? (uint32_t)__builtin_clz(ux) : 32) + 64 * (x < y) + 128 * (ux < uy),
            (uint32_t)llabs((int64_t)x - y),
            (uint32_t)(((int64_t)(x | 1) + (y | 1)) >> 1),
            saturated((int64_t)x + y, INT32_MIN, INT32_MAX) ^ saturated((int64_t)y - x, INT32_MIN, INT32_MAX),
            (ux & 0xffff) * (uy & 0x7fff) + ux,
            (ux & 0xffff0000) | (uy & 0xffff),
        };
        for (int row = 0; row < 12; row++)
            same32(rows[row], i, out[row * N + i], want[row]);
    }
}

static void longs(void)
{
    static const char *const rows[6] = { "sum", "quotient", "remainder", "shifts", "compare", "product" };
    uint64_t *a = (uint64_t *)random_words(2 * N), *b = (uint64_t *)random_words(2 * N);
    for (int i = 0; i < 60; i++)
        b[i] >>= i, a[i * 3] >>= (i * 7) % 64;
    b[0] = 0, b[1] = 1, a[2] = b[2], b[3] = 0x100000000;
    cl_mem ma = buffer(a, N * 8), mb = buffer(b, N * 8), mo = buffer(NULL, 6 * N * 8);
    run1("longs", N, 32, 3, MEM(ma), MEM(mb), MEM(mo));
    uint64_t *out = content(mo, 6 * N * 8);
    for (size_t i = 0; i < N; i++) {
        int64_t x = (int64_t)a[i], y = (int64_t)b[i];
        uint64_t want[6] = {
            a[i] + b[i] * 5,
            y ? (uint64_t)(x / y) : 0,
            y ? a[i] % b[i] : 0,
            (a[i] << (y & 63)) ^ (uint64_t)(x >> (y & 31)) ^ (a[i] >> (y & 47)),
            (uint64_t)((x < y) + 2 * (a[i] < b[i]) + 4 * (x == y)),
            (uint64_t)((int64_t)(int32_t)x * (int32_t)y),
        };
        for (int row = 0; row < 6; row++)
            same64(rows[row], i, out[row * N + i], want[row]);
    }
}

static void narrow(void)
{
    enum { ITEMS = 48 };
    int8_t *a = (int8_t *)random_words(ITEMS * 4), *b = (int8_t *)random_words(ITEMS * 4);
    int16_t *c = (int16_t *)random_words(ITEMS * 4);
    cl_mem ma = buffer(a, ITEMS * 16), mb = buffer(b, ITEMS * 16), mo = buffer(NULL, ITEMS * 16), mc = buffer(c, ITEMS * 16),
           mw = buffer(NULL, ITEMS * 16);
    run1("narrow", ITEMS, 16, 5, MEM(ma), MEM(mb), MEM(mo), MEM(mc), MEM(mw));
    int8_t *out = content(mo, ITEMS * 16);
    int16_t *wide = content(mw, ITEMS * 16);
    for (size_t i = 0; i < ITEMS * 16; i++) {
        int8_t want = (int8_t)(saturated(a[i] + b[i], -128, 127) ^ (uint32_t)(a[i] * b[i / 16 * 16 + 15 - i % 16]));
        same32("byte", i, (uint8_t)out[i], (uint8_t)want);
    }
    for (size_t i = 0; i < ITEMS * 8; i++) {
        int16_t want = (int16_t)(c[i] * 8 + c[i / 8 * 8 + 7 - i % 8] + (c[i] < 0 ? -c[i] : c[i]));
        same32("word", i, (uint16_t)wide[i], (uint16_t)want);
    }
}

static void floats(void)
{
    static const char *const rows[8] = { "sum", "product", "max minus min", "floor and ceil", "rint, trunc, round", "copysign",
                                         "convert and compare", "fmod" };
    float *a = random_floats(N), *b = random_floats(N);
    a[0] = 0.5f, a[1] = -0.5f, a[2] = 1.5f, a[3] = 2.5f, a[4] = -2.5f, a[5] = 3.0f, b[5] = 3.0f;
    for (int i = 0; i < N; i++)
        if (fabsf(b[i]) < 0.25f)
            b[i] = 0.75f;
    cl_mem ma = buffer(a, N * 4), mb = buffer(b, N * 4), mo = buffer(NULL, 8 * N * 4);
    run1("floats", N, 0, 3, MEM(ma), MEM(mb), MEM(mo));
    float *out = content(mo, 8 * N * 4);
    for (size_t i = 0; i < N; i++) {
        float x = a[i], y = b[i], big = x * 1e6f;
        float want[8] = { x + y, x * y, fmaxf(x, y) - fminf(x, y), floorf(x) + ceilf(y), rintf(x) + truncf(y) + roundf(x),
                          copysignf(fabsf(x), y), (float)(int32_t)big + (x < y ? 1.0f : 2.0f), fmodf(x, y) };
        for (int row = 0; row < 8; row++)
            exactly(rows[row], i, out[row * N + i], want[row]);
    }
}

static void mathematics(void)
{
    static const char *const rows[10] = { "quotient", "sqrt", "rsqrt", "exp", "log2", "sin", "cos", "pow", "atan2", "tanh" };
    static const double ulps[10] = { 2.5, 3, 2, 3, 3, 4, 4, 16, 6, 5 };
    float *a = random_floats(N), *b = random_floats(N);
    cl_mem ma = buffer(a, N * 4), mb = buffer(b, N * 4), mo = buffer(NULL, 10 * N * 4);
    run1("mathematics", N, 48, 3, MEM(ma), MEM(mb), MEM(mo));
    float *out = content(mo, 10 * N * 4);
    for (size_t i = 0; i < N; i++) {
        double x = a[i], y = fabsf(b[i]) + 0.125f;
        double want[10] = { x / y, sqrt(y), 1 / sqrt(y), exp(x * 0.125), log2(y), sin(x), cos(x), pow(y, 1.5), atan2(x, y),
                            tanh(x * 0.0625) };
        for (int row = 0; row < 10; row++)
            nearly(rows[row], i, out[row * N + i], want[row], ulps[row], 1e-37);
    }
}

static void converts(void)
{
    static const char *const rows[8] = { "rte", "rtz", "rtp", "rtn", "uchar_sat", "char_sat_rte", "ushort_sat", "float of uint" };
    float *a = random_floats(N);
    for (int i = 0; i < 32; i++)
        a[i] = (float)(i - 16) * 0.5f;
    a[32] = 300.0f, a[33] = -300.0f, a[34] = 127.5f, a[35] = -128.5f, a[36] = 255.75f, a[37] = -0.0f;
    cl_mem ma = buffer(a, N * 4), mo = buffer(NULL, 8 * N * 4);
    run1("converts", N, 64, 2, MEM(ma), MEM(mo));
    uint32_t *out = content(mo, 8 * N * 4);
    for (size_t i = 0; i < N; i++) {
        float x = a[i], scaled = x * 700.0f, whole;
        uint32_t bits, back;
        memcpy(&bits, &x, 4);
        whole = (float)bits;
        memcpy(&back, &whole, 4);
        uint32_t want[8] = { (uint32_t)(int)rintf(x), (uint32_t)(int)truncf(x), (uint32_t)(int)ceilf(x), (uint32_t)(int)floorf(x),
                             saturated((int64_t)x, 0, 255), saturated((int64_t)rintf(x), -128, 127), saturated((int64_t)scaled, 0, 65535),
                             back };
        for (int row = 0; row < 8; row++)
            same32(rows[row], i, out[row * N + i], want[row]);
    }
}

/* Value of a half float that is neither infinite nor a NaN. */
static float half_value(uint16_t h)
{
    int exponent = h >> 10 & 31, fraction = h & 0x3ff;
    float magnitude = exponent ? ldexpf((float)(fraction | 0x400), exponent - 25) : ldexpf((float)fraction, -24);
    return h & 0x8000 ? -magnitude : magnitude;
}

static void halves(void)
{
    uint16_t in[N];
    for (int i = 0; i < N; i++)
        do
            in[i] = (uint16_t)noise();
        while ((in[i] >> 10 & 31) < 2 || (in[i] >> 10 & 31) == 31);
    in[0] = 0, in[1] = 0x3c00, in[2] = 0xc000, in[3] = 0x7bff;
    cl_mem mi = buffer(in, N * 2), mo = buffer(NULL, N * 2), mf = buffer(NULL, N * 4);
    run1("halves", N, 64, 3, MEM(mi), MEM(mo), MEM(mf));
    uint16_t *out = content(mo, N * 2);
    float *full = content(mf, N * 4);
    for (size_t i = 0; i < N; i++) {
        exactly("float", i, full[i], half_value(in[i]));
        /* Half of it has an exponent that is one less. */
        same32("half", i, out[i], in[i] ? in[i] - 0x400u : 0);
    }
}

static void loads(void)
{
    enum { ITEMS = 96 };
    uint32_t *in = random_words(ITEMS * 3);
    uint8_t *bytes = (uint8_t *)random_words(ITEMS + 4);
    cl_mem mi = buffer(in, ITEMS * 12), mo = buffer(NULL, ITEMS * 12), mb = buffer(bytes, ITEMS * 4 + 16);
    run1("loads", ITEMS, 0, 3, MEM(mi), MEM(mo), MEM(mb));
    uint32_t *out = content(mo, ITEMS * 12);
    for (size_t i = 0; i < ITEMS; i++) {
        const uint8_t *b = bytes + 1 + 4 * i;
        same32("x", i, out[3 * i], in[3 * i + 2] + b[0]);
        same32("y", i, out[3 * i + 1], in[3 * i] + b[1]);
        same32("z", i, out[3 * i + 2], in[3 * i + 1] + b[2] + b[3]);
    }
}

static void reduce(void)
{
    static const size_t sizes[] = { 64, 7, 13, 37, 100, 256, 1, 129 };
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        enum { GROUPS = 5 };
        size_t n = sizes[s], all = n * GROUPS;
        uint32_t *in = random_words(all);
        cl_mem mi = buffer(in, all * 4), mo = buffer(NULL, GROUPS * 4);
        run1("reduce", all, n, 3, MEM(mi), MEM(mo), LOCAL(n * 4));
        uint32_t *out = content(mo, GROUPS * 4);
        for (size_t g = 0; g < GROUPS; g++) {
            uint32_t sum = 0;
            for (size_t i = 0; i < n; i++)
                sum += in[g * n + i];
            same32("sum of a group", n * 100 + g, out[g], sum);
        }
    }
}

static void transpose(void)
{
    cl_int width = 64, height = 48;
    uint32_t *in = random_words(64 * 48);
    cl_mem mi = buffer(in, 64 * 48 * 4), mo = buffer(NULL, 64 * 48 * 4);
    size_t global[2] = { 64, 48 }, local[2] = { 16, 16 };
    run3("transpose", 2, global, local, 4, MEM(mi), MEM(mo), VAL(width), VAL(height));
    uint32_t *out = content(mo, 64 * 48 * 4);
    for (size_t y = 0; y < 48; y++)
        for (size_t x = 0; x < 64; x++)
            same32("element", y * 64 + x, out[x * 48 + y], in[y * 64 + x]);
}

static void neighbours(void)
{
    enum { GROUP = 90, ALL = GROUP * 3 };
    uint8_t *in = (uint8_t *)random_words(ALL / 4 + 1);
    cl_mem mi = buffer(in, ALL), mo = buffer(NULL, ALL * 2);
    run1("neighbours", ALL, GROUP, 2, MEM(mi), MEM(mo));
    uint16_t *out = content(mo, ALL * 2);
    for (size_t i = 0; i < ALL; i++) {
        size_t base = i / GROUP * GROUP, l = i % GROUP;
        same32("item", i, out[i], (uint16_t)(in[base + (l + 1) % GROUP] + in[base + GROUP - 1 - (l + 5) % GROUP] * 257));
    }
}

static void copies(void)
{
    enum { GROUP = 24, ALL = GROUP * 4 };
    uint32_t *in = random_words(ALL * 4);
    cl_mem mi = buffer(in, ALL * 16), mo = buffer(NULL, ALL * 16);
    run1("copies", ALL, GROUP, 3, MEM(mi), MEM(mo), LOCAL(GROUP * 16));
    uint32_t *out = content(mo, ALL * 16);
    for (size_t i = 0; i < ALL * 4; i++) {
        size_t item = i / 4, from = item / GROUP * GROUP + GROUP - 1 - item % GROUP;
        same32("element", i, out[i], in[from * 4 + i % 4] + 1);
    }
}

static int ascending(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void atomics(void)
{
    enum { ITEMS = 1000 };
    uint32_t w[16] = { 5, 10, 1u << 30, 5000, (uint32_t)-5000, 0xffffffff, 0, 0, 0xffffffff, 0x1234, 99, 7, 0, 0 };
    uint32_t want[16];
    memcpy(want, w, sizeof w);
    for (uint32_t i = 0; i < ITEMS; i++) {
        int32_t low = 1000 - (int32_t)i, high = (int32_t)i - 1000;
        want[0]++, want[1] += i, want[2] -= i * 3;
        want[3] = (uint32_t)(low < (int32_t)want[3] ? low : (int32_t)want[3]);
        want[4] = (uint32_t)(high > (int32_t)want[4] ? high : (int32_t)want[4]);
        want[5] = i - 5 < want[5] ? i - 5 : want[5];
        want[6] = i - 5 > want[6] ? i - 5 : want[6];
        want[7] |= 1u << (i & 31), want[8] &= ~(1u << (i % 30)), want[9] ^= i * 2654435761u;
        want[10]--, want[11] += 2, want[13] += i + 1;
    }
    cl_mem mw = buffer(w, sizeof w), mo = buffer(NULL, ITEMS * 4);
    run1("atomics", ITEMS, 100, 2, MEM(mw), MEM(mo));
    uint32_t *got = content(mw, sizeof w), *old = content(mo, ITEMS * 4);
    want[12] = got[12], want[13] -= got[12];
    if (got[12] < 1 || got[12] > ITEMS)
        note("the last number is %u", got[12]);
    for (size_t i = 0; i < 14; i++)
        same32("word", i, got[i], want[i]);
    qsort(old, ITEMS, 4, ascending);
    for (uint32_t i = 0; i < ITEMS; i++)
        same32("old value", i, old[i], 5 + i);
}

static void histogram(void)
{
    enum { ITEMS = 180, GROUP = 45 };
    cl_int each = 10;
    uint32_t *in = random_words(ITEMS * 10), zeros[64] = { 0 }, want[64] = { 0 };
    cl_mem mi = buffer(in, ITEMS * 40), mo = buffer(zeros, sizeof zeros);
    run1("histogram", ITEMS, GROUP, 3, MEM(mi), MEM(mo), VAL(each));
    uint32_t *out = content(mo, sizeof zeros);
    for (size_t i = 0; i < ITEMS * 10; i++)
        want[in[i] & 63]++;
    for (size_t i = 0; i < 64; i++)
        same32("bin", i, out[i], want[i]);
}

static void places_of(cl_uint dims, const size_t *global, const size_t *local, const size_t *offset)
{
    size_t all = global[0] * global[1] * global[2];
    cl_int status;
    cl_mem mo = buffer(NULL, all * 32);
    cl_kernel kernel = clCreateKernel(program, "places", &status);
    check_(status, "places", __LINE__);
    CL(clSetKernelArg(kernel, 0, MEM(mo)));
    CL(clEnqueueNDRangeKernel(queue, kernel, dims, offset, global, local, 0, NULL, NULL));
    uint32_t *out = content(mo, all * 32);
    CL(clReleaseKernel(kernel));
    for (size_t i = 0; i < all; i++) {
        size_t at[3] = { i % global[0], i / global[0] % global[1], i / global[0] / global[1] };
        uint32_t want[8] = { 0, 0, 0, 0, 0, dims, 7, 8 };
        for (int d = 0; d < 3; d++) {
            want[0] |= (uint32_t)(at[d] + (offset ? offset[d] : 0)) << 10 * d;
            want[1] |= (uint32_t)(at[d] % local[d]) << 10 * d;
            want[2] |= (uint32_t)(at[d] / local[d]) << 10 * d;
            want[3] |= (uint32_t)local[d] << 10 * d;
            want[4] |= (uint32_t)(global[d] / local[d]) << 10 * d;
        }
        for (size_t k = 0; k < 8; k++)
            same32("number", i * 8 + k, out[i * 8 + k], want[k]);
    }
}

static void places(void)
{
    static const size_t cases[][10] = {
        /* dimensions, range, group, offset */
        { 1, 91, 1, 1, 13, 1, 1, 0, 0, 0 }, { 1, 33, 1, 1, 33, 1, 1, 5, 0, 0 },   { 1, 510, 1, 1, 255, 1, 1, 0, 0, 0 },
        { 2, 21, 10, 1, 7, 5, 1, 0, 0, 0 }, { 2, 34, 9, 1, 17, 3, 1, 2, 3, 0 },   { 3, 15, 10, 6, 3, 5, 2, 0, 0, 0 },
        { 3, 9, 14, 4, 9, 7, 4, 1, 2, 3 },  { 3, 4, 4, 36, 1, 1, 12, 0, 0, 10 }, { 3, 16, 8, 4, 8, 8, 4, 0, 0, 0 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        places_of((cl_uint)cases[i][0], cases[i] + 1, cases[i] + 4, cases[i] + 7);
}

static void scratch(void)
{
    uint32_t *in = random_words(N);
    cl_mem mi = buffer(in, N * 4), mo = buffer(NULL, N * 4);
    run1("scratch", N, 32, 2, MEM(mi), MEM(mo));
    uint32_t *out = content(mo, N * 4);
    for (size_t i = 0; i < N; i++) {
        uint32_t own[200], sum = 0;
        for (size_t k = 0; k < 200; k++)
            own[k] = in[(i + k * 7) % N];
        for (size_t k = 0; k < 400; k++) {
            size_t at = (own[k % 200] >> 3) % 200;
            own[at] = own[at] * 5 + own[(at + k) % 200];
        }
        for (size_t k = 0; k < 200; k++)
            sum = sum * 31 + own[k];
        same32("item", i, out[i], sum);
    }
}

static void pressure(void)
{
    enum { ITEMS = 32 };
    uint32_t *in = random_words(ITEMS * 192);
    cl_mem mi = buffer(in, ITEMS * 192 * 4), mo = buffer(NULL, ITEMS * 192 * 4);
    run1("pressure", ITEMS, 16, 2, MEM(mi), MEM(mo));
    uint32_t *out = content(mo, ITEMS * 192 * 4);
    for (size_t i = 0; i < ITEMS * 16; i++) {
        size_t base = i / 16 * 192 + i % 16;
        /* The kernel's lines, word for word. */
        uint32_t a = in[base], b = in[base + 16], c = in[base + 32], d = in[base + 48], e = in[base + 64], f = in[base + 80],
                 g = in[base + 96], h = in[base + 112], j = in[base + 128], k = in[base + 144], l = in[base + 160], m = in[base + 176];
        for (int r = 0; r < 3; r++) {
            a += b * m, b ^= c + a, c += d * b, d ^= e + c, e += f * d, f ^= g + e;
            g += h * f, h ^= j + g, j += k * h, k ^= l + j, l += m * k, m ^= a + l;
        }
        uint32_t want[12] = { a, b, c, d, e, f, g, h, j, k, l, m };
        for (size_t n = 0; n < 12; n++)
            same32("word", base + n * 16, out[base + n * 16], want[n]);
    }
}

static void collatz(void)
{
    uint32_t in[N];
    for (uint32_t i = 0; i < N; i++)
        in[i] = i % 3 ? i + 1 : noise() % 1000000 + 1;
    cl_mem mi = buffer(in, sizeof in), mo = buffer(NULL, sizeof in);
    run1("collatz", N, 64, 2, MEM(mi), MEM(mo));
    uint32_t *out = content(mo, sizeof in);
    for (size_t i = 0; i < N; i++) {
        uint32_t x = in[i], steps = 0;
        for (; x != 1; steps++)
            x = x & 1 ? 3 * x + 1 : x / 2;
        same32("steps of item", i, out[i], steps);
    }
}

static void loops(void)
{
    enum { ITEMS = 32 };
    cl_uint rounds = 50000;
    uint32_t *in = random_words(ITEMS);
    cl_mem mi = buffer(in, ITEMS * 4), mo = buffer(NULL, ITEMS * 4);
    run1("loops", ITEMS, 16, 3, MEM(mi), MEM(mo), VAL(rounds));
    uint32_t *out = content(mo, ITEMS * 4);
    for (size_t i = 0; i < ITEMS; i++) {
        uint32_t x = in[i];
        for (cl_uint k = 0; k < rounds; k++)
            x = x * 1664525 + 1013904223;
        same32("item", i, out[i], x);
    }
}

static int32_t branch(int32_t x, int32_t depth)
{
    uint32_t r = 0;
    for (int32_t i = 0; i < 20; i++) {
        if ((x + i) % 7 == 3)
            continue;
        if ((x ^ i) % 11 == 10)
            break;
        uint32_t kind = (uint32_t)(x + i * depth) & 3;
        if (kind == 0) {
            r += (uint32_t)i;
        } else if (kind < 3) {
            if (kind == 1)
                r ^= (uint32_t)x;
            r += 3;
        } else {
            for (int32_t j = 0; j < (x & 7); j++) {
                if (j == depth)
                    return (int32_t)r;
                r = r * 2 + (uint32_t)j;
            }
        }
    }
    return (int32_t)r;
}

static void branches(void)
{
    uint32_t *in = random_words(N);
    cl_mem mi = buffer(in, N * 4), mo = buffer(NULL, N * 4);
    run1("branches", N, 64, 2, MEM(mi), MEM(mo));
    uint32_t *out = content(mo, N * 4);
    for (size_t i = 0; i < N; i++) {
        int32_t x = (int32_t)(in[i] & 0xffff);
        uint32_t r = 0;
        if (x & 1) {
            for (int32_t d = 0; d < (x & 15); d++)
                r += (uint32_t)branch(x, d);
        } else if (x & 2) {
            r = x > 30000 ? (uint32_t)branch(x, 3) : 0u - (uint32_t)branch(x, 5);
        }
        same32("item", i, out[i], (x & 3) == 2 && (int32_t)r < 0 ? r : r * 3);
    }
}

static void constants(void)
{
    struct {
        cl_int a;
        cl_float b;
        cl_char c[5];
        cl_short d;
    } p = { 3, 12.75f, { 1, -2, 3, -4, 5 }, -7 };
    uint32_t *in = random_words(N), *table = random_words(17);
    cl_mem mi = buffer(in, N * 4), mo = buffer(NULL, N * 4), mt = buffer(table, 17 * 4);
    run1("constants", N, 64, 4, MEM(mi), MEM(mo), MEM(mt), VAL(p));
    uint32_t *out = content(mo, N * 4);
    for (size_t i = 0; i < N; i++) {
        uint32_t square = in[i] % 10 * (in[i] % 10);
        same32("item", i, out[i], square + table[in[i] % 17] * 3 + 12 + (uint32_t)(p.c[3] * p.d));
    }
}

static int subgroups_offered(void)
{
    char names[4096] = "";
    CL(clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS, sizeof names, names, NULL));
    return strstr(names, "cl_intel_subgroups") != NULL;
}

static void subgroups(void)
{
    if (!subgroups_offered()) {
        note("not offered");
        return;
    }
    enum { GROUP = 64, ALL = 128 };
    uint32_t *in = random_words(ALL);
    for (size_t i = 0; i < ALL; i++)
        in[i] = in[i] >> 8 & (i < 40 ? ~1u : ~0u);
    cl_mem mi = buffer(in, ALL * 4), mo = buffer(NULL, 8 * ALL * 4);
    run1("subgroups", ALL, GROUP, 2, MEM(mi), MEM(mo));
    uint32_t *out = content(mo, 8 * ALL * 4);
    uint32_t size = out[0] & 0xff;
    if (size != 8 && size != 16) {
        note("a sub-group has %u items", size);
        return;
    }
    for (size_t i = 0; i < ALL; i++) {
        size_t base = i / size * size, lane = i % size;
        uint32_t sum = 0, any = 0, all = 1;
        int32_t most = INT32_MIN;
        for (size_t k = 0; k < size; k++) {
            uint32_t x = in[base + k];
            sum += x, any |= x & 1, all &= x > 0;
            if (k <= lane && (int32_t)x > most)
                most = (int32_t)x;
        }
        uint32_t want[8] = { size | (uint32_t)lane << 8 | (uint32_t)(i % GROUP / size) << 16 | GROUP / size << 24,
                             sum,
                             (uint32_t)most,
                             in[base + 3],
                             in[base + (lane * 5 + 1) % 8],
                             in[base + (lane ^ 2)],
                             any + 2 * all,
                             in[i] };
        for (size_t row = 0; row < 8; row++)
            same32("item", row * 1000 + i, out[row * ALL + i], want[row]);
    }
}

static cl_mem image(cl_channel_order order, cl_channel_type type, cl_mem_object_type kind, size_t w, size_t h, size_t d, const void *from)
{
    cl_int status;
    cl_image_format format = { order, type };
    cl_image_desc desc = { .image_type = kind, .image_width = w, .image_height = h };
    if (kind == CL_MEM_OBJECT_IMAGE3D)
        desc.image_depth = d;
    else
        desc.image_array_size = d;
    cl_mem made = clCreateImage(context, CL_MEM_READ_WRITE | (from ? CL_MEM_COPY_HOST_PTR : 0), &format, &desc, (void *)from, &status);
    check_(status, "clCreateImage", __LINE__);
    return made;
}

static void *pixels(cl_mem from, size_t w, size_t h, size_t d, size_t bytes)
{
    size_t origin[3] = { 0 }, region[3] = { w, h, d };
    void *at = room(w * h * d * bytes);
    CL(clEnqueueReadImage(queue, from, CL_TRUE, origin, region, 0, 0, at, 0, NULL, NULL));
    return at;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void pictures(void)
{
    enum { W = 36, H = 21 };
    uint8_t *in = (uint8_t *)random_words(W * H);
    cl_mem mi = image(CL_RGBA, CL_UNSIGNED_INT8, CL_MEM_OBJECT_IMAGE2D, W, H, 0, in);
    cl_mem mo = image(CL_RGBA, CL_UNSIGNED_INT8, CL_MEM_OBJECT_IMAGE2D, W, H, 0, NULL), mb = buffer(NULL, W * H * 16);
    size_t global[2] = { W, H }, local[2] = { 12, 7 };
    run3("pictures", 2, global, local, 3, MEM(mi), MEM(mo), MEM(mb));
    uint8_t *out = pixels(mo, W, H, 1, 4);
    uint32_t *outside = content(mb, W * H * 16);
    for (size_t i = 0; i < W * H * 4; i++) {
        size_t x = i / 4 % W, y = i / 4 / W, c = i % 4;
        same32("channel", i, out[i], in[(least(y + 2, H - 1) * W + least(x + 1, W - 1)) * 4 + (c + 1) % 4]);
        same32("border", i, outside[i], x < 2 || y < 1 ? 0 : in[((y - 1) * W + x - 2) * 4 + c]);
    }
}

static void filtered(void)
{
    enum { W = 16, H = 8 };
    float *in = random_floats(W * H * 4);
    cl_mem mi = image(CL_RGBA, CL_FLOAT, CL_MEM_OBJECT_IMAGE2D, W, H, 0, in), mo = buffer(NULL, 2 * W * H * 16);
    size_t global[2] = { W, H };
    run3("filtered", 2, global, NULL, 2, MEM(mi), MEM(mo));
    float *out = content(mo, 2 * W * H * 16);
    for (size_t i = 0; i < W * H * 4; i++) {
        size_t x = i / 4 % W, y = i / 4 / W, c = i % 4;
        /* At half of x plus a quarter: a quarter left of the middle of a pixel, or right of it. */
        double u = x * 0.5 - 0.25, v = y * 0.5 - 0.25, sum = 0;
        for (int k = 0; k < 4; k++) {
            double left = floor(u) + (k & 1), top = floor(v) + (k >> 1);
            double weight = (1 - fabs(u - left)) * (1 - fabs(v - top));
            sum += weight * in[((size_t)fmax(top, 0) * W + (size_t)fmax(left, 0)) * 4 + c];
        }
        nearly("filtered", i, out[i], sum, 8, 1e-4);
        exactly("wrapped", i, out[W * H * 4 + i], in[i]);
    }
}

static void solids(void)
{
    enum { W = 12, H = 7, D = 5 };
    int16_t *in = (int16_t *)random_words(W * H * D * 2);
    for (size_t i = 0; i < W * H * D * 4; i++)
        in[i] >>= 1;
    cl_mem mi = image(CL_RGBA, CL_SIGNED_INT16, CL_MEM_OBJECT_IMAGE3D, W, H, D, in);
    cl_mem mo = image(CL_RGBA, CL_SIGNED_INT16, CL_MEM_OBJECT_IMAGE3D, W, H, D, NULL), ms = buffer(NULL, W * H * D * 4);
    size_t global[3] = { W, H, D }, local[3] = { 4, 7, 1 };
    run3("solids", 3, global, local, 3, MEM(mi), MEM(mo), MEM(ms));
    int16_t *out = pixels(mo, W, H, D, 8);
    uint32_t *sums = content(ms, W * H * D * 4);
    for (size_t i = 0; i < W * H * D * 4; i++)
        same32("channel", i, (uint16_t)out[i], (uint16_t)(in[i] + 1));
    for (size_t i = 0; i < W * H * D; i++) {
        size_t deeper = least(i / (W * H) + 1, D - 1) * W * H + i % (W * H);
        same32("sum", i, sums[i], (uint32_t)(in[i * 4] + in[deeper * 4] + D));
    }
}

static void layers(void)
{
    enum { W = 20, H = 9, D = 4 };
    uint8_t *in = (uint8_t *)random_words(W * H * D);
    cl_mem mi = image(CL_RGBA, CL_UNORM_INT8, CL_MEM_OBJECT_IMAGE2D_ARRAY, W, H, D, in);
    cl_mem mo = image(CL_RGBA, CL_UNORM_INT8, CL_MEM_OBJECT_IMAGE2D_ARRAY, W, H, D, NULL);
    size_t global[3] = { W, H, D }, local[3] = { 5, 9, 1 };
    run3("layers", 3, global, local, 2, MEM(mi), MEM(mo));
    uint8_t *out = pixels(mo, W, H, D, 4);
    for (size_t i = 0; i < W * H * D * 4; i++)
        same32("channel", i, out[i], in[(D - 1 - i / (W * H * 4)) * W * H * 4 + i % (W * H * 4)]);
}

/* What the driver does without a kernel of the program: copies, fills, mappings, rectangles, memory of the program itself. */
static void commands(void)
{
    enum { BYTES = 8192 };
    cl_int status;
    uint8_t *in = (uint8_t *)random_words(BYTES / 4), *want = room(BYTES);
    cl_mem a = buffer(in, BYTES), b = buffer(NULL, BYTES);
    uint32_t pattern = 0x11223344;
    CL(clEnqueueFillBuffer(queue, b, &pattern, 4, 0, BYTES, 0, NULL, NULL));
    for (size_t i = 0; i < BYTES; i++)
        want[i] = (uint8_t)(pattern >> i % 4 * 8);
    CL(clEnqueueCopyBuffer(queue, a, b, 64, 128, 1024, 0, NULL, NULL));
    memcpy(want + 128, in + 64, 1024);
    CL(clEnqueueCopyBuffer(queue, a, b, 13, 2049, 777, 0, NULL, NULL));
    memcpy(want + 2049, in + 13, 777);
    size_t from[3] = { 3, 2, 0 }, to[3] = { 5, 40, 0 }, region[3] = { 33, 9, 1 };
    CL(clEnqueueCopyBufferRect(queue, a, b, from, to, region, 64, 0, 96, 0, 0, NULL, NULL));
    for (size_t y = 0; y < 9; y++)
        memcpy(want + (40 + y) * 96 + 5, in + (2 + y) * 64 + 3, 33);
    uint8_t *mapped = clEnqueueMapBuffer(queue, b, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 7000, 500, 0, NULL, NULL, &status);
    check_(status, "clEnqueueMapBuffer", __LINE__);
    for (size_t i = 0; i < 500; i++) {
        same32("mapped byte", i, mapped[i], want[7000 + i]);
        want[7000 + i] = mapped[i] = (uint8_t)(mapped[i] * 3 + 1);
    }
    CL(clEnqueueUnmapMemObject(queue, b, mapped, 0, NULL, NULL));
    uint8_t *got = content(b, BYTES);
    for (size_t i = 0; i < BYTES; i++)
        same32("byte", i, got[i], want[i]);

    /* An image of 30x10 from a buffer and back. */
    size_t zero[3] = { 0 }, whole[3] = { 30, 10, 1 };
    cl_mem picture = image(CL_RGBA, CL_UNSIGNED_INT8, CL_MEM_OBJECT_IMAGE2D, 30, 10, 0, NULL);
    cl_mem twin = image(CL_RGBA, CL_UNSIGNED_INT8, CL_MEM_OBJECT_IMAGE2D, 30, 10, 0, NULL);
    CL(clEnqueueCopyBufferToImage(queue, a, picture, 256, zero, whole, 0, NULL, NULL));
    CL(clEnqueueCopyImage(queue, picture, twin, zero, zero, whole, 0, NULL, NULL));
    CL(clEnqueueCopyImageToBuffer(queue, twin, b, zero, whole, 512, 0, NULL, NULL));
    got = content(b, BYTES);
    for (size_t i = 0; i < 1200; i++)
        same32("byte of the image", i, got[512 + i], in[256 + i]);

    /* Pages of the program. */
    uint32_t *own = NULL;
    if (posix_memalign((void **)&own, 4096, 8192))
        exit(2);
    for (size_t i = 0; i < 2048; i++)
        own[i] = (uint32_t)i * 77;
    cl_mem shared = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, 8192, own, &status);
    check_(status, "clCreateBuffer of pages of the program", __LINE__);
    cl_mem target = buffer(NULL, 2048 * 4);
    cl_uint rounds = 1;
    run1("loops", 2048, 64, 3, MEM(shared), MEM(target), VAL(rounds));
    uint32_t *after = content(target, 8192);
    for (uint32_t i = 0; i < 2048; i++)
        same32("word of the program", i, after[i], i * 77 * 1664525 + 1013904223);
}

static const struct {
    const char *name;
    void (*run)(void);
} programs[] = {
    { "ints", ints },           { "longs", longs },         { "narrow", narrow },       { "floats", floats },
    { "mathematics", mathematics }, { "converts", converts }, { "halves", halves },     { "loads", loads },
    { "reduce", reduce },       { "transpose", transpose }, { "neighbours", neighbours }, { "copies", copies },
    { "atomics", atomics },     { "histogram", histogram }, { "places", places },       { "scratch", scratch },
    { "pressure", pressure },   { "collatz", collatz },     { "loops", loops },         { "branches", branches },
    { "constants", constants }, { "subgroups", subgroups }, { "pictures", pictures },   { "filtered", filtered },
    { "solids", solids },       { "layers", layers },       { "commands", commands },
};

static char *text_of(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *text = room(1 << 20);
    if (!file || !fread(text, 1, (1 << 20) - 1, file)) {
        printf("%s cannot be read\n", path);
        exit(2);
    }
    fclose(file);
    return text;
}

int main(int count, char **arguments)
{
    if (count < 2) {
        puts("usage: opencl KERNELS [NAME ..]");
        return 2;
    }
    cl_int status;
    cl_platform_id platform;
    char name[200] = "", log[4000] = "";
    setvbuf(stdout, NULL, _IOLBF, 0);
    CL(clGetPlatformIDs(1, &platform, NULL));
    CL(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL));
    CL(clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof name, name, NULL));
    printf("device: %s\n", name);
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
    check_(status, "clCreateContext", __LINE__);
    queue = clCreateCommandQueue(context, device, 0, &status);
    check_(status, "clCreateCommandQueue", __LINE__);
    const char *source = text_of(arguments[1]);
    program = clCreateProgramWithSource(context, 1, &source, NULL, &status);
    check_(status, "clCreateProgramWithSource", __LINE__);
    if (clBuildProgram(program, 1, &device, "", NULL, NULL) != CL_SUCCESS) {
        clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, NULL);
        printf("the kernels do not compile:\n%s\n", log);
        return 2;
    }
    int bad = 0;
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        int asked = count == 2;
        for (int k = 2; k < count; k++)
            asked |= strcmp(arguments[k], programs[i].name) == 0;
        if (!asked)
            continue;
        wrongs = 0;
        programs[i].run();
        if (wrongs)
            printf("%s: WRONG: %s; %zu in all\n", programs[i].name, wrong, wrongs);
        else
            printf("%s: ok\n", programs[i].name);
        bad |= wrongs != 0;
    }
    return bad;
}
