//! What messages ask of the shared functions.
//!
//! PRM: volume 4, 2.5 and the chapters of the functions. A descriptor is read once for each message, before its
//! function sees it; a reserved code is part of the request, since each function has its own order of checks.

use std::fmt::Debug;

use eu::{Grf, Message};
use isa::Verx10;
use isa::inst::SendDesc;
use isa::message::Header;

use super::dataport::request::{ReadRequest, WriteRequest};
use super::error::Rule;
use super::gateway::GatewayRequest;
use super::math::MathRequest;
use super::sampler::message::SamplerRequest;
use super::spawner::SpawnerRequest;
use super::urb_msg::UrbRequest;

/// A message by its function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// Null.
    Null,
    /// Extended math.
    Math(MathRequest),
    /// Sampling engine.
    Sampler(SamplerRequest),
    /// Message gateway.
    Gateway(GatewayRequest),
    /// Data port, read.
    Read(ReadRequest),
    /// Data port, write.
    Write(WriteRequest),
    /// URB.
    Urb(UrbRequest),
    /// Thread spawner.
    Spawner(SpawnerRequest),
    /// The descriptor breaks a rule of its function, which is named.
    Broken(&'static str, Rule),
    /// No shared function has this ID.
    Unknown,
}

/// Reads the descriptors of a generation.
pub trait MessageSet: Debug + Sync {
    /// What a message asks for; the error names a message that the model does not have.
    fn request(&self, msg: &Message<'_>) -> Result<Request, &'static str>;
}

/// What a `send` asks for, as far as an immediate descriptor tells: the registers of the payload count as zero. `None`
/// when the descriptor is in a register, or names a message that the model does not have.
pub fn of_send(set: &dyn MessageSet, isa: Verx10, send: &SendDesc) -> Option<Request> {
    let header = Header::of(isa, send)?;
    let desc = send.imm?;
    let zero = [Grf::default(); 16];
    let msg = Message {
        thread: eu::ThreadId::default(),
        // CAST: four bits.
        sfid: header.target as u8,
        // CAST: the lower half.
        function_control: desc as u16,
        desc,
        // CAST: five bits.
        response_length: header.response as u8,
        eot: desc >> 31 != 0,
        exec_mask: u16::MAX,
        exec_size: 16,
        payload: zero.get(..header.length as usize)?,
        ip: 0,
        float_mode: eu::FloatMode::default(),
    };
    set.request(&msg).ok()
}
