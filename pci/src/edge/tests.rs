//! Mapped files of a directory, and memory.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::io::Write as _;
use std::num::NonZeroUsize;
use std::os::unix::fs::FileExt as _;

use super::*;

fn file(words: &[u32]) -> File {
    let mut file = tempfile::tempfile().unwrap();
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    file.write_all(&bytes).unwrap();
    file
}

#[test]
fn a_window_reads_and_writes_the_file() {
    let file = file(&[1, 2, 3, 4]);
    let window = Window::new(&file, 0, 16, Using::Driving).unwrap();
    assert_eq!(window.read32(8), 3);
    window.write32(0x1234_5678, 4);
    let mut bytes = [0; 4];
    file.read_exact_at(&mut bytes, 4).unwrap();
    assert_eq!(bytes, [0x78, 0x56, 0x34, 0x12]);
    assert_eq!(window.read32(16), u32::MAX);
    assert!(!window.is_lost());
}

#[test]
fn a_window_for_reading_writes_nothing() {
    let file = file(&[1, 2]);
    let window = Window::new(&file, 0, 8, Using::Reading).unwrap();
    window.write32(7, 4);
    assert_eq!(window.read32(4), 2);
}

#[test]
fn pages_that_go_away_read_as_ones() {
    let file = file(&[5; 2048]);
    let window = Window::new(&file, 0, 8192, Using::Driving).unwrap();
    let other = Window::new(&file, 0, 4096, Using::Reading).unwrap();
    assert_eq!(window.read32(4096), 5);
    file.set_len(4096).unwrap();
    assert_eq!(window.read32(4096), u32::MAX);
    assert!(window.is_lost() && !other.is_lost());
    // The rest of the page is gone as well, the first page is not, and writes go nowhere.
    assert_eq!(window.read32(8188), u32::MAX);
    assert_eq!(window.read32(4092), 5);
    window.write32(1, 4096);
    file.set_len(0).unwrap();
    window.write32(1, 0);
    assert_eq!(other.read32(0), u32::MAX);
    drop(window);
    // Its place among those watched is another's.
    for _ in 0..100 {
        drop(Window::new(&file, 0, 4096, Using::Driving).unwrap());
    }
}

#[test]
fn memory_is_copied_inside_its_bounds() {
    let memory = Memory::plain(NonZeroUsize::new(8192).unwrap()).unwrap();
    let bytes: Vec<u8> = (0..200).collect();
    assert!(memory.write(4000, &bytes));
    let mut back = vec![0; 200];
    assert!(memory.read(4000, &mut back));
    assert_eq!(back, bytes);
    assert!(memory.clear(4001, 198));
    assert!(memory.read(4000, &mut back));
    assert_eq!((back[0], back[1], back[198], back[199]), (0, 0, 0, 199));
    assert!(!memory.write(8191, &[1, 2]) && !memory.read(usize::MAX, &mut back));
    assert!(memory.write(8192, &[]) && !memory.clear(8000, 193));
}
