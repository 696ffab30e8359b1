//! What the media pipeline asks of a generation: plain state, r0 of threads.

use std::fmt::Debug;

use eu::Grf;
use mem::{Fault, Memory};

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

/// A VFE_STATE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VfeState {
    /// Where it lies.
    pub addr: u32,
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
    /// Scratch space of a thread: 1 KB times two to this power.
    pub scratch_power: u32,
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
    /// Scratch space of a thread: 1 KB times two to this power.
    pub scratch_power: u32,
    /// Its own scratch space, relative to General State Base Address.
    pub scratch: u32,
    /// Number of its family, which is its dispatch ID.
    pub number: u8,
    /// Debug identifier.
    pub debug: u32,
    /// Snapshot flag.
    pub flag: bool,
}

/// Reads the words of a generation's media commands and state.
pub trait MediaReader: Debug + Sync {
    /// Whether the model has the media pipeline of the generation.
    fn is_modelled(&self) -> bool {
        true
    }

    /// The VFE_STATE that a MEDIA_STATE_POINTERS, header included, names.
    fn front_end(
        &self,
        mem: &Memory,
        bases: &StateBases,
        pointers: &[u32],
    ) -> Result<VfeState, Fault>;

    /// The interface descriptor at a pointer relative to General State Base Address.
    fn kernel(&self, mem: &Memory, bases: &StateBases, pointer: u32) -> Result<MediaKernel, Fault>;

    /// A MEDIA_OBJECT, header included.
    fn object<'a>(&self, command: &'a [u32]) -> MediaObject<'a>;

    /// r0 of a root thread.
    fn root(&self, header: &RootHeader) -> Grf;

    /// Sets the snapshot flag in the r0 that a parent has prepared for its child.
    fn flag(&self, r0: &mut Grf);

    /// The debug identifier of a root thread, of its counters.
    fn identifier(&self, object: u32, thread: u32) -> u32;
}
