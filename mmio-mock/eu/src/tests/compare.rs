//! cmp, cmpn and sel against the manual's tables.
//!
//! PRM: volume 4, 10.3.1.3 (cmp), 10.3.1.4 (cmpn, min and max).

use super::{Rng, dst, imm, null, op, run, thread, vec8};
use isa::Opcode;
use isa::inst::{CondMod, PredCtrl};
use isa::operand::Type;

const F: Type = Type::F;

/// Rows and columns of the manual's tables: -inf, -Fin, -denorm, -0, +0, +denorm, +Fin, +inf, NaN.
const CLASSES: [u32; 9] = [
    0xff80_0000,
    0xc000_0000,
    0x8000_0001,
    0x8000_0000,
    0,
    1,
    0x4000_0000,
    0x7f80_0000,
    0x7fc0_0000,
];

/// The order that the tables give the classes: zeros and denormals are one value.
const RANK: [i32; 8] = [0, 1, 2, 2, 2, 2, 3, 4];

fn flag(opcode: Opcode, cond: CondMod, a: u32, b: u32) -> bool {
    let mut t = thread();
    t.grf_mut()[2] = [a; 8];
    t.grf_mut()[3] = [b; 8];
    let mut i = op(opcode, 8, dst(4, Type::Ud), &[vec8(2, F), vec8(3, F)]);
    i.src[0].ty = F;
    i.cond_mod = cond;
    run(&mut t, &[i]);
    let f = t.view().flag[0];
    assert!(f == 0 || f == 0xff);
    assert_eq!(t.grf()[4], [if f == 0 { 0 } else { u32::MAX }; 8]);
    f != 0
}

fn ordered(cond: CondMod, a: i32, b: i32) -> bool {
    match cond {
        CondMod::Z => a == b,
        CondMod::Nz => a != b,
        CondMod::G => a > b,
        CondMod::Ge => a >= b,
        CondMod::L => a < b,
        _ => a <= b,
    }
}

const CONDS: [CondMod; 6] = [
    CondMod::Z,
    CondMod::Nz,
    CondMod::G,
    CondMod::Ge,
    CondMod::L,
    CondMod::Le,
];

#[test]
fn cmp_tables() {
    for cond in CONDS {
        for (i, &a) in CLASSES.iter().enumerate() {
            for (j, &b) in CLASSES.iter().enumerate() {
                let nan = i == 8 || j == 8;
                let want = if nan {
                    cond == CondMod::Nz
                } else {
                    ordered(cond, RANK[i], RANK[j])
                };
                assert_eq!(flag(Opcode::Cmp, cond, a, b), want, "{cond:?} {a:x} {b:x}");
            }
        }
    }
}

#[test]
fn cmpn_tables() {
    for cond in CONDS {
        for (i, &a) in CLASSES.iter().enumerate() {
            for (j, &b) in CLASSES.iter().enumerate() {
                let want = if j == 8 {
                    cond != CondMod::Nz
                } else if i == 8 {
                    cond == CondMod::Nz
                } else {
                    ordered(cond, RANK[i], RANK[j])
                };
                assert_eq!(flag(Opcode::Cmpn, cond, a, b), want, "{cond:?} {a:x} {b:x}");
            }
        }
    }
}

/// 10.3.1.4: min is cmpn.l and sel, max is cmpn.ge and sel; the operand that is a number wins.
#[test]
fn min_and_max_prefer_numbers() {
    for (cond, max) in [(CondMod::L, false), (CondMod::Ge, true)] {
        for &a in &CLASSES {
            for &b in &CLASSES {
                let mut t = thread();
                t.grf_mut()[2] = [a; 8];
                t.grf_mut()[3] = [b; 8];
                let mut c = op(Opcode::Cmpn, 8, null(F), &[vec8(2, F), vec8(3, F)]);
                c.cond_mod = cond;
                let mut s = op(Opcode::Sel, 8, dst(4, F), &[vec8(2, F), vec8(3, F)]);
                s.pred_ctrl = PredCtrl::Normal;
                run(&mut t, &[c, s]);
                let got = f32::from_bits(t.grf()[4][0]);
                let (x, y) = (f32::from_bits(a), f32::from_bits(b));
                let want = if max { x.max(y) } else { x.min(y) };
                let tiny = |v: f32| if v.abs() < f32::MIN_POSITIVE { 0.0 } else { v };
                assert!(
                    (got.is_nan() && want.is_nan()) || tiny(got) == tiny(want),
                    "{x} {y}: {got}"
                );
            }
        }
    }
}

#[test]
fn integer_compare_mixes_signs() {
    let mut rng = Rng::with_seed(7);
    let tys = [Type::Ud, Type::D];
    for _ in 0..500 {
        let (a, b) = (
            rng.u32(..),
            if rng.u64(..4) == 0 {
                0xffff_ffff
            } else {
                rng.u32(..)
            },
        );
        for ta in tys {
            for tb in tys {
                let val = |v: u32, ty| {
                    if ty == Type::D {
                        i64::from(v as i32)
                    } else {
                        i64::from(v)
                    }
                };
                for cond in CONDS {
                    let mut t = thread();
                    t.grf_mut()[2] = [a; 8];
                    let mut i = op(Opcode::Cmp, 8, null(Type::D), &[vec8(2, ta), imm(tb, b)]);
                    i.cond_mod = cond;
                    run(&mut t, &[i]);
                    let (x, y) = (val(a, ta), val(b, tb));
                    let want = ordered(cond, x.cmp(&y) as i32, 0);
                    assert_eq!(t.view().flag[0] != 0, want, "{cond:?} {x} {y}");
                }
            }
        }
    }
}

#[test]
fn only_enabled_channels_update_the_flag() {
    let mut t = thread();
    t.set_flag([0xaaaa, 0]);
    let mut masks = t.view().masks;
    masks.amask = 0x000f;
    t.set_masks(masks);
    let mut i = op(Opcode::Cmp, 8, null(F), &[vec8(2, F), vec8(2, F)]);
    i.cond_mod = CondMod::Z;
    run(&mut t, &[i]);
    assert_eq!(t.view().flag[0], 0xaaaf);
}

/// PRM 11.4: every predicate control against its definition.
#[test]
fn predicates() {
    use PredCtrl::{
        AlignAll4h, AlignAny4h, All2h, All4h, All8h, All16h, AllV, Any2h, Any4h, Any8h, Any16h,
        AnyV, Normal, ReplW, ReplX, ReplY, ReplZ,
    };
    let mut rng = Rng::with_seed(99);
    for _ in 0..300 {
        let f = [rng.u32(..) as u16 & rng.u32(..) as u16, rng.u32(..) as u16];
        let bit = |f: u16, i: usize| f >> i & 1 != 0;
        let group = |i: usize, n: usize| {
            (i / n * n..i / n * n + n)
                .map(|k| bit(f[0], k))
                .collect::<Vec<_>>()
        };
        for p in [
            Normal, AnyV, AllV, Any2h, All2h, Any4h, All4h, Any8h, All8h, Any16h, All16h, ReplX,
            ReplY, ReplZ, ReplW, AlignAny4h, AlignAll4h,
        ] {
            for inv in [false, true] {
                let mut t = thread();
                t.set_flag(f);
                let mut i = op(Opcode::Mov, 16, dst(4, Type::Ud), &[imm(Type::Ud, 1)]);
                i.pred_ctrl = p;
                i.pred_inv = inv;
                run(&mut t, &[i]);
                for c in 0..16 {
                    let want = match p {
                        Normal => bit(f[0], c),
                        AnyV => bit(f[0], c) || bit(f[1], c),
                        AllV => bit(f[0], c) && bit(f[1], c),
                        Any2h => group(c, 2).contains(&true),
                        All2h => !group(c, 2).contains(&false),
                        Any4h | AlignAny4h => group(c, 4).contains(&true),
                        All4h | AlignAll4h => !group(c, 4).contains(&false),
                        Any8h => group(c, 8).contains(&true),
                        All8h => !group(c, 8).contains(&false),
                        Any16h | PredCtrl::Any32h => group(c, 16).contains(&true),
                        All16h | PredCtrl::All32h => !group(c, 16).contains(&false),
                        ReplX => group(c, 4)[0],
                        ReplY => group(c, 4)[1],
                        ReplZ => group(c, 4)[2],
                        ReplW => group(c, 4)[3],
                        PredCtrl::None => true,
                    };
                    let got = t.grf()[4 + c / 8][c % 8] != 0;
                    assert_eq!(got, want != inv, "{p:?} inv {inv} channel {c} f {f:x?}");
                }
            }
        }
    }
}
