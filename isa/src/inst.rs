//! One decoded EU instruction, the same type for every generation.
//!
//! PRM: volume 4, 13.2 (machine formats).

use crate::operand::{Dst, Src};
pub use crate::tables::Verx10;

/// Opcode; the number it has in a generation is in the table of that generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(
    missing_docs,
    reason = "the manual's mnemonics; described in the opcode table"
)]
pub enum Opcode {
    Illegal,
    Mov,
    Sel,
    Not,
    And,
    Or,
    Xor,
    Shr,
    Shl,
    Rsr,
    Rsl,
    Asr,
    Cmp,
    Cmpn,
    Jmpi,
    If,
    Iff,
    Else,
    Endif,
    Do,
    While,
    Break,
    Cont,
    Halt,
    Msave,
    Mrest,
    Push,
    Pop,
    Wait,
    Send,
    Sendc,
    Math,
    Add,
    Mul,
    Avg,
    Frc,
    Rndu,
    Rndd,
    Rnde,
    Rndz,
    Mac,
    Mach,
    Lzd,
    Sad2,
    Sada2,
    Dp4,
    Dph,
    Dp3,
    Dp2,
    Line,
    Pln,
    Nop,
    // Gen6 and later; no Gen4 table lists them.
    Call,
    Ret,
    Addc,
    Subb,
    Bfe,
    Bfi1,
    Bfi2,
    Bfrev,
    Cbit,
    Fbh,
    Fbl,
    F16to32,
    F32to16,
    Mad,
    Lrp,
    Dim,
    Movi,
    Brc,
    Brd,
    Csel,
    Smov,
    Sends,
    Sendsc,
    Madm,
    Nenop,
    Case,
    Fork,
    Calla,
    Goto,
    Join,
}

impl Opcode {
    /// How many opcodes there are; `opcode as usize` is below it.
    pub const COUNT: usize = Opcode::Join as usize + 1;
}

/// Access mode (PRM 11.3.8).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AccessMode {
    /// Byte-aligned operands with full regioning.
    Align1,
    /// 16-byte aligned operands with swizzle and channel enables.
    Align16,
}

/// Compression control (PRM 11.5). Later generations map their quarter control here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Compression {
    /// Not compressed, first half of the masks and flags.
    None,
    /// Not compressed, second half (`sechalf`).
    SecHalf,
    /// Compressed: executes as two halves.
    Compressed,
}

/// Thread control (PRM 13.2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ThreadCtrl {
    /// Normal.
    Normal,
    /// `atomic`: no thread switch after this instruction.
    Atomic,
    /// `switch`: forced thread switch.
    Switch,
}

/// Predicate control (PRM 11.4); the align1 and align16 meanings share encodings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(
    missing_docs,
    reason = "names are the manual's: .anyv .any2h .xyzw ..."
)]
pub enum PredCtrl {
    None,
    Normal,
    AnyV,
    AllV,
    Any2h,
    All2h,
    Any4h,
    All4h,
    Any8h,
    All8h,
    Any16h,
    All16h,
    Any32h,
    All32h,
    ReplX,
    ReplY,
    ReplZ,
    ReplW,
    AlignAny4h,
    AlignAll4h,
}

/// Conditional modifier (PRM 11.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(
    missing_docs,
    reason = "names are the manual's: .z .nz .g .ge .l .le .r .o .u"
)]
pub enum CondMod {
    None,
    Z,
    Nz,
    G,
    Ge,
    L,
    Le,
    R,
    O,
    U,
}

/// Extended descriptor of a `send` (Gen9).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum ExDesc {
    /// The generation has none.
    #[default]
    None,
    /// The dword as an immediate, without the target and the end-of-thread bit, which have their
    /// own fields.
    Imm(u32),
    /// Address subregister that holds it, in words.
    Reg(u8),
}

/// Descriptor fields of a `send` (PRM 2.6.2, 13.2.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct SendDesc {
    /// The descriptor dword as an immediate, end-of-thread bit included; `None` when it comes from
    /// a register (src1, or a0.0 for the split send of Gen9).
    pub imm: Option<u32>,
    /// First message register (Gen4-5); later payloads are src0.
    pub mrf: u8,
    /// Target unit. Gen5 on; Gen4 has it in the descriptor, and this is 0.
    pub sfid: u8,
    /// End of thread, beside a register descriptor too. Gen5 on; on Gen4 it is bit 31 of the
    /// descriptor, and this is false.
    pub eot: bool,
    /// Extended descriptor.
    pub ex_desc: ExDesc,
}

/// Jump fields of the flow-control instructions (Gen4: signed jump count and pop count).
/// Distances are in the generation's unit: Gen4 128-bit instructions, Gen5 to 7 halves of them,
/// Gen8 on bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Branch {
    /// Jump distance, relative to the next instruction for `jmpi` and to this instruction
    /// elsewhere. Gen6 on: JIP.
    pub jump: i32,
    /// Gen4-5: mask stack entries to pop. Gen6 on: UIP.
    pub pop_or_uip: i32,
}

/// One decoded instruction. `raw` of the encoder can be rebuilt from it exactly, except for bits
/// that the manual reserves; those are kept in `reserved`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Inst {
    /// Opcode.
    pub opcode: Opcode,
    /// Access mode.
    pub access: AccessMode,
    /// `MaskCtrl` = NoMask: write enables ignore the channel masks.
    pub no_mask: bool,
    /// `NoDDClr`: leave the destination dependency set.
    pub no_dd_clr: bool,
    /// `NoDDChk`: do not check the destination dependency.
    pub no_dd_chk: bool,
    /// Compression control (Gen4-5; `None` later).
    pub compression: Compression,
    /// Quarter control, the first channel group in eights: 0 to 3 (Gen6 on; 0 before).
    pub qtr_ctrl: u8,
    /// Nibble control: the second four channels of the quarter (Gen7 on).
    pub nib_ctrl: bool,
    /// Thread control.
    pub thread_ctrl: ThreadCtrl,
    /// Predicate control.
    pub pred_ctrl: PredCtrl,
    /// Predicate inverse.
    pub pred_inv: bool,
    /// Flag register used for predicate and conditional modifier (0; also 1 from Gen7).
    pub flag_reg: u8,
    /// Flag subregister used for predicate and conditional modifier (f0.0 or f0.1).
    pub flag_subreg: u8,
    /// Execution size in channels: 1, 2, 4, 8, 16 (32 from Gen7).
    pub exec_size: u8,
    /// Conditional modifier.
    pub cond_mod: CondMod,
    /// Function of the `math` instruction (Gen6 on), in the place of the conditional modifier.
    pub math: Option<u8>,
    /// Saturate.
    pub saturate: bool,
    /// Accumulator write control (Gen6 on).
    pub acc_wr_ctrl: bool,
    /// Branch control (Gen8 on).
    pub branch_ctrl: bool,
    /// `MaskCtrlEx` (G45 and Ironlake).
    pub mask_ctrl_ex: bool,
    /// `DebugCtrl`: breakpoint on this instruction.
    pub debug_ctrl: bool,
    /// Destination.
    pub dst: Dst,
    /// Sources; unused ones are the null register.
    pub src: [Src; 3],
    /// Number of sources that the opcode reads.
    pub num_src: u8,
    /// Present on `send`.
    pub send: Option<SendDesc>,
    /// Present on flow control with jump fields (not on `do`, nor on `jmpi` by register).
    pub branch: Option<Branch>,
    /// Bits of the encoding that the format does not define, kept for a faithful round trip: where
    /// they differ from what the encoder writes by itself. Zero in a new instruction.
    pub reserved: [u32; 4],
}
