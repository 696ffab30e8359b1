/*
 * Scales pictures by VA-API's video processing and compares them with swscale.
 *
 * vpp [-u] [-8] [-m default|fast|hq] [-o PREFIX] [-w FILE] SOURCE FROM TO [SOURCE FROM TO ..]
 *     SOURCE is nv12 or i420, FROM and TO are WIDTHxHEIGHT, 8 at least. For each triple the greatest difference of a luma and of a chroma
 *     sample is printed; exit status 1 says that one is above 2. Where the sizes are equal nothing is scaled, and every
 *     sample has to be the same. -o writes the scaled pictures as PPM, -w what swscale makes of the last one as planes of Y, U
 *     and V. With -u the driver's batches stay as they are
 *     (see drm_intel_bo_mrb_exec), and no sample of the target may change.
 * vpp -d
 *     asks for an MPEG-2 decoder; exit status 3 says that the driver offers none.
 * vpp -D
 *     lets the driver believe that there is a ring for decoders and decodes a slice of MPEG-2.
 *
 * i965-va-driver's kernel samples at the upper left corner of a pixel of the target: pixel i is the source at
 * i * FROM / TO - 1/2, counted from centre to centre. swscale samples at the centre unless it is told where the chroma
 * sits, so each plane is handed to it as chroma of a 4:4:4 picture whose target position is -128 (half a pixel to the
 * left and up). Its "fast bilinear" with sixteen bits is the sampler's filter: two samples in each direction, also where
 * the picture shrinks. (Below eight pixels it is another one.)
 *
 * -8 is for devices whose kernel samples by the sampler's 8x8 filter, ValleyView: pixel i is the source at i * FROM / TO, in phases of
 * a 32nd of a sample, and copies are made in the same way. What is expected is computed here, from the places that the kernel sends
 * (eight()).
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libavutil/opt.h>
#include <libswscale/swscale.h>
#include <intel_bufmgr.h>
#include <va/va.h>
#include <va/va_drm.h>
#include <va/va_vpp.h>

/* Greatest difference that two correct filters may have. */
enum { TOLERANCE = 2 };
/* Greatest difference of the 8x8 filter: half a level of rounding, and one step of its 8.8. */
#define ROUNDING 0.51

#define VA(call)                                                                                        \
    do {                                                                                                \
        VAStatus status_ = call;                                                                        \
        if (status_ != VA_STATUS_SUCCESS) {                                                             \
            fprintf(stderr, "vpp: line %d: %s\n", __LINE__, vaErrorStr(status_));                       \
            exit(2);                                                                                    \
        }                                                                                               \
    } while (0)

static void fail(const char *what)
{
    fprintf(stderr, "vpp: %s\n", what);
    exit(2);
}

/* A picture of three planes without gaps; chroma has half the width and height. */
struct picture {
    int width, height;
    int cw, ch;
    uint8_t *plane[3];
};

static struct picture picture(int width, int height)
{
    struct picture p = { width, height, (width + 1) / 2, (height + 1) / 2, { 0 } };
    for (int i = 0; i < 3; i++) {
        p.plane[i] = calloc(i ? p.cw * p.ch : width * height, 1);
        if (!p.plane[i])
            fail("no memory");
    }
    return p;
}

static void drop(struct picture *p)
{
    for (int i = 0; i < 3; i++)
        free(p->plane[i]);
}

/* Gradients, a disc, stripes of several widths and noise. */
static void paint(struct picture *p)
{
    uint32_t seed = 1;
    for (int y = 0; y < p->height; y++)
        for (int x = 0; x < p->width; x++) {
            int value = 16 + 219 * x / p->width;
            int dx = 4 * x - 2 * p->width, dy = 4 * y - p->height;
            if (dx * dx + dy * dy < p->height * p->height / 2)
                value = 235 - 200 * y / p->height;
            if (y > p->height * 3 / 4) {
                int run = 1 + 8 * x / p->width;
                value = (x / run) % 2 ? 235 : 16;
            } else if (y > p->height / 2) {
                seed = seed * 1664525 + 1013904223;
                value = seed >> 24;
            }
            p->plane[0][y * p->width + x] = value;
        }
    for (int y = 0; y < p->ch; y++)
        for (int x = 0; x < p->cw; x++) {
            seed = seed * 1664525 + 1013904223;
            p->plane[1][y * p->cw + x] = y > p->ch / 2 ? (int)(seed >> 24) : 240 - 224 * x / p->cw;
            p->plane[2][y * p->cw + x] = y > p->ch / 2 ? (int)(seed >> 16 & 255) : 16 + 224 * y / p->ch;
        }
}

/* -D: there is a ring for decoders. */
static int pretend;

/* Stands before libdrm's function by which the driver asks for parameters (DRM_I915_GETPARAM 6, I915_PARAM_HAS_BSD 10). */
int drmCommandWriteRead(int fd, unsigned long index, void *data, unsigned long size)
{
    struct {
        int param;
        int *value;
    } *get = data;
    void *library = dlopen("libdrm.so.2", RTLD_NOW);
    int (*real)(int, unsigned long, void *, unsigned long);
    if (!library || !(real = (int (*)(int, unsigned long, void *, unsigned long))dlsym(library, "drmCommandWriteRead")))
        fail("libdrm.so.2 is missing");
    int result = real(fd, index, data, size);
    if (pretend && index == 6 && get->param == 10) {
        *get->value = 1;
        result = 0;
    }
    return result;
}

/* Width and height of the passes of the picture that is scaled. */
static int passes[2][2];
static int masks_are_left;

/* Masks of the blocks of one pass: `objects` has the inline data of its MEDIA_OBJECTs. */
static void set_masks(uint32_t **objects, int count)
{
    /* Blocks in a row of an object; 1 is an object for each column. */
    int across = objects[0][5] >> 24, columns = across == 1 && count > 1;
    int width = 16 * (columns ? count : across), height = 8 * (columns ? (int)(objects[0][6] >> 24) : count);
    for (int i = 0; i < 2; i++)
        if ((passes[i][0] + 15) / 16 * 16 == width && (passes[i][1] + 7) / 8 * 8 == height) {
            width = passes[i][0];
            height = passes[i][1];
        }
    uint32_t right = width % 16 ? (1u << width % 16) - 1 : 0xffff, bottom = height % 8 ? (1u << height % 8) - 1 : 0xff;
    for (int i = 0; i < count; i++) {
        uint32_t *data = objects[i], first = 0xffff, last = right, middle = 0xffff, rows = 0xff, end = bottom;
        int final = i == count - 1;
        if (columns) {
            first = last = middle = final ? right : 0xffff;
        } else {
            rows = end = final ? bottom : 0xff;
            if (across == 1)
                first = right;
        }
        data[6] = (data[6] & 0xff000000) | rows << 16 | first;
        data[9] = end << 16 | last;
        data[10] = middle;
    }
}

/*
 * Stands before the function of libdrm by which the driver submits a batch, and sets the masks of the blocks.
 *
 * Since commit 1e149662 of 2012 the driver sets them in gen6_pp_object_walker alone, and Ironlake's kernels, which are the same
 * text, find zero in g5.6: no sample of the target may change. A user's report of it is mpv's issue 2123 (the picture is green,
 * which is what a surface of zeros looks like). What is set here is what update_block_mask_parameter sets for later devices.
 */
int drm_intel_bo_mrb_exec(drm_intel_bo *bo, int used, struct drm_clip_rect *rects, int count, int dr4, unsigned int flags)
{
    int (*real)(drm_intel_bo *, int, struct drm_clip_rect *, int, int, unsigned int);
    void *library = dlopen("libdrm_intel.so.1", RTLD_NOW);
    if (!library || !(real = (int (*)(drm_intel_bo *, int, struct drm_clip_rect *, int, int, unsigned int))dlsym(
                          library, "drm_intel_bo_mrb_exec")))
        fail("libdrm_intel.so.1 is missing");
    if (!masks_are_left && !drm_intel_bo_map(bo, 1)) {
        uint32_t *batch = bo->virtual, *objects[512];
        int found = 0, length;
        for (int at = 0; at < used / 4; at += length) {
            uint32_t header = batch[at];
            int object = header >> 16 == 0x7100;
            length = header >> 29 == 0 || header >> 16 == 0x6904 ? 1 : (int)(header & (object ? 0xffff : 0xff)) + 2;
            if (object && length == 20 && found < 512)
                objects[found++] = batch + at + 4;
            if (found && (!object || at + length >= used / 4)) {
                set_masks(objects, found);
                found = 0;
            }
        }
        drm_intel_bo_unmap(bo);
    }
    return real(bo, used, rects, count, dr4, flags);
}

/* One colour, as the scaling kernel merges the chroma of the target's left edge where all samples are masked. */
static void flatten(struct picture *p)
{
    for (int i = 1; i < 3; i++)
        memset(p->plane[i], 77 * i, p->cw * p->ch);
}

static VASurfaceID surface(VADisplay display, uint32_t fourcc, int width, int height)
{
    VASurfaceAttrib attrib = {
        .type = VASurfaceAttribPixelFormat,
        .flags = VA_SURFACE_ATTRIB_SETTABLE,
        .value = { .type = VAGenericValueTypeInteger, .value.i = (int)fourcc },
    };
    VASurfaceID id;
    VA(vaCreateSurfaces(display, VA_RT_FORMAT_YUV420, width, height, &id, 1, &attrib, 1));
    return id;
}

/* Copies between a picture and a surface. */
static void transfer(VADisplay display, VASurfaceID id, struct picture *p, int upload)
{
    VAImage image;
    uint8_t *bytes;
    VA(vaSyncSurface(display, id));
    VA(vaDeriveImage(display, id, &image));
    VA(vaMapBuffer(display, image.buf, (void **)&bytes));
    int interleaved = image.format.fourcc == VA_FOURCC_NV12;
    for (int i = 0; i < 3; i++) {
        int plane = interleaved && i == 2 ? 1 : i;
        int step = interleaved && i ? 2 : 1;
        int width = i ? p->cw : p->width, height = i ? p->ch : p->height;
        if ((unsigned)width * step > image.pitches[plane])
            fail("rows of the surface are too short");
        for (int y = 0; y < height; y++) {
            uint8_t *row = bytes + image.offsets[plane] + y * image.pitches[plane] + (interleaved && i == 2);
            uint8_t *own = p->plane[i] + y * width;
            for (int x = 0; x < width; x++) {
                if (upload)
                    row[x * step] = own[x];
                else
                    own[x] = row[x * step];
            }
        }
    }
    VA(vaUnmapBuffer(display, image.buf));
    VA(vaDestroyImage(display, image.image_id));
}

static void process(VADisplay display, VAContextID context, VASurfaceID from, VASurfaceID to, uint32_t flags)
{
    VAProcPipelineParameterBuffer parameters = { .surface = from, .filter_flags = flags };
    VABufferID buffer;
    VA(vaCreateBuffer(display, context, VAProcPipelineParameterBufferType, sizeof parameters, 1, &parameters, &buffer));
    VA(vaBeginPicture(display, context, to));
    VA(vaRenderPicture(display, context, &buffer, 1));
    VA(vaEndPicture(display, context));
    VA(vaSyncSurface(display, to));
    VA(vaDestroyBuffer(display, buffer));
}

/* Scales one plane; the result has 16 bits. */
static uint16_t *swscale(const uint8_t *from, int fw, int fh, int tw, int th)
{
    struct SwsContext *sws = sws_alloc_context();
    uint16_t *to[3];
    uint8_t *grey = calloc(fw, fh);
    if (!sws || !grey)
        fail("no memory");
    av_opt_set_int(sws, "srcw", fw, 0);
    av_opt_set_int(sws, "srch", fh, 0);
    av_opt_set_int(sws, "dstw", tw, 0);
    av_opt_set_int(sws, "dsth", th, 0);
    av_opt_set_int(sws, "src_format", AV_PIX_FMT_YUV444P, 0);
    av_opt_set_int(sws, "dst_format", AV_PIX_FMT_YUV444P16LE, 0);
    av_opt_set_int(sws, "src_h_chr_pos", 0, 0);
    av_opt_set_int(sws, "src_v_chr_pos", 0, 0);
    av_opt_set_int(sws, "dst_h_chr_pos", -128, 0);
    av_opt_set_int(sws, "dst_v_chr_pos", -128, 0);
    av_opt_set_int(sws, "sws_flags", SWS_FAST_BILINEAR | SWS_ACCURATE_RND | SWS_BITEXACT, 0);
    if (sws_init_context(sws, NULL, NULL) < 0)
        fail("swscale refuses the sizes");
    for (int i = 0; i < 3; i++)
        to[i] = aligned_alloc(64, ((size_t)tw * th * 2 + 128) / 64 * 64);
    const uint8_t *planes[4] = { grey, from, grey };
    int strides[4] = { fw, fw, fw };
    uint8_t *targets[4] = { (uint8_t *)to[0], (uint8_t *)to[1], (uint8_t *)to[2] };
    int steps[4] = { tw * 2, tw * 2, tw * 2 };
    sws_scale(sws, planes, strides, 0, fh, targets, steps);
    sws_freeContext(sws);
    free(grey);
    free(to[0]);
    free(to[2]);
    return to[1];
}

/* One place of a plane as a filter of two samples in each direction has it, in phases of a 32nd. */
static double linear(const uint8_t *from, int pitch, int w, int h, double x, double y)
{
    double at[2] = { floor(x * 32 + 0.5) / 32, floor(y * 32 + 0.5) / 32 }, sum = 0;
    for (int j = 0; j < 2; j++)
        for (int i = 0; i < 2; i++) {
            int column = (int)floor(at[0]) + i, row = (int)floor(at[1]) + j;
            double weight = (1 - fabs(column - at[0])) * (1 - fabs(row - at[1]));
            column = column < 0 ? 0 : column >= w ? w - 1 : column;
            row = row < 0 ? 0 : row >= h ? h - 1 : row;
            sum += weight * from[row * pitch + column];
        }
    return sum;
}

/*
 * Scales one plane as the kernel of generation 7 asks for it (shaders/post_processing/gen7: VP_Setup.g4a, Set_Layer_0.g4a,
 * PL2_AVS_Buf_0.g4a; gen7_pp_plx_avs_initialize): blocks of sixteen by sixteen pixels, of which luma is moved to the left where it would
 * begin up to 5/256 of a sample before a whole one, and by 1/256 to the right where it begins up to 1/256 behind ("Gen7 AVS WA").
 */
static uint16_t *eight(const uint8_t *from, int pitch, int fw, int fh, int tw, int th, int chroma)
{
    uint16_t *to = calloc((size_t)tw * th, 2);
    int least = (fw - 1) / 16 + 1, w = chroma ? fw / 2 : fw, h = chroma ? fh / 2 : fh;
    float du = (float)fw / (least > tw ? least : tw) * (1.0f / fw), dv = 1.0f / th;
    if (!to)
        fail("no memory");
    for (int y = 0; y < th; y++)
        for (int x = 0; x < tw; x++) {
            float u = du * (x / 16 * 16), v = dv * (y / 16 * 16), place = u * fw;
            if (!chroma && floorf(place + 5.0f / 256) > floorf(place))
                u -= 5.0f / (256 * fw);
            else if (!chroma && floorf(place + 255.0f / 256) == floorf(place))
                u += 1.0f / (256 * fw);
            double value = linear(from, pitch, w, h, (u + (double)du * (x % 16)) * w, (v + (double)dv * (y % 16)) * h);
            to[y * tw + x] = value < 255.99 ? (uint16_t)(value * 256 + 0.5) : 0xffff;
        }
    return to;
}

/* Differences of one plane. */
struct difference {
    double greatest, sum;
    long samples;
    int x, y;
};

/* `every` is 2 for chroma: its sample k is the one at pixel 2k of the target. `want` has 16 bits a sample, and is freed. */
static void compare(FILE *file, struct difference *d, uint16_t *want, const uint8_t *got, int gw, int gh, int tw, int th, int every)
{
    for (int y = 0; y < gh && y * every < th; y++)
        for (int x = 0; x < gw && x * every < tw; x++) {
            double expected = want[(y * every) * tw + x * every] / 256.0;
            if (file)
                fputc(expected < 254.5 ? (int)(expected + 0.5) : 255, file);
            double off = got[y * gw + x] - expected;
            off = off < 0 ? -off : off;
            d->sum += off;
            d->samples++;
            if (off > d->greatest) {
                d->greatest = off;
                d->x = x;
                d->y = y;
            }
        }
    free(want);
}

static void write_ppm(const char *name, const struct picture *p)
{
    FILE *file = fopen(name, "wb");
    if (!file)
        fail("the picture cannot be written");
    fprintf(file, "P6 %d %d 255\n", p->width, p->height);
    for (int y = 0; y < p->height; y++)
        for (int x = 0; x < p->width; x++) {
            double luma = 1.164 * (p->plane[0][y * p->width + x] - 16);
            double u = p->plane[1][y / 2 * p->cw + x / 2] - 128.0, v = p->plane[2][y / 2 * p->cw + x / 2] - 128.0;
            double rgb[3] = { luma + 1.596 * v, luma - 0.391 * u - 0.813 * v, luma + 2.018 * u };
            for (int i = 0; i < 3; i++)
                fputc(rgb[i] < 0 ? 0 : rgb[i] > 255 ? 255 : (int)rgb[i], file);
        }
    fclose(file);
}

/* Decodes a picture of one slice: an intra picture whose slice data is made up. */
static void decode(VADisplay display, int width, int height)
{
    VAConfigID config;
    VAStatus status = vaCreateConfig(display, VAProfileMPEG2Main, VAEntrypointVLD, NULL, 0, &config);
    if (status != VA_STATUS_SUCCESS) {
        printf("no MPEG-2 decoder: %s\n", vaErrorStr(status));
        exit(3);
    }
    VASurfaceID target = surface(display, VA_FOURCC_NV12, width, height);
    VAContextID context;
    VA(vaCreateContext(display, config, width, height, VA_PROGRESSIVE, &target, 1, &context));
    VAPictureParameterBufferMPEG2 parameters = {
        .horizontal_size = width,
        .vertical_size = height,
        .forward_reference_picture = VA_INVALID_ID,
        .backward_reference_picture = VA_INVALID_ID,
        .picture_coding_type = 1,
        .f_code = 0xffff,
        .picture_coding_extension.bits = { .picture_structure = 3, .progressive_frame = 1, .frame_pred_frame_dct = 1 },
    };
    VAIQMatrixBufferMPEG2 matrix = { .load_intra_quantiser_matrix = 1, .load_non_intra_quantiser_matrix = 1 };
    memset(matrix.intra_quantiser_matrix, 16, sizeof matrix.intra_quantiser_matrix);
    memset(matrix.non_intra_quantiser_matrix, 16, sizeof matrix.non_intra_quantiser_matrix);
    uint8_t data[64] = { 0, 0, 1, 1, 0x12 };
    VASliceParameterBufferMPEG2 slice = {
        .slice_data_size = sizeof data,
        .slice_data_flag = VA_SLICE_DATA_FLAG_ALL,
        .macroblock_offset = 38,
        .quantiser_scale_code = 2,
    };
    VABufferID buffers[4];
    VA(vaCreateBuffer(display, context, VAPictureParameterBufferType, sizeof parameters, 1, &parameters, buffers));
    VA(vaCreateBuffer(display, context, VAIQMatrixBufferType, sizeof matrix, 1, &matrix, buffers + 1));
    VA(vaCreateBuffer(display, context, VASliceParameterBufferType, sizeof slice, 1, &slice, buffers + 2));
    VA(vaCreateBuffer(display, context, VASliceDataBufferType, sizeof data, 1, data, buffers + 3));
    VA(vaBeginPicture(display, context, target));
    VA(vaRenderPicture(display, context, buffers, 4));
    VA(vaEndPicture(display, context));
    VA(vaSyncSurface(display, target));
    printf("a slice of MPEG-2 went through\n");
    exit(0);
}

int main(int argc, char **argv)
{
    const char *mode = "default", *prefix = NULL, *wanted = NULL;
    int option, bad = 0, decoder = 0, by_eight = 0;
    while ((option = getopt(argc, argv, "8dDum:o:w:")) != -1) {
        if (option == 'd' || option == 'D')
            decoder = 1, pretend = option == 'D';
        else if (option == 'u')
            masks_are_left = 1;
        else if (option == '8')
            by_eight = 1;
        else if (option == 'm')
            mode = optarg;
        else if (option == 'o')
            prefix = optarg;
        else if (option == 'w')
            wanted = optarg;
        else
            return 2;
    }
    uint32_t flags = !strcmp(mode, "hq") ? VA_FILTER_SCALING_HQ : !strcmp(mode, "fast") ? VA_FILTER_SCALING_FAST
                                                                                        : VA_FILTER_SCALING_DEFAULT;
    int fd = open("/dev/dri/renderD128", O_RDWR);
    if (fd < 0)
        fail("no render node");
    int major, minor;
    VADisplay display = vaGetDisplayDRM(fd);
    VA(vaInitialize(display, &major, &minor));
    printf("%s\n", vaQueryVendorString(display));
    fflush(stdout);
    if (decoder)
        decode(display, 64, 48);
    VAConfigID config;
    VA(vaCreateConfig(display, VAProfileNone, VAEntrypointVideoProc, NULL, 0, &config));
    for (int i = optind; i + 2 < argc; i += 3) {
        int fw, fh, tw, th;
        int planar = !strcmp(argv[i], "i420");
        if ((!planar && strcmp(argv[i], "nv12")) || sscanf(argv[i + 1], "%dx%d", &fw, &fh) != 2 ||
            sscanf(argv[i + 2], "%dx%d", &tw, &th) != 2)
            fail("usage: vpp [-u] [-8] [-m default|fast|hq] [-o PREFIX] [-w FILE] nv12|i420 WIDTHxHEIGHT WIDTHxHEIGHT ..");
        struct picture from = picture(fw, fh), to = picture(tw, th);
        paint(&from);
        VASurfaceID source = surface(display, planar ? VA_FOURCC_I420 : VA_FOURCC_NV12, fw, fh);
        VASurfaceID target = surface(display, VA_FOURCC_NV12, tw, th);
        VAContextID context;
        VA(vaCreateContext(display, config, tw, th, VA_PROGRESSIVE, &target, 1, &context));
        transfer(display, source, &from, 1);
        if (masks_are_left) {
            paint(&to);
            flatten(&to);
            transfer(display, target, &to, 1);
        }
        int sizes[2][2] = { { fw, fh }, { tw, th } };
        memcpy(passes, sizes, sizeof sizes);
        process(display, context, source, target, flags);
        memset(to.plane[0], 0, tw * th);
        transfer(display, target, &to, 0);
        struct difference luma = { 0 }, chroma = { 0 };
        double limit = TOLERANCE;
        if (by_eight) {
            limit = ROUNDING;
            compare(NULL, &luma, eight(from.plane[0], fw, fw, fh, tw, th, 0), to.plane[0], tw, th, tw, th, 1);
            for (int plane = 1; plane < 3; plane++)
                compare(NULL, &chroma, eight(from.plane[plane], from.cw, fw, fh, tw, th, 1), to.plane[plane], to.cw, th / 2, tw, th, 2);
        } else if (masks_are_left || (fw == tw && fh == th)) {
            struct picture same = picture(tw, th);
            paint(&same);
            if (masks_are_left)
                flatten(&same);
            limit = 0;
            for (int plane = 0; plane < 3; plane++) {
                struct difference *d = plane ? &chroma : &luma;
                for (int at = 0; at < (plane ? to.cw * to.ch : tw * th); at++, d->samples++) {
                    double off = abs(same.plane[plane][at] - to.plane[plane][at]);
                    d->sum += off;
                    d->greatest = off > d->greatest ? off : d->greatest;
                }
            }
            drop(&same);
        } else {
            FILE *file = wanted ? fopen(wanted, "wb") : NULL;
            compare(file, &luma, swscale(from.plane[0], fw, fh, tw, th), to.plane[0], tw, th, tw, th, 1);
            /* The driver gives its surface of chroma height / 2 rows, rounded down. */
            for (int plane = 1; plane < 3; plane++)
                compare(file, &chroma, swscale(from.plane[plane], from.cw, fh / 2, tw, th), to.plane[plane], to.cw, th / 2, tw, th, 2);
            if (file)
                fclose(file);
        }
        int wrong = luma.greatest > limit || chroma.greatest > limit;
        printf("%s %dx%d -> nv12 %dx%d: greatest difference %.2f luma (at %d, %d), %.2f chroma (at %d, %d); mean %.3f, %.3f%s\n", argv[i],
               fw, fh, tw, th, luma.greatest, luma.x, luma.y, chroma.greatest, chroma.x, chroma.y, luma.sum / luma.samples,
               chroma.sum / chroma.samples, wrong ? ": TOO MUCH" : "");
        fflush(stdout);
        bad |= wrong;
        if (prefix) {
            char name[512];
            snprintf(name, sizeof name, "%s-%s-%dx%d-%dx%d.ppm", prefix, argv[i], fw, fh, tw, th);
            write_ppm(name, &to);
        }
        VA(vaDestroyContext(display, context));
        VA(vaDestroySurfaces(display, &source, 1));
        VA(vaDestroySurfaces(display, &target, 1));
        drop(&from);
        drop(&to);
    }
    VA(vaTerminate(display));
    return bad;
}
