//! Presenting frames and making contexts current, in EGL and GLX.
//!
//! The functions behind do the work; this only counts.

use core::ffi::{CStr, c_char, c_int, c_uint, c_ulong, c_void};

use super::export;
use crate::frames;
use crate::next::{Next, next};

const EGL: &[&CStr] = &[c"libEGL.so.1", c"libEGL.so"];
const GLX: &[&CStr] = &[c"libGL.so.1", c"libGLX.so.0", c"libGL.so"];

static EGL_SWAP: Next = Next::at(c"eglSwapBuffers", EGL);
static EGL_CURRENT: Next = Next::at(c"eglMakeCurrent", EGL);
static EGL_ADDRESS: Next = Next::at(c"eglGetProcAddress", EGL);
static GLX_SWAP: Next = Next::at(c"glXSwapBuffers", GLX);
static GLX_CURRENT: Next = Next::at(c"glXMakeCurrent", GLX);
static GLX_ADDRESS: Next = Next::at(c"glXGetProcAddressARB", GLX);

type EglSwap = unsafe extern "C" fn(*mut c_void, *mut c_void) -> c_uint;
type EglCurrent =
    unsafe extern "C" fn(*mut c_void, *mut c_void, *mut c_void, *mut c_void) -> c_uint;
type GlxSwap = unsafe extern "C" fn(*mut c_void, c_ulong);
type GlxCurrent = unsafe extern "C" fn(*mut c_void, c_ulong, *mut c_void) -> c_int;
type Address = unsafe extern "C" fn(*const c_char) -> *mut c_void;
type GetString = unsafe extern "C" fn(c_uint) -> *const c_char;

/// GL_RENDERER of <GL/gl.h>.
const RENDERER: c_uint = 0x1f01;

export! {
    [eglSwapBuffers] (display: *mut c_void, surface: *mut c_void) -> c_uint => egl_swap;
    [eglMakeCurrent] (display: *mut c_void, draw: *mut c_void, read: *mut c_void, context: *mut c_void) -> c_uint
        => egl_current;
    [glXSwapBuffers] (display: *mut c_void, drawable: c_ulong) -> () => glx_swap;
    [glXMakeCurrent] (display: *mut c_void, drawable: c_ulong, context: *mut c_void) -> c_int => glx_current;
}

/// # Safety
///
/// As `eglSwapBuffers`.
unsafe fn egl_swap(display: *mut c_void, surface: *mut c_void) -> c_uint {
    let Some(swap) = next!(EGL_SWAP, EglSwap) else {
        return 0;
    };
    // SAFETY: the caller's arguments.
    let result = unsafe { swap(display, surface) };
    if result != 0 {
        frames::presented();
    }
    result
}

/// # Safety
///
/// As `eglMakeCurrent`.
unsafe fn egl_current(
    display: *mut c_void,
    draw: *mut c_void,
    read: *mut c_void,
    context: *mut c_void,
) -> c_uint {
    let Some(make) = next!(EGL_CURRENT, EglCurrent) else {
        return 0;
    };
    // SAFETY: the caller's arguments.
    let result = unsafe { make(display, draw, read, context) };
    if result != 0 {
        note(context, &EGL_ADDRESS);
    }
    result
}

/// # Safety
///
/// As `glXSwapBuffers`.
unsafe fn glx_swap(display: *mut c_void, drawable: c_ulong) {
    if let Some(swap) = next!(GLX_SWAP, GlxSwap) {
        // SAFETY: the caller's arguments.
        unsafe { swap(display, drawable) };
        frames::presented();
    }
}

/// # Safety
///
/// As `glXMakeCurrent`.
unsafe fn glx_current(display: *mut c_void, drawable: c_ulong, context: *mut c_void) -> c_int {
    let Some(make) = next!(GLX_CURRENT, GlxCurrent) else {
        return 0;
    };
    // SAFETY: the caller's arguments.
    let result = unsafe { make(display, drawable, context) };
    if result != 0 {
        note(context, &GLX_ADDRESS);
    }
    result
}

/// Notes the renderer of a context that is current.
fn note(context: *mut c_void, address: &Next) {
    if !frames::is_new(context.addr()) {
        return;
    }
    let Some(address) = next!(address, Address) else {
        return;
    };
    // SAFETY: a context is current, as glGetString asks, and the text lives as long as it does.
    unsafe {
        let get = address(c"glGetString".as_ptr());
        if get.is_null() {
            return;
        }
        let name = core::mem::transmute::<*mut c_void, GetString>(get)(RENDERER);
        if !name.is_null() {
            frames::renderer(CStr::from_ptr(name).to_bytes());
        }
    }
}
