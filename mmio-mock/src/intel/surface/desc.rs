//! Surfaces and depth buffers as state describes them, no rule checked yet.
//!
//! PRM: volume 4 4.7.2 (SURFACE_STATE), volume 2 (3DSTATE_DEPTH_BUFFER).

use mem::{GpuAddr, Tiling};

use super::hierarchical::HierDesc;
use super::mip::Align;
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
    /// Samples of a pixel: 1, 4 or 8.
    pub samples: u32,
    /// Samples lie in slices of their own, those of an array's element one after another, rather than interleaved.
    pub sample_slices: bool,
    /// What sizes of levels of plain formats are multiples of, and how far elements of an array lie apart.
    pub align: Align,
    /// Elements of an array of cubes have six slices each. `depth` counts cubes.
    pub cube_array: bool,
    /// The surface is an array, be it of one element.
    pub array: bool,
    /// Entries of a buffer are structures, which messages take apart.
    pub structured: bool,
    /// Render targets of sixteen bytes an element may be in Y tiles.
    pub wide_y_tiles: bool,
    /// A control surface says which samples are alike, or which blocks are cleared.
    pub control: Option<ControlDesc>,
    /// What is cleared is one rather than zero: red, green, blue, alpha.
    pub clear: [bool; 4],
    /// The least LOD that the resource has, counted from its first level.
    pub resource_min_lod: f32,
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
    /// Samples of a pixel, which lie interleaved: 1, 4 or 8.
    pub samples: u32,
    /// What sizes of levels are multiples of, and how far elements of an array lie apart.
    pub align: Align,
    /// Depth may be written.
    pub depth_write: bool,
    /// Stencil may be written.
    pub stencil_write: bool,
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
    /// The buffer has all levels, with sizes that are multiples of this. `None`: the address is that of the level, and slices
    /// have room for level 0 alone.
    pub levels: Option<Align>,
}

/// The control surface beside a surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ControlDesc {
    /// Address of the first byte.
    pub base: GpuAddr,
    /// Bytes from row to row of tiles of 128 bytes.
    pub pitch: u32,
}
