//! Random operands, masks and modes for one opcode; the comparison.
//!
//! PRM: volume 4, 11.3.6, 11.4, 11.5, 11.7. Regions here are packed, strided, scalar or immediate;
//! other shapes have tests of their own.

use crate::bench::{Bench, MODES, State};
use crate::reference::{self, Op, Out, Value};
use crate::values::{partner, pick, tame, value};
use eu::Masks;
use fastrand::Rng;
use isa::inst::{Compression, CondMod, PredCtrl};
use isa::operand::{Addr, Dst, RegFile, Region, Src, Type};
use isa::{Inst, Opcode, Verx10};

/// Elements checked for one opcode and destination type: thousands, or what the environment says.
pub fn goal() -> u64 {
    std::env::var("CRESTLINE_EU_CASES")
        .ok()
        .and_then(|v| v.parse().ok())
        .unwrap_or(20_000)
}

pub fn seed() -> u64 {
    std::env::var("CRESTLINE_EU_SEED")
        .ok()
        .and_then(|v| v.parse().ok())
        .unwrap_or(0x00c0_ffee_0965_0001)
}

/// What is drawn for one opcode.
#[derive(Clone, Copy)]
pub struct Spec {
    pub opcode: Opcode,
    pub dst: Type,
    pub src: [Type; 2],
    /// 1 or 2.
    pub sources: usize,
    pub modifiers: bool,
    pub saturate: bool,
    pub conds: &'static [CondMod],
    /// The accumulator is set first and read.
    pub acc: bool,
    /// Execution sizes.
    pub sizes: &'static [u8],
}

pub const ALL_CONDS: &[CondMod] = &[
    CondMod::None,
    CondMod::None,
    CondMod::Z,
    CondMod::Nz,
    CondMod::G,
    CondMod::Ge,
    CondMod::L,
    CondMod::Le,
    CondMod::O,
    CondMod::U,
];
pub const COMPARE: &[CondMod] = &[
    CondMod::Z,
    CondMod::Nz,
    CondMod::G,
    CondMod::Ge,
    CondMod::L,
    CondMod::Le,
];
pub const EQUAL: &[CondMod] = &[CondMod::None, CondMod::Z, CondMod::Nz];
pub const NO_COND: &[CondMod] = &[CondMod::None];
pub const SIZES: &[u8] = &[1, 2, 4, 8, 8, 16, 16];

/// Where the elements of an operand lie.
#[derive(Clone, Copy)]
struct Place {
    ty: Type,
    base: usize,
    stride: usize,
    /// Instead of registers.
    imm: Option<u32>,
}

impl Place {
    fn at(&self, lane: usize) -> usize {
        self.base + lane * self.stride * self.ty.size()
    }

    fn read(&self, grf: &[[u32; 8]], lane: usize) -> u32 {
        let all = u32::MAX >> (32 - 8 * self.ty.size());
        self.imm.map_or_else(
            || State::bytes(grf, self.at(lane), self.ty.size()),
            |v| v & all,
        )
    }
}

fn direct(place: &Place) -> Addr {
    Addr::Direct {
        nr: (place.base / 32) as u8,
        subnr: (place.base % 32) as u8,
    }
}

fn is_word(ty: Type) -> bool {
    ty.size() < 4
}

/// A drawn instruction.
struct Drawn {
    op: Op,
    inst: Inst,
    setup: Option<Inst>,
    src: [Place; 2],
    dst: Place,
    acc: Place,
    lanes: usize,
    shift: usize,
    float_exec: bool,
    dwords: bool,
    word_exec: bool,
    raw: bool,
}

fn source_operand(rng: &mut Rng, ty: Type, reg: usize, lanes: usize, imm: bool) -> (Place, Src) {
    let mut place = Place {
        ty,
        base: reg * 32,
        stride: 1,
        imm: None,
    };
    let mut src = Src {
        file: RegFile::Grf,
        ty,
        ..Src::NULL
    };
    if imm && ty.size() > 1 && rng.u64(..5) == 0 {
        let v = value(rng, ty);
        let v = if ty.size() == 2 { v | v << 16 } else { v };
        place.imm = Some(v);
        src.file = RegFile::Imm;
        src.imm = u64::from(v);
        return (place, src);
    }
    if lanes == 1 || rng.u64(..6) == 0 {
        place.stride = 0;
        place.base += ty.size() * rng.u64(..32 / ty.size() as u64) as usize;
        src.region = Region::SCALAR;
    } else {
        let width = lanes.min(8);
        let room = 64 / (lanes * ty.size());
        let strides: &[usize] = match room {
            0 | 1 => &[1],
            2 | 3 => &[1, 2],
            _ => &[1, 2, 4],
        };
        place.stride = pick(rng, strides);
        src.region = Region {
            vstride: (width * place.stride) as u8,
            width: width as u8,
            hstride: place.stride as u8,
        };
    }
    src.addr = direct(&place);
    (place, src)
}

const PREDICATES: [PredCtrl; 12] = [
    PredCtrl::None,
    PredCtrl::None,
    PredCtrl::None,
    PredCtrl::Normal,
    PredCtrl::AnyV,
    PredCtrl::AllV,
    PredCtrl::Any2h,
    PredCtrl::All2h,
    PredCtrl::Any4h,
    PredCtrl::All4h,
    PredCtrl::Any8h,
    PredCtrl::All8h,
];

fn draw(rng: &mut Rng, spec: &Spec) -> Drawn {
    let lanes = usize::from(pick(rng, spec.sizes));
    let mut inst = Inst::blank(spec.opcode);
    inst.exec_size = lanes as u8;
    inst.num_src = spec.sources as u8;
    let mut places = [Place {
        ty: spec.src[0],
        base: 0,
        stride: 0,
        imm: None,
    }; 2];
    for (i, place) in places.iter_mut().enumerate().take(spec.sources) {
        let last = i + 1 == spec.sources;
        let (p, s) = source_operand(rng, spec.src[i], 2 + 4 * i, lanes, last);
        *place = p;
        inst.src[i] = s;
        if spec.modifiers && p.imm.is_none() {
            inst.src[i].negate = rng.u64(..3) == 0;
            inst.src[i].abs = rng.u64(..3) == 0;
        }
    }
    let used = &spec.src[..spec.sources];
    let float_exec = used.contains(&Type::F);
    let word_exec = used.iter().all(|t| is_word(*t));
    // A destination narrower than the execution type is strided to its width (11.3.10).
    let width = if word_exec { 2 } else { 4 };
    let stride = (width / spec.dst.size()).max(1);
    let dst = Place {
        ty: spec.dst,
        base: 10 * 32,
        stride,
        imm: None,
    };
    inst.dst = Dst {
        file: RegFile::Grf,
        ty: spec.dst,
        addr: direct(&dst),
        hstride: stride as u8,
        ..Dst::NULL
    };
    let span = |p: &Place| p.imm.is_none() && lanes * p.stride * p.ty.size() > 32;
    let sechalf = lanes == 8 && rng.u64(..4) == 0;
    if lanes == 16 && (span(&dst) || places[..spec.sources].iter().any(span) || spec.acc) {
        inst.compression = Compression::Compressed;
    } else if sechalf {
        inst.compression = Compression::SecHalf;
    }
    inst.saturate = spec.saturate && rng.u64(..3) == 0;
    inst.cond_mod = pick(rng, spec.conds);
    inst.no_mask = rng.u64(..4) == 0;
    inst.flag_subreg = rng.u64(..2) as u8;
    inst.pred_ctrl = pick(rng, &PREDICATES);
    if spec.opcode == Opcode::Sel && inst.pred_ctrl == PredCtrl::None {
        inst.pred_ctrl = PredCtrl::Normal;
    }
    inst.pred_inv = inst.pred_ctrl != PredCtrl::None && rng.u64(..2) == 0;
    let plain = |s: &Src| !s.negate && !s.abs;
    let same = |t: Type| t.size() == spec.dst.size() && (t == Type::F) == (spec.dst == Type::F);
    let raw = used.iter().all(|t| same(*t))
        && inst.src[..spec.sources].iter().all(plain)
        && !inst.saturate
        && inst.cond_mod == CondMod::None;
    // The accumulator's type is the execution type; words keep their sign.
    let acc_ty = if float_exec {
        Type::F
    } else if word_exec {
        Type::W
    } else {
        Type::D
    };
    let acc = Place {
        ty: acc_ty,
        base: 12 * 32,
        stride: 1,
        imm: None,
    };
    let setup = spec.acc.then(|| {
        let mut m = Inst::blank(Opcode::Mov);
        m.exec_size = lanes as u8;
        m.num_src = 1;
        m.no_mask = true;
        if lanes == 16 && acc_ty.size() == 4 {
            m.compression = Compression::Compressed;
        }
        m.src[0] = Src {
            file: RegFile::Grf,
            ty: acc_ty,
            addr: direct(&acc),
            region: if lanes == 1 {
                Region::SCALAR
            } else {
                let w = lanes.min(8) as u8;
                Region {
                    vstride: w,
                    width: w,
                    hstride: 1,
                }
            },
            ..Src::NULL
        };
        m.dst = Dst {
            file: RegFile::Arf,
            ty: acc_ty,
            addr: Addr::Direct {
                nr: if sechalf { 0x21 } else { 0x20 },
                subnr: 0,
            },
            ..Dst::NULL
        };
        m
    });
    Drawn {
        op: Op {
            opcode: spec.opcode,
            cond: inst.cond_mod,
            saturate: inst.saturate,
            alt: false,
            dst: spec.dst,
            nearest: false,
            second_word: false,
        },
        inst,
        setup,
        src: places,
        dst,
        acc,
        lanes,
        shift: if sechalf { 8 } else { 0 },
        float_exec,
        dwords: used.len() == 2 && used.iter().all(|t| t.size() == 4),
        word_exec,
        raw: raw && matches!(spec.opcode, Opcode::Mov | Opcode::Sel),
    }
}

/// The predicate of a channel (PRM 11.4).
fn predicate(inst: &Inst, flag: [u16; 2], channel: usize) -> bool {
    let f = flag[usize::from(inst.flag_subreg)];
    let bit = |f: u16, c: usize| f >> c & 1 != 0;
    let group = |n: usize| {
        let first = channel / n * n;
        (first..first + n).map(move |c| bit(f, c))
    };
    let p = match inst.pred_ctrl {
        PredCtrl::None => return true,
        PredCtrl::Normal => bit(f, channel),
        PredCtrl::AnyV => bit(flag[0] | flag[1], channel),
        PredCtrl::AllV => bit(flag[0] & flag[1], channel),
        PredCtrl::Any2h => group(2).any(|b| b),
        PredCtrl::All2h => group(2).all(|b| b),
        PredCtrl::Any4h => group(4).any(|b| b),
        PredCtrl::All4h => group(4).all(|b| b),
        PredCtrl::Any8h => group(8).any(|b| b),
        PredCtrl::All8h => group(8).all(|b| b),
        other => panic!("{other:?}"),
    };
    p != inst.pred_inv
}

fn fill(rng: &mut Rng, state: &mut State, d: &Drawn, sources: usize, alt: bool) {
    for r in &mut state.grf[10..12] {
        *r = std::array::from_fn(|_| rng.u32(..));
    }
    let fix = |ty: Type, v: u32| if alt && ty == Type::F { tame(v) } else { v };
    for i in 0..sources {
        let p = d.src[i];
        if p.imm.is_some() {
            continue;
        }
        for lane in 0..d.lanes {
            let related = i == 1 && p.ty == d.src[0].ty && rng.u64(..4) == 0;
            let v = if related {
                let first = d.src[0].read(&state.grf, lane);
                partner(rng, p.ty, first)
            } else {
                value(rng, p.ty)
            };
            State::set(&mut state.grf, p.at(lane), p.ty.size(), fix(p.ty, v));
        }
    }
    if d.setup.is_some() {
        for lane in 0..d.lanes {
            let v = value(rng, d.acc.ty);
            // The move to the accumulator flushes nothing, and denormals there are undefined.
            let v = if d.acc.ty == Type::F { tame(v) } else { v };
            State::set(&mut state.grf, d.acc.at(lane), d.acc.ty.size(), v);
        }
    }
}

/// What a lane gives, by opcode.
fn expected(d: &Drawn, state: &State, lane: usize, selected: bool) -> Out {
    let value = |i: usize, lane: usize| {
        let p = d.src[i];
        let s = &d.inst.src[i];
        reference::source(p.ty, p.read(&state.grf, lane), s.negate, s.abs)
    };
    let int = |i: usize, lane: usize| match value(i, lane) {
        Value::Int(v) => v,
        Value::Float(_) => 0,
    };
    let acc = if d.setup.is_some() {
        reference::source(d.acc.ty, d.acc.read(&state.grf, lane), false, false)
    } else {
        Value::Int(0)
    };
    match d.op.opcode {
        Opcode::Sel => {
            let i = usize::from(!selected);
            if d.raw {
                return reference::raw(d.op, d.src[i].read(&state.grf, lane));
            }
            let op = Op {
                opcode: Opcode::Mov,
                ..d.op
            };
            reference::element_of(op, [value(i, lane); 2], d.float_exec, false, acc)
        }
        Opcode::Mov if d.raw => reference::raw(d.op, d.src[0].read(&state.grf, lane)),
        Opcode::Sad2 | Opcode::Sada2 => {
            if lane % 2 == 1 {
                return Out::default();
            }
            let acc = match acc {
                Value::Int(v) => v,
                Value::Float(_) => 0,
            };
            let of = |i| [int(i, lane), int(i, lane + 1)];
            reference::pair(d.op, of(0), of(1), acc)
        }
        _ => {
            let second = if d.inst.num_src == 2 {
                value(1, lane)
            } else {
                Value::Int(0)
            };
            let src = [value(0, lane), second];
            reference::element_of(d.op, src, d.float_exec, d.dwords, acc)
        }
    }
}

/// How often and with what result.
#[derive(Default)]
pub struct Tally {
    pub instructions: u64,
    pub elements: u64,
    pub flags: u64,
    pub accumulators: u64,
    pub failures: Vec<String>,
}

const REPEAT: u64 = 4;

/// Draws instructions until enough elements were compared.
pub fn check(spec: &Spec, goal: u64, tally: &mut Tally) {
    let name = (spec.opcode as u64) << 16
        | (spec.dst as u64) << 8
        | (spec.src[0] as u64) << 4
        | spec.src[1] as u64;
    let mut rng = Rng::with_seed(seed() ^ name.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let mut bench = Bench::new();
    let mut elements = 0;
    let mut state = State {
        grf: vec![[0; 8]; 16],
        flag: [0; 2],
        dispatch: 0,
        alt: false,
    };
    while elements < goal {
        let mut d = draw(&mut rng, spec);
        let mut kernel: Vec<Inst> = d.setup.into_iter().collect();
        kernel.push(d.inst);
        let ip = bench.load(&kernel);
        d.op.nearest = bench.nearest();
        d.op.second_word = bench.second_word();
        for _ in 0..REPEAT {
            state.alt = rng.u64(..4) == 0;
            state.flag = [rng.u32(..) as u16, rng.u32(..) as u16];
            state.dispatch = match rng.u64(..3) {
                0 => 0xffff,
                _ => rng.u32(..) as u16,
            };
            let alt = state.alt;
            fill(&mut rng, &mut state, &d, spec.sources, alt);
            // An immediate may be what the mode does not expect.
            if state.alt
                && d.src
                    .iter()
                    .any(|p| p.imm.is_some_and(|v| p.ty == Type::F && tame(v) != v))
            {
                state.alt = false;
            }
            d.op.alt = state.alt;
            elements += compare(&mut bench, &d, &state, ip, kernel.len() as u64, tally);
            tally.instructions += 1;
        }
        if !tally.failures.is_empty() {
            break;
        }
    }
    tally.elements += elements;
}

fn compare(
    bench: &mut Bench,
    d: &Drawn,
    state: &State,
    ip: u32,
    count: u64,
    tally: &mut Tally,
) -> u64 {
    let threads = bench.run(state, ip, count);
    let inst = &d.inst;
    let mut emask = Masks::default();
    emask.dispatch(state.dispatch);
    let emask = emask.emask();
    let mut checked = 0;
    let fail = |what: String, mode: &str, lane: usize| {
        let read = |p: &Place| format!("{:#x}", p.read(&state.grf, lane));
        format!(
            "{mode} lane {lane}: {what}\n  {}\n  alt {} sources {} {} acc {} (seed {:#x})",
            isa::print(Verx10::GEN40, inst),
            state.alt,
            read(&d.src[0]),
            read(&d.src[1]),
            if d.setup.is_some() {
                read(&d.acc)
            } else {
                String::new()
            },
            seed(),
        )
    };
    let mut image = [state.grf.clone(), state.grf.clone()];
    let mut flags = [state.flag; 2];
    let views = [threads[0].view(), threads[1].view()];
    for lane in 0..d.lanes {
        let channel = lane + d.shift;
        let enabled = inst.no_mask || emask >> channel & 1 != 0;
        let pred = predicate(inst, state.flag, channel);
        let write = enabled && (pred || inst.opcode == Opcode::Sel);
        if !write {
            continue;
        }
        let out = expected(d, state, lane, pred);
        let size = d.dst.ty.size();
        for (m, t) in threads.iter().enumerate() {
            let got = State::bytes(t.grf(), d.dst.at(lane), size);
            // Pairs leave their odd channel open.
            if let Some(want) = &out.dst
                && !want.accepts(d.dst.ty, got)
            {
                tally.failures.push(fail(
                    format!("got {got:#x}, want {:x?} nan {}", want.bits, want.nan),
                    MODES[m],
                    lane,
                ));
            }
            State::set(&mut image[m], d.dst.at(lane), size, got);
            let sub = usize::from(inst.flag_subreg);
            let bit = views[m].flag[sub] >> channel & 1 != 0;
            match out.flag {
                Some(want) if inst.cond_mod != CondMod::None => {
                    tally.flags += 1;
                    if bit != want {
                        tally.failures.push(fail(
                            format!("flag {bit}, want {want}"),
                            MODES[m],
                            lane,
                        ));
                    }
                }
                _ => {}
            }
            if inst.cond_mod != CondMod::None {
                flags[m][sub] = flags[m][sub] & !(1 << channel) | u16::from(bit) << channel;
            }
            // Implicit update: eight channels of each accumulator, and eight more in words.
            let second = d.shift != 0;
            let got = if d.word_exec && lane >= 8 {
                views[m].acc_words[lane - 8 + if second { 8 } else { 0 }]
            } else {
                // Where `mul` takes the second's low word, dwords of both halves have the first accumulator.
                let one = d.op.second_word && !d.word_exec && !d.float_exec;
                views[m].acc[lane + if one { 0 } else { d.shift }]
            };
            if let Some(want) = out.acc {
                tally.accumulators += 1;
                if got != want {
                    let what = format!("acc {got:#x}, want {want:#x}");
                    tally.failures.push(fail(what, MODES[m], lane));
                }
            }
        }
        checked += 1;
    }
    for (m, t) in threads.iter().enumerate() {
        // Nothing else changes.
        if t.grf()[..16] != image[m][..] {
            tally.failures.push(fail(
                "a register that it must not write".into(),
                MODES[m],
                0,
            ));
        }
        if views[m].flag != flags[m] {
            let what = format!("flags {:x?}, want {:x?}", views[m].flag, flags[m]);
            tally.failures.push(fail(what, MODES[m], 0));
        }
    }
    if threads[0].grf() != threads[1].grf() || views[0] != views[1] {
        let what = format!("modes differ: {:x?}\n{:x?}", views[0], views[1]);
        tally.failures.push(fail(what, "both", 0));
    }
    checked
}
