//! Client processes: what they have mapped, and where.
//!
//! A mapping holds its object, as a kernel's does, and the object's contents with it: mappings cannot be taken away from a process that
//! does not ask for anything.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use driver::mmap::Kind;
use driver::{Object, Shown};
use parking_lot::{Mutex, MutexGuard};

use crate::map::Place;
use crate::peer::Peer;
use crate::work;

/// A mapping of an object.
#[derive(Clone)]
pub struct Mapped {
    /// Bytes.
    pub len: u64,
    /// What it shows.
    pub object: Shown,
    /// How.
    pub kind: Kind,
    /// Byte of the object that it begins with.
    pub start: u64,
    /// Where its bytes were when it was made, or made anew.
    pub place: Place,
}

impl Mapped {
    /// What is left of it without so many bytes at its beginning.
    fn behind(&self, skipped: u64, len: u64) -> Mapped {
        Mapped {
            len,
            start: self.start + skipped,
            place: self.place.behind(skipped),
            ..self.clone()
        }
    }
}

/// Most mappings of a process, with what is kept for its children: the system's own limit is 65530 (vm.max_map_count) unless it was
/// changed.
const MOST: usize = 1 << 17;
/// Most mappings of all processes together, some hundred bytes each. What a process has inherited counts again. A process has at most
/// half of what the others have left.
const MOST_OF_ALL: usize = 1 << 20;
/// A process may have so many however many the others have.
const ALWAYS: usize = 1 << 9;
/// Mappings are whole pages.
const PAGE: u64 = 4096;

/// The mappings of a process.
pub struct Mappings {
    by_address: BTreeMap<u64, Mapped>,
    /// The addresses of those through a fence, by the number of the object.
    fenced: BTreeMap<usize, BTreeSet<u64>>,
    /// How many all processes have.
    total: Arc<AtomicUsize>,
    /// How many of them are this process's: what is kept for its children, and for programs that it has run before, is among them.
    own: Arc<AtomicUsize>,
    /// What a mapping that moves comes in place of, until it has moved.
    aside: Option<Box<Mappings>>,
}

impl Drop for Mappings {
    fn drop(&mut self) {
        self.total.fetch_sub(self.by_address.len(), Relaxed);
        self.own.fetch_sub(self.by_address.len(), Relaxed);
    }
}

/// A range as the system has it: from the first byte of a page to the end of one.
fn pages(address: u64, len: u64) -> Option<(u64, u64)> {
    let len = len.checked_next_multiple_of(PAGE).unwrap_or(u64::MAX);
    address.is_multiple_of(PAGE).then_some((address, len))
}

struct Process {
    /// Which connection it is of: a program that is executed has the process number of the one before.
    life: u64,
    peer: Arc<Peer>,
    /// Under a lock of their own: how many there are, and how long it takes to change them, is the process's choice.
    mappings: Arc<Mutex<Mappings>>,
    /// How many mappings it has, see [`Mappings`].
    own: Arc<AtomicUsize>,
    /// It has lost its connection, or never had one: what it maps counts as long as it lives.
    alone: bool,
}

/// Most forks of a process whose children have not begun; one that fails leaves one for good. Of more, the first are forgotten, and their
/// children lose what they have inherited.
const FORKS: usize = 64;

/// Why a process cannot begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// There is no room for its mappings.
    Room,
    /// Nobody knows what it has inherited.
    Unknown,
}

#[derive(Default)]
struct Inner {
    processes: HashMap<i32, Process>,
    lives: u64,
    forks: u64,
    /// What processes had mapped when they forked, until the child has begun, by their connections. Each has its number.
    kept: BTreeMap<u64, VecDeque<(u64, Mappings)>>,
    /// Programs in whose processes others are executed by now, by their connections: children have these open until they begin.
    replaced: BTreeMap<u64, Process>,
    /// Makes the number of a fork one that nobody guesses.
    secret: RandomState,
    /// What processes that have ended still hold, by their connections.
    ended: BTreeMap<u64, Arc<Mutex<Mappings>>>,
    /// Mappings of all of them.
    total: Arc<AtomicUsize>,
}

/// All client processes.
#[derive(Default)]
pub struct Processes {
    inner: Mutex<Inner>,
    /// Held while mappings are let go of, until they are gone.
    releasing: Mutex<()>,
}

impl Processes {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock()
    }

    /// A process has begun; with `parent`, with that one's mappings, which it has inherited. What it is to be ended by. `fork`: what
    /// [`forks`](Self::forks) has said to the parent; without that the mappings are those of now.
    ///
    /// `parent` is what the process takes for its parent: a number of its own namespace (pid_namespaces(7)).
    pub fn begin(&self, peer: &Arc<Peer>, parent: Option<i32>, fork: u64) -> Result<u64, Refused> {
        let pid = peer.pid();
        let inner = self.lock();
        let total = Arc::clone(&inner.total);
        // Whatever program runs in the process, and however often it begins.
        let before = inner.processes.get(&pid);
        let own = before.map_or_else(Arc::default, |process| Arc::clone(&process.own));
        drop(inner);
        let mut mappings = Mappings::of(&total, &own);
        let mut again = None;
        match parent {
            None => again = self.again(peer),
            Some(parent) if fork == wire::NO_FILE => {
                let now = self.parent(peer, parent).ok_or(Refused::Unknown)?;
                if !mappings.inherit(&now.lock()) {
                    return Err(Refused::Room);
                }
            }
            // What the parent has by now may be less.
            Some(_) => {
                mappings = self.kept(fork).ok_or(Refused::Unknown)?;
                mappings.move_to(&own);
            }
        }
        let goes_on = again.is_some();
        let mut inner = self.lock();
        inner.lives = inner.lives.wrapping_add(1);
        let process = Process {
            life: inner.lives,
            peer: Arc::clone(peer),
            mappings: again.unwrap_or_else(|| Arc::new(Mutex::new(mappings))),
            own,
            alone: false,
        };
        let life = process.life;
        let mut kept = None;
        if let Some(old) = inner.processes.insert(pid, process) {
            if old.alone {
                kept = inner.kept.remove(&old.life);
                if goes_on && let Some(kept) = kept.take() {
                    inner.kept.insert(life, kept);
                }
                inner.ended.insert(old.life, old.mappings);
            } else {
                inner.replaced.insert(old.life, old);
            }
        }
        drop(inner);
        drop(kept);
        Ok(life)
    }

    /// The mappings of a program that is known already: somebody has closed its connection, past libc.
    fn again(&self, peer: &Peer) -> Option<Arc<Mutex<Mappings>>> {
        let inner = self.lock();
        let process = inner.processes.get(&peer.pid())?;
        let is_it = peer.runs_as(&process.peer);
        is_it.then(|| Arc::clone(&process.mappings))
    }

    /// A process is about to map something: it is known from now on, also without a connection of its own.
    pub fn know(&self, peer: &Arc<Peer>) {
        let mut inner = self.lock();
        if inner.processes.contains_key(&peer.pid()) {
            return;
        }
        inner.lives = inner.lives.wrapping_add(1);
        let own = Arc::default();
        let process = Process {
            life: inner.lives,
            peer: Arc::clone(peer),
            mappings: Arc::new(Mutex::new(Mappings::of(&inner.total, &own))),
            own,
            alone: true,
        };
        inner.processes.insert(peer.pid(), process);
    }

    /// What was kept at a fork, by its number. Only the process that has forked was told the number, so the one that gives it has its
    /// memory from there, whatever its parent is by now.
    fn kept(&self, fork: u64) -> Option<Mappings> {
        let mut inner = self.lock();
        inner.kept.values_mut().find_map(|forks| {
            let at = forks.iter().position(|(number, _)| *number == fork);
            Some(forks.remove(at?)?.1)
        })
    }

    /// The mappings of the process that another one is a copy of: its parent, as the system has it; or, where it was made with
    /// CLONE_PARENT or its parent has ended, the one that it names.
    fn parent(&self, peer: &Peer, named: i32) -> Option<Arc<Mutex<Mappings>>> {
        let real = peer.parent();
        let inner = self.lock();
        let processes = inner.processes.values().chain(inner.replaced.values());
        let all: Vec<_> = processes
            .filter(|process| [real, Some(named)].contains(&Some(process.peer.pid())))
            .filter(|process| process.peer.pid() != peer.pid())
            .map(|process| (Arc::clone(&process.peer), Arc::clone(&process.mappings)))
            .collect();
        drop(inner);
        let is_real = |other: &Peer| Some(other.pid()) == real;
        // The connection of one that has ended stays open until the child has begun.
        let is_named = |other: &Peer| !other.is_alive() || other.parent() == real;
        let mut copied = all.iter().filter(|(other, _)| peer.is_copy_of(other));
        let found = copied.clone().find(|(other, _)| is_real(other));
        let (_, mappings) = found.or_else(|| copied.find(|(other, _)| is_named(other)))?;
        Some(Arc::clone(mappings))
    }

    /// A process forks: keeps what it has mapped for the child, which gives the number when it begins. `None` when there is no room for
    /// that.
    pub fn forks(&self, pid: i32) -> Option<u64> {
        let inner = self.lock();
        let process = inner.processes.get(&pid)?;
        let all = Arc::clone(&process.mappings);
        let mut kept = Mappings::of(&inner.total, &process.own);
        drop(inner);
        if !kept.inherit(&all.lock()) {
            return None;
        }
        let mut inner = self.lock();
        inner.forks += 1;
        let number = inner.secret.hash_one(inner.forks);
        // What is dropped is dropped behind the lock: with a mapping its object may go.
        let dropped = match inner.processes.get(&pid).map(|process| process.life) {
            Some(life) => {
                let forks = inner.kept.entry(life).or_default();
                forks.push_back((number, kept));
                let old = (forks.len() > FORKS).then(|| forks.pop_front());
                old.flatten().map(|(_, old)| old)
            }
            None => Some(kept),
        };
        drop(inner);
        drop(dropped);
        Some(number)
    }

    /// A process has ended, or the program that it ran. What it has mapped stays until the next [`release`](Self::release). Where only the
    /// connection has ended, and the program still has one of the node's `files` mapped (device and inode), it stays as long as the process
    /// lives.
    pub fn end(&self, pid: i32, life: u64, files: &[(u64, u64)]) {
        let inner = self.lock();
        let process = inner
            .processes
            .get(&pid)
            .filter(|process| process.life == life);
        let runs =
            process.map(|process| (Arc::clone(&process.peer), Arc::clone(&process.mappings)));
        drop(inner);
        // Outside the lock: the system may take its time.
        let stays = runs.as_ref().is_some_and(|(peer, mappings)| {
            let counts = |start, end| mappings.lock().has_some(start, end);
            counts(0, u64::MAX) && peer.has_mapped(files, counts)
        });
        let mut inner = self.lock();
        let kept = inner.kept.remove(&life);
        let ended = match inner.processes.get_mut(&pid) {
            Some(process) if process.life == life && stays => {
                process.alone = true;
                None
            }
            Some(process) if process.life == life => inner.processes.remove(&pid),
            _ => inner.replaced.remove(&life),
        };
        if let Some(process) = ended {
            inner.ended.insert(life, process.mappings);
        }
        drop(inner);
        drop(kept);
    }

    /// Looks which of the processes without a connection have ended.
    pub fn look(&self) {
        let mut inner = self.lock();
        let gone = |process: &Process| process.alone && !process.peer.is_alive();
        let all = inner.processes.iter().filter(|(_, process)| gone(process));
        let pids: Vec<i32> = all.map(|(pid, _)| *pid).collect();
        let mut kept = Vec::new();
        for pid in pids {
            if let Some(process) = inner.processes.remove(&pid) {
                kept.extend(inner.kept.remove(&process.life));
                inner.ended.insert(process.life, process.mappings);
            }
        }
        drop(inner);
        drop(kept);
    }

    /// Lets go of what processes that have ended had mapped; it is gone when this returns.
    pub fn release(&self) {
        let _alone = self.releasing.lock();
        let ended = std::mem::take(&mut self.lock().ended);
        // Outside the lock: with a mapping its object may go.
        drop(ended);
    }

    /// Number of processes that have a connection.
    pub fn count(&self) -> usize {
        let inner = self.lock();
        inner
            .processes
            .values()
            .filter(|process| !process.alone)
            .count()
    }

    /// The mappings of a process. What is taken out is dropped behind the lock: with a mapping its object may go.
    fn mappings(&self, pid: i32) -> Option<Arc<Mutex<Mappings>>> {
        let inner = self.lock();
        let process = inner.processes.get(&pid)?;
        Some(Arc::clone(&process.mappings))
    }

    /// A range now shows an object; what was there before does not any more. Nothing is kept for a process that has
    /// ended: its last messages may be read after its end. False, and nothing is changed, when there is no room for it.
    #[must_use]
    pub fn map(&self, pid: i32, address: u64, mapped: Mapped) -> bool {
        let (Some(all), Some((address, len))) = (self.mappings(pid), pages(address, mapped.len))
        else {
            return true;
        };
        let mut mappings = all.lock();
        if !mappings.has_room_for(1 + mappings.pieces_more(address, len)) {
            return false;
        }
        let mut old = mappings.cut(address, len);
        old.extend(mappings.insert(address, Mapped { len, ..mapped }));
        drop(mappings);
        drop(old);
        true
    }

    /// Whether a process may have one more.
    pub fn has_room(&self, pid: i32) -> bool {
        let all = self.mappings(pid);
        all.is_none_or(|all| all.lock().has_room())
    }

    /// What a range shows is also shown by another one from here on, in place of what was there, which is held until something is
    /// unmapped or [`stay`](Self::stay) puts it back. False, and nothing is changed, when there is no room for it.
    #[must_use]
    pub fn copy(&self, pid: i32, from: u64, to: u64, len: u64) -> bool {
        let (Some(all), Some((from, len)), Some((to, _))) =
            (self.mappings(pid), pages(from, len), pages(to, len))
        else {
            return true;
        };
        let mut mappings = all.lock();
        let pieces = mappings.within(from, len);
        if !mappings.has_room_for(pieces.len() + mappings.pieces_more(to, len)) {
            return false;
        }
        let mut aside = Mappings::of(&mappings.total, &mappings.own);
        for (address, mapped) in mappings.within(to, len) {
            aside.insert(address, mapped);
        }
        let before = mappings.aside.replace(Box::new(aside));
        let mut old = mappings.cut(to, len);
        for (start, mapped) in pieces {
            match to.checked_add(start - from) {
                Some(address) => old.extend(mappings.insert(address, mapped)),
                None => old.push(mapped),
            }
        }
        drop(mappings);
        drop((before, old));
        true
    }

    /// What [`copy`](Self::copy) has put into a range does not come there: it shows again what it showed. Comes back with that.
    pub fn stay(&self, pid: i32, to: u64, len: u64) -> Vec<Mapped> {
        let (Some(all), Some((to, len))) = (self.mappings(pid), pages(to, len)) else {
            return Vec::new();
        };
        let mut mappings = all.lock();
        let Some(mut aside) = mappings.aside.take() else {
            return Vec::new();
        };
        let mut old = mappings.cut(to, len);
        let mut back = Vec::new();
        while let Some((&address, _)) = aside.by_address.first_key_value()
            && let Some(mapped) = aside.remove(address)
        {
            back.push(mapped.clone());
            old.extend(mappings.insert(address, mapped));
        }
        drop(mappings);
        drop((aside, old));
        back
    }

    /// A range shows nothing any more.
    pub fn unmap(&self, pid: i32, address: u64, len: u64) {
        let (Some(all), Some((address, len))) = (self.mappings(pid), pages(address, len)) else {
            return;
        };
        let mut mappings = all.lock();
        let old = (mappings.aside.take(), mappings.cut(address, len));
        drop(mappings);
        drop(old);
    }

    /// The mappings of an object through a fence in a process.
    pub fn fenced(&self, pid: i32, object: &Object) -> Vec<(u64, Mapped)> {
        let Some(all) = self.mappings(pid) else {
            return Vec::new();
        };
        let mappings = all.lock();
        let addresses = mappings.fenced.get(&object.key()).into_iter().flatten();
        let found = addresses.filter_map(|address| {
            work::one();
            Some((*address, mappings.by_address.get(address)?.clone()))
        });
        found.collect()
    }

    /// The mapping that begins at an address.
    pub fn at(&self, pid: i32, address: u64) -> Option<Mapped> {
        let all = self.mappings(pid)?;
        all.lock().by_address.get(&address).cloned()
    }

    /// A mapping of an object is made anew at another place, unless it has gone.
    pub fn moved(&self, pid: i32, address: u64, mapped: &Mapped, place: Place) {
        let Some(all) = self.mappings(pid) else {
            return;
        };
        if let Some(now) = all.lock().by_address.get_mut(&address)
            && now.object.key() == mapped.object.key()
            && (now.start, now.place) == (mapped.start, mapped.place)
        {
            now.place = place;
        }
    }

    /// Looks at all mappings of a process, unless it has ended.
    pub fn with_mappings(&self, pid: i32, look: impl FnOnce(&Mappings)) {
        if let Some(all) = self.mappings(pid) {
            look(&all.lock());
        }
    }
}

impl Mappings {
    /// None yet, of processes that have `total` together, and of one that has `own`.
    fn of(total: &Arc<AtomicUsize>, own: &Arc<AtomicUsize>) -> Mappings {
        Mappings {
            by_address: BTreeMap::new(),
            fenced: BTreeMap::new(),
            total: Arc::clone(total),
            own: Arc::clone(own),
            aside: None,
        }
    }

    /// They are another process's from now on.
    fn move_to(&mut self, own: &Arc<AtomicUsize>) {
        own.fetch_add(self.by_address.len(), Relaxed);
        let before = std::mem::replace(&mut self.own, Arc::clone(own));
        before.fetch_sub(self.by_address.len(), Relaxed);
    }

    fn has_room(&self) -> bool {
        self.has_room_for(1)
    }

    fn has_room_for(&self, more: usize) -> bool {
        let now = self.own.load(Relaxed);
        let own = now + more;
        let others = (self.total.load(Relaxed)).saturating_sub(now);
        own <= ALWAYS || own <= MOST && own <= MOST_OF_ALL.saturating_sub(others) / 2
    }

    /// Has what another process has; false when there is no room for it.
    #[must_use]
    fn inherit(&mut self, other: &Mappings) -> bool {
        let is_there = self.has_room_for(other.by_address.len());
        if is_there {
            self.by_address = other.by_address.clone();
            self.fenced = other.fenced.clone();
            self.total.fetch_add(self.by_address.len(), Relaxed);
            self.own.fetch_add(self.by_address.len(), Relaxed);
        }
        is_there
    }

    /// The numbers of the objects that are mapped through a fence.
    pub fn fenced(&self) -> impl Iterator<Item = usize> {
        self.fenced.keys().copied()
    }

    /// How many these are.
    pub fn count_fenced(&self) -> usize {
        self.fenced.len()
    }

    /// Whether an object is one of them.
    pub fn has_fenced(&self, object: usize) -> bool {
        self.fenced.contains_key(&object)
    }

    /// A mapping at an address; the one that was there.
    fn insert(&mut self, address: u64, mapped: Mapped) -> Option<Mapped> {
        let old = self.remove(address);
        if mapped.kind == Kind::Gtt {
            let addresses = self.fenced.entry(mapped.object.key()).or_default();
            addresses.insert(address);
        }
        self.by_address.insert(address, mapped);
        self.total.fetch_add(1, Relaxed);
        self.own.fetch_add(1, Relaxed);
        old
    }

    fn remove(&mut self, address: u64) -> Option<Mapped> {
        let mapped = self.by_address.remove(&address)?;
        self.total.fetch_sub(1, Relaxed);
        self.own.fetch_sub(1, Relaxed);
        let key = mapped.object.key();
        if let Some(addresses) = self.fenced.get_mut(&key) {
            addresses.remove(&address);
            if addresses.is_empty() {
                self.fenced.remove(&key);
            }
        }
        Some(mapped)
    }

    /// Whether something is mapped in a range.
    fn has_some(&self, start: u64, end: u64) -> bool {
        let last = self.by_address.range(..end).next_back();
        last.is_some_and(|(at, mapped)| at.saturating_add(mapped.len) > start)
    }

    /// What `address..address + len` shows, cut to it.
    fn within(&self, address: u64, len: u64) -> Vec<(u64, Mapped)> {
        let end = address.saturating_add(len);
        self.by_address
            .range(..end)
            .rev()
            // As in `cut`.
            .take_while(|(start, mapped)| start.saturating_add(mapped.len) > address)
            .map(|(start, mapped)| {
                let stop = start.saturating_add(mapped.len).min(end);
                let first = address.max(*start);
                (first, mapped.behind(first - start, stop - first))
            })
            .collect()
    }

    /// How many mappings more there are when `address..address + len` is taken out: one, when it lies in the middle of a mapping.
    fn pieces_more(&self, address: u64, len: u64) -> usize {
        let end = address.saturating_add(len);
        let before = self.by_address.range(..address).next_back();
        let splits = before.is_some_and(|(start, mapped)| start.saturating_add(mapped.len) > end);
        usize::from(splits)
    }

    /// Takes `address..address + len` out; what it takes away comes back, to be dropped outside locks. Of a mapping in whose middle
    /// the range lies, two are left; where there is no room for another one, all of it stays, and its object with it.
    fn cut(&mut self, address: u64, len: u64) -> Vec<Mapped> {
        if !self.has_room_for(self.pieces_more(address, len)) {
            return Vec::new();
        }
        let end = address.saturating_add(len);
        let hit: Vec<u64> = self
            .by_address
            .range(..end)
            .rev()
            // None overlaps another: those further down end before it.
            .take_while(|(start, mapped)| start.saturating_add(mapped.len) > address)
            .map(|(start, _)| *start)
            .collect();
        let mut gone = Vec::new();
        for start in hit {
            let Some(mapped) = self.remove(start) else {
                continue;
            };
            let stop = start.saturating_add(mapped.len);
            if start < address {
                self.insert(start, mapped.behind(0, address - start));
            }
            if stop > end {
                self.insert(end, mapped.behind(end - start, stop - end));
            }
            gone.push(mapped);
        }
        gone
    }
}

#[cfg(test)]
mod tests;
