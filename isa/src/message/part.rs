//! Pieces that the text of a descriptor is made of; one table prints and parses.
//!
//! PRM: volume 4, 4.8.1.1-8.4.2. The tables are in `tables/message.rs`, the walk in `text.rs`.

/// Bits `hi:lo` of the descriptor, and perhaps one more above them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bits {
    pub(crate) hi: u8,
    pub(crate) lo: u8,
    pub(crate) top: Option<u8>,
}

impl Bits {
    pub(crate) const fn new(hi: u8, lo: u8) -> Bits {
        Bits { hi, lo, top: None }
    }

    const fn low_mask(self) -> u32 {
        u32::MAX >> (31 - (self.hi - self.lo))
    }

    pub(crate) const fn mask(self) -> u32 {
        let low = self.low_mask() << self.lo;
        match self.top {
            Some(bit) => low | 1 << bit,
            None => low,
        }
    }

    pub(crate) const fn max(self) -> u32 {
        match self.top {
            Some(_) => self.low_mask() << 1 | 1,
            None => self.low_mask(),
        }
    }

    pub(crate) const fn get(self, word: u32) -> u32 {
        let low = word >> self.lo & self.low_mask();
        match self.top {
            Some(bit) => low | (word >> bit & 1) << (self.hi - self.lo + 1),
            None => low,
        }
    }

    /// The word with `value` in these bits and zeros elsewhere.
    pub(crate) const fn place(self, value: u32) -> u32 {
        let low = (value & self.low_mask()) << self.lo;
        match self.top {
            Some(bit) => low | (value >> (self.hi - self.lo + 1) & 1) << bit,
            None => low,
        }
    }
}

/// Names of the values of a field.
#[derive(Debug)]
pub(crate) struct Names {
    /// What the field is, for messages about values without a name.
    pub(crate) what: &'static str,
    /// Values with a name; an empty name is left out of the text.
    pub(crate) list: &'static [(u32, &'static str)],
}

impl Names {
    pub(crate) fn name(&self, value: u32) -> Option<&'static str> {
        self.list
            .iter()
            .find(|(known, _)| *known == value)
            .map(|(_, name)| *name)
    }
}

/// How a number is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Radix {
    /// `12`.
    Decimal,
    /// `0xc`.
    Hex,
    /// `0x0c`.
    Hex2,
    /// Mesa's `0x12` for twelve: the prefix of one radix, the digits of the other.
    Prefixed,
}

/// One piece.
#[derive(Debug)]
pub(crate) enum Part {
    /// Fixed text.
    Text(&'static str),
    /// The next name follows without a space.
    Tight,
    /// A name after a space.
    Name(Bits, &'static Names),
    /// A name without a space.
    Word(Bits, &'static Names),
    /// Text that stands for a set bit.
    Flag(u8, &'static str),
    /// A number.
    Number(Bits, Radix),
    /// Text and a number, left out for zero.
    NonZero(Bits, &'static str),
    /// Further pieces that depend on a field named before: some values, else the rest.
    Case(
        Bits,
        &'static [(&'static [u32], &'static [Part])],
        &'static [Part],
    ),
    /// The unit has no fields that are known here.
    Unsupported,
    /// Fields that Mesa does not print; they follow the lengths.
    More(&'static [Part]),
}
