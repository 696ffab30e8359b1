//! What messages ask of the shared functions.
//!
//! PRM: volume 4, 2.5 and the chapters of the functions. A descriptor is read once for each message, before its
//! function sees it; a reserved code is part of the request, since each function has its own order of checks.

use std::fmt::Debug;

use eu::Message;

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
