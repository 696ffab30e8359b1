//! A program that uses the device, and those that wait for it.
//!
//! Several processes may have one open file, and a process several files: a program is a file and the process that asks.
use alloc::collections::BTreeMap;
use alloc::sync::Arc;

use kernel::sync::SpinLock;

use crate::core::account::Account;
use crate::core::client::Client;
use crate::core::fence::Fence;
use crate::core::groups::Group;

/// A program that uses the device: an open file, and the process that asks. Several processes may have one file; time
/// counts for the one that asks.
#[derive(Clone)]
pub struct Program {
    client: Arc<Client>,
    account: Option<Arc<Account>>,
}

impl Program {
    /// The user of a file, and the process, when that is known.
    pub fn new(client: &Arc<Client>, account: Option<Arc<Account>>) -> Self {
        Program {
            client: Arc::clone(client),
            account,
        }
    }

    /// The user of its file.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// What its requests count for.
    pub fn account(&self) -> Arc<Account> {
        Arc::clone(self.own_account())
    }

    fn own_account(&self) -> &Arc<Account> {
        self.account.as_ref().unwrap_or(self.client.account())
    }

    /// What its process may have in common with others.
    pub(crate) fn group(&self) -> Group {
        self.own_account().group()
    }

    /// Whether nothing of its process runs any more.
    pub fn is_banned(&self) -> bool {
        self.own_account().is_banned()
    }

    /// What tells it from others without holding it.
    pub fn mark(&self) -> Mark {
        Mark {
            client: Arc::as_ptr(&self.client).addr(),
            ..Mark::of_process(self.own_account())
        }
    }

    /// Whether the requests of both count for the same process.
    pub fn is_of_process(&self, other: &Program) -> bool {
        Arc::ptr_eq(self.own_account(), other.own_account())
    }

    /// Whether it is not the same program: neither the same file nor another one of the same process.
    pub fn is_other_than(&self, other: &Program) -> bool {
        self.mark().is_other_than(&other.mark())
    }

    /// Whether it is the same program, or one of the same family.
    pub fn is_kin_of(&self, other: &Program) -> bool {
        self.mark().is_kin_of(&other.mark())
    }

    /// Whether it is another program, and not one of the same family.
    pub fn is_stranger_to(&self, other: &Program) -> bool {
        !self.is_kin_of(other)
    }
}

/// What tells a program from others that are there at the same time: its file, its process, its family.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Mark {
    /// Zero stands for a file that is not known.
    client: usize,
    process: usize,
    /// Of a process that is known.
    family: Option<u64>,
}

impl Mark {
    /// That of a process, through whichever file.
    pub(crate) fn of_process(account: &Arc<Account>) -> Self {
        Mark {
            client: 0,
            process: Arc::as_ptr(account).addr(),
            family: account.family(),
        }
    }

    /// What is equal for requests that count for one process.
    pub(crate) fn process(&self) -> usize {
        self.process
    }

    /// What is equal for processes of one family; a process that is not known is one by itself.
    pub(crate) fn family(&self) -> (bool, u64) {
        // CAST: no address is longer.
        let alone = (false, self.process as u64);
        self.family.map_or(alone, |family| (true, family))
    }

    /// See [`Program::is_other_than`].
    pub fn is_other_than(&self, other: &Mark) -> bool {
        self.client != other.client && self.process != other.process
    }

    /// See [`Program::is_kin_of`].
    pub fn is_kin_of(&self, other: &Mark) -> bool {
        !self.is_other_than(other) || self.family.is_some() && self.family == other.family
    }
}

/// Which engine a program waits for, by its timeline.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Wanted {
    /// It may be any, or several.
    Any,
    /// That of a timeline.
    Of(u64),
    /// Any but that of a timeline.
    Beside(u64),
}

impl Wanted {
    /// What is waited for with a fence.
    pub(crate) fn of(fence: &Fence) -> Self {
        fence.context().map_or(Wanted::Any, Wanted::Of)
    }

    fn is_of(self, timeline: u64) -> bool {
        match self {
            Wanted::Any => true,
            Wanted::Of(wanted) => wanted == timeline,
            Wanted::Beside(other) => other != timeline,
        }
    }
}

/// Programs that wait inside a call, what for, and on how many threads: to submit, or for the end of a request.
#[derive(Default)]
pub(crate) struct Waiting(SpinLock<BTreeMap<Key, (Program, usize)>>);

type Key = (Mark, Wanted);

impl Waiting {
    /// Notes a program until the guard is dropped.
    pub(crate) fn enter(&self, program: Program, wanted: Wanted) -> Waits<'_> {
        let key = (program.mark(), wanted);
        self.0.lock().entry(key).or_insert((program, 0)).1 += 1;
        Waits { waiting: self, key }
    }

    /// Whether such a program waits for the engine of a timeline.
    pub(crate) fn has(&self, timeline: u64, is_it: impl Fn(&Program) -> bool) -> bool {
        let waiting = self.0.lock();
        let mut of_engine = waiting
            .iter()
            .filter(|((_, wanted), _)| wanted.is_of(timeline));
        of_engine.any(|(_, (program, _))| is_it(program))
    }

    /// Shows the programs that wait for the engine of a timeline.
    pub(crate) fn each(&self, timeline: u64, mut look: impl FnMut(Mark)) {
        let waiting = self.0.lock();
        let of_engine = waiting.keys().filter(|(_, wanted)| wanted.is_of(timeline));
        of_engine.for_each(|(mark, _)| look(*mark));
    }
}

/// A program waits.
pub(crate) struct Waits<'a> {
    waiting: &'a Waiting,
    key: Key,
}

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        let mut waiting = self.waiting.0.lock();
        let Some((_, threads)) = waiting.get_mut(&self.key) else {
            return;
        };
        *threads -= 1;
        if *threads == 0 {
            let gone = waiting.remove(&self.key);
            drop(waiting);
            // The last of a client is let go without the lock.
            drop(gone);
        }
    }
}
