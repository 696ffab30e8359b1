//! The words that a message has at one place, for the errors of the assembler.
//!
//! PRM: volume 4, 4.8.1.1-8.4.2. A test assembles the words of Gen4 to Ironlake, so that they are those of the descriptors'
//! tables. Fields that a text may leave out have no list.

use super::Verx10;

/// The words possible where one of a kind was expected, separated by commas.
pub(crate) fn of(generation: Verx10, expected: &str) -> Option<&'static str> {
    let version = generation.0;
    Some(match expected {
        "math function" => {
            "inv, log, exp, sqrt, rsq, sin, cos, sincos, pow, intdivmod, intdiv, intmod"
        }
        "sampler target format" => "F, UD, D",
        "sampler message" => {
            "sample, sample_b, sample_l, sample_c, sample_d, sample_b_c, sample_l_c, ld, gather4, lod, resinfo, .."
        }
        "sampler simd mode" => "SIMD4x2, SIMD8, SIMD16, SIMD32/64",
        "gateway subfunction" => "open, close, forward msg, ..",
        "DP read message type" if version < 45 => {
            "OWord Block Read, OWord Dual Block Read, Media Block Read, DWord Scattered Read"
        }
        "DP read message type" => {
            "OWord Block Read, Render Target UNORM Read, OWord Dual Block Read, AVC Loop Filter Read, Media Block Read, DWord Scattered Read"
        }
        "DP rc message type" => match version {
            0..60 => {
                "OWord block write, OWord dual block write, media block write, DWord scattered write, RT write, streamed VB write, RT UNORM write, flush render cache"
            }
            60..70 => {
                "OWORD block read, RT UNORM read, OWORD dual block read, media block read, OWORD unaligned block read, DWORD scattered read, DWORD atomic write, OWORD block write, OWORD dual block write, media block write, DWORD scattered write, RT write, streamed VB write, RT UNORM write"
            }
            70..90 => {
                "media block read, typed surface read, typed atomic op, memory fence, media block write, RT write, typed surface write"
            }
            90.. => "RT write, RT read",
        },
        "RT message type" => {
            "SIMD16, SIMD16/RepData, SIMD8/DualSrcLow, SIMD8/DualSrcHigh, SIMD8, SIMD8/ImageWrite, SIMD16/RepData-111"
        }
        "urb opcode" => match version {
            0..70 => "urb_write, ff_sync",
            70..80 => "write HWord, write OWord, read HWord, read OWord, atomic mov, atomic inc",
            80.. => {
                "write HWord, write OWord, read HWord, read OWord, atomic mov, atomic inc, atomic add, SIMD8 write, SIMD8 read"
            }
        },
        _ => return None,
    })
}
