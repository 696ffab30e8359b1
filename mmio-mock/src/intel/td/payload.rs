//! What a new thread finds in its registers: header, constants, URB data.
//!
//! PRM: volume 4, 1.2 (thread payload), 8.2 (the dispatcher reads the URB).

use eu::Grf;
use mem::{Fault, Memory};

use super::{ConstantSource, KernelState, Pushed, ThreadRequest, UrbRead, VertexData};
use crate::intel::urb::Urb;

/// The register behind the last that the payload fills.
pub(super) fn end(request: &ThreadRequest<'_>) -> usize {
    let constants: usize = match &request.constants {
        None => 0,
        Some(ConstantSource::Entry(read)) => read.rows.into(),
        Some(ConstantSource::Memory(pushed)) => {
            let rows = pushed.buffers.iter().map(|&(_, rows)| usize::from(rows));
            rows.sum()
        }
    };
    let data = match request.data {
        VertexData::Sequential(reads) => reads.iter().map(|read| usize::from(read.rows)).sum(),
        VertexData::Registers(registers) => registers.len(),
        VertexData::Interleaved(a, _) => 2 * usize::from(a.rows),
        VertexData::Pairs(pairs) => pairs.iter().map(|[a, _]| 2 * usize::from(a.rows)).sum(),
    };
    let behind = usize::from(request.kernel.urb_start) + constants + data;
    request.header.len().max(behind)
}

/// Writes the number of a new thread into its header: r0.5 bits 7:0 (PRM vol4 8.4.3.1).
#[inline]
pub(super) fn number(registers: &mut [Grf], fftid: u8) {
    if let Some(r0) = registers.first_mut() {
        r0[5] = (r0[5] & !0xff) | u32::from(fftid);
    }
}

/// Copies header, constants and vertex data into the registers of a new thread; comes back with how many
/// registers that were. What cannot be read is told, and zero.
pub(super) fn load(
    grf: &mut [Grf],
    request: &ThreadRequest<'_>,
    (mem, urb): (&Memory, &Urb),
    faults: &mut dyn FnMut(Fault),
) -> u64 {
    for (to, from) in grf.iter_mut().zip(request.header) {
        *to = *from;
    }
    let mut at = usize::from(request.kernel.urb_start);
    match &request.constants {
        None => {}
        Some(ConstantSource::Entry(read)) => at = load_rows(grf, at, *read, urb),
        Some(ConstantSource::Memory(pushed)) => at = load_pushed(grf, at, pushed, mem, faults),
    }
    match request.data {
        VertexData::Sequential(reads) => {
            for read in reads {
                at = load_rows(grf, at, *read, urb);
            }
        }
        VertexData::Registers(registers) => {
            for (to, from) in grf.iter_mut().skip(at).zip(registers) {
                *to = *from;
            }
            at += registers.len();
        }
        VertexData::Interleaved(a, b) => at = load_pair(grf, at, [a, b], urb),
        VertexData::Pairs(pairs) => {
            for &pair in pairs {
                at = load_pair(grf, at, pair, urb);
            }
        }
    }
    (request.header.len() + at - usize::from(request.kernel.urb_start)) as u64
}

/// Constants of all threads that have these in common, as they get them one behind the other; `false` when some cannot be read.
pub(super) fn constants(
    common: &ThreadRequest<'_>,
    memory: (&Memory, &Urb),
    rows: &mut Vec<Grf>,
) -> bool {
    let common = ThreadRequest {
        kernel: KernelState::default(),
        header: &[],
        data: VertexData::Registers(&[]),
        ..*common
    };
    let mut whole = true;
    rows.clear();
    rows.resize(end(&common), Grf::default());
    load(rows, &common, memory, &mut |_| whole = false);
    whole
}

/// Adds what threads find behind their constants.
pub(super) fn data(request: &ThreadRequest<'_>, urb: &Urb, rows: &mut Vec<Grf>) {
    match request.data {
        VertexData::Registers(registers) => rows.extend_from_slice(registers),
        VertexData::Sequential(reads) => {
            for read in reads {
                let at = rows.len();
                rows.resize(at + usize::from(read.rows), Grf::default());
                load_rows(rows, at, *read, urb);
            }
        }
        // Vertices are no pixels.
        VertexData::Interleaved(..) | VertexData::Pairs(_) => {}
    }
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
            let row = urb.row(read.handle, read.offset.saturating_add(row));
            *to = row.copied().unwrap_or_default();
        }
    }
    end
}

/// Rows of two entries side by side: a row becomes two registers.
fn load_pair(grf: &mut [Grf], at: usize, [a, b]: [UrbRead; 2], urb: &Urb) -> usize {
    let mut at = at;
    for row in 0..a.rows {
        let [left, right] = [a, b].map(|read| {
            let row = urb.row(read.handle, read.offset.saturating_add(row));
            row.copied().unwrap_or_default()
        });
        for half in 0..2 {
            if let Some(to) = grf.get_mut(at) {
                to[..4].copy_from_slice(&left[half * 4..half * 4 + 4]);
                to[4..].copy_from_slice(&right[half * 4..half * 4 + 4]);
            }
            at += 1;
        }
    }
    at
}

/// Constants that are pushed from memory; a row that cannot be read is a fault, and zeros.
fn load_pushed(
    grf: &mut [Grf],
    at: usize,
    pushed: &Pushed,
    mem: &Memory,
    faults: &mut dyn FnMut(Fault),
) -> usize {
    let mut at = at;
    for &(address, rows) in &pushed.buffers {
        // Most lie in one page.
        let end = at + usize::from(rows);
        if rows > 0
            && let Some(to) = grf.get_mut(at..end)
            && mem.read_page_dwords(address, to.as_flattened_mut())
        {
            at = end;
            continue;
        }
        for row in 0..rows {
            if let Some(to) = grf.get_mut(at) {
                let from = address.offset(u32::from(row) * 32);
                if let Err(fault) = mem.read_dwords(from, to) {
                    *to = [0; 8];
                    faults(fault);
                }
            }
            at += 1;
        }
    }
    at
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::intel::urb::UrbHandle;

    /// Where constants begin in their entry is a number of the program's; behind the end of the URB there are zeros, and not its first rows.
    #[test]
    fn rows_behind_the_urb_are_zero() {
        let mut urb = Urb::new();
        *urb.row_mut(UrbHandle(0), 0).unwrap() = [9; 8];
        for offset in [0xfffe, 0xffff] {
            let read = UrbRead {
                handle: UrbHandle(0),
                offset,
                rows: 3,
            };
            let mut grf = [[7; 8]; 7];
            assert_eq!(load_rows(&mut grf, 1, read, &urb), 4);
            assert_eq!(grf[1..4], [[0; 8]; 3]);
            assert_eq!(load_pair(&mut grf, 1, [read, read], &urb), 7);
            assert_eq!(
                grf,
                [[7; 8], [0; 8], [0; 8], [0; 8], [0; 8], [0; 8], [0; 8]]
            );
        }
    }
}
