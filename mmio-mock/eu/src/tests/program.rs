//! Random structured programs: mask stacks against one scalar run a channel.
//!
//! PRM: volume 4, 14.2 flow control. Jump and pop counts are what Mesa's Gen4 assembler patches
//! in (brw_eu_emit.c): relative to the instruction, `pop` the ifs that a jump leaves.

use super::{Rng, TestPort, dst, imm, null, op, run_in, thread, vec8};
use crate::{KernelCache, Stop};
use isa::inst::{Branch, CondMod, PredCtrl};
use isa::operand::Type;
use isa::{Inst, Opcode};

const REGS: u64 = 4;

enum Stmt {
    /// r\[a\] = r\[b\] + imm or r\[b\] ^ imm.
    Arith(u8, u8, bool, u32),
    If(Cond, Vec<Stmt>, Option<Vec<Stmt>>),
    /// A counted loop; the counter is checked at the top (`break`) or the bottom (`while`).
    Loop {
        counter: u8,
        times: u32,
        bottom: bool,
        body: Vec<Stmt>,
    },
    Break(Cond),
    Continue(Cond),
}

#[derive(Clone, Copy)]
struct Cond {
    reg: u8,
    less: bool,
    imm: i32,
}

impl Cond {
    fn holds(self, regs: &[i32]) -> bool {
        let v = regs[usize::from(self.reg)];
        if self.less {
            v < self.imm
        } else {
            v >= self.imm
        }
    }
}

struct Gen<'a> {
    rng: &'a mut Rng,
    loops: u8,
    statements: u32,
}

impl Gen<'_> {
    fn cond(&mut self) -> Cond {
        Cond {
            reg: self.rng.u64(..REGS) as u8,
            less: self.rng.u64(..2) == 0,
            imm: self.rng.u64(..64) as i32 - 32,
        }
    }

    /// `jumps`: 0 outside loops, 1 in a loop that allows only `break`, 2 where `cont` is fine too.
    fn block(&mut self, depth: u32, jumps: u8) -> Vec<Stmt> {
        let n = 1 + self.rng.u64(..4);
        (0..n).map(|_| self.stmt(depth, jumps)).collect()
    }

    fn stmt(&mut self, depth: u32, jumps: u8) -> Stmt {
        self.statements += 1;
        let kind = self.rng.u64(..if depth == 0 { 2 } else { 8 });
        match kind {
            3 | 4 => {
                let then = self.block(depth - 1, jumps);
                let other = (self.rng.u64(..2) == 0).then(|| self.block(depth - 1, jumps));
                Stmt::If(self.cond(), then, other)
            }
            5 if self.loops < 6 => {
                let counter = REGS as u8 + self.loops;
                self.loops += 1;
                let bottom = self.rng.u64(..3) == 0;
                let times = 1 + self.rng.u64(..4) as u32;
                let body = self.block(depth - 1, if bottom { 1 } else { 2 });
                self.loops -= 1;
                Stmt::Loop {
                    counter,
                    times,
                    bottom,
                    body,
                }
            }
            6 if jumps > 0 => Stmt::Break(self.cond()),
            7 if jumps > 1 => Stmt::Continue(self.cond()),
            _ => Stmt::Arith(
                self.rng.u64(..REGS) as u8,
                self.rng.u64(..REGS) as u8,
                self.rng.u64(..2) == 0,
                self.rng.u64(..64) as u32,
            ),
        }
    }
}

enum Exit {
    Normal,
    Break,
    Continue,
}

/// One channel, as a scalar program.
fn scalar(block: &[Stmt], r: &mut [i32]) -> Exit {
    for s in block {
        match s {
            Stmt::Arith(a, b, add, k) => {
                let v = r[usize::from(*b)];
                r[usize::from(*a)] = if *add {
                    v.wrapping_add(*k as i32 - 32)
                } else {
                    v ^ *k as i32
                };
            }
            Stmt::If(c, then, other) => {
                let exit = if c.holds(r) {
                    scalar(then, r)
                } else {
                    other.as_ref().map_or(Exit::Normal, |o| scalar(o, r))
                };
                if !matches!(exit, Exit::Normal) {
                    return exit;
                }
            }
            Stmt::Loop {
                counter,
                times,
                bottom,
                body,
            } => {
                let c = usize::from(*counter);
                r[c] = 0;
                loop {
                    if !bottom && r[c] >= *times as i32 {
                        break;
                    }
                    r[c] += 1;
                    if matches!(scalar(body, r), Exit::Break) {
                        break;
                    }
                    if *bottom && r[c] >= *times as i32 {
                        break;
                    }
                }
            }
            Stmt::Break(c) if c.holds(r) => return Exit::Break,
            Stmt::Continue(c) if c.holds(r) => return Exit::Continue,
            Stmt::Break(_) | Stmt::Continue(_) => {}
        }
    }
    Exit::Normal
}

struct Emit {
    code: Vec<Inst>,
    exec: u8,
    /// `iff` for an if without else, as Mesa does; otherwise a plain `if`.
    fast_if: bool,
    /// Per open loop: breaks and conts to patch, and the ifs open inside it.
    loops: Vec<(Vec<usize>, Vec<usize>, i32)>,
}

fn reg(r: u8) -> u8 {
    10 + 2 * r
}

impl Emit {
    fn cmp(&mut self, c: Cond) {
        let mut i = op(
            Opcode::Cmp,
            self.exec,
            null(Type::D),
            &[vec8(reg(c.reg), Type::D), imm(Type::D, c.imm as u32)],
        );
        i.cond_mod = if c.less { CondMod::L } else { CondMod::Ge };
        self.code.push(i);
    }

    fn flow(&mut self, opcode: Opcode, predicated: bool, pop: i32) -> usize {
        let mut i = Inst::blank(opcode);
        i.exec_size = self.exec;
        if predicated {
            i.pred_ctrl = PredCtrl::Normal;
        }
        i.branch = Some(Branch {
            jump: 0,
            pop_or_uip: pop,
        });
        self.code.push(i);
        self.code.len() - 1
    }

    fn jump(&mut self, at: usize, target: usize, extra: i32) {
        if let Some(b) = &mut self.code[at].branch {
            b.jump = target as i32 - at as i32 + extra;
        }
    }

    fn ifs(&mut self, delta: i32) {
        if let Some(l) = self.loops.last_mut() {
            l.2 += delta;
        }
    }

    fn leave(&mut self, opcode: Opcode, c: Cond) {
        self.cmp(c);
        let pop = self.loops.last().unwrap().2;
        let at = self.flow(opcode, true, pop);
        let l = self.loops.last_mut().unwrap();
        if opcode == Opcode::Break {
            l.0.push(at);
        } else {
            l.1.push(at);
        }
    }

    fn block(&mut self, block: &[Stmt]) {
        for s in block {
            match s {
                Stmt::Arith(a, b, add, k) => {
                    let (opcode, k) = if *add {
                        (Opcode::Add, (*k as i32 - 32) as u32)
                    } else {
                        (Opcode::Xor, *k)
                    };
                    let d = dst(reg(*a), Type::D);
                    let i = op(
                        opcode,
                        self.exec,
                        d,
                        &[vec8(reg(*b), Type::D), imm(Type::D, k)],
                    );
                    self.code.push(i);
                }
                Stmt::If(c, then, other) => {
                    self.cmp(*c);
                    let fast = other.is_none() && self.fast_if;
                    let head = self.flow(if fast { Opcode::Iff } else { Opcode::If }, true, 0);
                    self.ifs(1);
                    self.block(then);
                    let middle = other.as_ref().map(|o| {
                        let at = self.flow(Opcode::Else, false, 1);
                        self.block(o);
                        at
                    });
                    self.ifs(-1);
                    let end = self.flow(Opcode::Endif, false, 1);
                    match middle {
                        Some(m) => {
                            self.jump(head, m, 0);
                            self.jump(m, end, 1);
                        }
                        None => self.jump(head, end, i32::from(fast)),
                    }
                }
                Stmt::Loop {
                    counter,
                    times,
                    bottom,
                    body,
                } => {
                    let c = reg(*counter);
                    let zero = op(Opcode::Mov, self.exec, dst(c, Type::D), &[imm(Type::D, 0)]);
                    self.code.push(zero);
                    let start = self.flow(Opcode::Do, false, 0);
                    self.loops.push((Vec::new(), Vec::new(), 0));
                    let done = Cond {
                        reg: *counter,
                        less: false,
                        imm: *times as i32,
                    };
                    if !bottom {
                        self.leave(Opcode::Break, done);
                    }
                    let d = dst(c, Type::D);
                    let inc = op(
                        Opcode::Add,
                        self.exec,
                        d,
                        &[vec8(c, Type::D), imm(Type::D, 1)],
                    );
                    self.code.push(inc);
                    self.block(body);
                    if *bottom {
                        self.cmp(Cond { less: true, ..done });
                    }
                    let end = self.flow(Opcode::While, *bottom, 0);
                    self.jump(end, start, 1);
                    let (breaks, conts, _) = self.loops.pop().unwrap();
                    for at in breaks {
                        self.jump(at, end, 1);
                    }
                    for at in conts {
                        self.jump(at, end, 0);
                    }
                }
                Stmt::Break(c) => self.leave(Opcode::Break, *c),
                Stmt::Continue(c) => self.leave(Opcode::Cont, *c),
            }
        }
    }
}

// covers: 14.1-01, 14.2-07, 14.2-11, 14.2-13, 14.2-25, 14.2-56
#[test]
fn masks_equal_one_scalar_run_a_channel() {
    let mut rng = Rng::with_seed(0x1234_5678_9abc_def1);
    let mut jumps = 0;
    for round in 0..1500 {
        let mut generator = Gen {
            rng: &mut rng,
            loops: 0,
            statements: 0,
        };
        let program = generator.block(4, 0);
        let exec = if round % 2 == 0 { 8 } else { 16 };
        let mut e = Emit {
            code: Vec::new(),
            exec,
            fast_if: round % 3 != 0,
            loops: Vec::new(),
        };
        e.block(&program);
        if e.code.len() > 250 {
            continue;
        }
        let mut t = thread();
        let mut masks = t.view().masks;
        masks.amask = if round % 5 == 0 {
            0xffff
        } else {
            rng.u32(..) as u16
        };
        t.set_masks(masks);
        let mut before = Vec::new();
        for r in 10..40 {
            for c in 0..8 {
                t.grf_mut()[r][c] = (rng.u64(..64) as i32 - 32) as u32;
            }
        }
        before.extend_from_slice(t.grf());
        let mut port = TestPort::new(Vec::new());
        let end = e.code.len() as u32 * 16;
        let (stop, stats) = run_in(
            &mut KernelCache::new(isa::Verx10::GEN40).unwrap(),
            &mut t,
            &mut port,
            &e.code,
            4_000_000,
        );
        assert!(
            matches!(stop, Stop::Fault(super::Outside(ip)) if ip == end),
            "round {round}: {stop:?} at {:x} of {end:x}",
            t.ip()
        );
        jumps += stats.instructions;
        assert_eq!(t.view().masks.imsd, 0, "round {round}");
        assert_eq!(t.view().masks.lmsd, 0, "round {round}");
        assert_eq!(t.exec_mask(), u32::from(masks.amask), "round {round}");
        for c in 0..usize::from(exec) {
            let at = |r: u8| (usize::from(reg(r)) + c / 8, c % 8);
            let mut regs: Vec<i32> = (0..12).map(|r| before[at(r).0][at(r).1] as i32).collect();
            if masks.amask >> c & 1 != 0 {
                scalar(&program, &mut regs);
            }
            for r in 0..REGS as u8 {
                let got = t.grf()[at(r).0][at(r).1] as i32;
                assert_eq!(
                    got,
                    regs[usize::from(r)],
                    "round {round} channel {c} register {r}"
                );
            }
        }
    }
    assert!(jumps > 10_000);
}
