//! Whether the command parser goes round and round without doing anything.
//!
//! PRM: volume 1, MI_BATCH_BUFFER_START. A batch can only be left by a command or a jump, and no jump of this
//! generation is conditional: a jump that is taken a second time, with nothing done in between that lasts, is taken
//! until the host changes memory or resets the device. Not recognised: rounds that store or draw the same every time.

use regs::any::MiBatchBufferStart;
use regs::desc::Property;
use regs::platform::Generation;

/// Commands after which a place to come back to is given up for a later one, at first: the way into a loop is none of it.
const FIRST_LIMIT: u64 = 4;

/// The place that the parser may come back to.
#[derive(Clone, Copy, Debug)]
struct Anchor {
    /// Address of a jump.
    addr: u32,
    /// Commands since.
    commands: u64,
    /// When a later jump takes its place.
    limit: u64,
}

/// What is remembered of the commands since the last that did something.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spin(Option<Anchor>);

impl Spin {
    /// A command has been executed; whether a whole round of such that do nothing ends with it.
    #[inline]
    pub fn round(&mut self, tables: &'static Generation, addr: u32, header: u32) -> bool {
        // Almost all are: the tables are asked only where there is a jump to come back to.
        if self.0.is_none() && header & MiBatchBufferStart::MASK != MiBatchBufferStart::VALUE {
            return false;
        }
        self.follow(tables, addr, header)
    }

    fn follow(&mut self, tables: &'static Generation, addr: u32, header: u32) -> bool {
        let Some(desc) = (tables.command)(header) else {
            self.forget();
            return false;
        };
        // What leaves everything as it is, or as the same command has made it a round before.
        if !desc.is(Property::Idempotent) {
            self.forget();
            return false;
        }
        let here = |limit| Anchor {
            addr,
            commands: 0,
            limit,
        };
        let is_jump = desc.is(Property::Chains);
        let Some(anchor) = &mut self.0 else {
            self.0 = is_jump.then(|| here(FIRST_LIMIT));
            return false;
        };
        anchor.commands = anchor.commands.saturating_add(1);
        if !is_jump {
            return false;
        }
        if anchor.addr == addr {
            anchor.commands = 0;
            return true;
        }
        if anchor.commands >= anchor.limit {
            *anchor = here(anchor.limit.saturating_mul(2));
        }
        false
    }

    /// Something has been done.
    #[inline]
    pub fn forget(&mut self) {
        self.0 = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOOP: u32 = 0;
    const START: u32 = 0x31 << 23;
    const END: u32 = 0x0a << 23;
    /// MI_STORE_DATA_IMM of one dword.
    const STORE: u32 = 0x20 << 23 | 2;

    /// Number of the command that ends a round, within 1000.
    fn found(command: impl Fn(u32) -> (u32, u32)) -> Option<u32> {
        let mut spin = Spin::default();
        (0..1000).find(|step| {
            let (addr, header) = command(*step);
            spin.round(&regs::platform::GEN40, addr, header)
        })
    }

    #[test]
    fn a_jump_that_comes_again_with_nothing_between_is_a_round() {
        assert_eq!(found(|_| (0x1000, START)), Some(1));
        // Two jumps and a few words, behind a way into them.
        let loops = |step: u32| match step {
            0..10 => (0x100 + step * 8, START),
            _ => match step % 5 {
                0 => (0x1000, START),
                1 => (0x2000, START),
                at => (0x2000 + at * 4, NOOP),
            },
        };
        assert!(found(loops).is_some_and(|step| step < 60));
    }

    #[test]
    fn what_gets_on_or_does_something_is_none() {
        // A chain of batches, each somewhere else.
        assert_eq!(found(|step| (step * 8, START)), None);
        // One that stores in between, and one batch after the other.
        for header in [STORE, END] {
            let stores = |step| [(0x1000, START), (0x2000, header)][step as usize % 2];
            assert_eq!(found(stores), None);
        }
        assert_eq!(found(|step| (step * 4, NOOP)), None);
    }
}
