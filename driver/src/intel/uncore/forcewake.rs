//! Forcewake: keeps the GT awake while registers are read, and room for writes.
//!
//! i915 `intel_uncore.c` (`fw_domains_get_with_thread_status`, `__gen6_gt_wait_for_fifo`, `gen6_write32`). Not modelled: the delay
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

/// Where a device has what keeps it awake: MMIO byte offsets.
#[derive(Clone, Copy, Debug)]
pub struct ForcewakeInfo {
    /// Request.
    pub request: u32,
    /// Acknowledgement.
    pub acknowledge: u32,
    /// Threads of the GT that are not awake.
    pub threads: u32,
    /// Bits of it.
    pub threads_mask: u32,
    /// Free entries of the queue of writes.
    pub fifo: u32,
    /// Bits of it.
    pub fifo_mask: u32,
    /// Errors of that queue.
    pub fifo_errors: u32,
    /// Registers below this offset are the GT's.
    pub below: u32,
}

/// The registers of a device whose GT sleeps.
pub(super) struct Forcewake {
    platform: Arc<dyn Platform>,
    info: &'static ForcewakeInfo,
    /// Who keeps it awake. Interrupt handlers read no register of the GT, so that they do not take this.
    users: SpinLock<u32>,
    /// Entries of the queue that were free at the last look and have not been used since.
    room: AtomicU32,
    silent: AtomicU32,
}

impl Forcewake {
    /// The registers of a platform; what others have requested is taken back (i915 `intel_uncore_forcewake_reset`).
    pub(super) fn new(platform: &Arc<dyn Platform>, info: &'static ForcewakeInfo) -> Self {
        let io = platform.io();
        io.write32(0xffff << 16, info.request as usize);
        let errors = io.read32(info.fifo_errors as usize);
        if errors != 0 {
            io.write32(errors, info.fifo_errors as usize);
        }
        Forcewake {
            platform: Arc::clone(platform),
            info,
            users: SpinLock::new(0),
            room: AtomicU32::new(0),
            silent: AtomicU32::new(0),
        }
    }

    fn is_of_gt(&self, offset: usize) -> bool {
        offset < self.info.below as usize
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
    fn acknowledged(&self, value: u32) {
        if self.silent.load(Ordering::Relaxed) >= MOST_SILENT {
            return;
        }
        if !self.wait(self.info.acknowledge, KERNEL, value, ACK_TIMEOUT) {
            self.silent.fetch_add(1, Ordering::Relaxed);
            pr_err!("forcewake: no acknowledgement of {value}");
        }
    }

    fn wake(&self) {
        let io = self.platform.io();
        self.acknowledged(0);
        io.write32(KERNEL << 16 | KERNEL, self.info.request as usize);
        self.acknowledged(KERNEL);
        // W/A WaRsForcewakeWaitTC0: a read right after the acknowledgement may give 0.
        let (register, mask) = (self.info.threads, self.info.threads_mask);
        if !self.wait(register, mask, 0, THREAD_TIMEOUT) {
            pr_err!("forcewake: the GT's threads do not wake");
        }
    }

    fn sleep(&self) {
        let io = self.platform.io();
        io.write32(KERNEL << 16, self.info.request as usize);
    }

    /// Keeps the GT awake until [`put`](Self::put).
    pub(super) fn get(&self) {
        let mut users = self.users.lock();
        if *users == 0 {
            self.wake();
        }
        *users += 1;
    }

    /// See [`get`](Self::get).
    pub(super) fn put(&self) {
        let mut users = self.users.lock();
        *users = users.saturating_sub(1);
        if *users == 0 {
            self.sleep();
        }
    }

    /// Waits until the queue of writes takes one more.
    fn make_room(&self) {
        let mut room = self.room.load(Ordering::Relaxed);
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
        if !self.is_of_gt(offset) {
            return io.read32(offset);
        }
        self.get();
        let value = io.read32(offset);
        self.put();
        value
    }

    fn write32(&self, value: u32, offset: usize) {
        if self.is_of_gt(offset) {
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
            forcewake.put();
        }
    }
}
