//! Descriptors of ValleyView: data ports by cache, payloads in general registers.
//!
//! Mesa 22.3.6 brw_eu_defines.h (`GFX7_SFID_*`), brw_eu.h. Each function's descriptors have a file of their own.

mod dataport;
mod gateway;
mod interpolator;
mod sampler;
mod spawner;
mod urb;

use crate::intel::shared::context::sfid;
use crate::intel::shared::message::{Descriptor, MessageSet, Request};

/// Video motion estimation (Mesa 22.3.6 brw_eu_defines.h, `BRW_SFID_VME`), which the model does not have.
const MOTION: u8 = 8;

/// The messages of these devices.
#[derive(Debug)]
pub struct Messages;

impl MessageSet for Messages {
    fn request(&self, message: Descriptor) -> Result<Request, &'static str> {
        let desc = message.desc;
        match message.function {
            sfid::NULL => Ok(Request::Null),
            sfid::SAMPLER => match sampler::blocks(desc) {
                Some(request) => Ok(Request::Blocks(request)),
                None => sampler::request(desc, message.length.into()).map(Request::Sampler),
            },
            sfid::GATEWAY => gateway::request(desc),
            sfid::URB => Ok(Request::Entries(urb::urb(desc))),
            sfid::SPAWNER => Ok(spawner::request(desc)),
            sfid::INTERPOLATOR => Ok(interpolator::request(desc)),
            MOTION => Err("video motion estimation"),
            function => dataport::request(function, desc),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn motion_estimation_is_named() {
        let message = Descriptor {
            function: MOTION,
            length: 5,
            desc: 0,
        };
        assert_eq!(
            Messages.request(message).err(),
            Some("video motion estimation")
        );
    }
}
