//! Source classes: float loads that a handler is compiled for.
//!
//! PRM: volume 4, 11.3.6, 11.3.8. With the class known, lanes stay in registers between load and
//! result. Other operands take the general loads of `operand`.

use crate::decoded::{Num, Src, SrcKind, Table};
use crate::exec::word::packed;
use crate::operand::{widen, widen_all};
use crate::thread::Thread;

/// The shapes of a float source that have their own load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    Vector,
    Scalar,
    Quads,
    Repeat,
    Gather,
    Words,
    Any,
}

/// The class of a float source.
pub(crate) fn class(s: &Src) -> Class {
    match &s.kind {
        SrcKind::Table(t) if words(s, t) => Class::Words,
        _ if !s.fast_float => Class::Any,
        SrcKind::Vec(_) => Class::Vector,
        SrcKind::Scalar(_) => Class::Scalar,
        SrcKind::Imm(v) if v.iter().all(|x| *x == v[0]) => Class::Scalar,
        SrcKind::Table(t) if same(&t[..4]) && same(&t[4..8]) => Class::Quads,
        SrcKind::Table(t) if t[..4] == t[4..8] && consecutive(&t[..4]) => Class::Repeat,
        SrcKind::Table(_) => Class::Gather,
        _ => Class::Any,
    }
}

/// As `class`, telling vectors and scalars only: for handlers with fewer instances.
pub(crate) fn coarse(s: &Src) -> Class {
    match class(s) {
        Class::Quads | Class::Repeat => Class::Gather,
        c => c,
    }
}

/// Packed unsigned words, sixteen of them inside the register file. A general lowering has them
/// too, and its loads take the general way because `Any` is all it may choose.
fn words(s: &Src, t: &Table) -> bool {
    s.words && s.num == Num::Uw && !s.negate && !s.abs && packed(t, t.len())
}

fn same(t: &[u16]) -> bool {
    t.iter().all(|o| *o == t[0])
}

fn consecutive(t: &[u16]) -> bool {
    t.windows(2).all(|w| w[1] == w[0].wrapping_add(4))
}

/// Loads the lanes of a float source whose class is known.
pub(crate) trait Load {
    fn get<const N: usize>(t: &Thread, s: &Src) -> [f64; N];
}

/// Contiguous dwords.
pub(crate) struct Vector;
/// One dword, from a register or an immediate.
pub(crate) struct Scalar;
/// One dword for channels 0 to 3 and one for 4 to 7: an align16 replicate swizzle.
pub(crate) struct Quads;
/// Four dwords, twice: an align16 vector with vertical stride 0.
pub(crate) struct Repeat;
/// Dwords of any direct region.
pub(crate) struct Gather;
/// Packed unsigned words.
pub(crate) struct Words;
/// Everything.
pub(crate) struct Any;

impl Load for Vector {
    #[inline(always)]
    fn get<const N: usize>(t: &Thread, s: &Src) -> [f64; N] {
        match s.kind {
            SrcKind::Vec(off) => widen_all(t.regs.vec::<N>(off), s.and, s.xor),
            _ => [0.0; N],
        }
    }
}

impl Load for Scalar {
    #[inline(always)]
    fn get<const N: usize>(t: &Thread, s: &Src) -> [f64; N] {
        let bits = match &s.kind {
            SrcKind::Scalar(off) => t.regs.dword(*off),
            SrcKind::Imm(v) => v[0],
            _ => 0,
        };
        [widen(bits, s.and, s.xor); N]
    }
}

impl Load for Quads {
    #[inline(always)]
    fn get<const N: usize>(t: &Thread, s: &Src) -> [f64; N] {
        let mut out = [0.0; N];
        if let SrcKind::Table(table) = &s.kind {
            let a = widen(t.regs.dword(table[0] >> 2), s.and, s.xor);
            let b = widen(t.regs.dword(table[4] >> 2), s.and, s.xor);
            for (i, v) in out.iter_mut().enumerate() {
                *v = if i < 4 { a } else { b };
            }
        }
        out
    }
}

impl Load for Repeat {
    #[inline(always)]
    fn get<const N: usize>(t: &Thread, s: &Src) -> [f64; N] {
        let mut out = [0.0; N];
        if let SrcKind::Table(table) = &s.kind {
            let four = widen_all(t.regs.vec::<4>(table[0] >> 2), s.and, s.xor);
            for (i, v) in out.iter_mut().enumerate() {
                *v = four[i & 3];
            }
        }
        out
    }
}

impl Load for Gather {
    #[inline(always)]
    fn get<const N: usize>(t: &Thread, s: &Src) -> [f64; N] {
        let mut out = [0.0; N];
        if let SrcKind::Table(table) = &s.kind {
            for (v, o) in out.iter_mut().zip(table) {
                *v = widen(t.regs.dword(o >> 2), s.and, s.xor);
            }
        }
        out
    }
}

impl Load for Words {
    #[inline(always)]
    fn get<const N: usize>(t: &Thread, s: &Src) -> [f64; N] {
        let mut out = [0.0; N];
        if let SrcKind::Table(table) = &s.kind {
            let pairs = t.regs.vec::<8>(table[0] >> 2);
            for i in 0..N {
                // Words are positive: the conversion of signed integers is the cheap one.
                out[i] = f64::from((pairs[i / 2] >> (16 * (i % 2)) & 0xffff) as i32);
            }
        }
        out
    }
}

impl Load for Any {
    #[inline(always)]
    fn get<const N: usize>(t: &Thread, s: &Src) -> [f64; N] {
        t.load_float::<N>(s)
    }
}

/// The instance of a two-source float handler for the coarse classes of its sources.
macro_rules! by_class {
    ($f:ident, $d:expr, $wide:expr $(, $extra:tt)*) => {{
        use crate::class::{Any, Class, Gather, Scalar, Vector, Words, coarse};
        match ($wide, coarse(&$d.src[0]), coarse(&$d.src[1])) {
            (false, Class::Vector, Class::Vector) => $f::<8, Vector, Vector $(, $extra)*>,
            (false, Class::Vector, Class::Scalar) => $f::<8, Vector, Scalar $(, $extra)*>,
            (false, Class::Scalar, Class::Vector) => $f::<8, Scalar, Vector $(, $extra)*>,
            (false, Class::Gather, Class::Gather) => $f::<8, Gather, Gather $(, $extra)*>,
            (false, Class::Gather, Class::Vector) => $f::<8, Gather, Vector $(, $extra)*>,
            (false, Class::Vector, Class::Gather) => $f::<8, Vector, Gather $(, $extra)*>,
            (false, Class::Gather, Class::Scalar) => $f::<8, Gather, Scalar $(, $extra)*>,
            (false, Class::Words, Class::Scalar) => $f::<8, Words, Scalar $(, $extra)*>,
            (true, Class::Words, Class::Scalar) => $f::<16, Words, Scalar $(, $extra)*>,
            (false, ..) => $f::<8, Any, Any $(, $extra)*>,
            (true, Class::Vector, Class::Vector) => $f::<16, Vector, Vector $(, $extra)*>,
            (true, Class::Vector, Class::Scalar) => $f::<16, Vector, Scalar $(, $extra)*>,
            (true, Class::Scalar, Class::Vector) => $f::<16, Scalar, Vector $(, $extra)*>,
            (true, ..) => $f::<16, Any, Any $(, $extra)*>,
        }
    }};
}
pub(crate) use by_class;

/// The instance of a two-source float handler for the exact classes of its sources.
macro_rules! by_exact_class {
    ($f:ident, $d:expr, $wide:expr) => {{
        use crate::class::{Any, Class, Gather, Quads, Repeat, Vector, class};
        match ($wide, class(&$d.src[0]), class(&$d.src[1])) {
            (false, Class::Quads, Class::Quads) => $f::<8, Quads, Quads>,
            (false, Class::Quads, Class::Vector) => $f::<8, Quads, Vector>,
            (false, Class::Vector, Class::Quads) => $f::<8, Vector, Quads>,
            (false, Class::Repeat, Class::Vector) => $f::<8, Repeat, Vector>,
            (false, Class::Vector, Class::Repeat) => $f::<8, Vector, Repeat>,
            (false, Class::Repeat, Class::Quads) => $f::<8, Repeat, Quads>,
            (false, Class::Quads, Class::Repeat) => $f::<8, Quads, Repeat>,
            (false, Class::Gather, Class::Quads) => $f::<8, Gather, Quads>,
            (false, Class::Quads, Class::Gather) => $f::<8, Quads, Gather>,
            (false, Class::Repeat, _) | (false, _, Class::Repeat) => $f::<8, Any, Any>,
            _ => crate::class::by_class!($f, $d, $wide),
        }
    }};
}
pub(crate) use by_exact_class;
