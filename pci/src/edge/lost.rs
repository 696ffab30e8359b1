//! Pages of mapped files that have gone: SIGBUS, and memory of ones in their place.
//!
//! sigaction(2), signal-safety(7): the handler uses atomics, and mmap as a bare system call.
#![allow(unsafe_code, reason = "a handler of a signal, which replaces pages")]

use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use nix::errno::Errno;
use nix::libc;
use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction};

/// Bytes of a page.
const PAGE: usize = 4096;
/// Mappings at a time.
const PLACES: usize = 32;
/// A place that is being filled: no address is behind it.
const TAKEN: usize = usize::MAX;

/// A mapping that is watched.
struct Place {
    /// 0: free.
    start: AtomicUsize,
    end: AtomicUsize,
    lost: AtomicBool,
}

static ALL: [Place; PLACES] = [const {
    Place {
        start: AtomicUsize::new(0),
        end: AtomicUsize::new(0),
        lost: AtomicBool::new(false),
    }
}; PLACES];

/// A mapping whose lost pages are replaced, until this goes.
pub(super) struct Watch(&'static Place);

impl Watch {
    /// Watches `len` bytes from an address on.
    pub(super) fn new(start: usize, len: usize) -> io::Result<Self> {
        static INSTALLED: OnceLock<nix::Result<()>> = OnceLock::new();
        (*INSTALLED.get_or_init(install))?;
        let take = |place: &&'static Place| {
            let taken = place
                .start
                .compare_exchange(0, TAKEN, Ordering::AcqRel, Ordering::Relaxed);
            taken.is_ok()
        };
        let place = ALL.iter().find(take).ok_or(Errno::EMFILE)?;
        place.lost.store(false, Ordering::Relaxed);
        place
            .end
            .store(start.saturating_add(len), Ordering::Relaxed);
        place.start.store(start, Ordering::Release);
        Ok(Watch(place))
    }

    /// Whether a page has gone.
    pub(super) fn is_lost(&self) -> bool {
        self.0.lost.load(Ordering::Acquire)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.0.start.store(TAKEN, Ordering::Release);
        self.0.end.store(0, Ordering::Relaxed);
        self.0.start.store(0, Ordering::Release);
    }
}

fn install() -> nix::Result<()> {
    let flags = SaFlags::SA_SIGINFO | SaFlags::SA_ONSTACK;
    let action = SigAction::new(SigHandler::SigAction(on_bus_error), flags, SigSet::empty());
    // SAFETY: the handler does what handlers may do, see there.
    unsafe { sigaction(Signal::SIGBUS, &action) }.map(drop)
}

/// Puts a page of ones where a watched page has gone; any other cause ends the process as it would have.
extern "C" fn on_bus_error(signal: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    let errno = Errno::last_raw();
    // SAFETY: the system hands over the signal's description, which for SIGBUS has an address.
    let address = unsafe { (*info).si_addr() }.addr();
    let is_in = |place: &&Place| {
        let start = place.start.load(Ordering::Acquire);
        start <= address && address < place.end.load(Ordering::Relaxed)
    };
    if let Some(place) = ALL.iter().find(is_in)
        && put_ones(address & !(PAGE - 1))
    {
        place.lost.store(true, Ordering::Release);
        Errno::set_raw(errno);
        return;
    }
    // SAFETY: both may be called by handlers. The signal waits until this one returns.
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
        libc::raise(signal);
    }
}

/// Whether there is a page of ones now.
fn put_ones(page: usize) -> bool {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
    let at = std::ptr::with_exposed_provenance_mut::<u8>(page);
    // SAFETY: the page belongs to a mapping of this module's caller, which has lost it; what takes its place is unmapped with the rest.
    unsafe {
        if libc::mmap(at.cast(), PAGE, access, flags, -1, 0) == libc::MAP_FAILED {
            return false;
        }
        std::ptr::write_bytes(at, 0xff, PAGE);
    }
    true
}
