//! Extended math against double precision and the tables of PRM 6.3.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use super::*;
use eu::ThreadId;

const ZERO: f32 = 0.0;
const DENORM: f32 = 1.0e-40;
const INF: f32 = f32::INFINITY;
const NAN: f32 = f32::NAN;
const MAX: f32 = f32::MAX;

fn same(got: f32, want: f32) -> bool {
    got.is_nan() && want.is_nan() || got.to_bits() == want.to_bits()
}

fn table(function: Function, mode: FloatMode, rows: &[(f32, f32)]) {
    for &(x, want) in rows {
        let got = float(function, mode, x, 0.0);
        assert!(
            same(got, want),
            "{function:?} {mode:?} of {x:e}: {got:e}, table {want:e}"
        );
    }
}

// covers: 10.3.1.1-02, 10.3.1.1-03, 10.3.1.1-01, 6.3.1-02, 6.3.2-02, 6.3.3-02, 6.3.4-01, 6.3.5-01, 6.3.5-03, 6.3.7-02, 6.3.8-02
#[test]
fn special_values_ieee() {
    let ieee = FloatMode::Ieee;
    table(
        Function::Inv,
        ieee,
        &[
            (INF, ZERO),
            (ZERO, INF),
            (DENORM, INF),
            (-ZERO, -INF),
            (-DENORM, -INF),
            (-INF, -ZERO),
            (NAN, NAN),
        ],
    );
    table(
        Function::Log,
        ieee,
        &[
            (INF, INF),
            (ZERO, -INF),
            (DENORM, -INF),
            (-ZERO, -INF),
            (-DENORM, -INF),
            (-INF, NAN),
            (-2.0, NAN),
            (NAN, NAN),
        ],
    );
    table(
        Function::Exp,
        ieee,
        &[
            (INF, INF),
            (ZERO, 1.0),
            (-ZERO, 1.0),
            (DENORM, 1.0),
            (-INF, ZERO),
            (-1.0, 0.5),
            (NAN, NAN),
        ],
    );
    table(
        Function::Sqrt,
        ieee,
        &[
            (INF, INF),
            (ZERO, ZERO),
            (DENORM, ZERO),
            (-ZERO, -ZERO),
            (-DENORM, -ZERO),
            (-INF, NAN),
            (-4.0, NAN),
            (NAN, NAN),
        ],
    );
    table(
        Function::Rsq,
        ieee,
        &[
            (INF, ZERO),
            (ZERO, INF),
            (DENORM, INF),
            (-ZERO, -INF),
            (-DENORM, -INF),
            (-INF, NAN),
            (-4.0, NAN),
            (NAN, NAN),
        ],
    );
    table(
        Function::Sin,
        ieee,
        &[
            (INF, NAN),
            (ZERO, ZERO),
            (DENORM, ZERO),
            (-ZERO, -ZERO),
            (-DENORM, -ZERO),
            (-INF, NAN),
            (NAN, NAN),
        ],
    );
    table(
        Function::Cos,
        ieee,
        &[
            (INF, NAN),
            (ZERO, 1.0),
            (-ZERO, 1.0),
            (-INF, NAN),
            (NAN, NAN),
        ],
    );
}

// covers: 10.3.2-02, 10.3-02, 6.3.1-03, 6.3.2-03, 6.3.3-03, 6.3.4-02, 6.3.5-02, 6.3.7-02, 6.3.8-02
#[test]
fn special_values_alt() {
    let alt = FloatMode::Alt;
    table(
        Function::Inv,
        alt,
        &[(ZERO, MAX), (-ZERO, -MAX), (NAN, NAN)],
    );
    table(
        Function::Log,
        alt,
        &[(ZERO, -MAX), (-ZERO, -MAX), (-8.0, 3.0), (NAN, NAN)],
    );
    table(
        Function::Exp,
        alt,
        &[(ZERO, 1.0), (-ZERO, 1.0), (1000.0, MAX)],
    );
    table(
        Function::Sqrt,
        alt,
        &[(ZERO, ZERO), (-ZERO, ZERO), (-4.0, 2.0), (NAN, NAN)],
    );
    table(
        Function::Rsq,
        alt,
        &[(ZERO, MAX), (-ZERO, MAX), (-4.0, 0.5), (NAN, NAN)],
    );
    table(
        Function::Sin,
        alt,
        &[(ZERO, ZERO), (-ZERO, -ZERO), (NAN, NAN)],
    );
    table(Function::Cos, alt, &[(ZERO, 1.0), (-ZERO, 1.0), (NAN, NAN)]);
}

// covers: 6.3.6-02, 6.3.6-03
#[test]
fn power_table() {
    // Columns of PRM 6.3.6: |F|>1, |F|=1, |F|<1, +inf, +0, -0, -inf, NaN.
    let columns = [-3.0, -1.0, -0.25, INF, ZERO, -ZERO, -INF, NAN];
    let rows = [
        (INF, [INF, NAN, ZERO, INF, ZERO, ZERO, INF, NAN]),
        (ZERO, [1.0, 1.0, 1.0, NAN, NAN, NAN, NAN, NAN]),
        (-ZERO, [1.0, 1.0, 1.0, NAN, NAN, NAN, NAN, NAN]),
        (-INF, [ZERO, NAN, INF, ZERO, INF, INF, ZERO, NAN]),
        (2.0, [9.0, 1.0, 0.0625, INF, ZERO, ZERO, INF, NAN]),
        (-2.0, [1.0 / 9.0, 1.0, 16.0, ZERO, INF, INF, ZERO, NAN]),
        (NAN, [NAN; 8]),
    ];
    for (power, wants) in rows {
        for (base, want) in columns.into_iter().zip(wants) {
            let got = float(Function::Pow, FloatMode::Ieee, base, power);
            assert!(
                same(got, want),
                "{base:e}^{power:e}: {got:e}, table {want:e}"
            );
        }
    }
    for (base, power, want) in [
        (ZERO, ZERO, 1.0),
        (-ZERO, ZERO, 1.0),
        (ZERO, -1.0, MAX),
        (ZERO, 2.0, ZERO),
        (5.0, ZERO, 1.0),
    ] {
        let got = float(Function::Pow, FloatMode::Alt, base, power);
        assert!(
            same(got, want),
            "ALT {base:e}^{power:e}: {got:e}, table {want:e}"
        );
    }
}

/// A spread of finite values over the whole range.
fn samples() -> impl Iterator<Item = f32> {
    (0..4000u32).map(|n| {
        let bits = n.wrapping_mul(0x9e37_79b9).rotate_left(7);
        f32::from_bits(bits & 0x807f_ffff | (20 + bits % 210) << 23)
    })
}

// covers: 10.3.1.2-10, 6.3.1-01, 6.3.2-01, 6.3.3-01, 6.3.4-01, 6.3.5-01, 6.3.6-01
#[test]
fn errors_stay_within_the_promised_bounds() {
    let ulp = |x: f64| f64::from((x as f32).abs().next_up()) - f64::from((x as f32).abs());
    for x in samples() {
        let wide = f64::from(x);
        let inv = f64::from(float(Function::Inv, FloatMode::Ieee, x, 0.0));
        assert!((inv - 1.0 / wide).abs() <= ulp(1.0 / wide), "1/{x:e}");
        let a = x.abs();
        let wide = f64::from(a);
        for (function, want) in [
            (Function::Sqrt, wide.sqrt()),
            (Function::Rsq, 1.0 / wide.sqrt()),
        ] {
            let got = f64::from(float(function, FloatMode::Ieee, a, 0.0));
            assert!((got - want).abs() <= ulp(want), "{function:?} {a:e}");
        }
        let log = f64::from(float(Function::Log, FloatMode::Ieee, a, 0.0));
        assert!(
            (log - wide.log2()).abs() <= wide.log2().abs() * 2f64.powi(-21),
            "log {a:e}"
        );
    }
    for n in -2000..2000i32 {
        let x = n as f32 * 0.0617;
        let exp = f64::from(float(Function::Exp, FloatMode::Ieee, x, 0.0));
        let want = f64::from(x).exp2();
        assert!((exp - want).abs() <= want * 2f64.powi(-21), "2^{x}");
        let angle = n as f32 * 0.157;
        let wide = f64::from(angle);
        let sin = f64::from(float(Function::Sin, FloatMode::Ieee, angle, 0.0));
        let cos = f64::from(float(Function::Cos, FloatMode::Ieee, angle, 0.0));
        assert!((sin - wide.sin()).abs() <= 0.0008 && (cos - wide.cos()).abs() <= 0.0008);
        let base = 0.1 + n.unsigned_abs() as f32 * 0.013;
        let pow = f64::from(float(Function::Pow, FloatMode::Ieee, base, 2.7));
        let want = f64::from(base).powf(f64::from(2.7f32));
        assert!((pow - want).abs() <= want * 2f64.powi(-15), "{base}^2.7");
    }
}

// covers: 6.3.10-01, 6.3.10-02, 6.3.10-03
#[test]
fn integer_division_table() {
    let minus = |n: i32| n as u32;
    assert_eq!(divide(7, 2, true), (3, 1));
    assert_eq!(divide(7, minus(-2), true), (minus(-3), 1));
    assert_eq!(divide(minus(-7), 2, true), (minus(-3), minus(-1)));
    assert_eq!(divide(minus(-7), minus(-2), true), (3, minus(-1)));
    assert_eq!(divide(0, 5, true), (0, 0));
    assert_eq!(divide(9, 0, true), (0x7fff_ffff, 0x7fff_ffff));
    assert_eq!(divide(0, 0, true), (0x7fff_ffff, 0x7fff_ffff));
    assert_eq!(divide(minus(-9), 0, true), (0x8000_0000, 0x8000_0000));
    assert_eq!(divide(0xffff_fff0, 0x10, false), (0x0fff_ffff, 0));
    assert_eq!(divide(5, 0, false), (u32::MAX, u32::MAX));
    assert_eq!(
        divide(0x8000_0000, u32::MAX, true),
        (0x8000_0000, 0),
        "no overflow"
    );
}

/// Serves a message by its function control.
fn execute(msg: &Message<'_>, response: &mut [Grf]) -> Result<(), Reject> {
    let request = crate::intel::r#gen::gen40::message::math(msg.function_control);
    super::execute(request, msg, response)
}

fn message(control: u16, exec_mask: u16, payload: &[Grf]) -> Message<'_> {
    Message {
        thread: ThreadId::default(),
        sfid: 1,
        function_control: control,
        desc: u32::from(control),
        response_length: 1,
        eot: false,
        exec_mask,
        exec_size: 8,
        payload,
        ip: 0,
        float_mode: FloatMode::Ieee,
    }
}

#[test]
fn vector_mode_leaves_disabled_channels_alone() {
    let source = [1.0f32, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0].map(f32::to_bits);
    let mut w = [[7u32; 8]];
    execute(&message(0x1, 0xff82, &[source]), &mut w).unwrap();
    assert_eq!(
        w[0],
        [7, 0.5f32.to_bits(), 7, 7, 7, 7, 7, 0.007_812_5f32.to_bits()]
    );
}

#[test]
fn scalar_mode_broadcasts_the_first_channel_of_each_group() {
    let source = [4.0f32, 9.0, 9.0, 9.0, 16.0, 9.0, 9.0, 9.0].map(f32::to_bits);
    let mut w = [[7u32; 8]];
    execute(&message(1 << 7 | 0x4, 0x2a, &[source]), &mut w).unwrap();
    let (two, four) = (2f32.to_bits(), 4f32.to_bits());
    assert_eq!(w[0], [7, two, 7, two, 7, four, 7, 7]);
}

#[test]
fn saturation_and_two_register_results() {
    let source = [[0.25f32.to_bits(); 8]];
    let mut w = [[0u32; 8]; 2];
    execute(&message(1 << 6 | 0x1, 1, &source), &mut w).unwrap();
    assert_eq!(w[0][0], 1f32.to_bits());
    execute(&message(0x8, 1, &[[0; 8]]), &mut w).unwrap();
    assert_eq!((w[0][0], w[1][0]), (0, 1f32.to_bits()));
    // Denominator first, numerator second.
    execute(&message(0xb, 1, &[[5; 8], [17; 8]]), &mut w).unwrap();
    assert_eq!((w[0][0], w[1][0]), (3, 2));
    execute(&message(0xd, 1, &[[5; 8], [17; 8]]), &mut w[..1]).unwrap();
    assert_eq!(w[0][0], 2);
}

// covers: 6.1-01
#[test]
fn reserved_codes_short_payloads_and_eot_are_refused() {
    let mut w = [[0u32; 8]];
    for code in [0, 9, 14, 15] {
        assert_eq!(
            execute(&message(code, 1, &[[0; 8]]), &mut w),
            Err(Reject::Function)
        );
    }
    assert_eq!(
        execute(&message(0xa, 1, &[[0; 8]]), &mut w),
        Err(Reject::Length)
    );
    let mut eot = message(1, 1, &[[0; 8]]);
    eot.eot = true;
    assert_eq!(execute(&eot, &mut w), Err(Reject::Eot));
}

/// The loops over all channels against the function of one channel, on any bits.
#[test]
fn all_channels_at_once_give_what_each_gives() {
    let mut seed = 5u32;
    let mut random = || {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        seed
    };
    for round in 0..20_000u32 {
        let mut source: Grf = std::array::from_fn(|_| random());
        let special = [
            0,
            0x8000_0000,
            1,
            0x807f_ffff,
            0x7f80_0000,
            0xff80_0000,
            0x7fc0_0000,
        ];
        source[round as usize & 7] = special[round as usize % special.len()];
        for function in [Function::Inv, Function::Rsq] {
            let mode = [FloatMode::Ieee, FloatMode::Alt][round as usize / 7 % 2];
            let made = at_once(function, mode, &source).unwrap();
            let want = source.map(|x| float(function, mode, f32::from_bits(x), 0.0));
            assert_eq!(made, want.map(f32::to_bits), "{function:?} {source:x?}");
        }
    }
}

mod messages;
