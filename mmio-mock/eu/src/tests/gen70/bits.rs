//! Bit fields, counts of bits, sums with carry.
//!
//! PRM: ValleyView volume 2 part 2. Expectations are the manual's pseudocode, bit by bit.

use super::{execute, with};
use fastrand::Rng;

/// The bits of a number, the lowest first.
fn bits(v: u32) -> [bool; 32] {
    std::array::from_fn(|i| v >> i & 1 != 0)
}

fn number(bits: [bool; 32]) -> u32 {
    bits.iter().rev().fold(0, |v, bit| v << 1 | u32::from(*bit))
}

fn samples() -> Vec<[u32; 8]> {
    let mut rng = Rng::with_seed(7);
    let mut out = vec![[
        0,
        1,
        2,
        0x8000_0000,
        u32::MAX,
        0x7fff_ffff,
        0xffff_fffe,
        0x0001_0000,
    ]];
    out.extend((0..200).map(|_| std::array::from_fn(|_| rng.u32(..) >> rng.u32(..32))));
    out
}

// covers: V-0640, V-0641, V-0642, V-0643, V-0645, V-0646
#[test]
fn bits_are_reversed() {
    for a in samples() {
        let t = execute(
            "bfrev(8) g10<1>UD g2<8,8,1>UD { align1 1Q };",
            with(&[(2, a)]),
        );
        let expected = a.map(|v| {
            let mut reversed = bits(v);
            reversed.reverse();
            number(reversed)
        });
        assert_eq!(t.grf()[10], expected);
    }
    let t = execute("bfrev(8) g10<1>UD 0x00000013UD { align1 1Q };", with(&[]));
    assert_eq!(t.grf()[10], [0xc800_0000; 8]);
    let text = "(+f0.0) bfrev(8) g10<1>UD 0x00000001UD { align1 1Q };";
    let mut t = with(&[(10, [7; 8])]);
    t.set_flag([0x0f, 0]);
    let t = execute(text, t);
    let high = 0x8000_0000;
    assert_eq!(t.grf()[10], [high, high, high, high, 7, 7, 7, 7]);
}

// covers: V-0566, V-0567, V-0568, V-0569, V-0570, V-0571, V-0572, V-0573, V-0596
#[test]
fn fields_are_extracted() {
    let all = samples();
    for (n, a) in all.iter().enumerate() {
        let (b, c) = (all[(n + 3) % all.len()], all[(n + 7) % all.len()]);
        let t = with(&[(2, *a), (3, b), (4, c)]);
        for (ty, signed) in [("UD", false), ("D", true)] {
            let text = format!(
                "bfe(8) g10<1>{ty} g2<4,4,1>{ty} g3<4,4,1>{ty} g4<4,4,1>{ty} {{ align16 1Q }};"
            );
            let t = execute(&text, t.clone());
            let expected = std::array::from_fn(|i| {
                let (width, offset) = (a[i] as usize & 31, b[i] as usize & 31);
                let value = bits(c[i]);
                let end = (offset + width).min(32);
                let last = if width == 0 { false } else { value[end - 1] };
                number(std::array::from_fn(|at| match offset + at {
                    from if width > 0 && from < end => value[from],
                    _ => signed && last,
                }))
            });
            assert_eq!(t.grf()[10], expected, "{a:x?} {b:x?} {c:x?}");
        }
    }
    let text = "bfe(8) g10<1>.xzUD g2.1<0,1,0>UD g3<4,4,1>.yUD g4<4,4,1>UD { align16 1Q };";
    let c = [0xabcd_ef12; 8];
    let t = execute(
        text,
        with(&[
            (2, [0, 8, 0, 0, 0, 0, 0, 0]),
            (3, [4; 8]),
            (4, c),
            (10, [5; 8]),
        ]),
    );
    assert_eq!(t.grf()[10], [0xf1, 5, 0xf1, 5, 0xf1, 5, 0xf1, 5]);
}

// covers: V-0598, V-0599, V-0600, V-0601, V-0602, V-0603, V-0604, V-0605, V-0610, V-0611, V-0612, V-0613, V-0614, V-0615, V-0617
#[test]
fn fields_are_inserted() {
    let all = samples();
    for (n, a) in all.iter().enumerate() {
        let (b, c, d) = (
            all[(n + 3) % all.len()],
            all[(n + 7) % all.len()],
            all[(n + 11) % all.len()],
        );
        let t = with(&[(2, *a), (3, b), (4, c), (5, d)]);
        let text = "bfi1(8) g9<1>UD g2<8,8,1>UD g3<8,8,1>UD { align1 1Q };
            bfi2(8) g10<1>UD g9<4,4,1>UD g4<4,4,1>UD g5<4,4,1>UD { align16 1Q };";
        let t = execute(text, t);
        for i in 0..8 {
            let (width, offset) = (a[i] as usize & 31, b[i] as usize & 31);
            let end = (offset + width).min(32);
            let inside = |at: usize| at >= offset && at < end && width > 0;
            assert_eq!(t.grf()[9][i], number(std::array::from_fn(inside)));
            let (value, rest) = (bits(c[i]), bits(d[i]));
            let expected = std::array::from_fn(|at| {
                if inside(at) {
                    value[at - offset]
                } else {
                    rest[at]
                }
            });
            assert_eq!(t.grf()[10][i], number(expected));
        }
    }
}

#[test]
fn bits_are_found_and_counted() {
    for a in samples() {
        let t = with(&[(2, a)]);
        let go = |op: &str, ty: &str| {
            let text = format!("{op}(8) g10<1>UD g2<8,8,1>{ty} {{ align1 1Q }};");
            execute(&text, t.clone()).grf()[10]
        };
        let found = |found: Option<usize>| found.map_or(u32::MAX, |at| at as u32);
        assert_eq!(
            go("cbit", "UD"),
            a.map(|v| bits(v).iter().filter(|b| **b).count() as u32)
        );
        assert_eq!(
            go("fbl", "UD"),
            a.map(|v| found(bits(v).iter().position(|b| *b)))
        );
        let high = |v: u32, looked: bool| bits(v).iter().rev().position(|b| *b == looked);
        assert_eq!(go("fbh", "UD"), a.map(|v| found(high(v, true))));
        // GLSL findMSB: of a negative number the highest bit that is zero.
        let signed = a.map(|v| found(high(v, (v as i32) >= 0)));
        assert_eq!(go("fbh", "D"), signed);
    }
}

// covers: V-0537, V-0538, V-0539, V-0540, V-0541, V-0542
#[test]
fn carries_and_borrows_are_in_the_accumulator() {
    let all = samples();
    for (n, a) in all.iter().enumerate() {
        let b = all[(n + 3) % all.len()];
        let t = with(&[(2, *a), (3, b)]);
        for (op, subtract) in [("addc", false), ("subb", true)] {
            let text = format!(
                "{op}(8) g10<1>UD g2<8,8,1>UD g3<8,8,1>UD {{ align1 1Q AccWrEnable }};
                mov(8) g11<1>UD acc0<8,8,1>UD {{ align1 1Q }};"
            );
            let t = execute(&text, t.clone());
            for i in 0..8 {
                let (x, y) = (i64::from(a[i]), i64::from(b[i]));
                let whole = if subtract { x - y } else { x + y };
                assert_eq!(t.grf()[10][i], whole as u32);
                assert_eq!(t.grf()[11][i], u32::from(!(0..1 << 32).contains(&whole)));
            }
        }
    }
}

/// The sign of a difference that is saturated: subtraction by a negated accumulator, as Mesa 22.3.6 `lower_sub_sat` has it.
#[test]
fn accumulators_are_negated() {
    let t = with(&[(2, [5; 8]), (3, [3, 5, 7, 0, u32::MAX, 6, 4, 1])]);
    let text = "mov(8) acc0<1>UD g3<8,8,1>UD { align1 1Q };
        add.sat(8) g10<1>UD -acc0<8,8,1>UD g2<8,8,1>UD { align1 1Q };";
    let t = execute(text, t);
    assert_eq!(t.grf()[10], [2, 0, 0, 5, 0, 0, 1, 4]);
}
