// Makes a context current twice and presents three frames; a fourth fails. A program, or a plugin of one.
#include "check.h"

unsigned eglSwapBuffers(void *display, void *surface);
unsigned eglMakeCurrent(void *display, void *draw, void *read, void *context);

int draws(void) {
    int thing;
    for (int i = 0; i < 2; i++) {
        CHECK(eglMakeCurrent(&thing, &thing, &thing, &thing));
        CHECK(eglMakeCurrent(&thing, NULL, NULL, NULL));
    }
    for (int i = 0; i < 3; i++)
        CHECK(eglSwapBuffers(&thing, &thing));
    CHECK(!eglSwapBuffers(&thing, NULL));
    return 0;
}

#ifndef PLUGIN
int main(void) {
    return draws();
}
#endif
