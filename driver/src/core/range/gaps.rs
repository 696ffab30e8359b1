//! What is free between ranges: the lowest and the highest gap that fits.
//!
//! Not all gaps are looked at: a tree by address whose nodes know the largest gap below them (drm_mm.c has the same). It is balanced by numbers that
//! are made of the addresses, a treap; a user who chooses the addresses gets it no deeper than a few thousand nodes, as
//! there are only so many pages. A copy shares all nodes until one of both changes. Not modelled: alignment in the nodes;
//! gaps that are large enough and do not fit because of it are passed over one by one.
use alloc::sync::Arc;

use crate::core::work;

type Link = Option<Arc<Node>>;

#[derive(Clone, Debug)]
struct Node {
    start: u64,
    end: u64,
    /// The largest gap of this node and those below.
    largest: u64,
    left: Link,
    right: Link,
}

/// Gaps; none touches another.
#[derive(Clone, Default, Debug)]
pub struct Gaps(Link);

/// What is asked of a gap.
#[derive(Clone, Copy)]
struct Wish {
    size: u64,
    align: u64,
    /// Lowest address.
    above: u64,
}

/// Scatters addresses (the finisher of splitmix64).
fn priority(start: u64) -> u64 {
    let mut bits = start.wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ bits >> 31
}

fn largest(link: &Link) -> u64 {
    link.as_ref().map_or(0, |node| node.largest)
}

impl Node {
    fn update(&mut self) {
        let own = self.end - self.start;
        self.largest = own.max(largest(&self.left)).max(largest(&self.right));
    }
}

/// Those that start below an address, and the others.
fn split(link: Link, at: u64) -> (Link, Link) {
    let Some(mut node) = link else {
        return (None, None);
    };
    work::one();
    let inner = Arc::make_mut(&mut node);
    if inner.start < at {
        let (low, high) = split(inner.right.take(), at);
        inner.right = low;
        inner.update();
        (Some(node), high)
    } else {
        let (low, high) = split(inner.left.take(), at);
        inner.left = high;
        inner.update();
        (low, Some(node))
    }
}

/// All of `low` lies below all of `high`.
fn merge(low: Link, high: Link) -> Link {
    let (mut left, mut right) = match (low, high) {
        (Some(left), Some(right)) => (left, right),
        (one, other) => return one.or(other),
    };
    work::one();
    if priority(left.start) > priority(right.start) {
        let inner = Arc::make_mut(&mut left);
        inner.right = merge(inner.right.take(), Some(right));
        inner.update();
        Some(left)
    } else {
        let inner = Arc::make_mut(&mut right);
        inner.left = merge(Some(left), inner.left.take());
        inner.update();
        Some(right)
    }
}

fn lowest(link: &Link, wish: &Wish) -> Option<u64> {
    let node = link.as_ref().filter(|node| node.largest >= wish.size)?;
    work::one();
    if node.start > wish.above
        && let Some(found) = lowest(&node.left, wish)
    {
        return Some(found);
    }
    let start = node.start.max(wish.above);
    let fits = start.checked_next_multiple_of(wish.align).filter(|start| {
        start
            .checked_add(wish.size)
            .is_some_and(|end| end <= node.end)
    });
    fits.or_else(|| lowest(&node.right, wish))
}

fn highest(link: &Link, wish: &Wish) -> Option<u64> {
    let node = link.as_ref().filter(|node| node.largest >= wish.size)?;
    work::one();
    if let Some(found) = highest(&node.right, wish) {
        return Some(found);
    }
    if node.end <= wish.above {
        return None;
    }
    let start = node.end.checked_sub(wish.size)? & !(wish.align - 1);
    if start >= node.start.max(wish.above) {
        return Some(start);
    }
    highest(&node.left, wish)
}

impl Gaps {
    /// One gap.
    #[must_use]
    pub fn new(start: u64, end: u64) -> Self {
        let mut gaps = Gaps(None);
        gaps.put(start, end);
        gaps
    }

    fn put(&mut self, start: u64, end: u64) {
        if start >= end {
            return;
        }
        let node = Node {
            start,
            end,
            largest: end - start,
            left: None,
            right: None,
        };
        let (low, high) = split(self.0.take(), start);
        self.0 = merge(merge(low, Some(Arc::new(node))), high);
    }

    fn cut(&mut self, start: u64) {
        let (low, rest) = split(self.0.take(), start);
        let (_, high) = split(rest, start.saturating_add(1));
        self.0 = merge(low, high);
    }

    /// The last gap that starts at or below an address.
    fn at_or_below(&self, address: u64) -> Option<(u64, u64)> {
        let mut found = None;
        let mut link = &self.0;
        while let Some(node) = link {
            work::one();
            if node.start <= address {
                found = Some((node.start, node.end));
                link = &node.right;
            } else {
                link = &node.left;
            }
        }
        found
    }

    /// Takes a range out of the gap that it lies in; false when it lies in none.
    pub fn take(&mut self, start: u64, end: u64) -> bool {
        let Some((from, to)) = self.at_or_below(start).filter(|gap| gap.1 >= end) else {
            return false;
        };
        self.cut(from);
        self.put(from, start);
        self.put(end, to);
        true
    }

    /// Gives a range back that is in no gap.
    pub fn give(&mut self, start: u64, end: u64) {
        let (mut from, mut to) = (start, end);
        if let Some((before, stop)) = self.at_or_below(start)
            && stop == start
        {
            self.cut(before);
            from = before;
        }
        if let Some((next, stop)) = self.at_or_below(end)
            && next == end
        {
            self.cut(next);
            to = stop;
        }
        self.put(from, to);
    }

    /// The highest place of so many bytes that starts at or below an address.
    #[must_use]
    pub fn highest_from(&self, size: u64, from: u64) -> Option<u64> {
        let mut from = from;
        loop {
            let (start, end) = self.at_or_below(from)?;
            let last = end.checked_sub(size).filter(|last| *last >= start);
            if let Some(last) = last {
                return Some(last.min(from));
            }
            from = start.checked_sub(1)?;
        }
    }

    /// The lowest place at or above an address.
    #[must_use]
    pub fn lowest(&self, size: u64, align: u64, above: u64) -> Option<u64> {
        lowest(&self.0, &Wish { size, align, above })
    }

    /// The highest place at or above an address.
    #[must_use]
    pub fn highest(&self, size: u64, align: u64, above: u64) -> Option<u64> {
        highest(&self.0, &Wish { size, align, above })
    }
}
