//! SURFACE_STATE in memory, bit by bit as the manual prints it.

use super::*;

/// SURFACE_STATE by its dwords.
fn surface(words: [u32; 5]) -> SurfaceState {
    SurfaceState::from_dwords(&words)
}

/// A linear map of 8x4 texels of R32_FLOAT, 32 bytes a row; texel n in the order of memory holds n.
fn plain(bench: &mut Bench) -> [u32; 5] {
    for n in 0..1024u32 {
        let at = GpuAddr::from(DATA + n * 4);
        bench.mem.write_u32(at, (n as f32).to_bits()).unwrap();
    }
    [1 << 29 | 0x0d8 << 18, DATA, 3 << 19 | 7 << 6, 31 << 3, 0]
}

/// What texel (x, y) of element or slice `z` of a level gives through `ld`.
fn load(bench: &mut Bench, words: [u32; 5], at: [u32; 4]) -> f32 {
    bench.bind(surface(words), SamplerState::new());
    let answer = bench.message((3, 9), Form::Simd16, &at.map(|n| [n; 16]));
    f32::from_bits(answer[0][0])
}

// covers: 4.7.2-02, 4.7.2-03, 4.7.2-05, 4.7.2-08, 4.7.2-22, 4.7.2-51, 4.7.2-65
#[test]
fn dword_0_of_surface_state() {
    let mut bench = Bench::new();
    let words = plain(&mut bench);
    assert_eq!(load(&mut bench, words, [3, 2, 0, 0]), 19.0);
    // Reserved bits do nothing.
    let mut other = words;
    other[0] |= 1 << 28 | 1 << 9;
    other[2] |= 3;
    other[3] |= 1 << 20 | 1 << 2;
    other[4] |= 0xff;
    assert_eq!(load(&mut bench, other, [3, 2, 0, 0]), 19.0);
    let with = |kind: u32| {
        let mut other = words;
        other[0] = other[0] & !(7 << 29) | kind << 29;
        other
    };
    // 1D: the second coordinate is an element, and there is one.
    assert_eq!(load(&mut bench, with(0), [3, 0, 0, 0]), 3.0);
    assert_eq!(load(&mut bench, with(0), [3, 1, 0, 0]), 0.0);
    // 3D: two slices below one another.
    let mut solid = with(2);
    solid[3] |= 1 << 21;
    assert_eq!(load(&mut bench, solid, [3, 2, 1, 0]), 51.0);
    assert_eq!(load(&mut bench, solid, [3, 2, 2, 0]), 0.0);
    // Buffer: 7 and 3 << 7 make 392 entries of 32 bytes.
    assert_eq!(load(&mut bench, with(4), [5, 0, 0, 0]), 40.0);
    assert_eq!(load(&mut bench, with(4), [120, 9, 9, 0]), 960.0);
    assert_eq!(load(&mut bench, with(4), [392, 0, 0, 0]), 0.0);
    // Null: zero, and nothing else is looked at.
    let null = [7 << 29 | 0x1ff << 18, 0xffff_f123, !0, !0, !0];
    assert_eq!(load(&mut bench, null, [3, 2, 0, 0]), 0.0);
    bench.bind(surface(null), sampler(LINEAR, CLAMP));
    assert_eq!(bench.at(0.5, 0.5, 0.0), [0.0; 4]);
    assert_eq!(bench.at_lod(0.5, 0.5, 0.0, 2.0), [0.0; 4]);
    for reserved in [5, 6] {
        bench.bind(surface(with(reserved)), SamplerState::new());
        let mut w = [[0; 8]; 4];
        let refused = bench.send(3, &[[0; 8]; 3], &mut w);
        assert!(matches!(refused, Err(UnitFault::State { .. })));
    }
    // Format in 26:18: the same dwords as R16G16_UNORM.
    let mut other = words;
    other[0] = 1 << 29 | 0x0cc << 18;
    bench.bind(surface(other), SamplerState::new());
    let answer = bench.message((3, 4), Form::Simd8, &[[3; 16], [2; 16], [0; 16]]);
    let bits = 19f32.to_bits();
    let want = [bits & 0xffff, bits >> 16].map(|v| v as f32 / 65535.0);
    close(
        answer[0].map(f32::from_bits),
        [f64::from(want[0]), f64::from(want[1]), 0.0, 1.0],
        "R16G16",
    );
}

// covers: 4.7.2-16, 4.7.2-18, 4.7.2-19, 4.7.2-39
#[test]
fn fields_of_interleaved_surfaces() {
    let mut bench = Bench::new();
    let words = plain(&mut bench);
    for (stride, offset) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        let mut field = words;
        field[0] |= stride << 12 | offset << 11;
        // Height counts the lines of the field.
        for y in 0..4u32 {
            let line = if stride == 1 { 2 * y + offset } else { y };
            assert_eq!(load(&mut bench, field, [3, y, 0, 0]), (3 + 8 * line) as f32);
            bench.bind(surface(field), sampler(NEAREST, CLAMP));
            let got = bench.at(3.5 / 8.0, (y as f32 + 0.5) / 4.0, 0.0)[0];
            assert_eq!(got, (3 + 8 * line) as f32, "{stride} {offset} {y}");
        }
        assert_eq!(load(&mut bench, field, [3, 4, 0, 0]), 0.0);
    }
}

// covers: 4.7.2-20, 4.7.2-32
#[test]
fn level_1_lies_below_or_to_the_right() {
    let mut bench = Bench::new();
    let mut words = plain(&mut bench);
    // 16 texels a row; levels of 8x4, 4x2, 2x1 aligned to 4x2.
    words[3] = 63 << 3;
    words[2] |= 2 << 2;
    let sample = |bench: &mut Bench, words, level: f32| {
        bench.bind(
            surface(words),
            sampler(NEAREST, CLAMP).with_mip_mode_filter(values::mipfilter::MIPFILTER_NEAREST),
        );
        bench.at_lod(0.0, 0.0, 0.0, level)[0]
    };
    for (layout, places) in [(0, [0, 4 * 16, 4 * 16 + 4]), (1, [0, 8, 2 * 16 + 8])] {
        let mut words = words;
        words[0] |= layout << 10;
        let got = [0.0, 1.0, 2.0].map(|level| sample(&mut bench, words, level));
        assert_eq!(got, places.map(|n| n as f32), "layout {layout}");
    }
}

// covers: 4.7.2-29, 4.7.2-31, 4.7.2-33
#[test]
fn linear_surfaces_start_at_any_byte() {
    let mut bench = Bench::new();
    for n in 0..256u32 {
        bench
            .mem
            .write_u8(GpuAddr::from(DATA + n), n as u8)
            .unwrap();
    }
    for base in 0..8u32 {
        // R8_UINT, 8x4, thirteen bytes a row.
        let map = [
            1 << 29 | 0x143 << 18,
            DATA + base,
            3 << 19 | 7 << 6,
            12 << 3,
            0,
        ];
        bench.bind(surface(map), SamplerState::new());
        let answer = bench.message((3, 4), Form::Simd8, &[[5; 16], [2; 16], [0; 16]]);
        assert_eq!(answer[0][0], base + 5 + 26);
        // R32_UINT entries three bytes apart.
        let buffer = [4 << 29 | 0x0d7 << 18, DATA + base, 31 << 6, 2 << 3, 0];
        bench.bind(surface(buffer), SamplerState::new());
        let answer = bench.message((3, 3), Form::Simd16, &[[7; 16]]);
        let first = base + 21;
        let want = u32::from_le_bytes([0, 1, 2, 3].map(|n| (first + n) as u8));
        assert_eq!(answer[0][0], want);
    }
}

// covers: 4.7.2-35, 4.7.2-56, 4.7.2-58, 4.7.2-57, 4.7.2-54
#[test]
fn tiles_count_from_the_base() {
    let mut bench = Bench::new();
    for n in 0..0x1_0000u32 {
        bench.mem.write_u32(GpuAddr::from(DATA + n * 4), n).unwrap();
    }
    // R32_UINT, 256x64, 1024 bytes a row; the base is an odd page.
    let words = |tiled: u32, walk: u32, base: u32| {
        [
            1 << 29 | 0x0d7 << 18,
            base,
            63 << 19 | 255 << 6,
            1023 << 3 | tiled << 1 | walk,
            0,
        ]
    };
    let load = |bench: &mut Bench, words, x: u32, y: u32| {
        bench.bind(surface(words), SamplerState::new());
        bench.message((3, 4), Form::Simd8, &[[x; 16], [y; 16], [0; 16]])[0][0]
    };
    let base = DATA + 0x3000;
    for (x, y) in [(0, 0), (5, 3), (130, 9), (37, 40), (255, 63)] {
        let (bx, from) = (x * 4, 0x3000);
        // X: 512 bytes by 8 rows. Y: columns of 16 bytes by 32 rows, eight a tile.
        let linear = y * 1024 + bx;
        let in_x = (y / 8 * 2 + bx / 512) * 4096 + y % 8 * 512 + bx % 512;
        let in_y = (y / 32 * 8 + bx / 128) * 4096 + bx % 128 / 16 * 512 + y % 32 * 16 + bx % 16;
        let want = |at: u32| (from + at) / 4;
        assert_eq!(load(&mut bench, words(0, 0, base), x, y), want(linear));
        assert_eq!(
            load(&mut bench, words(0, 1, base), x, y),
            want(linear),
            "walk is ignored"
        );
        assert_eq!(load(&mut bench, words(1, 0, base), x, y), want(in_x));
        assert_eq!(load(&mut bench, words(1, 1, base), x, y), want(in_y));
    }
    let mut buffer = words(1, 0, base);
    buffer[0] = 4 << 29 | 0x0d7 << 18;
    let mut narrow = words(1, 0, base);
    narrow[3] = 1151 << 3 | 2;
    for bad in [
        words(1, 0, base + 64),
        words(1, 1, base + 64),
        buffer,
        narrow,
    ] {
        bench.bind(surface(bad), SamplerState::new());
        let mut w = [[0; 8]; 4];
        let refused = bench.send(3, &[[0; 8]; 3], &mut w);
        assert!(matches!(refused, Err(UnitFault::State { .. })));
    }
    // A null surface ignores the bit: it is always as if tiled.
    assert_eq!(load(&mut bench, [7 << 29, 0, 0, 0, 0], 1, 1), 0);
}

// covers: 4.7.2-37, 4.7.2-42, 4.7.2-43, 4.7.2-44, 4.7.2-47
#[test]
fn sizes_of_surface_state() {
    let mut bench = Bench::new();
    let info = |bench: &mut Bench, words: [u32; 5]| {
        bench.bind(surface(words), SamplerState::new());
        let payload = [[0; 8], [0; 8]];
        let mut w = [[KEEP; 8]];
        bench
            .send_raw(2 << 14 | 2 << 12 | 2, &payload, &mut w)
            .map(|()| [w[0][0], w[0][1], w[0][2], w[0][3]])
    };
    // L8, largest of each kind; pitch 8 KB.
    let words = |kind: u32, height: u32, width: u32, depth: u32, levels: u32| {
        [
            kind << 29 | 0x146 << 18 | 0x3f,
            DATA,
            height << 19 | width << 6 | levels << 2,
            depth << 21 | 8191 << 3,
            0,
        ]
    };
    for (state, want) in [
        (words(0, 0, 8191, 511, 13), [8192, 512, 0, 14]),
        (words(1, 8191, 8191, 511, 13), [8192, 8192, 512, 14]),
        (words(2, 2047, 2047, 2047, 11), [2048, 2048, 2048, 12]),
        (words(3, 8191, 8191, 0, 13), [8192, 8192, 0, 14]),
        (words(1, 0, 0, 0, 0), [1, 1, 0, 1]),
        (words(1, 4, 36, 2, 5), [37, 5, 3, 6]),
    ] {
        assert_eq!(info(&mut bench, state).unwrap(), want);
    }
    // Cubes are square, rows fit the pitch.
    assert!(info(&mut bench, words(3, 7, 15, 0, 0)).is_err());
    let mut narrow = words(1, 7, 15, 0, 0);
    narrow[3] = 14 << 3;
    assert!(info(&mut bench, narrow).is_err());
    narrow[3] = 15 << 3;
    assert!(info(&mut bench, narrow).is_ok());
}

// covers: 4.7.2-38
#[test]
fn buffers_have_their_size_in_three_fields() {
    let mut bench = Bench::new();
    plain(&mut bench);
    let loaded = |bench: &mut Bench, entries: u32, index: u32| {
        let n = entries - 1;
        let words = [
            4 << 29 | 0x0d8 << 18,
            DATA,
            (n >> 7 & 0x1fff) << 19 | (n & 0x7f) << 6,
            (n >> 20) << 21,
            0,
        ];
        // A byte an entry keeps the largest inside the mapped pages.
        load(bench, words, [index, 0, 0, 0]).to_bits()
    };
    for entries in [1, 2, 127, 128, 129, 1000] {
        let at = GpuAddr::from(DATA + entries - 1);
        let want = bench.mem.read_u32(at).unwrap();
        assert_eq!(loaded(&mut bench, entries, entries - 1), want);
        assert_eq!(loaded(&mut bench, entries, entries), 0, "{entries}");
    }
    for entries in [1 << 20, (1 << 20) + 1, 1 << 27] {
        assert_eq!(loaded(&mut bench, entries, entries), 0);
        assert_ne!(loaded(&mut bench, entries, 5), 0);
    }
}

// covers: 4.7.2-52
#[test]
fn ranges_of_depth() {
    let mut bench = Bench::new();
    let text = plain(&mut bench);
    let bound = |bench: &mut Bench, kind: u32, depth: u32| {
        let mut words = text;
        words[0] = kind << 29 | 0x0d8 << 18 | 0x3f;
        // Four by four texels, for cubes are square.
        words[2] = 3 << 19 | 3 << 6;
        words[3] |= depth << 21;
        bench.bind(surface(words), SamplerState::new());
        let mut w = [[KEEP; 8]];
        // resinfo, which gives slices in green (1D) or blue, and ld of entry 0 for a buffer.
        let message = if kind == 4 {
            3 << 14
        } else {
            2 << 14 | 2 << 12
        };
        bench
            .send_raw(message | 2, &[[0; 8], [0; 8]], &mut w)
            .map(|()| [w[0][0], w[0][1], w[0][2]])
    };
    // Type, the end of the range, what it gives there.
    for (kind, most, want) in [
        (0, 511, [4, 512, 0]),
        (1, 511, [4, 4, 512]),
        (2, 2047, [4, 4, 2048]),
        (3, 0, [4, 4, 0]),
        (4, 127, [0, 0, 0]),
    ] {
        assert_eq!(bound(&mut bench, kind, most).unwrap(), want, "type {kind}");
        for depth in [most + 1, 2047]
            .into_iter()
            .filter(|d| *d > most && *d < 2048)
        {
            let refused = bound(&mut bench, kind, depth).unwrap_err();
            let UnitFault::State { what, .. } = refused else {
                panic!("{refused}");
            };
            let text = format!(
                "depth field {depth} is more than {most}, all that surfaces of type {kind} have"
            );
            assert_eq!(what, text);
        }
    }
    // Nothing of a null surface counts.
    assert_eq!(bound(&mut bench, 7, 2047).unwrap(), [0, 0, 0]);
}

// covers: 4.7.2-55
#[test]
fn pitches_by_use_and_tiling() {
    let resolve = |words: &[u32; 5], usage| {
        crate::intel::r#gen::gen40::surface::resolve(words, usage).is_ok()
    };
    // YCRCB_NORMAL has elements of two bytes, two of which share their chroma: 8x4 texels want 16 bytes.
    // R16_UNORM beside it wants one element, R32G32B32A32_FLOAT one of sixteen bytes.
    for (format, row, unit) in [(0x182, 16, 4), (0x10a, 16, 2), (0x000, 128, 16)] {
        for pitch in row..row + 48 {
            let words = [
                1 << 29 | format << 18,
                DATA,
                3 << 19 | 7 << 6,
                (pitch - 1) << 3,
                0,
            ];
            let whole = pitch % unit == 0;
            assert_eq!(
                resolve(&words, Use::RenderTarget),
                whole,
                "{format:#x} {pitch}"
            );
            assert!(
                resolve(&words, Use::Sampler),
                "other linear surfaces: any byte"
            );
        }
    }
    // Tiles are 512 bytes wide along x, 128 along y.
    for (walk, tile) in [(0, 512), (1, 128)] {
        for pitch in (64..2049).step_by(64) {
            let words = [
                1 << 29 | 0x146 << 18,
                DATA,
                3 << 19 | 7 << 6,
                (pitch - 1) << 3 | 2 | walk,
                0,
            ];
            let mut target = words;
            target[0] = 1 << 29 | 0x140 << 18;
            let whole = pitch % tile == 0;
            assert_eq!(resolve(&words, Use::Sampler), whole, "walk {walk} {pitch}");
            assert_eq!(resolve(&target, Use::RenderTarget), whole, "{walk} {pitch}");
        }
    }
}

// covers: 4.7.2-59, 4.7.2-61
#[test]
fn dword_4_of_surface_state() {
    let mut bench = Bench::new();
    let mut words = plain(&mut bench);
    // Levels of 8x4, 4x2 and 2x1; elements 4 + 2 + 22 rows apart.
    words[2] |= 1 << 2;
    words[4] = 1 << 28;
    assert_eq!(load(&mut bench, words, [1, 1, 0, 0]), 41.0, "level 1");
    assert_eq!(load(&mut bench, words, [1, 0, 0, 1]), 37.0, "level 2");
    words[4] = 2 << 17;
    assert_eq!(
        load(&mut bench, words, [1, 1, 0, 0]),
        (2 * 28 * 8 + 9) as f32
    );
    bench.bind(surface(words), sampler(NEAREST, CLAMP));
    let got = bench.at(1.5 / 8.0, 1.5 / 4.0, 0.0)[0];
    assert_eq!(got, (2 * 28 * 8 + 9) as f32);
}

// covers: 4.7.2-09, 4.7.2.1.1-27, 4.7.2-33, 4.7.2-30
#[test]
fn render_targets_are_held_to_elements() {
    let resolve = |words: &[u32; 5], usage| {
        crate::intel::r#gen::gen40::surface::resolve(words, usage).is_ok()
    };
    // Format, bytes an element; linear, 8x4.
    for (format, bytes) in [
        (0x0d8, 4u32),
        (0x10e, 2),
        (0x084, 8),
        (0x000, 16),
        (0x140, 1),
    ] {
        for offset in 0..32u32 {
            let map = [
                1 << 29 | format << 18,
                DATA + offset,
                3 << 19 | 7 << 6,
                (8 * bytes - 1) << 3,
                0,
            ];
            let mut entries = map;
            entries[0] = 4 << 29 | format << 18;
            for words in [map, entries] {
                let aligned = offset % bytes == 0;
                assert_eq!(resolve(&words, Use::RenderTarget), aligned, "{format:#x}");
                assert!(resolve(&words, Use::Sampler));
            }
            let mut wide = map;
            wide[1] = DATA;
            wide[3] = (8 * bytes + offset - 1) << 3;
            let whole = offset % bytes == 0;
            assert_eq!(resolve(&wide, Use::RenderTarget), whole, "{format:#x}");
            assert!(resolve(&wide, Use::Sampler));
        }
        // Tiles along y are not for elements of 16 bytes.
        for (walk, allowed) in [(0, true), (1, bytes < 16)] {
            let tiled = [
                1 << 29 | format << 18,
                DATA,
                3 << 19 | 7 << 6,
                511 << 3 | 2 | walk,
                0,
            ];
            assert_eq!(resolve(&tiled, Use::RenderTarget), allowed);
            assert!(resolve(&tiled, Use::Sampler));
        }
    }
}

// covers: 4.3-02
#[test]
fn compressed_texels_come_out_whole() {
    let mut bench = Bench::new();
    // BC1: red 31, blue 31; texels 0, 1, 2, 3 of each row have the codes 0 to 3.
    let block = [0x00, 0xf8, 0x1f, 0x00, 0xe4, 0xe4, 0xe4, 0xe4];
    bench.mem.write_bytes(GpuAddr::from(DATA), &block).unwrap();
    let words = [1 << 29 | 0x186 << 18, DATA, 3 << 19 | 3 << 6, 7 << 3, 0];
    bench.bind(surface(words), sampler(NEAREST, CLAMP));
    // Colours 0 and 1, and the two at thirds between them.
    let want = [
        [1.0, 0.0, 0.0, 1.0],
        [0.0, 0.0, 1.0, 1.0],
        [2.0 / 3.0, 0.0, 1.0 / 3.0, 1.0],
        [1.0 / 3.0, 0.0, 2.0 / 3.0, 1.0],
    ];
    for (x, want) in want.into_iter().enumerate() {
        for y in 0..4 {
            let got = bench.at((x as f32 + 0.5) / 4.0, (y as f32 + 0.5) / 4.0, 0.0);
            for (got, want) in got.into_iter().zip(want) {
                assert!((got - want).abs() < 0.5 / 255.0, "{x}: {got} {want}");
            }
        }
    }
}
