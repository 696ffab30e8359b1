//! What a new thread finds in its registers: header, constants, URB data.
//!
//! PRM: volume 4, 1.2 (thread payload), 8.2 (the dispatcher reads the URB).

use eu::Grf;

use super::{ThreadRequest, UrbRead, VertexData};
use crate::intel::urb::Urb;

/// Copies header, constants and vertex data into the registers of a new thread; comes back with how many
/// registers that were.
pub(super) fn load(grf: &mut [Grf], request: &ThreadRequest<'_>, urb: &Urb) -> u64 {
    for (to, from) in grf.iter_mut().zip(request.header) {
        *to = *from;
    }
    let mut at = usize::from(request.kernel.urb_start);
    if let Some(constants) = request.constants {
        at = load_rows(grf, at, constants, urb);
    }
    match request.data {
        VertexData::Sequential(reads) => {
            for read in reads {
                at = load_rows(grf, at, *read, urb);
            }
        }
        VertexData::Interleaved(a, b) => {
            for row in 0..a.rows {
                let left = urb
                    .row(a.handle, a.offset + row)
                    .copied()
                    .unwrap_or_default();
                let right = urb
                    .row(b.handle, b.offset + row)
                    .copied()
                    .unwrap_or_default();
                for half in 0..2 {
                    if let Some(to) = grf.get_mut(at) {
                        to[..4].copy_from_slice(&left[half * 4..half * 4 + 4]);
                        to[4..].copy_from_slice(&right[half * 4..half * 4 + 4]);
                    }
                    at += 1;
                }
            }
        }
    }
    (request.header.len() + at - usize::from(request.kernel.urb_start)) as u64
}

fn load_rows(grf: &mut [Grf], at: usize, read: UrbRead, urb: &Urb) -> usize {
    let end = at + usize::from(read.rows);
    let whole = urb.rows(read.handle, read.offset, read.rows);
    if let (Some(to), Some(from)) = (grf.get_mut(at..end), whole) {
        to.copy_from_slice(from);
        return end;
    }
    for (at, row) in (at..end).zip(0..) {
        // A read past the end of the URB delivers zeros; past r127 nothing is loaded.
        if let Some(to) = grf.get_mut(at) {
            let row = urb.row(read.handle, read.offset + row);
            *to = row.copied().unwrap_or_default();
        }
    }
    end
}
