//! Descriptors of the message gateway.
//!
//! Mesa 22.3.6 brw_eu_defines.h (`BRW_MESSAGE_GATEWAY_SFID_*`), brw_inst.h (`gateway_subfuncid`, `gateway_notify`): sub-function in 2:0,
//! acknowledgement in 14, notification in 16:15. Not modelled: time stamps, gateway state, access to registers of the device.

use crate::intel::shared::gateway::{GatewayOp, GatewayRequest};
use crate::intel::shared::message::Request;

/// Bits of a TID: eight threads an EU.
const TID: u8 = 7;

/// A request; the error names a message that the model does not have.
pub fn request(desc: u32) -> Result<Request, &'static str> {
    let op = match desc & 7 {
        0 => GatewayOp::Open,
        1 => GatewayOp::Close,
        2 => GatewayOp::Forward,
        3 => return Err("time stamp of the message gateway"),
        4 => GatewayOp::Barrier,
        5 => return Err("update of the gateway's state"),
        6 => return Err("access of the message gateway to registers"),
        _ => GatewayOp::Reserved,
    };
    Ok(Request::Gateway(GatewayRequest {
        op,
        acknowledge: desc >> 14 & 1 == 1,
        notify: desc >> 15 & 1 == 1,
        tid: TID,
    }))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    /// The compute scenes: "gateway MsgDesc: (barrier msg) mlen 1 rlen 0".
    #[test]
    fn barriers_ask_for_no_acknowledgement() {
        let Request::Gateway(barrier) = request(0x0200_0004).unwrap() else {
            unreachable!("a gateway message");
        };
        assert_eq!(barrier.op, GatewayOp::Barrier);
        assert!(!barrier.acknowledge && !barrier.notify);
        assert_eq!(barrier.tid, 7);
        assert!(request(3).is_err() && request(6).is_err());
    }
}
