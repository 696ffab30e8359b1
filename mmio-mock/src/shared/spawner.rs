//! The thread spawner as a shared function: child and root media threads.
//!
//! PRM: volume 4, 2.5 and 3.4.10; the message formats are in volume 2 (media). Nothing but the
//! recognition of the target is modelled.

use crate::UnitFault;
use eu::Message;

/// Refuses by name: the model has no thread spawner behind the messages yet.
pub fn execute(_msg: &Message<'_>) -> Result<(), UnitFault> {
    Err(UnitFault::Unimplemented {
        unit: "TS",
        what: "thread spawner messages",
        prm: "vol4 2.5, vol2 media chapter",
    })
}
