//! `math`: the functions of extended math as an instruction.
//!
//! PRM: Sandy Bridge volume 4 part 2, 8.3.31 (math). Sources have no modifiers there, later ones have (Mesa 22.3.6 `brw_eu_emit.c` `gfx6_math`).

use crate::decoded::{Decoded, DstKind, Handler, Next, Src};
use crate::exec::{finish_float, illegal};
use crate::grf::BYTES;
use crate::math::{Function, divide, float};
use crate::port::FloatMode;
use crate::region;
use crate::thread::Thread;

/// Sources as they are, where modifiers do not count.
pub(crate) fn without_modifiers(d: &mut Decoded) {
    for s in &mut d.src {
        s.negate = false;
        s.abs = false;
        (s.and, s.xor) = (u32::MAX, 0);
    }
}

pub(crate) fn select(d: &Decoded, wide: bool) -> Handler {
    match (d.function, wide) {
        (Some(f), false) if f.is_integer() => integers::<8>,
        (Some(f), true) if f.is_integer() => integers::<16>,
        (Some(_), false) => floats::<8>,
        (Some(_), true) => floats::<16>,
        (None, _) => illegal,
    }
}

fn floats<const N: usize>(t: &mut Thread, d: &Decoded) -> Next {
    let Some(function) = d.function else {
        return Next::Illegal;
    };
    let mask = t.write_mask(d);
    let mode = t.float_mode();
    let a = operand::<N>(t, &d.src[0]);
    let mut r = [0.0; N];
    match (function, mode) {
        (Function::Inv, FloatMode::Ieee) => r = a.map(|a| f64::from(1.0 / a)),
        (Function::Sqrt, FloatMode::Ieee) => r = a.map(|a| f64::from(a.sqrt())),
        (Function::Rsq, FloatMode::Ieee) => {
            r = a.map(|a| f64::from((1.0 / f64::from(a).sqrt()) as f32));
        }
        _ => {
            let b = operand::<N>(t, &d.src[1]);
            for i in 0..N {
                if mask >> i & 1 != 0 {
                    r[i] = f64::from(float(function, mode, a[i], b[i]));
                }
            }
        }
    }
    finish_float(t, d, mask, r)
}

/// Single floats without denormals.
fn operand<const N: usize>(t: &Thread, s: &Src) -> [f32; N] {
    t.load_float::<N>(s).map(|v| v as f32)
}

/// Source 0 by source 1; both results of one are in two registers.
fn integers<const N: usize>(t: &mut Thread, d: &Decoded) -> Next {
    let mask = t.write_mask(d);
    let signed = d.src[0].num.range().0 < 0;
    let (a, b) = (t.load_int::<N>(&d.src[0]), t.load_int::<N>(&d.src[1]));
    let mut quotients = [0; N];
    let mut remainders = [0; N];
    for i in 0..N {
        // CAST: dwords.
        (quotients[i], remainders[i]) = divide(a[i] as u32, b[i] as u32, signed);
    }
    match d.function {
        Some(Function::IntDivRemainder) => t.store_raw(&d.dst, mask, &remainders),
        Some(Function::IntDivBoth) => {
            t.store_raw(&d.dst, mask, &quotients);
            // Behind all registers of the quotients.
            let registers = N / 8;
            let mut second = d.dst;
            match &mut second.kind {
                DstKind::Vec(off) => {
                    let mut table = [0; 16];
                    for (lane, byte) in table.iter_mut().enumerate() {
                        *byte = off.saturating_add(lane as u16).saturating_mul(4);
                    }
                    second.kind = DstKind::Table(behind(table, registers));
                }
                DstKind::Table(table) => *table = behind(*table, registers),
                _ => {}
            }
            t.store_raw(&second, mask, &remainders);
        }
        _ => t.store_raw(&d.dst, mask, &quotients),
    }
    Next::Seq
}

/// Places of a destination some registers further on; past r127 they are dropped.
fn behind(table: [u16; 16], registers: usize) -> [u16; 16] {
    let distance = registers * BYTES;
    table.map(|byte| {
        let to = i32::from(byte) + distance as i32;
        region::grf_offset(to, crate::grf::SINK_BASE)
    })
}
