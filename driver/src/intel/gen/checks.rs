//! What is looked at in commands of clients before they run with privileges.
//!
//! i915 `i915_cmd_parser.c`: rows of commands and registers, one list for each engine. Which commands there are is the business of
//! a generation's room. Not modelled: values that may be written to a register in part (Haswell has such registers).

/// Version of the rules, as user space asks for it (i915 `i915_cmd_parser_get_version`).
pub const VERSION: i32 = 10;

/// The rows for an engine.
pub struct Checks {
    /// Commands that do not have the usual length or are not always allowed: lists in ascending order of their headers.
    pub commands: &'static [&'static [Row]],
    /// MMIO byte offsets of registers that clients may load and store, in ascending order.
    pub registers: &'static [u32],
    /// Bits of a header that hold the length, less [`LENGTH_BIAS`], where no row says otherwise; 0 for a header that no
    /// command of the engine begins with.
    pub length: fn(header: u32) -> u32,
}

/// Dwords that a length does not count.
pub const LENGTH_BIAS: u32 = 2;

/// A command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Row {
    /// The upper bits of its header.
    pub header: u32,
    /// The first of those bits.
    pub shift: u8,
    /// How long it is.
    pub length: Length,
    /// What becomes of it.
    pub rule: Rule,
}

/// Dwords of a command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Length {
    /// Always so many.
    Fixed(u32),
    /// Bits of the header hold them, less [`LENGTH_BIAS`].
    Field(u32),
}

/// What becomes of a command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rule {
    /// It is allowed.
    Allowed,
    /// It is not allowed.
    Refused,
    /// It is allowed where bits are zero.
    Zero(&'static [Zero]),
    /// It names registers, from the second dword on, all of which have to be in the list.
    Registers {
        /// Dwords from one to the next; `None` when there is one.
        step: Option<usize>,
        /// Bits that have to be zero as well.
        zero: &'static [Zero],
    },
    /// It goes on in another batch.
    Chain,
}

/// Bits of a dword that have to be zero.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Zero {
    /// Which dword.
    pub dword: usize,
    /// The bits.
    pub bits: u32,
    /// They count only when one of these bits of a dword is set.
    pub when: Option<(usize, u32)>,
}

impl Row {
    /// Whether a header is this command's.
    #[must_use]
    pub fn is(&self, header: u32) -> bool {
        (header ^ self.header) >> self.shift == 0
    }
}

impl Checks {
    /// The row of a command.
    #[must_use]
    pub fn row(&self, header: u32) -> Option<&'static Row> {
        self.commands.iter().find_map(|list| {
            let behind = list.partition_point(|row| row.header <= header);
            let row = list.get(behind.checked_sub(1)?)?;
            row.is(header).then_some(row)
        })
    }

    /// Whether clients may load and store a register.
    #[must_use]
    pub fn has_register(&self, offset: u32) -> bool {
        self.registers.binary_search(&offset).is_ok()
    }
}
