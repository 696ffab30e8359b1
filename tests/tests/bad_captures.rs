//! Damaged captures: each error names file, buffer, offset and what stood there.
//!
//! The rules are those of docs/captures.md.

use std::fs;
use std::path::{Path, PathBuf};

use crestline_cli::capture::{Capture, Limits, pack};
use crestline_cli::replay::Session;
use crestline_tests::scenes::{SCENES, file, options};
use fastrand::Rng;

/// A directory of its own under the build's temporary directory.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("bad_{name}"));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(path.join("exec_0000")).unwrap();
        Scratch(path)
    }

    fn write(&self, file: &str, bytes: impl AsRef<[u8]>) {
        let path = self.0.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    /// The capture of two buffers that every case starts from, with one text replaced.
    fn capture(&self, exec: &str, from: &str, to: &str) {
        assert!(JSON.contains(from), "{from}");
        self.write(&format!("{exec}/exec.json"), JSON.replacen(from, to, 1));
        self.write(&format!("{exec}/bo_000.bin"), [0, 0, 0, 5, 0, 0, 0, 0]);
    }

    fn error(&self) -> String {
        match Capture::load(&self.0) {
            Ok(_) => panic!("{} is taken", self.0.display()),
            Err(error) => error.to_string(),
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A batch of MI_BATCH_BUFFER_END, and a buffer of zeros behind it.
const JSON: &str = r#"{
 "pci":"8086:2a02","gen":4,"ring":"render","batch_start_offset":0,"batch_len":8,"batch_index":0,
 "buffers":[
  {"index":0,"bo_id":5,"size":4096,"gtt_offset":"0x10b000","tiling":0,"stride":0,"file":"bo_000.bin","file_size":8},
  {"index":1,"bo_id":6,"size":8192,"gtt_offset":"0x10c000","tiling":1,"stride":512,"file":"bo_001.bin","file_size":0}
 ]}"#;

#[test]
fn the_undamaged_capture_runs() {
    let scratch = Scratch::new("good");
    // I915_EXEC_DEFAULT stands in captures of clients that leave the choice to the kernel (libdrm_intel).
    let whole = [("exec_0000", "render"), ("exec_0001", "default")];
    for (exec, ring) in whole {
        scratch.capture(exec, "\"render\"", &format!("\"{ring}\""));
    }
    let single = whole.map(|(exec, _)| scratch.0.join(exec));
    for path in std::iter::once(scratch.0.clone()).chain(single) {
        let capture = Capture::load(&path).unwrap();
        let mut session = Session::new(options(&capture), capture.buffer_bytes()).unwrap();
        session.run(&capture.execs[0]).unwrap();
        let error = session.picture().unwrap_err().to_string();
        assert!(error.contains("no 3DPRIMITIVE"), "{error}");
        session.finish().unwrap();
    }
}

/// What is replaced, by what, and what the error must say.
const CASES: &[(&str, &str, &[&str])] = &[
    (
        "\"8086:2a02\"",
        "\"8086:0166\"",
        &["exec.json", "pci", "8086:0166", "modelled"],
    ),
    ("\"8086:2a02\"", "\"10de:2a02\"", &["pci", "10de:2a02"]),
    (
        "\"8086:2a02\"",
        "\"GM965\"",
        &["pci", "GM965", "vendor:device"],
    ),
    (
        "\"8086:2a02\"",
        "17",
        &["exec.json", "pci is 17", "line 2", "column"],
    ),
    ("\"render\"", "\"bsd\"", &["ring", "bsd"]),
    (
        "\"batch_index\":0",
        "\"batch_index\":2",
        &["batch_index", "2", "no such buffer"],
    ),
    (
        "\"batch_index\":0",
        "\"batch_index\":-1",
        &["line 2", "batch_index is -1"],
    ),
    (
        "\"batch_index\":0",
        "\"batch_index\":18446744073709551615",
        &["batch_index"],
    ),
    (
        "\"batch_index\":0",
        "\"batch_index\":1.5",
        &["line 2", "batch_index is 1.5"],
    ),
    (
        "\"batch_index\":0,",
        "\"other\":0,",
        &["missing field", "batch_index"],
    ),
    (
        "\"batch_len\":8",
        "\"batch_len\":4100",
        &["batch_len", "0x1004", "leaves its buffer"],
    ),
    (
        "\"batch_len\":8",
        "\"batch_len\":7",
        &["batch_len", "0x7", "dwords"],
    ),
    (
        "\"batch_len\":8",
        "\"batch_len\":\"0xfffffffffffffffc\"",
        &["batch_len", "leaves"],
    ),
    (
        "\"batch_start_offset\":0",
        "\"batch_start_offset\":4",
        &["batch_start_offset", "0x4", "8"],
    ),
    (
        "\"batch_start_offset\":0",
        "\"batch_start_offset\":4096",
        &["batch_start_offset", "0x1000", "behind"],
    ),
    ("\"size\":4096", "\"size\":0", &["buffer 0", "size is 0"]),
    (
        "\"size\":4096",
        "\"size\":4097",
        &["buffer 0", "0x1001", "pages"],
    ),
    (
        "\"size\":8192",
        "\"size\":\"0xffffffffffffe000\"",
        &["buffer 1", "512 MiB"],
    ),
    (
        "\"size\":8192",
        "\"size\":268435456",
        &["buffer 1", "268439552", "134217728"],
    ),
    (
        "\"size\":4096",
        "\"size\":8192",
        &[
            "buffer 1",
            "0x0010c000..0x0010e000",
            "0x0010b000..0x0010d000",
            "buffer 0 (bo_000.bin)",
        ],
    ),
    (
        "\"0x10c000\"",
        "\"0x10b000\"",
        &["buffer 1", "overlaps", "buffer 0 (bo_000.bin)"],
    ),
    (
        "\"0x10b000\"",
        "\"0x10b004\"",
        &["buffer 0", "gtt_offset", "0x10b004", "page"],
    ),
    (
        "\"0x10b000\"",
        "\"0x20000000\"",
        &["buffer 0", "gtt_offset", "0x20000000", "address space"],
    ),
    (
        "\"0x10c000\"",
        "\"0x1fffe000\"",
        &["buffer 1", "gtt_offset", "0x1fffe000"],
    ),
    (
        "\"0x10c000\"",
        "\"0xfffffffffffff000\"",
        &["buffer 1", "gtt_offset"],
    ),
    ("\"0x10c000\"", "\"0x\"", &["line", "\"0x\""]),
    ("\"0x10c000\"", "\"0x-1\"", &["line", "0x-1"]),
    (
        "\"0x10c000\"",
        "\"twelve\"",
        &["line 5", "buffer 1", "gtt_offset is \"twelve\""],
    ),
    (
        "\"0x10c000\"",
        "null",
        &["line 5", "buffer 1", "gtt_offset is null"],
    ),
    (
        "\"size\":8192",
        "\"size\":-1",
        &["line 5", "buffer 1", "size is -1", "expected a number"],
    ),
    (
        "\"size\":8192",
        "\"size\":1.5",
        &["line 5", "buffer 1", "size is 1.5"],
    ),
    (
        "\"stride\":512",
        "\"stride\":true",
        &["line 5", "buffer 1", "stride is true"],
    ),
    (
        "\"tiling\":1",
        "\"tiling\":[1]",
        &["line 5", "buffer 1", "tiling is an array"],
    ),
    (
        "\"bo_000.bin\"",
        "17",
        &["line 4", "buffer 0", "file is 17", "expected a string"],
    ),
    (
        "\"batch_len\":8",
        "\"batch_len\":{}",
        &["line 2", "batch_len is an object"],
    ),
    (
        "\"bo_id\":6",
        "\"bo_id\":5",
        &["buffer 1", "bo_id 5", "buffer 0"],
    ),
    ("\"index\":1", "\"index\":0", &["buffer 1", "index is 0"]),
    ("\"tiling\":1", "\"tiling\":3", &["buffer 1", "tiling is 3"]),
    (
        "\"stride\":512",
        "\"stride\":100",
        &["buffer 1", "stride is 100", "tiles"],
    ),
    (
        "\"stride\":512",
        "\"stride\":0",
        &["buffer 1", "stride is 0"],
    ),
    (
        "\"stride\":512",
        "\"stride\":1048576",
        &["buffer 1", "stride is 1048576"],
    ),
    (
        "\"file_size\":8",
        "\"file_size\":12",
        &["bo_000.bin", "buffer 0", "offset 0x8", "8 bytes", "12"],
    ),
    (
        "\"file_size\":8",
        "\"file_size\":4",
        &["bo_000.bin", "offset 0x4", "8 bytes", "4"],
    ),
    (
        "\"file_size\":8",
        "\"file_size\":4100",
        &["buffer 0", "file_size is 4100", "larger than the buffer"],
    ),
    (
        "\"file_size\":0",
        "\"file_size\":16",
        &["bo_001.bin", "buffer 1"],
    ),
    (
        "\"bo_000.bin\"",
        "\"../bo_000.bin\"",
        &["buffer 0", "../bo_000.bin"],
    ),
    (
        "\"bo_000.bin\"",
        "\"/etc/passwd\"",
        &["buffer 0", "/etc/passwd"],
    ),
    ("\"bo_000.bin\"", "\"\"", &["buffer 0", "file"]),
    (
        "\"buffers\":[",
        "\"buffers\":[],\"b\":[",
        &["buffers is []"],
    ),
    ("{\"index\":0", "[\"index\":0", &["line 4", "column"]),
    (" ]}", " ]", &["exec.json", "line"]),
];

#[test]
fn each_rule_has_its_error() {
    for (number, (from, to, expected)) in CASES.iter().enumerate() {
        let scratch = Scratch::new(&format!("case_{number}"));
        scratch.capture("exec_0000", from, to);
        let error = scratch.error();
        println!("{error}");
        for part in *expected {
            assert!(
                error.contains(part),
                "{from} -> {to}: {error:?} lacks {part:?}"
            );
        }
    }
}

#[test]
fn missing_and_strange_files() {
    let scratch = Scratch::new("missing");
    assert!(scratch.error().contains("exec.json"));
    fs::remove_dir(scratch.0.join("exec_0000")).unwrap();
    assert!(scratch.error().contains("exec_NNNN"));
    scratch.write("exec_0000/exec.json", JSON);
    let error = scratch.error();
    assert!(
        error.contains("bo_000.bin") && error.contains("buffer 0"),
        "{error}"
    );
    fs::create_dir(scratch.0.join("exec_0000/bo_000.bin")).unwrap();
    let error = scratch.error();
    assert!(error.contains("not a regular file"), "{error}");
    let missing = Capture::load(&scratch.0.join("nothing")).unwrap_err();
    assert!(missing.to_string().contains("nothing"), "{missing}");
    scratch.write("text", "hello");
    let error = Capture::load(&scratch.0.join("text")).unwrap_err();
    assert!(error.to_string().contains("packed capture"), "{error}");
    scratch.write("exec_0000/exec.json", [0xff, 0xfe, 0x00]);
    assert!(scratch.error().contains("line 1"));
}

#[test]
fn nesting_is_bounded() {
    let scratch = Scratch::new("nesting");
    scratch.write("exec_0000/exec.json", "[".repeat(1 << 20));
    assert!(scratch.error().contains("exec.json"));
    let many = format!("{{\"x\":{}", "[".repeat(1 << 20));
    scratch.write("exec_0000/exec.json", many);
    assert!(scratch.error().contains("line 1"));
}

#[test]
fn buffers_of_several_submissions_agree() {
    let scratch = Scratch::new("several");
    scratch.capture("exec_0000", "render", "render");
    scratch.capture("exec_0001", "\"size\":8192", "\"size\":4096");
    let error = scratch.error();
    assert!(
        error.contains("exec_0001") && error.contains("bo_id 6") && error.contains("in exec_0000"),
        "{error}"
    );
    let limits = Limits {
        execs: 1,
        ..Limits::default()
    };
    let error = Capture::load_with(&scratch.0, limits)
        .unwrap_err()
        .to_string();
    assert!(error.contains("2 submissions"), "{error}");
}

#[test]
fn buffers_move_and_keep_what_the_gpu_wrote() {
    // MI_STORE_DATA_IMM through the GTT (i915: 20h << 23, bit 22), then MI_BATCH_BUFFER_END.
    let store = |address: u32, value: u32| -> Vec<u8> {
        [0x1040_0002, 0, address, value, 0x0500_0000, 0]
            .iter()
            .flat_map(|word: &u32| word.to_le_bytes())
            .collect()
    };
    let scratch = Scratch::new("moves");
    let json = JSON
        .replace("\"file_size\":8", "\"file_size\":24")
        .replace("\"batch_len\":8", "\"batch_len\":24");
    scratch.write("exec_0000/exec.json", &json);
    scratch.write("exec_0000/bo_000.bin", store(0x0010_c010, 7));
    // The second submission has both buffers elsewhere, swapped over, and the CPU has written one byte.
    let json = json
        .replace("\"0x10b000\"", "\"0x10d000\"")
        .replace("\"0x10c000\"", "\"0x10b000\"")
        .replace(
            "\"bo_001.bin\",\"file_size\":0",
            "\"bo_001.bin\",\"file_size\":1",
        );
    scratch.write("exec_0001/exec.json", &json);
    scratch.write("exec_0001/bo_000.bin", store(0x0010_b020, 9));
    scratch.write("exec_0001/bo_001.bin", [0x55]);
    let capture = Capture::load(&scratch.0).unwrap();
    assert_eq!(capture.buffer_bytes(), 4096 + 8192);
    let mut session = Session::new(options(&capture), capture.buffer_bytes()).unwrap();
    for exec in &capture.execs {
        session.run(exec).unwrap_or_else(|e| panic!("{e}"));
    }
    let bytes = session.contents(&capture.execs[1].buffers[1]).unwrap();
    let mut expected = vec![0; 8192];
    expected[0] = 0x55;
    expected[0x10] = 7;
    expected[0x20] = 9;
    assert!(bytes == expected);
    session.finish().unwrap();
}

#[test]
fn packing_loses_nothing() {
    let scratch = Scratch::new("pack");
    scratch.capture("exec_0000", "render", "render");
    scratch.capture("exec_0001", "render", "render");
    let directory = Capture::load(&scratch.0).unwrap();
    let packed = pack(&scratch.0).unwrap();
    assert_eq!(packed, pack(&scratch.0).unwrap());
    let again = Capture::from_packed("packed", &packed).unwrap();
    assert_eq!(again.execs, directory.execs);
    // A file that the directory's check refuses is not packed.
    scratch.capture("exec_0001", "\"size\":8192", "\"size\":4096");
    assert!(pack(&scratch.0).is_err());
}

#[test]
fn damaged_packs_are_refused() {
    let mut random = Rng::with_seed(11);
    for scene in SCENES {
        let good = fs::read(file(scene, "frame.crest")).unwrap();
        let whole = Capture::from_packed(scene, &good).unwrap();
        for cut in [
            0,
            1,
            7,
            8,
            9,
            20,
            good.len() / 2,
            good.len() - 5,
            good.len() - 1,
        ] {
            let error = Capture::from_packed(scene, &good[..cut]).unwrap_err();
            assert!(error.to_string().starts_with(scene), "{error}");
        }
        for _ in 0..50 {
            let mut bad = good.clone();
            let at = random.u32(..bad.len() as u32) as usize;
            bad[at] ^= 1 << random.u32(..8);
            // A flip that unpacks to the very same bytes (a match found elsewhere) is no damage.
            if let Ok(capture) = Capture::from_packed(scene, &bad) {
                assert!(
                    capture == whole,
                    "{scene}: a flipped bit in byte {at} is not noticed"
                );
            }
        }
    }
}

#[test]
fn packs_cannot_fill_the_memory() {
    use std::io::Write as _;
    // A record that says 4 GiB, and 160 MiB of zeros that compress to nothing.
    let mut out =
        flate2::write::ZlibEncoder::new(b"CRESTv1\n".to_vec(), flate2::Compression::fast());
    let name = b"exec_0000/exec.json";
    out.write_all(&(name.len() as u32).to_le_bytes()).unwrap();
    out.write_all(&u32::MAX.to_le_bytes()).unwrap();
    out.write_all(name).unwrap();
    let zeros = vec![0; 1 << 20];
    for _ in 0..160 {
        out.write_all(&zeros).unwrap();
    }
    let bomb = out.finish().unwrap();
    assert!(bomb.len() < 1 << 20);
    let error = Capture::from_packed("bomb", &bomb).unwrap_err().to_string();
    assert!(error.contains("unpacks to more"), "{error}");
}

#[test]
fn packs_of_many_files_are_refused() {
    use std::io::Write as _;
    let mut out =
        flate2::write::ZlibEncoder::new(b"CRESTv1\n".to_vec(), flate2::Compression::fast());
    for number in 0..200_000 {
        let name = format!("exec_0000/{number}");
        out.write_all(&(name.len() as u32).to_le_bytes()).unwrap();
        out.write_all(&[0; 4]).unwrap();
        out.write_all(name.as_bytes()).unwrap();
    }
    let many = out.finish().unwrap();
    let error = Capture::from_packed("many", &many).unwrap_err().to_string();
    assert!(error.contains("more than 131072 files"), "{error}");
}

#[test]
fn submissions_are_for_one_device() {
    let scratch = Scratch::new("devices");
    scratch.capture("exec_0000", "render", "render");
    scratch.capture("exec_0001", "8086:2a02", "8086:2a12");
    let error = scratch.error();
    for part in ["exec_0001", "8086:2a12", "8086:2a02", "in exec_0000"] {
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn batch_len_is_the_length_of_the_batch() {
    let run = |json: &str, batch: &[u32]| {
        let scratch = Scratch::new(&format!("len_{}", json.len() + batch.len()));
        let size = batch.len() * 4;
        let json = JSON
            .replace("\"batch_len\":8", json)
            .replace("\"file_size\":8", &format!("\"file_size\":{size}"));
        scratch.write("exec_0000/exec.json", json);
        let bytes: Vec<u8> = batch.iter().flat_map(|word| word.to_le_bytes()).collect();
        scratch.write("exec_0000/bo_000.bin", bytes);
        let capture = Capture::load(&scratch.0).unwrap();
        let mut session = Session::new(options(&capture), capture.buffer_bytes()).unwrap();
        let outcome = session.run(&capture.execs[0]);
        session.finish().unwrap();
        outcome.map_err(|error| error.to_string())
    };
    // MI_NOOP and MI_BATCH_BUFFER_END (i915: 0 and 0Ah << 23).
    let (noop, end) = (0, 0x0500_0000);
    let odd = [noop, noop, end];
    let even = [noop, noop, noop, end];
    for good in ["\"batch_len\":12", "\"batch_len\":16", "\"batch_len\":0"] {
        assert_eq!(run(good, &odd), Ok(()), "{good}");
    }
    assert_eq!(run("\"batch_len\":16", &even), Ok(()));
    for (bad, said) in [("\"batch_len\":8", "8"), ("\"batch_len\":24", "24")] {
        let error = run(bad, &odd).unwrap_err();
        for part in [
            "exec_0000/exec.json",
            "buffer 0 (bo_000.bin)",
            &format!("batch_len is {said} "),
            "12",
            "MI_BATCH_BUFFER_END ends at offset 0xc",
        ] {
            assert!(error.contains(part), "{error} lacks {part}");
        }
    }
}

#[test]
fn tiling_and_stride_are_those_of_the_surface() {
    let run = |change: &dyn Fn(&mut crestline_cli::capture::Buffer)| {
        let mut capture = Capture::load(&file("b_flat", "frame.crest")).unwrap();
        // The colour buffer, X-tiled with 1024 bytes a row.
        change(&mut capture.execs[0].buffers[4]);
        let mut session = Session::new(options(&capture), capture.buffer_bytes()).unwrap();
        let outcome = session.run(&capture.execs[0]);
        assert_eq!(session.picture().unwrap().width, 256);
        outcome.map_err(|error| error.to_string())
    };
    assert_eq!(run(&|_| ()), Ok(()));
    // Nobody says the stride of a linear buffer, but its tiling is wrong all the same.
    let error = run(&|b| (b.tiling, b.stride) = (driver::Tiling::None, 0)).unwrap_err();
    for part in [
        "exec_0000/exec.json, buffer 4 (bo_004.bin)",
        "tiling is 0 (linear)",
        "says 1 (X)",
        "buffer 2 (bo_002.bin)",
    ] {
        assert!(error.contains(part), "{error} lacks {part}");
    }
    let error = run(&|b| b.tiling = driver::Tiling::Y).unwrap_err();
    assert!(error.contains("tiling is 2 (Y)"), "{error}");
    let error = run(&|b| b.stride = 2048).unwrap_err();
    assert!(
        error.contains("stride is 2048") && error.contains("says 1024"),
        "{error}"
    );
}

#[test]
fn random_json_never_panics() {
    let mut random = Rng::with_seed(12);
    let scratch = Scratch::new("random");
    for _ in 0..500 {
        let mut text = JSON.as_bytes().to_vec();
        for _ in 0..=random.u32(..3) {
            let at = random.u32(..text.len() as u32) as usize;
            match random.u32(..3) {
                0 => text[at] = random.u32(..) as u8,
                1 => text[at] = b"0123456789x\"{}[],:-"[random.u32(..19) as usize],
                _ => {
                    text.remove(at);
                }
            }
        }
        scratch.write("exec_0000/exec.json", &text);
        scratch.write("exec_0000/bo_000.bin", [0, 0, 0, 5, 0, 0, 0, 0]);
        if let Err(error) = Capture::load(&scratch.0) {
            assert!(error.to_string().contains("exec_0000"), "{error}");
        }
    }
}

/// Many submissions of many buffers without contents: their lists alone are limited.
#[test]
fn lists_are_held_up_to_a_limit() {
    let scratch = Scratch::new("lists");
    let buffer = |index: u64| {
        format!(
            r#"{{"bo_id":{index},"size":4096,"gtt_offset":{},"file":"bo.bin","file_size":0}}"#,
            (index + 1) * 4096
        )
    };
    let buffers: Vec<_> = (0..500).map(buffer).collect();
    let json = format!(
        r#"{{"pci":"8086:2a02","batch_start_offset":0,"batch_len":8,"batch_index":0,"buffers":[{}]}}"#,
        buffers.join(",")
    );
    for exec in 0..20 {
        scratch.write(&format!("exec_{exec:04}/exec.json"), &json);
    }
    // A buffer has 64 bytes and more: 10,000 of them have 640,000.
    let limits = |held_bytes| Limits {
        held_bytes,
        ..Limits::default()
    };
    let error = Capture::load_with(&scratch.0, limits(600_000)).unwrap_err();
    assert!(
        error.to_string().contains("lists of buffers take"),
        "{error}"
    );
    assert_eq!(Capture::load(&scratch.0).unwrap().execs.len(), 20);
}
