//! Sandy Bridge and later: three sources, `sel` that compares, `math`.
//!
//! PRM: Sandy Bridge volume 4 part 2, 8.3.

use crate::bench::{Bench, MODES, SNB, State};
use crate::cases::{goal, seed};
use crate::reference::{self, Op, Value, Want};
use crate::values::{pick, tame, value};
use fastrand::Rng;
use isa::inst::{AccessMode, CondMod, PredCtrl};
use isa::operand::{Addr, Dst, RegFile, Region, Src, Type};
use isa::{Inst, Opcode};
use rustc_apfloat::Round;

const F: Type = Type::F;
/// First register of each source and of the destination.
const SOURCES: [u8; 3] = [2, 4, 6];
const RESULT: u8 = 8;

fn register(nr: u8, ty: Type, lanes: u8) -> Src {
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

fn result(ty: Type) -> Dst {
    Dst {
        file: RegFile::Grf,
        ty,
        addr: Addr::Direct {
            nr: RESULT,
            subnr: 0,
        },
        ..Dst::NULL
    }
}

fn inst(opcode: Opcode, lanes: u8, ty: Type, sources: u8) -> Inst {
    let mut inst = Inst::blank(opcode);
    inst.exec_size = lanes;
    inst.dst = result(ty);
    inst.num_src = sources;
    let places = SOURCES.iter().take(usize::from(sources));
    for (src, nr) in inst.src.iter_mut().zip(places) {
        *src = register(*nr, ty, lanes);
    }
    inst
}

fn filled(rng: &mut Rng, ty: Type, alt: bool) -> State {
    let mut s = State {
        grf: vec![[0; 8]; 16],
        flag: [rng.u32(..) as u16, rng.u32(..) as u16],
        dispatch: if rng.bool() {
            0xffff
        } else {
            rng.u32(..) as u16
        },
        alt,
    };
    for dword in s.grf.iter_mut().flatten() {
        let v = value(rng, ty);
        *dword = if alt && ty == F { tame(v) } else { v };
    }
    s
}

fn op(inst: &Inst, alt: bool) -> Op {
    Op {
        opcode: inst.opcode,
        cond: inst.cond_mod,
        saturate: inst.saturate,
        alt,
        dst: inst.dst.ty,
        nearest: true,
        second_word: false,
    }
}

/// Runs an instruction and compares each lane with what is wanted; channels that are off keep what they held.
fn compare(
    bench: &mut Bench,
    inst: &Inst,
    s: &State,
    ip: u32,
    want: impl Fn(usize) -> Option<Want>,
) -> u64 {
    let ty = inst.dst.ty;
    let at = |grf: &[[u32; 8]], lane: usize| grf[usize::from(RESULT) + lane / 8][lane % 8];
    for (t, mode) in bench.run(s, ip, 1).iter().zip(MODES) {
        for lane in 0..usize::from(inst.exec_size) {
            let got = at(t.grf(), lane);
            let written =
                inst.access == AccessMode::Align1 || inst.dst.writemask >> (lane & 3) & 1 != 0;
            match want(lane) {
                Some(want) if written && (inst.no_mask || s.dispatch >> lane & 1 != 0) => assert!(
                    want.accepts(ty, got),
                    "{mode} lane {lane}: got {got:#x}, want {:x?} nan {}\n{inst:#?}\n{:x?}",
                    want.bits,
                    want.nan,
                    &s.grf[2..8]
                ),
                _ => assert_eq!(got, at(&s.grf, lane), "{mode} lane {lane} {inst:#?}"),
            }
        }
    }
    u64::from(inst.exec_size)
}

/// A source of three: replicated, or four channels in any order.
fn third(rng: &mut Rng, nr: u8) -> Src {
    let mut src = register(nr, F, 4);
    if rng.u8(..3) == 0 {
        src.region = Region::SCALAR;
        src.addr = Addr::Direct {
            nr,
            subnr: 4 * rng.u8(..8),
        };
    } else {
        src.region = Region::VEC4;
        if rng.bool() {
            src.swizzle = std::array::from_fn(|_| rng.u8(..4));
        }
    }
    src.negate = rng.u8(..4) == 0;
    src.abs = rng.u8(..4) == 0;
    src
}

/// The value of a source of three in a lane.
fn of_third(s: &State, src: &Src, lane: usize) -> Value {
    let Addr::Direct { nr, subnr } = src.addr else {
        panic!("direct");
    };
    let element = if src.region == Region::SCALAR {
        0
    } else {
        lane / 4 * 4 + usize::from(src.swizzle[lane % 4])
    };
    let at = usize::from(nr) * 8 + usize::from(subnr) / 4 + element;
    reference::source(F, s.grf[at / 8][at % 8], src.negate, src.abs)
}

#[test]
fn multiply_add_of_three_sources() {
    let mut rng = Rng::with_seed(seed() ^ 0x71);
    let mut bench = Bench::of(SNB);
    let mut done = 0;
    while done < 4 * goal() {
        let lanes = pick(&mut rng, &[4, 8, 8, 16]);
        let mut mad = inst(Opcode::Mad, lanes, F, 3);
        mad.access = AccessMode::Align16;
        mad.dst.writemask = if rng.bool() { 15 } else { rng.u8(1..16) };
        mad.saturate = rng.u8(..4) == 0;
        mad.no_mask = rng.u8(..4) == 0;
        mad.src = SOURCES.map(|nr| third(&mut rng, nr));
        let ip = bench.load(&[mad]);
        for _ in 0..4 {
            let alt = rng.u8(..4) == 0;
            let s = filled(&mut rng, F, alt);
            done += compare(&mut bench, &mad, &s, ip, |lane| {
                let [c, a, b] = [0, 1, 2].map(|i| of_third(&s, &mad.src[i], lane));
                reference::multiply_add(op(&mad, alt), a, b, c).dst
            });
        }
    }
    println!("Mad F F F: {done} elements, seed {:#x}", seed());
}

/// Within a unit of the last place of the sum of both products.
#[test]
fn linear_interpolation() {
    let mut rng = Rng::with_seed(seed() ^ 0x72);
    let mut bench = Bench::of(SNB);
    let mut done = 0;
    while done < goal() {
        let mut lrp = inst(Opcode::Lrp, pick(&mut rng, &[4, 8, 16]), F, 3);
        lrp.access = AccessMode::Align16;
        lrp.no_mask = true;
        lrp.src = SOURCES.map(|nr| third(&mut rng, nr));
        let ip = bench.load(&[lrp]);
        let s = filled(&mut rng, F, false);
        for (t, mode) in bench.run(&s, ip, 1).iter().zip(MODES) {
            for lane in 0..usize::from(lrp.exec_size) {
                let [w, a, b] = [0, 1, 2].map(|i| of_third(&s, &lrp.src[i], lane));
                let one = Value::Int(1);
                let negative = match w {
                    Value::Float(w) => Value::Float(-w),
                    Value::Int(w) => Value::Int(-w),
                };
                let sum = reference::dot(&[(w, a), (one, b), (negative, b)]);
                let got = t.grf()[usize::from(RESULT) + lane / 8][lane % 8];
                // 1 - w may leave the range, or be rounded, where the sum of three does not.
                let tame = |v: Value| matches!(v, Value::Float(v) if reference::middling(v));
                if tame(w) && tame(a) && tame(b) {
                    assert!(sum.near(got), "{mode} {w:?} {a:?} {b:?}: {got:#x} {sum:?}");
                    done += 1;
                }
            }
        }
    }
    println!("Lrp F F F: {done} elements, seed {:#x}", seed());
}

#[test]
fn selections_by_comparison() {
    let conds = [
        CondMod::Z,
        CondMod::Nz,
        CondMod::G,
        CondMod::Ge,
        CondMod::L,
        CondMod::Le,
    ];
    for ty in [F, Type::D, Type::Ud] {
        let mut rng = Rng::with_seed(seed() ^ 0x73);
        let mut bench = Bench::of(SNB);
        let mut done = 0;
        while done < 2 * goal() {
            let mut sel = inst(Opcode::Sel, pick(&mut rng, &[1, 8, 16]), ty, 2);
            sel.cond_mod = pick(&mut rng, &conds);
            sel.no_mask = rng.u8(..4) == 0;
            sel.src[0].negate = rng.u8(..4) == 0;
            sel.src[1].abs = rng.u8(..4) == 0;
            let ip = bench.load(&[sel]);
            for _ in 0..4 {
                let s = filled(&mut rng, ty, false);
                done += compare(&mut bench, &sel, &s, ip, |lane| {
                    let [a, b] = [0, 1].map(|i| {
                        let raw = s.grf[usize::from(SOURCES[i]) + lane / 8][lane % 8];
                        reference::source(ty, raw, sel.src[i].negate, sel.src[i].abs)
                    });
                    let cmpn = Op {
                        opcode: Opcode::Cmpn,
                        ..op(&sel, false)
                    };
                    let first = reference::element_of(cmpn, [a, b], ty == F, false, a).flag;
                    let chosen = if first == Some(true) { a } else { b };
                    let mov = Op {
                        opcode: Opcode::Mov,
                        cond: CondMod::None,
                        ..cmpn
                    };
                    reference::element_of(mov, [chosen; 2], ty == F, false, a).dst
                });
                for t in bench.run(&s, ip, 1) {
                    assert_eq!(t.view().flag, s.flag, "a selection leaves the flags alone");
                }
            }
        }
        println!("Sel.cond {ty:?}: {done} elements, seed {:#x}", seed());
    }
}

#[test]
fn rounding_in_one_step() {
    let kinds = [
        (Opcode::Rnde, Round::NearestTiesToEven),
        (Opcode::Rndz, Round::TowardZero),
    ];
    for (opcode, round) in kinds {
        let mut rng = Rng::with_seed(seed() ^ 0x74);
        let mut bench = Bench::of(SNB);
        let mut done = 0;
        while done < goal() {
            let rounded = inst(opcode, pick(&mut rng, &[8, 16]), F, 1);
            let ip = bench.load(&[rounded]);
            let s = filled(&mut rng, F, false);
            done += compare(&mut bench, &rounded, &s, ip, |lane| {
                let raw = s.grf[usize::from(SOURCES[0]) + lane / 8][lane % 8];
                Some(reference::rounded(
                    reference::source(F, raw, false, false),
                    round,
                ))
            });
        }
        println!("{opcode:?}: {done} elements, seed {:#x}", seed());
    }
}

/// Functions 12 and 13, and both of 11; the quotient is rounded toward zero.
#[test]
fn integer_division() {
    for ty in [Type::D, Type::Ud] {
        let mut rng = Rng::with_seed(seed() ^ 0x75);
        let mut bench = Bench::of(SNB);
        let mut done = 0;
        while done < goal() {
            let mut math = inst(Opcode::Math, 8, ty, 2);
            let function = rng.u8(11..14);
            math.math = Some(function);
            let ip = bench.load(&[math]);
            let mut s = filled(&mut rng, ty, false);
            s.dispatch = 0xffff;
            for (t, mode) in bench.run(&s, ip, 1).iter().zip(MODES) {
                for lane in 0..8 {
                    let [a, b] =
                        [0, 1].map(|i| reference::int_of(ty, s.grf[usize::from(SOURCES[i])][lane]));
                    if b == 0 {
                        continue;
                    }
                    let (quotient, remainder) = ((a / b) as u32, (a % b) as u32);
                    let got = [0, 1].map(|r| t.grf()[usize::from(RESULT) + r][lane]);
                    let kept = s.grf[usize::from(RESULT) + 1][lane];
                    let want = match function {
                        11 => [quotient, remainder],
                        12 => [quotient, kept],
                        _ => [remainder, kept],
                    };
                    assert_eq!(got, want, "{mode} {function} {a} / {b}");
                    done += 1;
                }
            }
        }
        println!("Math {ty:?}: {done} elements, seed {:#x}", seed());
    }
}

/// PRM vol4 11.5 has no 32 channels; here both words of the flag and all 32 bits of the dispatch mask take part.
#[test]
fn words_in_thirty_two_channels() {
    let mut rng = Rng::with_seed(seed() ^ 0x76);
    let mut bench = Bench::of(SNB);
    let mut done = 0;
    while done < goal() {
        let mut add = inst(Opcode::Add, 32, Type::W, 2);
        for src in &mut add.src[..2] {
            src.region = Region {
                vstride: 16,
                width: 16,
                hstride: 1,
            };
        }
        add.saturate = rng.bool();
        add.pred_ctrl = pick(&mut rng, &[PredCtrl::None, PredCtrl::Normal]);
        let ip = bench.load(&[add]);
        let mut s = filled(&mut rng, Type::Ud, false);
        s.dispatch = 0xffff;
        let word = |grf: &[[u32; 8]], nr: u8, lane: usize| {
            State::bytes(grf, usize::from(nr) * 32 + lane * 2, 2)
        };
        for (t, mode) in bench.run(&s, ip, 1).iter().zip(MODES) {
            for lane in 0..32 {
                let [a, b] = [0, 1].map(|i| i32::from(word(&s.grf, SOURCES[i], lane) as i16));
                let flagged = s.flag[lane / 16] >> (lane % 16) & 1 != 0;
                // The bench dispatches sixteen channels.
                let on = lane < 16 && (flagged || add.pred_ctrl == PredCtrl::None);
                let sum = if add.saturate {
                    (a + b).clamp(-0x8000, 0x7fff)
                } else {
                    a + b
                };
                let want = if on {
                    sum as u32 & 0xffff
                } else {
                    word(&s.grf, RESULT, lane)
                };
                assert_eq!(
                    word(t.grf(), RESULT, lane),
                    want,
                    "{mode} lane {lane} {a} {b}"
                );
            }
        }
        done += 32;
    }
    println!("Add W in 32 channels: {done} elements, seed {:#x}", seed());
}
