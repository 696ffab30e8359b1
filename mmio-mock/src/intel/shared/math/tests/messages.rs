//! Descriptors, payloads and writebacks of extended math.
//!
//! PRM: volume 4, 6.1, 6.3.6 to 6.3.10.

use super::*;

const SCALAR: u16 = 1 << 7;
const SATURATE: u16 = 1 << 6;
const PARTIAL: u16 = 1 << 5;
const SIGNED: u16 = 1 << 4;

const OLD: Grf = [0x5a5a_0007; 8];

/// Sends `payload` and gives the response registers, which held [`OLD`].
fn sent<const N: usize>(control: u16, mode: FloatMode, mask: u16, payload: &[Grf]) -> [Grf; N] {
    let mut msg = message(control, mask, payload);
    msg.float_mode = mode;
    msg.response_length = N as u8;
    let mut w = [OLD; N];
    execute(&msg, &mut w).unwrap();
    w
}

fn one(control: u16, mode: FloatMode, a: f32) -> f32 {
    let [w] = sent(control, mode, 1, &[[a.to_bits(); 8]]);
    f32::from_bits(w[0])
}

/// Values that a calculator gives for the codes of the table.
// covers: 6.1.1.1-07, 6.1.1.1-09, 6.1.1.3-01
#[test]
fn codes_name_their_functions() {
    let pi = std::f32::consts::PI;
    let ieee = FloatMode::Ieee;
    let floats = [
        (0x1, 0.25, 4.0),
        (0x2, 8.0, 3.0),
        (0x2, 0.125, -3.0),
        (0x3, 5.0, 32.0),
        (0x3, -1.0, 0.5),
        (0x4, 81.0, 9.0),
        (0x5, 16.0, 0.25),
        (0x6, pi / 2.0, 1.0),
        (0x6, pi / 6.0, 0.5),
        (0x7, pi, -1.0),
        (0x7, pi / 3.0, 0.5),
        (0x8, pi / 6.0, 0.5),
    ];
    for (code, x, want) in floats {
        let got = one(code, ieee, x);
        assert!((got - want).abs() < 1e-6, "{code:#x} of {x}: {got}");
    }
    // Two operands: base and power; denominator and numerator.
    let two = |code, a: u32, b: u32| -> Grf { sent::<1>(code, ieee, 0xff, &[[a; 8], [b; 8]])[0] };
    assert_eq!(
        two(0xa, 3f32.to_bits(), 4f32.to_bits()),
        [81f32.to_bits(); 8]
    );
    assert_eq!(two(0xc, 7, 100), [14; 8]);
    assert_eq!(two(0xd, 7, 100), [2; 8]);
    assert_eq!(two(0xb, 7, 100), [14; 8]);
    for code in [0x0, 0x9, 0xe, 0xf] {
        for length in 1..3 {
            let payload = vec![[0; 8]; length];
            let refused = execute(&message(code, 1, &payload), &mut [OLD]);
            assert_eq!(refused, Err(Reject::Function));
        }
    }
    // One register, or two for POW and INT DIV; never anything else.
    for code in [1, 2, 3, 4, 5, 6, 7, 8, 0xa, 0xb, 0xc, 0xd] {
        let need = if code < 0xa { 1 } else { 2 };
        for length in 0..4 {
            let payload = vec![[0; 8]; length];
            let result = execute(&message(code, 1, &payload), &mut [OLD; 2]);
            let want = if length == need {
                Ok(())
            } else {
                Err(Reject::Length)
            };
            assert_eq!(result, want, "{code:#x} of {length}");
        }
    }
}

// covers: 6.1.1.1-04
#[test]
fn saturation_is_for_floats() {
    let ieee = FloatMode::Ieee;
    let cases = [
        (0x1, 0.25, 1.0),
        (0x1, -4.0, 0.0),
        (0x1, 4.0, 0.25),
        (0x2, 0.5, 0.0),
        (0x3, 10.0, 1.0),
        (0x4, 9.0, 1.0),
        (0x5, 0.25, 1.0),
        (0x6, -1.0, 0.0),
        (0x7, 3.0, 0.0),
        (0x8, -1.0, 0.0),
    ];
    for (code, x, want) in cases {
        let got = one(code | SATURATE, ieee, x);
        assert_eq!(got.to_bits(), f32::to_bits(want), "{code:#x} of {x}");
    }
    let base = [3f32.to_bits(); 8];
    let [w] = sent(0xa | SATURATE, ieee, 1, &[base, [2f32.to_bits(); 8]]);
    assert_eq!(w[0], 1f32.to_bits());
    // Both results of SINCOS; cosine of 3 is negative.
    let [sine, cosine] = sent(0x8 | SATURATE, ieee, 1, &[[3f32.to_bits(); 8]]);
    assert!((f32::from_bits(sine[0]) - 0.141_12).abs() < 1e-4);
    assert_eq!(cosine[0], 0);
    // Integers are what they are.
    let [q, r] = sent(0xb | SATURATE, ieee, 1, &[[7; 8], [100; 8]]);
    assert_eq!((q[0], r[0]), (14, 2));
}

/// The hint is only valid in ALT mode, where results may be worse but need not.
// covers: 6.1.1.1-05, 6.3.2-01, 6.3.3-01
#[test]
fn precision_is_a_hint_in_one_mode() {
    for code in 1..8u16 {
        for x in [0.3f32, 1.7, 12.5, 100.25] {
            let full = one(code, FloatMode::Ieee, x);
            let partial = one(code | PARTIAL, FloatMode::Ieee, x);
            assert_eq!(full.to_bits(), partial.to_bits(), "{code:#x} of {x}");
        }
    }
    let integers = [[7; 8], [100; 8]];
    for code in [0xb, 0xc, 0xd] {
        let full: [Grf; 2] = sent(code, FloatMode::Alt, 0xff, &integers);
        assert_eq!(full, sent(code | PARTIAL, FloatMode::Alt, 0xff, &integers));
    }
    for n in 1..1000 {
        let x = n as f32 * 0.037 + 1.01;
        let wide = f64::from(x);
        for (code, want) in [(0x2, wide.log2()), (0x3, wide.exp2())] {
            for (hint, bits) in [(0, 21), (PARTIAL, 10)] {
                let got = f64::from(one(code | hint, FloatMode::Alt, x));
                let error = (got - want).abs() / want;
                assert!(error <= 2f64.powi(-bits), "{code:#x} of {x}: {error}");
            }
        }
    }
}

// covers: 6.1.1.1-08
#[test]
fn the_mode_travels_with_the_message() {
    for (code, x, ieee, alt) in [
        (0x1, 0.0, INF, MAX),
        (0x2, 0.0, -INF, -MAX),
        (0x2, -8.0, NAN, 3.0),
        (0x4, -4.0, NAN, 2.0),
        (0x5, -0.0, -INF, MAX),
    ] {
        assert!(same(one(code, FloatMode::Ieee, x), ieee), "{code:#x}");
        assert!(same(one(code, FloatMode::Alt, x), alt), "{code:#x}");
    }
}

// covers: 6.1-02, 6.1.1.2-01, 6.1.1.2-03, 6.1.2-02
#[test]
fn vector_mode_computes_what_is_enabled() {
    let source: Grf = std::array::from_fn(|n| (1u32 << n) as f32).map(f32::to_bits);
    let numerators: Grf = std::array::from_fn(|n| 1000 + n as u32);
    for mask in 0..256u16 {
        // The upper half of the mask is ignored, and there is no register for it.
        let mask = mask | mask.reverse_bits();
        let [w] = sent(0x1, FloatMode::Ieee, mask, &[source]);
        let [q, r] = sent(0xb, FloatMode::Ieee, mask, &[[7; 8], numerators]);
        let [sine, cosine] = sent(0x8, FloatMode::Ieee, mask, &[[0; 8]]);
        for n in 0..8 {
            let (inverse, number) = (1.0 / (1u32 << n) as f32, 1000 + n as u32);
            let want = match mask >> n & 1 {
                0 => [OLD[0]; 5],
                _ => [inverse.to_bits(), number / 7, number % 7, 0, 1f32.to_bits()],
            };
            let got = [w[n], q[n], r[n], sine[n], cosine[n]];
            assert_eq!(got, want, "mask {mask:#x} channel {n}");
        }
    }
}

// covers: 6.1.1.1-03, 6.1.1.2-02, 6.3.10-04
#[test]
fn scalar_mode_takes_channels_0_and_4() {
    let ieee = FloatMode::Ieee;
    let source = [4.0f32, -1.0, -1.0, -1.0, 16.0, -1.0, -1.0, -1.0].map(f32::to_bits);
    let denominators = [7, 0, 0, 0, 9, 0, 0, 0];
    let numerators = [100, 1, 1, 1, 1000, 2, 2, 2];
    for mask in 0..256u16 {
        let [w] = sent(0x4 | SCALAR, ieee, mask, &[source]);
        let [q, r] = sent(0xb | SCALAR, ieee, mask, &[denominators, numerators]);
        for n in 0..8 {
            let want = match (mask >> n & 1, n / 4) {
                (0, _) => [OLD[0]; 3],
                (_, 0) => [2f32.to_bits(), 14, 2],
                _ => [4f32.to_bits(), 111, 1],
            };
            assert_eq!([w[n], q[n], r[n]], want, "mask {mask:#x} channel {n}");
        }
    }
}

// covers: 6.1.2-01, 6.1.2-03, 6.3.9-01
#[test]
fn two_results_fill_two_registers() {
    let ieee = FloatMode::Ieee;
    let angle = [0.5f32.to_bits(); 8];
    let [sine, cosine] = sent(0x8, ieee, 0xff, &[angle]);
    let close = |bits: u32, want: f64| (f64::from(f32::from_bits(bits)) - want).abs() <= 0.0008;
    assert!(sine.iter().all(|&s| close(s, 0.5f64.sin())));
    assert!(cosine.iter().all(|&c| close(c, 0.5f64.cos())));
    // Whoever asks for one register gets the first; whoever asks for none gets none.
    assert_eq!(sent(0x8, ieee, 0xff, &[angle]), [sine]);
    assert_eq!(sent::<0>(0x8, ieee, 0xff, &[angle]), [OLD; 0]);
    let operands = [[7; 8], [100; 8]];
    assert_eq!(sent(0xb, ieee, 0xff, &operands), [[14; 8], [2; 8]]);
    // Quotient alone and remainder alone leave the second register.
    assert_eq!(sent(0xc, ieee, 0xff, &operands), [[14; 8], OLD]);
    assert_eq!(sent(0xd, ieee, 0xff, &operands), [[2; 8], OLD]);
    for code in [1, 2, 3, 4, 5, 6, 7] {
        let [_, second] = sent(code, ieee, 0xff, &[angle]);
        assert_eq!(second, OLD, "{code:#x}");
    }
}

/// Arithmetic of 64 bits decides: numerator = quotient * denominator + remainder.
// covers: 6.1.1.1-06, 6.1.1.3-02, 6.1.1.3-03, 6.1.1.3-04, 6.3.10-01, 6.3.10-02, 6.3.10-03
#[test]
fn integer_division_of_many_operands() {
    let ieee = FloatMode::Ieee;
    let mut values = vec![
        0,
        1,
        2,
        7,
        100,
        0x7fff_ffff,
        0x8000_0000,
        0x8000_0001,
        0xffff_ffff,
    ];
    let mut seed = 99u32;
    values.extend((0..40).map(|n| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        seed >> (n % 29)
    }));
    for &denominator in &values {
        for &numerator in &values {
            let operands = [[denominator; 8], [numerator; 8]];
            let [q, r] = sent(0xb, ieee, 1, &operands);
            let want = match denominator {
                0 => (u32::MAX, u32::MAX),
                d => (numerator / d, numerator % d),
            };
            assert_eq!((q[0], r[0]), want, "{numerator} / {denominator}");
            let [q, r] = sent(0xb | SIGNED, ieee, 1, &operands);
            let (n, d) = (i64::from(numerator as i32), i64::from(denominator as i32));
            if d == 0 {
                let limit = if n < 0 { 0x8000_0000 } else { 0x7fff_ffff };
                assert_eq!((q[0], r[0]), (limit, limit), "{n} / 0");
                continue;
            }
            let remainder = i64::from(r[0] as i32);
            assert!(remainder.signum() * n.signum() >= 0, "sign of {n} % {d}");
            assert!(remainder.abs() < d.abs(), "{n} % {d}");
            let quotient = (n - remainder) / d;
            assert_eq!(q[0], quotient as u32, "{n} / {d}");
            assert!(quotient == 0 || quotient.signum() == n.signum() * d.signum());
        }
    }
}

/// Power is 2^(b log2 |a|), within 2^-15 of what double precision gives.
// covers: 6.3.6-01
#[test]
fn powers_of_many_operands() {
    for n in 1..200 {
        for p in -40..40i32 {
            let (a, b) = (n as f32 * 0.173, p as f32 * 0.331);
            let want = f64::from(a).powf(f64::from(b));
            if !(1e-36..1e38).contains(&want) {
                continue;
            }
            for a in [a, -a] {
                let [w] = sent(
                    0xa,
                    FloatMode::Ieee,
                    1,
                    &[[a.to_bits(); 8], [b.to_bits(); 8]],
                );
                let got = f64::from(f32::from_bits(w[0]));
                assert!((got - want).abs() <= want * 2f64.powi(-15), "{a}^{b}");
            }
        }
    }
}

// covers: 6.3.7-01, 6.3.8-01
#[test]
fn angles_within_and_beyond_a_hundred_pi() {
    for n in -6283..6283i32 {
        let x = n as f32 * 0.05;
        assert!(f64::from(x).abs() <= 100.0 * std::f64::consts::PI);
        let sine = f64::from(one(0x6, FloatMode::Alt, x));
        let cosine = f64::from(one(0x7, FloatMode::Alt, x));
        assert!((sine - f64::from(x).sin()).abs() <= 0.0008, "sin {x}");
        assert!((cosine - f64::from(x).cos()).abs() <= 0.0008, "cos {x}");
    }
    for exponent in 9..127 {
        for mantissa in [1.0f32, 1.3, 1.999] {
            let x = mantissa * 2f32.powi(exponent);
            for (code, x) in [(6, x), (6, -x), (7, x), (7, -x)] {
                let got = one(code, FloatMode::Ieee, x);
                assert!((-1.0..=1.0).contains(&got), "{code} of {x}: {got}");
            }
        }
    }
}

/// The same message gives the same, whatever went before.
// covers: 6.0-01
#[test]
fn messages_leave_nothing_behind() {
    let source = [[0.7f32.to_bits(); 8]];
    let before: [Grf; 2] = sent(0x8, FloatMode::Ieee, 0xff, &source);
    let _: [Grf; 2] = sent(
        0xb | SIGNED | SCALAR,
        FloatMode::Alt,
        0xff,
        &[[3; 8], [9; 8]],
    );
    assert_eq!(
        execute(&message(0xf, 0xff, &source), &mut [OLD]),
        Err(Reject::Function)
    );
    assert_eq!(before, sent(0x8, FloatMode::Ieee, 0xff, &source));
}

/// Bits 8 to 5, whose numbers the print has lost, one at a time: what each does says which it is.
// covers: 6.1.1.1-01
#[test]
fn the_four_bits_above_the_integer_type() {
    let ieee = FloatMode::Ieee;
    // Reciprocals of all channels differ, some are above 1 and one is negative.
    let x = [0.5f32, 0.25, 2.0, -4.0, 8.0, 0.125, 16.0, 32.0];
    let payload = [x.map(f32::to_bits)];
    let inv = |bits: u16| -> [f32; 8] {
        let [w] = sent(1 | bits, ieee, 0xff, &payload);
        w.map(f32::from_bits)
    };
    let plain = [2.0, 4.0, 0.5, -0.25, 0.125, 8.0, 0.0625, 0.031_25];
    assert_eq!(inv(0), plain);
    // 5, precision: a hint that IEEE mode ignores. 8, snapshot: nothing of the result.
    assert_eq!(inv(1 << 5), plain);
    assert_eq!(inv(1 << 8), plain);
    // 6, saturate.
    assert_eq!(
        inv(1 << 6),
        [1.0, 1.0, 0.5, 0.0, 0.125, 1.0, 0.0625, 0.031_25]
    );
    // 7, scalar: channels 0 and 4 for their four.
    assert_eq!(
        inv(1 << 7),
        [2.0, 2.0, 2.0, 2.0, 0.125, 0.125, 0.125, 0.125]
    );
    assert_eq!(
        inv(1 << 8 | 1 << 7 | 1 << 6 | 1 << 5),
        [1.0, 1.0, 1.0, 1.0, 0.125, 0.125, 0.125, 0.125]
    );
}
