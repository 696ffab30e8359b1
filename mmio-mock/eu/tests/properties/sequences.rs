//! Instructions that work together, groups of channels, immediate vectors.
//!
//! PRM: volume 4, 10.2.4, 10.2.5, 11.3.4.5, 14.2.10 to 14.2.13, 14.2.21, 14.2.24, 14.2.36, 14.2.37.

use crate::bench::{Bench, LATER, MODES, State, TWO_STEPS};
use crate::cases::{goal, seed};
use crate::reference::{self, Op, Value};
use crate::values::{pick, value};
use fastrand::Rng;
use isa::inst::{Compression, CondMod, PredCtrl};
use isa::operand::{Addr, Dst, RegFile, Region, Src, Type};
use isa::{Inst, Opcode};
use rustc_apfloat::Round;

const F: Type = Type::F;

fn packed(nr: u8, ty: Type, lanes: u8) -> Src {
    let width = lanes.min(8);
    Src {
        file: RegFile::Grf,
        ty,
        addr: Addr::Direct { nr, subnr: 0 },
        region: Region {
            vstride: width,
            width,
            hstride: 1,
        },
        ..Src::NULL
    }
}

fn immediate(ty: Type, imm: u32) -> Src {
    Src {
        file: RegFile::Imm,
        ty,
        imm: u64::from(imm),
        ..Src::NULL
    }
}

fn grf(nr: u8, ty: Type) -> Dst {
    Dst {
        file: RegFile::Grf,
        ty,
        addr: Addr::Direct { nr, subnr: 0 },
        ..Dst::NULL
    }
}

fn acc(ty: Type) -> Dst {
    Dst {
        file: RegFile::Arf,
        ty,
        addr: Addr::Direct { nr: 0x20, subnr: 0 },
        ..Dst::NULL
    }
}

fn op(opcode: Opcode, lanes: u8, dst: Dst, src: &[Src]) -> Inst {
    let mut i = Inst::blank(opcode);
    i.exec_size = lanes;
    if lanes == 16 {
        i.compression = Compression::Compressed;
    }
    i.dst = dst;
    i.num_src = src.len() as u8;
    i.src[..src.len()].copy_from_slice(src);
    i
}

fn state() -> State {
    State {
        grf: vec![[0; 8]; 16],
        flag: [0; 2],
        dispatch: 0xffff,
        alt: false,
    }
}

fn fill(rng: &mut Rng, s: &mut State, nr: usize, ty: Type, lanes: u8) {
    for lane in 0..usize::from(lanes) {
        let v = value(rng, ty);
        State::set(&mut s.grf, nr * 32 + lane * ty.size(), ty.size(), v);
    }
}

fn get(grf: &[[u32; 8]], nr: usize, lane: usize) -> u32 {
    State::bytes(grf, nr * 32 + lane * 4, 4)
}

fn float(bits: u32) -> Value {
    reference::source(F, bits, false, false)
}

fn report(name: &str, elements: u64) {
    println!("{name}: {elements} elements, seed {:#x}", seed());
}

// covers: 11.3.4.5-15, 14.2-35
#[test]
fn multiplication_of_dwords() {
    let types = [Type::D, Type::Ud];
    for (a, b) in types.iter().flat_map(|a| types.map(|b| (*a, b))) {
        let mut rng = Rng::with_seed(seed() ^ 0x17);
        let mut bench = Bench::new();
        let mut done = 0;
        while done < goal() {
            let lanes = pick(&mut rng, &[8, 16]);
            let src = [packed(2, a, lanes), packed(4, b, lanes)];
            let high = grf(6, if a == b { a } else { Type::D });
            let mut from_acc = packed(0x20, Type::D, lanes);
            from_acc.file = RegFile::Arf;
            let ip = bench.load(&[
                op(Opcode::Mul, lanes, acc(Type::D), &src),
                op(Opcode::Mach, lanes, high, &src),
                op(Opcode::Mov, lanes, grf(8, Type::D), &[from_acc]),
            ]);
            for _ in 0..8 {
                let mut s = state();
                fill(&mut rng, &mut s, 2, a, lanes);
                fill(&mut rng, &mut s, 4, b, lanes);
                for (t, mode) in bench.run(&s, ip, 3).iter().zip(MODES) {
                    for lane in 0..usize::from(lanes) {
                        let (x, y) = (get(&s.grf, 2, lane), get(&s.grf, 4, lane));
                        let want = reference::int_of(a, x) * reference::int_of(b, y);
                        let high = get(t.grf(), 6, lane);
                        let low = get(t.grf(), 8, lane);
                        assert_eq!(
                            (high, low),
                            ((want >> 32) as u32, want as u32),
                            "{mode} {a:?} {x:#x} {b:?} {y:#x}"
                        );
                    }
                }
                done += u64::from(lanes);
            }
        }
        report(&format!("mul mach mov {a:?} {b:?}"), done);
    }
}

// covers: 14.2-43, 14.2-44
#[test]
fn rounding_in_two_steps() {
    let kinds = [
        (Opcode::Rnde, Round::NearestTiesToEven),
        (Opcode::Rndz, Round::TowardZero),
    ];
    for (opcode, round) in kinds {
        let mut rng = Rng::with_seed(seed() ^ 0x29);
        let mut bench = Bench::of(TWO_STEPS);
        let mut done = 0;
        while done < goal() {
            let lanes = pick(&mut rng, &[8, 16]);
            let mut first = op(opcode, lanes, grf(6, F), &[packed(2, F, lanes)]);
            first.cond_mod = CondMod::R;
            let one = immediate(F, 0x3f80_0000);
            let mut second = op(Opcode::Add, lanes, grf(6, F), &[packed(6, F, lanes), one]);
            second.pred_ctrl = PredCtrl::Normal;
            let ip = bench.load(&[first, second]);
            for _ in 0..8 {
                let mut s = state();
                s.flag = [rng.u32(..) as u16, 0];
                fill(&mut rng, &mut s, 2, F, lanes);
                for (t, mode) in bench.run(&s, ip, 2).iter().zip(MODES) {
                    for lane in 0..usize::from(lanes) {
                        let x = get(&s.grf, 2, lane);
                        let want = reference::rounded(float(x), round);
                        let got = get(t.grf(), 6, lane);
                        assert!(
                            want.accepts(F, got),
                            "{mode} {opcode:?} {x:#x}: {got:#x}, not {:x?}",
                            want.bits
                        );
                    }
                }
                done += u64::from(lanes);
            }
        }
        report(&format!("{opcode:?}.r add"), done);
    }
}

// covers: 10.3.1.2-08, 14.2-15, 14.2-16
#[test]
fn dot_products() {
    for opcode in [Opcode::Dp4, Opcode::Dph, Opcode::Dp3, Opcode::Dp2] {
        let mut rng = Rng::with_seed(seed() ^ 0x31);
        let mut bench = Bench::new();
        let mut done = 0;
        while done < goal() {
            let lanes = pick(&mut rng, &[4, 8, 16]);
            let src = [packed(2, F, lanes), packed(4, F, lanes)];
            let ip = bench.load(&[op(opcode, lanes, grf(6, F), &src)]);
            for _ in 0..8 {
                let mut s = state();
                fill(&mut rng, &mut s, 2, F, lanes);
                fill(&mut rng, &mut s, 4, F, lanes);
                for (t, mode) in bench.run(&s, ip, 1).iter().zip(MODES) {
                    for lane in 0..usize::from(lanes) {
                        let group = lane / 4 * 4;
                        let of = |nr, c| float(get(&s.grf, nr, group + c));
                        let n = match opcode {
                            Opcode::Dp2 => 2,
                            Opcode::Dp4 => 4,
                            _ => 3,
                        };
                        let mut terms: Vec<_> = (0..n).map(|c| (of(2, c), of(4, c))).collect();
                        if opcode == Opcode::Dph {
                            terms.push((Value::Int(1), of(4, 3)));
                        }
                        let sum = reference::dot(&terms);
                        let got = get(t.grf(), 6, lane);
                        assert!(
                            sum.near(got),
                            "{mode} {opcode:?} {terms:x?}: {got:#x}, {sum:?}"
                        );
                    }
                }
                done += u64::from(lanes);
            }
        }
        report(&format!("{opcode:?} F F"), done);
    }
}

// covers: 14.2-31
#[test]
fn line() {
    let mut rng = Rng::with_seed(seed() ^ 0x43);
    let mut bench = Bench::new();
    let mut done = 0;
    while done < goal() {
        let lanes = pick(&mut rng, &[8, 16]);
        let subnr = pick(&mut rng, &[0, 16]);
        let mut plane = packed(2, F, lanes);
        plane.addr = Addr::Direct { nr: 2, subnr };
        plane.region = Region::SCALAR;
        let inst = op(
            Opcode::Line,
            lanes,
            grf(6, F),
            &[plane, packed(4, F, lanes)],
        );
        let ip = bench.load(&[inst]);
        for _ in 0..8 {
            let mut s = state();
            fill(&mut rng, &mut s, 2, F, 8);
            fill(&mut rng, &mut s, 4, F, lanes);
            let first = usize::from(subnr) / 4;
            let [p, q] = [0, 3].map(|c| float(get(&s.grf, 2, first + c)));
            let op = Op {
                opcode: Opcode::Line,
                cond: CondMod::None,
                saturate: false,
                alt: false,
                dst: F,
                nearest: bench.nearest(),
                second_word: bench.second_word(),
            };
            for (t, mode) in bench.run(&s, ip, 1).iter().zip(MODES) {
                for lane in 0..usize::from(lanes) {
                    let v = float(get(&s.grf, 4, lane));
                    let want = reference::line(op, p, v, q).dst.unwrap();
                    let got = get(t.grf(), 6, lane);
                    assert!(
                        want.accepts(F, got),
                        "{mode} {p:?} {v:?} {q:?}: {got:#x}, not {:x?}",
                        want.bits
                    );
                }
            }
            done += u64::from(lanes);
        }
    }
    report("line F F", done);
}

/// Sandy Bridge PRM volume 4 part 2, 8.3.53: p * u + q * v + s at pairs of registers.
#[test]
fn pln() {
    let mut rng = Rng::with_seed(seed() ^ 0x47);
    let mut bench = Bench::of(LATER);
    let mut done = 0;
    while done < goal() {
        let lanes = pick(&mut rng, &[8, 16]);
        let subnr = pick(&mut rng, &[0, 16]);
        let mut plane = packed(2, F, lanes);
        plane.addr = Addr::Direct { nr: 2, subnr };
        plane.region = Region::SCALAR;
        let inst = op(Opcode::Pln, lanes, grf(8, F), &[plane, packed(4, F, lanes)]);
        let ip = bench.load(&[inst]);
        for _ in 0..8 {
            let mut s = state();
            fill(&mut rng, &mut s, 2, F, 8);
            // u and v of eight channels, then of the next eight.
            for nr in 4..8 {
                fill(&mut rng, &mut s, nr, F, 8);
            }
            let first = usize::from(subnr) / 4;
            let [p, q, last] = [0, 1, 3].map(|c| float(get(&s.grf, 2, first + c)));
            for (t, mode) in bench.run(&s, ip, 1).iter().zip(MODES) {
                for lane in 0..usize::from(lanes) {
                    let nr = 4 + lane / 8 * 2;
                    let [u, v] = [0, 1].map(|r| float(get(&s.grf, nr + r, lane % 8)));
                    let sum = reference::dot(&[(p, u), (q, v), (Value::Int(1), last)]);
                    let got = get(t.grf(), 8, lane);
                    assert!(
                        sum.near(got),
                        "{mode} {p:?} {u:?} {q:?} {v:?} {last:?}: {got:#x}, {sum:?}"
                    );
                }
            }
            done += u64::from(lanes);
        }
    }
    report("pln F F", done);
}

/// PRM 10.2.5: sign, three bits of exponent with bias 3, four of fraction.
fn restricted(byte: u32) -> f32 {
    let magnitude = if matches!(byte, 0 | 0x80) {
        0.0
    } else {
        (1.0 + (byte & 15) as f32 / 16.0) * 2f32.powi((byte >> 4 & 7) as i32 - 3)
    };
    if byte & 0x80 == 0 {
        magnitude
    } else {
        -magnitude
    }
}

// covers: 10.2.4-01, 10.2.5-01, 10.2.5-02, 10.2.5-04, 10.2.5-05, 10.2.5-06, S-0104, S-0106
#[test]
fn immediate_vectors() {
    let mut bench = Bench::new();
    let mut rng = Rng::with_seed(seed() ^ 0x53);
    for byte in 0..256u32 {
        let other = rng.u32(..) & 0xffff_ff00;
        let imm = (byte | other).rotate_left(8 * (byte % 4));
        let ip = bench.load(&[
            op(Opcode::Mov, 8, grf(6, F), &[immediate(Type::Vf, imm)]),
            op(Opcode::Mov, 8, grf(8, Type::W), &[immediate(Type::V, imm)]),
            op(Opcode::Mov, 8, grf(10, F), &[immediate(Type::V, imm)]),
        ]);
        for (t, mode) in bench.run(&state(), ip, 3).iter().zip(MODES) {
            for lane in 0..8 {
                let want = restricted(imm >> (8 * (lane % 4)) & 0xff);
                assert_eq!(get(t.grf(), 6, lane), want.to_bits(), "{mode} {imm:#x} VF");
                let nibble = i64::from(imm >> (4 * lane) & 15);
                let nibble = if nibble > 7 { nibble - 16 } else { nibble };
                let word = State::bytes(t.grf(), 8 * 32 + 2 * lane, 2) as u16;
                assert_eq!(i64::from(word as i16), nibble, "{mode} {imm:#x} V");
                let float = f32::from_bits(get(t.grf(), 10, lane));
                assert_eq!(float, nibble as f32, "{mode} {imm:#x} V as floats");
            }
        }
    }
    report("mov VF V", 256 * 24);
}
