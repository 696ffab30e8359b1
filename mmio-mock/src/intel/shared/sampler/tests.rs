//! The sampling engine against references written from the manual's formulas.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use super::*;
use crate::intel::shared::StateBases;
use eu::ThreadId;
use eu::port::FloatMode;
use mem::Tiling;
use regs::gen40::{SamplerState, SurfaceState, values};

mod blocks;
mod borders;
mod counting;
mod cubes;
mod fetches;
mod filters;
mod keys;
mod lanes;
mod lod;
mod messages;
mod payload;
mod spatial;
mod surfaces;
mod words;

/// What registers hold before a message answers.
const KEEP: u32 = 0xdead_beef;

const STATE: u32 = 0x1_0000;
const DATA: u32 = 0x10_0000;

/// Surface format codes of PRM 4.7.2.1.1.
mod f {
    pub const BGRA8: u32 = 0x0c0;
    pub const RGBA8: u32 = 0x0c7;
    pub const BGRX8: u32 = 0x0e9;
    pub const RGBA32F: u32 = 0x000;
    pub const R32F: u32 = 0x0d8;
    pub const L8: u32 = 0x146;
    pub const A8: u32 = 0x144;
    pub const I8: u32 = 0x145;
    pub const L8A8: u32 = 0x114;
    pub const I24X8: u32 = 0x0e0;
    pub const L24X8: u32 = 0x0e1;
    pub const A24X8: u32 = 0x0e2;
    pub const B5G6R5: u32 = 0x100;
    pub const MONO8: u32 = 0x18e;
}

/// A message to the sampler.
fn message(desc: u32, exec_mask: u16, payload: &[Grf], answer: usize) -> Message<'_> {
    Message {
        thread: ThreadId::default(),
        sfid: 2,
        function_control: desc as u16,
        desc,
        response_length: answer as u8,
        eot: false,
        exec_mask,
        exec_size: 16,
        payload,
        ip: 0,
        float_mode: FloatMode::Ieee,
    }
}

struct Bench {
    mem: Memory,
    ctx: ThreadContext,
    engine: SamplingEngine,
    border: [f32; 4],
    header2: u32,
    mask: u16,
}

impl Bench {
    fn new() -> Self {
        let mut mem = Memory::new(4 << 20, 1 << 12);
        mem.alloc_mapped(GpuAddr::from(STATE), 0x1000).unwrap();
        mem.alloc_mapped(GpuAddr::from(DATA), 0x10_0000).unwrap();
        let bases = StateBases {
            general_state_base: STATE + 0x800,
            surface_state_base: STATE,
            ..StateBases::default()
        };
        Bench {
            mem,
            ctx: ThreadContext {
                bases,
                binding_table_pointer: 0x40,
                ..ThreadContext::default()
            },
            engine: SamplingEngine::new(&crate::intel::r#gen::gen40::functions::Reader),
            border: [0.0; 4],
            header2: 0,
            mask: 0xffff,
        }
    }

    /// Binds a surface to index 2 and a sampler to number 1.
    fn bind(&mut self, surface: SurfaceState, sampler: SamplerState) {
        self.mem
            .write_u32(GpuAddr::from(STATE + 0x48), 0x200)
            .unwrap();
        self.mem
            .write_dwords(GpuAddr::from(STATE + 0x200), surface.dwords())
            .unwrap();
        let sampler = sampler.with_border_color_pointer(0x100);
        self.mem
            .write_dwords(GpuAddr::from(STATE + 0x850), sampler.dwords())
            .unwrap();
        let border = self.border.map(f32::to_bits);
        self.mem
            .write_dwords(GpuAddr::from(STATE + 0x900), &border)
            .unwrap();
        self.engine.invalidate();
    }

    /// Sends a message of a type with these payload registers; header in front.
    fn send(&mut self, kind: u16, body: &[Grf], response: &mut [Grf]) -> Result<(), UnitFault> {
        let mut payload = vec![[0, 0, self.header2, 0x40, 0, 0, 0, 0]];
        payload.extend_from_slice(body);
        self.send_raw(kind << 14 | 1 << 8 | 2, &payload, response)
    }

    fn send_raw(
        &mut self,
        control: u16,
        payload: &[Grf],
        response: &mut [Grf],
    ) -> Result<(), UnitFault> {
        let request = crate::intel::r#gen::gen40::message::sampler(control, payload.len());
        self.deliver(&request, u32::from(control), payload, response)
    }

    fn deliver(
        &mut self,
        request: &SamplerRequest,
        desc: u32,
        payload: &[Grf],
        response: &mut [Grf],
    ) -> Result<(), UnitFault> {
        let msg = message(desc, self.mask, payload, response.len());
        self.engine
            .execute(request, &msg, response, &self.mem, &self.ctx)
    }

    /// SIMD8 `sample` of eight points (u, v, r).
    fn sample8(&mut self, points: [[f32; 3]; 8]) -> [[f32; 4]; 8] {
        let body: [Grf; 3] = std::array::from_fn(|p| points.map(|at| at[p].to_bits()));
        let mut w = [[0; 8]; 4];
        self.send(0, &body, &mut w).unwrap();
        std::array::from_fn(|slot| std::array::from_fn(|c| f32::from_bits(w[c][slot])))
    }

    /// SIMD4x2 `sample_l` of two points (u, v, r, lod).
    fn sample_l(&mut self, points: [[f32; 4]; 2]) -> [[f32; 4]; 2] {
        let mut w = [[0; 8]; 1];
        let body: Grf = std::array::from_fn(|n| points[n / 4][n % 4].to_bits());
        self.send(1, &[body], &mut w).unwrap();
        std::array::from_fn(|s| std::array::from_fn(|c| f32::from_bits(w[0][s * 4 + c])))
    }

    /// Fills a level of the bound surface, slice by slice, with elements made by `texel`.
    fn fill(
        &mut self,
        surface: SurfaceState,
        level: u32,
        mut texel: impl FnMut(u32, u32, u32) -> u32,
    ) {
        let s = crate::intel::r#gen::gen40::surface::resolve(surface.dwords(), Use::Raw).unwrap();
        let format = surface.surface_format();
        let s = crate::intel::r#gen::gen40::surface::resolve(surface.dwords(), Use::Sampler)
            .unwrap_or_else(|e| panic!("{format:#x} {e} {s:?}"));
        for z in 0..s.level_depth(level) {
            for y in 0..s.level_height(level) {
                for x in 0..s.level_width(level) {
                    let at = s.address(x, y, z, level);
                    let value = texel(x, y, z).to_le_bytes();
                    let bytes = usize::from(s.format.bytes).min(4);
                    self.mem.write_bytes(at, &value[..bytes]).unwrap();
                }
            }
        }
    }
}

fn surface_2d(format: u32, width: u32, height: u32, tiling: Tiling) -> SurfaceState {
    SurfaceState::new()
        .with_surface_type(values::surftype::SURFTYPE_2D)
        .with_surface_format(format)
        .with_surface_base_address(DATA)
        .with_width(width - 1)
        .with_height(height - 1)
        .with_surface_pitch(1023)
        .with_tiled_surface(tiling != Tiling::Linear)
        .with_tile_walk(u32::from(tiling == Tiling::Y))
}

fn sampler(filter: u32, mode: u32) -> SamplerState {
    SamplerState::new()
        .with_min_mode_filter(filter)
        .with_mag_mode_filter(filter)
        .with_tcx_address_control_mode(mode)
        .with_tcy_address_control_mode(mode)
        .with_tcz_address_control_mode(mode)
        .with_max_lod(13.0)
        .with_lod_preclamp_enable(true)
}

const NEAREST: u32 = values::mapfilter::MAPFILTER_NEAREST;
const LINEAR: u32 = values::mapfilter::MAPFILTER_LINEAR;
const CLAMP: u32 = values::texture_coordinate_mode::TEXCOORDMODE_CLAMP;
const BORDER_MODE: u32 = values::texture_coordinate_mode::TEXCOORDMODE_CLAMP_BORDER;

/// How a message lays out its pixels (PRM 4.8.1.6-4.8.1.8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Simd16,
    Simd8,
    Simd4x2,
}

/// One parameter of up to sixteen pixels.
type Parameter = [u32; 16];

/// A parameter from the pixel's number.
fn each(value: impl Fn(usize) -> f32) -> Parameter {
    std::array::from_fn(|slot| value(slot).to_bits())
}

/// The payload behind the header, by the manual's pictures.
fn pack(form: Form, parameters: &[Parameter]) -> Vec<Grf> {
    let mut body = Vec::new();
    match form {
        Form::Simd16 => {
            for p in parameters {
                body.push(std::array::from_fn(|n| p[n]));
                body.push(std::array::from_fn(|n| p[n + 8]));
            }
        }
        Form::Simd8 => {
            for p in parameters {
                body.push(std::array::from_fn(|n| p[n]));
            }
        }
        Form::Simd4x2 => {
            for four in parameters.chunks(4) {
                let mut register = [0; 8];
                for (n, p) in four.iter().enumerate() {
                    register[n] = p[0];
                    register[4 + n] = p[1];
                }
                body.push(register);
            }
        }
    }
    body
}

/// The four channels of each pixel of a whole answer (PRM 4.8.2).
fn unpack(form: Form, w: &[Grf]) -> Vec<[u32; 4]> {
    let pixels = match form {
        Form::Simd16 => 16,
        Form::Simd8 => 8,
        Form::Simd4x2 => 2,
    };
    let at = |pixel: usize, channel: usize| match form {
        Form::Simd16 => w[channel * 2 + pixel / 8][pixel % 8],
        Form::Simd8 => w[channel][pixel],
        Form::Simd4x2 => w[0][pixel * 4 + channel],
    };
    (0..pixels)
        .map(|pixel| std::array::from_fn(|channel| at(pixel, channel)))
        .collect()
}

impl Bench {
    /// Sends a message of a type and length, all channels enabled; `length` counts the header.
    fn message(
        &mut self,
        (kind, length): (u16, usize),
        form: Form,
        parameters: &[Parameter],
    ) -> Vec<[u32; 4]> {
        let body = pack(form, parameters);
        assert_eq!(body.len() + 1, length, "type {kind} {form:?}");
        let registers = match form {
            Form::Simd16 => 8,
            Form::Simd8 => 4,
            Form::Simd4x2 => 1,
        };
        let mut w = vec![[KEEP; 8]; registers];
        self.send(kind, &body, &mut w).unwrap();
        unpack(form, &w)
    }

    /// Whether a message of a type and length is refused.
    fn refuses(&mut self, kind: u16, length: usize) -> bool {
        let body = vec![[0; 8]; length - 1];
        let mut w = [[0; 8]; 8];
        matches!(
            self.send(kind, &body, &mut w),
            Err(UnitFault::Message { .. })
        )
    }

    /// Fills a level with four floats a texel.
    fn fill4(
        &mut self,
        surface: SurfaceState,
        level: u32,
        texel: impl Fn(u32, u32, u32) -> [f32; 4],
    ) {
        let s =
            crate::intel::r#gen::gen40::surface::resolve(surface.dwords(), Use::Sampler).unwrap();
        for z in 0..s.level_depth(level) {
            for y in 0..s.level_height(level) {
                for x in 0..s.level_width(level) {
                    let at = s.address(x, y, z, level);
                    let value = texel(x, y, z).map(f32::to_bits);
                    self.mem.write_dwords(at, &value).unwrap();
                }
            }
        }
    }

    /// SIMD8 `sample` of one point by all pixels: the first one's answer.
    fn at(&mut self, u: f32, v: f32, r: f32) -> [f32; 4] {
        self.sample8([[u, v, r]; 8])[0]
    }

    /// SIMD4x2 `sample_l` of one point: its answer.
    fn at_lod(&mut self, u: f32, v: f32, r: f32, lod: f32) -> [f32; 4] {
        self.sample_l([[u, v, r, lod]; 2])[1]
    }
}

/// A scrambled but fixed word for each texel.
fn noise(x: u32, y: u32, z: u32) -> u32 {
    (x.wrapping_mul(0x9e37_79b1) ^ y.wrapping_mul(0x85eb_ca77) ^ z.wrapping_mul(0xc2b2_ae3d))
        .wrapping_mul(0x27d4_eb2f)
        .rotate_left(13)
}

fn close(got: [f32; 4], want: [f64; 4], what: &str) {
    for (got, want) in got.into_iter().zip(want) {
        assert!(
            (f64::from(got) - want).abs() < 2e-4,
            "{what}: {got} for {want}"
        );
    }
}
