//! The send instructions: payload, response, end of thread, descriptor operand.
//!
//! PRM: volume 4, 2.6 and 14.2.41; later generations from Mesa 22.3.6 brw_eu_validate.c. What a
//! shared function asks of its message is in `message`.

use crate::inst::{CondMod, ExDesc};
use crate::message::Header;
use crate::operand::{Addr, RegFile, Region, Type};
use crate::tables::Features;

use super::context::{Context, arf, direct, is_indirect, is_null, is_null_dst};
use super::{Detail, Generations, Place, Rule};

const VALIDATE: &str = "Mesa 22.3.6 brw_eu_validate.c send_restrictions";

pub(super) const RULES: &[Rule] = &[
    Rule::inst(
        "send-direct",
        Generations::ALL,
        "Mesa 22.3.6 brw_eu_validate.c send_restrictions",
        "the payload operand of a send is direct",
        payload_direct,
    ),
    Rule::inst(
        "send-payload-file",
        Generations::since(60),
        VALIDATE,
        "the payload of a send is in general registers; on 6.0 also in message registers",
        payload_file,
    ),
    Rule::inst(
        "send-implied-move",
        Generations::until(50),
        "PRM vol4 2.6.2, 11.3.4.3",
        "source 0 of a send is a general register, or null for no move",
        implied_move,
    ),
    Rule::inst(
        "send-message-length",
        Generations::ALL,
        "PRM vol4 2.6",
        "a message has 1 to 15 registers",
        message_length,
    ),
    Rule::inst(
        "send-response-length",
        Generations::ALL,
        "PRM vol4 2.6.5; Mesa 22.3.6 brw_inst.h",
        "a response has at most 16 registers",
        response_length,
    ),
    Rule::inst(
        "send-payload-range",
        Generations::ALL,
        "PRM vol4 2.6.1, 11.3.2, 11.3.3",
        "the payload ends with the register file",
        payload_range,
    ),
    Rule::inst(
        "send-response-range",
        Generations::ALL,
        "PRM vol4 11.3.2",
        "the response ends with the register file",
        response_range,
    ),
    Rule::inst(
        "send-null-response",
        Generations::until(60),
        "PRM vol4 2.6.5",
        "a send to null asks for no response",
        null_response,
    ),
    Rule::inst(
        "send-missing-destination",
        Generations::until(50),
        "PRM vol4 2.6.5",
        "a send without a response has a null destination",
        missing_destination,
    ),
    Rule::inst(
        "send-whole-registers",
        Generations::since(60),
        "PRM vol4 2.6.5; Mesa 22.3.6 brw_eu_emit.c brw_set_src0",
        "response and payload are whole registers",
        whole_registers,
    ),
    Rule::inst(
        "send-end-destination",
        Generations::ALL,
        "PRM vol4 2.6.8",
        "a send that ends the thread has a null destination",
        end_destination,
    ),
    Rule::inst(
        "send-end-response",
        Generations::ALL,
        "PRM vol4 2.6.8, 8.4.2",
        "a send that ends the thread asks for no response",
        end_response,
    ),
    Rule::inst(
        "send-end-descriptor",
        Generations::until(40),
        "PRM vol4 2.6.8",
        "the end of the thread is only seen in an immediate descriptor",
        end_descriptor,
    ),
    Rule::inst(
        "send-end-target",
        Generations::until(50),
        "PRM vol4 2.6.8, 6.1",
        "a thread ends with a message to null, data port write, URB, gateway or thread spawner",
        end_target,
    ),
    Rule::inst(
        "send-end-registers",
        Generations::since(70),
        VALIDATE,
        "the payload of a send that ends the thread is in r112 to r127",
        end_registers,
    ),
    Rule::inst(
        "send-descriptor-register",
        Generations::ALL,
        "PRM vol4 11.3.4.4",
        "a descriptor register is a0.0<0;1,0>:ud",
        descriptor_register,
    ),
    Rule::inst(
        "send-extended-register",
        Generations::since(90),
        "Mesa 22.3.6 brw_eu_emit.c brw_send_indirect_split_message",
        "an extended descriptor register is a doubleword of a0",
        extended_register,
    ),
    Rule::inst(
        "send-plain",
        Generations::since(60),
        "Mesa 22.3.6 brw_eu_emit.c brw_set_src0",
        "a send, which no longer moves its source, has neither source modifiers nor a condition",
        plain,
    ),
    Rule::inst(
        "send-last-register",
        Generations::since(80),
        VALIDATE,
        "r127 takes no response that overlaps the payload",
        last_register,
    ),
    Rule::inst(
        "send-split-file",
        Generations::since(90),
        VALIDATE,
        "the second payload of a split send is in general registers, or null",
        split_file,
    ),
    Rule::inst(
        "send-split-overlap",
        Generations::since(90),
        VALIDATE,
        "the payloads of a split send do not overlap",
        split_overlap,
    ),
    Rule::inst(
        "send-split-range",
        Generations::since(90),
        "PRM vol4 11.3.2",
        "the second payload ends with the register file",
        split_range,
    ),
];

/// What the immediate descriptor of a send says.
pub(super) fn message(cx: &Context<'_>) -> Option<Header> {
    let send = cx.inst.send.filter(|_| cx.is_send())?;
    Header::of(cx.part.generation, &send)
}

/// Whether the send ends the thread.
pub(super) fn ends_thread(has: &Features, inst: &crate::inst::Inst) -> bool {
    inst.send.is_some_and(|send| {
        send.eot || (!has.send_target && send.imm.is_some_and(|desc| desc >> 31 != 0))
    })
}

fn ends(cx: &Context<'_>) -> bool {
    cx.is_send() && ends_thread(cx.has(), cx.inst)
}

fn payload_direct(cx: &Context<'_>) -> Option<Detail> {
    (cx.is_send() && !cx.is_split_send() && is_indirect(cx.inst.src[0].addr))
        .then(|| Detail::new(Place::Src0))
}

fn payload_file(cx: &Context<'_>) -> Option<Detail> {
    let src = &cx.inst.src[0];
    let legal = match src.file {
        RegFile::Grf => true,
        RegFile::Mrf => cx.has().payload_in_mrf,
        _ => cx.is_split_send() && is_null(src),
    };
    (cx.is_send() && !legal).then(|| Detail::new(Place::Src0))
}

fn implied_move(cx: &Context<'_>) -> Option<Detail> {
    let src = &cx.inst.src[0];
    let legal = src.file == RegFile::Grf || is_null(src);
    (cx.is_send() && !legal).then(|| Detail::new(Place::Src0))
}

fn message_length(cx: &Context<'_>) -> Option<Detail> {
    let length = message(cx)?.length;
    (length == 0).then(|| Detail::new(Place::Instruction).with("message length", length))
}

fn response_length(cx: &Context<'_>) -> Option<Detail> {
    let length = message(cx)?.response;
    (length > 16).then(|| Detail::new(Place::Instruction).with("response length", length))
}

fn payload_range(cx: &Context<'_>) -> Option<Detail> {
    let length = message(cx)?.length;
    let src = &cx.inst.src[0];
    let source = direct(src.addr).map_or(0, |(nr, _)| u32::from(nr));
    let (first, registers) = match (cx.has().send_mrf, src.file) {
        (true, _) => (u32::from(cx.inst.send?.mrf), 16),
        (_, RegFile::Mrf) => (source, 24),
        (_, RegFile::Grf) => (source, 128),
        _ => return None,
    };
    (first + length > registers).then(|| {
        Detail::new(Place::Src0)
            .with("first register", first)
            .with("message length", length)
    })
}

fn response_range(cx: &Context<'_>) -> Option<Detail> {
    let response = message(cx)?.response;
    let dst = &cx.inst.dst;
    let (nr, _) = direct(dst.addr).filter(|_| dst.file == RegFile::Grf)?;
    (u32::from(nr) + response > 128).then(|| {
        Detail::new(Place::Dst)
            .with("first register", nr)
            .with("response length", response)
    })
}

fn null_response(cx: &Context<'_>) -> Option<Detail> {
    let response = message(cx)?.response;
    (is_null_dst(&cx.inst.dst) && response != 0)
        .then(|| Detail::new(Place::Dst).with("response length", response))
}

fn missing_destination(cx: &Context<'_>) -> Option<Detail> {
    let response = message(cx)?.response;
    (!is_null_dst(&cx.inst.dst) && response == 0).then(|| Detail::new(Place::Dst))
}

fn whole_registers(cx: &Context<'_>) -> Option<Detail> {
    if !cx.is_send() {
        return None;
    }
    let dst = &cx.inst.dst;
    let off = |file, addr| {
        direct(addr)
            .filter(|&(_, subnr)| file == RegFile::Grf && subnr != 0)
            .map(|(_, subnr)| subnr)
    };
    let src = &cx.inst.src[0];
    off(dst.file, dst.addr)
        .map(|subnr| Detail::new(Place::Dst).with("byte offset", subnr))
        .or_else(|| {
            let subnr = off(src.file, src.addr)?;
            Some(Detail::new(Place::Src0).with("byte offset", subnr))
        })
}

fn end_destination(cx: &Context<'_>) -> Option<Detail> {
    (ends(cx) && !is_null_dst(&cx.inst.dst)).then(|| Detail::new(Place::Dst))
}

fn end_response(cx: &Context<'_>) -> Option<Detail> {
    let response = message(cx)?.response;
    (ends(cx) && response != 0)
        .then(|| Detail::new(Place::Instruction).with("response length", response))
}

fn end_descriptor(cx: &Context<'_>) -> Option<Detail> {
    let send = cx.inst.send.filter(|_| cx.is_send())?;
    (send.eot && send.imm.is_none()).then(|| Detail::new(Place::Instruction))
}

fn end_target(cx: &Context<'_>) -> Option<Detail> {
    let target = message(cx)?.target;
    (ends(cx) && !matches!(target, 0 | 3 | 5 | 6 | 7))
        .then(|| Detail::new(Place::Instruction).with("target", target))
}

fn end_registers(cx: &Context<'_>) -> Option<Detail> {
    if !ends(cx) {
        return None;
    }
    let second = cx.is_split_send().then_some((Place::Src1, &cx.inst.src[1]));
    core::iter::once((Place::Src0, &cx.inst.src[0]))
        .chain(second)
        .filter(|(_, src)| src.file == RegFile::Grf)
        .find_map(|(place, src)| {
            let (nr, _) = direct(src.addr).filter(|&(nr, _)| nr < 112)?;
            Some(Detail::new(place).with("register", nr))
        })
}

fn descriptor_register(cx: &Context<'_>) -> Option<Detail> {
    let send = cx.inst.send.filter(|_| cx.is_send())?;
    if send.imm.is_some() || cx.is_split_send() {
        return None;
    }
    let src = &cx.inst.src[1];
    let legal = src.file == RegFile::Arf
        && src.ty == Type::Ud
        && src.addr == (Addr::Direct { nr: 0x10, subnr: 0 })
        && (src.region == Region::SCALAR || cx.align16());
    (!legal).then(|| Detail::new(Place::Src1))
}

fn extended_register(cx: &Context<'_>) -> Option<Detail> {
    match cx.inst.send.filter(|_| cx.is_send())?.ex_desc {
        ExDesc::Reg(word) if word % 2 != 0 => {
            Some(Detail::new(Place::Instruction).with("subregister", word))
        }
        _ => None,
    }
}

fn plain(cx: &Context<'_>) -> Option<Detail> {
    if !cx.is_send() {
        return None;
    }
    if cx.inst.cond_mod != CondMod::None {
        return Some(Detail::new(Place::Instruction));
    }
    let src = &cx.inst.src[0];
    (!cx.is_split_send() && (src.negate || src.abs)).then(|| Detail::new(Place::Src0))
}

fn last_register(cx: &Context<'_>) -> Option<Detail> {
    let message = message(cx).filter(|_| !cx.is_split_send())?;
    let dst = &cx.inst.dst;
    if is_null_dst(dst) {
        return None;
    }
    let to = u32::from(direct(dst.addr)?.0);
    let from = u32::from(direct(cx.inst.src[0].addr)?.0);
    (to + message.response > 127 && from + message.length > to).then(|| {
        Detail::new(Place::Dst)
            .with("first register", to)
            .with("response length", message.response)
    })
}

fn split_file(cx: &Context<'_>) -> Option<Detail> {
    let src = &cx.inst.src[1];
    let legal = match src.file {
        RegFile::Grf => true,
        RegFile::Arf => arf(src.file, src.addr) == Some(0),
        _ => false,
    };
    (cx.is_split_send() && !legal).then(|| Detail::new(Place::Src1))
}

/// Both payloads of a split send: first register and length, at least 1 where it is not known.
fn payloads(cx: &Context<'_>) -> Option<[(u32, u32); 2]> {
    let send = cx.inst.send.filter(|_| cx.is_split_send())?;
    let [first, second, _] = &cx.inst.src;
    if first.file != RegFile::Grf || second.file != RegFile::Grf {
        return None;
    }
    let extended = match send.ex_desc {
        ExDesc::Imm(desc) => desc >> 6 & 0xf,
        _ => 1,
    };
    let length = message(cx).map_or(1, |message| message.length);
    Some([
        (u32::from(direct(first.addr)?.0), length),
        (u32::from(direct(second.addr)?.0), extended),
    ])
}

fn split_overlap(cx: &Context<'_>) -> Option<Detail> {
    let [(first, length), (second, extended)] = payloads(cx)?;
    let overlaps = (first <= second && second < first + length)
        || (second <= first && first < second + extended);
    overlaps.then(|| {
        Detail::new(Place::Src1)
            .with("first payload", first)
            .with("second payload", second)
    })
}

fn split_range(cx: &Context<'_>) -> Option<Detail> {
    let [_, (second, extended)] = payloads(cx)?;
    (second + extended > 128).then(|| {
        Detail::new(Place::Src1)
            .with("first register", second)
            .with("message length", extended)
    })
}
