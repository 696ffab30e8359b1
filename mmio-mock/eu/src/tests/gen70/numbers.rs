//! Halves, products, averages, shifts, extended math.
//!
//! PRM: ValleyView volume 2 part 2; Mesa 22.3.6 `brw_eu_emit.c` (`brw_F32TO16`, `gfx6_math`), `brw_fs.cpp` (`lower_mul_dword_inst`).

use super::{execute, with};
use fastrand::Rng;

#[test]
fn halves_are_packed_and_unpacked_as_mesa_does() {
    let single = [1.0f32, -2.5, 65504.0, 1e-7, 0.1, f32::INFINITY, -0.0, 3.0];
    let half = [
        0x3c00, 0xc100, 0x7bff, 0x0002, 0x2e66, 0x7c00, 0x8000, 0x4200,
    ];
    let t = with(&[(2, single.map(f32::to_bits)), (10, [0x5555_5555; 8])]);
    let text = "f32to16(8) g10<2>UW g2<8,8,1>F { align1 1Q };
        f16to32(8) g11<1>F g10<16,8,2>UW { align1 1Q };";
    let t = execute(text, t);
    assert_eq!(t.grf()[10], half.map(|h| 0x5555_0000 | h));
    let again = [
        1.0f32,
        -2.5,
        65504.0,
        1.192_092_9e-7,
        0.099_975_586,
        f32::INFINITY,
        -0.0,
        3.0,
    ];
    assert_eq!(t.grf()[11], again.map(f32::to_bits));
    // A destination of dwords has zeros behind the half float.
    let text = "f32to16(8) g10<1>UD g2<4>F { align16 1Q };";
    let t = with(&[(2, single.map(f32::to_bits))]);
    assert_eq!(execute(text, t).grf()[10], half);
}

/// All 64 bits of products, by `mul` of the low word of source 1 and `mach`.
#[test]
fn products_of_dwords_are_whole() {
    let mut rng = Rng::with_seed(8);
    for _ in 0..200 {
        let [a, b]: [[u32; 8]; 2] =
            [(); 2].map(|()| std::array::from_fn(|_| rng.u32(..) >> rng.u32(..32)));
        let t = with(&[(2, a), (3, b)]);
        for (ty, signed) in [("UD", false), ("D", true)] {
            let text = format!(
                "mul(8) acc0<1>{ty} g2<8,8,1>{ty} g3<8,8,1>{ty} {{ align1 1Q }};
                mach(8) g10<1>{ty} g2<8,8,1>{ty} g3<8,8,1>{ty} {{ align1 1Q AccWrEnable }};
                mov(8) g11<1>{ty} acc0<8,8,1>{ty} {{ align1 1Q }};
                mul(8) g12<1>{ty} g2<8,8,1>{ty} g3<16,8,2>UW {{ align1 1Q }};"
            );
            let t = execute(&text, t.clone());
            for i in 0..8 {
                let whole = if signed {
                    (i64::from(a[i] as i32) * i64::from(b[i] as i32)) as u64
                } else {
                    u64::from(a[i]) * u64::from(b[i])
                };
                assert_eq!(t.grf()[10][i], (whole >> 32) as u32);
                assert_eq!(t.grf()[11][i], whole as u32);
                assert_eq!(t.grf()[12][i], a[i].wrapping_mul(b[i] & 0xffff));
            }
        }
    }
    // Of source 1 an immediate of sixteen bits is the whole factor.
    let text = "mul(8) g10<1>D g2<8,8,1>D 0x0000fff0D { align1 1Q };";
    let t = execute(text, with(&[(2, [0x1234_5678; 8])]));
    assert_eq!(t.grf()[10], [0x1234_5678u32.wrapping_mul(0xfff0); 8]);
}

// covers: V-0525, V-0526, V-0527, V-0528, V-0529, V-0531, V-0532, V-0533
#[test]
fn sums_of_all_types() {
    let t = with(&[
        (2, [7, u32::MAX, 3, 100, 5, 6, 7, 8]),
        (3, [1, 2, 3, 4, 5, 6, 7, 8]),
    ]);
    let go = |line: &str| execute(&format!("{line} {{ align1 1Q }};"), t.clone()).grf()[10];
    let d = go("add(8) g10<1>D g2<8,8,1>D -g3<8,8,1>D");
    assert_eq!(d.map(|v| v as i32), [6, -3, 0, 96, 0, 0, 0, 0]);
    let f = go("add(8) g10<1>F g2<8,8,1>D g3<8,8,1>D");
    assert_eq!(
        f.map(f32::from_bits),
        [8.0, 1.0, 6.0, 104.0, 10.0, 12.0, 14.0, 16.0]
    );
    let imm = go("add(8) g10<1>UD g2<8,8,1>UD 0x00000002UD");
    assert_eq!(imm, [9, 1, 5, 102, 7, 8, 9, 10]);
    let ud = go("add.sat(8) g10<1>UD g2<8,8,1>UD g3<8,8,1>UD");
    assert_eq!(ud, [8, u32::MAX, 6, 104, 10, 12, 14, 16]);
    let uw = go("add(8) g10<2>UW g2<16,8,2>UW g3<16,8,2>UW");
    assert_eq!(uw.map(|v| v & 0xffff), [8, 1, 6, 104, 10, 12, 14, 16]);
    let ub = go("add(8) g10<4>UB g2<32,8,4>UB g3<32,8,4>UB");
    assert_eq!(ub.map(|v| v & 0xff), [8, 1, 6, 104, 10, 12, 14, 16]);
}

// covers: V-0546, V-0547, V-0548, V-0549, V-0550, V-0551, V-0552, V-0553, V-0554
#[test]
fn shifts_keep_the_sign_of_signed_numbers() {
    let a = [
        0x8000_0000,
        u32::MAX,
        7,
        0xffff_fff9,
        0x7fff_ffff,
        1,
        0,
        0xf000_0001,
    ];
    let counts = [31, 17, 1, 1, 36, 32, 5, 4];
    let t = with(&[(2, a), (3, counts)]);
    let go = |ty: &str, count: &str| {
        let text = format!("asr(8) g10<1>{ty} g2<8,8,1>{ty} g3<8,8,1>{count} {{ align1 1Q }};");
        execute(&text, t.clone()).grf()[10]
    };
    // Toward minus infinity, by the low five bits.
    let floor = |v: u32, n: u32| (f64::from(v as i32) / f64::exp2(f64::from(n & 31))).floor();
    for count in ["UD", "D"] {
        let signed: [u32; 8] = std::array::from_fn(|i| floor(a[i], counts[i]) as i32 as u32);
        assert_eq!(go("D", count), signed);
        assert_eq!(
            go("UD", count),
            std::array::from_fn(|i| a[i] >> (counts[i] & 31))
        );
    }
    let words = execute("asr(8) g10<2>W g2<16,8,2>W 3UW { align1 1Q };", t);
    let expected = a.map(|v| i32::from(v as i16) >> 3);
    assert_eq!(
        words.grf()[10].map(|v| i32::from(v as u16 as i16)),
        expected
    );
}

// covers: V-0558, V-0559, V-0560, V-0561, V-0562
#[test]
fn averages_round_up_without_wrapping() {
    let a = [0, 1, u32::MAX, 0x8000_0000, 0x7fff_ffff, 5, 0xffff_fffb, 3];
    let b = [0, 2, u32::MAX, 0x8000_0000, 0x7fff_fffe, 8, 2, 3];
    let t = with(&[(2, a), (3, b)]);
    let go = |ty: &str| {
        let text = format!("avg(8) g10<1>{ty} g2<8,8,1>{ty} g3<8,8,1>{ty} {{ align1 1Q }};");
        execute(&text, t.clone()).grf()[10]
    };
    let unsigned = |i: usize| ((u64::from(a[i]) + u64::from(b[i])).div_ceil(2)) as u32;
    assert_eq!(go("UD"), std::array::from_fn(unsigned));
    let signed =
        |i: usize| (i64::from(a[i] as i32) + i64::from(b[i] as i32) + 1).div_euclid(2) as u32;
    assert_eq!(go("D"), std::array::from_fn(signed));
}

#[test]
fn sources_of_math_are_modified() {
    let t = with(&[
        (2, [4.0f32; 8].map(f32::to_bits)),
        (3, [(-9i32) as u32; 8]),
        (4, [2; 8]),
    ]);
    let go = |line: &str| execute(&format!("math {line} {{ align1 1Q }};"), t.clone()).grf()[10];
    assert_eq!(
        go("inv(8) g10<1>F -g2<8,8,1>F null<8,8,1>F"),
        [(-0.25f32).to_bits(); 8]
    );
    assert_eq!(go("intdiv(8) g10<1>D -g3<8,8,1>D g4<8,8,1>D"), [4; 8]);
    assert_eq!(go("intmod(8) g10<1>D (abs)g3<8,8,1>D g4<8,8,1>D"), [1; 8]);
}
