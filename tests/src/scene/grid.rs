//! Frames of small triangles in a grid: one that is missing can be told.
//!
//! PRM: volume 2, primitive topologies; volume 4, 3.3. Kernels of GS and CLIP pass triangles on and put r0.4 to r0.7 into
//! their colour. Not covered: triangles that need clipping.

use regs::gen40::values::surface_format;

use super::draw::{Draw, component, element, vertex_buffer};
use super::surface::Surface;
use super::{Scene, kernels};

/// Pixels of a side of a cell.
pub const CELL: u32 = 8;
/// Cells in a row.
pub const ROW: usize = 8;

/// Upper left pixel of a cell.
#[must_use]
pub fn corner(cell: usize) -> (u32, u32) {
    let (column, row) = (cell % ROW, cell / ROW);
    (column as u32 * CELL, row as u32 * CELL)
}

/// A triangle over the upper left half of a cell, going round clockwise; its colour is the number of the cell plus
/// one.
#[must_use]
pub fn cell(number: usize) -> [[f32; 8]; 3] {
    let (x, y) = corner(number);
    let (x, y, c) = (x as f32, y as f32, number as f32 + 1.0);
    let side = CELL as f32;
    [[0.0, 0.0], [side, 0.0], [0.0, side]].map(|[dx, dy]| [x + dx, y + dy, 0.5, 1.0, c, c, c, c])
}

/// The triangles of cells 0 to `count` - 1 as one list.
#[must_use]
pub fn cells(count: usize) -> Vec<[f32; 8]> {
    (0..count).flat_map(cell).collect()
}

/// A VS that passes position and colour on.
pub fn with_vs(draw: &mut Draw) {
    let f4 = surface_format::R32G32B32A32_FLOAT;
    draw.elements = vec![
        element(0, 0, f4, 0, [component::SRC; 4]),
        element(0, 16, f4, 4, [component::SRC; 4]),
    ];
    draw.vs_kernel = Some(kernels::vs_const());
    draw.constants = vec![1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0];
    draw.vs
        .set_dispatch_grf_start_register_for_urb_data(1)
        .set_vertex_urb_entry_read_length(1)
        .set_constant_urb_entry_read_length(1);
}

/// Points at (i + 1/2, 1/2) out of a VS whose first vertex shows r0.0 to r0.3 and whose second shows r0.4 to r0.7; `count`
/// vertices are there, and none is drawn yet.
pub fn header_points(scene: &mut Scene, target: &Surface, count: u32) -> Draw {
    let mut draw = Draw::flat(target.state());
    draw.sf_kernel = kernels::sf_point();
    draw.vs_kernel = Some(kernels::vs_header());
    draw.vs
        .set_dispatch_grf_start_register_for_urb_data(2)
        .set_vertex_urb_entry_read_length(1);
    let data: Vec<f32> = (0..count)
        .flat_map(|i| [i as f32 + 0.5, 0.5, 0.0, 1.0])
        .collect();
    let at = scene.floats(&data);
    draw.vertex_buffers = vec![vertex_buffer(0, at, 16)];
    let f4 = surface_format::R32G32B32A32_FLOAT;
    draw.elements = vec![element(0, 0, f4, 0, [component::SRC; 4])];
    draw.topology(1, 0);
    draw
}

/// The passing GS kernel.
pub fn with_gs(draw: &mut Draw) {
    draw.gs_kernel = Some(kernels::pass_debug_tri());
}

/// The passing kernel in the clipper, which tests against 64 by 64 pixels in screen coordinates.
pub fn with_clipper(draw: &mut Draw) {
    draw.clip_enable = true;
    draw.clip_kernel = kernels::pass_debug_tri();
    draw.clip
        .set_vertex_position_space(1)
        .set_viewport_z_cliptest_enable(false)
        .set_screen_space_viewport_x_min(0.0)
        .set_screen_space_viewport_x_max(64.0)
        .set_screen_space_viewport_y_min(0.0)
        .set_screen_space_viewport_y_max(64.0);
}
