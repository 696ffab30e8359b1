//! The node's housekeeping thread: closed descriptors, signalled fences, hangs.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use nix::sys::epoll::EpollTimeout;

use crate::server::Server;

/// Time between two looks at sync files that are still to be signalled.
const FENCES: Duration = Duration::from_millis(1);
/// The same, where nothing tells of new ones.
const IN_STEP: Duration = Duration::from_millis(10);
/// Time between two looks at the engines, and at processes without a connection.
const ENGINE: Duration = Duration::from_millis(100);

/// Runs until the node stops.
pub fn run(server: &Arc<Server>) {
    let mut next = Instant::now() + ENGINE;
    while !server.stopping.load(Ordering::Acquire) {
        let pending = server.descriptors.signal_fences();
        let patience = if pending { FENCES } else { ENGINE };
        let patience = EpollTimeout::try_from(patience).unwrap_or(EpollTimeout::ZERO);
        if server.in_step {
            // What is closed is forgotten at the next request.
            std::thread::sleep(if pending { FENCES } else { IN_STEP });
        } else if let Err(error) = server.descriptors.watch(patience) {
            // Closed files are forgotten later, at the next look that succeeds; engines are looked at all the same.
            server.say_own(&format!("watching descriptors: {error}"));
            std::thread::sleep(ENGINE);
        }
        server.wake.clear();
        if Instant::now() >= next {
            next = Instant::now() + ENGINE;
            server.look_at_engines();
            server.look_at_processes();
        }
    }
}
