//! Layouts, masks, ld, resinfo, shadow compare, keys, borders.

use super::*;

fn gradient(bench: &mut Bench) {
    // Texel x has the components x, x+100, x+200, x+300.
    let state = surface_2d(f::RGBA32F, 32, 1, Tiling::Linear);
    for x in 0..32u32 {
        let texel = [x, x + 100, x + 200, x + 300].map(|n| (n as f32).to_bits());
        bench
            .mem
            .write_dwords(GpuAddr::from(DATA + x * 16), &texel)
            .unwrap();
    }
    bench.bind(state, sampler(NEAREST, CLAMP));
}

fn u_of(texel: u32) -> u32 {
    ((texel as f32 + 0.5) / 32.0).to_bits()
}

// covers: 4.8.2.1-01, 4.8.2.1-02, 4.8-03, 4.8.1.2-04
#[test]
fn simd16_skips_masked_channels_and_disabled_pixels() {
    let mut bench = Bench::new();
    gradient(&mut bench);
    bench.mask = 0x8001;
    // Green and blue masked: alpha moves down to the third and fourth register.
    bench.header2 = 0b0110 << 12;
    let low = std::array::from_fn(|n| u_of(n as u32));
    let high = std::array::from_fn(|n| u_of(n as u32 + 8));
    let mut w = [[KEEP; 8]; 4];
    bench.send(0, &[low, high], &mut w).unwrap();
    let k = KEEP;
    let v = |n: u32| (n as f32).to_bits();
    assert_eq!(w[0], [v(0), k, k, k, k, k, k, k]);
    assert_eq!(w[1], [k, k, k, k, k, k, k, v(15)]);
    assert_eq!(w[2], [v(300), k, k, k, k, k, k, k]);
    assert_eq!(w[3], [k, k, k, k, k, k, k, v(315)]);
}

// covers: 4.8.2.2-01
#[test]
fn simd8_leaves_masked_channels_in_place() {
    let mut bench = Bench::new();
    gradient(&mut bench);
    bench.header2 = 0b0110 << 12;
    let u = std::array::from_fn(|n| u_of(n as u32));
    let mut w = [[KEEP; 8]; 4];
    bench.send(0, &[u, [0; 8], [0; 8]], &mut w).unwrap();
    let row =
        |base: u32| std::array::from_fn::<u32, 8, _>(|n| ((base + n as u32) as f32).to_bits());
    assert_eq!(w, [row(0), [KEEP; 8], [KEEP; 8], row(300)]);
}

// covers: 4.8.2.3-01, 4.8-06
#[test]
fn simd4x2_writes_valid_samples_only() {
    let mut bench = Bench::new();
    gradient(&mut bench);
    bench.mask = 0x20;
    bench.header2 = 1 << 12;
    let mut w = [[KEEP; 8]; 1];
    bench
        .send(1, &[[u_of(3), 0, 0, 0, u_of(9), 0, 0, 0]], &mut w)
        .unwrap();
    let v = |n: u32| (n as f32).to_bits();
    assert_eq!(w[0], [KEEP, KEEP, KEEP, KEEP, KEEP, v(109), v(209), v(309)]);
}

// covers: 4.8.1.2-06
#[test]
fn texel_offsets_move_by_whole_texels() {
    let mut bench = Bench::new();
    gradient(&mut bench);
    bench.header2 = 0xd << 8;
    let mut w = [[0; 8]; 4];
    bench
        .send(0, &[[u_of(10); 8], [0; 8], [0; 8]], &mut w)
        .unwrap();
    assert_eq!(f32::from_bits(w[0][0]), 7.0, "offset -3");
}

// covers: 4.7.3-02, 4.7.2-03
#[test]
fn disabled_samplers_and_null_surfaces_return_zero() {
    let mut bench = Bench::new();
    gradient(&mut bench);
    let state = surface_2d(f::RGBA32F, 32, 1, Tiling::Linear);
    bench.bind(state, sampler(NEAREST, CLAMP).with_sampler_disable(true));
    assert_eq!(bench.sample8([[0.5; 3]; 8]), [[0.0; 4]; 8]);
    let null = state
        .with_surface_type(values::surftype::SURFTYPE_NULL)
        .with_tiled_surface(true);
    bench.bind(null, sampler(NEAREST, CLAMP));
    assert_eq!(bench.sample8([[0.5; 3]; 8]), [[0.0; 4]; 8]);
}

// covers: 4.4-02, 4.4-03, 4.8.1.4-07, 4.7.3-19
#[test]
fn shadow_results_are_inverted_and_filtered() {
    let mut bench = Bench::new();
    // Half of the texels 0.25, half 0.75.
    for (format, alone) in [(f::I24X8, 0), (f::L24X8, 0), (f::A24X8, 3), (f::R32F, 0)] {
        let state = surface_2d(format, 4, 1, Tiling::Linear);
        let raw = |v: f32| {
            if format == f::R32F {
                v.to_bits()
            } else {
                (v * 16_777_215.0) as u32
            }
        };
        bench.fill(state, 0, |x, _, _| raw(if x < 2 { 0.25 } else { 0.75 }));
        // PRM 4.4: 0.0 where the comparison holds. Reference 0.5; the middle sees one of each.
        let rows = [0.0, 1.0, 0.5, 1.0, 0.5, 0.5, 0.0, 0.5];
        for (function, want) in (0u32..).zip(rows) {
            bench.bind(state, sampler(LINEAR, CLAMP).with_shadow_function(function));
            bench.header2 = 1 << 16;
            // SIMD4x2 sample_c with Force LOD to Zero: u, v, r, ref.
            let half = 0.5f32.to_bits();
            let mut w = [[0; 8]; 1];
            bench
                .send(0, &[[half, half, 0, half, half, half, 0, half]], &mut w)
                .unwrap();
            assert_eq!(
                f32::from_bits(w[0][alone]),
                want,
                "format {format:#x} function {function}"
            );
            let channels = w[0][..4]
                .iter()
                .map(|&b| f32::from_bits(b))
                .collect::<Vec<_>>();
            match format {
                f::I24X8 => assert_eq!(channels, [want; 4]),
                f::L24X8 => assert_eq!(channels, [want, want, want, 1.0]),
                f::A24X8 => assert_eq!(channels, [0.0, 0.0, 0.0, want]),
                _ => {}
            }
        }
    }
    // Equality and both strict sides on an exact texel.
    let state = surface_2d(f::R32F, 1, 1, Tiling::Linear);
    bench.fill(state, 0, |_, _, _| 0.5f32.to_bits());
    for (function, want) in (0u32..).zip([0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0]) {
        bench.bind(
            state,
            sampler(NEAREST, CLAMP).with_shadow_function(function),
        );
        let half = 0.5f32.to_bits();
        let mut w = [[0; 8]; 4];
        // SIMD8 sample_l_c: u, v, r, lod, ref.
        bench
            .send(1, &[[0; 8], [0; 8], [0; 8], [0; 8], [half; 8]], &mut w)
            .unwrap();
        assert_eq!(f32::from_bits(w[0][5]), want, "function {function}");
    }
}

/// The sixteen formats of shadow maps store one channel each. What others give is open: here red, or alpha, is compared.
// covers: 4.4-01, 4.8.1.4-06
#[test]
fn only_single_channels_are_shadow_maps() {
    let mut shadows = 0;
    for format in regs::gen40::SURFACE_FORMATS.iter().filter(|f| f.sampling) {
        let mut bench = Bench::new();
        let state = surface_2d(format.code, 32, 4, Tiling::Linear);
        // LESS of a texel of zero and a reference of one holds: 0.0; NEVER does not: 1.0.
        for (function, lit) in [(2, 0.0), (1, 1.0)] {
            bench.bind(
                state,
                sampler(NEAREST, CLAMP).with_shadow_function(function),
            );
            let one = [1.0f32.to_bits(); 16];
            let answer = bench.message(
                (1, 6),
                Form::Simd8,
                &[[0; 16], [0; 16], [0; 16], [0; 16], one],
            );
            let stored = format
                .channels
                .iter()
                .filter(|c| !b"XS".contains(&c.letter));
            if format.shadow {
                assert_eq!(stored.count(), 1, "{}", format.name);
                // A formats have no red.
                let channel = if format.name.starts_with('A') { 3 } else { 0 };
                let got = f32::from_bits(answer[0][channel]);
                assert_eq!(got, lit, "{}", format.name);
            }
        }
        let open = if format.shadow { 0 } else { 2 };
        assert_eq!(bench.engine.open_comparisons, open, "{}", format.name);
        let told = (!format.shadow).then_some(format.name);
        // Of _SRGB formats the texels as stored are compared.
        let name = bench.engine.open_comparison;
        let name = name.map(|n| {
            if format.name.starts_with(n) {
                format.name
            } else {
                n
            }
        });
        assert_eq!(name, told);
        shadows += u32::from(format.shadow);
    }
    assert_eq!(shadows, 16);
}

/// OpenGL 1.5, 3.8.14: depths and references of fixed-point textures lie in [0, 1]; those of floats are free.
#[test]
fn unorm_texels_are_compared_with_a_reference_of_their_range() {
    let mut bench = Bench::new();
    for (format, ones, held) in [
        (f::I24X8, 0x00ff_ffff, 0.0),
        (f::R32F, 1.0f32.to_bits(), 1.0),
    ] {
        let state = surface_2d(format, 1, 1, Tiling::Linear);
        for (texel, reference) in [(ones, 2.0f32), (0, -1.0)] {
            bench.fill(state, 0, |_, _, _| texel);
            // PREFILTEROP_EQUAL gives 0.0 where it holds (PRM 4.4).
            bench.bind(state, sampler(NEAREST, CLAMP).with_shadow_function(3));
            let reference = [reference.to_bits(); 8];
            let mut w = [[0; 8]; 4];
            bench
                .send(1, &[[0; 8], [0; 8], [0; 8], [0; 8], reference], &mut w)
                .unwrap();
            assert_eq!(f32::from_bits(w[0][0]), held, "format {format:#x}");
        }
    }
}

// covers: 4.7.4-02, 4.7.4-03
#[test]
fn border_colours_follow_the_format() {
    let mut bench = Bench::new();
    bench.border = [0.1, 0.2, 0.3, 0.4];
    let cases = [
        (f::BGRA8, [0.1, 0.2, 0.3, 0.4]),
        (f::BGRX8, [0.1, 0.2, 0.3, 1.0]),
        (f::L8, [0.1, 0.1, 0.1, 1.0]),
        (f::I8, [0.1, 0.1, 0.1, 0.1]),
        (f::A8, [0.0, 0.0, 0.0, 0.4]),
        (f::L8A8, [0.1, 0.1, 0.1, 0.4]),
        (f::B5G6R5, [0.1, 0.2, 0.3, 1.0]),
    ];
    for (format, want) in cases {
        bench.bind(
            surface_2d(format, 4, 4, Tiling::Linear),
            sampler(NEAREST, BORDER_MODE),
        );
        assert_eq!(bench.sample8([[2.0, 0.5, 0.0]; 8])[0], want, "{format:#x}");
    }
}

// covers: 4.3.1.2-01, 4.3.1.2-02, 4.7.5-05
#[test]
fn chroma_keys_kill_or_blacken() {
    let mut bench = Bench::new();
    let state = surface_2d(f::BGRA8, 8, 1, Tiling::Linear);
    bench.fill(
        state,
        0,
        |x, _, _| if x == 3 { 0x8010_2030 } else { 0xffff_ffff },
    );
    bench.engine.tables.chroma_keys[2] = (0x0010_2030, 0xff10_2030);
    let key = sampler(NEAREST, CLAMP)
        .with_chromakey_enable(true)
        .with_chromakey_index(2);
    bench.bind(state, key);
    let u: Grf = std::array::from_fn(|n| ((n as f32 + 0.5) / 8.0).to_bits());
    let mut w = [[KEEP; 8]; 5];
    bench.send(1, &[u, [0; 8], [0; 8]], &mut w).unwrap();
    assert_eq!(w[4][0], 0xffff_fff7, "pixel 3 killed");
    assert_eq!(w[4][1], KEEP);
    bench.bind(state, key.with_chromakey_mode(1));
    bench.send(1, &[u, [0; 8], [0; 8]], &mut w).unwrap();
    assert_eq!(w[4][0], 0xffff_ffff);
    assert_eq!(
        [w[0][3], w[3][3], w[3][2]],
        [0, 0, 1f32.to_bits()],
        "black without alpha"
    );
    // Five bits are widened by their upper bits: 3 is 18h, whatever 3/31 rounds to.
    let narrow = surface_2d(f::B5G6R5, 8, 1, Tiling::Linear);
    bench.fill(narrow, 0, |x, _, _| x << 11);
    bench.engine.tables.chroma_keys[2] = (0x0018_0000, 0xff18_0000);
    bench.bind(narrow, key);
    bench.send(1, &[u, [0; 8], [0; 8]], &mut w).unwrap();
    assert_eq!(w[4][0], 0xffff_fff7);
}

// covers: 4.8.1.4-17, 4.8.1.3-21, 4.8.1.3-22
#[test]
fn ld_reads_texels_by_number() {
    let mut bench = Bench::new();
    let state = surface_2d(f::BGRX8, 8, 4, Tiling::X).with_mip_count_lod(1);
    bench.fill(state, 0, |x, y, _| x << 16 | y << 8);
    bench.fill(state, 1, |x, y, _| (x + 0x40) << 16 | y << 8);
    bench.bind(state, SamplerState::new());
    let number = |v: f32| (v * 255.0).round() as u32;
    // SIMD16, u v r lod; pixel n reads texel (n, 1) of level 0, pixel 8+n of level 1.
    let u: Grf = std::array::from_fn(|n| n as u32);
    let one = [1; 8];
    let body = [u, u, one, one, [0; 8], [0; 8], [0; 8], [1; 8]];
    let mut w = [[KEEP; 8]; 8];
    bench.send(3, &body, &mut w).unwrap();
    let red = |w: &[Grf], r: usize, n: usize| number(f32::from_bits(w[r][n]));
    assert_eq!((red(&w, 0, 5), red(&w, 2, 5)), (5, 1));
    assert_eq!(
        (red(&w, 1, 3), red(&w, 1, 4)),
        (0x43, 0),
        "level 1 is 4 wide"
    );
    assert_eq!(f32::from_bits(w[7][4]), 1.0, "no alpha in the format: one");
    // Negative numbers and levels past the last give zero.
    let body = [
        [u32::MAX; 8],
        [0; 8],
        one,
        one,
        [0; 8],
        [0; 8],
        [0; 8],
        [2; 8],
    ];
    bench.send(3, &body, &mut w).unwrap();
    assert_eq!((w[0][0], w[1][0]), (0, 0));
    // SIMD4x2: u v r lod a sample.
    let mut w = [[KEEP; 8]; 1];
    bench.send(3, &[[2, 3, 0, 0, 1, 1, 0, 1]], &mut w).unwrap();
    assert_eq!((red(&w, 0, 0), red(&w, 0, 1), red(&w, 0, 4)), (2, 3, 0x41));
}

// covers: 4.8.1.4-18, 4.7.2-31
#[test]
fn ld_of_a_buffer_steps_by_its_pitch() {
    let mut bench = Bench::new();
    for n in 0..64 {
        bench
            .mem
            .write_u32(GpuAddr::from(DATA + n * 4), (n as f32).to_bits())
            .unwrap();
    }
    let state = SurfaceState::new()
        .with_surface_type(values::surftype::SURFTYPE_BUFFER)
        .with_surface_format(f::R32F)
        .with_surface_base_address(DATA)
        .with_surface_pitch(11)
        .with_width(4);
    bench.bind(state, SamplerState::new());
    let mut w = [[KEEP; 8]; 8];
    let u: Grf = std::array::from_fn(|n| n as u32);
    bench.send(3, &[u, u], &mut w).unwrap();
    assert_eq!(
        w[0].map(f32::from_bits),
        [0.0, 3.0, 6.0, 9.0, 12.0, 0.0, 0.0, 0.0]
    );
}

// covers: 4.8.1.4-15
#[test]
fn resinfo_tells_sizes_and_levels() {
    let mut bench = Bench::new();
    let state = surface_2d(f::BGRA8, 40, 12, Tiling::Linear).with_mip_count_lod(4);
    bench.bind(state, SamplerState::new());
    let mut w = [[KEEP; 8]; 1];
    let mut payload = [[0; 8], [0, 0, 0, 0, 0, 0, 0, 2]];
    bench
        .send_raw(2 << 14 | 2 << 12 | 2, &payload, &mut w)
        .unwrap();
    assert_eq!(w[0], [40, 12, 0, 5, 10, 3, 0, 5]);
    payload[1][7] = u32::MAX;
    bench.send_raw(2 << 14 | 2, &payload, &mut w).unwrap();
    assert_eq!(w[0].map(f32::from_bits)[4..], [0.0, 0.0, 0.0, 5.0]);
    let volume = state
        .with_surface_type(values::surftype::SURFTYPE_3D)
        .with_depth(6);
    bench.bind(volume, SamplerState::new());
    payload[1][7] = 1;
    bench
        .send_raw(2 << 14 | 2 << 12 | 2, &payload, &mut w)
        .unwrap();
    assert_eq!(w[0], [40, 12, 7, 5, 20, 6, 3, 5]);
}

// covers: 4.7.2-06
#[test]
fn narrow_returns_have_fourteen_fraction_bits() {
    let mut bench = Bench::new();
    let state = surface_2d(f::BGRA8, 1, 1, Tiling::Linear).with_data_return_format(1);
    bench.fill(state, 0, |_, _, _| 0x0001_7fff);
    bench.bind(state, sampler(LINEAR, CLAMP));
    let got = bench.sample8([[0.5; 3]; 8])[0];
    let want =
        [1.0f64 / 255.0, 127.0 / 255.0, 1.0, 0.0].map(|v| ((v * 16384.0).round() / 16384.0) as f32);
    assert_eq!(got, want);
}

// covers: 4.8.1.2-05, 4.8.1.4-08
#[test]
fn bad_messages_are_refused() {
    let mut bench = Bench::new();
    gradient(&mut bench);
    let mut w = [[0; 8]; 8];
    let mut refused = |bench: &mut Bench, kind: u16, registers: usize| {
        let body = vec![[0; 8]; registers];
        matches!(
            bench.send(kind, &body, &mut w),
            Err(UnitFault::Message { .. })
        )
    };
    assert!(refused(&mut bench, 0, 7), "type 0 length 8 does not exist");
    assert!(refused(&mut bench, 2, 4), "type 2 length 5 does not exist");
    assert!(
        refused(&mut bench, 0, 1),
        "SIMD4x2 sample_c needs Force LOD to Zero"
    );
    bench.header2 = 0xf << 12;
    assert!(refused(&mut bench, 0, 3), "all channels masked");
}

/// All formats of the chroma key column: a key of just the texel matches it, one beside it does not.
#[test]
fn every_keyed_format_matches_its_own_texel() {
    // Code, element, and A R G B (A Cr Y Cb) as eight bits with upper bits repeated below; signed ones in sign and
    // magnitude, channels that are missing over their full range (PRM 4.7.5).
    let full = |key: u32, missing: u32| (key & !missing, key | missing);
    let signed = |key: u32, missing: u32| (key | missing, key & !missing | (missing / 0xff * 0x7f));
    let cases: [(u32, &[u8], (u32, u32)); 15] = [
        (0x0c0, &[0x11, 0x22, 0x33, 0x44], full(0x4433_2211, 0)),
        (
            0x0e9,
            &[0x11, 0x22, 0x33, 0x44],
            full(0x0033_2211, 0xff00_0000),
        ),
        // 10110 100110 00111
        (0x100, &[0xc7, 0xb4], full(0x00b5_9a39, 0xff00_0000)),
        // 1 01101 00110 00111
        (0x102, &[0xc7, 0xb4], full(0xff6b_3139, 0)),
        (0x104, &[0xc7, 0xb4], full(0xbb44_cc77, 0)),
        (0x107, &[0x85, 0x23], signed(0x00fb_2300, 0xff00_00ff)),
        (0x114, &[0x21, 0x43], full(0x4321_2121, 0)),
        // R 5 bits -9, G 5 bits 6, B 6 bits 45 of 63; all as if SNORM: 127 steps.
        (0x119, &[0xd7, 0xb4], signed(0x00cc_335b, 0xff00_0000)),
        (0x144, &[0x5a], full(0x5a00_0000, 0x00ff_ffff)),
        (0x146, &[0x5a], full(0x005a_5a5a, 0xff00_0000)),
        (
            0x182,
            &[0x10, 0x20, 0x10, 0x40],
            full(0x0040_1020, 0xff00_0000),
        ),
        (
            0x183,
            &[0x40, 0x10, 0x20, 0x10],
            full(0x0040_1020, 0xff00_0000),
        ),
        // Both end points of BC colours 0xb4c7.
        (
            0x186,
            &[0xc7, 0xb4, 0xc7, 0xb4, 0, 0, 0, 0],
            full(0xffb5_9a39, 0),
        ),
        (
            0x187,
            &[
                0x77, 0x77, 0x77, 0x77, 0x77, 0x77, 0x77, 0x77, 0xc7, 0xb4, 0xc7, 0xb4, 0, 0, 0, 0,
            ],
            full(0x77b5_9a39, 0),
        ),
        (
            0x188,
            &[
                0x12, 0x34, 0, 0, 0, 0, 0, 0, 0xc7, 0xb4, 0xc7, 0xb4, 0, 0, 0, 0,
            ],
            full(0x12b5_9a39, 0),
        ),
    ];
    let keyed = crate::intel::surface::format::table::LAYOUTS
        .rows()
        .iter()
        .filter(|f| f.has(crate::intel::surface::Capability::ChromaKey));
    assert!(keyed.map(|f| u32::from(f.code)).eq(cases.map(|c| c.0)));
    let mut bench = Bench::new();
    let key = sampler(NEAREST, CLAMP).with_chromakey_enable(true);
    for (format, element, (low, high)) in cases {
        let pair = if matches!(format, 0x182 | 0x183) {
            2
        } else {
            1
        };
        bench.mem.write_bytes(GpuAddr::from(DATA), element).unwrap();
        let state = surface_2d(format, pair, 1, Tiling::Linear);
        let mut killed = |low, high| {
            bench.engine.tables.chroma_keys[0] = (low, high);
            bench.bind(state, key);
            let mut w = [[KEEP; 8]; 5];
            bench.send(1, &[[0; 8], [0; 8], [0; 8]], &mut w).unwrap();
            w[4][0] & 0xffff != 0xffff
        };
        assert!(killed(low, high), "{format:#x}");
        // A channel that is there, moved by one.
        for shift in [0, 8, 16, 24] {
            let (l, h) = (low >> shift & 0xff, high >> shift & 0xff);
            if l == h {
                let moved = (low & !(0xff << shift)) | (l ^ 1) << shift;
                let top = (high & !(0xff << shift)) | (l ^ 1) << shift;
                assert!(!killed(moved, top), "{format:#x} bits {shift}");
            }
        }
    }
}

/// Texels without chroma are compared by the average of left and right, and returned with the left one.
#[test]
fn keys_of_subsampled_formats_average_chroma() {
    let mut bench = Bench::new();
    // YUYV: Y 10, 20, 30, 40; Cb 50, 70; Cr 60, 80.
    let bytes = [10, 50, 20, 60, 30, 70, 40, 80];
    bench.mem.write_bytes(GpuAddr::from(DATA), &bytes).unwrap();
    let state = surface_2d(0x182, 4, 1, Tiling::Linear);
    let key = sampler(NEAREST, CLAMP).with_chromakey_enable(true);
    // The last texel has no right neighbour.
    for (x, cr, y, cb) in [
        (0, 60, 10, 50),
        (1, 70, 20, 60),
        (2, 80, 30, 70),
        (3, 80, 40, 70),
    ] {
        let value = cr << 16 | y << 8 | cb;
        bench.engine.tables.chroma_keys[0] = (value, value | 0xff00_0000);
        bench.bind(state, key);
        let u: Grf = std::array::from_fn(|n| ((n as f32 % 4.0 + 0.5) / 4.0).to_bits());
        let mut w = [[KEEP; 8]; 5];
        bench.send(1, &[u, [0; 8], [0; 8]], &mut w).unwrap();
        assert_eq!(w[4][0] & 0xf, 0xf & !(1 << x), "texel {x}");
        assert_eq!((f32::from_bits(w[0][1]) * 255.0).round(), 60.0);
    }
}
