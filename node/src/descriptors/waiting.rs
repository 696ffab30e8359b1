//! Sync files that are still to be signalled, by what they wait for.
//!
//! How many there are is the clients' choice. They wait for requests that are under way, of which there are few: each look
//! is at those.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use driver::Fence;

use crate::work;

/// A fence of one request, or of several.
pub trait Awaited {
    /// The first of its requests that is under way.
    fn pending(this: &Arc<Self>) -> Option<Arc<Self>>;
    /// Whether this one, which is a single request's, is under way.
    fn is_pending(&self) -> bool;
}

impl Awaited for Fence {
    fn pending(this: &Arc<Self>) -> Option<Arc<Self>> {
        let mut parts = this.parts().into_iter();
        parts.find(|part| part.is_pending())
    }

    fn is_pending(&self) -> bool {
        self.status().is_none()
    }
}

/// A request, and the files that wait for it.
struct Group<K, F> {
    request: Arc<F>,
    files: BTreeSet<K>,
}

/// Files that wait.
pub struct Waiting<K, F> {
    /// By the address of the request's fence, which lives as long as its group.
    groups: BTreeMap<usize, Group<K, F>>,
    /// The group that a file is in, and its own fence.
    files: HashMap<K, (usize, Arc<F>)>,
}

impl<K, F> Default for Waiting<K, F> {
    fn default() -> Self {
        Waiting {
            groups: BTreeMap::new(),
            files: HashMap::new(),
        }
    }
}

impl<K: Copy + Ord + std::hash::Hash, F: Awaited> Waiting<K, F> {
    /// Takes a file in; false when its fence is signalled.
    pub fn add(&mut self, file: K, fence: Arc<F>) -> bool {
        let Some(request) = F::pending(&fence) else {
            return false;
        };
        let number = Arc::as_ptr(&request).addr();
        let group = self.groups.entry(number).or_insert_with(|| Group {
            request,
            files: BTreeSet::new(),
        });
        group.files.insert(file);
        self.files.insert(file, (number, fence));
        true
    }

    /// Forgets a file.
    pub fn remove(&mut self, file: &K) {
        if let Some((number, _)) = self.files.remove(file)
            && let Some(group) = self.groups.get_mut(&number)
        {
            group.files.remove(file);
            if group.files.is_empty() {
                self.groups.remove(&number);
            }
        }
    }

    /// Whether none is left.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// The files whose fences have been signalled, which wait no longer.
    pub fn take_signalled(&mut self) -> Vec<K> {
        let over = self.groups.iter().filter(|(_, group)| {
            work::one();
            !group.request.is_pending()
        });
        let over: Vec<usize> = over.map(|(number, _)| *number).collect();
        let over = over.iter().filter_map(|number| self.groups.remove(number));
        let files: Vec<K> = over.flat_map(|group| group.files).collect();
        let mut signalled = files;
        signalled.retain(|file| {
            work::one();
            let fence = self.files.remove(file);
            // One of several requests may be under way still.
            fence.is_some_and(|(_, fence)| !self.add(*file, fence))
        });
        signalled
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[derive(Default)]
    struct Fake {
        done: AtomicBool,
        parts: Vec<Arc<Fake>>,
    }

    impl Fake {
        fn of(parts: &[&Arc<Fake>]) -> Arc<Fake> {
            Arc::new(Fake {
                parts: parts.iter().map(|part| Arc::clone(part)).collect(),
                ..Fake::default()
            })
        }

        fn signal(&self) {
            self.done.store(true, Ordering::Relaxed);
        }
    }

    impl Awaited for Fake {
        fn pending(this: &Arc<Self>) -> Option<Arc<Self>> {
            let own = [Arc::clone(this)];
            let parts = if this.parts.is_empty() {
                &own[..]
            } else {
                &this.parts
            };
            parts.iter().find(|part| part.is_pending()).cloned()
        }

        fn is_pending(&self) -> bool {
            !self.done.load(Ordering::Relaxed)
        }
    }

    #[test]
    fn files_wait_for_all_their_requests() {
        let (first, second) = (Fake::of(&[]), Fake::of(&[]));
        let both = Fake::of(&[&first, &second]);
        let mut waiting = Waiting::default();
        assert!(waiting.add(1, Arc::clone(&first)));
        assert!(waiting.add(2, Arc::clone(&both)));
        assert!(waiting.add(3, Arc::clone(&second)));
        assert!(waiting.take_signalled().is_empty());
        first.signal();
        assert_eq!(waiting.take_signalled(), [1]);
        waiting.remove(&3);
        assert!(!waiting.is_empty());
        second.signal();
        assert_eq!(waiting.take_signalled(), [2]);
        assert!(waiting.is_empty() && waiting.groups.is_empty());
        assert!(!waiting.add(4, both));
    }

    #[test]
    fn a_look_is_at_requests_and_not_at_files() {
        let request = Fake::of(&[]);
        let mut waiting = Waiting::default();
        for file in 0..1000 {
            assert!(waiting.add(file, Arc::clone(&request)));
        }
        let (looks, signalled) = work::of(|| waiting.take_signalled());
        assert_eq!((looks, signalled.len()), (1, 0));
        request.signal();
        assert_eq!(waiting.take_signalled().len(), 1000);
    }
}
