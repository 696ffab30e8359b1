//! sample_8x8 beside sums of the tables' taps at each sample's distance.
//!
//! Expectations: the kernels of i965_vpp_avs.c (`avs_gen_coeffs_lanczos`, `avs_gen_coeffs_linear`) as functions of the distance, which no
//! table and no mirroring is needed for; copies and gradients by themselves.

use super::*;
use crate::intel::shared::sampler::blocks::BlocksRequest;
use mem::tiling;

const SURFACE: u32 = STATE + 0x200;
const SAMPLER: u32 = STATE + 0x880;
/// Offset of the filters from the base of state, and the base.
const FILTERS: u32 = 0x200;
const BASE: u32 = STATE + 0x800;

const YCRCB_NORMAL: u32 = 0;
const YCRCB_SWAPY: u32 = 3;
const R8G8B8A8: u32 = 9;
const R8B8: u32 = 10;
const R8: u32 = 11;
const Y8: u32 = 12;

/// sinc(x) sinc(x / a), as far as `a` samples reach.
fn lanczos(x: f64, a: f64) -> f64 {
    let sinc = |x: f64| {
        let x = x * std::f64::consts::PI;
        if x == 0.0 { 1.0 } else { x.sin() / x }
    };
    if x.abs() < a {
        sinc(x) * sinc(x / a)
    } else {
        0.0
    }
}

/// The tap of a sample at a distance: S1.6.
fn tap(luma: bool, distance: f64) -> f64 {
    let a = if luma { 3.0 } else { 2.0 };
    (lanczos(distance, a) * 64.0).round()
}

fn smooth(distance: f64) -> f64 {
    (1.0 - distance.abs()).max(0.0) * 64.0
}

/// Where a picture is, and what messages ask of it.
struct Video {
    bench: Bench,
    format: u32,
    size: [u32; 2],
    pitch: u32,
    tiling: Tiling,
}

struct Place {
    u: f32,
    v: f32,
    du: f32,
    dv: f32,
    ddu: f32,
    block: u32,
}

impl Video {
    fn new(format: u32, size: [u32; 2], tiling: Tiling, sharpness: u32) -> Self {
        let mut bench = Bench::new();
        let readers = crate::intel::r#gen::readers(isa::Verx10::from_times_ten(70)).unwrap();
        bench.engine = SamplingEngine::new(readers.functions);
        bench.ctx.sampler_state_pointer = SAMPLER - 64 - BASE;
        let pitch = 1536;
        let tiles = match tiling {
            Tiling::Linear => 0,
            Tiling::X => 2,
            Tiling::Y => 3,
        };
        let words = [
            DATA,
            (size[0] - 1) << 4 | (size[1] - 1) << 18,
            tiles | (pitch - 1) << 3 | format << 28,
        ];
        let mut video = Video {
            bench,
            format,
            size,
            pitch,
            tiling,
        };
        video.put(STATE + 0x40, &[SURFACE - STATE]);
        video.put(SURFACE, &words);
        video.put(SAMPLER, &[1 << 29, FILTERS]);
        let mut filters = vec![];
        for phase in 0..17 {
            let four = |luma: bool, first: i32| {
                let taps = [0, 1, 2, 3].map(|n| {
                    let distance = f64::from(first + n - 3) - f64::from(phase) / 32.0;
                    tap(luma, distance) as i8 as u8
                });
                u32::from_le_bytes(taps)
            };
            let luma = [four(true, 0), four(true, 4)];
            let chroma = [four(false, 0), four(false, 4)];
            filters.extend([luma, luma, chroma, chroma].as_flattened());
        }
        filters.extend([sharpness << 24, 3 << 21]);
        video.put(BASE + FILTERS, &filters);
        video
    }

    fn put(&mut self, at: u32, words: &[u32]) {
        self.bench
            .mem
            .write_dwords(GpuAddr::from(at), words)
            .unwrap();
    }

    fn address(&self, x: u32, y: u32) -> GpuAddr {
        GpuAddr::from(DATA + tiling::offset(self.tiling, self.pitch, x, y))
    }

    /// Fills bytes by column and row.
    fn fill(&mut self, mut with: impl FnMut(u32, u32) -> u8) {
        for y in 0..self.size[1] {
            for x in 0..self.size[0] * 4 {
                let at = self.address(x, y);
                self.bench.mem.write_u8(at, with(x, y)).unwrap();
            }
        }
    }

    fn noise(&mut self, seed: u64) {
        let mut rng = fastrand::Rng::with_seed(seed);
        self.fill(|_, _| rng.u8(..));
    }

    fn byte(&self, x: u32, y: u32) -> u8 {
        self.bench.mem.read_u8(self.address(x, y)).unwrap()
    }

    /// The byte of a channel at a pixel, as the names of formats have them.
    fn stored(&self, channel: usize, x: u32, y: u32) -> Option<u8> {
        let pair = x / 2 * 4;
        let column = match (self.format, channel) {
            (YCRCB_NORMAL, 0) => pair + 3,
            (YCRCB_NORMAL, 2) => pair + 1,
            (YCRCB_SWAPY, 0) => pair + 2,
            (YCRCB_SWAPY, 2) => pair,
            (R8G8B8A8, n) => x * 4 + n as u32,
            (R8B8, 0) | (YCRCB_NORMAL, 1) => x * 2,
            (R8B8, 2) | (YCRCB_SWAPY, 1) => x * 2 + 1,
            (R8, 0) | (Y8, 1) => x,
            _ => return None,
        };
        Some(self.byte(column, y))
    }

    fn message(
        &mut self,
        header: Grf,
        place: &Place,
        registers: usize,
    ) -> Result<Vec<Grf>, UnitFault> {
        let payload = [
            header,
            [
                0,
                place.block,
                place.u.to_bits(),
                place.v.to_bits(),
                place.du.to_bits(),
                place.dv.to_bits(),
                place.ddu.to_bits(),
                0,
            ],
        ];
        let request = BlocksRequest {
            header: true,
            surface: 0,
            sampler: 4,
        };
        let mut response = vec![[KEEP; 8]; registers];
        let msg = message(0x000e_b400, 1, &payload, registers);
        let bench = &mut self.bench;
        bench
            .engine
            .blocks(request, &msg, &mut response, &bench.mem, &bench.ctx)?;
        Ok(response)
    }

    /// One channel of a block: rows of sixteen.
    fn block(&mut self, channel: usize, place: &Place) -> [[u16; 16]; 4] {
        let mut header = [0; 8];
        header[2] = 0xf000 & !(0x1000 << channel);
        let answer = self.message(header, place, 4).unwrap();
        std::array::from_fn(|row| {
            std::array::from_fn(|x| (answer[row][x / 2] >> (x % 2 * 16)) as u16)
        })
    }
}

fn word(level: f64) -> u16 {
    (level * 256.0 + 0.5).floor().clamp(0.0, 65535.0) as u16
}

/// A place in samples as phases have it: the nearest of 32.
fn phased(at: f64) -> f64 {
    (at * 32.0 + 0.5).floor() / 32.0
}

#[test]
fn sharp_filters_are_sums_of_taps() {
    let mut rng = fastrand::Rng::with_seed(8);
    for (luma, tiling) in [
        (true, Tiling::Linear),
        (true, Tiling::Y),
        (false, Tiling::X),
        (false, Tiling::Y),
    ] {
        let size = [rng.u32(9..70), rng.u32(9..40)];
        let mut video = Video::new(if luma { Y8 } else { R8 }, size, tiling, 255);
        video.noise(rng.u64(..));
        for _ in 0..12 {
            let place = Place {
                u: rng.f32() * 1.2 - 0.2,
                v: rng.f32() * 1.2 - 0.2,
                du: (rng.f32() - 0.2) * 3.0 / size[0] as f32,
                dv: (rng.f32() - 0.2) * 3.0 / size[1] as f32,
                ddu: (rng.f32() - 0.5) * 0.1 / size[0] as f32,
                block: rng.u32(..4),
            };
            let got = video.block(usize::from(luma), &place);
            let [u, v, du, dv, ddu] =
                [place.u, place.v, place.du, place.dv, place.ddu].map(f64::from);
            for (row, got) in got.iter().enumerate() {
                for (n, got) in got.iter().enumerate() {
                    let i = n as f64;
                    let at = [
                        u + i * du + i * (i - 1.0) / 2.0 * ddu,
                        v + (f64::from(place.block) * 4.0 + row as f64) * dv,
                    ];
                    let at = [0, 1].map(|d| phased(at[d] * f64::from(size[d])));
                    let mut sum = 0.0;
                    for y in -4..=5 {
                        for x in -4..=5 {
                            let sample =
                                [at[0].floor() + f64::from(x), at[1].floor() + f64::from(y)];
                            let weight =
                                tap(luma, sample[0] - at[0]) * tap(luma, sample[1] - at[1]);
                            let [x, y] =
                                [0, 1].map(|d| sample[d].clamp(0.0, f64::from(size[d] - 1)) as u32);
                            sum += weight * f64::from(video.byte(x, y));
                        }
                    }
                    assert_eq!(
                        *got,
                        word(sum / 4096.0),
                        "{size:?} row {row} pixel {n} at {at:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn the_smooth_filter_is_linear_and_levels_blend() {
    let mut rng = fastrand::Rng::with_seed(9);
    for level in [0, 64, 255] {
        let mut video = Video::new(Y8, [40, 30], Tiling::Y, level);
        video.noise(5);
        let place = Place {
            u: rng.f32() * 0.5,
            v: 0.5 / 30.0 * 9.0,
            du: 0.37 / 40.0,
            dv: 0.0,
            ddu: 0.0,
            block: 0,
        };
        let at_y = phased(f64::from(place.v) * 30.0);
        let got = video.block(1, &place)[0];
        let share = f64::from(level) / 255.0;
        let weight = |d: f64| smooth(d) + (tap(true, d) - smooth(d)) * share;
        for (n, got) in got.into_iter().enumerate() {
            let at = phased((f64::from(place.u) + n as f64 * f64::from(place.du)) * 40.0);
            let mut sum = 0.0;
            for y in -4..=5 {
                for x in -4..=5 {
                    let (x, y) = (at.floor() + f64::from(x), at_y.floor() + f64::from(y));
                    let byte = video.byte(x.clamp(0.0, 39.0) as u32, y.clamp(0.0, 29.0) as u32);
                    sum += weight(x - at) * weight(y - at_y) * f64::from(byte);
                }
            }
            let off = i32::from(got) - i32::from(word(sum / 4096.0));
            assert!(off.abs() <= 1, "level {level} pixel {n}: {off}");
        }
    }
}

/// Steps of one pixel copy, whatever the width, the filter, the format and the tiling.
#[test]
fn copies_are_exact() {
    for (format, channels) in [
        (YCRCB_NORMAL, [0, 1, 2].as_slice()),
        (YCRCB_SWAPY, &[0, 1, 2]),
        (R8G8B8A8, &[0, 1, 2, 3]),
        (R8B8, &[0, 2]),
        (R8, &[0]),
        (Y8, &[1]),
    ] {
        for (width, tiling, sharpness) in [
            (64, Tiling::Linear, 0),
            (320, Tiling::Y, 0),
            (102, Tiling::X, 255),
        ] {
            let mut video = Video::new(format, [width, 24], tiling, sharpness);
            video.noise(u64::from(format) + 1);
            let shared = [YCRCB_NORMAL, YCRCB_SWAPY].contains(&format);
            for left in [0, 16, 48, 80] {
                let place = Place {
                    u: left as f32 * (1.0 / width as f32),
                    v: 4.0 * (1.0 / 24.0),
                    du: 1.0 / width as f32,
                    dv: 1.0 / 24.0,
                    ddu: 0.0,
                    block: 2,
                };
                for &channel in channels {
                    let got = video.block(channel, &place);
                    for (row, got) in (12..).zip(&got) {
                        for (x, got) in (left..).zip(got) {
                            let between = shared && channel != 1 && x % 2 == 1;
                            if between || x >= width {
                                continue;
                            }
                            let want = video.stored(channel, x, row).unwrap();
                            let what = format!("format {format} width {width} {tiling:?}");
                            assert_eq!(
                                *got,
                                u16::from(want) << 8,
                                "{what}: channel {channel} of {x}, {row}"
                            );
                        }
                    }
                }
            }
        }
    }
}

/// Channels that a format lacks; several in one answer come in the order red, green, blue, alpha.
#[test]
fn answers_have_the_channels_that_are_asked_for() {
    let mut video = Video::new(R8B8, [32, 16], Tiling::Y, 0);
    video.noise(4);
    let place = Place {
        u: 0.0,
        v: 0.0,
        du: 1.0 / 32.0,
        dv: 1.0 / 16.0,
        ddu: 0.0,
        block: 0,
    };
    let [red, blue] = [0, 2].map(|channel| video.block(channel, &place));
    let all = video.message([0; 8], &place, 16).unwrap();
    let low = |register: usize| all[register][0] as u16;
    assert_eq!([low(0), low(8)], [red[0][0], blue[0][0]]);
    assert_eq!([low(3), low(11)], [red[3][0], blue[3][0]]);
    assert_eq!([low(4), low(12)], [0, 0xff00]);
    let some = video
        .message([0, 0, 0xa000, 0, 0, 0, 0, 0], &place, 8)
        .unwrap();
    assert_eq!(some[..4], all[..4]);
    assert_eq!(some[4..], all[8..12]);
}

/// Gradients scaled by any factor are within a level of themselves.
#[test]
fn scaled_gradients_stay_gradients() {
    for (sharpness, factor) in [(0, 2.0), (0, 0.6), (255, 3.0), (255, 0.5)] {
        let mut video = Video::new(Y8, [80, 60], Tiling::Y, sharpness);
        let level = |x: f64, y: f64| 20.0 + x * 1.7 + y * 0.9;
        video.fill(|x, y| level(f64::from(x.min(79)), f64::from(y)).round() as u8);
        let place = Place {
            u: 10.0 / 80.0,
            v: 10.0 / 60.0,
            du: (1.0 / factor / 80.0) as f32,
            dv: (1.0 / factor / 60.0) as f32,
            ddu: 0.0,
            block: 1,
        };
        let got = video.block(1, &place);
        for (row, got) in (4..).zip(&got) {
            for (n, got) in (0..).zip(got) {
                let want = level(10.0 + f64::from(n) / factor, 10.0 + f64::from(row) / factor);
                let off = f64::from(*got) / 256.0 - want;
                assert!(off.abs() <= 1.0, "{factor}: {off} at {n}, {row}");
            }
        }
    }
}

/// Edges of black and white overshoot: what is beyond stays the least and the greatest word.
#[test]
fn what_overshoots_is_cut_off() {
    let mut video = Video::new(Y8, [32, 8], Tiling::Linear, 255);
    video.fill(|x, _| if x % 8 < 4 { 0 } else { 255 });
    let place = Place {
        u: 0.0,
        v: 0.0,
        du: 0.5 / 32.0,
        dv: 0.0,
        ddu: 0.0,
        block: 0,
    };
    let row = video.block(1, &place)[0];
    assert!(row.contains(&0xffff) && row.contains(&0), "{row:x?}");
}

#[test]
fn what_is_missing_is_named() {
    let place = Place {
        u: 0.0,
        v: 0.0,
        du: 0.0,
        dv: 0.0,
        ddu: 0.0,
        block: 0,
    };
    let changed = |at: u32, word: u32| {
        let mut video = Video::new(Y8, [16, 16], Tiling::Linear, 0);
        video.put(at, &[word]);
        let header = [0, 0, 0xd000, 0, 0, 0, 0, 0];
        video.message(header, &place, 4).unwrap_err().to_string()
    };
    let filters = BASE + FILTERS + 17 * 32;
    for (at, word, name) in [
        (SAMPLER, 0, "detail filter (IEF)"),
        (SAMPLER, 1 << 29 | 1 << 31, "8x8 filter is disabled"),
        (SAMPLER, 1 << 29 | 1 << 18, "chroma key"),
        (filters + 4, 1 << 21, "adaptive filter"),
        (filters + 4, 1 << 22, "adaptive filter"),
        (SURFACE + 8, 4 << 28, "planar"),
        (SURFACE + 8, 8 << 28, "not of eight bits"),
        (SURFACE + 4, 15 << 4 | 15 << 18 | 1 << 2, "field"),
    ] {
        let told = changed(at, word);
        assert!(
            told.starts_with("not modelled: sampler: ") && told.contains(name),
            "{told}"
        );
    }
}

#[test]
fn messages_that_do_not_fit_are_refused() {
    let place = Place {
        u: f32::NAN,
        v: f32::INFINITY,
        du: f32::MAX,
        dv: -1e30,
        ddu: f32::NAN,
        block: u32::MAX,
    };
    let mut video = Video::new(Y8, [16, 16], Tiling::Linear, 0);
    let mut told = |mask: u32, registers| {
        let header = [0, 0, mask, 0, 0, 0, 0, 0];
        video.message(header, &place, registers).map(|_| ())
    };
    // Strange numbers are places like others.
    assert!(told(0xd000, 4).is_ok());
    for (mask, registers) in [(0xd000, 8), (0xd000, 0), (0xa000, 4), (0xf000, 4)] {
        let refused = told(mask, registers);
        assert!(
            matches!(refused, Err(UnitFault::Message { .. })),
            "{mask:#x}"
        );
    }
}
