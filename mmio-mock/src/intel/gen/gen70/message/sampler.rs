//! ValleyView's sampler messages: type in 16:12, SIMD mode in 18:17.
//!
//! Numbers of types: Mesa 22.3.6 brw_eu_defines.h (`GFX5_SAMPLER_MESSAGE_*` to `GFX7_*`), fields brw_eu.h `brw_sampler_desc`. Places of
//! parameters: brw_lower_logical_sends.cpp `lower_sampler_logical_send_gfx7`; of SIMD4x2, which has coordinates first as the generations
//! before have them, brw_vec4_nir.cpp `nir_emit_texture`. Parameters may end anywhere, those that are left out are 0.
//! Not modelled: sample+killpix, and of the SIMD32/64 messages all but sample_8x8 (sample_unorm, deinterlace).

use crate::intel::r#gen::gen50::message::HEADER;
use crate::intel::shared::sampler::blocks::BlocksRequest;
use crate::intel::shared::sampler::message::{Op, Order, SamplerRequest, Shape, Simd};

/// Coordinates alone; the fourth is the number of a cube.
const COORDINATES: Order = Order {
    cube: 3,
    ..Order::COORDINATES
};
/// Coordinates behind one parameter.
const SECOND: Order = Order {
    u: 1,
    v: 2,
    r: 3,
    cube: 4,
    ..Order::COORDINATES
};
/// Bias or LOD, then coordinates.
const LOD: Order = Order { lod: 0, ..SECOND };
/// A reference value, then coordinates.
const COMPARE: Order = Order {
    reference: 0,
    ..SECOND
};
/// A reference value, bias or LOD, then coordinates.
const LOD_COMPARE: Order = Order {
    reference: 0,
    lod: 1,
    u: 2,
    v: 3,
    r: 4,
    cube: 5,
    ..Order::COORDINATES
};
/// Each coordinate with its gradients.
const GRADIENTS: Order = Order {
    u: 0,
    v: 3,
    r: 6,
    cube: 9,
    dx: [1, 4, 7],
    dy: [2, 5, 8],
    ..Order::COORDINATES
};
/// The level of a texel behind its column.
const TEXEL: Order = Order {
    u: 0,
    lod: 1,
    v: 2,
    r: 3,
    ..Order::COORDINATES
};
/// Texel offsets behind the first two coordinates.
const OFFSETS: Order = Order {
    offsets: [2, 3],
    r: 4,
    ..Order::COORDINATES
};
/// The same behind a reference value.
const OFFSETS_COMPARE: Order = Order {
    reference: 0,
    u: 1,
    v: 2,
    offsets: [3, 4],
    r: 5,
    ..Order::COORDINATES
};
/// The number of a sample, an element of the control surface, then coordinates.
const SAMPLE: Order = Order {
    sample: 0,
    control: 1,
    u: 2,
    v: 3,
    r: 4,
    ..Order::COORDINATES
};
/// The number of a sample, then coordinates.
const SLICE: Order = Order {
    sample: 0,
    u: 1,
    v: 2,
    r: 3,
    ..Order::COORDINATES
};
/// A level and nothing else.
const LEVEL: Order = Order {
    lod: 0,
    ..Order::COORDINATES
};

/// The orders of SIMD4x2, which has four coordinates first.
mod paired {
    use super::{COORDINATES, Order};

    pub const LOD: Order = Order {
        lod: 4,
        ..COORDINATES
    };
    pub const COMPARE: Order = Order {
        reference: 4,
        lod: 5,
        ..COORDINATES
    };
    pub const GRADIENTS: Order = Order {
        dx: [4, 6, 8],
        dy: [5, 7, 9],
        ..COORDINATES
    };
    pub const TEXEL: Order = Order {
        lod: 3,
        ..Order::COORDINATES
    };
    pub const OFFSETS: Order = Order {
        offsets: [4, 5],
        ..Order::COORDINATES
    };
    /// The reference value has the place of the fourth coordinate.
    pub const OFFSETS_COMPARE: Order = Order {
        reference: 3,
        ..OFFSETS
    };
    pub const SAMPLE: Order = Order {
        sample: 4,
        control: 5,
        ..Order::COORDINATES
    };
}

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
        5 => (Op::SampleBiasCompare, 6, &LOD_COMPARE),
        6 => (Op::SampleLodCompare, 6, &LOD_COMPARE),
        7 => (Op::Ld, 4, &TEXEL),
        8 => (Op::Gather4, 4, &COORDINATES),
        9 => (Op::Lod, 4, &COORDINATES),
        10 => (Op::Resinfo, 1, &LEVEL),
        11 => (Op::Sampleinfo, 1, &LEVEL),
        16 => (Op::Gather4Compare, 5, &COMPARE),
        17 => (Op::Gather4Offsets, 5, &OFFSETS),
        18 => (Op::Gather4OffsetsCompare, 6, &OFFSETS_COMPARE),
        29 => (Op::LdControl, 4, &Order::COORDINATES),
        30 => (Op::LdSample, 5, &SAMPLE),
        31 => (Op::LdSlice, 4, &SLICE),
        _ => return None,
    })
}

/// The same of SIMD4x2, between whose two samples there are no gradients.
const fn paired(op: Op) -> Option<(u8, &'static Order)> {
    Some(match op {
        Op::SampleLod => (5, &paired::LOD),
        Op::SampleLodCompare => (6, &paired::COMPARE),
        Op::SampleGradients => (10, &paired::GRADIENTS),
        Op::Ld => (4, &paired::TEXEL),
        Op::Gather4 => (4, &COORDINATES),
        Op::Gather4Compare => (5, &paired::COMPARE),
        Op::Gather4Offsets => (6, &paired::OFFSETS),
        Op::Gather4OffsetsCompare => (6, &paired::OFFSETS_COMPARE),
        Op::Resinfo | Op::Sampleinfo => (1, &LEVEL),
        Op::LdControl => (4, &Order::COORDINATES),
        Op::LdSample | Op::LdSlice => (6, &paired::SAMPLE),
        _ => return None,
    })
}

/// Parameters in so many registers; `None` if the message cannot have them.
const fn parameters(op: Op, simd: Simd, registers: usize, most: u8) -> Option<u8> {
    let (count, most) = match simd {
        Simd::Simd16 if !registers.is_multiple_of(2) || registers / 2 > WIDE => return None,
        Simd::Simd16 => (registers / 2, most as usize),
        Simd::Simd8 => (registers, most as usize),
        // The last register may be filled up.
        Simd::Simd4x2 => (registers * 4, (most as usize).next_multiple_of(4)),
    };
    // A number of samples asks for nothing.
    if count == 0 && !matches!(op, Op::Sampleinfo) || count > most {
        return None;
    }
    // CAST: ten at most.
    Some(count as u8)
}

/// A message of SIMD32/64: the numbers of i965-va-driver's kernels (shaders/post_processing/gen7, "Sampler Message Descriptor").
const fn media(kind: u32) -> &'static str {
    match kind {
        10 => "sampler message sample_unorm+killpix (SIMD32/64)",
        12 => "sampler message sample_unorm (SIMD32/64)",
        _ => "SIMD32/64 sampler message",
    }
}

/// SIMD32/64.
const BLOCKS: u32 = 3;
/// The type of sample_8x8.
const SAMPLE_8X8: u32 = 11;

/// The request of a descriptor that asks for sample_8x8.
pub const fn blocks(desc: u32) -> Option<BlocksRequest> {
    if desc >> 17 & 3 != BLOCKS || desc >> 12 & 0x1f != SAMPLE_8X8 {
        return None;
    }
    Some(BlocksRequest {
        header: desc & HEADER != 0,
        // CAST: a byte, and a nibble.
        surface: desc as u8,
        sampler: (desc >> 8 & 0xf) as u8,
    })
}

/// The request of a descriptor; `length` counts the registers of the message, header included.
pub const fn request(desc: u32, length: usize) -> Result<SamplerRequest, &'static str> {
    let header = desc & HEADER != 0;
    let simd = match desc >> 17 & 3 {
        0 => Simd::Simd4x2,
        1 => Simd::Simd8,
        2 => Simd::Simd16,
        _ => return Err(media(desc >> 12 & 0x1f)),
    };
    let mut request = SamplerRequest {
        shape: None,
        order: &COORDINATES,
        header,
        // CAST: a byte, and a nibble.
        surface: desc as u8,
        sampler: (desc >> 8 & 0xf) as u8,
        integer: false,
        // A message has the coordinates of its map and no others.
        indexed: true,
        selects: true,
    };
    if desc >> 12 & 0x1f == 12 {
        return Err("sampler message sample+killpix");
    }
    let Some((op, most, order)) = operation(desc >> 12 & 0x1f) else {
        return Ok(request);
    };
    let (most, order) = match simd {
        Simd::Simd4x2 => match paired(op) {
            Some(paired) => paired,
            None => return Ok(request),
        },
        // Ten parameters of sixteen pixels each are too many.
        Simd::Simd16 if matches!(op, Op::SampleGradients) => return Ok(request),
        Simd::Simd16 | Simd::Simd8 => (most, order),
    };
    if let Some(params) = parameters(op, simd, length.saturating_sub(header as usize), most) {
        request.shape = Some(Shape { op, simd, params });
        request.order = order;
        // The format of the surface is the format of the answer but here.
        request.integer = matches!(op, Op::Resinfo | Op::Sampleinfo);
    }
    Ok(request)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    fn shape(desc: u32) -> (Shape, Order) {
        // CAST: four bits.
        let request = request(desc, (desc >> 25 & 0xf) as usize).unwrap();
        (request.shape.unwrap(), *request.order)
    }

    /// Descriptors of kernels that Mesa 22.3.6 has compiled for a Bay Trail, with what its disassembler says of them.
    #[test]
    fn captured_descriptors() {
        for (desc, op, simd, params) in [
            // ld_mcs SIMD8, ld2dms SIMD8; the same of SIMD16, of arrays and of plain maps.
            (0x0643_d001, Op::LdControl, Simd::Simd8, 3),
            (0x0a43_e001, Op::LdSample, Simd::Simd8, 5),
            (0x0885_d001, Op::LdControl, Simd::Simd16, 2),
            (0x1485_e001, Op::LdSample, Simd::Simd16, 5),
            (0x1085_e001, Op::LdSample, Simd::Simd16, 4),
            (0x0242_a001, Op::Resinfo, Simd::Simd8, 1),
            (0x0484_a001, Op::Resinfo, Simd::Simd16, 1),
        ] {
            let expected = Shape { op, simd, params };
            assert_eq!(shape(desc).0, expected, "{desc:#x}");
        }
    }

    /// 0x44EB400 and 0x48EB801 of i965-va-driver's shaders/post_processing/gen7: Y, then U and V of a picture.
    #[test]
    fn descriptors_of_the_video_driver() {
        let asks = |surface, sampler| BlocksRequest {
            header: true,
            surface,
            sampler,
        };
        assert_eq!(blocks(0x044e_b400), Some(asks(0, 4)));
        assert_eq!(blocks(0x048e_b801), Some(asks(1, 8)));
        assert_eq!(blocks(0x044e_c400), None);
        assert_eq!(blocks(0x044c_b400), None);
    }

    /// The same with other types.
    #[test]
    fn messages_of_blocks_are_named() {
        let name = |desc| request(desc, 2).unwrap_err();
        assert!(name(0x044e_c400).contains("sample_unorm "));
        assert!(name(0x044e_a400).contains("sample_unorm+killpix"));
    }

    /// The orders that `lower_sampler_logical_send_gfx7` names in its comments.
    #[test]
    fn parameters_stand_where_the_compiler_puts_them() {
        // SIMD8 of so many registers.
        let order = |kind: u32, registers: u32| shape(registers << 25 | 1 << 17 | kind << 12).1;
        // [ref], x, dPdx.x, dPdy.x, y, dPdx.y, dPdy.y, z, dPdx.z, dPdy.z
        let gradients = order(4, 9);
        assert_eq!([gradients.u, gradients.v, gradients.r], [0, 3, 6]);
        assert_eq!((gradients.dx, gradients.dy), ([1, 4, 7], [2, 5, 8]));
        // u, lod, v, r
        let texel = order(7, 4);
        assert_eq!([texel.u, texel.lod, texel.v, texel.r], [0, 1, 2, 3]);
        // u, v, offu, offv, r, behind a reference.
        let offsets = order(18, 6);
        assert_eq!(
            [offsets.reference, offsets.u, offsets.v, offsets.r],
            [0, 1, 2, 5]
        );
        assert_eq!(offsets.offsets, [3, 4]);
        // ref, lod, u, v, r, ai
        let compare = order(6, 6);
        assert_eq!([compare.reference, compare.lod, compare.u], [0, 1, 2]);
        assert_eq!([compare.v, compare.r, compare.cube], [3, 4, 5]);
    }

    #[test]
    fn messages_that_do_not_exist() {
        let none = |desc: u32, length| request(desc, length).unwrap().shape.is_none();
        // Implicit LOD in SIMD4x2; gradients in SIMD16; a sampler message of six parameters in SIMD16.
        assert!(none(0, 1));
        assert!(none(2 << 17 | 4 << 12, 10));
        assert!(none(2 << 17 | 6 << 12, 12));
        // Without parameters there is nothing but the number of samples.
        assert!(none(1 << 17 | HEADER, 1));
        assert!(!none(1 << 17 | 11 << 12 | HEADER, 1));
        assert!(request(3 << 17, 4).is_err());
    }
}
