/*
 * Converts pictures between formats by VA-API's video processing and compares them with swscale and with the formulas.
 *
 * vppconvert FROM TO WIDTHxHEIGHT [FROM TO WIDTHxHEIGHT ..]
 *     FROM and TO are nv12, i420, yuy2, uyvy, rgbx, bgrx (names of VA-API); both pictures have the size. Exit status 1 says that too much
 *     differs.
 *
 * Where samples are copied, each has to be the same: as in the source, and as swscale has it where it copies too (nv12, i420). Chroma of
 * other height follows the kernels' text (shaders/post_processing/gen5_6): a row between two is their mean, rounded up
 * (PL8x5_PL8x8.asm), and every other row is left out (PL8x8_PL8x4.asm). Four pixels share a chroma sample, and one is made of the upper
 * left pixel. Colours are those of BT.601 with 16 to 235. From RGB they may differ by LIMIT from the formula in floating point. To RGB the
 * kernel (YUV_to_RGBX_Coef.asm, YUVX_Save_RGBX_Fix.asm) cuts sums off below zero on its way, and so each sample has to be that of its fixed
 * point, and within LIMIT of the formula where nothing was cut off. The driver gives a surface of chroma height / 2 rows, rounded down.
 *
 * Pictures of RGB have a multiple of eight rows here: otherwise the kernel puts the masks of the last row of blocks where its factors are
 * (RGB16x8_Save_RGB.inc, rMASK_TEMP), and blocks from the second on have other colours.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libavutil/imgutils.h>
#include <libavutil/opt.h>
#include <libswscale/swscale.h>
#include <va/va.h>
#include <va/va_drm.h>
#include <va/va_vpp.h>

/* Greatest difference of a computed colour: the kernels' factors have seven and eight bits. */
enum { LIMIT = 2 };

#define VA(call)                                                                                        \
    do {                                                                                                \
        VAStatus status_ = call;                                                                        \
        if (status_ != VA_STATUS_SUCCESS) {                                                             \
            fprintf(stderr, "vppconvert: line %d: %s\n", __LINE__, vaErrorStr(status_));                \
            exit(2);                                                                                    \
        }                                                                                               \
    } while (0)

static void fail(const char *what)
{
    fprintf(stderr, "vppconvert: %s\n", what);
    exit(2);
}

struct format {
    const char *name;
    uint32_t fourcc, type;
    enum AVPixelFormat pixels;
    int planes, is_rgb;
};

static const struct format formats[] = {
    { "nv12", VA_FOURCC_NV12, VA_RT_FORMAT_YUV420, AV_PIX_FMT_NV12, 2, 0 },
    { "i420", VA_FOURCC_I420, VA_RT_FORMAT_YUV420, AV_PIX_FMT_YUV420P, 3, 0 },
    { "yuy2", VA_FOURCC_YUY2, VA_RT_FORMAT_YUV422, AV_PIX_FMT_YUYV422, 1, 0 },
    { "uyvy", VA_FOURCC_UYVY, VA_RT_FORMAT_YUV422, AV_PIX_FMT_UYVY422, 1, 0 },
    { "rgbx", VA_FOURCC_RGBX, VA_RT_FORMAT_RGB32, AV_PIX_FMT_RGB0, 1, 1 },
    { "bgrx", VA_FOURCC_BGRX, VA_RT_FORMAT_RGB32, AV_PIX_FMT_BGR0, 1, 1 },
};

static const struct format *format(const char *name)
{
    for (unsigned i = 0; i < sizeof formats / sizeof *formats; i++)
        if (!strcmp(name, formats[i].name))
            return formats + i;
    fail("unknown format");
    return NULL;
}

/* A picture, rows without gaps. */
struct picture {
    const struct format *format;
    int width, height;
    uint8_t *planes[4];
    int pitch[4];
};

static struct picture picture(const struct format *f, int width, int height)
{
    struct picture p = { f, width, height, { 0 }, { 0 } };
    if (av_image_alloc(p.planes, p.pitch, width, height, f->pixels, 1) < 0)
        fail("no memory");
    return p;
}

/* Rows of a plane that are compared; bytes of one. */
static int rows(const struct picture *p, int plane)
{
    return plane && p->format->planes > 1 ? p->height / 2 : p->height;
}

static int bytes(const struct picture *p, int plane)
{
    return av_image_get_linesize(p->format->pixels, p->width, plane);
}

/* Colours that change slowly, stripes, and noise in the lower half; all of them in what the format allows. */
static void paint(struct picture *p)
{
    uint32_t seed = 7;
    for (int plane = 0; plane < p->format->planes; plane++)
        for (int y = 0; y < rows(p, plane); y++)
            for (int x = 0; x < bytes(p, plane); x++) {
                seed = seed * 1664525 + 1013904223;
                int value = (x * (plane + 3) + y * 5) / 3 % 200;
                if (y > rows(p, plane) / 2)
                    value = seed >> 24;
                if (y % 16 == 3)
                    value = x / 3 % 2 ? 235 : 16;
                p->planes[plane][y * p->pitch[plane] + x] = 16 + value % 220;
            }
}

static VASurfaceID surface(VADisplay display, const struct format *f, int width, int height)
{
    VASurfaceAttrib attrib = {
        .type = VASurfaceAttribPixelFormat,
        .flags = VA_SURFACE_ATTRIB_SETTABLE,
        .value = { .type = VAGenericValueTypeInteger, .value.i = (int)f->fourcc },
    };
    VASurfaceID id;
    VA(vaCreateSurfaces(display, f->type, width, height, &id, 1, &attrib, 1));
    return id;
}

static void transfer(VADisplay display, VASurfaceID id, struct picture *p, int upload)
{
    VAImage image;
    uint8_t *data;
    VA(vaSyncSurface(display, id));
    VA(vaDeriveImage(display, id, &image));
    VA(vaMapBuffer(display, image.buf, (void **)&data));
    if (image.format.fourcc != p->format->fourcc)
        fail("the surface has another format");
    for (int plane = 0; plane < p->format->planes; plane++)
        for (int y = 0; y < rows(p, plane); y++) {
            uint8_t *there = data + image.offsets[plane] + y * image.pitches[plane];
            uint8_t *here = p->planes[plane] + y * p->pitch[plane];
            if (upload)
                memcpy(there, here, bytes(p, plane));
            else
                memcpy(here, there, bytes(p, plane));
        }
    VA(vaUnmapBuffer(display, image.buf));
    VA(vaDestroyImage(display, image.image_id));
}

static void swscale(const struct picture *from, struct picture *to)
{
    struct SwsContext *sws =
        sws_getContext(from->width, from->height, from->format->pixels, to->width, to->height, to->format->pixels,
                       SWS_POINT | SWS_ACCURATE_RND | SWS_BITEXACT, NULL, NULL, NULL);
    if (!sws)
        fail("swscale refuses the formats");
    sws_scale(sws, (const uint8_t *const *)from->planes, from->pitch, 0, from->height, to->planes, to->pitch);
    sws_freeContext(sws);
}

/* Where sample `part` (0 Y, 1 U, 2 V; 0 R, 1 G, 2 B) of a pixel lies; a place of chroma is that of its row of chroma. */
static uint8_t *sample(const struct picture *p, int part, int x, int row)
{
    static const int parts[2][3] = { { 0, 1, 3 }, { 1, 0, 2 } };
    const char *name = p->format->name;
    if (p->format->is_rgb)
        return p->planes[0] + row * p->pitch[0] + x * 4 + (name[0] == 'r' ? part : 2 - part);
    if (p->format->planes == 1) {
        int first = parts[name[0] == 'u'][part];
        return p->planes[0] + row * p->pitch[0] + (part ? x / 2 * 4 + first : x * 2 + first);
    }
    if (!part)
        return p->planes[0] + row * p->pitch[0] + x;
    if (p->format->planes == 2)
        return p->planes[1] + row * p->pitch[1] + x / 2 * 2 + part - 1;
    return p->planes[part] + row * p->pitch[part] + x / 2;
}

static int byte(double value)
{
    return value < 0 ? 0 : value > 255 ? 255 : (int)(value + 0.5);
}

static int within(int value, int low, int high)
{
    return value < low ? low : value > high ? high : value;
}

/* A colour in the kernel's fixed point: words, then words without sign, all of them saturated. */
static int fixed(int part, int c, int d, int e, int *cut)
{
    static const int factors[3][3] = { { 149, 0, 204 }, { 149, -50, -104 }, { 149, 258, 0 } };
    const int *f = factors[part];
    int y = within(c * f[0], -32768, 32767), u = within(d * f[1], -32768, 32767), v = within(e * f[2], -32768, 32767);
    int sum = within(y + u, 0, 65535);
    *cut = sum != y + u || u != d * f[1];
    sum = within(sum + v, 0, 65535);
    return within((sum + 128) << 1, 0, 65535) >> 8;
}

/* Whether the chroma of a format has half the rows. */
static int is_half(const struct picture *p)
{
    return p->format->planes > 1;
}

/* What a sample of the target has to be; `row` counts rows of what it belongs to. */
static int expected(const struct picture *from, const struct picture *to, int part, int x, int row)
{
    if (from->format->is_rgb) {
        int y = part ? row * 2 : row, left = part ? x / 2 * 2 : x;
        double r = *sample(from, 0, left, y), g = *sample(from, 1, left, y), b = *sample(from, 2, left, y);
        double of[3] = { 16 + 0.257 * r + 0.504 * g + 0.098 * b, 128 - 0.148 * r - 0.291 * g + 0.439 * b,
                         128 + 0.439 * r - 0.368 * g - 0.071 * b };
        return byte(of[part]);
    }
    if (to->format->is_rgb) {
        int half = row / 2 < from->height / 2 ? row / 2 : from->height / 2 - 1;
        int c = *sample(from, 0, x, row) - 16, u = *sample(from, 1, x, half) - 128, v = *sample(from, 2, x, half) - 128, cut;
        double luma = 1.164 * c;
        double of[3] = { luma + 1.596 * v, luma - 0.392 * u - 0.813 * v, luma + 2.017 * u };
        int text = fixed(part, c, u, v, &cut), formula = byte(of[part]);
        if (!cut && abs(text - formula) > LIMIT)
            fail("fixed point is far from the formula");
        return text;
    }
    if (!part || is_half(from) == is_half(to))
        return *sample(from, part, x, row);
    if (is_half(to))
        return *sample(from, part, x, row * 2);
    int last = from->height / 2 - 1, above = row / 2 < last ? row / 2 : last;
    int below = row % 2 && above < last ? above + 1 : above;
    return (*sample(from, part, x, above) + *sample(from, part, x, below) + 1) / 2;
}

int main(int argc, char **argv)
{
    int fd = open("/dev/dri/renderD128", O_RDWR), bad = 0;
    if (fd < 0)
        fail("no render node");
    int major, minor;
    VADisplay display = vaGetDisplayDRM(fd);
    VA(vaInitialize(display, &major, &minor));
    printf("%s\n", vaQueryVendorString(display));
    VAConfigID config;
    VA(vaCreateConfig(display, VAProfileNone, VAEntrypointVideoProc, NULL, 0, &config));
    for (int i = 1; i + 2 < argc; i += 3) {
        const struct format *in = format(argv[i]), *out = format(argv[i + 1]);
        int width, height;
        if (sscanf(argv[i + 2], "%dx%d", &width, &height) != 2)
            fail("usage: vppconvert FROM TO WIDTHxHEIGHT ..");
        struct picture from = picture(in, width, height), to = picture(out, width, height);
        struct picture want = picture(out, width, height);
        paint(&from);
        if (in->planes > 1 && out->planes > 1)
            swscale(&from, &want);
        VASurfaceID source = surface(display, in, width, height), target = surface(display, out, width, height);
        VAContextID context;
        VA(vaCreateContext(display, config, width, height, VA_PROGRESSIVE, &target, 1, &context));
        transfer(display, source, &from, 1);
        /* What is not written is seen. */
        for (int plane = 0; plane < out->planes; plane++)
            memset(to.planes[plane], 1, rows(&to, plane) * to.pitch[plane]);
        transfer(display, target, &to, 1);
        VAProcPipelineParameterBuffer parameters = { .surface = source };
        VABufferID buffer;
        VA(vaCreateBuffer(display, context, VAProcPipelineParameterBufferType, sizeof parameters, 1, &parameters, &buffer));
        VA(vaBeginPicture(display, context, target));
        VA(vaRenderPicture(display, context, &buffer, 1));
        VA(vaEndPicture(display, context));
        VA(vaSyncSurface(display, target));
        VA(vaDestroyBuffer(display, buffer));
        transfer(display, target, &to, 0);
        int greatest = 0, at[3] = { 0 }, limit = in->is_rgb ? LIMIT : 0;
        int copies = in != out && in->planes > 1 && out->planes > 1;
        long differ = 0, samples = 0;
        for (int part = 0; part < 3; part++) {
            int chroma = part && !out->is_rgb;
            for (int row = 0; row < (chroma && is_half(&to) ? height / 2 : height); row++)
                for (int x = 0; x < width; x += chroma ? 2 : 1) {
                    int got = *sample(&to, part, x, row), off = abs(got - expected(&from, &to, part, x, row));
                    if (copies && got != *sample(&want, part, x, row))
                        off = 255;
                    samples++;
                    differ += off != 0;
                    if (off > greatest) {
                        greatest = off;
                        memcpy(at, (int[]){ part, x, row }, sizeof at);
                    }
                }
        }
        printf("%s -> %s %dx%d: %ld samples, %ld differ, greatest difference %d (sample %d of pixel %d, row %d)%s\n", in->name, out->name,
               width, height, samples, differ, greatest, at[0], at[1], at[2], greatest > limit ? ": TOO MUCH" : "");
        fflush(stdout);
        bad |= greatest > limit;
        VA(vaDestroyContext(display, context));
        VA(vaDestroySurfaces(display, &source, 1));
        VA(vaDestroySurfaces(display, &target, 1));
        av_freep(from.planes);
        av_freep(to.planes);
        av_freep(want.planes);
    }
    VA(vaTerminate(display));
    return bad;
}
