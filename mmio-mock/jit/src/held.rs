//! What registers of the host hold: a value that is held is not read again.

use crate::clean::Clean;

/// First host register that values are held in, and how many there are. Those below are for intermediate values, those above
/// for masks.
const FIRST: u8 = 6;
const COUNT: usize = 8;

/// A value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    /// Nothing to be found again.
    Scratch,
    /// Eight dwords from this one on.
    Dwords(u16),
    /// The same as floats whose denormals are zeros.
    Floats(u16),
    /// One dword in all channels.
    Scalar(u16),
    /// The same as a float.
    ScalarFloat(u16),
    /// A constant in all channels.
    Constant(u32),
    /// The channels whose predicate is set.
    Predicate {
        flag: u8,
        inverted: bool,
        replicated: Option<u8>,
        /// Bits from this one on.
        first: u32,
    },
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    value: Value,
    /// `Dwords`: no denormals are among them.
    clean: bool,
    used: u32,
}

/// The registers that hold values.
#[derive(Debug)]
pub(crate) struct Held {
    entries: [Entry; COUNT],
    now: u32,
    /// Which dwords of the thread have no denormals, held or not.
    pub(crate) clean: Clean,
}

impl Held {
    pub(crate) fn new() -> Held {
        let empty = Entry {
            value: Value::Scratch,
            clean: false,
            used: 0,
        };
        Held {
            entries: [empty; COUNT],
            now: 0,
            clean: Clean::default(),
        }
    }

    /// Nothing is held any more. What is known of the thread's dwords stays.
    pub(crate) fn lose(&mut self) {
        let clean = std::mem::take(&mut self.clean);
        *self = Held {
            clean,
            ..Held::new()
        };
    }

    fn tick(&mut self) -> u32 {
        self.now += 1;
        self.now
    }

    /// The register that holds a value.
    pub(crate) fn find(&mut self, value: Value) -> Option<u8> {
        let now = self.tick();
        let matches = |e: &Entry| match (e.value, value) {
            // Dwords without denormals are the floats.
            (Value::Dwords(a), Value::Floats(b)) => e.clean && a == b,
            (a, b) => a == b && a != Value::Scratch,
        };
        let at = self.entries.iter().position(matches)?;
        self.entries[at].used = now;
        // CAST: eight at most.
        Some(FIRST + at as u8)
    }

    /// A register for a value, the one that was used longest ago: of what a step uses none is lost.
    pub(crate) fn take(&mut self, value: Value) -> u8 {
        let used = self.tick();
        let oldest = (0..COUNT)
            .min_by_key(|at| self.entries[*at].used)
            .unwrap_or(0);
        self.entries[oldest] = Entry {
            value,
            clean: false,
            used,
        };
        // CAST: eight at most.
        FIRST + oldest as u8
    }

    /// Says that a register is still needed.
    pub(crate) fn keep(&mut self, register: u8) {
        let now = self.tick();
        if let Some(entry) = self.entry(register) {
            entry.used = now;
        }
    }

    /// Says what a register holds now. `clean`: there are no denormals in it, nor in the thread's dwords that it is.
    pub(crate) fn set(&mut self, register: u8, value: Value, clean: bool) {
        if let Value::Dwords(first) = value
            && clean
        {
            self.clean.add(first);
        }
        if let Some(entry) = self.entry(register) {
            entry.value = value;
            entry.clean = clean;
        }
    }

    fn entry(&mut self, register: u8) -> Option<&mut Entry> {
        self.entries
            .get_mut(usize::from(register).wrapping_sub(usize::from(FIRST)))
    }

    /// Eight dwords from `first` on are written: what was read of them is old.
    pub(crate) fn written(&mut self, first: u16) {
        self.clean.written(first);
        for entry in &mut self.entries {
            let old = match entry.value {
                Value::Dwords(at) | Value::Floats(at) => at.abs_diff(first) < 8,
                Value::Scalar(at) | Value::ScalarFloat(at) => (first..first + 8).contains(&at),
                Value::Scratch | Value::Constant(_) | Value::Predicate { .. } => false,
            };
            if old {
                entry.value = Value::Scratch;
            }
        }
    }

    /// Flags are written.
    pub(crate) fn flags_written(&mut self) {
        for entry in &mut self.entries {
            if matches!(entry.value, Value::Predicate { .. }) {
                entry.value = Value::Scratch;
            }
        }
    }
}
