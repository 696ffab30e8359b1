//! Fields of every shared function's descriptor by generation, and their names.
//!
//! PRM: volume 4, 4.8.1.1 (sampler), 5.10 (data port), 6.1.1.1 (math), 7.1.1 (gateway), 8.4.2 (URB);
//! later generations from Mesa 22.3.6 `brw_inst.h`, `brw_eu.h` and `brw_eu_defines.h`. Message
//! controls of the media and typed messages stay numbers.

use super::Verx10;
use crate::message::names::{
    AOP, AOP_FLOAT, DC0, DC1, GATEWAY, MATH, OWORDS, PERSPECTIVE, PIXEL_INTERPOLATOR, READ_40,
    READ_45, READ_CACHE, RENDER_60, RENDER_70, RENDER_90, RETURN_FORMAT, RT_SUBTYPE, SAMPLER,
    SCRATCH, SCRATCH_UNIT, SIMD, SIMD_MASK, SIMD_MODE, SWIZZLE, SWIZZLE_70, UNITS_40, UNITS_60,
    UNITS_70, UNITS_75, URB_40, URB_70, URB_80, WRITE,
};
use crate::message::part::Part::{
    Case, Flag, More, Name, NonZero, Number, Text, Tight, Unsupported, Word,
};
use crate::message::part::Radix::{Decimal, Hex, Hex2, Prefixed};
use crate::message::part::{Bits, Names, Part};

/// Where the fields of every message are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lengths {
    pub(crate) mlen: Bits,
    pub(crate) rlen: Bits,
    /// Gen4 has the unit in the descriptor.
    pub(crate) target: Option<Bits>,
    /// Gen5 on.
    pub(crate) header: Option<Bits>,
}

/// End of thread.
pub(crate) const EOT: u32 = 1 << 31;
/// Message length in the extended descriptor.
pub(crate) const EX_MLEN: Bits = Bits::new(9, 6);

pub(crate) const fn lengths(generation: Verx10) -> Lengths {
    if generation.0 < 50 {
        Lengths {
            mlen: Bits::new(23, 20),
            rlen: Bits::new(19, 16),
            target: Some(Bits::new(27, 24)),
            header: None,
        }
    } else {
        Lengths {
            mlen: Bits::new(28, 25),
            rlen: Bits::new(24, 20),
            target: None,
            header: Some(Bits::new(19, 19)),
        }
    }
}

/// Names of the units of a generation.
pub(crate) const fn units(generation: Verx10) -> &'static Names {
    match generation.0 {
        0..60 => &UNITS_40,
        60..70 => &UNITS_60,
        70..75 => &UNITS_70,
        75.. => &UNITS_75,
    }
}

const fn bits(hi: u8, lo: u8) -> Bits {
    Bits::new(hi, lo)
}

const BTI: Bits = bits(7, 0);
const CONTROL_7: Bits = bits(13, 8);

/// The pieces of a unit's function control.
pub(crate) const fn parts(generation: Verx10, sfid: u8) -> &'static [Part] {
    let version = generation.0;
    match sfid {
        1 if version < 60 => MATH_40,
        2 => match version {
            0..45 => SAMPLER_40,
            45..50 => SAMPLER_45,
            50..70 => SAMPLER_50,
            70..80 => SAMPLER_70,
            80.. => SAMPLER_80,
        },
        3 => match version {
            0..50 => GATEWAY_40,
            50..60 => GATEWAY_50,
            60.. => GATEWAY_60,
        },
        4 => match version {
            0..45 => READ_PORT_40,
            45..60 => READ_PORT_45,
            60..70 => CACHE_60,
            70..80 => CACHE_70,
            80.. => CACHE_80,
        },
        5 => match version {
            0..60 => WRITE_PORT_40,
            60..70 => RENDER_PORT_60,
            70..90 => RENDER_PORT_70,
            90.. => RENDER_PORT_90,
        },
        6 => match version {
            0..70 => URB_MESSAGE_40,
            70..80 => URB_MESSAGE_70,
            80.. => URB_MESSAGE_80,
        },
        7 => THREAD_SPAWNER,
        9 if version >= 60 => match version {
            0..70 => CACHE_60,
            70..80 => CACHE_70,
            80.. => CACHE_80,
        },
        10 if version >= 70 => DATA_CACHE,
        11 if version >= 70 => INTERPOLATOR,
        12 if version >= 80 => DATA_CACHE_1_80,
        12 if version >= 75 => DATA_CACHE_1_75,
        _ => &[Unsupported],
    }
}

const MATH_40: &[Part] = &[
    Name(bits(3, 0), &MATH),
    Flag(6, " sat"),
    Flag(4, " signed"),
    Flag(7, " scalar"),
    Flag(5, " partial_precision"),
];

const SAMPLER_40: &[Part] = &[
    Text(" (bti "),
    Number(BTI, Decimal),
    Text(", sampler "),
    Number(bits(11, 8), Decimal),
    Text(", msg_type "),
    Number(bits(15, 14), Decimal),
    Text(", "),
    Word(bits(13, 12), &RETURN_FORMAT),
    Text(")"),
];
const SAMPLER_45: &[Part] = &[
    Text(" (bti "),
    Number(BTI, Decimal),
    Text(", sampler "),
    Number(bits(11, 8), Decimal),
    Text(", msg_type "),
    Number(bits(15, 12), Decimal),
    Text(", )"),
];

macro_rules! sampler {
    ($ty:expr, $mode:expr, $($half:expr)?) => {
        &[
            Name($ty, &SAMPLER),
            Name($mode, &SIMD_MODE),
            $(Flag($half, " HP"),)?
            Text(" Surface = "),
            Number(BTI, Decimal),
            Text(" Sampler = "),
            Number(bits(11, 8), Decimal),
        ]
    };
}
const SAMPLER_50: &[Part] = sampler!(bits(15, 12), bits(17, 16),);
const SAMPLER_70: &[Part] = sampler!(bits(16, 12), bits(18, 17),);
const SAMPLER_80: &[Part] = sampler!(
    bits(16, 12),
    Bits {
        hi: 18,
        lo: 17,
        top: Some(29)
    },
    30
);

const GATEWAY_40: &[Part] = &[
    Text(" ("),
    Word(bits(1, 0), &GATEWAY),
    Text(")"),
    More(&[Flag(14, " ack"), Flag(15, " notify")]),
];
const GATEWAY_50: &[Part] = &[
    Text(" ("),
    Word(bits(1, 0), &GATEWAY),
    Text(")"),
    More(&[Flag(14, " ack"), NonZero(bits(16, 15), " notify ")]),
];
const GATEWAY_60: &[Part] = &[
    Text(" ("),
    Word(bits(2, 0), &GATEWAY),
    Text(")"),
    More(&[Flag(14, " ack"), NonZero(bits(16, 15), " notify ")]),
];

macro_rules! read_port {
    ($ty:expr, $names:expr, $control:expr) => {
        &[
            Name($ty, $names),
            Text(" MsgCtrl = "),
            Number($control, Prefixed),
            Text(" Surface = "),
            Number(BTI, Decimal),
            More(&[Name(bits(15, 14), &READ_CACHE)]),
        ]
    };
}
const READ_PORT_40: &[Part] = read_port!(bits(13, 12), &READ_40, bits(11, 8));
const READ_PORT_45: &[Part] = read_port!(bits(13, 11), &READ_45, bits(10, 8));

macro_rules! cache {
    ($ty:expr, $control:expr, $($commit:tt)*) => {
        &[
            Text(" (bti "),
            Number(BTI, Decimal),
            Text(", msg_ctrl "),
            Number($control, Decimal),
            Text(", msg_type "),
            Number($ty, Decimal),
            $($commit)*
            Text(")"),
        ]
    };
}
const CACHE_60: &[Part] = cache!(
    bits(16, 13),
    bits(12, 8),
    Text(", write_commit "),
    Number(bits(17, 17), Decimal),
);
const CACHE_70: &[Part] = cache!(bits(17, 14), CONTROL_7, Text(", write_commit 0"),);
const CACHE_80: &[Part] = cache!(bits(18, 14), CONTROL_7, Text(", write_commit 0"),);

/// Render target write, or any other write: its control stays a number.
macro_rules! write_port {
    ($ty:expr, $names:expr, $rt:expr, $control:expr, [$($rt_flag:expr),*], [$($more:expr),*]) => {
        &[
            Name($ty, $names),
            Case(
                $ty,
                &[(
                    &[$rt],
                    &[Name(bits(10, 8), &RT_SUBTYPE), $($rt_flag),*],
                )],
                &[Text(" MsgCtrl = "), Number($control, Prefixed), $($more),*],
            ),
            Text(" Surface = "),
            Number(BTI, Decimal),
        ]
    };
}
const WRITE_PORT_40: &[Part] = write_port!(
    bits(14, 12),
    &WRITE,
    4,
    bits(11, 8),
    [Flag(11, " LastRT"), Flag(15, " WriteCommit")],
    [More(&[Flag(15, " WriteCommit")])]
);
const RENDER_PORT_60: &[Part] = write_port!(
    bits(16, 13),
    &RENDER_60,
    12,
    bits(12, 8),
    [
        Flag(11, " Hi"),
        Flag(12, " LastRT"),
        Flag(17, " WriteCommit")
    ],
    [More(&[Flag(17, " WriteCommit")])]
);
const RENDER_PORT_70: &[Part] = write_port!(
    bits(17, 14),
    &RENDER_70,
    12,
    CONTROL_7,
    [Flag(11, " Hi"), Flag(12, " LastRT")],
    []
);
const RENDER_PORT_90: &[Part] = write_port!(
    bits(17, 14),
    &RENDER_90,
    12,
    CONTROL_7,
    [Flag(11, " Hi"), Flag(12, " LastRT")],
    []
);

const URB_MESSAGE_40: &[Part] = &[
    Text(" offset "),
    Number(bits(9, 4), Decimal),
    Name(bits(3, 0), &URB_40),
    Name(bits(11, 10), &SWIZZLE),
    Flag(13, " allocate"),
    Flag(14, " used"),
    Flag(15, " complete"),
];
const URB_MESSAGE_70: &[Part] = &[
    Text(" offset "),
    Number(bits(13, 3), Decimal),
    Name(bits(2, 0), &URB_70),
    Flag(16, " per-slot"),
    Name(bits(14, 14), &SWIZZLE_70),
    Flag(15, " complete"),
];
const URB_MESSAGE_80: &[Part] = &[
    Text(" offset "),
    Number(bits(14, 4), Decimal),
    Name(bits(3, 0), &URB_80),
    Flag(17, " per-slot"),
    Case(
        bits(3, 0),
        &[(&[7, 8], &[Flag(15, " masked")])],
        &[Name(bits(15, 15), &SWIZZLE_70)],
    ),
];

const THREAD_SPAWNER: &[Part] = &[More(&[
    Flag(0, " spawn"),
    Flag(1, " child"),
    Flag(4, " resource"),
])];

const OWORD_BLOCK: &[Part] = &[
    Text("owords = "),
    Word(bits(10, 8), &OWORDS),
    Text(", aligned = "),
    Number(bits(12, 11), Decimal),
];

/// Scratch messages, category 1, have no text in Mesa.
const DATA_CACHE: &[Part] = &[
    Text(" ("),
    Tight,
    Flag(18, "scratch"),
    Case(
        bits(18, 18),
        &[(&[1], SCRATCH_MESSAGE)],
        &[
            Name(bits(17, 14), &DC0),
            Text(", bti "),
            Number(BTI, Decimal),
            Text(", "),
            Case(
                bits(17, 14),
                &[
                    (
                        &[6],
                        &[
                            Name(bits(11, 8), &AOP),
                            More(&[Flag(12, " SIMD8"), Flag(13, " return")]),
                        ],
                    ),
                    (&[0, 8], OWORD_BLOCK),
                ],
                &[Number(CONTROL_7, Decimal)],
            ),
        ],
    ),
    Text(")"),
];
const SCRATCH_MESSAGE: &[Part] = &[
    Text(" "),
    Word(bits(17, 17), &SCRATCH),
    Text(" "),
    Name(bits(16, 16), &SCRATCH_UNIT),
    Flag(15, " invalidate"),
    Text(", offset "),
    Number(bits(11, 0), Decimal),
    Text(", size "),
    Number(bits(13, 12), Decimal),
];

macro_rules! data_cache_1 {
    ($ty:expr) => {
        &[
            Text(" ("),
            Tight,
            Name($ty, &DC1),
            Text(", Surface = "),
            Number(BTI, Decimal),
            Text(", "),
            Case(
                $ty,
                &[
                    // Untyped, typed, counter.
                    (
                        &[2, 6, 11],
                        &[
                            Word(bits(12, 12), &SIMD),
                            Text(","),
                            Name(bits(11, 8), &AOP),
                            More(&[Flag(13, " return")]),
                        ],
                    ),
                    // The same for 4x2.
                    (
                        &[3, 7, 12],
                        &[Name(bits(11, 8), &AOP), More(&[Flag(13, " return")])],
                    ),
                    (
                        &[0x12],
                        &[
                            Name(bits(11, 8), &AOP),
                            More(&[Flag(12, " 64bit"), Flag(13, " return")]),
                        ],
                    ),
                    // Surface reads and writes.
                    (
                        &[1, 5, 9, 13, 0x11, 0x19],
                        &[
                            Word(bits(13, 12), &SIMD_MASK),
                            Text(", Mask = "),
                            Number(bits(11, 8), Hex),
                        ],
                    ),
                    (
                        &[0x1b, 0x1d],
                        &[
                            Word(bits(12, 12), &SIMD),
                            Text(","),
                            Name(bits(11, 8), &AOP_FLOAT),
                            More(&[Flag(13, " return")]),
                        ],
                    ),
                    (&[0x14, 0x15], OWORD_BLOCK),
                ],
                &[Number(CONTROL_7, Hex)],
            ),
            Text(")"),
        ]
    };
}
const DATA_CACHE_1_75: &[Part] = data_cache_1!(bits(17, 14));
const DATA_CACHE_1_80: &[Part] = data_cache_1!(bits(18, 14));

const INTERPOLATOR: &[Part] = &[
    Text(" ("),
    Word(bits(14, 14), &PERSPECTIVE),
    Text(", "),
    Word(bits(13, 12), &PIXEL_INTERPOLATOR),
    Text(", "),
    Number(BTI, Hex2),
    Text(")"),
    More(&[Flag(16, " SIMD16"), Flag(11, " Hi")]),
];
