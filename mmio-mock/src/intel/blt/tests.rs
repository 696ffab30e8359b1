//! Whole commands on small surfaces, assembled as drivers do (SNA, Mesa, IGT).
//!
//! PRM: volume 1, blitter. Not covered: chroma keys.
#![allow(clippy::unwrap_used, reason = "tests")]
use super::*;
use mem::{GpuAddr, Memory, Tiling, tiling};

const DST: u32 = 0x1_0000;
const SRC: u32 = 0x2_0000;

fn memory() -> Memory {
    let mut m = Memory::new(4 << 20, 256);
    m.alloc_mapped(GpuAddr::from(DST), 0x2_0000).unwrap();
    m
}

const fn header(opcode: u32, dwords: u32) -> u32 {
    2 << 29 | opcode << 22 | 3 << 20 | (dwords - 2)
}

const fn xy(x: u32, y: u32) -> u32 {
    y << 16 | x
}

fn at(m: &Memory, x: u32, y: u32, pitch: u32) -> u32 {
    m.read_u32(GpuAddr::from(DST + y * pitch + 4 * x)).unwrap()
}

/// XY_COLOR_BLT as Mesa's clears emit it: ROP F0, depth 32.
fn fill(
    tiled: bool,
    pitch_field: u32,
    x1: u32,
    y1: u32,
    x2: u32,
    y2: u32,
    colour: u32,
) -> [u32; 6] {
    let h = header(opcode::XY_COLOR_BLT, 6) | (tiled as u32) << 11;
    [
        h,
        3 << 24 | 0xf0 << 16 | pitch_field,
        xy(x1, y1),
        xy(x2, y2),
        DST,
        colour,
    ]
}

#[test]
fn solid_fill_covers_its_rectangle_only() {
    let mut m = memory();
    let stats = Blt::new()
        .execute(&fill(false, 256, 2, 1, 5, 3, 0xdead_beef), &mut m)
        .unwrap();
    assert_eq!((stats.pixels, stats.bytes_written), (6, 24));
    for y in 0..4 {
        for x in 0..8 {
            let inside = (2..5).contains(&x) && (1..3).contains(&y);
            assert_eq!(at(&m, x, y, 256), if inside { 0xdead_beef } else { 0 });
        }
    }
}

#[test]
fn tiled_fill_takes_its_pitch_in_dwords() {
    let mut m = memory();
    Blt::new()
        .execute(&fill(true, 1024 / 4, 100, 7, 140, 9, 0x55), &mut m)
        .unwrap();
    for (x, y, want) in [
        (99, 7, 0),
        (100, 7, 0x55),
        (139, 8, 0x55),
        (140, 8, 0),
        (128, 9, 0),
    ] {
        let o = tiling::offset(Tiling::X, 1024, 4 * x, y);
        assert_eq!(m.read_u32(GpuAddr::from(DST + o)).unwrap(), want, "{x},{y}");
    }
}

#[test]
fn byte_masks() {
    let mut m = memory();
    m.write_u32(GpuAddr::from(DST), 0x1122_3344).unwrap();
    let mut c = fill(false, 64, 0, 0, 1, 1, 0xaabb_ccdd);
    c[0] &= !(1 << 20);
    Blt::new().execute(&c, &mut m).unwrap();
    assert_eq!(at(&m, 0, 0, 64), 0xaa22_3344);
    c[0] = c[0] & !(1 << 21) | 1 << 20;
    Blt::new().execute(&c, &mut m).unwrap();
    assert_eq!(at(&m, 0, 0, 64), 0xaabb_ccdd);
}

/// The start of libdrm's reference batch: src tiled, dst linear, ROP CC, 100x100.
#[test]
fn copy_from_tiled_to_linear() {
    let mut m = memory();
    for y in 0..16 {
        for x in 0..128 {
            let o = tiling::offset(Tiling::X, 512, 4 * x, y);
            m.write_u32(GpuAddr::from(SRC + o), y << 8 | x).unwrap();
        }
    }
    let c = [
        0x54f0_8006,
        0x03cc_0190,
        0,
        xy(100, 10),
        DST,
        xy(3, 2),
        0x80,
        SRC,
    ];
    let stats = Blt::new().execute(&c, &mut m).unwrap();
    assert_eq!(stats.pixels, 1000);
    assert_eq!(at(&m, 0, 0, 400), 2 << 8 | 3);
    assert_eq!(at(&m, 99, 9, 400), 0x0b66);
    assert_eq!(at(&m, 0, 10, 400), 0);
}

#[test]
fn overlapping_copies_in_all_directions() {
    for (dx, dy) in [
        (1i32, 1i32),
        (-1, 1),
        (1, -1),
        (-1, -1),
        (1, 0),
        (-1, 0),
        (0, 1),
        (0, -1),
    ] {
        for tiled in [false, true] {
            let mut m = memory();
            let address = |x: i32, y: i32| {
                let t = if tiled { Tiling::X } else { Tiling::Linear };
                GpuAddr::from(DST + tiling::offset(t, 512, 4 * x as u32, y as u32))
            };
            for y in 0..12 {
                for x in 0..12 {
                    m.write_u32(address(x, y), (y * 100 + x) as u32).unwrap();
                }
            }
            let p = |x: i32, y: i32| xy(x as u32, y as u32);
            let pitch = if tiled { 128 } else { 512 };
            let t = tiled as u32;
            let c = [
                header(opcode::XY_SRC_COPY_BLT, 8) | t << 11 | t << 15,
                0x03cc_0000 | pitch,
                p(2 + dx, 2 + dy),
                p(10 + dx, 10 + dy),
                DST,
                p(2, 2),
                pitch,
                DST,
            ];
            Blt::new().execute(&c, &mut m).unwrap();
            for y in 2..10 {
                for x in 2..10 {
                    let got = m.read_u32(address(x + dx, y + dy)).unwrap();
                    assert_eq!(got, (y * 100 + x) as u32, "{dx},{dy} {tiled}");
                }
            }
        }
    }
}

#[test]
fn all_raster_operations_at_8_bits() {
    // P, S, D bytes that enumerate all combinations: the result is the ROP code itself.
    for rop in 0..=255u32 {
        let mut m = memory();
        m.write_u8(GpuAddr::from(DST), 0xaa).unwrap();
        m.write_u8(GpuAddr::from(SRC), 0xcc).unwrap();
        m.write_bytes(GpuAddr::from(SRC + 0x1000), &[0xf0; 64])
            .unwrap();
        let c = [
            header(opcode::XY_FULL_BLT, 9),
            rop << 16 | 64,
            0,
            xy(1, 1),
            DST,
            0,
            64,
            SRC,
            SRC + 0x1000,
        ];
        Blt::new().execute(&c, &mut m).unwrap();
        assert_eq!(m.read_u8(GpuAddr::from(DST)).unwrap() as u32, rop);
        assert_eq!(m.read_u8(GpuAddr::from(DST + 1)).unwrap(), 0);
    }
}

#[test]
fn clip_rectangle_is_exclusive_and_needs_its_bit() {
    let mut m = memory();
    let mut blt = Blt::new();
    blt.execute(
        &[header(opcode::XY_SETUP_CLIP_BLT, 3), xy(1, 1), xy(3, 2)],
        &mut m,
    )
    .unwrap();
    let mut c = fill(false, 64, 0, 0, 8, 8, 7);
    c[1] |= 1 << 30;
    assert_eq!(blt.execute(&c, &mut m).unwrap().pixels, 2);
    assert_eq!(
        [
            at(&m, 0, 1, 64),
            at(&m, 1, 1, 64),
            at(&m, 2, 1, 64),
            at(&m, 3, 1, 64)
        ],
        [0, 7, 7, 0]
    );
    c[1] &= !(1 << 30);
    assert_eq!(blt.execute(&c, &mut m).unwrap().pixels, 64);
    // Empty after clipping.
    c[1] |= 1 << 30;
    blt.execute(&[header(opcode::XY_SETUP_CLIP_BLT, 3), 0, 0], &mut m)
        .unwrap();
    assert_eq!(blt.execute(&c, &mut m).unwrap(), BltStats::default());
}

/// The solid fill of SNA: setup with the solid bit, then scan lines and pixels.
#[test]
fn sna_fill_through_setup() {
    let mut m = memory();
    let mut blt = Blt::new();
    let setup = [
        header(opcode::XY_SETUP_MONO_PATTERN_SL_BLT, 9),
        1 << 31 | 3 << 24 | 0xf0 << 16 | 64,
        0,
        0,
        DST,
        0x77,
        0x77,
        0,
        0,
    ];
    assert_eq!(blt.execute(&setup, &mut m).unwrap().pixels, 0);
    blt.execute(
        &[header(opcode::XY_SCANLINES_BLT, 3), xy(1, 0), xy(4, 2)],
        &mut m,
    )
    .unwrap();
    blt.execute(&[header(opcode::XY_PIXEL_BLT, 2), xy(9, 3)], &mut m)
        .unwrap();
    assert_eq!(
        [
            at(&m, 0, 0, 64),
            at(&m, 1, 0, 64),
            at(&m, 3, 1, 64),
            at(&m, 4, 1, 64)
        ],
        [0, 0x77, 0x77, 0]
    );
    assert_eq!(at(&m, 9, 3, 64), 0x77);
}

#[test]
fn text_by_packing_and_transparency() {
    // A 3x2 glyph: #.# / .#. ; bit packed 101010.. = 0xa8, byte packed 0xa0 0x40.
    for (packed, data) in [(0u32, 0x0000_00a8u32), (1, 0x0000_40a0)] {
        let mut m = memory();
        let mut blt = Blt::new();
        let setup = |mode: u32| {
            [
                header(opcode::XY_SETUP_BLT, 8),
                mode | 3 << 24 | 0xcc << 16 | 64,
                0,
                0,
                DST,
                0xb,
                0xf,
                0,
            ]
        };
        let t = [
            header(opcode::XY_TEXT_IMMEDIATE_BLT, 5) | packed << 16,
            0,
            xy(3, 2),
            data,
            0,
        ];
        blt.execute(&setup(1 << 29), &mut m).unwrap();
        blt.execute(&t, &mut m).unwrap();
        let row = |m: &Memory, y| [at(m, 0, y, 64), at(m, 1, y, 64), at(m, 2, y, 64)];
        assert_eq!(row(&m, 0), [0xf, 0, 0xf]);
        assert_eq!(row(&m, 1), [0, 0xf, 0]);
        blt.execute(&setup(0), &mut m).unwrap();
        // From memory this time.
        m.write_u32(GpuAddr::from(SRC), data).unwrap();
        let t = [
            header(opcode::XY_TEXT_BLT, 4) | packed << 16,
            0,
            xy(3, 2),
            SRC,
        ];
        blt.execute(&t, &mut m).unwrap();
        assert_eq!(row(&m, 0), [0xf, 0xb, 0xf]);
        assert_eq!(row(&m, 1), [0xb, 0xf, 0xb]);
    }
}

#[test]
fn mono_pattern_is_anchored_at_the_origin_with_seeds() {
    let mut m = memory();
    // Row 0 of the pattern: leftmost pixel only.
    let c = [
        header(opcode::XY_MONO_PAT_BLT, 9) | 2 << 12 | 1 << 8,
        3 << 24 | 0xf0 << 16 | 128,
        xy(1, 5),
        xy(17, 9),
        DST,
        0xb,
        0xf,
        0x80,
        0,
    ];
    Blt::new().execute(&c, &mut m).unwrap();
    for y in 5..9 {
        for x in 1..17 {
            let on = (x + 2) % 8 == 0 && (y + 1) % 8 == 0;
            assert_eq!(at(&m, x, y, 128), if on { 0xf } else { 0xb });
        }
    }
}

#[test]
fn colour_patterns_at_16_bits() {
    let mut m = memory();
    let dwords: Vec<u32> = (0..32).map(|i| ((2 * i + 1) << 16) + 2 * i).collect();
    let mut c = vec![
        header(opcode::XY_PAT_BLT_IMMEDIATE, 5 + 32),
        1 << 24 | 0xf0 << 16 | 64,
        0,
        xy(16, 8),
        DST,
    ];
    c.extend(&dwords);
    Blt::new().execute(&c, &mut m).unwrap();
    for (x, y) in [(0u32, 0u32), (7, 7), (9, 3), (15, 7)] {
        let got = m.read_u16(GpuAddr::from(DST + y * 64 + 2 * x)).unwrap();
        assert_eq!(got as u32, y * 8 + x % 8);
    }
    m.write_dwords(GpuAddr::from(SRC), &dwords).unwrap();
    let p = [
        header(opcode::XY_PAT_BLT, 6),
        1 << 24 | 0x0f << 16 | 64,
        0,
        xy(1, 1),
        DST,
        SRC,
    ];
    Blt::new().execute(&p, &mut m).unwrap();
    assert_eq!(
        m.read_u16(GpuAddr::from(DST)).unwrap(),
        0xffff,
        "NOT pattern"
    );
}

#[test]
fn mono_pictures_have_word_aligned_rows_and_a_first_bit() {
    let mut m = memory();
    // Rows of 16 bits; the first pixel is bit 3 of its byte.
    m.write_bytes(GpuAddr::from(SRC), &[0b0001_0000, 0, 0b0000_1000, 0])
        .unwrap();
    let c = [
        header(opcode::XY_MONO_SRC_COPY_BLT, 8) | 3 << 17,
        3 << 24 | 0xcc << 16 | 64,
        0,
        xy(4, 2),
        DST,
        SRC,
        0xb,
        0xf,
    ];
    Blt::new().execute(&c, &mut m).unwrap();
    assert_eq!([at(&m, 0, 0, 64), at(&m, 1, 0, 64)], [0xf, 0xb]);
    assert_eq!([at(&m, 0, 1, 64), at(&m, 1, 1, 64)], [0xb, 0xf]);
    // Immediate data, clipped on the left: the picture stays in place.
    let mut blt = Blt::new();
    blt.execute(
        &[header(opcode::XY_SETUP_CLIP_BLT, 3), xy(1, 0), xy(9, 9)],
        &mut m,
    )
    .unwrap();
    let c = [
        header(opcode::XY_MONO_SRC_COPY_IMMEDIATE_BLT, 9),
        1 << 30 | 3 << 24 | 0xcc << 16 | 64,
        xy(0, 4),
        xy(4, 5),
        DST,
        0xb,
        0xf,
        0x50,
        0,
    ];
    blt.execute(&c, &mut m).unwrap();
    assert_eq!([0, 1, 2, 3].map(|x| at(&m, x, 4, 64)), [0, 0xf, 0xb, 0xf]);
}

#[test]
fn full_mono_forms() {
    let mut m = memory();
    m.write_u32(GpuAddr::from(SRC), 0x40).unwrap();
    // ROP 5A would ignore the source; use P & S (C0).
    let c = [
        header(opcode::XY_FULL_MONO_PATTERN_MONO_SRC_BLT, 12),
        3 << 24 | 0xc0 << 16 | 64,
        0,
        xy(2, 1),
        DST,
        SRC,
        0x0f,
        0xff,
        0x33,
        0x3c,
        0x80,
        0,
    ];
    Blt::new().execute(&c, &mut m).unwrap();
    assert_eq!(
        [at(&m, 0, 0, 64), at(&m, 1, 0, 64)],
        [0x3c & 0x0f, 0x33 & 0xff]
    );
    let c = [
        header(opcode::XY_FULL_MONO_PATTERN_BLT, 12),
        3 << 24 | 0xc0 << 16 | 64,
        0,
        xy(1, 1),
        DST,
        0,
        64,
        SRC,
        0x33,
        0xff,
        0x80,
        0,
    ];
    Blt::new().execute(&c, &mut m).unwrap();
    assert_eq!(at(&m, 0, 0, 64), 0x40);
}

#[test]
fn linear_fill_and_backward_copy() {
    let mut m = memory();
    // COLOR_BLT: height 2, width 12 bytes.
    let c = [
        header(opcode::COLOR_BLT, 5),
        3 << 24 | 0xf0 << 16 | 64,
        0x0002_000c,
        DST,
        5,
    ];
    assert_eq!(Blt::new().execute(&c, &mut m).unwrap().pixels, 6);
    assert_eq!(
        [at(&m, 2, 1, 64), at(&m, 3, 1, 64), at(&m, 0, 2, 64)],
        [5, 0, 0]
    );
    for x in 0..8 {
        m.write_u8(GpuAddr::from(SRC + x), x as u8).unwrap();
    }
    // SRC_COPY_BLT right to left by one byte, addresses of the last bytes, negative pitch.
    let c = [
        header(opcode::SRC_COPY_BLT, 6),
        1 << 30 | 0xcc << 16 | 0xffc0,
        1 << 16 | 7,
        SRC + 7,
        0xffc0,
        SRC + 6,
    ];
    Blt::new().execute(&c, &mut m).unwrap();
    let mut got = [0; 8];
    m.read_bytes(GpuAddr::from(SRC), &mut got).unwrap();
    assert_eq!(got, [0, 0, 1, 2, 3, 4, 5, 6]);
}

#[test]
fn bad_commands_say_why() {
    let mut m = memory();
    let mut blt = Blt::new();
    let mut why = |c: &[u32]| blt.execute(c, &mut m).unwrap_err().to_string();
    assert_eq!(why(&[]), "BLT: bad command: opcode 0x00 is reserved");
    assert_eq!(
        why(&[header(0x02, 2)]),
        "BLT: bad command: opcode 0x02 is reserved"
    );
    assert_eq!(
        why(&[header(0x50, 6), 0]),
        "BLT: bad command: XY_COLOR_BLT of 2 dwords, needs 6"
    );
    assert!(why(&fill(true, 100, 0, 0, 1, 1, 0)).contains("pitch of 400 bytes"));
    assert!(why(&fill(true, 128, 0xffff, 0, 1, 1, 0)).contains("pixel (-1, 0)"));
    assert!(why(&[header(0x73, 10); 10]).contains("chroma"));
    let mut c = fill(false, 64, 0, 0, 1, 1, 0);
    c[4] = 0x50_0000;
    assert!(why(&c).contains("past the end of the GTT"));
    assert_eq!(Blt::name(0x53), Some("XY_SRC_COPY_BLT"));
    assert_eq!(Blt::name(0x02), None);
}

/// The command table and this unit know the same commands under the same names and lengths.
#[test]
fn the_command_table_agrees() {
    for (code, name, fewest) in opcode::NAMES {
        let desc = regs::gen40::command(2 << 29 | code << 22).unwrap();
        assert_eq!(desc.name, name);
        assert!(desc.is_blit(), "{name}");
        assert_eq!(desc.min_dwords as usize, fewest, "{name}");
    }
    assert!(!regs::gen40::MI_FLUSH_DESC.is_blit());
}
