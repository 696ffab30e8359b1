// The devices that EGL lists (EGL_EXT_device_enumeration), each with its entry in /dev, its driver, and what draws there.
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <stdio.h>

typedef const char *(*driver_name)(EGLDisplay);
typedef const unsigned char *(*get_string)(unsigned);

int main(void) {
    PFNEGLQUERYDEVICESEXTPROC list = (void *)eglGetProcAddress("eglQueryDevicesEXT");
    PFNEGLQUERYDEVICESTRINGEXTPROC text = (void *)eglGetProcAddress("eglQueryDeviceStringEXT");
    PFNEGLGETPLATFORMDISPLAYEXTPROC display = (void *)eglGetProcAddress("eglGetPlatformDisplayEXT");
    driver_name driver = (void *)eglGetProcAddress("eglGetDisplayDriverName");
    get_string string = (void *)eglGetProcAddress("glGetString");
    EGLDeviceEXT devices[16];
    EGLint count = 0;
    if (!list || !text || !display || !driver || !list(16, devices, &count)) return 1;
    for (int i = 0; i < count; i++) {
        const char *file = text(devices[i], EGL_DRM_DEVICE_FILE_EXT);
        if (!file) continue;
        EGLDisplay on = display(EGL_PLATFORM_DEVICE_EXT, devices[i], NULL);
        if (!eglInitialize(on, NULL, NULL) || !eglBindAPI(EGL_OPENGL_ES_API)) return 2;
        EGLint two[] = {EGL_CONTEXT_CLIENT_VERSION, 2, EGL_NONE};
        EGLContext context = eglCreateContext(on, EGL_NO_CONFIG_KHR, EGL_NO_CONTEXT, two);
        if (!eglMakeCurrent(on, EGL_NO_SURFACE, EGL_NO_SURFACE, context)) return 3;
        printf("%s %s %s\n", file, driver(on), string(0x1f01 /* GL_RENDERER */));
        eglMakeCurrent(on, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
        eglTerminate(on);
    }
    return 0;
}
