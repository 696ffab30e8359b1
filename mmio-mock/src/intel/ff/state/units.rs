//! Plain state of VS, GS, CLIP and SF for one 3DPRIMITIVE.
//!
//! PRM: volume 2 (VS_STATE, GS_STATE, CLIP_STATE, SF_STATE and their viewports); codes from genxml gen4.

use crate::intel::ff::state::{
    ClipperState, Curbe, DsState, GeometryState, HsState, SetupState, TeState,
};
use crate::intel::shared::context::ThreadContext;
use crate::intel::status::Busy;
use crate::intel::td::{ConstantSource, KernelState, Pushed, UrbRead};

/// What all units that start threads have in common.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct UnitConfig {
    /// Kernel.
    pub kernel: KernelState,
    /// Context of its threads in the shared functions: bases, binding table, samplers, scratch space.
    pub context: ThreadContext,
    /// First row of an input entry that threads get, in 256-bit rows.
    pub read_offset: u16,
    /// Rows of an input entry that threads get.
    pub read_rows: u16,
    /// First row of the constants that threads get.
    pub constant_offset: u16,
    /// Rows of constants that threads get.
    pub constant_rows: u16,
    /// Constants that are pushed from memory, where a generation has no entry of the URB for them.
    pub pushed: Option<Pushed>,
    /// Entries of the unit's section of the URB.
    pub urb_entries: u16,
    /// Rows of one of them.
    pub urb_entry_rows: u16,
    /// Scratch space of a thread: 1 KB times two to this power.
    pub scratch_power: u32,
    /// The unit counts its work in the statistics registers.
    pub statistics: bool,
    /// Threads of GS and CLIP start without an entry for their first output, and ask for it (FF_SYNC).
    pub entry_on_request: bool,
}

impl UnitConfig {
    /// The constants to preload, if the unit reads any.
    pub fn constants(&self, curbe: Option<Curbe>) -> Option<ConstantSource> {
        if let Some(pushed) = self.pushed {
            return Some(ConstantSource::Memory(pushed));
        }
        if self.constant_rows == 0 {
            return None;
        }
        let curbe = curbe.unwrap_or_default();
        Some(ConstantSource::Entry(UrbRead {
            handle: curbe.handle,
            offset: self.constant_offset,
            rows: self.constant_rows,
        }))
    }
}

/// Vertex shader.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct VsState {
    /// Threads and URB.
    pub unit: UnitConfig,
    /// Vertices are shaded; otherwise they pass.
    pub enable: bool,
    /// Every vertex is fetched and shaded anew.
    pub vertex_cache_disable: bool,
    /// Vertices that pass are counted as invocations, too.
    pub counts_passing: bool,
}

/// Geometry shader.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GsState {
    /// Threads and URB.
    pub unit: UnitConfig,
    /// Adjacent vertices of objects are dropped before the thread.
    pub discard_adjacency: bool,
    /// Objects of what threads put out are counted.
    pub output_statistics: bool,
    /// What threads put out ends here.
    pub no_rendering: bool,
    /// Channels that threads start with: four where they have one object and nothing beside it.
    pub channels: u16,
    /// Quadrilaterals are polygons ahead of the unit and loops are strips, and threads learn which edges are a polygon's.
    pub converts: bool,
    /// The odd triangles of strips go round as the even ones do, from the same vertex as in the stream.
    pub reorders_strips: bool,
    /// The odd triangles of strips with adjacency begin with the vertex that comes first in the stream.
    pub leading_adjacency: bool,
    /// Streamed vertex buffers, where the unit counts their indices.
    pub stream: Option<StreamState>,
}

/// Streamed vertex buffers, which GS kernels write (3DSTATE_GS).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StreamState {
    /// Threads find the indices in r1.
    pub payload: bool,
    /// What is added to the indices with each object, when it fits: its vertices.
    pub increment: Option<u32>,
    /// Primitives that are written, and those that there is room needed for, are counted.
    pub statistics: bool,
}

/// What the clipper does with objects (CLIP_STATE, Clip Mode).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClipMode {
    /// Threads for what crosses a plane that has to be clipped at.
    #[default]
    Normal,
    /// Threads for all objects that the test does not reject: the manual's CLIP_ALL and CLIP_NON_REJECTED.
    ClipNonRejected,
    /// Nothing passes.
    RejectAll,
    /// Everything passes.
    AcceptAll,
}

/// Which coordinates vertices have in the clipper (CLIP_STATE, Vertex Position Space).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PositionSpace {
    /// Divided by w.
    #[default]
    Ndc,
    /// Pixels.
    Screen,
}

/// Where the near plane lies (CLIP_STATE, API Mode).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ApiMode {
    /// At -1.
    #[default]
    OpenGl,
    /// At 0.
    Direct3d,
}

/// A rectangle of the clipper, in the coordinates of its vertices.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bounds {
    /// Left and right side.
    pub x: (f32, f32),
    /// Lower and upper bound of y.
    pub y: (f32, f32),
}

/// Clipper.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ClipState {
    /// Threads and URB.
    pub unit: UnitConfig,
    /// Clip Mode.
    pub mode: ClipMode,
    /// Vertex Position Space.
    pub space: PositionSpace,
    /// API Mode.
    pub api: ApiMode,
    /// Vertices are tested against the left, right, upper and lower side of the viewport.
    pub test_xy: bool,
    /// Vertices are tested against the near and far plane.
    pub test_z: bool,
    /// The guard band; without one, objects are clipped at the viewport.
    pub guardband: Option<Bounds>,
    /// User clip distances of the vertex header that are tested, a bit each.
    pub user_planes: u32,
    /// Objects that cross a user plane are clipped.
    pub user_must_clip: bool,
    /// The viewport of [`PositionSpace::Screen`].
    pub screen: Bounds,
}

/// Which triangles are dropped (SF_STATE, Cull Mode).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CullMode {
    /// All.
    Both,
    /// None.
    #[default]
    Neither,
    /// Those whose front is seen.
    Front,
    /// Those whose back is seen.
    Back,
}

/// Scale and offset of the viewport transform (SF_VIEWPORT).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Viewport {
    /// Factors of x, y and z.
    pub scale: [f32; 3],
    /// What is added to x, y and z.
    pub offset: [f32; 3],
}

/// Strips and fans, without what only the windower asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SfState {
    /// Threads and URB.
    pub unit: UnitConfig,
    /// The viewport transform; without one, positions are in pixels already.
    pub viewport: Option<Viewport>,
    /// Cull Mode.
    pub cull: CullMode,
    /// Front faces wind counter-clockwise on the screen, where y points down.
    pub front_counter_clockwise: bool,
    /// Points are sprites: setup kernels replace their texture coordinates.
    pub sprite_points: bool,
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
}

/// The state of VS, GS, CLIP and SF for one 3DPRIMITIVE.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DrawState {
    /// Vertex shader.
    pub vs: VsState,
    /// Hull shader, when enabled.
    pub hs: Option<HsState>,
    /// Tessellation engine, when enabled.
    pub te: Option<TeState>,
    /// Domain shader, when enabled.
    pub ds: Option<DsState>,
    /// Geometry shader, when enabled.
    pub gs: Option<GsState>,
    /// Geometry shader of generations in which its threads write all vertices into one entry, when enabled.
    pub geometry: Option<GeometryState>,
    /// Clipper, when enabled.
    pub clip: Option<ClipState>,
    /// Strips and fans.
    pub sf: SfState,
    /// The clipper of generations in which it has no threads.
    pub clipper: ClipperState,
    /// Strips and fans of generations in which they have no threads.
    pub setup: SetupState,
    /// Vertices and objects of the draw are counted (3DSTATE_VF_STATISTICS).
    pub vf_statistics: bool,
    /// The stream output logic has a part in the draw: it writes, or not all vertices go on as they are.
    pub streams: bool,
}

impl DrawState {
    /// The stage that assembles objects first, and so counts them.
    fn assembles(&self) -> Busy {
        if self.hs.is_some() {
            Busy::Hs
        } else if self.gs.is_some() || self.geometry.is_some() {
            Busy::Gs
        } else if self.streams {
            Busy::Sol
        } else {
            Busy::Clip
        }
    }

    /// Whether a stage counts the objects of the draw (`IA_PRIMITIVES_COUNT`).
    pub fn counted_by(&self, part: Busy) -> bool {
        self.vf_statistics && self.assembles() == part
    }
}
