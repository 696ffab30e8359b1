//! Our reading of words against the text intel_dump_decode printed for them.
//! PRM vol1 and vol2; the text and its origin are in `tests/vectors/gen40/intel_dump_decode.txt`.
//! Does not compare lines in which that program only numbers the dword.

use std::fs;
use std::path::Path;

use regs::desc::{CommandDesc, PackedField};
use regs::{gen40, platform};

/// One command: its words and the text of each.
struct Command {
    words: Vec<u32>,
    text: Vec<String>,
}

fn commands() -> Vec<Command> {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/vectors/gen40/intel_dump_decode.txt");
    let mut out: Vec<Command> = Vec::new();
    for line in fs::read_to_string(path).unwrap().lines() {
        if !line.starts_with("0x") {
            continue;
        }
        let word = u32::from_str_radix(&line[14..22], 16).unwrap();
        let text = line.get(24..).unwrap_or("");
        if let Some(rest) = text.strip_prefix("   ") {
            let last = out.last_mut().unwrap();
            last.words.push(word);
            last.text.push(rest.to_owned());
        } else {
            out.push(Command {
                words: vec![word],
                text: vec![text.to_owned()],
            });
        }
    }
    out
}

/// Words matched by `{}` in `pattern`; each runs up to the next literal.
fn capture<'t>(pattern: &str, text: &'t str) -> Option<Vec<&'t str>> {
    let mut parts = pattern.split("{}");
    let mut rest = text.strip_prefix(parts.next()?)?;
    let mut out = Vec::new();
    for part in parts {
        let end = if part.is_empty() {
            rest.len()
        } else {
            rest.find(part)?
        };
        out.push(&rest[..end]);
        rest = &rest[end + part.len()..];
    }
    rest.is_empty().then_some(out)
}

fn number(text: &str) -> i64 {
    text.strip_prefix("0x").map_or_else(
        || text.parse().unwrap_or_else(|_| panic!("{text}")),
        |hex| i64::from_str_radix(hex, 16).unwrap(),
    )
}

fn raw(list: &[PackedField], name: &str, words: &[u32]) -> i64 {
    let f = list.iter().find(|f| f.name == name);
    f.unwrap_or_else(|| panic!("no field {name}")).raw(words) as i64
}

/// The field of dword `i` whose name contains `part`.
fn near<'f>(list: &'f [PackedField], i: usize, part: &str) -> &'f PackedField {
    list.iter()
        .find(|f| usize::from(f.start) / 32 == i && f.name.contains(part))
        .unwrap_or_else(|| panic!("no {part} in dword {i}"))
}

#[test]
fn names_and_lengths_agree() {
    for c in commands() {
        let desc = gen40::command(c.words[0]).unwrap_or_else(|| panic!("{}", c.text[0]));
        let end = c.text[0].find([' ', ':', ',']).unwrap_or(c.text[0].len());
        let name = match &c.text[0][..end] {
            "3DSTATE_PIPELINE_SELECT" => "PIPELINE_SELECT",
            "Y_TEXT_BLT" => "XY_TEXT_BLT",
            other => other,
        };
        assert_eq!(desc.name, name);
        assert_eq!(desc.dwords(c.words[0]), c.words.len(), "{name}");
    }
}

/// Text of a whole dword and the fields its numbers are in.
const NUMBERS: &[(&str, &str, &[&str])] = &[
    (
        "MI_NOOP",
        "MI_NOOP write NOPID reg, val={}",
        &["Identification Number"],
    ),
    (
        "3DSTATE_DRAWING_RECTANGLE",
        "top left: {},{}",
        &[
            "Clipped Drawing Rectangle X Min",
            "Clipped Drawing Rectangle Y Min",
        ],
    ),
    (
        "3DSTATE_DRAWING_RECTANGLE",
        "bottom right: {},{}",
        &[
            "Clipped Drawing Rectangle X Max",
            "Clipped Drawing Rectangle Y Max",
        ],
    ),
    (
        "3DSTATE_DRAWING_RECTANGLE",
        "origin: {},{}",
        &["Drawing Rectangle Origin X", "Drawing Rectangle Origin Y"],
    ),
    (
        "URB_FENCE",
        "vs fence: {}, clip_fence: {}, gs_fence: {}",
        &["VS Fence", "CLIP Fence", "GS Fence"],
    ),
    (
        "URB_FENCE",
        "sf fence: {}, vfe_fence: {}, cs_fence: {}",
        &["SF Fence", "VFE Fence", "CS Fence"],
    ),
    (
        "CS_URB_STATE",
        "entry_size: {} [{} bytes], n_entries: {}",
        &["URB Entry Allocation Size", "", "Number of URB Entries"],
    ),
    ("XY_SRC_COPY_BLT", "src pitch {}", &["Source Pitch"]),
    ("XY_SRC_COPY_BLT", "src offset {}", &["Source Base Address"]),
    (
        "XY_SRC_COPY_BLT",
        "dst offset {}",
        &["Destination Base Address"],
    ),
    ("XY_COLOR_BLT", "offset {}", &["Destination Base Address"]),
    (
        "XY_SETUP_BLT",
        "setup dst offset {}",
        &["Destination Base Address"],
    ),
];

#[test]
fn numbers_agree() {
    let mut checked = 0;
    for c in commands() {
        let desc = gen40::command(c.words[0]).unwrap();
        for text in &c.text {
            for (_, pattern, names) in NUMBERS.iter().filter(|n| n.0 == desc.name) {
                let Some(found) = capture(pattern, text) else {
                    continue;
                };
                for (word, name) in found.iter().zip(*names).filter(|n| !n.1.is_empty()) {
                    let mine = raw(desc.fields, name, &c.words);
                    let f = desc.fields.iter().find(|f| f.name == *name).unwrap();
                    let ones = i64::MAX >> (63 - f.width.min(32));
                    assert_eq!(mine, number(word) & ones, "{}.{name}: {text}", desc.name);
                    checked += 1;
                }
            }
        }
    }
    assert!(checked > 50, "{checked}");
}

#[test]
fn blitter_words_agree() {
    let mut checked = 0;
    for c in commands().iter().filter(|c| c.words[0] >> 29 == 2) {
        let desc = gen40::command(c.words[0]).unwrap();
        let list = desc.fields;
        // libdrm takes the coordinates of this one from the wrong dwords.
        let skip = desc.name == "XY_SETUP_CLIP_BLT";
        let pattern = format!(
            "{} (rgb {{}}abled, alpha {{}}abled, src tile {{}}, dst tile {{}})",
            desc.name
        );
        if let Some(v) = capture(&pattern, &c.text[0]).filter(|_| !skip) {
            let mask = i64::from(v[0] == "en") | i64::from(v[1] == "en") << 1;
            assert_eq!(raw(list, "32bpp Byte Mask", &c.words), mask);
            assert_eq!(
                near(list, 0, "Tiling Enable").raw(&c.words) as i64,
                number(v[3])
            );
            if let Some(f) = list.iter().find(|f| f.name == "Source Tiling Enable") {
                assert_eq!(f.raw(&c.words) as i64, number(v[2]));
            }
        }
        for (i, text) in c.text.iter().enumerate().skip(1) {
            if let Some(v) = capture("format {}, pitch {}, rop {}, clipping {}abled, {}", text) {
                let depth = ["8", "565", "1555", "8888"]
                    .iter()
                    .position(|d| *d == v[0])
                    .unwrap();
                assert_eq!(raw(list, "Color Depth", &c.words), depth as i64);
                assert_eq!(
                    raw(list, "Destination Pitch", &c.words),
                    number(v[1]) & 0xffff
                );
                assert_eq!(raw(list, "Raster Operation", &c.words), number(v[2]));
                assert_eq!(
                    raw(list, "Clipping Enabled", &c.words),
                    i64::from(v[3] == "en")
                );
                checked += 1;
            }
            for prefix in ["cliprect ", "dst ", "dest ", "src ", ""] {
                let Some(v) = capture(&format!("{prefix}({{}},{{}})"), text).filter(|_| !skip)
                else {
                    continue;
                };
                assert_eq!(
                    near(list, i, " X").raw(&c.words) as i64,
                    number(v[0]),
                    "{text}"
                );
                assert_eq!(
                    near(list, i, " Y").raw(&c.words) as i64,
                    number(v[1]),
                    "{text}"
                );
                checked += 1;
                break;
            }
        }
    }
    assert!(checked > 20, "{checked}");
}

/// Words of MI_WAIT_FOR_EVENT and the fields they stand for.
const EVENTS: &[(&str, &str)] = &[
    (
        "pipe B start vblank wait",
        "Display Pipe B Start of Vertical Blank Wait Enable",
    ),
    (
        "pipe A start vblank wait",
        "Display Pipe A Start of Vertical Blank Wait Enable",
    ),
    (
        "overlay flip pending wait",
        "Overlay Flip Pending Wait Enable",
    ),
    (
        "pipe B hblank wait",
        "Display Pipe B Horizontal Blank Wait Enable",
    ),
    (
        "pipe A hblank wait",
        "Display Pipe A Horizontal Blank Wait Enable",
    ),
    (
        "plane C pending flip wait",
        "Display Plane C Flip Pending Wait Enable",
    ),
    (
        "pipe B vblank wait",
        "Display Pipe B Vertical Blank Wait Enable",
    ),
    (
        "plane B pending flip wait",
        "Display Plane B Flip Pending Wait Enable",
    ),
    (
        "pipe B scan line wait",
        "Display Pipe B Scan Line Wait Enable",
    ),
    ("fbc idle wait", "FBC Idle Wait Enable"),
    (
        "pipe A vblank wait",
        "Display Pipe A Vertical Blank Wait Enable",
    ),
    (
        "plane A pending flip wait",
        "Display Plane A Flip Pending Wait Enable",
    ),
    (
        "plane A scan line wait",
        "Display Pipe A Scan Line Wait Enable",
    ),
];

/// Words after `URB_FENCE:`, in the order of the program.
const FENCES: [(&str, &str); 6] = [
    ("cs", "CS Unit URB Reallocation Request"),
    ("vfe", "VFE Unit URB Reallocation Request"),
    ("sf", "SF Unit URB Reallocation Request"),
    ("clip", "CLIP Unit URB Reallocation Request"),
    ("gs", "GS Unit URB Reallocation Request"),
    ("vs", "VS Unit URB Reallocation Request"),
];

#[test]
fn flags_agree() {
    for c in commands() {
        let (w, text) = (&c.words, c.text[0].as_str());
        let list = gen40::command(w[0]).unwrap().fields;
        if text.starts_with("MI_WAIT_FOR_EVENT") {
            let said: Vec<&str> = text.split(", ").skip(1).collect();
            for (word, name) in EVENTS {
                assert_eq!(raw(list, name, w), i64::from(said.contains(word)), "{text}");
            }
            let code = said
                .iter()
                .find_map(|s| s.strip_prefix("cc wait "))
                .map_or(0, number);
            assert_eq!(raw(list, "Condition Code Wait Select", w), code);
        } else if let Some(units) = text.strip_prefix("URB_FENCE:") {
            let said: Vec<&str> = units.split_whitespace().collect();
            for (word, name) in FENCES {
                assert_eq!(
                    raw(list, name, w),
                    i64::from(said.contains(&word)),
                    "{text}"
                );
            }
        } else if let Some(v) = capture(
            "PIPE_CONTROL: {} write, {}depth stall, {}RC write flush, {}inst flush",
            text,
        ) {
            let op = ["no", "qword", "PS_DEPTH_COUNT", "TIMESTAMP"]
                .iter()
                .position(|o| *o == v[0]);
            assert_eq!(raw(list, "Post Sync Operation", w), op.unwrap() as i64);
            assert_eq!(
                raw(list, "Depth Stall Enable", w),
                i64::from(v[1].is_empty())
            );
            assert_eq!(
                raw(list, "Write Cache Flush", w),
                i64::from(v[2].is_empty())
            );
            let inst = raw(list, "Instruction Cache Invalidate Enable", w);
            assert_eq!(inst, i64::from(v[3].is_empty()));
        } else if text == "MI_SET_CONTEXT" {
            let said = &c.text[1];
            assert_eq!(
                raw(list, "Force Restore", w),
                i64::from(said.contains("Force Restore"))
            );
            assert_eq!(
                raw(list, "Restore Inhibit", w),
                i64::from(said.contains("Restore Inhibit"))
            );
            let address = raw(list, "Logical Context Address", w);
            assert!(
                said.starts_with(&format!("gtt offset = {address:#x}")),
                "{said}"
            );
        } else if let Some(word) = text.strip_prefix("CONSTANT_BUFFER: ") {
            assert_eq!(raw(list, "Valid", w), i64::from(word == "valid"));
            let v = capture("offset: {}, length: {} bytes", &c.text[1]).unwrap();
            assert_eq!(raw(list, "Buffer Starting Address", w), number(v[0]));
            assert_eq!((raw(list, "Buffer Length", w) + 1) * 64, number(v[1]));
        }
    }
}

#[test]
fn state_bases_agree() {
    let mut checked = 0;
    for c in commands()
        .iter()
        .filter(|c| c.text[0] == "STATE_BASE_ADDRESS")
    {
        let list = gen40::command(c.words[0]).unwrap().fields;
        for (i, text) in c.text.iter().enumerate().skip(1) {
            let enable = near(list, i, "Modify Enable").raw(&c.words);
            let value = list
                .iter()
                .find(|f| usize::from(f.start) / 32 == i && f.width == 20)
                .unwrap();
            assert_eq!(enable == 0, text.ends_with("not updated"), "{text}");
            if let Some(hex) = text.split(' ').next_back().filter(|w| w.starts_with("0x")) {
                // The program masks bit 0 alone.
                assert_eq!(value.raw(&c.words) as i64, number(hex) & !0xfff);
                checked += 1;
            }
        }
    }
    assert!(checked > 5, "{checked}");
}

const TOPOLOGIES: [(&str, i64); 20] = [
    ("point list", 1),
    ("line list", 2),
    ("line strip", 3),
    ("tri list", 4),
    ("tri strip", 5),
    ("tri fan", 6),
    ("quad list", 7),
    ("quad strip", 8),
    ("line list adj", 9),
    ("line strip adj", 10),
    ("tri list adj", 11),
    ("tri strip adj", 12),
    ("tri strip reverse", 13),
    ("polygon", 14),
    ("rect list", 15),
    ("line loop", 16),
    ("point list bf", 17),
    ("line strip cont", 18),
    ("line strip bf", 19),
    ("line strip cont bf", 20),
];

#[test]
fn draws_and_depth_buffers_agree() {
    let mut checked = 0;
    for c in commands() {
        let desc: &CommandDesc = gen40::command(c.words[0]).unwrap();
        let (list, w) = (desc.fields, &c.words);
        if let Some(text) = c.text[0].strip_prefix("3DPRIMITIVE: ") {
            let (shape, access) = text.rsplit_once(' ').unwrap();
            let access_type = raw(list, "Vertex Access Type", w);
            assert_eq!(access_type, i64::from(access == "random"));
            let topology = raw(list, "Primitive Topology Type", w);
            if let Some(t) = TOPOLOGIES.iter().find(|t| t.0 == shape) {
                assert_eq!(topology, t.1);
                checked += 1;
            }
        } else if desc.name == "3DSTATE_DEPTH_BUFFER" {
            let v = capture("{}, {}, pitch = {} bytes, {}tiled", &c.text[1]).unwrap();
            let shape = ["1D", "2D", "3D", "CUBE", "BUFFER", "", "", "NULL"];
            let shape = shape.iter().position(|s| *s == v[0]).unwrap();
            assert_eq!(raw(list, "Surface Type", w), shape as i64);
            assert_eq!(raw(list, "Surface Pitch", w) + 1, number(v[2]));
            assert_eq!(raw(list, "Tiled Surface", w), i64::from(v[3].is_empty()));
            let formats = ["s8_z24float", "z32float", "z24s8", "", "", "z16"];
            if let Some(code) = formats.iter().position(|f| *f == v[1]) {
                assert_eq!(raw(list, "Surface Format", w), code as i64);
            }
            let size = capture("{}x{}", &c.text[3]).unwrap();
            assert_eq!(raw(list, "Width", w) + 1, number(size[0]));
            assert_eq!(raw(list, "Height", w) + 1, number(size[1]));
            checked += 1;
        }
    }
    assert!(checked > 40, "{checked}");
}

#[test]
fn vertex_state_agrees() {
    let buffer = platform::GEN40
        .structure("VERTEX_BUFFER_STATE")
        .unwrap()
        .fields;
    let element = platform::GEN40
        .structure("VERTEX_ELEMENT_STATE")
        .unwrap()
        .fields;
    let mut checked = 0;
    for c in commands() {
        for (i, text) in c.text.iter().enumerate() {
            let w = &c.words[i..];
            if let Some(v) = capture("buffer {}: {}, pitch {}b", text) {
                assert_eq!(raw(buffer, "Vertex Buffer Index", w), number(v[0]));
                assert_eq!(
                    raw(buffer, "Buffer Access Type", w),
                    i64::from(v[1] == "random")
                );
                assert_eq!(raw(buffer, "Buffer Pitch", w), number(v[2]));
                checked += 1;
            }
            if let Some(v) = capture("buffer {}: {}valid, type {}, src offset {} bytes", text) {
                assert_eq!(raw(element, "Vertex Buffer Index", w), number(v[0]));
                assert_eq!(raw(element, "Valid", w), i64::from(v[1].is_empty()));
                assert_eq!(raw(element, "Source Element Format", w), number(v[2]));
                assert_eq!(raw(element, "Source Element Offset", w), number(v[3]));
                let next =
                    capture("({}, {}, {}, {}), dst offset {} bytes", &c.text[i + 1]).unwrap();
                assert_eq!(
                    raw(element, "Destination Element Offset", w) * 4,
                    number(next[4])
                );
                for (n, word) in next[..4].iter().enumerate() {
                    let code = raw(element, &format!("Component {n} Control"), w);
                    let expected: &[i64] = match *word {
                        "nostore" => &[0],
                        "0.0" => &[2],
                        "1.0" => &[3],
                        "0x1" => &[4],
                        "VID" => &[5],
                        "fail" => &[6, 7],
                        _ => &[1],
                    };
                    assert!(expected.contains(&code), "{word} is {code}");
                }
                checked += 1;
            }
        }
    }
    assert!(checked > 10, "{checked}");
}
