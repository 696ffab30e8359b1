//! Masters, magic numbers, the name of the device, and outputs.
//!
//! Numbers of drm.h and drm_mode.h; answers of drm_auth.c and drm_ioctl.c of Linux 6.1.
use kernel::error::code::{EACCES, EBUSY, EFAULT, EINVAL, ENODEV, ENOENT, EOPNOTSUPP};

use super::*;
use crate::Opener;
use crate::core::uapi::drm::{
    AUTH_MAGIC, Auth, Client, DROP_MASTER, GEM_FLINK, GET_CLIENT, GET_MAGIC, GET_STATS, GET_UNIQUE,
    GemFlink, SET_MASTER, SET_VERSION, SetVersion, Stats, Unique,
};
use crate::core::uapi::mode::{CardResources, GET_PLANE_RESOURCES, GET_RESOURCES, PlaneResources};
use crate::intel::ioctl::{Standing, standing};

/// A file of somebody without rights; the tests' process has number 0.
fn somebody(bench: &Bench, pid: u32) -> File {
    let opener = Opener { pid, admin: false };
    File::open_by(&bench.device, Node::Primary, opener)
}

fn magic(bench: &Bench, file: &File) -> u32 {
    let mut arg = Auth::default();
    assert_eq!(bench.call_of(file, GET_MAGIC, &mut arg), Ok(0));
    arg.magic
}

fn vouch(bench: &Bench, file: &File, magic: u32) -> Result<i32> {
    bench.call_of(file, AUTH_MAGIC, &mut Auth { magic })
}

fn plain(bench: &Bench, file: &File, request: Request) -> Result<i32> {
    ioctl(file, request.0, 0, &bench.process)
}

#[test]
fn numbers_are_those_of_the_header() {
    let all = [
        GET_UNIQUE,
        GET_MAGIC,
        GET_CLIENT,
        GET_STATS,
        SET_VERSION,
        AUTH_MAGIC,
        SET_MASTER,
        DROP_MASTER,
    ];
    let expected = [
        0xc010_6401,
        0x8004_6402,
        0xc028_6405,
        0x80f8_6406,
        0xc010_6407,
        0x4004_6411,
        0x641e,
        0x641f,
    ];
    assert_eq!(all.map(|request| request.0), expected);
}

#[test]
fn a_master_vouches_for_a_file_once() {
    let bench = Bench::stuck();
    let master = somebody(&bench, 1);
    let other = somebody(&bench, 2);
    let flink = |file: &File| {
        let mut arg = GemFlink { handle: 9, name: 0 };
        bench.call_of(file, GEM_FLINK, &mut arg)
    };
    assert_eq!(flink(&master), Err(ENOENT), "a master is authenticated");
    assert_eq!(flink(&other), Err(EACCES));
    let number = magic(&bench, &other);
    assert_eq!((number, magic(&bench, &other)), (1, 1));
    assert_eq!(vouch(&bench, &other, number), Err(EACCES), "for itself");
    assert_eq!(vouch(&bench, &master, 7), Err(EINVAL), "for nobody");
    assert_eq!(vouch(&bench, &master, 0), Err(EINVAL));
    assert_eq!(vouch(&bench, &master, number), Ok(0));
    assert_eq!(flink(&other), Err(ENOENT));
    assert_eq!(vouch(&bench, &master, number), Err(EINVAL), "a second time");
    // The number is free with its file, not before; the next file begins without rights.
    let third = somebody(&bench, 3);
    assert_eq!(magic(&bench, &third), 2);
    drop(other);
    let fourth = somebody(&bench, 4);
    assert_eq!((magic(&bench, &fourth), flink(&fourth)), (1, Err(EACCES)));
    // Another device has other numbers.
    let elsewhere = Bench::primary();
    assert_eq!(vouch(&elsewhere, &elsewhere.file, 1), Err(EINVAL));
    let mut arg = Client::default();
    let asked = bench.call_of(&third, GET_CLIENT, &mut arg);
    assert_eq!((asked, arg.auth, arg.uid), (Ok(0), 0, 65534));
    let asked = bench.call_of(&master, GET_CLIENT, &mut arg);
    assert_eq!((asked, arg.auth), (Ok(0), 1));
    arg.idx = 1;
    let asked = bench.call_of(&master, GET_CLIENT, &mut arg);
    assert_eq!(asked, Err(EINVAL));
}

#[test]
fn there_is_one_master_at_a_time() {
    let bench = Bench::stuck();
    let first = somebody(&bench, 0);
    let second = somebody(&bench, 0);
    assert_eq!(plain(&bench, &first, SET_MASTER), Ok(0), "it is already");
    assert_eq!(plain(&bench, &second, SET_MASTER), Err(EACCES));
    assert_eq!(plain(&bench, &second, DROP_MASTER), Err(EACCES));
    bench.process.admin.store(true, Ordering::Relaxed);
    assert_eq!(plain(&bench, &second, SET_MASTER), Err(EBUSY));
    assert_eq!(plain(&bench, &second, DROP_MASTER), Err(EINVAL));
    bench.process.admin.store(false, Ordering::Relaxed);
    assert_eq!(plain(&bench, &first, DROP_MASTER), Ok(0));
    assert_eq!(vouch(&bench, &first, 1), Err(EACCES), "no master any more");
    // Whoever has been master may be again, in its own process.
    let stranger = somebody(&bench, 5);
    assert_eq!(
        plain(&bench, &first, SET_MASTER),
        Err(EBUSY),
        "the next to open"
    );
    drop(stranger);
    assert_eq!(plain(&bench, &first, SET_MASTER), Ok(0));
    drop(first);
    let next = somebody(&bench, 6);
    assert_eq!(
        vouch(&bench, &next, 1),
        Err(EINVAL),
        "nobody waits for the new one"
    );
    assert_eq!(
        plain(&bench, &next, DROP_MASTER),
        Err(EACCES),
        "another process"
    );
}

#[test]
fn render_nodes_know_no_masters() {
    let bench = Bench::new();
    bench.process.admin.store(true, Ordering::Relaxed);
    let at = bench.process.memory.alloc(256);
    for request in [
        GET_UNIQUE,
        GET_MAGIC,
        GET_CLIENT,
        GET_STATS,
        SET_VERSION,
        AUTH_MAGIC,
        SET_MASTER,
        DROP_MASTER,
    ] {
        let outcome = ioctl(&bench.file, request.0, at, &bench.process);
        assert_eq!(outcome, Err(EACCES), "{:#x}", request.0);
    }
    // Nor do they keep anybody else from being one.
    let primary = somebody(&bench, 0);
    assert_eq!(vouch(&bench, &primary, 1), Err(EINVAL));
}

#[test]
fn the_device_has_a_name_once_a_version_is_set() {
    let bench = Bench::primary();
    let room = bench.process.memory.alloc(32);
    let unique = |len| {
        let mut arg = Unique { len, name: room };
        bench.call(GET_UNIQUE, &mut arg).map(|_| arg.len)
    };
    assert_eq!(unique(32), Ok(0), "drmOpenByName needs it empty");
    let version = |major, minor| SetVersion {
        interface_major: major,
        interface_minor: minor,
        driver_major: -1,
        driver_minor: -1,
    };
    let told = SetVersion {
        interface_major: 1,
        interface_minor: 4,
        driver_major: 1,
        driver_minor: 6,
    };
    for (wanted, outcome) in [
        (version(2, 0), Err(EINVAL)),
        (version(1, 5), Err(EINVAL)),
        (version(1, -1), Err(EINVAL)),
        (
            SetVersion {
                driver_major: 2,
                ..version(1, 0)
            },
            Err(EINVAL),
        ),
        (version(1, 0), Ok(0)),
        (version(-1, 0), Ok(0)),
    ] {
        let mut arg = wanted;
        assert_eq!(bench.call(SET_VERSION, &mut arg), outcome);
        assert_eq!((arg, unique(32)), (told, Ok(0)));
    }
    let mut arg = SetVersion {
        driver_major: 1,
        driver_minor: 6,
        ..version(1, 4)
    };
    assert_eq!(bench.call(SET_VERSION, &mut arg), Ok(0));
    assert_eq!(unique(15), Ok(16));
    assert_eq!(
        bench.process.memory.get(room),
        Ok([0_u8; 16]),
        "no room, no part"
    );
    assert_eq!(unique(16), Ok(16));
    assert_eq!(bench.process.memory.get(room), Ok(*b"pci:0000:00:02.0"));
    let mut arg = Unique { len: 16, name: 0 };
    assert_eq!(bench.call(GET_UNIQUE, &mut arg), Err(EFAULT));
    let mut stats = Stats {
        count: 3,
        ..Stats::default()
    };
    assert_eq!(bench.call(GET_STATS, &mut stats), Ok(0));
    assert_eq!(stats, Stats::default());
    // Only the master sets versions.
    let other = somebody(&bench, 3);
    assert_eq!(
        bench.call_of(&other, SET_VERSION, &mut version(1, 4)),
        Err(EACCES)
    );
}

#[test]
fn there_is_nothing_to_show_anything_on() {
    let bench = Bench::stuck();
    let master = somebody(&bench, 0);
    let other = somebody(&bench, 0);
    let at = bench.process.memory.alloc(256);
    let ask = |file: &File, request: u32| ioctl(file, request, at, &bench.process);
    let mut arg = CardResources {
        crtcs: 0x10,
        count_crtcs: 9,
        count_connectors: 9,
        ..CardResources::default()
    };
    assert_eq!(GET_RESOURCES.0, 0xc040_64a0);
    assert_eq!(bench.call_of(&other, GET_RESOURCES, &mut arg), Ok(0));
    let largest = [0, 8192, 0, 8192];
    let told = [arg.min_width, arg.max_width, arg.min_height, arg.max_height];
    assert_eq!(
        (arg.count_crtcs, arg.count_connectors, told),
        (0, 0, largest)
    );
    let mut arg = PlaneResources {
        count: 3,
        ..PlaneResources::default()
    };
    assert_eq!(GET_PLANE_RESOURCES.0, 0xc010_64b5);
    assert_eq!(bench.call_of(&other, GET_PLANE_RESOURCES, &mut arg), Ok(0));
    assert_eq!(arg.count, 0);
    // MODE_GETCONNECTOR, WAIT_VBLANK; for masters MODE_SETCRTC, MODE_ATOMIC.
    assert_eq!(ask(&other, 0xc050_64a7), Err(ENOENT));
    assert_eq!(ask(&other, 0xc018_643a), Err(EOPNOTSUPP));
    for (request, error) in [(0xc068_64a2, ENOENT), (0xc038_64bc, EOPNOTSUPP)] {
        assert_eq!(ask(&master, request), Err(error));
        assert_eq!(ask(&other, request), Err(EACCES));
    }
    // I915_OVERLAY_PUT_IMAGE, I915_GET_PIPE_FROM_CRTC_ID, ADD_MAP, I915_INIT.
    assert_eq!(ask(&master, 0x402c_6467), Err(ENODEV));
    assert_eq!(ask(&master, 0xc008_6465), Err(ENOENT));
    assert_eq!(ask(&master, 0x4044_6440), Err(EACCES), "not root");
    bench.process.admin.store(true, Ordering::Relaxed);
    assert_eq!(ask(&master, 0xc028_6415), Err(EINVAL));
    assert_eq!(ask(&master, 0x4044_6440), Ok(0));
}

#[test]
fn what_is_refused_has_a_name() {
    assert_eq!(standing(0xc068_64a1), Standing::Refused("MODE_GETCRTC"));
    assert_eq!(standing(0xc010_64a1), Standing::Refused("MODE_GETCRTC"));
    assert_eq!(standing(0x641e), Standing::Served);
    assert_eq!(
        standing(0x4044_6440),
        Standing::Served,
        "nothing is all there is to do"
    );
    assert_eq!(standing(0xc010_64ff), Standing::Unknown);
    assert_eq!(standing(0xc010_6546), Standing::Unknown);
}
