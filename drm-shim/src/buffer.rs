//! Text in an array: what becomes a path without allocating.
//!
//! No PRM chapter.

use core::ffi::CStr;

/// Longest path of the system, with its zero.
pub const CAPACITY: usize = libc::PATH_MAX as usize;

/// Bytes that end with a zero.
#[derive(Clone)]
pub struct Text<const N: usize> {
    bytes: [u8; N],
    len: usize,
}

/// A path.
pub type Buffer = Text<CAPACITY>;

impl<const N: usize> Text<N> {
    pub const fn new() -> Self {
        Text {
            bytes: [0; N],
            len: 0,
        }
    }

    /// Appends; false, and nothing is changed, when there is no room.
    pub fn push(&mut self, more: &[u8]) -> bool {
        let end = self.len + more.len();
        // One byte is kept for the zero.
        let Some(to) = (end < N)
            .then(|| self.bytes.get_mut(self.len..end))
            .flatten()
        else {
            return false;
        };
        to.copy_from_slice(more);
        self.len = end;
        if let Some(last) = self.bytes.get_mut(end) {
            *last = 0;
        }
        true
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
        self.bytes.get(..self.len).unwrap_or_default()
    }

    /// Puts a question mark for each byte that a terminal might obey.
    pub fn make_printable(&mut self) {
        for byte in self.bytes.iter_mut().take(self.len) {
            if !(b' '..=b'~').contains(byte) {
                *byte = b'?';
            }
        }
    }

    /// As text of C; empty when there is a zero within.
    pub fn as_cstr(&self) -> &CStr {
        let all = self.bytes.get(..=self.len).unwrap_or_default();
        CStr::from_bytes_with_nul(all).unwrap_or_default()
    }

    /// Room behind what is there, and the new length once it is filled.
    pub fn fill(&mut self, fill: impl FnOnce(&mut [u8]) -> usize) {
        let start = self.len;
        let end = N - 1;
        if let Some(room) = self.bytes.get_mut(start..end) {
            let most = room.len();
            self.len = start + fill(room).min(most);
        }
        if let Some(last) = self.bytes.get_mut(self.len) {
            *last = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grows_to_its_end_and_not_further() {
        let mut buffer = Buffer::new();
        assert!(buffer.push(b"/dev/") && buffer.push_number(0) && buffer.push_number(1206));
        assert_eq!(buffer.as_cstr(), c"/dev/01206");
        let room = CAPACITY - 1 - buffer.bytes().len();
        assert!(!buffer.push(&vec![b'x'; room + 1]));
        assert!(buffer.push(&vec![b'x'; room]));
        assert_eq!(buffer.as_cstr().to_bytes().len(), CAPACITY - 1);
    }
}
