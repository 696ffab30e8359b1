//! Peak memory of a replay, measured in a process of its own.
//!
//! Linux alone says what a process's peak was (proc(5), VmHWM).
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crestline_cli::capture::{Capture, Reader, pack_into};
use crestline_cli::replay::{Options, Session, device_of_reader};
use crestline_tests::scenes::{SCENES, file};

/// KiB.
const LIMIT: u64 = 256 << 10;

/// Replays in a child; its output and its peak in KiB.
fn child_of(path: &Path) -> (String, u64) {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["child", "--exact", "--nocapture"])
        .env("CRESTLINE_MEMORY_CAPTURE", path)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{}: {text}", path.display());
    let peak = text
        .lines()
        .find_map(|line| line.split_once("peak KiB: ")?.1.trim().parse::<u64>().ok())
        .unwrap_or_else(|| panic!("{}: {text}", path.display()));
    println!("{}: peak {peak} KiB", path.display());
    assert!(peak < LIMIT, "{}: {peak} KiB", path.display());
    (text, peak)
}

#[test]
fn every_scene_stays_under_256_mib() {
    for scene in SCENES {
        let (text, _) = child_of(&file(scene, "frame.crest"));
        assert!(text.contains("outcome: fine"), "{text}");
    }
}

/// Does nothing unless it runs as the child of the tests here: what `crestline replay --png` does.
#[test]
fn child() {
    let Ok(path) = std::env::var("CRESTLINE_MEMORY_CAPTURE") else {
        return;
    };
    let replay = || -> Result<(), String> {
        let mut reader = Reader::open(Path::new(&path)).map_err(|e| e.to_string())?;
        let options = Options::new(device_of_reader(&reader).unwrap());
        let mut session = Session::new(options, reader.buffer_limit()).unwrap();
        while let Some(submission) = reader.next_submission().map_err(|e| e.to_string())? {
            let run = session.run_submission(submission);
            run.map_err(|e| e.to_string())?;
        }
        if let Ok(mut view) = session.view() {
            view.write_png(std::io::sink(), true).unwrap();
            println!("picture: {}x{}", view.width, view.height);
        }
        session.finish().map_err(|e| e.to_string())
    };
    println!("outcome: {}", replay().err().unwrap_or("fine".into()));
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let peak = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB"));
    println!("peak KiB: {}", peak.unwrap());
}

/// An empty directory of the test's own.
fn scratch(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("memory_{name}"));
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).unwrap();
    path
}

/// An entry of `buffers`.
fn entry(id: u64, size: usize, at: u32, layout: (u32, u32), file: &str, bytes: usize) -> String {
    let (tiling, stride) = layout;
    format!(
        r#"{{"bo_id":{id},"size":{size},"gtt_offset":{at},"tiling":{tiling},"stride":{stride},"file":"{file}","file_size":{bytes}}}"#
    )
}

fn json(batch_len: usize, entries: &str) -> String {
    format!(
        r#"{{"pci":"8086:2a02","batch_start_offset":0,"batch_len":{batch_len},"batch_index":0,"buffers":[{entries}]}}"#
    )
}

/// Bytes that no page of zeros is among.
fn noise(bytes: usize) -> Vec<u8> {
    (0..bytes as u32)
        .map(|i| (i.wrapping_mul(0x9e37_79b9) >> 24) as u8 | 1)
        .collect()
}

/// Submissions of one large buffer, whose first page differs from one to the next.
fn many_large(directory: &Path, submissions: usize, bytes: usize) {
    let mut large = noise(bytes);
    for number in 0..submissions {
        let exec = directory.join(format!("exec_{number:04}"));
        fs::create_dir_all(&exec).unwrap();
        fs::write(exec.join("a.bin"), [0, 0, 0, 5, 0, 0, 0, 0]).unwrap();
        large[100] = number as u8 | 1;
        if number < 2 {
            fs::write(exec.join("b.bin"), &large).unwrap();
        } else {
            let before = directory.join(format!("exec_{:04}/b.bin", number - 2));
            fs::hard_link(before, exec.join("b.bin")).unwrap();
        }
        let entries = [
            entry(1, 4096, 0x10_b000, (0, 0), "a.bin", 8),
            entry(2, bytes, 0x20_0000, (0, 0), "b.bin", bytes),
        ];
        fs::write(exec.join("exec.json"), json(8, &entries.join(","))).unwrap();
    }
}

#[test]
fn submissions_are_in_memory_one_at_a_time() {
    let directory = scratch("many");
    many_large(&directory, 16, 122 << 20);
    let (text, peak) = child_of(&directory);
    assert!(text.contains("outcome: fine"), "{text}");
    // The buffer is there, and once.
    assert!(peak > 122 << 10 && peak < 160 << 10, "{peak} KiB");
    // All at once would be two gigabytes, which is refused before it is read.
    let error = Capture::load(&directory).unwrap_err().to_string();
    assert!(error.contains("bytes in all"), "{error}");
    let _ = fs::remove_dir_all(&directory);
}

#[test]
fn packed_submissions_too() {
    let directory = scratch("packed");
    many_large(&directory, 4, 96 << 20);
    let packed = directory.join("many.crest");
    let mut out = fs::File::create(&packed).unwrap();
    pack_into(&directory, &mut out).unwrap();
    let (text, peak) = child_of(&packed);
    assert!(text.contains("outcome: fine"), "{text}");
    assert!(peak > 96 << 10 && peak < 160 << 10, "{peak} KiB");
    let _ = fs::remove_dir_all(&directory);
}

#[test]
fn the_largest_picture_is_written_row_by_row() {
    // The Gouraud triangle with another target: SURFACE_STATE of R8_UNORM (140h), 8192x8192, X-tiled with 8192 bytes a row
    // (genxml gen4: format 26:18 of dword 0; height 31:19 and width 18:6 of dword 2; pitch 19:3 of dword 3).
    let capture = Capture::load(&file("c_gouraud", "frame.crest")).unwrap();
    let exec = &capture.execs[0];
    let directory = scratch("picture");
    let folder = directory.join("exec_0000");
    fs::create_dir(&folder).unwrap();
    let mut entries = String::new();
    for (index, buffer) in exec.buffers.iter().enumerate() {
        let mut data = buffer.data.clone();
        let (mut size, mut at, mut stride) = (buffer.size as usize, buffer.address, buffer.stride);
        if index == 2 {
            for word in (0..data.len() - 16).step_by(4) {
                let dword =
                    |i: usize| u32::from_le_bytes(data[word + i * 4..][..4].try_into().unwrap());
                if dword(0) >> 29 == 1 && dword(1) == 0x12_0000 {
                    let words = [
                        dword(0) & !(0x1ff << 18) | 0x140 << 18,
                        0x100_0000,
                        8191 << 19 | 8191 << 6,
                        dword(3) & 7 | 8191 << 3,
                    ];
                    for (i, value) in words.iter().enumerate() {
                        data[word + i * 4..][..4].copy_from_slice(&value.to_le_bytes());
                    }
                }
            }
        }
        if buffer.tiling != driver::Tiling::None {
            data = noise(64 << 20);
            (size, at, stride) = (64 << 20, 0x100_0000, 8192);
        }
        let layout = (buffer.tiling as u32, stride);
        fs::write(folder.join(&buffer.file), &data).unwrap();
        let _ = write!(
            entries,
            "{}{}",
            if index > 0 { "," } else { "" },
            entry(buffer.bo_id, size, at, layout, &buffer.file, data.len())
        );
    }
    let json = json(exec.batch_len as usize, &entries);
    fs::write(folder.join("exec.json"), json).unwrap();
    let (text, _) = child_of(&directory);
    assert!(text.contains("outcome: fine"), "{text}");
    assert!(text.contains("picture: 8192x8192"), "{text}");
    let _ = fs::remove_dir_all(&directory);
}

#[test]
fn a_pack_of_empty_files_is_refused_early() {
    use std::io::Write as _;
    let directory = scratch("records");
    let packed = directory.join("records.crest");
    let file = fs::File::create(&packed).unwrap();
    let mut out = std::io::BufWriter::new(file);
    out.write_all(b"CRESTv1\n").unwrap();
    let mut out = flate2::write::ZlibEncoder::new(out, flate2::Compression::fast());
    for number in 0..1_000_000 {
        let name = format!("exec_0000/{number}");
        let lengths = [name.len() as u32, 0].map(u32::to_le_bytes).concat();
        out.write_all(&lengths).unwrap();
        out.write_all(name.as_bytes()).unwrap();
    }
    out.finish().unwrap();
    let (text, peak) = child_of(&packed);
    assert!(
        text.contains("records.crest") && text.contains("more than 131072 files"),
        "{text}"
    );
    assert!(peak < 64 << 10, "{peak} KiB");
    let _ = fs::remove_dir_all(&directory);
}
