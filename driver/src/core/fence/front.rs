//! What is left to wait for of many fences: the latest of each timeline.
//!
//! `dma_fence_unwrap_merge` of Linux. Requests of one timeline end in the order of their numbers, so the latest stands
//! for all before it, and there are no more entries than timelines, however many fences are added.
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::{Fence, Source, seqno_passed};
use crate::core::work;

/// Fences of single requests, one a timeline. Most programs use one engine, whose entry needs no list.
#[derive(Clone, Default)]
pub(crate) struct Front {
    first: Option<Arc<Fence>>,
    more: Vec<Arc<Fence>>,
}

impl Front {
    /// What has to end for a fence to end.
    pub(crate) fn of(fence: &Arc<Fence>) -> Self {
        let mut front = Front::default();
        front.add(fence);
        front
    }

    /// A fence counts as well, one of several requests as each of these. What has ended does not count.
    pub(crate) fn add(&mut self, fence: &Arc<Fence>) {
        match &fence.source {
            Source::Array { front, .. } => self.join(front),
            _ => self.add_request(fence),
        }
    }

    /// Everything counts that has to end for another one.
    pub(crate) fn join(&mut self, other: &Front) {
        for fence in other.iter() {
            self.add_request(fence);
        }
    }

    fn add_request(&mut self, fence: &Arc<Fence>) {
        work::one();
        if fence.status().is_some() {
            return;
        }
        self.drop_ended();
        let mut known = self.first.iter_mut().chain(&mut self.more);
        let alike = known.find(|known| match (fence.timeline(), known.timeline()) {
            (Some(one), Some(other)) => one == other,
            _ => Arc::ptr_eq(fence, known),
        });
        if let Some(known) = alike {
            if seqno_passed(fence.seqno(), known.seqno()) {
                *known = Arc::clone(fence);
            }
        } else if self.first.is_none() {
            self.first = Some(Arc::clone(fence));
        } else {
            self.more.push(Arc::clone(fence));
        }
    }

    /// Forgets what has ended.
    pub(crate) fn drop_ended(&mut self) {
        let open = |fence: &Arc<Fence>| fence.status().is_none();
        self.more.retain(open);
        if !self.first.as_ref().is_some_and(open) {
            self.first = self.more.pop();
        }
    }

    /// Whether everything has ended.
    pub(crate) fn is_done(&self) -> bool {
        self.iter().all(|fence| {
            work::one();
            fence.status().is_some()
        })
    }

    /// Whether both say the same, as far as they have not ended.
    pub(crate) fn is_like(&self, other: &Front) -> bool {
        let has = |all: &Front, fence| all.open().any(|known| Arc::ptr_eq(known, fence));
        self.open().all(|fence| has(other, fence)) && other.open().all(|fence| has(self, fence))
    }

    /// Its fences, whether they have ended or not.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Arc<Fence>> {
        self.first.iter().chain(&self.more)
    }

    /// Those that have not ended.
    pub(crate) fn open(&self) -> impl Iterator<Item = &Arc<Fence>> {
        self.iter().filter(|fence| fence.status().is_none())
    }

    /// What is equal for fronts of the same fences that were added in the same order.
    pub(crate) fn key(&self) -> impl Iterator<Item = usize> {
        self.iter().map(|fence| Arc::as_ptr(fence).addr())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernel::error::code::EIO;

    fn on(timeline: u64, seqno: u32) -> Arc<Fence> {
        Arc::new(Fence::on((timeline, seqno), "test", None))
    }

    fn entries(front: &Front) -> Vec<Option<(u64, u32)>> {
        let place = |fence: &Arc<Fence>| Some((fence.timeline()?, fence.seqno()));
        front.iter().map(place).collect()
    }

    #[test]
    fn the_latest_of_each_timeline_counts() {
        let (first, other) = (on(1, u32::MAX), on(2, 7));
        let mut front = Front::of(&first);
        front.add(&Arc::new(Fence::signalled()));
        let late = on(1, 3);
        front.add(&Fence::merge("", &[&on(1, 1), &other, &late]));
        front.add(&first);
        assert_eq!(
            entries(&front),
            [Some((1, 3)), Some((2, 7))],
            "numbers wrap"
        );
        late.signal(Err(EIO));
        assert!(!front.is_done());
        assert!(front.is_like(&Front::of(&other)));
        front.add(&on(1, 4));
        assert_eq!(entries(&front), [Some((2, 7)), Some((1, 4))]);
    }

    #[test]
    fn many_fences_are_few_entries() {
        let fences: Vec<_> = (0..1 << 12).map(|n| on(1 + n % 2, n as u32)).collect();
        let (looks, front) = work::of(|| {
            let mut front = Front::default();
            for fence in &fences {
                front.add(fence);
            }
            front
        });
        assert_eq!(entries(&front), [Some((1, 4094)), Some((2, 4095))]);
        assert!(looks <= 1 << 12, "{looks}");
    }
}
