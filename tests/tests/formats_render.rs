//! Colours in every render target format, against encoders of their own.
//!
//! PRM: volume 4 4.7.2.1.1 (which formats), 5.10.6 (render target write). Not here: dither, logic ops, channel masks.

use crestline_tests::formats::encode::codes;
use crestline_tests::formats::messages::{DATA, Sender};
use crestline_tests::formats::{Channel, Fields, Kind, Want, field};
use fastrand::Rng;
use half::f16;
use regs::desc::SurfaceFormatDesc;
use regs::gen40::values::{
    color_buffer_blend_factor as factor, color_buffer_blend_function as function,
    color_clamp_range as clamp_range,
};
use regs::gen40::{ColorCalcState, SURFACE_FORMATS, SurfaceState};

/// Blocks of 4x4 pixels a row, and rows of them.
const BLOCKS: (u32, u32) = (8, 8);
const WIDTH: u32 = 4 * BLOCKS.0;
const HEIGHT: u32 = 4 * BLOCKS.1;

struct Target {
    pitch: u32,
    bytes: u32,
}

impl Target {
    fn new(sender: &mut Sender, format: &SurfaceFormatDesc, bytes: u32, blend: bool) -> Self {
        let pitch = WIDTH * bytes;
        let state = SurfaceState::new()
            .with_surface_type(1)
            .with_surface_format(format.code)
            .with_surface_base_address(DATA)
            .with_width(WIDTH - 1)
            .with_height(HEIGHT - 1)
            .with_surface_pitch(pitch - 1)
            .with_color_blend_enable(blend);
        sender.bind(&state);
        Target { pitch, bytes }
    }

    fn at(&self, x: u32, y: u32) -> u32 {
        DATA + y * self.pitch + x * self.bytes
    }

    fn pixel(&self, sender: &Sender, x: u32, y: u32) -> [u8; 16] {
        let mut bytes = [0; 16];
        sender.read(self.at(x, y), &mut bytes[..self.bytes as usize]);
        bytes
    }
}

/// Position of pixel `i` of a block in the order of subspans.
fn place(i: usize) -> (u32, u32) {
    let (subspan, pixel) = (i as u32 / 4, i as u32 % 4);
    (subspan % 2 * 2 + pixel % 2, subspan / 2 * 2 + pixel / 2)
}

/// Registers of one channel: what lies between, what is out of range, and what is special.
fn colour(random: &mut Rng, channel: Option<&Channel>) -> u32 {
    let bits = channel.map_or(8, |c| c.bits).min(24);
    let steps = ((1u32 << bits) - 1) as f32;
    if let Some(Kind::Uint | Kind::Sint) = channel.map(|c| c.kind) {
        let near = 1u32 << (bits - random.u32(..2)).min(31);
        return match random.u32(..4) {
            0 => random.u32(..),
            1 => near.wrapping_add(random.u32(..5)).wrapping_sub(2),
            2 => near
                .wrapping_neg()
                .wrapping_add(random.u32(..5))
                .wrapping_sub(2),
            _ => random.u32(..) >> (32 - bits),
        };
    }
    let value = match random.u32(..8) {
        0 => return random.u32(..),
        1 => [
            0.0,
            -0.0,
            1.0,
            -1.0,
            f32::INFINITY,
            -f32::INFINITY,
            f32::NAN,
            1e30,
        ][random.u32(..8) as usize],
        // On a code, and close to half-way between two.
        2 => random.u32(..1 << bits) as f32 / steps,
        3 => (random.u32(..1 << bits) as f32 + 0.5) / steps,
        4 => (random.u32(..) as f32 / 2f32.powi(31) - 1.0) * 70_000.0,
        5 => random.u32(..) as f32 / 2f32.powi(31) - 1.0,
        _ => random.u32(..) as f32 / 2f32.powi(32),
    };
    value.to_bits()
}

fn colours(random: &mut Rng, fields: &Fields) -> [[u32; 4]; 16] {
    std::array::from_fn(|_| std::array::from_fn(|c| colour(random, fields.of(c))))
}

/// All blocks of the target.
fn blocks() -> impl Iterator<Item = (u32, u32)> {
    (0..BLOCKS.0 * BLOCKS.1).map(|n| (n % BLOCKS.0 * 4, n / BLOCKS.0 * 4))
}

fn plain(f: &SurfaceFormatDesc) -> bool {
    !f.name.starts_with("YCRCB")
}

#[test]
fn every_render_target_format() {
    let mut count = 0;
    for format in SURFACE_FORMATS
        .iter()
        .filter(|f| f.render_target)
        .filter(|f| plain(f))
    {
        let fields = Fields::parse(format.name).unwrap();
        let mut random = Rng::with_seed(u64::from(format.code));
        let mut sender = Sender::new();
        let target = Target::new(&mut sender, format, fields.bits() / 8, false);
        let cc = sender.colour_calculator(ColorCalcState::new());
        for (x0, y0) in blocks() {
            let colours = colours(&mut random, &fields);
            sender.render(cc, (x0, y0), &colours);
            for (i, colour) in colours.iter().enumerate() {
                let (x, y) = (x0 + place(i).0, y0 + place(i).1);
                let got = target.pixel(&sender, x, y);
                for (c, &value) in colour.iter().enumerate() {
                    let Some(channel) = fields.of(c) else {
                        continue;
                    };
                    let code = field(&got, channel.low, channel.bits);
                    let want = codes(channel, value, 0.0);
                    assert!(
                        want.contains(&code),
                        "{} channel {c}: {} ({:#x}) became {code:#x}, not {:x?}",
                        format.name,
                        f32::from_bits(value),
                        value,
                        &want[..want.len().min(4)]
                    );
                }
            }
        }
        count += 1;
    }
    assert_eq!(count, 53, "of 57 formats four share chroma");
}

/// Clamps to the target's range before and after blending leave what packing would do, and keep halves finite.
#[test]
fn clamps_to_the_target() {
    let formats = SURFACE_FORMATS.iter().filter(|f| f.alpha_blend);
    for format in formats {
        let fields = Fields::parse(format.name).unwrap();
        let channel = fields.of(0).or(fields.of(3)).unwrap();
        let mut sender = Sender::new();
        let target = Target::new(&mut sender, format, fields.bits() / 8, true);
        let cc = sender.colour_calculator(
            ColorCalcState::new()
                .with_color_buffer_blend_enable(true)
                .with_source_blend_factor(factor::BLENDFACTOR_ONE)
                .with_destination_blend_factor(factor::BLENDFACTOR_ZERO)
                .with_color_blend_function(function::BLENDFUNCTION_ADD)
                .with_pre_blend_color_clamp_enable(true)
                .with_post_blend_color_clamp_enable(true)
                .with_color_clamp_range(clamp_range::COLORCLAMP_RTFORMAT),
        );
        for (value, finite) in [(1e9f32, true), (-1e9, true), (0.75, false)] {
            sender.render(cc, (0, 0), &[[value.to_bits(); 4]; 16]);
            let got = target.pixel(&sender, 3, 3);
            let want = match (channel.kind, channel.bits) {
                (Kind::Float, 32) => f64::from(value),
                (Kind::Float, 16) => f64::from(value).clamp(-65504.0, 65504.0),
                (Kind::Float, 11) => f64::from(value).clamp(0.0, 65024.0),
                _ => f64::from(value).clamp(0.0, 1.0),
            };
            let Want::Bits(bits) = channel.decode(&got) else {
                // Of sRGB the end points are exact.
                let Want::Near(v, _) = channel.decode(&got) else {
                    panic!("{}", format.name)
                };
                assert!((v - want).abs() < 0.05, "{} {value}: {v}", format.name);
                continue;
            };
            let got = f64::from(f32::from_bits(bits));
            let slack = if finite { 0.0 } else { 0.5 / 7.0 };
            assert!(
                (got - want).abs() <= slack,
                "{} {value}: {got} for {want}",
                format.name
            );
        }
    }
}

/// A destination's channel for blending: a random code, for floats one from 0 to 1.
fn destination(random: &mut Rng, channel: &Channel) -> u64 {
    match channel.kind {
        Kind::Float => {
            let value = random.u32(..) as f32 / 2f32.powi(32);
            match channel.bits {
                32 => u64::from(value.to_bits()),
                16 => u64::from(f16::from_f32(value).to_bits()),
                bits => u64::from(f16::from_f32(value).to_bits() >> (15 - bits)),
            }
        }
        _ => random.u64(..) >> (64 - channel.bits),
    }
}

/// source * source alpha + destination * (1 - source alpha), and source * destination alpha + destination.
#[test]
fn every_blended_format() {
    let mut count = 0;
    let equations = [
        (
            factor::BLENDFACTOR_SRC_ALPHA,
            factor::BLENDFACTOR_INV_SRC_ALPHA,
        ),
        (factor::BLENDFACTOR_DST_ALPHA, factor::BLENDFACTOR_ONE),
    ];
    for format in SURFACE_FORMATS.iter().filter(|f| f.alpha_blend) {
        let fields = Fields::parse(format.name).unwrap();
        let bytes = fields.bits() / 8;
        let mut random = Rng::with_seed(u64::from(format.code));
        let mut sender = Sender::new();
        let target = Target::new(&mut sender, format, bytes, true);
        for (source, dest) in equations {
            let cc = sender.colour_calculator(
                ColorCalcState::new()
                    .with_color_buffer_blend_enable(true)
                    .with_source_blend_factor(source)
                    .with_destination_blend_factor(dest)
                    .with_color_blend_function(function::BLENDFUNCTION_ADD),
            );
            for (x0, y0) in blocks() {
                let colours: [[u32; 4]; 16] = std::array::from_fn(|_| {
                    std::array::from_fn(|_| (random.u32(..) as f32 / 2f32.powi(32)).to_bits())
                });
                let old: Vec<[u8; 16]> = (0..16)
                    .map(|i| {
                        let mut element = 0u128;
                        for c in &fields.0 {
                            element |= u128::from(destination(&mut random, c)) << c.low;
                        }
                        let (x, y) = (x0 + place(i).0, y0 + place(i).1);
                        let element = element.to_le_bytes();
                        sender.load(target.at(x, y), &element[..bytes as usize]);
                        element
                    })
                    .collect();
                sender.render(cc, (x0, y0), &colours);
                for (i, old) in old.iter().enumerate() {
                    let (x, y) = (x0 + place(i).0, y0 + place(i).1);
                    let got = target.pixel(&sender, x, y);
                    let old = fields.decode(old).map(Want::value);
                    let new = colours[i].map(|v| f64::from(f32::from_bits(v)));
                    for c in 0..4 {
                        let Some(channel) = fields.of(c) else {
                            continue;
                        };
                        let want = if source == factor::BLENDFACTOR_SRC_ALPHA {
                            new[c] * new[3] + old[c] * (1.0 - new[3])
                        } else {
                            new[c] * old[3] + old[c]
                        };
                        check(format.name, channel, &got, want);
                    }
                }
            }
        }
        count += 1;
    }
    assert_eq!(count, 25);
}

/// A blended channel is the wanted value, or the code next to it when single precision may tip it.
fn check(name: &str, channel: &Channel, got: &[u8], want: f64) {
    let code = field(got, channel.low, channel.bits);
    let near: Vec<u64> = [-4e-7, 0.0, 4e-7]
        .into_iter()
        .flat_map(|off| codes(channel, ((want + off) as f32).to_bits(), 1e-3))
        .collect();
    let (low, high) = (near.iter().min().unwrap(), near.iter().max().unwrap());
    assert!(
        (low..=high).contains(&&code),
        "{name} {channel:?}: {want} became {code:#x}, not {near:x?}"
    );
}

/// Targets with shared chroma: red, green and blue are Cr, Y and Cb, as they are sampled (4.7.2.1.2). A pair of pixels
/// has one chroma; here both pixels of a pair have the same, so that it does not matter whose is taken.
#[test]
fn every_format_with_shared_chroma() {
    let mut count = 0;
    for format in SURFACE_FORMATS
        .iter()
        .filter(|f| f.render_target && !plain(f))
    {
        let [y0, cb, y1, cr] = match format.name {
            "YCRCB_NORMAL" => [0, 1, 2, 3],
            "YCRCB_SWAPUV" => [0, 3, 2, 1],
            "YCRCB_SWAPY" => [1, 0, 3, 2],
            _ => [1, 2, 3, 0],
        };
        let mut random = Rng::with_seed(u64::from(format.code));
        let mut sender = Sender::new();
        let target = Target::new(&mut sender, format, 2, false);
        let cc = sender.colour_calculator(ColorCalcState::new());
        let byte = Channel {
            letter: 'R',
            low: 0,
            bits: 8,
            kind: Kind::Unorm,
        };
        for (x0, y0_) in blocks() {
            let mut colours: [[u32; 4]; 16] =
                std::array::from_fn(|_| std::array::from_fn(|_| colour(&mut random, Some(&byte))));
            for pair in colours.as_chunks_mut::<2>().0 {
                let [left, right] = pair;
                (right[0], right[2]) = (left[0], left[2]);
            }
            sender.render(cc, (x0, y0_), &colours);
            for i in (0..16).step_by(2) {
                let (x, y) = (x0 + place(i).0, y0_ + place(i).1);
                let mut got = [0; 4];
                sender.read(target.at(x, y), &mut got);
                let (left, right) = (colours[i], colours[i + 1]);
                for (at, v) in [(y0, left[1]), (y1, right[1]), (cr, left[0]), (cb, left[2])] {
                    let want = codes(&byte, v, 0.0);
                    assert!(
                        want.contains(&u64::from(got[at])),
                        "{} byte {at}: {:#x} became {:x?}",
                        format.name,
                        v,
                        got
                    );
                }
            }
        }
        count += 1;
    }
    assert_eq!(count, 4);
}
