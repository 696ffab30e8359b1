/* glscenes3 - headless desktop-GL scenes: one per capability that OpenGL 3 and 4 add (companion of glscenes.c)
 *
 *   gcc -O2 -o glscenes3 glscenes3.c -lEGL -lOpenGL -lgbm -lm
 *
 *   glscenes3 -s SCENE [-W w] [-H h] [-n frames] [-o out.ppm] [-b dir] [-p surfaceless|gbm] [-d node] [-l] [-Q] [-q]
 *   glscenes3 -s list        names the scenes with what they need
 *
 * A scene asks for the core profile version that brings its capability in. A driver that has the capability as an
 * extension of an older core context, or of a GL 2.1 context (shader dialect 1.20 + EXT_gpu_shader4), runs the same scene
 * with the same picture there; -l asks for that oldest way. Otherwise: "SKIP needs GL x.y ..." and exit status 77.
 *
 *   -b dir   also write every result buffer to dir/SCENE_WHAT.bin (what the BUFFER lines hash)
 *   -Q       fetch query results, print them and draw bars from them (also: GLSCENES_QUERY=1). Without it no result is ever
 *            waited for, because a GPU that executes nothing never writes one and some drivers then poll for ever.
 *
 * Output: one BUFFER line per result buffer (transform feedback, storage buffer, image or integer render target): its
 * FNV-1a hash is the same on every right implementation, because only integers and exactly representable floats go in.
 * One RESULT line: times and the FNV-1a hash of the picture. Pictures agree between right implementations up to
 * rounding, edge rules of lines, sample positions and filter precision. Frame k of a run depends only on k.
 */
#define GL_GLEXT_PROTOTYPES
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GL/gl.h>
#include <GL/glext.h>
#include <fcntl.h>
#include <gbm.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define COUNT(a) ((int)(sizeof(a) / sizeof *(a)))
enum { DEPTH = 1, COMPAT = 2 };                     /* scene flags: depth/stencil on the picture, compatibility profile */
enum { ONLY_EXT = 99 };                             /* no core version has it */

typedef struct {
   const char *name, *what;
   int gl;                                          /* core version that has it, x10 */
   const char *ext; int extgl;                      /* extensions that bring it to the core version extgl (NULL: none do) */
   const char *legacy;                              /* extensions that bring it to GL 2.1 (NULL: none do) */
   unsigned flags;
   void (*init)(void), (*draw)(int frame), (*done)(void);
} Scene;

static int W = 256, H = 256, fetch_queries, legacy, glver;
static const Scene *S;
static const char *bufdir;
static GLuint fbo, vao, stream;                     /* the picture's framebuffer, the one vertex array, streamed vertices */
static GLuint P[8], T[16], B[8], F[8], Qr[8];       /* the running scene's programs, textures, buffers, framebuffers, queries */
static long tris;

static double now_ms(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1e3 + t.tv_nsec * 1e-6; }
static void die(const char *fmt, ...)
{
   va_list ap; va_start(ap, fmt); fputs("FATAL ", stderr); vfprintf(stderr, fmt, ap); fputc('\n', stderr); exit(1);
}
static void skip(const char *why)
{
   int v = S->gl < ONLY_EXT ? S->gl : S->extgl;
   printf("SKIP needs GL %d.%d%s%s%s (scene %s%s%s)\n", v / 10, v % 10, S->ext ? v == S->gl ? " or " : " and " : "", S->ext ? S->ext : "",
      S->legacy && S->gl > 21 ? " or extensions of GL 2.1" : "", S->name, *why ? ": " : "", why);
   exit(77);
}
static void glcheck(const char *where) { GLenum e; while ((e = glGetError())) fprintf(stderr, "GL error 0x%x at %s of %s\n", e, where, S->name); }
static uint64_t fnv(const void *p, size_t n)
{
   const uint8_t *b = p; uint64_t h = 1469598103934665603ull; while (n--) h = (h ^ *b++) * 1099511628211ull; return h;
}

/* A result that must be the same bytes everywhere. */
static void report(const char *what, const void *p, size_t n)
{
   printf("BUFFER scene=%s what=%s bytes=%zu fnv=%016llx\n", S->name, what, n, (unsigned long long)fnv(p, n));
   if (!bufdir) return;
   char path[4096]; snprintf(path, sizeof path, "%s/%s_%s.bin", bufdir, S->name, what);
   FILE *o = fopen(path, "wb"); if (!o) die("cannot write %s", path);
   fwrite(p, 1, n, o); fclose(o);
}
static void report_buffer(const char *what, GLenum target, GLuint b, size_t n)
{
   void *p = calloc(1, n); glBindBuffer(target, b); glGetBufferSubData(target, 0, n, p); report(what, p, n); free(p);
}
static int has_ext(const char *name, size_t n)
{
   if (glver < 30) {
      const char *s = (const char *)glGetString(GL_EXTENSIONS);
      for (const char *p = s; p && (p = strstr(p, name)); p += n) if ((p == s || p[-1] == ' ') && (p[n] == ' ' || !p[n])) return 1;
      return 0;
   }
   GLint k = 0; glGetIntegerv(GL_NUM_EXTENSIONS, &k);
   for (GLint i = 0; i < k; i++) { const char *e = (const char *)glGetStringi(GL_EXTENSIONS, i); if (strlen(e) == n && !memcmp(e, name, n)) return 1; }
   return 0;
}
/* Calls each(name, length) for every word of list; stops at the first that answers 0. */
static int each_word(const char *list, int (*each)(const char *, size_t))
{
   for (const char *p = list; *p;) {
      size_t n = strcspn(p, " "); char w[96]; snprintf(w, sizeof w, "%.*s", (int)n, p); if (!each(w, n)) return 0; p += n; p += strspn(p, " ");
   }
   return 1;
}

/* ------------------------------------------------------------------ shaders
 * One dialect for 1.20 and core: ATTR / VARY / FLAT / NOPERSP declare inputs and outputs of vertex and fragment shaders, FRAG is
 * the colour output, out0..out3 are four of them, OUTV declares another one; T2D ... name the texture functions. */
static char pre[4096];
static int pre_ext(const char *e, size_t n) { (void)n; strcat(strcat(strcat(pre, "#extension "), e), " : enable\n"); return 1; }
static const char *prelude(GLenum stage, const char *src)
{
   static const char *names[][3] = { /* name, 1.20, core */
      { "T1D", "texture1D", "texture" }, { "T2D", "texture2D", "texture" }, { "T3D", "texture3D", "texture" }, { "TCUBE", "textureCube", "texture" },
      { "TARR", "texture2DArray", "texture" }, { "TARR1", "texture1DArray", "texture" }, { "TRECT", "texture2DRect", "texture" },
      { "T2DLOD", "texture2DLod", "textureLod" }, { "T2DGRAD", "texture2DGrad", "textureGrad" }, { "T2DPROJ", "texture2DProj", "textureProj" },
      { "T2DOFF(s,c,o)", "texture2DOffset(s,c,o)", "textureOffset(s,c,o)" }, { "FETCH2D", "texelFetch2D", "texelFetch" },
      { "SIZE2D", "textureSize2D", "textureSize" }, { "FETCHBUF(s,i)", "texelFetchBuffer(s,i)", "texelFetch(s,i)" },
      { "SHADOW2D(s,c)", "shadow2D(s,c).r", "texture(s,c)" }, { "INSTANCE", "gl_InstanceIDARB", "gl_InstanceID" }, { "OUTV", "varying out", "out" } };
   int glsl = legacy ? 120 : glver < S->gl ? (S->extgl == 31 ? 140 : S->extgl == 32 ? 150 : S->extgl * 10) : S->gl == 31 ? 140 : S->gl == 32 ? 150
      : S->gl * 10, vs = stage == GL_VERTEX_SHADER;
   sprintf(pre, "#version %d\n", glsl);
   if (legacy) each_word(S->legacy, pre_ext); else if (glver < S->gl) each_word(S->ext, pre_ext);
   for (int i = 0; i < COUNT(names); i++) sprintf(pre + strlen(pre), "#define %s %s\n", names[i][0], names[i][legacy ? 1 : 2]);
   const char *io = legacy ? "varying" : vs ? "out" : "in";
   sprintf(pre + strlen(pre), "#define ATTR %s\n#define VARY %s\n#define FLAT flat %s\n#define NOPERSP noperspective %s\n",
      legacy ? "attribute" : "in", io, io, io);
   if (legacy) strcat(pre, "#define uint unsigned int\n");
   if (stage == GL_FRAGMENT_SHADER && strstr(src, "FRAG")) strcat(pre, legacy ? "#define FRAG gl_FragColor\n" : "out vec4 FRAG;\n");
   if (stage == GL_FRAGMENT_SHADER && strstr(src, "out3"))
      for (int i = 0; i < 4; i++) sprintf(pre + strlen(pre), legacy ? "#define out%d gl_FragData[%d]\n" : "out vec4 out%d;\n", i, i);
   return pre;
}
static void attach(GLuint p, GLenum stage, const char *src)
{
   if (!src) return;
   GLuint s = glCreateShader(stage); const char *v[2] = { prelude(stage, src), src }; GLint ok;
   glShaderSource(s, 2, v, NULL); glCompileShader(s); glGetShaderiv(s, GL_COMPILE_STATUS, &ok);
   if (!ok) { char log[4096]; glGetShaderInfoLog(s, sizeof log, NULL, log); die("shader 0x%x of %s: %s\n%s", stage, S->name, log, src); }
   glAttachShader(p, s); glDeleteShader(s);
}
static GLuint prog5(const char *vs, const char *tcs, const char *tes, const char *gs, const char *fs, void (*before_link)(GLuint))
{
   static const char *attr[] = { "pos", "aux", "aux2", "aux3", "aux4", "aux5", "aux6", "aux7" };
   GLuint p = glCreateProgram(); GLint ok;
   attach(p, GL_VERTEX_SHADER, vs); attach(p, GL_TESS_CONTROL_SHADER, tcs); attach(p, GL_TESS_EVALUATION_SHADER, tes);
   attach(p, GL_GEOMETRY_SHADER, gs); attach(p, GL_FRAGMENT_SHADER, fs);
   for (int i = 0; i < COUNT(attr); i++) glBindAttribLocation(p, i, attr[i]);
   if (!legacy) for (int i = 0; i < 4; i++) { char n[] = "out0"; n[3] += i; glBindFragDataLocation(p, i, n); }
   if (before_link) before_link(p);
   glLinkProgram(p); glGetProgramiv(p, GL_LINK_STATUS, &ok);
   if (!ok) { char log[4096]; glGetProgramInfoLog(p, sizeof log, NULL, log); die("link of %s: %s", S->name, log); }
   glUseProgram(p); return p;
}
static GLuint prog(const char *vs, const char *fs) { return prog5(vs, NULL, NULL, NULL, fs, NULL); }
static GLuint prog_cs(const char *cs)
{
   GLuint p = glCreateProgram(); GLint ok; attach(p, GL_COMPUTE_SHADER, cs); glLinkProgram(p); glGetProgramiv(p, GL_LINK_STATUS, &ok);
   if (!ok) { char log[4096]; glGetProgramInfoLog(p, sizeof log, NULL, log); die("link of %s: %s", S->name, log); }
   glUseProgram(p); return p;
}
static GLint U(const char *name) { GLint p; glGetIntegerv(GL_CURRENT_PROGRAM, &p); return glGetUniformLocation(p, name); }
static void u1i(const char *n, int v) { glUniform1i(U(n), v); }
static void u1f(const char *n, float v) { glUniform1f(U(n), v); }
static void u4f(const char *n, float x, float y, float z, float w) { glUniform4f(U(n), x, y, z, w); }

static const char *vs_aux = "ATTR vec4 pos; ATTR vec4 aux; VARY vec4 v; void main() { gl_Position = pos; v = aux; }\n";
static const char *fs_aux = "VARY vec4 v; void main() { FRAG = v; }\n";
static const char *fs_tex = "VARY vec4 v; uniform sampler2D tex; void main() { FRAG = T2D(tex, v.xy); }\n";

/* ------------------------------------------------------------------ geometry: interleaved position and aux, four floats each */
static void verts(const float *v, int n)
{
   glBindBuffer(GL_ARRAY_BUFFER, stream); glBufferData(GL_ARRAY_BUFFER, n * 32, v, GL_STREAM_DRAW);
   for (int i = 0; i < 2; i++) { glVertexAttribPointer(i, 4, GL_FLOAT, 0, 32, (void *)(intptr_t)(16 * i)); glEnableVertexAttribArray(i); }
}
static void draw(GLenum mode, const float *v, int n) { verts(v, n); glDrawArrays(mode, 0, n); tris += n / 3; }
/* A rectangle in clip coordinates; aux runs from (s0,t0) to (s1,t1), its z and w are given. */
static void rect4(float x0, float y0, float x1, float y1, float s0, float t0, float s1, float t1, float z, float w)
{
   float v[4][8] = { {x0,y0,0,1, s0,t0,z,w}, {x1,y0,0,1, s1,t0,z,w}, {x0,y1,0,1, s0,t1,z,w}, {x1,y1,0,1, s1,t1,z,w} };
   draw(GL_TRIANGLE_STRIP, v[0], 4); tris++;
}
/* The same with coordinates a little inside 0..1, so that no pixel centre falls on a texel edge. */
static void rect(float x0, float y0, float x1, float y1) { rect4(x0, y0, x1, y1, 0.0011f, 0.0017f, 0.9983f, 0.9989f, 0, 1); }
/* Cell i of an nx by ny grid over the picture, with a margin. */
static void cell(int i, int nx, int ny)
{
   float x = -1 + 2.f * (i % nx) / nx, y = -1 + 2.f * (i / nx) / ny; rect(x + 0.1f / nx, y + 0.1f / ny, x + 1.9f / nx, y + 1.9f / ny);
}
static void cell_viewport(int i, int nx, int ny) { glViewport(i % nx * W / nx, i / nx * H / ny, W / nx, H / ny); }
static void whole(void) { glViewport(0, 0, W, H); }
static void hue(int i, float *c) { for (int k = 0; k < 3; k++) c[k] = 0.25f + 0.75f * ((i * (k + 2) * 5 + k * 3) % 8) / 7.f; c[3] = 1; }

/* ------------------------------------------------------------------ textures and targets */
static GLuint tex(GLenum target, GLenum min, GLenum mag, GLenum wrap)
{
   GLuint t; glGenTextures(1, &t); glBindTexture(target, t);
   glTexParameteri(target, GL_TEXTURE_MIN_FILTER, min); glTexParameteri(target, GL_TEXTURE_MAG_FILTER, mag);
   glTexParameteri(target, GL_TEXTURE_WRAP_S, wrap); glTexParameteri(target, GL_TEXTURE_WRAP_T, wrap);
   if (target == GL_TEXTURE_3D || target == GL_TEXTURE_CUBE_MAP) glTexParameteri(target, GL_TEXTURE_WRAP_R, wrap);
   return t;
}
/* A checked, graded picture in which every texel differs; seed changes colours. */
static uint8_t *texels(int w, int h, int d, int seed)
{
   uint8_t *p = malloc((size_t)w * h * d * 4), *q = p;
   for (int z = 0; z < d; z++) for (int y = 0; y < h; y++) for (int x = 0; x < w; x++, q += 4) {
      int chk = (x / 2 + y / 2 + z) & 1, s = seed + z;
      q[0] = chk ? 255 - x * 128 / w : x * 200 / w + 13 * s; q[1] = chk ? y * 255 / h : 30 + 29 * s; q[2] = chk ? 40 + 50 * s : 255 - y * 200 / h;
      q[3] = 255 - 9 * s;
   }
   return p;
}
static void image2d(GLenum target, int level, int w, int h, int seed)
{
   uint8_t *p = texels(w, h, 1, seed); glTexImage2D(target, level, GL_RGBA8, w, h, 0, GL_RGBA, GL_UNSIGNED_BYTE, p); free(p);
}
/* A framebuffer with one texture of the given format. */
static GLuint target(int i, GLenum internal, int w, int h, GLenum fmt, GLenum type)
{
   T[i] = tex(GL_TEXTURE_2D, GL_NEAREST, GL_NEAREST, GL_CLAMP_TO_EDGE); glTexImage2D(GL_TEXTURE_2D, 0, internal, w, h, 0, fmt, type, NULL);
   glGenFramebuffers(1, &F[i]); glBindFramebuffer(GL_FRAMEBUFFER, F[i]);
   glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, T[i], 0);
   if (glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE) skip("a target format cannot be rendered to");
   glBindFramebuffer(GL_FRAMEBUFFER, fbo); return T[i];
}
static void into(int i, int w, int h) { glBindFramebuffer(GL_FRAMEBUFFER, F[i]); glViewport(0, 0, w, h); }
static void picture(void) { glBindFramebuffer(GL_FRAMEBUFFER, fbo); whole(); }
static GLuint buffer(GLenum target, size_t n, const void *p)
{
   GLuint b; glGenBuffers(1, &b); glBindBuffer(target, b); glBufferData(target, n, p, GL_DYNAMIC_COPY); return b;
}
static void report_pixels(const char *what, int x, int y, int w, int h, GLenum fmt, GLenum type, int bytes)
{
   uint8_t *p = calloc(w * h, bytes); glPixelStorei(GL_PACK_ALIGNMENT, 1); glReadPixels(x, y, w, h, fmt, type, p);
   report(what, p, (size_t)w * h * bytes); free(p);
}
static void query_value(const char *what, GLuint q, int bar)
{
   if (!fetch_queries) return;
   GLuint v = 0; glGetQueryObjectuiv(q, GL_QUERY_RESULT, &v); printf("QUERY scene=%s what=%s value=%u\n", S->name, what, v);
   if (bar >= 0) { float y = -0.98f + 0.08f * bar; rect4(-1, y, -1 + 2 * fminf(v, 4000) / 4000.f, y + 0.05f, 1, 1, 1, 1, 1, 1); }
}

/* ================================================================== geometry shaders */
static void geom_init(void)
{
   P[0] = prog5("ATTR vec4 pos; ATTR vec4 aux; out vec4 gcol; void main() { gl_Position = pos; gcol = aux; }\n", NULL, NULL,
      "layout(points) in; layout(triangle_strip, max_vertices = 7) out; in vec4 gcol[]; out vec4 v;\n"
      "void corner(vec2 d, vec3 c) { gl_Position = gl_in[0].gl_Position + vec4(d, 0.0, 0.0); gl_PrimitiveID = gl_PrimitiveIDIn; v = vec4(c, 1.0); "
         "EmitVertex(); }\n"
      "void main() { float s = 0.035 + 0.02 * float(gl_PrimitiveIDIn % 4); vec3 c = gcol[0].rgb;\n"
      "  corner(vec2(-s, -s), c); corner(vec2(s, -s), c * 0.5); corner(vec2(-s, s), c.gbr); corner(vec2(s, s), c); EndPrimitive();\n"
      "  if (gl_PrimitiveIDIn % 3 == 1) { corner(vec2(0.0, s * 1.5), vec3(1.0)); corner(vec2(-s, -s), c); corner(vec2(s, -s), c); } }\n",
      "in vec4 v; void main() { FRAG = (gl_PrimitiveID & 8) != 0 ? v : vec4(v.bgr, 1.0); }\n", NULL);
}
static void geom_draw(int f)
{
   float v[64][8];
   for (int i = 0; i < 64; i++) {
      float *p = v[i]; p[0] = -0.875f + 0.25f * (i % 8); p[1] = -0.875f + 0.25f * (i / 8); p[2] = 0; p[3] = 1; hue(i + f, p + 4);
   }
   draw(GL_POINTS, v[0], 64);
}
static void gsadj_init(void)
{
   const char *vs = "ATTR vec4 pos; ATTR vec4 aux; out vec4 gcol; void main() { gl_Position = pos; gcol = aux; }\n",
      *fs = "in vec4 v; void main() { FRAG = v; }\n";
   P[0] = prog5(vs, NULL, NULL, /* a Bezier ribbon through each four points */
      "layout(lines_adjacency) in; layout(triangle_strip, max_vertices = 18) out; in vec4 gcol[]; out vec4 v;\n"
      "void main() { vec2 a = gl_in[0].gl_Position.xy, b = gl_in[1].gl_Position.xy, c = gl_in[2].gl_Position.xy, d = gl_in[3].gl_Position.xy;\n"
      "  for (int i = 0; i <= 8; i++) { float t = float(i) / 8.0, s = 1.0 - t;\n"
      "    vec2 p = s*s*s*a + 3.0*s*s*t*b + 3.0*s*t*t*c + t*t*t*d, g = 3.0*(s*s*(b-a) + 2.0*s*t*(c-b) + t*t*(d-c)), n = 0.03 * normalize(vec2(-g.y, "
         "g.x));\n"
      "    v = mix(gcol[0], gcol[3], t); gl_Position = vec4(p - n, 0.0, 1.0); EmitVertex(); gl_Position = vec4(p + n, 0.0, 1.0); EmitVertex(); } "
         "}\n", fs, NULL);
   P[1] = prog5(vs, NULL, NULL, /* the triangle shrunk, and on every edge a sliver in the colour of the neighbour's corner */
      "layout(triangles_adjacency) in; layout(triangle_strip, max_vertices = 15) out; in vec4 gcol[]; out vec4 v;\n"
      "void put(vec2 p, vec4 c) { gl_Position = vec4(p, 0.0, 1.0); v = c; EmitVertex(); }\n"
      "void main() { vec2 m = (gl_in[0].gl_Position.xy + gl_in[2].gl_Position.xy + gl_in[4].gl_Position.xy) / 3.0;\n"
      "  for (int i = 0; i < 6; i += 2) put(mix(m, gl_in[i].gl_Position.xy, 0.7), gcol[i]);\n"
      "  EndPrimitive();\n"
      "  for (int i = 0; i < 6; i += 2) { vec2 a = gl_in[i].gl_Position.xy, b = gl_in[(i + 2) % 6].gl_Position.xy; vec4 c = gcol[i + 1];\n"
      "    put(mix(m, a, 0.75), c); put(mix(m, b, 0.75), c); put(mix(m, a, 0.95), c); put(mix(m, b, 0.95), c); EndPrimitive(); } }\n", fs, NULL);
}
static void gsadj_draw(int f)
{
   float v[14][8];
   glUseProgram(P[0]);
   for (int i = 0; i < 8; i++) {
      float *p = v[i]; p[0] = -0.9f + 0.25f * i; p[1] = 0.55f + 0.35f * (i % 4 == 1 || i % 4 == 3 ? 1 : -0.6f); p[2] = 0; p[3] = 1;
      hue(i + f, p + 4);
   }
   draw(GL_LINES_ADJACENCY, v[0], 8);
   for (int i = 0; i < 6; i++) { float *p = v[i]; p[0] = -0.8f + 0.32f * i; p[1] = 0.1f + 0.12f * (i & 1); p[2] = 0; p[3] = 1; hue(i + 3 + f, p + 4); }
   draw(GL_LINE_STRIP_ADJACENCY, v[0], 6);
   glUseProgram(P[1]);
   for (int i = 0; i < 12; i++) {
      float *p = v[i]; p[0] = -0.9f + 0.16f * i; p[1] = i & 1 ? -0.95f : (i & 2 ? -0.15f : -0.75f); p[2] = 0; p[3] = 1; hue(i + f, p + 4);
   }
   draw(GL_TRIANGLE_STRIP_ADJACENCY, v[0], 12);
   static const float one[6][2] = { {0.55f,-0.9f}, {0.9f,-0.9f}, {0.95f,-0.6f}, {0.9f,-0.2f}, {0.7f,0.0f}, {0.5f,-0.4f} };
   for (int i = 0; i < 6; i++) { v[i][0] = one[i][0]; v[i][1] = one[i][1]; hue(i + 1, v[i] + 4); }
   draw(GL_TRIANGLES_ADJACENCY, v[0], 6);
}
static void gsinst_init(void)
{
   P[0] = prog5("ATTR vec4 pos; ATTR vec4 aux; out vec4 gcol; void main() { gl_Position = pos; gcol = aux; }\n", NULL, NULL,
      "layout(triangles, invocations = 6) in; layout(triangle_strip, max_vertices = 3) out; in vec4 gcol[]; out vec4 v; uniform float turn;\n"
      "void main() { float a = turn + 1.0471975512 * float(gl_InvocationID); mat2 r = mat2(cos(a), sin(a), -sin(a), cos(a)) * (1.0 - 0.08 * "
         "float(gl_InvocationID));\n"
      "  for (int i = 0; i < 3; i++) { gl_Position = vec4(r * gl_in[i].gl_Position.xy, 0.0, 1.0); v = mix(gcol[i], vec4(1.0, float(gl_InvocationID) "
         "/ 5.0, 0.0, 1.0), 0.5); EmitVertex(); } }\n", fs_aux, NULL);
}
static void gsinst_draw(int f)
{
   static const float t[] = { 0.1,0.05,0,1, 1,0,0,1,  0.9,-0.2,0,1, 0,1,0,1,  0.8,0.3,0,1, 0,0,1,1 };
   u1f("turn", 0.1f * f); draw(GL_TRIANGLES, t, 3);
}

/* ================================================================== transform feedback */
static const char *xfb_names[] = { "tpos", "tcol", "tid" }, *stream_names[] = { "s0", "gl_NextBuffer", "s1" };
static void xfb_link(GLuint p) { glTransformFeedbackVaryings(p, 3, xfb_names, GL_INTERLEAVED_ATTRIBS); }
static void stream_link(GLuint p) { glTransformFeedbackVaryings(p, 3, stream_names, GL_INTERLEAVED_ATTRIBS); }
typedef struct { float pos[4], col[3]; int32_t id[2]; } XfbVertex;
static void xfb_init(void)
{
   P[0] = prog5("ATTR vec4 pos; ATTR vec4 aux; uniform vec4 k; out vec4 tpos; out vec3 tcol; flat out ivec2 tid;\n"
      "void main() { tpos = vec4(pos.xy * 0.5 + k.xy + vec2(0.0, 0.0009765625), pos.z, 1.0); tcol = aux.xyz * 0.5 + vec3(0.25); "
         "tid = ivec2(gl_VertexID, gl_VertexID * gl_VertexID - 7); gl_Position = tpos; }\n",
      NULL, NULL, NULL, "in vec3 tcol; void main() { FRAG = vec4(tcol, 1.0); }\n", xfb_link);
   P[1] = prog("ATTR vec4 pos; ATTR vec3 aux; ATTR ivec2 aux2; VARY vec4 v; FLAT int id; void main() { gl_Position = pos; v = vec4(aux, 1.0); "
      "id = aux2.x + aux2.y; }\n",
      "VARY vec4 v; FLAT int id; void main() { FRAG = (id & 2) != 0 ? v : v.gbra; }\n");
   B[0] = buffer(GL_ARRAY_BUFFER, 24 * sizeof(XfbVertex), NULL); B[1] = buffer(GL_ARRAY_BUFFER, 72 * sizeof(XfbVertex), NULL);
}
static void xfb_draw(int f)
{
   float v[26][8]; /* a ring as a strip; every number a multiple of 1/64 */
   static const float c[13][2] = { {16,0},{14,8},{8,14},{0,16},{-8,14},{-14,8},{-16,0},{-14,-8},{-8,-14},{0,-16},{8,-14},{14,-8},{16,0} };
   for (int i = 0; i < 26; i++) {
      float r = i & 1 ? 3.5f : 2; float *p = v[i]; p[0] = c[i / 2][0] * r / 64; p[1] = c[i / 2][1] * r / 64; p[2] = i / 64.f; p[3] = 1;
      p[4] = (i % 5) / 4.f; p[5] = (i % 3) / 2.f; p[6] = ((i + f) % 4) / 4.f; p[7] = 1;
   }
   glUseProgram(P[0]); glEnable(GL_RASTERIZER_DISCARD);
   for (int k = 0; k < 2; k++) {
      u4f("k", k ? 0.46875f : -0.46875f, k ? -0.25f : 0.25f, 0, 0); verts(v[0], 26);
      glBindBufferBase(GL_TRANSFORM_FEEDBACK_BUFFER, 0, B[k]); glBeginTransformFeedback(GL_TRIANGLES);
      glDrawArrays(k ? GL_TRIANGLE_STRIP : GL_TRIANGLES, 0, k ? 26 : 24); glEndTransformFeedback();
   }
   glDisable(GL_RASTERIZER_DISCARD); glBindBufferBase(GL_TRANSFORM_FEEDBACK_BUFFER, 0, 0); glUseProgram(P[1]);
   for (int k = 0; k < 2; k++) {
      glBindBuffer(GL_ARRAY_BUFFER, B[k]); glEnableVertexAttribArray(2);
      glVertexAttribPointer(0, 4, GL_FLOAT, 0, sizeof(XfbVertex), (void *)0);
      glVertexAttribPointer(1, 3, GL_FLOAT, 0, sizeof(XfbVertex), (void *)16); glVertexAttribIPointer(2, 2, GL_INT, sizeof(XfbVertex), (void *)28);
      glDrawArrays(GL_TRIANGLES, 0, k ? 72 : 24); glDisableVertexAttribArray(2); tris += k ? 24 : 8;
   }
}
static void xfb_done(void)
{
   XfbVertex t[72]; report_buffer("triangles", GL_ARRAY_BUFFER, B[0], 24 * sizeof(XfbVertex));
   glBindBuffer(GL_ARRAY_BUFFER, B[1]); memset(t, 0, sizeof t); glGetBufferSubData(GL_ARRAY_BUFFER, 0, sizeof t, t);
   for (int i = 0; i < 72; i += 3) while (t[i].id[0] > t[i + 1].id[0] || t[i].id[0] > t[i + 2].id[0]) {
      XfbVertex x = t[i]; t[i] = t[i + 1]; t[i + 1] = t[i + 2]; t[i + 2] = x;
   }
   report("strip_lowest_vertex_first", t, sizeof t);
}
static void xfbstream_init(void)
{
   P[0] = prog5("ATTR vec4 pos; ATTR vec4 aux; out vec4 gpos; flat out int gid; void main() { gpos = pos; gid = gl_VertexID; gl_Position = pos; "
      "}\n", NULL, NULL,
      "layout(points) in; layout(points, max_vertices = 2) out; in vec4 gpos[]; flat in int gid[]; layout(stream = 0) out vec4 s0; "
         "layout(stream = 1) out vec2 s1;\n"
      "void main() { if ((gid[0] / 3) % 2 == 0) { s0 = gpos[0]; EmitStreamVertex(0); EndStreamPrimitive(0); }\n"
      "  else { s1 = gpos[0].yx * 0.75; EmitStreamVertex(1); EndStreamPrimitive(1); } }\n", NULL, stream_link);
   P[1] = prog("ATTR vec4 pos; VARY vec4 v; uniform vec4 c; void main() { gl_Position = vec4(pos.xy, 0.0, 1.0); "
      "v = c * (0.5 + 0.5 * float(gl_VertexID % 3)); }\n", fs_aux);
   B[0] = buffer(GL_ARRAY_BUFFER, 48 * 16, NULL); B[1] = buffer(GL_ARRAY_BUFFER, 48 * 8, NULL); glGenTransformFeedbacks(1, &F[7]);
}
static void xfbstream_draw(int f)
{
   float v[48][8]; memset(v, 0, sizeof v); uint8_t zero[48 * 16] = { 0 };
   for (int i = 0; i < 48; i++) {
      int t = i / 3, k = i % 3; v[i][0] = (-28 + 16 * (t % 4) + (k == 1 ? 12 : k == 2 ? 4 : 0)) / 32.f;
      v[i][1] = (-28 + 16 * (t / 4) + (k == 2 ? 10 : (f & 1))) / 32.f; v[i][3] = 1;
   }
   for (int k = 0; k < 2; k++) { glBindBuffer(GL_ARRAY_BUFFER, B[k]); glBufferSubData(GL_ARRAY_BUFFER, 0, k ? 48 * 8 : 48 * 16, zero); }
   verts(v[0], 48); glUseProgram(P[0]); glEnable(GL_RASTERIZER_DISCARD);
   glBindTransformFeedback(GL_TRANSFORM_FEEDBACK, F[7]); glBindBufferBase(GL_TRANSFORM_FEEDBACK_BUFFER, 0, B[0]);
   glBindBufferBase(GL_TRANSFORM_FEEDBACK_BUFFER, 1, B[1]);
   glBeginTransformFeedback(GL_POINTS); glDrawArrays(GL_POINTS, 0, 24); glPauseTransformFeedback(); glDrawArrays(GL_POINTS, 24, 6);
   glResumeTransformFeedback(); glDrawArrays(GL_POINTS, 30, 18); glEndTransformFeedback();
   glDisable(GL_RASTERIZER_DISCARD); glUseProgram(P[1]); glDisableVertexAttribArray(1);
   glBindBuffer(GL_ARRAY_BUFFER, B[0]); glVertexAttribPointer(0, 4, GL_FLOAT, 0, 16, 0); u4f("c", 1, 0.6f, 0.1f, 1);
   glDrawTransformFeedbackStream(GL_TRIANGLES, F[7], 0);
   glBindBuffer(GL_ARRAY_BUFFER, B[1]); glVertexAttribPointer(0, 2, GL_FLOAT, 0, 8, 0); u4f("c", 0.2f, 0.6f, 1, 1);
   glDrawTransformFeedbackStream(GL_TRIANGLES, F[7], 1);
   glBindTransformFeedback(GL_TRANSFORM_FEEDBACK, 0); tris += 14;
}
static void xfbstream_done(void) { report_buffer("stream0", GL_ARRAY_BUFFER, B[0], 48 * 16); report_buffer("stream1", GL_ARRAY_BUFFER, B[1], 48 * 8); }

/* ================================================================== vertex input */
static void instance_init(void)
{
   P[0] = prog("ATTR vec4 pos; ATTR vec4 aux; ATTR vec2 aux2; ATTR vec4 aux3; VARY vec4 v;\n"
      "void main() { float a = 0.4 * float(INSTANCE); mat2 r = mat2(cos(a), sin(a), -sin(a), cos(a)); gl_Position = vec4(r * pos.xy * 0.11 + aux2, "
         "0.0, 1.0); v = aux3 * (0.4 + 0.6 * aux); }\n", fs_aux);
   float off[64][2], col[22][4];
   for (int i = 0; i < 64; i++) { off[i][0] = -0.875f + 0.25f * (i % 8); off[i][1] = -0.875f + 0.25f * (i / 8); }
   for (int i = 0; i < 22; i++) hue(i, col[i]);
   B[0] = buffer(GL_ARRAY_BUFFER, sizeof off, off); B[1] = buffer(GL_ARRAY_BUFFER, sizeof col, col);
}
static void instance_draw(int f)
{
   static const float t[] = { -1,-0.8,0,1, 1,0,0,1,  1,-0.8,0,1, 0,1,0,1,  0,1,0,1, 0,0,1,1 };
   (void)f; verts(t, 3);
   glBindBuffer(GL_ARRAY_BUFFER, B[0]); glVertexAttribPointer(2, 2, GL_FLOAT, 0, 8, 0); glEnableVertexAttribArray(2); glVertexAttribDivisor(2, 1);
   glBindBuffer(GL_ARRAY_BUFFER, B[1]); glVertexAttribPointer(3, 4, GL_FLOAT, 0, 16, 0); glEnableVertexAttribArray(3); glVertexAttribDivisor(3, 3);
   glDrawArraysInstanced(GL_TRIANGLES, 0, 3, 64); tris += 64;
   for (int i = 2; i < 4; i++) { glVertexAttribDivisor(i, 0); glDisableVertexAttribArray(i); }
}
/* One bar per vertex format, every one of them meant to be the same three colours and heights. */
static const struct { GLenum type; int size, norm, bytes; uint32_t d[3][4]; } vformats[] = {
   { GL_FLOAT, 4, 0, 16, {{0x3f800000,0x3e800000,0,0x3f800000},{0,0x3f800000,0x3e800000,0x3f800000},{0x3e800000,0,0x3f800000,0x3f800000}} },
   { GL_HALF_FLOAT, 4, 0, 8, {{0x34003c00,0x3c000000},{0x3c000000,0x3c003400},{0x00003400,0x3c003c00}} },
   { GL_UNSIGNED_BYTE, 4, 1, 4, {{0xff0040ff},{0xff40ff00},{0xffff0040}} },
   { GL_UNSIGNED_BYTE, GL_BGRA, 1, 4, {{0xffff4000},{0xff00ff40},{0xff4000ff}} },
   { GL_BYTE, 4, 1, 4, {{0x7f00207f},{0x7f207f00},{0x7f7f0020}} },
   { GL_UNSIGNED_SHORT, 4, 1, 8, {{0x4000ffff,0xffff0000},{0xffff0000,0xffff4000},{0x00004000,0xffffffff}} },
   { GL_SHORT, 3, 1, 8, {{0x20007fff,0},{0x7fff0000,0x2000},{0x2000,0x7fff}} },
   { GL_UNSIGNED_INT, 2, 1, 8, {{0xffffffff,0x40000000},{0,0xffffffff},{0x40000000,0}} },
   { GL_UNSIGNED_INT_2_10_10_10_REV, 4, 1, 4, {{0xc00403ff},{0xd00ffc00},{0xfff00100}} },
   { GL_INT_2_10_10_10_REV, 4, 1, 4, {{0x400201ff},{0x4807fc00},{0x5ff00080}} },
   { GL_UNSIGNED_BYTE, 1, 0, 4, {{1},{0},{0}} },
   { GL_SHORT, 2, 0, 4, {{0x00000001},{0x00010000},{0}} },
   { GL_FIXED, 3, 0, 12, {{0x10000,0x4000,0},{0,0x10000,0x4000},{0x4000,0,0x10000}} },
   { GL_DOUBLE, 2, 0, 16, {{0,0x3ff00000,0,0x3fd00000},{0,0,0,0x3ff00000},{0,0x3fd00000,0,0}} } };
static void vformats_init(void)
{
   P[0] = prog("ATTR vec4 pos; ATTR vec4 aux; VARY vec4 v; uniform float x; void main() { gl_Position = vec4(x + 0.06 * pos.x, -0.9 + 1.1 * pos.y * "
      "(0.4 + 0.4 * aux.r), 0.0, 1.0); v = aux; }\n", fs_aux);
   P[1] = prog("ATTR vec4 pos; in ivec2 aux2; in uvec3 aux3; VARY vec4 v; void main() { gl_Position = vec4(float(aux2.x) / 128.0, float(aux2.y) / "
      "4096.0, 0.0, 1.0); v = vec4(aux3 >> 4u, 15u) / 15.0; }\n", fs_aux);
}
static void vformats_draw(int f)
{
   static const float p[3][4] = { {-1,0,0,1}, {1,0,0,1}, {0.5,1,0,1} };
   (void)f; glUseProgram(P[0]);
   B[0] = B[0] ? B[0] : buffer(GL_ARRAY_BUFFER, sizeof p, p); B[1] = B[1] ? B[1] : buffer(GL_ARRAY_BUFFER, 64, NULL);
   for (int i = 0; i < COUNT(vformats); i++) {
      uint8_t d[48]; for (int k = 0; k < 3; k++) memcpy(d + k * vformats[i].bytes, vformats[i].d[k], vformats[i].bytes);
      glBindBuffer(GL_ARRAY_BUFFER, B[0]); glVertexAttribPointer(0, 4, GL_FLOAT, 0, 16, 0); glEnableVertexAttribArray(0);
      glBindBuffer(GL_ARRAY_BUFFER, B[1]); glBufferData(GL_ARRAY_BUFFER, sizeof d, d, GL_STREAM_DRAW);
      glVertexAttribPointer(1, vformats[i].size, vformats[i].type, vformats[i].norm, vformats[i].bytes, 0); glEnableVertexAttribArray(1);
      u1f("x", -0.92f + 1.84f * i / (COUNT(vformats) - 1)); glDrawArrays(GL_TRIANGLES, 0, 3); tris++;
   }
   /* integer attributes: signed bytes and shorts, unsigned bytes */
   static const struct { int8_t x, pad; int16_t y; uint8_t c[4]; }
   q[6] = { {-110,0,1024,{255,16,32,0}}, {-20,0,1024,{16,255,0,0}}, {-64,0,3900,{0,128,255,0}}, {20,0,1024,{240,240,16,0}},
      {110,0,3900,{16,240,240,0}}, {40,0,3000,{240,16,240,0}} };
   glUseProgram(P[1]); glBindBuffer(GL_ARRAY_BUFFER, B[1]); glBufferData(GL_ARRAY_BUFFER, sizeof q, q, GL_STREAM_DRAW);
   static GLuint b2;
   if (!b2) { int16_t xy[6][2]; for (int i = 0; i < 6; i++) { xy[i][0] = q[i].x; xy[i][1] = q[i].y; } b2 = buffer(GL_ARRAY_BUFFER, sizeof xy, xy); }
   glBindBuffer(GL_ARRAY_BUFFER, b2); glVertexAttribIPointer(2, 2, GL_SHORT, 4, 0);
   glBindBuffer(GL_ARRAY_BUFFER, B[1]); glVertexAttribIPointer(3, 3, GL_UNSIGNED_BYTE, 8, (void *)4); glEnableVertexAttribArray(2);
   glEnableVertexAttribArray(3);
   glDrawArrays(GL_TRIANGLES, 0, 6); glDisableVertexAttribArray(2); glDisableVertexAttribArray(3); tris += 2;
}
static void restart_init(void) { P[0] = prog(vs_aux, fs_aux); B[0] = buffer(GL_ELEMENT_ARRAY_BUFFER, 256, NULL); }
static void restart_draw(int f)
{
   float v[64][8]; (void)f;
   for (int i = 0; i < 64; i++) {
      float *p = v[i]; p[0] = -0.9f + 0.2571f * (i % 8); p[1] = -0.95f + 0.2714f * (i / 8) + 0.05f * (i & 1); p[2] = 0; p[3] = 1; hue(i, p + 4);
   }
   verts(v[0], 64);
   int en = legacy ? 0x8558 /* PRIMITIVE_RESTART_NV */ : GL_PRIMITIVE_RESTART;
   void (*cs)(GLenum) = (void *)eglGetProcAddress(legacy ? "glEnableClientState" : "glEnable"),
      (*cd)(GLenum) = (void *)eglGetProcAddress(legacy ? "glDisableClientState" : "glDisable");
   static const uint16_t i16[] = { 0,1,8,9,0xffff, 2,10,3,11,4,12, 0xffff,0xffff, 5,6,13 };
   static const uint8_t i8[] = { 16,17,25,33,32,24, 77, 19,20,28,36,27, 77, 22,23,31 };
   static const uint32_t i32[] = { 40,41,49,48, 0xffffffffu, 42,43,51,50,0xffffffffu, 44,45,53,61,60,52 };
   glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, B[0]); cs(en);
   glBufferData(GL_ELEMENT_ARRAY_BUFFER, sizeof i16, i16, GL_STREAM_DRAW); glPrimitiveRestartIndex(0xffff);
   glDrawElements(GL_TRIANGLE_STRIP, COUNT(i16), GL_UNSIGNED_SHORT, 0);
   glBufferData(GL_ELEMENT_ARRAY_BUFFER, sizeof i8, i8, GL_STREAM_DRAW); glPrimitiveRestartIndex(77);
   glDrawElements(GL_TRIANGLE_FAN, COUNT(i8), GL_UNSIGNED_BYTE, 0);
   glBufferData(GL_ELEMENT_ARRAY_BUFFER, sizeof i32, i32, GL_STREAM_DRAW); glPrimitiveRestartIndex(0xffffffffu);
   glDrawElements(GL_LINE_LOOP, COUNT(i32), GL_UNSIGNED_INT, 0);
   cd(en); tris += 14;
}
static void provoke_init(void)
{
   P[0] = prog("ATTR vec4 pos; ATTR vec4 aux; VARY vec4 v; FLAT ivec3 c; void main() { gl_Position = pos; v = aux; c = ivec3(aux.xyz * 255.0); }\n",
               "VARY vec4 v; FLAT ivec3 c; void main() { FRAG = vec4(vec3(c) / 255.0, 1.0) * (0.7 + 0.3 * v); }\n");
}
static void provoke_draw(int f)
{
   static const GLenum modes[] = { GL_TRIANGLES, GL_TRIANGLE_STRIP, GL_TRIANGLE_FAN, GL_LINES };
   for (int k = 0; k < 8; k++) {
      float v[12][8]; glProvokingVertex(k & 1 ? GL_FIRST_VERTEX_CONVENTION : GL_LAST_VERTEX_CONVENTION);
      for (int i = 0; i < 12; i++) {
         float *p = v[i], x = (i / 2) / 6.f, y = i & 1 ? 0.8f : 0.1f;
         if (k / 2 == 2) { x = 0.4f + (i ? 0.4f * cosf(i * 0.55f) : 0); y = 0.45f + (i ? 0.45f * sinf(i * 0.55f) : 0); }
         p[0] = -0.97f + (k & 1) + 0.95f * x; p[1] = -0.97f + 0.5f * (k / 2) + 0.48f * y; p[2] = 0; p[3] = 1; hue(i + k + f, p + 4);
      }
      draw(modes[k / 2], v[0], 12);
   }
}
static void multidraw_init(void) { P[0] = prog(vs_aux, fs_aux); }
static void multidraw_draw(int f)
{
   float v[48][8]; (void)f;
   for (int i = 0; i < 48; i++) {
      float *p = v[i], a = 0.9f * (i % 6); p[0] = -0.75f + 0.5f * (i / 6 % 4) + 0.2f * cosf(a); p[1] = -0.6f + 1.1f * (i / 24) + 0.3f * sinf(a);
      p[2] = 0; p[3] = 1; hue(i, p + 4);
   }
   static const GLint first[] = { 0, 7, 12, 18 }; static const GLsizei count[] = { 6, 4, 0, 5 };
   verts(v[0], 48); glMultiDrawArrays(GL_TRIANGLE_FAN, first, count, 4);
   static const uint16_t ix[] = { 0,1,2, 2,3,4, 5,0,3, 1,4,5 }; static const GLint base[] = { 24, 30, 42 }; static const GLsizei n[] = { 6, 12, 3 };
   const void *at[] = { (void *)0, (void *)0, (void *)12 };
   if (!B[0]) B[0] = buffer(GL_ELEMENT_ARRAY_BUFFER, sizeof ix, ix);
   glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, B[0]);
   if (legacy || glver < 32) for (int i = 0; i < 3; i++) glDrawElementsBaseVertex(GL_TRIANGLES, n[i], GL_UNSIGNED_SHORT, at[i], base[i]);
      else glMultiDrawElementsBaseVertex(GL_TRIANGLES, n, GL_UNSIGNED_SHORT, at, 3, base);
   glDrawRangeElements(GL_TRIANGLES, 0, 5, 3, GL_UNSIGNED_SHORT, (void *)6); tris += 17;
}
static void drawid_init(void)
{
   P[0] = prog("ATTR vec4 pos; VARY vec4 v; void main() { gl_Position = pos + vec4(0.5 * float(gl_DrawIDARB) - 0.75, 0.7 - 0.4 * "
      "float(gl_InstanceID + gl_BaseInstanceARB), 0.0, 0.0);\n"
               " v = vec4(float(gl_DrawIDARB) / 3.0, float(gl_BaseVertexARB) / 9.0, float(gl_BaseInstanceARB) / 2.0, 1.0); }\n", fs_aux);
}
static void drawid_draw(int f)
{
   float v[12][8]; memset(v, 0, sizeof v); (void)f;
   for (int i = 0; i < 12; i++) {
      v[i][0] = i % 3 == 1 ? 0.2f : i % 3 ? 0 : -0.2f; v[i][1] = i % 3 == 2 ? 0.15f + 0.03f * (i / 3) : -0.15f; v[i][3] = 1;
   }
   static const GLint first[] = { 0, 3, 6, 9 }; static const GLsizei count[] = { 3, 3, 3, 3 }; static const uint8_t ix[] = { 0, 1, 2 };
   verts(v[0], 12); glMultiDrawArrays(GL_TRIANGLES, first, count, 4);
   if (!B[0]) B[0] = buffer(GL_ELEMENT_ARRAY_BUFFER, 3, ix);
   glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, B[0]); glDrawElementsInstancedBaseVertexBaseInstance(GL_TRIANGLES, 3, GL_UNSIGNED_BYTE, 0, 3, 9, 1);
   glDrawArraysInstancedBaseInstance(GL_TRIANGLES, 6, 3, 2, 2); tris += 9;
}

/* ================================================================== render targets */
static const struct { GLenum internal, fmt, type; char kind; }
rts[6] = { { GL_RGBA8UI, GL_RGBA_INTEGER, GL_UNSIGNED_BYTE, 'u' }, { GL_RGBA16F, GL_RGBA, GL_FLOAT, 'f' }, { GL_R32F, GL_RED, GL_FLOAT, 'f' },
   { GL_RG16I, GL_RG_INTEGER, GL_SHORT, 'i' }, { GL_R11F_G11F_B10F, GL_RGB, GL_FLOAT, 'f' }, { GL_RGB10_A2UI, GL_RGBA_INTEGER,
      GL_UNSIGNED_INT_2_10_10_10_REV, 'u' } };
static void intrt_init(void)
{
   P[0] = prog(vs_aux, "VARY vec4 v; OUTV uvec4 out0; void main() { ivec2 p = ivec2(gl_FragCoord.xy); out0 = uvec4(ivec4(p.x * 4, p.y * 4, (p.x ^ "
      "p.y) * 3, 255 - p.x)); }\n");
   P[1] = prog(vs_aux, "VARY vec4 v; OUTV ivec4 out0; void main() { ivec2 p = ivec2(gl_FragCoord.xy); out0 = ivec4(p.x * 500 - 16000, 16000 - p.y * "
      "500, 0, 1); }\n");
   P[2] = prog(vs_aux, "VARY vec4 v; void main() { vec2 p = floor(gl_FragCoord.xy); FRAG = vec4(p.x / 16.0, p.y / 8.0, p.x * p.y / 64.0, 1.0); }\n");
   P[3] = prog(vs_aux, "VARY vec4 v; uniform usampler2D tex; uniform float k; void main() { FRAG = vec4(T2D(tex, v.xy)) * k; }\n");
   P[4] = prog(vs_aux, "VARY vec4 v; uniform isampler2D tex; uniform float k; void main() { FRAG = abs(vec4(T2D(tex, v.xy))) * k; }\n");
   P[5] = prog(vs_aux, "VARY vec4 v; uniform sampler2D tex; uniform float k; void main() { vec4 c = T2D(tex, v.xy) * k; "
      "FRAG = vec4(c.rgb - floor(c.rgb), 1.0); }\n");
   for (int i = 0; i < 6; i++) target(i, rts[i].internal, 64, 64, rts[i].fmt, rts[i].type);
}
static void intrt_draw(int f)
{
   (void)f;
   for (int i = 0; i < 6; i++) {
      into(i, 64, 64); glUseProgram(P[rts[i].kind == 'u' ? 0 : rts[i].kind == 'i' ? 1 : 2]); rect(-1, -1, 1, 1);
      if (rts[i].kind == 'f') { glEnable(GL_BLEND); glBlendFunc(GL_ONE, GL_ONE); if (i != 2) rect(-1, -1, 0, 1); glDisable(GL_BLEND); }
      if (i == 0) report_pixels("rgba8ui", 0, 0, 64, 64, GL_RGBA_INTEGER, GL_UNSIGNED_BYTE, 4);
      if (i == 2) report_pixels("r32f", 0, 0, 64, 64, GL_RED, GL_FLOAT, 4);
   }
   picture();
   for (int i = 0; i < 6; i++) {
      glBindTexture(GL_TEXTURE_2D, T[i]); glUseProgram(P[rts[i].kind == 'u' ? 3 : rts[i].kind == 'i' ? 4 : 5]);
      u1f("k", i == 0 ? 1 / 255.f : i == 3 ? 1 / 16000.f : i == 5 ? 1 / 255.f : i == 1 ? 0.125f : 0.25f); cell(i, 3, 2);
   }
}
static void mrt_init(void)
{
   P[0] = prog(vs_aux, "VARY vec4 v; void main() { vec2 p = v.xy * 7.3 + 0.017; float chk = mod(floor(p.x) + floor(p.y), 2.0);\n"
      " out0 = vec4(v.xy, 0.0, 1.0); out1 = vec4(chk, 0.5 * chk, 1.0 - chk, 1.0); out2 = vec4(1.0 - v.x, 0.3, v.y, 0.5); "
         "out3 = vec4(fract(p.x), fract(p.y), 0.2, 1.0); }\n");
   P[1] = prog(vs_aux, fs_tex); glGenFramebuffers(1, F);
   for (int i = 0; i < 4; i++) {
      T[i] = tex(GL_TEXTURE_2D, GL_NEAREST, GL_NEAREST, GL_CLAMP_TO_EDGE);
      glTexImage2D(GL_TEXTURE_2D, 0, i == 3 ? GL_RGBA16F : GL_RGBA8, 128, 128, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
      glBindFramebuffer(GL_FRAMEBUFFER, F[0]); glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0 + i, GL_TEXTURE_2D, T[i], 0);
   }
}
static void mrt_draw(int f)
{
   static const GLenum bufs[] = { GL_COLOR_ATTACHMENT0, GL_COLOR_ATTACHMENT1, GL_COLOR_ATTACHMENT2, GL_COLOR_ATTACHMENT3 };
   static const float tri[] = { -0.9,-0.9,0,1, 0,0,0,0,  0.9,-0.6,0,1, 1,0,0,0,  0.1,0.95,0,1, 0.5,1,0,0 };
   (void)f; into(0, 128, 128); glDrawBuffers(4, bufs); glClearColor(0.3f, 0.3f, 0.3f, 1); glClear(GL_COLOR_BUFFER_BIT); glUseProgram(P[0]);
   glColorMaski(1, 1, 0, 1, 1); glEnablei(GL_BLEND, 2); glBlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
   draw(GL_TRIANGLES, tri, 3); glDisablei(GL_BLEND, 2); glColorMaski(1, 1, 1, 1, 1);
   picture(); glUseProgram(P[1]); for (int i = 0; i < 4; i++) { glBindTexture(GL_TEXTURE_2D, T[i]); cell(i, 2, 2); }
}
static void srgb_init(void)
{
   P[0] = prog(vs_aux, fs_aux); P[1] = prog(vs_aux, fs_tex); target(0, GL_SRGB8_ALPHA8, 128, 128, GL_RGBA, GL_UNSIGNED_BYTE);
   T[1] = tex(GL_TEXTURE_2D, GL_LINEAR, GL_LINEAR, GL_CLAMP_TO_EDGE); uint8_t *p = texels(16, 16, 1, 1);
   glTexImage2D(GL_TEXTURE_2D, 0, GL_SRGB8_ALPHA8, 16, 16, 0, GL_RGBA, GL_UNSIGNED_BYTE, p); free(p);
}
static void srgb_draw(int f)
{
   static const float ramp[] = { -1,-1,0,1, 0,0,0,1,  1,-1,0,1, 1,0.5,0.25,1,  -1,1,0,1, 0,0,0,1,  1,1,0,1, 1,1,1,1 }, blend[] = { -0.5,-0.6,0,1,
      1,1,1,0.5,  0.9,-0.2,0,1, 0,1,0,0.5,  0,0.8,0,1, 1,0,0,0.5 };
   (void)f;
   for (int k = 0; k < 2; k++) { /* encoded on write, then not */
      into(0, 128, 128); k ? glDisable(GL_FRAMEBUFFER_SRGB) : glEnable(GL_FRAMEBUFFER_SRGB); glUseProgram(P[0]); draw(GL_TRIANGLE_STRIP, ramp, 4);
      glEnable(GL_BLEND); glBlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA); draw(GL_TRIANGLES, blend, 3); glDisable(GL_BLEND);
      glDisable(GL_FRAMEBUFFER_SRGB);
      picture(); glUseProgram(P[1]); glBindTexture(GL_TEXTURE_2D, T[0]); cell(2 * k, 2, 2); glBindTexture(GL_TEXTURE_2D, T[1]); if (!k) cell(1, 2, 2);
   }
   glBindFramebuffer(GL_READ_FRAMEBUFFER, F[0]);
   glBlitFramebuffer(0, 0, 128, 128, W / 2 + W / 32, H / 2 + H / 32, W - W / 32, H - H / 32, GL_COLOR_BUFFER_BIT, GL_NEAREST);
   glBindFramebuffer(GL_READ_FRAMEBUFFER, fbo);
}
static void depth32f_init(void)
{
   P[0] = prog(vs_aux, fs_aux); target(0, GL_RGBA8, 256, 256, GL_RGBA, GL_UNSIGNED_BYTE); glGenRenderbuffers(1, &B[0]);
   glBindRenderbuffer(GL_RENDERBUFFER, B[0]); glRenderbufferStorage(GL_RENDERBUFFER, GL_DEPTH32F_STENCIL8, 256, 256);
   glBindFramebuffer(GL_FRAMEBUFFER, F[0]); glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_RENDERBUFFER, B[0]);
   glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_STENCIL_ATTACHMENT, GL_RENDERBUFFER, B[0]);
   if (glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE) skip("DEPTH32F_STENCIL8 cannot be rendered to");
   P[1] = prog(vs_aux, fs_tex);
}
static void depth32f_draw(int f)
{
   /* a floor, then front- and back-facing volumes that count in the stencil, then one quad per stencil value */
   static const float floor_[] = { -1,-1,-0.9,1, 0.2,0.2,0.5,1,  1,-1,-0.9,1, 0.5,0.2,0.2,1,  -1,1,0.9,1, 0.2,0.5,0.2,1,  1,1,0.9,1, 0.5,0.5,0.5,1 };
   static const float vol[] = { -0.8,-0.8,-0.95,1, 0,0,0,0,  0.7,-0.6,0.3,1, 0,0,0,0,  -0.1,0.9,-0.5,1, 0,0,0,0,    -0.6,-0.3,0.2,1, 0,0,0,0,
       0.1,0.7,0.1,1, 0,0,0,0,  0.8,-0.5,-0.4,1, 0,0,0,0,
                                -0.4,-0.9,-0.99,1, 0,0,0,0,  0.9,0,-0.2,1, 0,0,0,0,  0,0.5,0.8,1, 0,0,0,0,          -0.9,0.2,0.9,1, 0,0,0,0,
                                    0.5,0.8,0.6,1, 0,0,0,0,  0.6,-0.9,-0.99,1, 0,0,0,0 };
   (void)f; into(0, 256, 256); glClearDepth(1); glClearStencil(3); glClearColor(0, 0, 0, 1);
   glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT | GL_STENCIL_BUFFER_BIT); glUseProgram(P[0]);
   glEnable(GL_DEPTH_TEST); glDepthFunc(GL_LESS); draw(GL_TRIANGLE_STRIP, floor_, 4);
   glEnable(GL_STENCIL_TEST); glStencilFunc(GL_ALWAYS, 0, 0xff); glColorMask(0, 0, 0, 0); glDepthMask(0);
   glStencilOpSeparate(GL_FRONT, GL_KEEP, GL_DECR_WRAP, GL_INCR); glStencilOpSeparate(GL_BACK, GL_INVERT, GL_INCR_WRAP, GL_DECR);
   draw(GL_TRIANGLES, vol, 12);
   glColorMask(1, 1, 1, 1); glDisable(GL_DEPTH_TEST); glStencilOp(GL_KEEP, GL_KEEP, GL_KEEP);
   for (int s = 0; s < 8; s++) {
      float c[4]; hue(s, c); glStencilFuncSeparate(GL_FRONT, GL_EQUAL, s, 0xff);
      if (s != 3) {
         float v[4][8] = { {-1,-1,0,1}, {1,-1,0,1}, {-1,1,0,1}, {1,1,0,1} }; for (int i = 0; i < 4; i++) memcpy(v[i] + 4, c, 16);
         draw(GL_TRIANGLE_STRIP, v[0], 4);
      }
   }
   glDisable(GL_STENCIL_TEST); glDepthMask(1);
   /* 32-bit float depth near zero: steps of 2^-30 still separate */
   glEnable(GL_DEPTH_TEST); glDepthRange(0, 9.5367431640625e-07); glClear(GL_DEPTH_BUFFER_BIT); glDepthFunc(GL_LEQUAL);
   static const float a[] = { 0.4,-1,-0.5,1, 1,1,0,1,  1,-1,0.5,1, 1,1,0,1,  0.4,-0.4,-0.5,1, 1,1,0,1,  1,-0.4,0.5,1, 1,1,0,1 },
      b[] = { 0.4,-1,0.5,1, 0,1,1,1,  1,-1,-0.5,1, 0,1,1,1,  0.4,-0.4,0.5,1, 0,1,1,1,  1,-0.4,-0.5,1, 0,1,1,1 };
   draw(GL_TRIANGLE_STRIP, a, 4); draw(GL_TRIANGLE_STRIP, b, 4); glDepthRange(0, 1); glDisable(GL_DEPTH_TEST); glDepthFunc(GL_LESS);
   picture(); glUseProgram(P[1]); glBindTexture(GL_TEXTURE_2D, T[0]); rect(-1, -1, 1, 1);
}
static void dualsrc_link(GLuint p) { glBindFragDataLocationIndexed(p, 0, 0, "colour"); glBindFragDataLocationIndexed(p, 0, 1, "factor"); }
static void dualsrc_init(void)
{
   P[0] = prog(vs_aux, fs_aux);
   P[1] = prog5(vs_aux, NULL, NULL, NULL, "VARY vec4 v; OUTV vec4 colour; OUTV vec4 factor; void main() { colour = vec4(v.x, 0.5, 0.2, 0.5); "
      "factor = vec4(v.y, 1.0 - v.y, v.x, 0.75); }\n", dualsrc_link);
}
static void dualsrc_draw(int f)
{
   static const GLenum fn[4][2] = { { GL_SRC1_COLOR, GL_ONE_MINUS_SRC1_COLOR }, { GL_ONE, GL_SRC1_COLOR }, { GL_SRC1_ALPHA,
      GL_ONE_MINUS_SRC1_ALPHA }, { GL_ONE_MINUS_SRC1_COLOR, GL_SRC1_ALPHA } };
   static const float bg[] = { -1,-1,0,1, 0.9,0.1,0.1,1,  1,-1,0,1, 0.1,0.9,0.1,1,  -1,1,0,1, 0.1,0.1,0.9,1,  1,1,0,1, 0.9,0.9,0.9,1 };
   (void)f; glUseProgram(P[0]); draw(GL_TRIANGLE_STRIP, bg, 4); glUseProgram(P[1]); glEnable(GL_BLEND);
   for (int i = 0; i < 4; i++) { glBlendFunc(fn[i][0], fn[i][1]); cell(i, 2, 2); }
   glDisable(GL_BLEND);
}
static const struct { GLenum eq, eqa, s, d, sa, da; } blends[16] = {
   { GL_FUNC_ADD, GL_FUNC_ADD, GL_ONE, GL_ONE, GL_ONE, GL_ONE }, { GL_FUNC_SUBTRACT, GL_FUNC_ADD, GL_ONE, GL_ONE, GL_ONE, GL_ZERO },
      { GL_FUNC_REVERSE_SUBTRACT, GL_FUNC_ADD, GL_ONE, GL_ONE, GL_ONE, GL_ZERO },
   { GL_MIN, GL_MAX, GL_ONE, GL_ONE, GL_ONE, GL_ONE }, { GL_MAX, GL_MIN, GL_ONE, GL_ONE, GL_ONE, GL_ONE }, { GL_FUNC_ADD, GL_FUNC_ADD,
      GL_DST_COLOR, GL_ZERO, GL_DST_ALPHA, GL_ZERO },
   { GL_FUNC_ADD, GL_FUNC_ADD, GL_ZERO, GL_SRC_COLOR, GL_ZERO, GL_SRC_ALPHA }, { GL_FUNC_ADD, GL_FUNC_ADD, GL_ONE_MINUS_DST_COLOR, GL_ONE, GL_ONE,
      GL_ONE_MINUS_DST_ALPHA }, { GL_FUNC_ADD, GL_FUNC_ADD, GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA, GL_ONE, GL_ONE_MINUS_SRC_ALPHA },
   { GL_FUNC_ADD, GL_FUNC_ADD, GL_SRC_ALPHA_SATURATE, GL_ONE, GL_ONE, GL_ONE }, { GL_FUNC_ADD, GL_FUNC_ADD, GL_CONSTANT_COLOR,
      GL_ONE_MINUS_CONSTANT_COLOR, GL_CONSTANT_ALPHA, GL_ZERO }, { GL_FUNC_SUBTRACT, GL_FUNC_ADD, GL_DST_ALPHA, GL_ONE_MINUS_DST_ALPHA, GL_ZERO,
      GL_ONE },
   { GL_FUNC_ADD, GL_FUNC_SUBTRACT, GL_CONSTANT_ALPHA, GL_ONE_MINUS_CONSTANT_ALPHA, GL_ONE, GL_ONE }, { GL_FUNC_REVERSE_SUBTRACT,
      GL_FUNC_REVERSE_SUBTRACT, GL_SRC_ALPHA, GL_ONE_MINUS_SRC_COLOR, GL_ONE, GL_ONE }, { GL_FUNC_ADD, GL_FUNC_ADD, GL_ZERO, GL_ONE, GL_ZERO,
      GL_ZERO }, { GL_FUNC_ADD, GL_FUNC_ADD, GL_ONE_MINUS_SRC_COLOR, GL_DST_COLOR, GL_ONE, GL_ZERO } };
static const float ramp_dst[] = { -1,-1,0,1, 0.9,0.1,0.1,0.2,  1,-1,0,1, 0.1,0.9,0.1,0.9,  -1,1,0,1, 0.1,0.1,0.9,0.6,  1,1,0,1, 0.8,0.8,0.3,1 },
   ramp_src[] = { -0.8,-0.8,0,1, 0.1,0.3,0.9,0.9,  0.8,-0.8,0,1, 0.9,0.2,0.3,0.1,  -0.8,0.8,0,1, 0.3,0.9,0,0.5,  0.8,0.8,0,1, 0.6,0.7,1,0.3 };
static void blendops_init(void)
{
   P[0] = prog(vs_aux, fs_aux);
   P[1] = prog(vs_aux, "VARY vec4 v; uniform sampler2D tex; void main() { vec4 c = T2D(tex, v.xy); FRAG = vec4(c.rgb * (0.5 + 0.5 * c.a), 1.0); "
      "}\n");
   target(0, GL_RGBA8, 256, 256, GL_RGBA, GL_UNSIGNED_BYTE);
}
static void blendops_draw(int f)
{
   (void)f; glBindFramebuffer(GL_FRAMEBUFFER, F[0]); glUseProgram(P[0]); glBlendColor(0.25f, 0.5f, 0.75f, 0.4f);
   for (int i = 0; i < 16; i++) {
      glViewport(i % 4 * 64, i / 4 * 64, 64, 64); draw(GL_TRIANGLE_STRIP, ramp_dst, 4); glEnable(GL_BLEND);
      glBlendEquationSeparate(blends[i].eq, blends[i].eqa); glBlendFuncSeparate(blends[i].s, blends[i].d, blends[i].sa, blends[i].da);
      draw(GL_TRIANGLE_STRIP, ramp_src, 4); glDisable(GL_BLEND);
   }
   picture(); glBlendEquation(GL_FUNC_ADD); glUseProgram(P[1]); glBindTexture(GL_TEXTURE_2D, T[0]); rect(-1, -1, 1, 1);
}
static void blendi_init(void) { mrt_init(); }
static void blendi_draw(int f)
{
   static const GLenum bufs[] = { GL_COLOR_ATTACHMENT0, GL_COLOR_ATTACHMENT1, GL_COLOR_ATTACHMENT2, GL_COLOR_ATTACHMENT3 };
   (void)f; into(0, 128, 128); glDrawBuffers(4, bufs); glClearColor(0.4f, 0.6f, 0.2f, 0.5f); glClear(GL_COLOR_BUFFER_BIT); glUseProgram(P[0]);
   glEnable(GL_BLEND);
   glBlendFunci(0, GL_ONE, GL_ONE); glBlendEquationi(1, GL_MAX); glBlendEquationi(2, GL_FUNC_REVERSE_SUBTRACT);
   glBlendFunci(2, GL_SRC_ALPHA, GL_ONE); glBlendFuncSeparatei(3, GL_DST_COLOR, GL_ZERO, GL_ONE, GL_ZERO);
   rect(-0.9f, -0.8f, 0.8f, 0.9f); glDisable(GL_BLEND); glBlendEquation(GL_FUNC_ADD);
   picture(); glUseProgram(P[1]); for (int i = 0; i < 4; i++) { glBindTexture(GL_TEXTURE_2D, T[i]); cell(i, 2, 2); }
}
static void logicop_init(void) { P[0] = prog(vs_aux, fs_aux); }
static void logicop_draw(int f)
{
   (void)f;
   for (int i = 0; i < 16; i++) {
      cell_viewport(i, 4, 4); draw(GL_TRIANGLE_STRIP, ramp_dst, 4); glEnable(GL_COLOR_LOGIC_OP); glLogicOp(GL_CLEAR + i);
      draw(GL_TRIANGLE_STRIP, ramp_src, 4); glDisable(GL_COLOR_LOGIC_OP);
   }
   whole();
}

/* ================================================================== textures */
static void upload_layers(GLenum target, GLenum internal, int w, int h, int d, int levels)
{
   for (int l = 0; l < levels; l++) {
      int lw = w >> l ? w >> l : 1, lh = h >> l ? h >> l : 1, ld = target == GL_TEXTURE_3D ? (d >> l ? d >> l : 1) : d;
      uint8_t *p = texels(lw, lh, ld, l);
      glTexImage3D(target, l, internal, lw, lh, ld, 0, GL_RGBA, GL_UNSIGNED_BYTE, p); free(p);
   }
   glTexParameteri(target, GL_TEXTURE_MAX_LEVEL, levels - 1);
}
static void texarray_init(void)
{
   P[0] = prog(vs_aux, "VARY vec4 v; uniform sampler2DArray tex; void main() { FRAG = TARR(tex, v.xyz); }\n");
   P[1] = prog(vs_aux, "VARY vec4 v; uniform sampler1DArray tex; void main() { FRAG = TARR1(tex, vec2(v.x, v.y * 5.0 - 0.5)); }\n");
   T[0] = tex(GL_TEXTURE_2D_ARRAY, GL_LINEAR_MIPMAP_NEAREST, GL_LINEAR, GL_REPEAT); upload_layers(GL_TEXTURE_2D_ARRAY, GL_RGBA8, 16, 16, 7, 5);
   T[1] = tex(GL_TEXTURE_1D_ARRAY, GL_NEAREST, GL_NEAREST, GL_CLAMP_TO_EDGE); uint8_t *p = texels(24, 5, 1, 2);
   glTexImage2D(GL_TEXTURE_1D_ARRAY, 0, GL_RGBA8, 24, 5, 0, GL_RGBA, GL_UNSIGNED_BYTE, p); free(p);
}
static void texarray_draw(int f)
{
   (void)f; glUseProgram(P[0]);
   for (int i = 0; i < 9; i++) {
      float x = -1 + 0.66f * (i % 3), y = -1 + 0.5f * (i / 3), r = i < 6 ? 1 : 8;
      rect4(x, y, x + 0.62f, y + 0.46f, 0, 0, r, r, i * 0.85f - 0.3f, 1);
   }
   glUseProgram(P[1]); rect(-0.95f, 0.55f, 0.95f, 0.95f);
}
static const char *fs_sky = /* every direction: longitude along x, latitude along y */
   "vec3 sky(vec2 t) { float a = (t.x * 2.0 - 1.0) * 3.14159265, b = (t.y - 0.5) * 3.14159265; return vec3(cos(b) * sin(a), sin(b), cos(b) * "
      "cos(a)); }\n";
static void cube_init(void)
{
   char s[1024]; snprintf(s, sizeof s, "VARY vec4 v; uniform samplerCube tex; %s void main() { FRAG = TCUBE(tex, sky(v.xy)); }\n", fs_sky);
   P[0] = prog(vs_aux, s);
   for (int k = 0; k < 2; k++) {
      T[k] = tex(GL_TEXTURE_CUBE_MAP, k ? GL_LINEAR : GL_NEAREST, k ? GL_LINEAR : GL_NEAREST, GL_CLAMP_TO_EDGE);
      for (int i = 0; i < 6; i++) image2d(GL_TEXTURE_CUBE_MAP_POSITIVE_X + i, 0, k ? 4 : 16, k ? 4 : 16, i);
   }
}
static void cube_draw(int f)
{
   (void)f; rect(-1, 0.02f, 1, 1); glBindTexture(GL_TEXTURE_CUBE_MAP, T[0]); rect(-1, 0.02f, 1, 1);
   glBindTexture(GL_TEXTURE_CUBE_MAP, T[1]); glEnable(GL_TEXTURE_CUBE_MAP_SEAMLESS); rect(-1, -1, 1, -0.02f); glDisable(GL_TEXTURE_CUBE_MAP_SEAMLESS);
}
static void cubearray_init(void)
{
   char s[1024];
   snprintf(s, sizeof s, "VARY vec4 v; uniform samplerCubeArray tex; %s void main() { FRAG = texture(tex, vec4(sky(v.xy), v.z)); }\n", fs_sky);
   P[0] = prog(vs_aux, s);
   T[0] = tex(GL_TEXTURE_CUBE_MAP_ARRAY, GL_NEAREST, GL_NEAREST, GL_CLAMP_TO_EDGE); upload_layers(GL_TEXTURE_CUBE_MAP_ARRAY, GL_RGBA8, 8, 8, 18, 1);
}
static void cubearray_draw(int f)
{
   (void)f; for (int i = 0; i < 3; i++) { float y = -1 + 0.667f * i; rect4(-0.98f, y + 0.02f, 0.98f, y + 0.64f, 0, 0, 1, 1, i + 0.3f, 1); }
}
static void tex3d_init(void)
{
   P[0] = prog(vs_aux, "VARY vec4 v; uniform sampler3D tex; uniform vec4 k; void main() { FRAG = T3D(tex, vec3(v.xy, dot(k, vec4(v.xy, v.x * v.y, "
      "1.0)))); }\n");
   T[0] = tex(GL_TEXTURE_3D, GL_LINEAR_MIPMAP_LINEAR, GL_LINEAR, GL_REPEAT); upload_layers(GL_TEXTURE_3D, GL_RGBA8, 16, 16, 16, 5);
   T[1] = tex(GL_TEXTURE_3D, GL_NEAREST, GL_NEAREST, GL_CLAMP_TO_EDGE); upload_layers(GL_TEXTURE_3D, GL_RGBA8, 12, 10, 6, 1);
   T[2] = tex(GL_TEXTURE_3D, GL_LINEAR, GL_LINEAR, GL_MIRRORED_REPEAT); upload_layers(GL_TEXTURE_3D, GL_RGBA8, 12, 10, 6, 1);
}
static void tex3d_draw(int f)
{
   static const float k[4][4] = { {0.5f,0.4f,0,0.03f}, {0,0,0,0.45f}, {0.7f,-0.6f,1.5f,0.1f}, {1.5f,1.5f,0,-0.5f} }; (void)f;
   for (int i = 0; i < 4; i++) {
      float x = -1 + (i & 1), y = -1 + i / 2; glBindTexture(GL_TEXTURE_3D, T[i == 0 ? 0 : i == 3 ? 2 : i == 2 ? 1 : 0]);
      u4f("k", k[i][0], k[i][1], k[i][2], k[i][3]); float r = i == 1 ? 9 : i == 3 ? 2 : 1;
      rect4(x + 0.03f, y + 0.03f, x + 0.97f, y + 0.97f, 0, 0, r, r, 0, 1);
   }
}
static void shadow_init(void)
{
   P[0] = prog(vs_aux, fs_aux);
   P[1] = prog(vs_aux, "VARY vec4 v; uniform sampler2DShadow tex; void main() { float s = SHADOW2D(tex, vec3(v.xy, 0.1 + 0.8 * v.y)); "
      "FRAG = vec4(vec3(0.2) + 0.75 * s * vec3(v.xy, 1.0 - v.x), 1.0); }\n");
   for (int k = 0; k < 2; k++) {
      T[k] = tex(GL_TEXTURE_2D, k ? GL_LINEAR : GL_NEAREST, k ? GL_LINEAR : GL_NEAREST, GL_CLAMP_TO_EDGE);
      glTexImage2D(GL_TEXTURE_2D, 0, GL_DEPTH_COMPONENT24, 64, 64, 0, GL_DEPTH_COMPONENT, GL_UNSIGNED_INT, NULL);
      glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_COMPARE_MODE, GL_COMPARE_REF_TO_TEXTURE);
      glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_COMPARE_FUNC, k ? GL_GREATER : GL_LEQUAL);
      glGenFramebuffers(1, &F[k]); glBindFramebuffer(GL_FRAMEBUFFER, F[k]);
      glFramebufferTexture2D(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_TEXTURE_2D, T[k], 0); glDrawBuffer(GL_NONE); glReadBuffer(GL_NONE);
   }
   picture();
}
static void shadow_draw(int f)
{
   static const float tri[] = { -0.8,-0.8,-0.6,1, 0,0,0,0,  0.8,-0.6,0.2,1, 0,0,0,0,  -0.1,0.9,0.6,1, 0,0,0,0,   -0.9,0.5,0,1, 0,0,0,0,
       0.9,0.8,-0.5,1, 0,0,0,0,  0.5,-0.9,-0.2,1, 0,0,0,0 };
   (void)f;
   for (int k = 0; k < 2; k++) {
      into(k, 64, 64); glUseProgram(P[0]); glClearDepth(1); glClear(GL_DEPTH_BUFFER_BIT); glEnable(GL_DEPTH_TEST); draw(GL_TRIANGLES, tri, 6);
      glDisable(GL_DEPTH_TEST);
   }
   picture(); glUseProgram(P[1]); for (int k = 0; k < 2; k++) { glBindTexture(GL_TEXTURE_2D, T[k]); rect(-0.98f + k, -0.95f, -0.02f + k, 0.95f); }
}
static void shadow2_init(void)
{
   P[0] = prog(vs_aux, "VARY vec4 v; uniform sampler2DArrayShadow tex; void main() { FRAG = vec4(v.xy * texture(tex, vec4(v.xy, v.z, 0.5 * v.x + "
      "0.25)), 0.3, 1.0); }\n");
   char s[1024];
   snprintf(s, sizeof s, "VARY vec4 v; uniform samplerCubeShadow tex; %s void main() { FRAG = vec4(texture(tex, vec4(sky(v.xy), v.y)) * vec3(v.x, "
      "1.0, v.y), 1.0); }\n", fs_sky);
   P[1] = prog(vs_aux, s);
   P[2] = prog(vs_aux, "VARY vec4 v; uniform sampler2DArrayShadow tex; void main() { float s = textureGrad(tex, vec4(v.xy, v.z, 0.6), vec2(0.0), "
      "vec2(0.0)); FRAG = vec4(s, v.xy, 1.0); }\n");
   float d[16 * 16 * 6]; for (int i = 0; i < COUNT(d); i++) d[i] = ((i % 16) * 7 + (i / 16 % 16) * 5 + (i / 256) * 11) % 64 / 64.f;
   T[0] = tex(GL_TEXTURE_2D_ARRAY, GL_NEAREST, GL_NEAREST, GL_CLAMP_TO_EDGE);
   glTexImage3D(GL_TEXTURE_2D_ARRAY, 0, GL_DEPTH_COMPONENT32F, 16, 16, 3, 0, GL_DEPTH_COMPONENT, GL_FLOAT, d);
   glTexParameteri(GL_TEXTURE_2D_ARRAY, GL_TEXTURE_COMPARE_MODE, GL_COMPARE_REF_TO_TEXTURE);
   glTexParameteri(GL_TEXTURE_2D_ARRAY, GL_TEXTURE_COMPARE_FUNC, GL_LESS);
   T[1] = tex(GL_TEXTURE_CUBE_MAP, GL_NEAREST, GL_NEAREST, GL_CLAMP_TO_EDGE);
   for (int i = 0; i < 6; i++) glTexImage2D(GL_TEXTURE_CUBE_MAP_POSITIVE_X + i, 0, GL_DEPTH_COMPONENT24, 16, 16, 0, GL_DEPTH_COMPONENT, GL_FLOAT,
      d + 256 * i);
   glTexParameteri(GL_TEXTURE_CUBE_MAP, GL_TEXTURE_COMPARE_MODE, GL_COMPARE_REF_TO_TEXTURE);
   glTexParameteri(GL_TEXTURE_CUBE_MAP, GL_TEXTURE_COMPARE_FUNC, GL_GEQUAL);
}
static void shadow2_draw(int f)
{
   (void)f; glUseProgram(P[0]); for (int i = 0; i < 3; i++) rect4(-0.98f + 0.66f * i, -0.98f, -0.36f + 0.66f * i, -0.4f, 0, 0, 1, 1, i, 1);
   glUseProgram(P[1]); rect(-0.98f, -0.35f, 0.98f, 0.35f); glUseProgram(P[2]); rect4(-0.98f, 0.4f, 0.98f, 0.98f, 0, 0, 1, 1, 1, 1);
}
static void texrect_init(void)
{
   P[0] = prog(vs_aux, "VARY vec4 v; uniform sampler2DRect tex; void main() { FRAG = TRECT(tex, v.xy); }\n");
   for (int k = 0; k < 2; k++) {
      T[k] = tex(GL_TEXTURE_RECTANGLE, k ? GL_LINEAR : GL_NEAREST, k ? GL_LINEAR : GL_NEAREST, k ? GL_CLAMP_TO_BORDER : GL_CLAMP_TO_EDGE);
      uint8_t *p = texels(37, 23, 1, k); glTexImage2D(GL_TEXTURE_RECTANGLE, 0, GL_RGBA8, 37, 23, 0, GL_RGBA, GL_UNSIGNED_BYTE, p); free(p);
   }
   static const float border[] = { 1, 0.5f, 0, 1 }; glTexParameterfv(GL_TEXTURE_RECTANGLE, GL_TEXTURE_BORDER_COLOR, border);
}
static void texrect_draw(int f)
{
   (void)f;
   for (int k = 0; k < 2; k++) {
      glBindTexture(GL_TEXTURE_RECTANGLE, T[k]);
      rect4(-0.98f, -0.98f + k, 0.98f, -0.02f + k, k ? -4 : 0, k ? -3 : 0, k ? 41 : 37, k ? 26 : 23, 0, 1);
   }
}
static void texfetch_init(void)
{
   P[0] = prog(vs_aux, "VARY vec4 v; uniform sampler2D tex; uniform int level; void main() { ivec2 s = SIZE2D(tex, level); "
      "ivec2 p = ivec2(v.xy * vec2(s)); FRAG = FETCH2D(tex, p, level); }\n");
   T[0] = tex(GL_TEXTURE_2D, GL_NEAREST_MIPMAP_NEAREST, GL_NEAREST, GL_REPEAT);
   for (int l = 0; l < 6; l++) image2d(GL_TEXTURE_2D, l, 40 >> l ? 40 >> l : 1, 24 >> l ? 24 >> l : 1, l);
}
static void texfetch_draw(int f) { (void)f; for (int l = 0; l < 6; l++) { u1i("level", l); cell(l, 3, 2); } }
static void gather_init(void)
{
   P[0] = prog(vs_aux, "VARY vec4 v; uniform sampler2D tex; void main() { FRAG = v.z < 0.5 ? textureGather(tex, v.xy).wxyz : "
      "textureGatherOffset(tex, v.xy, ivec2(3, -2)).zwxy; }\n");
   uint8_t d[12 * 12]; for (int i = 0; i < 144; i++) d[i] = (i * 53 + i / 12 * 31) & 255; glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
   T[0] = tex(GL_TEXTURE_2D, GL_NEAREST, GL_NEAREST, GL_REPEAT); glTexImage2D(GL_TEXTURE_2D, 0, GL_R8, 12, 12, 0, GL_RED, GL_UNSIGNED_BYTE, d);
}
static void gather_draw(int f)
{
   (void)f; rect4(-0.98f, -0.98f, 0.98f, -0.02f, 0.003f, 0.004f, 1.003f, 0.504f, 0, 1);
   rect4(-0.98f, 0.02f, 0.98f, 0.98f, 0.003f, 0.004f, 1.003f, 0.504f, 1, 1);
}
static void gather4_init(void)
{
   P[0] = prog(vs_aux, "VARY vec4 v; uniform sampler2D tex; uniform sampler2DShadow cmp; uniform ivec2 off; const ivec2 o[4] = ivec2[4](ivec2(-4, "
      "0), ivec2(4, 1), ivec2(0, -5), ivec2(2, 6));\n"
      "void main() { int k = int(v.z); if (k == 0) FRAG = textureGather(tex, v.xy, 1); else if (k == 1) FRAG = textureGather(tex, v.xy, 2);\n"
      " else if (k == 2) FRAG = textureGatherOffset(tex, v.xy, off, 0); else if (k == 3) FRAG = textureGatherOffsets(tex, v.xy, o, 1); "
         "else if (k == 4) FRAG = textureGather(cmp, v.xy, v.x); else FRAG = textureGatherOffset(cmp, v.xy, 0.5, off); FRAG.a = 1.0; }\n");
   T[0] = tex(GL_TEXTURE_2D, GL_NEAREST, GL_NEAREST, GL_REPEAT); image2d(GL_TEXTURE_2D, 0, 16, 16, 1);
   float d[256]; for (int i = 0; i < 256; i++) d[i] = (i * 37 + i / 16 * 11) % 64 / 64.f;
   glActiveTexture(GL_TEXTURE1); T[1] = tex(GL_TEXTURE_2D, GL_NEAREST, GL_NEAREST, GL_CLAMP_TO_EDGE);
   glTexImage2D(GL_TEXTURE_2D, 0, GL_DEPTH_COMPONENT32F, 16, 16, 0, GL_DEPTH_COMPONENT, GL_FLOAT, d);
   glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_COMPARE_MODE, GL_COMPARE_REF_TO_TEXTURE); glActiveTexture(GL_TEXTURE0);
   u1i("cmp", 1); glUniform2i(U("off"), -9, 17);
}
static void gather4_draw(int f)
{
   (void)f;
   for (int i = 0; i < 6; i++) {
      float x = -1 + 0.667f * (i % 3), y = -1 + i / 3;
      rect4(x + 0.02f, y + 0.02f, x + 0.64f, y + 0.96f, 0.003f, 0.004f, 0.99f, 0.99f, i + 0.25f, 1);
   }
}
static void texgrad_init(void)
{
   P[0] = prog(vs_aux, "VARY vec4 v; uniform sampler2D tex; void main() { int k = int(v.z); vec2 t = v.xy * 2.0;\n"
      " if (k == 0) FRAG = T2DLOD(tex, t, floor(v.x * 6.0)); else if (k == 1) FRAG = T2DLOD(tex, t, v.x * 5.0); "
         "else if (k == 2) FRAG = T2DGRAD(tex, t, vec2(exp2(floor(v.x * 6.0)) / 32.0, 0.0), vec2(0.0, 1.0 / 64.0));\n"
      " else if (k == 3) FRAG = T2D(tex, t * 4.0, floor(v.x * 4.0) - 2.0); else if (k == 4) FRAG = T2DOFF(tex, v.xy, ivec2(7, -3)); "
         "else FRAG = T2DPROJ(tex, vec3(t, 1.0 + v.x)); }\n");
   T[0] = tex(GL_TEXTURE_2D, GL_LINEAR_MIPMAP_NEAREST, GL_NEAREST, GL_REPEAT);
   for (int l = 0; l < 6; l++) image2d(GL_TEXTURE_2D, l, 32 >> l, 32 >> l, 2 * l);
   T[1] = tex(GL_TEXTURE_2D, GL_LINEAR_MIPMAP_LINEAR, GL_LINEAR, GL_REPEAT);
   for (int l = 0; l < 6; l++) image2d(GL_TEXTURE_2D, l, 32 >> l, 32 >> l, 2 * l);
}
static void texgrad_draw(int f)
{
   (void)f;
   for (int i = 0; i < 6; i++) {
      float y = -1 + i / 3.f; glBindTexture(GL_TEXTURE_2D, T[i == 1]); rect4(-0.98f, y + 0.02f, 0.98f, y + 0.31f, 0, 0, 1, 0.25f, i + 0.25f, 1);
   }
}
static void texbuf_init(void)
{
   P[0] = prog(vs_aux, "VARY vec4 v; uniform samplerBuffer height; uniform samplerBuffer palette; uniform usamplerBuffer words;\n"
      "void main() { int i = int(v.x * 32.0); float h = FETCHBUF(height, i).r; vec4 c = FETCHBUF(palette, i % 8); uvec4 w = FETCHBUF(words, int(v.y "
         "* 16.0)); int lit = (int(w.x) >> i) & 1; FRAG = v.y < h ? c : vec4(vec3(float(lit) * 0.4), 1.0); }\n");
   float h[32], c[8][4]; uint8_t p[8][4]; uint32_t w[16][4];
   for (int i = 0; i < 32; i++) h[i] = (i * 11 % 32) / 32.f;
   for (int i = 0; i < 8; i++) { hue(i, c[i]); for (int k = 0; k < 4; k++) p[i][k] = c[i][k] * 255; }
   for (int i = 0; i < 16; i++) for (int k = 0; k < 4; k++) w[i][k] = k ? 7 : (0x9e3779b9u * (i + 1)) & 0x7fffffff;
   static const struct { const char *n; GLenum f; } s[3] = { { "height", GL_R32F }, { "palette", GL_RGBA8 }, { "words", GL_RGBA32UI } };
   const void *d[3] = { h, p, w }; size_t n[3] = { sizeof h, sizeof p, sizeof w };
   for (int i = 0; i < 3; i++) {
      B[i] = buffer(GL_TEXTURE_BUFFER, n[i], d[i]); glActiveTexture(GL_TEXTURE0 + i); glGenTextures(1, &T[i]);
      glBindTexture(GL_TEXTURE_BUFFER, T[i]); glTexBuffer(GL_TEXTURE_BUFFER, s[i].f, B[i]); u1i(s[i].n, i);
   }
   glActiveTexture(GL_TEXTURE0);
}
static void whole_draw(int f) { (void)f; rect(-1, -1, 1, 1); }

/* One 8x8 image in every format a sampler must decode. */
typedef struct { GLenum internal, fmt, type; int bytes; } TexFormat;
static const TexFormat tformats[] = {
   { GL_R8, GL_RED, GL_UNSIGNED_BYTE, 1 }, { GL_RG8, GL_RG, GL_UNSIGNED_BYTE, 2 }, { GL_RGB8, GL_RGB, GL_UNSIGNED_BYTE, 3 }, { GL_RGBA8, GL_BGRA,
      GL_UNSIGNED_BYTE, 4 }, { GL_RGB5, GL_RGB, GL_UNSIGNED_SHORT_5_6_5, 2 }, { GL_RGB5_A1, GL_RGBA, GL_UNSIGNED_SHORT_5_5_5_1, 2 },
   { GL_RGBA4, GL_RGBA, GL_UNSIGNED_SHORT_4_4_4_4, 2 }, { GL_R16, GL_RED, GL_UNSIGNED_SHORT, 2 }, { GL_RG16, GL_RG, GL_UNSIGNED_SHORT, 4 },
      { GL_RGBA16, GL_RGBA, GL_UNSIGNED_SHORT, 8 }, { GL_RGBA8_SNORM, GL_RGBA, GL_BYTE, 4 }, { GL_RG16_SNORM, GL_RG, GL_SHORT, 4 },
   { GL_R16F, GL_RED, GL_FLOAT, 4 }, { GL_RG16F, GL_RG, GL_FLOAT, 8 }, { GL_RGBA16F, GL_RGBA, GL_FLOAT, 16 }, { GL_R32F, GL_RED, GL_FLOAT, 4 },
      { GL_RG32F, GL_RG, GL_FLOAT, 8 }, { GL_RGB32F, GL_RGB, GL_FLOAT, 12 },
   { GL_RGBA32F, GL_RGBA, GL_FLOAT, 16 }, { GL_R11F_G11F_B10F, GL_RGB, GL_UNSIGNED_INT_10F_11F_11F_REV, 4 }, { GL_RGB9_E5, GL_RGB,
      GL_UNSIGNED_INT_5_9_9_9_REV, 4 }, { GL_RGB10_A2, GL_RGBA, GL_UNSIGNED_INT_2_10_10_10_REV, 4 }, { GL_SRGB8_ALPHA8, GL_RGBA, GL_UNSIGNED_BYTE,
      4 }, { GL_DEPTH_COMPONENT16, GL_DEPTH_COMPONENT, GL_UNSIGNED_SHORT, 2 },
   { GL_DEPTH_COMPONENT24, GL_DEPTH_COMPONENT, GL_UNSIGNED_INT, 4 }, { GL_COMPRESSED_RGB_S3TC_DXT1_EXT, 0, 0, 8 },
      { GL_COMPRESSED_RGBA_S3TC_DXT3_EXT, 0, 0, 16 }, { GL_COMPRESSED_RGBA_S3TC_DXT5_EXT, 0, 0, 16 }, { GL_COMPRESSED_RED_RGTC1, 0, 0, 8 },
      { GL_COMPRESSED_SIGNED_RED_RGTC1, 0, 0, 8 },
   { GL_COMPRESSED_RG_RGTC2, 0, 0, 16 }, { GL_COMPRESSED_SRGB_ALPHA_S3TC_DXT5_EXT, 0, 0, 16 }, { GL_COMPRESSED_RGBA_BPTC_UNORM, 0, 0, 16 },
      { GL_COMPRESSED_RGB_BPTC_UNSIGNED_FLOAT, 0, 0, 16 }, { GL_COMPRESSED_SRGB_ALPHA_BPTC_UNORM, 0, 0, 16 }, { GL_RGBA8, GL_RGBA,
      GL_UNSIGNED_BYTE, 4 } };
static GLuint tformat_tex[COUNT(tformats)];
static void texformats_init(void)
{
   P[0] = prog(vs_aux, "VARY vec4 v; uniform sampler2D tex; void main() { vec4 c = T2D(tex, v.xy); FRAG = vec4(clamp(abs(c.rgb), 0.0, 1.0) * (0.6 + "
      "0.4 * c.a), 1.0); }\n");
   glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
   for (int i = 0; i < COUNT(tformats); i++) {
      const TexFormat *t = &tformats[i]; uint8_t d[64 * 16]; uint32_t r = 0x2545f491u * (i + 1); float *fl = (float *)d;
      for (int k = 0; k < COUNT(d); k++) {
         r = r * 1664525 + 1013904223;
         d[k] = t->type == GL_UNSIGNED_INT_10F_11F_11F_REV ? (k & 3) == 3 ? 0x60 : (r >> 24) & 0x7f : t->type == GL_UNSIGNED_INT_5_9_9_9_REV
            && (k & 3) == 3 ? 0x78 | (r >> 31) : r >> 24;
      }
      if (t->type == GL_UNSIGNED_INT_10F_11F_11F_REV) for (int k = 0; k < 64; k++) {
         uint32_t x = (0x1c0 + k) | (0x3c0 - 4 * k) << 11 | (uint32_t)(0x1a0 + (k & 15)) << 22; memcpy(d + 4 * k, &x, 4);
      }
      if (t->type == GL_FLOAT) for (int k = 0; k < 256; k++) fl[k] = ((k * 73 + i * 5) % 65 - 16) / 48.f;
      tformat_tex[i] = tex(GL_TEXTURE_2D, GL_NEAREST, GL_NEAREST, GL_REPEAT);
      if (t->fmt) glTexImage2D(GL_TEXTURE_2D, 0, t->internal, 8, 8, 0, t->fmt, t->type, d); else glCompressedTexImage2D(GL_TEXTURE_2D, 0,
         t->internal, 8, 8, 0, t->bytes * 4, d);
      if (t->fmt == GL_DEPTH_COMPONENT && legacy) glTexParameteri(GL_TEXTURE_2D, 0x884B /* DEPTH_TEXTURE_MODE */, GL_RED);
      if (i == COUNT(tformats) - 1) {
         static const GLint sw[] = { GL_BLUE, GL_ONE, GL_RED, GL_GREEN };
         for (int k = 0; k < 4; k++) glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_SWIZZLE_R + k, sw[k]);
      }
   }
}
static void texformats_draw(int f)
{
   (void)f; for (int i = 0; i < COUNT(tformats); i++) { glBindTexture(GL_TEXTURE_2D, tformat_tex[i]); cell(i, 6, 6); }
}
static void samplers_init(void)
{
   P[0] = prog(vs_aux, fs_tex); T[0] = tex(GL_TEXTURE_2D, GL_NEAREST, GL_NEAREST, GL_REPEAT); image2d(GL_TEXTURE_2D, 0, 6, 5, 1);
   glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, 0);
   glGenSamplers(16, tformat_tex);
   static const GLint wrap[] = { GL_REPEAT, GL_MIRRORED_REPEAT, GL_CLAMP_TO_EDGE, GL_CLAMP_TO_BORDER };
   for (int i = 0; i < 16; i++) {
      float c[4]; GLuint s = tformat_tex[i]; hue(i, c); c[3] = 0.5f; GLint flt = (i / 4 + i) & 1 ? GL_LINEAR : GL_NEAREST;
      glSamplerParameteri(s, GL_TEXTURE_WRAP_S, wrap[i % 4]); glSamplerParameteri(s, GL_TEXTURE_WRAP_T, wrap[i / 4]);
      glSamplerParameteri(s, GL_TEXTURE_MIN_FILTER, flt); glSamplerParameteri(s, GL_TEXTURE_MAG_FILTER, flt);
      glSamplerParameterfv(s, GL_TEXTURE_BORDER_COLOR, c);
   }
}
static void samplers_draw(int f)
{
   (void)f;
   for (int i = 0; i < 16; i++) {
      float x = -1 + 0.5f * (i % 4), y = -1 + 0.5f * (i / 4); glBindSampler(0, tformat_tex[i]);
      rect4(x + 0.02f, y + 0.02f, x + 0.48f, y + 0.48f, -1.4f, -1.4f, 2.3f, 2.3f, 0, 1);
   }
   glBindSampler(0, 0);
}
static void stenciltex_init(void)
{
   P[0] = prog(vs_aux, fs_aux);
   P[1] = prog(vs_aux, "VARY vec4 v; uniform usampler2D tex; void main() { uint s = texture(tex, v.xy).r; FRAG = vec4(float(s & 3u) / 3.0, float((s "
      ">> 2) & 3u) / 3.0, float(s >> 4) / 15.0, 1.0); }\n");
   P[2] = prog(vs_aux, fs_tex); T[0] = tex(GL_TEXTURE_2D, GL_NEAREST, GL_NEAREST, GL_CLAMP_TO_EDGE);
   glTexImage2D(GL_TEXTURE_2D, 0, GL_DEPTH24_STENCIL8, 128, 128, 0, GL_DEPTH_STENCIL, GL_UNSIGNED_INT_24_8, NULL);
   glGenFramebuffers(1, F); glBindFramebuffer(GL_FRAMEBUFFER, F[0]);
   glFramebufferTexture2D(GL_FRAMEBUFFER, GL_DEPTH_STENCIL_ATTACHMENT, GL_TEXTURE_2D, T[0], 0); glDrawBuffer(GL_NONE); glReadBuffer(GL_NONE);
   picture();
}
static void stenciltex_draw(int f)
{
   (void)f; into(0, 128, 128); glClearStencil(1); glClearDepth(0.9); glClear(GL_DEPTH_BUFFER_BIT | GL_STENCIL_BUFFER_BIT); glUseProgram(P[0]);
   glEnable(GL_STENCIL_TEST); glEnable(GL_DEPTH_TEST); glStencilFunc(GL_ALWAYS, 0, 255);
   for (int i = 0; i < 24; i++) {
      float v[3][8] = { {-0.9f + 0.05f * i, -0.95f, 0.9f - 0.07f * i, 1}, {0.9f, -0.7f + 0.06f * i, 0.2f, 1}, {-0.5f, 0.9f - 0.03f * i,
         -0.6f + 0.05f * i, 1} };
      glStencilOp(GL_KEEP, i & 1 ? GL_INCR : GL_INVERT, i % 3 ? GL_INCR_WRAP : GL_DECR_WRAP); draw(GL_TRIANGLES, v[0], 3);
   }
   glDisable(GL_STENCIL_TEST); glDisable(GL_DEPTH_TEST); picture();
   glUseProgram(P[1]); glTexParameteri(GL_TEXTURE_2D, GL_DEPTH_STENCIL_TEXTURE_MODE, GL_STENCIL_INDEX); rect(-0.98f, -0.98f, -0.02f, 0.98f);
   glTexParameteri(GL_TEXTURE_2D, GL_DEPTH_STENCIL_TEXTURE_MODE, GL_DEPTH_COMPONENT);
   glUseProgram(P[2]); rect(0.02f, -0.98f, 0.98f, 0.98f);
}
static void texview_init(void)
{
   P[0] = prog(vs_aux, "VARY vec4 v; uniform usampler2D tex; void main() { uint w = texture(tex, v.xy).r; FRAG = vec4(float(w & 255u), float((w >> "
      "8) & 255u), float((w >> 16) & 255u), 255.0) / 255.0; FRAG.r = 1.0 - FRAG.r; }\n");
   P[1] = prog(vs_aux, fs_tex); char s[1024];
   snprintf(s, sizeof s, "VARY vec4 v; uniform samplerCube tex; %s void main() { FRAG = texture(tex, sky(v.xy)); }\n", fs_sky);
   P[2] = prog(vs_aux, s);
   T[0] = tex(GL_TEXTURE_2D_ARRAY, GL_NEAREST, GL_NEAREST, GL_REPEAT); glTexStorage3D(GL_TEXTURE_2D_ARRAY, 3, GL_RGBA8, 16, 16, 8);
   for (int l = 0; l < 3; l++) {
      uint8_t *p = texels(16 >> l, 16 >> l, 8, 2 * l);
      glTexSubImage3D(GL_TEXTURE_2D_ARRAY, l, 0, 0, 0, 16 >> l, 16 >> l, 8, GL_RGBA, GL_UNSIGNED_BYTE, p); free(p);
   }
   glGenTextures(4, T + 1); glTextureView(T[1], GL_TEXTURE_2D, T[0], GL_R32UI, 0, 1, 5, 1);
   glTextureView(T[2], GL_TEXTURE_2D, T[0], GL_RGBA8, 1, 2, 3, 1); glTextureView(T[3], GL_TEXTURE_CUBE_MAP, T[0], GL_RGBA8, 0, 1, 2, 6);
   glTextureView(T[4], GL_TEXTURE_2D, T[0], GL_SRGB8_ALPHA8, 0, 1, 7, 1);
}
static void texview_draw(int f)
{
   (void)f;
   for (int i = 0; i < 4; i++) {
      GLenum tg = i == 2 ? GL_TEXTURE_CUBE_MAP : GL_TEXTURE_2D; glUseProgram(P[i == 0 ? 0 : i == 2 ? 2 : 1]); glBindTexture(tg, T[1 + i]);
      glTexParameteri(tg, GL_TEXTURE_MIN_FILTER, GL_NEAREST); glTexParameteri(tg, GL_TEXTURE_MAG_FILTER, GL_NEAREST); cell(i, 2, 2);
   }
}
static void copyimg_init(void)
{
   P[0] = prog(vs_aux, fs_tex); P[1] = prog(vs_aux, "VARY vec4 v; uniform sampler2DArray tex; void main() { FRAG = TARR(tex, v.xyz); }\n");
   T[0] = tex(GL_TEXTURE_2D, GL_NEAREST, GL_NEAREST, GL_REPEAT); image2d(GL_TEXTURE_2D, 0, 32, 32, 1);
   T[1] = tex(GL_TEXTURE_2D, GL_NEAREST, GL_NEAREST, GL_REPEAT); image2d(GL_TEXTURE_2D, 0, 32, 32, 4);
   T[2] = tex(GL_TEXTURE_2D_ARRAY, GL_NEAREST, GL_NEAREST, GL_REPEAT); upload_layers(GL_TEXTURE_2D_ARRAY, GL_RGBA8, 32, 32, 3, 1);
   T[3] = tex(GL_TEXTURE_2D, GL_NEAREST, GL_NEAREST, GL_REPEAT); glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA32F, 16, 16, 0, GL_RGBA, GL_FLOAT, NULL);
   glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, 0);
   for (int i = 0; i < 2; i++) { glBindTexture(GL_TEXTURE_2D, T[i]); glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, 0); }
}
static void copyimg_draw(int f)
{
   static const uint8_t red[] = { 255, 0, 0, 255 }; static const float teal[] = { 0, 0.5f, 0.5f, 1 }, half[] = { 0.5f, 0.25f, 1, 1 }; (void)f;
   glCopyImageSubData(T[0], GL_TEXTURE_2D, 0, 3, 5, 0, T[1], GL_TEXTURE_2D, 0, 12, 9, 0, 17, 20, 1);
   glCopyImageSubData(T[1], GL_TEXTURE_2D, 0, 0, 0, 0, T[2], GL_TEXTURE_2D_ARRAY, 0, 8, 8, 1, 24, 24, 1);
   glCopyImageSubData(T[2], GL_TEXTURE_2D_ARRAY, 0, 4, 4, 0, T[2], GL_TEXTURE_2D_ARRAY, 0, 0, 0, 2, 10, 12, 1);
   glClearTexSubImage(T[0], 0, 20, 2, 0, 9, 13, 1, GL_RGBA, GL_UNSIGNED_BYTE, red); glClearTexImage(T[3], 0, GL_RGBA, GL_FLOAT, teal);
   glClearTexSubImage(T[3], 0, 3, 4, 0, 5, 6, 1, GL_RGBA, GL_FLOAT, half);
   glUseProgram(P[0]); static const int order[] = { 0, 1, 3 }; for (int i = 0; i < 3; i++) { glBindTexture(GL_TEXTURE_2D, T[order[i]]); cell(i, 3, 2); }
   glUseProgram(P[1]); glBindTexture(GL_TEXTURE_2D_ARRAY, T[2]);
   for (int i = 0; i < 3; i++) { float x = -1 + 0.667f * i; rect4(x + 0.02f, 0.02f, x + 0.64f, 0.98f, 0, 0, 1, 1, i, 1); }
}
static void blits_init(void)
{
   P[0] = prog(vs_aux, fs_aux); P[1] = prog(vs_aux, fs_tex); target(0, GL_RGBA8, 64, 64, GL_RGBA, GL_UNSIGNED_BYTE);
   T[1] = tex(GL_TEXTURE_2D, GL_NEAREST, GL_NEAREST, GL_CLAMP_TO_EDGE); image2d(GL_TEXTURE_2D, 0, 64, 64, 3);
}
static void blits_draw(int f)
{
   static const float t[] = { -0.9,-0.8,0,1, 1,0.2,0,1,  0.9,-0.5,0,1, 0,1,0.2,1,  -0.2,0.9,0,1, 0.2,0,1,1 }; int w = W, h = H; (void)f;
   into(0, 64, 64); glClearColor(0.5f, 0.5f, 0.2f, 1); glClear(GL_COLOR_BUFFER_BIT); glUseProgram(P[0]); draw(GL_TRIANGLES, t, 3);
   picture(); glBindFramebuffer(GL_READ_FRAMEBUFFER, F[0]);
   glBlitFramebuffer(0, 0, 64, 64, w / 32, h / 32, w / 32 + 64, h / 32 + 64, GL_COLOR_BUFFER_BIT, GL_NEAREST);            /* as it is */
   glBlitFramebuffer(0, 0, 64, 64, w / 2 + 60, 10, w / 2 + 10, 60, GL_COLOR_BUFFER_BIT, GL_NEAREST);                       /* mirrored in x, shrunk */
   glBlitFramebuffer(10, 10, 50, 40, w / 16, h - 10, w / 2 - 8, h / 2 - 10, GL_COLOR_BUFFER_BIT, GL_LINEAR);               /* mirrored in y, filtered */
   glEnable(GL_SCISSOR_TEST); glScissor(w / 2 + 20, h / 2 + 20, w / 4, h / 5);
   glBlitFramebuffer(0, 0, 64, 64, w / 2, h / 2, w, h, GL_COLOR_BUFFER_BIT, GL_NEAREST); glDisable(GL_SCISSOR_TEST);
   /* pixel pack and unpack buffers, buffer copy, copy from the framebuffer to a texture */
   if (!B[0]) { B[0] = buffer(GL_PIXEL_PACK_BUFFER, 64 * 64 * 4, NULL); B[1] = buffer(GL_COPY_WRITE_BUFFER, 64 * 64 * 4, NULL); }
   glBindBuffer(GL_PIXEL_PACK_BUFFER, B[0]); glReadPixels(0, 0, 64, 64, GL_RGBA, GL_UNSIGNED_BYTE, 0); glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
   glBindBuffer(GL_COPY_READ_BUFFER, B[0]); glBindBuffer(GL_COPY_WRITE_BUFFER, B[1]);
   glCopyBufferSubData(GL_COPY_READ_BUFFER, GL_COPY_WRITE_BUFFER, 64 * 4 * 16, 0, 64 * 4 * 32);
   glBindBuffer(GL_PIXEL_UNPACK_BUFFER, B[1]); glBindTexture(GL_TEXTURE_2D, T[1]);
   glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, 64, 32, GL_RGBA, GL_UNSIGNED_BYTE, 0); glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
   glCopyTexSubImage2D(GL_TEXTURE_2D, 0, 40, 36, 5, 5, 24, 28); glBindFramebuffer(GL_READ_FRAMEBUFFER, fbo);
   glUseProgram(P[1]); rect(0.5f, -0.9f, 0.98f, -0.02f);
}

/* ================================================================== shader language */
/* The blocks, which ubo and ubovec read in two ways. */
static void ubo_blocks(const char *vs)
{
   P[0] = prog(vs, "in vec4 v; layout(std140) uniform Shade { float k[5]; bool swap; }; void main() { int i = int(gl_FragCoord.x) % 5; "
      "FRAG = (swap ? v.bgra : v) * k[i]; }\n");
   struct { float tint[4]; struct { float at[2], size, pad, turn[2][4]; } item[12]; } it; memset(&it, 0, sizeof it);
   for (int i = 0; i < 4; i++) it.tint[i] = 1 - 0.1f * i;
   for (int i = 0; i < 12; i++) {
      float a = 0.5f * i; it.item[i].at[0] = -0.75f + 0.5f * (i % 4); it.item[i].at[1] = -0.6f + 0.6f * (i / 4);
      it.item[i].size = 0.1f + 0.012f * i; it.item[i].turn[0][0] = it.item[i].turn[1][1] = cosf(a); it.item[i].turn[0][1] = sinf(a);
      it.item[i].turn[1][0] = -sinf(a);
   }
   struct { float row[2][4]; int pick[3][4]; }
   cam = { { {0.9f, 0.1f, 0.05f, 0}, {-0.1f, 0.95f, 0, 0} }, { {11, 3, 5, 0}, {1, 7, 2, 9}, {10, 4, 8, 6} } };
   struct { float k[5][4]; int swap, pad[3]; } sh = { { {1}, {0.9f}, {0.8f}, {0.7f}, {0.5f} }, 1, { 0 } };
   GLint al; glGetIntegerv(GL_UNIFORM_BUFFER_OFFSET_ALIGNMENT, &al); size_t step = 1024 / al * al; char *all = calloc(3, step);
   memcpy(all, &it, sizeof it); memcpy(all + step, &cam, sizeof cam); memcpy(all + 2 * step, &sh, sizeof sh);
   B[0] = buffer(GL_UNIFORM_BUFFER, 3 * step, all); free(all);
   static const char *n[] = { "Items", "Camera", "Shade" }; size_t sz[] = { sizeof it, sizeof cam, sizeof sh };
   for (int i = 0; i < 3; i++) {
      glUniformBlockBinding(P[0], glGetUniformBlockIndex(P[0], n[i]), i + 1); glBindBufferRange(GL_UNIFORM_BUFFER, i + 1, B[0], i * step, sz[i]);
   }
}
static void ubo_init(void)
{
   ubo_blocks("ATTR vec4 pos; VARY vec4 v; struct Item { vec2 at; float size; mat2 turn; };\n"
      "layout(std140) uniform Items { vec4 tint; Item item[12]; }; layout(std140, row_major) uniform Camera { mat3x2 proj; ivec4 pick[3]; };\n"
      "void main() { Item i = item[pick[gl_InstanceID / 4][gl_InstanceID % 4]]; gl_Position = vec4(proj * vec3(i.turn * pos.xy * i.size + i.at, "
         "1.0), 0.0, 1.0); v = tint * vec4(i.size * 4.0, i.at * 0.5 + 0.5, 1.0); }\n");
}
/* The same picture: what an index chooses begins at a multiple of 16 bytes, and components are chosen from whole vectors. */
static void ubovec_init(void)
{
   ubo_blocks("ATTR vec4 pos; VARY vec4 v; struct Item { vec4 at; mat2 turn; };\n"
      "layout(std140) uniform Items { vec4 tint; Item item[12]; }; layout(std140, row_major) uniform Camera { mat3x2 proj; ivec4 pick[3]; };\n"
      "void main() { ivec4 p = pick[gl_InstanceID / 4]; int c = gl_InstanceID % 4; Item i = item[c == 0 ? p.x : c == 1 ? p.y : c == 2 ? p.z : p.w];\n"
      "  gl_Position = vec4(proj * vec3(i.turn * pos.xy * i.at.z + i.at.xy, 1.0), 0.0, 1.0); v = tint * vec4(i.at.z * 4.0, i.at.xy * 0.5 + 0.5, 1.0); }\n");
}
static void ubo_draw(int f)
{
   static const float t[] = { -1,-0.8,0,1, 0,0,0,0,  1,-0.8,0,1, 0,0,0,0,  0,1.2,0,1, 0,0,0,0 }; (void)f; verts(t, 3);
   glDrawArraysInstanced(GL_TRIANGLES, 0, 3, 12); tris += 12;
}
static void dynindex_init(void)
{
   P[0] = prog("ATTR vec4 pos; ATTR vec4 aux; uniform vec4 table[16]; VARY vec4 v; VARY vec4 w[3];\n"
      "void main() { vec4 t[8]; for (int i = 0; i < 8; i++) t[i] = table[(i * 5 + int(aux.z)) - ((i * 5 + int(aux.z)) / 16) * 16]; "
         "int k = int(aux.w); v = aux; gl_Position = pos; for (int i = 0; i < 3; i++) w[i] = t[k + i]; }\n",
      "VARY vec4 v; VARY vec4 w[3]; uniform vec4 table[16]; uniform int n;\n"
      "void main() { float big[48]; for (int i = 0; i < 48; i++) big[i] = table[i / 3].x * float(i - i / 7 * 7) * 0.2;\n"
      " int x = int(v.x * 12.0), y = int(v.y * 12.0); for (int i = 0; i < n; i++) { int k = (x * 7 + i * 5) - (x * 7 + i * 5) / 48 * 48; "
         "big[k] = big[47 - k] * 0.5 + 0.3; }\n"
      " vec4 c = w[(x + y) - (x + y) / 3 * 3]; FRAG = vec4(big[x + y], big[x * 3 + 1], c.y, 1.0) * 0.8 + 0.2 * table[(x * 13 + y) - (x * 13 + y) / "
         "16 * 16]; }\n");
   float t[16][4]; for (int i = 0; i < 16; i++) hue(i, t[i]); glUniform4fv(U("table[0]"), 16, t[0]); u1i("n", 9);
}
static void dynindex_draw(int f)
{
   (void)f;
   for (int i = 0; i < 4; i++) {
      float x = -1 + (i & 1), y = -1 + i / 2; rect4(x + 0.02f, y + 0.02f, x + 0.98f, y + 0.98f, 0.003f, 0.004f, 0.987f, 0.985f, i * 3, i + 1);
   }
}
static void interp_init(void)
{
   P[0] = prog("ATTR vec4 pos; ATTR vec4 aux; VARY vec4 v; NOPERSP vec4 n; FLAT vec4 fl; void main() { gl_Position = pos; v = n = fl = aux; }\n",
      "VARY vec4 v; NOPERSP vec4 n; FLAT vec4 fl; uniform int k; vec4 chk(vec2 t) { vec2 q = floor(t * 8.0); return vec4(fract((q.x + q.y) * 0.5) * "
         "1.6, t, 1.0); }\n"
      "void main() { if (k == 0) FRAG = chk(v.xy); else if (k == 1) FRAG = chk(n.xy); else if (k == 2) FRAG = fl; "
         "else if (k == 3) FRAG = vec4(fwidth(v.xy) * 16.0, abs(dFdy(n.x)) * 40.0, 1.0); else FRAG = gl_FrontFacing ? vec4(v.xy, 1.0, 1.0) : "
         "vec4(1.0, v.yx * 0.5, 1.0); }\n");
   P[1] = prog("ATTR vec4 pos; ATTR vec4 aux; VARY vec4 v; void main() { gl_Position = pos; gl_PointSize = aux.w; v = aux; }\n",
      "VARY vec4 v; void main() { vec2 d = gl_PointCoord - 0.5; if (dot(d, d) > 0.24) discard; FRAG = vec4(gl_PointCoord, v.z, 1.0); }\n");
}
static void interp_draw(int f)
{
   static const float q[] = { -0.9,-0.8,0,1, 0,0,0,1,  2.7,-2.4,0,3, 1,0,0.4,1,  -0.9,0.8,0,1, 0,1,0.8,1,  2.7,2.4,0,3, 1,1,0.2,1 }; (void)f;
   glUseProgram(P[0]);
   for (int k = 0; k < 5; k++) { cell_viewport(k, 3, 2); u1i("k", k); draw(k == 4 ? GL_TRIANGLE_FAN : GL_TRIANGLE_STRIP, q, 4); }
   glUseProgram(P[1]); cell_viewport(5, 3, 2); glEnable(GL_PROGRAM_POINT_SIZE); if (legacy) glEnable(0x8861 /* POINT_SPRITE */);
   float p[9][8];
   for (int i = 0; i < 9; i++) {
      float v[8] = { -0.7f + 0.7f * (i % 3), -0.7f + 0.7f * (i / 3), 0, 1, 0, 0, i / 8.f, 5 + 3 * i }; memcpy(p[i], v, 32);
   }
   draw(GL_POINTS, p[0], 9); glDisable(GL_PROGRAM_POINT_SIZE); whole();
}
static void clipdist_init(void)
{
   P[0] = prog(legacy ? "ATTR vec4 pos; ATTR vec4 aux; VARY vec4 v; void main() { gl_Position = pos; v = aux; gl_ClipVertex = pos; }\n"
                      : "ATTR vec4 pos; ATTR vec4 aux; VARY vec4 v; uniform vec4 plane[3]; out float gl_ClipDistance[3]; void main() { "
                         "gl_Position = pos; v = aux; for (int i = 0; i < 3; i++) gl_ClipDistance[i] = dot(pos, plane[i]); }\n", fs_aux);
}
static void clipdist_draw(int f)
{
   static const float pl[3][4] = { {0.8f,0.6f,0,0.5f}, {-0.9f,0.3f,0,0.55f}, {0.1f,-1,0.3f,0.45f} }, t[] = { -1.5,-1.2,0.3,1.5, 1,0,0,1,
       0.9,-0.9,0,1, 0,1,0,1,  0.1,1.9,0.2,2, 0,0,1,1,  -0.9,0.9,0,1, 1,1,0,1,  0.95,0.8,0.1,1, 0,1,1,1,  0.9,0.2,0,1, 1,0,1,1 };
   static const float ln[] = { -0.95,-0.05,0,1, 1,1,1,1,  0.95,0.05,0,1, 1,1,1,1,  -0.5,-0.99,0,1, 1,1,0,1,  -0.4,0.99,0,1, 1,1,0,1 }; (void)f;
   void (*plane)(GLenum, const double *) = (void *)eglGetProcAddress("glClipPlane");
   for (int i = 0; i < 3; i++) {
      glEnable(GL_CLIP_DISTANCE0 + i); if (legacy) { double d[4] = { pl[i][0], pl[i][1], pl[i][2], pl[i][3] }; plane(GL_CLIP_DISTANCE0 + i, d); }
   }
   if (!legacy) glUniform4fv(U("plane[0]"), 3, pl[0]);
   draw(GL_TRIANGLES, t, 6); draw(GL_LINES, ln, 4); for (int i = 0; i < 3; i++) glDisable(GL_CLIP_DISTANCE0 + i);
}
static void culldist_init(void)
{
   P[0] = prog("ATTR vec4 pos; ATTR vec4 aux; VARY vec4 v; out float gl_CullDistance[2]; out float gl_ClipDistance[1]; void main() { "
      "gl_Position = pos; v = aux; gl_CullDistance[0] = 0.35 - pos.x; gl_CullDistance[1] = pos.y + 0.5; gl_ClipDistance[0] = pos.x + pos.y + 0.8; "
      "}\n", fs_aux);
}
static void culldist_draw(int f)
{
   (void)f; glEnable(GL_CLIP_DISTANCE0); float v[3 * 49][8];
   for (int i = 0; i < 49; i++) for (int k = 0; k < 3; k++) {
      float *p = v[3 * i + k]; p[0] = -0.98f + 0.28f * (i % 7) + (k == 1 ? 0.26f : k == 2 ? 0.1f : 0);
      p[1] = -0.98f + 0.28f * (i / 7) + (k == 2 ? 0.26f : 0); p[2] = 0; p[3] = 1; hue(i, p + 4);
   }
   draw(GL_TRIANGLES, v[0], 147); glDisable(GL_CLIP_DISTANCE0);
}
static void depthclamp_init(void) { P[0] = prog(vs_aux, fs_aux); }
static void depthclamp_draw(int f)
{
   static const float t[] = { -0.9,-0.8,-2.5,1, 1,0.3,0,1,  0.9,-0.6,0.5,1, 0,1,0.3,1,  0.1,0.9,2.5,1, 0.2,0.3,1,1,  -0.8,0.8,0.2,1, 1,1,0,1,
       0.8,0.7,-0.2,1, 0,1,1,1,  -0.2,-0.9,0.1,1, 1,0,1,1 };
   (void)f; glEnable(GL_DEPTH_TEST); glClearDepth(1);
   for (int k = 0; k < 4; k++) {
      cell_viewport(k, 2, 2); if (k & 1) glEnable(GL_DEPTH_CLAMP);
      if (k & 2) { glEnable(GL_POLYGON_OFFSET_FILL); glPolygonOffset(-1.5f, -4); } draw(GL_TRIANGLES, t + 24, 3);
      glDisable(GL_POLYGON_OFFSET_FILL); draw(GL_TRIANGLES, t, 3);
      if (k & 2) { glDepthFunc(GL_GREATER); draw(GL_TRIANGLES, t, 3); glDepthFunc(GL_LESS); } glDisable(GL_DEPTH_CLAMP);
   }
   glDisable(GL_DEPTH_TEST); whole();
}
/* Integer results of a fragment shader, one 32-bit word per pixel of a 64x64 target, shown as bytes. */
static void words_init(const char *body)
{
   char s[4096];
   snprintf(s, sizeof s, "VARY vec4 v; OUTV uint out0; %s\nvoid main() { ivec2 p = ivec2(gl_FragCoord.xy); out0 = word(p.x, p.y); }\n", body);
   P[0] = prog(vs_aux, s);
   P[1] = prog(vs_aux, "VARY vec4 v; uniform usampler2D tex; void main() { uint w = T2D(tex, v.xy).r; FRAG = vec4(float((w ^ (w >> 24)) & 255u), "
      "float((w >> 8) & 255u), float((w >> 16) & 255u), 255.0) / 255.0; }\n");
   target(0, GL_R32UI, 64, 64, GL_RED_INTEGER, GL_UNSIGNED_INT);
}
static void words_draw(int f)
{
   (void)f; into(0, 64, 64); glUseProgram(P[0]); rect(-1, -1, 1, 1); report_pixels("words", 0, 0, 64, 64, GL_RED_INTEGER, GL_UNSIGNED_INT, 4);
   picture(); glUseProgram(P[1]); glBindTexture(GL_TEXTURE_2D, T[0]); rect(-1, -1, 1, 1);
}
static void packing_init(void)
{
   words_init("uint word(int x, int y) { float a = float(x - 32) / 32.0, b = float(y) / 64.0; int k = (x / 8 + y / 8) % 6; vec2 h; vec4 q;\n"
      " if (k == 0) return packHalf2x16(vec2(a * 8.0, b * 1024.0 - 100.0)); if (k == 1) return packUnorm2x16(vec2(float(x) / 65535.0, float(y * "
         "900) / 65535.0)); if (k == 2) return packSnorm2x16(vec2(float(x - 32) / 32767.0, float(900 * (y - 32)) / 32767.0));\n"
      " if (k == 3) { h = unpackHalf2x16(uint(x * 523 + 0x3000) | uint(y * 300 + 0x2000) << 16); return floatBitsToUint(h.x) ^ "
         "floatBitsToUint(h.y); }\n"
      " if (k == 4) return packUnorm4x8(vec4(x * 4, y * 4, 255 - x, y) / 255.0); q = unpackSnorm4x8(uint(x * 4) << 8 | uint(y) << 16 | "
         "0x7f000081u); return packSnorm4x8(q) ^ floatBitsToUint(float(x) * 0.5); }\n");
}
static void intbasic_init(void)
{
   words_init("uint word(int x, int y) { uint a = uint(x * 40503 + y * 7919), b = uint(y * 9973 + 17), r; int i = int(a), j = y - 30, k = (x / 8 + "
      "y / 8) - (x / 8 + y / 8) / 9 * 9, s = (x + y) & 31;\n"
      " if (k == 0) r = a * b * 2654435761u; else if (k == 1) r = a / (b & 255u | 1u); else if (k == 2) r = a * 77u % (b | 3u); "
         "else if (k == 3) r = uint(i * j >> (s & 7)); else if (k == 4) r = a << s ^ b >> (s & 3); else if (k == 5) r = uint(~i & j | i ^ (x << "
         "9));\n"
      " else if (k == 6) r = uint(max(i, j * 5000) - min(i >> 1, abs(j) * 600)); else if (k == 7) r = a > b * 40u ? a - b : b - a; "
         "else r = uint(i / (x + 1)) + uint(i % (y + 2)) * 65536u + uint(sign(float(j)) + 2.0); return r * 3u + (r >> 7); }\n");
}
static void intops_init(void)
{
   words_init("uint word(int x, int y) { uint w = uint(x) * 2654435761u ^ uint(y) * 2246822519u; int k = (x / 8 + y / 4) % 10, s = x & 15, n = y & "
      "15; uint c, lo, hi; int i = int(w);\n"
      " if (k == 0) return bitfieldExtract(w, s, n); if (k == 1) return uint(bitfieldExtract(i, s, n)); if (k == 2) return bitfieldInsert(w, "
         "0x5a5a5a5au, s, n); if (k == 3) return bitfieldReverse(w); if (k == 4) return uint(bitCount(w) << 24 | (findMSB(i >> n) & 255) << 8 | "
         "(findLSB(w << s) & 255));\n"
      " if (k == 5) { lo = uaddCarry(w, w << s, c); return lo ^ c; } if (k == 6) { lo = usubBorrow(w << n, w, c); return lo + c * 3u; } "
         "if (k == 7) { umulExtended(w, w | uint(s), hi, lo); return hi ^ lo; }\n"
      " if (k == 8) { int a, b; imulExtended(i, i >> n, a, b); return uint(a - b); } return (w / (uint(s) + 1u)) ^ uint(int(w >> 1) % (n + 3)); }\n");
}
static void int64_init(void)
{
   words_init("uint word(int x, int y) { uint64_t w = uint64_t(x + 1) * 0x9e3779b97f4a7c15ul ^ uint64_t(y + 3) * 0xc2b2ae3d27d4eb4ful; "
      "int64_t i = int64_t(w); int k = (x / 8 + y / 8) % 6, s = (x + y) & 63; uint64_t r;\n"
      " if (k == 0) r = w << s; else if (k == 1) r = uint64_t(i >> s); else if (k == 2) r = w * (w | 1ul); else if (k == 3) r = w / uint64_t(x * "
         "1000003 + 7); else if (k == 4) r = uint64_t(int64_t(w >> 1) % int64_t(y * 65537 + 11)); else r = w > 0x8000000000000000ul ? "
         "uint64_t(abs(i)) : w - uint64_t(min(i, int64_t(y)));\n"
      " uvec2 u = unpackUint2x32(r); return u.x ^ u.y; }\n");
}
static void subroutine_init(void)
{
   P[0] = prog(vs_aux, "in vec4 v; subroutine vec4 paint(vec2 t); subroutine uniform paint how; subroutine uniform paint then_[2];\n"
      "subroutine(paint) vec4 rings(vec2 t) { float r = fract(length(t - 0.5) * 8.0); return vec4(r, r * 0.5, 1.0 - r, 1.0); "
         "}\n subroutine(paint) vec4 bars(vec2 t) { return vec4(step(0.5, fract(t.x * 6.0)), t.y, 0.3, 1.0); }\n subroutine(paint) vec4 tiles(vec2 "
         "t) { vec2 q = floor(t * 5.0); return vec4(q / 5.0, mod(q.x + q.y, 2.0), 1.0); }\n"
      "void main() { FRAG = how(v.xy) * 0.6 + 0.25 * then_[0](v.yx) + 0.15 * then_[1](v.xy * 2.0); }\n");
}
static void subroutine_draw(int f)
{
   static const char *n[] = { "rings", "bars", "tiles" }; GLuint id[3], set[8]; (void)f; GLint num;
   glGetProgramStageiv(P[0], GL_FRAGMENT_SHADER, GL_ACTIVE_SUBROUTINE_UNIFORM_LOCATIONS, &num);
   for (int i = 0; i < 3; i++) id[i] = glGetSubroutineIndex(P[0], GL_FRAGMENT_SHADER, n[i]);
   for (int i = 0; i < 6; i++) {
      for (int k = 0; k < num; k++) set[k] = id[(i + i / 3) % 3];
      set[glGetSubroutineUniformLocation(P[0], GL_FRAGMENT_SHADER, "how")] = id[i % 3];
      set[glGetSubroutineUniformLocation(P[0], GL_FRAGMENT_SHADER, "then_[1]")] = id[(i + 2) % 3];
      glUniformSubroutinesuiv(GL_FRAGMENT_SHADER, num, set); cell(i, 3, 2);
   }
}
static void dynsampler_init(void)
{
   P[0] = prog(vs_aux, "in vec4 v; uniform sampler2D tex[4]; uniform int n; void main() { vec4 c = vec4(0.0); for (int i = 0; i < n; "
      "i++) c += texture(tex[(i * 3 + n) % 4], v.xy * float(i + 1)) / float(n); FRAG = fma(c, vec4(0.9), vec4(0.1)); }\n");
   for (int i = 0; i < 4; i++) {
      char n[] = "tex[0]"; n[4] += i; u1i(n, i); glActiveTexture(GL_TEXTURE0 + i); T[i] = tex(GL_TEXTURE_2D, GL_NEAREST, GL_NEAREST, GL_REPEAT);
      image2d(GL_TEXTURE_2D, 0, 8 + 2 * i, 8, i);
   }
   glActiveTexture(GL_TEXTURE0);
}
static void dynsampler_draw(int f) { (void)f; for (int i = 0; i < 4; i++) { u1i("n", i + 1); cell(i, 2, 2); } }
static const char *xfb64_names[] = { "d0", "d1" };
static void xfb64_link(GLuint p) { glTransformFeedbackVaryings(p, 2, xfb64_names, GL_INTERLEAVED_ATTRIBS); }
static void fp64_init(void)
{
   /* a chaotic map: 22 steps in single precision leave nothing of the picture */
   P[0] = prog(vs_aux, "in vec4 v; void main() { double x = 0.31lf + double(floor(v.x * 128.0)) * 2.384185791015625e-7lf + double(floor(v.y * "
      "128.0)) * 1.862645149230957e-9lf; for (int i = 0; i < 22; i++) { precise double y = x * (1.0lf - x); x = 4.0lf * y; }\n"
      " double s = sqrt(x), q = 1.0lf / (1.0lf + x); FRAG = vec4(float(x), float(s * s * q + 0.2lf), float(q), 1.0); }\n");
   P[1] = prog5("in vec4 pos; uniform dvec2 k; uniform dmat2 m; out dvec2 d0; out double d1; void main() { double x = double(pos.x); "
      "d0 = m * dvec2(x, x * x + 1.0lf) + k; d1 = floor(x * 3.0lf) + fract(x * 0.25lf) - max(x, 2.0lf) * 1099511627776.0lf; gl_Position = pos; "
      "}\n", NULL, NULL, NULL, NULL, xfb64_link);
   static const double m[] = { 1, 0.0000152587890625, 0.5, 3 }; glUniform2d(U("k"), 1099511627776.0, 0.00000095367431640625);
   glUniformMatrix2dv(U("m"), 1, 0, m); B[0] = buffer(GL_ARRAY_BUFFER, 16 * 24, NULL);
}
static void fp64_draw(int f)
{
   float v[16][8]; memset(v, 0, sizeof v); (void)f; for (int i = 0; i < 16; i++) v[i][0] = i * 1.25f - 7;
   glUseProgram(P[1]); verts(v[0], 16); glEnable(GL_RASTERIZER_DISCARD); glBindBufferBase(GL_TRANSFORM_FEEDBACK_BUFFER, 0, B[0]);
   glBeginTransformFeedback(GL_POINTS); glDrawArrays(GL_POINTS, 0, 16); glEndTransformFeedback(); glDisable(GL_RASTERIZER_DISCARD);
   glUseProgram(P[0]); rect(-0.95f, -0.95f, 0.95f, 0.95f);
}
static void fp64_done(void) { report_buffer("doubles", GL_ARRAY_BUFFER, B[0], 16 * 24); }

/* ================================================================== multisampling */
static void ms_target(int n, int texture)
{
   glGenFramebuffers(1, F); glBindFramebuffer(GL_FRAMEBUFFER, F[0]);
   if (texture) {
      glGenTextures(1, T); glBindTexture(GL_TEXTURE_2D_MULTISAMPLE, T[0]);
      glTexImage2DMultisample(GL_TEXTURE_2D_MULTISAMPLE, n, GL_RGBA8, 64, 64, 1);
      glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D_MULTISAMPLE, T[0], 0);
   }
   else for (int i = 0; i < 2; i++) {
      glGenRenderbuffers(1, &B[i]); glBindRenderbuffer(GL_RENDERBUFFER, B[i]);
      glRenderbufferStorageMultisample(GL_RENDERBUFFER, n, i ? GL_DEPTH24_STENCIL8 : GL_RGBA8, W, H);
      glFramebufferRenderbuffer(GL_FRAMEBUFFER, i ? GL_DEPTH_STENCIL_ATTACHMENT : GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, B[i]);
   }
   if (glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE) skip("no multisample target");
   GLint k; glGetIntegerv(GL_SAMPLES, &k); if (k != n) skip("no 4x multisampling"); glBindFramebuffer(GL_FRAMEBUFFER, fbo);
}
static void fan(float v[72][8], int f) /* 24 thin triangles of growing depth and colour around the centre */
{
   for (int i = 0; i < 72; i++) {
      float a = (i / 3 + (i % 3 == 2 ? 0.55f : 0)) * 0.2617994f + 0.03f + 0.1f * f, r = i % 3 ? 0.95f : 0.05f; v[i][0] = r * cosf(a);
      v[i][1] = r * sinf(a); v[i][2] = i % 3 ? 0.6f - (i / 3) * 0.04f : 0; v[i][3] = 1; hue(i / 3, v[i] + 4);
   }
}
static void msaa_init(void)
{
   GLint m = 0; glGetIntegerv(GL_MAX_SAMPLES, &m); if (m < 4) skip("fewer than 4 samples"); P[0] = prog(vs_aux, fs_aux); ms_target(4, 0);
}
static void msaa_draw(int f)
{
   static const float big[] = { -0.7,-0.5,0.1,1, 0.9,0.9,0.9,1,  0.8,-0.3,0.3,1, 0.9,0.9,0.9,1,  0,0.7,-0.2,1, 0.3,0.3,0.3,1 };
   float v[72][8]; fan(v, f); into(0, W, H); glEnable(GL_MULTISAMPLE); glClearColor(0.1f, 0.1f, 0.15f, 1); glClearDepth(1);
   glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT); glEnable(GL_DEPTH_TEST); draw(GL_TRIANGLES, v[0], 72); draw(GL_TRIANGLES, big, 3);
   glDisable(GL_DEPTH_TEST);
   glBindFramebuffer(GL_DRAW_FRAMEBUFFER, fbo); glBlitFramebuffer(0, 0, W, H, 0, 0, W, H, GL_COLOR_BUFFER_BIT, GL_NEAREST); picture();
}
static void ms_samples_init(const char *fs)
{
   GLint m = 0; glGetIntegerv(GL_MAX_COLOR_TEXTURE_SAMPLES, &m); if (m < 4) skip("fewer than 4 samples"); P[0] = prog(vs_aux, fs); ms_target(4, 1);
   P[1] = prog(vs_aux, "in vec4 v; uniform sampler2DMS tex; void main() { ivec2 p = ivec2(v.xy * vec2(textureSize(tex))); "
      "FRAG = texelFetch(tex, p, int(v.z)); }\n");
}
static void ms_samples_show(void)
{
   picture(); glUseProgram(P[1]); glBindTexture(GL_TEXTURE_2D_MULTISAMPLE, T[0]);
   for (int i = 0; i < 4; i++) {
      float x = -1 + (i & 1), y = -1 + i / 2; rect4(x + 0.01f, y + 0.01f, x + 0.99f, y + 0.99f, 0, 0, 1, 1, i + 0.25f, 1);
   }
}
static void mstex_init(void) { ms_samples_init(fs_aux); }
static void mstex_draw(int f)
{
   float v[72][8]; fan(v, f); into(0, 64, 64); glClearColor(0, 0, 0, 1); glClear(GL_COLOR_BUFFER_BIT); glUseProgram(P[0]);
   draw(GL_TRIANGLES, v[0], 72); ms_samples_show();
}
static void msshade_init(void)
{
   ms_samples_init("in vec4 v; void main() { vec2 p = floor(gl_FragCoord.xy); float chk = mod(p.x + p.y + float(gl_SampleID), 4.0); "
      "FRAG = vec4(float(gl_SampleID) / 3.0, chk / 3.0, v.y, 1.0); }\n");
}
static void msshade_draw(int f)
{
   float v[72][8]; fan(v, f); into(0, 64, 64); glClearColor(0, 0, 0.3f, 1); glClear(GL_COLOR_BUFFER_BIT); glUseProgram(P[0]);
   glEnable(GL_SAMPLE_SHADING); glMinSampleShading(1); draw(GL_TRIANGLES, v[0], 72); glDisable(GL_SAMPLE_SHADING); ms_samples_show();
}
static void msmask_init(void)
{
   ms_samples_init("in vec4 v; uniform int bits; void main() { FRAG = vec4(v.rgb, 1.0); gl_SampleMask[0] = (int(gl_FragCoord.x) / 4) & bits; }\n");
}
static void msmask_draw(int f)
{
   (void)f; into(0, 64, 64); glClearColor(0.1f, 0.1f, 0.1f, 1); glClear(GL_COLOR_BUFFER_BIT); glUseProgram(P[0]); u1i("bits", 15);
   rect4(-1, -1, 1, 0, 0.2f, 0.2f, 1, 1, 0.4f, 1);
   glEnable(GL_SAMPLE_MASK);
   for (int i = 0; i < 8; i++) {
      float x = -1 + 0.25f * i; glSampleMaski(0, i * 2 + 1); u1i("bits", 15 - i); rect4(x, 0, x + 0.25f, 1, 0.9f, 0.1f * i, 0.9f, 1, 0.2f, 1);
   }
   glDisable(GL_SAMPLE_MASK); ms_samples_show();
}

/* ================================================================== queries */
static const GLenum qkinds[] = { GL_SAMPLES_PASSED, GL_ANY_SAMPLES_PASSED, GL_PRIMITIVES_GENERATED, GL_TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN };
static const char *qnames[] = { "samples_passed", "any_samples_passed", "primitives_generated", "xfb_primitives_written" };
static void queries_init(void)
{
   P[0] = prog5("ATTR vec4 pos; ATTR vec4 aux; out vec4 v; void main() { gl_Position = pos; v = aux; }\n", NULL, NULL, NULL, fs_aux, NULL);
   const char *n = "v"; glTransformFeedbackVaryings(P[0], 1, &n, GL_INTERLEAVED_ATTRIBS); glLinkProgram(P[0]); glUseProgram(P[0]);
   glGenQueries(6, Qr); B[0] = buffer(GL_ARRAY_BUFFER, 16 * 4, NULL);
}
static void queries_draw(int f)
{
   static const float t[] = { -0.75,-0.5,0.5,1, 1,0,0,1,  0.75,-0.5,0.5,1, 0,1,0,1,  -0.75,0.75,0.5,1, 0,0,1,1,  0.75,0.75,0.5,1, 1,1,1,1,
      0,-0.75,0,1, 1,1,0,1,  0.25,0.5,0,1, 1,1,0,1 };
   (void)f;
   glEnable(GL_DEPTH_TEST); verts(t, 6); glBindBufferBase(GL_TRANSFORM_FEEDBACK_BUFFER, 0, B[0]); glQueryCounter(Qr[5], GL_TIMESTAMP);
   glBeginQuery(GL_TIME_ELAPSED, Qr[4]);
   for (int i = 0; i < 4; i++) { if (i != 1) glBeginQuery(qkinds[i], Qr[i]); }
   glBeginTransformFeedback(GL_TRIANGLES); glDrawArrays(GL_TRIANGLE_STRIP, 0, 4); glEndTransformFeedback(); /* room for one of the two triangles */
   for (int i = 0; i < 4; i++) if (i != 1) glEndQuery(qkinds[i]);
   glBeginQuery(qkinds[1], Qr[1]); glDepthFunc(GL_GREATER); glDrawArrays(GL_TRIANGLES, 3, 3); glDepthFunc(GL_LESS); glEndQuery(qkinds[1]);
   glEndQuery(GL_TIME_ELAPSED); glDisable(GL_DEPTH_TEST); tris += 3;
}
static void queries_done(void)
{
   for (int i = 0; i < 4; i++) query_value(qnames[i], Qr[i], i);
   if (fetch_queries) for (int i = 4; i < 6; i++) {
      GLuint64 v = 0; glGetQueryObjectui64v(Qr[i], GL_QUERY_RESULT, &v);
      printf("QUERY scene=%s what=%s positive=%d\n", S->name, i == 4 ? "time_elapsed" : "timestamp", v > 0);
   }
   report_buffer("colours", GL_ARRAY_BUFFER, B[0], 16 * 3);
}
static void condrender_init(void) { P[0] = prog(vs_aux, fs_aux); glGenQueries(2, Qr); }
static void cond(int inverted)
{
   static const float a[] = { -0.9,-0.9,0,1, 1,0.2,0.2,1,  0.9,-0.9,0,1, 0.2,1,0.2,1,  -0.9,0,0,1, 0.2,0.2,1,1,  0.9,0,0,1, 1,1,1,1 },
      behind[] = { -0.5,-0.7,0.5,1, 1,1,0,1,  0.5,-0.7,0.5,1, 1,1,0,1,  0,-0.2,0.5,1, 1,1,0,1 }, front[] = { -0.2,-0.8,-0.5,1, 0,1,1,1,
       0.3,-0.8,-0.5,1, 0,1,1,1,  0,-0.4,-0.5,1, 0,1,1,1 };
   glEnable(GL_DEPTH_TEST); draw(GL_TRIANGLE_STRIP, a, 4);
   for (int i = 0; i < 2; i++) { glBeginQuery(GL_SAMPLES_PASSED, Qr[i]); draw(GL_TRIANGLES, i ? front : behind, 3); glEndQuery(GL_SAMPLES_PASSED); }
   glDisable(GL_DEPTH_TEST);
   for (int i = 0; i < 2; i++) {
      glBeginConditionalRender(Qr[i], inverted ? GL_QUERY_WAIT_INVERTED : GL_QUERY_WAIT);
      rect4(-0.9f + i, 0.1f, -0.1f + i, 0.9f, 0.2f, i, 1, 0.5f, 0.7f, 1); glEndConditionalRender();
   }
}
static void condrender_draw(int f) { (void)f; cond(0); }
static void condinv_draw(int f) { (void)f; cond(1); }
static void qbo_init(void)
{
   P[0] = prog(vs_aux, fs_aux);
   P[1] = prog(vs_aux, "in vec4 v; layout(std140) uniform Result { uvec4 n; }; void main() { int k = int(v.y * 4.0); uint x = k == 0 ? n.x / 64u : "
      "k == 1 ? n.y * 64u : k == 2 ? n.z * 20u : n.w / 64u; FRAG = v.x * 256.0 < float(x) ? vec4(v.xy, 0.5, 1.0) : vec4(0.1, 0.1, 0.1, 1.0); }\n");
   glGenQueries(4, Qr); B[0] = buffer(GL_QUERY_BUFFER, 16, NULL); glBindBuffer(GL_QUERY_BUFFER, 0); glUniformBlockBinding(P[1], 0, 0);
}
static void qbo_draw(int f)
{
   static const float t[] = { -1,-0.5,0,1, 1,0,0,1,  1,-0.5,0,1, 0,1,0,1,  -1,0,0,1, 0,0,1,1,  1,0,0,1, 1,1,0,1 };
   static const GLenum k[] = { GL_SAMPLES_PASSED, GL_ANY_SAMPLES_PASSED, GL_PRIMITIVES_GENERATED, GL_SAMPLES_PASSED }; (void)f; glUseProgram(P[0]);
   for (int i = 0; i < 4; i++) {
      glViewport(i * W / 8, 0, W / 4, H / 2); glBeginQuery(k[i], Qr[i]); draw(GL_TRIANGLE_STRIP, t, i == 3 ? 3 : 4); glEndQuery(k[i]);
   }
   whole();
   glBindBuffer(GL_QUERY_BUFFER, B[0]); for (int i = 0; i < 4; i++) glGetQueryObjectuiv(Qr[i], GL_QUERY_RESULT, (void *)(intptr_t)(4 * i));
   glBindBuffer(GL_QUERY_BUFFER, 0);
   glMemoryBarrier(GL_ALL_BARRIER_BITS); glUseProgram(P[1]); glBindBufferBase(GL_UNIFORM_BUFFER, 0, B[0]); rect(-0.98f, 0.1f, 0.98f, 0.98f);
}

/* ================================================================== layers and viewports */
static void layered_init(void)
{
   P[0] = prog5("in vec4 pos; in vec4 aux; out vec4 gcol; void main() { gl_Position = pos; gcol = aux; }\n", NULL, NULL,
      "layout(triangles) in; layout(triangle_strip, max_vertices = 12) out; in vec4 gcol[]; out vec4 v;\n"
      "void main() { for (int l = 0; l < 4; l++) { float a = 0.7 * float(l), c = cos(a), s = sin(a); for (int i = 0; i < 3; i++) { "
         "vec4 p = gl_in[i].gl_Position; gl_Layer = l; gl_Position = vec4(mat2(c, s, -s, c) * p.xy, p.z, 1.0); v = vec4(gcol[i].rgb * (1.0 - 0.15 * "
         "float(l)), 1.0); EmitVertex(); } EndPrimitive(); } }\n", fs_aux, NULL);
   P[1] = prog(vs_aux, "in vec4 v; uniform sampler2DArray tex; void main() { FRAG = texture(tex, v.xyz); }\n"); glGenFramebuffers(1, F);
   glBindFramebuffer(GL_FRAMEBUFFER, F[0]);
   for (int i = 0; i < 2; i++) {
      T[i] = tex(GL_TEXTURE_2D_ARRAY, GL_NEAREST, GL_NEAREST, GL_CLAMP_TO_EDGE);
      glTexImage3D(GL_TEXTURE_2D_ARRAY, 0, i ? GL_DEPTH_COMPONENT24 : GL_RGBA8, 64, 64, 4, 0, i ? GL_DEPTH_COMPONENT : GL_RGBA,
         i ? GL_UNSIGNED_INT : GL_UNSIGNED_BYTE, NULL);
      glFramebufferTexture(GL_FRAMEBUFFER, i ? GL_DEPTH_ATTACHMENT : GL_COLOR_ATTACHMENT0, T[i], 0);
   }
   glBindTexture(GL_TEXTURE_2D_ARRAY, T[0]); picture();
}
static void layered_draw(int f)
{
   static const float t[] = { -0.9,-0.6,0.5,1, 1,0,0,1,  0.8,-0.7,-0.5,1, 0,1,0,1,  0.1,0.9,0.2,1, 0,0,1,1,  -0.5,0.7,-0.4,1, 1,1,0,1,
       0.6,0.8,0.6,1, 0,1,1,1,  0,-0.9,0,1, 1,0,1,1 };
   (void)f;
   into(0, 64, 64); glClearColor(0.3f, 0.2f, 0.1f, 1); glClearDepth(1); glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT); glUseProgram(P[0]);
   glEnable(GL_DEPTH_TEST); draw(GL_TRIANGLES, t, 6); glDisable(GL_DEPTH_TEST);
   picture(); glUseProgram(P[1]);
   for (int i = 0; i < 4; i++) { float x = -1 + (i & 1), y = -1 + i / 2; rect4(x + 0.02f, y + 0.02f, x + 0.98f, y + 0.98f, 0, 0, 1, 1, i, 1); }
}
static void viewports_init(void)
{
   P[0] = prog5("in vec4 pos; in vec4 aux; out vec4 gcol; void main() { gl_Position = pos; gcol = aux; }\n", NULL, NULL,
      "layout(triangles) in; layout(triangle_strip, max_vertices = 15) out; in vec4 gcol[]; out vec4 v;\n"
      "void main() { for (int k = 0; k < 5; k++) { for (int i = 0; i < 3; i++) { gl_ViewportIndex = k; gl_Position = gl_in[i].gl_Position; "
         "v = k % 2 == 0 ? gcol[i] : gcol[i].brga; EmitVertex(); } EndPrimitive(); } }\n", fs_aux, NULL);
}
static void viewports_draw(int f)
{
   static const float t[] = { -0.9,-0.9,-0.5,1, 1,0,0,1,  0.9,-0.6,0.5,1, 0,1,0,1,  0,0.95,0,1, 0,0,1,1 }; (void)f;
   for (int i = 0; i < 4; i++) {
      glViewportIndexedf(i, (i & 1) * W * 0.5f + 0.25f, i / 2 * H * 0.5f, W * (0.5f - 0.05f * i), H * 0.5f);
      glDepthRangeIndexed(i, i * 0.2, 0.5 + i * 0.1); glEnablei(GL_SCISSOR_TEST, i);
      glScissorIndexed(i, (i & 1) * W / 2, i / 2 * H / 2 + 8 * i, W / 2 - 12 * i, H / 2 - 16);
   }
   glViewportIndexedf(4, W * 0.3f, H * 0.3f, W * 0.4f, H * 0.4f); glDepthRangeIndexed(4, 1, 0); glDisablei(GL_SCISSOR_TEST, 4);
   glEnable(GL_DEPTH_TEST); draw(GL_TRIANGLES, t, 3); glDisable(GL_DEPTH_TEST);
   for (int i = 0; i < 5; i++) { glDisablei(GL_SCISSOR_TEST, i); glDepthRangeIndexed(i, 0, 1); } whole();
}
static void vslayer_init(void)
{
   P[0] = prog("ATTR vec4 pos; ATTR vec4 aux; out vec4 v; void main() { gl_Position = vec4(pos.xy * (1.0 - 0.2 * float(gl_InstanceID)), 0.0, 1.0); "
      "v = aux; gl_ViewportIndex = gl_InstanceID; }\n", fs_aux);
}
static void vslayer_draw(int f)
{
   static const float t[] = { -0.9,-0.9,0,1, 1,0.5,0,1,  0.9,-0.7,0,1, 0,1,0.5,1,  0,0.95,0,1, 0.5,0,1,1 }; (void)f;
   for (int i = 0; i < 4; i++) glViewportIndexedf(i, (i & 1) * W / 2, i / 2 * H / 2, W / 2, H / 2);
   verts(t, 3); glDrawArraysInstanced(GL_TRIANGLES, 0, 3, 4); tris += 4; whole();
}

/* ================================================================== tessellation */
static const char *vs_patch = "in vec4 pos; in vec4 aux; out vec4 c; void main() { gl_Position = pos; c = aux; }\n";
/* Draws the triangles' edges, so that the picture shows how the patch was cut up. */
static const char *gs_wire = "layout(triangles) in; layout(triangle_strip, max_vertices = 3) out; in vec4 tc[]; out vec4 v; "
   "noperspective out vec3 edge;\n"
   "void main() { vec2 p[3]; for (int i = 0; i < 3; i++) p[i] = gl_in[i].gl_Position.xy * 128.0; for (int i = 0; i < 3; i++) { "
      "vec2 a = p[(i + 1) % 3] - p[i], b = p[(i + 2) % 3] - p[i]; float h = abs(a.x * b.y - a.y * b.x) / max(distance(p[(i + 1) % 3], p[(i + 2) % "
      "3]), 0.001); edge = vec3(0.0); edge[i] = h; v = tc[i]; gl_Position = gl_in[i].gl_Position; EmitVertex(); } }\n";
static const char *fs_wire = "in vec4 v; noperspective in vec3 edge; void main() { float d = min(edge.x, min(edge.y, edge.z)); "
   "FRAG = d < 0.9 ? vec4(1.0) : v; }\n";
static void tess_init(const char *tcs, const char *tes, int wire)
{
   P[0] = prog5(vs_patch, tcs, tes, wire ? gs_wire : NULL, wire ? fs_wire : "in vec4 tc; void main() { FRAG = tc; }\n", NULL);
}
static void tessquad_init(void)
{
   tess_init("layout(vertices = 4) out; in vec4 c[]; out vec4 tcc[]; patch out vec4 bulge; void main() { gl_out[gl_InvocationID].gl_Position = "
      "gl_in[gl_InvocationID].gl_Position; tcc[gl_InvocationID] = c[gl_InvocationID]; barrier();\n"
      " if (gl_InvocationID == 0) { vec4 k = c[0]; gl_TessLevelOuter[0] = 2.0 + k.w; gl_TessLevelOuter[1] = 3.0; gl_TessLevelOuter[2] = 5.0 - k.w * "
         "0.3; gl_TessLevelOuter[3] = 1.0 + 2.0 * k.w; gl_TessLevelInner[0] = 3.0 + k.w; gl_TessLevelInner[1] = 2.5; bulge = tcc[3] * 0.1; } }\n",
      "layout(quads, fractional_even_spacing, ccw) in; in vec4 tcc[]; patch in vec4 bulge; out vec4 tc; void main() { vec2 t = gl_TessCoord.xy; "
         "vec4 p = mix(mix(gl_in[0].gl_Position, gl_in[1].gl_Position, t.x), mix(gl_in[2].gl_Position, gl_in[3].gl_Position, t.x), t.y);\n"
      " p.y += bulge.x * t.x * (1.0 - t.x) * 4.0; gl_Position = p; tc = vec4(mix(mix(tcc[0], tcc[1], t.x), mix(tcc[2], tcc[3], t.x), t.y).rgb, "
         "1.0); }\n", 1);
}
static void tessquad_draw(int f)
{
   glPatchParameteri(GL_PATCH_VERTICES, 4); float v[36][8];
   for (int i = 0; i < 9; i++) for (int k = 0; k < 4; k++) {
      float *p = v[4 * i + k]; p[0] = -0.95f + 0.65f * (i % 3) + (k & 1) * 0.58f; p[1] = -0.95f + 0.65f * (i / 3) + (k / 2) * 0.5f; p[2] = 0;
      p[3] = 1; hue(i + k, p + 4); for (int q = 4; q < 7; q++) p[q] *= 0.7f; p[7] = i * 0.8f + 0.1f * f;
   }
   draw(GL_PATCHES, v[0], 36);
}
static void tesstri_init(void)
{
   tess_init("layout(vertices = 3) out; in vec4 c[]; out vec4 tcc[]; void main() { gl_out[gl_InvocationID].gl_Position = "
      "gl_in[gl_InvocationID].gl_Position; tcc[gl_InvocationID] = c[gl_InvocationID]; if (gl_InvocationID == 1) { for (int i = 0; i < 3; "
      "i++) gl_TessLevelOuter[i] = 1.0 + c[i].w; gl_TessLevelInner[0] = 2.0 + c[0].w * 0.7; } }\n",
      "layout(triangles, fractional_odd_spacing, cw) in; in vec4 tcc[]; out vec4 tc; void main() { vec3 t = gl_TessCoord; "
         "vec4 p = t.x * gl_in[0].gl_Position + t.y * gl_in[1].gl_Position + t.z * gl_in[2].gl_Position; p.xy *= 1.0 + 0.5 * t.x * t.y * t.z; "
         "gl_Position = p; tc = vec4((t.x * tcc[0] + t.y * tcc[1] + t.z * tcc[2]).rgb, 1.0); }\n", 1);
}
static void tesstri_draw(int f)
{
   glPatchParameteri(GL_PATCH_VERTICES, 3); float v[24][8];
   for (int i = 0; i < 8; i++) for (int k = 0; k < 3; k++) { float *p = v[3 * i + k];
      p[0] = -0.95f + 0.48f * (i % 4) + (k == 1 ? 0.42f : k == 2 ? 0.2f : 0); p[1] = -0.95f + 0.97f * (i / 4) + (k == 2 ? 0.85f : 0.04f * k);
      p[2] = 0; p[3] = 1; hue(i + k, p + 4); for (int q = 4; q < 7; q++) p[q] *= 0.7f;
      p[7] = i == 7 && k == 1 ? -2 : i * 0.9f + k * 0.35f + 0.1f * f; } /* the last patch has a level below zero: culled */
   draw(GL_PATCHES, v[0], 24);
}
static void tessiso_init(void)
{
   tess_init("layout(vertices = 4) out; in vec4 c[]; out vec4 tcc[]; void main() { gl_out[gl_InvocationID].gl_Position = "
      "gl_in[gl_InvocationID].gl_Position; tcc[gl_InvocationID] = c[gl_InvocationID]; gl_TessLevelOuter[0] = 6.0 + c[0].w; "
      "gl_TessLevelOuter[1] = 9.0; }\n",
      "layout(isolines, equal_spacing) in; in vec4 tcc[]; out vec4 tc; void main() { vec2 t = gl_TessCoord.xy; vec4 a = mix(gl_in[0].gl_Position, "
         "gl_in[1].gl_Position, t.x), b = mix(gl_in[2].gl_Position, gl_in[3].gl_Position, t.x); gl_Position = mix(a, b, t.y + 0.05); "
         "tc = vec4(t, 1.0 - t.x, 1.0); }\n", 0);
   P[1] = prog5(vs_patch, NULL, "layout(quads, fractional_odd_spacing, point_mode) in; in vec4 c[]; out vec4 tc; void main() { "
      "vec2 t = gl_TessCoord.xy; gl_Position = mix(mix(gl_in[0].gl_Position, gl_in[1].gl_Position, t.x), mix(gl_in[2].gl_Position, "
      "gl_in[3].gl_Position, t.x), t.y); gl_PointSize = 5.0; tc = vec4(t.yx, 0.3, 1.0); }\n", NULL, "in vec4 tc; void main() { FRAG = tc; }\n",
      NULL);
}
static void tessiso_draw(int f)
{
   static const float a[] = { -0.95,-0.9,0,1, 0,0,0,1,  0.9,-0.7,0,1, 0,0,0,0,  -0.9,-0.1,0,1, 0,0,0,0,  0.95,-0.15,0,1, 0,0,0,0 },
      b[] = { -0.9,0.1,0,1, 0,0,0,0,  0.9,0.15,0,1, 0,0,0,0,  -0.8,0.95,0,1, 0,0,0,0,  0.95,0.85,0,1, 0,0,0,0 };
   static const float outer[] = { 5.5, 7, 3, 4 }, inner[] = { 4.5, 6 }; (void)f; glPatchParameteri(GL_PATCH_VERTICES, 4); glUseProgram(P[0]);
   draw(GL_PATCHES, a, 4);
   glUseProgram(P[1]); glPatchParameterfv(GL_PATCH_DEFAULT_OUTER_LEVEL, outer); glPatchParameterfv(GL_PATCH_DEFAULT_INNER_LEVEL, inner);
   glEnable(GL_PROGRAM_POINT_SIZE); draw(GL_PATCHES, b, 4); glDisable(GL_PROGRAM_POINT_SIZE);
}
static const char *all_names[] = { "xp" };
static void all_link(GLuint p) { glTransformFeedbackVaryings(p, 1, all_names, GL_INTERLEAVED_ATTRIBS); }
static void allstages_init(void)
{
   P[0] = prog5(vs_patch, "layout(vertices = 16) out; in vec4 c[]; void main() { gl_out[gl_InvocationID].gl_Position = "
      "gl_in[gl_InvocationID].gl_Position; for (int i = 0; i < 4; i++) { gl_TessLevelOuter[i] = 4.0; gl_TessLevelInner[i / 2] = 4.0; } }\n",
      "layout(quads, equal_spacing, ccw) in; out vec4 tc; vec4 b(float t) { float s = 1.0 - t; return vec4(s*s*s, 3.0*s*s*t, 3.0*s*t*t, t*t*t); }\n"
      "void main() { vec4 u = b(gl_TessCoord.x), w = b(gl_TessCoord.y), p = vec4(0.0); for (int i = 0; i < 4; i++) for (int k = 0; k < 4; "
         "k++) p += u[k] * w[i] * gl_in[4 * i + k].gl_Position; gl_Position = p; tc = vec4(gl_TessCoord.xy, p.z + 0.5, 1.0); }\n",
      "layout(triangles) in; layout(triangle_strip, max_vertices = 3) out; in vec4 tc[]; out vec4 v; out vec2 xp; void main() { "
         "vec2 m = (gl_in[0].gl_Position.xy + gl_in[1].gl_Position.xy + gl_in[2].gl_Position.xy) / 3.0; for (int i = 0; i < 3; i++) { "
         "gl_Position = vec4(mix(m, gl_in[i].gl_Position.xy, 0.8), gl_in[i].gl_Position.z, 1.0); v = tc[i]; xp = gl_Position.xy * 0.25; "
         "EmitVertex(); } }\n", fs_aux, all_link);
   P[1] = prog("in vec2 pos; out vec4 v; void main() { gl_Position = vec4(pos + vec2(0.7, -0.7), 0.0, 1.0); v = vec4(float(gl_VertexID % 3) * 0.5, "
      "1.0, 0.3, 1.0); }\n", fs_aux);
   B[0] = buffer(GL_ARRAY_BUFFER, 32 * 3 * 8, NULL); glGenTransformFeedbacks(1, &F[7]);
}
static void allstages_draw(int f)
{
   float v[16][8];
   for (int i = 0; i < 16; i++) {
      v[i][0] = -0.9f + 0.6f * (i % 4) + 0.1f * (i / 4 % 2); v[i][1] = -0.9f + 0.6f * (i / 4) - 0.15f * (i % 2); v[i][2] = (i % 3) * 0.3f - 0.3f;
      v[i][3] = 1; hue(i + f, v[i] + 4);
   }
   glPatchParameteri(GL_PATCH_VERTICES, 16); glUseProgram(P[0]); glBindTransformFeedback(GL_TRANSFORM_FEEDBACK, F[7]);
   glBindBufferBase(GL_TRANSFORM_FEEDBACK_BUFFER, 0, B[0]); glEnable(GL_DEPTH_TEST); glBeginTransformFeedback(GL_TRIANGLES);
   draw(GL_PATCHES, v[0], 16); glEndTransformFeedback(); glDisable(GL_DEPTH_TEST);
   glBindTransformFeedback(GL_TRANSFORM_FEEDBACK, 0); glUseProgram(P[1]); glDisableVertexAttribArray(1); glBindBuffer(GL_ARRAY_BUFFER, B[0]);
   glVertexAttribPointer(0, 2, GL_FLOAT, 0, 8, 0); glDrawTransformFeedback(GL_TRIANGLES, F[7]);
}

/* ================================================================== storage, atomics, images, compute */
static void ssbo_init(void)
{
   P[0] = prog(vs_aux, "in vec4 v; layout(std430, binding = 1) buffer Hist { uint total; uint bins[]; } h; layout(std430, binding = 2) readonly "
      "buffer Key { ivec4 shift; uint mask[]; } k;\n"
      "void main() { uvec2 p = uvec2(gl_FragCoord.xy); uint i = ((p.x * p.x + p.y * 3u) >> uint(k.shift.x)) & k.mask[k.mask.length() - 1]; "
         "atomicAdd(h.bins[i], 1u); atomicMax(h.total, p.x * 1000u + p.y); FRAG = vec4(float(i) / 31.0, 0.4, 0.2, 1.0); }\n");
   P[1] = prog(vs_aux, "in vec4 v; layout(std430, binding = 1) readonly buffer Hist { uint total; uint bins[]; } h; uniform float scale; "
      "void main() { int i = int(v.x * 32.0); FRAG = v.y < float(h.bins[i]) * scale ? vec4(v.x, 1.0, float(h.total & 255u) / 255.0, 1.0) : "
      "vec4(0.1); }\n");
   struct { int shift[4]; uint32_t mask[3]; } key = { { 5, 0, 0, 0 }, { 1, 7, 31 } }; B[0] = buffer(GL_SHADER_STORAGE_BUFFER, 33 * 4, NULL);
   B[1] = buffer(GL_SHADER_STORAGE_BUFFER, sizeof key, &key);
}
static void ssbo_draw(int f)
{
   static const uint32_t zero[33]; (void)f; glBindBuffer(GL_SHADER_STORAGE_BUFFER, B[0]);
   glBufferSubData(GL_SHADER_STORAGE_BUFFER, 0, sizeof zero, zero);
   glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 1, B[0]); glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 2, B[1]); glUseProgram(P[0]); rect(-1, -1, 1, 1);
   glMemoryBarrier(GL_SHADER_STORAGE_BARRIER_BIT | GL_BUFFER_UPDATE_BARRIER_BIT);
   glUseProgram(P[1]); u1f("scale", 16.f / (W * H)); rect(-0.9f, -0.9f, 0.9f, 0.9f);
}
static void ssbo_done(void) { report_buffer("histogram", GL_SHADER_STORAGE_BUFFER, B[0], 33 * 4); }
static void atomics_init(void)
{
   P[0] = prog(vs_aux, "in vec4 v; layout(binding = 0, offset = 0) uniform atomic_uint a; layout(binding = 0, offset = 4) uniform atomic_uint b; "
      "layout(binding = 0, offset = 8) uniform atomic_uint c;\n"
      "void main() { ivec2 p = ivec2(gl_FragCoord.xy); if ((p.x & p.y) == 0) atomicCounterIncrement(a); "
         "else if (p.x > p.y) atomicCounterIncrement(b); else { atomicCounterDecrement(c); discard; } FRAG = vec4(fract(vec2(p) / 64.0), 0.5, 1.0); "
         "}\n");
   P[1] = prog(vs_aux, "in vec4 v; layout(binding = 0, offset = 0) uniform atomic_uint n[3]; uniform float scale; void main() { "
      "uint x = v.y < 0.333 ? atomicCounter(n[0]) : v.y < 0.667 ? atomicCounter(n[1]) : 1000000u - atomicCounter(n[2]); "
      "FRAG = v.x < float(x) * scale ? vec4(1.0, v.y, 0.0, 1.0) : vec4(0.2, 0.2, 0.2, 1.0); }\n");
   B[0] = buffer(GL_ATOMIC_COUNTER_BUFFER, 12, NULL);
}
static void atomics_draw(int f)
{
   static const uint32_t start[3] = { 0, 0, 1000000 }; (void)f; glBindBuffer(GL_ATOMIC_COUNTER_BUFFER, B[0]);
   glBufferSubData(GL_ATOMIC_COUNTER_BUFFER, 0, 12, start); glBindBufferBase(GL_ATOMIC_COUNTER_BUFFER, 0, B[0]); glUseProgram(P[0]);
   rect(-1, -1, 1, 1); glMemoryBarrier(GL_ATOMIC_COUNTER_BARRIER_BIT | GL_BUFFER_UPDATE_BARRIER_BIT);
   glUseProgram(P[1]); u1f("scale", 1.5f / (W * H)); rect(-0.9f, 0.5f, 0.9f, 0.95f);
}
static void atomics_done(void) { report_buffer("counters", GL_ATOMIC_COUNTER_BUFFER, B[0], 12); }
static void image_init(void)
{
   P[0] = prog(vs_aux, "in vec4 v; layout(r32ui, binding = 0) uniform uimage2D sum; layout(rgba8, binding = 1) writeonly uniform image2D dst; "
      "layout(rgba32f, binding = 2) readonly uniform image2D src; layout(r32i, binding = 3) uniform iimage2DArray lay;\n"
      "void main() { ivec2 p = ivec2(gl_FragCoord.xy) & 63; vec4 c = imageLoad(src, p >> 2); imageStore(dst, ivec2(63 - p.y, (p.x * 5) & 63), "
         "vec4(c.rgb * vec3(p, 32) / 63.0, 1.0)); imageAtomicAdd(sum, p >> 3, uint(p.x + p.y * 7)); imageAtomicMax(lay, ivec3(p >> 3, p.x & 1), p.x "
         "* 64 + p.y); FRAG = c; }\n");
   P[1] = prog(vs_aux, "in vec4 v; layout(r32ui, binding = 0) readonly uniform uimage2D sum; layout(r32i, binding = 3) readonly uniform "
      "iimage2DArray lay; void main() { ivec2 p = ivec2(v.xy * 8.0); uint s = imageLoad(sum, p).r; int m = imageLoad(lay, ivec3(p, p.y & 1)).r; "
      "FRAG = vec4(float(s & 255u) / 255.0, float((s >> 8) & 255u) / 255.0, float(m) / 4095.0, 1.0); }\n");
   P[2] = prog(vs_aux, fs_tex);
   static const struct { GLenum target, internal, fmt, type; int n; }
   im[4] = { { GL_TEXTURE_2D, GL_R32UI, GL_RED_INTEGER, GL_UNSIGNED_INT, 8 }, { GL_TEXTURE_2D, GL_RGBA8, GL_RGBA, GL_UNSIGNED_BYTE, 64 },
      { GL_TEXTURE_2D, GL_RGBA32F, GL_RGBA, GL_FLOAT, 16 }, { GL_TEXTURE_2D_ARRAY, GL_R32I, GL_RED_INTEGER, GL_INT, 8 } };
   float src[256][4]; for (int i = 0; i < 256; i++) hue(i * 3 + i / 16, src[i]);
   for (int i = 0; i < 4; i++) {
      T[i] = tex(im[i].target, GL_NEAREST, GL_NEAREST, GL_CLAMP_TO_EDGE);
      if (i == 3) glTexStorage3D(im[i].target, 1, im[i].internal, 8, 8, 2); else glTexStorage2D(im[i].target, 1, im[i].internal, im[i].n, im[i].n);
      if (i == 2) glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, 16, 16, GL_RGBA, GL_FLOAT, src);
      glBindImageTexture(i, T[i], 0, i == 3, 0, i == 1 ? GL_WRITE_ONLY : i == 2 ? GL_READ_ONLY : GL_READ_WRITE, im[i].internal);
   }
}
static void image_draw(int f)
{
   static const uint32_t zero[128]; static const uint8_t grey[64 * 64 * 4]; (void)f;
   glBindTexture(GL_TEXTURE_2D, T[0]); glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, 8, 8, GL_RED_INTEGER, GL_UNSIGNED_INT, zero);
   glBindTexture(GL_TEXTURE_2D, T[1]); glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, 64, 64, GL_RGBA, GL_UNSIGNED_BYTE, grey);
   glTexSubImage3D(GL_TEXTURE_2D_ARRAY, 0, 0, 0, 0, 8, 8, 2, GL_RED_INTEGER, GL_INT, zero);
   glUseProgram(P[0]); rect(-1, -1, 1, 1);
   glMemoryBarrier(GL_SHADER_IMAGE_ACCESS_BARRIER_BIT | GL_TEXTURE_FETCH_BARRIER_BIT | GL_TEXTURE_UPDATE_BARRIER_BIT | GL_FRAMEBUFFER_BARRIER_BIT);
   glUseProgram(P[1]); rect(-0.9f, -0.9f, -0.05f, 0.9f); glUseProgram(P[2]); rect(0.05f, -0.9f, 0.9f, 0.9f);
}
static void image_done(void)
{
   uint32_t s[64] = { 0 }, l[128] = { 0 }; glBindTexture(GL_TEXTURE_2D, T[0]); glGetTexImage(GL_TEXTURE_2D, 0, GL_RED_INTEGER, GL_UNSIGNED_INT, s);
   glGetTexImage(GL_TEXTURE_2D_ARRAY, 0, GL_RED_INTEGER, GL_INT, l); report("sums", s, sizeof s); report("maxima", l, sizeof l);
}
static void compute_init(void)
{
   /* sorts 512 keys in shared memory, then prefix sums of the sorted keys, then paints bars into an image */
   P[0] = prog_cs("layout(local_size_x = 128) in; layout(std430, binding = 0) buffer Keys { uint key[512]; uint sum[512]; }; shared uint s[512];\n"
      "void main() { uint t = gl_LocalInvocationIndex; for (uint i = t; i < 512u; i += 128u) s[i] = key[i]; barrier(); memoryBarrierShared();\n"
      " for (uint k = 2u; k <= 512u; k <<= 1) for (uint j = k >> 1; j > 0u; j >>= 1) { for (uint q = t; q < 256u; q += 128u) { "
         "uint a = (q / j) * 2u * j + q % j, b = a + j; bool up = (a & k) == 0u; if ((s[a] > s[b]) == up) { uint x = s[a]; s[a] = s[b]; s[b] = x; } "
         "} barrier(); memoryBarrierShared(); }\n"
      " for (uint i = t; i < 512u; i += 128u) key[i] = s[i]; for (uint d = 1u; d < 512u; d <<= 1) { uint v[4]; for (uint i = 0u; i < 4u; i++) { "
         "uint at = t + i * 128u; v[i] = at >= d ? s[at - d] : 0u; } barrier(); for (uint i = 0u; i < 4u; i++) s[t + i * 128u] += v[i]; barrier(); "
         "memoryBarrierShared(); }\n"
      " for (uint i = t; i < 512u; i += 128u) sum[i] = s[i]; }\n");
   P[1] = prog_cs("layout(local_size_x = 16, local_size_y = 8) in; layout(std430, binding = 0) readonly buffer Keys { uint key[512]; uint sum[512]; "
      "}; layout(rgba8, binding = 0) writeonly uniform image2D dst;\n"
      "void main() { uvec2 p = gl_GlobalInvocationID.xy; uint x = p.x * 4u; vec4 c = vec4(0.1, 0.1, 0.2, 1.0); if (p.y < key[x] / 512u) c.r = 1.0; "
         "if (p.y * 2048u < sum[x]) c.g = 0.8; c.b = float(gl_LocalInvocationIndex) / 127.0; imageStore(dst, ivec2(p), c); }\n");
         P[2] = prog(vs_aux, fs_tex);
   T[0] = tex(GL_TEXTURE_2D, GL_NEAREST, GL_NEAREST, GL_CLAMP_TO_EDGE); glTexStorage2D(GL_TEXTURE_2D, 1, GL_RGBA8, 128, 128);
   B[0] = buffer(GL_SHADER_STORAGE_BUFFER, 4096, NULL);
}
static void compute_draw(int f)
{
   uint32_t k[1024] = { 0 }, r = 12345 + f; for (int i = 0; i < 512; i++) { r = r * 1664525 + 1013904223; k[i] = r >> 16; }
   glBindBuffer(GL_SHADER_STORAGE_BUFFER, B[0]); glBufferSubData(GL_SHADER_STORAGE_BUFFER, 0, sizeof k, k);
   glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 0, B[0]); glUseProgram(P[0]); glDispatchCompute(1, 1, 1); glMemoryBarrier(GL_SHADER_STORAGE_BARRIER_BIT);
   glBindImageTexture(0, T[0], 0, 0, 0, GL_WRITE_ONLY, GL_RGBA8); glUseProgram(P[1]); glDispatchCompute(8, 16, 1);
   glMemoryBarrier(GL_TEXTURE_FETCH_BARRIER_BIT | GL_BUFFER_UPDATE_BARRIER_BIT); glUseProgram(P[2]); rect(-1, -1, 1, 1);
}
static void compute_done(void) { report_buffer("sorted_and_sums", GL_SHADER_STORAGE_BUFFER, B[0], 4096); }
static void compute3d_init(void)
{
   /* the first dispatch writes the second one's size; the second fills by 3-D ids, a shared histogram and atomics of every kind */
   P[0] = prog_cs("layout(local_size_x = 1) in; layout(std430, binding = 0) buffer Args { uint n[3]; }; void main() { if (gl_WorkGroupID.x == 1u) { "
      "n[0] = 3u; n[1] = gl_NumWorkGroups.y; n[2] = 4u; } }\n");
   P[1] = prog_cs("layout(local_size_x = 4, local_size_y = 2, local_size_z = 3) in; layout(std430, binding = 1) buffer Out { uint at[864]; "
      "uint add, and_, or_, xor_, min_, max_, xchg, cas; int smin, smax; uint bins[8]; }; shared uint h[8]; layout(std140, binding = 0) uniform K { "
      "uvec4 k; };\n"
      "void main() { uvec3 g = gl_GlobalInvocationID, n = gl_NumWorkGroups * gl_WorkGroupSize; uint i = (g.z * n.y + g.y) * n.x + g.x, l = "
         "gl_LocalInvocationIndex; if (l < 8u) h[l] = 0u; barrier(); atomicAdd(h[(i * k.x >> 7) & 7u], 1u); barrier(); "
         "if (l < 8u) atomicAdd(bins[l], h[l]);\n"
      " at[i] = i * k.y ^ (gl_WorkGroupID.x << 28 | gl_WorkGroupID.y << 24 | gl_WorkGroupID.z << 20) ^ l << 12; uint b = 1u << (i & 31u); "
         "atomicAdd(add, i); atomicAnd(and_, ~(b & 0x00ff00ffu)); atomicOr(or_, b & 0x0f0f0f0fu); atomicXor(xor_, i * 77u); "
         "atomicMin(min_, i + 5u); atomicMax(max_, i * 3u); atomicMin(smin, 100 - int(i)); atomicMax(smax, int(i) - 1000); "
         "if (i == 17u) atomicExchange(xchg, 99u); atomicCompSwap(cas, 7u, 1234u); }\n");
   P[2] = prog(vs_aux, "in vec4 v; layout(std430, binding = 1) readonly buffer Out { uint at[864]; uint rest[18]; }; void main() { "
      "ivec2 p = ivec2(v.xy * vec2(32.0, 27.0)); uint w = at[p.y * 32 + p.x] ^ rest[p.x % 18]; FRAG = vec4(float(w & 255u), float((w >> 8) & 255u), "
      "float((w >> 20) & 255u), 255.0) / 255.0; }\n");
   static const uint32_t args[3], k[4] = { 2654435761u, 40503u, 0, 0 }; B[0] = buffer(GL_SHADER_STORAGE_BUFFER, sizeof args, args);
   B[1] = buffer(GL_SHADER_STORAGE_BUFFER, 882 * 4, NULL); B[2] = buffer(GL_UNIFORM_BUFFER, sizeof k, k);
}
static void compute3d_draw(int f)
{
   uint32_t z[882] = { 0 }; (void)f; z[865] = z[868] = ~0u; z[871] = 7; z[872] = 5000; z[873] = -5000; /* and, min, cas, smin, smax */
   glBindBuffer(GL_SHADER_STORAGE_BUFFER, B[1]); glBufferSubData(GL_SHADER_STORAGE_BUFFER, 0, sizeof z, z);
   for (int i = 0; i < 2; i++) glBindBufferBase(GL_SHADER_STORAGE_BUFFER, i, B[i]);
   glBindBufferBase(GL_UNIFORM_BUFFER, 0, B[2]); glUseProgram(P[0]); glDispatchCompute(2, 3, 1);
   glMemoryBarrier(GL_COMMAND_BARRIER_BIT | GL_SHADER_STORAGE_BARRIER_BIT);
   glUseProgram(P[1]); glBindBuffer(GL_DISPATCH_INDIRECT_BUFFER, B[0]); glDispatchComputeIndirect(0);
   glMemoryBarrier(GL_SHADER_STORAGE_BARRIER_BIT | GL_BUFFER_UPDATE_BARRIER_BIT); glUseProgram(P[2]); rect(-1, -1, 1, 1);
}
static void compute3d_done(void)
{
   report_buffer("args", GL_SHADER_STORAGE_BUFFER, B[0], 12); report_buffer("out", GL_SHADER_STORAGE_BUFFER, B[1], 882 * 4);
}

/* ================================================================== indirect draws, direct state access, fixed functions */
static void indirect_init(void)
{
   P[0] = prog("in vec4 pos; in vec4 aux; in vec2 aux2; out vec4 v; void main() { gl_Position = vec4(pos.xy + aux2 + vec2(0.0, 0.1 * "
      "float(gl_InstanceID)), 0.0, 1.0); v = vec4(aux.rgb * (1.0 - 0.2 * float(gl_InstanceID)), 1.0); }\n", fs_aux);
   float off[6][2]; for (int i = 0; i < 6; i++) { off[i][0] = -0.7f + 0.28f * i; off[i][1] = i & 1 ? 0.3f : -0.4f; }
   static const uint16_t ix[] = { 9, 9, 9, 0, 1, 2, 2, 1, 3, 0, 2, 4 }; struct { uint32_t a[2][4], e[3][5]; }
   arg = { { {3, 2, 0, 0}, {4, 1, 2, 4} }, { {3, 1, 3, 0, 1}, {6, 2, 6, 1, 2}, {3, 0, 3, 0, 0} } };
   B[0] = buffer(GL_ARRAY_BUFFER, sizeof off, off); B[1] = buffer(GL_ELEMENT_ARRAY_BUFFER, sizeof ix, ix);
   B[2] = buffer(GL_DRAW_INDIRECT_BUFFER, sizeof arg, &arg);
}
static void indirect_setup(void)
{
   float v[8][8];
   for (int i = 0; i < 8; i++) { v[i][0] = 0.18f * cosf(i * 1.7f); v[i][1] = 0.25f * sinf(i * 1.7f); v[i][2] = 0; v[i][3] = 1; hue(i, v[i] + 4); }
   verts(v[0], 8);
   glBindBuffer(GL_ARRAY_BUFFER, B[0]); glVertexAttribPointer(2, 2, GL_FLOAT, 0, 8, 0); glEnableVertexAttribArray(2); glVertexAttribDivisor(2, 1);
   glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, B[1]); glBindBuffer(GL_DRAW_INDIRECT_BUFFER, B[2]);
}
static void indirect_draw(int f)
{
   (void)f; indirect_setup(); glDrawArraysIndirect(GL_TRIANGLES, 0); glDrawArraysIndirect(GL_TRIANGLE_STRIP, (void *)16);
   for (int i = 0; i < 3; i++) glDrawElementsIndirect(GL_TRIANGLES, GL_UNSIGNED_SHORT, (void *)(intptr_t)(32 + 20 * i));
   tris += 9; glVertexAttribDivisor(2, 0); glDisableVertexAttribArray(2);
}
static void mdi_draw(int f)
{
   (void)f; indirect_setup(); glMultiDrawArraysIndirect(GL_TRIANGLES, 0, 2, 16);
   glMultiDrawElementsIndirect(GL_TRIANGLES, GL_UNSIGNED_SHORT, (void *)32, 3, 20); tris += 9; glVertexAttribDivisor(2, 0);
   glDisableVertexAttribArray(2);
}
static void gpudraw_init(void)
{
   P[0] = prog_cs("layout(local_size_x = 8) in; layout(std430, binding = 0) buffer A { uint arg[4]; vec4 vert[]; }; void main() { "
      "uint i = gl_GlobalInvocationID.x; if (i == 0u) { arg[0] = 48u; arg[1] = 1u; arg[2] = 3u; arg[3] = 0u; }\n"
      " uint t = i / 3u, k = i % 3u; vec2 at = vec2(t % 4u, t / 4u) * 0.45 - 0.9; vert[2u * i] = vec4(at + vec2(k == 1u ? 0.4 : 0.0, k == 2u ? 0.4 "
         ": 0.05 * float(t % 3u)), 0.0, 1.0); vert[2u * i + 1u] = vec4(float(t & 3u) / 3.0, float(k) * 0.5, 1.0 - float(t) / 17.0, 1.0); }\n");
         P[1] = prog(vs_aux, fs_aux); B[0] = buffer(GL_SHADER_STORAGE_BUFFER, 16 + 56 * 32, NULL);
}
static void gpudraw_draw(int f)
{
   (void)f; glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 0, B[0]); glUseProgram(P[0]); glDispatchCompute(7, 1, 1);
   glMemoryBarrier(GL_COMMAND_BARRIER_BIT | GL_VERTEX_ATTRIB_ARRAY_BARRIER_BIT); glUseProgram(P[1]); glBindBuffer(GL_ARRAY_BUFFER, B[0]);
   for (int i = 0; i < 2; i++) { glVertexAttribPointer(i, 4, GL_FLOAT, 0, 32, (void *)(intptr_t)(16 + 16 * i)); glEnableVertexAttribArray(i); }
   glBindBuffer(GL_DRAW_INDIRECT_BUFFER, B[0]); glDrawArraysIndirect(GL_TRIANGLES, 0); tris += 16;
}
static void dsa_init(void)
{
   P[0] = prog(vs_aux, fs_aux);
   P[1] = prog(vs_aux, "in vec4 v; uniform sampler2D tex, tex2; void main() { FRAG = v.x < 0.5 ? texture(tex, v.xy) : texture(tex2, v.xy); }\n");
   u1i("tex2", 1);
   glCreateTextures(GL_TEXTURE_2D, 2, T);
   for (int i = 0; i < 2; i++) {
      glTextureStorage2D(T[i], i ? 1 : 4, GL_RGBA8, 64, 64);
      glTextureParameteri(T[i], GL_TEXTURE_MIN_FILTER, i ? GL_NEAREST : GL_NEAREST_MIPMAP_NEAREST);
      glTextureParameteri(T[i], GL_TEXTURE_MAG_FILTER, GL_NEAREST);
   }
   uint8_t *p = texels(64, 64, 1, 1); glTextureSubImage2D(T[0], 0, 0, 0, 64, 64, GL_RGBA, GL_UNSIGNED_BYTE, p); free(p); glGenerateTextureMipmap(T[0]);
   glCreateFramebuffers(1, F); glNamedFramebufferTexture(F[0], GL_COLOR_ATTACHMENT0, T[1], 0); glCreateBuffers(1, B);
   glNamedBufferStorage(B[0], 4 * 32, NULL, GL_DYNAMIC_STORAGE_BIT | GL_MAP_WRITE_BIT);
   glCreateVertexArrays(1, &B[1]);
   for (int i = 0; i < 2; i++) {
      glVertexArrayAttribFormat(B[1], i, 4, GL_FLOAT, 0, 16 * i); glVertexArrayAttribBinding(B[1], i, 0); glEnableVertexArrayAttrib(B[1], i);
   }
   glVertexArrayVertexBuffer(B[1], 0, B[0], 0, 32);
}
static void dsa_draw(int f)
{
   static const float t[] = { -0.8,-0.9,0.25,1, 1,0,0,1,  0.9,-0.4,0.25,1, 0,1,0,1,  -0.3,0.9,0.25,1, 0,0,1,1,  0.9,0.9,0.25,1, 1,1,1,1 },
      clear[] = { 0.2f, 0.3f, 0.1f, 1 };
   (void)f;
   float *m = glMapNamedBufferRange(B[0], 0, sizeof t, GL_MAP_WRITE_BIT | GL_MAP_INVALIDATE_BUFFER_BIT); memcpy(m, t, sizeof t);
   glUnmapNamedBuffer(B[0]);
   glClearNamedFramebufferfv(F[0], GL_COLOR, 0, clear); into(0, 64, 64); glBindVertexArray(B[1]); glUseProgram(P[0]);
   glClipControl(GL_UPPER_LEFT, GL_ZERO_TO_ONE); glDrawArrays(GL_TRIANGLE_STRIP, 0, 4); glClipControl(GL_LOWER_LEFT, GL_NEGATIVE_ONE_TO_ONE);
   glBindVertexArray(vao);
   glBlitNamedFramebuffer(F[0], fbo, 0, 0, 64, 64, W / 2, H / 2, W - 8, H - 8, GL_COLOR_BUFFER_BIT, GL_NEAREST); picture(); glBindTextures(0, 2, T);
   glUseProgram(P[1]); rect4(-0.95f, -0.95f, 0.95f, -0.05f, 0, 0, 1, 1, 0, 1); rect4(-0.95f, 0.05f, -0.7f, 0.3f, 0, 0, 0.49f, 1, 0, 1); tris += 2;
}
static void persist_init(void)
{
   P[0] = prog(vs_aux, fs_aux); glGenBuffers(1, B); glBindBuffer(GL_ARRAY_BUFFER, B[0]);
   glBufferStorage(GL_ARRAY_BUFFER, 96 * 32, NULL, GL_MAP_WRITE_BIT | GL_MAP_PERSISTENT_BIT | GL_MAP_COHERENT_BIT);
}
static void persist_draw(int f)
{
   static float *m; if (!m) m = glMapBufferRange(GL_ARRAY_BUFFER, 0, 96 * 32, GL_MAP_WRITE_BIT | GL_MAP_PERSISTENT_BIT | GL_MAP_COHERENT_BIT);
   glBindBuffer(GL_ARRAY_BUFFER, B[0]);
   for (int i = 0; i < 2; i++) { glVertexAttribPointer(i, 4, GL_FLOAT, 0, 32, (void *)(intptr_t)(16 * i)); glEnableVertexAttribArray(i); }
   for (int k = 0; k < 2; k++) { /* written in two goes around a flush, while mapped */
      for (int i = 48 * k; i < 48 * k + 48; i++) {
         float *p = m + 8 * i; int t = i / 3; p[0] = -0.95f + 0.24f * (t % 8) + (i % 3 == 1 ? 0.2f : 0);
         p[1] = -0.9f + 0.45f * (t / 8) + (i % 3 == 2 ? 0.4f : 0); p[2] = 0; p[3] = 1; hue(t + i % 3 + f, p + 4);
      }
      glDrawArrays(GL_TRIANGLES, 48 * k, 48); glFlush();
   }
   tris += 32;
}
/* The 1.x machine: immediate mode, lighting on both sides, texture environment and generation, fog, stipples, smooth and wide lines. */
#define GLF(name, ...) ((void (*)(__VA_ARGS__))eglGetProcAddress("gl" #name))
static void ffp_init(void)
{
   T[0] = tex(GL_TEXTURE_2D, GL_NEAREST, GL_LINEAR, GL_REPEAT); image2d(GL_TEXTURE_2D, 0, 16, 16, 2);
   glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, 0);
}
static void ffp_draw(int f)
{
   enum { MODELVIEW = 0x1700, PROJECTION, LIGHTING = 0x0B50, LIGHT0 = 0x4000, NORMALIZE = 0x0BA1, FOG = 0x0B60, TEXGEN_S = 0x0C60, QUADS = 7,
      LINE_STIPPLE = 0x0B24, POLY_STIPPLE = 0x0B42, TWO_SIDE = 0x0B52 };
   void (*begin)(GLenum) = GLF(Begin, GLenum), (*end)(void) = GLF(End, void), (*vertex)(float, float, float) = GLF(Vertex3f, float, float, float),
      (*normal)(float, float, float) = GLF(Normal3f, float, float, float), (*color)(float, float, float, float) = GLF(Color4f, float, float, float,
      float), (*texc)(float, float) = GLF(TexCoord2f, float, float), (*mode)(GLenum) = GLF(MatrixMode, GLenum), (*ident)(void) = GLF(LoadIdentity,
      void), (*rot)(float, float, float, float) = GLF(Rotatef, float, float, float, float);
   glEnable(GL_DEPTH_TEST); mode(PROJECTION); ident(); mode(MODELVIEW); ident();
   /* lit two-sided fan */
   cell_viewport(0, 2, 2);
   static const float pos[] = { 0.5f, 0.7f, -1, 0 }, amb[] = { 0.2f, 0.2f, 0.3f, 1 }, front[] = { 0.9f, 0.4f, 0.1f, 1 }, back[] = { 0.1f, 0.5f,
      0.9f, 1 }, spec[] = { 1, 1, 1, 1 };
   void (*mat)(GLenum, GLenum, const float *) = GLF(Materialfv, GLenum, GLenum, const float *);
   glEnable(LIGHTING); glEnable(LIGHT0); glEnable(NORMALIZE); GLF(LightModeli, GLenum, int)(TWO_SIDE, 1);
   GLF(Lightfv, GLenum, GLenum, const float *)(LIGHT0, 0x1203, pos); mat(GL_FRONT_AND_BACK, 0x1200, amb); mat(GL_FRONT, 0x1201, front);
   mat(GL_BACK, 0x1201, back); mat(GL_FRONT_AND_BACK, 0x1202, spec); GLF(Materialf, GLenum, GLenum, float)(GL_FRONT_AND_BACK, 0x1601, 12);
   rot(-35 - f, 1, 0.3f, 0); begin(GL_TRIANGLE_STRIP);
   for (int i = 16; i >= 0; i--) {
      float a = i * 0.3927f; normal(cosf(a), 0.2f, sinf(a)); vertex(0.8f * cosf(a), -0.6f, 0.6f * sinf(a));
      vertex(0.5f * cosf(a), 0.6f, 0.4f * sinf(a));
   }
   end(); glDisable(LIGHTING); glDisable(LIGHT0); ident();
   /* textured quads with generated coordinates and fog */
   cell_viewport(1, 2, 2); glEnable(GL_TEXTURE_2D); GLF(TexEnvi, GLenum, GLenum, int)(0x2300, 0x2200, 0x2100);
   GLF(Fogi, GLenum, int)(0x0B65, GL_LINEAR); GLF(Fogf, GLenum, float)(0x0B63, -0.2f); GLF(Fogf, GLenum, float)(0x0B64, 1);
   static const float fog[] = { 0.2f, 0.6f, 0.3f, 1 }; GLF(Fogfv, GLenum, const float *)(0x0B66, fog); glEnable(FOG);
   begin(QUADS); color(1, 1, 1, 1); texc(0, 0); vertex(-0.9f, -0.9f, 0); color(1, 0.5f, 0.5f, 1); texc(2, 0); vertex(0.9f, -0.9f, 0.2f);
   color(0.5f, 1, 0.5f, 1); texc(2, 2); vertex(0.9f, 0, 0.9f); color(0.5f, 0.5f, 1, 1); texc(0, 2); vertex(-0.9f, 0, 0.6f); end();
   GLF(TexGeni, GLenum, GLenum, int)(0x2000, 0x2500, 0x2401); GLF(TexGeni, GLenum, GLenum, int)(0x2001, 0x2500, 0x2401); glEnable(TEXGEN_S);
   glEnable(TEXGEN_S + 1); begin(0x9); color(1, 1, 0.6f, 1);
   for (int i = 0; i < 6; i++) vertex(0.4f * cosf(i * 1.05f), 0.5f + 0.4f * sinf(i * 1.05f), 0.1f * i);
   end();
   glDisable(TEXGEN_S); glDisable(TEXGEN_S + 1); glDisable(FOG); glDisable(GL_TEXTURE_2D);
   /* stippled polygon and lines */
   cell_viewport(2, 2, 2); uint8_t st[128]; for (int i = 0; i < 128; i++) st[i] = (i / 4) & 4 ? 0xf0 : i & 4 ? 0xcc : 0x33;
   GLF(PolygonStipple, const uint8_t *)(st); glEnable(POLY_STIPPLE); begin(GL_TRIANGLES); color(1, 0.8f, 0, 1); vertex(-0.9f, -0.9f, 0);
   vertex(0.9f, -0.7f, 0); color(0, 0.8f, 1, 1); vertex(0, 0.4f, 0); end(); glDisable(POLY_STIPPLE);
   GLF(LineStipple, int, uint16_t)(2, 0x1c47); glEnable(LINE_STIPPLE); begin(GL_LINE_STRIP); color(1, 1, 1, 1); vertex(-0.9f, 0.5f, 0);
   vertex(0.9f, 0.5f, 0); vertex(0.9f, 0.9f, 0); vertex(-0.9f, 0.9f, 0); end(); glDisable(LINE_STIPPLE);
   /* wide and smooth lines, big points, polygon modes, alpha test */
   cell_viewport(3, 2, 2); glLineWidth(5); begin(GL_LINES); color(1, 0, 0, 1); vertex(-0.9f, 0.8f, 0); vertex(0.9f, 0.8f, 0); color(0, 1, 0, 1);
   vertex(-0.8f, -0.9f, 0); vertex(-0.8f, 0.6f, 0); end(); glLineWidth(1); GLF(PointSize, float)(9); begin(GL_POINTS);
   for (int i = 0; i < 5; i++) { color(i / 4.f, 0.5f, 1, 1); vertex(-0.5f + 0.25f * i, 0.5f, 0); } end();
   glEnable(0x0BC0); GLF(AlphaFunc, GLenum, float)(GL_GREATER, 0.5f); begin(GL_TRIANGLES); color(1, 1, 0, 0); vertex(-0.6f, -0.9f, 0);
   color(1, 0, 1, 1); vertex(0.8f, -0.9f, 0); color(0, 1, 1, 0.6f); vertex(0, 0.3f, 0); end(); glDisable(0x0BC0);
   glDisable(GL_DEPTH_TEST); whole(); tris += 40;
}

#define G4 "GL_EXT_gpu_shader4"
static const Scene scenes[] = {
   { "geom", "geometry shader: points to strips, EndPrimitive, primitive ids", 32, NULL, 0, NULL, 0, geom_init, geom_draw, NULL },
   { "gsadj", "geometry shader: lines and triangles with adjacency, lists and strips", 32, NULL, 0, NULL, 0, gsadj_init, gsadj_draw, NULL },
   { "gsinst", "geometry shader invocations", 40, "GL_ARB_gpu_shader5", 33, NULL, 0, gsinst_init, gsinst_draw, NULL },
   { "xfb", "transform feedback of lists and strips, drawn back", 31, NULL, 0, NULL, 0, xfb_init, xfb_draw, xfb_done },
   { "xfbstream", "two vertex streams, pause and resume, drawn back by count", 40,
      "GL_ARB_transform_feedback2 GL_ARB_transform_feedback3 GL_ARB_gpu_shader5", 33, NULL, 0, xfbstream_init, xfbstream_draw, xfbstream_done },
   { "instance", "instanced arrays, divisors 1 and 3, instance id", 33, NULL, 0, "GL_ARB_draw_instanced GL_ARB_instanced_arrays", 0, instance_init,
      instance_draw, NULL },
   { "vformats", "vertex formats, integer attributes", 33, NULL, 0, NULL, 0, vformats_init, vformats_draw, NULL },
   { "restart", "primitive restart, 8-, 16- and 32-bit indices", 31, NULL, 0, "GL_NV_primitive_restart", 0, restart_init, restart_draw, NULL },
   { "provoke", "provoking vertex, flat integers", 32, NULL, 0, "GL_ARB_provoking_vertex " G4, 0, provoke_init, provoke_draw, NULL },
   { "multidraw", "multi-draw, base vertex, ranges", 32, NULL, 0, "GL_ARB_draw_elements_base_vertex", 0, multidraw_init, multidraw_draw, NULL },
   { "drawid", "draw id, base vertex and base instance in shaders", ONLY_EXT, "GL_ARB_shader_draw_parameters GL_ARB_base_instance", 33, NULL, 0,
      drawid_init, drawid_draw, NULL },
   { "intrt", "integer and float render targets and textures", 33, NULL, 0,
      G4 " GL_EXT_texture_integer GL_ARB_texture_float GL_ARB_texture_rg GL_ARB_texture_rgb10_a2ui GL_EXT_packed_float", 0, intrt_init, intrt_draw,
      NULL },
   { "mrt", "four render targets, per-target masks and blend enables", 31, NULL, 0,
      "GL_ARB_draw_buffers GL_EXT_draw_buffers2 GL_ARB_texture_float", 0, mrt_init, mrt_draw, NULL },
   { "srgb", "sRGB framebuffer, blending in it, sRGB texture, blit", 31, NULL, 0, "GL_ARB_framebuffer_sRGB GL_EXT_texture_sRGB", 0, srgb_init,
      srgb_draw, NULL },
   { "depth32f", "float depth with stencil, two-sided stencil operations", 31, NULL, 0, "GL_ARB_depth_buffer_float", 0, depth32f_init,
      depth32f_draw, NULL },
   { "dualsrc", "dual source blending", 33, NULL, 0, "GL_ARB_blend_func_extended " G4, 0, dualsrc_init, dualsrc_draw, NULL },
   { "blendops", "blend equations and factors, separate alpha, constant colour", 31, NULL, 0, "", 0, blendops_init, blendops_draw, NULL },
   { "blendi", "blend state per render target", 40, "GL_ARB_draw_buffers_blend", 31, NULL, 0, blendi_init, blendi_draw, NULL },
   { "logicop", "sixteen logic operations", 31, NULL, 0, "", 0, logicop_init, logicop_draw, NULL },
   { "texarray", "2-D and 1-D texture arrays with mipmaps", 31, NULL, 0, "GL_EXT_texture_array", 0, texarray_init, texarray_draw, NULL },
   { "cube", "cube map, seamless filtering", 32, NULL, 0, "GL_ARB_seamless_cube_map", 0, cube_init, cube_draw, NULL },
   { "cubearray", "cube map array", 40, "GL_ARB_texture_cube_map_array", 32, NULL, 0, cubearray_init, cubearray_draw, NULL },
   { "tex3d", "3-D textures, mipmapped and not a power of two", 31, NULL, 0, "", 0, tex3d_init, tex3d_draw, NULL },
   { "shadow", "depth rendered, then compared", 31, NULL, 0, "", 0, shadow_init, shadow_draw, NULL },
   { "shadow2", "depth compare on arrays and cubes", 31, NULL, 0, NULL, 0, shadow2_init, shadow2_draw, NULL },
   { "texrect", "rectangle textures", 31, NULL, 0, "GL_ARB_texture_rectangle", 0, texrect_init, texrect_draw, NULL },
   { "texfetch", "texelFetch and textureSize on every level", 31, NULL, 0, G4, 0, texfetch_init, texfetch_draw, NULL },
   { "gather", "textureGather of one component, constant offset", 40, "GL_ARB_texture_gather", 31, NULL, 0, gather_init, gather_draw, NULL },
   { "gather4", "textureGather: component, offsets, compare", 40, "GL_ARB_gpu_shader5 GL_ARB_texture_gather", 33, NULL, 0, gather4_init,
      gather4_draw, NULL },
   { "texgrad", "explicit level, gradients, bias, offset, projection", 31, NULL, 0, "GL_ARB_shader_texture_lod " G4, 0, texgrad_init, texgrad_draw,
      NULL },
   { "texbuf", "buffer textures", 31, NULL, 0, G4 " GL_ARB_texture_buffer_object GL_ARB_texture_rg", 0, texbuf_init, whole_draw, NULL },
   { "texformats", "thirty-six texture formats", 42, "GL_ARB_texture_compression_bptc GL_EXT_texture_compression_s3tc", 31,
      "GL_ARB_texture_rg GL_ARB_texture_float GL_EXT_texture_snorm GL_EXT_packed_float GL_EXT_texture_shared_exponent "
      "GL_EXT_texture_compression_s3tc GL_ARB_texture_compression_rgtc GL_ARB_texture_compression_bptc GL_EXT_texture_sRGB GL_ARB_texture_swizzle "
      "GL_ARB_depth_texture", 0, texformats_init, texformats_draw, NULL },
   { "samplers", "sampler objects, wrap modes, border colours", 33, NULL, 0, "GL_ARB_sampler_objects", 0, samplers_init, samplers_draw, NULL },
   { "stenciltex", "stencil texturing", 43, "GL_ARB_stencil_texturing", 32, NULL, 0, stenciltex_init, stenciltex_draw, NULL },
   { "texview", "texture views", 43, "GL_ARB_texture_view GL_ARB_texture_storage", 32, NULL, 0, texview_init, texview_draw, NULL },
   { "copyimg", "image copies and texture clears", 44, "GL_ARB_copy_image GL_ARB_clear_texture", 31,
      "GL_ARB_copy_image GL_ARB_clear_texture GL_EXT_texture_array GL_ARB_texture_float", 0, copyimg_init, copyimg_draw, NULL },
   { "blits", "framebuffer blits, pixel buffers, buffer copies", 31, NULL, 0,
      "GL_EXT_framebuffer_blit GL_ARB_pixel_buffer_object GL_ARB_copy_buffer", 0, blits_init, blits_draw, NULL },
   { "ubo", "uniform blocks: std140 structs, row-major, ranges, dynamic index", 31, NULL, 0, NULL, 0, ubo_init, ubo_draw, NULL },
   { "ubovec", "uniform blocks: the same, whole vectors by dynamic index", 31, NULL, 0, NULL, 0, ubovec_init, ubo_draw, NULL },
   { "dynindex", "indexed uniforms, temporaries and varyings", 31, NULL, 0, "", 0, dynindex_init, dynindex_draw, NULL },
   { "interp", "noperspective, flat, derivatives, facing, point coordinates", 31, NULL, 0, G4, 0, interp_init, interp_draw, NULL },
   { "clipdist", "clip distances on triangles and lines", 31, NULL, 0, "", 0, clipdist_init, clipdist_draw, NULL },
   { "culldist", "cull distances", 45, "GL_ARB_cull_distance", 31, NULL, 0, culldist_init, culldist_draw, NULL },
   { "depthclamp", "depth clamp and polygon offset", 32, NULL, 0, "GL_ARB_depth_clamp", DEPTH, depthclamp_init, depthclamp_draw, NULL },
   { "intbasic", "integer arithmetic, shifts, logic", 31, NULL, 0, G4 " GL_EXT_texture_integer GL_ARB_texture_rg", 0, intbasic_init, words_draw, NULL },
   { "packing", "pack and unpack of 8- and 16-bit values", 42, "GL_ARB_shading_language_packing GL_ARB_shader_bit_encoding", 31,
      G4 " GL_EXT_texture_integer GL_ARB_texture_rg GL_ARB_shading_language_packing GL_ARB_shader_bit_encoding", 0, packing_init, words_draw,
      NULL },
   { "intops", "bit fields, wide multiplies, carries, divisions", 40, "GL_MESA_shader_integer_functions", 31, NULL, 0, intops_init, words_draw, NULL },
   { "int64", "64-bit integers", ONLY_EXT, "GL_ARB_gpu_shader_int64", 33, NULL, 0, int64_init, words_draw, NULL },
   { "subroutine", "subroutines", 40, "GL_ARB_shader_subroutine", 32, NULL, 0, subroutine_init, subroutine_draw, NULL },
   { "dynsampler", "indexed sampler arrays, fma", 40, "GL_ARB_gpu_shader5", 33, NULL, 0, dynsampler_init, dynsampler_draw, NULL },
   { "fp64", "double precision, doubles captured", 40, "GL_ARB_gpu_shader_fp64 GL_ARB_gpu_shader5", 33, NULL, 0, fp64_init, fp64_draw, fp64_done },
   { "msaa", "4x multisampling with depth, resolved", 31, NULL, 0, NULL, 0, msaa_init, msaa_draw, NULL },
   { "mstex", "multisample texture, every sample shown", 32, NULL, 0, NULL, 0, mstex_init, mstex_draw, NULL },
   { "msshade", "sample shading, sample ids", 40, "GL_ARB_sample_shading", 32, NULL, 0, msshade_init, msshade_draw, NULL },
   { "msmask", "sample masks, fixed and from the shader", 40, "GL_ARB_sample_shading", 32, NULL, 0, msmask_init, msmask_draw, NULL },
   { "queries", "occlusion, primitives, written primitives, time", 33, NULL, 0, NULL, DEPTH, queries_init, queries_draw, queries_done },
   { "condrender", "conditional rendering", 31, NULL, 0, "GL_NV_conditional_render", DEPTH, condrender_init, condrender_draw, NULL },
   { "condinv", "conditional rendering, inverted", 45, "GL_ARB_conditional_render_inverted", 31, NULL, DEPTH, condrender_init, condinv_draw, NULL },
   { "qbo", "query results into a buffer, drawn from there", 44, "GL_ARB_query_buffer_object GL_ARB_shader_image_load_store", 33, NULL, 0,
      qbo_init, qbo_draw, NULL },
   { "layered", "layered rendering through gl_Layer, layered clear", 32, NULL, 0, NULL, 0, layered_init, layered_draw, NULL },
   { "viewports", "viewport, scissor and depth range arrays", 41, "GL_ARB_viewport_array", 32, NULL, DEPTH, viewports_init, viewports_draw, NULL },
   { "vslayer", "viewport index from the vertex shader", ONLY_EXT, "GL_ARB_shader_viewport_layer_array GL_ARB_viewport_array", 33, NULL, 0,
      vslayer_init, vslayer_draw, NULL },
   { "tessquad", "tessellated quads, fractional even spacing", 40, NULL, 0, NULL, 0, tessquad_init, tessquad_draw, NULL },
   { "tesstri", "tessellated triangles, fractional odd spacing, a culled patch", 40, NULL, 0, NULL, 0, tesstri_init, tesstri_draw, NULL },
   { "tessiso", "isolines; point mode with default levels", 40, NULL, 0, NULL, 0, tessiso_init, tessiso_draw, NULL },
   { "allstages", "all five stages and transform feedback at once", 40, NULL, 0, NULL, DEPTH, allstages_init, allstages_draw, NULL },
   { "ssbo", "shader storage, atomics in a fragment shader", 43, "GL_ARB_shader_storage_buffer_object GL_ARB_shading_language_420pack", 33, NULL,
      0, ssbo_init, ssbo_draw, ssbo_done },
   { "atomics", "atomic counters", 42, "GL_ARB_shader_atomic_counters GL_ARB_shading_language_420pack", 33, NULL, 0, atomics_init, atomics_draw,
      atomics_done },
   { "image", "image load, store and atomics", 42, "GL_ARB_shader_image_load_store GL_ARB_texture_storage GL_ARB_shading_language_420pack", 33,
      NULL, 0, image_init, image_draw, image_done },
   { "compute", "compute: shared memory, barriers, sort, prefix sums, image", 43,
      "GL_ARB_compute_shader GL_ARB_shader_storage_buffer_object GL_ARB_shader_image_load_store GL_ARB_shading_language_420pack", 33, NULL, 0,
      compute_init, compute_draw, compute_done },
   { "compute3d", "compute: indirect, 3-D ids, every atomic", 43,
      "GL_ARB_compute_shader GL_ARB_shader_storage_buffer_object GL_ARB_shading_language_420pack", 33, NULL, 0, compute3d_init, compute3d_draw,
      compute3d_done },
   { "indirect", "indirect draws with base instance", 42, "GL_ARB_draw_indirect GL_ARB_base_instance", 33, NULL, 0, indirect_init, indirect_draw,
      NULL },
   { "mdi", "multi-draw indirect", 43, "GL_ARB_multi_draw_indirect GL_ARB_base_instance", 33, NULL, 0, indirect_init, mdi_draw, NULL },
   { "gpudraw", "vertices and draw arguments written by compute", 43,
      "GL_ARB_compute_shader GL_ARB_shader_storage_buffer_object GL_ARB_draw_indirect GL_ARB_shading_language_420pack", 33, NULL, 0, gpudraw_init,
      gpudraw_draw, NULL },
   { "dsa", "direct state access, clip control, generated mipmaps", 45,
      "GL_ARB_direct_state_access GL_ARB_clip_control GL_ARB_multi_bind GL_ARB_buffer_storage GL_ARB_texture_storage", 33, NULL, 0, dsa_init,
      dsa_draw, NULL },
   { "persist", "persistently mapped vertex buffer", 44, "GL_ARB_buffer_storage", 31, "GL_ARB_buffer_storage", 0, persist_init, persist_draw, NULL },
   { "ffp", "the fixed-function machine (compatibility profile)", 21, NULL, 0, "", DEPTH | COMPAT, ffp_init, ffp_draw, NULL },
};

static EGLDisplay dpy;
static int have(const char *e, size_t n) { return has_ext(e, n); }
/* A current context of at least the given core version (0: the compatibility profile), or none. */
static EGLContext context(int core)
{
   EGLint a[] = { EGL_CONTEXT_MAJOR_VERSION, core / 10, EGL_CONTEXT_MINOR_VERSION, core % 10, EGL_CONTEXT_OPENGL_PROFILE_MASK,
      EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT, EGL_NONE }, none[] = { EGL_NONE };
   EGLContext c = eglCreateContext(dpy, (EGLConfig)0, EGL_NO_CONTEXT, core ? a : none);
   if (!c) return NULL;
   if (!eglMakeCurrent(dpy, EGL_NO_SURFACE, EGL_NO_SURFACE, c)) die("eglMakeCurrent 0x%x", eglGetError());
   int major = 2, minor = 1; sscanf((const char *)glGetString(GL_VERSION), "%d.%d", &major, &minor); glver = major * 10 + minor; return c;
}
static EGLContext drop(EGLContext c) { eglMakeCurrent(dpy, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT); eglDestroyContext(dpy, c); return NULL; }
static EGLContext choose_context(int oldest)
{
   EGLContext c = NULL;
   if (S->flags & COMPAT) { legacy = 1; return context(0); }
   if (!oldest) {
      if (S->gl < ONLY_EXT && (c = context(S->gl))) return c;
      if (S->ext && (c = context(S->extgl)) && (each_word(S->ext, have) || (c = drop(c)))) { if (glver >= S->gl) glver = S->gl - 1; return c; }
   }
   if (S->legacy && (c = context(0))) { legacy = 1; if (each_word(S->legacy, have)) return c; skip("extensions missing on GL 2.1"); }
   skip(""); return NULL;
}

int main(int argc, char **argv)
{
   const char *scene = "geom", *out = NULL, *plat = "surfaceless", *node = "/dev/dri/renderD128"; int frames = 1, quiet = 0, oldest = 0, c;
   fetch_queries = getenv("GLSCENES_QUERY") != NULL;
   while ((c = getopt(argc, argv, "s:W:H:n:o:b:p:d:lQq")) != -1) switch (c) {
      case 's': scene = optarg; break; case 'W': W = atoi(optarg); break; case 'H': H = atoi(optarg); break; case 'n': frames = atoi(optarg); break;
      case 'o': out = optarg; break; case 'b': bufdir = optarg; break;
      case 'p': plat = optarg; break; case 'd': node = optarg; break; case 'l': oldest = 1; break; case 'Q': fetch_queries = 1; break;
      case 'q': quiet = 1; break; default: return 2; }
   if (W < 1 || H < 1 || W > 4096 || H > 4096 || frames < 1) { fprintf(stderr, "size 1..4096, at least one frame\n"); return 2; }
   for (int i = 0; i < COUNT(scenes); i++) {
      if (!strcmp(scene, scenes[i].name)) S = &scenes[i];
      if (!strcmp(scene, "list")) {
         const Scene *s = &scenes[i]; printf("%-11s %s [", s->name, s->what); if (s->gl < ONLY_EXT) printf("GL %d.%d", s->gl / 10, s->gl % 10);
         if (s->ext) printf("%sGL %d.%d + %s", s->gl < ONLY_EXT ? " or " : "", s->extgl / 10, s->extgl % 10, s->ext);
         if (s->legacy && !(s->flags & COMPAT)) printf(" or GL 2.1%s%s", *s->legacy ? " + " : "", s->legacy);
         puts("]");
      }
   }
   if (!S) { if (strcmp(scene, "list")) fprintf(stderr, "no scene %s; -s list names them\n", scene); return strcmp(scene, "list") ? 2 : 0; }

   PFNEGLGETPLATFORMDISPLAYEXTPROC gpd = (void *)eglGetProcAddress("eglGetPlatformDisplayEXT"); EGLint maj, min;
   if (!strcmp(plat, "gbm")) {
      int fd = open(node, O_RDWR | O_CLOEXEC); if (fd < 0) die("cannot open %s", node); struct gbm_device *g = gbm_create_device(fd);
      if (!g) die("gbm_create_device");
      dpy = gpd(EGL_PLATFORM_GBM_KHR, g, NULL);
   }
   else dpy = gpd(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL);
   if (!eglInitialize(dpy, &maj, &min)) die("eglInitialize 0x%x", eglGetError());
   eglBindAPI(EGL_OPENGL_API); EGLContext ctx = choose_context(oldest);
   if (!quiet) printf("EGL %d.%d  vendor=%s\nGL_VENDOR=%s\nGL_RENDERER=%s\nGL_VERSION=%s\nGLSL=%s\n", maj, min, eglQueryString(dpy, EGL_VENDOR),
      glGetString(GL_VENDOR), glGetString(GL_RENDERER), glGetString(GL_VERSION), glGetString(GL_SHADING_LANGUAGE_VERSION));

   GLuint colour, depth; glGenFramebuffers(1, &fbo); glGenTextures(1, &colour); glBindTexture(GL_TEXTURE_2D, colour);
   glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, W, H, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
   glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST); glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
   glBindFramebuffer(GL_FRAMEBUFFER, fbo); glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, colour, 0);
   if (S->flags & DEPTH) {
      glGenRenderbuffers(1, &depth); glBindRenderbuffer(GL_RENDERBUFFER, depth); glRenderbufferStorage(GL_RENDERBUFFER, GL_DEPTH24_STENCIL8, W, H);
      glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_RENDERBUFFER, depth);
      glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_STENCIL_ATTACHMENT, GL_RENDERBUFFER, depth);
   }
   if (glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE) die("picture framebuffer incomplete");
   if (!legacy) { glGenVertexArrays(1, &vao); glBindVertexArray(vao); } glGenBuffers(1, &stream);
   whole(); glcheck("setup"); S->init(); picture(); glcheck("init");

   double first = 0, sum = 0, best = 1e9;
   for (int f = 0; f < frames; f++) {
      double t0 = now_ms(); picture(); glClearColor(0.1f, 0.1f, 0.15f, 1); glClearDepth(1);
      glClear(GL_COLOR_BUFFER_BIT | (S->flags & DEPTH ? GL_DEPTH_BUFFER_BIT : 0)); tris = 0; S->draw(f); glFinish();
      double t = now_ms() - t0; if (!f) first = t; else { sum += t; if (t < best) best = t; }
   }
   glcheck("draw"); if (S->done) S->done(); glcheck("results"); glBindFramebuffer(GL_FRAMEBUFFER, fbo);
   uint8_t *px = malloc((size_t)W * H * 4); memset(px, 0xAA, (size_t)W * H * 4); double tr = now_ms(); glPixelStorei(GL_PACK_ALIGNMENT, 1);
   glReadPixels(0, 0, W, H, GL_RGBA, GL_UNSIGNED_BYTE, px); tr = now_ms() - tr; glcheck("readpixels");
   printf("RESULT scene=%s %dx%d gl=%d.%d%s tris=%ld first=%.3fms ", S->name, W, H, glver / 10, glver % 10, legacy ? "-compat" : "", tris, first);
   if (frames > 1) printf("frames=%d avg=%.3fms min=%.3fms ", frames, sum / (frames - 1), best);
   printf("readpix=%.3fms fnv=%016llx\n", tr, (unsigned long long)fnv(px, (size_t)W * H * 4));
   if (out) {
      FILE *o = fopen(out, "wb"); if (!o) die("cannot write %s", out); fprintf(o, "P6\n%d %d\n255\n", W, H);
      for (int y = H - 1; y >= 0; y--) for (int x = 0; x < W; x++) fwrite(px + ((size_t)y * W + x) * 4, 1, 3, o);
      fclose(o);
   }
   drop(ctx); eglTerminate(dpy); return 0;
}
