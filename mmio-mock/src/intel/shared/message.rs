//! What messages ask of the shared functions.
//!
//! PRM: volume 4, 2.5 and the chapters of the functions. A descriptor is read once for each message, before its
//! function sees it; a reserved code is part of the request, since each function has its own order of checks.

use std::fmt::Debug;

use eu::Message;
use isa::Verx10;
use isa::inst::SendDesc;
use isa::message::Header;

use super::dataport::access::Access;
use super::dataport::request::{ReadRequest, WriteRequest};
use super::error::Rule;
use super::gateway::GatewayRequest;
use super::interpolator::InterpolatorRequest;
use super::math::MathRequest;
use super::sampler::blocks::BlocksRequest;
use super::sampler::message::SamplerRequest;
use super::spawner::SpawnerRequest;
use super::urb_msg::UrbRequest;
use super::urb_msg::entries::EntryRequest;

/// A message by its function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// Null.
    Null,
    /// Extended math.
    Math(MathRequest),
    /// Sampling engine.
    Sampler(SamplerRequest),
    /// Sampling engine, blocks of video.
    Blocks(BlocksRequest),
    /// Message gateway.
    Gateway(GatewayRequest),
    /// Data port, read.
    Read(ReadRequest),
    /// Data port, write.
    Write(WriteRequest),
    /// Data port, by channel: surfaces, atomic operations, scratch space.
    Access(Access),
    /// URB.
    Urb(UrbRequest),
    /// URB, of generations whose messages name a place in each of two entries.
    Entries(EntryRequest),
    /// Pixel interpolator.
    Interpolator(InterpolatorRequest),
    /// Thread spawner.
    Spawner(SpawnerRequest),
    /// The descriptor breaks a rule of its function, which is named.
    Broken(&'static str, Rule),
    /// No shared function has this ID.
    Unknown,
}

/// What a request depends on: the instruction, and no register of the payload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Descriptor {
    /// Function ID.
    pub function: u8,
    /// Registers of the message, header included.
    pub length: u8,
    /// The descriptor.
    pub desc: u32,
}

impl Descriptor {
    /// Bits 15:0, the function control.
    #[must_use]
    pub const fn control(self) -> u16 {
        self.desc as u16
    }

    /// Its place among those that are kept.
    const fn place(self) -> usize {
        // The highest bits of a product depend on all bits.
        let mixed = (self.desc ^ self.function as u32).wrapping_mul(0x9e37_79b1);
        (mixed >> (u32::BITS - KEPT.trailing_zeros())) as usize
    }

    /// All of it in one number, which is never 0.
    const fn key(self) -> u64 {
        1 << 63 | (self.length as u64) << 40 | (self.function as u64) << 32 | self.desc as u64
    }
}

impl From<&Message<'_>> for Descriptor {
    fn from(msg: &Message<'_>) -> Self {
        Descriptor {
            function: msg.sfid,
            // CAST: a message has at most fifteen registers.
            length: msg.payload.len() as u8,
            desc: msg.desc,
        }
    }
}

/// Reads the descriptors of a generation.
pub trait MessageSet: Debug + Sync {
    /// What a message asks for; the error names a message that the model does not have.
    fn request(&self, message: Descriptor) -> Result<Request, &'static str>;
}

/// Descriptors that are kept with their requests: a power of two.
const KEPT: usize = 64;

/// The requests of a generation, those of the last descriptors ready: a kernel has few.
#[derive(Clone, Debug)]
pub struct Requests {
    set: &'static dyn MessageSet,
    /// Beside its descriptor's key, which is 0 where there is nothing yet.
    kept: [(u64, Request); KEPT],
}

impl Requests {
    /// Requests as `set` reads them.
    #[must_use]
    pub const fn new(set: &'static dyn MessageSet) -> Self {
        Requests {
            set,
            kept: [(0, Request::Null); KEPT],
        }
    }

    /// What a message asks for; the error names a message that the model does not have.
    #[inline]
    pub fn of(&mut self, message: Descriptor) -> Result<&Request, &'static str> {
        // PANIC: a place.
        let place = &mut self.kept[message.place()];
        if place.0 == message.key() {
            return Ok(&place.1);
        }
        read(self.set, message, place)
    }

    /// The same without keeping what was read.
    #[inline]
    pub fn look(&self, message: Descriptor) -> Result<Request, &'static str> {
        // PANIC: a place.
        let (key, request) = &self.kept[message.place()];
        if *key == message.key() {
            return Ok(*request);
        }
        self.set.request(message)
    }
}

#[inline(never)]
fn read<'a>(
    set: &dyn MessageSet,
    message: Descriptor,
    place: &'a mut (u64, Request),
) -> Result<&'a Request, &'static str> {
    *place = (message.key(), set.request(message)?);
    Ok(&place.1)
}

/// What a `send` asks for. `None` when the descriptor is in a register, or names a message that the model does not have.
pub fn of_send(set: &dyn MessageSet, isa: Verx10, send: &SendDesc) -> Option<Request> {
    let header = Header::of(isa, send)?;
    let message = Descriptor {
        // CAST: four bits.
        function: header.target as u8,
        // CAST: four bits.
        length: header.length as u8,
        desc: send.imm?,
    };
    set.request(message).ok()
}
