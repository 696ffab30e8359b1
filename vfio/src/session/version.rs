//! The first message: versions and capabilities.
//!
//! QEMU docs/interop/vfio-user.rst, `VFIO_USER_VERSION`. Of what a client can do nothing is needed, so that its text is only
//! checked; the reply says what the server can do.

use rustix::io::Errno;
use serde_json::Value;
use zerocopy::{FromBytes, IntoBytes};

use crate::protocol::{MAJOR, MAX_FILES, MAX_TRANSFER, MAX_WINDOWS, MINOR, Version};

/// Most bytes of a client's text.
const MAX_TEXT: usize = 4096;

/// Adds the version that both speak to the reply, and what the server can do.
///
/// # Errors
/// `EINVAL` for another major version, and for a text that is none or has no object of capabilities.
pub fn agree(payload: &[u8], reply: &mut Vec<u8>) -> Result<(), Errno> {
    let (asked, text) = Version::read_from_prefix(payload).map_err(|_| Errno::INVAL)?;
    if asked.major != MAJOR || text.len() > MAX_TEXT {
        return Err(Errno::INVAL);
    }
    if !text.is_empty() {
        check(text)?;
    }
    let version = Version {
        major: MAJOR,
        minor: asked.minor.min(MINOR),
    };
    reply.extend_from_slice(version.as_bytes());
    let text = format!(
        "{{\"capabilities\":{{\"max_msg_fds\":{MAX_FILES},\"max_data_xfer_size\":{MAX_TRANSFER},\
         \"max_dma_maps\":{MAX_WINDOWS},\"pgsizes\":{}}}}}\0",
        mem::PAGE_SIZE
    );
    reply.extend_from_slice(text.as_bytes());
    Ok(())
}

/// A text with a zero byte at its end, and an object in it; capabilities are an object, too.
fn check(text: &[u8]) -> Result<(), Errno> {
    let text = text.strip_suffix(&[0]).ok_or(Errno::INVAL)?;
    let value: Value = serde_json::from_slice(text).map_err(|_| Errno::INVAL)?;
    let object = value.as_object().ok_or(Errno::INVAL)?;
    match object.get("capabilities") {
        None | Some(Value::Object(_)) => Ok(()),
        Some(_) => Err(Errno::INVAL),
    }
}
