// A library that says that it is EGL.
#include <stddef.h>
#include <string.h>

static int current;

static const char *get_string(unsigned name) {
    return current && name == 0x1f01 ? "a renderer" : NULL;
}

unsigned eglSwapBuffers(void *display, void *surface) {
    return display && surface;
}

unsigned eglMakeCurrent(void *display, void *draw, void *read, void *context) {
    current = context != NULL;
    return display && draw == read;
}

void *eglGetProcAddress(const char *name) {
    return strcmp(name, "glGetString") ? NULL : (void *)get_string;
}
