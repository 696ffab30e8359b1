//! `--trace-format` and `crestline report`: files, exit codes, messages.
//!
//! What stands in the files is checked in `tests/tests/trace_files.rs` and tests/conformance/report.

use std::fs;
use std::path::Path;

use crate::common::{failed, here, ok, scene, scratch};

/// Events of JSON lines and of trace events.
fn events(path: &Path, format: &str) -> Vec<serde_json::Value> {
    let text = fs::read_to_string(path).unwrap();
    match format {
        "jsonl" => text
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect(),
        _ => serde_json::from_str(&text).unwrap(),
    }
}

#[test]
fn replay_writes_each_format() {
    let directory = scratch("trace-formats");
    let capture = scene("c_gouraud");
    for format in ["jsonl", "perfetto"] {
        let path = directory.join(format);
        let file = path.to_str().unwrap();
        ok(&here(&[
            "replay",
            &capture,
            "--trace",
            file,
            "--trace-format",
            format,
        ]));
        assert!(events(&path, format).len() > 1000, "{format}");
    }
    let [plain, text] = ["plain", "text"].map(|name| directory.join(name));
    let plain_name = plain.to_str().unwrap();
    ok(&here(&["replay", &capture, "--trace", plain_name]));
    let text_name = text.to_str().unwrap();
    let args = [
        "replay",
        &capture,
        "--trace",
        text_name,
        "--trace-format",
        "text",
    ];
    ok(&here(&args));
    assert_eq!(fs::read(plain).unwrap(), fs::read(text).unwrap());
}

#[test]
fn media_writes_each_format() {
    let directory = scratch("trace-media");
    let kernel = format!(
        "{}/../examples/kernels/fill.asm",
        env!("CARGO_MANIFEST_DIR")
    );
    let out = directory.join("out.raw");
    let out = format!("{},size=1024", out.to_str().unwrap());
    for format in ["jsonl", "perfetto"] {
        let path = directory.join(format);
        let file = path.to_str().unwrap();
        let args = [
            "media",
            "run",
            &kernel,
            "--grid",
            "4x2",
            "--curbe",
            "ud:7",
            "--out",
            &out,
            "--trace",
            file,
            "--trace-format",
            format,
        ];
        ok(&here(&args));
        let events = events(&path, format);
        let threads = events
            .iter()
            .filter(|event| event["event"] == "dispatch" || event["cat"] == "thread");
        assert_eq!(threads.count(), 8, "{format}");
        if format == "jsonl" {
            let times = events.iter().map(|event| event["t"].as_u64().unwrap());
            assert!(times.is_sorted());
        }
    }
}

#[test]
fn a_format_needs_a_trace_and_a_trace_a_place() {
    let capture = scene("a_clear");
    let output = here(&["replay", &capture, "--trace-format", "jsonl"]);
    assert_eq!(output.status.code(), Some(2));
    let missing = scratch("trace-nowhere").join("missing/trace");
    let missing = missing.to_str().unwrap();
    for format in ["text", "jsonl", "perfetto"] {
        let args = [
            "replay",
            &capture,
            "--trace",
            missing,
            "--trace-format",
            format,
        ];
        let message = failed(&here(&args));
        assert!(message.contains(missing), "{message}");
    }
    // A disk that is full.
    for format in ["jsonl", "perfetto"] {
        let args = [
            "replay",
            &capture,
            "--trace",
            "/dev/full",
            "--trace-format",
            format,
        ];
        let message = failed(&here(&args));
        assert!(message.contains("/dev/full"), "{message}");
    }
}

#[test]
fn a_report_is_one_page() {
    let directory = scratch("report");
    let page = directory.join("page.html");
    let file = page.to_str().unwrap();
    let told = ok(&here(&["report", &scene("b_flat"), "-o", file]));
    assert!(told.contains("256x256"), "{told}");
    let text = fs::read_to_string(&page).unwrap();
    assert!(text.starts_with("<!doctype html>") && text.trim_end().ends_with("</html>"));
    // Nothing is asked of a network; the namespace of SVG is a name.
    let asked = text.replace("http://www.w3.org/2000/svg", "");
    assert!(!asked.contains("http:") && !asked.contains("https:"));
    assert!(!text.contains("/*DATA*/") && !text.contains("/*STYLE*/"));
    // The same frame, the same page.
    let again = directory.join("again.html");
    let args = ["report", &scene("b_flat"), "-o", again.to_str().unwrap()];
    ok(&here(&args));
    assert_eq!(text, fs::read_to_string(again).unwrap());
}

#[test]
fn what_a_report_cannot_do_is_told() {
    let directory = scratch("report-errors");
    let file = directory.join("page.html");
    let file = file.to_str().unwrap();
    let missing = directory.join("missing/page.html");
    let missing = missing.to_str().unwrap();
    let message = failed(&here(&["report", missing, "-o", file]));
    assert!(message.contains(missing), "{message}");
    let empty = directory.to_str().unwrap();
    let message = failed(&here(&["report", empty, "-o", file]));
    assert!(message.contains("exec_NNNN"), "{message}");
    let capture = scene("a_clear");
    let message = failed(&here(&["report", &capture, "-o", missing]));
    assert!(message.contains(missing), "{message}");
    let message = failed(&here(&["report", &capture, "--at", "256,0"]));
    assert!(message.contains("256x256"), "{message}");
    let output = here(&["report", &capture]);
    assert_eq!(output.status.code(), Some(2));
    // A batch that draws nothing: its directory is made by hand.
    let exec = directory.join("nothing/exec_0000");
    fs::create_dir_all(&exec).unwrap();
    let json = r#"{"pci": "8086:2a02", "batch_index": 0, "batch_start_offset": 0, "batch_len": 8, "buffers": [
        {"bo_id": 1, "size": 4096, "gtt_offset": 1048576, "tiling": 0, "stride": 0, "file": "bo.bin", "file_size": 8}]}"#;
    fs::write(exec.join("exec.json"), json).unwrap();
    // MI_BATCH_BUFFER_END, MI_NOOP.
    fs::write(exec.join("bo.bin"), [0, 0, 0, 5, 0, 0, 0, 0]).unwrap();
    let nothing = directory.join("nothing");
    let message = failed(&here(&["report", nothing.to_str().unwrap(), "-o", file]));
    assert!(message.contains("3DPRIMITIVE"), "{message}");
    assert!(!Path::new(file).exists());
}
