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

    /// What tells it from others without holding it: file and process, and its family.
    pub fn mark(&self) -> ([usize; 2], Option<u64>) {
        let account = self.own_account();
        let parts = [
            Arc::as_ptr(&self.client).addr(),
            Arc::as_ptr(account).addr(),
        ];
        (parts, account.family())
    }

    /// Whether the requests of both count for the same process.
    pub fn is_of_process(&self, other: &Program) -> bool {
        Arc::ptr_eq(self.own_account(), other.own_account())
    }

    /// Whether it is not the same program: neither the same file nor another one of the same process.
    pub fn is_other_than(&self, other: &Program) -> bool {
        !Arc::ptr_eq(&self.client, &other.client) && !self.is_of_process(other)
    }

    /// Whether it is the same program, or one of the same family.
    pub fn is_kin_of(&self, other: &Program) -> bool {
        !self.is_other_than(other) || self.own_account().is_kin_of(other.own_account())
    }

    /// Whether it is another program, and not one of the same family.
    pub fn is_stranger_to(&self, other: &Program) -> bool {
        !self.is_kin_of(other)
    }
}

#[derive(Default)]
struct Entries {
    next: u64,
    programs: BTreeMap<u64, Program>,
}

/// Programs that wait inside a call: to submit, or for the end of a request.
#[derive(Default)]
pub(crate) struct Waiting(SpinLock<Entries>);

impl Waiting {
    /// Notes a program until the guard is dropped.
    pub(crate) fn enter(&self, program: Program) -> Waits<'_> {
        let mut entries = self.0.lock();
        let number = entries.next;
        entries.next = number.wrapping_add(1);
        entries.programs.insert(number, program);
        Waits {
            waiting: self,
            number,
        }
    }

    /// Whether such a program waits.
    pub(crate) fn has(&self, is_it: impl Fn(&Program) -> bool) -> bool {
        self.0.lock().programs.values().any(is_it)
    }
}

/// A program waits.
pub(crate) struct Waits<'a> {
    waiting: &'a Waiting,
    number: u64,
}

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        let gone = self.waiting.0.lock().programs.remove(&self.number);
        // The last of a client is let go without the lock.
        drop(gone);
    }
}
