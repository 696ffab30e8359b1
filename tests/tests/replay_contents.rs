//! What a later submission of a capture finds where the device has written.
//!
//! docs/captures.md.

use std::fs;
use std::path::{Path, PathBuf};

use crestline_cli::capture::Reader;
use crestline_cli::replay::{Options, Session, device_of_reader};

const BATCH: u32 = 0x0010_0000;
const TARGET: u32 = 0x0020_0000;
/// MI_STORE_DATA_IMM of one dword to the global GTT (i915 `MI_STORE_DWORD_IMM_GEN4`), MI_BATCH_BUFFER_END.
const STORE: [u32; 6] = [0x1040_0002, 0, TARGET + 8, 0xfeed_f00d, 0x0500_0000, 0];
const NOTHING: [u32; 2] = [0x0500_0000, 0];

fn submission(dir: &Path, number: u32, batch: &[u32], target: &[u8], complete: &str) {
    let dir = dir.join(format!("exec_{number:04}"));
    fs::create_dir_all(&dir).unwrap();
    let batch: Vec<u8> = batch.iter().flat_map(|dword| dword.to_le_bytes()).collect();
    fs::write(dir.join("bo_000.bin"), &batch).unwrap();
    fs::write(dir.join("bo_001.bin"), target).unwrap();
    let (length, size) = (batch.len(), target.len());
    let json = format!(
        r#"{{"pci": "8086:2a02", "batch_index": 0, "batch_start_offset": 0, "batch_len": {length}, {complete} "buffers": [
            {{"bo_id": 1, "size": 4096, "gtt_offset": {BATCH}, "file": "bo_000.bin", "file_size": {length}}},
            {{"bo_id": 2, "size": 8192, "gtt_offset": {TARGET}, "file": "bo_001.bin", "file_size": {size}}}]}}"#
    );
    fs::write(dir.join("exec.json"), json).unwrap();
}

/// Dwords 1 to 3 of the target after a store into dword 2 and a second submission, in whose dump they are 0, 0 and 7.
fn found(name: &str, complete: &str) -> [u32; 3] {
    let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&dir);
    submission(&dir, 0, &STORE, &[1, 0, 0, 0], complete);
    let dump = [1u32, 0, 0, 7].map(u32::to_le_bytes);
    submission(&dir, 1, &NOTHING, dump.as_flattened(), complete);
    let mut reader = Reader::open(&dir).unwrap();
    let options = Options::new(device_of_reader(&reader).unwrap());
    let mut session = Session::new(options, reader.buffer_limit()).unwrap();
    while let Some(submission) = reader.next_submission().unwrap() {
        session.run_submission(submission).unwrap();
    }
    let memory = session.platform().memory();
    let memory = mmio_mock::core::memory::lock(memory);
    let read = |n: u32| memory.read_u32(mem::GpuAddr::from(TARGET + n * 4)).unwrap();
    [read(1), read(2), read(3)]
}

#[test]
fn only_complete_contents_replace_what_the_device_wrote() {
    assert_eq!(found("contents_cpu", ""), [0, 0xfeed_f00d, 7]);
    let explicit = found("contents_explicit", r#""complete": false,"#);
    assert_eq!(explicit, [0, 0xfeed_f00d, 7]);
    let complete = found("contents_complete", r#""complete": true,"#);
    assert_eq!(complete, [0, 0, 7]);
}
