//! Breakpoints, halts at dispatch, exceptions: which thread stops where.
//!
//! PRM vol4 3.4.1, 3.4.4, 3.6. Not modelled: a record of which breakpoint it was; the hardware has none.
use isa::Inst;
use kernel::error::{Result, code::EINVAL};
use kernel::tock_registers::interfaces::{ReadWriteable, Readable, Writeable};

use crate::intel::registers::fields::{
    ISC_L1CA_BP_ADR1 as Address1, ISC_L1CA_BP_ADR2 as Address2, ISC_L1CA_BP_OPC1 as Opcode1,
    ISC_L1CA_BP_OPC2 as Opcode2, SVG_WORK_CTL as SvgWork, TD_CTL as TdCtl, TD_CTL2 as TdCtl2,
};
use crate::intel::registers::reg::{
    ISC_L1CA_BP_ADR1, ISC_L1CA_BP_ADR2, ISC_L1CA_BP_OPC1, ISC_L1CA_BP_OPC2, SVG_WORK_CTL,
    TD_0_6_EHTRG_MSK, TD_0_6_EHTRG_VAL, TD_0_7_EHTRG_MSK, TD_0_7_EHTRG_VAL, TD_CLIP_EMSK, TD_CTL,
    TD_CTL2, TD_GS_EMSK, TD_SF_EMSK, TD_TS_EMSK, TD_VF_VS_EMSK, TD_WIZ_EMSK,
};
use crate::intel::uncore::Uncore;

/// One of the two registers of a kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Which {
    /// The first.
    First,
    /// The second.
    Second,
}

/// Threads that take breakpoints, decided when a thread is dispatched.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Threads {
    /// None.
    None,
    /// Those that a snapshot has flagged.
    Flagged,
    /// All.
    All,
}

/// Values that r0.6 and r0.7 of a thread are compared with: bits 23:0, where the mask is one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct HaltMatch {
    /// Value and mask of r0.6.
    pub r0_6: (u32, u32),
    /// Value and mask of r0.7.
    pub r0_7: (u32, u32),
}

/// Exceptions that threads take, whatever their unit state says.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Exceptions {
    /// Illegal opcode.
    pub illegal_opcode: bool,
    /// Mask stack over- and underflow.
    pub mask_stack: bool,
    /// Software exception.
    pub software: bool,
}

/// A unit that asks for threads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ThreadUnit {
    /// Vertex shader.
    Vs,
    /// Geometry shader.
    Gs,
    /// Clipper.
    Clip,
    /// Strips and fans.
    Sf,
    /// Windower.
    Wiz,
    /// Thread spawner.
    Ts,
}

impl ThreadUnit {
    /// All of them.
    pub const ALL: [ThreadUnit; 6] = [
        ThreadUnit::Vs,
        ThreadUnit::Gs,
        ThreadUnit::Clip,
        ThreadUnit::Sf,
        ThreadUnit::Wiz,
        ThreadUnit::Ts,
    ];
}

/// Width of the compare values.
const COMPARED: u32 = 0x00ff_ffff;

/// Sets a breakpoint on a linear address, a multiple of 16; `None` removes it. `EINVAL` for other addresses.
pub fn set_address(uncore: &Uncore, which: Which, address: Option<u32>) -> Result {
    if address.is_some_and(|address| address % 16 != 0) {
        return Err(EINVAL);
    }
    let line = address.unwrap_or(0) >> 4;
    match which {
        Which::First => uncore.reg(ISC_L1CA_BP_ADR1).write(
            Address1::BREAKPOINT_ADDRESS_1.val(line)
                + Address1::BPIP_1_ENABLE.val(address.is_some().into()),
        ),
        Which::Second => uncore.reg(ISC_L1CA_BP_ADR2).write(
            Address2::BREAKPOINT_ADDRESS_2.val(line)
                + Address2::BPIP_2_ENABLE.val(address.is_some().into()),
        ),
    }
    Ok(())
}

/// Sets a breakpoint on an opcode as the hardware numbers it; `None` removes it. `EINVAL` above 127.
pub fn set_opcode(uncore: &Uncore, which: Which, opcode: Option<u8>) -> Result {
    if opcode.is_some_and(|opcode| opcode > 0x7f) {
        return Err(EINVAL);
    }
    let value = opcode.unwrap_or(0).into();
    let enable = opcode.is_some().into();
    match which {
        Which::First => uncore.reg(ISC_L1CA_BP_OPC1).modify(
            Opcode1::BREAKPOINT_OPCODE_1.val(value)
                + Opcode1::BREAKPOINT_OPCODE_1_ENABLE.val(enable),
        ),
        Which::Second => uncore.reg(ISC_L1CA_BP_OPC2).write(
            Opcode2::BREAKPOINT_OPCODE_2.val(value)
                + Opcode2::BREAKPOINT_OPCODE_2_ENABLE.val(enable),
        ),
    }
    Ok(())
}

/// Sets a breakpoint on messages that end a thread.
pub fn set_end_of_thread(uncore: &Uncore, on: bool) {
    uncore
        .reg(ISC_L1CA_BP_OPC1)
        .modify(Opcode1::BREAKPOINT_OPCODE_1_EOT_ENABLE.val(on.into()));
}

/// Chooses the threads that take breakpoints.
pub fn set_threads(uncore: &Uncore, threads: Threads) {
    uncore.reg(TD_CTL).modify(
        TdCtl::BREAKPOINT_ENABLE.val((threads == Threads::Flagged).into())
            + TdCtl::FORCE_THREAD_BREAKPOINT_ENABLE.val((threads == Threads::All).into()),
    );
}

/// Halts the next thread before its first instruction.
pub fn halt_next(uncore: &Uncore) {
    // The bit acts when it is written: off first, in case it is on from before.
    uncore.reg(TD_CTL).modify(TdCtl::FORCE_EXTERNAL_HALT::CLEAR);
    uncore.reg(TD_CTL).modify(TdCtl::FORCE_EXTERNAL_HALT::SET);
}

/// Takes [`halt_next`] back.
pub fn halt_no_more(uncore: &Uncore) {
    uncore.reg(TD_CTL).modify(TdCtl::FORCE_EXTERNAL_HALT::CLEAR);
}

/// Halts threads whose debug dwords match before their first instruction; `None` no more.
pub fn halt_on_match(uncore: &Uncore, halt: Option<HaltMatch>) {
    if let Some(halt) = halt {
        uncore.write(TD_0_6_EHTRG_VAL, halt.r0_6.0 & COMPARED);
        uncore.write(TD_0_7_EHTRG_VAL, halt.r0_7.0 & COMPARED);
        uncore.write(TD_0_6_EHTRG_MSK, halt.r0_6.1 & COMPARED);
        uncore.write(TD_0_7_EHTRG_MSK, halt.r0_7.1 & COMPARED);
    }
    uncore
        .reg(TD_CTL)
        .modify(TdCtl::EXTERNAL_HALT_ON_R0_DEBUG_MATCH.val(halt.is_some().into()));
}

/// Chooses the exceptions of all threads; `None` leaves them to the unit state.
pub fn override_exceptions(uncore: &Uncore, exceptions: Option<Exceptions>) {
    if let Some(on) = exceptions {
        uncore.reg(TD_CTL2).modify(
            TdCtl2::ILLEGAL_OPCODE_EXCEPTION_OVERRIDE.val(on.illegal_opcode.into())
                + TdCtl2::MASKSTACK_EXCEPTION_OVERRIDE.val(on.mask_stack.into())
                + TdCtl2::SOFTWARE_EXCEPTION_OVERRIDE.val(on.software.into()),
        );
    }
    uncore
        .reg(TD_CTL)
        .modify(TdCtl::EXCEPTION_MASK_OVERRIDE.val(exceptions.is_some().into()));
}

/// Limits the threads of an EU; `None` does not. `EINVAL` above 7.
pub fn limit_threads(uncore: &Uncore, limit: Option<u8>) -> Result {
    if limit.is_some_and(|limit| limit > 7) {
        return Err(EINVAL);
    }
    uncore.reg(TD_CTL2).modify(
        TdCtl2::ACTIVE_THREAD_LIMIT.val(limit.unwrap_or(0).into())
            + TdCtl2::ACTIVE_THREAD_LIMIT_ENABLE.val(limit.is_some().into()),
    );
    Ok(())
}

/// Keeps the threads of a unit to the EUs of a mask; `None` does not.
pub fn restrict(uncore: &Uncore, unit: ThreadUnit, eus: Option<u16>) {
    let (register, enable) = match unit {
        ThreadUnit::Vs => (TD_VF_VS_EMSK.offset(), TdCtl2::VS_EXECUTION_MASK_ENABLE),
        ThreadUnit::Gs => (TD_GS_EMSK.offset(), TdCtl2::GS_EXECUTION_MASK_ENABLE),
        ThreadUnit::Clip => (TD_CLIP_EMSK.offset(), TdCtl2::CLIPPER_EXECUTION_MASK_ENABLE),
        ThreadUnit::Sf => (TD_SF_EMSK.offset(), TdCtl2::SF_EXECUTION_MASK_ENABLE),
        ThreadUnit::Wiz => (TD_WIZ_EMSK.offset(), TdCtl2::WIZ_EXECUTION_MASK_ENABLE),
        ThreadUnit::Ts => (
            TD_TS_EMSK.offset(),
            TdCtl2::THREAD_SPAWNER_EXECUTION_MASK_ENABLE,
        ),
    };
    let mask = eus.unwrap_or(0).into();
    uncore.io().write32(mask, register as usize);
    uncore.reg(TD_CTL2).modify(enable.val(eus.is_some().into()));
}

/// Whether an instruction at a linear address stops a thread that takes breakpoints.
pub fn stops(uncore: &Uncore, address: u32, opcode: u8, inst: Option<&Inst>) -> bool {
    let first = uncore.reg(ISC_L1CA_BP_ADR1);
    let second = uncore.reg(ISC_L1CA_BP_ADR2);
    let (one, two) = (uncore.reg(ISC_L1CA_BP_OPC1), uncore.reg(ISC_L1CA_BP_OPC2));
    let line = address >> 4;
    let ends = inst.is_some_and(ends_thread);
    let (first, second) = (first.extract(), second.extract());
    let (one, two) = (one.extract(), two.extract());
    (first.is_set(Address1::BPIP_1_ENABLE) && first.read(Address1::BREAKPOINT_ADDRESS_1) == line)
        || (second.is_set(Address2::BPIP_2_ENABLE)
            && second.read(Address2::BREAKPOINT_ADDRESS_2) == line)
        || (one.is_set(Opcode1::BREAKPOINT_OPCODE_1_ENABLE)
            && one.read(Opcode1::BREAKPOINT_OPCODE_1) == opcode.into())
        || (one.is_set(Opcode1::BREAKPOINT_OPCODE_1_EOT_ENABLE) && ends)
        || (two.is_set(Opcode2::BREAKPOINT_OPCODE_2_ENABLE)
            && two.read(Opcode2::BREAKPOINT_OPCODE_2) == opcode.into())
        || inst.is_some_and(|inst| inst.debug_ctrl)
}

/// Whether an instruction ends its thread: the end bit of a message, in the descriptor up to G45.
pub fn ends_thread(inst: &Inst) -> bool {
    inst.send
        .is_some_and(|send| send.eot || send.imm.is_some_and(|desc| desc >> 31 != 0))
}

/// Lets threads reach memory without a surface, as the system routine does.
pub fn allow_stateless(uncore: &Uncore) {
    uncore
        .reg(SVG_WORK_CTL)
        .modify(SvgWork::DAP_STATELESS_ACCESS::SET);
}

/// The registers of this file that a session changes, in the order in which they are put back.
const OFFSETS: [u32; 17] = [
    ISC_L1CA_BP_ADR1.offset(),
    ISC_L1CA_BP_ADR2.offset(),
    ISC_L1CA_BP_OPC1.offset(),
    ISC_L1CA_BP_OPC2.offset(),
    TD_CTL.offset(),
    TD_CTL2.offset(),
    TD_VF_VS_EMSK.offset(),
    TD_GS_EMSK.offset(),
    TD_CLIP_EMSK.offset(),
    TD_SF_EMSK.offset(),
    TD_WIZ_EMSK.offset(),
    TD_TS_EMSK.offset(),
    TD_0_6_EHTRG_VAL.offset(),
    TD_0_7_EHTRG_VAL.offset(),
    TD_0_6_EHTRG_MSK.offset(),
    TD_0_7_EHTRG_MSK.offset(),
    SVG_WORK_CTL.offset(),
];

/// What the registers held before a session.
#[derive(Clone, Copy, Debug)]
pub struct Before([u32; OFFSETS.len()]);

impl Before {
    /// Takes the values.
    pub fn take(uncore: &Uncore) -> Self {
        Before(OFFSETS.map(|offset| uncore.io().read32(offset as usize)))
    }

    /// Puts them back.
    pub fn restore(&self, uncore: &Uncore) {
        for (offset, value) in OFFSETS.iter().zip(self.0) {
            uncore.io().write32(value, *offset as usize);
        }
    }
}
