//! Ironlake's sampler messages: SIMD mode in 17:16, type in 15:12.
//!
//! PRM: volume 4, 4.8.1.3 to 4.8.1.8. Numbers of types and places of parameters: Mesa 22.3.6 `brw_eu_defines.h`
//! (`GFX5_SAMPLER_MESSAGE_*`), `brw_lower_logical_sends.cpp` (`lower_sampler_logical_send_gfx5`), `brw_vec4_visitor.cpp`; the number of
//! sample+killpix is that of later parts (Intel Graphics Compiler, `VISASampler3DSubOpCode`). Parameters may end anywhere, those that are left out are 0.
//! Not modelled: the SIMD32/64 messages (sample_unorm, sample_8x8, deinterlace), which have a state of their own that no
//! public manual describes; arrays of cubes (parameter 3 is ignored).

use crate::intel::shared::sampler::message::{Op, Order, SamplerRequest, Shape, Simd};

/// Bias or LOD behind the coordinates and the array index.
const LOD: Order = Order {
    lod: 4,
    ..Order::COORDINATES
};
/// A reference value, then bias or LOD.
const COMPARE: Order = Order {
    reference: 4,
    lod: 5,
    ..Order::COORDINATES
};
/// Gradients, x and y in turn.
const GRADIENTS: Order = Order {
    dx: [4, 6, 8],
    dy: [5, 7, 9],
    ..Order::COORDINATES
};
/// The level of a texel.
const TEXEL: Order = Order {
    lod: 3,
    ..Order::COORDINATES
};
/// A level and nothing else.
const LEVEL: Order = Order {
    lod: 0,
    ..Order::COORDINATES
};

/// Parameters that a SIMD16 message has room for; Mesa splits messages of more (`get_sampler_lowered_simd_width`).
const WIDE: usize = 5;

/// Operation of a type, its parameters, and where they are.
const fn operation(kind: u32) -> Option<(Op, u8, &'static Order)> {
    Some(match kind {
        0 => (Op::Sample, 4, &Order::COORDINATES),
        1 => (Op::SampleBias, 5, &LOD),
        2 => (Op::SampleLod, 5, &LOD),
        3 => (Op::SampleCompare, 5, &COMPARE),
        4 => (Op::SampleGradients, 10, &GRADIENTS),
        5 => (Op::SampleBiasCompare, 6, &COMPARE),
        6 => (Op::SampleLodCompare, 6, &COMPARE),
        7 => (Op::Ld, 4, &TEXEL),
        9 => (Op::Lod, 4, &Order::COORDINATES),
        10 => (Op::Resinfo, 1, &LEVEL),
        12 => (Op::SampleKillpix, 4, &Order::COORDINATES),
        _ => return None,
    })
}

/// Whether an operation exists in a mode: gradients do not fit SIMD16, killed pixels are told in SIMD8 alone, and between
/// the two samples of SIMD4x2 there are no gradients (PRM 4.8.1.3, 4.8.1.4). Comparison without them asks for Force LOD
/// to Zero, which the sampler looks at.
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

/// Name of a SIMD32/64 message (intel-vaapi-driver shaders/post_processing/gen5_6: `AVS_IEF.inc`, `DNDI.inc`).
const fn media(desc: u32) -> &'static str {
    match desc >> 12 & 0xf {
        11 => "sampler message sample_8x8 (SIMD64), the adaptive video scaler",
        8 => "sampler message of the deinterlacer and denoiser (SIMD64)",
        _ => "SIMD32/64 sampler message",
    }
}

/// The request of a descriptor; `length` counts the registers of the message, header included.
pub const fn request(desc: u32, length: usize) -> Result<SamplerRequest, &'static str> {
    let header = desc & super::HEADER != 0;
    let simd = match desc >> 16 & 3 {
        0 => Simd::Simd4x2,
        1 => Simd::Simd8,
        2 => Simd::Simd16,
        _ => return Err(media(desc)),
    };
    let mut request = SamplerRequest {
        shape: None,
        order: &Order::COORDINATES,
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
        request.integer = matches!(op, Op::Resinfo);
    }
    Ok(request)
}
