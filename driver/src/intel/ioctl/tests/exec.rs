//! EXECBUFFER2: checks, addresses, relocations, fences.
use kernel::error::code::{EFAULT, EINTR, EINVAL, EIO, ENOENT, ENOMEM, EPERM};

use super::*;
use crate::intel::tests::read_dword;
use crate::intel::uapi::exec::{Execbuffer2, Fence, Object, Relocation, TimelineFences};
use crate::intel::uapi::query::{GETPARAM, Getparam};

fn refused(bench: &Bench, change: impl FnOnce(&mut Execbuffer2)) -> kernel::error::Error {
    let mut list = objects(&[bench.batch()]);
    bench.exec_with(&mut list, change).unwrap_err()
}

/// Address of the batch of the last request: the second dword of MI_BATCH_BUFFER_START, 300 bytes from the end.
fn started(bench: &Bench) -> u32 {
    let tail = bench.fake.peek(0x2030).wrapping_sub(400 - 23 * 4) & 0x3fff;
    read_dword(&bench.fake, bench.fake.peek(0x2038) + tail)
}

#[test]
fn the_argument_is_checked() {
    let bench = Bench::new();
    assert_eq!(refused(&bench, |arg| arg.buffer_count = 0), EINVAL);
    assert_eq!(refused(&bench, |arg| arg.buffer_count = 1 << 31), EINVAL);
    assert_eq!(refused(&bench, |arg| arg.buffer_count = 2), EFAULT);
    assert_eq!(refused(&bench, |arg| arg.buffers_ptr = 0x10), EFAULT);
    for flags in [1 << 22, 1 << 63, 1 << 6, 1 << 7, 1 << 15] {
        assert_eq!(refused(&bench, |arg| arg.flags |= flags), EINVAL);
    }
    assert_eq!(refused(&bench, |arg| arg.num_cliprects = 1), EINVAL);
    assert_eq!(refused(&bench, |arg| arg.cliprects_ptr = 8), EINVAL);
    assert_eq!(refused(&bench, |arg| arg.dr1 = 1), EINVAL);
    assert_eq!(refused(&bench, |arg| arg.dr4 = 1), EINVAL);
    assert_eq!(refused(&bench, |arg| arg.batch_len = 12), EINVAL);
    assert_eq!(refused(&bench, |arg| arg.batch_start_offset = 4), EINVAL);
    assert_eq!(refused(&bench, |arg| arg.batch_start_offset = 4096), EINVAL);
    assert_eq!(refused(&bench, |arg| arg.batch_len = 4104), EINVAL);
    assert_eq!(refused(&bench, |arg| arg.flags |= 1 << 9), EPERM, "secure");
    assert_eq!(refused(&bench, |arg| arg.rsvd1 = 7), ENOENT, "context");
    for ring in [2, 3, 4, 5, 63] {
        assert_eq!(refused(&bench, |arg| arg.flags = ring), EINVAL, "{ring}");
    }
    assert_eq!(refused(&bench, |arg| arg.flags |= 1 << 13), EINVAL, "BSD");
    assert_eq!(bench.fake.peek(0x2030), 0, "nothing ran");
    // What is allowed: garbage that an old driver left, the default ring.
    let mut list = objects(&[bench.batch()]);
    let ok = bench.exec_with(&mut list, |arg| {
        arg.dr4 = u32::MAX;
        arg.flags = 0;
        arg.batch_len = 0;
    });
    assert!(ok.is_ok());
    assert!(bench.device.reset().is_err());
    assert_eq!(refused(&bench, |_| ()), EIO, "wedged");
}

/// i915 `i915_gem_do_execbuffer`, `gen4_emit_bb_start`: `MI_BATCH_NON_SECURE_I965` is bit 8; the administrator alone, as master, does without.
#[test]
fn privileged_batches_are_the_administrators() {
    let bench = Bench::primary();
    let asked = || {
        let value = bench.process.memory.alloc(4);
        let mut arg = Getparam {
            param: 23,
            value,
            hole: 0,
        };
        assert_eq!(bench.call(GETPARAM, &mut arg), Ok(0));
        bench.process.memory.get::<i32>(value).unwrap()
    };
    let start = || {
        let tail = bench.fake.peek(0x2030).wrapping_sub(400 - 22 * 4) & 0x3fff;
        read_dword(&bench.fake, bench.fake.peek(0x2038) + tail)
    };
    let secure = |bench: &Bench| {
        let mut list = objects(&[bench.batch()]);
        bench
            .exec_with(&mut list, |arg| arg.flags |= 1 << 9)
            .map(|_| ())
    };
    assert_eq!((asked(), secure(&bench)), (0, Err(EPERM)));
    bench.process.admin.store(true, Ordering::Relaxed);
    assert_eq!((asked(), secure(&bench)), (1, Ok(())));
    assert_eq!(start() >> 23, 0x31);
    assert_eq!(start() & 1 << 8, 0);
    bench.exec(&[bench.batch()]).unwrap();
    assert_eq!(start() >> 23, 0x31);
    assert_eq!(start() & 1 << 8, 1 << 8);
    let other = bench.other();
    other.process.admin.store(true, Ordering::Relaxed);
    assert_eq!(secure(&other), Err(EPERM), "no master");
}

#[test]
fn objects_are_checked() {
    let bench = Bench::new();
    let batch = bench.batch();
    let refused = |change: &dyn Fn(&mut Object)| {
        let mut list = objects(&[batch]);
        change(&mut list[0]);
        bench.exec_with(&mut list, |_| ()).unwrap_err()
    };
    assert_eq!(refused(&|o| o.handle = 99), ENOENT);
    assert_eq!(refused(&|o| o.flags = 1 << 8), EINVAL);
    assert_eq!(refused(&|o| o.flags = 1 << 2), EINVAL, "a written batch");
    assert_eq!(refused(&|o| o.alignment = 4095), EINVAL);
    assert_eq!(
        refused(&|o| (o.flags, o.pad_to_size) = (1 << 5, 100)),
        EINVAL
    );
    assert_eq!(refused(&|o| (o.flags, o.offset) = (1 << 4, 100)), EINVAL);
    assert_eq!(
        refused(&|o| (o.flags, o.offset) = (1 << 4, 1 << 47)),
        EINVAL,
        "not canonical"
    );
    assert_eq!(
        refused(&|o| (o.flags, o.offset) = (1 << 4, 1 << 40)),
        EINVAL,
        "outside"
    );
    assert_eq!(bench.fake.peek(0x2030), 0);
}

#[test]
fn objects_go_where_user_space_believes_them() {
    let bench = Bench::new();
    let (data, batch) = (bench.create(8192), bench.batch());
    let mut list = objects(&[data, batch]);
    list[0].offset = 0x30_0000;
    bench.exec_with(&mut list, |_| ()).unwrap();
    assert_eq!((list[0].offset, list[1].offset), (0x30_0000, 0x4_0000));
    assert_eq!(started(&bench), 0x4_0000);
    // They stay, and nothing is written back that is right already.
    list[0].offset = 0;
    bench.exec_with(&mut list, |_| ()).unwrap();
    assert_eq!(list[0].offset, 0x30_0000);
    // Alignment, room, a fixed place.
    list[0].alignment = 0x80_0000;
    bench.exec_with(&mut list, |_| ()).unwrap();
    assert_eq!(list[0].offset, 0x80_0000);
    (list[0].flags, list[0].pad_to_size) = (1 << 5, 0x10_0000);
    bench.exec_with(&mut list, |_| ()).unwrap();
    let object = bench.file.object(data).unwrap();
    assert_eq!(object.bound_size(), 0x10_0000);
    (list[0].flags, list[0].offset, list[0].alignment) = (1 << 4, 0x50_0000, 0);
    bench.exec_with(&mut list, |_| ()).unwrap();
    assert_eq!(object.address(), Some(0x50_0000));
    // A fixed place where the batch is: the batch gives way.
    list[0].offset = 0x4_0000;
    bench.exec_with(&mut list, |_| ()).unwrap();
    assert_eq!((list[0].offset, list[1].offset), (0x4_0000, 0x1000));
}

#[test]
fn the_batch_is_the_first_or_the_last() {
    let bench = Bench::new();
    let (other, batch) = (bench.create(4096), bench.create(8192));
    let mut list = objects(&[batch, other]);
    bench
        .exec_with(&mut list, |arg| {
            arg.flags |= uapi::exec::BATCH_FIRST;
            arg.batch_start_offset = 0x1008;
        })
        .unwrap();
    assert_eq!(u64::from(started(&bench)), list[0].offset + 0x1008);
    let mut list = objects(&[batch, other]);
    bench.exec_with(&mut list, |_| ()).unwrap();
    assert_eq!(u64::from(started(&bench)), list[1].offset);
}

fn reloc(target_handle: u32, offset: u64) -> Relocation {
    Relocation {
        target_handle,
        delta: 0x10,
        offset,
        presumed_offset: 0x7777_0000,
        read_domains: 0x10,
        write_domain: 0,
    }
}

/// Runs a batch with relocations; gives the list and the relocations back.
fn relocated(
    bench: &Bench,
    handles: &[u32],
    relocs: &[Relocation],
    flags: u64,
) -> Result<(Vec<Object>, Vec<Relocation>)> {
    let at = bench.process.memory.place(relocs);
    let mut list = objects(handles);
    let batch = list.last_mut().unwrap();
    batch.relocs_ptr = at;
    batch.relocation_count = relocs.len() as u32;
    bench.exec_with(&mut list, |arg| arg.flags |= flags)?;
    let back = (0..relocs.len() as u64).map(|i| bench.process.memory.get(at + i * 32).unwrap());
    Ok((list, back.collect()))
}

#[test]
fn relocations_patch_by_handle_or_index() {
    let bench = Bench::new();
    let (data, batch) = (bench.create(4096), bench.batch());
    let (list, back) = relocated(
        &bench,
        &[data, batch],
        &[reloc(data, 8), reloc(batch, 12)],
        0,
    )
    .unwrap();
    assert!(list[1].offset >= 0x4_0000, "a relocated batch lies high");
    assert_eq!(bench.read(batch, 8), list[0].offset as u32 + 0x10);
    assert_eq!(bench.read(batch, 12), list[1].offset as u32 + 0x10);
    assert_eq!(back[0].presumed_offset, list[0].offset);
    assert_eq!(back[1].presumed_offset, list[1].offset);
    // With the right guess nothing is written.
    bench.write(batch, 8, &[0x5555]);
    let guessed = Relocation {
        presumed_offset: list[0].offset,
        ..reloc(0, 8)
    };
    relocated(&bench, &[data, batch], &[guessed], uapi::exec::HANDLE_LUT).unwrap();
    assert_eq!(bench.read(batch, 8), 0x5555);
    let wrong = [Relocation {
        delta: u32::MAX,
        ..reloc(0, 8)
    }];
    relocated(&bench, &[data, batch], &wrong, uapi::exec::HANDLE_LUT).unwrap();
    assert_eq!(bench.read(batch, 8), list[0].offset as u32 - 1);
}

#[test]
fn no_reloc_holds_while_nothing_moves() {
    let bench = Bench::new();
    let (data, batch) = (bench.create(4096), bench.batch());
    let (list, _) = relocated(&bench, &[data, batch], &[reloc(data, 8)], 0).unwrap();
    bench.write(batch, 8, &[0x5555]);
    let again = |offset| {
        let at = bench.process.memory.place(&[reloc(data, 8)]);
        let mut now = list.clone();
        now[0].offset = offset;
        (now[1].relocs_ptr, now[1].relocation_count) = (at, 1);
        bench
            .exec_with(&mut now, |arg| arg.flags |= uapi::exec::NO_RELOC)
            .unwrap();
        bench.read(batch, 8)
    };
    assert_eq!(again(list[0].offset), 0x5555);
    assert_eq!(again(0x90_0000), list[0].offset as u32 + 0x10, "it moved");
}

#[test]
fn relocations_are_checked() {
    let bench = Bench::new();
    let (data, batch) = (bench.create(4096), bench.batch());
    let run = |relocs: &[Relocation], flags| {
        relocated(&bench, &[data, batch], relocs, flags)
            .err()
            .unwrap()
    };
    assert_eq!(run(&[reloc(99, 0)], 0), ENOENT);
    assert_eq!(run(&[reloc(2, 0)], uapi::exec::HANDLE_LUT), ENOENT);
    assert_eq!(run(&[reloc(data, 4093)], 0), EINVAL);
    assert_eq!(run(&[reloc(data, 4096)], 0), EINVAL);
    assert_eq!(run(&[reloc(data, 2)], 0), EINVAL, "not a dword");
    let domains = |read_domains, write_domain| Relocation {
        read_domains,
        write_domain,
        ..reloc(data, 0)
    };
    assert_eq!(run(&[domains(1, 0)], 0), EINVAL, "the CPU's");
    assert_eq!(run(&[domains(0, 0x40)], 0), EINVAL, "the aperture's");
    assert_eq!(run(&[domains(2, 6)], 0), EINVAL, "two writers");
    assert_eq!(bench.fake.peek(0x2030), 0);
    let mut list = objects(&[data, batch]);
    (list[1].relocs_ptr, list[1].relocation_count) = (0x10, 1);
    assert_eq!(bench.exec_with(&mut list, |_| ()).err(), Some(EFAULT));
    assert_eq!(list[0].offset, 0, "not told when relocation fails");
    // A write domain makes the target written.
    let stuck = Bench::stuck();
    let (data, batch) = (stuck.create(4096), stuck.batch());
    let write = Relocation {
        target_handle: data,
        ..domains(2, 2)
    };
    relocated(&stuck, &[data, batch], &[write], 0).unwrap();
    let mut busy = uapi::gem::Busy {
        handle: data,
        busy: 0,
    };
    stuck.call(uapi::gem::BUSY, &mut busy).unwrap();
    assert_eq!(busy.busy, 0x0001_0001);
}

fn with_fences(bench: &Bench, fences: &[Fence]) -> Result<Execbuffer2> {
    let at = bench.process.memory.place(fences);
    let mut list = objects(&[bench.batch()]);
    bench.exec_with(&mut list, |arg| {
        arg.flags |= uapi::exec::FENCE_ARRAY;
        arg.num_cliprects = fences.len() as u32;
        arg.cliprects_ptr = at;
    })
}

fn syncobj(bench: &Bench) -> u32 {
    let mut arg = uapi::syncobj::Create::default();
    bench.call(uapi::syncobj::CREATE, &mut arg).unwrap();
    arg.handle
}

#[test]
fn fences_are_waited_for_and_signalled() {
    let bench = Bench::new();
    let handle = syncobj(&bench);
    let held = bench.file.syncobj(handle).unwrap();
    let fence = |handle, flags| Fence { handle, flags };
    assert_eq!(
        with_fences(&bench, &[fence(handle, 1)]).err(),
        Some(EINVAL),
        "no fence"
    );
    assert_eq!(with_fences(&bench, &[fence(handle, 4)]).err(), Some(EINVAL));
    assert_eq!(with_fences(&bench, &[fence(9, 2)]).err(), Some(ENOENT));
    assert!(with_fences(&bench, &[]).is_ok());
    assert!(!held.has_fence());
    assert!(with_fences(&bench, &[fence(handle, 2)]).is_ok());
    assert!(held.wait(0).unwrap().is_signalled());
    assert!(with_fences(&bench, &[fence(handle, 3)]).is_ok());
    let mut list = objects(&[bench.batch()]);
    let bad = bench.exec_with(&mut list, |arg| {
        arg.flags |= uapi::exec::FENCE_ARRAY;
        (arg.num_cliprects, arg.cliprects_ptr) = (1, 0x10);
    });
    assert_eq!(bad.err(), Some(EFAULT));
}

#[test]
fn fences_are_bounded_and_can_be_given_up() {
    const MOST: u32 = 1 << 17;
    let bench = Bench::new();
    let (batch, memory) = (bench.batch(), &bench.process.memory);
    let bad = memory.place(&Fence {
        handle: 9,
        flags: 2,
    });
    let count = |count| {
        let mut list = objects(&[batch]);
        let done = bench.exec_with(&mut list, |arg| {
            arg.flags |= uapi::exec::FENCE_ARRAY;
            (arg.num_cliprects, arg.cliprects_ptr) = (count, bad);
        });
        done.err()
    };
    assert_eq!(count(MOST), Some(ENOENT), "the first is looked at");
    assert_eq!(count(MOST + 1), Some(ENOMEM));
    assert_eq!(count(u32::MAX), Some(ENOMEM));
    let timeline = |fence_count| {
        let link = TimelineFences {
            fence_count,
            handles_ptr: bad,
            values_ptr: memory.place(&[0_u64]),
            ..Default::default()
        };
        let at = memory.place(&link);
        let mut list = objects(&[batch]);
        let done = bench.exec_with(&mut list, |arg| {
            arg.flags |= uapi::exec::USE_EXTENSIONS;
            arg.cliprects_ptr = at;
        });
        done.err()
    };
    assert_eq!(timeline(u64::from(MOST)), Some(ENOENT));
    assert_eq!(timeline(u64::from(MOST) + 1), Some(ENOMEM));
    assert_eq!(timeline(u64::MAX), Some(EINVAL), "overflows");
    assert_eq!(timeline(u64::MAX / 16), Some(EFAULT), "no process has it");
    bench.process.signal.store(true, Ordering::Relaxed);
    assert_eq!(count(1), Some(EINTR));
    assert_eq!(timeline(1), Some(EINTR));
}

#[test]
fn lists_of_objects_are_bounded() {
    let bench = Bench::new();
    let mut list = objects(&[bench.batch()]);
    let done = bench.exec_with(&mut list, |arg| arg.buffer_count = (1 << 17) + 1);
    assert_eq!(done.err(), Some(ENOMEM));
}

#[test]
fn fence_descriptors_go_in_and_out() {
    let bench = Bench::stuck();
    let batch = bench.batch();
    let run = |flags: u64, rsvd2| {
        let mut list = objects(&[batch]);
        bench.exec_with(&mut list, |arg| {
            arg.flags |= flags;
            arg.rsvd2 = rsvd2;
        })
    };
    let out = run(uapi::exec::FENCE_OUT, 77).unwrap().rsvd2;
    assert_eq!(out, 0x3_0000_004d);
    assert!(matches!(&bench.process.fds.lock()[0].0, Shared::Fence(f) if f.status().is_none()));
    assert!(run(uapi::exec::FENCE_IN, out >> 32).is_ok());
    assert_eq!(run(uapi::exec::FENCE_IN, 99).err(), Some(EINVAL));
    let both = uapi::exec::FENCE_IN | uapi::exec::FENCE_SUBMIT;
    assert_eq!(run(both, out >> 32).err(), Some(EINVAL));
}

#[test]
fn points_of_timelines_through_an_extension() {
    let bench = Bench::new();
    let handle = syncobj(&bench);
    let run = |fence: Fence, point: u64, change: &dyn Fn(&mut Execbuffer2)| {
        let memory = &bench.process.memory;
        let link = TimelineFences {
            fence_count: 1,
            handles_ptr: memory.place(&fence),
            values_ptr: memory.place(&[point]),
            ..Default::default()
        };
        let at = memory.place(&link);
        let mut list = objects(&[bench.batch()]);
        let done = bench.exec_with(&mut list, |arg| {
            arg.flags |= uapi::exec::USE_EXTENSIONS;
            arg.cliprects_ptr = at;
            change(arg);
        });
        done.err()
    };
    let fence = |flags| Fence { handle, flags };
    assert_eq!(run(fence(1), 5, &|_| ()), Some(EINVAL), "nothing there");
    assert_eq!(run(fence(2), 5, &|_| ()), None);
    let held = bench.file.syncobj(handle).unwrap();
    assert_eq!(held.query(true), 5);
    assert_eq!(run(fence(1), 5, &|_| ()), None);
    assert_eq!(run(fence(1), 6, &|_| ()), Some(EINVAL));
    assert_eq!(run(fence(3), 6, &|_| ()), Some(EINVAL), "wait and signal");
    assert_eq!(run(fence(4), 6, &|_| ()), Some(EINVAL));
    assert_eq!(run(fence(2), 6, &|arg| arg.num_cliprects = 1), Some(EINVAL));
    let array = uapi::exec::FENCE_ARRAY;
    assert_eq!(run(fence(2), 6, &|arg| arg.flags |= array), Some(EINVAL));
    assert_eq!(
        run(fence(2), 6, &|arg| arg.cliprects_ptr = 0x10),
        Some(EFAULT)
    );
    assert_eq!(held.query(true), 5);
}

#[test]
fn a_request_keeps_its_objects_and_what_to_capture() {
    let bench = Bench::stuck();
    let (data, batch) = (bench.create(4096), bench.batch());
    let before = bench.fake.allocations();
    let mut list = objects(&[data, batch]);
    list[0].flags = uapi::exec::OBJECT_CAPTURE;
    bench.exec_with(&mut list, |_| ()).unwrap();
    let object = bench.file.object(data).unwrap();
    assert_eq!(bench.device.captures(), [object]);
    // The images of the driver's context and of the file's.
    let before = before + 2;
    bench.file.close_object(data).unwrap();
    bench.file.close_object(batch).unwrap();
    assert_eq!(bench.fake.allocations(), before);
    let hws = u64::from(bench.fake.peek(0x2080));
    kernel::dma::DmaAllocator::write(&*bench.fake, hws + 0x100, &1u32.to_le_bytes()).unwrap();
    assert!(!bench.device.is_idle(), "the ring's head has not moved");
    assert_eq!(bench.fake.allocations(), before - 2);
}

/// A process whose memory takes long: while the list of relocations is read or written, another process has its batch run.
struct Slow {
    process: Process,
    /// Where the relocations are.
    list: core::ops::Range<u64>,
    other: SpinLock<Option<Bench>>,
    /// Whether the other's batch had run in time, for each access to the list.
    in_time: SpinLock<Vec<bool>>,
}

impl Slow {
    fn look(&self, addr: u64) {
        if !self.list.contains(&addr) {
            return;
        }
        let other = self.other.lock().take();
        let (done, wait) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let other = other.unwrap();
            other.exec(&[other.batch()]).unwrap();
            // Nobody listens where it has taken too long.
            let _ = done.send(other);
        });
        // TIMEOUT: a submission to this ring takes some microseconds.
        let other = wait.recv_timeout(core::time::Duration::from_secs(2)).ok();
        self.in_time.lock().push(other.is_some());
        *self.other.lock() = other;
    }
}

impl UserMemory for Slow {
    fn read(&self, addr: u64, out: &mut [u8]) -> Result {
        self.look(addr);
        self.process.memory.read(addr, out)
    }
    fn write(&self, addr: u64, data: &[u8]) -> Result {
        self.look(addr);
        self.process.memory.write(addr, data)
    }
}

impl Task for Slow {
    fn memory(&self) -> &dyn UserMemory {
        self
    }
    fn fds(&self) -> &dyn FdTable {
        &self.process
    }
    fn monotonic(&self) -> Ktime {
        self.process.monotonic()
    }
    fn signal_pending(&self) -> bool {
        false
    }
    fn is_admin(&self) -> bool {
        false
    }
}

/// A page of a client can take as long as the client likes (userfaultfd(2), a file of FUSE).
#[test]
fn relocations_in_memory_that_takes_long_keep_nobody_waiting() {
    let bench = Bench::new();
    let (data, batch) = (bench.create(4096), bench.batch());
    let reloc = reloc(data, 8);
    let at = bench.process.memory.place(&[reloc]);
    let mut list = objects(&[data, batch]);
    list[1].relocs_ptr = at;
    list[1].relocation_count = 1;
    let mut arg = Execbuffer2 {
        buffers_ptr: bench.process.memory.place(list.as_slice()),
        buffer_count: 2,
        batch_len: 8,
        flags: uapi::exec::RENDER,
        ..Default::default()
    };
    let call = bench.process.memory.place(&arg);
    let other = Bench {
        fake: Arc::clone(&bench.fake),
        device: bench.device.clone(),
        file: File::open(&bench.device, Node::Render),
        process: Process::default(),
    };
    let slow = Slow {
        process: bench.process,
        list: at..at + size_of::<Relocation>() as u64,
        other: SpinLock::new(Some(other)),
        in_time: SpinLock::default(),
    };
    let request = uapi::exec::EXECBUFFER2_WR;
    assert_eq!(ioctl(&bench.file, request.0, call, &slow), Ok(0));
    arg = slow.process.memory.get(call).unwrap();
    assert_eq!(arg.buffer_count, 2);
    // Read, and the address that was not known is told.
    let in_time = slow.in_time.lock().clone();
    assert!(
        in_time.len() >= 2 && in_time.iter().all(|in_time| *in_time),
        "{in_time:?}"
    );
    let told: Relocation = slow.process.memory.get(at).unwrap();
    assert_ne!(told.presumed_offset, 0x7777_0000);
}

/// The ring has room for more.
#[test]
fn submissions_wait_while_others_wait_for_those_before() {
    let bench = Bench::stuck();
    let batch = bench.batch();
    for _ in 0..20 {
        bench.exec(&[batch]).unwrap();
    }
    let other = Bench {
        fake: Arc::clone(&bench.fake),
        device: bench.device.clone(),
        file: File::open(&bench.device, Node::Render),
        process: Process::default(),
    };
    let of_other = other.batch();
    // A wait ends at once.
    for process in [&bench.process, &other.process] {
        process.signal.store(true, Ordering::Relaxed);
    }
    bench.exec(&[batch]).unwrap();
    // A family that begins has one before others.
    other.exec(&[of_other]).unwrap();
    assert_eq!(other.exec(&[of_other]).err(), Some(EINTR));
    assert_eq!(bench.exec(&[batch]).err(), Some(EINTR));
}

/// On threads, few of them: here a thread that waits does not sleep. Those that a signal reaches leave the line, and the
/// others all come.
#[test]
fn programs_that_submit_at_a_time_all_come() {
    let bench = Bench::stuck();
    let _no_hangs = bench.device.suspend_hang_check();
    let others = (0..6).map(|_| Bench {
        fake: Arc::clone(&bench.fake),
        device: bench.device.clone(),
        file: File::open(&bench.device, Node::Render),
        process: Process::default(),
    });
    let others: Vec<_> = others.collect();
    let left = core::sync::atomic::AtomicUsize::new(others.len());
    let outcomes: Vec<Vec<Result>> = std::thread::scope(|scope| {
        let spawn = |other| {
            let other: &Bench = other;
            let batch = other.batch();
            let left = &left;
            scope.spawn(move || {
                let outcomes = (0..10).map(|_| other.exec(&[batch]).map(drop)).collect();
                left.fetch_sub(1, Ordering::AcqRel);
                outcomes
            })
        };
        let threads: Vec<_> = others.iter().map(spawn).collect();
        // Each waits for its second; two are told to stop.
        while bench.device.timeline().pending() < 6 {
            std::thread::yield_now();
        }
        for other in others.iter().step_by(3) {
            other.process.signal.store(true, Ordering::Release);
        }
        let hws = u64::from(bench.fake.peek(0x2080)) + 0x100;
        while left.load(Ordering::Acquire) > 0 {
            let done = bench.device.timeline().submitted().to_le_bytes();
            bench.fake.set(0x2034, bench.fake.peek(0x2030));
            kernel::dma::DmaAllocator::write(&*bench.fake, hws, &done).unwrap();
            std::thread::yield_now();
        }
        threads.into_iter().map(|one| one.join().unwrap()).collect()
    });
    for (outcomes, at) in outcomes.iter().zip(0..) {
        let came = |outcome: &Result| *outcome == Ok(()) || at % 3 == 0 && *outcome == Err(EINTR);
        assert!(outcomes.iter().all(came), "{at}: {outcomes:?}");
    }
    let stopped = outcomes.iter().flatten().filter(|one| one.is_err());
    assert!(stopped.count() > 0, "some have waited");
}
