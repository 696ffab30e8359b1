//! Sync objects: holders of fences, binary or with points on a timeline.
//!
//! drm_syncobj.c and dma-fence-chain.c of Linux. Not modelled: fences of other devices, event descriptors.
use alloc::sync::Arc;
use alloc::vec::Vec;

use kernel::error::{Result, code::EINVAL, code::ENOMEM};
use kernel::sync::SpinLock;

use crate::core::fence::Fence;

/// A fence with its point.
#[derive(Clone)]
struct Link {
    point: u64,
    fence: Arc<Fence>,
    /// The point before; 0 where the timeline starts anew, so that points before are not comparable.
    previous: u64,
}

/// What a sync object holds.
#[derive(Clone, Default)]
enum Holds {
    /// Nothing: nobody has submitted.
    #[default]
    Nothing,
    /// One fence.
    Binary(Arc<Fence>),
    /// A chain; each link is signalled when its fence and all before it are. Never empty.
    Chain(Vec<Link>),
}

/// Most points that stay in a chain at the wish of clients alone.
const MOST_LINKS: usize = 1 << 16;

/// What waits for a point of a sync object: the fences that have not ended, and the last one.
#[derive(Clone)]
pub struct Wait(Vec<Arc<Fence>>);

impl Wait {
    /// What waits for one fence.
    #[must_use]
    pub fn of(fence: &Arc<Fence>) -> Self {
        Wait(alloc::vec![Arc::clone(fence)])
    }

    /// What is done already.
    #[must_use]
    pub fn done() -> Self {
        Wait(Vec::new())
    }

    /// Whether the point has been reached, well or not.
    #[must_use]
    pub fn is_signalled(&self) -> bool {
        self.0.iter().all(|fence| fence.status().is_some())
    }

    /// One fence that stands for all: requests of a timeline end in order, so it is the last that has not ended.
    #[must_use]
    pub fn fence(&self) -> Arc<Fence> {
        let open = || self.0.iter().filter(|fence| fence.status().is_none());
        let first = open().next().and_then(|fence| fence.context());
        if open().any(|fence| fence.context() != first) {
            return Fence::merge("", &open().collect::<Vec<_>>());
        }
        open()
            .max_by_key(|fence| fence.order())
            .or(self.0.last())
            .map_or_else(|| Arc::new(Fence::signalled()), Arc::clone)
    }

    /// The fences that have not ended.
    pub(crate) fn open(self) -> impl Iterator<Item = Arc<Fence>> {
        let all = self.0.into_iter();
        all.filter(|fence| fence.status().is_none())
    }
}

/// A sync object.
#[derive(Default)]
pub struct Syncobj(SpinLock<Holds>);

/// Removes links that are signalled, but for the last.
fn collect(links: &mut Vec<Link>) {
    let done = links
        .iter()
        .take_while(|link| link.fence.status().is_some())
        .count()
        .min(links.len().saturating_sub(1));
    links.drain(..done);
}

impl Syncobj {
    /// A sync object without a fence, or with one that is signalled.
    #[must_use]
    pub fn new(signalled: bool) -> Self {
        let syncobj = Syncobj::default();
        if signalled {
            syncobj.replace(Some(Arc::new(Fence::signalled())));
        }
        syncobj
    }

    /// Replaces what it holds by one fence, or by nothing.
    pub fn replace(&self, fence: Option<Arc<Fence>>) {
        *self.0.lock() = fence.map_or(Holds::Nothing, Holds::Binary);
    }

    /// Adds a fence at a point.
    pub fn add_point(&self, point: u64, fence: &Arc<Fence>) {
        let mut holds = self.0.lock();
        let mut links = match core::mem::take(&mut *holds) {
            Holds::Nothing => Vec::new(),
            Holds::Binary(fence) => alloc::vec![Link {
                point: 0,
                fence,
                previous: 0,
            }],
            Holds::Chain(links) => links,
        };
        collect(&mut links);
        // dma_fence_chain_init: a point that does not lie behind the last starts anew, at no lower number.
        let last = links.last().map_or(0, |link| link.point);
        let previous = if point > last { last } else { 0 };
        let point = point.max(last);
        links.push(Link {
            point,
            fence: Arc::clone(fence),
            previous,
        });
        *holds = Holds::Chain(links);
    }

    /// Adds a point that no submission stands behind; `ENOMEM` when there are too many that wait for an earlier one.
    pub fn add_free_point(&self, point: u64, fence: &Arc<Fence>) -> Result {
        if let Holds::Chain(links) = &mut *self.0.lock() {
            collect(links);
            if links.len() >= MOST_LINKS {
                return Err(ENOMEM);
            }
        }
        self.add_point(point, fence);
        Ok(())
    }

    /// Whether it holds a fence.
    #[must_use]
    pub fn has_fence(&self) -> bool {
        !matches!(*self.0.lock(), Holds::Nothing)
    }

    /// What waits for a point (0 for all that it holds); `EINVAL` when nobody has submitted that yet.
    pub fn wait(&self, point: u64) -> Result<Wait> {
        let holds = self.0.lock();
        match (&*holds, point) {
            (Holds::Binary(fence), 0) => Ok(Wait::of(fence)),
            (Holds::Nothing | Holds::Binary(_), _) => Err(EINVAL),
            (Holds::Chain(links), _) => {
                let last = links.last().map_or(0, |link| link.point);
                if last < point {
                    return Err(EINVAL);
                }
                // dma_fence_chain_find_seqno: back through links whose predecessor covers the point;
                // predecessors that are not there any more are signalled.
                let mut end = links.len();
                while point != 0
                    && let Some(link) = links.get(end.wrapping_sub(1))
                    && link.previous >= point
                {
                    end -= 1;
                }
                let covered = links.get(..end).unwrap_or_default();
                let mut fences: Vec<Arc<Fence>> = Vec::new();
                // Many points may have one fence, and most points of a long chain have ended: a copy has neither.
                for (index, link) in covered.iter().enumerate() {
                    let known = fences
                        .last()
                        .is_some_and(|last| Arc::ptr_eq(last, &link.fence));
                    let counts = index + 1 == end || link.fence.status().is_none();
                    if counts && !known {
                        fences.push(Arc::clone(&link.fence));
                    }
                }
                Ok(Wait(fences))
            }
        }
    }

    /// The last point that is signalled, or the last one at all; 0 of a binary sync object.
    #[must_use]
    pub fn query(&self, submitted: bool) -> u64 {
        let mut holds = self.0.lock();
        let Holds::Chain(links) = &mut *holds else {
            return 0;
        };
        let last = links.last().map_or(0, |link| link.point);
        if submitted {
            return last;
        }
        collect(links);
        // drm_syncobj_query_ioctl: the oldest link of the newest timeline that is left; links before the last go
        // away with their fences.
        let mut oldest = links.len().saturating_sub(1);
        let mut after = None;
        for (index, link) in links.iter().enumerate().rev() {
            if after.is_some_and(|previous| previous != link.point) {
                break;
            }
            if link.fence.status().is_none() {
                oldest = index;
            }
            after = Some(link.previous);
        }
        let mut up_to = links.iter().take(oldest + 1);
        match links.get(oldest) {
            Some(link) if up_to.all(|link| link.fence.status().is_some()) => link.point,
            Some(link) => link.previous,
            None => 0,
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
        let syncobj = Syncobj::new(false);
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
        assert!(Syncobj::new(true).wait(0).unwrap().is_signalled());
        assert_eq!(syncobj.query(false), 0);
    }

    #[test]
    fn points_are_reached_in_order() {
        let syncobj = Syncobj::default();
        let fences: Vec<_> = (1..=3).map(fence).collect();
        for (fence, point) in fences.iter().zip([10, 20, 30]) {
            syncobj.add_point(point, fence);
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
        syncobj.add_point(5, &fence(1));
        let later = fence(2);
        syncobj.add_point(3, &later);
        assert_eq!(syncobj.query(true), 5);
        later.signal(Ok(()));
        assert_eq!(syncobj.query(false), 0);
        assert!(!syncobj.wait(3).unwrap().is_signalled());
    }

    /// Behind a fence that has not ended, points without end are refused, and what waits for all holds two fences.
    #[test]
    fn a_long_chain_is_no_long_copy() {
        let syncobj = Syncobj::default();
        let first = fence(1);
        syncobj.add_point(1, &first);
        let done = Arc::new(Fence::signalled());
        let added = (2..).take_while(|point| syncobj.add_free_point(*point, &done).is_ok());
        assert_eq!(added.count(), MOST_LINKS - 1);
        let wait = syncobj.wait(0).unwrap();
        assert_eq!(wait.0.len(), 2);
        assert!(!wait.is_signalled());
        first.signal(Ok(()));
        assert!(wait.is_signalled());
        assert_eq!(syncobj.add_free_point(1 << 20, &done), Ok(()));
    }

    #[test]
    fn signalled_links_do_not_pile_up() {
        let syncobj = Syncobj::default();
        for point in 1..=1000 {
            syncobj.add_point(point, &Arc::new(Fence::signalled()));
        }
        assert!(matches!(&*syncobj.0.lock(), Holds::Chain(links) if links.len() <= 2));
        assert_eq!(syncobj.query(false), 1000);
        assert!(syncobj.wait(400).unwrap().is_signalled());
    }
}
