//! Points of a timeline, with what has to end for each of them.
//!
//! dma-fence-chain.c of Linux.
use alloc::sync::Arc;
use alloc::vec::Vec;

use kernel::error::{Result, code::EINVAL};

use super::Wait;
use crate::core::account::Permit;
use crate::core::fence::{Fence, Front};
use crate::core::work;

/// Shorter chains keep each point by itself.
const SHORT: usize = 64;

/// A point, or several side by side.
struct Link {
    /// The last of its points.
    point: u64,
    /// The point before its first; 0 where the timeline starts anew, so that points before are not comparable.
    previous: u64,
    /// What has to end for it to be signalled: its fences, and those of links before it.
    front: Front,
    /// The fence of its last point.
    last: Arc<Fence>,
    /// A part of what it waits for that had ended with an error before, and whose error is passed on.
    failed: Option<Arc<Fence>>,
    /// Its room, unless the sync object has held its fence before.
    _permit: Option<Permit>,
}

/// Points of a timeline; each is signalled when its fence and all before it are.
#[derive(Default)]
pub(super) struct Chain {
    /// What has to end of points before the timeline started anew.
    base: Front,
    /// Not empty once there is a point.
    links: Vec<Link>,
    /// The point before the last one.
    before: u64,
    /// Number of links at which those that are alike are made one again.
    full: usize,
}

impl Chain {
    fn last_point(&self) -> u64 {
        self.links.last().map_or(0, |link| link.point)
    }

    /// Adds a fence at a point (dma_fence_chain_init): one that does not lie behind the last starts anew, at no lower
    /// number.
    pub(super) fn push(&mut self, point: u64, fence: &Arc<Fence>, permit: Option<Permit>) {
        self.collect();
        if self.links.len() >= self.full.max(SHORT) {
            self.join_alike();
        }
        let last = self.last_point();
        let link = self.links.last();
        let mut failed = link.and_then(|link| link.failed.clone());
        let mut front = link.map(|link| link.front.clone()).unwrap_or_default();
        if point <= last {
            // Everything before has to end first; its points are not asked for any more.
            self.base.drop_ended();
            self.base.join(&front);
            self.links.clear();
            front = Front::default();
        }
        if front.is_done() && self.base.is_done() {
            failed = None;
        }
        if failed.is_none() && fence.status().is_none() {
            failed = fence.failed_part().cloned();
        }
        front.add(fence);
        self.before = if point > last { last } else { 0 };
        self.links.push(Link {
            point: point.max(last),
            previous: self.before,
            front,
            last: Arc::clone(fence),
            failed,
            _permit: permit,
        });
    }

    /// Removes links that are signalled, but for the last.
    fn collect(&mut self) {
        if !self.base.is_done() {
            return;
        }
        let done = (self.links.iter())
            .take_while(|link| link.front.is_done())
            .count()
            .min(self.links.len().saturating_sub(1));
        self.links.drain(..done);
    }

    /// Makes neighbours one that wait for the same: there are no more links then than requests under way.
    fn join_alike(&mut self) {
        self.links.dedup_by(|next, link| {
            work::one();
            let alike = link.front.is_like(&next.front);
            if alike {
                next.previous = link.previous;
                core::mem::swap(next, link);
            }
            alike
        });
        self.full = 2 * self.links.len();
    }

    /// What waits for a point, 0 for all; `EINVAL` behind the last one.
    pub(super) fn wait(&self, point: u64) -> Result<Wait> {
        if self.last_point() < point {
            return Err(EINVAL);
        }
        // dma_fence_chain_find_seqno: back to the link whose predecessor does not cover the point. Predecessors that are
        // not there any more are signalled.
        let covered = if point == 0 {
            self.links.len()
        } else {
            self.links.partition_point(|link| {
                work::one();
                link.previous < point
            })
        };
        let link = covered.checked_sub(1).and_then(|at| self.links.get(at));
        Ok(link.map_or_else(Wait::default, |link| {
            let mut front = link.front.clone();
            front.join(&self.base);
            Wait {
                front,
                last: Some(Arc::clone(&link.last)),
                failed: link.failed.clone(),
            }
        }))
    }

    /// The last point that is signalled, or the last one at all.
    pub(super) fn query(&mut self, submitted: bool) -> u64 {
        if submitted {
            return self.last_point();
        }
        self.collect();
        // drm_syncobj_query_ioctl: the oldest link that is left of the newest timeline; links before the last go away
        // with their fences.
        let done = self.links.partition_point(|link| link.front.is_done());
        match self.links.get(done) {
            Some(link) => link.previous,
            None if self.base.is_done() => self.last_point(),
            None => self.before,
        }
    }

    /// How many links there are.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.links.len()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use kernel::error::code::EIO;

    fn request(seqno: u32) -> Arc<Fence> {
        Arc::new(Fence::on((1, seqno), "test", None))
    }

    /// A fence and one that was merged of it alone.
    fn two(seqno: u32) -> [Arc<Fence>; 2] {
        let one = request(seqno);
        let merged = Fence::merge("", &[&one]);
        [one, merged]
    }

    #[test]
    fn two_fences_in_turn_are_one_to_wait_for() {
        let mut chain = Chain::default();
        let fences = two(1);
        for point in 1..=1 << 16 {
            chain.push(point, &fences[point as usize % 2], None);
        }
        let wait = chain.wait(0).unwrap();
        assert_eq!(wait.front.iter().count(), 1);
        assert!(chain.len() <= SHORT, "{}", chain.len());
        assert!(!chain.wait(1).unwrap().is_signalled());
        assert_eq!(chain.query(false), 0);
        fences[0].signal(Err(EIO));
        assert!(wait.is_signalled());
        assert_eq!(wait.fence().status(), Some(Err(EIO)));
        assert_eq!(chain.query(false), 1 << 16);
    }

    /// As submissions signal them: many points each, upwards or the same one.
    #[test]
    fn points_of_a_submission_do_not_pile_up() {
        let (mut up, mut same) = (Chain::default(), Chain::default());
        let fences: Vec<_> = (1..=4).map(request).collect();
        let (looks, ()) = work::of(|| {
            for point in 0..1 << 19 {
                let fence = &fences[point as usize >> 17];
                up.push(point + 1, fence, None);
                same.push(5, fence, None);
            }
        });
        assert!(looks < 20 << 19, "{looks}");
        assert!(up.len() <= SHORT + 4, "{}", up.len());
        assert_eq!(same.len(), 1);
        let (looks, wait) = work::of(|| up.wait(1 << 17).unwrap());
        assert!(looks < 32, "{looks}");
        fences[0].signal(Ok(()));
        assert!(wait.is_signalled());
        assert_eq!(up.query(false), 1 << 17);
        assert!(!up.wait((1 << 17) + 1).unwrap().is_signalled());
        assert!(!same.wait(5).unwrap().is_signalled());
        for fence in &fences {
            fence.signal(Ok(()));
        }
        assert_eq!((up.query(false), same.query(false)), (1 << 19, 5));
    }

    /// Points may be added without end behind a fence that has not ended.
    #[test]
    fn a_long_chain_is_no_long_list() {
        let mut chain = Chain::default();
        let first = request(1);
        chain.push(1, &first, None);
        let done = Arc::new(Fence::signalled());
        (2..=1 << 17).for_each(|point| chain.push(point, &done, None));
        let wait = chain.wait(0).unwrap();
        assert!(chain.len() <= SHORT, "{}", chain.len());
        assert!(!wait.is_signalled());
        assert_eq!(chain.query(false), 0);
        first.signal(Ok(()));
        assert!(wait.is_signalled());
        assert_eq!(chain.query(false), 1 << 17);
    }

    /// drm_syncobj_query_ioctl: behind an open fence of the timeline before, the point before the last counts.
    #[test]
    fn a_timeline_started_anew_waits_for_the_one_before() {
        let mut chain = Chain::default();
        let first = request(1);
        chain.push(5, &first, None);
        let done = Arc::new(Fence::signalled());
        for point in [5, 6, 7] {
            chain.push(point, &done, None);
        }
        assert_eq!(chain.query(false), 6);
        assert!(!chain.wait(5).unwrap().is_signalled());
        first.signal(Ok(()));
        assert!(chain.wait(5).unwrap().is_signalled());
        assert_eq!(chain.query(false), 7);
    }

    #[test]
    fn errors_are_passed_on() {
        let (ended, open) = (request(1), request(2));
        let pair = Fence::merge("", &[&ended, &open]);
        ended.signal(Err(EIO));
        let later = Arc::new(Fence::on((2, 1), "test", None));
        let mut chain = Chain::default();
        chain.push(1, &pair, None);
        assert!(Arc::ptr_eq(&chain.wait(0).unwrap().fence(), &pair));
        chain.push(2, &later, None);
        let all = chain.wait(0).unwrap().fence();
        let of_first = chain.wait(1).unwrap().fence();
        later.signal(Ok(()));
        assert_eq!(all.status(), None);
        open.signal(Ok(()));
        assert_eq!(all.status(), Some(Err(EIO)));
        assert_eq!(of_first.status(), Some(Err(EIO)));
        chain.push(3, &ended, None);
        assert_eq!(chain.wait(3).unwrap().fence().status(), Some(Err(EIO)));
    }
}
