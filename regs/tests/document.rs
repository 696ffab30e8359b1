//! Bits of ValleyView's 3D commands as its manual prints them.
//! `tests/vectors/gen70/document.txt`, from the manual's volume on commands; statements of `docs/coverage/gen7.items`.
//! Does not test what a field means.

use std::collections::BTreeSet;
use std::fmt::Write;

use regs::desc::{CommandDesc, Kind, PackedField};
use regs::platform::GEN70;

/// Names that the manual prints in one way and the tables have, after genxml, in another.
const NAMES: &[(&str, &str)] = &[
    ("Polygon Stipple Pattern Row 1", "Pattern Row"),
    ("Polygon Stipple Pattern Rows 2-32", "Pattern Row"),
    ("View Transform Enable", "Viewport Transform Enable"),
    ("Use Point Width State", "Point Width Source"),
    ("SO Buffer Object Control State", "MOCS"),
    ("Stencil Buffer Object Control State", "MOCS"),
    ("SO_DECL[0,n]", "Stream 0 Decl"),
    ("SO_DECL[1,n]", "Stream 1 Decl"),
    ("SO_DECL[2,n]", "Stream 2 Decl"),
    ("SO_DECL[3,n]", "Stream 3 Decl"),
    ("Scratch Space Base Offset", "Scratch Space Base Pointer"),
    ("Pixel Shader Kill Pixel", "Pixel Shader Kills Pixel"),
];

/// A field of a command or of an element of its repeated part, at its place there.
struct Place {
    field: PackedField,
    /// In the repeated part.
    group: bool,
}

/// All fields, with those of inner structures and of elements of the repeated part.
fn places(c: &CommandDesc) -> Vec<Place> {
    let mut out = Vec::new();
    let mut add = |fields: &[PackedField], group| {
        for f in fields {
            out.push(Place { field: *f, group });
            if let Kind::Struct(inner) = f.kind {
                out.extend(inner.fields.iter().map(|g| {
                    let start = f.start + g.start;
                    let field = PackedField { start, ..*g };
                    Place { field, group }
                }));
            }
        }
    };
    add(c.fields, false);
    if let Some(element) = c.group.and_then(|g| g.structure) {
        add(element.fields, true);
    }
    out
}

/// Letters and digits of a name; the number of an element stays, a letter in its place does not.
fn letters(name: &str) -> String {
    let element =
        |part: &str| part.starts_with(|c: char| c.is_ascii_digit()) && !part.contains(['n', 'N']);
    let mut out = String::new();
    for part in name.split_inclusive(['[', ']']) {
        match part.strip_suffix(']') {
            Some(inside) if !element(inside) => {}
            _ => out.extend(part.chars().filter(|c| c.is_alphanumeric())),
        }
    }
    out.to_lowercase()
}

/// Whether the manual's name of a field is ours, which may be a part of it.
fn named(ours: &str, theirs: &str) -> bool {
    if NAMES.contains(&(theirs, ours)) {
        return true;
    }
    let (ours, theirs) = (letters(ours), letters(theirs));
    theirs.ends_with(&ours) || ours.ends_with(&theirs)
}

/// `31:5` or `0` as lowest bit and width.
fn bits(text: &str) -> (u16, u16) {
    let (hi, lo) = text.split_once(':').unwrap_or((text, text));
    let (hi, lo): (u16, u16) = (hi.parse().unwrap(), lo.parse().unwrap());
    (lo, hi - lo + 1)
}

// covers: V-0001, V-0002, V-0003, V-0005, V-0008, V-0009, V-0010, V-0011, V-0012, V-0013, V-0015, V-0016, V-0017, V-0018
// covers: V-0020, V-0021, V-0022, V-0023, V-0024, V-0025, V-0026, V-0027, V-0028, V-0029, V-0030, V-0031, V-0032, V-0033
// covers: V-0034, V-0035, V-0036, V-0037, V-0038, V-0039, V-0040, V-0041, V-0042, V-0043, V-0044, V-0045, V-0046, V-0047
// covers: V-0048, V-0049, V-0050, V-0051, V-0052, V-0053, V-0054, V-0055, V-0056, V-0057, V-0058, V-0059, V-0060, V-0061
// covers: V-0062, V-0063, V-0071, V-0072, V-0073, V-0074, V-0075, V-0076, V-0080, V-0081, V-0082, V-0083, V-0084, V-0085
// covers: V-0089, V-0090, V-0091, V-0092, V-0093, V-0094, V-0098, V-0099, V-0100, V-0101, V-0102, V-0103, V-0108, V-0109
// covers: V-0110, V-0111, V-0112, V-0113, V-0117, V-0118, V-0119, V-0120, V-0123, V-0124, V-0125, V-0126, V-0127, V-0128
// covers: V-0130, V-0131, V-0132, V-0133, V-0134, V-0135, V-0137, V-0138, V-0139, V-0140, V-0141, V-0142, V-0143, V-0144
// covers: V-0145, V-0146, V-0147, V-0148, V-0149, V-0150, V-0151, V-0152, V-0153, V-0154, V-0155, V-0156, V-0157, V-0158
// covers: V-0159, V-0160, V-0161, V-0162, V-0163, V-0164, V-0165, V-0166, V-0167, V-0168, V-0169, V-0170, V-0171, V-0172
// covers: V-0173, V-0174, V-0175, V-0176, V-0177, V-0178, V-0179, V-0180, V-0181, V-0182, V-0183, V-0184, V-0185, V-0186
// covers: V-0187, V-0188, V-0189, V-0190, V-0191, V-0192, V-0193, V-0194, V-0195, V-0196, V-0197, V-0198, V-0199, V-0200
// covers: V-0201, V-0202, V-0203, V-0204, V-0205, V-0206, V-0213, V-0214, V-0215, V-0216, V-0217, V-0218, V-0219, V-0220
// covers: V-0221, V-0222, V-0223, V-0224, V-0225, V-0226, V-0227, V-0228, V-0229, V-0230, V-0231, V-0232, V-0233, V-0234
// covers: V-0235, V-0236, V-0237, V-0238, V-0239, V-0240, V-0241, V-0242, V-0243, V-0244, V-0245, V-0246, V-0247, V-0248
// covers: V-0249, V-0250, V-0251, V-0252, V-0253, V-0254, V-0255, V-0256, V-0265, V-0266, V-0267, V-0268, V-0269, V-0270
// covers: V-0271, V-0272, V-0273, V-0274, V-0275, V-0276, V-0278, V-0279, V-0280, V-0281, V-0282, V-0283, V-0284, V-0285
// covers: V-0286, V-0287, V-0288, V-0289, V-0290, V-0291, V-0292, V-0297, V-0298, V-0299, V-0300, V-0301, V-0302, V-0303
// covers: V-0304, V-0305, V-0312, V-0313, V-0314, V-0315, V-0316, V-0317, V-0318, V-0319, V-0320, V-0321, V-0322, V-0323
// covers: V-0324, V-0325, V-0326, V-0327, V-0328, V-0329, V-0330, V-0331, V-0332, V-0333, V-0334, V-0335, V-0336, V-0337
// covers: V-0338, V-0342, V-0343, V-0344, V-0345, V-0346, V-0347, V-0348, V-0349, V-0350, V-0351, V-0352, V-0353, V-0354
// covers: V-0355, V-0356, V-0362, V-0363, V-0364, V-0365, V-0366, V-0367, V-0368, V-0373, V-0374, V-0375, V-0376, V-0377
// covers: V-0378, V-0379, V-0385, V-0386, V-0387, V-0388, V-0389, V-0390, V-0391, V-0395, V-0396, V-0397, V-0398, V-0399
// covers: V-0400, V-0401, V-0407, V-0408, V-0409, V-0416, V-0417, V-0418, V-0427, V-0428, V-0429, V-0430, V-0431, V-0432
// covers: V-0433, V-0434, V-0435, V-0436, V-0437, V-0438, V-0439, V-0440, V-0441, V-0442, V-0443, V-0444, V-0445, V-0446
// covers: V-0447, V-0448, V-0449, V-0450, V-0451, V-0452, V-0453, V-0454, V-0455, V-0456, V-0457, V-0458, V-0459, V-0460
// covers: V-0461, V-0462, V-0463, V-0464, V-0465, V-0466, V-0467, V-0468, V-0469, V-0470, V-0471, V-0472, V-0473, V-0479
// covers: V-0480, V-0481, V-0482, V-0483, V-0484, V-0485, V-0486, V-0487, V-0488, V-0489, V-0490, V-0491, V-0492, V-0493
// covers: V-0494, V-0495, V-0496, V-0497, V-0498, V-0499, V-0500, V-0501, V-0502, V-0503
#[test]
fn every_printed_bit_is_where_the_tables_have_it() {
    let text = include_str!("../../tests/vectors/gen70/document.txt");
    let mut wrong = String::new();
    let mut seen = BTreeSet::new();
    let mut last = None;
    let mut lines = 0;
    for line in text.lines().filter(|l| !l.starts_with('#')) {
        let words: Vec<&str> = line.splitn(5, ' ').collect();
        let (command, what, detail) = (words[1], words[2], words[3]);
        lines += 1;
        let c = GEN70.commands.iter().find(|c| c.name == command).unwrap();
        if what == "header" {
            let printed = u32::from_str_radix(detail, 16).unwrap();
            // How many elements the usual form has is ours to say.
            let mask = if c.group.is_some() {
                0xffff_0000
            } else {
                u32::MAX
            };
            if c.header & mask != printed & mask {
                let _ = writeln!(wrong, "{line}: {:08x}", c.header);
            }
            if let Some(dwords) = words.get(4) {
                // Length counts without the first two.
                assert_eq!(Ok(c.dwords(printed)), dwords.parse(), "{line}");
            }
            continue;
        }
        if what == "value" {
            let field: PackedField = last.unwrap();
            let code = detail.parse().unwrap();
            match field.value_name(code) {
                Some(ours) if named(ours, words[4]) => {}
                ours => {
                    let _ = writeln!(wrong, "{line}: {ours:?}");
                }
            }
            continue;
        }
        let group = what.strip_prefix('g');
        let (lo, width) = bits(detail);
        let start = group.unwrap_or(what).parse::<u16>().unwrap() * 32 + lo;
        let all = places(c);
        if words[4] == "-" {
            let covered = all.iter().find(|p| {
                let f = &p.field;
                p.group == group.is_some()
                    && f.name != "DWord Length"
                    && !matches!(f.kind, Kind::Struct(_))
                    && f.start < start + width
                    && start < f.start + f.width
            });
            if let Some(p) = covered {
                let _ = writeln!(wrong, "{line}: {}", p.field.name);
            }
            continue;
        }
        let here = all.iter().filter(|p| p.group == group.is_some());
        let found = here.filter(|p| (p.field.start, p.field.width) == (start, width));
        let found: Vec<&Place> = found.collect();
        // A repeated part of plain dwords, or one whole element, has its name alone.
        let whole = c
            .group
            .filter(|g| group.is_some() && named(g.name, words[4]));
        if whole.is_some() && found.is_empty() {
            continue;
        }
        if let Some(p) = found.iter().find(|p| named(p.field.name, words[4])) {
            last = Some(p.field);
            seen.insert((c.name, p.group, p.field.start));
        } else {
            let names: Vec<&str> = found.iter().map(|p| p.field.name).collect();
            let _ = writeln!(wrong, "{line}: {names:?}");
        }
    }
    // Nothing of these commands is ours alone.
    let printed: BTreeSet<&str> = text.lines().filter_map(|l| l.split(' ').nth(1)).collect();
    for c in GEN70.commands.iter().filter(|c| printed.contains(c.name)) {
        let own = places(c).into_iter().filter(|p| {
            let whole = matches!(p.field.kind, Kind::Struct(_));
            !p.group && !whole && p.field.name != "DWord Length"
        });
        for p in own {
            if !seen.contains(&(c.name, false, p.field.start)) {
                let _ = writeln!(wrong, "{}: {} is ours alone", c.name, p.field.name);
            }
        }
    }
    assert!(lines > 600, "{lines}");
    assert_eq!(wrong, "");
}
