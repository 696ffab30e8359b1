//! The surface format table against Mesa's.
//! PRM vol4 4.7.2.1.1; the rows and their origin are in `tests/vectors/gen40/surface_formats.txt`.
//! Does not compare the inner layout of compressed formats.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    missing_docs,
    reason = "tests"
)]

use std::fs;
use std::path::Path;

use regs::desc::{ChannelKind, SurfaceFormatDesc};
use regs::gen40::{SURFACE_FORMATS, surface_format};

fn rows() -> Vec<Vec<String>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = path.join("../tests/vectors/gen40/surface_formats.txt");
    let text = fs::read_to_string(path).unwrap();
    text.lines()
        .filter(|l| !l.starts_with('#'))
        .map(|l| l.split(' ').map(str::to_owned).collect())
        .collect()
}

fn find(row: &[String]) -> &'static SurfaceFormatDesc {
    let code = u32::from_str_radix(&row[0], 16).unwrap();
    surface_format(code).unwrap_or_else(|| panic!("no format {}", row[0]))
}

fn caps(f: &SurfaceFormatDesc) -> String {
    let all = [
        (f.sampling, 'S'),
        (f.filtering, 'F'),
        (f.shadow, 'H'),
        (f.chroma_key, 'K'),
        (f.render_target, 'R'),
        (f.alpha_blend, 'B'),
        (f.vertex_input, 'V'),
        (f.streamed_output, 'O'),
    ];
    all.iter().filter(|c| c.0).map(|c| c.1).collect()
}

#[test]
fn names_sizes_and_capabilities_agree() {
    assert_eq!(rows().len(), SURFACE_FORMATS.len());
    for row in rows() {
        let f = find(&row);
        // Mesa keeps the older name of the format without alpha.
        assert_eq!(f.name, row[1].replace("DXT1_RGB", "BC1_RGB"));
        let number = |i: usize| row[i].parse::<u32>().unwrap();
        // Mesa's row has a slip: 196 for 3 x 64.
        let theirs = if f.name == "R64G64B64_FLOAT" {
            192
        } else {
            number(2)
        };
        // Sizes per pixel: Mesa counts single YCRCB pixels, the table pairs.
        assert_eq!(
            f.bits_per_element * number(3) * number(4),
            theirs * f.block_width * f.block_height,
            "{}",
            f.name
        );
        let theirs = row[13].trim_matches('-');
        assert_eq!(caps(f), theirs, "{}", f.name);
    }
}

#[test]
fn totals_are_the_manuals() {
    // Marks per column of the printed table, which has no rows for BC4 and BC5.
    let count = |c: char| {
        SURFACE_FORMATS
            .iter()
            .filter(|f| caps(f).contains(c) && !matches!(&f.name[..3], "BC4" | "BC5"))
            .count()
    };
    let totals: Vec<usize> = "SFHKRBVO".chars().map(count).collect();
    assert_eq!(totals, [107, 66, 16, 15, 57, 25, 85, 12]);
}

#[test]
fn channels_agree() {
    for row in rows() {
        let f = find(&row);
        // Mesa's row of R16G16_SSCALED has a slip: ss6 for ss16.
        if f.channels.is_empty() || matches!(f.name, "MONO8" | "R16G16_SSCALED") {
            continue;
        }
        for (i, letter) in (5..).zip("RGBALIP".bytes()) {
            let Some(c) = f.channel(letter) else {
                // An unused channel has the letter X here, and in Mesa that of the channel it replaces.
                assert!(
                    row[i] == "-" || row[i].starts_with('x'),
                    "{} {}",
                    f.name,
                    row[i]
                );
                continue;
            };
            let split = row[i].find(|c: char| c.is_ascii_digit());
            let Some(split) = split else {
                panic!("{}: Mesa has no {}", f.name, char::from(letter));
            };
            let (kind, bits) = row[i].split_at(split);
            assert_eq!(
                u32::from(c.bits),
                bits.parse::<u32>().unwrap(),
                "{}",
                f.name
            );
            let expected: &[ChannelKind] = match kind {
                // Mesa calls a palette index a unorm.
                "un" => &[ChannelKind::Unorm, ChannelKind::Srgb, ChannelKind::Uint],
                "sn" => &[ChannelKind::Snorm],
                "ui" => &[ChannelKind::Uint],
                "si" => &[ChannelKind::Sint],
                "us" => &[ChannelKind::Uscaled],
                "ss" => &[ChannelKind::Sscaled],
                "sf" => &[ChannelKind::Float],
                "uf" => &[ChannelKind::Float, ChannelKind::SharedExponent],
                "x" => &[ChannelKind::Unused],
                other => panic!("{other}"),
            };
            assert!(
                expected.contains(&c.kind),
                "{}: {kind} {:?}",
                f.name,
                c.kind
            );
        }
        // Order from bit 0 where Mesa spells it with the same letters.
        let order: String = f
            .channels
            .iter()
            .filter(|c| c.kind != ChannelKind::Unused && c.letter != b'E')
            .map(|c| char::from(c.letter).to_ascii_lowercase())
            .collect();
        assert!(
            row[12].starts_with(&order) || f.name.contains('X') || row[12] == "-",
            "{}: {order} {}",
            f.name,
            row[12]
        );
    }
}
