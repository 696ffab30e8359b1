//! What a thread that serves a client keeps of the node's privileges.
//!
//! capabilities(7), ptrace(2): without CAP_SYS_PTRACE in effect a thread reaches the memory and the table of a process
//! only while all user and group numbers of that process are its own and the process can do no more than the thread may.

use std::io;

use rustix::thread::{CapabilitySet, CapabilitySets, capabilities, set_capabilities};

/// Leaves this thread what its client has, and nothing by which it could reach other processes than the client could; but
/// while it still `looks` at the client, CAP_SYS_PTRACE: to open a file of its memory asks for what is in effect, where to
/// reach the memory asks for what is permitted.
pub fn share(permitted: CapabilitySet, looks: bool) -> io::Result<()> {
    let own = capabilities(None)?;
    if own.permitted.is_empty() {
        return Ok(());
    }
    let trace = CapabilitySet::SYS_PTRACE;
    let looking = if looks { trace } else { CapabilitySet::empty() };
    let kept = CapabilitySets {
        effective: own.effective & ((permitted - trace) | looking),
        permitted: own.permitted & (permitted | looking),
        inheritable: own.inheritable & permitted,
    };
    Ok(set_capabilities(None, kept)?)
}
