//! `exec.json`: parsed and checked, beside two files of contents.

use super::captures::{packed, read};

/// MI_BATCH_BUFFER_END and a dword of padding.
const BATCH: [u8; 8] = [0, 0, 0, 5, 0, 0, 0, 0];

/// Runs one input.
pub fn run(data: &[u8]) {
    let mut records = Vec::new();
    for (name, contents) in [
        ("exec.json", data),
        ("bo_000.bin", &BATCH),
        ("bo_001.bin", &[1; 4096]),
    ] {
        let path = format!("exec_0000/{name}");
        records.extend((path.len() as u32).to_le_bytes());
        records.extend((contents.len() as u32).to_le_bytes());
        records.extend(path.as_bytes());
        records.extend(contents);
    }
    read(&packed(&records));
}
