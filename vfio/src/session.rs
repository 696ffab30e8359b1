//! The protocol without sockets: a message comes in, a reply goes out.
//!
//! QEMU docs/interop/vfio-user.rst. What a client sends is not trusted: sizes, offsets, counts and flags are checked here, and
//! what is wrong is an errno in the reply. Commands that there are and that are not served give `EOPNOTSUPP`.

mod version;

use std::os::fd::OwnedFd;

use rustix::io::Errno;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use crate::protocol::{
    DEVICE_FLAGS, DeviceInfo, DmaMap, DmaUnmap, Header, IrqInfo, IrqSet, MAX_TRANSFER,
    RegionAccess, RegionInfo, command, flag, irq, region,
};

/// What the protocol needs of a function. Errors are the errnos of replies.
pub trait Function {
    /// Bytes of a region; 0 for one that there is not.
    fn region_size(&self, index: u32) -> u64;

    /// Reads a region; the bytes lie in it.
    fn read(&mut self, index: u32, offset: u64, into: &mut [u8]) -> Result<(), Errno>;

    /// Writes a region; the bytes lie in it.
    fn write(&mut self, index: u32, offset: u64, from: &[u8]) -> Result<(), Errno>;

    /// How many interrupts of a kind there are, and what can be done with them.
    fn irq(&self, index: u32) -> (u32, u32);

    /// Says where interrupts go, masks and unmasks them. `meant` has a byte for each interrupt, if any.
    fn set_irqs(&mut self, set: &IrqSet, meant: &[u8], files: Vec<OwnedFd>) -> Result<(), Errno>;

    /// Lets the device access memory.
    fn map(&mut self, range: &DmaMap, file: Option<OwnedFd>) -> Result<(), Errno>;

    /// Takes such memory away.
    fn unmap(&mut self, range: &DmaUnmap) -> Result<(), Errno>;

    /// Everything is as after power-on but memory and descriptors.
    fn reset(&mut self) -> Result<(), Errno>;
}

/// What comes of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// The connection goes on.
    GoOn,
    /// It ends when the reply is sent.
    End,
}

/// One connection.
#[derive(Debug, Default)]
pub struct Session {
    /// The versions are agreed.
    greeted: bool,
}

impl Session {
    /// Carries a message out that has `payload` behind its header; `reply` gets the reply, or nothing when there is none.
    pub fn handle(
        &mut self,
        function: &mut dyn Function,
        header: &Header,
        payload: &[u8],
        files: Vec<OwnedFd>,
        reply: &mut Vec<u8>,
    ) -> Next {
        reply.clear();
        if header.flags & flag::TYPE != flag::COMMAND {
            // Nothing was asked, so that no reply is due, and one to it would be none.
            log::debug!(
                "vfio-user: a message of kind {} is left",
                header.flags & flag::TYPE
            );
            return Next::GoOn;
        }
        // Room for the header, which is known when the rest is.
        reply.resize(size_of::<Header>(), 0);
        let outcome = self.carry_out(function, header.command, payload, files, reply);
        let greeted = self.greeted;
        if header.flags & flag::NO_REPLY != 0 {
            reply.clear();
        } else {
            finish(header, outcome, reply);
        }
        if let Err(error) = outcome {
            log::debug!("vfio-user: command {}: {error}", header.command);
        }
        if greeted { Next::GoOn } else { Next::End }
    }

    fn carry_out(
        &mut self,
        function: &mut dyn Function,
        number: u16,
        payload: &[u8],
        files: Vec<OwnedFd>,
        reply: &mut Vec<u8>,
    ) -> Result<(), Errno> {
        if (number == command::VERSION) == self.greeted {
            // The first message, and no other, is about the version.
            return Err(Errno::INVAL);
        }
        // Files that a command does not want are closed.
        match number {
            command::VERSION => {
                version::agree(payload, reply)?;
                self.greeted = true;
                Ok(())
            }
            command::DMA_MAP => {
                let (range, _) = structure::<DmaMap>(payload)?;
                if (range.argsz as usize) < size_of::<DmaMap>() || files.len() > 1 {
                    return Err(Errno::INVAL);
                }
                function.map(&range, files.into_iter().next())
            }
            command::DMA_UNMAP => {
                let (range, _) = structure::<DmaUnmap>(payload)?;
                if (range.argsz as usize) < size_of::<DmaUnmap>() {
                    return Err(Errno::INVAL);
                }
                function.unmap(&range)?;
                reply.extend_from_slice(range.as_bytes());
                Ok(())
            }
            command::DEVICE_GET_INFO => {
                let asked = asked::<DeviceInfo>(payload, |info| info.argsz)?;
                let info = DeviceInfo {
                    argsz: size_of_val(&asked) as u32,
                    flags: DEVICE_FLAGS,
                    regions: region::COUNT,
                    irqs: irq::COUNT,
                };
                reply.extend_from_slice(info.as_bytes());
                Ok(())
            }
            command::DEVICE_GET_REGION_INFO => {
                let asked = asked::<RegionInfo>(payload, |info| info.argsz)?;
                if asked.index >= region::COUNT {
                    return Err(Errno::INVAL);
                }
                let size = function.region_size(asked.index);
                let info = RegionInfo {
                    argsz: size_of_val(&asked) as u32,
                    flags: if size > 0 {
                        region::READ | region::WRITE
                    } else {
                        0
                    },
                    index: asked.index,
                    cap_offset: 0,
                    size,
                    offset: 0,
                };
                reply.extend_from_slice(info.as_bytes());
                Ok(())
            }
            command::DEVICE_GET_IRQ_INFO => {
                let asked = asked::<IrqInfo>(payload, |info| info.argsz)?;
                if asked.index >= irq::COUNT {
                    return Err(Errno::INVAL);
                }
                let (count, flags) = function.irq(asked.index);
                let info = IrqInfo {
                    argsz: size_of_val(&asked) as u32,
                    flags,
                    index: asked.index,
                    count,
                };
                reply.extend_from_slice(info.as_bytes());
                Ok(())
            }
            command::DEVICE_SET_IRQS => {
                let (set, rest) = structure::<IrqSet>(payload)?;
                if (set.argsz as usize) < size_of::<IrqSet>() {
                    return Err(Errno::INVAL);
                }
                function.set_irqs(&set, rest, files)
            }
            command::REGION_READ => {
                let (access, _) = structure::<RegionAccess>(payload)?;
                inside(function, &access)?;
                reply.extend_from_slice(access.as_bytes());
                let at = reply.len();
                reply.resize(at + access.count as usize, 0);
                // PANIC: just made so long.
                function.read(access.region, access.offset, &mut reply[at..])
            }
            command::REGION_WRITE => {
                let (access, bytes) = structure::<RegionAccess>(payload)?;
                inside(function, &access)?;
                if bytes.len() != access.count as usize {
                    return Err(Errno::INVAL);
                }
                function.write(access.region, access.offset, bytes)?;
                reply.extend_from_slice(access.as_bytes());
                Ok(())
            }
            command::DEVICE_RESET => function.reset(),
            _ => Err(Errno::OPNOTSUPP),
        }
    }
}

/// The structure that a payload begins with, and what follows it.
fn structure<T: FromBytes + Immutable + KnownLayout>(payload: &[u8]) -> Result<(T, &[u8]), Errno> {
    T::read_from_prefix(payload).map_err(|_| Errno::INVAL)
}

/// The same for a question whose answer has the same structure, for which there has to be room.
fn asked<T: FromBytes + Immutable + KnownLayout>(
    payload: &[u8],
    argsz: impl FnOnce(&T) -> u32,
) -> Result<T, Errno> {
    let (asked, _) = structure::<T>(payload)?;
    if (argsz(&asked) as usize) < size_of::<T>() {
        return Err(Errno::INVAL);
    }
    Ok(asked)
}

/// Checks that an access lies in its region.
fn inside(function: &dyn Function, access: &RegionAccess) -> Result<(), Errno> {
    let end = access.offset.checked_add(access.count.into());
    let size = function.region_size(access.region);
    if access.count > MAX_TRANSFER || end.is_none_or(|end| end > size) {
        return Err(Errno::INVAL);
    }
    Ok(())
}

/// The reply to a message that is not carried out; nothing when none is wanted.
pub fn refuse(header: &Header, error: Errno, reply: &mut Vec<u8>) {
    reply.clear();
    if header.flags & (flag::NO_REPLY | flag::TYPE) == flag::COMMAND {
        reply.resize(size_of::<Header>(), 0);
        finish(header, Err(error), reply);
    }
}

/// Writes the header of a reply; one that tells of an error has nothing else.
fn finish(header: &Header, outcome: Result<(), Errno>, reply: &mut Vec<u8>) {
    let (flags, error) = match outcome {
        Ok(()) => (flag::REPLY, 0),
        Err(error) => {
            reply.truncate(size_of::<Header>());
            // CAST: errnos are positive.
            (flag::REPLY | flag::ERROR, error.raw_os_error() as u32)
        }
    };
    let header = Header {
        id: header.id,
        command: header.command,
        // CAST: a transfer at most, and its head.
        size: reply.len() as u32,
        flags,
        error,
    };
    for (to, byte) in reply.iter_mut().zip(header.as_bytes()) {
        *to = *byte;
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests;
