//! A debugger for threads of the modelled device, on captures and on live programs.
//!
//! PRM: volume 4, chapter 3. The line interface stands on a target (what runs) and a back end (how threads are stopped
//! and looked at). Not modelled: time that goes backwards; `back` runs a capture again.

pub mod backend;
pub mod board;
mod breaks;
mod change;
mod command;
mod expect;
mod gate;
mod history;
mod inspect;
mod listing;
pub mod place;
pub mod registers;
mod running;
mod script;
mod session;
mod snapshots;
mod surfaces;
pub mod target;
mod value;

pub use command::{COMMANDS, Help, UNIT_NAMES, help};
pub use gate::{Gate, Held, State};
pub use script::{Failure, NO_TEXT, Source, run as run_script};
pub use session::{Debugger, Flow};

/// What a command could not do, as a sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Refusal(pub String);

impl Refusal {
    /// From anything that can be read.
    pub fn of(what: impl std::fmt::Display) -> Self {
        Refusal(what.to_string())
    }
}

impl From<String> for Refusal {
    fn from(text: String) -> Self {
        Refusal(text)
    }
}

impl From<&str> for Refusal {
    fn from(text: &str) -> Self {
        Refusal(text.to_owned())
    }
}

/// What a command has to print, or why it did nothing.
pub type Answer<T = String> = Result<T, Refusal>;
