//! Descriptors of ValleyView: messages to the data port by cache, payloads in general registers.
//!
//! Mesa 22.3.6 brw_eu_defines.h (`GFX7_SFID_*`), brw_eu.h. Each function has a file of its own.

mod dataport;
mod gateway;
mod interpolator;
mod sampler;
mod spawner;
mod urb;

use crate::intel::r#gen::gen50::message::HEADER;
use crate::intel::shared::context::sfid;
use crate::intel::shared::message::{Descriptor, MessageSet, Request};

/// The messages of these devices.
#[derive(Debug)]
pub struct Messages;

impl MessageSet for Messages {
    fn request(&self, message: Descriptor) -> Result<Request, &'static str> {
        let desc = message.desc;
        let _header = desc & HEADER != 0;
        match message.function {
            sfid::NULL => Ok(Request::Null),
            sfid::SAMPLER => sampler::request(desc, message.length.into()).map(Request::Sampler),
            sfid::GATEWAY => gateway::request(message),
            sfid::URB => urb::request(message),
            sfid::SPAWNER => spawner::request(message),
            _ => dataport::request(message),
        }
    }
}
