//! Sync objects: holders of fences, binary or with points on a timeline.
//!
//! drm_syncobj.c of Linux. Not modelled: fences of other devices, event descriptors.
use alloc::sync::Arc;
use alloc::vec::Vec;

use kernel::error::{Result, code::EINVAL};
use kernel::sync::SpinLock;

use crate::core::account::{Budget, MOST_POINTS, Permit};
use crate::core::fence::{Fence, Front};

mod chain;
use self::chain::Chain;

/// What a sync object holds.
#[derive(Default)]
enum Holds {
    /// Nothing: nobody has submitted.
    #[default]
    Nothing,
    /// One fence.
    Binary(Arc<Fence>),
    /// Points of a timeline.
    Chain(Chain),
}

/// What waits for a point of a sync object: the latest fence of each timeline, and the point's own.
#[derive(Clone, Default)]
pub struct Wait {
    front: Front,
    last: Option<Arc<Fence>>,
    /// See [`Chain`]; its error is passed on.
    failed: Option<Arc<Fence>>,
}

impl Wait {
    /// What waits for one fence.
    fn of(fence: &Arc<Fence>) -> Self {
        Wait {
            front: Front::of(fence),
            last: Some(Arc::clone(fence)),
            failed: None,
        }
    }

    /// Whether the point has been reached, well or not.
    #[must_use]
    pub fn is_signalled(&self) -> bool {
        self.front.is_done()
    }

    /// One fence that stands for all.
    #[must_use]
    pub fn fence(&self) -> Arc<Fence> {
        let mut open: Vec<_> = self.front.open().collect();
        if let Some(last) = &self.last {
            let tells_all = self.failed.is_none() || last.failed_part().is_some();
            if open.is_empty() || tells_all && Front::of(last).is_like(&self.front) {
                return Arc::clone(last);
            }
        }
        match (&*open, &self.failed) {
            ([], _) => Arc::new(Fence::signalled()),
            ([only], None) => Arc::clone(only),
            (_, failed) => {
                open.extend(failed);
                Fence::merge("", &open)
            }
        }
    }

    /// What has to end for the point to be reached.
    pub(crate) fn into_front(self) -> Front {
        self.front
    }
}

/// A sync object.
#[derive(Default)]
pub struct Syncobj {
    holds: SpinLock<Holds>,
    /// What the points of the process count for that has made it.
    budget: Arc<Budget>,
}

impl Syncobj {
    /// A sync object without a fence, or with one, whose points count for a process.
    pub(crate) fn new(fence: Option<Arc<Fence>>, budget: &Arc<Budget>) -> Self {
        Syncobj {
            holds: SpinLock::new(fence.map_or(Holds::Nothing, Holds::Binary)),
            budget: Arc::clone(budget),
        }
    }

    /// Room for one more point; `ENOMEM` when the process that has made it has as many as it may have.
    pub(crate) fn permit(&self) -> Result<Permit> {
        self.budget.take(1, MOST_POINTS)
    }

    /// Replaces what it holds by one fence, or by nothing.
    pub fn replace(&self, fence: Option<Arc<Fence>>) {
        *self.holds.lock() = fence.map_or(Holds::Nothing, Holds::Binary);
    }

    /// Adds a fence at a point.
    pub(crate) fn add_point(&self, point: u64, fence: &Arc<Fence>, permit: Permit) {
        let mut holds = self.holds.lock();
        if let Holds::Chain(chain) = &mut *holds {
            return chain.push(point, fence, Some(permit));
        }
        let mut chain = Chain::default();
        if let Holds::Binary(first) = &*holds {
            chain.push(0, first, None);
        }
        chain.push(point, fence, Some(permit));
        *holds = Holds::Chain(chain);
    }

    /// Whether it holds a fence.
    #[must_use]
    pub fn has_fence(&self) -> bool {
        !matches!(*self.holds.lock(), Holds::Nothing)
    }

    /// What waits for a point (0 for all that it holds); `EINVAL` when nobody has submitted that yet.
    pub fn wait(&self, point: u64) -> Result<Wait> {
        match (&*self.holds.lock(), point) {
            (Holds::Binary(fence), 0) => Ok(Wait::of(fence)),
            (Holds::Nothing | Holds::Binary(_), _) => Err(EINVAL),
            (Holds::Chain(chain), _) => chain.wait(point),
        }
    }

    /// The last point that is signalled, or the last one at all; 0 of a binary sync object.
    #[must_use]
    pub fn query(&self, submitted: bool) -> u64 {
        match &mut *self.holds.lock() {
            Holds::Chain(chain) => chain.query(submitted),
            Holds::Nothing | Holds::Binary(_) => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    fn fence(seqno: u32) -> Arc<Fence> {
        Arc::new(Fence::new("test", seqno, None))
    }

    #[test]
    fn binary_ones_hold_one_fence() {
        let syncobj = Syncobj::default();
        assert_eq!(syncobj.wait(0).err(), Some(EINVAL));
        let first = fence(1);
        syncobj.replace(Some(Arc::clone(&first)));
        let wait = syncobj.wait(0).unwrap();
        assert!(!wait.is_signalled());
        assert_eq!(syncobj.wait(1).err(), Some(EINVAL));
        syncobj.replace(None);
        assert!(!syncobj.has_fence());
        first.signal(Ok(()));
        assert!(wait.is_signalled());
        assert!(
            Syncobj::new(Some(Arc::new(Fence::signalled())), &Arc::default())
                .wait(0)
                .unwrap()
                .is_signalled()
        );
        assert_eq!(syncobj.query(false), 0);
    }

    #[test]
    fn points_are_reached_in_order() {
        let syncobj = Syncobj::default();
        let fences: Vec<_> = (1..=3).map(fence).collect();
        for (fence, point) in fences.iter().zip([10, 20, 30]) {
            syncobj.add_point(point, fence, syncobj.permit().unwrap());
        }
        assert_eq!(syncobj.query(true), 30);
        assert_eq!(syncobj.query(false), 0);
        assert_eq!(syncobj.wait(31).err(), Some(EINVAL));
        fences[1].signal(Ok(()));
        assert!(!syncobj.wait(20).unwrap().is_signalled());
        fences[0].signal(Ok(()));
        assert!(syncobj.wait(5).unwrap().is_signalled());
        assert!(syncobj.wait(20).unwrap().is_signalled());
        assert!(!syncobj.wait(21).unwrap().is_signalled());
        assert!(!syncobj.wait(0).unwrap().is_signalled());
        assert_eq!(syncobj.query(false), 20);
        fences[2].signal(Ok(()));
        assert_eq!(syncobj.query(false), 30);
        assert!(syncobj.wait(1).unwrap().is_signalled());
    }

    #[test]
    fn a_point_that_goes_back_starts_anew() {
        let syncobj = Syncobj::default();
        syncobj.add_point(5, &fence(1), syncobj.permit().unwrap());
        let later = fence(2);
        syncobj.add_point(3, &later, syncobj.permit().unwrap());
        assert_eq!(syncobj.query(true), 5);
        later.signal(Ok(()));
        assert_eq!(syncobj.query(false), 0);
        assert!(!syncobj.wait(3).unwrap().is_signalled());
    }

    #[test]
    fn signalled_links_do_not_pile_up() {
        let syncobj = Syncobj::default();
        for point in 1..=1000 {
            syncobj.add_point(
                point,
                &Arc::new(Fence::signalled()),
                syncobj.permit().unwrap(),
            );
        }
        assert!(matches!(&*syncobj.holds.lock(), Holds::Chain(chain) if chain.len() <= 2));
        assert_eq!(syncobj.query(false), 1000);
        assert!(syncobj.wait(400).unwrap().is_signalled());
    }

    /// Counted, so that one slow request and many sync objects do not use up the memory.
    #[test]
    fn points_of_a_process_are_limited_together() {
        let budget = Arc::new(Budget::default());
        let open = fence(1);
        let mut syncobjs = Vec::new();
        let mut points = 0;
        let refused = loop {
            let syncobj = Syncobj::new(None, &budget);
            // As many as a chain keeps each by itself.
            let full = (1..=64).find_map(|point| {
                let permit = syncobj.permit().err();
                if permit.is_none() {
                    points += 1;
                    syncobj.add_point(point, &open, syncobj.permit().unwrap());
                }
                permit
            });
            syncobjs.push(syncobj);
            if let Some(error) = full {
                break error;
            }
        };
        assert_eq!(refused, kernel::error::code::ENOMEM);
        assert_eq!((points, budget.taken()), (MOST_POINTS, MOST_POINTS));
        open.signal(Ok(()));
        for syncobj in &syncobjs {
            // The last of each is kept.
            let _ = syncobj.query(false);
        }
        assert_eq!(budget.taken() as usize, syncobjs.len() - 1);
        drop(syncobjs);
        assert_eq!(budget.taken(), 0);
    }
}
