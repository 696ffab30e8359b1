//! Faults of the model's units: guest faults and what is not modelled.
//!
//! PRM: volume 4, 2.6.11 (message errors). A guest fault is a value that ends in error registers;
//! `Unimplemented` says that the model, not the guest, is at the end of what it can do.

/// Why a unit could not do what the guest asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnitFault {
    /// A memory access failed.
    #[error(transparent)]
    Memory(#[from] mem::Fault),
    /// A message that its shared function cannot decode.
    #[error("{unit}: bad message {desc:#010x}: {what}")]
    Message {
        /// The shared function.
        unit: &'static str,
        /// The descriptor.
        desc: u32,
        /// The rule that the message breaks.
        what: &'static str,
        /// What the error word of the shared function says of the rule: flags or a number, as the function has it;
        /// 0 when it says nothing.
        error: u32,
    },
    /// A state structure with contradictory or impossible contents.
    #[error("{unit}: bad state at {addr}: {what}")]
    State {
        /// The unit that reads the state.
        unit: &'static str,
        /// Where the state lies.
        addr: mem::GpuAddr,
        /// What stood there and why it cannot work.
        what: String,
    },
    /// A command that the command streamer or a unit rejects.
    #[error("{unit}: bad command: {what}")]
    Command {
        /// The unit.
        unit: &'static str,
        /// What stood there.
        what: String,
    },
    /// The model does not do this yet.
    #[error("not modelled: {unit}: {what} ({prm})")]
    Unimplemented {
        /// The unit.
        unit: &'static str,
        /// The feature that was reached.
        what: &'static str,
        /// Where the manual describes it.
        prm: &'static str,
    },
}
