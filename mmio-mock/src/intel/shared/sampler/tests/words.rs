//! Samplers, borders, binding tables bit by bit; header and descriptor.

use super::*;
use crate::intel::shared::sampler::lod::MipFilter;
use crate::intel::shared::sampler::state::{Filter, Sampler as Resolved, Tables as KeyTables};

fn resolve(words: [u32; 4]) -> Resolved {
    crate::intel::r#gen::gen40::sampler::resolve(&SamplerState::from_dwords(&words))
        .keyed(&KeyTables::default())
}

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

// covers: 4.7.3-02, 4.7.3-03, 4.7.3-04, 4.7.3-05, 4.7.3-06, 4.7.3-09, 4.7.3-16, 4.7.3-17, 4.7.3-18, 4.2.1.5-01, 4.2.1.5-02
#[test]
fn dword_0_of_sampler_state() {
    let s = |word| resolve([word, 0, 0, 0]);
    assert!(s(1 << 31).disabled && !s(!(1 << 31)).disabled);
    assert!(s(1 << 28).lod.preclamp && !s(!(1 << 28)).lod.preclamp);
    for halves in 0..27u32 {
        assert_eq!(s(halves << 22).lod.base, halves as f32 / 2.0);
    }
    let mips = [0, 1, 3].map(|bits| s(bits << 20).lod.filter);
    assert_eq!(
        mips,
        [MipFilter::None, MipFilter::Nearest, MipFilter::Linear]
    );
    for (bits, filter) in [
        (0, Filter::Nearest),
        (1, Filter::Linear),
        (2, Filter::Anisotropic),
        (6, Filter::Mono),
    ] {
        assert_eq!(
            (s(bits << 17).mag, s(bits << 17).min),
            (filter, Filter::Nearest)
        );
        assert_eq!(
            (s(bits << 14).min, s(bits << 14).mag),
            (filter, Filter::Nearest)
        );
    }
    for bias in -1024..1024i32 {
        let bits = (bias & 0x7ff) as u32;
        assert_eq!(s(bits << 3).lod.bias, bias as f32 / 64.0);
    }
    for function in 0..8 {
        assert_eq!(s(function).shadow, function);
    }
    assert_eq!(s(1 << 30 | 1 << 29 | 1 << 27), s(0), "reserved");
}

// covers: 4.7.3-20, 4.7.3-24, 4.7.3-25, 4.7.3-27, 4.7.3-31, 4.2.1.5-01
#[test]
fn dword_1_of_sampler_state() {
    let s = |word| resolve([0, word, 0, 0]);
    for lod in 0..=13 * 64u32 {
        assert_eq!(s(lod << 22).lod.min, lod as f32 / 64.0);
        assert_eq!(s(lod << 12).lod.max, lod as f32 / 64.0);
    }
    assert!(s(1 << 9).cube_override && !s(!(1 << 9)).cube_override);
    let modes = [
        address::Mode::Wrap,
        address::Mode::Mirror,
        address::Mode::Clamp,
        address::Mode::Cube,
        address::Mode::ClampBorder,
        address::Mode::MirrorOnce,
    ];
    for (bits, mode) in (0..).zip(modes) {
        for (axis, shift) in [(0, 6), (1, 3), (2, 0)] {
            let mut want = [address::Mode::Wrap; 3];
            want[axis] = mode;
            assert_eq!(s(bits << shift).modes, want);
        }
    }
    assert_eq!(s(3 << 10), s(0), "reserved");
}

// covers: 4.7.3-33, 4.7.3-34, 4.7.3-36, 4.7.3-38, 4.7.3-40
#[test]
fn dword_3_of_sampler_state() {
    let s = |word| resolve([0, 0, 0, word]);
    for n in 1..8 {
        assert_eq!(s(n << 29).mono, [1, n]);
        assert_eq!(s(n << 26).mono, [n, 1]);
    }
    assert!(s(!(1 << 25)).key.is_none());
    assert_eq!(s(1 << 25).key.map(|k| k.replace), Some(false));
    assert_eq!(s(1 << 25 | 1 << 22).key.map(|k| k.replace), Some(true));
    for n in 0..8 {
        assert_eq!(s(n << 19).max_anisotropy, (2 * n + 2) as f32);
    }
    assert_eq!(s(0x1fff), s(0), "reserved");
}

// covers: 4.7.4-01, 4.7.3-32, 4.7.3-01, 4.0-01, 4.8.1.1-03, 4.8.1.2-02
#[test]
fn samplers_and_borders_lie_in_general_state() {
    let mut bench = Bench::new();
    let words = plain(&mut bench);
    let rgba32 = [1 << 29, DATA, 3 << 19 | 7 << 6, 127 << 3, 0];
    assert_eq!(words[1], DATA);
    bench.bind(surface(rgba32), SamplerState::new());
    let general = STATE + 0x800;
    // Sixteen samplers, each with a border of its own: all modes are border, preclamp off.
    for n in 0..16u32 {
        let border = 0x200 + n * 0x20;
        let sampler = [0, 4 << 6 | 4 << 3 | 4, border | 0x1f, 0];
        let at = GpuAddr::from(general + 0x100 + n * 16);
        bench.mem.write_dwords(at, &sampler).unwrap();
        let colour = [0.25, -2.0, 1e9, 7.0].map(|v: f32| (v + n as f32).to_bits());
        let at = GpuAddr::from(general + border);
        bench.mem.write_dwords(at, &colour).unwrap();
    }
    bench.engine.invalidate();
    for n in 0..16u16 {
        // The pointer's lower five bits are ignored.
        for low in [0, 0x1f] {
            let outside = 3f32.to_bits();
            let header = [0, 0, 0, 0x100 | low, 0, 0, 0, 0];
            let payload = [header, [outside; 8], [outside; 8], [0; 8]];
            let mut w = [[KEEP; 8]; 4];
            bench.send_raw(n << 8 | 2, &payload, &mut w).unwrap();
            let want = [0.25, -2.0, 1e9, 7.0].map(|v: f32| v + f32::from(n));
            let got = unpack(Form::Simd8, &w)[6].map(f32::from_bits);
            assert_eq!(got, want, "sampler {n}");
        }
    }
}

// covers: 4.7.1-01, 4.7.1-02, 4.8.1.1-04, 4.0-02
#[test]
fn binding_table_entries_point_into_surface_state() {
    let mut bench = Bench::new();
    let words = plain(&mut bench);
    bench.bind(surface(words), sampler(NEAREST, CLAMP));
    // Every entry its own surface state: as many texels further on as its number.
    bench.ctx.binding_table_pointer = 0x400;
    bench.ctx.bases.surface_state_base = DATA + 0x1_0000;
    for n in 0..256u32 {
        let entry = GpuAddr::from(DATA + 0x1_0400 + n * 4);
        let place = 0x1000 + n * 0x20;
        bench.mem.write_u32(entry, place | 0x1f).unwrap();
        let mut state = words;
        state[1] = DATA + n * 4;
        let at = GpuAddr::from(DATA + 0x1_0000 + place);
        bench.mem.write_dwords(at, &state).unwrap();
    }
    bench.engine.invalidate();
    for n in 0..256u16 {
        let payload = [[0, 0, 0, 0x40, 0, 0, 0, 0], [0; 8], [0; 8], [0; 8]];
        let mut w = [[KEEP; 8]; 4];
        bench.send_raw(1 << 8 | n, &payload, &mut w).unwrap();
        assert_eq!(f32::from_bits(w[0][3]), f32::from(n));
    }
}

// covers: 4.8.1.2-01, 4.8.1.2-07, 4.8.1.2-04, 4.8.1.2-05, 4.8.2.1-01, 4.8.2.2-01, 4.8.2.3-01, 4.8.1.3-02, 4.8-06, 4.8-07
#[test]
fn write_masks_and_ignored_words_of_the_header() {
    let mut bench = Bench::new();
    let state = surface_2d(f::RGBA32F, 8, 1, Tiling::Linear);
    bench.fill4(state, 0, |x, _, _| {
        [1.0, 2.0, 3.0, 4.0].map(|c| c + x as f32 * 10.0)
    });
    bench.bind(state, sampler(NEAREST, CLAMP));
    let u = each(|slot| (slot as f32 % 8.0 + 0.5) / 8.0);
    let zero = each(|_| 0.0);
    let value =
        |slot: usize, channel: usize| (1.0 + channel as f32 + (slot % 8) as f32 * 10.0).to_bits();
    for mask in 0..16u32 {
        // Red is bit 12; all that is ignored is set.
        let header = [
            !0,
            !0,
            mask << 12 | 0xfffe_0000,
            0x40 | 0x1f,
            !0,
            !0,
            !0,
            !0,
        ];
        let written = |channel: usize| mask >> channel & 1 == 0;
        let send = |bench: &mut Bench, kind: u16, form, parameters: &[Parameter]| {
            let mut payload = vec![header];
            payload.extend(pack(form, parameters));
            let mut w = vec![[KEEP; 8]; 9];
            let control = kind << 14 | 1 << 8 | 2;
            bench.send_raw(control, &payload, &mut w).map(|()| w)
        };
        if mask == 0xf {
            for (kind, form, count) in [
                (0, Form::Simd16, 3),
                (0, Form::Simd8, 3),
                (1, Form::Simd4x2, 4),
            ] {
                let refused = send(&mut bench, kind, form, &[zero; 4][..count]);
                assert!(matches!(refused, Err(UnitFault::Message { .. })));
            }
            continue;
        }
        bench.mask = 0xffff;
        let w = send(&mut bench, 0, Form::Simd16, &[u, zero, zero]).unwrap();
        let mut next = 0;
        for channel in (0..4).filter(|&c| written(c)) {
            for slot in 0..16 {
                assert_eq!(w[next + slot / 8][slot % 8], value(slot, channel));
            }
            next += 2;
        }
        assert!(w[next..].iter().flatten().all(|&d| d == KEEP), "{mask:#x}");
        let w = send(&mut bench, 0, Form::Simd8, &[u, zero, zero]).unwrap();
        for (channel, register) in w.iter().enumerate() {
            for (slot, &got) in register.iter().enumerate() {
                let lit = channel < 4 && written(channel);
                assert_eq!(got, if lit { value(slot, channel) } else { KEEP });
            }
        }
        // SIMD4x2: any of four bits of the mask makes its sample valid.
        for exec in 0..256u16 {
            bench.mask = exec | 0xff00;
            let w = send(&mut bench, 1, Form::Simd4x2, &[u, zero, zero, zero]).unwrap();
            for (dword, &got) in w[0].iter().enumerate() {
                let valid = exec >> (dword / 4 * 4) & 0xf != 0;
                let want = if valid && written(dword % 4) {
                    value(dword / 4, dword % 4)
                } else {
                    KEEP
                };
                assert_eq!(got, want, "{mask:#x} {exec:#x}");
            }
            assert!(w[1..].iter().flatten().all(|&d| d == KEEP));
        }
    }
}
