//! Kernels for synthetic frames: our own by intel-gen4asm, and captured ones.
//!
//! PRM: volume 4, chapter 14. Sources stand beside the words in tests/data/kernels. Not covered: other generations.

const X_DRIVER: &str = include_str!("../../data/kernels/x_driver.hex");
const XVMC: &str = include_str!("../../data/kernels/xvmc.hex");
const CAPTURED: &str = include_str!("../../../isa/tests/data/gm965_kernels.hex");

macro_rules! kernels {
    ($($name:ident),* $(,)?) => {
        $(
            #[doc = concat!("tests/data/kernels/", stringify!($name), ".g4a")]
            #[must_use]
            pub fn $name() -> Vec<u32> {
                words(include_str!(concat!("../../data/kernels/", stringify!($name), ".hex")))
            }
        )*
    };
}

kernels!(
    sf_flat_tri,
    sf_line,
    sf_flat_line,
    sf_point,
    sf_sprite,
    wm_flat16,
    wm_flat8,
    wm_gouraud8,
    wm_kill16,
    wm_kill_depth16,
    wm_late_stencil16,
    wm_depth16,
    wm_const16,
    wm_tex16,
    wm_aa16,
    wm_clear16,
    wm_buffers16,
    wm_gather16,
    gs_quads,
    gs_quad_strip,
    gs_greedy,
    gs_silent,
    gs_across,
    gs_triangle,
    endless,
    vs_const,
    vs_header,
    wm_header16,
    wm_debug16,
    wm_stateless16,
    wm_debug_depth16,
    sf_debug_tri,
    pass_debug_tri,
);

/// A kernel of the captured frames by its headline, such as `"clip c_gouraud"`.
#[must_use]
pub fn captured(name: &str) -> Vec<u32> {
    let head = format!("# {name} ");
    section(CAPTURED, |line| line.starts_with(&head))
}

/// A kernel of the X driver, put together of pieces such as `"exa_wm_xy"`.
#[must_use]
pub fn x_driver(pieces: &[&str]) -> Vec<u32> {
    let piece = |name: &&str| section(X_DRIVER, |line| line.strip_prefix("# ") == Some(name));
    pieces.iter().flat_map(piece).collect()
}

/// A motion compensation kernel of libIntelXvMC, such as `"frame_forward"`.
#[must_use]
pub fn xvmc(name: &str) -> Vec<u32> {
    let head = format!("# xvmc {name}");
    section(XVMC, |line| line == head)
}

/// What stands below a headline.
fn section(text: &str, is_head: impl FnMut(&str) -> bool) -> Vec<u32> {
    let mut lines = text.lines();
    assert!(lines.any(is_head), "no such kernel");
    let body: Vec<_> = lines
        .take_while(|line| !line.is_empty() && !line.starts_with('#'))
        .collect();
    words(&body.join("\n"))
}

/// The first four words of every line.
fn words(text: &str) -> Vec<u32> {
    text.lines()
        .flat_map(|line| line.split_whitespace().take(4))
        .map(|word| u32::from_str_radix(word, 16).expect("hexadecimal"))
        .collect()
}
