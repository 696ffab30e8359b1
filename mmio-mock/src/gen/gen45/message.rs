//! Descriptors of G45: wider message types of the read port and the sampler.
//!
//! PRM: volume 4, 4.8.1.1, 5.10.1.1; layouts: Mesa 22.3.6 brw_eu.h, brw_eu_defines.h.
//! Not modelled: the read messages that G45 adds.

use eu::Message;

use crate::r#gen::message::{Control, same};
use crate::shared::context::sfid;
use crate::shared::message::{MessageSet, Request};

/// The messages of these devices.
#[derive(Debug)]
pub struct Messages;

impl MessageSet for Messages {
    fn request(&self, msg: &Message<'_>) -> Result<Request, &'static str> {
        Ok(translate(msg)?.request(msg))
    }
}

/// One message in the first generation's words.
pub fn translate(msg: &Message<'_>) -> Result<Control, &'static str> {
    let control = msg.function_control;
    match msg.sfid {
        sfid::SAMPLER => sampler(control),
        sfid::DATAPORT_READ => read(control),
        _ => Ok(same(control)),
    }
}

/// Message type in 15:12 instead of 15:14; it is told apart by length as before.
fn sampler(control: u16) -> Result<Control, &'static str> {
    match control >> 12 {
        kind @ 0..=3 => Ok(same(control & 0xfff | kind << 14)),
        _ => Err("sampler message of a later generation"),
    }
}

/// Message control in 10:8, message type in 13:11.
pub fn read(control: u16) -> Result<Control, &'static str> {
    let kind = match control >> 11 & 7 {
        0 => 0,
        2 => 1,
        4 => 2,
        6 => 3,
        1 => return Err("render target read"),
        3 => return Err("AVC loop filter read"),
        _ => return Err("reserved read message"),
    };
    Ok(same(control & 0xc7ff | kind << 12))
}
