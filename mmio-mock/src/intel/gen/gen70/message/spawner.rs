//! Descriptors of the thread spawner, which are those of the first generation.
//!
//! How compute threads end: Mesa 22.3.6 brw_fs_generator.cpp `generate_cs_terminate` (a root thread whose URB entry stays).

use crate::intel::r#gen::gen40::message as gen40;
use crate::intel::shared::message::Request;

/// A request.
pub const fn request(desc: u32) -> Request {
    // CAST: the function control is in the lower half.
    Request::Spawner(gen40::spawner(desc as u16))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The compute scenes: "thread_spawner MsgDesc: mlen 1 rlen 0 { EOT }".
    #[test]
    fn compute_threads_end_as_root_threads() {
        let Request::Spawner(end) = request(0x0200_0010) else {
            unreachable!("a spawner message");
        };
        assert!(!end.spawn && !end.child && end.select && !end.reserved);
    }
}
