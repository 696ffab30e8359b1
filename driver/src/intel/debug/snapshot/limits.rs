//! What the units let through: fewer primitives, vertices and pixels.
//!
//! PRM vol4 3.3.4, 3.3.8; and the base addresses of the debugged context, 3.3.3. Not modelled: anything else that the
//! control registers hold.
use kernel::tock_registers::interfaces::{ReadWriteable, Readable, Writeable};

use crate::intel::registers::fields::{
    SF_CLIP_RMAX as ClipMax, SF_CLIP_RMIN as ClipMin, SF_CTL as SfCtl, SVG_CTL as SvgCtl,
    VF_CTL as VfCtl,
};
use crate::intel::registers::reg::{
    SF_CLIP_RMAX, SF_CLIP_RMIN, SF_CTL, SF_MAX_PR_IND, SF_MIN_PR_IND, SVG_CTL, SVG_RDATA, VF_CTL,
    VF_MAX_PRIM, VF_STR_PSKIP, VF_STR_VL_OVR, VF_VC_OVR,
};
use crate::intel::uncore::Uncore;

/// Bits of VF_CTL and SF_CTL that belong here.
pub(super) const VF_KEPT: u32 = VfCtl::SKIP_INITIAL_PRIMITIVES::SET.value
    | VfCtl::MAX_PRIMITIVES_LIMIT_ENABLE::SET.value
    | VfCtl::VERTEX_RANGE_LIMIT_ENABLE::SET.value;
/// See [`VF_KEPT`].
pub(super) const SF_KEPT: u32 = SfCtl::CULL_ALL::SET.value
    | SfCtl::MIN_MAX_PRIMITIVE_RANGE_ENABLE::SET.value
    | SfCtl::DEBUG_CLIP_RECTANGLE_ENABLE::SET.value;

/// Pixels from a first to a last column and row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rectangle {
    /// First column and row.
    pub min: (u16, u16),
    /// Last column and row.
    pub max: (u16, u16),
}

/// What is drawn; nothing set draws everything.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Limits {
    /// 3DPRIMITIVEs that are dropped at the beginning.
    pub skip: Option<u32>,
    /// 3DPRIMITIVEs after which all are dropped, those skipped included.
    pub most: Option<u32>,
    /// First vertex and number of vertices of every 3DPRIMITIVE instead of its own.
    pub vertices: Option<(u32, u32)>,
    /// First and last primitive by the numbers of SF.
    pub primitives: Option<(u32, u32)>,
    /// Pixels instead of those of the drawing rectangle.
    pub clip: Option<Rectangle>,
    /// SF drops everything.
    pub cull: bool,
}

/// Sets the limits: values first, then what enables them.
pub fn set(uncore: &Uncore, limits: &Limits) {
    if let Some(skip) = limits.skip {
        uncore.write(VF_STR_PSKIP, skip & 0x00ff_ffff);
    }
    if let Some(most) = limits.most {
        uncore.write(VF_MAX_PRIM, most & 0x00ff_ffff);
    }
    if let Some((first, count)) = limits.vertices {
        uncore.write(VF_STR_VL_OVR, first);
        uncore.write(VF_VC_OVR, count);
    }
    uncore.reg(VF_CTL).modify(
        VfCtl::SKIP_INITIAL_PRIMITIVES.val(limits.skip.is_some().into())
            + VfCtl::MAX_PRIMITIVES_LIMIT_ENABLE.val(limits.most.is_some().into())
            + VfCtl::VERTEX_RANGE_LIMIT_ENABLE.val(limits.vertices.is_some().into()),
    );
    if let Some((first, last)) = limits.primitives {
        uncore.write(SF_MIN_PR_IND, first & 0x0fff_ffff);
        uncore.write(SF_MAX_PR_IND, last & 0x0fff_ffff);
    }
    if let Some(clip) = limits.clip {
        let (min, max) = (clip.min, clip.max);
        uncore.reg(SF_CLIP_RMIN).write(
            ClipMin::DEBUG_CLIP_RECTANGLE_MINIMUM_X.val(min.0.into())
                + ClipMin::DEBUG_CLIP_RECTANGLE_MINIMUM_Y.val(min.1.into()),
        );
        uncore.reg(SF_CLIP_RMAX).write(
            ClipMax::DEBUG_CLIP_RECTANGLE_MAXIMUM_X.val(max.0.into())
                + ClipMax::DEBUG_CLIP_RECTANGLE_MAXIMUM_Y.val(max.1.into()),
        );
    }
    uncore.reg(SF_CTL).modify(
        SfCtl::CULL_ALL.val(limits.cull.into())
            + SfCtl::MIN_MAX_PRIMITIVE_RANGE_ENABLE.val(limits.primitives.is_some().into())
            + SfCtl::DEBUG_CLIP_RECTANGLE_ENABLE.val(limits.clip.is_some().into()),
    );
}

/// State of the context that is debugged, as of its last change while the global debug enable was on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ContextBases {
    /// General State Base Address.
    pub general_state: u32,
    /// Surface State Base Address.
    pub surface_state: u32,
    /// Indirect Object Base Address.
    pub indirect_object: u32,
    /// General State Access Upper Bound.
    pub general_state_bound: u32,
    /// Indirect Object Access Upper Bound.
    pub indirect_object_bound: u32,
    /// System Instruction Pointer.
    pub system_routine: u32,
}

/// Reads the state of the debugged context.
pub fn bases(uncore: &Uncore) -> ContextBases {
    let before = uncore.reg(SVG_CTL).get();
    let read = |mux: u32| {
        uncore
            .reg(SVG_CTL)
            .write(SvgCtl::DEBUG_OUTPUT_MUX_SELECT.val(mux));
        uncore.read(SVG_RDATA)
    };
    let out = ContextBases {
        general_state: read(0),
        surface_state: read(1),
        indirect_object: read(2),
        general_state_bound: read(3),
        indirect_object_bound: read(4),
        system_routine: read(5),
    };
    uncore.reg(SVG_CTL).set(before);
    out
}
