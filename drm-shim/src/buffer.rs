//! Text in an array: what becomes a path without allocating.
//!
//! Short texts lie on the stack. A whole path would be half of what some stacks have (SIGSTKSZ), so it gets
//! a page of its own.

use core::ffi::CStr;

use crate::sys::Result;
use crate::sys::memory::Page;

/// Bytes that end with a zero.
pub struct Text<B> {
    bytes: B,
    len: usize,
}

/// A text on the stack.
pub type Short<const N: usize> = Text<[u8; N]>;

/// A path: a page has room for the longest (PATH_MAX).
pub type Buffer = Text<Page>;

impl<const N: usize> Short<N> {
    pub const fn new() -> Self {
        Text {
            bytes: [0; N],
            len: 0,
        }
    }
}

impl Buffer {
    pub fn new() -> Result<Self> {
        let bytes = Page::new()?;
        Ok(Text { bytes, len: 0 })
    }
}

impl<B: AsRef<[u8]> + AsMut<[u8]>> Text<B> {
    /// Appends; false, and nothing is changed, when there is no room.
    pub fn push(&mut self, more: &[u8]) -> bool {
        let end = self.len + more.len();
        // One byte is kept for the zero.
        let Some((last, to)) = self
            .bytes
            .as_mut()
            .get_mut(self.len..=end)
            .and_then(<[u8]>::split_last_mut)
        else {
            return false;
        };
        to.copy_from_slice(more);
        *last = 0;
        self.len = end;
        true
    }

    /// Begins anew.
    pub fn clear(&mut self) {
        self.len = 0;
    }

    /// Appends a number.
    pub fn push_number(&mut self, mut number: u64) -> bool {
        let mut digits = [0; 20];
        let mut at = digits.len();
        loop {
            at -= 1;
            digits[at] = b'0' + (number % 10) as u8;
            number /= 10;
            if number == 0 {
                break;
            }
        }
        self.push(&digits[at..])
    }

    pub fn bytes(&self) -> &[u8] {
        self.bytes.as_ref().get(..self.len).unwrap_or_default()
    }

    /// Puts a question mark for each byte that a terminal might obey.
    pub fn make_printable(&mut self) {
        for byte in self.bytes.as_mut().iter_mut().take(self.len) {
            if !(b' '..=b'~').contains(byte) {
                *byte = b'?';
            }
        }
    }

    /// As text of C; empty when there is a zero within.
    pub fn as_cstr(&self) -> &CStr {
        let all = self.bytes.as_ref().get(..=self.len).unwrap_or_default();
        CStr::from_bytes_with_nul(all).unwrap_or_default()
    }

    /// Room behind what is there, and the new length once it is filled.
    pub fn fill(&mut self, fill: impl FnOnce(&mut [u8]) -> usize) {
        let start = self.len;
        let bytes = self.bytes.as_mut();
        let end = bytes.len().saturating_sub(1);
        if let Some(room) = bytes.get_mut(start..end) {
            let most = room.len();
            self.len = start + fill(room).min(most);
        }
        if let Some(last) = bytes.get_mut(self.len) {
            *last = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grows_to_its_end_and_not_further() {
        let mut buffer = Short::<4096>::new();
        assert!(buffer.push(b"/dev/") && buffer.push_number(0) && buffer.push_number(1206));
        assert_eq!(buffer.as_cstr(), c"/dev/01206");
        let room = 4096 - 1 - buffer.bytes().len();
        assert!(!buffer.push(&vec![b'x'; room + 1]));
        assert!(buffer.push(&vec![b'x'; room]));
        assert_eq!(buffer.as_cstr().to_bytes().len(), 4096 - 1);
    }
}
