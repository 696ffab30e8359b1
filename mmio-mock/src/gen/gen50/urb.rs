//! Messages to the URB on Ironlake: URB_WRITE as before, and FF_SYNC.
//!
//! PRM: volume 4, 8.4; FF_SYNC: Mesa brw_eu_emit.c `brw_set_ff_sync_message` (opcode 1; offset, swizzle, used and
//! complete are not looked at).

use eu::Message;

use super::message;
use crate::shared::context::sfid;
use crate::shared::message::{MessageSet, Request};
use crate::shared::urb_msg::Operation;

/// The messages of these devices.
#[derive(Debug)]
pub struct Messages;

/// Opcode of FF_SYNC.
const FF_SYNC: u16 = 1;

impl MessageSet for Messages {
    fn request(&self, msg: &Message<'_>) -> Result<Request, &'static str> {
        let request = message::Messages.request(msg)?;
        Ok(match request {
            Request::Urb(mut urb) if msg.sfid == sfid::URB => {
                if msg.function_control & 0xf == FF_SYNC {
                    urb.operation = Operation::Synchronise;
                }
                Request::Urb(urb)
            }
            other => other,
        })
    }
}
