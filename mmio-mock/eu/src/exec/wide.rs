//! 32 channels: sixteen, then the sixteen behind them.
//!
//! PRM: Sandy Bridge volume 4 part 2, execution size. Lowering says how far apart the halves of each operand are.

use crate::decoded::{Behind, Decoded, DstKind, Indirect, More, Next, SrcKind, Table};
use crate::grf::{BYTES, MRF_BASE, SINK_BASE};
use crate::region;
use crate::thread::Thread;

/// Executes both halves of an instruction.
pub(crate) fn both_halves(t: &mut Thread, d: &Decoded) -> Next {
    let More::Halves(halves) = &d.more else {
        return Next::Illegal;
    };
    let next = (halves.run)(t, d);
    if next != Next::Seq || t.jumped {
        return next;
    }
    (halves.run)(t, &second_half(d))
}

/// The instruction on channels 16 to 31.
pub(crate) fn second_half(d: &Decoded) -> Decoded {
    let mut second = *d;
    // A thread has 32 channels.
    second.shift = (d.shift + 16) & 31;
    second.flag ^= 1;
    if d.acc_word {
        second.acc_lane ^= 8;
    }
    let (dst, sources) = match &d.more {
        More::Halves(halves) => (halves.dst, halves.src),
        _ => Default::default(),
    };
    match &mut second.dst.kind {
        DstKind::Table(table) => {
            for byte in table.iter_mut() {
                *byte = behind_dst(*byte, dst.bytes, usize::from(d.send.end));
            }
        }
        DstKind::Arf(_, table) => in_image(table, dst.bytes),
        DstKind::Acc(lanes, _) => other(lanes),
        DstKind::Indirect(ind) => shift(ind, dst),
        DstKind::Null | DstKind::Vec(_) => {}
    }
    for (s, behind) in second.src.iter_mut().zip(sources) {
        match &mut s.kind {
            SrcKind::Table(table) => {
                for byte in table.iter_mut() {
                    *byte = region::advance(*byte, behind.bytes);
                }
            }
            SrcKind::Arf(_, table) => in_image(table, behind.bytes),
            SrcKind::Acc(lanes) => other(lanes),
            SrcKind::Indirect(ind) => shift(ind, behind),
            SrcKind::Null | SrcKind::Vec(_) | SrcKind::Scalar(_) | SrcKind::Imm(_) => {}
        }
    }
    second
}

/// A placed destination lane further on in its file; message registers exist before register `behind` of the array.
fn behind_dst(byte: u16, bytes: u16, behind: usize) -> u16 {
    let (from, mrf) = (usize::from(byte), MRF_BASE * BYTES);
    let to = from + usize::from(bytes);
    let end = if from < mrf { mrf } else { behind * BYTES };
    if from < end && to < end {
        // CAST: inside of the array.
        to as u16
    } else {
        (SINK_BASE * BYTES) as u16
    }
}

fn in_image(table: &mut Table, bytes: u16) {
    for byte in table {
        *byte = byte.saturating_add(bytes);
    }
}

/// The sixteen word lanes of the other accumulator.
fn other(lanes: &mut [u8; 16]) {
    for lane in lanes {
        *lane ^= 8;
    }
}

fn shift(ind: &mut Indirect, behind: Behind) {
    for row in &mut ind.row {
        *row = row.wrapping_add(behind.rows);
    }
    ind.imm = ind.imm.wrapping_add(behind.bytes as i16);
}
