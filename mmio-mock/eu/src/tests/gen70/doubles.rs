//! Doubles: regions, masks, arithmetic.
//!
//! PRM: ValleyView volume 2 part 2, add; Mesa 22.3.6 `brw_fs_generator.cpp` (`brw_reg_from_fs_reg`) and the kernels that it makes: regions count dwords,
//! a group of four channels has a register of doubles.

use super::{execute, with};
use crate::r#gen::GEN70;
use crate::tests::text;
use crate::{Grf, Thread};
use fastrand::Rng;

/// A register of four doubles.
fn register(values: [f64; 4]) -> Grf {
    let halves = |v: f64| [v.to_bits() as u32, (v.to_bits() >> 32) as u32];
    let mut out = [0; 8];
    for (to, v) in out.chunks_exact_mut(2).zip(values) {
        to.copy_from_slice(&halves(v));
    }
    out
}

fn doubles(t: &Thread, nr: usize) -> [u64; 4] {
    let r = t.grf()[nr];
    std::array::from_fn(|i| u64::from(r[2 * i + 1]) << 32 | u64::from(r[2 * i]))
}

fn bits(values: [f64; 4]) -> [u64; 4] {
    values.map(|v| {
        if v.is_nan() {
            0x7ff8 << 48
        } else {
            v.to_bits()
        }
    })
}

/// Numbers of all sizes and kinds.
fn random(rng: &mut Rng) -> f64 {
    let edges = [
        0.0,
        -0.0,
        1.0,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        f64::MAX,
        f64::MIN_POSITIVE,
        5e-324,
        1.5,
    ];
    match rng.u32(..4) {
        0 => edges[rng.usize(..edges.len())],
        1 => f64::from_bits(rng.u64(..)),
        2 => f64::from(rng.i32(..)) / 1024.0,
        _ => f64::from_bits(rng.u64(..) & 0x800f_ffff_ffff_ffff | 0x3ff0_0000_0000_0000),
    }
}

// covers: V-0530
#[test]
fn arithmetic_is_the_hosts() {
    let mut rng = Rng::with_seed(9);
    for _ in 0..300 {
        let [a, b, c]: [[f64; 4]; 3] = [(); 3].map(|()| std::array::from_fn(|_| random(&mut rng)));
        let t = with(&[(2, register(a)), (3, register(b)), (4, register(c))]);
        let text = "add(8) g10<1>DF g2<8,8,1>DF -g3<8,8,1>DF { align1 1Q };
            mul(8) g11<1>DF (abs)g2<8,8,1>DF g3<8,8,1>DF { align1 1Q };
            mad(8) g12<1>DF g4<4,4,1>DF g2<4,4,1>DF g3<4,4,1>DF { align16 1Q };
            sel.l(8) g13<1>DF g2<8,8,1>DF g3<8,8,1>DF { align1 1Q };
            mov.sat(8) g14<1>DF g2<8,8,1>DF { align1 1Q };
            cmp.l.f0.1(8) g15<1>DF g2<8,8,1>DF g3<8,8,1>DF { align1 1Q };
            mov(8) g16<1>DF g2<8,8,1>DF { align1 1Q };";
        let t = execute(text, t);
        let each = |f: fn(f64, f64) -> f64| std::array::from_fn(|i| f(a[i], b[i]));
        assert_eq!(doubles(&t, 10), bits(each(|a, b| a - b)), "{a:?} {b:?}");
        assert_eq!(
            doubles(&t, 11),
            bits(each(|a, b| a.abs() * b)),
            "{a:?} {b:?}"
        );
        let fused = std::array::from_fn(|i| a[i].mul_add(b[i], c[i]));
        assert_eq!(doubles(&t, 12), bits(fused), "{a:?} {b:?} {c:?}");
        // As `cmpn`: a source that is NaN gives way.
        let least = each(|a, b| if a < b || b.is_nan() { a } else { b });
        assert_eq!(doubles(&t, 13), bits(least), "{a:?} {b:?}");
        let unit = a.map(|v| if v > 0.0 { v.min(1.0) } else { 0.0 });
        assert_eq!(doubles(&t, 14), bits(unit), "{a:?}");
        let less = |i: usize| a[i] < b[i];
        let ones = std::array::from_fn(|i| if less(i) { u64::MAX } else { 0 });
        assert_eq!(doubles(&t, 15), ones, "{a:?} {b:?}");
        let flags = (0..4).fold(0, |f, i| f | u16::from(less(i)) << i);
        assert_eq!(t.view().flag, [0, flags]);
        assert_eq!(doubles(&t, 16), a.map(f64::to_bits));
    }
}

/// Rounding of CR0 against sums and products whose exact value is between two doubles.
#[test]
fn control_register_rounds_doubles() {
    let tiny = 1e-30;
    let e = f64::EPSILON;
    for (mode, [up, down]) in [(1, [true, false]), (2, [false, true]), (3, [false, false])] {
        let t = with(&[
            (2, register([1.0, 1.0, -1.0, f64::MAX])),
            (3, register([tiny, -tiny, tiny, f64::MAX])),
            (4, register([1.0 + e, -1.0 - e, 3.0, 1e-200])),
            (5, register([1.0 + e, 1.0 + e, 1.0 / 3.0, 1e-150])),
        ]);
        let text = format!(
            "mov(1) cr0<1>UD {:#010x}UD {{ align1 WE_all 1N }};
            add(8) g10<1>DF g2<8,8,1>DF g3<8,8,1>DF {{ align1 1Q }};
            mul(8) g11<1>DF g4<8,8,1>DF g5<8,8,1>DF {{ align1 1Q }};
            mad(8) g12<1>DF g3<4,4,1>DF g2<4,4,1>DF g2<4,4,1>DF {{ align16 1Q }};",
            mode << 4
        );
        let t = execute(&text, t);
        let above = 1.0 + e;
        let below = 1.0 - e / 2.0;
        let sums = [
            if up { above } else { 1.0 },
            if up { 1.0 } else { below },
            if down { -1.0 } else { -below },
            if up { f64::INFINITY } else { f64::MAX },
        ];
        assert_eq!(doubles(&t, 10), bits(sums), "mode {mode}");
        // (1 + e)^2 is 1 + 2e and a little; 3 * (1/3 rounded down) is a little less than 1.
        let square = if up {
            (1.0 + 2.0 * e).next_up()
        } else {
            1.0 + 2.0 * e
        };
        let negative = if down {
            -(1.0 + 2.0 * e).next_up()
        } else {
            -1.0 - 2.0 * e
        };
        let third = if up { 1.0 } else { below };
        let small = if up { 5e-324 } else { 0.0 };
        assert_eq!(
            doubles(&t, 11),
            bits([square, negative, third, small]),
            "mode {mode}"
        );
        let fused = [
            if up { above } else { 1.0 },
            if up { 1.0 } else { below },
            if up { above } else { 1.0 },
            if up { f64::INFINITY } else { f64::MAX },
        ];
        assert_eq!(doubles(&t, 12), bits(fused), "mode {mode}");
    }
}

#[test]
fn a_group_of_four_channels_has_four_enables() {
    let mut t = text::thread(GEN70, 0b0110_0101);
    t.grf_mut()[2] = register([1.0, 2.0, 3.0, 4.0]);
    let text = "mov(8) g10<1>DF g2<8,8,1>DF { align1 1Q };
        mov(8) g11<1>DF g2<8,8,1>DF { align1 2N };
        cmp.ge.f0.0(8) null<1>DF g2<8,8,1>DF g2<0,2,1>DF { align1 2N };
        (+f0.0) mov(8) g12<1>DF g2.1<0,2,1>DF { align1 2N };
        mov(8) g13<1>.yDF g2<0>.zwzwDF { align16 2N };
        mov(16) g14<1>DF g2<0,2,1>DF { align1 1H };";
    let t = execute(text, t);
    assert_eq!(doubles(&t, 10), bits([1.0, 0.0, 3.0, 0.0]));
    assert_eq!(doubles(&t, 11), bits([0.0, 2.0, 3.0, 0.0]));
    assert_eq!(t.view().flag, [0b0110_0000, 0]);
    assert_eq!(doubles(&t, 12), bits([0.0, 2.0, 2.0, 0.0]));
    assert_eq!(doubles(&t, 13), bits([0.0, 2.0, 0.0, 0.0]));
    // Both halves of eight doubles have the enables of the first four channels.
    assert_eq!(doubles(&t, 14), bits([1.0, 0.0, 1.0, 0.0]));
    assert_eq!(doubles(&t, 15), bits([1.0, 0.0, 1.0, 0.0]));
}

#[test]
fn swizzles_and_write_masks_of_doubles() {
    let t = with(&[
        (2, register([1.0, 2.0, 3.0, 4.0])),
        (3, register([5.0, 6.0, 7.0, 8.0])),
    ]);
    let text = "mov(8) g10<1>.xDF g2<0>.zwzwDF { align16 1Q };
        mov(8) g10<1>.zwDF g2.2<0>.xyxyDF { align16 1Q };
        add(8) g11<1>DF g2<4>DF g3<4>.zwxyDF { align16 1Q };
        mad(8) g12<1>DF g2<4,4,1>DF g3<4,4,1>.xyxyDF g3<0,1,0>DF { align16 1Q };";
    let t = execute(text, t);
    assert_eq!(doubles(&t, 10), bits([2.0, 0.0, 3.0, 3.0]));
    assert_eq!(doubles(&t, 11), bits([7.0, 7.0, 11.0, 11.0]));
    assert_eq!(doubles(&t, 12), bits([26.0, 27.0, 38.0, 39.0]));
}

/// To single floats and integers every second place is written; from them each is read twice.
#[test]
fn numbers_are_converted() {
    let t = with(&[
        (2, register([1.5, -2.75, 1e10, 0.1])),
        (
            3,
            [1.5f32, -3.0, 0.1, 1e-40, 5.0, 6.0, 7.0, 8.0].map(f32::to_bits),
        ),
        (4, [1, u32::MAX, 100, 0x8000_0000, 5, 6, 7, 8]),
        (10, [9; 8]),
        (11, [9; 8]),
    ]);
    let text = "mov(8) g10<1>F g2<8,8,1>DF { align1 1Q };
        mov(8) g11<1>D g2<8,8,1>DF { align1 1Q };
        mov(8) g12<1>DF g3<1,2,0>F { align1 1Q };
        mov(8) g13<1>DF g4<1,2,0>D { align1 1Q };
        mov(8) g14<1>DF g4<1,2,0>UD { align1 1Q };
        mov(8) g15<1>DF g3.4<1,2,0>F { align1 2N };";
    let t = execute(text, t);
    let every_second = |r: Grf| [r[0], r[2], r[4], r[6]];
    let floats = [1.5f32, -2.75, 1e10, 0.1].map(f32::to_bits);
    assert_eq!(every_second(t.grf()[10]), floats);
    let ints = [1, -2, i32::MAX, 0].map(|v: i32| v as u32);
    assert_eq!(every_second(t.grf()[11]), ints);
    // A denormal single float is zero.
    assert_eq!(doubles(&t, 12), bits([1.5, -3.0, f64::from(0.1f32), 0.0]));
    assert_eq!(doubles(&t, 13), bits([1.0, -1.0, 100.0, -2_147_483_648.0]));
    assert_eq!(
        doubles(&t, 14),
        bits([1.0, 4_294_967_295.0, 100.0, 2_147_483_648.0])
    );
    assert_eq!(doubles(&t, 15), bits([5.0, 6.0, 7.0, 8.0]));
}
