//! Random instructions of a generation: every opcode, operand form and control.
//!
//! PRM: volume 4, 13.2. An instruction here has an encoding; whether the hardware would do something
//! useful with it is not asked.

use isa::inst::{AccessMode, Branch, Compression, CondMod, ExDesc, PredCtrl, SendDesc, ThreadCtrl};
use isa::operand::{Addr, Dst, RegFile, Region, Src, Type};
use isa::tables::{Format, OpcodeDesc, Table};
use isa::{Inst, Opcode, Verx10};

use super::random::Random;

const CONDITIONS: [CondMod; 9] = [
    CondMod::Z,
    CondMod::Nz,
    CondMod::G,
    CondMod::Ge,
    CondMod::L,
    CondMod::Le,
    CondMod::R,
    CondMod::O,
    CondMod::U,
];

const ALIGN1: [PredCtrl; 13] = [
    PredCtrl::Normal,
    PredCtrl::AnyV,
    PredCtrl::AllV,
    PredCtrl::Any2h,
    PredCtrl::All2h,
    PredCtrl::Any4h,
    PredCtrl::All4h,
    PredCtrl::Any8h,
    PredCtrl::All8h,
    PredCtrl::Any16h,
    PredCtrl::All16h,
    PredCtrl::Any32h,
    PredCtrl::All32h,
];

const ALIGN16: [PredCtrl; 7] = [
    PredCtrl::Normal,
    PredCtrl::ReplX,
    PredCtrl::ReplY,
    PredCtrl::ReplZ,
    PredCtrl::ReplW,
    PredCtrl::AlignAny4h,
    PredCtrl::AlignAll4h,
];

/// Makes instructions of one generation, opcode after opcode.
pub struct Generator {
    pub generation: Verx10,
    rows: Vec<&'static OpcodeDesc>,
    next: usize,
    pub random: Random,
}

impl Generator {
    pub fn new(generation: Verx10, seed: u64) -> Generator {
        let table = Table::of(generation).expect("a table");
        Generator {
            generation,
            rows: table.rows().collect(),
            next: 0,
            random: Random::new(seed),
        }
    }

    fn v(&self) -> u8 {
        self.generation.times_ten()
    }

    /// An instruction of the next opcode.
    pub fn inst(&mut self) -> Inst {
        let row = self.rows[self.next % self.rows.len()];
        self.next += 1;
        let mut inst = Inst::blank(row.opcode);
        if row.format == Format::Bare {
            return inst;
        }
        self.controls(row, &mut inst);
        match row.format {
            Format::Bare | Format::LoopHead => {}
            Format::Basic | Format::Math => self.basic(row, &mut inst),
            Format::Dim => {
                inst.dst = self.dst(inst.access);
                inst.src[0] = self.immediate();
                inst.num_src = 1;
            }
            Format::Jump => self.jump(&mut inst),
            Format::Three => self.three(&mut inst),
            Format::Send => self.send(&mut inst),
            Format::SendSplit => self.split(&mut inst),
            _ => self.flow(row, &mut inst),
        }
        inst
    }

    fn controls(&mut self, row: &OpcodeDesc, inst: &mut Inst) {
        let v = self.v();
        let flow = row.format.is_flow_control();
        let send = matches!(row.format, Format::Send | Format::SendSplit);
        // Most flow control and messages have no options in the other assembler's grammar.
        let rare = if flow || send { 60 } else { 4 };
        let r = &mut self.random;
        let align1_only = matches!(row.format, Format::Jump | Format::Call | Format::SendSplit);
        let usual = if flow || send { 60 } else { 3 };
        if row.format == Format::Three || r.one_in(usual) && !align1_only {
            inst.access = AccessMode::Align16;
        }
        inst.no_mask = r.one_in(rare);
        inst.no_dd_clr = r.one_in(rare + 2);
        inst.no_dd_chk = r.one_in(rare + 2);
        inst.debug_ctrl = r.one_in(rare + 8);
        inst.thread_ctrl = if flow && !r.one_in(8) {
            // The other assembler's habit.
            match (row.opcode, v) {
                (Opcode::If | Opcode::Else | Opcode::Endif | Opcode::While, 0..60)
                | (Opcode::Brd | Opcode::Brc, _) => ThreadCtrl::Switch,
                _ => ThreadCtrl::Normal,
            }
        } else if r.one_in(rare) {
            r.pick(&[ThreadCtrl::Atomic, ThreadCtrl::Switch])
        } else {
            ThreadCtrl::Normal
        };
        if v < 60 {
            if r.one_in(rare) {
                inst.compression = r.pick(&[Compression::SecHalf, Compression::Compressed]);
            }
        } else if r.one_in(rare) {
            inst.qtr_ctrl = if r.one_in(10) { r.below(4) as u8 } else { 1 };
        }
        inst.nib_ctrl = v >= 70 && r.one_in(40);
        let widest = if v >= 60 { 6 } else { 5 };
        inst.exec_size = 1 << if r.one_in(2) { 3 } else { r.below(widest) };
        if r.one_in(3) {
            inst.pred_ctrl = match inst.access {
                AccessMode::Align1 => {
                    let count = if v >= 70 { 13 } else { 11 };
                    r.pick(&ALIGN1[..count])
                }
                AccessMode::Align16 => r.pick(&ALIGN16),
            };
            inst.pred_inv = r.one_in(2);
        }
        let condition = !matches!(
            row.format,
            Format::Math | Format::Send | Format::SendSplit | Format::BranchCount
        );
        if condition && r.one_in(if flow { 60 } else { 3 }) {
            inst.cond_mod = r.pick(&CONDITIONS);
        }
        if row.format != Format::Dim && (inst.pred_ctrl != PredCtrl::None || r.one_in(rare)) {
            inst.flag_subreg = r.below(2) as u8;
            if v >= 70 {
                inst.flag_reg = r.below(2) as u8;
            }
        }
        let math = row.format == Format::Math;
        inst.saturate = r.one_in(if flow || send || math { 60 } else { 4 });
        if math {
            let last = if v >= 80 { 15 } else { 13 };
            inst.math = Some(1 + r.below(last) as u8);
        }
        match v {
            0..45 => {}
            45..60 => inst.mask_ctrl_ex = r.one_in(rare + 4),
            _ if v >= 80 && matches!(row.opcode, Opcode::If | Opcode::Else | Opcode::Goto) => {
                inst.branch_ctrl = r.one_in(60);
            }
            _ => inst.acc_wr_ctrl = r.one_in(rare + 4),
        }
    }

    fn ty(&mut self) -> Type {
        let common = [
            Type::Ud,
            Type::D,
            Type::Uw,
            Type::W,
            Type::Ub,
            Type::B,
            Type::F,
        ];
        if self.v() >= 80 && self.random.one_in(40) {
            return self.random.pick(&[Type::Df, Type::Uq, Type::Q, Type::Hf]);
        }
        if self.v() >= 70 && self.random.one_in(60) {
            return Type::Df;
        }
        self.random.pick(&common)
    }

    fn indirect(&mut self, access: AccessMode) -> Addr {
        let subregs = if self.v() >= 80 { 16 } else { 8 };
        let imm = self.random.below(1024) as i16 - 512;
        Addr::Indirect {
            subreg: self.random.below(subregs) as u8,
            imm: match access {
                AccessMode::Align1 => imm,
                AccessMode::Align16 => imm & !15,
            },
        }
    }

    fn subnr(&mut self, access: AccessMode) -> u8 {
        match access {
            AccessMode::Align1 if self.random.one_in(2) => self.random.below(32) as u8,
            AccessMode::Align16 if self.random.one_in(2) => 16,
            _ => 0,
        }
    }

    fn general(&mut self, access: AccessMode) -> Addr {
        let rare = if access == AccessMode::Align1 { 6 } else { 60 };
        if self.random.one_in(rare) {
            return self.indirect(access);
        }
        Addr::Direct {
            nr: self.random.below(128) as u8,
            subnr: self.subnr(access),
        }
    }

    /// Architecture registers by number, the subregister bytes that fit.
    fn architecture(&mut self, access: AccessMode) -> Addr {
        let index = self.random.below(2) as u8 * u8::from(self.random.one_in(3));
        let kind = self.random.below(11) as u8;
        let limit = match kind {
            3 | 7 => 2,
            8 => 3,
            9 => 4,
            0 | 10 => 1,
            _ => 32,
        };
        let subnr = self.subnr(access);
        Addr::Direct {
            nr: kind << 4 | if matches!(kind, 0 | 10) { 0 } else { index },
            subnr: match access {
                AccessMode::Align1 if !self.random.one_in(20) => subnr % limit,
                _ => subnr,
            },
        }
    }

    fn dst(&mut self, access: AccessMode) -> Dst {
        let v = self.v();
        let mut dst = Dst {
            ty: self.ty(),
            ..Dst::NULL
        };
        match self.random.below(8) {
            0 => {
                dst.file = RegFile::Arf;
                dst.addr = self.architecture(access);
                // Some of these have one type in the other grammar.
                if let Addr::Direct { nr, .. } = dst.addr {
                    match nr >> 4 {
                        5 => dst.ty = Type::Uw,
                        8 | 10 => dst.ty = Type::Ud,
                        _ => {}
                    }
                }
            }
            1 | 2 if v < 70 => {
                dst.file = RegFile::Mrf;
                dst.addr = if self.random.one_in(20) {
                    self.indirect(access)
                } else {
                    dst.compr4 = v >= 45 && self.random.one_in(4);
                    Addr::Direct {
                        nr: self.random.below(16) as u8,
                        subnr: self.subnr(access),
                    }
                };
            }
            _ => {
                dst.file = RegFile::Grf;
                dst.addr = self.general(access);
            }
        }
        match access {
            AccessMode::Align1 => dst.hstride = self.random.pick(&[1, 1, 1, 2, 4]),
            AccessMode::Align16 => {
                if self.random.one_in(2) {
                    dst.writemask = self.random.below(16) as u8;
                }
            }
        }
        dst
    }

    fn immediate(&mut self) -> Src {
        let v = self.v();
        let types = [
            Type::Ud,
            Type::D,
            Type::Uw,
            Type::W,
            Type::F,
            Type::F,
            Type::V,
            Type::Vf,
        ];
        let mut ty = self.random.pick(&types);
        if v >= 60 && self.random.one_in(40) {
            ty = Type::Uv;
        }
        if v >= 80 && self.random.one_in(40) {
            ty = Type::Hf;
        }
        let word = self.random.word();
        let imm = match ty {
            Type::Uw | Type::W | Type::Hf => (word & 0xffff) * 0x1_0001,
            Type::D if self.random.one_in(2) => (self.random.below(200) as i32 - 100) as u32,
            Type::F if self.random.one_in(2) => {
                let value = self.random.below(4000) as f32 / 16.0 - 125.0;
                value.to_bits()
            }
            _ => word,
        };
        Src {
            file: RegFile::Imm,
            ty,
            imm: u64::from(imm),
            ..Src::NULL
        }
    }

    fn region(&mut self, access: AccessMode, exec_size: u8, indirect: bool) -> Region {
        let r = &mut self.random;
        if access == AccessMode::Align16 {
            let vstride = if r.one_in(8) {
                r.pick(&[0, 1, 2, 8, 16, 32])
            } else {
                r.pick(&[0, 4])
            };
            return Region {
                vstride,
                width: 4,
                hstride: 1,
            };
        }
        if r.one_in(4) {
            return Region::SCALAR;
        }
        let width = 1 << r.below(5);
        if r.one_in(4) {
            let hstride = r.pick(&[0, 1, 2, 4]);
            let strides = [0, 1, 2, 4, 8, 16, 32, Region::VXH];
            let vstride = r.pick(&strides[..if indirect { 8 } else { 7 }]);
            return Region {
                vstride,
                width,
                hstride,
            };
        }
        // The usual rules: as wide as the execution size at most, rows one after the other.
        let width = u8::min(width, exec_size);
        let hstride = if width == 1 { 0 } else { r.pick(&[1, 1, 2]) };
        let whole = width == exec_size;
        let vstride = match (whole, indirect && r.one_in(3)) {
            (false, true) => Region::VXH,
            _ if width == 1 => {
                if whole {
                    0
                } else {
                    r.pick(&[0, 1, 2, 4, 8])
                }
            }
            _ => u8::min(32, width * hstride),
        };
        Region {
            vstride,
            width,
            hstride,
        }
    }

    fn src(&mut self, inst: &Inst) -> Src {
        let mut src = Src {
            ty: self.ty(),
            ..Src::NULL
        };
        if self.random.one_in(8) {
            src.file = RegFile::Arf;
            src.addr = self.architecture(inst.access);
            if let Addr::Direct { nr, .. } = src.addr {
                match nr >> 4 {
                    5 => src.ty = Type::Ub,
                    8..=10 => src.ty = Type::Ud,
                    _ => {}
                }
                if matches!(nr >> 4, 0 | 5 | 8..=10) {
                    src.region = Region::SCALAR;
                    if inst.access == AccessMode::Align16 {
                        src.region = Region {
                            vstride: 0,
                            ..Region::VEC4
                        };
                    }
                    return src;
                }
            }
        } else {
            src.file = RegFile::Grf;
            src.addr = self.general(inst.access);
        }
        let indirect = matches!(src.addr, Addr::Indirect { .. });
        src.region = self.region(inst.access, inst.exec_size, indirect);
        if src.file == RegFile::Grf || self.random.one_in(20) {
            src.negate = self.random.one_in(3);
            src.abs = self.random.one_in(4);
            if inst.access == AccessMode::Align16 {
                src.swizzle = self.swizzle();
            }
        }
        src
    }

    fn swizzle(&mut self) -> [u8; 4] {
        match self.random.below(3) {
            0 => Src::XYZW,
            1 => [self.random.below(4) as u8; 4],
            _ => [0; 4].map(|_: u8| self.random.below(4) as u8),
        }
    }

    fn basic(&mut self, row: &OpcodeDesc, inst: &mut Inst) {
        inst.num_src = row.nsrc;
        match row.opcode {
            Opcode::Wait => {
                let count = self.random.below(3) as u8;
                let (nr, subnr) = if self.v() >= 60 {
                    (0, count)
                } else {
                    (count, 0)
                };
                let ty = if self.random.one_in(8) {
                    Type::Ud
                } else {
                    Type::D
                };
                let addr = Addr::Direct {
                    nr: 0x90 | nr,
                    subnr,
                };
                *inst = Inst {
                    dst: Dst {
                        ty,
                        addr,
                        ..Dst::NULL
                    },
                    num_src: 1,
                    ..Inst::blank(Opcode::Wait)
                };
                inst.src[0] = Src {
                    ty,
                    addr,
                    ..Src::NULL
                };
            }
            Opcode::Ret => {
                inst.exec_size = 2;
                inst.src[0] = self.src(inst);
                inst.src[0].ty = Type::D;
                if inst.access == AccessMode::Align1 {
                    inst.src[0].region = Region {
                        vstride: 2,
                        width: 2,
                        hstride: 1,
                    };
                }
            }
            _ => {
                inst.dst = self.dst(inst.access);
                let last = usize::from(row.nsrc) - 1;
                for index in 0..last {
                    inst.src[index] = self.src(inst);
                }
                inst.src[last] = if self.random.one_in(3) {
                    self.immediate()
                } else {
                    self.src(inst)
                };
            }
        }
    }

    fn three(&mut self, inst: &mut Inst) {
        let v = self.v();
        let types = match v {
            0..70 => &[Type::F][..],
            70..80 => &[
                Type::F,
                Type::F,
                Type::D,
                Type::Ud,
                Type::F,
                Type::D,
                Type::Ud,
                Type::Df,
            ],
            _ => &[
                Type::F,
                Type::F,
                Type::D,
                Type::Ud,
                Type::F,
                Type::D,
                Type::Ud,
                Type::Hf,
            ],
        };
        inst.num_src = 3;
        inst.dst = Dst {
            file: RegFile::Grf,
            ty: self.random.pick(types),
            addr: Addr::Direct {
                nr: self.random.below(128) as u8,
                subnr: 4 * self.random.pick(&[0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7]),
            },
            writemask: self.random.below(16) as u8,
            ..Dst::NULL
        };
        if v < 70 && self.random.one_in(6) {
            inst.dst.file = RegFile::Mrf;
        }
        let ty = if self.random.one_in(4) {
            self.random.pick(types)
        } else {
            inst.dst.ty
        };
        for index in 0..3 {
            let replicate = self.random.one_in(3);
            inst.src[index] = Src {
                file: RegFile::Grf,
                ty,
                addr: Addr::Direct {
                    nr: self.random.below(128) as u8,
                    subnr: 4 * self.random.below(8) as u8,
                },
                region: if replicate {
                    Region::SCALAR
                } else {
                    Region::VEC4
                },
                swizzle: if replicate { Src::XYZW } else { self.swizzle() },
                negate: self.random.one_in(3),
                abs: self.random.one_in(3),
                imm: 0,
            };
        }
    }

    fn send(&mut self, inst: &mut Inst) {
        let v = self.v();
        inst.dst = self.dst(inst.access);
        inst.num_src = 1;
        let mut send = SendDesc {
            imm: Some(self.random.word()),
            ..SendDesc::default()
        };
        if v < 60 {
            send.mrf = self.random.below(16) as u8;
            inst.src[0] = self.src(inst);
        } else {
            inst.src[0] = Src {
                file: if v < 70 { RegFile::Mrf } else { RegFile::Grf },
                ty: if v < 70 { Type::D } else { Type::Ub },
                addr: Addr::Direct {
                    nr: self.random.below(if v < 70 { 16 } else { 128 }) as u8,
                    subnr: 0,
                },
                ..Src::NULL
            };
            if inst.access == AccessMode::Align16 {
                inst.src[0].region = Region {
                    vstride: 0,
                    ..Region::VEC4
                };
            }
        }
        if v >= 50 {
            send.sfid = self.random.below(16) as u8;
        }
        if self.random.one_in(4) {
            send.imm = None;
            inst.num_src = 2;
            inst.src[1] = if v < 60 {
                self.src(inst)
            } else {
                Src {
                    addr: Addr::Direct { nr: 0x10, subnr: 0 },
                    ..Src::NULL
                }
            };
            if v >= 60 && inst.access == AccessMode::Align16 {
                inst.src[1].region = Region {
                    vstride: 0,
                    ..Region::VEC4
                };
            }
        }
        if v >= 50 {
            send.eot = send.imm.map_or(self.random.one_in(4), |imm| imm >> 31 != 0);
        }
        inst.send = Some(send);
    }

    fn split(&mut self, inst: &mut Inst) {
        let mut direct = |file| {
            let nr = self.random.below(128) as u8;
            (file, Addr::Direct { nr, subnr: 0 })
        };
        (inst.dst.file, inst.dst.addr) = direct(RegFile::Grf);
        (inst.src[0].file, inst.src[0].addr) = direct(RegFile::Grf);
        (inst.src[1].file, inst.src[1].addr) = direct(RegFile::Grf);
        inst.num_src = 2;
        for src in &mut inst.src[..2] {
            src.region = Region::VEC8;
        }
        let desc = self.random.word();
        inst.send = Some(SendDesc {
            imm: Some(desc),
            mrf: 0,
            sfid: self.random.below(16) as u8,
            eot: desc >> 31 != 0,
            ex_desc: ExDesc::Imm(self.random.below(16) << 6),
        });
    }

    /// A distance in the generation's unit, most of them even.
    fn distance(&mut self) -> i32 {
        let range = self.random.pick(&[40, 4000, 16000]);
        let count = self.random.below(2 * range) as i32 - range as i32;
        if self.v() < 50 || self.random.one_in(30) {
            count
        } else {
            count * 2
        }
    }

    fn jump(&mut self, inst: &mut Inst) {
        inst.num_src = 2;
        if !self.random.one_in(20) {
            inst.exec_size = 1;
        }
        let addr = Addr::Direct { nr: 0xa0, subnr: 0 };
        inst.dst.addr = addr;
        inst.src[0].addr = addr;
        if self.random.one_in(3) {
            let mut only = *inst;
            only.exec_size = 1;
            inst.src[1] = self.src(&only);
            return;
        }
        let unit = match self.v() {
            0..50 => 1,
            50..75 => 2,
            _ => 16,
        };
        let jump = self.distance() * unit;
        inst.src[1] = Src {
            file: RegFile::Imm,
            ty: Type::D,
            imm: u64::from(jump as u32),
            ..Src::NULL
        };
        inst.branch = Some(Branch {
            jump,
            pop_or_uip: 0,
        });
    }

    fn flow(&mut self, row: &OpcodeDesc, inst: &mut Inst) {
        let v = self.v();
        let mut branch = Branch {
            jump: self.distance(),
            pop_or_uip: 0,
        };
        match row.format {
            Format::Branch => {
                branch.pop_or_uip = match row.opcode {
                    Opcode::Else => 1,
                    Opcode::If | Opcode::Iff | Opcode::While | Opcode::Endif => 0,
                    _ => self.random.below(16) as i32,
                };
                if row.opcode == Opcode::Endif && !self.random.one_in(8) {
                    branch.jump = 0;
                    let plain = Inst::blank(Opcode::Endif);
                    let thread_ctrl = inst.thread_ctrl;
                    *inst = Inst {
                        thread_ctrl,
                        ..plain
                    };
                }
            }
            Format::BranchUip | Format::BranchReg2 => {
                let uip = row.opcode != Opcode::Else || self.random.one_in(8);
                if uip && !self.random.one_in(20) {
                    branch.pop_or_uip = self.distance();
                }
            }
            Format::Call => {
                inst.dst = self.dst(inst.access);
                inst.dst.ty = Type::D;
                if !self.random.one_in(20) {
                    inst.exec_size = 2;
                }
            }
            _ => {}
        }
        if v >= 70
            && matches!(
                row.format,
                Format::BranchReg | Format::BranchReg2 | Format::Call
            )
            && self.random.one_in(10)
        {
            inst.num_src = 1;
            inst.src[0] = self.src(inst);
            // The null register stands for distances.
            while matches!(inst.src[0].addr, Addr::Direct { nr: 0, .. }) {
                inst.src[0] = self.src(inst);
            }
            return;
        }
        inst.branch = Some(branch);
    }
}
