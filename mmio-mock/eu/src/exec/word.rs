//! Fast path of `add` on sixteen words: the pixel positions of pixel kernels.
//!
//! PRM: volume 4, 14.2.1. Chosen only where the low sixteen bits are the whole result; everything
//! else takes the wide path of `int`.

use crate::decoded::{Decoded, DstKind, Next, Num, Src, SrcKind, Table};
use crate::thread::Thread;
use isa::inst::CondMod;

/// Lanes of an instruction.
const N: usize = 16;

fn is_word(n: Num) -> bool {
    matches!(n, Num::Uw | Num::W)
}

/// Whether every four lanes read one element.
fn fours(t: &Table) -> bool {
    t.chunks_exact(4).all(|q| q.iter().all(|o| *o == q[0]))
}

/// Whether the lanes are consecutive words from the start of a dword.
pub(crate) fn packed(t: &Table, exec: usize) -> bool {
    let follows = |w: &[u16]| w[1] == w[0].wrapping_add(2);
    t[0].is_multiple_of(4) && t[..exec].windows(2).all(follows)
}

/// A region of four elements, an immediate on the other side, packed words as the result.
pub(crate) fn applies(d: &Decoded) -> bool {
    let [a, b] = &d.src;
    let plain = |s: &Src| is_word(s.num) && !s.negate && !s.abs;
    let sources = plain(a)
        && plain(b)
        && matches!(&a.kind, SrcKind::Table(t) if fours(t))
        && matches!(b.kind, SrcKind::Imm(_));
    let result = is_word(d.dst.num) && matches!(&d.dst.kind, DstKind::Table(t) if packed(t, N));
    let whole = usize::from(d.exec) == N && d.acc_lane == 0;
    sources && result && whole && !d.saturate && d.cond == CondMod::None
}

pub(crate) fn add(t: &mut Thread, d: &Decoded) -> Next {
    let mask = t.write_mask(d);
    let mut sum = [0i32; N];
    if let (SrcKind::Table(table), SrcKind::Imm(imm)) = (&d.src[0].kind, &d.src[1].kind) {
        let [x, y] = [0, 1].map(|i| d.src[i].num);
        // CAST: words fit.
        for four in 0..4 {
            let v = x.extend(t.regs.elem(table[4 * four], 2)) as i32;
            for i in 4 * four..4 * four + 4 {
                sum[i] = v + y.extend(imm[i & 7]) as i32;
            }
        }
    }
    if t.acc_wanted(d) {
        let [low, high] = [0, N / 2].map(|at| std::array::from_fn(|i| i64::from(sum[at + i])));
        t.acc.write_ints::<8>(d.acc_at(0), 8, &low);
        t.acc.write_ints::<8>(d.acc_at(8), 8, &high);
    }
    match &d.dst.kind {
        DstKind::Table(to) if mask == 0xffff => {
            let mut raw = [0; N / 2];
            for (i, v) in raw.iter_mut().enumerate() {
                *v = sum[2 * i] as u32 & 0xffff | (sum[2 * i + 1] as u32) << 16;
            }
            t.regs.set_vec(to[0] / 4, 0xff, &raw);
        }
        _ => t.store_raw(&d.dst, mask, &sum.map(|v| v as u32)),
    }
    Next::Seq
}
