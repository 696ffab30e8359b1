//! Instructions in few words.
//!
//! PRM: volume 4, 13.2. Nothing is checked here.

use crate::inst::{AccessMode, Branch, CondMod, Inst, Opcode, PredCtrl, SendDesc};
use crate::operand::{Addr, Dst, RegFile, Region, Src, Type};

/// A general register as `<8;8,1>`.
pub(super) fn g(nr: u8, ty: Type) -> Src {
    Src {
        file: RegFile::Grf,
        ty,
        addr: Addr::Direct { nr, subnr: 0 },
        region: Region::VEC8,
        ..Src::NULL
    }
}

/// An architecture register as a scalar.
pub(super) fn arf(nr: u8, ty: Type) -> Src {
    Src {
        file: RegFile::Arf,
        region: Region::SCALAR,
        ..g(nr, ty)
    }
}

pub(super) fn imm(value: u64, ty: Type) -> Src {
    Src {
        file: RegFile::Imm,
        ty,
        imm: value,
        ..Src::NULL
    }
}

/// A general register as a destination.
pub(super) fn d(nr: u8, ty: Type) -> Dst {
    Dst {
        file: RegFile::Grf,
        ty,
        addr: Addr::Direct { nr, subnr: 0 },
        ..Dst::NULL
    }
}

pub(super) fn m(nr: u8, ty: Type) -> Dst {
    Dst {
        file: RegFile::Mrf,
        ..d(nr, ty)
    }
}

pub(super) fn null(ty: Type) -> Dst {
    Dst { ty, ..Dst::NULL }
}

pub(super) fn darf(nr: u8, ty: Type) -> Dst {
    Dst {
        file: RegFile::Arf,
        ..d(nr, ty)
    }
}

fn moved(addr: Addr, to: u8) -> Addr {
    match addr {
        Addr::Direct { nr, .. } => Addr::Direct { nr, subnr: to },
        other @ Addr::Indirect { .. } => other,
    }
}

pub(super) trait SrcExt {
    fn at(self, subnr: u8) -> Src;
    fn region(self, vstride: u8, width: u8, hstride: u8) -> Src;
    fn scalar(self) -> Src;
    fn neg(self) -> Src;
    fn abs(self) -> Src;
    fn indirect(self, subreg: u8) -> Src;
    fn quad(self) -> Src;
}

impl SrcExt for Src {
    fn at(mut self, subnr: u8) -> Src {
        self.addr = moved(self.addr, subnr);
        self
    }

    fn region(mut self, vstride: u8, width: u8, hstride: u8) -> Src {
        self.region = Region {
            vstride,
            width,
            hstride,
        };
        self
    }

    fn scalar(self) -> Src {
        self.region(0, 1, 0)
    }

    fn neg(mut self) -> Src {
        self.negate = true;
        self
    }

    fn abs(mut self) -> Src {
        self.abs = true;
        self
    }

    fn indirect(mut self, subreg: u8) -> Src {
        self.addr = Addr::Indirect { subreg, imm: 0 };
        self
    }

    /// `<4;4,1>`, which align16 has.
    fn quad(self) -> Src {
        self.region(4, 4, 1)
    }
}

pub(super) trait DstExt {
    fn at(self, subnr: u8) -> Dst;
    fn stride(self, stride: u8) -> Dst;
    fn indirect(self) -> Dst;
}

impl DstExt for Dst {
    fn at(mut self, subnr: u8) -> Dst {
        self.addr = moved(self.addr, subnr);
        self
    }

    fn stride(mut self, stride: u8) -> Dst {
        self.hstride = stride;
        self
    }

    fn indirect(mut self) -> Dst {
        self.addr = Addr::Indirect { subreg: 0, imm: 0 };
        self
    }
}

pub(super) fn op(opcode: Opcode, exec_size: u8, dst: Dst, sources: &[Src]) -> Inst {
    let mut inst = Inst {
        exec_size,
        dst,
        num_src: sources.len() as u8,
        ..Inst::blank(opcode)
    };
    for (slot, src) in inst.src.iter_mut().zip(sources) {
        *slot = *src;
    }
    inst
}

pub(super) fn mov(exec_size: u8, dst: Dst, src: Src) -> Inst {
    op(Opcode::Mov, exec_size, dst, &[src])
}

pub(super) fn add(exec_size: u8, dst: Dst, first: Src, second: Src) -> Inst {
    op(Opcode::Add, exec_size, dst, &[first, second])
}

pub(super) fn math(function: u8, exec_size: u8, dst: Dst, sources: &[Src]) -> Inst {
    op(Opcode::Math, exec_size, dst, sources).with(|inst| inst.math = Some(function))
}

/// A three-source instruction on r2, r4, r6 into r8.
pub(super) fn three(opcode: Opcode, exec_size: u8, ty: Type) -> Inst {
    let src = |nr| g(nr, ty).quad();
    op(opcode, exec_size, d(8, ty), &[src(2), src(4), src(6)]).align16()
}

/// A send with an immediate descriptor, `target` in it on Gen4 and beside it later.
pub(super) fn send(version: u8, dst: Dst, src: Src, target: u32, desc: u32) -> Inst {
    let (imm, sfid) = if version < 50 {
        (desc | target << 24, 0)
    } else {
        (desc, target as u8)
    };
    op(Opcode::Send, 8, dst, &[src]).with(|inst| {
        inst.send = Some(SendDesc {
            imm: Some(imm),
            mrf: 2,
            sfid,
            ..SendDesc::default()
        });
    })
}

pub(super) fn branch(opcode: Opcode, exec_size: u8, jump: i32) -> Inst {
    Inst {
        exec_size,
        branch: Some(Branch {
            jump,
            pop_or_uip: 0,
        }),
        ..Inst::blank(opcode)
    }
}

pub(super) trait InstExt {
    fn with(self, change: impl FnOnce(&mut Inst)) -> Inst;
    fn align16(self) -> Inst;
    fn cond(self, cond: CondMod) -> Inst;
    fn predicated(self) -> Inst;
    fn saturated(self) -> Inst;
    fn acc_write(self) -> Inst;
    fn compressed(self) -> Inst;
}

impl InstExt for Inst {
    fn with(mut self, change: impl FnOnce(&mut Inst)) -> Inst {
        change(&mut self);
        self
    }

    fn align16(self) -> Inst {
        self.with(|inst| inst.access = AccessMode::Align16)
    }

    fn cond(self, cond: CondMod) -> Inst {
        self.with(|inst| inst.cond_mod = cond)
    }

    fn predicated(self) -> Inst {
        self.with(|inst| inst.pred_ctrl = PredCtrl::Normal)
    }

    fn saturated(self) -> Inst {
        self.with(|inst| inst.saturate = true)
    }

    fn acc_write(self) -> Inst {
        self.with(|inst| inst.acc_wr_ctrl = true)
    }

    fn compressed(self) -> Inst {
        self.with(|inst| inst.compression = crate::inst::Compression::Compressed)
    }
}
