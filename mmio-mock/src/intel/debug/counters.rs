//! The trigger counters of the fixed functions.
//!
//! PRM: volume 4, 3.2.1. Not modelled: the clipper's count of output vertices within a thread,
//! which the clipper keeps itself.

/// Width of thread ids and sequence numbers (3.3.5, 3.3.9).
const MASK: u32 = 0x00ff_ffff;

/// What counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counter {
    /// Vertices that VF put out.
    VfVertex,
    /// 3DPRIMITIVE commands that reached VF.
    VfTopology,
    /// Vertex shader threads.
    VsThread,
    /// Geometry shader threads.
    GsThread,
    /// Clipper threads.
    ClipThread,
    /// Primitives into SF, culled ones included; also the setup thread id.
    SfPrimitive,
    /// Pixel shader threads of the primitive in hand.
    WizThread,
}

/// Value of each counter: the number the next element gets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    values: [u32; 7],
}

impl Counters {
    /// The number that the next element gets.
    pub fn get(&self, counter: Counter) -> u32 {
        self.values.get(counter as usize).copied().unwrap_or(0)
    }

    /// The number of this element; the counter moves on when `counting`, and rolls over.
    pub(super) fn next(&mut self, counter: Counter, counting: bool) -> u32 {
        let Some(value) = self.values.get_mut(counter as usize) else {
            return 0;
        };
        let id = *value;
        if counting {
            *value = (id + 1) & MASK;
        }
        id
    }

    /// Starts one counter anew.
    pub(super) fn restart(&mut self, counter: Counter) {
        if let Some(value) = self.values.get_mut(counter as usize) {
            *value = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // covers: 3.2.1-03
    #[test]
    fn a_counter_moves_only_while_counting_and_rolls_over_at_24_bits() {
        let mut c = Counters::default();
        assert_eq!(c.next(Counter::VsThread, false), 0);
        assert_eq!(c.next(Counter::VsThread, true), 0);
        assert_eq!(c.next(Counter::VsThread, true), 1);
        assert_eq!(c.get(Counter::GsThread), 0);
        c.values = [MASK; 7];
        assert_eq!(c.next(Counter::VfVertex, true), 0x00ff_ffff);
        assert_eq!(c.get(Counter::VfVertex), 0);
        c.restart(Counter::GsThread);
        assert_eq!(c.get(Counter::GsThread), 0);
    }
}
