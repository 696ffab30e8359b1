//! Counted work: what tests compare for few objects and for many.
//!
//! Nothing outside of tests.

#[cfg(test)]
extern crate std;

#[cfg(test)]
std::thread_local! {
    static DONE: core::cell::Cell<u64> = const { core::cell::Cell::new(0) };
}

/// Something has been looked at: an object, an entry of a table, a node of a tree.
#[inline(always)]
pub(crate) fn one() {
    #[cfg(test)]
    DONE.set(DONE.get() + 1);
}

/// How much this thread has looked at meanwhile.
#[cfg(test)]
pub(crate) fn of<T>(run: impl FnOnce() -> T) -> (u64, T) {
    let before = DONE.get();
    let result = run();
    (DONE.get() - before, result)
}
