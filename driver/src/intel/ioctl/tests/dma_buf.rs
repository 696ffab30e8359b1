//! Calls on descriptors of objects.
//!
//! Numbers of linux/dma-buf.h; errors of dma-buf.c.
use kernel::error::code::{EFAULT, EINTR, EINVAL, ENOTTY};

use super::*;
use crate::core::dma_buf;
use crate::core::uapi::dma_buf::{
    EXPORT_SYNC_FILE, IMPORT_SYNC_FILE, SET_NAME_A, SET_NAME_B, SYNC, Sync, SyncFile,
};

#[test]
fn an_access_waits_for_the_device() {
    // _IOW('b', 0, struct dma_buf_sync)
    assert_eq!(SYNC.0, 0x4008_6200);
    let bench = Bench::stuck();
    let handle = bench.batch();
    let object = bench.file.object(handle).unwrap();
    let call = |flags| {
        let at = bench.process.memory.place(&Sync { flags });
        dma_buf::ioctl(&bench.device, &object, SYNC.0, at, &bench.process)
    };
    for flags in [1, 2, 3, 5, 6, 7] {
        assert_eq!(call(flags), Ok(0));
    }
    for flags in [0, 4, 8, 9, 1 << 32 | 1] {
        assert_eq!(call(flags), Err(EINVAL));
    }
    let at = |request, at| dma_buf::ioctl(&bench.device, &object, request, at, &bench.process);
    assert_eq!(at(SYNC.0, 0), Err(EFAULT));
    assert_eq!(at(SYNC.0 + 4, 0), Err(ENOTTY));
    // The device reads its batch for ever: readers need not wait, writers do.
    let mut list = objects(&[handle]);
    bench.exec_with(&mut list, |_| ()).unwrap();
    assert_eq!((call(1), call(6)), (Ok(0), Ok(0)));
    bench.process.signal.store(true, Ordering::Relaxed);
    assert_eq!(call(2), Err(EINTR));
}

fn sync_file(
    bench: &Bench,
    object: &crate::Object,
    request: Request,
    flags: u32,
    fd: i32,
) -> Result<i32> {
    let at = bench.process.memory.place(&SyncFile { flags, fd });
    dma_buf::ioctl(&bench.device, object, request.0, at, &bench.process)?;
    let told: SyncFile = bench.process.memory.get(at).unwrap();
    Ok(told.fd)
}

fn fence(bench: &Bench, fd: i32) -> Arc<crate::Fence> {
    match bench.process.get(fd) {
        Ok(Shared::Fence(fence)) => fence,
        _ => panic!("no fence"),
    }
}

#[test]
fn fences_come_out_of_a_buffer() {
    // _IOWR('b', 2, struct dma_buf_export_sync_file), _IOW('b', 3, struct dma_buf_import_sync_file)
    assert_eq!(
        (EXPORT_SYNC_FILE.0, IMPORT_SYNC_FILE.0),
        (0xc008_6202, 0x4008_6203)
    );
    let bench = Bench::stuck();
    let (read, written) = (bench.create(4096), bench.create(4096));
    let export = |handle, flags| {
        let object = bench.file.object(handle).unwrap();
        sync_file(&bench, &object, EXPORT_SYNC_FILE, flags, -1).map(|fd| fence(&bench, fd))
    };
    assert_eq!(export(read, 3).unwrap().status(), Some(Ok(())), "idle");
    let mut list = objects(&[read, written, bench.batch()]);
    list[1].flags = uapi::exec::OBJECT_WRITE;
    bench.exec_with(&mut list, |_| ()).unwrap();
    let open = |handle, flags| export(handle, flags).unwrap().status().is_none();
    // Readers wait for writers, writers for everybody.
    assert_eq!(
        [1, 2, 3].map(|flags| open(read, flags)),
        [false, true, true]
    );
    assert_eq!(
        [1, 2, 3].map(|flags| open(written, flags)),
        [true, true, true]
    );
    for flags in [0, 4, 8, 1 << 31 | 1] {
        assert_eq!(export(read, flags).err(), Some(EINVAL));
    }
    // A snapshot: what comes later does not count.
    let before = export(read, 2).unwrap();
    bench.exec(&[read, bench.batch()]).unwrap();
    assert_eq!((before.seqno(), export(read, 2).unwrap().seqno()), (1, 2));
    // The descriptor is closed by exec, and none is open when it cannot be told.
    assert!(bench.process.fds.lock().iter().all(|(_, how)| !how.inherit));
    let count = bench.process.fds.lock().len();
    let object = bench.file.object(read).unwrap();
    let at = bench
        .process
        .memory
        .constant(SyncFile { flags: 1, fd: 0 }.as_bytes());
    let outcome = dma_buf::ioctl(
        &bench.device,
        &object,
        EXPORT_SYNC_FILE.0,
        at,
        &bench.process,
    );
    assert_eq!(
        (outcome, bench.process.fds.lock().len()),
        (Err(EFAULT), count)
    );
}

#[test]
fn fences_go_into_a_buffer() {
    let bench = Bench::stuck();
    let idle = bench.create(4096);
    let object = bench.file.object(idle).unwrap();
    let import = |flags, fd| sync_file(&bench, &object, IMPORT_SYNC_FILE, flags, fd);
    let busy = |flags| {
        let fd = sync_file(&bench, &object, EXPORT_SYNC_FILE, flags, -1).unwrap();
        fence(&bench, fd)
            .status()
            .is_none()
            .then(|| fence(&bench, fd).seqno())
    };
    let request = |bench: &Bench| {
        let mut list = objects(&[bench.batch()]);
        let arg = bench.exec_with(&mut list, |arg| arg.flags |= uapi::exec::FENCE_OUT);
        (arg.unwrap().rsvd2 >> 32) as i32
    };
    let (first, second) = (request(&bench), request(&bench));
    assert_eq!(
        (import(1, 99), import(0, first), import(5, first)),
        (Err(EINVAL), Err(EINVAL), Err(EINVAL))
    );
    let other = bench
        .process
        .install(
            Shared::Object(object.clone()),
            crate::core::task::Opening::default(),
        )
        .unwrap();
    assert_eq!(
        import(1, other),
        Err(EINVAL),
        "a descriptor without a fence"
    );
    assert_eq!((busy(1), busy(2)), (None, None));
    // As a reader: writers wait for it, readers do not. The later one stays.
    import(1, second).unwrap();
    assert_eq!((busy(1), busy(2)), (None, Some(2)));
    import(2, first).unwrap();
    assert_eq!((busy(1), busy(2)), (Some(1), Some(2)));
    // Whoever wants to write has to wait, and BUSY tells of it.
    let mut arg = uapi::gem::Busy {
        handle: idle,
        busy: 0,
    };
    assert_eq!(bench.call(uapi::gem::BUSY, &mut arg), Ok(0));
    assert_eq!(arg.busy, 0x1_0001);
    bench.process.signal.store(true, Ordering::Relaxed);
    let at = bench.process.memory.place(&Sync { flags: 2 });
    let outcome = dma_buf::ioctl(&bench.device, &object, SYNC.0, at, &bench.process);
    assert_eq!(outcome, Err(EINTR));
    // They end with the requests.
    let hws = u64::from(bench.fake.peek(0x2080));
    kernel::dma::DmaAllocator::write(&*bench.fake, hws + 0x100, &2u32.to_le_bytes()).unwrap();
    assert_eq!((busy(1), busy(2)), (None, None));
    import(3, first).unwrap();
    assert_eq!((busy(1), busy(2)), (None, None), "over before it came");
}

#[test]
fn names_end_within_their_room() {
    // _IOW('b', 1, __u32), _IOW('b', 1, __u64)
    assert_eq!((SET_NAME_A.0, SET_NAME_B.0), (0x4004_6201, 0x4008_6201));
    let bench = Bench::new();
    let object = bench.file.object(bench.create(4096)).unwrap();
    let name = |text: &[u8]| {
        let at = bench.process.memory.place(text);
        dma_buf::ioctl(&bench.device, &object, SET_NAME_B.0, at, &bench.process)
    };
    assert_eq!((name(b"\0"), name(b"chrome\0")), (Ok(0), Ok(0)));
    let mut longest = [b'x'; 32];
    assert_eq!(name(&longest), Err(EINVAL));
    longest[31] = 0;
    assert_eq!(name(&longest), Ok(0));
    let at = bench.process.memory.place(b"other\0");
    for (at, outcome) in [(at, Ok(0)), (0, Err(EFAULT)), (u64::MAX, Err(EFAULT))] {
        let told = dma_buf::ioctl(&bench.device, &object, SET_NAME_A.0, at, &bench.process);
        assert_eq!(told, outcome);
    }
}
