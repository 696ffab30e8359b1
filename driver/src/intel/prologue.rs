//! What a request does for the debugger before its batch.
//!
//! PRM vol4 3.2.1, vol2 STATE_SIP.

/// What a request does for the debugger before its batch.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Prologue {
    /// The system routine.
    pub sip: Option<u32>,
    /// Sequence numbers of the units begin at 0.
    pub reset_counters: bool,
    /// The batch is the kernel's own: privileged commands in it are carried out.
    pub trusted: bool,
}
