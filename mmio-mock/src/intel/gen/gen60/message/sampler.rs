//! Sandy Bridge's sampler messages: samples, gathers and arrays of cubes.
//!
//! All others are those of Ironlake. Numbers of types and places of parameters: Mesa 22.3.6 `brw_eu_defines.h` (`GFX5_SAMPLER_MESSAGE_*`, `GFX6_*`; gather4 is named
//! after a later generation), `brw_lower_logical_sends.cpp` (`lower_sampler_logical_send_gfx5`). Parameters may end anywhere, those
//! that are left out are 0. Not modelled: the SIMD32/64 messages (sample_unorm, sample_8x8, deinterlace).

use crate::intel::r#gen::gen50::message::HEADER;
use crate::intel::shared::sampler::message::{Op, Order, SamplerRequest, Shape, Simd};

/// Coordinates alone; the fourth is the number of a cube.
const COORDINATES: Order = Order {
    cube: 3,
    ..Order::COORDINATES
};
/// Bias or LOD behind the coordinates and the array index.
const LOD: Order = Order {
    lod: 4,
    ..COORDINATES
};
/// A reference value, then bias or LOD.
const COMPARE: Order = Order {
    reference: 4,
    lod: 5,
    ..COORDINATES
};
/// Gradients, x and y in turn.
const GRADIENTS: Order = Order {
    dx: [4, 6, 8],
    dy: [5, 7, 9],
    ..COORDINATES
};
/// The level of a texel, and its sample.
const TEXEL: Order = Order {
    lod: 3,
    sample: 4,
    ..Order::COORDINATES
};
/// A level and nothing else.
const LEVEL: Order = Order {
    lod: 0,
    ..Order::COORDINATES
};

/// Parameters that a SIMD16 message has room for (Mesa `get_sampler_lowered_simd_width`).
const WIDE: usize = 5;

/// Operation of a type, its parameters, and where they are.
const fn operation(kind: u32) -> Option<(Op, u8, &'static Order)> {
    Some(match kind {
        0 => (Op::Sample, 4, &COORDINATES),
        1 => (Op::SampleBias, 5, &LOD),
        2 => (Op::SampleLod, 5, &LOD),
        3 => (Op::SampleCompare, 5, &COMPARE),
        4 => (Op::SampleGradients, 10, &GRADIENTS),
        5 => (Op::SampleBiasCompare, 6, &COMPARE),
        6 => (Op::SampleLodCompare, 6, &COMPARE),
        7 => (Op::Ld, 5, &TEXEL),
        8 => (Op::Gather4, 4, &COORDINATES),
        9 => (Op::Lod, 4, &COORDINATES),
        10 => (Op::Resinfo, 1, &LEVEL),
        11 => (Op::Sampleinfo, 1, &LEVEL),
        12 => (Op::SampleKillpix, 4, &COORDINATES),
        _ => return None,
    })
}

/// Whether an operation exists in a mode: gradients do not fit SIMD16, killed pixels are told in SIMD8 alone, and between
/// the two samples of SIMD4x2 there are no gradients.
const fn exists(op: Op, simd: Simd) -> bool {
    match simd {
        Simd::Simd16 => !matches!(op, Op::SampleGradients | Op::SampleKillpix),
        Simd::Simd8 => true,
        Simd::Simd4x2 => !matches!(
            op,
            Op::Sample | Op::SampleKillpix | Op::SampleBias | Op::SampleBiasCompare | Op::Lod
        ),
    }
}

/// Parameters in so many registers; `None` if the message cannot have them.
const fn parameters(simd: Simd, registers: usize, most: u8) -> Option<u8> {
    let (count, most) = match simd {
        Simd::Simd16 if !registers.is_multiple_of(2) || registers / 2 > WIDE => return None,
        Simd::Simd16 => (registers / 2, most as usize),
        Simd::Simd8 => (registers, most as usize),
        // The last register may be filled up.
        Simd::Simd4x2 => (registers * 4, (most as usize).next_multiple_of(4)),
    };
    if count == 0 || count > most {
        return None;
    }
    Some(count as u8)
}

/// The request of a descriptor; `length` counts the registers of the message, header included.
pub const fn request(desc: u32, length: usize) -> Result<SamplerRequest, &'static str> {
    let header = desc & HEADER != 0;
    let simd = match desc >> 16 & 3 {
        0 => Simd::Simd4x2,
        1 => Simd::Simd8,
        2 => Simd::Simd16,
        _ => return Err("SIMD32/64 sampler message"),
    };
    let mut request = SamplerRequest {
        shape: None,
        order: &COORDINATES,
        header,
        surface: desc as u8,
        sampler: (desc >> 8 & 0xf) as u8,
        integer: false,
        // Mesa leaves the registers of coordinates that a map does not have as they are.
        indexed: false,
        selects: false,
    };
    if let Some((op, most, order)) = operation(desc >> 12 & 0xf)
        && exists(op, simd)
        && let Some(params) = parameters(simd, length.saturating_sub(header as usize), most)
    {
        request.shape = Some(Shape { op, simd, params });
        request.order = order;
        // The format of the surface is the format of the answer but here.
        request.integer = matches!(op, Op::Resinfo | Op::Sampleinfo);
    }
    Ok(request)
}
