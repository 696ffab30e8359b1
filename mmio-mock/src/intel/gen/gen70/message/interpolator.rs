//! Descriptors of the pixel interpolator.
//!
//! Mesa 22.3.6 brw_eu.h `brw_pixel_interp_desc`, brw_eu_defines.h (`GFX7_PIXEL_INTERPOLATOR_LOC_*`): data in 7:0, slot group in 11, type in
//! 13:12, linear weights in 14, sixteen channels in 16. Data of a shared offset: brw_fs_nir.cpp (across in 3:0, down in 7:4); of a sample: its
//! number in 7:4.

use crate::intel::shared::interpolator::{InterpolatorRequest, Place};
use crate::intel::shared::message::Request;

/// Four bits with a sign.
const fn offset(bits: u32) -> i8 {
    // CAST: four bits, moved to the upper end of a byte.
    ((bits as u8) << 4) as i8 >> 4
}

/// A request.
pub const fn request(desc: u32) -> Request {
    let place = match desc >> 12 & 3 {
        0 => Place::Offset(offset(desc), offset(desc >> 4)),
        // CAST: four bits.
        1 => Place::Sample((desc >> 4 & 0xf) as u8),
        2 => Place::Centroid,
        _ => Place::Offsets,
    };
    Request::Interpolator(InterpolatorRequest {
        place,
        linear: desc >> 14 & 1 == 1,
        sixteen: desc >> 16 & 1 == 1,
        upper: desc >> 11 & 1 == 1,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_by_type() {
        let of = |desc| match request(desc) {
            Request::Interpolator(request) => request,
            other => unreachable!("{other:?}"),
        };
        // interpolateAtSample(v, 3) of sixteen channels, mlen 1 rlen 4.
        let sample = of(0x0241_1030);
        assert_eq!((sample.place, sample.sixteen), (Place::Sample(3), true));
        // interpolateAtOffset(v, vec2(-0.5, 0.4375)) of eight channels.
        let moved = of(0x0220_0000 | 7 << 4 | 8);
        assert_eq!((moved.place, moved.sixteen), (Place::Offset(-8, 7), false));
        // A noperspective input with offsets of its own, mlen 4 rlen 4.
        let own = of(0x0841_7000);
        assert_eq!((own.place, own.linear), (Place::Offsets, true));
        assert_eq!(of(0x0241_2800).place, Place::Centroid);
        assert!(of(0x0241_2800).upper);
    }
}
