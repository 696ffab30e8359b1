//! Sync objects through their calls.
use kernel::error::code::{EFAULT, EINTR, EINVAL, ENOENT, ETIME};

use kernel::time::Clock;

use super::*;
use crate::core::uapi::syncobj::{
    Array, Create, Destroy, Handle, TimelineArray, TimelineWait, Transfer, Wait,
};
use crate::core::uapi::syncobj::{
    CREATE, DESTROY, FD_TO_HANDLE, HANDLE_TO_FD, QUERY, RESET, SIGNAL, TIMELINE_SIGNAL,
    TIMELINE_WAIT, TRANSFER, WAIT,
};

const ALL: u32 = 1;
const FOR_SUBMIT: u32 = 2;
const AVAILABLE: u32 = 4;

fn create(bench: &Bench, flags: u32) -> Result<u32> {
    let mut arg = Create { handle: 0, flags };
    bench.call(CREATE, &mut arg).map(|_| arg.handle)
}

fn wait(bench: &Bench, handles: &[u32], flags: u32, timeout_nsec: i64) -> Result<u32> {
    let mut arg = Wait {
        handles: bench.process.memory.place(handles),
        count_handles: handles.len() as u32,
        timeout_nsec,
        flags,
        ..Default::default()
    };
    bench.call(WAIT, &mut arg).map(|_| arg.first_signaled)
}

fn timeline_wait(bench: &Bench, handle: u32, point: u64, flags: u32) -> Result<u32> {
    let mut arg = TimelineWait {
        handles: bench.process.memory.place(&[handle]),
        points: bench.process.memory.place(&[point]),
        count_handles: 1,
        flags,
        ..Default::default()
    };
    bench
        .call(TIMELINE_WAIT, &mut arg)
        .map(|_| arg.first_signaled)
}

fn array(bench: &Bench, request: Request, handles: &[u32]) -> Result<i32> {
    let mut arg = Array {
        handles: bench.process.memory.place(handles),
        count_handles: handles.len() as u32,
        pad: 0,
    };
    bench.call(request, &mut arg)
}

fn query(bench: &Bench, handle: u32, flags: u32) -> Result<u64> {
    let points = bench.process.memory.alloc(8);
    let mut arg = TimelineArray {
        handles: bench.process.memory.place(&[handle]),
        points,
        count_handles: 1,
        flags,
    };
    bench.call(QUERY, &mut arg)?;
    bench.process.memory.get(points)
}

/// A submission that signals a sync object, at a point of its timeline or not.
fn submit(bench: &Bench, handle: u32) {
    let mut list = objects(&[bench.batch()]);
    let fence = uapi::exec::Fence { handle, flags: 2 };
    let at = bench.process.memory.place(&fence);
    bench
        .exec_with(&mut list, |arg| {
            arg.flags |= uapi::exec::FENCE_ARRAY;
            arg.num_cliprects = 1;
            arg.cliprects_ptr = at;
        })
        .unwrap();
}

#[test]
fn binary_ones_wait_for_one_or_all() {
    let bench = Bench::stuck();
    let (empty, done) = (create(&bench, 0).unwrap(), create(&bench, 1).unwrap());
    assert_eq!((empty, done), (1, 2));
    assert_eq!(create(&bench, 2), Err(EINVAL));
    assert_eq!(wait(&bench, &[done], 0, 0), Ok(0));
    assert_eq!(
        wait(&bench, &[empty], 0, 0),
        Err(EINVAL),
        "nothing submitted"
    );
    assert_eq!(wait(&bench, &[empty], FOR_SUBMIT, 0), Err(ETIME));
    assert_eq!(wait(&bench, &[empty, done], FOR_SUBMIT, 0), Ok(1));
    assert_eq!(
        wait(&bench, &[empty, done], FOR_SUBMIT | ALL, 0),
        Err(ETIME)
    );
    assert_eq!(wait(&bench, &[], 0, 0), Err(EINVAL));
    assert_eq!(wait(&bench, &[9], 0, 0), Err(ENOENT));
    assert_eq!(wait(&bench, &[done], AVAILABLE, 0), Err(EINVAL));
    let mut arg = Wait {
        handles: 0x10,
        count_handles: 1,
        ..Default::default()
    };
    assert_eq!(bench.call(WAIT, &mut arg), Err(EFAULT));
    arg.count_handles = u32::MAX;
    assert_eq!(bench.call(WAIT, &mut arg), Err(kernel::error::code::ENOMEM));
    arg.count_handles = (1 << 19) + 1;
    assert_eq!(bench.call(WAIT, &mut arg), Err(kernel::error::code::ENOMEM));
    arg.count_handles -= 1;
    assert_eq!(bench.call(WAIT, &mut arg), Err(EFAULT));
    let many = std::vec![done; (1 << 16) + 1];
    let refused = wait(&bench, &many, 0, 0);
    assert_eq!(refused, Err(kernel::error::code::ENOMEM), "to wait for");
    assert_eq!(wait(&bench, &many[1..], 0, 0), Ok(0));
    submit(&bench, empty);
    // The timeout is a time of the caller's clock.
    bench.process.now.store(1_000, Ordering::Relaxed);
    assert_eq!(wait(&bench, &[empty], 0, 900), Err(ETIME));
    assert_eq!(bench.fake.now().as_nanos(), 0);
    assert_eq!(wait(&bench, &[empty], 0, 51_000), Err(ETIME));
    assert_eq!(bench.fake.now().as_nanos(), 50_000);
    bench.process.signal.store(true, Ordering::Relaxed);
    assert_eq!(wait(&bench, &[empty], 0, i64::MAX), Err(EINTR));

    assert_eq!(array(&bench, SIGNAL, &[empty]), Ok(0));
    assert_eq!(wait(&bench, &[done, empty], ALL, 0), Ok(0));
    assert_eq!(array(&bench, RESET, &[empty, done]), Ok(0));
    assert_eq!(wait(&bench, &[done], 0, 0), Err(EINVAL));
    for request in [SIGNAL, RESET] {
        assert_eq!(array(&bench, request, &[]), Err(EINVAL));
        assert_eq!(array(&bench, request, &[9]), Err(ENOENT));
        let mut arg = Array {
            pad: 1,
            ..Default::default()
        };
        assert_eq!(bench.call(request, &mut arg), Err(EINVAL));
    }
    let mut arg = Destroy {
        handle: empty,
        pad: 1,
    };
    assert_eq!(bench.call(DESTROY, &mut arg), Err(EINVAL));
    arg.pad = 0;
    assert_eq!(bench.call(DESTROY, &mut arg), Ok(0));
    assert_eq!(bench.call(DESTROY, &mut arg), Err(EINVAL));
}

#[test]
fn points_through_the_calls() {
    let bench = Bench::stuck();
    let handle = create(&bench, 0).unwrap();
    assert_eq!(timeline_wait(&bench, handle, 3, 0), Err(EINVAL));
    assert_eq!(timeline_wait(&bench, handle, 3, FOR_SUBMIT), Err(ETIME));
    assert_eq!(timeline_wait(&bench, handle, 3, AVAILABLE), Err(ETIME));
    assert_eq!(timeline_wait(&bench, handle, 3, 8), Err(EINVAL));
    let signal = |points: u64, flags| {
        let mut arg = TimelineArray {
            handles: bench.process.memory.place(&[handle]),
            points,
            count_handles: 1,
            flags,
        };
        bench.call(TIMELINE_SIGNAL, &mut arg)
    };
    let three = bench.process.memory.place(&[3u64]);
    assert_eq!(signal(three, 1), Err(EINVAL));
    assert_eq!(signal(0x10, 0), Err(EFAULT));
    assert_eq!(signal(three, 0), Ok(0));
    assert_eq!(timeline_wait(&bench, handle, 3, 0), Ok(0));
    assert_eq!(timeline_wait(&bench, handle, 4, 0), Err(EINVAL));
    assert_eq!(
        (query(&bench, handle, 0), query(&bench, handle, 1)),
        (Ok(3), Ok(3))
    );

    // A request at point 9.
    let binary = create(&bench, 0).unwrap();
    submit(&bench, binary);
    let transfer = |src_handle, src_point, dst_handle, dst_point| {
        let mut arg = Transfer {
            src_handle,
            dst_handle,
            src_point,
            dst_point,
            ..Default::default()
        };
        bench.call(TRANSFER, &mut arg)
    };
    assert_eq!(transfer(binary, 0, handle, 9), Ok(0));
    assert_eq!(
        (query(&bench, handle, 0), query(&bench, handle, 1)),
        (Ok(3), Ok(9))
    );
    assert_eq!(timeline_wait(&bench, handle, 9, 0), Err(ETIME));
    assert_eq!(timeline_wait(&bench, handle, 9, AVAILABLE), Ok(0));
    assert_eq!(timeline_wait(&bench, handle, 2, 0), Ok(0));
    let other = create(&bench, 0).unwrap();
    assert_eq!(transfer(handle, 9, other, 0), Ok(0));
    assert_eq!(wait(&bench, &[other], 0, 0), Err(ETIME));
    assert_eq!(transfer(handle, 10, other, 0), Err(EINVAL));
    assert_eq!(transfer(99, 0, other, 0), Err(ENOENT));
    assert_eq!(transfer(handle, 0, 99, 0), Err(ENOENT));
    let mut arg = Transfer {
        src_handle: handle,
        dst_handle: other,
        src_point: 10,
        flags: FOR_SUBMIT,
        ..Default::default()
    };
    assert_eq!(bench.call(TRANSFER, &mut arg), Err(ETIME));
    arg.pad = 1;
    assert_eq!(bench.call(TRANSFER, &mut arg), Err(EINVAL));

    let hws = u64::from(bench.fake.peek(0x2080));
    kernel::dma::DmaAllocator::write(&*bench.fake, hws + 0x100, &1u32.to_le_bytes()).unwrap();
    assert_eq!(query(&bench, handle, 0), Ok(9));
    assert_eq!(wait(&bench, &[other], 0, 0), Ok(0));
    assert_eq!(query(&bench, binary, 0), Ok(0));
    assert_eq!(query(&bench, binary, 2), Err(EINVAL));
    let mut arg = TimelineArray {
        handles: bench.process.memory.place(&[handle]),
        points: 0x10,
        count_handles: 1,
        flags: 0,
    };
    assert_eq!(bench.call(QUERY, &mut arg), Err(EFAULT));
}

#[test]
fn descriptors_carry_sync_objects_and_their_fences() {
    let bench = Bench::new();
    let done = create(&bench, 1).unwrap();
    let call = |request, handle, flags, fd, pad| {
        let mut arg = Handle {
            handle,
            flags,
            fd,
            pad,
        };
        bench.call(request, &mut arg).map(|_| (arg.handle, arg.fd))
    };
    let (_, fd) = call(HANDLE_TO_FD, done, 0, -1, 0).unwrap();
    let (again, _) = call(FD_TO_HANDLE, 0, 0, fd, 0).unwrap();
    assert_eq!(again, 2);
    array(&bench, RESET, &[done]).unwrap();
    assert_eq!(wait(&bench, &[again], 0, 0), Err(EINVAL), "they are one");
    assert_eq!(call(HANDLE_TO_FD, done, 1, -1, 0), Err(EINVAL), "no fence");
    array(&bench, SIGNAL, &[done]).unwrap();
    let (_, file) = call(HANDLE_TO_FD, done, 1, -1, 0).unwrap();
    let empty = create(&bench, 0).unwrap();
    assert_eq!(call(FD_TO_HANDLE, empty, 1, file, 0), Ok((empty, file)));
    assert_eq!(wait(&bench, &[empty], 0, 0), Ok(0));
    assert_eq!(call(FD_TO_HANDLE, 99, 1, file, 0), Err(ENOENT));
    assert_eq!(
        call(FD_TO_HANDLE, 0, 0, file, 0),
        Err(EINVAL),
        "a sync file"
    );
    assert_eq!(call(FD_TO_HANDLE, empty, 1, fd, 0), Err(EINVAL));
    assert_eq!(call(FD_TO_HANDLE, 0, 0, 99, 0), Err(EINVAL));
    assert_eq!(call(HANDLE_TO_FD, 99, 0, -1, 0), Err(EINVAL));
    assert_eq!(call(HANDLE_TO_FD, 99, 1, -1, 0), Err(ENOENT));
    for request in [HANDLE_TO_FD, FD_TO_HANDLE] {
        assert_eq!(call(request, done, 2, fd, 0), Err(EINVAL));
        assert_eq!(call(request, done, 0, fd, 1), Err(EINVAL));
    }
}

/// A sync object that is named 65536 times is looked at once in the loop that waits, and points are found in few steps.
#[test]
fn what_is_named_often_is_waited_for_once() {
    let bench = Bench::stuck();
    let handles = [0; 2].map(|_| create(&bench, 0).unwrap());
    submit(&bench, handles[0]);
    let mut fence = Transfer {
        src_handle: handles[0],
        dst_handle: handles[1],
        ..Default::default()
    };
    for point in 1..=4096 {
        fence.dst_point = point;
        assert_eq!(bench.call(TRANSFER, &mut fence), Ok(0));
    }
    let many = std::vec![handles; 1 << 15].concat();
    let (looks, refused) = crate::core::work::of(|| wait(&bench, &many, ALL, 5_000_000));
    assert_eq!(refused, Err(ETIME));
    assert_eq!(bench.fake.now().as_nanos(), 5_000_000, "many looks");
    assert!(looks < 10 << 16, "{looks}");
}

/// A wait looks whether its caller is still there before it has looked at all that it names.
#[test]
fn a_long_wait_is_interrupted() {
    let bench = Bench::stuck();
    let done = create(&bench, 1).unwrap();
    let many = std::vec![done; 1 << 16];
    bench.process.signal.store(true, Ordering::Relaxed);
    assert_eq!(wait(&bench, &many, ALL, 0), Err(EINTR));
    assert_eq!(wait(&bench, &many[..100], ALL, 0), Ok(0), "a short one");
}
