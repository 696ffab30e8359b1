//! Text of a send's descriptors and of the message that they describe.
//!
//! PRM: volume 4, 13.4 and 2.6.2; split sends of Gen9 as in Mesa 22.3.6 `brw_disasm.c`. The message
//! text is Mesa's, without what [`crate::message::describe`] appends: the number stands before it.

use super::{Line, operand};
use crate::encode::encode;
use crate::inst::{ExDesc, Inst, Opcode, SendDesc, Verx10};
use crate::message::describe;

const EOT: u32 = 1 << 31;

pub(super) fn descriptors(line: &mut Line, generation: Verx10, inst: &Inst) {
    let Some(send) = inst.send else { return };
    let split = matches!(inst.opcode, Opcode::Sends | Opcode::Sendsc);
    let ex_desc = if split {
        line.pad(64);
        match send.imm {
            Some(imm) => line.uncounted(format_args!("{:#010x}", imm & !EOT)),
            None => address(line, 0),
        }
        line.pad(80);
        extended(line, send.ex_desc)
    } else {
        line.pad(48);
        if send.imm.is_none() {
            operand::src(line, generation, inst, 1);
            line.pad(64);
        }
        let raw = word(generation, inst, &send);
        line.uncounted(format_args!("{raw:#010x}"));
        // Mesa has no text for this.
        if let ExDesc::Imm(1..) = send.ex_desc {
            line.pad(64);
            extended(line, send.ex_desc);
        }
        None
    };
    line.newline();
    line.pad(16);
    line.uncounted(format_args!("            "));
    let message = describe(generation, send.sfid, send.imm, ex_desc);
    if send.imm.is_none() && !generation.has().send_target {
        // The descriptor's register has the target too; the text needs a name.
        let sfid = (word(generation, inst, &send) >> 24 & 0xf) as u8;
        let message = describe(generation, sfid, None, ex_desc);
        return line.fmt(format_args!("{message:#}"));
    }
    line.fmt(format_args!("{message:#}"));
}

/// The extended descriptor; the value if it is an immediate.
fn extended(line: &mut Line, ex_desc: ExDesc) -> Option<u32> {
    match ex_desc {
        // The text counts doublewords, as its type says.
        ExDesc::Reg(words) => {
            address(line, words / 2);
            None
        }
        ExDesc::Imm(value) => {
            line.uncounted(format_args!("{value:#010x}"));
            Some(value)
        }
        ExDesc::None => {
            line.uncounted(format_args!("{:#010x}", 0));
            Some(0)
        }
    }
}

fn address(line: &mut Line, subreg: u8) {
    line.put("a0");
    if subreg != 0 {
        line.fmt(format_args!(".{subreg}"));
    }
    line.put("<0>UD");
}

/// The last word, which holds the descriptor or the register that the descriptor is in.
fn word(generation: Verx10, inst: &Inst, send: &SendDesc) -> u32 {
    send.imm
        .unwrap_or_else(|| encode(generation, inst).map_or(0, |raw| raw[3]))
}
