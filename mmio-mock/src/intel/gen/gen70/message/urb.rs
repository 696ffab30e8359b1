//! Descriptors of the URB: writes, reads, atomic operations.
//!
//! Mesa 22.3.6 brw_inst.h (`urb_opcode` 2:0, `urb_global_offset` 13:3, `urb_swizzle_control` 14, `urb_complete` 15,
//! `urb_per_slot_offset` 16), brw_eu_defines.h (`BRW_URB_OPCODE_*`).

use crate::intel::shared::urb_msg::entries::{EntryOp, EntryRequest, Step};

/// What a descriptor asks for.
pub const fn urb(desc: u32) -> EntryRequest {
    let op = match desc & 7 {
        0 => Some(EntryOp::Write(Step::Row)),
        1 => Some(EntryOp::Write(Step::Half)),
        2 => Some(EntryOp::Read(Step::Row)),
        3 => Some(EntryOp::Read(Step::Half)),
        4 => Some(EntryOp::Move),
        5 => Some(EntryOp::Increment),
        _ => None,
    };
    EntryRequest {
        op,
        // CAST: eleven bits.
        offset: (desc >> 3 & 0x7ff) as u16,
        interleaved: desc >> 14 & 1 == 1,
        per_slot: desc >> 16 & 1 == 1,
        complete: desc >> 15 & 1 == 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Descriptors of captured shaders, beside what the driver's disassembler says of them.
    #[test]
    fn descriptors_of_captured_shaders() {
        let row = Some(EntryOp::Write(Step::Row));
        // "offset 1 write HWord per-slot interleave"
        let vertex = EntryRequest {
            op: row,
            offset: 1,
            interleaved: true,
            per_slot: true,
            complete: false,
        };
        assert_eq!(urb(0x0a09_4008), vertex);
        // "offset 0 write OWord interleave"
        let cuts = EntryRequest {
            op: Some(EntryOp::Write(Step::Half)),
            offset: 0,
            per_slot: false,
            ..vertex
        };
        assert_eq!(urb(0x0408_4001), cuts);
        // "offset 0 write HWord interleave", at the end of a geometry shader
        assert_eq!(urb(0x8208_4000), EntryRequest { op: row, ..cuts });
        // "offset 0 write HWord interleave complete", at the end of a vertex shader
        let end = EntryRequest {
            op: row,
            complete: true,
            ..cuts
        };
        assert_eq!(urb(0x8e08_c000), end);
        assert_eq!(urb(6).op, None);
        assert_eq!(urb(7).op, None);
        assert_eq!(urb(0x3ff8).offset, 0x7ff);
    }
}
