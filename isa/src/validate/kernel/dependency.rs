//! Dependency control and hazards that the hardware does not see.
//!
//! PRM: volume 4, 2.6.3, 11.3.4.5, 11.8, 14.2.41. Only runs of instructions without branches are
//! followed; what is open at the end of a run is forgotten, except for dependency control.

use crate::inst::{Inst, PredCtrl, ThreadCtrl};
use crate::operand::{Addr, RegFile};

use super::super::context::{Context, accumulator, direct, is_indirect, is_null_dst};
use super::super::footprint::REGISTER;
use super::super::send::message;
use super::super::{Detail, Generations, Place, Rule};
use super::{Code, Report};

pub(in super::super) const RULES: &[Rule] = &[
    Rule::kernel(
        "dependency-unfinished",
        Generations::ALL,
        "PRM vol4 11.3.4.4, 11.8; Mesa 22.3.6 brw_vec4.cpp opt_set_dependency_control",
        "after NoDDClr the next write of the register, before any branch, has NoDDChk",
        unfinished,
    ),
    Rule::kernel(
        "dependency-read",
        Generations::ALL,
        "PRM vol4 11.8; Mesa 22.3.6 brw_vec4.cpp opt_set_dependency_control",
        "a register is not read between NoDDClr and the write that clears its dependency",
        read_early,
    ),
    Rule::kernel(
        "dependency-predicate",
        Generations::between(60, 90),
        "Mesa 22.3.6 brw_vec4.cpp is_dep_ctrl_unsafe (Ivybridge PRM vol4 part3.7, page 80)",
        "the write that clears a dependency after NoDDClr has no predicate",
        predicate,
    ),
    Rule::kernel(
        "send-write-pending",
        Generations::until(40),
        "PRM vol4 14.2.41; Mesa 22.3.6 brw_fs.cpp insert_gfx4_pre_send_dependency_workarounds",
        "a register is read between a write to it and a send that writes it",
        write_pending,
    ),
    Rule::kernel(
        "send-response-pending",
        Generations::until(50),
        "PRM vol4 2.6.3",
        "a register of an outstanding response is used before another send writes it",
        response_pending,
    ),
    Rule::kernel(
        "accumulator-1-repeated",
        Generations::until(40),
        "PRM vol4 11.3.4.5 (errata)",
        "acc1 is not named by two instructions in a row, unless the first switches threads",
        accumulator_1,
    ),
];

const FILE: usize = 128;

/// Registers of a file: first and one past the last.
type Range = (usize, usize);

fn range(nr: u8, count: u32) -> Range {
    let first = usize::from(nr).min(FILE);
    (first, (first + count as usize).min(FILE))
}

/// Registers that an instruction writes, with their file; a send writes its response.
fn written(cx: &Context<'_>) -> Option<(RegFile, Range)> {
    let dst = &cx.inst.dst;
    if !(cx.computes() || cx.is_send()) || is_null_dst(dst) || dst.file == RegFile::Arf {
        return None;
    }
    let (nr, subnr) = direct(dst.addr)?;
    let count = if cx.is_send() {
        message(cx).map_or(1, |message| message.response)
    } else {
        bytes(cx, subnr, dst.hstride, dst.ty.size()).div_ceil(REGISTER)
    };
    Some((dst.file, range(nr, count)))
}

/// Bytes from the start of the first register on.
fn bytes(cx: &Context<'_>, subnr: u8, stride: u8, size: usize) -> u32 {
    let last = cx.exec_size().saturating_sub(1) * u32::from(stride);
    u32::from(subnr) + (last + 1) * size as u32
}

/// What an instruction reads of the general registers; `None` when anything may be read.
fn read(cx: &Context<'_>) -> Option<[Option<Range>; 3]> {
    let mut ranges = [None; 3];
    let count = usize::from(cx.inst.num_src).min(3);
    for (slot, src) in ranges.iter_mut().zip(&cx.inst.src).take(count) {
        if src.file == RegFile::Imm || src.file == RegFile::Arf {
            continue;
        }
        let Addr::Direct { nr, subnr } = src.addr else {
            return None;
        };
        let registers = if cx.is_send() && cx.has().payload_in_source {
            message(cx).map_or(1, |message| message.length)
        } else if let Some(footprint) = cx.source_footprint(src) {
            footprint.end().div_ceil(REGISTER)
        } else {
            bytes(cx, subnr, 1, src.ty.size()).div_ceil(REGISTER)
        };
        if src.file == RegFile::Grf {
            *slot = Some(range(nr, registers.max(1)));
        }
    }
    Some(ranges)
}

fn contexts<'a>(code: &Code<'a>) -> impl Iterator<Item = (usize, Context<'a>)> + use<'a> {
    let part = code.part;
    code.insts()
        .map(move |(index, inst)| (index, Context::new(part, inst)))
}

fn chained(inst: &Inst) -> bool {
    inst.no_dd_clr || inst.no_dd_chk
}

/// Registers whose dependency NoDDClr left set, and by which instruction.
struct Open {
    grf: [Option<usize>; FILE],
    mrf: [Option<usize>; FILE],
    any: bool,
}

impl Open {
    fn new() -> Open {
        Open {
            grf: [None; FILE],
            mrf: [None; FILE],
            any: false,
        }
    }

    fn file(&mut self, file: RegFile) -> &mut [Option<usize>; FILE] {
        match file {
            RegFile::Mrf => &mut self.mrf,
            _ => &mut self.grf,
        }
    }

    fn first(&self) -> Option<usize> {
        self.grf.iter().chain(&self.mrf).flatten().min().copied()
    }
}

enum Chain {
    /// The chain that began here was not finished.
    Unfinished { start: usize },
    /// A register of the chain is read.
    Read { register: usize },
    /// The chain is finished under a predicate.
    Predicate,
}

fn chains(code: &Code<'_>, mut visit: impl FnMut(usize, Chain)) {
    if !code.insts().any(|(_, inst)| chained(inst)) {
        return;
    }
    let mut open = Open::new();
    for (index, cx) in contexts(code) {
        if open.any && code.leads.get(index).copied().unwrap_or(true) {
            if let Some(start) = open.first() {
                visit(index, Chain::Unfinished { start });
            }
            open = Open::new();
        }
        if open.any
            && let Some(ranges) = read(&cx)
        {
            for register in ranges.into_iter().flatten().flat_map(|(from, to)| from..to) {
                if open.grf[register].is_some() {
                    visit(index, Chain::Read { register });
                }
            }
        }
        let Some((file, (from, to))) = written(&cx) else {
            continue;
        };
        let mut start = None;
        for slot in &mut open.file(file)[from..to] {
            start = start.or(*slot);
            *slot = cx.inst.no_dd_clr.then_some(index);
        }
        if let Some(start) = start {
            if !cx.inst.no_dd_chk {
                visit(index, Chain::Unfinished { start });
            } else if !cx.inst.no_dd_clr && cx.inst.pred_ctrl != PredCtrl::None {
                visit(index, Chain::Predicate);
            }
        }
        open.any |= cx.inst.no_dd_clr;
    }
    if let Some(start) = open.first() {
        visit(start, Chain::Unfinished { start });
    }
}

fn unfinished(code: &Code<'_>, report: &mut Report<'_>) {
    chains(code, |index, chain| {
        if let Chain::Unfinished { start } = chain {
            let distance = index.saturating_sub(start) as u32;
            let detail =
                Detail::new(Place::Instruction).with("instructions since NoDDClr", distance);
            report.push(index, detail);
        }
    });
}

fn read_early(code: &Code<'_>, report: &mut Report<'_>) {
    chains(code, |index, chain| {
        if let Chain::Read { register } = chain {
            let detail = Detail::new(Place::Instruction).with("register", register as u32);
            report.push(index, detail);
        }
    });
}

fn predicate(code: &Code<'_>, report: &mut Report<'_>) {
    chains(code, |index, chain| {
        if matches!(chain, Chain::Predicate) {
            report.push(index, Detail::new(Place::Instruction));
        }
    });
}

/// Finds sends that write a register while a write to it is under way: a response of a send, or the
/// result of another instruction. Those of the other kind wait, or are not waited for.
fn pending(code: &Code<'_>, report: &mut Report<'_>, responses: bool) {
    let mut pending = [false; FILE];
    for (index, cx) in contexts(code) {
        if code.leads.get(index).copied().unwrap_or(true) {
            pending = [false; FILE];
        }
        match read(&cx) {
            Some(ranges) => {
                for (from, to) in ranges.into_iter().flatten() {
                    pending[from..to].fill(false);
                }
            }
            None => pending = [false; FILE],
        }
        if is_indirect(cx.inst.dst.addr) {
            pending = [false; FILE];
        }
        let Some((RegFile::Grf, (from, to))) = written(&cx) else {
            continue;
        };
        if cx.is_send()
            && let Some(register) = (from..to).find(|&register| pending[register])
        {
            let detail = Detail::new(Place::Dst).with("register", register as u32);
            report.push(index, detail);
        }
        let open = cx.is_send() == responses;
        if open || responses {
            pending[from..to].fill(open);
        }
    }
}

fn write_pending(code: &Code<'_>, report: &mut Report<'_>) {
    pending(code, report, false);
}

fn response_pending(code: &Code<'_>, report: &mut Report<'_>) {
    pending(code, report, true);
}

fn accumulator_1(code: &Code<'_>, report: &mut Report<'_>) {
    let mut before = false;
    for (index, cx) in contexts(code) {
        let inst = cx.inst;
        let named = cx.computes()
            && (accumulator(inst.dst.file, inst.dst.addr) == Some(1)
                || cx
                    .registers()
                    .any(|(_, src)| accumulator(src.file, src.addr) == Some(1)));
        if named && before {
            report.push(index, Detail::new(Place::Instruction));
        }
        before = named && inst.thread_ctrl != ThreadCtrl::Switch;
    }
}
