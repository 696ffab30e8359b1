//! State of the media pipeline: pointers, front end, constants.
//!
//! PRM: volume 2 (MEDIA_STATE_POINTERS, VFE_STATE); MEDIA_VFE_STATE and the commands that load constants and descriptors:
//! genxml gen6. Layouts are the matter of a [`MediaReader`].
//! Not modelled: VLD_STATE and the extended front end state; objects of their modes are refused.

use mem::GpuAddr;

use crate::core::fault::UnitFault;
use crate::intel::machine::Machine;
use crate::intel::shared::context::StateBases;
use crate::intel::urb::{Owner, UrbHandle};

use super::reader::{Descriptors, MediaReader, Missing, Scoreboard, VfeMode};

/// What commands latch; a context's image would hold it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MediaState {
    /// The command that sets the front end as written, header included, when there was one.
    pub front_end: Option<Vec<u32>>,
    /// It is newer than the front end's state.
    fresh: bool,
    /// The commands that have loaded constants and interface descriptors.
    loads: [Vec<u32>; 2],
    /// None of these commands is kept with a context.
    unsaved: bool,
    /// Interface descriptors that were loaded.
    pub descriptors: Descriptors,
    /// Constants that were loaded for this pipeline alone.
    pub constants: Option<Constants>,
    /// Threads ran since the last flush, of the media pipeline or of the other.
    worked: Option<bool>,
}

impl MediaState {
    /// Latches the command that sets the front end.
    pub fn set_front_end(&mut self, command: &[u32]) {
        self.front_end = Some(command.to_vec());
        self.fresh = true;
        self.unsaved = false;
    }

    /// The URB was divided for the front end: what was in it is lost.
    pub fn divided(&mut self) {
        self.constants = None;
        self.loads[0].clear();
    }

    /// A command has loaded constants.
    pub fn loaded_constants(&mut self, command: &[u32], constants: Constants) {
        self.loads[0] = command.to_vec();
        self.unsaved = false;
        self.constants = Some(constants);
    }

    /// A command has loaded interface descriptors.
    pub fn loaded_descriptors(&mut self, command: &[u32], descriptors: Descriptors) {
        self.loads[1] = command.to_vec();
        self.unsaved = false;
        self.descriptors = descriptors;
    }

    /// The commands that set the state as it is, for a context's image.
    pub fn commands(&self) -> Vec<u32> {
        let [constants, descriptors] = &self.loads;
        let front_end = self.front_end.as_deref().unwrap_or_default();
        if self.unsaved {
            return Vec::new();
        }
        [front_end, constants, descriptors].concat()
    }

    /// The context's image is made without it, until there is a new one (PIPE_CONTROL Generic Media State Clear).
    pub fn leave_out(&mut self) {
        self.unsaved = true;
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
    /// Per-thread scratch space as the field has it.
    pub scratch_power: u32,
    /// Bytes of it.
    pub scratch_bytes: u32,
    /// Threads come in groups.
    pub groups: bool,
    /// Order among root threads.
    pub scoreboard: Result<Option<Scoreboard>, Missing>,
    /// Bases that it was read with.
    pub bases: StateBases,
}

fn bad(addr: Option<u32>, what: String) -> UnitFault {
    match addr {
        Some(addr) => UnitFault::State {
            unit: "VFE",
            addr: GpuAddr::from(addr),
            what,
        },
        None => UnitFault::Command { unit: "VFE", what },
    }
}

/// A feature that the model does not have.
pub(super) fn missing((what, prm): Missing) -> UnitFault {
    UnitFault::Unimplemented {
        unit: "VFE",
        what,
        prm,
    }
}

impl FrontEnd {
    /// Reads the state and divides the URB section of the front end.
    pub(super) fn fetch(
        reader: &dyn MediaReader,
        command: &[u32],
        bases: &StateBases,
        machine: &mut Machine<'_>,
    ) -> Result<Self, UnitFault> {
        let state = reader.front_end(machine.mem, bases, command)?;
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
            return Err(missing((what, "PRM vol2, VFE_STATE dword 1 bits 6:3")));
        }
        if let Some(what) = state.missing {
            return Err(missing(what));
        }
        let (entries, entry_rows) = (state.entries, state.entry_rows);
        machine.urb.partition(Owner::Vfe, entries, entry_rows);
        if machine.urb.capacity(Owner::Vfe) == 0 && !state.groups {
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
            scratch_bytes: state.scratch_bytes,
            groups: state.groups,
            scoreboard: state.scoreboard,
            bases: *bases,
        })
    }
}
