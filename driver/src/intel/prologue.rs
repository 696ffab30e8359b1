//! What a request does around its batch.
//!
//! PRM vol4 3.2.1, vol2 STATE_SIP; i915 `i915_gem_execbuffer.c` (`eb_request_submit`).

/// What a request does around its batch: for the debugger, and for the client.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Prologue {
    /// The system routine.
    pub sip: Option<u32>,
    /// Sequence numbers of the units begin at 0.
    pub reset_counters: bool,
    /// Privileged commands in the batch are carried out: it is the kernel's own, or it has been looked through.
    pub trusted: bool,
    /// Offsets of stream output begin at 0.
    pub resets_offsets: bool,
    /// Graphics address of a batch behind the first, without privileges.
    pub second: Option<u32>,
}
