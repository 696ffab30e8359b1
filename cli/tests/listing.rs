//! `crestline regs` and `crestline decode` as a user runs them.
//!
//! Register facts from PRM vol4 3.3.4.1 and i915; field values from the captured frame's own decode.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use std::process::{Command, Output};

fn crestline(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_crestline"))
        .args(args)
        .output()
        .unwrap()
}

fn text(args: &[&str]) -> String {
    let out = crestline(args);
    assert!(out.status.success(), "{out:?}");
    String::from_utf8(out.stdout).unwrap()
}

const FRAME: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../tests/data/captures/gm965/k_stencil_scissor/frame.crest"
);

#[test]
fn a_register_is_listed_with_its_fields() {
    let out = text(&["regs", "vf_ctl"]);
    assert!(out.starts_with("    0x07500  VF_CTL"), "{out}");
    assert!(out.contains("Snapshot Enable"), "{out}");
}

#[test]
fn json_has_offset_size_and_fields() {
    let out = text(&["regs", "--unit", "vf", "--json"]);
    let list: serde_json::Value = serde_json::from_str(&out).unwrap();
    let ctl = list
        .as_array()
        .unwrap()
        .iter()
        .find(|r| r["name"] == "VF_CTL")
        .unwrap();
    assert_eq!((&ctl["offset"], &ctl["size"]), (&0x7500.into(), &32.into()));
    assert_eq!((&ctl["access"], &ctl["unit"]), (&"rw".into(), &"VF".into()));
    assert_eq!(ctl["reset"], 0);
    let fields = ctl["fields"].as_array().unwrap();
    assert!(fields.iter().any(|f| f["hi"] == 31 && f["lo"] == 31));
}

#[test]
fn a_value_is_explained() {
    let out = text(&["regs", "decode", "VF_CTL", "0x80000001"]);
    assert!(out.contains("31:31  Snapshot Complete = 0x1"), "{out}");
}

#[test]
fn a_wrong_name_suggests_others_and_fails() {
    let out = crestline(&["regs", "VF_CTRL"]);
    assert_eq!(out.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&out.stderr).contains("VF_CTL"));
    assert_eq!(crestline(&["regs", "--unit", "XX"]).status.code(), Some(1));
}

#[test]
fn a_captured_frame_is_decoded_without_errors() {
    let out = text(&["decode", FRAME]);
    assert!(out.contains("Scissor Rectangle X Min: 64"), "{out}");
    assert!(
        out.contains(", 0 errors, ends with MI_BATCH_BUFFER_END"),
        "{out}"
    );
}

#[test]
fn a_damaged_batch_names_offset_and_dword() {
    let path = std::env::temp_dir().join(format!("crestline-batch-{}", std::process::id()));
    let words = [0u32, 0x7fff_0000, 0x0500_0000];
    let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    std::fs::write(&path, bytes).unwrap();
    let out = crestline(&["decode", path.to_str().unwrap()]);
    std::fs::remove_file(&path).unwrap();
    assert_eq!(out.status.code(), Some(1));
    let listing = String::from_utf8_lossy(&out.stdout);
    assert!(
        listing.contains("offset 0x4, dword 0x7fff0000"),
        "{listing}"
    );
}
