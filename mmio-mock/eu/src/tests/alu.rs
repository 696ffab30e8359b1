//! Float arithmetic against host arithmetic rounded toward zero.
//!
//! PRM: volume 4, 10.3, 10.4, 14.2.

use super::{Rng, arf, dst, grf, imm, null, op, run, thread, vec8};
use crate::{FloatMode, Thread, ThreadInit};
use isa::inst::{AccessMode, CondMod, PredCtrl};
use isa::operand::{Region, Type};
use isa::{Inst, Opcode};
use rustc_apfloat::ieee::Single;
use rustc_apfloat::{Float, Round};

const F: Type = Type::F;

/// `exact` in single precision, rounded toward zero, denormals flushed: from the host's
/// round-to-nearest conversion and one step back where it rounded away.
fn toward_zero(exact: f64) -> f32 {
    let near = exact as f32;
    let r = if near.is_finite() && f64::from(near).abs() > exact.abs() {
        f32::from_bits(near.to_bits() - 1)
    } else if near.is_infinite() && exact.abs() < 2f64.powi(128) {
        f32::MAX.copysign(near)
    } else {
        near
    };
    if r.abs() < f32::MIN_POSITIVE {
        0f32.copysign(r)
    } else {
        r
    }
}

fn flushed(v: f32) -> f64 {
    if v.abs() < f32::MIN_POSITIVE {
        f64::from(0f32.copysign(v))
    } else {
        f64::from(v)
    }
}

fn same(a: u32, b: f32) -> bool {
    (f32::from_bits(a).is_nan() && b.is_nan()) || a == b.to_bits()
}

/// Numbers of every class, close enough in exponent for an exact double sum.
fn interesting(rng: &mut Rng) -> f32 {
    match rng.u64(..12) {
        0 => 0.0,
        1 => -0.0,
        2 => f32::from_bits(rng.u32(..) & 0x807f_ffff),
        3 => f32::INFINITY,
        4 => f32::NEG_INFINITY,
        5 => f32::NAN,
        6 => f32::from_bits((rng.u32(..) & 0x80ff_ffff) | 0x7e80_0000),
        7 => f32::from_bits((rng.u32(..) & 0x80ff_ffff) | 0x0080_0000),
        _ => f32::from_bits((rng.u32(..) & 0x87ff_ffff) | 0x3c00_0000),
    }
}

fn fill(t: &mut Thread, nr: usize, v: &[f32; 8]) {
    t.grf_mut()[nr] = v.map(f32::to_bits);
}

fn check2(opcode: Opcode, host: impl Fn(f64, f64) -> f32) {
    let mut rng = Rng::with_seed(0x9e37_79b9_7f4a_7c15);
    for _ in 0..4000 {
        let a: [f32; 8] = std::array::from_fn(|_| interesting(&mut rng));
        let b: [f32; 8] = std::array::from_fn(|_| interesting(&mut rng));
        let mut t = thread();
        fill(&mut t, 2, &a);
        fill(&mut t, 3, &b);
        run(
            &mut t,
            &[op(opcode, 8, dst(4, F), &[vec8(2, F), vec8(3, F)])],
        );
        for i in 0..8 {
            let want = host(flushed(a[i]), flushed(b[i]));
            assert!(
                same(t.grf()[4][i], want),
                "{opcode:?} {:e} {:e}: {:e}, not {want:e}",
                a[i],
                b[i],
                f32::from_bits(t.grf()[4][i])
            );
        }
    }
}

#[test]
fn add_rounds_toward_zero() {
    check2(Opcode::Add, |a, b| {
        let sum = a + b;
        if sum.is_nan() || sum.abs() >= 2f64.powi(128) {
            return toward_zero(sum);
        }
        // A sum of singles whose exponents are far apart has more digits than a double.
        let single = |v: f64| Single::from_bits(u128::from((v as f32).to_bits()));
        let exact = single(a).add_r(single(b), Round::TowardZero).value;
        toward_zero(f64::from(f32::from_bits(exact.to_bits() as u32)))
    });
}

#[test]
fn mul_rounds_toward_zero() {
    check2(Opcode::Mul, |a, b| toward_zero(a * b));
}

#[test]
fn source_modifiers_apply_abs_then_negate() {
    let mut t = thread();
    fill(&mut t, 2, &[1.5, -1.5, 0.0, -0.0, 2.0, -2.0, 8.0, -8.0]);
    let mut s = vec8(2, F);
    s.abs = true;
    s.negate = true;
    run(&mut t, &[op(Opcode::Mov, 8, dst(4, F), &[s])]);
    let got = t.grf()[4].map(f32::from_bits);
    assert_eq!(got, [-1.5, -1.5, -0.0, -0.0, -2.0, -2.0, -8.0, -8.0]);
    assert!(got[2].is_sign_negative());
}

#[test]
fn raw_mov_keeps_every_bit_and_a_modified_one_flushes() {
    let mut t = thread();
    let bits = [
        1,
        0x8000_0001,
        0x7f80_0001,
        0xffff_ffff,
        0x007f_ffff,
        0,
        0x8000_0000,
        0x3f80_0000,
    ];
    t.grf_mut()[2] = bits;
    let mut neg = vec8(2, F);
    neg.negate = true;
    run(
        &mut t,
        &[
            op(Opcode::Mov, 8, dst(4, F), &[vec8(2, F)]),
            op(Opcode::Mov, 8, dst(5, F), &[neg]),
        ],
    );
    assert_eq!(t.grf()[4], bits);
    assert_eq!(t.grf()[5][0], 0x8000_0000);
    assert_eq!(t.grf()[5][1], 0);
    assert_eq!(t.grf()[5][7], 0xbf80_0000);
}

#[test]
fn saturate_clamps_to_unit_range_and_nan_to_zero() {
    let mut t = thread();
    fill(
        &mut t,
        2,
        &[
            -1.0,
            0.25,
            1.5,
            f32::NAN,
            f32::INFINITY,
            f32::NEG_INFINITY,
            1.0,
            -0.0,
        ],
    );
    let mut i = op(Opcode::Mov, 8, dst(4, F), &[vec8(2, F)]);
    i.saturate = true;
    run(&mut t, &[i]);
    let got = t.grf()[4].map(f32::from_bits);
    assert_eq!(got, [0.0, 0.25, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0]);
}

/// PRM 10.4.1: the table of infinities, and truncation.
#[test]
fn float_to_integer() {
    let mut t = thread();
    fill(
        &mut t,
        2,
        &[
            f32::INFINITY,
            f32::NEG_INFINITY,
            f32::NAN,
            -1.75,
            1.75,
            3e9,
            -3e9,
            1e-40,
        ],
    );
    let table = [
        (Type::Ud, [0xffff_ffff, 0, 0, 0, 1, 3_000_000_000, 0, 0]),
        (
            Type::D,
            [
                0x7fff_ffff,
                0x8000_0000,
                0,
                u32::MAX,
                1,
                0x7fff_ffff,
                0x8000_0000,
                0,
            ],
        ),
        (Type::Uw, [0xffff, 0, 0, 0, 1, 0xffff, 0, 0]),
        (Type::W, [0x7fff, 0x8000, 0, 0xffff, 1, 0x7fff, 0x8000, 0]),
        (Type::Ub, [0xff, 0, 0, 0, 1, 0xff, 0, 0]),
        (Type::B, [0x7f, 0x80, 0, 0xff, 1, 0x7f, 0x80, 0]),
    ];
    for (ty, want) in table {
        let mut d = dst(4, ty);
        d.hstride = (4 / ty.size()) as u8;
        t.grf_mut()[4] = [0; 8];
        run(&mut t, &[op(Opcode::Mov, 8, d, &[vec8(2, F)])]);
        assert_eq!(t.grf()[4], want, "{ty:?}");
    }
}

/// PRM 10.4.4: exact to 24 bits, then truncated in sign-magnitude.
#[test]
fn integer_to_float() {
    let mut t = thread();
    let v = [
        0,
        1,
        -1,
        0x00ff_ffff,
        0x01ff_ffff,
        -0x01ff_ffff,
        i32::MAX,
        i32::MIN,
    ];
    t.grf_mut()[2] = v.map(|x| x as u32);
    run(
        &mut t,
        &[op(Opcode::Mov, 8, dst(4, F), &[vec8(2, Type::D)])],
    );
    let got = t.grf()[4].map(f32::from_bits);
    let want = [
        0.0,
        1.0,
        -1.0,
        16_777_215.0,
        33_554_430.0,
        -33_554_430.0,
        2_147_483_520.0,
        -2_147_483_648.0,
    ];
    assert_eq!(got, want);
}

#[test]
fn mac_adds_to_the_implicit_accumulator_of_mul() {
    let mut t = thread();
    fill(&mut t, 2, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
    fill(&mut t, 3, &[0.5; 8]);
    run(
        &mut t,
        &[
            op(Opcode::Mul, 8, null(F), &[vec8(2, F), vec8(2, F)]),
            op(Opcode::Mac, 8, dst(4, F), &[vec8(2, F), vec8(3, F)]),
        ],
    );
    for i in 0..8 {
        let x = (i + 1) as f32;
        assert_eq!(f32::from_bits(t.grf()[4][i]), x * x + x * 0.5);
    }
}

/// `line` then `mac` is how a plane is evaluated: p*x + q, then + r*y.
#[test]
fn line_takes_components_0_and_3() {
    let mut t = thread();
    fill(&mut t, 4, &[2.0, 3.0, 99.0, 7.0, 5.0, -1.0, 99.0, 0.25]);
    for nr in [10, 11, 12, 13] {
        let base = (nr * 8) as f32;
        fill(&mut t, nr, &std::array::from_fn(|i| base + i as f32));
    }
    let p = grf(4, 16, F, Region::SCALAR);
    let r = grf(4, 20, F, Region::SCALAR);
    run(
        &mut t,
        &[
            op(Opcode::Line, 16, null(F), &[p, vec8(10, F)]),
            op(Opcode::Mac, 16, dst(20, F), &[r, vec8(12, F)]),
        ],
    );
    for i in 0..16 {
        let (x, y) = ((80 + i) as f32, (96 + i) as f32);
        let want = 5.0 * x + 0.25 - y;
        assert_eq!(f32::from_bits(t.grf()[20 + i / 8][i % 8]), want);
    }
}

#[test]
fn sechalf_uses_the_second_half_of_masks_flags_and_accumulator() {
    let mut t = thread();
    fill(&mut t, 2, &[2.0; 8]);
    fill(&mut t, 3, &[3.0; 8]);
    t.set_flag([0x0f00, 0]);
    let mut a = op(Opcode::Mul, 8, null(F), &[vec8(2, F), vec8(3, F)]);
    a.compression = isa::inst::Compression::SecHalf;
    let mut b = op(Opcode::Mac, 8, dst(4, F), &[vec8(2, F), vec8(2, F)]);
    b.compression = isa::inst::Compression::SecHalf;
    b.pred_ctrl = PredCtrl::Normal;
    let mut c = op(Opcode::Mul, 8, null(F), &[vec8(2, F), vec8(2, F)]);
    c.compression = isa::inst::Compression::None;
    run(&mut t, &[a, c, b]);
    assert_eq!(
        t.grf()[4].map(f32::from_bits),
        [10.0, 10.0, 10.0, 10.0, 0.0, 0.0, 0.0, 0.0]
    );
}

fn align16(mut i: Inst, mask: u8, swz: [[u8; 4]; 2]) -> Inst {
    i.access = AccessMode::Align16;
    i.dst.writemask = mask;
    for (s, z) in i.src.iter_mut().zip(swz) {
        s.swizzle = z;
        s.region = Region {
            vstride: 4,
            width: 4,
            hstride: 1,
        };
    }
    i
}

#[test]
fn align16_swizzles_sources_and_masks_the_destination() {
    let mut t = thread();
    fill(&mut t, 2, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
    fill(&mut t, 3, &[10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0]);
    let i = op(Opcode::Add, 8, dst(4, F), &[vec8(2, F), vec8(3, F)]);
    run(&mut t, &[align16(i, 0b1011, [[3, 2, 1, 0], [0, 0, 0, 1]])]);
    let got = t.grf()[4].map(f32::from_bits);
    assert_eq!(got, [14.0, 13.0, 0.0, 21.0, 58.0, 57.0, 0.0, 65.0]);
}

#[test]
fn dot_products_fill_their_group() {
    type Dot = fn(&[f32], &[f32]) -> f32;
    let mut t = thread();
    let a = [1.0, 2.0, 3.0, 4.0, -1.0, 0.5, 2.0, 8.0];
    let b = [5.0, 6.0, 7.0, 8.0, 1.0, 2.0, 3.0, 4.0];
    fill(&mut t, 2, &a);
    fill(&mut t, 3, &b);
    let dots: [(Opcode, Dot); 4] = [
        (Opcode::Dp4, |a, b| {
            a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]
        }),
        (Opcode::Dph, |a, b| {
            a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + b[3]
        }),
        (Opcode::Dp3, |a, b| a[0] * b[0] + a[1] * b[1] + a[2] * b[2]),
        (Opcode::Dp2, |a, b| a[0] * b[0] + a[1] * b[1]),
    ];
    for (opcode, host) in dots {
        let i = op(opcode, 8, dst(4, F), &[vec8(2, F), vec8(3, F)]);
        run(&mut t, &[align16(i, 0xf, [[0, 1, 2, 3]; 2])]);
        let got = t.grf()[4].map(f32::from_bits);
        assert_eq!(got[..4], [host(&a[..4], &b[..4]); 4], "{opcode:?}");
        assert_eq!(got[4..], [host(&a[4..], &b[4..]); 4], "{opcode:?}");
    }
}

#[test]
fn rounding_instructions() {
    let v = [1.5, -1.5, 2.5, -2.5, 0.5, -0.25, 3.0, -7.75];
    let mut t = thread();
    fill(&mut t, 2, &v);
    let one = imm(F, 1f32.to_bits());
    let two_step = |opcode| {
        let mut i = op(opcode, 8, dst(4, F), &[vec8(2, F)]);
        i.cond_mod = CondMod::R;
        let mut a = op(Opcode::Add, 8, dst(4, F), &[vec8(4, F), one]);
        a.pred_ctrl = PredCtrl::Normal;
        [i, a]
    };
    let got = |t: &Thread| t.grf()[4].map(f32::from_bits);
    run(&mut t, &[op(Opcode::Frc, 8, dst(4, F), &[vec8(2, F)])]);
    assert_eq!(got(&t), v.map(|x| x - x.floor()));
    run(&mut t, &[op(Opcode::Rndd, 8, dst(4, F), &[vec8(2, F)])]);
    assert_eq!(got(&t), v.map(f32::floor));
    run(&mut t, &[op(Opcode::Rndu, 8, dst(4, F), &[vec8(2, F)])]);
    assert_eq!(got(&t), v.map(f32::ceil));
    run(&mut t, &two_step(Opcode::Rnde));
    assert_eq!(got(&t), v.map(f32::round_ties_even));
    run(&mut t, &two_step(Opcode::Rndz));
    assert_eq!(got(&t), v.map(f32::trunc));
}

#[test]
fn immediate_vectors_expand() {
    let mut t = thread();
    // 10.2.5: 00h 0.0, 80h -0.0, 30h 1.0, 7Fh 31.0.
    run(
        &mut t,
        &[op(Opcode::Mov, 4, dst(4, F), &[imm(Type::Vf, 0x7f30_8000)])],
    );
    assert_eq!(
        t.grf()[4][..4],
        [0, 0x8000_0000, 1f32.to_bits(), 31f32.to_bits()]
    );
    // 10.2.4: eight signed nibbles, here 0 1 2 3 -4 -3 -2 -1.
    run(
        &mut t,
        &[op(
            Opcode::Mov,
            8,
            dst(5, Type::D),
            &[imm(Type::V, 0xfedc_3210)],
        )],
    );
    assert_eq!(t.grf()[5].map(|v| v as i32), [0, 1, 2, 3, -4, -3, -2, -1]);
}

/// PRM 10.3.2: in ALT mode an infinite result becomes the largest number.
#[test]
fn alt_mode_has_no_infinity() {
    let mut t = Thread::new();
    t.dispatch(&ThreadInit {
        dispatch_mask: 0xffff,
        float_mode: FloatMode::Alt,
        ..ThreadInit::default()
    });
    fill(&mut t, 2, &[f32::MAX; 8]);
    let mut neg = vec8(2, F);
    neg.negate = true;
    run(
        &mut t,
        &[
            op(Opcode::Mul, 8, dst(4, F), &[vec8(2, F), vec8(2, F)]),
            op(Opcode::Add, 8, dst(5, F), &[neg, neg]),
        ],
    );
    assert_eq!(t.grf()[4], [f32::MAX.to_bits(); 8]);
    assert_eq!(t.grf()[5], [(-f32::MAX).to_bits(); 8]);
}

#[test]
fn ieee_mode_overflows_to_infinity_and_flags_it() {
    let mut t = thread();
    fill(
        &mut t,
        2,
        &[
            f32::MAX,
            1.0,
            -f32::MAX,
            0.0,
            1e30,
            1e10,
            f32::NAN,
            f32::INFINITY,
        ],
    );
    let mut i = op(
        Opcode::Mul,
        8,
        dst(4, F),
        &[vec8(2, F), imm(F, 1e10f32.to_bits())],
    );
    i.cond_mod = CondMod::O;
    run(&mut t, &[i]);
    assert_eq!(t.view().flag[0], 0b0001_0101);
    assert_eq!(f32::from_bits(t.grf()[4][0]), f32::INFINITY);
    i.cond_mod = CondMod::U;
    run(&mut t, &[]);
    t.set_ip(0);
    run(&mut t, &[i]);
    assert_eq!(t.view().flag[0], 0b0100_0000);
}

#[test]
fn explicit_accumulator_keeps_extended_precision() {
    let mut t = thread();
    let tiny = 2f32.powi(-30);
    let acc = arf(0x20, 0, F);
    let mut acc_src = super::arf_src(0x20, 0, F);
    acc_src.region = Region::VEC8;
    fill(&mut t, 2, &[1.0; 8]);
    fill(&mut t, 3, &[tiny; 8]);
    run(
        &mut t,
        &[
            op(Opcode::Add, 8, acc, &[vec8(2, F), vec8(3, F)]),
            op(
                Opcode::Add,
                8,
                dst(4, F),
                &[acc_src, imm(F, (-1f32).to_bits())],
            ),
        ],
    );
    assert_eq!(t.grf()[4].map(f32::from_bits), [tiny; 8]);
}
