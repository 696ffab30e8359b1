//! Random kernels of what stretches are made of, and threads with random registers.

use crate::{forms, integers};
use eu::{Delivery, Grf, Message, Port, Thread, ThreadInit};
use fastrand::Rng;
use isa::inst::{AccessMode, Branch, Compression, CondMod, PredCtrl, SendDesc};
use isa::operand::{Addr, Dst, RegFile, Region, Src, Type};
use isa::{Inst, Opcode, Verx10};

/// Fetches from a list of words; messages do nothing.
pub struct Kernel(pub Vec<[u32; 4]>);

impl Port for Kernel {
    type Fault = u32;

    fn fetch(&mut self, ip: u32) -> Result<[u32; 4], u32> {
        self.0.get(ip as usize / 16).copied().ok_or(ip)
    }

    fn send(&mut self, _: &Message<'_>, _: &mut [Grf]) -> Result<Delivery, u32> {
        Ok(Delivery::Done)
    }
}

pub fn pick<T: Copy>(rng: &mut Rng, of: &[T]) -> T {
    of[rng.usize(..of.len())]
}

/// Floats and integers that lie at the edges of something, and others.
pub fn value(rng: &mut Rng) -> u32 {
    const EDGES: [u32; 20] = [
        0,
        0x8000_0000,
        1,
        0x8000_0001,
        0x007f_ffff,
        0x807f_ffff,
        0x0080_0000,
        0x8080_0000,
        0x0080_0001,
        0x3f80_0000,
        0x3f7f_ffff,
        0xbf80_0000,
        0x7f7f_ffff,
        0xff7f_ffff,
        0x7f80_0000,
        0xff80_0000,
        0x7fc0_0000,
        0xffc0_0001,
        0x7f80_0001,
        0xffff_ffff,
    ];
    match rng.u32(..12) {
        0 | 1 => pick(rng, &EDGES),
        2 => rng.u32(..),
        3 => rng.u32(..64),
        // Products of these lie around the smallest normal float.
        4 | 5 => rng.u32(..) & 0x80ff_ffff | 0x1f80_0000 | (rng.u32(..2) << 29),
        6 => rng.u32(..) & 0x81ff_ffff,
        // Whole numbers and halves.
        7 => ((rng.i32(-64..64) as f32) / 2.0).to_bits(),
        _ => rng.u32(..) & 0x83ff_ffff | 0x3c00_0000,
    }
}

fn region(rng: &mut Rng) -> Region {
    pick(rng, &[Region::VEC8, Region::VEC8, Region::SCALAR])
}

pub fn source(rng: &mut Rng, ty: Type, constant: bool) -> Src {
    let mut s = Src {
        file: RegFile::Grf,
        ty,
        addr: Addr::Direct {
            nr: 2 + rng.u8(..14),
            subnr: 0,
        },
        region: region(rng),
        ..Src::NULL
    };
    if s.region == Region::SCALAR {
        s.addr = Addr::Direct {
            nr: 2 + rng.u8(..14),
            subnr: 4 * rng.u8(..8),
        };
    }
    if constant && rng.u32(..4) == 0 {
        s = Src {
            file: RegFile::Imm,
            ty,
            imm: u64::from(value(rng)),
            ..Src::NULL
        };
    } else if ty == Type::F {
        s.negate = rng.u32(..4) == 0;
        s.abs = rng.u32(..4) == 0;
    }
    s
}

fn modifiers(rng: &mut Rng, set: Verx10, i: &mut Inst) {
    i.no_mask = rng.u32(..4) == 0;
    i.pred_ctrl = pick(rng, &[PredCtrl::None, PredCtrl::None, PredCtrl::Normal]);
    i.pred_inv = rng.bool();
    any_flag(rng, set, i);
    i.nib_ctrl = ivy(set) && i.exec_size <= 4 && rng.bool();
}

const CONDITIONS: [CondMod; 7] = [
    CondMod::Z,
    CondMod::Nz,
    CondMod::G,
    CondMod::Ge,
    CondMod::L,
    CondMod::Le,
    CondMod::U,
];

/// An instruction of the kind that stretches have, with some that they have not.
pub fn instruction(rng: &mut Rng, set: Verx10) -> Inst {
    use Opcode::{
        Add, And, Asr, Cmp, Frc, Mad, Math, Mov, Mul, Not, Or, Pln, Rndd, Rnde, Rndz, Sel, Shl,
        Shr, Xor,
    };
    let sandy = sandy(set);
    let mut opcode = pick(
        rng,
        &[
            Mov, Mov, Sel, Sel, Not, And, Or, Xor, Shl, Shr, Asr, Cmp, Cmp, Add, Add, Add, Mul,
            Mul, Mad, Mad, Math, Pln, Frc, Rndd, Rnde, Rndz,
        ],
    );
    if !sandy && matches!(opcode, Mad | Math | Pln) {
        opcode = Mul;
    }
    let mut i = Inst::blank(opcode);
    i.exec_size = pick(rng, &[8, 8, 16, 16, 16, 4, 1]);
    i.compression = if i.exec_size == 16 && !sandy {
        Compression::Compressed
    } else {
        Compression::None
    };
    if i.exec_size <= 8 && rng.u32(..3) == 0 {
        if sandy {
            i.qtr_ctrl = pick(rng, &[1, 1, 2, 3]);
        } else {
            i.compression = Compression::SecHalf;
        }
    }
    if sandy && i.exec_size == 16 && rng.u32(..6) == 0 {
        i.qtr_ctrl = 2;
    }
    modifiers(rng, set, &mut i);
    let float = match opcode {
        Mov | Sel | Cmp | Add => rng.u32(..3) != 0,
        Not | And | Or | Xor | Shl | Shr | Asr => false,
        _ => true,
    };
    let dword = pick(rng, &[Type::D, Type::Ud]);
    let ty = if float { Type::F } else { dword };
    i.dst = Dst {
        file: RegFile::Grf,
        ty,
        addr: Addr::Direct {
            nr: 2 + rng.u8(..14),
            subnr: 0,
        },
        ..Dst::NULL
    };
    if i.exec_size == 1 {
        i.dst.addr = Addr::Direct {
            nr: 2 + rng.u8(..14),
            subnr: 4 * rng.u8(..8),
        };
    }
    i.num_src = match opcode {
        Math | Mov | Not | Frc | Rndd | Rnde | Rndz => 1,
        Mad => 3,
        _ => 2,
    };
    let last = usize::from(i.num_src) - 1;
    for n in 0..=last {
        i.src[n] = source(rng, ty, n == last && opcode != Mad);
    }
    match opcode {
        Mov if rng.u32(..4) == 0 => i.dst.ty = Type::F,
        Rnde | Rndz if !sandy && rng.bool() => i.cond_mod = CondMod::R,
        Cmp => {
            if float && rng.u32(..3) == 0 {
                i.opcode = Opcode::Cmpn;
            }
            i.cond_mod = pick(rng, &CONDITIONS);
            if rng.bool() {
                i.dst = Dst { ty, ..Dst::NULL };
            }
        }
        Sel if sandy && rng.bool() => {
            i.cond_mod = pick(rng, &CONDITIONS);
            i.pred_ctrl = PredCtrl::None;
        }
        Sel => i.pred_ctrl = PredCtrl::Normal,
        Mad => three(rng, &mut i),
        Math => {
            // The format has two sources.
            i.num_src = 2;
            i.math = Some(pick(rng, &[1, 4, 5]));
            i.src[1] = Src {
                ty: Type::F,
                ..Src::NULL
            };
            i.src[0].negate = false;
            i.src[0].abs = false;
        }
        Pln => {
            i.src[0].region = Region::SCALAR;
            i.src[0].addr = Addr::Direct {
                nr: 2 + rng.u8(..14),
                subnr: 16 * rng.u8(..2),
            };
            i.src[1] = Src {
                region: Region::VEC8,
                ..source(rng, Type::F, false)
            };
            i.src[1].addr = Addr::Direct {
                nr: 2 + 2 * rng.u8(..6),
                subnr: 0,
            };
        }
        And | Or | Xor | Not | Shl | Shr | Asr | Add if !float && rng.u32(..4) == 0 => {
            i.cond_mod = pick(rng, &[CondMod::Z, CondMod::Nz, CondMod::G]);
        }
        _ => {}
    }
    if float && !matches!(opcode, Cmp) {
        i.saturate = rng.u32(..5) == 0;
    }
    if opcode == Add && !float {
        i.src[0].negate = rng.u32(..3) == 0;
        i.src[1].negate = i.src[1].file == RegFile::Grf && rng.u32(..3) == 0;
    }
    i
}

/// Three sources are in registers and take align16.
fn three(rng: &mut Rng, i: &mut Inst) {
    i.access = AccessMode::Align16;
    (i.exec_size, i.nib_ctrl) = (8, false);
    i.dst.writemask = 0xf;
    if let Addr::Direct { nr, .. } = i.dst.addr {
        i.dst.addr = Addr::Direct { nr, subnr: 0 };
    }
    for s in &mut i.src {
        if s.region != Region::SCALAR {
            s.region = Region {
                vstride: 4,
                width: 4,
                hstride: 1,
            };
        }
        s.swizzle = if rng.u32(..8) == 0 {
            [1, 0, 3, 2]
        } else {
            [0, 1, 2, 3]
        };
    }
}

/// A kernel with its end, and with branches and loops in it.
pub fn kernel(rng: &mut Rng, set: Verx10) -> Vec<[u32; 4]> {
    let mut out = Vec::new();
    let blocks = 1 + rng.usize(..3);
    for block in 0..blocks {
        let count = 1 + rng.usize(..14);
        let mut body: Vec<[u32; 4]> = Vec::new();
        while body.len() < count {
            if block > 0 && rng.u32(..6) == 0 {
                let distance = (count - body.len()) as i32;
                body.push(isa::encode(set, &leave(rng, set, distance)).unwrap());
                continue;
            }
            if rng.u32(..12) == 0 {
                let whole = integers::whole_product(rng, set).map(|i| isa::encode(set, &i));
                // One of them may be behind the end of a block.
                if let [Ok(mul), Ok(mach)] = whole
                    && body.len() + 2 <= count
                {
                    body.extend([mul, mach]);
                    continue;
                }
            }
            if rng.u32(..12) == 0
                && body.len() + 2 <= count
                && let [Ok(first), Ok(second)] = parted(rng, set)
            {
                body.extend([first, second]);
                continue;
            }
            let made = match rng.u32(..4) {
                0 => integers::form(rng, set),
                1 => forms::form(rng, set),
                _ => instruction(rng, set),
            };
            // Some are not encoded in a generation.
            if let Ok(words) = isa::encode(set, &made) {
                body.push(words);
            }
        }
        // CAST: some instructions.
        let [before, after] = match rng.u32(..3) {
            _ if block == 0 => [None, None],
            0 => loops(rng, set, count as i32),
            _ => ifs(rng, set, count as i32),
        };
        out.extend(before.map(|i| isa::encode(set, &i).unwrap()));
        out.extend(body);
        out.extend(after.map(|i| isa::encode(set, &i).unwrap()));
    }
    out.push(end(set));
    out
}

/// Two instructions that write parts of one register, the first of which leaves it taken; now and then both do.
fn parted(rng: &mut Rng, set: Verx10) -> [Result<[u32; 4], isa::EncodeError>; 2] {
    let [mut first, mut second] = [(); 2].map(|()| forms::align16(rng, set));
    let mask = rng.u8(1..15);
    second.dst.addr = first.dst.addr;
    (first.dst.writemask, second.dst.writemask) = (mask, !mask & 15);
    first.no_dd_clr = true;
    second.no_dd_chk = true;
    second.no_dd_clr = rng.u32(..10) == 0;
    [first, second].map(|inst| isa::encode(set, &inst))
}

/// The distance of so many instructions.
pub fn distance(set: Verx10, instructions: i32) -> i32 {
    instructions * if set.times_ten() < 50 { 1 } else { 2 }
}

pub fn branch(opcode: Opcode, jump: i32, pop_or_uip: i32) -> Inst {
    let mut i = Inst::blank(opcode);
    i.exec_size = 16;
    i.branch = Some(Branch { jump, pop_or_uip });
    i
}

/// What is before and behind a block that some channels leave out.
fn ifs(rng: &mut Rng, set: Verx10, count: i32) -> [Option<Inst>; 2] {
    let mut i = branch(Opcode::If, distance(set, count + 1), 0);
    i.pred_ctrl = PredCtrl::Normal;
    any_flag(rng, set, &mut i);
    if ivy(set)
        && let Some(branch) = &mut i.branch
    {
        branch.pop_or_uip = branch.jump;
    }
    // It is an instruction behind itself, or an entry of the stack of masks.
    let end = branch(Opcode::Endif, distance(set, 1), 1);
    let end = if sandy(set) {
        branch(Opcode::Endif, 2, 0)
    } else {
        end
    };
    [Some(i), Some(end)]
}

/// What is before and behind a block that channels go round in while a flag of theirs is set.
fn loops(rng: &mut Rng, set: Verx10, count: i32) -> [Option<Inst>; 2] {
    let mut i = branch(Opcode::While, distance(set, -count), 0);
    i.pred_ctrl = if rng.u32(..4) == 0 {
        PredCtrl::None
    } else {
        PredCtrl::Normal
    };
    i.pred_inv = rng.bool();
    any_flag(rng, set, &mut i);
    let mut begin = Inst::blank(Opcode::Do);
    begin.exec_size = 16;
    [(!sandy(set)).then_some(begin), Some(i)]
}

/// Sandy Bridge and later: channels have instruction pointers.
pub fn sandy(set: Verx10) -> bool {
    set.times_ten() >= 60
}

/// Ivy Bridge and later: payloads in general registers, a second flag register, halves of quarters.
pub fn ivy(set: Verx10) -> bool {
    set.times_ten() >= 70
}

/// Any subregister of the flags.
pub fn any_flag(rng: &mut Rng, set: Verx10, i: &mut Inst) {
    i.flag_subreg = u8::from(rng.bool());
    i.flag_reg = u8::from(ivy(set) && rng.bool());
}

/// A kernel of additions with a branch among them, by which channels of f0.0 go to its end.
pub fn adds_and_leaves(before: usize, behind: usize) -> Vec<[u32; 4]> {
    let set = Verx10::from_times_ten(60);
    let mut out = adds(set, 3, before + behind);
    let mut branch = leave(&mut Rng::with_seed(0), set, behind as i32 + 1);
    (branch.opcode, branch.exec_size) = (Opcode::Break, 8);
    branch.pred_ctrl = PredCtrl::Normal;
    (branch.pred_inv, branch.flag_subreg) = (false, 0);
    out.insert(before, isa::encode(set, &branch).unwrap());
    out
}

/// A branch by which channels leave a block whose end is so many instructions away.
fn leave(rng: &mut Rng, set: Verx10, instructions: i32) -> Inst {
    let jump = distance(set, instructions);
    let mut i = Inst::blank(pick(rng, &[Opcode::Break, Opcode::Cont, Opcode::Halt]));
    i.exec_size = pick(rng, &[8, 16]);
    i.pred_ctrl = if rng.u32(..8) == 0 {
        PredCtrl::None
    } else {
        PredCtrl::Normal
    };
    i.pred_inv = rng.bool();
    any_flag(rng, set, &mut i);
    i.branch = Some(Branch {
        jump,
        pop_or_uip: if sandy(set) { jump } else { rng.i32(0..2) },
    });
    i
}

/// The message that ends a thread.
pub fn end(set: Verx10) -> [u32; 4] {
    let sandy = sandy(set);
    let old = set.times_ten() < 50;
    let mut send = Inst::blank(Opcode::Send);
    send.exec_size = 8;
    send.num_src = 1;
    send.send = Some(SendDesc {
        // Before Ironlake the end is in the descriptor.
        imm: Some(if old { 0x8010_0000 } else { 0x0200_0000 }),
        mrf: u8::from(!sandy),
        eot: !old,
        ..SendDesc::default()
    });
    if sandy {
        send.src[0] = Src {
            file: if ivy(set) { RegFile::Grf } else { RegFile::Mrf },
            ty: Type::Ud,
            addr: Addr::Direct { nr: 1, subnr: 0 },
            region: Region::VEC8,
            ..Src::NULL
        };
    }
    isa::encode(set, &send).unwrap()
}

/// A kernel of so many additions of a number, with its end.
pub fn adds(set: Verx10, number: u32, count: usize) -> Vec<[u32; 4]> {
    let register = |nr| Addr::Direct { nr, subnr: 0 };
    let mut add = Inst::blank(Opcode::Add);
    add.exec_size = 8;
    add.num_src = 2;
    add.dst.file = RegFile::Grf;
    add.dst.ty = Type::Ud;
    add.dst.addr = register(10);
    add.dst.hstride = 1;
    add.src[0] = Src {
        file: RegFile::Grf,
        ty: Type::Ud,
        addr: register(10),
        region: Region::VEC8,
        ..Src::NULL
    };
    add.src[1] = Src {
        file: RegFile::Imm,
        ty: Type::Ud,
        imm: number.into(),
        ..Src::NULL
    };
    let add = isa::encode(set, &add).unwrap();
    std::iter::repeat_n(add, count).chain([end(set)]).collect()
}

/// A thread at the beginning of a kernel.
pub fn thread(rng: &mut Rng, thread: &mut Thread) {
    let dispatch_mask = match rng.u32(..4) {
        0 => 0xffff,
        1 => u32::MAX,
        2 => rng.u16(..).into(),
        _ => rng.u32(..),
    };
    thread.dispatch(&ThreadInit {
        dispatch_mask,
        grf_count: 128,
        ..ThreadInit::default()
    });
    for register in thread.grf_mut().iter_mut().take(24) {
        *register = std::array::from_fn(|_| value(rng));
    }
    thread.set_flag([rng.u16(..), rng.u16(..)]);
    thread.set_second_flag([rng.u16(..), rng.u16(..)]);
}
