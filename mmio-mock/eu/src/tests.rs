//! Tests of the interpreter: helpers shared by the test files.
//!
//! PRM: volume 4, chapters 10, 11, 14. Expectations come from host IEEE arithmetic, the manual's
//! tables and per-channel evaluation written apart from the interpreter.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod alu;
mod compare;
mod control;
mod flow;
mod fuzz;
mod gen60;
mod gen70;
mod integer;
mod kernels;
mod paths;
mod program;
mod regions;
mod sends;
mod text;

use crate::{
    Delivery, Grf, KernelCache, Message, NoObserver, Port, RunStats, Stop, Thread, ThreadInit,
};
use fastrand::Rng;
use isa::inst::{Compression, SendDesc};
use isa::operand::{Addr, Dst, RegFile, Region, Src, Type};
use isa::{Inst, Opcode};

/// What a test port saw of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sent {
    pub(crate) sfid: u8,
    pub(crate) exec_mask: u16,
    pub(crate) eot: bool,
    pub(crate) payload: Vec<Grf>,
}

/// A port over a list of instruction words; messages are recorded and answered by `answer`.
pub(crate) struct TestPort {
    pub(crate) words: Vec<[u32; 4]>,
    pub(crate) sent: Vec<Sent>,
    pub(crate) answer: Delivery,
    pub(crate) fill: u32,
}

impl TestPort {
    pub(crate) fn new(words: Vec<[u32; 4]>) -> TestPort {
        TestPort {
            words,
            sent: Vec::new(),
            answer: Delivery::Done,
            fill: 0,
        }
    }
}

/// A fetch outside the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Outside(pub(crate) u32);

impl Port for TestPort {
    type Fault = Outside;

    fn fetch(&mut self, ip: u32) -> Result<[u32; 4], Outside> {
        self.words.get(ip as usize / 16).copied().ok_or(Outside(ip))
    }

    fn send(&mut self, msg: &Message<'_>, response: &mut [Grf]) -> Result<Delivery, Outside> {
        if self.answer != Delivery::Busy {
            self.sent.push(Sent {
                sfid: msg.sfid,
                exec_mask: msg.exec_mask,
                eot: msg.eot,
                payload: msg.payload.to_vec(),
            });
            for r in response {
                *r = [self.fill; 8];
            }
        }
        Ok(self.answer)
    }
}

pub(crate) fn grf(nr: u8, subnr: u8, ty: Type, region: Region) -> Src {
    Src {
        file: RegFile::Grf,
        ty,
        addr: Addr::Direct { nr, subnr },
        region,
        ..Src::NULL
    }
}

pub(crate) fn vec8(nr: u8, ty: Type) -> Src {
    grf(nr, 0, ty, Region::VEC8)
}

pub(crate) fn scalar(nr: u8, ty: Type) -> Src {
    grf(nr, 0, ty, Region::SCALAR)
}

pub(crate) fn imm(ty: Type, imm: u32) -> Src {
    Src {
        file: RegFile::Imm,
        ty,
        imm: u64::from(imm),
        ..Src::NULL
    }
}

pub(crate) fn arf_src(nr: u8, subnr: u8, ty: Type) -> Src {
    Src {
        file: RegFile::Arf,
        ty,
        addr: Addr::Direct { nr, subnr },
        region: Region::SCALAR,
        ..Src::NULL
    }
}

pub(crate) fn dst(nr: u8, ty: Type) -> Dst {
    Dst {
        file: RegFile::Grf,
        ty,
        addr: Addr::Direct { nr, subnr: 0 },
        ..Dst::NULL
    }
}

pub(crate) fn arf(nr: u8, subnr: u8, ty: Type) -> Dst {
    Dst {
        file: RegFile::Arf,
        ty,
        addr: Addr::Direct { nr, subnr },
        ..Dst::NULL
    }
}

pub(crate) fn null(ty: Type) -> Dst {
    Dst { ty, ..Dst::NULL }
}

pub(crate) fn op(opcode: Opcode, exec: u8, d: Dst, srcs: &[Src]) -> Inst {
    let mut i = Inst::blank(opcode);
    i.exec_size = exec;
    if exec == 16 && d.ty.size() == 4 {
        i.compression = Compression::Compressed;
    }
    i.dst = d;
    i.num_src = srcs.len() as u8;
    i.src[..srcs.len()].copy_from_slice(srcs);
    i
}

pub(crate) fn send(d: Dst, src0: Src, mrf: u8, desc: Option<u32>) -> Inst {
    let mut i = op(Opcode::Send, 8, d, &[src0]);
    i.send = Some(SendDesc {
        imm: desc,
        mrf,
        ..SendDesc::default()
    });
    i
}

/// A thread with all channels on.
pub(crate) fn thread() -> Thread {
    let mut t = Thread::new();
    t.dispatch(&ThreadInit {
        dispatch_mask: 0xffff,
        grf_count: 128,
        ..ThreadInit::default()
    });
    t
}

/// Places the instructions at address 0 and runs until something stops the thread.
pub(crate) fn run_in(
    cache: &mut KernelCache,
    t: &mut Thread,
    port: &mut TestPort,
    insts: &[Inst],
    budget: u64,
) -> (Stop<Outside>, RunStats) {
    for (i, inst) in insts.iter().enumerate() {
        cache.place(i as u32 * 16, inst);
    }
    let mut stats = RunStats::default();
    let mut budget = budget;
    let stop = t.run(cache, port, &mut NoObserver, &mut budget, &mut stats);
    (stop, stats)
}

/// Runs straight-line instructions.
pub(crate) fn run(t: &mut Thread, insts: &[Inst]) {
    let mut port = TestPort::new(Vec::new());
    let n = insts.len() as u64;
    t.set_ip(0);
    let (stop, stats) = run_in(
        &mut KernelCache::new(isa::Verx10::GEN40).unwrap(),
        t,
        &mut port,
        insts,
        n,
    );
    assert_eq!(stop, Stop::Budget);
    assert_eq!(stats.instructions, n);
}
