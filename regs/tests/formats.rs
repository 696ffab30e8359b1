//! The surface format table against Mesa's.
//! PRM vol4 4.7.2.1.1; the rows and their origin are in `tests/vectors/gen40/surface_formats.txt`.
//! Does not compare the inner layout of compressed formats.

use std::fs;
use std::path::Path;

use regs::desc::{ChannelKind, SurfaceFormatDesc};
use regs::gen40::{SURFACE_FORMATS, surface_format};
use regs::platform::GENERATIONS;

fn rows() -> Vec<Vec<String>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = path.join("../tests/vectors/gen40/surface_formats.txt");
    let text = fs::read_to_string(path).unwrap();
    text.lines()
        .filter(|l| !l.starts_with('#'))
        .map(|l| l.split(' ').map(str::to_owned).collect())
        .collect()
}

/// Rows of formats that the generation of a column of capabilities has.
fn rows_of(column: usize) -> Vec<Vec<String>> {
    let mut rows = rows();
    rows.retain(|row| row[column] != ".");
    rows
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

// covers: 4.7.2.1.1-26
#[test]
fn names_sizes_and_capabilities_agree() {
    assert_eq!(rows_of(13).len(), SURFACE_FORMATS.len());
    for row in rows_of(13) {
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

/// Later generations have the same formats and do more with them, and some have more.
#[test]
fn capabilities_of_later_generations_agree() {
    for (column, generation) in (13..).zip(GENERATIONS) {
        let rows = rows_of(column);
        assert_eq!(rows.len(), generation.formats.len());
        for (row, f) in rows.iter().zip(generation.formats) {
            assert_eq!(format!("{:03x}", f.code), row[0], "{}", generation.name);
            assert_eq!(caps(f), row[column].trim_matches('-'), "{}", f.name);
        }
    }
}

// covers: 4.7.2.1.1-01, 4.7.2.1.1-03
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
    let printed = SURFACE_FORMATS
        .iter()
        .filter(|f| !matches!(&f.name[..3], "BC4" | "BC5"));
    let marked = printed.clone().filter(|f| !caps(f).is_empty()).count();
    assert_eq!((marked, printed.count()), (150, 164));
}

/// Rows of the printed table by their marks: S sampling, F filtering, H shadow map, K chroma key, R render target, B alpha
/// blend, V vertex input, O streamed output.
const GROUPS: &[(&str, &[u32])] = &[
    ("SRBVO", &[0x000, 0x085]),
    ("SRVO", &[0x001, 0x002, 0x086, 0x087, 0x0d6, 0x0d7]),
    ("SHRBVO", &[0x0d8]),
    ("SVO", &[0x040, 0x041, 0x042]),
    ("SFRV", &[0x080, 0x081, 0x0c9, 0x0cc, 0x0cd, 0x10b, 0x141]),
    (
        "SFRBV",
        &[0x084, 0x0c2, 0x0c7, 0x0d0, 0x0d3, 0x106, 0x10e, 0x140],
    ),
    ("SFKRBV", &[0x0c0]),
    ("SFRB", &[0x0c1, 0x0c8, 0x0d1, 0x0d2, 0x101, 0x103, 0x105]),
    ("SFKRB", &[0x100, 0x102, 0x104, 0x144]),
    ("SFKRV", &[0x107]),
    ("SFHRV", &[0x10a]),
    (
        "SRV",
        &[
            0x082, 0x083, 0x0c4, 0x0ca, 0x0cb, 0x0ce, 0x0cf, 0x108, 0x109, 0x10c, 0x10d, 0x142,
            0x143,
        ],
    ),
    (
        "SH",
        &[0x088, 0x0d9, 0x0e0, 0x0e1, 0x0e2, 0x0e3, 0x0e4, 0x0e5],
    ),
    ("SFH", &[0x111, 0x112, 0x113, 0x115, 0x116, 0x117]),
    ("SFK", &[0x0e9, 0x114, 0x119, 0x146, 0x186, 0x187, 0x188]),
    (
        "SF",
        &[
            0x08e, 0x08f, 0x0c3, 0x0df, 0x0ea, 0x0eb, 0x0ec, 0x0ed, 0x0ee, 0x0f0, 0x145, 0x147,
            0x148, 0x181, 0x18b, 0x18c, 0x18d, 0x191, 0x192,
        ],
    ),
    (
        "S",
        &[0x006, 0x089, 0x08a, 0x090, 0x091, 0x092, 0x0da, 0x18e],
    ),
    ("SFKR", &[0x182, 0x183]),
    ("SFR", &[0x18f, 0x190]),
    ("RB", &[0x11a, 0x11b]),
    (
        "",
        &[
            0x10f, 0x110, 0x118, 0x122, 0x123, 0x14b, 0x14c, 0x14d, 0x14e, 0x14f, 0x180, 0x184,
            0x185, 0x19b,
        ],
    ),
];

// covers: 4.7.2.1.1-04, 4.7.2.1.1-05, 4.7.2.1.1-06, 4.7.2.1.1-07, 4.7.2.1.1-08, 4.7.2.1.1-09
// covers: 4.7.2.1.1-10, 4.7.2.1.1-11, 4.7.2.1.1-12, 4.7.2.1.1-13, 4.7.2.1.1-14, 4.7.2.1.1-15
// covers: 4.7.2.1.1-16, 4.7.2.1.1-17, 4.7.2.1.1-18, 4.7.2.1.1-19, 4.7.2.1.1-20, 4.7.2.1.1-21
// covers: 4.7.2.1.1-22, 4.7.2.1.1-23, 4.7.2.1.1-24, 4.7.2.1.1-25
#[test]
fn rows_have_the_printed_marks() {
    for (marks, codes) in GROUPS {
        for code in *codes {
            let f = surface_format(*code).unwrap();
            assert_eq!(caps(f), *marks, "{code:#05x} {}", f.name);
        }
    }
    // Three marks in the text; Mesa's table adds blending.
    let f = surface_format(0x0c5).unwrap();
    assert_eq!(caps(f).replace('B', ""), "SFV", "{}", f.name);
    let vertex: Vec<u32> = SURFACE_FORMATS
        .iter()
        .filter(|f| caps(f) == "V")
        .map(|f| f.code)
        .collect();
    let printed = [
        3..=5,
        7..=8,
        0x043..=0x046,
        0x08b..=0x08d,
        0x093..=0x096,
        0x0f1..=0x0f9,
        0x11c..=0x11f,
        0x149..=0x14a,
        0x193..=0x198,
        0x19c..=0x19f,
    ];
    assert_eq!(vertex, printed.into_iter().flatten().collect::<Vec<_>>());
    assert_eq!(vertex.len(), 41);
}

#[test]
fn channels_agree() {
    for row in rows() {
        let code = u32::from_str_radix(&row[0], 16).unwrap();
        let newest = GENERATIONS[GENERATIONS.len() - 1].formats;
        let f = newest.iter().find(|f| f.code == code).unwrap();
        // Mesa's rows of these two have slips: ss6 for ss16, and sx16 for 32 bits.
        if f.channels.is_empty() || matches!(f.name, "MONO8" | "R16G16_SSCALED" | "R32_SFIXED") {
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
                "sx" => &[ChannelKind::Sfixed],
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
            // Another slip: the later formats with blue first are in the order of those with red first.
            row[12].starts_with(&order)
                || f.name.contains('X')
                || row[12] == "-"
                || f.name.starts_with("B10G10R10A2_"),
            "{}: {order} {}",
            f.name,
            row[12]
        );
    }
}
