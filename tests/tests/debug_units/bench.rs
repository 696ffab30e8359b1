//! Registers by the manual's offsets, and frames of triangles in a grid.
//!
//! PRM: volume 4, 3.3. Not covered: what the registers do.

use crestline_tests::scene::Scene;
use crestline_tests::scene::draw::Draw;
pub use crestline_tests::scene::grid::{cell, cells, corner, with_clipper, with_gs, with_vs};
use crestline_tests::scene::surface::{Layout, Surface};
use regs::gen40::values::surface_format as sf;

pub const SVG_CTL: u32 = 0x7400;
pub const SVG_RDATA: u32 = 0x7404;
pub const SVG_WORK_CTL: u32 = 0x7408;
pub const VF_CTL: u32 = 0x7500;
pub const VF_STRG_VAL: u32 = 0x7504;
pub const VF_STR_VL_OVR: u32 = 0x7508;
pub const VF_VC_OVR: u32 = 0x750c;
pub const VF_STR_PSKIP: u32 = 0x7510;
pub const VF_MAX_PRIM: u32 = 0x7514;
pub const VF_RDATA: u32 = 0x7518;
pub const VS_CTL: u32 = 0x7600;
pub const VS_STRG_VAL: u32 = 0x7604;
pub const VS_RDATA: u32 = 0x7608;
pub const GS_CTL: u32 = 0x7900;
pub const GS_STRG_VAL: u32 = 0x7904;
pub const GS_RDATA: u32 = 0x7908;
pub const CL_CTL: u32 = 0x7a00;
pub const CL_STRG_VAL: u32 = 0x7a04;
pub const CL_RDATA: u32 = 0x7a08;
pub const SF_CTL: u32 = 0x7b00;
pub const SF_STRG_VAL: u32 = 0x7b04;
pub const SF_MIN_PR_IND: u32 = 0x7b08;
pub const SF_MAX_PR_IND: u32 = 0x7b0c;
pub const SF_CLIP_RMIN: u32 = 0x7b10;
pub const SF_CLIP_RMAX: u32 = 0x7b14;
pub const SF_RDATA: u32 = 0x7b18;
pub const WIZ_CTL: u32 = 0x7c00;
pub const WIZ_STRG_VAL: u32 = 0x7c04;
pub const WIZ_RDATA: u32 = 0x7c08;
pub const TD_CTL: u32 = 0x8000;
pub const DP_CTL: u32 = 0x8500;
pub const DP_RDATA: u32 = 0x8504;

/// Snapshot Complete.
pub const COMPLETE: u32 = 1 << 31;
/// Snapshot flag of r0.7.
pub const FLAG: u32 = 1 << 31;

/// Unit codes of vertex tags: the manual says that there are some, not which. Those of threads are in its
/// payloads, VF's is the one before.
pub const VF: u32 = 1 << 28;
pub const VS: u32 = 2 << 28;
pub const GS: u32 = 3 << 28;
pub const CLIP: u32 = 4 << 28;

/// INSTPM, whose upper half says which bits a write changes; bit 4 is the global debug enable.
const INSTPM: u32 = 0x20c0;

pub fn write(scene: &Scene, offset: u32, value: u32) {
    scene.rig.platform.device().write32(offset, value);
}

pub fn read(scene: &Scene, offset: u32) -> u32 {
    scene.rig.platform.device().read32(offset)
}

/// Sets or clears the global debug enable.
pub fn debug(scene: &Scene, on: bool) {
    write(scene, INSTPM, 1 << 20 | u32::from(on) << 4);
}

/// What a unit shows under a mux value; its other control bits stay.
pub fn show(scene: &Scene, control: u32, mux: u32, data: u32) -> u32 {
    let old = read(scene, control) & !0xff00;
    write(scene, control, old | mux << 8);
    read(scene, data)
}

pub fn complete(scene: &Scene, control: u32) -> bool {
    read(scene, control) & COMPLETE != 0
}

/// The next frame begins with MI_FLUSH that has Global Snapshot Count Reset (bit 3).
pub fn reset_counters(scene: &mut Scene) {
    scene.commands.insert(0, 0x0200_0008);
}

/// A float target of 64 by 64, into which pixels can put any bits.
pub fn target(scene: &mut Scene) -> Surface {
    scene.surface((sf::R32G32B32A32_FLOAT, 16), (64, 64), Layout::Linear)
}

pub fn bits(target: &Surface, x: u32, y: u32) -> [u32; 4] {
    let bytes = target.pixel(x, y);
    std::array::from_fn(|i| u32::from_le_bytes(bytes[i * 4..i * 4 + 4].try_into().unwrap()))
}

/// Draws `count` cells without VS, GS and CLIP.
pub fn grid(scene: &mut Scene, target: &Surface, count: usize) -> Draw {
    let mut draw = Draw::flat(target.state());
    scene.vertices(&mut draw, &cells(count));
    draw
}

/// What a pixel well inside a cell's triangle shows.
pub fn inside(target: &Surface, cell: usize) -> [u32; 4] {
    let (x, y) = corner(cell);
    bits(target, x + 1, y + 1)
}

/// Which of the first `count` cells are drawn.
pub fn drawn(target: &Surface, count: usize) -> Vec<usize> {
    (0..count)
        .filter(|&n| inside(target, n) != [0; 4])
        .collect()
}

/// Kernel start pointers of VS, GS, CLIP, SF and WM of the frame's last draw.
pub fn kernel_pointers(scene: &Scene) -> [u32; 5] {
    let at = scene.commands.iter().rposition(|&c| c == 0x7800_0005);
    let pointers = &scene.commands[at.unwrap() + 1..];
    std::array::from_fn(|unit| match pointers[unit] {
        0 => 0,
        pointer => scene.state_word(pointer & !31) & !63,
    })
}

/// Debugging off, nothing broken, nothing left.
pub fn finish(scene: Scene, target: Surface) {
    debug(&scene, false);
    // The driver takes a wait that a test made long for a hang.
    drop(scene.rig.device.take_error_state());
    drop(target);
    scene.finish();
}
