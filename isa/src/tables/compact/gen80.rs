//! Index tables of the compacted form, Broadwell and Skylake.
//!
//! Values of Mesa 22.3.6 `brw_eu_compact.c`, which has them from the manuals' compaction tables.
//! The spans that a value fills are in `compact`.

use super::{Tables, Three, gen70};

#[rustfmt::skip]
pub(crate) static TABLES: Tables = Tables {
    control: gen70::CONTROL,
    datatype: [
        0x040001, 0x040040, 0x040041, 0x0400c1, 0x04015d, 0x0405dd,
        0x040741, 0x040745, 0x04075d, 0x041041, 0x043040, 0x043041,
        0x045145, 0x047144, 0x047145, 0x05c75d, 0x05d71d, 0x05d75c,
        0x05d75d, 0x05f75c, 0x00040c, 0x04005d, 0x040145, 0x041040,
        0x045144, 0x047104, 0x049209, 0x05775d, 0x05f75d, 0x04f34c,
        0x049248, 0x04b248,
    ],
    subreg: [
        0x0000, 0x0001, 0x0008, 0x000f, 0x0010, 0x0080, 0x0100, 0x0180,
        0x0200, 0x0210, 0x0280, 0x1000, 0x1001, 0x1081, 0x1082, 0x1083,
        0x1084, 0x1087, 0x1088, 0x108e, 0x108f, 0x1180, 0x11e8, 0x2000,
        0x2180, 0x3000, 0x3c87, 0x4000, 0x5000, 0x6000, 0x7000, 0x701c,
    ],
    source: gen70::SOURCE,
};

/// Controls of three sources: 26 bits, of which Broadwell has the low 24.
static THREE_CONTROL: [u32; 4] = [0x0806001, 0x0006001, 0x0008001, 0x0008021];

/// Operands of three sources: 49 bits.
#[rustfmt::skip]
static THREE_SOURCE: [u64; 4] = [
    0x727_2720f000,
    0x727_2720f002,
    0x727_2720f008,
    0x727_2720f020,
];

/// Both.
pub(crate) static THREE: Three = Three {
    control: &THREE_CONTROL,
    source: &THREE_SOURCE,
};
