//! What shared functions ask of the messages to them.
//!
//! PRM: volume 4, 5.10.1.3, 6.1, 8.4.2; later generations from Mesa 22.3.6 brw_eu_validate.c.
//! Headers and payload contents are not known here; sampler and data port lengths are not checked.

use crate::inst::Compression;
use crate::message::Header;

use super::context::{Context, is_in};
use super::send::{ends_thread, message};
use super::{Detail, Generations, Place, Rule};

const MATH: u32 = 1;
const URB: u32 = 6;
const VALIDATE: &str = "Mesa 22.3.6 brw_eu_validate.c send_descriptor_restrictions";

pub(super) const RULES: &[Rule] = &[
    Rule::inst(
        "message-target",
        Generations::ALL,
        "PRM vol4 2.6.2; Mesa 22.3.6 brw_eu_defines.h",
        "the target is a shared function of the generation",
        target,
    ),
    Rule::inst(
        "math-message-function",
        Generations::until(50),
        "PRM vol4 6.1.1.1",
        "the function of a math message is not a reserved one",
        math_function,
    ),
    Rule::inst(
        "math-message-length",
        Generations::until(50),
        "PRM vol4 6.1.1.3",
        "a math message has one register, two for power and integer division",
        math_length,
    ),
    Rule::inst(
        "math-message-response",
        Generations::until(50),
        "PRM vol4 6.1.2",
        "a math message is answered by one register, two for sincos and both results of a division",
        math_response,
    ),
    Rule::inst(
        "math-message-exec-size",
        Generations::until(50),
        "PRM vol4 6.1; Mesa 22.3.6 brw_fs_generator.cpp, compressed from 4.5 on",
        "a math message has at most 8 channels, from 4.5 on 16 when compressed",
        math_exec_size,
    ),
    Rule::inst(
        "urb-header",
        Generations::since(50),
        "Mesa 22.3.6 brw_eu_validate.c send_descriptor_restrictions",
        "an URB message has a header",
        urb_header,
    ),
    Rule::inst(
        "urb-opcode",
        Generations::ALL,
        "PRM vol4 8.4.2; Mesa 22.3.6 brw_eu_validate.c send_descriptor_restrictions",
        "the URB operation is one of the generation",
        urb_opcode,
    ),
    Rule::inst(
        "urb-sync-fields",
        Generations::between(50, 60),
        VALIDATE,
        "FF_SYNC has no offset, swizzle, used or complete",
        urb_sync_fields,
    ),
    Rule::inst(
        "urb-sync-response",
        Generations::between(50, 60),
        VALIDATE,
        "FF_SYNC is answered by at most one register",
        urb_sync_response,
    ),
    Rule::inst(
        "urb-read-response",
        Generations::since(80),
        VALIDATE,
        "a SIMD8 URB read is answered",
        urb_read_response,
    ),
    Rule::inst(
        "urb-swizzle",
        Generations::until(60),
        "PRM vol4 8.4.2",
        "swizzle control is 0 (no swizzle), interleave or transpose",
        urb_swizzle,
    ),
    Rule::inst(
        "urb-allocate-end",
        Generations::until(60),
        "PRM vol4 8.4.2",
        "a thread does not end with a request for another URB entry",
        urb_allocate_end,
    ),
    Rule::inst(
        "urb-allocate-response",
        Generations::until(50),
        "PRM vol4 8.4.2, 8.4.3.3",
        "a request for another URB entry is answered by one register",
        urb_allocate_response,
    ),
    Rule::inst(
        "urb-interleave-length",
        Generations::until(50),
        "PRM vol4 8.4.3.2",
        "interleaved URB data has at least two registers beside the header",
        urb_interleave_length,
    ),
    Rule::inst(
        "urb-transpose",
        Generations::until(50),
        "PRM vol4 8.4.2, 8.4.3.2",
        "transposed URB data comes in threes of registers and at an even offset",
        urb_transpose,
    ),
    Rule::inst(
        "data-port-write-response",
        Generations::until(40),
        "PRM vol4 5.10.1.3",
        "a data port write is answered if and only if it asks for a write commit",
        write_response,
    ),
    Rule::inst(
        "data-port-write-type",
        Generations::until(45),
        "PRM vol4 5.10.1.1",
        "the type of a data port write is not a reserved one",
        write_type,
    ),
    Rule::inst(
        "data-port-target-cache",
        Generations::until(45),
        "PRM vol4 5.10.1.1",
        "the target cache of a data port read is data, render or sampler",
        target_cache,
    ),
];

fn target(cx: &Context<'_>) -> Option<Detail> {
    let target = message(cx)?.target;
    (!is_in(cx.has().targets, target))
        .then(|| Detail::new(Place::Instruction).with("target", target))
}

fn to(cx: &Context<'_>, target: u32) -> Option<Header> {
    message(cx).filter(|message| message.target == target)
}

fn math_function(cx: &Context<'_>) -> Option<Detail> {
    let function = to(cx, MATH)?.control & 0xf;
    matches!(function, 0 | 9 | 14 | 15)
        .then(|| Detail::new(Place::Instruction).with("function", function))
}

fn math_length(cx: &Context<'_>) -> Option<Detail> {
    let message = to(cx, MATH)?;
    let expected = if matches!(message.control & 0xf, 10..=13) {
        2
    } else {
        1
    };
    (message.length != expected).then(|| {
        Detail::new(Place::Instruction)
            .with("message length", message.length)
            .with("expected", expected)
    })
}

fn math_response(cx: &Context<'_>) -> Option<Detail> {
    let message = to(cx, MATH)?;
    let expected = if matches!(message.control & 0xf, 8 | 11) {
        2
    } else {
        1
    };
    (message.response != expected).then(|| {
        Detail::new(Place::Instruction)
            .with("response length", message.response)
            .with("expected", expected)
    })
}

fn math_exec_size(cx: &Context<'_>) -> Option<Detail> {
    let compressed = cx.has().compressed_math && cx.inst.compression == Compression::Compressed;
    to(cx, MATH)
        .filter(|_| cx.exec_size() > 8 && !compressed)
        .map(|_| cx.at(Place::Instruction))
}

fn urb_header(cx: &Context<'_>) -> Option<Detail> {
    (to(cx, URB)?.header == Some(false)).then(|| Detail::new(Place::Instruction))
}

fn urb_operation(cx: &Context<'_>) -> Option<u32> {
    to(cx, URB).map(|message| message.control & cx.has().urb_operation_mask)
}

fn urb_opcode(cx: &Context<'_>) -> Option<Detail> {
    let operation = urb_operation(cx)?;
    (!is_in(cx.has().urb_operations, operation))
        .then(|| Detail::new(Place::Instruction).with("operation", operation))
}

fn sync(cx: &Context<'_>) -> Option<Header> {
    to(cx, URB).filter(|_| urb_operation(cx) == Some(1))
}

fn urb_sync_fields(cx: &Context<'_>) -> Option<Detail> {
    let control = sync(cx)?.control;
    // Offset 9:4, swizzle 11:10, used 14, complete 15.
    (control & 0xcff0 != 0).then(|| Detail::new(Place::Instruction).with("control", control))
}

fn urb_sync_response(cx: &Context<'_>) -> Option<Detail> {
    let response = sync(cx)?.response;
    (response > 1).then(|| Detail::new(Place::Instruction).with("response length", response))
}

fn urb_read_response(cx: &Context<'_>) -> Option<Detail> {
    let message = to(cx, URB)?;
    (urb_operation(cx) == Some(8) && message.response == 0).then(|| Detail::new(Place::Instruction))
}

/// An URB write of the layout that Gen4 begot.
fn urb_write(cx: &Context<'_>) -> Option<Header> {
    to(cx, URB).filter(|_| urb_operation(cx) == Some(0))
}

fn swizzle(message: Header) -> u32 {
    message.control >> 10 & 3
}

fn allocates(message: Header) -> bool {
    message.control >> 13 & 1 != 0
}

fn urb_swizzle(cx: &Context<'_>) -> Option<Detail> {
    (swizzle(urb_write(cx)?) == 3).then(|| Detail::new(Place::Instruction))
}

fn urb_allocate_end(cx: &Context<'_>) -> Option<Detail> {
    (allocates(urb_write(cx)?) && ends_thread(cx.has(), cx.inst))
        .then(|| Detail::new(Place::Instruction))
}

fn urb_allocate_response(cx: &Context<'_>) -> Option<Detail> {
    let message = urb_write(cx)?;
    (allocates(message) && message.response != 1)
        .then(|| Detail::new(Place::Instruction).with("response length", message.response))
}

fn urb_interleave_length(cx: &Context<'_>) -> Option<Detail> {
    let message = urb_write(cx)?;
    (swizzle(message) == 1 && message.length < 3)
        .then(|| Detail::new(Place::Instruction).with("message length", message.length))
}

fn urb_transpose(cx: &Context<'_>) -> Option<Detail> {
    let message = urb_write(cx)?;
    let offset = message.control >> 4 & 0x3f;
    let rows = message.length.wrapping_sub(1);
    (swizzle(message) == 2 && (!rows.is_multiple_of(3) || offset % 2 != 0)).then(|| {
        Detail::new(Place::Instruction)
            .with("message length", message.length)
            .with("offset", offset)
    })
}

const DATA_PORT_READ: u32 = 4;
const DATA_PORT_WRITE: u32 = 5;

fn write_response(cx: &Context<'_>) -> Option<Detail> {
    let message = to(cx, DATA_PORT_WRITE)?;
    let commit = message.control >> 15 & 1 != 0;
    (commit != (message.response != 0))
        .then(|| Detail::new(Place::Instruction).with("response length", message.response))
}

fn write_type(cx: &Context<'_>) -> Option<Detail> {
    let kind = to(cx, DATA_PORT_WRITE)?.control >> 12 & 7;
    matches!(kind, 5 | 6).then(|| Detail::new(Place::Instruction).with("type", kind))
}

fn target_cache(cx: &Context<'_>) -> Option<Detail> {
    let cache = to(cx, DATA_PORT_READ)?.control >> 14 & 3;
    (cache == 3).then(|| Detail::new(Place::Instruction).with("cache", cache))
}
