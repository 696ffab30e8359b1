//! Loading sources into lanes and storing lanes to destinations.
//!
//! PRM: volume 4, 11.3 (operands), 10.3.1.2 (denormals), 10.4 (conversions).

use crate::decoded::{Decoded, Dst, DstKind, Indirect, Num, Src, SrcKind, Third};
use crate::grf::{self, BYTES, DWORDS, GRF_COUNT, MRF_BASE, SINK_BASE, ZERO_BASE};
use crate::region::grf_offset;
use crate::rounding::int_to_odd;
use crate::thread::Thread;

/// Smallest normal single float.
const MIN_NORMAL: f64 = f32::MIN_POSITIVE as f64;

/// A float element with denormals flushed and modifiers applied.
#[inline(always)]
pub(crate) fn modified(bits: u32, and: u32, xor: u32) -> u32 {
    let flush = 0u32.wrapping_sub(u32::from(bits & 0x7f80_0000 == 0)) & 0x7fff_ffff;
    (bits & !flush & and) ^ xor
}

/// A float element with modifiers applied and denormals flushed, widened.
#[inline(always)]
pub(crate) fn widen(bits: u32, and: u32, xor: u32) -> f64 {
    f64::from(f32::from_bits(modified(bits, and, xor)))
}

/// `widen` of all lanes: two loops, each of one element width, so that each vectorises fully.
#[inline(always)]
pub(crate) fn widen_all<const N: usize>(mut raw: [u32; N], and: u32, xor: u32) -> [f64; N] {
    for v in &mut raw {
        *v = modified(*v, and, xor);
    }
    // Keeps the compiler from fusing the loops into one of half the width.
    let raw = std::hint::black_box(&raw);
    let mut out = [0.0; N];
    for i in 0..N {
        out[i] = f64::from(f32::from_bits(raw[i]));
    }
    out
}

/// A result as single float bits: rounded toward zero, denormals flushed (PRM 10.3.1.2).
#[inline(always)]
#[must_use]
pub fn narrow(x: f64) -> u32 {
    // The low 29 bits are what single precision cannot hold; a NaN keeps its quiet bit.
    let keep = if x.abs() < MIN_NORMAL {
        1 << 63
    } else {
        !0x1fff_ffff
    };
    (f64::from_bits(x.to_bits() & keep) as f32).to_bits()
}

/// `narrow` of all lanes where that is simple; `None` when a lane is NaN, denormal or next to it,
/// where truncation by mask alone could be wrong.
#[inline(always)]
pub(crate) fn narrow_all<const N: usize>(r: &[f64; N]) -> Option<[u32; N]> {
    const AROUND: i32 = 0x8080_0000u32 as i32;
    let mut raw = [0; N];
    for i in 0..N {
        raw[i] = (f64::from_bits(r[i].to_bits() & !0x1fff_ffff) as f32).to_bits();
    }
    // Magnitudes 1 to 80_0000h become the smallest integers, zero the greatest.
    let mut odd = 0u32;
    for v in &raw {
        let magnitude = (v & 0x7fff_ffff).wrapping_add(0x7fff_ffff) as i32;
        odd |= u32::from(magnitude < AROUND);
    }
    (odd == 0 && !may_be_nan(r)).then_some(raw)
}

/// Whether a lane is NaN; also `true` for some lanes with infinities of both signs.
#[inline(always)]
pub(crate) fn may_be_nan<const N: usize>(r: &[f64; N]) -> bool {
    // A NaN makes any sum NaN: one addition a lane is less than one test a lane.
    let mut sum = [0.0; 4];
    for four in r.chunks_exact(4) {
        for i in 0..4 {
            sum[i] += four[i];
        }
    }
    ((sum[0] + sum[2]) + (sum[1] + sum[3])).is_nan()
}

/// Whether a lane is infinite (or NaN), which ALT mode replaces.
#[inline(always)]
pub(crate) fn any_infinity<const N: usize>(raw: &[u32; N]) -> bool {
    let mut found = 0;
    for v in raw {
        found |= u32::from(v & 0x7f80_0000 == 0x7f80_0000);
    }
    found != 0
}

/// Float to integer: toward zero, clamped to the type, NaN gives 0 (PRM 10.4.1).
#[inline(always)]
pub(crate) fn float_to_int(x: f64, num: Num) -> u32 {
    let (lo, hi) = num.range();
    // CAST: `as` truncates toward zero, saturates and maps NaN to 0, as the manual asks.
    (x as i64).clamp(lo, hi) as u32
}

impl Indirect {
    /// Byte offsets of the lanes now.
    #[inline]
    pub(crate) fn resolve(&self, a0: &[u16; 8], outside: usize) -> [u16; 16] {
        let mut out = [0; 16];
        for (lane, o) in out.iter_mut().enumerate() {
            // Twelve bits address the GRF, also of the subregisters with sixteen (11.3.4.4).
            let addr = a0[usize::from(self.subreg.wrapping_add(self.row[lane]) & 7)] & 0xfff;
            let byte = i32::from(addr) + i32::from(self.imm) + i32::from(self.rel[lane]);
            *o = grf_offset(byte, outside);
        }
        out
    }

    /// Byte offset of the first lane now, when it and what follows, `length` bytes in all, are inside of r0..r127.
    #[inline(always)]
    pub(crate) fn start(&self, a0: &[u16; 8], length: i32) -> Option<u16> {
        let addr = a0[usize::from(self.subreg.wrapping_add(self.row[0]) & 7)] & 0xfff;
        let byte = i32::from(addr) + i32::from(self.imm) + i32::from(self.rel[0]);
        let inside = byte >= 0 && byte + length <= (MRF_BASE * BYTES) as i32;
        // CAST: below MRF_BASE * BYTES.
        inside.then_some(byte as u16)
    }
}

impl Thread {
    /// Raw elements, zero-extended, no modifiers.
    #[inline(always)]
    pub(crate) fn load_raw<const N: usize>(&self, s: &Src) -> [u32; N] {
        match &s.kind {
            SrcKind::Vec(off) => self.regs.vec::<N>(*off),
            SrcKind::Scalar(off) => [self.regs.dword(*off); N],
            SrcKind::Imm(v) => {
                let mut out = [0; N];
                for i in 0..N {
                    out[i] = v[i & 7];
                }
                out
            }
            _ => self.load_slow::<N>(s),
        }
    }

    #[inline(never)]
    fn load_slow<const N: usize>(&self, s: &Src) -> [u32; N] {
        let size = s.num.size();
        let mut out = [0; N];
        match &s.kind {
            SrcKind::Table(t) => {
                if size == 4 {
                    for i in 0..N {
                        out[i] = self.regs.dword(t[i] >> 2);
                    }
                } else {
                    for i in 0..N {
                        out[i] = self.regs.elem(t[i], size);
                    }
                }
            }
            SrcKind::Arf(nr, t) => {
                let image = self.arf_read(*nr);
                for i in 0..N {
                    out[i] = grf::elem(&image, t[i], size);
                }
            }
            SrcKind::Indirect(ind) => {
                let t = ind.resolve(&self.a0, ZERO_BASE);
                for i in 0..N {
                    out[i] = self.regs.elem(t[i], size);
                }
            }
            SrcKind::Acc(lanes) => {
                for i in 0..N {
                    out[i] = if s.num == Num::F && self.acc.holds_float(lanes[i]) {
                        narrow(self.acc.float(lanes[i]))
                    } else {
                        let bits = 8 * u32::from(size.min(4));
                        self.acc.int(lanes[i]) as u32 & (u32::MAX >> (32 - bits))
                    };
                }
            }
            SrcKind::Null | SrcKind::Vec(_) | SrcKind::Scalar(_) | SrcKind::Imm(_) => {}
        }
        out
    }

    /// The last of three sources, as it is.
    #[inline(always)]
    pub(crate) fn third<const N: usize>(&self, s: &Third) -> [u32; N] {
        let inside = usize::from(s.first) + N <= GRF_COUNT * DWORDS;
        if inside && !s.scalar && s.swizzle == [0, 1, 2, 3] {
            return self.regs.vec::<N>(s.first);
        }
        // Past r127 there is nothing to read.
        let value = |at: usize| self.grf().as_flattened().get(at).copied().unwrap_or(0);
        std::array::from_fn(|lane| value(s.dword(lane)))
    }

    /// Source lanes as extended-precision floats.
    #[inline(always)]
    pub(crate) fn load_float<const N: usize>(&self, s: &Src) -> [f64; N] {
        if !s.fast_float {
            return self.load_float_slow::<N>(s);
        }
        widen_all(self.load_raw::<N>(s), s.and, s.xor)
    }

    #[inline(never)]
    fn load_float_slow<const N: usize>(&self, s: &Src) -> [f64; N] {
        let mut out = [0.0; N];
        match (&s.kind, s.num) {
            (SrcKind::Acc(lanes), Num::F) => {
                // The denormal flush does not apply to accumulators (11.3.4.5).
                for i in 0..N {
                    let v = self.acc.float(lanes[i]);
                    let v = if s.abs { v.abs() } else { v };
                    out[i] = if s.negate { -v } else { v };
                }
            }
            (_, Num::F) => {
                let raw = self.load_raw::<N>(s);
                for i in 0..N {
                    out[i] = widen(raw[i], s.and, s.xor);
                }
            }
            _ => {
                let v = self.load_int::<N>(s);
                for i in 0..N {
                    out[i] = v[i] as f64;
                }
            }
        }
        out
    }

    /// Source lanes as wide integers.
    #[inline(always)]
    pub(crate) fn load_int<const N: usize>(&self, s: &Src) -> [i64; N] {
        let mut out = [0; N];
        if let SrcKind::Acc(lanes) = &s.kind {
            for i in 0..N {
                let v = self.acc.int(lanes[i]);
                let v = if s.abs { v.wrapping_abs() } else { v };
                out[i] = if s.negate { v.wrapping_neg() } else { v };
            }
            return out;
        }
        let raw = self.load_raw::<N>(s);
        for i in 0..N {
            let v = s.num.extend(raw[i]);
            let v = if s.abs { v.abs() } else { v };
            out[i] = if s.negate { -v } else { v };
        }
        out
    }

    /// Writes the lanes of `mask`, already in destination format.
    #[inline(always)]
    pub(crate) fn store_raw<const N: usize>(&mut self, d: &Dst, mask: u16, vals: &[u32; N]) {
        match &d.kind {
            DstKind::Vec(off) => self.regs.set_vec(*off, mask, vals),
            DstKind::Null => {}
            _ => self.store_slow(d, mask, vals),
        }
    }

    #[inline(never)]
    fn store_slow(&mut self, d: &Dst, mask: u16, vals: &[u32]) {
        let size = d.num.size();
        let lanes = vals.iter().enumerate().filter(|(i, _)| mask >> i & 1 != 0);
        match &d.kind {
            DstKind::Table(t) => {
                for (i, &v) in lanes {
                    self.regs.set_elem(t[i], size, v);
                }
            }
            DstKind::Indirect(ind) => {
                let t = ind.resolve(&self.a0, SINK_BASE);
                for (i, &v) in lanes {
                    self.regs.set_elem(t[i], size, v);
                }
            }
            // A write without channels is none: one of the instruction pointer would be a jump.
            DstKind::Arf(..) if mask == 0 => {}
            DstKind::Arf(nr, t) => {
                let mut image = self.arf_read(*nr);
                for (i, &v) in lanes {
                    grf::set_elem(&mut image, t[i], size, v);
                }
                self.arf_write(*nr, &image);
            }
            DstKind::Acc(t, _) => {
                for (i, &v) in lanes {
                    if d.num == Num::F {
                        self.acc.set_float(t[i], f64::from(f32::from_bits(v)));
                    } else {
                        self.acc.set_int(t[i], d.num.extend(v));
                    }
                }
            }
            DstKind::Null | DstKind::Vec(_) => {}
        }
    }

    /// Converts float results to the destination type and writes them.
    #[inline(always)]
    pub(crate) fn store_float<const N: usize>(&mut self, d: &Dst, mask: u16, r: &[f64; N]) {
        match (&d.kind, d.num) {
            (DstKind::Vec(off), Num::F) => {
                let mut raw = [0; N];
                if d.round {
                    raw = r.map(|v| self.rounding.narrow(v));
                } else {
                    for i in 0..N {
                        raw[i] = narrow(r[i]);
                    }
                }
                self.regs.set_vec(*off, mask, &raw);
            }
            (DstKind::Null, _) => {}
            _ => self.store_float_slow(d, mask, r),
        }
    }

    #[inline(never)]
    fn store_float_slow<const N: usize>(&mut self, d: &Dst, mask: u16, r: &[f64; N]) {
        let mut raw = [0; N];
        if d.num == Num::F {
            if let DstKind::Acc(t, exec) = &d.kind {
                for i in 0..N.min(usize::from(*exec)) {
                    self.acc.set_float(t[i], r[i]);
                }
                return;
            }
            for i in 0..N {
                raw[i] = if d.round {
                    self.rounding.narrow(r[i])
                } else {
                    narrow(r[i])
                };
            }
        } else if d.round {
            // The execution type is a single float; the destination's comes after it.
            for i in 0..N {
                let single = f32::from_bits(self.rounding.narrow(r[i]));
                raw[i] = float_to_int(f64::from(single), d.num);
            }
        } else {
            for i in 0..N {
                raw[i] = float_to_int(r[i], d.num);
            }
        }
        self.store_raw(d, mask, &raw);
    }

    /// Converts integer results to the destination type and writes them.
    #[inline(always)]
    pub(crate) fn store_int<const N: usize>(&mut self, d: &Decoded, mask: u16, r: &[i64; N]) {
        let mut raw = [0; N];
        if d.dst.num == Num::F {
            for i in 0..N {
                // Saturation to the unit range (PRM 14.1) leaves an integer no other value.
                let v = if d.saturate { r[i].clamp(0, 1) } else { r[i] };
                raw[i] = if d.dst.round {
                    self.rounding.narrow(int_to_odd(v))
                } else {
                    narrow(int_to_float(v))
                };
            }
        } else {
            if let DstKind::Acc(t, exec) = &d.dst.kind {
                for i in 0..N.min(usize::from(*exec)) {
                    self.acc.set_int(t[i], acc_wrap(r[i], d.acc_word));
                }
                return;
            }
            let (lo, hi) = d.dst.num.range();
            for i in 0..N {
                raw[i] = if d.saturate {
                    r[i].clamp(lo, hi) as u32
                } else {
                    r[i] as u32
                };
            }
        }
        self.store_raw(&d.dst, mask, &raw);
    }
}

/// Integer to float, toward zero (PRM 10.4.4); exact below 2^53.
fn int_to_float(v: i64) -> f64 {
    let mag = v.unsigned_abs();
    let drop = 64u32.saturating_sub(mag.leading_zeros()).saturating_sub(53);
    let f = ((mag >> drop) << drop) as f64;
    if v < 0 { -f } else { f }
}

/// Keeps what an accumulator channel can hold: 33 bits in word mode (11.3.4.5).
#[inline(always)]
pub(crate) fn acc_wrap(v: i64, word: bool) -> i64 {
    if word { (v << 31) >> 31 } else { v }
}
