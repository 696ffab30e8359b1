//! Whether the process works in a directory of the device.
//!
//! Such a directory lies in the tree, and relative paths lead into the tree from there. Not modelled: a
//! thread with a directory of its own (`unshare`).

use std::sync::atomic::{AtomicBool, Ordering};

use crate::config::Config;
use crate::path;
use crate::sys::{self, Result};

static INSIDE: AtomicBool = AtomicBool::new(false);

/// Whether relative paths may be the device's.
pub fn is_inside() -> bool {
    INSIDE.load(Ordering::Relaxed)
}

/// Looks where the process works now; a directory above those of the device is left for the system's.
pub fn look(config: &Config) -> Result<()> {
    let Some(tree) = config.tree() else {
        return Ok(());
    };
    let inside = |place: &[u8]| {
        place
            .strip_prefix(tree)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
    };
    let mut place = sys::working_directory()?;
    if inside(place.bytes())
        && !path::is_listed(config, place.bytes().get(tree.len()..).unwrap_or_default())
    {
        let mut above = crate::buffer::Buffer::new()?;
        above.push(place.bytes().get(tree.len()..).unwrap_or_default());
        if above.bytes().is_empty() {
            above.push(b"/");
        }
        if sys::change_directory(above.as_cstr()).is_ok() {
            place = above;
        }
    }
    INSIDE.store(inside(place.bytes()), Ordering::Relaxed);
    Ok(())
}
