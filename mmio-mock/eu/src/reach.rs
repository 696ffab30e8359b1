//! How far instructions reach into the registers.
//!
//! PRM: volume 4, 11.3.2. A thread starts with zeros in the registers that it was not given; only those that earlier
//! threads may have written have to be cleared for it.

use crate::decoded::{Decoded, DstKind, More};
use crate::grf::{BYTES, DWORDS, GRF_COUNT, MRF_BASE, MRF_COUNT};
use isa::Opcode;

/// Channels of the widest handler.
const LANES: usize = 16;

/// Registers that may be other than zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reach {
    /// General registers from r0 on.
    pub(crate) general: u8,
    /// Message registers from m0 on.
    pub(crate) message: u8,
    /// The accumulators.
    pub(crate) accumulator: bool,
}

impl Reach {
    /// All registers.
    pub(crate) const ALL: Reach = Reach {
        general: GRF_COUNT as u8,
        message: MRF_COUNT as u8,
        accumulator: true,
    };

    /// So many general registers.
    pub(crate) fn general(count: usize) -> Reach {
        Reach {
            // CAST: 128 at most.
            general: count.min(GRF_COUNT) as u8,
            ..Reach::default()
        }
    }

    /// So many message registers.
    pub(crate) fn message(count: usize) -> Reach {
        Reach {
            // CAST: 24 at most.
            message: count.min(MRF_COUNT) as u8,
            ..Reach::default()
        }
    }

    /// What one or the other reaches.
    pub(crate) fn and(self, other: Reach) -> Reach {
        Reach {
            general: self.general.max(other.general),
            message: self.message.max(other.message),
            accumulator: self.accumulator | other.accumulator,
        }
    }

    /// The registers from `first` to before `end`, of the array that has all of them.
    fn registers(first: usize, end: usize) -> Reach {
        if first < GRF_COUNT {
            Reach::general(end).and(Reach::message(end.saturating_sub(MRF_BASE)))
        } else {
            Reach::message(end - MRF_BASE)
        }
    }
}

/// What an instruction may write.
pub(crate) fn of(d: &Decoded) -> Reach {
    let out = match d.op {
        Opcode::Send | Opcode::Sendc => message(d),
        _ => destination(d),
    };
    Reach {
        accumulator: out.accumulator || d.acc_write,
        ..out
    }
}

/// The implied move and the response.
fn message(d: &Decoded) -> Reach {
    let op = &d.send;
    // The second of two messages begins one register further on, and answers there.
    let moved = Reach::message(op.implied.map_or(0, |_| usize::from(op.mrf) + 2));
    moved.and(match (op.dst, op.desc) {
        (None, _) => Reach::default(),
        (Some(_), None) => Reach::ALL,
        (Some(nr), Some(desc)) => {
            let response = desc >> (op.response_at & 31) & u32::from(op.response_max);
            Reach::general(usize::from(nr) + response as usize + 1)
        }
    })
}

fn destination(d: &Decoded) -> Reach {
    match &d.dst.kind {
        DstKind::Null | DstKind::Arf(..) => Reach::default(),
        DstKind::Acc(..) => Reach {
            accumulator: true,
            ..Reach::default()
        },
        DstKind::Indirect(_) => Reach::ALL,
        DstKind::Vec(_) | DstKind::Table(_) if matches!(d.more, More::Halves(_)) => Reach::ALL,
        DstKind::Vec(off) => {
            let off = usize::from(*off);
            Reach::registers(off / DWORDS, (off + LANES).div_ceil(DWORDS))
        }
        DstKind::Table(lanes) => {
            let registers = lanes.iter().map(|at| usize::from(*at) / BYTES);
            let each = registers.map(|nr| Reach::registers(nr, nr + 1));
            each.fold(Reach::default(), Reach::and)
        }
    }
}
