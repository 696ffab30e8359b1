//! Message descriptors by generation, in the words of the shared functions.
//!
//! PRM: volume 4, 4.8.1, 5.10.1, 6.1.1, 8.4.2; later layouts: Mesa 22.3.6 brw_eu.h, brw_eu_defines.h.
//! Messages that the first generation has not are refused by name.

mod gen45;
mod gen50;

use eu::{Grf, Message};
use isa::Verx10;

/// A message in the words of the shared functions here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Control {
    /// Function control.
    pub bits: u16,
    /// How the payload has to change.
    pub payload: Payload,
}

/// What becomes of the payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Payload {
    /// It is as it should be.
    Same,
    /// It is put together anew; registers that the message has not are zero.
    Sampler {
        /// The message brought its own header.
        header: bool,
        /// Which parameter register of the message each register behind the header is.
        order: &'static [u8],
    },
}

/// A function control that needs no more.
const fn same(bits: u16) -> Control {
    Control {
        bits,
        payload: Payload::Same,
    }
}

/// Translates the descriptor of a message; `Err` names a message that the model does not have.
pub type Translate = fn(&Message<'_>) -> Result<Control, &'static str>;

/// The translation of a generation's descriptors; none where they are those of the shared functions.
#[must_use]
pub fn translate(generation: Verx10) -> Option<Translate> {
    match generation.0 {
        45 => Some(gen45::translate),
        50 => Some(gen50::translate),
        _ => None,
    }
}

/// Puts a sampler's payload together: the header, and the parameters in their order.
pub fn assemble(
    payload: &[Grf],
    header: Option<&Grf>,
    order: &[u8],
    sampler_state: u32,
) -> [Grf; 16] {
    let mut out = [[0; 8]; 16];
    let (own, parameters) = match header {
        Some(own) => (*own, payload.get(1..).unwrap_or_default()),
        // What the hardware makes by itself: all channels, no offsets (PRM 4.8.1.2).
        None => ([0, 0, 0, sampler_state, 0, 0, 0, 0], payload),
    };
    out[0] = own;
    for (to, &from) in out[1..].iter_mut().zip(order) {
        *to = parameters
            .get(usize::from(from))
            .copied()
            .unwrap_or_default();
    }
    out
}

#[cfg(test)]
mod tests;
