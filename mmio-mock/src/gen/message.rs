//! Descriptors of later generations that are those of the first with fields moved.

use eu::Message;

use super::gen40::message::request;
use crate::shared::message::Request;
use crate::shared::sampler::message::{Assembly, SamplerRequest};

/// A message in the first generation's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Control {
    /// Function control.
    pub bits: u16,
    /// How a sampler's payload has to change.
    pub payload: Option<Assembly>,
}

/// A function control that needs no more.
pub const fn same(bits: u16) -> Control {
    Control {
        bits,
        payload: None,
    }
}

impl Control {
    /// What the message asks for.
    pub fn request(self, msg: &Message<'_>) -> Request {
        let length = match self.payload {
            Some(assembly) => 1 + assembly.order.len(),
            None => msg.payload.len(),
        };
        match request(msg.sfid, self.bits, length) {
            Request::Sampler(sampler) => Request::Sampler(SamplerRequest {
                payload: self.payload,
                ..sampler
            }),
            other => other,
        }
    }
}

#[cfg(test)]
mod tests;
