//! The line of threads that wait to submit: families in turn, each in order.
//!
//! One has its turn at a time: it queues a request, and gives the turn back. The next is called by name, so that a thread
//! that waits need not look. Families take turns in the order in which they came, those with quick requests before others;
//! in a family its processes do, and threads of a process come in the order in which they asked. Families of which nothing is
//! known come by groups, see [`groups`](crate::core::groups). i915 has no line: its lock takes whom it likes.
use alloc::collections::VecDeque;
use alloc::sync::Arc;

use kernel::sync::{AtomicBool, Completion, Ordering, SpinLock};
use kernel::time::{Clock, Delta};

use crate::core::groups::{Group, Rota};
use crate::core::pace::Speed;
use crate::core::work;

/// How many turns in a row may pass the first of the line that has room, for families with quicker requests.
const MOST_PASSED: usize = 3;

/// Whose a thread is.
#[derive(Clone, Copy)]
pub struct Keys {
    /// What is equal for one family.
    pub family: (bool, u64),
    /// What is equal for one process.
    pub process: usize,
    /// What the process may have in common with other families.
    pub group: Group,
}

/// A place in the line, of one thread.
pub struct Place<T> {
    keys: Keys,
    who: T,
    /// It has its turn.
    called: AtomicBool,
    /// It looks after the line, see [`Line`].
    leads: AtomicBool,
    news: Completion,
}

impl<T> Place<T> {
    /// Whether its turn has come.
    pub fn is_called(&self) -> bool {
        self.called.load(Ordering::Acquire)
    }

    /// Whether it looks after the line.
    pub fn leads(&self) -> bool {
        self.leads.load(Ordering::Acquire)
    }

    /// Sleeps until something of that has changed, for `span` at most.
    pub fn rest(&self, clock: &dyn Clock, span: Delta) {
        self.news.wait_for_completion_timeout(clock, span);
    }
}

struct Process<T> {
    key: usize,
    group: Group,
    places: VecDeque<Arc<Place<T>>>,
}

struct Family<T> {
    key: (bool, u64),
    /// In the order of their turns; each has a place at least.
    processes: VecDeque<Process<T>>,
}

struct Inner<T> {
    /// One has its turn.
    taken: bool,
    /// In the order of their turns; each has a process at least.
    families: VecDeque<Family<T>>,
    /// Whose turn is next among the groups of those in the line.
    rota: Rota,
    leader: Option<Arc<Place<T>>>,
    /// Turns in a row that have passed the first that had room.
    passed: usize,
}

/// One of the line that has room.
struct Found {
    /// How quick its family's requests are, and the place of its group when that is not known.
    rank: (Speed, [u64; 2]),
    group: Group,
    /// Its family and its process.
    at: (usize, usize),
}

/// The line. One of those in it, the leader, looks whether the next has room; the others sleep until they are called or
/// the lead is theirs.
///
/// Locks, in the order in which they are taken:
///
/// 1. the turn itself (`taken`), which waits in [`Place::rest`] and holds no lock meanwhile;
/// 2. the lock of submissions (`UserState::exec`), by the thread that has the turn, so it is free but for other engines.
///    The device is not waited for under it: a submission lets it go, and its turn too when it waits for another engine;
/// 3. this lock, never while something is waited for and never in an interrupt handler;
/// 4. under it, one after another, those that are taken last: of the timeline, of the programs that wait, of the ledger.
///
/// Threads are told by [`Completion`] when this lock is free again.
pub struct Line<T>(SpinLock<Inner<T>>);

impl<T> Default for Line<T> {
    fn default() -> Self {
        Line(SpinLock::new(Inner {
            taken: false,
            families: VecDeque::new(),
            rota: Rota::default(),
            leader: None,
            passed: 0,
        }))
    }
}

/// Threads to be told, without the lock.
#[must_use]
struct News<T>([Option<Arc<Place<T>>>; 2]);

impl<T> News<T> {
    fn tell(self) {
        for place in self.0.into_iter().flatten() {
            place.news.complete();
        }
    }
}

impl<T> Inner<T> {
    fn push(&mut self, place: Arc<Place<T>>) {
        let Keys {
            family,
            process,
            group,
        } = place.keys;
        let position = self.families.iter().position(|one| one.key == family);
        let at = position.unwrap_or_else(|| {
            self.families.push_back(Family {
                key: family,
                processes: VecDeque::new(),
            });
            self.families.len() - 1
        });
        let processes = &mut self.families[at].processes;
        if let Some(process) = processes.iter_mut().find(|one| one.key == process) {
            process.places.push_back(place);
            return;
        }
        self.rota.enter(group);
        processes.push_back(Process {
            key: process,
            group,
            places: [place].into(),
        });
    }

    /// Takes the first of a process out. Its family and its process are the last from now on, when more of them wait.
    fn take(&mut self, family: usize, process: usize) -> Option<Arc<Place<T>>> {
        let mut of_family = self.families.remove(family)?;
        let mut of_process = of_family.processes.remove(process)?;
        let place = of_process.places.pop_front();
        if of_process.places.is_empty() {
            self.rota.leave(of_process.group);
        } else {
            of_family.processes.push_back(of_process);
        }
        if !of_family.processes.is_empty() {
            self.families.push_back(of_family);
        }
        place
    }

    /// Takes one out that waits no longer; the others keep their places.
    fn remove(&mut self, place: &Arc<Place<T>>) {
        let Keys {
            family, process, ..
        } = place.keys;
        let families = &mut self.families;
        let Some(at) = families.iter().position(|one| one.key == family) else {
            return;
        };
        let processes = &mut families[at].processes;
        if let Some(index) = processes.iter().position(|one| one.key == process) {
            let places = &mut processes[index].places;
            places.retain(|one| !Arc::ptr_eq(one, place));
            if places.is_empty() {
                self.rota.leave(processes[index].group);
                processes.remove(index);
            }
        }
        if processes.is_empty() {
            families.remove(at);
        }
    }

    /// Sees to it that one in the line leads; the one that has begun to.
    fn find_leader(&mut self) -> Option<Arc<Place<T>>> {
        if self.leader.is_some() {
            return None;
        }
        let first = self.families.front()?.processes.front()?.places.front()?;
        first.leads.store(true, Ordering::Release);
        self.leader = Some(Arc::clone(first));
        self.leader.clone()
    }

    /// A place has left the line.
    fn has_left(&mut self, place: &Arc<Place<T>>) {
        if (self.leader.as_ref()).is_some_and(|leader| Arc::ptr_eq(leader, place)) {
            self.leader = None;
            place.leads.store(false, Ordering::Release);
        }
    }

    /// Where the next one with room is: of those with the quickest requests the first, and of new ones the first of the group
    /// whose turn it is, unless the first of all has been passed too often. Its family and its process.
    fn next(&mut self, has_room: impl Fn(&T) -> Option<Speed>) -> Option<(usize, usize)> {
        let mut first = None;
        let mut best: Option<Found> = None;
        for (at, family) in self.families.iter().enumerate() {
            let mut processes = family.processes.iter().enumerate();
            let found = processes.find_map(|(n, process)| {
                work::one();
                let speed = has_room(&process.places.front()?.who)?;
                let turn = match speed {
                    Speed::New => self.rota.place(process.group),
                    Speed::Quick | Speed::Slow => [0; 2],
                };
                Some(Found {
                    rank: (speed, turn),
                    group: process.group,
                    at: (at, n),
                })
            });
            let Some(found) = found else {
                continue;
            };
            first.get_or_insert(found.at);
            let is_quick = found.rank.0 == Speed::Quick;
            if best.as_ref().is_none_or(|best| found.rank < best.rank) {
                best = Some(found);
            }
            if is_quick || self.passed >= MOST_PASSED {
                break;
            }
        }
        let best = best?;
        if best.rank.0 == Speed::New {
            self.rota.take_turn(best.group);
        }
        if first == Some(best.at) {
            self.passed = 0;
        } else {
            self.passed += 1;
        }
        Some(best.at)
    }

    /// Gives the turn to the next one that has room.
    fn call(&mut self, has_room: impl Fn(&T) -> Option<Speed>) -> News<T> {
        let mut called = None;
        if !self.taken {
            let next = self.next(has_room);
            called = next.and_then(|(family, process)| self.take(family, process));
        }
        if let Some(called) = &called {
            self.taken = true;
            called.called.store(true, Ordering::Release);
            self.has_left(called);
        }
        News([called, self.find_leader()])
    }
}

impl<T> Line<T> {
    /// Asks for a turn. `look` is called when somebody may have room, and what it returns says of each whether that is so,
    /// and how quick its family's requests are.
    pub fn enter<R: Fn(&T) -> Option<Speed>>(
        &self,
        keys: Keys,
        who: T,
        look: impl FnOnce() -> R,
    ) -> Arc<Place<T>> {
        let place = Arc::new(Place {
            keys,
            who,
            called: AtomicBool::new(false),
            leads: AtomicBool::new(false),
            news: Completion::default(),
        });
        let news = {
            let mut inner = self.0.lock();
            if inner.taken {
                inner.push(Arc::clone(&place));
                News([None, inner.find_leader()])
            } else {
                let has_room = look();
                if inner.families.is_empty() && has_room(&place.who).is_some() {
                    // The usual case.
                    inner.taken = true;
                    place.called.store(true, Ordering::Release);
                    return place;
                }
                inner.push(Arc::clone(&place));
                inner.call(has_room)
            }
        };
        news.tell();
        place
    }

    /// Gives the turn to the next one that has room, unless one has it. See [`enter`](Self::enter).
    pub fn call<R: Fn(&T) -> Option<Speed>>(&self, look: impl FnOnce() -> R) {
        let news = {
            let mut inner = self.0.lock();
            if inner.taken || inner.families.is_empty() {
                return;
            }
            inner.call(look())
        };
        news.tell();
    }

    /// Gives a turn back, or leaves the line; the next is called.
    pub fn leave<R: Fn(&T) -> Option<Speed>>(
        &self,
        place: &Arc<Place<T>>,
        look: impl FnOnce() -> R,
    ) {
        let news = {
            let mut inner = self.0.lock();
            if place.is_called() {
                inner.taken = false;
            } else {
                inner.remove(place);
                inner.has_left(place);
            }
            if inner.taken || inner.families.is_empty() {
                News([None, inner.find_leader()])
            } else {
                inner.call(look())
            }
        };
        news.tell();
    }

    /// Whether one has its turn.
    pub fn is_taken(&self) -> bool {
        self.0.lock().taken
    }
}

#[cfg(test)]
mod tests;
