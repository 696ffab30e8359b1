//! Objects: creation, copies, layout, advice, domains, waiting, offsets.
use kernel::error::code::{
    E2BIG, EACCES, EFAULT, EINTR, EINVAL, EIO, ENODEV, ENOENT, ENOMEM, ETIME,
};

use core::sync::atomic::{AtomicBool, AtomicU32};

use kernel::time::Clock;

use super::*;
use crate::core::mmap::Kind;
use crate::intel::uapi::gem;

#[test]
fn sizes_are_rounded_to_pages() {
    let bench = Bench::new();
    let create = |size| {
        let mut arg = gem::Create {
            size,
            ..Default::default()
        };
        bench
            .call(gem::CREATE, &mut arg)
            .map(|_| (arg.size, arg.handle))
    };
    assert_eq!(create(1), Ok((4096, 1)));
    assert_eq!(create(8192), Ok((8192, 2)));
    assert_eq!(create(0), Err(EINVAL));
    assert_eq!(create(u64::MAX), Err(EINVAL), "wraps to zero");
    assert_eq!(create(1 << 44), Err(E2BIG));
    assert_eq!(create(1 << 40), Err(ENOMEM));
    assert_eq!(bench.read(1, 4092), 0, "new objects are zero");
}

#[test]
fn create_ext_has_one_place_to_put_objects() {
    let bench = Bench::new();
    let create = |flags, extensions| {
        let mut arg = gem::CreateExt {
            size: 4096,
            flags,
            extensions,
            handle: 0,
        };
        bench.call(gem::CREATE_EXT, &mut arg).map(|_| arg.handle)
    };
    assert_eq!(create(0, 0), Ok(1));
    assert_eq!(create(2, 0), Err(EINVAL));
    assert_eq!(create(1, 0), Err(EINVAL), "one placement only");
    assert_eq!(create(0, 0x10), Err(EFAULT));
    let memory = &bench.process.memory;
    let regions = memory.place(&[0u32]);
    let mut link = gem::CreateExtMemoryRegions {
        num_regions: 1,
        regions,
        ..Default::default()
    };
    assert_eq!(create(0, memory.place(&link)), Ok(2));
    link.num_regions = 2;
    assert_eq!(create(0, memory.place(&link)), Err(EINVAL));
    (link.num_regions, link.regions) = (1, memory.place(&[1u32]));
    assert_eq!(create(0, memory.place(&link)), Err(EINVAL));
    link.base.flags = 1;
    assert_eq!(create(0, memory.place(&link)), Err(EINVAL));
    (link.base.flags, link.base.name) = (0, 2);
    assert_eq!(create(0, memory.place(&link)), Err(EINVAL));
    assert_eq!(
        create(0, memory.place(&[0u32, 0, 1, 0, 0, 0, 0, 0, 0])),
        Err(ENODEV)
    );
    assert_eq!(
        create(0, memory.place(&[0u32, 0, 1, 0, 0, 0, 0, 0, 1])),
        Err(EINVAL)
    );
}

#[test]
fn copies_stay_inside() {
    let bench = Bench::new();
    let handle = bench.create(4096);
    bench.write(handle, 4092, &[0xdead_beef]);
    assert_eq!(bench.read(handle, 4092), 0xdead_beef);
    for request in [gem::PREAD, gem::PWRITE] {
        let copy = |handle, offset, size, data_ptr| {
            let mut arg = gem::Transfer {
                handle,
                offset,
                size,
                data_ptr,
                pad: 0,
            };
            bench.call(request, &mut arg)
        };
        let at = bench.process.memory.alloc(8);
        assert_eq!(copy(99, 0, 0, 0), Ok(0), "nothing is always possible");
        assert_eq!(copy(99, 0, 4, u64::MAX - 3), Err(EFAULT));
        assert_eq!(copy(99, 0, 4, at), Err(ENOENT));
        assert_eq!(copy(handle, 4093, 4, at), Err(EINVAL));
        assert_eq!(copy(handle, u64::MAX, 4, at), Err(EINVAL));
        assert_eq!(copy(handle, 0, 4, 0x10), Err(EFAULT));
        bench.process.signal.store(true, Ordering::Relaxed);
        assert_eq!(copy(handle, 0, 4, at), Err(EINTR), "between pieces");
        bench.process.signal.store(false, Ordering::Relaxed);
    }
}

#[test]
fn layouts() {
    let bench = Bench::new();
    let handle = bench.create(0x4_0000);
    let set = |handle, tiling_mode, stride| {
        let mut arg = gem::SetTiling {
            handle,
            tiling_mode,
            stride,
            swizzle_mode: 9,
        };
        let outcome = bench.call(gem::SET_TILING, &mut arg);
        outcome.map(|_| (arg.tiling_mode, arg.stride, arg.swizzle_mode))
    };
    assert_eq!(set(handle, 1, 1024), Ok((1, 1024, 0)));
    let mut get = gem::GetTiling {
        handle,
        ..Default::default()
    };
    assert_eq!(bench.call(gem::GET_TILING, &mut get), Ok(0));
    assert_eq!((get.tiling_mode, get.swizzle_mode), (1, 0));
    assert_eq!(set(handle, 2, 128), Ok((2, 128, 0)));
    assert_eq!(set(handle, 1, 128), Err(EINVAL), "X tiles are 512 wide");
    assert_eq!(set(handle, 2, 0), Err(EINVAL));
    assert_eq!(set(handle, 3, 512), Err(EINVAL));
    assert_eq!(set(handle, 2, 0x400 * 128), Ok((2, 0x2_0000, 0)));
    assert_eq!(set(handle, 2, 0x401 * 128), Err(EINVAL));
    assert_eq!(set(handle, 0, 77), Ok((0, 0, 0)));
    assert_eq!(set(99, 0, 0), Err(ENOENT));
    get.handle = 99;
    assert_eq!(bench.call(gem::GET_TILING, &mut get), Err(ENOENT));
}

#[test]
fn caching_and_domains() {
    let bench = Bench::new();
    let handle = bench.create(4096);
    let caching = |request, handle, caching| {
        let mut arg = gem::Caching { handle, caching };
        bench.call(request, &mut arg).map(|_| arg.caching)
    };
    assert_eq!(caching(gem::SET_CACHING, handle, 1), Err(ENODEV));
    assert_eq!(caching(gem::SET_CACHING, handle, 0), Ok(0));
    assert_eq!(caching(gem::SET_CACHING, handle, 2), Ok(2));
    assert_eq!(caching(gem::SET_CACHING, handle, 3), Err(EINVAL));
    assert_eq!(caching(gem::SET_CACHING, 99, 0), Err(ENOENT));
    assert_eq!(caching(gem::GET_CACHING, handle, 5), Ok(0));
    assert_eq!(caching(gem::GET_CACHING, 99, 5), Err(ENOENT));

    let domain = |handle, read_domains, write_domain| {
        let mut arg = gem::SetDomain {
            handle,
            read_domains,
            write_domain,
        };
        bench.call(gem::SET_DOMAIN, &mut arg)
    };
    assert_eq!(domain(handle, 1, 0), Ok(0));
    assert_eq!(domain(handle, 0x40, 0x40), Ok(0));
    assert_eq!(domain(handle, 0x80, 0), Ok(0));
    assert_eq!(domain(handle, 2, 0), Err(EINVAL), "render is the GPU's");
    assert_eq!(domain(handle, 1, 0x40), Err(EINVAL));
    assert_eq!(domain(99, 0, 0), Ok(0), "no domain, no question");
    assert_eq!(domain(99, 1, 0), Err(ENOENT));
    let mut finish = gem::SwFinish { handle };
    assert_eq!(bench.call(gem::SW_FINISH, &mut finish), Ok(0));
    finish.handle = 99;
    assert_eq!(bench.call(gem::SW_FINISH, &mut finish), Err(ENOENT));
}

#[test]
fn a_busy_object_is_waited_for_until_the_time_is_over() {
    let bench = Bench::stuck();
    let (used, batch) = (bench.create(4096), bench.batch());
    let mut list = objects(&[used, batch]);
    list[0].flags = uapi::exec::OBJECT_WRITE;
    bench.exec_with(&mut list, |_| ()).unwrap();
    let busy = |handle| {
        let mut arg = gem::Busy { handle, busy: 5 };
        bench.call(gem::BUSY, &mut arg).map(|_| arg.busy)
    };
    assert_eq!(busy(used), Ok(0x0001_0001));
    assert_eq!(busy(batch), Ok(0x0001_0000));
    assert_eq!(busy(99), Err(ENOENT));
    let wait = |timeout_ns, flags| {
        let mut arg = gem::Wait {
            bo_handle: used,
            flags,
            timeout_ns,
        };
        (bench.call(gem::WAIT, &mut arg), arg.timeout_ns)
    };
    assert_eq!(wait(0, 0), (Err(ETIME), 0));
    assert_eq!(wait(1_000_000, 0), (Err(ETIME), 0));
    assert_eq!(wait(0, 1), (Err(EINVAL), 0));
    assert_eq!(bench.fake.now().as_nanos(), 1_000_000);
    bench.process.signal.store(true, Ordering::Relaxed);
    assert_eq!(wait(-1, 0), (Err(EINTR), -1));
    bench.process.signal.store(false, Ordering::Relaxed);
    let hws = u64::from(bench.fake.peek(0x2080));
    kernel::dma::DmaAllocator::write(&*bench.fake, hws + 0x100, &1u32.to_le_bytes()).unwrap();
    assert_eq!(wait(5_000, 0), (Ok(0), 5_000));
    assert_eq!(busy(used), Ok(0));
    let mut arg = gem::Wait {
        bo_handle: 99,
        ..Default::default()
    };
    assert_eq!(bench.call(gem::WAIT, &mut arg), Err(ENOENT));
}

#[test]
fn throttling_waits_for_what_is_old() {
    let bench = Bench::stuck();
    let throttle = || ioctl(&bench.file, gem::THROTTLE.0, 0, &bench.process);
    let batch = bench.batch();
    bench.exec(&[batch]).unwrap();
    assert_eq!(throttle(), Ok(0), "too young");
    kernel::time::Clock::relax(&*bench.fake, kernel::time::Delta::from_millis(30));
    bench.process.signal.store(true, Ordering::Relaxed);
    assert_eq!(throttle(), Err(EINTR));
    assert!(bench.device.reset().is_err());
    assert_eq!(throttle(), Err(EIO));
}

#[test]
fn advice_is_remembered() {
    let bench = Bench::new();
    let handle = bench.create(4096);
    let advise = |handle, madv| {
        let mut arg = gem::Madvise {
            handle,
            madv,
            retained: 7,
        };
        bench.call(gem::MADVISE, &mut arg).map(|_| arg.retained)
    };
    // Linux truncates what has no pages at once (i915_gem_madvise_ioctl).
    let fresh = bench.create(4096);
    bench.write(fresh, 0, &[1]);
    assert_eq!(advise(fresh, 1), Ok(0));
    assert_eq!(advise(fresh, 0), Ok(0));
    assert_eq!(bench.exec(&[fresh]), Err(EFAULT));
    let domain = |handle| {
        let mut arg = gem::SetDomain {
            handle,
            read_domains: 1,
            write_domain: 0,
        };
        bench.call(gem::SET_DOMAIN, &mut arg).map(drop)
    };
    assert_eq!(domain(fresh), Err(EFAULT));
    assert_eq!(domain(handle), Ok(()));
    assert_eq!(advise(handle, 1), Ok(1));
    assert_eq!(advise(handle, 0), Ok(1));
    assert_eq!(advise(handle, 2), Err(EINVAL));
    assert_eq!(advise(99, 0), Err(ENOENT));
    // Under pressure the contents go.
    bench.write(handle, 0, &[1]);
    let object = bench.file.object(handle).unwrap();
    assert_eq!(object.read32(0), Ok(1));
    assert_eq!(advise(handle, 1), Ok(1));
    let purge = || bench.device.purge(bench.device.user().lru.purges());
    assert!(purge());
    assert!(!purge());
    assert_eq!(advise(handle, 0), Ok(0));
    assert_eq!(domain(handle), Err(EFAULT));
    assert_eq!(bench.exec(&[handle]), Err(EFAULT));
}

#[test]
fn offsets_are_given_once_and_belong_to_a_file() {
    let bench = Bench::new();
    let handle = bench.create(8192);
    let offset = |flags, extensions| {
        let mut arg = gem::MmapOffset {
            handle,
            flags,
            extensions,
            ..Default::default()
        };
        bench.call(gem::MMAP_OFFSET, &mut arg).map(|_| arg.offset)
    };
    let wc = offset(1, 0).unwrap();
    assert_eq!(offset(1, 0), Ok(wc));
    let gtt = offset(0, 0).unwrap();
    assert_ne!(gtt, wc);
    assert_eq!(offset(4, 0), Err(ENODEV), "fixed");
    assert_eq!(offset(5, 0), Err(EINVAL));
    assert_eq!(
        offset(1, bench.process.memory.place(&[0u64; 4])),
        Err(EINVAL)
    );

    let table = bench.device.mappings();
    let mapping = table.resolve(&bench.file, wc, 8192).unwrap();
    assert_eq!(mapping.kind, Kind::Wc);
    assert_eq!(mapping.object, bench.file.object(handle).unwrap());
    assert_eq!(table.resolve(&bench.file, wc, 8193).err(), Some(EINVAL));
    assert_eq!(
        table.resolve(&bench.file, gtt + 4096, 4096).err(),
        Some(EINVAL)
    );
    let other = File::open(&bench.device, Node::Render);
    assert_eq!(table.resolve(&other, wc, 4096).err(), Some(EACCES));
    assert!(table.untiled().is_empty());
    let mut tiling = gem::SetTiling {
        handle,
        tiling_mode: 1,
        stride: 512,
        ..Default::default()
    };
    bench.call(gem::SET_TILING, &mut tiling).unwrap();
    assert_eq!(table.untiled(), core::slice::from_ref(&mapping.object));
    assert!(table.resolve(&bench.file, gtt, 4096).unwrap().is_untiled());
    drop(mapping);
    bench.file.close_object(handle).unwrap();
    assert_eq!(table.resolve(&bench.file, wc, 4096).err(), Some(EINVAL));

    let handle = bench.create(4096);
    let map = |flags, offset, size| {
        let mut arg = gem::Mmap {
            handle,
            offset,
            size,
            flags,
            ..Default::default()
        };
        bench.call(gem::MMAP, &mut arg).map(|_| arg.addr_ptr)
    };
    assert_eq!(map(1, 0, 4096), Ok(wc), "the offset is free again");
    assert_eq!(map(2, 0, 4096), Err(EINVAL));
    assert_eq!(map(0, 4096, 1), Err(EINVAL));
    assert_eq!(map(0, 0, 0), Err(EINVAL));
}

#[test]
fn an_offset_that_is_asked_for_while_its_handle_is_closed_is_free_afterwards() {
    let bench = Bench::new();
    let other = bench.other();
    let (handle, found) = (AtomicU32::new(0), AtomicU32::new(0));
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        // Asks for whatever handle there is, by both calls.
        scope.spawn(|| {
            while !is_done.load(Ordering::Acquire) {
                let mut arg = gem::MmapOffset {
                    handle: handle.load(Ordering::Acquire),
                    flags: 1,
                    ..Default::default()
                };
                let at = other.call_of(&bench.file, gem::MMAP_OFFSET, &mut arg);
                let mut arg = gem::Mmap {
                    handle: arg.handle,
                    size: 4096,
                    ..Default::default()
                };
                let mapped = other.call_of(&bench.file, gem::MMAP, &mut arg);
                let more = u32::from(at.is_ok()) + u32::from(mapped.is_ok());
                found.fetch_add(more, Ordering::Release);
            }
        });
        // Until enough of them were there when they were asked for.
        let mut rounds = 0;
        while rounds < 3000 || found.load(Ordering::Acquire) < 100 {
            let made = bench.create(4096);
            handle.store(made, Ordering::Release);
            bench.file.close_object(made).unwrap();
            rounds += 1;
        }
        is_done.store(true, Ordering::Release);
    });
    let table = bench.device.mappings();
    assert_eq!(table.taken(), 0);
}

#[test]
fn offsets_that_come_and_go_are_noted_once() {
    let bench = Bench::new();
    let handle = bench.create(4096);
    let object = bench.file.object(handle).unwrap();
    let table = bench.device.mappings();
    for _ in 0..100 {
        table.assign(&object, Kind::Wb, 77).unwrap();
        table.revoke(&object, 77);
    }
    assert_eq!((table.leaving(), table.taken()), (1, 1));
    // Asked for again, it is one that does not go; given back once more, it is.
    table.assign(&object, Kind::Wb, 77).unwrap();
    assert_eq!((table.taken(), table.leaving()), (1, 0));
    table.revoke(&object, 77);
    assert_eq!(table.leaving(), 1);
}

#[test]
fn the_aperture_is_the_gtt() {
    let bench = Bench::new();
    let mut arg = gem::GetAperture::default();
    assert_eq!(bench.call(gem::GET_APERTURE, &mut arg), Ok(0));
    assert_eq!(arg.aper_size, 32768 * 4096);
    assert_eq!(arg.aper_size - arg.aper_available_size, 5 * 4096);
    let batch = bench.batch();
    bench.exec(&[batch]).unwrap();
    bench.call(gem::GET_APERTURE, &mut arg).unwrap();
    // The images of the driver's context and of the file's.
    assert_eq!(arg.aper_size - arg.aper_available_size, 7 * 4096);
    let mut arg = gem::Userptr::default();
    assert_eq!(bench.call(gem::USERPTR, &mut arg), Err(ENODEV));
}
