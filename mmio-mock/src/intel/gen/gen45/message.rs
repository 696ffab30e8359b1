//! Descriptors of G45: wider message types of the sampler and the read port.
//!
//! PRM: volume 4, 4.8.1.1, 4.8.1.4, 5.10.1.1; layouts: Mesa 22.3.6 brw_eu.h, brw_eu_defines.h, and `brw_fs_generator.cpp` for the
//! format of `resinfo`. Not modelled: what the render target and AVC loop filter reads give, which no public manual says.

use crate::intel::r#gen::gen40::message as gen40;
use crate::intel::shared::context::sfid;
use crate::intel::shared::dataport::request::{ReadKind, ReadRequest};
use crate::intel::shared::gateway::GatewayRequest;
use crate::intel::shared::message::{Descriptor, MessageSet, Request};
use crate::intel::shared::sampler::message::{Op, SamplerRequest};

/// The messages of these devices.
#[derive(Debug)]
pub struct Messages;

impl MessageSet for Messages {
    fn request(&self, message: Descriptor) -> Result<Request, &'static str> {
        let control = message.control();
        match message.function {
            sfid::SAMPLER => Ok(Request::Sampler(sampler(control, message.length.into()))),
            sfid::DATAPORT_READ => read(control).map(Request::Read),
            sfid::GATEWAY => Ok(Request::Gateway(gateway(control))),
            _ => gen40::Messages.request(message),
        }
    }
}

/// Sampling engine: type in 15:12, told apart by length as before. The format of the surface is the format of the answer;
/// `resinfo` answers in whole numbers.
pub const fn sampler(control: u16, length: usize) -> SamplerRequest {
    let kind = control >> 12;
    let first = gen40::sampler(control & 0xfff | kind << 14, length);
    let shape = if kind < 4 { first.shape } else { None };
    let integer = match shape {
        Some(shape) => matches!(shape.op, Op::Resinfo),
        None => false,
    };
    SamplerRequest {
        shape,
        integer,
        ..first
    }
}

/// Message gateway: an EU has five threads and more, so the TID takes one of the bits above it, which 7.1.4.1 calls ignored.
pub const fn gateway(control: u16) -> GatewayRequest {
    GatewayRequest {
        tid: 7,
        ..gen40::gateway(control)
    }
}

/// Data port, read: cache in 15:14, type in 13:11, control in 10:8.
pub const fn read(control: u16) -> Result<ReadRequest, &'static str> {
    let kind = match control >> 11 & 7 {
        0 => ReadKind::Block(gen40::block(control)),
        1 => return Err("render target UNORM read"),
        2 => ReadKind::DualBlock(gen40::dual_block(control)),
        3 => return Err("AVC loop filter read"),
        4 => ReadKind::Media(gen40::lines(control)),
        6 => ReadKind::Scattered(gen40::scattered(control)),
        _ => ReadKind::Reserved,
    };
    Ok(ReadRequest {
        surface: control as u8,
        cache: gen40::cache(control),
        elements: false,
        kind,
    })
}
