//! State of the media pipeline: pointers, front end, constants.
//!
//! PRM: volume 2 (MEDIA_STATE_POINTERS, VFE_STATE); layouts are the matter of a [`MediaReader`].
//! Not modelled: VLD_STATE and the extended front end state; objects of their modes are refused.

use mem::GpuAddr;

use crate::core::fault::UnitFault;
use crate::intel::machine::Machine;
use crate::intel::shared::context::StateBases;
use crate::intel::urb::{Owner, UrbHandle};

use super::reader::{MediaReader, VfeMode};

/// What commands latch; a context's image would hold it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MediaState {
    /// MEDIA_STATE_POINTERS as written, header included, when there was one.
    pub pointers: Option<Vec<u32>>,
    /// They are newer than the front end's state.
    fresh: bool,
    /// Threads ran since the last flush, of the media pipeline or of the other.
    worked: Option<bool>,
}

impl MediaState {
    /// Latches MEDIA_STATE_POINTERS.
    pub fn set_pointers(&mut self, command: &[u32]) {
        self.pointers = Some(command.to_vec());
        self.fresh = true;
    }

    /// Whether the state has to be read again before the next object.
    pub fn changed(&self) -> bool {
        self.fresh
    }

    pub(super) fn taken(&mut self) {
        self.fresh = false;
    }

    /// The pipeline, media or 3D, has work to do.
    pub fn works(&mut self, media: bool) {
        self.worked = Some(media);
    }

    /// A flush has made the results visible.
    pub fn flushed(&mut self) {
        self.worked = None;
    }

    /// Whether a change to the pipeline comes without the flush that it needs.
    pub fn needs_flush(&self, to_media: bool) -> bool {
        self.worked.is_some_and(|media| media != to_media)
    }
}

/// The constants (CURBE) in the URB.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Constants {
    /// Their entry.
    pub handle: UrbHandle,
    /// Rows loaded.
    pub rows: u16,
}

/// VFE_STATE as the units use it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrontEnd {
    /// Root threads alive at the same time.
    pub threads: u8,
    /// They may have children: their URB entries stay.
    pub children: bool,
    /// Rows of a URB entry.
    pub entry_rows: u16,
    /// Interface descriptors, relative to the general state base.
    pub descriptors: u32,
    /// Scratch space, relative to the general state base.
    pub scratch: u32,
    /// Per-thread scratch space as the state has it: 1 KB times a power of two.
    pub scratch_power: u32,
    /// Bases that it was read with.
    pub bases: StateBases,
}

fn bad(addr: u32, what: String) -> UnitFault {
    UnitFault::State {
        unit: "VFE",
        addr: GpuAddr::from(addr),
        what,
    }
}

impl FrontEnd {
    /// Reads the state and divides the URB section of the front end.
    pub(super) fn fetch(
        reader: &dyn MediaReader,
        pointers: &[u32],
        bases: &StateBases,
        machine: &mut Machine<'_>,
    ) -> Result<Self, UnitFault> {
        let state = reader.front_end(machine.mem, bases, pointers)?;
        let at = state.addr;
        let what = match state.mode {
            Ok(VfeMode::Generic) => None,
            Ok(VfeMode::Vld) => Some("VFE mode 1, VLD: decoding of MPEG-2 slices"),
            Ok(VfeMode::Is) => Some("VFE mode 2, IS: inverse scan of MPEG-2 coefficients"),
            Ok(VfeMode::AvcMc) => Some("VFE mode 4, AVC MC: motion compensation of H.264"),
            Ok(VfeMode::AvcIt) => Some("VFE mode 7, AVC IT: inverse transform of H.264"),
            Err(mode) => return Err(bad(at, format!("reserved mode {mode}"))),
        };
        if let Some(what) = what {
            return Err(UnitFault::Unimplemented {
                unit: "VFE",
                what,
                prm: "PRM vol2, VFE_STATE dword 1 bits 6:3",
            });
        }
        let (entries, entry_rows) = (state.entries, state.entry_rows);
        machine.urb.partition(Owner::Vfe, entries, entry_rows);
        if machine.urb.capacity(Owner::Vfe) == 0 {
            let what = format!(
                "no URB entry: {entries} entries of {entry_rows} rows in a section of rows {} to {}",
                machine.urb.start(Owner::Vfe),
                machine.urb.end(Owner::Vfe)
            );
            return Err(bad(at, what));
        }
        machine
            .shared
            .spawner
            .set_rows(machine.urb.start(Owner::Vfe), machine.urb.end(Owner::Vfe));
        Ok(FrontEnd {
            threads: state.threads,
            children: state.children,
            entry_rows,
            descriptors: state.descriptors,
            scratch: state.scratch,
            scratch_power: state.scratch_power,
            bases: *bases,
        })
    }
}
