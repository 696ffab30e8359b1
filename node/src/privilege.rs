//! What a thread that serves a client keeps of the node's privileges.
//!
//! capabilities(7), ptrace(2): without CAP_SYS_PTRACE in effect a thread reaches the memory and the table of a process
//! only while all user and group numbers of that process are its own and the process can do no more than the thread may.

use std::io;

use rustix::thread::{CapabilitySet, CapabilitySets, capabilities, set_capabilities};

/// Leaves this thread what its client has, and nothing by which it could reach other processes than the client could.
pub fn share(permitted: CapabilitySet) -> io::Result<()> {
    let own = capabilities(None)?;
    if own.permitted.is_empty() {
        return Ok(());
    }
    let permitted = own.permitted & permitted;
    let kept = CapabilitySets {
        effective: (own.effective & permitted) - CapabilitySet::SYS_PTRACE,
        permitted,
        inheritable: own.inheritable & permitted,
    };
    Ok(set_capabilities(None, kept)?)
}
