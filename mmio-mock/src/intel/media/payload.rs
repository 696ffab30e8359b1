//! MEDIA_OBJECT: what the front end puts into a URB entry for a root thread.
//!
//! PRM: volume 2 (MEDIA_OBJECT); volume 4, 8.2 (VFE writes payloads). Constants come first, then inline data, then
//! indirect data, each from a new register (intel-vaapi-driver shaders/mpeg2/vld: g1 to g30 constants, g31 inline).

use mem::GpuAddr;

use super::reader::{MediaObject, Place};
use super::state::missing;
use super::{Constants, FrontEnd, Media};
use crate::core::fault::UnitFault;
use crate::intel::machine::Machine;
use crate::intel::shared::context::StateBases;
use crate::intel::urb::{Owner, UrbHandle};

/// A root thread that is ready to start.
#[derive(Clone, Copy, Debug)]
pub struct Object {
    /// Interface descriptor, relative to the general state base.
    pub descriptor: u32,
    /// URB entry with the payload.
    pub entry: UrbHandle,
    /// Rows of the payload.
    pub rows: u16,
    /// It waits for a spawn root thread message.
    pub synchronized: bool,
    /// It may have children: its URB entry stays.
    pub children: bool,
    /// Its place.
    pub place: Place,
    /// It waits for others by the scoreboard: the distances that count for it.
    pub waits: Option<u8>,
    /// r0.6.
    pub debug: u32,
    /// Front end state in force.
    pub front_end: FrontEnd,
    /// Constants in force.
    pub constants: Option<Constants>,
}

/// Bytes of a row.
const ROW: u32 = 32;

fn refuse(what: String) -> UnitFault {
    UnitFault::Command { unit: "VFE", what }
}

impl Media {
    /// Takes up a MEDIA_OBJECT; there must be a URB entry, see [`Media::accepts`]. `false` when there is none.
    pub fn object(
        &mut self,
        dwords: &[u32],
        bases: &StateBases,
        constants: Option<Constants>,
        machine: &mut Machine<'_>,
    ) -> Result<bool, UnitFault> {
        let command = self.reader.object(dwords);
        self.take(&command, bases, constants, machine)
    }

    /// Takes up a MEDIA_OBJECT_PRT in the same way.
    pub fn persistent(
        &mut self,
        dwords: &[u32],
        bases: &StateBases,
        constants: Option<Constants>,
        machine: &mut Machine<'_>,
    ) -> Result<bool, UnitFault> {
        let Some(command) = self.reader.persistent(dwords) else {
            return Err(missing(("MEDIA_OBJECT_PRT", "PRM vol2, media")));
        };
        self.take(&command, bases, constants, machine)
    }

    /// Takes up an object, whichever command it comes from.
    pub(super) fn take(
        &mut self,
        command: &MediaObject<'_>,
        bases: &StateBases,
        constants: Option<Constants>,
        machine: &mut Machine<'_>,
    ) -> Result<bool, UnitFault> {
        let inline = command.inline;
        let front_end = self.front_end(bases, machine)?;
        if front_end.groups {
            let what = "MEDIA_OBJECT in the GPGPU mode of MEDIA_VFE_STATE";
            return Err(refuse(what.to_owned()));
        }
        if command.waits.is_some() {
            front_end.scoreboard.map_err(missing)?;
        }
        let first = front_end
            .descriptors
            .wrapping_add(self.state.descriptors.start);
        let descriptor = first.wrapping_add(command.descriptor);
        let bytes = command.indirect_bytes;
        // CAST: a command has at most 260 dwords, and indirect data have 17 bits of bytes.
        let inline_rows = inline.len().div_ceil(8) as u16;
        let rows = inline_rows + bytes.div_ceil(ROW) as u16;
        let room = payload_room(&front_end, machine);
        if rows > room {
            return Err(refuse(format!(
                "MEDIA_OBJECT with {} inline dwords and {bytes} indirect bytes: {rows} rows do not fit a URB entry of {room}",
                inline.len(),
            )));
        }
        let Some(entry) = machine.urb.allocate(Owner::Vfe) else {
            return Ok(false);
        };
        for (row, data) in (0..).zip(inline.chunks(8)) {
            if let Some(to) = machine.urb.row_mut(entry, row) {
                *to = [0; 8];
                to[..data.len()].copy_from_slice(data);
            }
        }
        let start = command.indirect;
        if let Err(fault) = load_indirect(entry, inline_rows, start, bytes, bases, machine) {
            machine.urb.release(entry);
            return Err(fault);
        }
        machine.charge(u64::from(rows));
        self.stalled = false;
        self.starved = false;
        let debug = self.identifier(machine);
        self.state.works(true);
        self.prepared.push_back(Object {
            descriptor,
            entry,
            rows,
            synchronized: command.synchronized,
            children: front_end.children || command.children,
            place: command.place,
            waits: command.waits,
            debug,
            front_end,
            constants,
        });
        Ok(true)
    }

    /// The front end's state, read anew when something has changed.
    pub(super) fn front_end(
        &mut self,
        bases: &StateBases,
        machine: &mut Machine<'_>,
    ) -> Result<FrontEnd, UnitFault> {
        if let Some(front_end) = self.front_end
            && !self.state.changed()
            && front_end.bases == *bases
        {
            return Ok(front_end);
        }
        let Some(command) = &self.state.front_end else {
            let missing = self.reader.sets_front_end();
            return Err(refuse(format!("MEDIA_OBJECT without {missing}")));
        };
        let front_end = FrontEnd::fetch(self.reader, command, bases, machine)?;
        if machine.urb.available(Owner::Vfe) == machine.urb.capacity(Owner::Vfe) {
            self.kept.clear();
        }
        self.state.taken();
        self.front_end = Some(front_end);
        Ok(front_end)
    }

    /// The debug identifier of the next root thread (PRM 3.3.10, layout of 3.3.11.5): counters stand still
    /// while the global debug enable is off, like those of the 3D units (3.2.1).
    fn identifier(&mut self, machine: &Machine<'_>) -> u32 {
        if machine.debug.global_enable() {
            self.roots = self.roots.wrapping_add(1);
            self.objects = self.objects.wrapping_add(1);
        }
        self.reader.identifier(self.objects, self.roots)
    }
}

/// Rows that a payload may have.
///
/// VFE_STATE's size of an entry says where the next one begins; the front end does not stop at it. A lone entry may go
/// on to the end of the front end's section: the X driver's motion compensation (xserver-xorg-video-intel,
/// xvmc/i965_xvmc.c) asks for one entry of 3 units and fills 13 of them, 2 rows inline and 24 indirect, on all parts but
/// the 965Q. Where there are more entries, the next one would be overwritten.
fn payload_room(front_end: &FrontEnd, machine: &Machine<'_>) -> u16 {
    if machine.urb.capacity(Owner::Vfe) == 1 {
        machine.urb.end(Owner::Vfe) - machine.urb.start(Owner::Vfe)
    } else {
        front_end.entry_rows
    }
}

/// Copies indirect data behind the inline data; the rest of the last row is zero.
fn load_indirect(
    entry: UrbHandle,
    first: u16,
    start: u32,
    bytes: u32,
    bases: &StateBases,
    machine: &mut Machine<'_>,
) -> Result<(), UnitFault> {
    if bytes == 0 {
        return Ok(());
    }
    let from = bases.indirect_object_base.wrapping_add(start);
    let bound = bases.indirect_object_upper_bound;
    let last = u64::from(from) + u64::from(bytes);
    if bound != 0 && last > u64::from(bound) {
        return Err(refuse(format!(
            "indirect data {from:#010x} to {last:#010x} pass the upper bound {bound:#010x}"
        )));
    }
    for row in 0..bytes.div_ceil(ROW) {
        let length = (bytes - row * ROW).min(ROW) as usize;
        let mut data = [0; ROW as usize];
        let at = GpuAddr::from(from.wrapping_add(row * ROW));
        machine.mem.read_bytes(at, &mut data[..length])?;
        if let Some(to) = machine.urb.row_mut(entry, first + row as u16) {
            for (dword, bytes) in to.iter_mut().zip(data.as_chunks::<4>().0) {
                *dword = u32::from_le_bytes(*bytes);
            }
        }
    }
    Ok(())
}
