//! Forcewake: keeps the GT awake while registers are read, and room for writes.
//!
//! i915 `intel_uncore.c` (`fw_domains_get_with_thread_status`, `fw_domains_get_normal`, `__gen6_gt_wait_for_fifo`, `gen6_write32`). Not modelled: the delay
//! before the GT may sleep again, which saves wake-ups of registers that are read one by one.
use alloc::sync::Arc;

use kernel::io::Io;
use kernel::platform::Platform;
use kernel::pr_err;
use kernel::sync::{AtomicU32, Ordering, SpinLock};
use kernel::time::{Delta, read_poll_timeout};

use super::POLL;

/// TIMEOUT: for the request to be acknowledged (i915 `FORCEWAKE_ACK_TIMEOUT_MS`).
const ACK_TIMEOUT: Delta = Delta::from_millis(50);
/// TIMEOUT: for the GT's threads to be awake (i915 `__gen6_gt_wait_for_thread_c0`).
const THREAD_TIMEOUT: Delta = Delta::from_millis(5);
/// TIMEOUT: for the queue of writes to have room (i915 `GT_FIFO_TIMEOUT_MS`).
const FIFO_TIMEOUT: Delta = Delta::from_millis(10);
/// Entries of the queue that are left to others (i915 `GT_FIFO_NUM_RESERVED_ENTRIES`).
const RESERVED: u32 = 20;
/// The driver's bit of request and acknowledgement, which a write selects by the same bit of the upper half (i915
/// `FORCEWAKE_KERNEL`).
const KERNEL: u32 = 1;
/// Silent acknowledgements after which nobody waits for another.
const MOST_SILENT: u32 = 3;

/// Parts of a GT that sleep by themselves, at most.
const MOST_WELLS: usize = 2;

/// A part of the GT that sleeps by itself: MMIO byte offsets of what keeps it awake.
#[derive(Clone, Copy, Debug)]
pub struct Well {
    /// Request.
    pub request: u32,
    /// Acknowledgement.
    pub acknowledge: u32,
}

/// Registers that are read while a part of the GT is awake.
#[derive(Clone, Copy, Debug)]
pub struct Range {
    /// MMIO byte offset of the first.
    pub first: u32,
    /// The byte behind them.
    pub end: u32,
    /// Number of the part.
    pub well: usize,
}

/// Where a device has what keeps it awake: MMIO byte offsets.
#[derive(Clone, Copy, Debug)]
pub struct ForcewakeInfo {
    /// The parts that sleep, one or two.
    pub wells: &'static [Well],
    /// Which registers need which part, in ascending order; the others need none.
    pub ranges: &'static [Range],
    /// Threads of the GT that are not awake, and the bits of that register, where there is one to wait for.
    pub threads: Option<(u32, u32)>,
    /// Free entries of the queue of writes.
    pub fifo: u32,
    /// Bits of it.
    pub fifo_mask: u32,
    /// Others use the queue as well, so that it is looked at each time.
    pub fifo_is_shared: bool,
    /// Errors of that queue.
    pub fifo_errors: u32,
    /// Writes below this offset go through the queue.
    pub below: u32,
}

/// The registers of a device whose GT sleeps.
pub(super) struct Forcewake {
    platform: Arc<dyn Platform>,
    info: &'static ForcewakeInfo,
    /// Who keeps each part awake. Interrupt handlers read no register of the GT, so that they do not take this.
    users: SpinLock<[u32; MOST_WELLS]>,
    /// Entries of the queue that were free at the last look and have not been used since.
    room: AtomicU32,
    silent: AtomicU32,
}

impl Forcewake {
    /// The registers of a platform; what others have requested is taken back (i915 `intel_uncore_forcewake_reset`).
    pub(super) fn new(platform: &Arc<dyn Platform>, info: &'static ForcewakeInfo) -> Self {
        let io = platform.io();
        for well in info.wells {
            io.write32(0xffff << 16, well.request as usize);
        }
        let errors = io.read32(info.fifo_errors as usize);
        if errors != 0 {
            io.write32(errors, info.fifo_errors as usize);
        }
        Forcewake {
            platform: Arc::clone(platform),
            info,
            users: SpinLock::new([0; MOST_WELLS]),
            room: AtomicU32::new(0),
            silent: AtomicU32::new(0),
        }
    }

    /// The part of the GT that a register needs to be read.
    fn well(&self, offset: usize) -> Option<usize> {
        let ranges = self.info.ranges;
        let behind = ranges.partition_point(|range| range.first as usize <= offset);
        let range = ranges.get(behind.checked_sub(1)?)?;
        (offset < range.end as usize).then_some(range.well)
    }

    /// Waits until the masked register has a value; whether it has.
    fn wait(&self, register: u32, mask: u32, value: u32, timeout: Delta) -> bool {
        let io = self.platform.io();
        read_poll_timeout(
            self.platform.clock(),
            || Ok(io.read32(register as usize)),
            |now| now & mask == value,
            POLL,
            timeout,
        )
        .is_ok()
    }

    /// Waits for an acknowledgement. A device that never gives one is reported and lived with.
    fn acknowledged(&self, well: Well, value: u32) {
        if self.silent.load(Ordering::Relaxed) >= MOST_SILENT {
            return;
        }
        if !self.wait(well.acknowledge, KERNEL, value, ACK_TIMEOUT) {
            self.silent.fetch_add(1, Ordering::Relaxed);
            pr_err!("forcewake: no acknowledgement of {value}");
        }
    }

    /// Wakes parts: requests first, then acknowledgements (i915 `fw_domains_get_normal`).
    fn wake<'a>(&self, wells: impl Iterator<Item = &'a Well> + Clone) {
        let io = self.platform.io();
        for well in wells.clone() {
            self.acknowledged(*well, 0);
            io.write32(KERNEL << 16 | KERNEL, well.request as usize);
        }
        for well in wells {
            self.acknowledged(*well, KERNEL);
        }
        // W/A WaRsForcewakeWaitTC0: a read right after the acknowledgement may give 0.
        if let Some((register, mask)) = self.info.threads
            && !self.wait(register, mask, 0, THREAD_TIMEOUT)
        {
            pr_err!("forcewake: the GT's threads do not wake");
        }
    }

    /// The parts of a mask.
    fn wells(&self, mask: u32) -> impl Iterator<Item = (usize, &'static Well)> + Clone {
        let all = self.info.wells.iter().enumerate().take(MOST_WELLS);
        all.filter(move |(index, _)| mask & 1 << index != 0)
    }

    /// Keeps parts of the GT awake until [`put`](Self::put).
    fn get(&self, mask: u32) {
        let mut users = self.users.lock();
        // PANIC: `wells` has indices below MOST_WELLS alone.
        let asleep = |index: usize| users[index] == 0;
        let sleeping = self.wells(mask).filter(|(index, _)| asleep(*index));
        let sleeping = sleeping.map(|(index, _)| 1 << index);
        let sleeping = sleeping.fold(0, |all: u32, bit: u32| all | bit);
        if sleeping != 0 {
            self.wake(self.wells(sleeping).map(|(_, well)| well));
        }
        for (index, _) in self.wells(mask) {
            // PANIC: as above.
            users[index] += 1;
        }
    }

    /// See [`get`](Self::get).
    fn put(&self, mask: u32) {
        let mut users = self.users.lock();
        for (index, well) in self.wells(mask) {
            // PANIC: as above.
            users[index] = users[index].saturating_sub(1);
            if users[index] == 0 {
                let io = self.platform.io();
                io.write32(KERNEL << 16, well.request as usize);
            }
        }
    }

    /// Keeps the whole GT awake until [`put_all`](Self::put_all).
    pub(super) fn get_all(&self) {
        self.get(u32::MAX);
    }

    /// See [`get_all`](Self::get_all).
    pub(super) fn put_all(&self) {
        self.put(u32::MAX);
    }

    /// Waits until the queue of writes takes one more.
    fn make_room(&self) {
        let mut room = if self.info.fifo_is_shared {
            0
        } else {
            self.room.load(Ordering::Relaxed)
        };
        if room <= RESERVED {
            let io = self.platform.io();
            let (register, mask) = (self.info.fifo, self.info.fifo_mask);
            let found = read_poll_timeout(
                self.platform.clock(),
                || Ok(io.read32(register as usize) & mask),
                |free| *free > RESERVED,
                POLL,
                FIFO_TIMEOUT,
            );
            match found {
                Ok(free) => room = free,
                Err(_) => return,
            }
        }
        self.room.store(room.saturating_sub(1), Ordering::Relaxed);
    }
}

impl Io for Forcewake {
    fn read32(&self, offset: usize) -> u32 {
        let io = self.platform.io();
        let Some(well) = self.well(offset) else {
            return io.read32(offset);
        };
        self.get(1 << well);
        let value = io.read32(offset);
        self.put(1 << well);
        value
    }

    fn write32(&self, value: u32, offset: usize) {
        if offset < self.info.below as usize {
            self.make_room();
        }
        self.platform.io().write32(value, offset);
    }
}

/// Keeps the GT awake until it is dropped.
#[must_use]
pub struct Awake<'a>(pub(super) Option<&'a Forcewake>);

impl Drop for Awake<'_> {
    fn drop(&mut self) {
        if let Some(forcewake) = self.0 {
            forcewake.put_all();
        }
    }
}
