//! Descriptors of fences: merge, information.
//!
//! Numbers and layouts of linux/sync_file.h; errors of sync_file.c.
use kernel::error::code::{EINVAL, EIO, ENOENT, ENOTTY};

use super::*;
use crate::core::sync_file;
use crate::core::uapi::sync_file::{FILE_INFO, FenceInfo, FileInfo, MERGE, MergeData};
use crate::intel::uapi::exec::FENCE_OUT;

/// Submits; the descriptor of the request's fence.
fn exec(bench: &Bench) -> i32 {
    let mut list = objects(&[bench.batch()]);
    let arg = bench.exec_with(&mut list, |arg| arg.flags |= FENCE_OUT);
    (arg.unwrap().rsvd2 >> 32) as i32
}

fn call<T: IntoBytes + FromBytes + Immutable>(
    bench: &Bench,
    fd: i32,
    request: u32,
    arg: &mut T,
) -> Result<i32> {
    let what = bench.process.get(fd)?;
    let at = bench.process.memory.place(arg);
    let outcome = sync_file::ioctl(&bench.device, &what, request, at, &bench.process);
    *arg = bench.process.memory.get(at).unwrap();
    outcome
}

fn info(bench: &Bench, fd: i32) -> FileInfo {
    let mut info = FileInfo::default();
    call(bench, fd, FILE_INFO.0, &mut info).unwrap();
    info
}

fn string(field: &[u8; 32]) -> &str {
    core::str::from_utf8(field).unwrap().trim_end_matches('\0')
}

#[test]
fn numbers_are_those_of_the_header() {
    // _IOWR('>', 3, struct sync_merge_data), _IOWR('>', 4, struct sync_file_info)
    assert_eq!((MERGE.0, FILE_INFO.0), (0xc030_3e03, 0xc038_3e04));
}

#[test]
fn merged_fences_are_told() {
    let bench = Bench::stuck();
    let (first, second) = (exec(&bench), exec(&bench));
    assert_eq!(
        (info(&bench, first).status, info(&bench, first).num_fences),
        (0, 1)
    );
    assert_eq!(string(&info(&bench, first).name), "i915-unknown[0]1-1");
    let mut merge = MergeData {
        fd2: second,
        ..Default::default()
    };
    merge.name[..3].copy_from_slice(b"sum");
    call(&bench, first, MERGE.0, &mut merge).unwrap();
    let told = info(&bench, merge.fence);
    assert_eq!(
        (string(&told.name), told.num_fences, told.status),
        ("sum", 2, 0)
    );
    // The first fails, the second succeeds.
    let Shared::Fence(fence) = bench.process.get(first).unwrap() else {
        panic!("no fence");
    };
    fence.set_error(EIO);
    let hws = u64::from(bench.fake.peek(0x2080));
    kernel::dma::DmaAllocator::write(&*bench.fake, hws + 0x100, &2u32.to_le_bytes()).unwrap();
    bench.process.now.store(5_000, Ordering::Relaxed);
    let room = bench.process.memory.place(&[[0_u8; 80]; 2]);
    let mut told = FileInfo {
        num_fences: 1,
        sync_fence_info: room,
        ..Default::default()
    };
    let outcome = call(&bench, merge.fence, FILE_INFO.0, &mut told);
    assert_eq!(outcome, Err(EINVAL), "too little room");
    told.num_fences = 2;
    call(&bench, merge.fence, FILE_INFO.0, &mut told).unwrap();
    assert_eq!((told.num_fences, told.status), (2, -5));
    let each: [FenceInfo; 2] = [0, 80].map(|at| bench.process.memory.get(room + at).unwrap());
    assert_eq!(each.map(|fence| fence.status), [-5, 1]);
    assert_eq!(string(&each[1].driver_name), "i915");
    assert_eq!(string(&each[1].obj_name), "signaled");
    assert_eq!(each[1].timestamp_ns, 5_000);
}

#[test]
fn wrong_calls_are_refused() {
    let bench = Bench::new();
    let fence = exec(&bench);
    let mut merge = MergeData {
        fd2: 99,
        ..Default::default()
    };
    assert_eq!(call(&bench, fence, MERGE.0, &mut merge), Err(ENOENT));
    merge.pad = 1;
    assert_eq!(call(&bench, fence, MERGE.0, &mut merge), Err(EINVAL));
    assert_eq!(call(&bench, fence, 0xc030_3e05, &mut merge), Err(ENOTTY));
    let mut told = FileInfo {
        flags: 1,
        ..Default::default()
    };
    assert_eq!(call(&bench, fence, FILE_INFO.0, &mut told), Err(EINVAL));
    let handle = bench.create(4096);
    let object = bench.process.install(
        Shared::Object(bench.file.object(handle).unwrap()),
        crate::core::task::Opening::default(),
    );
    let outcome = call(&bench, object.unwrap(), FILE_INFO.0, &mut told);
    assert_eq!(outcome, Err(ENOTTY));
}
