//! The null shared function: absorbs messages, usually a bare end of thread.
//!
//! PRM: volume 4, 2.5 (null function).

use eu::{Grf, Message};

/// Takes any message; a response stays what the registers held.
pub fn execute(_msg: &Message<'_>, _response: &mut [Grf]) {}
