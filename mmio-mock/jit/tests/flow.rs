//! Random kernels with branches in order: ifs, loops and halts in each other.

use crate::kernels::{any_flag, branch, distance, end, ivy, pick, sandy};
use fastrand::Rng;
use isa::inst::{Branch, Compression, CondMod, PredCtrl};
use isa::operand::{Addr, Dst, RegFile, Region, Src, Type};
use isa::{Inst, Opcode, Verx10};

/// First of the registers that count turns of loops.
const COUNTERS: u8 = 60;
/// Ifs and loops in each other at most.
const DEEPEST: u8 = 3;
/// Instructions at most, but for the last parts.
const LONGEST: usize = 90;

/// Where branches lead that are not known when they are made.
#[derive(Clone, Copy)]
enum Lead {
    /// A branch of which both distances are to be set, and the ifs of its loop that it is in.
    Break(usize, i32),
    Cont(usize, i32),
}

/// What is around an instruction.
#[derive(Clone, Copy, Default)]
struct Around {
    /// Ifs in all, and ifs in the innermost loop.
    ifs: i32,
    inside: i32,
    loops: u8,
}

pub struct Maker<'a> {
    pub rng: &'a mut Rng,
    pub set: Verx10,
    /// Instructions that are compiled.
    pub pool: &'a [[u32; 4]],
    pub sends: &'a dyn Fn(&mut Rng) -> Inst,
    out: Vec<Made>,
    /// Branches that lead out of the innermost loop, or to the end of its body.
    leads: Vec<Lead>,
    /// Branches whose first distance is to the end of the innermost block.
    blocks: Vec<usize>,
    halts: Vec<usize>,
}

enum Made {
    Words([u32; 4]),
    Branch(Inst),
}

impl<'a> Maker<'a> {
    pub fn new(
        rng: &'a mut Rng,
        set: Verx10,
        pool: &'a [[u32; 4]],
        sends: &'a dyn Fn(&mut Rng) -> Inst,
    ) -> Maker<'a> {
        Maker {
            rng,
            set,
            pool,
            sends,
            out: Vec::new(),
            leads: Vec::new(),
            blocks: Vec::new(),
            halts: Vec::new(),
        }
    }

    /// A kernel: its parts, and behind them its flags and the channels that execute in registers.
    pub fn kernel(mut self) -> Vec<[u32; 4]> {
        let around = Around::default();
        if self.rng.bool() {
            self.ifs(around);
        } else {
            self.loops(around);
        }
        for _ in 0..self.rng.usize(..3) {
            self.part(around);
        }
        let end_of_parts = self.out.len();
        for at in std::mem::take(&mut self.blocks) {
            self.set_jump(at, end_of_parts);
        }
        for at in std::mem::take(&mut self.halts) {
            if sandy(self.set) {
                self.set_other(at, end_of_parts);
            } else {
                self.set_jump(at, end_of_parts);
            }
        }
        for flag in 0..if ivy(self.set) { 4 } else { 2 } {
            self.flag_to_register(flag);
        }
        self.count(64);
        if !self.pool.is_empty() {
            self.words();
        }
        let set = self.set;
        let encode = |made: Made| match made {
            Made::Words(words) => words,
            Made::Branch(inst) => isa::encode(set, &inst).unwrap(),
        };
        self.out.into_iter().map(encode).chain([end(set)]).collect()
    }

    fn words(&mut self) {
        let words = pick(self.rng, self.pool);
        self.out.push(Made::Words(words));
    }

    fn inst(&mut self, inst: &Inst) {
        let words = isa::encode(self.set, inst).unwrap();
        self.out.push(Made::Words(words));
    }

    /// Some instructions, branches and loops.
    fn part(&mut self, around: Around) {
        for _ in 0..=self.rng.usize(..5) {
            if self.out.len() > LONGEST {
                return;
            }
            let deep = around.ifs + i32::from(around.loops) >= i32::from(DEEPEST);
            match self.rng.u32(..10) {
                0 if !deep => self.ifs(around),
                1 if !deep => self.loops(around),
                2 if around.loops > 0 => self.leave(around),
                3 if self.rng.bool() => self.halt(around),
                4 if self.rng.bool() => {
                    let send = (self.sends)(self.rng);
                    self.inst(&send);
                }
                _ => self.words(),
            }
        }
    }

    /// Which channels a branch is for, and its predicate.
    fn chosen(&mut self, inst: &mut Inst) {
        inst.exec_size = pick(self.rng, &[8, 16, 16, 16]);
        if inst.exec_size == 8 && self.rng.bool() {
            if sandy(self.set) {
                inst.qtr_ctrl = 1;
            } else {
                inst.compression = Compression::SecHalf;
            }
        }
        self.predicate(inst);
    }

    fn predicate(&mut self, inst: &mut Inst) {
        inst.pred_ctrl = pick(
            self.rng,
            &[
                PredCtrl::Normal,
                PredCtrl::Normal,
                PredCtrl::Normal,
                PredCtrl::Normal,
                PredCtrl::Any4h,
                PredCtrl::All4h,
                PredCtrl::Any2h,
                PredCtrl::All8h,
                PredCtrl::Any16h,
            ],
        );
        if self.rng.u32(..12) == 0 {
            inst.pred_ctrl = PredCtrl::None;
        }
        inst.pred_inv = self.rng.bool();
        any_flag(self.rng, self.set, inst);
    }

    fn push(&mut self, inst: Inst) -> usize {
        self.out.push(Made::Branch(inst));
        self.out.len() - 1
    }

    fn edit(&mut self, at: usize, to: usize, set: impl Fn(&mut Branch, i32)) {
        let far = distance(self.set, to as i32 - at as i32);
        if let Some(Made::Branch(inst)) = self.out.get_mut(at)
            && let Some(branch) = &mut inst.branch
        {
            set(branch, far);
        }
    }

    fn set_jump(&mut self, at: usize, to: usize) {
        self.edit(at, to, |branch, far| branch.jump = far);
    }

    fn set_other(&mut self, at: usize, to: usize) {
        self.edit(at, to, |branch, far| branch.pop_or_uip = far);
    }

    /// The end of a block is here: branches of the block lead here first.
    fn end_block(&mut self) {
        let here = self.out.len();
        if sandy(self.set) {
            for at in std::mem::take(&mut self.blocks) {
                self.set_jump(at, here);
            }
        }
    }

    fn ifs(&mut self, around: Around) {
        let sandy = sandy(self.set);
        let with_else = self.rng.bool();
        let opcode = if sandy || with_else {
            Opcode::If
        } else {
            Opcode::Iff
        };
        let mut begin = branch(opcode, 0, 0);
        self.chosen(&mut begin);
        let (size, quarter, compression) = (begin.exec_size, begin.qtr_ctrl, begin.compression);
        let like = |mut inst: Inst| {
            (inst.exec_size, inst.qtr_ctrl, inst.compression) = (size, quarter, compression);
            inst
        };
        let outer = std::mem::take(&mut self.blocks);
        let first = self.push(begin);
        let inner = Around {
            ifs: around.ifs + 1,
            inside: around.inside + 1,
            ..around
        };
        self.part(inner);
        self.end_block();
        let mut middle = None;
        if with_else {
            let at = self.push(like(branch(Opcode::Else, 0, i32::from(!sandy))));
            self.set_jump(first, if sandy { at + 1 } else { at });
            middle = Some(at);
            self.part(inner);
            self.end_block();
        }
        let last = self.push(like(branch(Opcode::Endif, distance(self.set, 1), 1)));
        if sandy {
            self.set_other(last, last);
        }
        if let Some(at) = middle {
            self.set_jump(at, if sandy { last } else { last + 1 });
        } else {
            self.set_jump(first, if sandy { last } else { last + 1 });
        }
        if ivy(self.set) {
            self.set_other(first, last);
        }
        self.blocks = outer;
        if sandy && self.rng.u32(..3) != 0 {
            // To the end of the next block, as compilers have it.
            self.blocks.push(last);
        }
    }

    fn loops(&mut self, around: Around) {
        let sandy = sandy(self.set);
        let outer = std::mem::take(&mut self.blocks);
        let leads = std::mem::take(&mut self.leads);
        let counter = COUNTERS + around.loops;
        if !sandy {
            let mut begin = Inst::blank(Opcode::Do);
            begin.exec_size = 16;
            self.push(begin);
        }
        let first = self.out.len();
        let inner = Around {
            loops: around.loops + 1,
            inside: 0,
            ..around
        };
        self.count(counter);
        if self.rng.u32(..8) != 0 {
            self.compare(counter);
            let mut leave = branch(Opcode::Break, 0, 0);
            (leave.pred_ctrl, leave.flag_subreg) = (PredCtrl::Normal, 0);
            let at = self.push(leave);
            self.leads.push(Lead::Break(at, 0));
            self.blocks.push(at);
        }
        self.part(inner);
        self.end_block();
        let mut last = branch(Opcode::While, 0, 0);
        if self.rng.bool() {
            self.predicate(&mut last);
        }
        let last = self.push(last);
        self.set_jump(last, first);
        for lead in std::mem::replace(&mut self.leads, leads) {
            match lead {
                Lead::Break(at, _) if sandy => self.set_other(at, last + 1),
                Lead::Cont(at, _) if sandy => self.set_other(at, last),
                Lead::Break(at, ifs) => {
                    self.set_jump(at, last + 1);
                    self.edit(at, at, |branch, _| branch.pop_or_uip = ifs);
                }
                Lead::Cont(at, ifs) => {
                    self.set_jump(at, last);
                    self.edit(at, at, |branch, _| branch.pop_or_uip = ifs);
                }
            }
        }
        self.blocks = outer;
    }

    fn leave(&mut self, around: Around) {
        let breaks = self.rng.bool();
        let mut inst = branch(
            if breaks { Opcode::Break } else { Opcode::Cont },
            0,
            around.inside,
        );
        self.chosen(&mut inst);
        let at = self.push(inst);
        self.leads.push(if breaks {
            Lead::Break(at, around.inside)
        } else {
            Lead::Cont(at, around.inside)
        });
        self.blocks.push(at);
    }

    fn halt(&mut self, around: Around) {
        if !sandy(self.set) && around.loops > 0 {
            return;
        }
        let mut inst = branch(Opcode::Halt, 0, around.ifs);
        self.chosen(&mut inst);
        let at = self.push(inst);
        self.halts.push(at);
        if sandy(self.set) {
            self.blocks.push(at);
        }
    }

    /// One more in each channel of a register.
    fn count(&mut self, nr: u8) {
        let (dst, src) = (dwords(nr), source(nr));
        let mut inst = self.sixteen(Opcode::Add);
        (inst.dst, inst.src[0]) = (dst, src);
        inst.src[1] = number(1);
        self.inst(&inst);
    }

    /// The channels that have gone round often enough have f0.0 set.
    fn compare(&mut self, nr: u8) {
        let mut inst = self.sixteen(Opcode::Cmp);
        inst.dst = Dst {
            ty: Type::D,
            ..Dst::NULL
        };
        inst.cond_mod = CondMod::G;
        inst.src[0] = source(nr);
        inst.src[1] = number(1 + self.rng.u32(..4));
        self.inst(&inst);
    }

    fn sixteen(&self, opcode: Opcode) -> Inst {
        let mut inst = Inst::blank(opcode);
        (inst.exec_size, inst.num_src) = (16, 2);
        if !sandy(self.set) {
            inst.compression = Compression::Compressed;
        }
        inst
    }

    fn flag_to_register(&mut self, flag: u8) {
        let mut inst = Inst::blank(Opcode::Mov);
        (inst.exec_size, inst.num_src, inst.no_mask) = (1, 1, true);
        inst.dst = Dst {
            ty: Type::Uw,
            addr: Addr::Direct {
                nr: 66,
                subnr: 4 * flag,
            },
            ..dwords(66)
        };
        inst.src[0] = Src {
            file: RegFile::Arf,
            ty: Type::Uw,
            addr: Addr::Direct {
                nr: 0x30 | flag >> 1,
                subnr: 2 * (flag & 1),
            },
            region: Region::SCALAR,
            ..Src::NULL
        };
        self.inst(&inst);
    }
}

fn dwords(nr: u8) -> Dst {
    Dst {
        file: RegFile::Grf,
        ty: Type::D,
        addr: Addr::Direct { nr, subnr: 0 },
        hstride: 1,
        ..Dst::NULL
    }
}

fn source(nr: u8) -> Src {
    Src {
        file: RegFile::Grf,
        ty: Type::D,
        addr: Addr::Direct { nr, subnr: 0 },
        region: Region::VEC8,
        ..Src::NULL
    }
}

fn number(value: u32) -> Src {
    Src {
        file: RegFile::Imm,
        ty: Type::D,
        imm: value.into(),
        ..Src::NULL
    }
}
