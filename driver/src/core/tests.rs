//! A device of no vendor runs requests on the core, from ioctl to fence.
//!
//! `toy` is that device. Expected errors are those of Linux 6.1.
#![allow(clippy::unwrap_used, reason = "tests")]
extern crate std;

mod process;
mod toy;

use alloc::sync::Arc;
use std::vec;

use kernel::error::code::{EBUSY, EFAULT, EINTR, EINVAL, EIO, ENODEV, ENOENT, EOPNOTSUPP, ETIME};
use kernel::error::{Error, Result};
use kernel::sync::Ordering;
use kernel::time::{Clock, Delta};
use zerocopy::{FromBytes, Immutable, IntoBytes};

pub(crate) use self::process::Process;
use self::toy::{Job, SUBMIT, Submit, TAKES, Toy, ioctl};
use super::client::Client;
use super::device::Device;
use super::file::File;
use super::gem::state::Madvise;
use super::master::{Node, Opener};
use super::program::{Program, Wanted};
use super::share::has_program;
use super::task::{Group, Origin};
use super::uapi::{Request, dma_buf, drm, sync_file, syncobj};
use super::wait::{Patience, wait, wait_until};

struct Bench {
    toy: Toy,
    file: File,
    process: Process,
}

impl Bench {
    fn new() -> Self {
        let toy = Toy::new().unwrap();
        let file = File::open(&toy, Node::Primary);
        Bench {
            toy,
            file,
            process: Process::default(),
        }
    }

    fn call_of<T: IntoBytes + FromBytes + Immutable>(
        &self,
        file: &File,
        request: Request,
        arg: &mut T,
    ) -> Result<i32> {
        let at = self.process.memory.place(arg);
        let outcome = ioctl(file, request.0, at, &self.process);
        *arg = self.process.memory.get(at).unwrap();
        outcome
    }

    fn call<T: IntoBytes + FromBytes + Immutable>(
        &self,
        request: Request,
        arg: &mut T,
    ) -> Result<i32> {
        self.call_of(&self.file, request, arg)
    }

    /// A handle of a new object.
    fn create(&self) -> u32 {
        let object = self.toy.object(4096).unwrap();
        self.file.add_object(&object).unwrap()
    }

    fn new_syncobj(&self) -> u32 {
        let mut arg = syncobj::Create::default();
        assert_eq!(self.call(syncobj::CREATE, &mut arg), Ok(0));
        arg.handle
    }

    fn submit(&self, handle: u32, write: bool, syncobj: u32) -> u32 {
        let mut arg = Submit {
            handle,
            write: u32::from(write),
            syncobj,
            seqno: 0,
        };
        assert_eq!(self.call(SUBMIT, &mut arg), Ok(0));
        arg.seqno
    }
}

#[test]
fn a_wait_lets_the_device_work_until_the_fence_is_signalled() {
    let toy = Toy::new().unwrap();
    let (first, second) = (toy.queue(Job::default()), toy.queue(Job::default()));
    let process = Process::default();
    let start = toy.clock().now();
    let ended = || second.status().is_some();
    assert_eq!(wait_until(&toy, &process, Some(TAKES), ended), Err(ETIME));
    assert_eq!((first.status(), second.status()), (Some(Ok(())), None));
    assert_eq!(wait_until(&toy, &process, None, ended), Ok(()));
    assert!(toy.clock().now() - start >= TAKES + TAKES);
    assert!(
        toy.looks.load(Ordering::Relaxed) > 0,
        "hangs are looked for"
    );
    assert_eq!((first.seqno(), second.seqno()), (1, 2));
    assert_eq!((second.driver_name(), toy.timeline.pending()), ("toy", 0));
}

#[test]
fn a_wait_ends_with_its_task_its_device_and_its_time() {
    let toy = Toy::new().unwrap();
    let process = Process::default();
    process.signal.store(true, Ordering::Relaxed);
    assert_eq!(wait_until(&toy, &process, None, || false), Err(EINTR));
    let looks = toy.looks.load(Ordering::Relaxed);
    let patience = Patience {
        timeout: Some(Delta::from_micros(10)),
        task: None,
        watches: false,
    };
    assert_eq!(wait(&toy, &patience, || false), Err(ETIME));
    assert_eq!(toy.looks.load(Ordering::Relaxed), looks);
    toy.removed.store(true, Ordering::Relaxed);
    assert_eq!(wait(&toy, &patience, || false), Err(ENODEV));
    assert_eq!(wait(&toy, &patience, || true), Ok(()));
}

/// Requests behind the one that hangs are replayed, those of a banned client are not.
#[test]
fn a_reset_blames_the_oldest_request() {
    let toy = Toy::new().unwrap();
    toy.stuck.store(true, Ordering::Relaxed);
    let clients: [Arc<Client>; 2] = [Arc::default(), Arc::default()];
    let job = |client: usize| Job {
        client: Some(Arc::clone(&clients[client])),
        ..Job::default()
    };
    let jobs = [job(0), job(1), job(0)];
    let fences = jobs.clone().map(|job| toy.queue(job));
    // Three bans of contexts are the end of a client (i915 `I915_CLIENT_SCORE_BANNED`).
    for _ in 0..2 {
        clients[0].mark_guilty(toy.clock().now() + Delta::from_secs(1000), true);
    }
    assert_eq!(
        toy.timeline
            .rewind(crate::core::timeline::Blame::Oldest, |_| ()),
        Ok(2)
    );
    assert_eq!(fences[0].status(), Some(Err(EIO)));
    assert_eq!((fences[1].status(), fences[2].status()), (None, None));
    let count = |of: &kernel::sync::AtomicU32| of.load(Ordering::Relaxed);
    let met = jobs
        .each_ref()
        .map(|job| (count(&job.guilty), count(&job.innocent)));
    assert_eq!(met, [(1, 0), (0, 1), (0, 0)]);
    let mut places = vec![];
    let placed = toy.timeline.replay(|pending| {
        places.push(pending.seqno);
        Ok((8, 16, pending.work.clone()))
    });
    assert_eq!((placed, places), (Ok(()), vec![2, 3]));
    assert_eq!(
        toy.timeline.first().map(|first| (first.head, first.tail)),
        Some((8, 16))
    );
    toy.stuck.store(false, Ordering::Relaxed);
    let ended = || toy.timeline.pending() == 0;
    wait_until(&toy, &Process::default(), None, ended).unwrap();
    assert_eq!(fences[1].status(), Some(Ok(())));
    assert_eq!(fences[2].status(), Some(Err(EIO)), "skipped");
    assert_eq!(count(&jobs[1].ended), 1);
}

#[test]
fn what_a_request_uses_lives_as_long_as_it_runs() {
    let bench = Bench::new();
    let before = bench.toy.fake.allocations();
    let handle = bench.create();
    assert_eq!(bench.toy.space.lock().len(), 1);
    bench.submit(handle, true, 0);
    let mut close = drm::GemClose { handle, pad: 0 };
    assert_eq!(bench.call(drm::GEM_CLOSE, &mut close), Ok(0));
    assert_eq!(bench.call(drm::GEM_CLOSE, &mut close), Err(EINVAL));
    assert_eq!(bench.toy.space.lock().len(), 1);
    bench.toy.fake.relax(TAKES);
    bench.toy.retire();
    assert_eq!(bench.toy.space.lock().len(), 0);
    assert_eq!(bench.toy.fake.allocations(), before);
}

#[test]
fn objects_are_pinned_purged_and_bound_once() {
    let toy = Toy::new().unwrap();
    let object = toy.object(5000).unwrap();
    assert_eq!((object.size(), object.bound_at()), (8192, Some(4096)));
    assert_eq!(object.bind_with(|_, _| Ok(0)), Err(EBUSY));
    object.state(|state| state.madvise = Madvise::DontNeed);
    toy.user().lru.touch(&object);
    toy.user().lru.dont_need(&object);
    let pin = object.pin().unwrap();
    assert_eq!(pin.at(), 4096);
    let purge = || {
        let lru = &toy.user().lru;
        lru.purge(&*toy.fake, lru.purges())
    };
    assert!(!purge(), "it is needed where it is");
    assert!(toy.user().lru.evictable().is_empty());
    drop(pin);
    assert_eq!(toy.user().lru.evictable().len(), 1);
    let shown = [object.show(false), object.show(true)];
    assert!(object.has_shown_pages());
    let copy = shown[0].clone();
    drop(shown);
    assert!(!purge(), "a program has it mapped");
    assert_eq!((copy.read32(0), object.bound_at()), (Ok(0), Some(4096)));
    assert!(!object.downgrade().is_spent());
    drop(copy);
    object.state(|state| state.madvise = Madvise::WillNeed);
    assert!(!purge(), "a program needs it again");
    // Also where it has been looked at before the program said so.
    assert_eq!(object.purge(), (false, false));
    object.state(|state| state.madvise = Madvise::DontNeed);
    toy.user().lru.dont_need(&object);
    let before = toy.user().lru.purges();
    assert!(purge());
    assert!(!purge());
    // A thread that has failed before the purge has the pages of it.
    assert!(toy.user().lru.purge(&*toy.fake, before));
    assert_eq!(object.bound_at(), None);
    assert_eq!(object.read32(0), Err(EFAULT));
    assert_eq!(toy.space.lock().len(), 0);
    assert!(object.downgrade().is_spent());
}

#[test]
fn sync_objects_hold_the_fences_of_the_device() {
    let bench = Bench::new();
    let handle = bench.new_syncobj();
    let object = bench.create();
    assert_eq!(bench.submit(object, false, handle), 1);
    let handles = bench.process.memory.place(&[handle]);
    let wait = |timeout_nsec| {
        let mut arg = syncobj::Wait {
            handles,
            count_handles: 1,
            timeout_nsec,
            ..Default::default()
        };
        bench.call(syncobj::WAIT, &mut arg)
    };
    assert_eq!(wait(0), Err(ETIME));
    assert_eq!(wait(i64::MAX), Ok(0));
    // Its fence goes through a descriptor to another file.
    let mut arg = syncobj::Handle {
        handle,
        flags: syncobj::SYNC_FILE,
        ..Default::default()
    };
    assert_eq!(bench.call(syncobj::HANDLE_TO_FD, &mut arg), Ok(0));
    let what = bench.process.fds.lock()[0].0.clone();
    let room = bench.process.memory.place(&sync_file::FileInfo::default());
    let (request, task) = (sync_file::FILE_INFO.0, &bench.process);
    let told = super::sync_file::ioctl(&bench.toy, &what, request, room, task);
    assert_eq!(told, Ok(0));
    let info: sync_file::FileInfo = bench.process.memory.get(room).unwrap();
    assert_eq!((info.status, info.num_fences), (1, 1));
    assert!(info.name.starts_with(b"toy-signaled"));
}

#[test]
fn readers_of_a_dma_buf_wait_for_the_device() {
    let bench = Bench::new();
    let handle = bench.create();
    let object = bench.file.object(handle).unwrap();
    bench.submit(handle, true, 0);
    let sync = dma_buf::Sync {
        flags: dma_buf::READ,
    };
    let at = bench.process.memory.place(&sync);
    assert!(object.is_busy(true));
    let request = dma_buf::SYNC.0;
    let outcome = super::dma_buf::ioctl(&bench.toy, &object, request, at, &bench.process);
    assert_eq!((outcome, object.is_busy(false)), (Ok(0), false));
}

#[test]
fn names_and_descriptors_lead_to_the_same_object() {
    let bench = Bench::new();
    let other = File::open(&bench.toy, Node::Primary);
    let handle = bench.create();
    let mut flink = drm::GemFlink { handle, name: 0 };
    assert_eq!(bench.call(drm::GEM_FLINK, &mut flink), Ok(0));
    let mut open = drm::GemOpen {
        name: flink.name,
        ..Default::default()
    };
    assert_eq!(bench.call_of(&other, drm::GEM_OPEN, &mut open), Ok(0));
    assert_eq!(bench.file.object(handle), other.object(open.handle));
    let mut prime = drm::PrimeHandle {
        handle,
        ..Default::default()
    };
    assert_eq!(bench.call(drm::PRIME_HANDLE_TO_FD, &mut prime), Ok(0));
    assert_eq!(
        bench.call_of(&other, drm::PRIME_FD_TO_HANDLE, &mut prime),
        Ok(0)
    );
    assert_eq!(bench.file.object(handle), other.object(prime.handle));
    // Another device does not reach the memory.
    let elsewhere = File::open(&Toy::new().unwrap(), Node::Render);
    let mut foreign = prime;
    let outcome = bench.call_of(&elsewhere, drm::PRIME_FD_TO_HANDLE, &mut foreign);
    assert_eq!(outcome, Err(EOPNOTSUPP));
    // The name goes with the last handle.
    drop(other);
    bench.file.close_object(handle).unwrap();
    assert_eq!(bench.call(drm::GEM_OPEN, &mut open), Err(ENOENT));
    assert_eq!(bench.process.fds.lock().drain(..).count(), 1);
    assert_eq!(bench.toy.space.lock().len(), 0);
}

#[test]
fn the_dispatcher_serves_the_core_and_the_device() {
    let bench = Bench::new();
    let mut version = drm::Version::default();
    assert_eq!(bench.call(drm::VERSION, &mut version), Ok(0));
    let told = (
        version.major,
        version.minor,
        version.name_len,
        version.date_len,
    );
    assert_eq!(told, (7, 3, 3, 8));
    // A number of drivers that this device has no call for, and one that no driver has.
    for number in [drm::COMMAND_BASE + 2, 0xff] {
        let outcome = bench.call(Request::iowr::<Submit>(number), &mut Submit::default());
        assert_eq!(outcome, Err(EINVAL), "{number:#x}");
    }
    let what = |outcome: Result<i32>| outcome.err().map(Error::to_errno);
    let mut arg = Submit {
        handle: 99,
        ..Default::default()
    };
    assert_eq!(what(bench.call(SUBMIT, &mut arg)), what(Err(ENOENT)));
    bench.toy.removed.store(true, Ordering::Relaxed);
    assert_eq!(bench.call(drm::VERSION, &mut version), Err(ENODEV));
}

#[test]
fn masters_sit_on_the_device_that_was_opened() {
    let bench = Bench::new();
    let user = Opener {
        pid: 5,
        admin: false,
    };
    let client = File::open_by(&bench.toy, Node::Primary, user);
    assert!(!client.member.is_authenticated());
    let mut auth = drm::Auth::default();
    assert_eq!(bench.call_of(&client, drm::GET_MAGIC, &mut auth), Ok(0));
    assert_eq!(bench.call(drm::AUTH_MAGIC, &mut auth), Ok(0));
    assert!(client.member.is_authenticated());
    // Another device has a master of its own.
    let elsewhere = Toy::new().unwrap();
    let first = File::open_by(&elsewhere, Node::Primary, user);
    assert!(first.member.is_master(&elsewhere.user().seat));
    assert!(!first.member.is_master(&bench.toy.user().seat));
}

#[test]
fn other_programs_wait_while_one_waits() {
    let bench = Bench::new();
    let user = bench.toy.user();
    let account = |process| {
        let (family, group) = (1, Group::default());
        user.ledger.account(Origin {
            process,
            family,
            group,
        })
    };
    let of = |file: &File, process| Program::new(file.client(), account(process));
    let other = File::open(&bench.toy, Node::Render);
    bench.toy.queue(Job {
        client: Some(Arc::clone(bench.file.client())),
        account: account(1),
        ..Job::default()
    });
    let waits = |program: &Program| {
        has_program(user, &bench.toy.timeline, |one| one.is_other_than(program))
    };
    assert!(!waits(&of(&bench.file, 1)) && !waits(&of(&other, 1)));
    assert!(waits(&of(&other, 2)));
    let guard = user.waiting.enter(of(&other, 2), Wanted::Any);
    assert!(waits(&of(&bench.file, 1)));
    drop(guard);
    assert!(!waits(&of(&bench.file, 1)));
    // For this engine, for another, for any but this.
    let own = bench.toy.timeline.context();
    for (wanted, expected) in [
        (Wanted::Of(own), true),
        (Wanted::Of(own + 1), false),
        (Wanted::Beside(own), false),
        (Wanted::Beside(own + 1), true),
    ] {
        let _guard = user.waiting.enter(of(&other, 2), wanted);
        assert_eq!(waits(&of(&bench.file, 1)), expected, "{wanted:?}");
    }
}
