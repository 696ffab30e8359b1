//! An input as a sequence of ioctls.
//!
//! Each is a byte with the request's number, a byte of choices, and the argument block. The block of a request lies at
//! [`BLOCK`], so that arrays can stand behind the argument in the same block.

use arbitrary::Unstructured;
use driver::uapi::Request;

/// Address of every argument block in the caller's memory.
pub const BLOCK: u64 = 0x1_0000;

/// One call.
pub struct Call {
    /// Whether it goes to the primary node's file.
    pub primary: bool,
    /// The number with direction and size.
    pub request: u32,
    /// The argument and what stands behind it.
    pub block: Vec<u8>,
}

impl Call {
    /// Takes a call from an input; `None` at its end.
    ///
    /// Of the choices bit 0 is the node, bit 1 says that request and block have the size of the call's structure, bit 2
    /// that the whole number is given; else a byte counts the dwords of the block.
    pub fn take(input: &mut Unstructured<'_>) -> Option<Self> {
        let number: u8 = input.arbitrary().ok()?;
        if input.is_empty() {
            return None;
        }
        let choices: u8 = input.arbitrary().ok()?;
        let row = driver::ioctl::requests().find(|row| row.number() == u32::from(number));
        let row = row.unwrap_or(Request::iowr::<u64>(u32::from(number)));
        let (request, len) = if choices & 4 != 0 {
            let request: u32 = input.arbitrary().ok()?;
            (request, Request(request).size())
        } else if choices & 2 != 0 {
            (row.0, row.size())
        } else {
            let dwords: u8 = input.arbitrary().ok()?;
            let len = usize::from(dwords) * 4;
            (row.0 & !(0x3fff << 16) | (len as u32) << 16, len)
        };
        let given = input.bytes(len.min(input.len())).ok()?;
        let mut block = given.to_vec();
        block.resize(len, 0);
        Some(Call {
            primary: choices & 1 != 0,
            request,
            block,
        })
    }
}
