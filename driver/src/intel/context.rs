//! Contexts: parameters, engine map, hangs and bans.
//!
//! i915 `i915_gem_context.c`, `intel_reset.c`. Not modelled: virtual and parallel engines, address spaces other than
//! the global GTT.
use alloc::sync::Arc;
use alloc::vec::Vec;

use kernel::error::Result;
use kernel::sync::{AtomicU32, Ordering, SpinLock};
use kernel::time::{Delta, Ktime};

use crate::core::client::Client;
use crate::intel::switch::Image;

/// Hangs within this time ban a context (i915 `CONTEXT_FAST_HANG_JIFFIES`).
const FAST_HANG: Delta = Delta::from_secs(120);
/// Parameters that user space sets.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parameters {
    /// Hangs are not captured.
    pub no_error_capture: bool,
    /// Hangs may ban the context.
    pub bannable: bool,
    /// The context goes on after a hang.
    pub recoverable: bool,
    /// Requests outlive the context.
    pub persistent: bool,
    /// Engine map: the row of the device's engine that slot n holds. `None` for the legacy ring numbers.
    pub engines: Option<Vec<Option<usize>>>,
}

impl Default for Parameters {
    /// i915 `proto_context_create`.
    fn default() -> Self {
        Parameters {
            no_error_capture: false,
            bannable: true,
            recoverable: true,
            persistent: true,
            engines: None,
        }
    }
}

#[derive(Default)]
struct Hangs {
    /// Times of the last hangs, oldest first.
    last: [Option<Ktime>; 2],
    banned: bool,
}

/// A context.
pub struct Context {
    parameters: SpinLock<(Parameters, bool)>,
    client: Arc<Client>,
    hangs: SpinLock<Hangs>,
    guilty: AtomicU32,
    active: AtomicU32,
    image: SpinLock<Option<Arc<Image>>>,
}

impl Context {
    /// A context of a client.
    #[must_use]
    pub fn new(client: &Arc<Client>, parameters: Parameters) -> Self {
        Context {
            parameters: SpinLock::new((parameters, false)),
            client: Arc::clone(client),
            hangs: SpinLock::new(Hangs::default()),
            guilty: AtomicU32::new(0),
            active: AtomicU32::new(0),
            image: SpinLock::new(None),
        }
    }

    /// Where the device keeps its state; `make` is asked when it is used for the first time.
    pub fn image(&self, make: impl FnOnce() -> Result<Image>) -> Result<Arc<Image>> {
        if let Some(image) = &*self.image.lock() {
            return Ok(Arc::clone(image));
        }
        let image = Arc::new(make()?);
        Ok(Arc::clone(self.image.lock().get_or_insert(image)))
    }

    /// Whose it is.
    #[must_use]
    pub fn client(&self) -> &Arc<Client> {
        &self.client
    }

    /// The parameters.
    #[must_use]
    pub fn parameters(&self) -> Parameters {
        self.parameters.lock().0.clone()
    }

    /// Replaces the parameters.
    pub fn set_parameters(&self, parameters: Parameters) {
        self.parameters.lock().0 = parameters;
    }

    /// Notes the first use: from now on the engine map stands.
    pub fn finalize(&self) {
        self.parameters.lock().1 = true;
    }

    /// Whether the context has been used.
    #[must_use]
    pub fn is_final(&self) -> bool {
        self.parameters.lock().1
    }

    /// The row of the engine in a slot of its map; `None` for an empty slot, and without a map.
    #[must_use]
    pub fn engine(&self, slot: usize) -> Option<usize> {
        let parameters = self.parameters.lock();
        let engines = parameters.0.engines.as_ref()?;
        engines.get(slot).copied().flatten()
    }

    /// Whether it may not run any more.
    #[must_use]
    pub fn is_banned(&self) -> bool {
        self.hangs.lock().banned
    }

    /// Number of its requests that hung, and of those that a reset took away.
    #[must_use]
    pub fn reset_stats(&self) -> (u32, u32) {
        (
            self.guilty.load(Ordering::Relaxed),
            self.active.load(Ordering::Relaxed),
        )
    }

    /// A reset found a request of the context hanging (i915 `mark_guilty`); whether that bans the context.
    pub fn mark_guilty(&self, now: Ktime) -> bool {
        self.guilty.fetch_add(1, Ordering::Relaxed);
        let parameters = self.parameters();
        if !parameters.bannable {
            return false;
        }
        let banned = {
            let mut hangs = self.hangs.lock();
            let oldest = hangs.last[0];
            hangs.last = [hangs.last[1], Some(now)];
            let fast = oldest.is_some_and(|oldest| now < oldest + FAST_HANG);
            let banned = fast || !parameters.recoverable;
            hangs.banned |= banned;
            banned
        };
        self.client.mark_guilty(now, banned);
        banned
    }

    /// A reset caught a request of the context that was not to blame; it is replayed (i915 `mark_innocent`).
    pub fn mark_innocent(&self) {
        self.active.fetch_add(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Ktime {
        Ktime::from_nanos(seconds * 1_000_000_000)
    }

    #[test]
    fn the_third_hang_in_two_minutes_bans() {
        let client = Arc::new(Client::default());
        let context = Context::new(&client, Parameters::default());
        context.mark_guilty(at(10));
        context.mark_guilty(at(100));
        assert!(!context.is_banned());
        context.mark_guilty(at(131));
        assert!(!context.is_banned(), "the first is 121 seconds ago");
        context.mark_guilty(at(219));
        assert!(context.is_banned());
        context.mark_innocent();
        assert_eq!(context.reset_stats(), (4, 1));
    }

    #[test]
    fn what_cannot_recover_is_banned_at_once_and_the_client_after_three() {
        let client = Arc::new(Client::default());
        let strict = Parameters {
            recoverable: false,
            ..Parameters::default()
        };
        for hang in 0..3 {
            assert!(!client.is_banned());
            let context = Context::new(&client, strict.clone());
            context.mark_guilty(at(1000 * hang));
            assert!(context.is_banned());
        }
        assert!(client.is_banned());
        let immune = Parameters {
            bannable: false,
            ..strict
        };
        let context = Context::new(&Arc::new(Client::default()), immune);
        context.mark_guilty(at(1));
        assert!(!context.is_banned());
    }
}
