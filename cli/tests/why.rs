//! `crestline why` from outside: text, JSON, errors.
//!
//! Expectations are the vertex data of the scenes and crocus's own decode of the batches.

use std::process::Output;

use crate::common::{crestline, failed, here, ok, scene, scratch};
use serde_json::Value;

fn why(args: &[&str]) -> Output {
    here(&[&["why"], args].concat())
}

/// RGBA of a pixel in the picture that `crestline replay` writes.
fn colour_in_the_picture(frame: &str, x: usize, y: usize) -> [u8; 4] {
    let directory = scratch("why-picture");
    ok(&crestline(
        &directory,
        &["replay", &scene(frame), "--png", "a.png"],
    ));
    let file = std::fs::File::open(directory.join("a.png")).unwrap();
    let mut reader = png::Decoder::new(std::io::BufReader::new(file))
        .read_info()
        .unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    let at = (y * info.width as usize + x) * 4;
    pixels[at..at + 4].try_into().unwrap()
}

#[test]
fn the_flat_triangle_as_text() {
    let text = ok(&why(&[&scene("b_flat"), "128,128"]));
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let [r, g, b, a] = colour_in_the_picture("b_flat", 128, 128);
    let first = format!("pixel 128,128: red {r}, green {g}, blue {b}, alpha {a}");
    assert_eq!(lines[0], first);
    assert!(lines[1].starts_with("PS thread "), "{text}");
    // The decode has this kernel start pointer in WM_STATE.
    assert!(lines[1].contains("object 1,"), "{text}");
    assert!(
        lines[1].contains("kernel 0x001040c0 [buffer 3 (bo_003.bin) + 0xc0]"),
        "{text}"
    );
    assert!(
        lines[3].contains("TRILIST of 3 vertices, 3DPRIMITIVE at 0x0010b25c"),
        "{text}"
    );
    assert!(
        lines[4].starts_with("triangle 1: setup thread 1, kernel "),
        "{text}"
    );
    // The clear has vertices 0 to 2.
    let vertices: Vec<&&str> = lines.iter().filter(|l| l.starts_with("vertex ")).collect();
    assert_eq!(vertices.len(), 3, "{text}");
    assert!(
        vertices[0]
            .starts_with("vertex 3, index 0: VS thread 0, the first of its two vertices, kernel ")
    );
    assert!(
        vertices[1]
            .starts_with("vertex 4, index 1: VS thread 0, the second of its two vertices, kernel ")
    );
    assert!(
        vertices[2].starts_with("vertex 5, index 2: VS thread 1, kernel "),
        "{text}"
    );
    // The corners that the program has given.
    for corner in [
        "(-0.8, -0.8, 0.0, 1.0)",
        "(0.8, -0.7, 0.0, 1.0)",
        "(0.05, 0.85, 0.0, 1.0)",
    ] {
        assert!(text.contains(corner), "{text}");
    }
    assert!(
        text.contains("R32G32B32A32_FLOAT at 0x00161020 [buffer 6 (bo_006.bin) + 0x20]"),
        "{text}"
    );
}

/// The two number threads differently; the debugger knows nothing of snapshots.
#[test]
fn the_command_at_the_end_stops_in_the_thread() {
    for (frame, pixel) in [
        ("b_flat", "128,128"),
        ("g_gears", "120,175"),
        ("g_gears", "3,3"),
    ] {
        let text = ok(&why(&[&scene(frame), pixel]));
        let (_, object) = text.split_once(" of object ").unwrap();
        let (object, _) = object.split_once(',').unwrap();
        let (_, line) = text.split_once("to stop in this thread: ").unwrap();
        let command = shlex::split(line).unwrap();
        assert_eq!(command[0], "crestline");
        let args: Vec<&str> = command[1..].iter().map(String::as_str).collect();
        let said = ok(&here(&args));
        let is_stop = |line: &&str| line.starts_with("breakpoint 1, pixel");
        let last = said.lines().rfind(is_stop).unwrap();
        assert!(
            last.contains(&format!("pixels of object {object} ")),
            "{text}{said}"
        );
    }
}

#[test]
fn the_clear_is_a_rectangle() {
    let text = ok(&why(&[&scene("b_flat"), "0,0"]));
    assert!(text.contains("RECTLIST of 3 vertices"), "{text}");
    assert!(text.contains("rectangle 0: setup thread 0"), "{text}");
}

#[test]
fn the_flat_triangle_as_json() {
    let text = ok(&why(&[&scene("b_flat"), "128,128", "--json"]));
    let json: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(json["pixel"], serde_json::json!([128, 128]));
    assert_eq!(json["draw"], 1);
    assert_eq!(json["draw_call"]["address"], 0x0010_b25c);
    assert_eq!(json["draw_call"]["topology"], "TRILIST");
    assert_eq!(json["colour"], serde_json::json!([255, 128, 64, 255]));
    assert_eq!(json["pixel_thread"]["kernel"], 0x0010_40c0);
    assert_eq!(json["pixel_thread"]["primitive"], 1);
    assert_eq!(json["setup"]["primitive"], 1);
    let indices: Vec<_> = json["vertices"]
        .as_array()
        .unwrap()
        .iter()
        .map(|v| v["index"].clone())
        .collect();
    assert_eq!(indices, [0, 1, 2]);
    let input = &json["vertices"][1]["inputs"][0];
    assert_eq!(input["source"]["address"], 0x0016_1020);
    assert_eq!(input["source"]["format"], "R32G32B32A32_FLOAT");
    let x = input["components"][0].as_f64().unwrap();
    assert!((x - 0.8).abs() < 1e-6, "{text}");
    assert_eq!(
        json["vertex_threads"][0]["indices"],
        serde_json::json!([0, 1])
    );
}

#[test]
fn the_gears_have_normals_as_floats() {
    let text = ok(&why(&[&scene("g_gears"), "128,128"]));
    assert!(
        text.contains("input 1: (0.0, 0.0, 1.0, 1.0) from vertex buffer 0, R32G32B32_FLOAT"),
        "{text}"
    );
}

#[test]
fn what_cannot_be_told_is_an_error() {
    let scene = scene("b_flat");
    let text = failed(&why(&[&scene, "256,3"]));
    assert!(
        text.contains("pixel 256,3 lies outside the picture of 256x256 pixels"),
        "{text}"
    );
    let text = failed(&why(&["no/such/capture", "1,1"]));
    assert!(text.contains("no/such/capture"), "{text}");
    let empty = scratch("why-empty");
    let text = failed(&why(&[empty.to_str().unwrap(), "1,1"]));
    assert!(text.contains("why-empty"), "{text}");
    let text = failed(&why(&[&scene, "1,1", "--device", "nosuch"]));
    assert!(text.contains("nosuch"), "{text}");
    // Wrong arguments.
    for pixel in ["1", "1,2,3", "a,b", "-1,2", "70000,1"] {
        let output = why(&[&scene, pixel]);
        assert_eq!(output.status.code(), Some(2), "{pixel}");
    }
}

#[test]
fn a_rectangle_of_the_driver_is_called_one() {
    let text = ok(&why(&[&scene("a_clear"), "10,10"]));
    assert!(
        text.contains("hint: the driver drew this pixel last, to clear"),
        "{text}"
    );
    assert!(!text.contains("what was copied"), "{text}");
    // The SURFACE_STATE of crocus's decode.
    assert!(
        text.contains("render target of 256x256 pixels, R8G8B8A8_UNORM, at 0x"),
        "{text}"
    );
    let text = ok(&why(&[&scene("b_flat"), "128,128"]));
    assert!(!text.contains("hint"), "{text}");
    // Mesa resolves the four samples of a pixel by a copy.
    let text = ok(&why(&["sandybridge/msaa", "100,100"]));
    let hint = "hint: the driver drew this pixel last, to copy a surface, as for glReadPixels or to resolve samples: 256x256 pixels at 0x";
    assert!(text.contains(hint), "{text}");
    let json = ok(&why(&["sandybridge/msaa", "100,100", "--json"]));
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let own = &json["draw_call"]["own"];
    assert_eq!(own["kind"], "copy");
    assert_eq!(own["drawn_by"], "exec_0000");
    assert_ne!(own["from"], json["target"]["address"]);
}
