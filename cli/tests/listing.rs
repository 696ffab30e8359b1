//! `crestline regs` and `crestline decode` as a user runs them.
//!
//! Register facts from PRM vol4 3.3.4.1 and i915; field values from the captured frame's own decode.

use crate::common::{here, scene};

const FRAME: &str = "k_stencil_scissor";

fn text(args: &[&str]) -> String {
    let out = here(args);
    assert!(out.status.success(), "{out:?}");
    String::from_utf8(out.stdout).unwrap()
}

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
    let out = here(&["regs", "VF_CTRL"]);
    assert_eq!(out.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&out.stderr).contains("VF_CTL"));
    assert_eq!(here(&["regs", "--unit", "XX"]).status.code(), Some(1));
}

#[test]
fn a_captured_frame_is_decoded_without_errors() {
    let out = text(&["decode", &scene(FRAME)]);
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
    let out = here(&["decode", path.to_str().unwrap()]);
    std::fs::remove_file(&path).unwrap();
    assert_eq!(out.status.code(), Some(1));
    let listing = String::from_utf8_lossy(&out.stdout);
    assert!(
        listing.contains("offset 0x4, dword 0x7fff0000"),
        "{listing}"
    );
}

#[test]
fn elements_of_arrays_have_their_place_and_range() {
    // i915 i915_reg.h: FENCE_REG_965_LO(i) is 3000h + i * 8, sixteen of them.
    let out = text(&["regs", "decode", "FENCE[3]", "1"]);
    assert!(out.starts_with("FENCE[3] at 0x3018, 64 bits"), "{out}");
    let out = text(&["regs", "fence[15]"]);
    assert!(out.starts_with("    0x03078  FENCE[15] "), "{out}");
    for wrong in [
        "FENCE[16]",
        "FENCE[99]",
        "FENCE[",
        "FENCE[x]",
        "FENCE[1]2",
        "FENCE[+1]",
        "VF_CTL[0]",
    ] {
        let out = here(&["regs", "decode", wrong, "1"]);
        assert_eq!(out.status.code(), Some(1), "{wrong}");
        let errors = String::from_utf8_lossy(&out.stderr);
        assert!(
            errors.contains(wrong.split('[').next().unwrap()),
            "{errors}"
        );
    }
    let out = here(&["regs", "FENCE[99]"]);
    assert!(String::from_utf8_lossy(&out.stderr).contains("elements 0 to 15"));
}

#[test]
fn values_are_digits_that_fit() {
    for wrong in ["0x+1", "+1", "", "0x", "1_", "0x100000000", "4294967296"] {
        let out = here(&["regs", "decode", "VF_CTL", wrong]);
        assert_eq!(out.status.code(), Some(1), "{wrong}");
        assert_eq!(out.stdout, b"", "{wrong}");
    }
    let out = here(&["regs", "decode", "VF_CTL", "0x1_0000_0000"]);
    assert!(String::from_utf8_lossy(&out.stderr).contains("32 bits of VF_CTL"));
    let out = text(&["regs", "decode", "VF_CTL", "0X8000_0001"]);
    assert!(out.contains("Snapshot Complete = 0x1"), "{out}");
}

#[test]
fn registers_are_found_by_offset() {
    // i915 i915_reg.h: RING_TAIL of the render ring at 2030h.
    let out = text(&["regs", "0x2030"]);
    assert!(out.starts_with("    0x02030  PRB0_TAIL"), "{out}");
    let out = text(&["regs", "decode", "0x2030", "8"]);
    assert!(out.starts_with("PRB0_TAIL at 0x2030"), "{out}");
    let out = text(&["regs", "decode", "0x3018", "1"]);
    assert!(out.starts_with("FENCE[3] at 0x3018"), "{out}");
    let out = text(&["regs", "0x301c"]);
    assert!(out.contains("0x301c is dword 1 of it"), "{out}");
    assert!(!here(&["regs", "decode", "0x301c", "1"]).status.success());
    for wrong in ["0x2031", "0xfffffffc", "0x1_0000_0000", "0x"] {
        let out = here(&["regs", wrong]);
        assert_eq!(out.status.code(), Some(1), "{wrong}");
    }
    let out = here(&["regs", "0x2031"]);
    assert!(String::from_utf8_lossy(&out.stderr).contains("PRB0_TAIL at 0x2030"));
}

#[test]
fn devices_are_written_alike_everywhere() {
    let path = std::env::temp_dir().join(format!("crestline-device-{}", std::process::id()));
    std::fs::write(&path, 0x0500_0000u32.to_le_bytes()).unwrap();
    let file = path.to_str().unwrap();
    for device in [
        "gm965",
        "GM965",
        "8086:2a02",
        "2A02",
        "0x2a02",
        "g35",
        "965g",
    ] {
        text(&["regs", "VF_CTL", "--device", device]);
        text(&["decode", file, "--device", device]);
    }
    for device in ["g80", "2a03", "1002:2a02", "+2a02"] {
        for args in [
            ["regs", "VF_CTL", "--device", device],
            ["decode", file, "--device", device],
            ["replay", &scene(FRAME), "--device", device],
        ] {
            let out = here(&args);
            assert_eq!(out.status.code(), Some(1), "{args:?}");
            let errors = String::from_utf8_lossy(&out.stderr);
            assert!(errors.contains(device), "{errors}");
            assert!(errors.contains("gm965      8086:2a02"), "{errors}");
        }
    }
    std::fs::remove_file(&path).unwrap();
}
