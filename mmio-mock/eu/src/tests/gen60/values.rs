//! Results of Sandy Bridge's instructions against arithmetic of the host.
//!
//! PRM: Sandy Bridge volume 4 part 2, 8.3; rounding modes of CR0: Mesa 22.3.6 `brw_eu_defines.h`.

use super::{Memory, assemble, execute, floats, generation, run, thread};
use crate::{KernelCache, Stop, Thread};

fn with(registers: &[(usize, [u32; 8])]) -> Thread {
    let mut t = thread(u32::MAX);
    for (nr, values) in registers {
        t.grf_mut()[*nr] = *values;
    }
    t
}

fn bits(values: [f32; 8]) -> [u32; 8] {
    values.map(f32::to_bits)
}

const A: [f32; 8] = [1.0, -2.5, 0.1, 3e20, -7.0, 1e-20, 0.75, 100.25];
const B: [f32; 8] = [3.0, 0.3, -0.1, 3e20, 7.5, 1e-20, 0.5, -0.01];
const C: [f32; 8] = [0.5, 1.0, 0.01, 1.0, 52.5, 1.0, -0.375, 1.0025];

#[test]
fn multiply_and_add_rounds_once() {
    let t = with(&[(2, bits(A)), (3, bits(B)), (4, bits(C))]);
    let t = execute(
        "mad(8) g10<1>F g4<4,4,1>F g2<4,4,1>F g3<4,4,1>F { align16 1Q };",
        t,
    );
    let expected: [f32; 8] = std::array::from_fn(|i| A[i].mul_add(B[i], C[i]));
    assert_eq!(floats(&t, 10), expected);
}

#[test]
fn sources_of_three_swizzle_replicate_and_negate() {
    let t = with(&[(2, bits(A)), (3, bits(B)), (4, bits(C)), (10, [7; 8])]);
    let text = "mad(8) g10<1>.xzF -g4<4,4,1>.wzyxF g2.3<0,1,0>F (abs)g3<4,4,1>.xF { align16 1Q };";
    let t = execute(text, t);
    let expected = std::array::from_fn(|i| {
        let group = i & 4;
        let swizzled = -C[group + 3 - (i & 3)];
        if i % 2 == 0 {
            A[3].mul_add(B[group].abs(), swizzled).to_bits()
        } else {
            7
        }
    });
    assert_eq!(t.grf()[10], expected);
}

#[test]
fn interpolation_meets_both_ends() {
    let weights = [0.0, 1.0, 0.5, 0.25, 0.75, 0.125, 1.0, 0.0];
    let t = with(&[
        (2, bits(weights)),
        (3, bits([8.0; 8])),
        (4, bits([16.0; 8])),
    ]);
    let t = execute(
        "lrp(8) g10<1>F g2<4,4,1>F g3<4,4,1>F g4<4,4,1>F { align16 1Q };",
        t,
    );
    assert_eq!(floats(&t, 10), weights.map(|w| 16.0 - 8.0 * w));
}

#[test]
fn sixteen_channels_of_three_sources_take_two_registers() {
    let mut t = thread(u32::MAX);
    for i in 0..16 {
        t.grf_mut()[2 + i / 8][i % 8] = (i as f32).to_bits();
    }
    let t = execute(
        "mad(16) g10<1>F g2<4,4,1>F g2<4,4,1>F g2<4,4,1>F { align16 1H };",
        t,
    );
    for i in 0..16 {
        let v = i as f32;
        assert_eq!(f32::from_bits(t.grf()[10 + i / 8][i % 8]), v * v + v);
    }
}

#[test]
fn math_is_the_hosts() {
    let a = A.map(f32::abs);
    let t = with(&[(2, bits(a)), (3, bits(B))]);
    let unary = |name: &str, f: fn(f64) -> f64| {
        let text = format!("math {name}(8) g10<1>F g2<8,8,1>F null<8,8,1>F {{ align1 1Q }};");
        let got = floats(&execute(&text, t.clone()), 10);
        let expected = a.map(|a| f(f64::from(a)) as f32);
        assert_eq!(got, expected, "{name}");
    };
    unary("inv", |a| 1.0 / a);
    unary("log", f64::log2);
    unary("sqrt", f64::sqrt);
    unary("rsq", |a| 1.0 / a.sqrt());
    unary("sin", f64::sin);
    unary("cos", f64::cos);
    let text = "math exp(8) g10<1>F g3<8,8,1>F null<8,8,1>F { align1 1Q };";
    let mut t = t;
    t.grf_mut()[3] = bits([3.0, 0.3, -0.1, 30.0, 7.5, 1e-20, 0.5, -0.01]);
    let got = floats(&execute(text, t.clone()), 10);
    assert_eq!(got, floats(&t, 3).map(|b| f64::from(b).exp2() as f32));
    let text = "math pow(8) g10<1>F g2<8,8,1>F g3<8,8,1>F { align1 1Q };";
    let got = floats(&execute(text, t.clone()), 10);
    for i in 0..8 {
        let expected = f64::from(a[i]).powf(f64::from(floats(&t, 3)[i])) as f32;
        let close = got[i] == expected || (got[i] - expected).abs() <= expected.abs() * 1e-6;
        assert!(
            close,
            "{} ** {}: {} {expected}",
            a[i],
            floats(&t, 3)[i],
            got[i]
        );
    }
    let text = "math fdiv(8) g10<1>F g2<8,8,1>F g3<8,8,1>F { align1 1Q };";
    let got = floats(&execute(text, t.clone()), 10);
    let expected: [f32; 8] = std::array::from_fn(|i| a[i] / floats(&t, 3)[i]);
    assert_eq!(got, expected);
}

#[test]
fn integers_divide_toward_zero() {
    let a = [7, -7, 100, i32::MIN, 0, 5, -1, 1_000_000];
    let b = [2, 2, -9, 3, 5, 7, 1000, 999];
    let t = with(&[(2, a.map(|v| v as u32)), (3, b.map(|v| v as u32))]);
    let go = |name: &str, ty: &str| {
        let text =
            format!("math {name}(8) g10<1>{ty} g2<8,8,1>{ty} g3<8,8,1>{ty} {{ align1 1Q }};");
        execute(&text, t.clone())
    };
    let quotient: [i32; 8] = std::array::from_fn(|i| a[i] / b[i]);
    let remainder: [i32; 8] = std::array::from_fn(|i| a[i] % b[i]);
    let signed = |t: &Thread, nr: usize| t.grf()[nr].map(|v| v as i32);
    assert_eq!(signed(&go("intdiv", "D"), 10), quotient);
    assert_eq!(signed(&go("intmod", "D"), 10), remainder);
    let both = go("intdivmod", "D");
    assert_eq!(
        (signed(&both, 10), signed(&both, 11)),
        (quotient, remainder)
    );
    let unsigned: [u32; 8] = std::array::from_fn(|i| a[i] as u32 / b[i] as u32);
    assert_eq!(go("intdiv", "UD").grf()[10], unsigned);
}

/// The comparison of `cmpn`: a source that is NaN gives way to the other.
#[test]
fn minimum_and_maximum_leave_the_flags_alone() {
    let nan = f32::NAN;
    let a = [1.0, 2.0, nan, 3.0, -0.0, f32::INFINITY, -5.0, nan];
    let b = [2.0, 1.0, 4.0, nan, 1.0, 1.0, -5.0, -6.0];
    let t = with(&[(2, bits(a)), (3, bits(b))]);
    for (cond, pick) in [("l", f32::min as fn(f32, f32) -> f32), ("ge", f32::max)] {
        let text = format!("sel.{cond}(8) g10<1>F g2<8,8,1>F g3<8,8,1>F {{ align1 1Q }};");
        let mut t = t.clone();
        t.set_flag([0x55aa, 0x1234]);
        let t = execute(&text, t);
        let expected: [f32; 8] = std::array::from_fn(|i| pick(a[i], b[i]));
        assert_eq!(floats(&t, 10), expected, "{cond}");
        assert_eq!(t.view().flag, [0x55aa, 0x1234]);
    }
    let t = with(&[
        (2, [5, u32::MAX, 3, 0, 9, 9, 1, 2]),
        (3, [6, 1, 3, 1, 8, 10, 0, 2]),
    ]);
    let d = execute(
        "sel.l(8) g10<1>D g2<8,8,1>D g3<8,8,1>D { align1 1Q };",
        t.clone(),
    );
    assert_eq!(d.grf()[10], [5, u32::MAX, 3, 0, 8, 9, 0, 2]);
    let ud = execute(
        "sel.l(8) g10<1>UD g2<8,8,1>UD g3<8,8,1>UD { align1 1Q };",
        t,
    );
    assert_eq!(ud.grf()[10], [5, 1, 3, 0, 8, 9, 0, 2]);
}

#[test]
fn an_if_compares_by_itself() {
    let t = with(&[(2, [1, 5, 3, 9, 0, 7, 2, 8]), (3, [4; 8])]);
    let text = "if.l(8) g2<8,8,1>D g3<8,8,1>D JIP: L1 { align1 1Q };
        mov(8) g10<1>UD 0x00000001UD { align1 1Q };
        L1: endif(8) JIP: L2 { align1 1Q };
        L2: mov(8) g11<1>UD 0x00000002UD { align1 1Q };";
    let t = execute(text, t);
    assert_eq!(t.grf()[10], [1, 0, 1, 0, 1, 0, 1, 0]);
    assert_eq!(t.grf()[11], [2; 8]);
    assert_eq!(t.view().flag, [0; 2]);
}

/// The nearest, upward, downward, toward zero: bits 5:4 of CR0.
#[test]
fn control_register_rounds_results() {
    let a = [1.0, -1.0, 1.0, -1.0, 1.0, 3.0, 0.1, -0.1].map(f32::to_bits);
    let tiny = 1e-10f32.to_bits();
    let b = [
        tiny,
        tiny,
        tiny ^ 1 << 31,
        tiny ^ 1 << 31,
        0,
        tiny,
        tiny,
        tiny,
    ];
    for (mode, direction) in [
        (0, None),
        (1, Some(f64::INFINITY)),
        (2, Some(-f64::INFINITY)),
    ] {
        let t = with(&[(2, a), (3, b)]);
        let text = format!(
            "mov(1) cr0<1>UD {:#010x}UD {{ align1 WE_all 1N }};
            add(8) g10<1>F g2<8,8,1>F g3<8,8,1>F {{ align1 1Q }};",
            mode << 4
        );
        let t = execute(&text, t);
        for i in 0..8 {
            let [x, y] = [a[i], b[i]].map(|v| f64::from(f32::from_bits(v)));
            let near = (x + y) as f32;
            let wide = f64::from(near);
            let expected = match direction {
                Some(d) if d > 0.0 && wide < x + y => near.next_up(),
                Some(d) if d < 0.0 && wide > x + y => near.next_down(),
                _ => near,
            };
            assert_eq!(floats(&t, 10)[i], expected, "mode {mode}, channel {i}");
        }
    }
}

/// Seed, data types: an integer of more than 24 bits goes to the nearest float, of two to the even one.
// covers: S-0108
#[test]
fn integers_become_the_nearest_floats() {
    let values = [
        0x0100_0001,
        0x0100_0003,
        16,
        u32::MAX,
        0x8000_0000,
        0x7fff_ffff,
        0x0200_0003,
        0,
    ];
    let t = with(&[(2, values)]);
    let signed = execute("mov(8) g10<1>F g2<8,8,1>D { align1 1Q };", t.clone());
    assert_eq!(floats(&signed, 10), values.map(|v| v as i32 as f32));
    let unsigned = execute("mov(8) g10<1>F g2<8,8,1>UD { align1 1Q };", t);
    assert_eq!(floats(&unsigned, 10), values.map(|v| v as f32));
}

#[test]
fn rounding_instructions_are_whole() {
    let values = [0.5, 1.5, -0.5, -1.5, 2.7, -2.7, 1e20, -0.2];
    let t = with(&[(2, bits(values))]);
    for (name, f) in [
        ("rnde", f32::round_ties_even as fn(f32) -> f32),
        ("rndz", f32::trunc),
        ("rndd", f32::floor),
        ("rndu", f32::ceil),
    ] {
        let text = format!("{name}(8) g10<1>F g2<8,8,1>F {{ align1 1Q }};");
        assert_eq!(
            floats(&execute(&text, t.clone()), 10),
            values.map(f),
            "{name}"
        );
    }
}

/// Channels 16 to 31 of a thread have the other subregister of the flag when the instruction names it.
// covers: S-0126
#[test]
fn quarters_choose_channels_and_the_flag_is_named() {
    let mut t = thread(0xa5_ff_0f_ff);
    t.set_flag([0, 0x00f0]);
    let text = "(+f0.1) mov(8) g10<1>UD 0x00000001UD { align1 3Q };
        mov(8) g11<1>UD 0x00000001UD { align1 4Q };
        cmp.z.f0.1(8) null<1>D g20<8,8,1>D 0D { align1 4Q };";
    let t = execute(text, t);
    assert_eq!(t.grf()[10], [0, 0, 0, 0, 1, 1, 1, 1]);
    assert_eq!(t.grf()[11], [1, 0, 1, 0, 0, 1, 0, 1]);
    assert_eq!(t.view().flag, [0, 0xa5f0]);
}

#[test]
fn thirty_two_channels_are_two_times_sixteen() {
    let mut t = thread(0xffff_00ff);
    for i in 0..32 {
        t.grf_mut()[2 + i / 16][i / 2 % 8] |= (i as u32 * 3) << (16 * (i % 2));
    }
    t.set_flag([0xffff, 0x0f0f]);
    let text = "(+f0.0) add(32) g10<1>UW g2<16,16,1>UW 0x0064UW { align1 };";
    let t = execute(text, t);
    for i in 0..32 {
        let word = t.grf()[10 + i / 16][i / 2 % 8] >> (16 * (i % 2)) & 0xffff;
        let on = i < 8 || i >= 16 && (0x0f0f_u32 >> (i - 16)) & 1 != 0;
        assert_eq!(word, if on { i as u32 * 3 + 100 } else { 0 }, "channel {i}");
    }
}

// covers: S-0070, S-0122, S-0175, S-0178
#[test]
fn messages_have_twenty_four_registers() {
    let text = "mov(8) m23<1>UD 0x00000007UD { align1 1Q };
        send(8) null<1>F m23<8,8,1>F 0x02000000
            render MsgDesc: OWORD block read MsgCtrl = 0x0 Surface = 0 mlen 1 rlen 0 { align1 1Q EOT };";
    let words = assemble(text);
    let mut memory = Memory::new(words.clone());
    let mut t = thread(0xff);
    let mut cache = KernelCache::new(generation()).unwrap();
    assert_eq!(run(&mut cache, &mut t, &mut memory), Stop::EndOfThread);
    assert_eq!(memory.sent[0].payload, [[7; 8]]);
    assert_eq!((memory.sent[0].sfid, t.mrf().len()), (5, 24));
    // One register more is past the end.
    let mut longer = words;
    longer[7] += 1 << 25;
    let mut memory = Memory::new(longer);
    let stop = run(
        &mut KernelCache::new(generation()).unwrap(),
        &mut thread(0xff),
        &mut memory,
    );
    assert!(matches!(stop, Stop::Hung(_)), "{stop:?}");
}

#[test]
fn compressed_message_registers_are_four_apart() {
    let mut t = thread(0xffff);
    for i in 0..16 {
        t.grf_mut()[2 + i / 8][i % 8] = i as u32;
    }
    let t = execute("mov(16) m3<1>UD g2<8,8,1>UD { align1 1H compr4 };", t);
    assert_eq!(t.mrf()[3], [0, 1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(t.mrf()[7], [8, 9, 10, 11, 12, 13, 14, 15]);
    assert_eq!(t.mrf()[4], [0; 8]);
}

/// Only instructions that say so update the accumulator; `mach` needs it to.
// covers: S-0125
#[test]
fn products_of_dwords_take_the_accumulator() {
    let (a, b) = ([0x1234_5678u32; 8], [0x9abc_def0u32; 8]);
    let t = with(&[(2, a), (3, b)]);
    let text = "mul(8) acc0<1>UD g2<8,8,1>UD g3<8,8,1>UD { align1 1Q };
        add(8) g12<1>UD g2<8,8,1>UD g3<8,8,1>UD { align1 1Q };
        mach(8) g10<1>UD g2<8,8,1>UD g3<8,8,1>UD { align1 1Q AccWrEnable };
        mov(8) g11<1>UD acc0<8,8,1>UD { align1 1Q };";
    let t = execute(text, t);
    let product = u64::from(a[0]) * u64::from(b[0]);
    assert_eq!(t.grf()[10], [(product >> 32) as u32; 8]);
    assert_eq!(t.grf()[11], [product as u32; 8]);
}

#[test]
fn subroutines_return_to_each_channel() {
    let mut t = thread(0xff);
    t.grf_mut()[2] = [0, 1, 2, 3, 4, 5, 6, 7];
    // The odd channels call; of them those below 4 return at once.
    let text = "and.nz.f0.0(8) null<1>UD g2<8,8,1>UD 0x00000001UD { align1 1Q };
        (+f0.0) call(8) g20<1>UD JIP: Sub { align1 1Q };
        add(8) g10<1>UD g10<8,8,1>UD 0x00000001UD { align1 1Q };
        jmpi(1) End { align1 WE_all 1N };
        Sub:
        cmp.l.f0.0(8) null<1>UD g2<8,8,1>UD 0x00000004UD { align1 1Q };
        (+f0.0) ret(8) g20<2,2,1>UD { align1 1Q };
        add(8) g10<1>UD g10<8,8,1>UD 0x00000010UD { align1 1Q };
        ret(8) g20<2,2,1>UD { align1 1Q };
        End:
        mov(8) g11<1>UD 0x00000001UD { align1 1Q };";
    let t = execute(text, t);
    assert_eq!(t.grf()[10], [1, 1, 1, 1, 1, 0x11, 1, 0x11]);
    assert_eq!(t.grf()[11], [1; 8]);
    assert_eq!(t.exec_mask(), 0xff);
}

/// A call of one channel too, and to message registers: the destination's stride has no meaning.
#[test]
fn the_address_and_the_mask_of_a_call_lie_side_by_side() {
    let words = assemble("call(1) m20.2<4>UD JIP: 2 { align1 1N };\nnop;\nnop;");
    for mut cache in [
        KernelCache::new(generation()).unwrap(),
        KernelCache::general(generation()).unwrap(),
    ] {
        let mut t = thread(0xff);
        let mut memory = Memory::new(words.clone());
        run(&mut cache, &mut t, &mut memory);
        assert_eq!(t.mrf()[20], [0, 0, 16, 0xff, 0, 0, 0, 0]);
    }
}

#[test]
fn case_and_fork_say_that_they_have_no_model() {
    for name in ["case", "fork"] {
        let words = assemble(&format!("{name}(8) JIP: 2 UIP: 2 {{ align1 1Q }};"));
        let mut memory = Memory::new(words);
        let stop = run(
            &mut KernelCache::new(generation()).unwrap(),
            &mut thread(0xff),
            &mut memory,
        );
        assert!(matches!(stop, Stop::Unimplemented(_)), "{stop:?}");
    }
}
