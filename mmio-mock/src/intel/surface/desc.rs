//! Surfaces and depth buffers as state describes them, no rule checked yet.
//!
//! PRM: volume 4 4.7.2 (SURFACE_STATE), volume 2 (3DSTATE_DEPTH_BUFFER).

use mem::{GpuAddr, Tiling};

use super::hierarchical::HierDesc;
use super::{DepthFormat, Format, SurfaceKind};

/// A SURFACE_STATE, whatever the layout of its words.
#[derive(Clone, Copy, Debug)]
pub struct SurfaceDesc {
    /// Type; a reserved code is the error.
    pub kind: Result<SurfaceKind, u32>,
    /// Format, when the code names one.
    pub format: Option<&'static Format>,
    /// The format's code.
    pub format_code: u32,
    /// Address of the first byte.
    pub base: GpuAddr,
    /// Texels and rows from there to the surface's first texel.
    pub offset: (u32, u32),
    /// Texels of a row of level 0.
    pub width: u32,
    /// Rows of level 0.
    pub height: u32,
    /// Slices of a volume, or elements of an array.
    pub depth: u32,
    /// Entries, when the surface is a buffer.
    pub entries: u32,
    /// What stands in the field Depth, and the most that a surface of this type may have there.
    pub depth_field: (u32, u32),
    /// Bytes from row to row, or from entry to entry of a buffer.
    pub pitch: u32,
    /// Tiling.
    pub tiling: Tiling,
    /// Levels of a 2D surface lie to the right of one another rather than below.
    pub levels_right: bool,
    /// Faces of a cube lie like the slices of a 2D array rather than those of a volume.
    pub faces_as_slices: bool,
    /// The last level for the sampler, and the level that is rendered to: the field means both.
    pub lod: u32,
    /// Added to the level of sample_l, ld and resinfo.
    pub min_lod: u32,
    /// Added to array indices; the first slice of a rendered volume.
    pub min_array_element: u32,
    /// Slices of a volume that can be rendered to.
    pub view_extent: u32,
    /// Faces of a cube that exist: bit 0 +Z, 1 -Z, 2 +Y, 3 -Y, 4 +X, 5 -X.
    pub cube_faces: u32,
    /// The surface is one field of a frame: every second line counts.
    pub line_stride: bool,
    /// The field begins at the second line.
    pub line_offset: bool,
    /// Blending is allowed for this target.
    pub blend_enable: bool,
    /// Channels that are written: bit 0 red .. bit 3 alpha.
    pub write_channels: u32,
    /// The sampler returns S1.14 rather than FLOAT32.
    pub return_s1_14: bool,
    /// A write miss of the render cache allocates a read-write line.
    pub render_cache_read_write: bool,
    /// How media blocks see rows outside of the surface.
    pub boundary: Boundary,
    /// Samples of a pixel: 1, or 4 that lie interleaved.
    pub samples: u32,
    /// Rows that the height of a level of a plain format is a multiple of.
    pub align_rows: u32,
    /// Elements of an array of cubes have six slices each. `depth` counts cubes.
    pub cube_array: bool,
}

/// Media Boundary Pixel Mode (PRM vol4 5.6.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Boundary {
    /// The next row inside, in the addressing of the message.
    #[default]
    Normal,
    /// The next row of the frame.
    Progressive,
    /// The next row of the same field.
    Interlaced,
}

/// A 3DSTATE_DEPTH_BUFFER, whatever the layout of its words.
#[derive(Clone, Copy, Debug)]
pub struct DepthDesc {
    /// Type; a reserved code is the error.
    pub kind: Result<SurfaceKind, u32>,
    /// Format; a reserved code is the error.
    pub format: Result<DepthFormat, u32>,
    /// Address of the first byte.
    pub base: GpuAddr,
    /// Added to coordinates x and y.
    pub offset: (i32, i32),
    /// Pixels of a row of level 0.
    pub width: u32,
    /// Rows of level 0.
    pub height: u32,
    /// Slices of a volume, or elements of an array.
    pub depth: u32,
    /// Bytes from row to row.
    pub pitch: u32,
    /// Tiling.
    pub tiling: Tiling,
    /// Levels lie to the right of one another rather than below.
    pub levels_right: bool,
    /// Faces of a cube lie like the slices of a 2D array rather than those of a volume.
    pub faces_as_slices: bool,
    /// Level that is rendered to.
    pub lod: u32,
    /// First slice.
    pub min_array_element: u32,
    /// Slices of a volume that can be rendered to.
    pub view_extent: u32,
    /// The drawing rectangle's origin is not added to coordinates.
    pub coordinate_offset_disable: bool,
    /// Samples of a pixel: 1, or 4 that lie interleaved.
    pub samples: u32,
    /// Rows that the height of a level is a multiple of.
    pub align_rows: u32,
    /// Stencil has a buffer of its own.
    pub stencil: Option<StencilDesc>,
    /// There is a hierarchical depth buffer.
    pub hierarchical: Option<HierDesc>,
}

/// A 3DSTATE_STENCIL_BUFFER: stencil in W tiles beside the depth buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StencilDesc {
    /// Address of the first byte.
    pub base: GpuAddr,
    /// Twice the bytes from row to row.
    pub pitch: u32,
}
