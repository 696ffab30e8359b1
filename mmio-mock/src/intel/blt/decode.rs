//! 2D commands to operations.
//!
//! PRM: volume 1, blitter (2D commands). Layouts: genxml for XY_COLOR_BLT, XY_SETUP_BLT,
//! XY_SRC_COPY_BLT and XY_TEXT_IMMEDIATE_BLT; i915's command parser and the SNA driver for
//! address places and lengths; the 815 manual for the rest. Not modelled: chroma keys.

use super::engine::{Operation, Pattern, Source};
use super::mono::{Bits, Expansion, MonoSource};
use super::plane::Plane;
use super::words::{Br00, Br13, opcode as op, point, rect};
use super::{Rect, Setup, SetupPattern};
use crate::UnitFault;
use mem::{GpuAddr, Memory};

/// A decoded command.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Decoded {
    /// New latched state.
    Setup(Setup),
    /// Something to draw.
    Draw(Box<Operation>),
}

/// Mono pictures' rows begin on 16-bit words.
const PICTURE_UNIT: u32 = 16;

fn bad(what: String) -> UnitFault {
    UnitFault::Command { unit: "BLT", what }
}

fn unmodelled(what: &'static str) -> UnitFault {
    UnitFault::Unimplemented {
        unit: "BLT",
        what,
        prm: "PRM vol1 blitter",
    }
}

/// An 8x8 colour pattern in memory.
fn load_pattern(mem: &Memory, base: u32, bytes: u32) -> Result<Pattern, UnitFault> {
    let mut raw = [0u8; 256];
    let n = 64 * bytes as usize;
    // The address field has bits 31:6.
    mem.read_bytes(GpuAddr::from(base & !63), &mut raw[..n])?;
    Ok(pattern_of(&raw, bytes))
}

/// An 8x8 colour pattern in the command.
fn immediate_pattern(data: &[u32], bytes: u32) -> Pattern {
    let mut raw = [0u8; 256];
    for (to, dword) in raw.chunks_exact_mut(4).zip(data) {
        to.copy_from_slice(&dword.to_le_bytes());
    }
    pattern_of(&raw, bytes)
}

fn pattern_of(raw: &[u8; 256], bytes: u32) -> Pattern {
    let bytes = bytes as usize;
    Pattern::Pixels(Box::new(std::array::from_fn(|i| {
        let mut pixel = [0; 4];
        pixel[..bytes].copy_from_slice(&raw[i * bytes..(i + 1) * bytes]);
        u32::from_le_bytes(pixel)
    })))
}

fn mono_pattern(mode: Br13, low: u32, high: u32, background: u32, foreground: u32) -> Pattern {
    let bits = if mode.solid_pattern() {
        u64::MAX
    } else {
        low as u64 | (high as u64) << 32
    };
    Pattern::Mono(
        bits,
        Expansion {
            foreground,
            background,
            transparent: mode.mono_pattern_transparent(),
        },
    )
}

fn immediate_bits(data: &[u32]) -> Bits {
    Bits::Immediate(data.iter().flat_map(|d| d.to_le_bytes()).collect())
}

/// A mono picture for a rectangle.
fn picture(
    h: Br00,
    mode: Br13,
    area: Rect,
    bits: Bits,
    background: u32,
    foreground: u32,
) -> Source {
    let width = area.x2.saturating_sub(area.x1).max(0) as u32;
    Source::Mono(MonoSource {
        bits,
        first: h.mono_bit() as u64,
        row_bits: MonoSource::stride(width, h.mono_bit(), PICTURE_UNIT),
        expansion: Expansion {
            foreground,
            background,
            transparent: mode.mono_source_transparent(),
        },
    })
}

/// The parts that commands with a mode dword and a rectangle share.
fn xy(c: &[u32], setup: &Setup, source: Source, pattern: Pattern) -> Result<Operation, UnitFault> {
    let (h, mode) = (Br00(c[0]), Br13(c[1]));
    Ok(Operation {
        destination: Plane::new(c[4], mode.pitch(), h.destination_tiled())?,
        bytes: mode.bytes(),
        rop: mode.rop(),
        write_bits: write_bits(h, mode),
        rect: rect(c[2], c[3]),
        clip: mode.clipping().then_some(setup.clip),
        source,
        pattern,
        seed: (h.horizontal_seed(), h.vertical_seed()),
    })
}

/// The byte mask acts on 32-bit pixels alone.
fn write_bits(h: Br00, mode: Br13) -> u32 {
    if mode.bytes() == 4 {
        h.write_bits()
    } else {
        u32::MAX
    }
}

/// The parts that commands after a setup share: all from the setup but tiling and seeds.
fn after_setup(
    h: Br00,
    setup: &Setup,
    area: Rect,
    source: Source,
    pattern: Pattern,
) -> Result<Operation, UnitFault> {
    let mode = setup.mode;
    Ok(Operation {
        destination: Plane::new(setup.destination, mode.pitch(), h.destination_tiled())?,
        bytes: mode.bytes(),
        rop: mode.rop(),
        write_bits: write_bits(setup.header, mode),
        rect: area,
        clip: mode.clipping().then_some(setup.clip),
        source,
        pattern,
        seed: (h.horizontal_seed(), h.vertical_seed()),
    })
}

fn text(h: Br00, setup: &Setup, area: Rect, bits: Bits) -> Result<Operation, UnitFault> {
    let width = area.x2.saturating_sub(area.x1).max(0) as u32;
    let unit = if h.byte_packed() { 8 } else { 1 };
    let source = Source::Mono(MonoSource {
        bits,
        first: 0,
        row_bits: MonoSource::stride(width, 0, unit),
        expansion: Expansion {
            foreground: setup.foreground,
            background: setup.background,
            transparent: setup.mode.mono_source_transparent(),
        },
    });
    after_setup(h, setup, area, source, Pattern::Solid(0))
}

/// The source plane of the commands that copy pixels: dwords `at` (x, y), pitch, base.
fn pixels(c: &[u32], at: usize) -> Result<Source, UnitFault> {
    let (x, y) = point(c[at]);
    let pitch = Br13(c[at + 1]).pitch();
    Ok(Source::Pixels {
        plane: Plane::new(c[at + 2], pitch, Br00(c[0]).source_tiled())?,
        x,
        y,
    })
}

/// COLOR_BLT and SRC_COPY_BLT: linear, sizes in bytes, addresses of the first byte written.
fn linear(c: &[u32], copy: bool) -> Operation {
    let (h, mode) = (Br00(c[0]), Br13(c[1]));
    let bytes = mode.bytes();
    let width_bytes = c[2] & 0xffff;
    let width = (width_bytes / bytes) as i32;
    let height = (c[2] >> 16) as i32;
    // Right to left the address is that of the last byte of a row.
    let back = if copy && mode.right_to_left() {
        (width as u32 * bytes).wrapping_sub(1)
    } else {
        0
    };
    let plane = |base: u32, pitch: i32| Plane {
        base: base.wrapping_sub(back),
        pitch,
        tiled: false,
    };
    let (source, pattern) = if copy {
        let plane = plane(c[5], Br13(c[4]).pitch());
        (Source::Pixels { plane, x: 0, y: 0 }, Pattern::Solid(0))
    } else {
        (Source::None, Pattern::Solid(c[4]))
    };
    Operation {
        destination: plane(c[3], mode.pitch()),
        bytes,
        rop: mode.rop(),
        write_bits: write_bits(h, mode),
        rect: Rect {
            x1: 0,
            y1: 0,
            x2: width,
            y2: height,
        },
        clip: None,
        source,
        pattern,
        seed: (0, 0),
    }
}

/// Decodes a command of this unit, header first.
///
/// PANIC: dwords are indexed below the length that the opcode's row of the table demands.
pub fn decode(c: &[u32], setup: &Setup, mem: &Memory) -> Result<Decoded, UnitFault> {
    let h = Br00(c.first().copied().unwrap_or(0));
    let row = op::NAMES.iter().find(|(code, ..)| *code == h.opcode());
    let Some(&(opcode, name, fewest)) = row else {
        return Err(bad(format!("opcode {:#04x} is reserved", h.opcode())));
    };
    if h.client() != 2 {
        return Err(bad(format!("{name} for client {}", h.client())));
    }
    if c.len() < fewest {
        return Err(bad(format!("{name} of {} dwords, needs {fewest}", c.len())));
    }
    let mode = Br13(c[1]);
    let bytes = mode.bytes();
    let none = Pattern::Solid(0);
    let draw = match opcode {
        op::XY_SETUP_BLT | op::XY_SETUP_MONO_PATTERN_SL_BLT => {
            return Ok(Decoded::Setup(Setup {
                header: h,
                mode,
                clip: rect(c[2], c[3]),
                destination: c[4],
                background: c[5],
                foreground: c[6],
                pattern: if opcode == op::XY_SETUP_BLT {
                    SetupPattern::Colour(c[7])
                } else {
                    SetupPattern::Mono(c[7] as u64 | (c[8] as u64) << 32)
                },
            }));
        }
        op::XY_SETUP_CLIP_BLT => {
            return Ok(Decoded::Setup(Setup {
                clip: rect(c[1], c[2]),
                ..*setup
            }));
        }
        op::XY_PIXEL_BLT => {
            let (x, y) = point(c[1]);
            let area = Rect {
                x1: x,
                y1: y,
                x2: x + 1,
                y2: y + 1,
            };
            // The 815 manual gives the pixel the background colour of the setup.
            let colour = Pattern::Solid(setup.background);
            after_setup(h, setup, area, Source::None, colour)?
        }
        op::XY_SCANLINES_BLT => {
            let pattern = match setup.pattern {
                SetupPattern::Colour(base) => load_pattern(mem, base, setup.mode.bytes())?,
                SetupPattern::Mono(bits) => mono_pattern(
                    setup.mode,
                    bits as u32,
                    (bits >> 32) as u32,
                    setup.background,
                    setup.foreground,
                ),
            };
            after_setup(h, setup, rect(c[1], c[2]), Source::None, pattern)?
        }
        op::XY_TEXT_BLT => text(
            h,
            setup,
            rect(c[1], c[2]),
            Bits::Memory(GpuAddr::from(c[3])),
        )?,
        op::XY_TEXT_IMMEDIATE_BLT => text(h, setup, rect(c[1], c[2]), immediate_bits(&c[3..]))?,
        op::COLOR_BLT => linear(c, false),
        op::SRC_COPY_BLT => linear(c, true),
        op::XY_COLOR_BLT => xy(c, setup, Source::None, Pattern::Solid(c[5]))?,
        op::XY_PAT_BLT => xy(c, setup, Source::None, load_pattern(mem, c[5], bytes)?)?,
        op::XY_PAT_BLT_IMMEDIATE => xy(c, setup, Source::None, immediate_pattern(&c[5..], bytes))?,
        op::XY_MONO_PAT_BLT => {
            let pattern = mono_pattern(mode, c[7], c[8], c[5], c[6]);
            xy(c, setup, Source::None, pattern)?
        }
        op::XY_SRC_COPY_BLT => xy(c, setup, pixels(c, 5)?, none)?,
        op::XY_MONO_SRC_COPY_BLT => {
            let bits = Bits::Memory(GpuAddr::from(c[5]));
            let source = picture(h, mode, rect(c[2], c[3]), bits, c[6], c[7]);
            xy(c, setup, source, none)?
        }
        op::XY_MONO_SRC_COPY_IMMEDIATE_BLT => {
            let bits = immediate_bits(&c[7..]);
            let source = picture(h, mode, rect(c[2], c[3]), bits, c[5], c[6]);
            xy(c, setup, source, none)?
        }
        op::XY_FULL_BLT => xy(c, setup, pixels(c, 5)?, load_pattern(mem, c[8], bytes)?)?,
        op::XY_FULL_IMMEDIATE_PATTERN_BLT => {
            xy(c, setup, pixels(c, 5)?, immediate_pattern(&c[8..], bytes))?
        }
        op::XY_FULL_MONO_SRC_BLT | op::XY_FULL_MONO_SRC_IMMEDIATE_PATTERN_BLT => {
            let bits = Bits::Memory(GpuAddr::from(c[5]));
            let source = picture(h, mode, rect(c[2], c[3]), bits, c[6], c[7]);
            let pattern = if opcode == op::XY_FULL_MONO_SRC_BLT {
                load_pattern(mem, c[8], bytes)?
            } else {
                immediate_pattern(&c[8..], bytes)
            };
            xy(c, setup, source, pattern)?
        }
        op::XY_FULL_MONO_PATTERN_BLT => {
            let pattern = mono_pattern(mode, c[10], c[11], c[8], c[9]);
            xy(c, setup, pixels(c, 5)?, pattern)?
        }
        op::XY_FULL_MONO_PATTERN_MONO_SRC_BLT => {
            let bits = Bits::Memory(GpuAddr::from(c[5]));
            let source = picture(h, mode, rect(c[2], c[3]), bits, c[6], c[7]);
            let pattern = mono_pattern(mode, c[10], c[11], c[8], c[9]);
            xy(c, setup, source, pattern)?
        }
        op::XY_MONO_PAT_FIXED_BLT => return Err(unmodelled("XY_MONO_PAT_FIXED_BLT")),
        _ => return Err(unmodelled("chroma-keyed 2D command")),
    };
    Ok(Decoded::Draw(Box::new(draw)))
}
