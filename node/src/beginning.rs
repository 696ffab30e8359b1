//! What a program is given when it begins, by which it is known again.
//!
//! getauxval(3): sixteen bytes of it are drawn at random each time, and so is their place, unless the user wants none of that.

use std::io::IoSliceMut;

use nix::sys::uio::{RemoteIoVec, process_vm_readv};
use nix::unistd::Pid;

/// Bytes that are drawn.
const DRAWN: usize = 16;

/// What a program was given.
pub struct Beginning {
    vector: Vec<u8>,
    /// Where the bytes lie and what they were, when they could be read.
    drawn: Option<(usize, [u8; DRAWN])>,
}

impl Beginning {
    /// Of the program that a process runs now.
    pub fn of(number: i32) -> Beginning {
        let vector = std::fs::read(format!("/proc/{number}/auxv")).unwrap_or_default();
        let number = Pid::from_raw(number);
        let drawn = place(&vector).and_then(|base| Some((base, bytes(number, base)?)));
        Beginning { vector, drawn }
    }

    /// Whether two processes run one program from its beginning, as a process and its copy do: the vector has addresses that are
    /// drawn at random, unless the user wants none of that.
    pub fn is_as(&self, other: &Beginning) -> bool {
        self.vector == other.vector
    }

    /// Whether a process still runs the program that has begun so.
    pub fn is_of(&self, number: Pid) -> bool {
        // A program may have written over its bytes. Their place is drawn as well, unless the user wants none of that.
        let same = |(base, drawn)| bytes(number, base) == Some(drawn);
        self.drawn.is_some_and(same)
            || std::fs::read(format!("/proc/{number}/auxv")).is_ok_and(|now| now == self.vector)
    }

    /// Reads the memory of the process with a number, if that has the bytes that were drawn for this program; how much there was.
    /// Both are one call, which is at one memory from its beginning to its end.
    pub fn read(&self, number: Pid, base: usize, out: &mut [u8]) -> Option<usize> {
        let (place, drawn) = self.drawn?;
        let mut now = [0; DRAWN];
        let remote = [
            RemoteIoVec {
                base: place,
                len: DRAWN,
            },
            RemoteIoVec {
                base,
                len: out.len(),
            },
        ];
        let mut local = [IoSliceMut::new(&mut now), IoSliceMut::new(out)];
        let there = process_vm_readv(number, &mut local, &remote).ok()?;
        let there = there.checked_sub(DRAWN)?;
        (now == drawn).then_some(there)
    }
}

/// Where a vector says that the random bytes are.
fn place(vector: &[u8]) -> Option<usize> {
    let word = |bytes: &[u8]| bytes.try_into().ok().map(usize::from_ne_bytes);
    let mut rows = vector.chunks_exact(2 * size_of::<usize>());
    let row = rows.find(|row| {
        let kind = row.get(..size_of::<usize>()).and_then(word);
        kind == Some(nix::libc::AT_RANDOM as usize)
    })?;
    row.get(size_of::<usize>()..).and_then(word)
}

/// The bytes that a process has there.
fn bytes(number: Pid, base: usize) -> Option<[u8; DRAWN]> {
    let mut bytes = [0; DRAWN];
    let remote = [RemoteIoVec { base, len: DRAWN }];
    let there = process_vm_readv(number, &mut [IoSliceMut::new(&mut bytes)], &remote);
    (there == Ok(DRAWN)).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_read_where_the_bytes_are_those_of_the_program() {
        let number = Pid::this();
        let mut own = Beginning::of(number.as_raw());
        assert!(own.is_of(number) && own.is_as(&own));
        let text = b"here";
        let mut out = [0; 4];
        assert_eq!(own.read(number, text.as_ptr().addr(), &mut out), Some(4));
        assert_eq!(&out, text);
        // A part that is not there.
        assert_eq!(own.read(number, 8, &mut out), Some(0));
        if let Some((_, drawn)) = &mut own.drawn {
            drawn[0] ^= 1;
        }
        assert_eq!(own.read(number, text.as_ptr().addr(), &mut out), None);
        assert!(own.is_of(number), "the program may have written there");
        own.vector.clear();
        assert!(!own.is_of(number));
    }
}
