//! Media blocks: size, place, line strides and edges.
//!
//! PRM: volume 4, 5.6, 5.10.4.

use super::*;

fn block(x: i32, y: i32, width: u32, height: u32) -> Grf {
    let size = (height - 1) << 16 | (width - 1);
    // Bits that the table calls ignored are set.
    let ignored = 0xffc0_ffe0;
    [
        x as u32,
        y as u32,
        size | ignored,
        !0,
        !0,
        0xffff_ff42,
        0,
        0,
    ]
}

/// Rows of 512 bytes that hold their number.
fn numbered_rows() -> Bench {
    let mut bench = Bench::new();
    for row in 0..16 {
        for n in 0..128 {
            let at = GpuAddr::from(DATA + row * 512 + n * 4);
            bench.mem.write_u32(at, row).unwrap();
        }
    }
    bench
}

/// Height of four rows, stride and offset of the state, bits 10:8 of the descriptor, rows found.
// covers: 5.10.4.1-03, 5.10.4.1-04
#[test]
fn an_override_derives_the_height() {
    let cases: [(bool, bool, u16, [u32; 10]); 11] = [
        (false, false, 0b000, [0, 1, 2, 3, 3, 3, 3, 3, 3, 3]),
        (true, false, 0b000, [0, 2, 4, 6, 6, 6, 6, 6, 6, 6]),
        (true, true, 0b000, [1, 3, 5, 7, 7, 7, 7, 7, 7, 7]),
        // Without bit 10 the others are ignored.
        (false, false, 0b011, [0, 1, 2, 3, 3, 3, 3, 3, 3, 3]),
        (true, false, 0b001, [0, 2, 4, 6, 6, 6, 6, 6, 6, 6]),
        // Frame from frame: (Height + 1); the offset needs a stride.
        (false, false, 0b101, [0, 1, 2, 3, 3, 3, 3, 3, 3, 3]),
        // Field from frame: (Height + 1) / 2.
        (false, false, 0b110, [0, 2, 2, 2, 2, 2, 2, 2, 2, 2]),
        (false, false, 0b111, [1, 3, 3, 3, 3, 3, 3, 3, 3, 3]),
        // Frame from field: (Height + 1) * 2.
        (true, true, 0b100, [0, 1, 2, 3, 4, 5, 6, 7, 7, 7]),
        // Field from field: (Height + 1).
        (true, true, 0b110, [0, 2, 4, 6, 6, 6, 6, 6, 6, 6]),
        (true, false, 0b111, [1, 3, 5, 7, 7, 7, 7, 7, 7, 7]),
    ];
    for (stride, offset, bits, want) in cases {
        let mut bench = numbered_rows();
        let state = media_surface(4, f::R32_UINT, Tiling::Linear)
            .with_vertical_line_stride(stride)
            .with_vertical_line_stride_offset(offset);
        bench.bind(state);
        let mut w = [KEEP; 2];
        bench.read(READ_MEDIA | bits << 8 | 3, 0, &[block(0, 0, 4, 10)], &mut w);
        assert_eq!(w.as_flattened()[..10], want, "{stride} {offset} {bits:03b}");
    }
}

// covers: 5.10.4.2-02, 5.10.4.2-03
#[test]
fn wide_blocks_have_few_rows() {
    let mut bench = Bench::new();
    bench.bind(media_surface(64, f::R32_UINT, Tiling::Linear));
    for (width, rows) in [(4, 64), (8, 32), (12, 16), (16, 16), (20, 8), (32, 8)] {
        let mut w = [KEEP; 8];
        bench.read(READ_MEDIA | 3, 0, &[block(0, 0, width, rows)], &mut w);
        if rows < 64 {
            let high = [block(0, 0, width, rows + 1)];
            let refused = bench.try_read(READ_MEDIA | 3, 0, &high, &mut [KEEP; 9]);
            assert!(
                matches!(refused, Err(UnitFault::Message { what, .. }) if what == rules::BLOCK_SIZE.what),
                "{width} bytes, {} rows",
                rows + 1
            );
        }
    }
}

// covers: 5.10.4.3-01, 5.10.4.3-02, 5.10.4.2-02, 5.10.4.2-04, 5.10.4-01, 5.6-01, 5.10.4-09
#[test]
fn rows_lie_a_power_of_two_apart() {
    for (width, pitch) in [
        (4, 4),
        (8, 8),
        (12, 16),
        (16, 16),
        (20, 32),
        (24, 32),
        (32, 32),
    ] {
        let mut bench = Bench::new();
        bench.bind(media_surface(40, f::R8_UINT, Tiling::Linear).with_width(127));
        let (x, y, height) = (8, 5, 3u32);
        let dwords = pitch / 4;
        let registers = (pitch * height).div_ceil(32) as usize;
        let data: Vec<Grf> = (0..registers as u32).map(|n| up(1000 + n * 8)).collect();
        let payload = [&[block(x, y, width, height)][..], &data].concat();
        // The mask would let nothing through.
        bench.write(WRITE_MEDIA | 3, 0, &payload);
        for row in 0..height {
            let place = (y as u32 + row) * 128 + x as u32 / 4;
            let want: Vec<u32> = (0..width / 4).map(|n| 1000 + row * dwords + n).collect();
            assert_eq!(
                bench.dwords(place, width / 4),
                want,
                "width {width} row {row}"
            );
            // Left and right of it nothing changed.
            assert_eq!(bench.dwords(place - 1, 1), [place - 1]);
            assert_eq!(bench.dwords(place + width / 4, 1), [place + width / 4]);
        }
        let mut w = vec![[0; 8]; registers];
        bench.read(READ_MEDIA | 3, 0, &payload[..1], &mut w);
        for row in 0..height as usize {
            let at = row * dwords as usize;
            let words = width as usize / 4;
            let (got, sent) = (w.as_flattened(), data.as_flattened());
            assert_eq!(got[at..at + words], sent[at..at + words], "width {width}");
        }
    }
}

// covers: 5.10.4-10, 5.10.4.2-04
#[test]
fn outside_reads_clamp_and_writes_are_dropped() {
    let mut bench = Bench::new();
    // Two dwords by three rows.
    bench.bind(media_surface(3, f::R32_UINT, Tiling::Linear));
    let mut w = [KEEP; 4];
    bench.read(READ_MEDIA | 3, 0, &[block(-4, -1, 16, 5)], &mut w[..3]);
    let row = |y: u32| [y * 128, y * 128, y * 128 + 1, y * 128 + 1];
    let want = [row(0), row(0), row(1), row(2), row(2)].concat();
    assert_eq!(w.as_flattened()[..20], want);
    let far = block(i32::MIN, i32::MAX, 4, 1);
    bench.read(READ_MEDIA | 3, 0, &[far], &mut w[..1]);
    assert_eq!(w[0][0], 256, "lower left corner");
    let before = bench.dwords(0, 0x2000);
    bench.write(WRITE_MEDIA | 3, 0, &[far, [9; 8]]);
    assert_eq!(bench.dwords(0, 0x2000), before);
    let data = [[up(1000)], [up(2000)], [up(3000)]].concat();
    let payload = [&[block(-4, -1, 16, 5)][..], &data].concat();
    bench.write(WRITE_MEDIA | 3, 0, &payload);
    // Rows -1, 0, 1, 2, 3 are four dwords each; columns 0 and 1 are the second and third.
    let mut want = before;
    for (y, at) in [(0, 1005), (1, 2001), (2, 2005)] {
        want[y * 128] = at;
        want[y * 128 + 1] = at + 1;
    }
    assert_eq!(bench.dwords(0, 0x2000), want);
}

// covers: 5.10.4-13, 5.10.4-11, 5.10.4-12, 5.10.4-14, 5.10.4-03
#[test]
fn edges_repeat_by_format() {
    // A boundary dword of bytes 10 20 30 40; what the left and the right edge become.
    let cases = [
        (f::R8_UINT, 0x1010_1010, 0x4040_4040),
        (f::R16_UINT, 0x2010_2010, 0x4030_4030),
        (f::R32_UINT, 0x4030_2010, 0x4030_2010),
        (f::BGRA8, 0x4030_2010, 0x4030_2010),
        // Y0 U0 Y1 V0 becomes Y0 U0 Y0 V0 and Y1 U0 Y1 V0.
        (f::YCRCB_NORMAL, 0x4010_2010, 0x4030_2030),
        (f::YCRCB_SWAPUV, 0x4010_2010, 0x4030_2030),
        // U0 Y0 V0 Y1 becomes U0 Y0 V0 Y0 and U0 Y1 V0 Y1.
        (f::YCRCB_SWAPY, 0x2030_2010, 0x4030_4010),
        (f::YCRCB_SWAPUVY, 0x2030_2010, 0x4030_4010),
    ];
    for (format, left, right) in cases {
        let mut bench = Bench::new();
        let dword = 0x4030_2010;
        bench.mem.write_u32(GpuAddr::from(DATA), dword).unwrap();
        bench.bind(media_surface(1, format, Tiling::Linear).with_width(0));
        let mut w = [KEEP];
        bench.read(READ_MEDIA | 3, 0, &[block(-8, 0, 20, 1)], &mut w);
        // Inside, the raw data come back whatever the format.
        assert_eq!(w[0][..5], [left, left, dword, right, right], "{format:#x}");
    }
}

// covers: 5.1.1-01, 5.1.3-01
#[test]
fn both_caches_of_images_know_tiles() {
    for walk in [Tiling::Linear, Tiling::X, Tiling::Y] {
        let mut bench = Bench::new();
        bench.bind(media_surface(40, f::R8_UINT, walk).with_width(127));
        // Across the edge of a tile of every kind: 128 bytes, 512 bytes, 32 and 8 rows.
        let head = block(124, 30, 8, 4);
        bench.write(WRITE_MEDIA | 3, 0, &[head, up(500)]);
        for cache in [1, 2] {
            let mut w = [KEEP];
            bench.read(cache << 14 | 2 << 12 | 3, 0, &[head], &mut w);
            assert_eq!(w[0], up(500), "{walk:?}");
        }
    }
}

/// Writes count when nothing of the block is inside, reads never.
#[test]
fn blocks_wholly_outside_are_counted() {
    let mut bench = Bench::new();
    // Two dwords wide, four rows.
    bench.bind(media_surface(4, f::R32_UINT, Tiling::Linear));
    let width = 8;
    for (x, y, lost) in [
        (0, 0, 0),
        (-12, 0, 0),
        (-16, 0, 32),
        (width - 4, 3, 0),
        (width, 0, 32),
        (0, -1, 0),
        (0, -2, 32),
        (0, 4, 32),
        (i32::MAX - 3, i32::MAX, 32),
    ] {
        bench.port.outside.clear();
        bench.write(WRITE_MEDIA | 3, 0xffff, &[block(x, y, 16, 2), KEEP]);
        let writes = bench
            .port
            .outside
            .get(&3)
            .map_or(0, |outside| outside.writes);
        assert_eq!(writes, lost, "{x}, {y}");
        bench.read(READ_MEDIA | 3, 0xffff, &[block(x, y, 16, 2)], &mut [KEEP]);
        assert!(
            bench
                .port
                .outside
                .values()
                .all(|outside| outside.reads == 0)
        );
    }
}
