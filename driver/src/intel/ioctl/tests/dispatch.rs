//! The dispatcher: numbers, sizes, permissions, names and PRIME.
use kernel::error::code::{EACCES, EBADF, EFAULT, EINVAL, ENODEV, ENOENT, ENOTTY, EOPNOTSUPP};

use super::*;
use crate::core::uapi::drm::{GemClose, GemFlink, GemOpen, GetCap, PrimeHandle, Version};

#[test]
fn numbers_that_do_not_exist_are_told_apart() {
    let bench = Bench::new();
    let raw = |request| ioctl(&bench.file, request, 0, &bench.process);
    assert_eq!(raw(0xc010_6546), Err(ENOTTY), "another type");
    assert_eq!(raw(0xc010_64ff), Err(EINVAL));
    assert_eq!(raw(0xc010_647d), Err(EINVAL), "behind CREATE_EXT");
    assert_eq!(raw(0xc010_6450), Err(EINVAL), "a hole of i915's table");
    let at = bench.process.memory.alloc(256);
    let full = |request| ioctl(&bench.file, request, at, &bench.process);
    assert_eq!(full(0x8004_6402), Err(EACCES), "GET_MAGIC on a render node");
    assert_eq!(full(0x4028_6454), Err(EACCES), "the first execbuffer");
    assert_eq!(full(0x4010_6476).unwrap_err().to_errno(), -524);
    assert_eq!(raw(0x4010_6476), Err(EFAULT), "the argument comes first");
    let mut arg = GetCap::default();
    assert_eq!(bench.call(uapi::drm::SET_CLIENT_CAP, &mut arg), Err(EACCES));
    let primary = Bench::primary();
    assert_eq!(
        primary.call(uapi::drm::SET_CLIENT_CAP, &mut arg),
        Err(EOPNOTSUPP)
    );
    let device = bench.device.clone();
    device.remove().unwrap();
    assert_eq!(raw(uapi::drm::GET_CAP.0), Err(ENODEV));
}

#[test]
fn arguments_are_copied_as_far_as_they_go() {
    let bench = Bench::new();
    assert_eq!(
        ioctl(&bench.file, uapi::drm::GET_CAP.0, 0x10, &bench.process),
        Err(EFAULT)
    );
    let at = bench.process.memory.constant(GetCap::default().as_bytes());
    assert_eq!(
        ioctl(&bench.file, uapi::drm::GET_CAP.0, at, &bench.process),
        Err(EFAULT),
        "cannot be written back"
    );
    // A longer form of a call than we know: what is behind is left alone.
    let longer = Request(uapi::drm::GET_CAP.0 + (8 << 16));
    let mut arg = [5u64, 7, 9];
    assert_eq!(bench.call(longer, &mut arg), Ok(0));
    assert_eq!(arg, [5, 3, 9]);
    // MMAP_GTT is the short form of MMAP_OFFSET.
    let handle = bench.create(4096);
    let mut arg = uapi::gem::MmapGtt {
        handle,
        ..Default::default()
    };
    assert_eq!(bench.call(uapi::gem::MMAP_GTT, &mut arg), Ok(0));
    assert_eq!(arg.offset, 0x1_0000_0000);
}

#[test]
fn the_version_is_cut_to_its_room() {
    let bench = Bench::new();
    let name = bench.process.memory.alloc(8);
    let mut arg = Version {
        name_len: 3,
        name,
        ..Version::default()
    };
    assert_eq!(bench.call(uapi::drm::VERSION, &mut arg), Ok(0));
    assert_eq!((arg.major, arg.minor, arg.patchlevel), (1, 6, 0));
    assert_eq!((arg.name_len, arg.date_len, arg.desc_len), (4, 8, 14));
    assert_eq!(bench.process.memory.get(name), Ok(*b"i91\0\0\0\0\0"));
    arg.name = 0x10;
    assert_eq!(bench.call(uapi::drm::VERSION, &mut arg), Err(EFAULT));
}

#[test]
fn capabilities() {
    let bench = Bench::new();
    let cap = |capability| {
        let mut arg = GetCap {
            capability,
            value: 77,
        };
        bench.call(uapi::drm::GET_CAP, &mut arg).map(|_| arg.value)
    };
    assert_eq!(cap(5), Ok(3));
    assert_eq!(cap(6), Ok(1));
    assert_eq!(cap(0x13), Ok(1));
    assert_eq!(cap(0x14), Ok(1));
    assert_eq!(cap(1), Err(EOPNOTSUPP));
}

#[test]
fn names_live_as_long_as_handles() {
    let bench = Bench::primary();
    let handle = bench.create(8192);
    let mut flink = GemFlink { handle, name: 0 };
    assert_eq!(bench.call(uapi::drm::GEM_FLINK, &mut flink), Ok(0));
    assert_eq!(flink.name, 1);
    assert_eq!(bench.call(uapi::drm::GEM_FLINK, &mut flink), Ok(0));
    assert_eq!(flink.name, 1);
    let other = File::open(&bench.device, Node::Primary);
    let mut open = GemOpen {
        name: 1,
        ..Default::default()
    };
    assert_eq!(bench.call_of(&other, uapi::drm::GEM_OPEN, &mut open), Ok(0));
    assert_eq!((open.handle, open.size), (1, 8192));
    bench.write(handle, 0, &[42]);
    assert_eq!(other.object(open.handle).unwrap().read32(0), Ok(42));

    let mut close = GemClose { handle, pad: 0 };
    assert_eq!(bench.call(uapi::drm::GEM_CLOSE, &mut close), Ok(0));
    assert_eq!(bench.call(uapi::drm::GEM_CLOSE, &mut close), Err(EINVAL));
    assert_eq!(bench.call(uapi::drm::GEM_FLINK, &mut flink), Err(ENOENT));
    assert_eq!(bench.call(uapi::drm::GEM_OPEN, &mut open), Ok(0));
    drop(other);
    let mut close = GemClose {
        handle: open.handle,
        pad: 0,
    };
    assert_eq!(bench.call(uapi::drm::GEM_CLOSE, &mut close), Ok(0));
    assert_eq!(bench.call(uapi::drm::GEM_OPEN, &mut open), Err(ENOENT));
    // On a render node neither is allowed.
    let render = Bench::new();
    let mut flink = GemFlink {
        handle: render.create(4096),
        name: 0,
    };
    assert_eq!(render.call(uapi::drm::GEM_FLINK, &mut flink), Err(EACCES));
    assert_eq!(render.call(uapi::drm::GEM_OPEN, &mut open), Err(EACCES));
}

#[test]
fn prime_knows_its_handles_again() {
    let bench = Bench::new();
    let handle = bench.create(4096);
    let mut out = PrimeHandle {
        handle,
        flags: 0x80000,
        fd: -1,
    };
    assert_eq!(bench.call(uapi::drm::PRIME_HANDLE_TO_FD, &mut out), Ok(0));
    assert_eq!(out.fd, 3);
    let how = |n: usize| bench.process.fds.lock()[n].1;
    assert!(!how(0).inherit, "close on exec");
    assert!(how(0).read_only, "O_RDWR was not asked for");
    let mut writable = PrimeHandle { flags: 2, ..out };
    assert_eq!(
        bench.call(uapi::drm::PRIME_HANDLE_TO_FD, &mut writable),
        Ok(0)
    );
    assert!(how(1).inherit && !how(1).read_only);
    let mut back = PrimeHandle { fd: 3, ..out };
    back.handle = 0;
    assert_eq!(bench.call(uapi::drm::PRIME_FD_TO_HANDLE, &mut back), Ok(0));
    assert_eq!(back.handle, handle, "the same file has one handle");
    let other = File::open(&bench.device, Node::Render);
    let mut import = PrimeHandle { fd: 3, ..out };
    for _ in 0..2 {
        let outcome = bench.call_of(&other, uapi::drm::PRIME_FD_TO_HANDLE, &mut import);
        assert_eq!((outcome, import.handle), (Ok(0), 1));
    }
    import.fd = 9;
    assert_eq!(
        bench.call(uapi::drm::PRIME_FD_TO_HANDLE, &mut import),
        Err(EBADF)
    );
    out.flags = 1;
    assert_eq!(
        bench.call(uapi::drm::PRIME_HANDLE_TO_FD, &mut out),
        Err(EINVAL)
    );
    (out.flags, out.handle) = (2, 99);
    assert_eq!(
        bench.call(uapi::drm::PRIME_HANDLE_TO_FD, &mut out),
        Err(ENOENT)
    );
}

#[test]
fn a_closed_file_leaves_nothing() {
    let bench = Bench::new();
    let first = bench.batch();
    bench.exec(&[first]).unwrap();
    bench.file.close_object(first).unwrap();
    bench.device.timeline().retire();
    // The images of the driver's context and of this file's, in which the engine stays.
    let before = bench.fake.allocations();
    for _ in 0..3 {
        let handle = bench.batch();
        bench.exec(&[handle]).unwrap();
    }
    let Bench { fake, file, .. } = &bench;
    assert_eq!(fake.allocations(), before + 3);
    let device: Device = file.device_as::<Device>().unwrap().clone();
    let Bench { fake, file, .. } = bench;
    drop(file);
    device.wait_idle(kernel::time::Delta::ZERO).unwrap();
    assert_eq!(fake.allocations(), before);
    // Ring, scratch page, and the two images.
    assert_eq!(device.ggtt().bound(), 4);
}
