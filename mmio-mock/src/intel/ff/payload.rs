//! What the first registers of a thread have to say, in plain values.
//!
//! PRM: volume 4, 3.3.5 to 3.3.9. Which register and bit says it is the matter of a generation's [`PayloadLayout`].

pub mod interpolation;
pub mod pixels;

use std::fmt::Debug;

use eu::Grf;

use super::state::{GeometryState, UnitConfig};
use super::topology::Topology;
use crate::intel::urb::UrbHandle;
use pixels::{Payload, PayloadState, PixelGroup};

/// The planes that vertices of an object lie outside of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outside {
    /// Planes of the view volume: bits 0 to 5 are ZMAX, ZMIN, YMAX, YMIN, XMAX, XMIN.
    pub planes: u32,
    /// User clip planes, a bit each.
    pub user: u32,
}

/// Streamed vertex buffer indices: where the next vertex goes in the buffers that GS kernels write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StreamIndices {
    /// The index of each buffer.
    pub index: [u32; 4],
    /// The first index behind it.
    pub maximum: [u32; 4],
}

/// What a thread of GS or CLIP learns of its object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectHeader {
    /// Topology of the object.
    pub topology: Topology,
    /// For the clipper: the first and last edge of this triangle are edges of its polygon.
    pub edges: [bool; 2],
    /// For the clipper: what the object has to be clipped at.
    pub outside: Outside,
    /// Number of the object in its draw.
    pub number: u32,
    /// Indices of streamed vertex buffers, where the thread has registers for them.
    pub stream: Option<StreamIndices>,
}

/// Most vertices of a patch that HS gets.
pub const PATCH_POINTS: usize = 32;
/// Registers before the constants of an HS thread: r0 and the handles of its vertices, eight a register.
pub const PATCH_REGISTERS: usize = 1 + PATCH_POINTS / 8;

/// What a thread of HS learns of its patch.
#[derive(Clone, Copy, Debug)]
pub struct PatchHeader<'a> {
    /// Entry for the patch.
    pub entry: UrbHandle,
    /// Number of the patch in its instance.
    pub number: u32,
    /// Number of the thread among those of the patch.
    pub instance: u8,
    /// Barrier at which they wait for one another.
    pub barrier: u8,
    /// Entries of its vertices, where the threads get them.
    pub vertices: &'a [UrbHandle],
}

/// What a thread of DS learns of its one or two points.
#[derive(Clone, Copy, Debug)]
pub struct DomainHeader {
    /// Entries for the vertices.
    pub entries: [UrbHandle; 2],
    /// The points. Of a thread with a single point only the first counts.
    pub points: [tess::Point; 2],
    /// How many they are.
    pub count: usize,
    /// Entry of the patch.
    pub patch: UrbHandle,
    /// Number of the patch in its instance.
    pub number: u32,
    /// The third coordinate is 1 - u - v, and else 0.
    pub third: bool,
}

/// Most vertices of an object of a geometry shader: those of a patch.
pub const PATCH_VERTICES: usize = 32;

/// What a thread of a geometry shader learns of one object, or of one instance of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GeometryPart<'a> {
    /// Entry for its vertices.
    pub entry: UrbHandle,
    /// Number of the instance.
    pub instance: u8,
    /// Number of the object in its draw.
    pub number: u32,
    /// Its vertices.
    pub vertices: &'a [UrbHandle],
}

/// What a thread of a geometry shader learns whose vertices all go into one entry.
#[derive(Clone, Copy, Debug)]
pub struct GeometryHeader<'a> {
    /// State of the unit.
    pub state: &'a GeometryState,
    /// Code of the object's topology.
    pub topology: u8,
    /// What the lower half of the channels works on.
    pub first: GeometryPart<'a>,
    /// What the upper half works on.
    pub second: Option<GeometryPart<'a>>,
}

/// Registers in front of the constants of such a thread: r0, numbers of objects, and at most 64 handles.
pub const GEOMETRY_REGISTERS: usize = 10;

/// What r1 of a setup thread carries besides topology and provoking vertex: differences of the vertices' positions.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Deltas {
    /// Determinant of the two edges; squared length of a line.
    pub det: f32,
    /// x of the second vertex less x of the first; width of a point.
    pub dx0: f32,
    /// x of the third vertex less x of the first.
    pub dx2: f32,
    /// y of the second vertex less y of the first.
    pub dy0: f32,
    /// y of the third vertex less y of the first.
    pub dy2: f32,
}

/// What a setup thread learns of its object.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SetupHeader {
    /// Topology of the object.
    pub topology: Topology,
    /// Points are sprites.
    pub sprite_points: bool,
    /// Which of the vertices, in the thread's order, provokes.
    pub provoking: u32,
    /// Differences of positions.
    pub deltas: Deltas,
    /// z and 1/w of each vertex.
    pub depths: [(f32, f32); 3],
}

/// Lays out the registers from r0 on. `debug` are the debug dwords of r0: number of the thread, snapshot flag.
pub trait PayloadLayout: Debug + Sync {
    /// r0 of a VS thread for one or two vertices.
    fn vertices(
        &self,
        unit: &UnitConfig,
        first: UrbHandle,
        second: Option<UrbHandle>,
        debug: [u32; 2],
    ) -> Grf;

    /// r0 of a GS or CLIP thread whose first output entry is `entry`.
    fn object(
        &self,
        unit: &UnitConfig,
        entry: UrbHandle,
        object: &ObjectHeader,
        debug: [u32; 2],
    ) -> Grf;

    /// r1 of such a thread, where it is no vertex data: the streamed vertex buffer indices and their limits.
    fn stream(&self, _indices: &StreamIndices) -> Option<Grf> {
        None
    }

    /// The registers of an HS thread before its constants, where the generation has such threads. Comes back with how many
    /// they are.
    fn patch(
        &self,
        _registers: &mut [Grf; PATCH_REGISTERS],
        _unit: &UnitConfig,
        _header: &PatchHeader<'_>,
        _debug: [u32; 2],
    ) -> usize {
        1
    }

    /// The registers of a geometry shader's thread before its constants, where the generation has such threads. Comes back with how
    /// many they are.
    fn geometry(
        &self,
        _registers: &mut [Grf; GEOMETRY_REGISTERS],
        _header: &GeometryHeader<'_>,
        _debug: [u32; 2],
    ) -> usize {
        1
    }

    /// r0 and r1 of a DS thread, where the generation has such threads.
    fn domain(&self, _unit: &UnitConfig, _header: &DomainHeader, _debug: [u32; 2]) -> [Grf; 2] {
        [Grf::default(); 2]
    }

    /// r0 to r2 of a setup thread whose result goes to `entry`.
    fn setup(
        &self,
        unit: &UnitConfig,
        entry: UrbHandle,
        setup: &SetupHeader,
        debug: [u32; 2],
    ) -> [Grf; 3];

    /// The registers of a PS thread for `group`, before constants and setup data.
    fn pixels(&self, payload: &mut Payload<'_>, state: &PayloadState<'_>, group: &PixelGroup);

    /// The same for a thread of sixteen lit pixels of one sample each, by the upper left pixels of its subspans. Comes back with how many
    /// registers these are.
    fn whole(
        &self,
        registers: &mut [Grf],
        state: &PayloadState<'_>,
        origins: &[(u16, u16); 4],
    ) -> usize {
        let mut payload = Payload::into(registers);
        self.pixels(&mut payload, state, &PixelGroup::whole(origins));
        payload.count()
    }
}
