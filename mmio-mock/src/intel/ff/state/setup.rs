//! Plain state of a clipper, and of strips and fans, that work without threads.
//!
//! Fields from genxml gen6 (3DSTATE_CLIP, 3DSTATE_SF, CLIP_VIEWPORT, SF_VIEWPORT).

use super::units::{ApiMode, Bounds, ClipMode, CullMode, Viewport};

/// Viewports that vertices can choose among.
pub const VIEWPORTS: usize = 16;
/// Attributes whose source can be chosen.
pub const SWIZZLES: usize = 16;
/// Most attributes of a pixel shader.
pub const ATTRIBUTES: usize = 32;

/// The fixed-function clipper.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ClipperState {
    /// Objects are tested and clipped; otherwise all pass.
    pub enable: bool,
    /// Clip Mode.
    pub mode: ClipMode,
    /// API Mode.
    pub api: ApiMode,
    /// Viewport XY Clip Test Enable.
    pub test_xy: bool,
    /// Viewport Z Clip Test Enable.
    pub test_z: bool,
    /// The guard band of each viewport; without one, objects are clipped at the sides of the viewport.
    pub guardbands: Option<[Bounds; VIEWPORTS]>,
    /// User Clip Distance Clip Test Enable Bitmask.
    pub clip_distances: u8,
    /// User Clip Distance Cull Test Enable Bitmask.
    pub cull_distances: u8,
    /// Positions are on the screen already (Perspective Divide Disable).
    pub divide_disable: bool,
    /// Maximum VP Index: a vertex that chooses a greater one gets viewport 0.
    pub maximum_viewport: u32,
    /// Every object goes to slice 0 of the render target (Force Zero RTA Index Enable).
    pub force_zero_array_index: bool,
    /// Least and greatest width of points.
    pub point_width: (f32, f32),
    /// Objects are counted.
    pub statistics: bool,
}

/// What is drawn of triangles (Fill Mode).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FillMode {
    /// Their area.
    #[default]
    Solid,
    /// Their edges.
    Wireframe,
    /// Their corners.
    Point,
}

/// Where a component comes from that has no source in the vertex (Constant Source).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ConstantSource {
    /// 0, 0, 0, 0.
    #[default]
    Zeros,
    /// 0, 0, 0, 1.
    ZeroZeroZeroOne,
    /// 1, 1, 1, 1.
    Ones,
    /// The number of the primitive.
    PrimitiveId,
}

/// Source of an attribute (SF_OUTPUT_ATTRIBUTE_DETAIL).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AttributeSource {
    /// Attribute of the vertex, behind the read offset.
    pub source: u8,
    /// Back faces take the attribute behind it.
    pub facing: bool,
    /// All components are the fourth one.
    pub replicate_w: bool,
    /// What overridden components become.
    pub constant: ConstantSource,
    /// Overridden components, bit 0 the first.
    pub overrides: u8,
}

/// Which objects the depth offset is added to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OffsetEnables {
    /// Solid triangles.
    pub solid: bool,
    /// Edges of triangles.
    pub wireframe: bool,
    /// Corners of triangles.
    pub point: bool,
}

/// Strips and fans with attribute setup.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SetupState {
    /// The viewport transform of each viewport; without one, positions are in pixels already.
    pub viewports: Option<[Viewport; VIEWPORTS]>,
    /// Cull Mode.
    pub cull: CullMode,
    /// Front faces wind counter-clockwise on the screen, where y points down.
    pub front_counter_clockwise: bool,
    /// What is drawn of front and back faces.
    pub fill: [FillMode; 2],
    /// Which objects the depth offset is added to.
    pub offset: OffsetEnables,
    /// Width of points in pixels; `None`: the vertex header has it.
    pub point_width: Option<f32>,
    /// Width of lines in pixels; 0 asks for one-pixel lines by the diamond rule.
    pub line_width: f32,
    /// Which vertex of a line provokes: 0 or 1.
    pub provoking_line: u32,
    /// Which vertex of a triangle of a list or strip provokes: 0 to 2.
    pub provoking_triangle: u32,
    /// Which vertex of a triangle of a fan provokes: 0 to 2.
    pub provoking_fan: u32,
    /// Number of SF Output Attributes.
    pub attributes: u8,
    /// First 256-bit row of a vertex's entry that has attributes.
    pub read_offset: u16,
    /// Sources of the first attributes; without them, and for those behind, attribute n comes from attribute n.
    pub sources: Option<[AttributeSource; SWIZZLES]>,
    /// The sources are those of the attributes behind the first sixteen.
    pub swizzles_behind: bool,
    /// Attributes that become the coordinates of a point's sprite.
    pub sprites: u32,
    /// The origin of sprites is their lower left corner.
    pub sprite_origin_lower: bool,
    /// Attributes that are those of the provoking vertex all over the object.
    pub constant: u32,
    /// Components of the attributes with sources that go the shorter way round 0 and 1.
    pub wrap_shortest: [u8; SWIZZLES],
    /// Of triangles that are drawn as points, the corners that the clipper made are left out.
    pub original_corners_only: bool,
}

impl SetupState {
    /// The number of an attribute among those that can have sources, or behind them.
    fn place(&self, attribute: u8) -> Option<usize> {
        let first = if self.swizzles_behind { SWIZZLES } else { 0 };
        usize::from(attribute).checked_sub(first)
    }

    /// Components of an attribute that go the shorter way, bit 0 the first.
    pub fn wraps(&self, attribute: u8) -> u8 {
        let place = self.place(attribute);
        let wraps = place.and_then(|place| self.wrap_shortest.get(place));
        wraps.copied().unwrap_or(0)
    }

    /// Where an attribute comes from.
    pub fn source(&self, attribute: u8) -> AttributeSource {
        let chosen = self.sources.as_ref();
        let place = self.place(attribute);
        let chosen = chosen.and_then(|sources| sources.get(place?));
        chosen.copied().unwrap_or(AttributeSource {
            source: attribute,
            ..AttributeSource::default()
        })
    }
}
