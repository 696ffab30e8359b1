//! Names of message types and other coded fields of descriptors.
//!
//! PRM: volume 4, 4.8.1.1-8.4.2; numbers of later generations from Mesa 22.3.6 `brw_eu_defines.h`,
//! spelling from `brw_disasm.c`. Codes that only later generations than Gen9 have are left out.

use super::part::Names;

pub(crate) static MATH: Names = Names {
    what: "math function",
    list: &[
        (1, "inv"),
        (2, "log"),
        (3, "exp"),
        (4, "sqrt"),
        (5, "rsq"),
        (6, "sin"),
        (7, "cos"),
        (8, "sincos"),
        (9, "fdiv"),
        (10, "pow"),
        (11, "intdivmod"),
        (12, "intdiv"),
        (13, "intmod"),
        (14, "invm"),
        (15, "rsqrtm"),
    ],
};

pub(crate) static RETURN_FORMAT: Names = Names {
    what: "sampler target format",
    list: &[(0, "F"), (2, "UD"), (3, "D")],
};

pub(crate) static SAMPLER: Names = Names {
    what: "sampler message",
    list: &[
        (0, "sample"),
        (1, "sample_b"),
        (2, "sample_l"),
        (3, "sample_c"),
        (4, "sample_d"),
        (5, "sample_b_c"),
        (6, "sample_l_c"),
        (7, "ld"),
        (8, "gather4"),
        (9, "lod"),
        (10, "resinfo"),
        (11, "sampleinfo"),
        (16, "gather4_c"),
        (17, "gather4_po"),
        (18, "gather4_po_c"),
        (20, "sample_d_c"),
        (24, "sample_lz"),
        (25, "sample_c_lz"),
        (26, "ld_lz"),
        (28, "ld2dms_w"),
        (29, "ld_mcs"),
        (30, "ld2dms"),
        (31, "ld2dss"),
    ],
};

pub(crate) static SIMD_MODE: Names = Names {
    what: "sampler simd mode",
    list: &[
        (0, "SIMD4x2"),
        (1, "SIMD8"),
        (2, "SIMD16"),
        (3, "SIMD32/64"),
        (5, "SIMD8H"),
        (6, "SIMD16H"),
    ],
};

pub(crate) static GATEWAY: Names = Names {
    what: "gateway subfunction",
    list: &[
        (0, "open"),
        (1, "close"),
        (2, "forward msg"),
        (3, "get timestamp"),
        (4, "barrier msg"),
        (5, "update state"),
        (6, "mmio read/write"),
    ],
};

pub(crate) static READ_40: Names = Names {
    what: "DP read message type",
    list: &[
        (0, "OWord Block Read"),
        (1, "OWord Dual Block Read"),
        (2, "Media Block Read"),
        (3, "DWord Scattered Read"),
    ],
};

pub(crate) static READ_45: Names = Names {
    what: "DP read message type",
    list: &[
        (0, "OWord Block Read"),
        (1, "Render Target UNORM Read"),
        (2, "OWord Dual Block Read"),
        (3, "AVC Loop Filter Read"),
        (4, "Media Block Read"),
        (6, "DWord Scattered Read"),
    ],
};

pub(crate) static READ_CACHE: Names = Names {
    what: "target cache",
    list: &[(0, ""), (1, "render_cache"), (2, "sampler_cache")],
};

pub(crate) static WRITE: Names = Names {
    what: "DP rc message type",
    list: &[
        (0, "OWord block write"),
        (1, "OWord dual block write"),
        (2, "media block write"),
        (3, "DWord scattered write"),
        (4, "RT write"),
        (5, "streamed VB write"),
        (6, "RT UNORM write"),
        (7, "flush render cache"),
    ],
};

pub(crate) static RENDER_60: Names = Names {
    what: "DP rc message type",
    list: &[
        (0, "OWORD block read"),
        (1, "RT UNORM read"),
        (2, "OWORD dual block read"),
        (4, "media block read"),
        (5, "OWORD unaligned block read"),
        (6, "DWORD scattered read"),
        (7, "DWORD atomic write"),
        (8, "OWORD block write"),
        (9, "OWORD dual block write"),
        (10, "media block write"),
        (11, "DWORD scattered write"),
        (12, "RT write"),
        (13, "streamed VB write"),
        (14, "RT UNORM write"),
    ],
};

pub(crate) static RENDER_70: Names = Names {
    what: "DP rc message type",
    list: &[
        (4, "media block read"),
        (5, "typed surface read"),
        (6, "typed atomic op"),
        (7, "memory fence"),
        (10, "media block write"),
        (12, "RT write"),
        (13, "typed surface write"),
    ],
};

pub(crate) static RENDER_90: Names = Names {
    what: "DP rc message type",
    list: &[(12, "RT write"), (13, "RT read")],
};

pub(crate) static RT_SUBTYPE: Names = Names {
    what: "RT message type",
    list: &[
        (0, "SIMD16"),
        (1, "SIMD16/RepData"),
        (2, "SIMD8/DualSrcLow"),
        (3, "SIMD8/DualSrcHigh"),
        (4, "SIMD8"),
        (5, "SIMD8/ImageWrite"),
        (7, "SIMD16/RepData-111"),
    ],
};

pub(crate) static URB_40: Names = Names {
    what: "urb opcode",
    list: &[(0, "urb_write"), (1, "ff_sync")],
};

pub(crate) static URB_70: Names = Names {
    what: "urb opcode",
    list: &[
        (0, "write HWord"),
        (1, "write OWord"),
        (2, "read HWord"),
        (3, "read OWord"),
        (4, "atomic mov"),
        (5, "atomic inc"),
    ],
};

pub(crate) static URB_80: Names = Names {
    what: "urb opcode",
    list: &[
        (0, "write HWord"),
        (1, "write OWord"),
        (2, "read HWord"),
        (3, "read OWord"),
        (4, "atomic mov"),
        (5, "atomic inc"),
        (6, "atomic add"),
        (7, "SIMD8 write"),
        (8, "SIMD8 read"),
    ],
};

pub(crate) static SWIZZLE: Names = Names {
    what: "urb swizzle",
    list: &[(0, ""), (1, "interleave"), (2, "transpose")],
};

pub(crate) static SWIZZLE_70: Names = Names {
    what: "urb swizzle",
    list: &[(0, ""), (1, "interleave")],
};

pub(crate) static OWORDS: Names = Names {
    what: "block size",
    list: &[(0, "1-low"), (1, "1-high"), (2, "2"), (3, "4"), (4, "8")],
};

pub(crate) static DC0: Names = Names {
    what: "DP DC0 message type",
    list: &[
        (0, "DC OWORD block read"),
        (1, "DC unaligned OWORD block read"),
        (2, "DC OWORD dual block read"),
        (3, "DC DWORD scattered read"),
        (4, "DC byte scattered read"),
        (5, "DC untyped surface read"),
        (6, "DC untyped atomic"),
        (7, "DC mfence"),
        (8, "DC OWORD block write"),
        (10, "DC OWORD dual block write"),
        (11, "DC DWORD scatterd write"),
        (12, "DC byte scattered write"),
        (13, "DC untyped surface write"),
    ],
};

pub(crate) static DC1: Names = Names {
    what: "DP DC1 message type",
    list: &[
        (1, "untyped surface read"),
        (2, "DC untyped atomic op"),
        (3, "DC untyped 4x2 atomic op"),
        (4, "DC media block read"),
        (5, "DC typed surface read"),
        (6, "DC typed atomic"),
        (7, "DC typed 4x2 atomic op"),
        (9, "DC untyped surface write"),
        (10, "DC media block write"),
        (11, "DC atomic counter op"),
        (12, "DC 4x2 atomic counter op"),
        (13, "DC typed surface write"),
        (0x10, "DC A64 scattered read"),
        (0x11, "DC A64 untyped surface read"),
        (0x12, "DC A64 untyped atomic op"),
        (0x14, "DC A64 oword block read"),
        (0x15, "DC A64 oword block write"),
        (0x19, "DC A64 untyped surface write"),
        (0x1a, "DC A64 scattered write"),
        (0x1b, "DC untyped atomic float op"),
        (0x1d, "DC A64 untyped atomic float op"),
    ],
};

pub(crate) static AOP: Names = Names {
    what: "atomic op",
    list: &[
        (1, "and"),
        (2, "or"),
        (3, "xor"),
        (4, "mov"),
        (5, "inc"),
        (6, "dec"),
        (7, "add"),
        (8, "sub"),
        (9, "revsub"),
        (10, "imax"),
        (11, "imin"),
        (12, "umax"),
        (13, "umin"),
        (14, "cmpwr"),
        (15, "predec"),
    ],
};

pub(crate) static AOP_FLOAT: Names = Names {
    what: "atomic float op",
    list: &[(1, "fmax"), (2, "fmin"), (3, "fcmpwr"), (4, "fadd")],
};

pub(crate) static SIMD: Names = Names {
    what: "simd mode",
    list: &[(0, "SIMD16"), (1, "SIMD8")],
};

pub(crate) static SIMD_MASK: Names = Names {
    what: "simd mode",
    list: &[(0, "SIMD4x2"), (1, "SIMD16"), (2, "SIMD8")],
};

pub(crate) static SCRATCH: Names = Names {
    what: "scratch message type",
    list: &[(0, "read"), (1, "write")],
};

pub(crate) static SCRATCH_UNIT: Names = Names {
    what: "scratch unit",
    list: &[(0, "OWord"), (1, "DWord")],
};

pub(crate) static PERSPECTIVE: Names = Names {
    what: "interpolation mode",
    list: &[(0, "persp"), (1, "linear")],
};

pub(crate) static PIXEL_INTERPOLATOR: Names = Names {
    what: "pixel interpolator message type",
    list: &[
        (0, "per_message_offset"),
        (1, "sample_position"),
        (2, "centroid"),
        (3, "per_slot_offset"),
    ],
};

const SFID: &str = "SFID";
pub(crate) static UNITS_40: Names = Names {
    what: SFID,
    list: &[
        (0, "null"),
        (1, "math"),
        (2, "sampler"),
        (3, "gateway"),
        (4, "read"),
        (5, "write"),
        (6, "urb"),
        (7, "thread_spawner"),
        (8, "vme"),
    ],
};
pub(crate) static UNITS_60: Names = Names {
    what: SFID,
    list: &[
        (0, "null"),
        (1, "math"),
        (2, "sampler"),
        (3, "gateway"),
        (4, "dp_sampler"),
        (5, "render"),
        (6, "urb"),
        (7, "thread_spawner"),
        (8, "vme"),
        (9, "const"),
    ],
};
pub(crate) static UNITS_70: Names = Names {
    what: SFID,
    list: &[
        (0, "null"),
        (1, "math"),
        (2, "sampler"),
        (3, "gateway"),
        (4, "dp_sampler"),
        (5, "render"),
        (6, "urb"),
        (7, "thread_spawner"),
        (8, "vme"),
        (9, "const"),
        (10, "data"),
        (11, "pixel interp"),
    ],
};
pub(crate) static UNITS_75: Names = Names {
    what: SFID,
    list: &[
        (0, "null"),
        (1, "math"),
        (2, "sampler"),
        (3, "gateway"),
        (4, "dp_sampler"),
        (5, "render"),
        (6, "urb"),
        (7, "thread_spawner"),
        (8, "vme"),
        (9, "const"),
        (10, "data"),
        (11, "pixel interp"),
        (12, "dp data 1"),
        (13, "cre"),
    ],
};
