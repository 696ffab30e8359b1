/* Kernels of tests/tools/opencl.c: one program, because compiling it takes longer than running all of them. */

__kernel void ints(__global const int *a, __global const int *b, __global int *out)
{
    int i = get_global_id(0), n = get_global_size(0);
    int x = a[i], y = b[i];
    uint ux = as_uint(x), uy = as_uint(y);
    out[i] = x + y * 3 - (x ^ y);
    out[n + i] = mul_hi(x, y);
    out[2 * n + i] = y ? x / y : 0;
    out[3 * n + i] = uy ? ux % uy : 0;
    out[4 * n + i] = (x << (y & 31)) ^ (x >> (uy & 7)) ^ (int)(ux >> (uy & 15));
    out[5 * n + i] = rotate(x, y);
    out[6 * n + i] = clz(x) + 64 * (x < y) + 128 * (ux < uy);
    out[7 * n + i] = as_int(abs_diff(x, y));
    out[8 * n + i] = hadd(x | 1, y | 1); /* beignet takes the sign of a mean with zero for that of a number without one */
    out[9 * n + i] = add_sat(x, y) ^ sub_sat(y, x);
    out[10 * n + i] = mad24(x & 0xffff, y & 0x7fff, x);
    out[11 * n + i] = as_int(upsample(as_ushort2(x).y, as_ushort2(y).x));
}

__kernel void longs(__global const long *a, __global const long *b, __global long *out)
{
    int i = get_global_id(0), n = get_global_size(0);
    long x = a[i], y = b[i];
    out[i] = x + y * 5;
    out[n + i] = y ? x / y : 0;
    out[2 * n + i] = y ? as_long(as_ulong(x) % as_ulong(y)) : 0;
    out[3 * n + i] = (x << (y & 63)) ^ (x >> (y & 31)) ^ as_long(as_ulong(x) >> (y & 47));
    out[4 * n + i] = (x < y) + 2 * (as_ulong(x) < as_ulong(y)) + 4 * (x == y);
    out[5 * n + i] = (long)(int)x * (int)y;
}

__kernel void narrow(__global const char16 *a, __global const char16 *b, __global char16 *out, __global const short8 *c,
                     __global short8 *wide)
{
    int i = get_global_id(0);
    out[i] = add_sat(a[i], b[i]) ^ (a[i].s0123456789abcdef * b[i].sfedcba9876543210);
    wide[i] = (c[i] << (short8)3) + c[i].s76543210 + select(c[i], -c[i], c[i] < (short8)0);
}

__kernel void floats(__global const float *a, __global const float *b, __global float *out)
{
    int i = get_global_id(0), n = get_global_size(0);
    float x = a[i], y = b[i];
    out[i] = x + y;
    out[n + i] = x * y;
    out[2 * n + i] = fmax(x, y) - fmin(x, y);
    out[3 * n + i] = floor(x) + ceil(y);
    out[4 * n + i] = rint(x) + trunc(y) + round(x);
    out[5 * n + i] = copysign(fabs(x), y);
    out[6 * n + i] = convert_float(convert_int_sat(x * 1e6f)) + (isless(x, y) ? 1.0f : 2.0f);
    out[7 * n + i] = fmod(x, y);
}

__kernel void mathematics(__global const float *a, __global const float *b, __global float *out)
{
    int i = get_global_id(0), n = get_global_size(0);
    float x = a[i], y = fabs(b[i]) + 0.125f;
    out[i] = x / y;
    out[n + i] = sqrt(y);
    out[2 * n + i] = rsqrt(y);
    out[3 * n + i] = exp(x * 0.125f);
    out[4 * n + i] = log2(y);
    out[5 * n + i] = sin(x);
    out[6 * n + i] = cos(x);
    out[7 * n + i] = pow(y, 1.5f);
    out[8 * n + i] = atan2(x, y);
    out[9 * n + i] = tanh(x * 0.0625f);
}

__kernel void converts(__global const float *a, __global int *out)
{
    int i = get_global_id(0), n = get_global_size(0);
    float x = a[i];
    out[i] = convert_int_rte(x);
    out[n + i] = convert_int_rtz(x);
    out[2 * n + i] = convert_int_rtp(x);
    out[3 * n + i] = convert_int_rtn(x);
    out[4 * n + i] = convert_uchar_sat(x);
    out[5 * n + i] = convert_char_sat_rte(x);
    out[6 * n + i] = convert_ushort_sat(x * 700.0f);
    out[7 * n + i] = as_int(convert_float((uint)as_int(x)));
}

__kernel void halves(__global const half *in, __global half *out, __global float *full)
{
    int i = get_global_id(0);
    float x = vload_half(i, in);
    full[i] = x;
    vstore_half(x * 0.5f, i, out);
}

__kernel void loads(__global const int *in, __global int *out, __global const uchar *bytes)
{
    int i = get_global_id(0);
    int3 v = vload3(i, in);
    uchar4 b = vload4(i, bytes + 1);
    vstore3(v.zxy + (int3)(b.x, b.y, b.z + b.w), i, out);
}

/* The sum of each group; groups may have any size. */
__kernel void reduce(__global const int *in, __global int *out, __local int *tmp)
{
    int l = get_local_id(0), n = get_local_size(0);
    tmp[l] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    while (n > 1) {
        int half_ = (n + 1) / 2;
        if (l + half_ < n)
            tmp[l] += tmp[l + half_];
        barrier(CLK_LOCAL_MEM_FENCE);
        n = half_;
    }
    if (l == 0)
        out[get_group_id(0)] = tmp[0];
}

__kernel void transpose(__global const int *in, __global int *out, int width, int height)
{
    __local int tile[16][17];
    int x = get_global_id(0), y = get_global_id(1);
    tile[get_local_id(1)][get_local_id(0)] = in[y * width + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    x = get_group_id(1) * 16 + get_local_id(0);
    y = get_group_id(0) * 16 + get_local_id(1);
    out[y * height + x] = tile[get_local_id(0)][get_local_id(1)];
}

/* Bytes and halves in local memory, neighbours read behind a barrier. */
__kernel void neighbours(__global const uchar *in, __global ushort *out)
{
    __local uchar b[256];
    __local ushort s[256];
    int l = get_local_id(0), n = get_local_size(0), i = get_global_id(0);
    b[l] = in[i];
    s[n - 1 - l] = in[i] * 257;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = b[(l + 1) % n] + s[(l + 5) % n];
}

__kernel void copies(__global const int4 *in, __global int4 *out, __local int4 *tmp)
{
    int n = get_local_size(0), base = get_group_id(0) * n;
    event_t e = async_work_group_copy(tmp, in + base, n, 0);
    wait_group_events(1, &e);
    int4 v = tmp[n - 1 - get_local_id(0)] + 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    tmp[get_local_id(0)] = v;
    barrier(CLK_LOCAL_MEM_FENCE);
    e = async_work_group_copy(out + base, tmp, n, 0);
    wait_group_events(1, &e);
}

__kernel void atomics(__global int *w, __global int *old)
{
    int i = get_global_id(0);
    old[i] = atomic_inc(&w[0]);
    atomic_add(&w[1], i);
    atomic_sub(&w[2], i * 3);
    atomic_min(&w[3], 1000 - i);
    atomic_max(&w[4], i - 1000);
    atomic_min((volatile __global uint *)&w[5], (uint)(i - 5));
    atomic_max((volatile __global uint *)&w[6], (uint)(i - 5));
    atomic_or(&w[7], 1 << (i & 31));
    atomic_and(&w[8], ~(1 << (i % 30)));
    atomic_xor(&w[9], i * 2654435761u);
    atomic_dec(&w[10]);
    int seen, next = w[11];
    do {
        seen = next;
        next = atomic_cmpxchg(&w[11], seen, seen + 2);
    } while (next != seen);
    /* Each number comes out once but the last, which stays. */
    atomic_add(&w[13], atomic_xchg(&w[12], i + 1));
}

__kernel void histogram(__global const uint *in, __global int *out, int each)
{
    __local int bins[64];
    int l = get_local_id(0), n = get_local_size(0);
    for (int i = l; i < 64; i += n)
        bins[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < each; i++)
        atomic_inc(&bins[in[get_global_id(0) * each + i] & 63]);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = l; i < 64; i += n)
        atomic_add(&out[i], bins[i]);
}

/* Where each item is, of ranges and groups of any size. */
__kernel void places(__global int8 *out)
{
    size_t x = get_global_id(0) - get_global_offset(0), y = get_global_id(1) - get_global_offset(1),
           z = get_global_id(2) - get_global_offset(2);
    size_t at = (z * get_global_size(1) + y) * get_global_size(0) + x;
    out[at] = (int8)(get_global_id(0) | get_global_id(1) << 10 | get_global_id(2) << 20,
                     get_local_id(0) | get_local_id(1) << 10 | get_local_id(2) << 20,
                     get_group_id(0) | get_group_id(1) << 10 | get_group_id(2) << 20,
                     get_local_size(0) | get_local_size(1) << 10 | get_local_size(2) << 20,
                     get_num_groups(0) | get_num_groups(1) << 10 | get_num_groups(2) << 20, get_work_dim(), 7, 8);
}

/* An array that registers cannot hold, read and written by computed indices. */
__kernel void scratch(__global const int *in, __global int *out)
{
    int own[200];
    int i = get_global_id(0), n = get_global_size(0);
    for (int k = 0; k < 200; k++)
        own[k] = in[(i + k * 7) % n];
    for (int k = 0; k < 400; k++) {
        int at = ((uint)own[k % 200] >> 3) % 200;
        own[at] = own[at] * 5 + own[(at + k) % 200];
    }
    int sum = 0;
    for (int k = 0; k < 200; k++)
        sum = sum * 31 + own[k];
    out[i] = sum;
}

/* More values alive at once than there are registers. */
__kernel void pressure(__global const int16 *in, __global int16 *out)
{
    int i = get_global_id(0) * 12;
    int16 a = in[i], b = in[i + 1], c = in[i + 2], d = in[i + 3], e = in[i + 4], f = in[i + 5], g = in[i + 6], h = in[i + 7],
          j = in[i + 8], k = in[i + 9], l = in[i + 10], m = in[i + 11];
    for (int r = 0; r < 3; r++) {
        a += b * m; b ^= c + a; c += d * b; d ^= e + c; e += f * d; f ^= g + e;
        g += h * f; h ^= j + g; j += k * h; k ^= l + j; l += m * k; m ^= a + l;
    }
    out[i] = a; out[i + 1] = b; out[i + 2] = c; out[i + 3] = d; out[i + 4] = e; out[i + 5] = f;
    out[i + 6] = g; out[i + 7] = h; out[i + 8] = j; out[i + 9] = k; out[i + 10] = l; out[i + 11] = m;
}

__kernel void collatz(__global const uint *in, __global uint *out)
{
    int i = get_global_id(0);
    uint x = in[i], steps = 0;
    while (x != 1) {
        x = x & 1 ? 3 * x + 1 : x / 2;
        steps++;
    }
    out[i] = steps;
}

__kernel void loops(__global const uint *in, __global uint *out, uint rounds)
{
    int i = get_global_id(0);
    uint x = in[i];
    for (uint k = 0; k < rounds; k++)
        x = x * 1664525 + 1013904223;
    out[i] = x;
}

int branch(int x, int depth)
{
    int r = 0;
    for (int i = 0; i < 20; i++) {
        if ((x + i) % 7 == 3)
            continue;
        if ((x ^ i) % 11 == 10)
            break;
        switch ((x + i * depth) & 3) {
        case 0: r += i; break;
        case 1: r ^= x; /* on to the next */
        case 2: r += 3; break;
        default:
            for (int j = 0; j < (x & 7); j++) {
                if (j == depth)
                    goto out;
                r = r * 2 + j;
            }
        }
    }
out:
    return r;
}

__kernel void branches(__global const int *in, __global int *out)
{
    int i = get_global_id(0), x = in[i] & 0xffff, r = 0;
    if (x & 1) {
        for (int d = 0; d < (x & 15); d++)
            r += branch(x, d);
    } else if (x & 2) {
        r = x > 30000 ? branch(x, 3) : -branch(x, 5);
        if (r < 0) {
            out[i] = r;
            return;
        }
    }
    out[i] = r * 3;
}

struct pair {
    int a;
    float b;
    char c[5];
    short d;
};
__constant int squares[10] = { 0, 1, 4, 9, 16, 25, 36, 49, 64, 81 };

__kernel void constants(__global const int *in, __global int *out, __constant int *table, struct pair p)
{
    int i = get_global_id(0);
    out[i] = squares[(uint)in[i] % 10] + table[(uint)in[i] % 17] * p.a + (int)p.b + p.c[3] * p.d;
}

/* Sums of the sub-group, neighbours by shuffle, and numbers. */
#ifdef cl_intel_subgroups
__kernel void subgroups(__global const int *in, __global int *out)
{
    int i = get_global_id(0), n = get_global_size(0);
    int x = in[i];
    uint lane = get_sub_group_local_id();
    out[i] = get_sub_group_size() | lane << 8 | get_sub_group_id() << 16 | get_num_sub_groups() << 24;
    out[n + i] = sub_group_reduce_add(x);
    out[2 * n + i] = sub_group_scan_inclusive_max(x);
    out[3 * n + i] = sub_group_broadcast(x, 3);
    out[4 * n + i] = intel_sub_group_shuffle(x, (lane * 5 + 1) % 8);
    out[5 * n + i] = intel_sub_group_shuffle_xor(x, 2);
    out[6 * n + i] = sub_group_any(x & 1) + 2 * sub_group_all(x > 0);
    out[7 * n + i] = intel_sub_group_block_read((__global const uint *)in + get_group_id(0) * get_local_size(0) +
                                               get_sub_group_id() * get_max_sub_group_size());
}
#endif

__constant sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
__constant sampler_t bordered = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
__constant sampler_t linear = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_LINEAR;
__constant sampler_t wrapped = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_REPEAT | CLK_FILTER_NEAREST;

/* Each pixel of an image one to the right and two down, with a channel turned. */
__kernel void pictures(__read_only image2d_t in, __write_only image2d_t out, __global uint4 *outside)
{
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    uint4 c = read_imageui(in, nearest, at + (int2)(1, 2));
    write_imageui(out, at, c.yzwx);
    outside[at.y * get_image_width(in) + at.x] = read_imageui(in, bordered, at - (int2)(2, 1));
}

__kernel void filtered(__read_only image2d_t in, __global float4 *out)
{
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    int w = get_global_size(0), n = w * get_global_size(1), i = at.y * w + at.x;
    out[i] = read_imagef(in, linear, convert_float2(at) * 0.5f + 0.25f);
    out[n + i] = read_imagef(in, wrapped, (convert_float2(at) + 0.5f) / (float2)(get_image_width(in), get_image_height(in)) + 1.0f);
}

__kernel void solids(__read_only image3d_t in, __write_only image3d_t out, __global int *sums)
{
    int4 at = (int4)(get_global_id(0), get_global_id(1), get_global_id(2), 0);
    int4 c = read_imagei(in, nearest, at);
    write_imagei(out, at, c + 1);
    sums[(at.z * get_global_size(1) + at.y) * get_global_size(0) + at.x] =
        c.x + read_imagei(in, nearest, at + (int4)(0, 0, 1, 0)).x + get_image_depth(in);
}

__kernel void layers(__read_only image2d_array_t in, __write_only image2d_array_t out)
{
    int4 at = (int4)(get_global_id(0), get_global_id(1), get_global_id(2), 0);
    write_imagef(out, at, read_imagef(in, nearest, (int4)(at.x, at.y, get_global_size(2) - 1 - at.z, 0)));
}
