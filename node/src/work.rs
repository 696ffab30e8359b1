//! Counted work: what tests compare for few objects and for many.
//!
//! Nothing outside of tests.

#[cfg(test)]
thread_local! {
    static DONE: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// Something has been looked at: a view, an entry of a table, a range.
#[inline(always)]
pub fn one() {
    #[cfg(test)]
    DONE.set(DONE.get() + 1);
}

/// How much this thread has looked at meanwhile.
#[cfg(test)]
pub fn of<T>(run: impl FnOnce() -> T) -> (u64, T) {
    let before = DONE.get();
    let result = run();
    (DONE.get() - before, result)
}
