//! What batches have left behind in each context: system routine and bases.
//!
//! PRM vol2 STATE_SIP, STATE_BASE_ADDRESS; PRM vol1 MI_SET_CONTEXT: both belong to a logical context, so a batch may rely
//! on what an earlier one of its context has set. Not modelled: reading them from an image, whose layout is the device's.
use alloc::collections::BTreeMap;

use super::batch::Bases;
use crate::intel::switch::Held;

/// The context of a batch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Which {
    /// The driver's own, or the engine's only state while there are no others.
    Own,
    /// One that has never run: it begins with the state of the driver's own.
    New(u32),
    /// Another one. Both name it by the graphics address of its image.
    Old(u32),
}

impl Which {
    /// The context with an image.
    pub fn of(image: Option<&Held>) -> Self {
        match image {
            None => Which::Own,
            Some(held) if held.has_run() => Which::Old(held.address()),
            Some(held) => Which::New(held.address()),
        }
    }

    /// Whether it is a user's.
    pub fn is_user(self) -> bool {
        self != Which::Own
    }

    /// Address of the image, 0 without one.
    fn image(self) -> u32 {
        match self {
            Which::Own => 0,
            Which::New(image) | Which::Old(image) => image,
        }
    }

    /// The same of the context whose state it begins its next batch with.
    fn source(self) -> u32 {
        match self {
            Which::Old(image) => image,
            Which::Own | Which::New(_) => 0,
        }
    }
}

/// What is known of one context.
#[derive(Clone, Copy, Default, Debug)]
struct Known {
    bases: Bases,
    /// The client's system routine, of contexts that have run in a session.
    sip: Option<u32>,
}

/// The bases that a reset leaves.
const AFTER_RESET: Bases = Bases {
    general: Some(0),
    instructions: Some(0),
};

/// All contexts of a device, by the address of the image.
#[derive(Default)]
pub struct Contexts {
    known: BTreeMap<u32, Known>,
    /// Batches have run whose commands were not read.
    missed: bool,
}

impl Contexts {
    /// Batches have run whose commands were not read: of which context they were and what they have set is not known.
    pub fn miss(&mut self) {
        self.missed = true;
        for known in self.known.values_mut() {
            known.bases = Bases::default();
        }
    }

    /// The engine has been reset, which only the images outlive. The context that was current is taken to have been saved
    /// with what it has set.
    pub fn reset(&mut self) {
        self.known.entry(0).or_default().bases = AFTER_RESET;
    }

    /// The bases that a context has now, as far as they are known.
    pub fn bases(&self, context: Which) -> Bases {
        match self.known.get(&context.source()) {
            Some(known) => known.bases,
            None if self.missed => Bases::default(),
            None => AFTER_RESET,
        }
    }

    /// Notes the bases that a batch of a context leaves.
    pub fn set_bases(&mut self, context: Which, bases: Bases) {
        let known = self.known.entry(context.image()).or_default();
        known.bases = bases;
    }

    /// The system routine of a context that has run in a session; 0 is taken for one that was not seen to set it.
    pub fn sip(&self, context: Which) -> Option<u32> {
        self.known.get(&context.source())?.sip
    }

    /// Notes the system routine that a batch sets, in a session.
    pub fn set_sip(&mut self, context: Which, sip: Option<u32>) {
        let sip = sip.or(self.sip(context)).or(Some(0));
        self.known.entry(context.image()).or_default().sip = sip;
    }
}

#[cfg(test)]
mod tests {
    use super::{AFTER_RESET, Contexts, Which};
    use crate::intel::debug::batch::Bases;

    fn at(base: u32) -> Bases {
        Bases {
            general: Some(0),
            instructions: Some(base),
        }
    }

    /// PRM vol1 MI_SET_CONTEXT: what one context sets is not another's; a new one begins with the driver's own.
    #[test]
    fn contexts_keep_what_they_set() {
        let mut contexts = Contexts::default();
        assert_eq!(contexts.bases(Which::Own), AFTER_RESET);
        contexts.set_bases(Which::Own, at(0x1000));
        assert_eq!(contexts.bases(Which::New(0x5000)), at(0x1000));
        contexts.set_bases(Which::New(0x5000), at(0x2000));
        assert_eq!(contexts.bases(Which::Old(0x5000)), at(0x2000));
        assert_eq!(contexts.bases(Which::Own), at(0x1000));
        // Another context gets the address.
        assert_eq!(contexts.bases(Which::New(0x5000)), at(0x1000));
        contexts.reset();
        assert_eq!(contexts.bases(Which::Own), AFTER_RESET);
        assert_eq!(contexts.bases(Which::Old(0x5000)), at(0x2000));
        contexts.miss();
        assert!(!contexts.bases(Which::Old(0x5000)).is_known());
        assert!(!contexts.bases(Which::Old(0x6000)).is_known());
    }

    #[test]
    fn a_context_has_the_routine_that_it_has_set() {
        let mut contexts = Contexts::default();
        assert_eq!(contexts.sip(Which::Old(0x5000)), None);
        contexts.set_sip(Which::New(0x5000), Some(0x40));
        contexts.set_sip(Which::Old(0x5000), None);
        contexts.set_sip(Which::Old(0x6000), None);
        let seen = [Which::Old(0x5000), Which::Old(0x6000), Which::New(0x5000)];
        assert_eq!(
            seen.map(|context| contexts.sip(context)),
            [Some(0x40), Some(0), None]
        );
    }
}
