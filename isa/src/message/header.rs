//! What the descriptors of every unit have in common: target, lengths, header bit.
//!
//! PRM: volume 4, 2.6.2; Ironlake and later from Mesa 22.3.6 `brw_inst.h`.

use crate::inst::{SendDesc, Verx10};
use crate::tables::message::lengths;

/// What an immediate descriptor and the fields beside it say, whatever the unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Number of the target unit.
    pub target: u32,
    /// Registers of the payload.
    pub length: u32,
    /// Registers of the response.
    pub response: u32,
    /// The payload begins with a header; `None` before Gen5, where messages do not say it.
    pub header: Option<bool>,
    /// Function control: the bits of the unit.
    pub control: u32,
}

impl Header {
    /// Of a send; `None` when its descriptor comes from a register.
    pub fn of(generation: Verx10, send: &SendDesc) -> Option<Header> {
        let desc = send.imm?;
        let at = lengths(generation);
        let header = at.header.map(|bit| bit.get(desc) != 0);
        Some(Header {
            target: at
                .target
                .map_or(u32::from(send.sfid), |bits| bits.get(desc)),
            length: at.mlen.get(desc),
            response: at.rlen.get(desc),
            header,
            control: desc & if header.is_some() { 0x7_ffff } else { 0xffff },
        })
    }
}
