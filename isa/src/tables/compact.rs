//! Index tables of compacted instructions by generation.
//!
//! Mesa 22.3.6 `brw_eu_compact.c`. How an instruction is taken apart is in `crate::compact`.

pub(crate) mod gen45;
pub(crate) mod gen60;
pub(crate) mod gen70;
pub(crate) mod gen80;

/// The tables of one generation, 32 entries each.
pub(crate) struct Tables {
    pub(crate) control: [u32; 32],
    pub(crate) datatype: [u32; 32],
    pub(crate) subreg: [u16; 32],
    pub(crate) source: [u16; 32],
}

/// A run of bits, high and low end.
pub(crate) type Span = (u32, u32);

/// What the indices of three sources stand for.
pub(crate) struct Three {
    pub(crate) control: &'static [u32; 4],
    pub(crate) source: &'static [u64; 4],
}

/// What an index stands for: spans of the sixteen bytes, the highest bits of the value first.
pub(crate) struct Spans {
    pub(crate) control: &'static [Span],
    pub(crate) datatype: &'static [Span],
    pub(crate) three_control: &'static [Span],
    pub(crate) three_source: &'static [Span],
}

const SPANS45: Spans = Spans {
    control: &[(31, 31), (23, 8)],
    datatype: &[(63, 61), (46, 32)],
    three_control: &[],
    three_source: &[],
};

const SPANS70: Spans = Spans {
    control: &[(90, 89), (31, 31), (23, 8)],
    ..SPANS45
};

const SPANS80: Spans = Spans {
    control: &[(33, 31), (23, 12), (10, 9), (34, 34), (8, 8)],
    datatype: &[(63, 61), (94, 89), (46, 35)],
    three_control: &[(34, 32), (28, 8)],
    three_source: &[
        (125, 125),
        (104, 104),
        (83, 83),
        (114, 107),
        (93, 86),
        (72, 65),
        (55, 37),
    ],
};

const SPANS90: Spans = Spans {
    three_control: &[(36, 35), (34, 32), (28, 8)],
    three_source: &[
        (126, 125),
        (105, 104),
        (84, 83),
        (114, 107),
        (93, 86),
        (72, 65),
        (55, 37),
    ],
    ..SPANS80
};

pub(crate) const fn tables<const V: u8>() -> &'static Tables {
    match V {
        0..=59 => &gen45::TABLES,
        60..=69 => &gen60::TABLES,
        70..=79 => &gen70::TABLES,
        80.. => &gen80::TABLES,
    }
}

pub(crate) const fn spans<const V: u8>() -> &'static Spans {
    match V {
        0..=69 => &SPANS45,
        70..=79 => &SPANS70,
        80..=89 => &SPANS80,
        90.. => &SPANS90,
    }
}

/// What the indices of three sources stand for, where such instructions have a compacted form.
pub(crate) const fn three<const V: u8>() -> Option<&'static Three> {
    match V {
        0..=79 => None,
        80.. => Some(&gen80::THREE),
    }
}
