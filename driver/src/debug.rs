//! Debugging: error states and the snapshot mechanism.
//!
//! PRM vol4 3. Not modelled yet: breakpoints, stepping, attention.
pub mod error_state;
pub mod snapshot;
