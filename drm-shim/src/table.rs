//! The ranges where this process has the node mapped.
//!
//! Fixed room and no allocation; looking takes no lock, since every `munmap` of the program looks.

use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};

use crate::sys;
use crate::turn::Turn;

/// Most ranges: the system's own limit of mappings per process.
const MOST: usize = 1 << 16;

/// A range of addresses.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Range {
    pub start: u64,
    pub end: u64,
}

/// Ranges that are not mapped any more. What there is no room for is found out again the next time.
#[derive(Default)]
pub struct Gone {
    ranges: [Range; 16],
    count: usize,
}

impl Gone {
    /// Adds a range, which may be empty.
    pub fn push(&mut self, start: u64, end: u64) {
        if start < end
            && let Some(range) = self.ranges.get_mut(self.count)
        {
            *range = Range { start, end };
            self.count += 1;
        }
    }

    pub fn all(&self) -> impl Iterator<Item = Range> {
        self.ranges.iter().copied().take(self.count)
    }
}

/// Rows that there are: a mapping most often comes in front of all others, since the system hands out addresses downwards, but sometimes
/// behind them.
const ROWS: usize = 2 * MOST;

struct Row {
    start: AtomicU64,
    end: AtomicU64,
}

impl Row {
    const fn new() -> Self {
        Row {
            start: AtomicU64::new(0),
            end: AtomicU64::new(0),
        }
    }

    fn get(&self) -> Range {
        Range {
            start: self.start.load(Ordering::Relaxed),
            end: self.end.load(Ordering::Relaxed),
        }
    }

    fn set(&self, range: Range) {
        self.start.store(range.start, Ordering::Relaxed);
        self.end.store(range.end, Ordering::Relaxed);
    }
}

/// Ranges in order of their addresses. They lie side by side somewhere in the rows, so that there is room at both ends: a change moves
/// those before it or those behind it, whichever are fewer.
pub struct Table {
    turn: Turn,
    /// Signals that were blocked before the table was held.
    signals: AtomicU64,
    len: AtomicUsize,
    /// The row of the first range.
    base: AtomicUsize,
    rows: [Row; ROWS],
}

/// The one of this process.
pub static TABLE: Table = Table::new();

impl Table {
    #[expect(clippy::large_stack_arrays, reason = "made when compiled, for statics")]
    pub const fn new() -> Self {
        Table {
            turn: Turn::over(AtomicU32::new(0), AtomicBool::new(false)),
            signals: AtomicU64::new(0),
            len: AtomicUsize::new(0),
            base: AtomicUsize::new(MOST),
            rows: [const { Row::new() }; ROWS],
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len.load(Ordering::Acquire) == 0
    }

    fn row(&self, index: usize) -> Range {
        let base = self.base.load(Ordering::Relaxed);
        self.rows.get(base + index).map_or(
            Range {
                start: u64::MAX,
                end: u64::MAX,
            },
            Row::get,
        )
    }

    fn set(&self, index: usize, range: Range) {
        let base = self.base.load(Ordering::Relaxed);
        if let Some(row) = self.rows.get(base + index) {
            row.set(range);
        }
    }

    /// Moves the ranges so that there is a row in front of them and one behind them.
    fn make_room(&self) {
        let (base, len) = (
            self.base.load(Ordering::Relaxed),
            self.len.load(Ordering::Relaxed),
        );
        if base > 0 && base + len < ROWS {
            return;
        }
        let to = (ROWS - len) / 2;
        let shift = |index: usize| {
            if let (Some(from), Some(to)) = (self.rows.get(base + index), self.rows.get(to + index))
            {
                to.set(from.get());
            }
        };
        if to < base {
            (0..len).for_each(shift);
        } else {
            (0..len).rev().for_each(shift);
        }
        self.base.store(to, Ordering::Relaxed);
    }

    /// Index of the first range that ends after an address.
    fn first(&self, address: u64) -> usize {
        let (mut low, mut high) = (0, self.len.load(Ordering::Relaxed).min(MOST));
        while low < high {
            let middle = usize::midpoint(low, high);
            if self.row(middle).end > address {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        low
    }

    /// Whether any range lies in `start..end` in part. Takes no lock.
    pub fn overlaps(&self, start: u64, end: u64) -> bool {
        // Most programs look before they have mapped anything.
        if self.is_empty() {
            return false;
        }
        self.turn.look(|| {
            let first = self.first(start);
            first < self.len.load(Ordering::Relaxed) && self.row(first).start < end
        })
    }

    /// Keeps others, and signals of this thread, out.
    pub fn hold(&self) {
        let signals = sys::block_signals();
        self.turn.hold();
        self.signals.store(signals, Ordering::Relaxed);
    }

    /// Lets them in again.
    pub fn release(&self) {
        let signals = self.signals.load(Ordering::Relaxed);
        self.turn.release();
        sys::unblock_signals(signals);
    }

    /// In a child that was made past libc: what another thread of the parent was just changing is not known any more. Whether there was
    /// something like that.
    pub fn copied(&self) -> bool {
        let changing = self.turn.copied();
        if changing {
            self.len.store(0, Ordering::Release);
        }
        changing
    }

    fn change<T>(&self, change: impl FnOnce() -> T) -> T {
        self.hold();
        let result = self.turn.change(change);
        self.release();
        result
    }

    /// Adds a range in place of what was there; false when there is no room.
    pub fn insert(&self, range: Range) -> bool {
        self.change(|| {
            self.cut(range.start, range.end);
            self.open(self.first(range.start), range)
        })
    }

    /// Takes `start..end` out.
    pub fn remove(&self, start: u64, end: u64) {
        self.held(|table| table.remove(start, end));
    }

    /// Runs something while nobody else changes the table: who maps something where that unmaps it comes behind it.
    pub fn held<T>(&self, run: impl FnOnce(&Held<'_>) -> T) -> T {
        self.hold();
        let result = run(&Held(self));
        self.release();
        result
    }

    /// Makes room at an index and fills it.
    fn open(&self, index: usize, range: Range) -> bool {
        let len = self.len.load(Ordering::Relaxed);
        if len >= MOST {
            return false;
        }
        self.make_room();
        if index < len / 2 {
            let base = self.base.load(Ordering::Relaxed);
            self.base.store(base.saturating_sub(1), Ordering::Relaxed);
            for at in 0..index {
                self.set(at, self.row(at + 1));
            }
        } else {
            for at in (index..len).rev() {
                self.set(at + 1, self.row(at));
            }
        }
        self.set(index, range);
        self.len.store(len + 1, Ordering::Release);
        true
    }

    fn cut(&self, start: u64, end: u64) {
        let first = self.first(start);
        let len = self.len.load(Ordering::Relaxed);
        let row = self.row(first);
        if first < len && row.start < start && row.end > end {
            self.set(first, Range { end: start, ..row });
            // A full table loses the rest, which is then no longer reported.
            self.open(first + 1, Range { start: end, ..row });
            return;
        }
        // Those that are hit lie side by side; what is left of the first and the last one stays.
        let mut last = first;
        while last < len && self.row(last).start < end {
            last += 1;
        }
        let mut gone = first..last;
        if let Some(row) = self.row_in(&gone, first)
            && row.start < start
        {
            self.set(first, Range { end: start, ..row });
            gone.start += 1;
        }
        if let Some(row) = self.row_in(&gone, last.wrapping_sub(1))
            && row.end > end
        {
            self.set(last - 1, Range { start: end, ..row });
            gone.end -= 1;
        }
        self.close(gone, len);
    }

    fn row_in(&self, rows: &core::ops::Range<usize>, index: usize) -> Option<Range> {
        rows.contains(&index).then(|| self.row(index))
    }

    /// Takes rows out.
    fn close(&self, gone: core::ops::Range<usize>, len: usize) {
        let count = gone.len();
        if gone.start < len - gone.end {
            for at in (0..gone.start).rev() {
                self.set(at + count, self.row(at));
            }
            let base = self.base.load(Ordering::Relaxed);
            self.base.store(base + count, Ordering::Relaxed);
        } else {
            for at in gone.end..len {
                self.set(at - count, self.row(at));
            }
        }
        self.len.store(len - count, Ordering::Release);
    }
}

/// The table while nobody else changes it.
pub struct Held<'a>(&'a Table);

impl Held<'_> {
    /// Whether any range lies in `start..end` in part.
    pub fn overlaps(&self, start: u64, end: u64) -> bool {
        let Held(table) = self;
        let first = table.first(start);
        first < table.len.load(Ordering::Relaxed) && table.row(first).start < end
    }

    /// Takes `start..end` out.
    pub fn remove(&self, start: u64, end: u64) {
        let Held(table) = self;
        table.turn.change(|| table.cut(start, end));
    }

    /// Runs what moves `start..start + len` to an address, and moves the ranges with it. Threads that look wait meanwhile. The other
    /// place does not overlap the first.
    pub fn relocate<T, E>(
        &self,
        start: u64,
        len: u64,
        to: u64,
        run: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        let Held(table) = self;
        table.turn.change(|| {
            let result = run()?;
            let end = start.saturating_add(len);
            table.cut(to, to.saturating_add(len));
            loop {
                let first = table.first(start);
                let row = table.row(first);
                if first >= table.len.load(Ordering::Relaxed) || row.start >= end {
                    return Ok(result);
                }
                let piece = Range {
                    start: row.start.max(start),
                    end: row.end.min(end),
                };
                table.cut(piece.start, piece.end);
                let moved = Range {
                    start: to + (piece.start - start),
                    end: to + (piece.end - start),
                };
                // A full table loses it, which is then no longer reported.
                table.open(table.first(moved.start), moved);
            }
        })
    }

    /// Runs `each` for every piece of a range within `start..end`. What it says is gone is taken out at the end, and comes back.
    pub fn each(&self, start: u64, end: u64, mut each: impl FnMut(Range, &mut Gone)) -> Gone {
        let Held(table) = self;
        let mut gone = Gone::default();
        for index in table.first(start)..table.len.load(Ordering::Relaxed) {
            let range = table.row(index);
            if range.start >= end {
                break;
            }
            let piece = Range {
                start: range.start.max(start),
                end: range.end.min(end),
            };
            each(piece, &mut gone);
        }
        for range in gone.all() {
            self.remove(range.start, range.end);
        }
        gone
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(start: u64, end: u64) -> Range {
        Range { start, end }
    }

    fn all(table: &Table) -> Vec<(u64, u64)> {
        let mut all = Vec::new();
        table.held(|table| {
            table.each(0, u64::MAX, |range, _| all.push((range.start, range.end)));
        });
        all
    }

    #[test]
    fn ranges_are_cut_as_munmap_cuts() {
        static TABLE: Table = Table::new();
        let table = &TABLE;
        assert!(!table.overlaps(0, u64::MAX));
        for start in [60, 20, 40] {
            assert!(table.insert(of(start, start + 10)));
        }
        assert_eq!(all(table), [(20, 30), (40, 50), (60, 70)]);
        assert!(table.overlaps(29, 31) && table.overlaps(0, 100) && table.overlaps(45, 46));
        assert!(!table.overlaps(30, 40) && !table.overlaps(70, 99) && !table.overlaps(0, 20));
        table.remove(44, 46);
        assert_eq!(all(table), [(20, 30), (40, 44), (46, 50), (60, 70)]);
        table.remove(25, 48);
        assert_eq!(all(table), [(20, 25), (48, 50), (60, 70)]);
        assert!(table.insert(of(49, 65)));
        assert_eq!(all(table), [(20, 25), (48, 49), (49, 65), (65, 70)]);
        table.held(|table| {
            table.each(0, 60, |range, gone| gone.push(range.start + 1, range.end));
        });
        let left = [(20, 21), (48, 49), (49, 50), (60, 65), (65, 70)];
        assert_eq!(all(table), left);
        table.remove(0, u64::MAX);
        assert!(table.is_empty());
    }

    /// The bytes that ranges cover, one by one, whatever comes where; the table keeps its order and its rows.
    #[test]
    fn many_changes_are_those_of_single_bytes() {
        static TABLE: Table = Table::new();
        let mut bytes = vec![false; 600];
        let mut rng = fastrand::Rng::with_seed(5);
        for _ in 0..20_000 {
            let start = rng.usize(..590);
            let end = start + 1 + rng.usize(..10);
            let mapped = rng.bool();
            let range = of(start as u64, end as u64);
            if mapped {
                assert!(TABLE.insert(range));
            } else {
                TABLE.remove(range.start, range.end);
            }
            bytes[start..end].fill(mapped);
            let rows = all(&TABLE);
            assert!(rows.iter().all(|(start, end)| start < end), "{rows:?}");
            assert!(rows.windows(2).all(|two| two[0].1 <= two[1].0), "{rows:?}");
            let mut found = vec![false; 600];
            for (start, end) in rows {
                found[start as usize..end as usize].fill(true);
            }
            assert_eq!(found, bytes);
        }
    }

    #[test]
    fn a_table_has_room_whichever_way_it_grows() {
        static TABLE: Table = Table::new();
        let most = MOST as u64;
        for round in 0..3 {
            // From above, from below, and from both sides in turn.
            let at = |n: u64| match round {
                0 => 4 * (most - n),
                1 => 4 * (1 + n),
                _ if n.is_multiple_of(2) => 4 * (most - n),
                _ => 4 * (most + n),
            };
            for n in 0..most {
                assert!(TABLE.insert(of(at(n), at(n) + 2)), "{round} {n}");
            }
            assert!(!TABLE.insert(of(1, 2)));
            assert!(TABLE.overlaps(at(most - 1), at(most - 1) + 1));
            assert_eq!(all(&TABLE).len(), MOST);
            TABLE.remove(0, u64::MAX);
            assert!(TABLE.is_empty());
            // The ranges wander through the rows, and back.
            for n in 0..2 * most + 5 {
                assert!(TABLE.insert(of(4 + n, 5 + n)));
                TABLE.remove(3 + n, 4 + n);
            }
            assert_eq!(all(&TABLE), [(2 * most + 8, 2 * most + 9)]);
            TABLE.remove(0, u64::MAX);
        }
    }

    #[test]
    fn ranges_move_as_mremap_moves() {
        static TABLE: Table = Table::new();
        let table = &TABLE;
        for start in [20, 30, 60, 110] {
            assert!(table.insert(of(start, start + 10)));
        }
        let moved =
            |start, len, to, result| table.held(|table| table.relocate(start, len, to, || result));
        assert_eq!(moved(25, 10, 62, Err(())), Err(()));
        assert_eq!(all(table), [(20, 30), (30, 40), (60, 70), (110, 120)]);
        assert_eq!(moved(25, 10, 62, Ok(())), Ok(()));
        let pieces = [(20, 25), (35, 40), (60, 62), (62, 67), (67, 72), (110, 120)];
        assert_eq!(all(table), pieces);
        // To lower addresses, and where nothing is.
        assert_eq!(moved(60, 60, 0, Ok(())), Ok(()));
        assert_eq!(all(table), [(0, 2), (2, 7), (7, 12), (50, 60)]);
        assert_eq!(moved(200, 10, 0, Ok(())), Ok(()));
        assert_eq!(all(table), [(10, 12), (50, 60)]);
    }

    #[test]
    fn lookers_never_see_a_half_change() {
        static TABLE: Table = Table::new();
        assert!(TABLE.insert(of(1000, 2000)));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for _ in 0..2000 {
                    assert!(TABLE.insert(of(10, 20)));
                    TABLE.remove(10, 20);
                }
            });
            for _ in 0..2000 {
                assert!(TABLE.overlaps(1500, 1501));
                assert!(!TABLE.overlaps(500, 600));
            }
        });
    }
}
