//! Whether the command parser goes round and round without doing anything.
//!
//! PRM: volume 1, MI_BATCH_BUFFER_START. A batch can only be left by a command or a jump, and no jump of this
//! generation is conditional: a jump that is taken a second time, with nothing done in between that lasts, is taken
//! until the host changes memory or resets the device. Not recognised: rounds that store or draw the same every time.

use regs::gen40::{self, CommandId};

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

/// Whether a command leaves everything as it is, or as the same command has made it a round before: it only assigns what
/// stands in it.
fn is_idle(id: CommandId) -> bool {
    use CommandId as C;
    matches!(
        id,
        C::MiNoop
            | C::MiBatchBufferStart
            | C::MiArbCheck
            | C::MiArbOnOff
            | C::StatePrefetch
            | C::StateBaseAddress
            | C::StateSip
            | C::PipelineSelect
            | C::State3dPipelinedPointers
            | C::State3dBindingTablePointers
            | C::State3dDrawingRectangle
            | C::State3dDepthBuffer
            | C::State3dConstantColor
            | C::State3dPolyStipplePattern
            | C::State3dPolyStippleOffset
            | C::State3dLineStipple
            | C::State3dGlobalDepthOffsetClamp
    )
}

impl Spin {
    /// A command has been executed; whether a whole round of such that do nothing ends with it.
    #[inline]
    pub fn round(&mut self, addr: u32, header: u32) -> bool {
        // Almost all are: the tables are asked only where there is a jump to come back to.
        if self.0.is_none() && header >> 23 != gen40::MiBatchBufferStart::HEADER >> 23 {
            return false;
        }
        self.follow(addr, header)
    }

    fn follow(&mut self, addr: u32, header: u32) -> bool {
        let Some(id) = gen40::command(header).map(|desc| desc.id) else {
            self.forget();
            return false;
        };
        if !is_idle(id) {
            self.forget();
            return false;
        }
        let here = |limit| Anchor {
            addr,
            commands: 0,
            limit,
        };
        let is_jump = id == CommandId::MiBatchBufferStart;
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
            spin.round(addr, header)
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
