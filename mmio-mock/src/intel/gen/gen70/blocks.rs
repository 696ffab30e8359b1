//! Structures of the sampler's SIMD32/64 messages as plain state.
//!
//! intel-vaapi-driver 2.4 i965_structs.h: gen7_surface_state2, gen7_sampler_8x8, i965_sampler_8x8_state; codes of formats i965_defines.h
//! (`SURFACE_FORMAT_*`), which byte is which i965_post_processing.c `gen7_pp_set_media_rw_message_surface` (YUY2 is YCRCB_NORMAL, UYVY
//! YCRCB_SWAPY, planes of U and V R8B8). Not modelled: planar formats, fields, keys, the adaptive filter, the detail filter (IEF).

use mem::{Fault, GpuAddr, Memory, Tiling};

use crate::intel::shared::sampler::blocks::{
    BlockReader, PHASES, Phase, Picture, Plane, Scaler, TAPS,
};

/// The reader.
#[derive(Debug)]
pub struct Blocks;

/// Bytes of a gen7_sampler_8x8.
const SAMPLER: u32 = 16;
/// Dwords of a phase in the table: two for each of four filters.
const PHASE: usize = 8;
/// Dwords of the table.
const TABLE: usize = PHASES * PHASE + 2;

const fn plane(channel: u8, byte: u8, bytes: u8, shared: u8) -> Plane {
    Plane {
        channel,
        byte,
        bytes,
        shared,
    }
}

/// Two pixels in four bytes: the bytes of the first Y, of Cb and of Cr.
const fn packed(y: u8, cb: u8, cr: u8) -> [Plane; 3] {
    [plane(1, y, 2, 0), plane(2, cb, 4, 1), plane(0, cr, 4, 1)]
}

static NORMAL: [Plane; 3] = packed(0, 1, 3);
static SWAP_UVY: [Plane; 3] = packed(1, 2, 0);
static SWAP_UV: [Plane; 3] = packed(0, 3, 1);
static SWAP_Y: [Plane; 3] = packed(1, 0, 2);
static RGBA: [Plane; 4] = [
    plane(0, 0, 4, 0),
    plane(1, 1, 4, 0),
    plane(2, 2, 4, 0),
    plane(3, 3, 4, 0),
];
static R8B8: [Plane; 2] = [plane(0, 0, 2, 0), plane(2, 1, 2, 0)];
static R8: [Plane; 1] = [plane(0, 0, 1, 0)];
static Y8: [Plane; 1] = [plane(1, 0, 1, 0)];

/// The channels of a format.
fn planes(format: u32) -> Result<&'static [Plane], &'static str> {
    Ok(match format {
        0 => &NORMAL,
        1 => &SWAP_UVY,
        2 => &SWAP_UV,
        3 => &SWAP_Y,
        9 => &RGBA,
        10 => &R8B8,
        11 => &R8,
        12 => &Y8,
        4..=6 => return Err("sample_8x8 of a planar surface"),
        _ => return Err("sample_8x8 of a surface whose format is not of eight bits"),
    })
}

/// Bits of a word: the first one, and how many.
const fn field(word: u32, first: u32, count: u32) -> u32 {
    word >> first & ((1 << count) - 1)
}

const fn bit(word: u32, number: u32) -> bool {
    word >> number & 1 != 0
}

/// Taps from dwords, the first in the lowest byte.
fn taps<const N: usize>(dwords: [u32; N]) -> Phase {
    let mut phase = [0; TAPS];
    for (n, tap) in phase.iter_mut().enumerate() {
        // PANIC: two dwords. CAST: the sign is the highest bit of a byte.
        *tap = dwords[n / 4 % N].to_le_bytes()[n % 4].cast_signed();
    }
    phase
}

/// The four taps in the middle, which are all that there are.
fn inner(dwords: [u32; 2]) -> Phase {
    taps([dwords[0] & 0xffff_0000, dwords[1] & 0xffff])
}

impl BlockReader for Blocks {
    fn picture(&self, mem: &Memory, at: GpuAddr) -> Result<Picture, Fault> {
        let mut words = [0; 3];
        mem.read_dwords(at, &mut words)?;
        let [base, size, form] = words;
        let field_of_frame = field(size, 2, 2) != 0;
        Ok(Picture {
            base: GpuAddr::from(base),
            width: field(size, 4, 14) + 1,
            height: field(size, 18, 14) + 1,
            pitch: field(form, 3, 18) + 1,
            tiling: match (bit(form, 1), bit(form, 0)) {
                (false, _) => Tiling::Linear,
                (true, false) => Tiling::X,
                (true, true) => Tiling::Y,
            },
            planes: if field_of_frame {
                Err("sample_8x8 of a field of a picture")
            } else {
                planes(field(form, 28, 4))
            },
        })
    }

    fn scaler(
        &self,
        mem: &Memory,
        base: GpuAddr,
        table: GpuAddr,
        number: u8,
    ) -> Result<Scaler, Fault> {
        let mut words = [0; 2];
        mem.read_dwords(table.offset(u32::from(number) * SAMPLER), &mut words)?;
        let mut filters = [0; TABLE];
        let at = mem.on_bus(base.offset(words[1] & !0x1f));
        mem.read_dwords(at, &mut filters)?;
        let (phases, tail) = filters.split_at(PHASES * PHASE);
        let mut tables = [[[[0; TAPS]; PHASES]; 2]; 2];
        for (n, dwords) in phases.as_chunks::<PHASE>().0.iter().enumerate() {
            let [x0, x1, y0, y1, cx0, cx1, cy0, cy1] = *dwords;
            // PANIC: as many phases as there are.
            tables[0][0][n] = taps([x0, x1]);
            tables[0][1][n] = taps([y0, y1]);
            tables[1][0][n] = inner([cx0, cx1]);
            tables[1][1][n] = inner([cy0, cy1]);
        }
        // PANIC: two dwords behind the phases.
        let (sharpness, bypass) = (field(tail[0], 24, 8), field(tail[1], 21, 2));
        let missing = if !bit(words[0], 29) {
            Some("detail filter (IEF) of sample_8x8")
        } else if bit(words[0], 31) {
            Some("sample_8x8 whose 8x8 filter is disabled")
        } else if bit(words[0], 18) {
            Some("chroma key of sample_8x8")
        } else if bypass != 3 {
            Some("adaptive filter of sample_8x8")
        } else {
            None
        };
        Ok(Scaler {
            tables,
            // CAST: eight bits.
            sharpness: sharpness as u8,
            missing,
        })
    }
}
