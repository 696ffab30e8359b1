//! Message descriptors of 965 and GM965: bits 15:0, the function control.
//!
//! PRM: volume 4, 4.8.1, 5.10.1, 6.1.1, 7.1.1, 8.4.2. The thread spawner's: intel-vaapi-driver ILDB_header.inc (07100001h
//! spawns a child, 07100011h lets a root go, 87100000h ends a root, 87100012h a child that keeps the URB entry).

use crate::intel::shared::context::sfid;
use crate::intel::shared::dataport::request::{
    Cache, Form, LineOverride, OwordBlock, ReadKind, ReadRequest, WriteKind, WriteRequest,
};
use crate::intel::shared::gateway::{GatewayOp, GatewayRequest};
use crate::intel::shared::math::{Function, MathRequest};
use crate::intel::shared::message::{Descriptor, MessageSet, Request};
use crate::intel::shared::sampler::message::{ABSENT, Op, Order, SamplerRequest, Shape, Simd};
use crate::intel::shared::spawner::SpawnerRequest;
use crate::intel::shared::urb_msg::{Swizzle, UrbOp, UrbRequest};

/// The messages of these devices.
#[derive(Debug)]
pub struct Messages;

impl MessageSet for Messages {
    fn request(&self, message: Descriptor) -> Result<Request, &'static str> {
        let Descriptor {
            function, length, ..
        } = message;
        Ok(request(function, message.control(), usize::from(length)))
    }
}

/// Whether a bit of a function control is set.
pub const fn bit(control: u16, bit: u32) -> bool {
    control >> bit & 1 != 0
}

/// The request of a function control; `length` counts the registers of the message, header included.
#[inline]
pub const fn request(function: u8, control: u16, length: usize) -> Request {
    match function {
        sfid::NULL => Request::Null,
        sfid::MATH => Request::Math(math(control)),
        sfid::SAMPLER => Request::Sampler(sampler(control, length)),
        sfid::GATEWAY => Request::Gateway(gateway(control)),
        sfid::DATAPORT_READ => Request::Read(read(control)),
        sfid::DATAPORT_WRITE => Request::Write(write(control)),
        sfid::URB => Request::Urb(urb(control)),
        sfid::SPAWNER => Request::Spawner(spawner(control)),
        _ => Request::Unknown,
    }
}

/// Extended math.
pub const fn math(control: u16) -> MathRequest {
    MathRequest {
        function: Function::from_code(control),
        signed: bit(control, 4),
        saturate: bit(control, 6),
        scalar: bit(control, 7),
    }
}

/// Sampling engine: type in 15:14, return format in 13:12 (1x: UINT32 or SINT32).
pub const fn sampler(control: u16, length: usize) -> SamplerRequest {
    SamplerRequest {
        shape: shape(control >> 14, length),
        order: order(control >> 14, length),
        header: true,
        surface: control as u8,
        sampler: (control >> 8 & 0xf) as u8,
        integer: bit(control, 13),
        indexed: true,
        selects: false,
    }
}

/// Behind the coordinates: bias, LOD or level.
const LOD: Order = Order {
    lod: 3,
    ..Order::COORDINATES
};
/// A reference value.
const COMPARE: Order = Order {
    reference: 3,
    ..Order::COORDINATES
};
/// Bias or LOD, then a reference value.
const LOD_COMPARE: Order = Order {
    lod: 3,
    reference: 4,
    ..Order::COORDINATES
};
/// Gradients of three coordinates.
const GRADIENTS: Order = Order {
    dx: [3, 4, 5],
    dy: [6, 7, 8],
    ..Order::COORDINATES
};
/// Two coordinates and their gradients.
const GRADIENTS_2D: Order = Order {
    r: ABSENT,
    dx: [2, 3, ABSENT],
    dy: [4, 5, ABSENT],
    ..Order::COORDINATES
};
/// A level alone, of SIMD16 resinfo. A SIMD4x2 message has it in its place behind the coordinates; the table prints it
/// without its column. Mesa's vertex shaders write nothing else, and a G41 passes piglit's `vs-textureSize-*`.
const LEVEL: Order = Order {
    lod: 0,
    ..Order::COORDINATES
};

/// Places of parameters, by message type and length.
const fn order(kind: u16, length: usize) -> &'static Order {
    match (kind & 3, length) {
        (0 | 1, 6) | (1, 3) => &LOD_COMPARE,
        (0, 2) | (2, 9) => &COMPARE,
        (2, 7) => &GRADIENTS_2D,
        (2, 10 | 4) => &GRADIENTS,
        (2, 3) => &LEVEL,
        _ => &LOD,
    }
}

/// Looks up message type (bits 15:14) and message length, header included.
pub const fn shape(kind: u16, length: usize) -> Option<Shape> {
    use Op::{
        Ld, Resinfo, Sample, SampleBias, SampleBiasCompare, SampleCompare, SampleGradients,
        SampleKillpix, SampleLod, SampleLodCompare,
    };
    use Simd::{Simd4x2, Simd8, Simd16};
    let (op, simd, params) = match (kind & 3, length) {
        (0, 3) => (Sample, Simd16, 1),
        (0, 5) => (Sample, Simd16, 2),
        (0, 7) => (Sample, Simd16, 3),
        (0, 4) => (Sample, Simd8, 3),
        (0, 9) => (SampleBias, Simd16, 4),
        (0, 2) => (SampleCompare, Simd4x2, 4),
        (0, 6) => (SampleBiasCompare, Simd8, 5),
        (1, 4) => (SampleKillpix, Simd8, 3),
        (1, 9) => (SampleLod, Simd16, 4),
        (1, 2) => (SampleLod, Simd4x2, 4),
        (1, 6) => (SampleLodCompare, Simd8, 5),
        (1, 3) => (SampleLodCompare, Simd4x2, 5),
        (2, 9) => (SampleCompare, Simd16, 4),
        (2, 7) => (SampleGradients, Simd8, 6),
        (2, 10) => (SampleGradients, Simd8, 9),
        (2, 4) => (SampleGradients, Simd4x2, 9),
        (2, 3) => (Resinfo, Simd16, 1),
        (2, 2) => (Resinfo, Simd4x2, 4),
        (3, 3) => (Ld, Simd16, 1),
        (3, 5) => (Ld, Simd16, 2),
        (3, 7) => (Ld, Simd16, 3),
        (3, 4) => (Ld, Simd8, 3),
        (3, 9) => (Ld, Simd16, 4),
        (3, 2) => (Ld, Simd4x2, 4),
        _ => return None,
    };
    Some(Shape { op, simd, params })
}

/// Message gateway.
pub const fn gateway(control: u16) -> GatewayRequest {
    GatewayRequest {
        op: match control & 3 {
            0 => GatewayOp::Open,
            1 => GatewayOp::Close,
            2 => GatewayOp::Forward,
            _ => GatewayOp::Reserved,
        },
        acknowledge: bit(control, 14),
        notify: bit(control, 15),
        // PRM 7.1.4.1: four threads an EU.
        tid: 3,
    }
}

/// OWord block: size in 10:8.
pub const fn block(control: u16) -> Option<OwordBlock> {
    let (count, high) = match control >> 8 & 7 {
        0 => (1, false),
        1 => (1, true),
        2 => (2, false),
        3 => (4, false),
        4 => (8, false),
        _ => return None,
    };
    Some(OwordBlock { count, high })
}

/// OWord dual block: OWords of each block in 9:8.
pub const fn dual_block(control: u16) -> Option<u8> {
    match control >> 8 & 3 {
        0 => Some(1),
        2 => Some(4),
        _ => None,
    }
}

/// DWord scattered: registers of offsets in 9:8.
pub const fn scattered(control: u16) -> Option<u8> {
    match control >> 8 & 3 {
        2 => Some(1),
        3 => Some(2),
        _ => None,
    }
}

/// Media block: override of the line stride in 10:8.
pub const fn lines(control: u16) -> Option<LineOverride> {
    if !bit(control, 10) {
        return None;
    }
    Some(LineOverride {
        stride: bit(control, 9),
        offset: bit(control, 8),
    })
}

/// Target cache of a read, in 15:14.
pub const fn cache(control: u16) -> Cache {
    match control >> 14 {
        0 => Cache::Data,
        1 => Cache::Render,
        2 => Cache::Sampler,
        _ => Cache::Reserved,
    }
}

/// Data port, read: cache in 15:14, type in 13:12.
pub const fn read(control: u16) -> ReadRequest {
    ReadRequest {
        surface: control as u8,
        cache: cache(control),
        elements: false,
        kind: match control >> 12 & 3 {
            0 => ReadKind::Block(block(control)),
            1 => ReadKind::DualBlock(dual_block(control)),
            2 => ReadKind::Media(lines(control)),
            _ => ReadKind::Scattered(scattered(control)),
        },
    }
}

const fn form(control: u16) -> Option<Form> {
    Some(match control >> 8 & 7 {
        0 => Form::Single16,
        1 => Form::Replicated,
        2 => Form::Dual8 { upper: false },
        3 => Form::Dual8 { upper: true },
        4 => Form::Single8,
        _ => return None,
    })
}

/// Data port, write: commit in 15, type in 14:12.
pub const fn write(control: u16) -> WriteRequest {
    WriteRequest {
        surface: control as u8,
        commit: bit(control, 15),
        elements: false,
        kind: match control >> 12 & 7 {
            0 => WriteKind::Block(block(control)),
            1 => WriteKind::DualBlock(dual_block(control)),
            2 => WriteKind::Media(lines(control)),
            3 => WriteKind::Scattered(scattered(control)),
            4 => WriteKind::RenderTarget {
                form: form(control),
                last: bit(control, 11),
            },
            7 => WriteKind::Flush,
            _ => WriteKind::Reserved,
        },
    }
}

/// URB.
pub const fn urb(control: u16) -> UrbRequest {
    UrbRequest {
        op: match control & 0xf {
            0 => Some(UrbOp::Write),
            _ => None,
        },
        offset: control >> 4 & 0x3f,
        swizzle: match control >> 10 & 3 {
            0 => Some(Swizzle::None),
            1 => Some(Swizzle::Interleaved),
            2 => Some(Swizzle::Transposed),
            _ => None,
        },
        allocate: bit(control, 13),
        used: bit(control, 14),
        complete: bit(control, 15),
    }
}

/// Thread spawner.
pub const fn spawner(control: u16) -> SpawnerRequest {
    SpawnerRequest {
        spawn: bit(control, 0),
        child: bit(control, 1),
        select: bit(control, 4),
        reserved: control & !0x13 != 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_of_the_table_decodes_to_its_length() {
        // Header, then two, one or a quarter register a parameter.
        for kind in 0..4 {
            for length in 0..16 {
                let Some(shape) = super::shape(kind, length) else {
                    continue;
                };
                let params = usize::from(shape.params);
                let want = 1 + match shape.simd {
                    Simd::Simd16 => params * 2,
                    Simd::Simd8 => params,
                    Simd::Simd4x2 => params.div_ceil(4),
                };
                assert_eq!(length, want, "type {kind} {shape:?}");
            }
        }
        let rows = (0..4).flat_map(|k| (0..16).filter_map(move |l| shape(k, l)));
        assert_eq!(rows.count(), 24, "PRM 4.8.1.3 lists 24 messages");
    }
}
