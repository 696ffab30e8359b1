//! How far instructions reach into the registers.
//!
//! PRM: volume 4, 11.3.2. A thread starts with zeros in the registers that it was not given; only those that earlier
//! threads may have written have to be cleared for it.

use crate::decoded::{Decoded, DstKind, More};
use crate::grf::{BYTES, DWORDS, GRF_COUNT, MRF_BASE, MRF_COUNT};
use isa::Opcode;

/// Channels of the widest handler.
const LANES: usize = 16;

/// Registers of a bit: a line of the host's cache.
pub(crate) const PAIR: usize = 2;
/// Pairs that a thread's start clears: general registers, and behind them the message registers.
const PAIRS: usize = (MRF_BASE + MRF_COUNT) / PAIR;

/// Registers that may be other than zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reach {
    /// A bit for each two of the array of registers, from r0 on.
    pub(crate) pairs: u128,
    /// The accumulators.
    pub(crate) accumulator: bool,
}

impl Reach {
    /// All registers.
    pub(crate) const ALL: Reach = Reach {
        pairs: (1 << PAIRS) - 1,
        accumulator: true,
    };

    /// So many general registers, from r0 on.
    pub(crate) fn general(count: usize) -> Reach {
        Reach::registers(0, count.min(GRF_COUNT))
    }

    /// So many message registers, from m0 on.
    pub(crate) fn message(count: usize) -> Reach {
        Reach::registers(MRF_BASE, MRF_BASE + count)
    }

    /// What one or the other reaches.
    pub(crate) fn and(self, other: Reach) -> Reach {
        Reach {
            pairs: self.pairs | other.pairs,
            accumulator: self.accumulator | other.accumulator,
        }
    }

    /// The registers from `first` to before `end`, of the array that has all of them. What lies behind the message registers is
    /// nobody's to find.
    fn registers(first: usize, end: usize) -> Reach {
        let below = |pair: usize| (1u128 << pair.min(PAIRS)) - 1;
        Reach {
            pairs: below(end.div_ceil(PAIR)) & !below(first / PAIR),
            accumulator: false,
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
    let moved = op.implied.map_or(Reach::default(), |_| {
        let first = usize::from(op.payload);
        Reach::registers(first, first + 2)
    });
    moved.and(match (op.dst, op.desc) {
        (None, _) => Reach::default(),
        (Some(_), None) => Reach::ALL,
        (Some(nr), Some(desc)) => {
            let response = desc >> (op.response_at & 31) & u32::from(op.response_max);
            let first = usize::from(nr);
            // It ends with the general registers.
            Reach::registers(first, (first + response as usize + 1).min(GRF_COUNT))
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
