//! Tables of BC6H and BC7: partitions, anchors, places of end points.
//!
//! ARB_texture_compression_bptc; EXT_texture_compression_bptc.

/// A row of the table of BC7's modes.
pub(super) struct Whole {
    pub subsets: usize,
    pub partition: u32,
    pub rotation: u32,
    pub selection: u32,
    pub colour: u32,
    pub alpha: u32,
    /// Lowest bits of end points: none, one an end point, or one a subset.
    pub lowest: Lowest,
    pub index: u32,
    pub second: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Lowest {
    None,
    Each,
    Shared,
}

const fn whole(
    [subsets, partition, rotation, selection]: [u32; 4],
    [colour, alpha]: [u32; 2],
    lowest: Lowest,
    [index, second]: [u32; 2],
) -> Whole {
    Whole {
        subsets: subsets as usize,
        partition,
        rotation,
        selection,
        colour,
        alpha,
        lowest,
        index,
        second,
    }
}

/// BC7's modes: the number of the lowest bit that is set.
pub(super) const WHOLE: [Whole; 8] = [
    whole([3, 4, 0, 0], [4, 0], Lowest::Each, [3, 0]),
    whole([2, 6, 0, 0], [6, 0], Lowest::Shared, [3, 0]),
    whole([3, 6, 0, 0], [5, 0], Lowest::None, [2, 0]),
    whole([2, 6, 0, 0], [7, 0], Lowest::Each, [2, 0]),
    whole([1, 0, 2, 1], [5, 6], Lowest::None, [2, 3]),
    whole([1, 0, 2, 0], [7, 8], Lowest::None, [2, 2]),
    whole([1, 0, 0, 0], [7, 7], Lowest::Each, [4, 0]),
    whole([2, 6, 0, 0], [5, 5], Lowest::Each, [2, 0]),
];

/// Bits of a channel of an end point.
#[derive(Clone, Copy)]
pub(super) struct Part {
    pub end: u8,
    pub channel: u8,
    pub lowest: u8,
    pub bits: u8,
    /// The first bit is the highest.
    pub reversed: bool,
}

const fn f(end: u8, channel: u8, lowest: u8, bits: u8) -> Part {
    Part {
        end,
        channel,
        lowest,
        bits,
        reversed: false,
    }
}

const fn r(end: u8, channel: u8, lowest: u8, bits: u8) -> Part {
    Part {
        reversed: true,
        ..f(end, channel, lowest, bits)
    }
}

/// A mode of BC6H.
pub(super) struct Mode {
    /// The lowest bits of the block, and how many there are.
    pub code: u8,
    pub bits: u32,
    /// End points behind the first are differences.
    pub moved: bool,
    /// There are two subsets.
    pub pair: bool,
    pub endpoint: u32,
    pub deltas: [u32; 3],
    /// In the order of the block's bits.
    pub fields: &'static [Part],
}

/// BC6H's modes; other codes are reserved.
#[rustfmt::skip]
pub(super) const MODES: [Mode; 14] = [
    Mode {
        code: 0b00,
        bits: 2,
        moved: true,
        pair: true,
        endpoint: 10,
        deltas: [5, 5, 5],
        fields: &[
            f(2, 1, 4, 1), f(2, 2, 4, 1), f(3, 2, 4, 1), f(0, 0, 0, 10), f(0, 1, 0, 10), f(0, 2, 0, 10),
            f(1, 0, 0, 5), f(3, 1, 4, 1), f(2, 1, 0, 4), f(1, 1, 0, 5), f(3, 2, 0, 1), f(3, 1, 0, 4),
            f(1, 2, 0, 5), f(3, 2, 1, 1), f(2, 2, 0, 4), f(2, 0, 0, 5), f(3, 2, 2, 1), f(3, 0, 0, 5),
            f(3, 2, 3, 1),
        ],
    },
    Mode {
        code: 0b01,
        bits: 2,
        moved: true,
        pair: true,
        endpoint: 7,
        deltas: [6, 6, 6],
        fields: &[
            f(2, 1, 5, 1), f(3, 1, 4, 1), f(3, 1, 5, 1), f(0, 0, 0, 7), f(3, 2, 0, 1), f(3, 2, 1, 1),
            f(2, 2, 4, 1), f(0, 1, 0, 7), f(2, 2, 5, 1), f(3, 2, 2, 1), f(2, 1, 4, 1), f(0, 2, 0, 7),
            f(3, 2, 3, 1), f(3, 2, 5, 1), f(3, 2, 4, 1), f(1, 0, 0, 6), f(2, 1, 0, 4), f(1, 1, 0, 6),
            f(3, 1, 0, 4), f(1, 2, 0, 6), f(2, 2, 0, 4), f(2, 0, 0, 6), f(3, 0, 0, 6),
        ],
    },
    Mode {
        code: 0b00010,
        bits: 5,
        moved: true,
        pair: true,
        endpoint: 11,
        deltas: [5, 4, 4],
        fields: &[
            f(0, 0, 0, 10), f(0, 1, 0, 10), f(0, 2, 0, 10), f(1, 0, 0, 5), f(0, 0, 10, 1), f(2, 1, 0, 4),
            f(1, 1, 0, 4), f(0, 1, 10, 1), f(3, 2, 0, 1), f(3, 1, 0, 4), f(1, 2, 0, 4), f(0, 2, 10, 1),
            f(3, 2, 1, 1), f(2, 2, 0, 4), f(2, 0, 0, 5), f(3, 2, 2, 1), f(3, 0, 0, 5), f(3, 2, 3, 1),
        ],
    },
    Mode {
        code: 0b00011,
        bits: 5,
        moved: false,
        pair: false,
        endpoint: 10,
        deltas: [10, 10, 10],
        fields: &[
            f(0, 0, 0, 10), f(0, 1, 0, 10), f(0, 2, 0, 10), f(1, 0, 0, 10), f(1, 1, 0, 10), f(1, 2, 0, 10),
        ],
    },
    Mode {
        code: 0b00110,
        bits: 5,
        moved: true,
        pair: true,
        endpoint: 11,
        deltas: [4, 5, 4],
        fields: &[
            f(0, 0, 0, 10), f(0, 1, 0, 10), f(0, 2, 0, 10), f(1, 0, 0, 4), f(0, 0, 10, 1), f(3, 1, 4, 1),
            f(2, 1, 0, 4), f(1, 1, 0, 5), f(0, 1, 10, 1), f(3, 1, 0, 4), f(1, 2, 0, 4), f(0, 2, 10, 1),
            f(3, 2, 1, 1), f(2, 2, 0, 4), f(2, 0, 0, 4), f(3, 2, 0, 1), f(3, 2, 2, 1), f(3, 0, 0, 4),
            f(2, 1, 4, 1), f(3, 2, 3, 1),
        ],
    },
    Mode {
        code: 0b00111,
        bits: 5,
        moved: true,
        pair: false,
        endpoint: 11,
        deltas: [9, 9, 9],
        fields: &[
            f(0, 0, 0, 10), f(0, 1, 0, 10), f(0, 2, 0, 10), f(1, 0, 0, 9), f(0, 0, 10, 1), f(1, 1, 0, 9),
            f(0, 1, 10, 1), f(1, 2, 0, 9), f(0, 2, 10, 1),
        ],
    },
    Mode {
        code: 0b01010,
        bits: 5,
        moved: true,
        pair: true,
        endpoint: 11,
        deltas: [4, 4, 5],
        fields: &[
            f(0, 0, 0, 10), f(0, 1, 0, 10), f(0, 2, 0, 10), f(1, 0, 0, 4), f(0, 0, 10, 1), f(2, 2, 4, 1),
            f(2, 1, 0, 4), f(1, 1, 0, 4), f(0, 1, 10, 1), f(3, 2, 0, 1), f(3, 1, 0, 4), f(1, 2, 0, 5),
            f(0, 2, 10, 1), f(2, 2, 0, 4), f(2, 0, 0, 4), f(3, 2, 1, 1), f(3, 2, 2, 1), f(3, 0, 0, 4),
            f(3, 2, 4, 1), f(3, 2, 3, 1),
        ],
    },
    Mode {
        code: 0b01011,
        bits: 5,
        moved: true,
        pair: false,
        endpoint: 12,
        deltas: [8, 8, 8],
        fields: &[
            f(0, 0, 0, 10), f(0, 1, 0, 10), f(0, 2, 0, 10), f(1, 0, 0, 8), r(0, 0, 10, 2), f(1, 1, 0, 8),
            r(0, 1, 10, 2), f(1, 2, 0, 8), r(0, 2, 10, 2),
        ],
    },
    Mode {
        code: 0b01110,
        bits: 5,
        moved: true,
        pair: true,
        endpoint: 9,
        deltas: [5, 5, 5],
        fields: &[
            f(0, 0, 0, 9), f(2, 2, 4, 1), f(0, 1, 0, 9), f(2, 1, 4, 1), f(0, 2, 0, 9), f(3, 2, 4, 1),
            f(1, 0, 0, 5), f(3, 1, 4, 1), f(2, 1, 0, 4), f(1, 1, 0, 5), f(3, 2, 0, 1), f(3, 1, 0, 4),
            f(1, 2, 0, 5), f(3, 2, 1, 1), f(2, 2, 0, 4), f(2, 0, 0, 5), f(3, 2, 2, 1), f(3, 0, 0, 5),
            f(3, 2, 3, 1),
        ],
    },
    Mode {
        code: 0b01111,
        bits: 5,
        moved: true,
        pair: false,
        endpoint: 16,
        deltas: [4, 4, 4],
        fields: &[
            f(0, 0, 0, 10), f(0, 1, 0, 10), f(0, 2, 0, 10), f(1, 0, 0, 4), r(0, 0, 10, 6), f(1, 1, 0, 4),
            r(0, 1, 10, 6), f(1, 2, 0, 4), r(0, 2, 10, 6),
        ],
    },
    Mode {
        code: 0b10010,
        bits: 5,
        moved: true,
        pair: true,
        endpoint: 8,
        deltas: [6, 5, 5],
        fields: &[
            f(0, 0, 0, 8), f(3, 1, 4, 1), f(2, 2, 4, 1), f(0, 1, 0, 8), f(3, 2, 2, 1), f(2, 1, 4, 1),
            f(0, 2, 0, 8), f(3, 2, 3, 1), f(3, 2, 4, 1), f(1, 0, 0, 6), f(2, 1, 0, 4), f(1, 1, 0, 5),
            f(3, 2, 0, 1), f(3, 1, 0, 4), f(1, 2, 0, 5), f(3, 2, 1, 1), f(2, 2, 0, 4), f(2, 0, 0, 6),
            f(3, 0, 0, 6),
        ],
    },
    Mode {
        code: 0b10110,
        bits: 5,
        moved: true,
        pair: true,
        endpoint: 8,
        deltas: [5, 6, 5],
        fields: &[
            f(0, 0, 0, 8), f(3, 2, 0, 1), f(2, 2, 4, 1), f(0, 1, 0, 8), f(2, 1, 5, 1), f(2, 1, 4, 1),
            f(0, 2, 0, 8), f(3, 1, 5, 1), f(3, 2, 4, 1), f(1, 0, 0, 5), f(3, 1, 4, 1), f(2, 1, 0, 4),
            f(1, 1, 0, 6), f(3, 1, 0, 4), f(1, 2, 0, 5), f(3, 2, 1, 1), f(2, 2, 0, 4), f(2, 0, 0, 5),
            f(3, 2, 2, 1), f(3, 0, 0, 5), f(3, 2, 3, 1),
        ],
    },
    Mode {
        code: 0b11010,
        bits: 5,
        moved: true,
        pair: true,
        endpoint: 8,
        deltas: [5, 5, 6],
        fields: &[
            f(0, 0, 0, 8), f(3, 2, 1, 1), f(2, 2, 4, 1), f(0, 1, 0, 8), f(2, 2, 5, 1), f(2, 1, 4, 1),
            f(0, 2, 0, 8), f(3, 2, 5, 1), f(3, 2, 4, 1), f(1, 0, 0, 5), f(3, 1, 4, 1), f(2, 1, 0, 4),
            f(1, 1, 0, 5), f(3, 2, 0, 1), f(3, 1, 0, 4), f(1, 2, 0, 6), f(2, 2, 0, 4), f(2, 0, 0, 5),
            f(3, 2, 2, 1), f(3, 0, 0, 5), f(3, 2, 3, 1),
        ],
    },
    Mode {
        code: 0b11110,
        bits: 5,
        moved: false,
        pair: true,
        endpoint: 6,
        deltas: [6, 6, 6],
        fields: &[
            f(0, 0, 0, 6), f(3, 1, 4, 1), f(3, 2, 0, 1), f(3, 2, 1, 1), f(2, 2, 4, 1), f(0, 1, 0, 6),
            f(2, 1, 5, 1), f(2, 2, 5, 1), f(3, 2, 2, 1), f(2, 1, 4, 1), f(0, 2, 0, 6), f(3, 1, 5, 1),
            f(3, 2, 3, 1), f(3, 2, 5, 1), f(3, 2, 4, 1), f(1, 0, 0, 6), f(2, 1, 0, 4), f(1, 1, 0, 6),
            f(3, 1, 0, 4), f(1, 2, 0, 6), f(2, 2, 0, 4), f(2, 0, 0, 6), f(3, 0, 0, 6),
        ],
    },
];

/// Subsets of the texels of a block in two: two bits a texel. Likewise in three, and the texels, besides the first, whose index lacks
/// its highest bit: in two subsets, and in three the second's and the third's.
pub(super) const TWO: [u32; 64] = [
    0x5050_5050,
    0x4040_4040,
    0x5454_5454,
    0x5450_5040,
    0x5040_4000,
    0x5554_5450,
    0x5554_5040,
    0x5450_4000,
    0x5040_0000,
    0x5555_5450,
    0x5554_4000,
    0x5440_0000,
    0x5555_5440,
    0x5555_0000,
    0x5555_5500,
    0x5500_0000,
    0x5515_0100,
    0x0000_4054,
    0x1501_0000,
    0x0040_5054,
    0x0000_4050,
    0x1505_0100,
    0x0501_0000,
    0x4050_5054,
    0x0040_4050,
    0x0501_0100,
    0x1414_1414,
    0x0514_1450,
    0x0115_5440,
    0x0055_5500,
    0x1501_4054,
    0x0541_4150,
    0x4444_4444,
    0x5500_5500,
    0x1144_1144,
    0x0505_5050,
    0x0550_0550,
    0x1111_4444,
    0x4114_4114,
    0x4411_1144,
    0x1505_5054,
    0x0105_5040,
    0x0504_1050,
    0x0545_5150,
    0x1441_4114,
    0x5005_0550,
    0x4141_1414,
    0x0014_1400,
    0x0004_1504,
    0x0010_5410,
    0x1054_1000,
    0x0415_0400,
    0x5041_0514,
    0x4105_1450,
    0x0541_5014,
    0x1405_4150,
    0x4105_0514,
    0x4150_5014,
    0x4001_1554,
    0x5415_0140,
    0x5050_5500,
    0x0055_5050,
    0x1515_1010,
    0x5454_0404,
];

pub(super) const THREE: [u32; 64] = [
    0xaa68_5050,
    0x6a5a_5040,
    0x5a5a_4200,
    0x5450_a0a8,
    0xa5a5_0000,
    0xa0a0_5050,
    0x5555_a0a0,
    0x5a5a_5050,
    0xaa55_0000,
    0xaa55_5500,
    0xaaaa_5500,
    0x9090_9090,
    0x9494_9494,
    0xa4a4_a4a4,
    0xa9a5_9450,
    0x2a0a_4250,
    0xa594_5040,
    0x0a42_5054,
    0xa5a5_a500,
    0x55a0_a0a0,
    0xa8a8_5454,
    0x6a6a_4040,
    0xa4a4_5000,
    0x1a1a_0500,
    0x0050_a4a4,
    0xaaa5_9090,
    0x1469_6914,
    0x6969_1400,
    0xa085_85a0,
    0xaa82_1414,
    0x50a4_a450,
    0x6a5a_0200,
    0xa9a5_8000,
    0x5090_a0a8,
    0xa8a0_9050,
    0x2424_2424,
    0x00aa_5500,
    0x2492_4924,
    0x2449_9224,
    0x50a5_0a50,
    0x500a_a550,
    0xaaaa_4444,
    0x6666_0000,
    0xa5a0_a5a0,
    0x50a0_50a0,
    0x6928_6928,
    0x44aa_aa44,
    0x6666_6600,
    0xaa44_4444,
    0x54a8_54a8,
    0x9580_9580,
    0x9696_9600,
    0xa854_54a8,
    0x8095_9580,
    0xaa14_1414,
    0x9696_0000,
    0xaaaa_1414,
    0xa050_50a0,
    0xa0a5_a5a0,
    0x9600_0000,
    0x4080_4080,
    0xa9a8_a9a8,
    0xaaaa_aa44,
    0x2a4a_5254,
];

pub(super) const ANCHORS: [[u8; 64]; 3] = [
    [
        15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 2, 8, 2, 2, 8, 8, 15,
        2, 8, 2, 2, 8, 8, 2, 2, 15, 15, 6, 8, 2, 8, 15, 15, 2, 8, 2, 2, 2, 15, 15, 6, 6, 2, 6, 8,
        15, 15, 2, 2, 15, 15, 15, 15, 15, 2, 2, 15,
    ],
    [
        3, 3, 15, 15, 8, 3, 15, 15, 8, 8, 6, 6, 6, 5, 3, 3, 3, 3, 8, 15, 3, 3, 6, 10, 5, 8, 8, 6,
        8, 5, 15, 15, 8, 15, 3, 5, 6, 10, 8, 15, 15, 3, 15, 5, 15, 15, 15, 15, 3, 15, 5, 5, 5, 8,
        5, 10, 5, 10, 8, 13, 15, 12, 3, 3,
    ],
    [
        15, 8, 8, 3, 15, 15, 3, 8, 15, 15, 15, 15, 15, 15, 15, 8, 15, 8, 15, 3, 15, 8, 15, 8, 3,
        15, 6, 10, 15, 15, 10, 8, 15, 3, 15, 10, 10, 8, 9, 10, 6, 15, 8, 15, 3, 6, 6, 8, 15, 3, 15,
        15, 15, 15, 15, 15, 15, 15, 15, 15, 3, 15, 15, 8,
    ],
];
