//! Descriptors of Ironlake: header present, the sampler's SIMD mode and types.
//!
//! PRM: volume 4, 4.8.1; layouts and parameter order: Mesa 22.3.6 brw_eu.h,
//! `brw_lower_logical_sends.cpp`. Not modelled: arrays, SIMD8 and SIMD4x2 forms that the first
//! generation has not, the return type of integer surfaces, render target writes without a header.

use eu::Message;

use crate::r#gen::gen45::message as gen45;
use crate::r#gen::message::{Control, same};
use crate::shared::context::sfid;
use crate::shared::message::{MessageSet, Request};
use crate::shared::sampler::message::Assembly;

/// The messages of these devices.
#[derive(Debug)]
pub struct Messages;

impl MessageSet for Messages {
    fn request(&self, msg: &Message<'_>) -> Result<Request, &'static str> {
        Ok(translate(msg)?.request(msg))
    }
}

/// Descriptor bit 19.
const HEADER: u32 = 1 << 19;

/// One message in the first generation's words.
pub fn translate(msg: &Message<'_>) -> Result<Control, &'static str> {
    let control = msg.function_control;
    let header = msg.desc & HEADER != 0;
    match msg.sfid {
        sfid::SAMPLER => sampler(msg, header),
        sfid::DATAPORT_READ if header => gen45::read(control),
        sfid::DATAPORT_READ | sfid::DATAPORT_WRITE if !header => {
            Err("data port message without a header")
        }
        sfid::URB if !header => Err("URB message without a header"),
        _ => Ok(same(control)),
    }
}

/// SIMD16: u, v, r and the last of five parameters; between them is the array index.
const SIMD16_FIFTH: &[u8] = &[0, 1, 2, 3, 4, 5, 8, 9];
/// SIMD16, four parameters.
const SIMD16_FOUR: &[u8] = &[0, 1, 2, 3, 4, 5, 6, 7];
/// SIMD8: u, v, r.
const SIMD8: &[u8] = &[0, 1, 2];
/// SIMD8: u, v, r and, behind the array index, the reference and the bias or LOD, which change places.
const SIMD8_SIXTH: &[u8] = &[0, 1, 2, 5, 4];

/// SIMD mode in 17:16, message type in 15:12.
fn sampler(msg: &Message<'_>, header: bool) -> Result<Control, &'static str> {
    let mode = msg.desc >> 16 & 3;
    let kind = msg.desc >> 12 & 0xf;
    let params = msg.payload.len().saturating_sub(usize::from(header));
    let (kind, order) = match (mode, kind, params) {
        (2, 0, 1..=2) => (0, &SIMD16_FOUR[..2]),
        (2, 0, 3..=4) => (0, &SIMD16_FOUR[..4]),
        (2, 0, 5..=6) => (0, &SIMD16_FOUR[..6]),
        (1, 0, 1..=3) => (0, SIMD8),
        (2, 1, 10) => (0, SIMD16_FIFTH),
        (2, 2, 10) => (1, SIMD16_FIFTH),
        (2, 3, 10) => (2, SIMD16_FIFTH),
        (1, 5, 6) => (0, SIMD8_SIXTH),
        (1, 6, 6) => (1, SIMD8_SIXTH),
        (2, 7, 1..=8) => (3, SIMD16_FOUR),
        (2, 10, 1..=2) => (2, &SIMD16_FOUR[..2]),
        (_, 9, _) => return Err("sampler LOD message"),
        (_, 4, _) => return Err("sampler message with gradients"),
        (0, ..) => return Err("SIMD4x2 sampler message"),
        (3, ..) => return Err("SIMD32 sampler message"),
        (1, ..) => {
            return Err("SIMD8 sampler message with a bias, LOD, reference or texel address");
        }
        _ => return Err("sampler message"),
    };
    Ok(Control {
        bits: msg.function_control & 0xfff | kind << 14,
        payload: Some(Assembly { header, order }),
    })
}
