//! Batches of clients in a session: the debugger's system routine takes over.
//!
//! PRM vol2 STATE_SIP, STATE_BASE_ADDRESS; PRM vol1 MI_BATCH_BUFFER_START. The commands are changed in place and put back
//! once the batch has run. Not modelled: batches whose commands another batch writes.
use alloc::sync::Arc;
use alloc::vec::Vec;

use kernel::dma::PAGE_SIZE;
use kernel::error::{Result, code::EFAULT};
use regs::any::StateSip;
use regs::desc::Property;
use regs::ids::CommandId;
use regs::walk::{Limits, Memory, Walk};

use super::memory;
use super::routines::{MOST_ORIGINS, Origin};
use crate::core::fence::Fence;
use crate::core::gem::Object;
use crate::intel::device::Device;

/// Dwords of commands that are looked at: more than any object of commands has.
const MOST_DWORDS: u64 = 1 << 22;
/// Jumps to further batches of a chain.
const MOST_JUMPS: u32 = (1 << 12) - 1;

/// A command that gives way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Found {
    /// Graphics address of the dword.
    pub address: u32,
    /// What the client wrote.
    pub value: u32,
    /// Which dword it is.
    pub what: What,
}

/// A dword that matters to the debugger.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum What {
    /// The address of STATE_SIP.
    Sip,
    /// An upper bound of general state or of instructions.
    Bound,
}

/// Bases as far as a batch has set them; `None`: as they were before it.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Bases {
    /// General State Base Address.
    pub general: Option<u32>,
    /// What kernels and system routines are relative to.
    pub instructions: Option<u32>,
}

impl Bases {
    /// These, and what came before where they set nothing.
    #[must_use]
    pub fn or(self, before: Bases) -> Bases {
        Bases {
            general: self.general.or(before.general),
            instructions: self.instructions.or(before.instructions),
        }
    }

    /// Both, a base that is not known as it is after a reset: 0 (PRM vol2 STATE_BASE_ADDRESS).
    #[must_use]
    pub fn origin(self) -> Origin {
        Origin {
            general: self.general.unwrap_or(0),
            instructions: self.instructions.unwrap_or(0),
        }
    }

    /// Whether both are known.
    #[must_use]
    pub fn is_known(self) -> bool {
        self.general.is_some() && self.instructions.is_some()
    }
}

/// A part of a batch in which threads begin under the same bases.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stretch {
    /// Graphics address of the command that has set bases last; `None`: the batch has not set any before.
    pub set_at: Option<u32>,
    /// The bases.
    pub bases: Bases,
}

/// What a batch does to the state that the debugger needs.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Survey {
    /// Dwords that matter, in the order of the commands.
    pub found: Vec<Found>,
    /// Where threads begin, each set of bases once, in the order of the commands: at most one more than
    /// [`MOST_ORIGINS`].
    pub stretches: Vec<Stretch>,
    /// The bases at the end.
    pub bases: Bases,
    /// The client's system routine at the end, when the batch sets it.
    pub sip: Option<u32>,
}

impl Survey {
    /// Notes that threads begin.
    fn threads(&mut self, set_at: Option<u32>) {
        let bases = self.bases;
        let known = self.stretches.iter().any(|other| other.bases == bases);
        if !known && self.stretches.len() <= MOST_ORIGINS {
            self.stretches.push(Stretch { set_at, bases });
        }
    }
}

/// Reads dwords page by page.
struct Reader<'a> {
    device: &'a Device,
    page: Option<u32>,
    bytes: Vec<u8>,
}

impl Memory for Reader<'_> {
    fn dword(&mut self, address: u64) -> Option<u32> {
        self.read(u32::try_from(address).ok()?).ok()
    }
}

impl Reader<'_> {
    fn read(&mut self, address: u32) -> Result<u32> {
        let page = address & !(PAGE_SIZE as u32 - 1);
        if self.page != Some(page) {
            self.page = None;
            memory::read(self.device, page, &mut self.bytes)?;
            self.page = Some(page);
        }
        let at = (address - page) as usize & !3;
        let dword = self.bytes.get(at..at + 4).ok_or(EFAULT)?;
        Ok(u32::from_le_bytes([dword[0], dword[1], dword[2], dword[3]]))
    }
}

/// Walks the commands of a batch and of those that it goes on with. It ends where the parser would stop, or where memory
/// cannot be read.
pub fn survey(device: &Device, start: u32) -> Survey {
    let mut out = Survey::default();
    // What follows an unreadable command is not reached by the device either.
    let _ = walk(device, start, &mut out);
    out
}

fn walk(device: &Device, start: u32, out: &mut Survey) -> Result {
    let mut reader = Reader {
        device,
        page: None,
        bytes: alloc::vec![0; PAGE_SIZE],
    };
    let limits = Limits {
        dwords: MOST_DWORDS,
        jumps: MOST_JUMPS,
        ..Limits::default()
    };
    let mut walk = Walk::new(device.info().tables, start.into(), limits);
    let mut set_at = None;
    while let Some(step) = walk.step(&mut reader) {
        let Some(desc) = step.command else {
            return Ok(());
        };
        // CAST: addresses of these generations have 32 bits.
        let at = step.address as u32;
        match desc.id {
            CommandId::StateSip => {
                let value = reader.read(at.wrapping_add(4))?;
                let command = StateSip::from_dwords(&[step.header, value]);
                out.sip = Some(command.system_instruction_pointer());
                out.found.push(Found {
                    address: at.wrapping_add(4),
                    value,
                    what: What::Sip,
                });
            }
            CommandId::StateBaseAddress => {
                let before = out.bases;
                bases(&mut reader, at, step.dwords, out)?;
                if out.bases != before {
                    set_at = Some(at);
                }
            }
            _ if desc.is(Property::Draw) || desc.is(Property::Object) => out.threads(set_at),
            _ => {}
        }
    }
    Ok(())
}

fn bases(reader: &mut Reader<'_>, at: u32, dwords: u32, out: &mut Survey) -> Result {
    let mut words = Vec::new();
    for index in 0..dwords {
        words.push(reader.read(at.wrapping_add(index * 4))?);
    }
    let command = (reader.device.info().state.bases)(&words);
    let new = Bases {
        general: command.general,
        instructions: command.instructions,
    };
    out.bases = new.or(out.bases);
    for dword in command.bounds {
        if let Some(value) = words.get(dword) {
            out.found.push(Found {
                address: at.wrapping_add(dword as u32 * 4),
                value: *value,
                what: What::Bound,
            });
        }
    }
    Ok(())
}

/// A changed dword.
pub struct Patch {
    address: u32,
    /// The object that holds it and its place there, when that is known.
    object: Option<(Object, usize)>,
    original: u32,
    ours: u32,
    /// The request that runs the batch, once it is queued.
    fence: Option<Arc<Fence>>,
}

impl Patch {
    /// Changes a dword that one of `objects` may hold.
    pub fn apply(device: &Device, objects: &[Object], found: &Found, ours: u32) -> Result<Self> {
        let object = objects.iter().find_map(|object| {
            let inside = found.address.checked_sub(object.address()?)? as usize;
            (inside < object.size()).then(|| (object.clone(), inside))
        });
        let patch = Patch {
            address: found.address,
            object,
            original: found.value,
            ours,
            fence: None,
        };
        patch.write(device, ours)?;
        Ok(patch)
    }

    /// Notes the request that runs the batch.
    pub fn queued(&mut self, fence: &Arc<Fence>) {
        self.fence.get_or_insert_with(|| Arc::clone(fence));
    }

    /// Whether the batch has run.
    pub fn is_over(&self) -> bool {
        let fence = self.fence.as_ref();
        fence.is_some_and(|fence| fence.status().is_some())
    }

    /// What the client has written, and what stands there meanwhile.
    pub fn values(&self) -> (u32, u32) {
        (self.original, self.ours)
    }

    /// Puts the client's value back, unless somebody else has changed it meanwhile. Objects that are gone need nothing.
    pub fn restore(&self, device: &Device) {
        if self.read(device) == Ok(self.ours) {
            let _ = self.write(device, self.original);
        }
    }

    fn read(&self, device: &Device) -> Result<u32> {
        match &self.object {
            Some((object, at)) => object.read32(*at),
            None => Ok(memory::read_dwords(device, self.address, 1)?[0]),
        }
    }

    fn write(&self, device: &Device, value: u32) -> Result {
        match &self.object {
            Some((object, at)) => object.write_dwords(*at, &[value]),
            None => memory::write_dwords(device, self.address, &[value]),
        }
    }
}
