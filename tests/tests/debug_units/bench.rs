//! Registers by the manual's offsets, and frames of triangles in a grid.
//!
//! PRM: volume 4, 3.3. Not covered: what the registers do.

use crestline_tests::scene::Scene;
use crestline_tests::scene::draw::Draw;
pub use crestline_tests::scene::grid::{cell, cells, corner, with_clipper, with_gs, with_vs};
pub use crestline_tests::scene::registers::{debug, finish, read, show, write};
use crestline_tests::scene::surface::Surface;

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

pub fn complete(scene: &Scene, control: u32) -> bool {
    read(scene, control) & COMPLETE != 0
}

/// The next frame begins with MI_FLUSH that has Global Snapshot Count Reset (bit 3).
pub fn reset_counters(scene: &mut Scene) {
    scene.commands.insert(0, 0x0200_0008);
}

/// A target of 64 by 64, into which pixels can put any bits.
pub fn target(scene: &mut Scene) -> Surface {
    scene.float_target((64, 64))
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
    target.bits(x + 1, y + 1)
}

/// Under a value of a unit's control register threads have these flags in r0, and the snapshot completes or not; with
/// the global debug enable off nothing is flagged, and nothing counted. `headers` draws, and has r0.6 and r0.7.
pub fn flagged(
    scene: &mut Scene,
    (register, control): (u32, u32),
    (flags, completes): ([u32; 4], bool),
    headers: impl Fn(&mut Scene) -> Vec<[u32; 2]>,
) {
    debug(scene, true);
    write(scene, register, control);
    let found = headers(scene);
    let expected: Vec<[u32; 2]> = (0..).zip(flags).map(|(id, flag)| [id, flag]).collect();
    assert_eq!(found, expected, "{control:#b}");
    assert_eq!(complete(scene, register), completes, "{control:#b}");
    debug(scene, false);
    write(scene, register, control);
    assert_eq!(headers(scene), [[0; 2]; 4], "{control:#b}");
    assert!(!complete(scene, register));
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
