//! The snapshot registers of the units, as the walk uses them.
//!
//! PRM vol4 3.2: control, trigger value and data register each; the trigger is written before the control arms it.
//! Not modelled: units of the media pipeline.
use kernel::error;
use kernel::tock_registers::interfaces::{ReadWriteable, Readable, Writeable};

use super::{Probe, Tag, Unit};
use crate::device::Device;
use crate::r#gen::registers::fields::{
    CL_CTL as ClCtl, GS_CTL as GsCtl, INSTPM as InstPm, SF_CTL as SfCtl, SVG_CTL as SvgCtl,
    VF_CTL as VfCtl, VS_CTL as VsCtl, WIZ_CTL as WizCtl, WIZ_STRG_VAL as WizTrigger,
};
use crate::r#gen::registers::reg::{
    CL_CTL, CL_RDATA, CL_STRG_VAL, GS_CTL, GS_RDATA, GS_STRG_VAL, INSTPM, SF_CTL, SF_MAX_PR_IND,
    SF_MIN_PR_IND, SF_RDATA, SF_STRG_VAL, SVG_CTL, SVG_RDATA, VF_CTL, VF_MAX_PRIM, VF_RDATA,
    VF_STRG_VAL, VS_CTL, VS_RDATA, VS_STRG_VAL, WIZ_CTL, WIZ_RDATA, WIZ_STRG_VAL,
};
use crate::uncore::Uncore;

/// Most outputs of a unit: GS has 14.
pub(super) const OUTPUTS: usize = 14;
/// What a unit has trapped, by mux value.
pub(super) type Outputs = [u32; OUTPUTS];

/// Lets the counters count and the snapshots act.
pub(super) fn enable(device: &Device) {
    device
        .uncore()
        .reg(INSTPM)
        .write_masked(InstPm::GLOBAL_DEBUG_ENABLE::SET);
}

/// Switches everything off that the walk switches on.
pub(super) fn disable(device: &Device) {
    let uncore = device.uncore();
    for clear in [
        |uncore: &Uncore| uncore.write(VF_CTL, 0),
        |uncore: &Uncore| uncore.write(VS_CTL, 0),
        |uncore: &Uncore| uncore.write(GS_CTL, 0),
        |uncore: &Uncore| uncore.write(CL_CTL, 0),
        |uncore: &Uncore| uncore.write(SF_CTL, 0),
        |uncore: &Uncore| uncore.write(WIZ_CTL, 0),
    ] {
        clear(uncore);
    }
    uncore
        .reg(INSTPM)
        .write_masked(InstPm::GLOBAL_DEBUG_ENABLE::CLEAR);
}

macro_rules! trapped {
    ($uncore:expr, $ctl:ident, $data:ident, $fields:ident, $outputs:expr) => {{
        let control = $uncore.reg($ctl);
        control.is_set($fields::SNAPSHOT_COMPLETE).then(|| {
            let mut outputs = [0; OUTPUTS];
            for (mux, output) in (0..$outputs).zip(&mut outputs) {
                control.modify($fields::SNAPSHOT_OUTPUT_MUX_SELECT.val(mux));
                *output = $uncore.read($data);
            }
            outputs
        })
    }};
}

/// Arms VF for a vertex sequence number; with a limit, VF drops all 3DPRIMITIVEs behind so many.
pub(super) fn arm_vf(device: &Device, sequence: u32, limit: Option<u32>) {
    let uncore = device.uncore();
    uncore.write(VF_STRG_VAL, sequence);
    let mut control = VfCtl::SNAPSHOT_TYPE::CLEAR + VfCtl::SNAPSHOT_ENABLE::SET;
    if let Some(limit) = limit {
        uncore.write(VF_MAX_PRIM, limit);
        control += VfCtl::MAX_PRIMITIVES_LIMIT_ENABLE::SET;
    }
    uncore.reg(VF_CTL).write(control);
}

/// Id of the vertex shader thread of the vertex.
pub(super) fn read_vf(device: &Device) -> Option<u32> {
    let uncore = device.uncore();
    trapped!(uncore, VF_CTL, VF_RDATA, VfCtl, 1).map(|outputs| outputs[0])
}

/// Arms VS, GS or clipper for a thread.
pub(super) fn arm_thread(device: &Device, unit: Unit, id: u32) {
    let uncore = device.uncore();
    match unit {
        Unit::Vf => {}
        Unit::Vs => {
            uncore.write(VS_STRG_VAL, id);
            uncore.reg(VS_CTL).write(VsCtl::SNAPSHOT_ENABLE::SET);
        }
        Unit::Gs => {
            uncore.write(GS_STRG_VAL, id);
            uncore.reg(GS_CTL).write(GsCtl::SNAPSHOT_ENABLE::SET);
        }
        Unit::Clip => {
            uncore.write(CL_STRG_VAL, id);
            uncore.reg(CL_CTL).write(ClCtl::SNAPSHOT_ENABLE::SET);
        }
    }
}

/// What VS, GS or clipper have trapped.
pub(super) fn read_thread(device: &Device, unit: Unit) -> Option<Outputs> {
    let uncore = device.uncore();
    match unit {
        Unit::Vf => None,
        Unit::Vs => trapped!(uncore, VS_CTL, VS_RDATA, VsCtl, 4),
        Unit::Gs => trapped!(uncore, GS_CTL, GS_RDATA, GsCtl, 14),
        Unit::Clip => trapped!(uncore, CL_CTL, CL_RDATA, ClCtl, 8),
    }
}

/// Arms SF for a primitive.
pub(super) fn arm_sf(device: &Device, primitive: u32) {
    let uncore = device.uncore();
    uncore.write(SF_STRG_VAL, primitive);
    uncore.reg(SF_CTL).write(SfCtl::SNAPSHOT_ENABLE::SET);
}

/// Lets SF drop all primitives behind one.
pub(super) fn limit_sf(device: &Device, last: u32) {
    let uncore = device.uncore();
    uncore.write(SF_MIN_PR_IND, 0);
    uncore.write(SF_MAX_PR_IND, last);
    uncore
        .reg(SF_CTL)
        .write(SfCtl::MIN_MAX_PRIMITIVE_RANGE_ENABLE::SET);
}

/// What SF has trapped.
pub(super) fn read_sf(device: &Device) -> Option<Outputs> {
    let uncore = device.uncore();
    trapped!(uncore, SF_CTL, SF_RDATA, SfCtl, 8)
}

/// Which subspan of a pixel the windower is to trap.
#[derive(Clone, Copy, Debug)]
pub(super) enum Occurrence {
    /// None: it only counts.
    Count,
    /// The one of this number, 1 to 255.
    Number(u8),
    /// The first of the primitive that SF traps.
    Upstream,
}

/// Arms the windower; whether the thread is to be flagged, so that it takes breakpoints.
pub(super) fn arm_wiz(device: &Device, pixel: (u16, u16), occurrence: Occurrence, flag: bool) {
    let uncore = device.uncore();
    uncore.reg(WIZ_STRG_VAL).write(
        WizTrigger::PIXEL_Y_COMPARE_VALUE.val(pixel.1.into())
            + WizTrigger::PIXEL_X_COMPARE_VALUE.val(pixel.0.into()),
    );
    let mut control =
        WizCtl::SNAPSHOT_ENABLE::SET + WizCtl::THREAD_SNAPSHOT_ENABLE.val(flag.into());
    match occurrence {
        // Occurrences count from 1 (the field's range), so that number 0 never comes.
        Occurrence::Count => {
            control += WizCtl::ENABLE_SUBSPAN_INSTANCE_COMPARE::SET
                + WizCtl::SUBSPAN_INSTANCE_NUMBER.val(0);
        }
        Occurrence::Number(number) => {
            control += WizCtl::ENABLE_SUBSPAN_INSTANCE_COMPARE::SET
                + WizCtl::SUBSPAN_INSTANCE_NUMBER.val(number.into());
        }
        Occurrence::Upstream => control += WizCtl::USE_UPSTREAM_SNAPSHOT_FLAG::SET,
    }
    uncore.reg(WIZ_CTL).write(control);
}

/// How often the subspan has come by so far.
pub(super) fn read_instances(device: &Device) -> u32 {
    let uncore = device.uncore();
    uncore
        .reg(WIZ_CTL)
        .modify(WizCtl::SNAPSHOT_OUTPUT_MUX_SELECT::SubspanInstanceCount);
    uncore.read(WIZ_RDATA)
}

/// What the windower has trapped: kernel pointer, number of occurrences, primitive.
pub(super) fn read_wiz(device: &Device) -> Option<Outputs> {
    let uncore = device.uncore();
    trapped!(uncore, WIZ_CTL, WIZ_RDATA, WizCtl, 3)
}

/// General State Base Address as it was set last since the global debug enable.
pub(super) fn read_base(device: &Device) -> u32 {
    let uncore = device.uncore();
    uncore
        .reg(SVG_CTL)
        .write(SvgCtl::DEBUG_OUTPUT_MUX_SELECT.val(0));
    uncore.read(SVG_RDATA)
}

/// A vertex tag out of a mux: FFID in bits 31:28, number in 23:0.
pub(super) fn tag(dword: u32, relative: u32) -> Option<Tag> {
    let unit = match dword >> 28 {
        1 => Unit::Vf,
        2 => Unit::Vs,
        3 => Unit::Gs,
        4 => Unit::Clip,
        _ => return None,
    };
    let number = dword & 0x00ff_ffff;
    Some(Tag {
        unit,
        number,
        relative,
    })
}

/// Arms something ahead of one submission, reads it behind, and has seen enough of the frame then.
pub(super) struct Once<A, R, T> {
    submission: usize,
    arm: A,
    read: R,
    /// What was read.
    pub(super) found: Option<T>,
}

impl<A: FnMut(&Device), R: FnMut(&Device) -> T, T> Once<A, R, T> {
    pub(super) fn new(submission: usize, read: R, arm: A) -> Self {
        Once {
            submission,
            arm,
            read,
            found: None,
        }
    }
}

impl<A: FnMut(&Device), R: FnMut(&Device) -> T, T> Probe for Once<A, R, T> {
    fn before(&mut self, device: &Device, submission: usize) -> error::Result {
        if submission == 0 {
            disable(device);
        }
        if submission == self.submission {
            enable(device);
            (self.arm)(device);
        }
        Ok(())
    }

    fn after(&mut self, device: &Device, submission: usize) -> error::Result<bool> {
        if submission == self.submission {
            self.found = Some((self.read)(device));
            disable(device);
            return Ok(false);
        }
        Ok(true)
    }
}
