//! Client processes: what they have mapped, and where.
//!
//! No PRM chapter. A mapping holds its object, as a kernel's does.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use driver::Object;
use driver::mmap::Kind;

/// A mapping of an object.
#[derive(Clone)]
pub struct Mapped {
    /// Bytes.
    pub len: u64,
    /// What it shows.
    pub object: Object,
    /// How.
    pub kind: Kind,
    /// Byte of the object that it begins with.
    pub start: u64,
}

/// Mappings by address.
pub type Mappings = BTreeMap<u64, Mapped>;

#[derive(Default)]
struct Process {
    mappings: Mappings,
}

/// All client processes.
#[derive(Default)]
pub struct Processes(Mutex<HashMap<i32, Process>>);

impl Processes {
    fn lock(&self) -> MutexGuard<'_, HashMap<i32, Process>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A process has begun, with the mappings of `parent` when it has inherited them.
    pub fn begin(&self, pid: i32, parent: Option<i32>) {
        let mut processes = self.lock();
        let inherited = parent.and_then(|parent| processes.get(&parent));
        let mappings = inherited.map(|parent| parent.mappings.clone());
        let process = processes.entry(pid).or_default();
        process.mappings = mappings.unwrap_or_default();
    }

    /// A process has ended.
    pub fn end(&self, pid: i32) {
        let gone = self.lock().remove(&pid);
        drop(gone);
    }

    /// Number of processes.
    pub fn count(&self) -> usize {
        self.lock().len()
    }

    /// A range now shows an object; what was there before does not any more.
    pub fn map(&self, pid: i32, address: u64, mapped: Mapped) {
        let mut processes = self.lock();
        let process = processes.entry(pid).or_default();
        let old = cut(&mut process.mappings, address, mapped.len);
        process.mappings.insert(address, mapped);
        drop(processes);
        drop(old);
    }

    /// A range shows nothing any more.
    pub fn unmap(&self, pid: i32, address: u64, len: u64) {
        let mut processes = self.lock();
        let old = processes
            .get_mut(&pid)
            .map(|process| cut(&mut process.mappings, address, len));
        drop(processes);
        drop(old);
    }

    /// The mappings of an object in a process.
    pub fn of(&self, pid: i32, object: &Object) -> Vec<(u64, Mapped)> {
        let processes = self.lock();
        let mappings = processes.get(&pid).map(|process| process.mappings.iter());
        mappings
            .into_iter()
            .flatten()
            .filter(|(_, mapped)| mapped.object == *object)
            .map(|(address, mapped)| (*address, mapped.clone()))
            .collect()
    }
}

/// Takes `address..address + len` out; what it takes away comes back, to be dropped outside locks.
fn cut(mappings: &mut Mappings, address: u64, len: u64) -> Vec<Mapped> {
    let end = address.saturating_add(len);
    let hit: Vec<u64> = mappings
        .range(..end)
        .filter(|(start, mapped)| start.saturating_add(mapped.len) > address)
        .map(|(start, _)| *start)
        .collect();
    let mut gone = Vec::new();
    for start in hit {
        let Some(mapped) = mappings.remove(&start) else {
            continue;
        };
        let stop = start.saturating_add(mapped.len);
        if start < address {
            let len = address - start;
            mappings.insert(
                start,
                Mapped {
                    len,
                    ..mapped.clone()
                },
            );
        }
        if stop > end {
            let rest = Mapped {
                len: stop - end,
                start: mapped.start + (end - start),
                ..mapped.clone()
            };
            mappings.insert(end, rest);
        }
        gone.push(mapped);
    }
    gone
}
