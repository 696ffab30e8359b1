//! Packed captures: what is read keeps the rules of the format.
//!
//! An input that begins with the format's magic is a packed capture; any other is the stream inside of one, which is
//! compressed first: few changes of compressed data get past its checksum.

use std::io::Write as _;

use crestline_cli::capture::{Capture, Exec, GTT_BYTES};
use crestline_cli::picture::walk;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use mmio_mock::intel::ff::state::PipelineState;

/// Name and version of the format, as in docs/captures.md.
const MAGIC: &[u8] = b"CRESTv1\n";
const PAGE: u64 = 4096;

/// Runs one input.
pub fn run(data: &[u8]) {
    if data.starts_with(MAGIC) {
        read(data);
    } else {
        read(&packed(data));
    }
}

/// Records as a packed capture, stored as they are.
pub(super) fn packed(records: &[u8]) -> Vec<u8> {
    let mut stream = ZlibEncoder::new(MAGIC.to_vec(), Compression::none());
    stream.write_all(records).expect("memory takes all");
    stream.finish().expect("memory takes all")
}

/// Reads a packed capture; an error has something to say, anything else keeps the rules.
pub(super) fn read(packed: &[u8]) {
    match Capture::from_packed("input", packed) {
        Ok(capture) => {
            assert!(!capture.execs.is_empty());
            for exec in &capture.execs {
                check(exec);
            }
        }
        Err(error) => assert!(error.to_string().contains("input"), "{error}"),
    }
}

fn check(exec: &Exec) {
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for buffer in &exec.buffers {
        let size = u64::from(buffer.size);
        assert!(size > 0 && size.is_multiple_of(PAGE));
        assert!(u64::from(buffer.address).is_multiple_of(PAGE) && buffer.end() < GTT_BYTES);
        assert!(buffer.data.len() as u64 <= size && u64::from(buffer.stride) <= size);
        assert_eq!(buffer.dword(buffer.size), None);
        ranges.push((u64::from(buffer.address), buffer.end()));
    }
    ranges.sort_unstable();
    assert!(ranges.windows(2).all(|pair| pair[0].1 <= pair[1].0));
    let batch = &exec.buffers[exec.batch];
    let end = u64::from(exec.batch_start) + u64::from(exec.batch_len);
    assert!(exec.batch_len > 0 && end <= u64::from(batch.size));
    assert_eq!(
        exec.find(exec.batch_address()),
        Some((exec.batch, exec.batch_start))
    );
    // The rules of a capture let no other device pass.
    let mut devices = mmio_mock::intel::r#gen::DEVICES.iter();
    let device = devices.find(|device| device.pci == exec.pci);
    walk(
        device.expect("a device of the model"),
        &|at| exec.dword(at),
        exec.batch_address(),
        &mut PipelineState::default(),
    );
}
