//! What the media pipeline asks of a generation: plain state, r0 of threads.

use std::fmt::Debug;

use eu::Grf;
use mem::{Fault, Memory};

use super::walker::Walker;
use crate::core::fault::UnitFault;
use crate::intel::shared::context::{StateBases, ThreadContext};
use crate::intel::td::KernelState;
use crate::intel::urb::UrbHandle;

/// What the front end makes of MEDIA_OBJECTs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VfeMode {
    /// Payloads as the command has them.
    Generic,
    /// Variable length decoding.
    Vld,
    /// Inverse scan.
    Is,
    /// AVC motion compensation.
    AvcMc,
    /// AVC inverse transform.
    AvcIt,
}

/// A feature that the model does not have: its name and where it is described.
pub type Missing = (&'static str, &'static str);

/// Which root threads a root thread waits for: the distances from its own place to theirs, at most eight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scoreboard {
    /// Distances in X and Y.
    pub deltas: [(i8, i8); 8],
    /// A bit for each distance that counts.
    pub mask: u8,
}

/// The place of a root thread among the blocks of a picture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Column.
    pub x: u16,
    /// Row.
    pub y: u16,
    /// Colour: threads of one colour know nothing of the others.
    pub color: u8,
}

/// A VFE_STATE, or the command that has its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VfeState {
    /// Where it lies; `None` for a command.
    pub addr: Option<u32>,
    /// Mode; a reserved code is the error.
    pub mode: Result<VfeMode, u32>,
    /// Entries of the front end's section of the URB.
    pub entries: u16,
    /// Rows of one of them.
    pub entry_rows: u16,
    /// Root threads alive at the same time.
    pub threads: u8,
    /// They may have children.
    pub children: bool,
    /// Interface descriptors, relative to General State Base Address.
    pub descriptors: u32,
    /// Scratch space, relative to General State Base Address.
    pub scratch: u32,
    /// Scratch space of a thread as the field has it.
    pub scratch_power: u32,
    /// Bytes of it.
    pub scratch_bytes: u32,
    /// Threads come in groups, by GPGPU_WALKER, and need no URB entries.
    pub groups: bool,
    /// Order among root threads; the error is a kind that the model does not have.
    pub scoreboard: Result<Option<Scoreboard>, Missing>,
    /// Something else that the model does not have.
    pub missing: Option<Missing>,
}

/// How a front end that is one command divides the URB.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sections {
    /// Rows of the constants.
    pub constants: u16,
    /// Entries behind them.
    pub entries: u16,
    /// Rows of an entry.
    pub entry_rows: u16,
}

/// A command that loads constants or interface descriptors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Load {
    /// Where they begin, relative to Dynamic State Base Address.
    pub start: u32,
    /// Bytes of them.
    pub bytes: u32,
}

/// Interface descriptors as a command has loaded them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Descriptors {
    /// Pointer to the first.
    pub start: u32,
    /// Their dwords.
    pub words: Vec<u32>,
}

impl Descriptors {
    /// So many dwords of the descriptor at a pointer.
    pub fn at(&self, pointer: u32, dwords: usize) -> Option<&[u32]> {
        let from = pointer.checked_sub(self.start)? as usize / 4;
        self.words.get(from..from.checked_add(dwords)?)
    }
}

/// A kernel as an interface descriptor names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MediaKernel {
    /// Kernel and modes.
    pub kernel: KernelState,
    /// Context of its threads in the shared functions.
    pub context: ThreadContext,
    /// First row of the constants that threads get.
    pub constant_offset: u16,
    /// Rows of constants that threads get.
    pub constant_rows: u16,
}

/// A MEDIA_OBJECT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MediaObject<'a> {
    /// Its interface descriptor, in bytes from the first.
    pub descriptor: u32,
    /// Dwords of the payload in the command.
    pub inline: &'a [u32],
    /// Further payload, relative to Indirect Object Base Address.
    pub indirect: u32,
    /// Bytes of it.
    pub indirect_bytes: u32,
    /// The thread waits until another one lets it go.
    pub synchronized: bool,
    /// It may have children, whatever the front end's state says.
    pub children: bool,
    /// Its place.
    pub place: Place,
    /// It waits for others by the scoreboard: the distances that count for it.
    pub waits: Option<u8>,
}

/// A GPGPU_WALKER.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupWalker {
    /// Its interface descriptor, in bytes from the first.
    pub descriptor: u32,
    /// Channels of a thread: 8, 16 or 32.
    pub channels: u8,
    /// Threads of a group: across, down and deep, at least one each.
    pub threads: [u32; 3],
    /// The first group.
    pub first: [u32; 3],
    /// Behind the last group, in each direction.
    pub end: [u32; 3],
    /// Channels of the threads at the right edge of a group.
    pub right: u32,
    /// Channels of those at its lower edge.
    pub bottom: u32,
    /// The ends stand in registers instead.
    pub indirect: bool,
    /// The command depends on the predicate of MI_PREDICATE.
    pub predicated: bool,
}

/// A kernel of thread groups, as an interface descriptor names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupKernel {
    /// What it has in common with other kernels. Constants are each thread's own, one behind the other.
    pub kernel: MediaKernel,
    /// Bytes of shared local memory.
    pub local: u32,
    /// Threads of a group that has a barrier.
    pub barrier: Option<u16>,
}

/// What a thread of a group learns in r0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupHeader {
    /// Its group, in X, Y and Z.
    pub group: [u32; 3],
    /// The barrier of the group.
    pub barrier: u8,
    /// Context of its kernel.
    pub context: ThreadContext,
    /// The front end's field of scratch space of a thread.
    pub scratch_power: u32,
    /// Its own scratch space, relative to General State Base Address.
    pub scratch: u32,
    /// Its dispatch ID.
    pub number: u8,
}

/// What a root thread learns in r0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RootHeader {
    /// Its URB entry.
    pub entry: UrbHandle,
    /// Its interface descriptor, relative to General State Base Address.
    pub descriptor: u32,
    /// Context of its kernel.
    pub context: ThreadContext,
    /// Scratch space of a thread as the front end's field has it.
    pub scratch_power: u32,
    /// Its own scratch space, relative to General State Base Address.
    pub scratch: u32,
    /// Number of its family, which is its dispatch ID.
    pub number: u8,
    /// Debug identifier.
    pub debug: u32,
    /// Its place.
    pub place: Place,
    /// Snapshot flag.
    pub flag: bool,
}

/// Reads the words of a generation's media commands and state. A method whose command a generation lacks is never called
/// there.
pub trait MediaReader: Debug + Sync {
    /// The name of the command that sets the front end.
    fn sets_front_end(&self) -> &'static str;

    /// The state of the front end that a command, header included, names or has in itself.
    fn front_end(
        &self,
        mem: &Memory,
        bases: &StateBases,
        command: &[u32],
    ) -> Result<VfeState, Fault>;

    /// MEDIA_VFE_STATE: how it divides the URB.
    fn sections(&self, _command: &[u32]) -> Sections {
        Sections::default()
    }

    /// MEDIA_CURBE_LOAD.
    fn constants_load(&self, _command: &[u32]) -> Load {
        Load::default()
    }

    /// MEDIA_INTERFACE_DESCRIPTOR_LOAD.
    fn descriptors_load(&self, _command: &[u32]) -> Load {
        Load::default()
    }

    /// The kernel of the interface descriptor at a pointer, which is relative to the base of such states; `loaded` are those
    /// that a command has loaded, where that is how they are found.
    fn kernel(
        &self,
        mem: &Memory,
        bases: &StateBases,
        loaded: &Descriptors,
        pointer: u32,
    ) -> Result<MediaKernel, UnitFault>;

    /// A MEDIA_OBJECT, header included.
    fn object<'a>(&self, command: &'a [u32]) -> MediaObject<'a>;

    /// A MEDIA_OBJECT_WALKER: what its objects share, and their places; the error is what the model does not have.
    fn walker<'a>(&self, command: &'a [u32]) -> Result<(MediaObject<'a>, Walker), Missing> {
        Ok((self.object(command), Walker::default()))
    }

    /// GPGPU_WALKER.
    fn grid(&self, _command: &[u32]) -> GroupWalker {
        GroupWalker {
            descriptor: 0,
            channels: 8,
            threads: [1; 3],
            first: [0; 3],
            end: [0; 3],
            right: 0,
            bottom: 0,
            indirect: false,
            predicated: false,
        }
    }

    /// A MEDIA_OBJECT_PRT, a root thread that is there for as long as it likes; `None` where the model does not have it.
    fn persistent<'a>(&self, _command: &'a [u32]) -> Option<MediaObject<'a>> {
        None
    }

    /// The kernel of thread groups of the interface descriptor at a pointer.
    fn group_kernel(
        &self,
        mem: &Memory,
        bases: &StateBases,
        loaded: &Descriptors,
        pointer: u32,
    ) -> Result<GroupKernel, UnitFault> {
        Ok(GroupKernel {
            kernel: self.kernel(mem, bases, loaded, pointer)?,
            local: 0,
            barrier: None,
        })
    }

    /// r0 of a thread of a group.
    fn group_root(&self, _header: &GroupHeader) -> Grf {
        Grf::default()
    }

    /// r0 of a root thread.
    fn root(&self, header: &RootHeader) -> Grf;

    /// Sets the snapshot flag in the r0 that a parent has prepared for its child.
    fn flag(&self, r0: &mut Grf);

    /// The debug identifier of a root thread, of its counters.
    fn identifier(&self, object: u32, thread: u32) -> u32;
}
