//! Register writes of one thread to another, by way of the gateway.
//!
//! PRM: volume 4, 7.1.4, 11.3.4.12.

use super::{SlotId, SlotState, Td};

impl Td {
    /// Hands the gateway's register writes of a slot's last run to the threads they are for, and raises
    /// their notification counter (PRM vol4 7.1.4, 11.3.4.12). A slot without a thread drops them.
    #[inline]
    pub(super) fn deliver(&mut self, from: SlotId) {
        let from = usize::from(from.0) % self.slots.len();
        if !self.slots[from].events.forwards.is_empty() {
            self.forward(from);
        }
    }

    fn forward(&mut self, from: usize) {
        let writes = std::mem::take(&mut self.slots[from].events.forwards);
        for write in &writes {
            let per_eu = usize::from(self.threads_per_eu);
            let at = usize::from(write.eu) * per_eu + usize::from(write.slot);
            let target = usize::from(write.slot) < per_eu;
            let Some(slot) = self.slots.get_mut(at).filter(|_| target) else {
                continue;
            };
            slot.wake();
            if slot.state != SlotState::Running {
                continue;
            }
            let bytes = write.data.map(u32::to_le_bytes);
            let data = bytes.as_flattened().iter();
            for (i, byte) in data.take(usize::from(write.length)).enumerate() {
                let at = usize::from(write.byte) + i;
                if let Some(dword) = slot
                    .thread
                    .grf_mut()
                    .get_mut(at / 32)
                    .and_then(|r| r.get_mut(at % 32 / 4))
                {
                    let shift = at % 4 * 8;
                    *dword = *dword & !(0xff << shift) | u32::from(*byte) << shift;
                }
            }
            if write.notify {
                slot.thread.notify(0);
            }
        }
    }
}
