//! Integer instructions against host arithmetic.
//!
//! PRM: volume 4, 10.4, 11.3.4.5, 14.2.

use super::{Rng, arf, arf_src, dst, imm, null, op, run, thread, vec8};
use isa::inst::CondMod;
use isa::operand::{Region, Src, Type};
use isa::{Inst, Opcode};

fn value(ty: Type, raw: u32) -> i64 {
    match ty {
        Type::D => i64::from(raw as i32),
        Type::W => i64::from(raw as i16),
        Type::B => i64::from(raw as i8),
        Type::Uw => i64::from(raw as u16),
        Type::Ub => i64::from(raw as u8),
        _ => i64::from(raw),
    }
}

fn limits(ty: Type) -> (i64, i64) {
    match ty {
        Type::D => (i64::from(i32::MIN), i64::from(i32::MAX)),
        Type::W => (-0x8000, 0x7fff),
        Type::B => (-0x80, 0x7f),
        Type::Uw => (0, 0xffff),
        Type::Ub => (0, 0xff),
        _ => (0, 0xffff_ffff),
    }
}

const INTS: [Type; 6] = [Type::Ud, Type::D, Type::Uw, Type::W, Type::Ub, Type::B];

/// One element in every dword of a register.
fn spread(nr: u8, ty: Type) -> Src {
    let s = (4 / ty.size()) as u8;
    super::grf(
        nr,
        0,
        ty,
        Region {
            vstride: 8 * s,
            width: 8,
            hstride: s,
        },
    )
}

/// Conversions between all integer types, wrapping or saturating (PRM 10.4.2, 10.4.3).
#[test]
fn conversions() {
    let mut rng = Rng::with_seed(3);
    for _ in 0..300 {
        for from in INTS {
            for to in INTS {
                for saturate in [false, true] {
                    let mut t = thread();
                    let v: [u32; 8] = std::array::from_fn(|_| match rng.u64(..4) {
                        0 => rng.u64(..3) as u32,
                        1 => 0u32.wrapping_sub(1 + rng.u64(..300) as u32),
                        _ => rng.u32(..),
                    });
                    t.grf_mut()[2] = v;
                    let mut d = dst(4, to);
                    d.hstride = (4 / to.size()) as u8;
                    let s = spread(2, from);
                    let mut i = op(Opcode::Mov, 8, d, &[s]);
                    i.saturate = saturate;
                    run(&mut t, &[i]);
                    for (c, &raw) in v.iter().enumerate() {
                        let x = value(from, raw);
                        let (lo, hi) = limits(to);
                        let want = if saturate { x.clamp(lo, hi) } else { x };
                        assert_eq!(
                            value(to, t.grf()[4][c]),
                            value(to, want as u32),
                            "{from:?} to {to:?} of {x}"
                        );
                    }
                }
            }
        }
    }
}

fn check(opcode: Opcode, ty: Type, host: impl Fn(u32, u32) -> u32) {
    let mut rng = Rng::with_seed(11);
    for _ in 0..500 {
        let mut t = thread();
        let a: [u32; 8] = std::array::from_fn(|_| rng.u32(..) >> rng.u64(..32));
        let b: [u32; 8] = std::array::from_fn(|_| rng.u32(..) >> rng.u64(..32));
        t.grf_mut()[2] = a;
        t.grf_mut()[3] = b;
        run(
            &mut t,
            &[op(opcode, 8, dst(4, ty), &[vec8(2, ty), vec8(3, ty)])],
        );
        for c in 0..8 {
            assert_eq!(
                t.grf()[4][c],
                host(a[c], b[c]),
                "{opcode:?} {:x} {:x}",
                a[c],
                b[c]
            );
        }
    }
}

#[test]
fn dword_operations() {
    check(Opcode::And, Type::Ud, |a, b| a & b);
    check(Opcode::Or, Type::Ud, |a, b| a | b);
    check(Opcode::Xor, Type::D, |a, b| a ^ b);
    check(Opcode::Not, Type::Ud, |a, _| !a);
    check(Opcode::Add, Type::D, u32::wrapping_add);
    check(Opcode::Shl, Type::Ud, |a, b| a << (b & 31));
    check(Opcode::Shr, Type::Ud, |a, b| a >> (b & 31));
    check(Opcode::Asr, Type::D, |a, b| (a as i32 >> (b & 31)) as u32);
    check(Opcode::Avg, Type::Ud, |a, b| {
        ((u64::from(a) + u64::from(b) + 1) >> 1) as u32
    });
    check(Opcode::Lzd, Type::Ud, |a, _| a.leading_zeros());
}

#[test]
fn add_saturates_to_the_destination() {
    let mut t = thread();
    t.grf_mut()[2] = [0x7fff_ffff, 5, 0x8000_0000, 0, 1, 2, 3, 4];
    t.grf_mut()[3] = [1, 6, u32::MAX, 0, 1, 2, 3, 4];
    let mut i = op(
        Opcode::Add,
        8,
        dst(4, Type::D),
        &[vec8(2, Type::D), vec8(3, Type::D)],
    );
    i.saturate = true;
    i.cond_mod = CondMod::O;
    run(&mut t, &[i]);
    assert_eq!(t.grf()[4], [0x7fff_ffff, 11, 0x8000_0000, 0, 2, 4, 6, 8]);
    assert_eq!(t.view().flag[0], 0b101);
}

/// The 32 by 32 bit macro of Mesa for these parts: mul into acc0, mach for the high half.
#[test]
fn mul_mach_gives_the_64_bit_product() {
    let mut rng = Rng::with_seed(5);
    for ty in [Type::D, Type::Ud] {
        for _ in 0..300 {
            let mut t = thread();
            let a: [u32; 8] = std::array::from_fn(|_| rng.u32(..));
            let b: [u32; 8] = std::array::from_fn(|_| rng.u32(..));
            t.grf_mut()[2] = a;
            t.grf_mut()[3] = b;
            let mut low = arf_src(0x20, 0, ty);
            low.region = Region::VEC8;
            run(
                &mut t,
                &[
                    op(
                        Opcode::Mul,
                        8,
                        arf(0x20, 0, ty),
                        &[vec8(2, ty), vec8(3, ty)],
                    ),
                    op(Opcode::Mach, 8, dst(4, ty), &[vec8(2, ty), vec8(3, ty)]),
                    op(Opcode::Mov, 8, dst(5, ty), &[low]),
                ],
            );
            for c in 0..8 {
                let p = value(ty, a[c]).wrapping_mul(value(ty, b[c])) as u64;
                assert_eq!(t.grf()[5][c], p as u32, "{ty:?} low {:x} {:x}", a[c], b[c]);
                assert_eq!(
                    t.grf()[4][c],
                    (p >> 32) as u32,
                    "{ty:?} high {:x} {:x}",
                    a[c],
                    b[c]
                );
            }
        }
    }
}

#[test]
fn word_multiply_and_accumulate() {
    let mut t = thread();
    let packed = Region {
        vstride: 16,
        width: 16,
        hstride: 1,
    };
    for c in 0..8 {
        t.grf_mut()[2][c] = 0xfffe_0003;
        t.grf_mut()[3][c] = 0x0004_0005;
    }
    let w = |nr| super::grf(nr, 0, Type::W, packed);
    run(
        &mut t,
        &[
            op(Opcode::Mul, 16, dst(4, Type::W), &[w(2), w(3)]),
            op(Opcode::Mac, 16, dst(5, Type::W), &[w(2), w(3)]),
        ],
    );
    assert_eq!(t.grf()[4], [0xfff8_000f; 8]);
    assert_eq!(t.grf()[5], [0xfff0_001e; 8]);
}

#[test]
fn sums_of_absolute_differences() {
    let packed = Region {
        vstride: 16,
        width: 16,
        hstride: 1,
    };
    let mut t = thread();
    t.grf_mut()[2][..4].copy_from_slice(&[0x0403_0201, 0xff00_ff00, 0, 0x1010_1010]);
    t.grf_mut()[3][..4].copy_from_slice(&[0x0102_0304, 0x00ff_00ff, 0, 0x2020_0000]);
    let ub = |nr| super::grf(nr, 0, Type::Ub, packed);
    run(
        &mut t,
        &[
            op(Opcode::Sad2, 16, dst(4, Type::Uw), &[ub(2), ub(3)]),
            op(Opcode::Sada2, 16, dst(5, Type::Uw), &[ub(2), ub(3)]),
        ],
    );
    let even = |nr: usize| -> Vec<u32> { (0..8).map(|i| t.grf()[nr][i] & 0xffff).collect() };
    assert_eq!(even(4), [4, 4, 510, 510, 0, 0, 32, 32]);
    assert_eq!(even(5), [8, 8, 1020, 1020, 0, 0, 64, 64]);
}

#[test]
fn conditional_modifiers_of_logic() {
    let mut t = thread();
    t.grf_mut()[2] = [0, 1, 0x8000_0000, 6, 0, 0xff, 0, 2];
    let check = |cond, bits: u16| {
        let mut t = t.clone();
        let mut i = op(
            Opcode::And,
            8,
            null(Type::D),
            &[vec8(2, Type::D), imm(Type::D, u32::MAX)],
        );
        i.cond_mod = cond;
        run(&mut t, &[i]);
        assert_eq!(t.view().flag[0], bits, "{cond:?}");
    };
    check(CondMod::Z, 0b0101_0001);
    check(CondMod::Nz, 0b1010_1110);
    check(CondMod::L, 0b0000_0100);
    check(CondMod::G, 0b1010_1010);
}

#[test]
fn negated_sources_of_add() {
    let mut t = thread();
    t.grf_mut()[2] = [10; 8];
    t.grf_mut()[3] = [3; 8];
    let mut b = vec8(3, Type::D);
    b.negate = true;
    let i: Inst = op(Opcode::Add, 8, dst(4, Type::D), &[vec8(2, Type::D), b]);
    run(&mut t, &[i]);
    assert_eq!(t.grf()[4], [7; 8]);
}
