//! A program that uses the device, and those that wait for it.
//!
//! Several processes may have one open file, and a process several files: a program is a file and the process that asks.
use alloc::collections::BTreeMap;
use alloc::sync::Arc;

use kernel::sync::SpinLock;

use crate::core::account::Account;
use crate::core::client::Client;

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

/// Programs that wait inside a call, and on how many threads: to submit, or for the end of a request.
#[derive(Default)]
pub(crate) struct Waiting(SpinLock<BTreeMap<Mark, (Program, usize)>>);

impl Waiting {
    /// Notes a program until the guard is dropped.
    pub(crate) fn enter(&self, program: Program) -> Waits<'_> {
        let mark = program.mark();
        self.0.lock().entry(mark).or_insert((program, 0)).1 += 1;
        Waits {
            waiting: self,
            mark,
        }
    }

    /// Whether such a program waits.
    pub(crate) fn has(&self, is_it: impl Fn(&Program) -> bool) -> bool {
        let waiting = self.0.lock();
        waiting.values().any(|(program, _)| is_it(program))
    }

    /// Shows the programs that wait, each once.
    pub(crate) fn each(&self, look: impl FnMut(Mark)) {
        self.0.lock().keys().copied().for_each(look);
    }
}

/// A program waits.
pub(crate) struct Waits<'a> {
    waiting: &'a Waiting,
    mark: Mark,
}

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        let mut waiting = self.waiting.0.lock();
        let Some((_, threads)) = waiting.get_mut(&self.mark) else {
            return;
        };
        *threads -= 1;
        if *threads == 0 {
            let gone = waiting.remove(&self.mark);
            drop(waiting);
            // The last of a client is let go without the lock.
            drop(gone);
        }
    }
}
