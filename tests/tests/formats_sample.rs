//! Texels of every format that can be sampled, against decoders of their own.
//!
//! PRM: volume 4 4.7.2.1.1 (which formats), 4.7.2.1.2 (channels), 4.4 (shadow compare), 4.8.1 (messages). The decoders:
//! the definitions in `crestline_tests::formats`, the crate bcdec_rs, Mesa's FXT1. Filters of _SRGB formats: see there.

mod blocks;

use crestline_tests::formats::messages::{DATA, Sender};
use crestline_tests::formats::{Fields, Kind, Want, field, float};
use fastrand::Rng;
use half::f16;
use regs::desc::SurfaceFormatDesc;
use regs::gen40::values::{mapfilter, prefilterop, texture_coordinate_mode};
use regs::gen40::{SURFACE_FORMATS, SamplerState, SurfaceState};

const SIZE: u32 = 64;

/// Formats that need a palette, which a message alone cannot load; see `formats_palette.rs`.
fn palette(f: &SurfaceFormatDesc) -> bool {
    f.name.contains("PALETTE")
}

/// Texels of an element.
fn block(f: &SurfaceFormatDesc) -> (u32, u32) {
    match f.name {
        "R1_UNORM" | "MONO8" => (8, 1),
        "FXT1" => (8, 4),
        name if name.starts_with("BC") => (4, 4),
        name if name.starts_with("YCRCB") => (2, 1),
        _ => (1, 1),
    }
}

fn bytes(f: &SurfaceFormatDesc) -> u32 {
    match f.name {
        "R1_UNORM" | "MONO8" => 1,
        "FXT1" => 16,
        name if name.starts_with("BC1") || name.starts_with("BC4") => 8,
        name if name.starts_with("BC") => 16,
        name if name.starts_with("YCRCB") => 4,
        name if name.starts_with("R9G9B9E5") => 4,
        name => Fields::parse(name).unwrap().bits() / 8,
    }
}

/// What texel (`x`, `y`) of an element must read as.
fn decode(texture: &Texture, element: &[u8], x: u32, y: u32) -> [Want; 4] {
    let f = texture.format;
    let unorm8 = |v: u8| float(f64::from(v) / 255.0);
    match f.name {
        // The manual's tables: red alone; MONO8 an intensity (4.2.3.4). Texel 0 is bit 7
        // (DirectXTex, `LoadScanline` of DXGI_FORMAT_R1_UNORM).
        "R1_UNORM" | "MONO8" => {
            let bit = float(f64::from(element[0] >> (7 - x % 8) & 1));
            let rest = if f.name == "MONO8" { bit } else { float(0.0) };
            let alpha = if f.name == "MONO8" { bit } else { float(1.0) };
            [bit, rest, rest, alpha]
        }
        "R9G9B9E5_SHAREDEXP" => {
            // EXT_texture_shared_exponent: mantissa * 2^(exponent - bias - 9), bias 15.
            let scale = 2f64.powi(field(element, 27, 5) as i32 - 15 - 9);
            let channel = |low| float(field(element, low, 9) as f64 * scale);
            [channel(0), channel(9), channel(18), float(1.0)]
        }
        "FXT1" => blocks::fxt1(element, x % 8, y % 4).map(unorm8),
        name if name.starts_with("BC") => blocks::bc(name, element, x % 4, y % 4),
        name if name.starts_with("YCRCB") => {
            // Places of Y0, Cb, Y1, Cr by FOURCC (PRM 5.10.4: YUYV, YVYU, UYVY, VYUY).
            let [y0, cb, y1, cr] = match name {
                "YCRCB_NORMAL" => [0, 1, 2, 3],
                "YCRCB_SWAPUV" => [0, 3, 2, 1],
                "YCRCB_SWAPY" => [1, 0, 3, 2],
                _ => [1, 2, 3, 0],
            };
            let luma = [y0, y1][x as usize % 2];
            [
                unorm8(element[cr]),
                unorm8(element[luma]),
                unorm8(element[cb]),
                float(1.0),
            ]
        }
        _ => texture.fields.as_ref().unwrap().decode(element),
    }
}

/// A bound texture of random elements, or of all there are.
struct Texture {
    format: &'static SurfaceFormatDesc,
    fields: Option<Fields>,
    data: Vec<u8>,
    size: u32,
    pitch: u32,
    bytes: u32,
}

impl Texture {
    fn new(sender: &mut Sender, format: &'static SurfaceFormatDesc, tame: bool) -> Self {
        let (across, down) = block(format);
        let bytes = bytes(format);
        let all = bytes <= 2 && (across, down) == (1, 1) && !tame;
        let size = match bytes {
            2 if all => 256,
            _ => SIZE,
        };
        let pitch = size / across * bytes;
        let mut random = Rng::with_seed(u64::from(format.code));
        let mut data = vec![0; (pitch * size / down) as usize];
        for (i, element) in data.chunks_mut(bytes as usize).enumerate() {
            if all {
                let i = (i as u32).to_le_bytes();
                element.copy_from_slice(&i[..bytes as usize]);
                continue;
            }
            element.fill_with(|| random.u32(..) as u8);
            if tame {
                tame_floats(format.name, element, &mut random);
            } else if random.u32(..8) == 0 {
                // Fields of zeros and ones are rare otherwise.
                let fill = [0, 0xff, 0x80, 0x7f][random.u32(..4) as usize];
                let at = random.u32(..bytes) as usize;
                element[at..].fill(fill);
            }
        }
        sender.load(DATA, &data);
        let state = SurfaceState::new()
            .with_surface_type(1)
            .with_surface_format(format.code)
            .with_surface_base_address(DATA)
            .with_width(size - 1)
            .with_height(size - 1)
            .with_surface_pitch(pitch - 1);
        sender.bind(&state);
        Texture {
            format,
            fields: Fields::parse(format.name),
            data,
            size,
            pitch,
            bytes,
        }
    }

    fn want(&self, x: u32, y: u32) -> [Want; 4] {
        let (across, down) = block(self.format);
        let at = (y / down * self.pitch + x / across * self.bytes) as usize;
        decode(self, &self.data[at..at + self.bytes as usize], x, y)
    }

    fn check(&self, got: [u32; 4], x: u32, y: u32, how: &str) {
        for (c, want) in self.want(x, y).into_iter().enumerate() {
            assert!(
                want.met(got[c]),
                "{} {how} texel ({x}, {y}) channel {c}: {:#x} ({}) for {want:x?}",
                self.format.name,
                got[c],
                f32::from_bits(got[c]),
            );
        }
    }

    /// Data return format of PRM 4.8.1.1.
    fn returns(&self) -> u32 {
        match self.format.name {
            name if name.ends_with("UINT") => 2,
            name if name.ends_with("SINT") => 3,
            _ => 0,
        }
    }
}

/// Replaces random floats by ones from 0 to 1, which can be averaged.
fn tame_floats(name: &str, element: &mut [u8], random: &mut Rng) {
    let Some(fields) = Fields::parse(name) else {
        return;
    };
    for c in fields.0.iter().filter(|c| c.kind == Kind::Float) {
        let value = random.u32(..1 << 20) as f32 / (1 << 20) as f32;
        let code = match c.bits {
            32 => value.to_bits(),
            16 => u32::from(f16::from_f32(value).to_bits()),
            bits => u32::from(f16::from_f32(value).to_bits() >> (15 - bits)),
        };
        for i in 0..c.bits {
            let at = c.low + i;
            let byte = &mut element[at as usize / 8];
            *byte = *byte & !(1 << (at % 8)) | ((code >> i & 1) as u8) << (at % 8);
        }
    }
}

fn sampler(filter: u32) -> SamplerState {
    let clamp = texture_coordinate_mode::TEXCOORDMODE_CLAMP;
    SamplerState::new()
        .with_min_mode_filter(filter)
        .with_mag_mode_filter(filter)
        .with_tcx_address_control_mode(clamp)
        .with_tcy_address_control_mode(clamp)
        .with_tcz_address_control_mode(clamp)
        .with_max_lod(13.0)
}

/// All texels in messages of sixteen.
fn rows(size: u32) -> impl Iterator<Item = [(u32, u32); 16]> {
    (0..size * size / 16).map(move |n| {
        std::array::from_fn(|i| {
            let i = n * 16 + i as u32;
            (i % size, i / size)
        })
    })
}

// covers: 4.7.2.1.2-01, 4.7.2.1.2-02, 4.7.2.1.2-03, 4.7.2.1.2-04, 4.7.2.1.2-07
#[test]
fn every_sampled_format_by_ld_and_nearest() {
    let mut count = 0;
    for format in SURFACE_FORMATS.iter().filter(|f| f.sampling && !palette(f)) {
        let mut sender = Sender::new();
        let texture = Texture::new(&mut sender, format, false);
        let nearest = sender.sampler(sampler(mapfilter::MAPFILTER_NEAREST));
        let size = texture.size as f32;
        for (n, texels) in rows(texture.size).enumerate() {
            // MONO8 is for the mono filter alone (PRM 4.7.3).
            if format.name == "MONO8" {
                continue;
            }
            let got = sender.ld(texels, texture.returns());
            for (got, (x, y)) in got.into_iter().zip(texels) {
                texture.check(got, x, y, "ld");
            }
            // Decoding is the same; of all codes a part is enough.
            if texture.size > SIZE && n % 8 != 0 {
                continue;
            }
            let places = texels.map(|(x, y)| ((x as f32 + 0.5) / size, (y as f32 + 0.5) / size));
            let got = sender.sample(nearest, places, texture.returns());
            for (got, (x, y)) in got.into_iter().zip(texels) {
                texture.check(got, x, y, "sample");
            }
        }
        count += 1;
    }
    assert_eq!(count, 109, "of 111 formats two need a palette");
}

/// The mono filter of one texel is the texel; its border is 0 and its mode CLAMP_BORDER.
#[test]
fn mono8_by_its_filter() {
    let mut sender = Sender::new();
    let format = regs::gen40::surface_format(0x18e).unwrap();
    let texture = Texture::new(&mut sender, format, false);
    let border = texture_coordinate_mode::TEXCOORDMODE_CLAMP_BORDER;
    let mono = sampler(mapfilter::MAPFILTER_MONO)
        .with_tcx_address_control_mode(border)
        .with_tcy_address_control_mode(border)
        .with_tcz_address_control_mode(border)
        .with_monochrome_filter_width(1)
        .with_monochrome_filter_height(1);
    let mono = sender.sampler(mono);
    let size = texture.size as f32;
    for texels in rows(texture.size) {
        let places = texels.map(|(x, y)| ((x as f32 + 0.5) / size, (y as f32 + 0.5) / size));
        let got = sender.sample(mono, places, 0);
        for (got, (x, y)) in got.into_iter().zip(texels) {
            texture.check(got, x, y, "mono");
        }
    }
}

/// Half-way between four texels a linear filter gives their mean.
///
/// Of _SRGB formats the mean may be of linear values (OpenGL's wish) or of encoded ones (4.6: "the post-filtered
/// texel RGB color"), and lies between the two.
#[test]
fn every_filtered_format_by_linear() {
    let mut count = 0;
    for format in SURFACE_FORMATS
        .iter()
        .filter(|f| f.filtering && !palette(f))
    {
        let mut sender = Sender::new();
        let texture = Texture::new(&mut sender, format, true);
        let linear = sender.sampler(sampler(mapfilter::MAPFILTER_LINEAR));
        let size = texture.size;
        for texels in rows(size) {
            let texels = texels.map(|(x, y)| (x.min(size - 2), y.min(size - 2)));
            let places =
                texels.map(|(x, y)| ((x + 1) as f32 / size as f32, (y + 1) as f32 / size as f32));
            let got = sender.sample(linear, places, 0);
            for (got, (x, y)) in got.into_iter().zip(texels) {
                let four = [(x, y), (x + 1, y), (x, y + 1), (x + 1, y + 1)];
                let four = four.map(|(x, y)| texture.want(x, y));
                for (c, got) in got.into_iter().enumerate() {
                    let got = f64::from(f32::from_bits(got));
                    let values = four.map(|t| t[c].value());
                    let mean = values.iter().sum::<f64>() / 4.0;
                    // Interpolated colours of blocks are known to a step of eight bits.
                    let slack = four.map(|t| match t[c] {
                        Want::Near(_, off) => off,
                        _ => 0.0,
                    });
                    let slack = slack
                        .iter()
                        .fold(2e-4 * mean.abs().max(1.0), |a, b| a.max(*b));
                    let least = if format.name.ends_with("SRGB") && c < 3 {
                        let lowest = four.map(|t| match t[c] {
                            Want::Near(value, off) => value - off,
                            _ => t[c].value(),
                        });
                        let encoded = lowest.map(crestline_tests::formats::encode::linear_to_srgb);
                        crestline_tests::formats::srgb_to_linear(encoded.iter().sum::<f64>() / 4.0)
                    } else {
                        mean
                    };
                    assert!(
                        got >= least - slack && got <= mean + slack,
                        "{} at ({x}, {y}) channel {c}: {got} for {mean} of {values:?}",
                        format.name
                    );
                }
            }
        }
        count += 1;
    }
    assert_eq!(count, 68, "of 70 formats two need a palette");
}

/// 0.0 where the comparison of texel and reference holds, 1.0 elsewhere; formats without red compare alpha.
#[test]
fn every_shadow_format_by_compare() {
    let mut count = 0;
    for format in SURFACE_FORMATS.iter().filter(|f| f.shadow) {
        let mut sender = Sender::new();
        let texture = Texture::new(&mut sender, format, true);
        let size = texture.size as f32;
        let fields = Fields::parse(format.name).unwrap();
        let channel = if fields.of(0).is_some() { 0 } else { 3 };
        let mut random = Rng::with_seed(1);
        let functions = [
            prefilterop::PREFILTEROP_ALWAYS,
            prefilterop::PREFILTEROP_NEVER,
            prefilterop::PREFILTEROP_LESS,
            prefilterop::PREFILTEROP_EQUAL,
            prefilterop::PREFILTEROP_LEQUAL,
            prefilterop::PREFILTEROP_GREATER,
            prefilterop::PREFILTEROP_NOTEQUAL,
            prefilterop::PREFILTEROP_GEQUAL,
        ];
        for function in functions {
            let state = sampler(mapfilter::MAPFILTER_NEAREST).with_shadow_function(function);
            let state = sender.sampler(state);
            for texels in rows(texture.size).take(64) {
                let places =
                    texels.map(|(x, y)| ((x as f32 + 0.5) / size, (y as f32 + 0.5) / size));
                let values = texels.map(|(x, y)| texture.want(x, y)[channel].value() as f32);
                let references = values.map(|v| match random.u32(..4) {
                    0 => v,
                    _ => random.u32(..1 << 16) as f32 / 65535.0,
                });
                let got = sender.sample_c(state, places, references);
                for i in 0..16 {
                    let (texel, reference) = (values[i], references[i]);
                    let holds = match function {
                        prefilterop::PREFILTEROP_ALWAYS => true,
                        prefilterop::PREFILTEROP_NEVER => false,
                        prefilterop::PREFILTEROP_LESS => texel < reference,
                        prefilterop::PREFILTEROP_EQUAL => texel == reference,
                        prefilterop::PREFILTEROP_LEQUAL => texel <= reference,
                        prefilterop::PREFILTEROP_GREATER => texel > reference,
                        prefilterop::PREFILTEROP_NOTEQUAL => texel != reference,
                        _ => texel >= reference,
                    };
                    let lit = f32::to_bits(if holds { 0.0 } else { 1.0 });
                    let want: [u32; 4] = std::array::from_fn(|c| match fields.of(c) {
                        Some(_) => lit,
                        None if c < 3 => 0,
                        None => 1f32.to_bits(),
                    });
                    assert_eq!(got[i], want, "{} function {function}", format.name);
                }
            }
        }
        count += 1;
    }
    assert_eq!(count, 16);
}

/// FXT1 against Mesa's decoder, which widens five bits by rounding instead of repetition.
#[test]
fn fxt1_blocks_of_mesa() {
    let text = include_str!("../vectors/gen40/fxt1.txt");
    let mut sender = Sender::new();
    let state = SurfaceState::new()
        .with_surface_type(1)
        .with_surface_format(0x192)
        .with_surface_base_address(DATA)
        .with_width(7)
        .with_height(3)
        .with_surface_pitch(15);
    sender.bind(&state);
    let hex = |s: &str| -> Vec<u8> {
        let byte = |i| u8::from_str_radix(&s[i..i + 2], 16).unwrap();
        (0..s.len()).step_by(2).map(byte).collect()
    };
    let mut modes = [0; 16];
    for line in text.lines().filter(|l| !l.starts_with('#')) {
        let mut words = line.split(' ').map(hex);
        let element = words.next().unwrap();
        modes[usize::from(element[15] >> 4)] += 1;
        sender.load(DATA, &element);
        let rows: Vec<Vec<u8>> = words.collect();
        for half in 0..2u32 {
            let texels = std::array::from_fn(|i| (i as u32 % 8, half * 2 + i as u32 / 8));
            let got = sender.ld(texels, 0);
            for (got, (x, y)) in got.into_iter().zip(texels) {
                for (c, got) in got.into_iter().enumerate() {
                    let mesa = rows[y as usize][x as usize * 4 + c];
                    let off = f32::from_bits(got) * 255.0 - f32::from(mesa);
                    assert!(
                        off.abs() < 1.01,
                        "({x}, {y}) channel {c}: {off} from {mesa}: {line}"
                    );
                }
            }
        }
    }
    assert_eq!(modes, [2; 16], "every mode and its flag");
}
