//! Resolving and addressing against captured states and hand-worked layouts.
//!
//! PRM: volume 4 4.7.2. Not covered: every rule's interplay.
#![allow(clippy::unwrap_used, reason = "tests")]
use super::state::Use;
use super::*;
use mem::Tiling;

/// Render target state of a captured 256x256 scene on a GM965 (crocus): RGBA8, X-tiled, pitch 1024.
const CAPTURED: [u32; 5] = [0x231f_c03f, 0x0012_0000, 0x07f8_3fc0, 0x0000_1ffa, 0];

// covers: 4.7.2-02, 4.7.2-08, 4.7.2-37, 4.7.2-42, 4.7.2-54, 4.7.2-56, 4.7.2-58
#[test]
fn captured_render_target() {
    let s = crate::intel::r#gen::gen40::surface::resolve(&CAPTURED, Use::RenderTarget).unwrap();
    assert_eq!(s.kind, SurfaceKind::TwoD);
    assert_eq!(s.format.name, "R8G8B8A8_UNORM");
    assert_eq!((s.width, s.height, s.depth), (256, 256, 1));
    assert_eq!(s.geometry.base, GpuAddr(0x12_0000));
    assert_eq!((s.geometry.pitch, s.geometry.tiling), (1024, Tiling::X));
    assert_eq!(s.write_channels, 0, "all four disabled in the capture");
    assert!(!s.blend_enable);
    assert_eq!(s.cube_faces, 0x3f);
    // Pixel (130, 9): second tile column, second tile row, row 1: 3 tiles + 512 + 8.
    assert_eq!(
        s.address(130, 9, 0, 0),
        GpuAddr(0x12_0000 + 3 * 4096 + 512 + 8)
    );
}

#[test]
fn captured_depth_buffer() {
    let command = [0x7905_0003, 0x2c08_03ff, 0x0017_0000, 0x07f8_3fc0, 0];
    let d = crate::intel::r#gen::gen40::surface::resolve_depth(&command).unwrap();
    assert_eq!(
        (d.format, d.kind),
        (DepthFormat::D24UnormS8, SurfaceKind::TwoD)
    );
    assert_eq!((d.geometry.pitch, d.geometry.tiling), (1024, Tiling::Y));
    assert_eq!(d.extent(), (256, 256));
    // Pixel (5, 1): 20 bytes across is OWord column 1: 512 + 16 + 4.
    assert_eq!(
        d.geometry.address(5, 1, 0, 0),
        GpuAddr(0x17_0000 + 512 + 16 + 4)
    );
}

// covers: 4.7.2-12
#[test]
fn write_disables_map_to_channels() {
    // Bits 17:14 are A R G B.
    for (disable, left) in [(8u32, 0b0111), (4, 0b1110), (2, 0b1101), (1, 0b1011)] {
        let mut d = CAPTURED;
        d[0] = d[0] & !(15 << 14) | disable << 14;
        let s = crate::intel::r#gen::gen40::surface::resolve(&d, Use::RenderTarget).unwrap();
        assert_eq!(s.write_channels, left);
    }
}

// covers: 4.7.2-02, 4.7.2-35, 4.7.2-57
#[test]
fn errors_name_what_stood_there() {
    let with = |dword: usize, clear: u32, set: u32| {
        let mut d = CAPTURED;
        d[dword] = d[dword] & !clear | set;
        crate::intel::r#gen::gen40::surface::resolve(&d, Use::RenderTarget).unwrap_err()
    };
    assert_eq!(with(0, 7 << 29, 5 << 29), SurfaceError::ReservedType(5));
    assert_eq!(
        with(0, 0x1ff << 18, 0x0c6 << 18),
        SurfaceError::UnknownFormat(0x0c6)
    );
    let e = with(0, 0x1ff << 18, 0x146 << 18);
    assert_eq!(
        e.to_string(),
        "surface format L8_UNORM has no capability RenderTarget"
    );
    assert_eq!(
        with(3, 0x1ffff << 3, 511 << 3).to_string(),
        "pitch 512 is too small for 256 texels of R8G8B8A8_UNORM: 1024 bytes"
    );
    assert_eq!(
        with(3, 0x1ffff << 3, 1279 << 3),
        SurfaceError::MisalignedPitch {
            pitch: 1280,
            need: 512
        }
    );
    assert!(matches!(
        with(1, 0, 0x40),
        SurfaceError::MisalignedBase { need: 4096, .. }
    ));
    assert_eq!(with(0, 7 << 29, 4 << 29), SurfaceError::TiledBuffer);
}

// covers: 4.7.2-38, 4.7.2-46, 4.7.2-49
#[test]
fn targets_with_shared_chroma_have_whole_pairs() {
    let with = |extra: u32, width: u32, lod: u32| {
        let state = [
            1 << 29 | 0x182 << 18 | extra,
            0,
            (width - 1) << 6 | lod << 2,
            255 << 3,
            0,
        ];
        crate::intel::r#gen::gen40::surface::resolve(&state, Use::RenderTarget).map(|_| ())
    };
    let refused = Err(SurfaceError::YcrcbTarget("YCRCB_NORMAL"));
    assert_eq!(with(0, 6, 0), Ok(()));
    assert_eq!(with(0, 7, 0), refused);
    assert_eq!(with(0, 6, 1), refused);
    assert_eq!(with(1 << 14, 6, 0), refused);
}

#[test]
fn buffers_gather_their_size_from_three_fields() {
    // 2^27 entries of 16 bytes.
    let d = [
        4 << 29,
        0x1000,
        0x7f << 6 | 0x1fff << 19,
        15 << 3 | 0x7f << 21,
        0,
    ];
    let s = crate::intel::r#gen::gen40::surface::resolve(&d, Use::Sampler).unwrap();
    assert_eq!(s.width, 1 << 27);
    assert_eq!(s.buffer_bytes(), 1 << 31);
    assert_eq!(s.address(3, 0, 0, 0), GpuAddr(0x1030));
}

// covers: 4.7.2-16, 4.7.2-18
#[test]
fn field_surfaces_skip_lines() {
    // L8 2D 16x8 linear, pitch 16, stride 1, offset 1.
    let d = [
        1 << 29 | 0x146 << 18 | 1 << 12 | 1 << 11,
        0x1000,
        15 << 6 | 7 << 19,
        15 << 3,
        0,
    ];
    let s = crate::intel::r#gen::gen40::surface::resolve(&d, Use::Sampler).unwrap();
    assert_eq!(s.address(2, 3, 0, 0), GpuAddr(0x1000 + 7 * 16 + 2));
}

#[test]
fn fetch_reads_texels_of_levels_and_null() {
    let mut mem = mem::Memory::new(1 << 20, 16);
    mem.alloc_mapped(GpuAddr(0x1000), 0x4000).unwrap();
    // L8 2D 16x16, 2 levels below, linear pitch 16: level 1 at row 16.
    let d = [
        1 << 29 | 0x146 << 18,
        0x1000,
        15 << 6 | 15 << 19 | 1 << 2,
        15 << 3,
        0,
    ];
    let s = crate::intel::r#gen::gen40::surface::resolve(&d, Use::Sampler).unwrap();
    assert_eq!(s.mip_count, 2);
    mem.write_u8(GpuAddr(0x1000 + 17 * 16 + 2), 0x33).unwrap();
    let t = s.fetch(&mem, 2, 1, 0, 1).unwrap().map(f32::from_bits);
    assert_eq!(t, [0.2, 0.2, 0.2, 1.0]);
    let null =
        crate::intel::r#gen::gen40::surface::resolve(&[7 << 29, 0, 0, 2, 0], Use::Sampler).unwrap();
    assert_eq!(null.fetch(&mem, 5, 5, 0, 0).unwrap(), [0; 4]);
}

// covers: 4.7.2-27, 4.7.2-32
#[test]
fn cube_faces_and_slices() {
    // RGBA8 cube 16x16, linear pitch 64; only -X and +Z enabled.
    let d = [
        3 << 29 | 0x0c7 << 18 | 0b10_0001,
        0x1000,
        15 << 6 | 15 << 19,
        63 << 3,
        0,
    ];
    let s = crate::intel::r#gen::gen40::surface::resolve(&d, Use::Sampler).unwrap();
    let faces: Vec<bool> = (0..6).map(|f| s.face_enabled(f)).collect();
    assert_eq!(faces, [false, true, false, false, true, false]);
    // Face 2 of level 0 begins 2*16 rows down; of level 1 (8x8, 2 across) one row of slices down.
    assert_eq!(s.address(0, 0, 2, 0), GpuAddr(0x1000 + 32 * 64));
    assert_eq!(
        s.address(0, 0, 3, 1),
        GpuAddr(0x1000 + (96 + 8) * 64 + 8 * 4)
    );
    assert_eq!(s.target_slice(7), 0);
}

#[test]
fn load_reports_the_state_address() {
    let mut mem = mem::Memory::new(1 << 20, 16);
    mem.alloc_mapped(GpuAddr(0x1000), 0x1000).unwrap();
    mem.write_dwords(GpuAddr(0x1040), &[6 << 29]).unwrap();
    let e =
        crate::intel::r#gen::gen40::surface::load(&mem, GpuAddr(0x1040), "sampler", Use::Sampler)
            .unwrap_err();
    assert_eq!(
        e.to_string(),
        "sampler: bad state at 0x00001040: surface type 6 is reserved"
    );
}

#[test]
fn depth_formats_split_and_join() {
    let f = DepthFormat::D24UnormS8;
    assert_eq!(f.split(0x12_345678), (0x34_5678, 0x12));
    assert_eq!(f.join(0, 0x34_5678, 0x12), 0x12_345678);
    assert_eq!(f.encode(1.0), 0xff_ffff);
    let f = DepthFormat::D32FloatS8X24;
    assert_eq!(f.split(0xaabb_cc07_3f80_0000), (0x3f80_0000, 7));
    assert_eq!(f.join(0xaabb_cc07_3f80_0000, 0, 9), 0xaabb_cc09_0000_0000);
    assert_eq!(DepthFormat::D24UnormX8.join(0xff00_0000, 1, 0), 0xff00_0001);
    assert_eq!(DepthFormat::D16Unorm.encode(0.5), 0x8000);
}

// covers: 4.7.2-64, 4.7.2-61
#[test]
fn views_of_volumes_as_targets() {
    // BGRA8, 16x16x16, level 1 is rendered; slices 3 to 5 of it. Surface Min LOD is nothing to a target.
    let words = |kind: u32, min_lod: u32| {
        [
            kind << 29 | 0x0c0 << 18,
            0x1000,
            15 << 6 | 15 << 19 | 1 << 2,
            15 << 21 | 63 << 3,
            min_lod << 28 | 3 << 17 | 2 << 8,
        ]
    };
    for min_lod in [0, 2] {
        let volume =
            crate::intel::r#gen::gen40::surface::resolve(&words(2, min_lod), Use::RenderTarget)
                .unwrap();
        assert_eq!(volume.render_lod, 1);
        let slices: Vec<u32> = (0..5).map(|n| volume.target_slice(n)).collect();
        assert_eq!(slices, [3, 4, 5, 3, 3], "outside the view: the first");
        // An array's extent is its depth.
        let array =
            crate::intel::r#gen::gen40::surface::resolve(&words(1, min_lod), Use::RenderTarget)
                .unwrap();
        let slices: Vec<u32> = [0, 2, 3, 15, 16].map(|n| array.target_slice(n)).to_vec();
        assert_eq!(slices, [3, 5, 6, 18, 3]);
    }
}

/// A level to the right of a level that fills the pitch lies in the tiles below.
#[test]
fn the_range_of_a_surface_has_the_texels_of_all_levels() {
    // BGRA8, X tiles of a pitch of 4096 bytes, 1024x8 with two levels side by side; the same of 64x64x8 as a volume.
    let flat = [1023 << 6 | 7 << 19 | 1 << 2, 4095 << 3 | 1 << 1];
    let volume = [63 << 6 | 63 << 19 | 3 << 2, 7 << 21 | 511 << 3 | 1 << 1];
    for (kind, layout, [size, pitch]) in
        [(1, 1, flat), (1, 0, flat), (2, 0, volume), (2, 1, volume)]
    {
        let words = [
            kind << 29 | 0x0c0 << 18 | layout << 10,
            0x1000,
            size,
            pitch,
            0,
        ];
        let surface = crate::intel::r#gen::gen40::surface::resolve(&words, Use::Sampler).unwrap();
        let bytes = surface.range().bytes;
        for lod in 0..surface.mip_count {
            for slice in 0..surface.depth >> lod {
                let (left, top) = surface.geometry.origin(slice, lod);
                let (right, bottom) = (surface.level_width(lod) - 1, surface.level_height(lod) - 1);
                for (x, y) in [(0, 0), (right, 0), (0, bottom), (right, bottom)] {
                    let at = surface.geometry.element(left + x, top + y);
                    assert!(
                        at.0 - surface.range().base.0 + 4 <= bytes,
                        "{kind} {layout} {lod} {slice} {x} {y}"
                    );
                }
            }
        }
    }
}

// covers: 4.7.2-34
#[test]
fn a_depth_buffer_is_no_buffer() {
    let with = |kind: u32| {
        let command = [0x7905_0003, 0x0c08_03ff | kind << 29, 0x0017_0000, 0, 0];
        crate::intel::r#gen::gen40::surface::resolve_depth(&command).map(|d| d.kind)
    };
    assert_eq!(with(1), Ok(SurfaceKind::TwoD));
    assert_eq!(with(4), Err(SurfaceError::DepthType(4)));
}

/// Bytes and texels as DirectXTex has them (`LoadScanline` of DXGI_FORMAT_R1_UNORM: from bit 7 down; red, 0, 0, 1).
#[test]
fn one_bit_texels_begin_with_the_top_bit() {
    let mut mem = mem::Memory::new(1 << 20, 16);
    mem.alloc_mapped(GpuAddr(0x1000), 0x1000).unwrap();
    mem.write_bytes(GpuAddr(0x1000), &[0b1010_0001, 0b0000_0011])
        .unwrap();
    for format in [0x181, 0x18e] {
        // 32x1, four bytes a row.
        let d = [1 << 29 | format << 18, 0x1000, 31 << 6, 3 << 3, 0];
        let s = crate::intel::r#gen::gen40::surface::resolve(&d, Use::Sampler).unwrap();
        let red: Vec<f32> = (0..16)
            .map(|x| f32::from_bits(s.fetch(&mem, x, 0, 0, 0).unwrap()[0]))
            .collect();
        let want = [1, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 1].map(|bit| bit as f32);
        assert_eq!(red, want, "{format:#x}");
    }
}

/// SURFACE_STATE as Sandy Bridge reads it.
fn gen60(words: &[u32]) -> SurfaceDesc {
    let readers = crate::intel::r#gen::readers(isa::Verx10::from_times_ten(60)).unwrap();
    readers.functions.surface(words)
}

/// SURFACE_STATE of Sandy Bridge (genxml gen6): a 2D surface of RGBA8 with four samples, in Y tiles, rows aligned to 4.
fn multisampled(width: u32, height: u32, usage: Use) -> Surface {
    let words = [
        1 << 29 | 0x0c7 << 18,
        0x1000,
        (height - 1) << 19 | (width - 1) << 6,
        8 << 21 | (4096 - 1) << 3 | 3,
        2 << 4,
        1 << 24,
    ];
    let desc = gen60(&words);
    Surface::resolve(&desc, usage).unwrap()
}

/// Slices of an array lie where both the sampler and the render cache look for them, when Mesa makes render targets of the heights
/// of the erratum one row higher (isl_surface_state.c); elsewhere the rule is isl.c's, h0 + h1 + 11 j.
#[test]
fn slices_of_samples_are_written_where_they_are_read() {
    let step = |height, usage| multisampled(98, height, usage).geometry.levels[0].step_y;
    for height in [1, 5, 9, 129, 133] {
        let read = step(height, Use::Sampler);
        assert_eq!(step(height + 1, Use::RenderTarget), read, "{height}");
        // The erratum: 4 greater than calculated.
        assert_eq!(step(height, Use::RenderTarget) + 4, read, "{height}");
    }
    // Samples of 130, 131 and 132 rows: 260 + 132, 264 + 132, 264 + 132.
    for (height, rows) in [(130, 392), (131, 396), (132, 396)] {
        assert_eq!(step(height, Use::Sampler), rows + 44, "{height}");
        assert_eq!(step(height, Use::RenderTarget), rows + 44, "{height}");
    }
}

/// Normalised coordinates count pixels, two samples each, also where the last block of samples is half a pixel's.
#[test]
fn samples_side_by_side_are_two_by_two_a_pixel() {
    let samples = multisampled(245, 7, Use::Sampler).by_samples();
    assert_eq!((samples.width, samples.height), (490, 14));
    let pixels = multisampled(245, 7, Use::Sampler);
    for (x, y, sample) in [(244, 6, 0), (244, 6, 3), (11, 4, 1)] {
        assert_eq!(
            samples.address(2 * x + (sample & 1), 2 * y + (sample >> 1), 0, 0),
            pixels.sample_address(x, y, 0, 0, sample)
        );
    }
}

/// `resinfo` of an array of cubes gives cubes, the number that GLSL's `textureSize` wants and that Mesa's compiler takes as it is.
#[test]
fn arrays_of_cubes_count_cubes() {
    let cubes = |count: u32| {
        let words = [
            3 << 29 | 0x0c7 << 18 | 0x3f,
            0x1000,
            (32 - 1) << 19 | (32 - 1) << 6 | 2 << 2,
            (count - 1) << 21 | (128 - 1) << 3,
            0,
            0,
        ];
        let desc = gen60(&words);
        let surface = Surface::resolve(&desc, Use::Sampler).unwrap();
        crate::intel::shared::sampler::info::size(&surface, 1)
    };
    assert_eq!(cubes(18), [16, 16, 18, 3]);
    assert_eq!(cubes(2), [16, 16, 2, 3]);
    // A single one is 0, as of other arrays.
    assert_eq!(cubes(1), [16, 16, 0, 3]);
}
