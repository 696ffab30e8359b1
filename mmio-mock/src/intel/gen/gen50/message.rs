//! Descriptors of Ironlake: a header bit, FF_SYNC, and a sampler of its own.
//!
//! PRM: volume 4, 5.10.1.2, 6.1.1.1, 7.1.1, 8.4.2; layouts: Mesa 22.3.6 brw_eu.h, brw_eu_emit.c; intel-vaapi-driver h264/mc/header.inc,
//! h264/ildb/ILDB_header.inc (under DEV_ILK). Data port and URB unit find what they need in the header and nowhere else: both drivers send it
//! always, and no public manual has these messages without it before Sandybridge. Gateway and spawner have one register and do not look at the bit,
//! which the video driver leaves clear.

mod sampler;

use crate::intel::r#gen::gen40::message as gen40;
use crate::intel::r#gen::gen45::message as gen45;
use crate::intel::shared::context::sfid;
use crate::intel::shared::dataport::request::{Cache, ReadRequest};
use crate::intel::shared::dataport::rules;
use crate::intel::shared::message::{Descriptor, MessageSet, Request};
use crate::intel::shared::urb_msg::{Reject, UrbOp, UrbRequest};

/// The messages of these devices.
#[derive(Debug)]
pub struct Messages;

impl MessageSet for Messages {
    fn request(&self, message: Descriptor) -> Result<Request, &'static str> {
        let control = message.control();
        let header = message.desc & HEADER != 0;
        match message.function {
            sfid::SAMPLER => {
                sampler::request(message.desc, message.length.into()).map(Request::Sampler)
            }
            sfid::DATAPORT_READ | sfid::DATAPORT_WRITE if !header => {
                Ok(Request::Broken("DP", rules::HEADER))
            }
            sfid::DATAPORT_READ => read(control).map(Request::Read),
            sfid::GATEWAY => Ok(Request::Gateway(gen45::gateway(control))),
            sfid::URB if !header => Ok(Request::Broken("URB", Reject::Header.rule())),
            sfid::URB => Ok(Request::Urb(urb(control))),
            _ => gen40::Messages.request(message),
        }
    }
}

/// Descriptor bit 19.
pub const HEADER: u32 = 1 << 19;

/// Data port, read: as on G45, and a fourth target cache, "field mode sampler cache" (intel-vaapi-driver header.inc,
/// `DWBRMSGDSC_SC_TF`), which is memory like the others.
pub const fn read(control: u16) -> Result<ReadRequest, &'static str> {
    match gen45::read(control) {
        Ok(
            request @ ReadRequest {
                cache: Cache::Reserved,
                ..
            },
        ) => Ok(ReadRequest {
            cache: Cache::Sampler,
            ..request
        }),
        other => other,
    }
}

/// URB: opcode 1 is FF_SYNC, which uses Allocate and no other field.
pub const fn urb(control: u16) -> UrbRequest {
    let first = gen40::urb(control);
    match control & 0xf {
        1 => UrbRequest {
            op: Some(UrbOp::Sync),
            ..first
        },
        _ => first,
    }
}
