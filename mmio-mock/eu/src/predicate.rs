//! Predicates: which channels the flags choose.
//!
//! PRM: volume 4, 11.3.4.6, 11.4.

use crate::decoded::Decoded;
use crate::thread::Thread;
use isa::inst::PredCtrl;

impl Thread {
    /// The predicate, one bit a channel of the instruction (PRM 11.4).
    #[inline]
    pub(crate) fn predicate(&self, d: &Decoded) -> u16 {
        let f = self.flag[usize::from(d.flag & 3)];
        // Both subregisters of the register.
        let [low, high] = [0, 1].map(|sub| self.flag[usize::from(d.flag & 2 | sub)]);
        let m = match d.pred {
            PredCtrl::None => 0xffff,
            PredCtrl::Normal => f,
            PredCtrl::AnyV => low | high,
            PredCtrl::AllV => low & high,
            PredCtrl::Any2h => any(f, 2),
            PredCtrl::All2h => all(f, 2),
            PredCtrl::Any4h | PredCtrl::AlignAny4h => any(f, 4),
            PredCtrl::All4h | PredCtrl::AlignAll4h => all(f, 4),
            PredCtrl::Any8h => any(f, 8),
            PredCtrl::All8h => all(f, 8),
            PredCtrl::Any16h => any(f, 16),
            PredCtrl::All16h => all(f, 16),
            PredCtrl::Any32h => any(low | high, 16),
            PredCtrl::All32h => all(low & high, 16),
            PredCtrl::ReplX => replicate(f, 0),
            PredCtrl::ReplY => replicate(f, 1),
            PredCtrl::ReplZ => replicate(f, 2),
            PredCtrl::ReplW => replicate(f, 3),
        };
        let m = if d.pred == PredCtrl::None {
            m
        } else if d.pred_inv {
            !m
        } else {
            m
        };
        m >> (d.shift & 15)
    }

    /// Writes the flag bits of the enabled channels (PRM 11.3.4.6).
    #[inline(always)]
    pub(crate) fn set_flags(&mut self, d: &Decoded, mask: u16, bits: u16) {
        let f = &mut self.flag[usize::from(d.flag & 3)];
        let shift = d.shift & 15;
        let m = mask << shift;
        *f = (*f & !m) | ((bits << shift) & m);
    }
}

/// Every group of `n` bits becomes the OR of its bits.
pub(crate) fn any(f: u16, n: u32) -> u16 {
    groups(f, n, |g, _| g != 0)
}

/// Every group of `n` bits becomes the AND of its bits.
pub(crate) fn all(f: u16, n: u32) -> u16 {
    groups(f, n, |g, full| g == full)
}

fn groups(f: u16, n: u32, test: impl Fn(u32, u32) -> bool) -> u16 {
    let full = (1u32 << n) - 1;
    let mut out = 0;
    let mut at = 0;
    while at < 16 {
        if test((u32::from(f) >> at) & full, full) {
            out |= full << at;
        }
        at += n;
    }
    out as u16
}

/// Bit `k` of every group of four, in all four places.
pub(crate) fn replicate(f: u16, k: u32) -> u16 {
    ((f >> k) & 0x1111) * 0xf
}
