//! Text of message descriptors.
//!
//! PRM: volume 4, 4.8.1.1, 5.10.1.1, 5.10.6.2, 6.1.1.1, 7.1.1, 8.4.2. Thread spawner fields are not
//! printed.

use super::Line;
use crate::inst::Verx10;
use crate::message::{
    DataPortReadDesc, DataPortWriteDesc, GatewayDesc, MathDesc, MessageDesc, SamplerDesc, Sfid,
    UrbDesc,
};

const MATH: [&str; 16] = [
    "",
    "inv",
    "log",
    "exp",
    "sqrt",
    "rsq",
    "sin",
    "cos",
    "sincos",
    "fdiv",
    "pow",
    "intdivmod",
    "intdiv",
    "intmod",
    "invm",
    "rsqrtm",
];
const RETURN_FORMAT: [&str; 4] = ["F", "", "UD", "D"];
const READ: [&str; 4] = [
    "OWord Block Read",
    "OWord Dual Block Read",
    "Media Block Read",
    "DWord Scattered Read",
];
const READ_G45: [&str; 8] = [
    "OWord Block Read",
    "Render Target UNORM Read",
    "OWord Dual Block Read",
    "AVC Loop Filter Read",
    "Media Block Read",
    "",
    "DWord Scattered Read",
    "",
];
const WRITE: [&str; 8] = [
    "OWord block write",
    "OWord dual block write",
    "media block write",
    "DWord scattered write",
    "RT write",
    "streamed VB write",
    "RT UNORM write",
    "flush render cache",
];
const RENDER_TARGET: [&str; 8] = [
    "SIMD16",
    "SIMD16/RepData",
    "SIMD8/DualSrcLow",
    "SIMD8/DualSrcHigh",
    "SIMD8",
    "SIMD8/ImageWrite",
    "",
    "SIMD16/RepData-111",
];
const GATEWAY: [&str; 4] = ["open", "close", "forward msg", "(null)"];
const SWIZZLE: [&str; 4] = ["", "interleave", "transpose", ""];

/// A word from a table; empty entries past the first are reserved codes.
fn named(line: &mut Line, what: &str, table: &[&str], code: u32, reserved: &[u32]) {
    match table.get(code as usize) {
        Some(name) if !reserved.contains(&code) => line.word(name),
        _ => line.fmt(format_args!("*** invalid {what} value {code} ")),
    }
}

pub(super) fn print(line: &mut Line, generation: Verx10, raw: u32, immediate: bool) {
    let desc = MessageDesc(raw);
    let sfid = desc.sfid();
    match sfid {
        Some(sfid) => line.put(sfid.name()),
        None if desc.target() == 8 => line.put("vme"),
        None => line.fmt(format_args!("*** invalid SFID value {} ", desc.target())),
    }
    line.put(" MsgDesc:");
    if !immediate {
        line.put(" indirect");
        return;
    }
    match sfid {
        Some(Sfid::Math) => math(line, MathDesc(raw)),
        Some(Sfid::Sampler) => sampler(line, generation, SamplerDesc(raw)),
        Some(Sfid::Gateway) => {
            let name = GATEWAY[(GatewayDesc(raw).subfunction() & 3) as usize];
            line.fmt(format_args!(" ({name})"));
        }
        Some(Sfid::DataPortRead) => read(line, generation, DataPortReadDesc(raw)),
        Some(Sfid::DataPortWrite) => write(line, DataPortWriteDesc(raw)),
        Some(Sfid::Urb) => urb(line, UrbDesc(raw)),
        Some(Sfid::ThreadSpawner) => {}
        Some(Sfid::Null) | None => {
            line.fmt(format_args!(
                "unsupported shared function ID {}",
                desc.target()
            ));
        }
    }
    let (mlen, rlen) = (desc.message_length(), desc.response_length());
    line.fmt(format_args!(" mlen {mlen} rlen {rlen}"));
}

fn flag(line: &mut Line, set: bool, name: &str) {
    if set {
        line.word(name);
    }
}

fn math(line: &mut Line, desc: MathDesc) {
    named(line, "math function", &MATH, desc.function(), &[0]);
    flag(line, desc.saturate(), "sat");
    flag(line, desc.signed(), "signed");
    flag(line, desc.scalar(), "scalar");
    flag(line, desc.partial_precision(), "partial_precision");
}

fn sampler(line: &mut Line, generation: Verx10, desc: SamplerDesc) {
    let (bti, sampler) = (desc.binding_table_index(), desc.sampler());
    if generation.0 >= 45 {
        let ty = desc.message_type_g45();
        line.fmt(format_args!(
            " (bti {bti}, sampler {sampler}, msg_type {ty}, )"
        ));
        return;
    }
    let ty = desc.message_type();
    line.fmt(format_args!(
        " (bti {bti}, sampler {sampler}, msg_type {ty},"
    ));
    named(
        line,
        "sampler target format",
        &RETURN_FORMAT,
        desc.return_format(),
        &[1],
    );
    line.put(")");
}

fn read(line: &mut Line, generation: Verx10, desc: DataPortReadDesc) {
    let control = if generation.0 >= 45 {
        named(
            line,
            "DP read message type",
            &READ_G45,
            desc.message_type_g45(),
            &[5, 7],
        );
        desc.message_control_g45()
    } else {
        named(
            line,
            "DP read message type",
            &READ,
            desc.message_type(),
            &[],
        );
        desc.message_control()
    };
    line.fmt(format_args!(
        " MsgCtrl = 0x{control} Surface = {}",
        desc.binding_table_index()
    ));
}

fn write(line: &mut Line, desc: DataPortWriteDesc) {
    named(line, "DP rc message type", &WRITE, desc.message_type(), &[]);
    if desc.message_type() == DataPortWriteDesc::RENDER_TARGET_WRITE {
        named(
            line,
            "RT message type",
            &RENDER_TARGET,
            desc.render_target_type(),
            &[6],
        );
        flag(line, desc.last_render_target(), "LastRT");
        flag(line, desc.send_write_commit(), "WriteCommit");
    } else {
        line.fmt(format_args!(" MsgCtrl = 0x{}", desc.message_control()));
    }
    line.fmt(format_args!(" Surface = {}", desc.binding_table_index()));
}

fn urb(line: &mut Line, desc: UrbDesc) {
    line.fmt(format_args!(" offset {}", desc.offset()));
    named(
        line,
        "urb opcode",
        &["urb_write", "ff_sync"],
        desc.opcode(),
        &[],
    );
    named(line, "urb swizzle", &SWIZZLE, desc.swizzle(), &[3]);
    flag(line, desc.allocate(), "allocate");
    flag(line, desc.used(), "used");
    flag(line, desc.complete(), "complete");
}
