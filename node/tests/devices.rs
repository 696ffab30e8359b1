//! Several devices of one node: nothing of one is another's.
//!
//! drm_drv.c and drm_sysfs.c for numbers and names, i915_pciids.h for the ids, drm_prime.c, drm_syncobj.c and sync_file.c for
//! what goes from one device to another.

use std::fs;
use std::io::Write as _;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::Duration;

use driver::uapi::{drm, exec, gem, query, sync_file, syncobj};
use kernel::time::Delta;
use mmio_mock::Model as _;
use mmio_mock::intel::r#gen::{DeviceInfo, find};
use mmio_mock::intel::trace::Trace;
use node::{Error, MOST_DEVICES, Node, Options};
use wire::{Head, Op};
use zerocopy::{FromZeros as _, IntoBytes as _};

use crate::support::frame::{Frame, Party};
use crate::support::{Connection, error_state, open_error_state};

const BOTH: [&str; 2] = ["gm965", "ironlake"];
const NONE: &str = "No error state collected\n";
const ENODEV: i32 = -19;
const ENOENT: i32 = -2;
const EINVAL: i32 = -22;
const EOPNOTSUPP: i32 = -95;

fn infos(names: &[&str]) -> Vec<&'static DeviceInfo> {
    names.iter().map(|name| find(name).unwrap()).collect()
}

fn options(names: &[&str]) -> Options {
    Options {
        memory: 64 << 20,
        ..Options::of(infos(names))
    }
}

fn start(names: &[&str]) -> (Node, String) {
    let node = Node::start(&options(names)).unwrap();
    let name = node.environment()[0].1.to_str().unwrap().to_owned();
    (node, name)
}

fn party(name: &str, device: u64) -> Party {
    Party::of(Connection::new(name, Op::Thread).0, device)
}

fn tree(node: &Node) -> PathBuf {
    Path::new(&node.environment()[1].1).to_owned()
}

/// What a frame gives on a node that has one device and no other client.
fn alone(device: &str, frame: &Frame) -> Vec<Vec<u8>> {
    let (_node, name) = start(&[device]);
    party(&name, 0).draw(frame)
}

fn import(party: &Party, fd: &OwnedFd) -> i32 {
    let mut arg = drm::PrimeHandle::new_zeroed();
    arg.fd = fd.as_raw_fd();
    party.ask(drm::PRIME_FD_TO_HANDLE.0, arg.as_mut_bytes())
}

/// Runs a batch that begins with an unknown command, until the device has been reset.
fn hang(party: &Party) {
    let batch = party.create(4096);
    party.write(batch, &0x7fff_0000_u32.to_le_bytes());
    assert_eq!(party.run(batch), 0);
    assert_eq!(party.wait(batch, -1), 0);
}

#[test]
fn two_devices_at_once_draw_what_each_draws_alone() {
    let scenes = ["g_gears", "d_tex_nearest", "e_depth"];
    let frames = BOTH.map(|device| scenes.map(|scene| Frame::read_of(device, scene)));
    let mut expected = Vec::new();
    for (device, frames) in BOTH.iter().zip(&frames) {
        expected.push(frames.each_ref().map(|frame| alone(device, frame)));
    }
    let (node, name) = start(&BOTH);
    std::thread::scope(|scope| {
        for (device, (frames, expected)) in (0..).zip(frames.iter().zip(&expected)) {
            let name = &name;
            scope.spawn(move || {
                let party = party(name, device);
                for round in 0..2 {
                    for (frame, expected) in frames.iter().zip(expected) {
                        assert!(party.draw(frame) == *expected, "device {device}, {round}");
                    }
                }
            });
        }
    });
    let report = node.report();
    let names: Vec<_> = report.cards.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["card0 (gm965)", "card1 (ironlake)"]);
    for (_, work) in &report.cards {
        assert_eq!((work.submissions, work.opened, work.resets), (6, 1, 0));
    }
    assert_eq!(report.work.submissions, 12);
    assert!(node.quiesce(Duration::from_secs(20)));
}

/// A client alone on one device of two writes the trace that it writes on a node without the other, also while the other works.
#[test]
fn a_device_in_step_has_the_trace_that_it_has_alone() {
    let run = |names: &[&str]| {
        let node = Node::start(&Options {
            deterministic: true,
            ..options(names)
        })
        .unwrap();
        let name = node.environment()[0].1.to_str().unwrap().to_owned();
        for card in node.cards() {
            card.platform()
                .device()
                .set_trace(Trace::with_limit(8 << 20));
        }
        let parties: Vec<_> = (0..).zip(names).map(|(n, _)| party(&name, n)).collect();
        for _ in 0..2 {
            for (party, device) in parties.iter().zip(names) {
                party.draw(&Frame::read_of(device, "b_flat"));
            }
        }
        drop(parties);
        assert!(node.quiesce(Duration::from_secs(20)));
        let traces = node.cards().iter().map(|card| {
            let device = card.platform().device();
            (device.event_log().text().to_owned(), device.nanos())
        });
        traces.collect::<Vec<_>>()
    };
    let both = run(&BOTH);
    for (device, together) in BOTH.iter().zip(&both) {
        assert!(together.0.lines().count() > 100);
        assert!(run(&[device]) == [together.clone()], "{device}");
    }
}

#[test]
fn equal_devices_have_memories_and_handles_of_their_own() {
    let frame = Frame::read("b_flat");
    let expected = alone("gm965", &frame);
    let (node, name) = start(&["gm965", "gm965"]);
    let parties = [0, 1].map(|device| party(&name, device));
    for party in &parties {
        assert!(party.draw(&frame) == expected);
    }
    // The first object of each has one handle, one place, and contents of its own.
    let handles = parties.each_ref().map(|party| party.create(4096));
    for (party, text) in parties.iter().zip([b"first", b"other"]) {
        party.write(handles[0], text);
    }
    assert_eq!(handles[0], handles[1]);
    assert_eq!(parties[0].bytes(handles[0], 5), b"first");
    assert_eq!(parties[1].bytes(handles[1], 5), b"other");
    for card in node.cards() {
        assert_eq!((card.work().submissions, card.work().opened), (1, 1));
    }
}

#[test]
fn a_client_opens_the_nodes_of_all_devices() {
    let (node, name) = start(&BOTH);
    let (_life, greeting) = Connection::new(&name, Op::Life);
    assert_eq!((greeting.reply.result, greeting.fds.len()), (0, 4));
    let inodes = greeting.fds.iter().map(|fd| {
        let link = fs::read_link(format!("/proc/self/fd/{}", fd.as_raw_fd())).unwrap();
        assert!(link.to_str().unwrap().starts_with("/memfd:crestline-"));
        nix::sys::stat::fstat(fd).unwrap().st_ino
    });
    assert_eq!(greeting.payload, inodes.collect::<Vec<_>>().as_bytes());
    let (client, _) = Connection::new(&name, Op::Thread);
    // i915_pciids.h: GM965, Ironlake of desktops.
    for (device, id) in [(0, 0x2a02), (1, 0x0042)] {
        for primary in [false, true] {
            let (_fd, file) = client.open_of(device, primary);
            let mut value = 0_i32;
            let mut arg = query::Getparam::new_zeroed();
            // I915_PARAM_CHIPSET_ID of i915_drm.h.
            arg.param = 4;
            arg.value = (&raw mut value).addr() as u64;
            let asked = client.ioctl(file, query::GETPARAM.0, arg.as_mut_bytes());
            assert_eq!((asked, std::hint::black_box(value)), (0, id));
            let what = client.call(&Head::new(Op::Identify, file, [0; 3]), &[]);
            assert_eq!(what.reply.value, 1 + u64::from(primary));
            assert_eq!(what.reply.which, device);
        }
    }
    for missing in [2, MOST_DEVICES as u64, u64::MAX] {
        let answer = client.call(&Head::new(Op::Open, 0, [0, 1, missing]), &[]);
        assert_eq!((answer.reply.result, answer.fds.len()), (ENODEV, 0));
    }
    assert_eq!(node.report().work.opened, 4);
}

#[test]
fn a_mapping_shows_the_memory_of_its_device() {
    let (_node, name) = start(&BOTH);
    let (_life, greeting) = Connection::new(&name, Op::Life);
    let parties = [0, 1].map(|device| party(&name, device));
    for (device, party) in (0..).zip(&parties) {
        let handle = party.create(4096);
        party.write(handle, &[0xa0 + device as u8; 16]);
        let mut arg = gem::MmapOffset {
            handle,
            flags: gem::MMAP_OFFSET_WB,
            ..gem::MmapOffset::new_zeroed()
        };
        assert_eq!(party.ask(gem::MMAP_OFFSET.0, arg.as_mut_bytes()), 0);
        let map = |file| Head::new(Op::Map, file, [3, arg.offset, 4096]);
        let place = party.client.call(&map(party.file), &[]).reply;
        assert_eq!((place.result, place.which), (0, 2 * device));
        let memory = &greeting.fds[place.which as usize];
        let mut bytes = [0; 16];
        nix::sys::uio::pread(memory, &mut bytes, place.value as i64).unwrap();
        assert_eq!(bytes, [0xa0 + device as u8; 16]);
        // The dma-buf as well.
        let shared = party.export(handle, 0);
        let head = Head::new(Op::Map, shared.as_raw_fd() as u64, [3, 0, 4096]);
        let place = party.client.call(&head, &[]).reply;
        assert_eq!((place.result, place.which), (0, 2 * device));
    }
}

#[test]
fn handles_and_offsets_of_one_device_are_worth_nothing_on_the_other() {
    let (_node, name) = start(&BOTH);
    let parties = [0, 1].map(|device| party(&name, device));
    let handle = parties[0].create(4096);
    let mut arg = gem::MmapOffset {
        handle,
        flags: gem::MMAP_OFFSET_WB,
        ..gem::MmapOffset::new_zeroed()
    };
    assert_eq!(
        parties[1].ask(gem::MMAP_OFFSET.0, arg.as_mut_bytes()),
        ENOENT
    );
    assert_eq!(parties[0].ask(gem::MMAP_OFFSET.0, arg.as_mut_bytes()), 0);
    let head = Head::new(Op::Map, parties[1].file, [3, arg.offset, 4096]);
    assert_eq!(parties[1].client.call(&head, &[]).reply.result, EINVAL);
    assert_eq!(parties[1].wait(handle, 0), ENOENT);
    assert_eq!(parties[1].run(handle), ENOENT);
    // Names are the device's too; they are for primary nodes.
    let (client, _) = Connection::new(&name, Op::Thread);
    let (_first, first) = client.open_of(0, true);
    let (_second, second) = client.open_of(1, true);
    let mut made = gem::Create::new_zeroed();
    made.size = 4096;
    assert_eq!(client.ioctl(first, gem::CREATE.0, made.as_mut_bytes()), 0);
    let mut flink = drm::GemFlink::new_zeroed();
    flink.handle = made.handle;
    let named = client.ioctl(first, drm::GEM_FLINK.0, flink.as_mut_bytes());
    assert_eq!(named, 0);
    let open = |file| {
        let mut open = drm::GemOpen::new_zeroed();
        open.name = flink.name;
        client.ioctl(file, drm::GEM_OPEN.0, open.as_mut_bytes())
    };
    assert_eq!((open(first), open(second)), (0, ENOENT));
}

/// i915_gem_dmabuf.c, i915_gem_dmabuf_attach: memory that the other device does not reach.
#[test]
fn a_dma_buf_of_the_other_device_is_refused_and_stays_whole() {
    let (_node, name) = start(&BOTH);
    let parties = [0, 1].map(|device| party(&name, device));
    for (own, other) in [(0, 1), (1, 0)] {
        let handle = parties[own].create(4096);
        parties[own].write(handle, b"mine");
        let fd = parties[own].export(handle, 0);
        for _ in 0..2 {
            assert_eq!(import(&parties[other], &fd), EOPNOTSUPP);
        }
        assert_eq!(import(&parties[own], &fd), 0);
        assert_eq!(parties[own].bytes(handle, 4), b"mine");
    }
}

/// A descriptor of a sync object that is signalled, as itself or as a sync file.
fn fence(party: &Party, flags: u32) -> OwnedFd {
    let mut made = syncobj::Create {
        flags: syncobj::CREATE_SIGNALED,
        ..syncobj::Create::new_zeroed()
    };
    assert_eq!(party.ask(syncobj::CREATE.0, made.as_mut_bytes()), 0);
    let mut arg = syncobj::Handle::new_zeroed();
    (arg.handle, arg.flags) = (made.handle, flags);
    party.installed(syncobj::HANDLE_TO_FD.0, arg.as_bytes())
}

#[test]
fn fences_of_the_other_device_are_refused_as_no_fences() {
    let (_node, name) = start(&BOTH);
    let parties = [0, 1].map(|device| party(&name, device));
    for flags in [0, syncobj::SYNC_FILE] {
        let fd = fence(&parties[0], flags);
        let take = |party: &Party| {
            let mut made = syncobj::Create::new_zeroed();
            assert_eq!(party.ask(syncobj::CREATE.0, made.as_mut_bytes()), 0);
            let mut arg = syncobj::Handle::new_zeroed();
            (arg.handle, arg.flags, arg.fd) = (made.handle, flags, fd.as_raw_fd());
            party.ask(syncobj::FD_TO_HANDLE.0, arg.as_mut_bytes())
        };
        assert_eq!(take(&parties[1]), EINVAL);
        assert_eq!(take(&parties[0]), 0);
    }
    let files = parties
        .each_ref()
        .map(|party| fence(party, syncobj::SYNC_FILE));
    // SYNC_IOC_MERGE says ENOENT of what is no sync file.
    let merge = |one: &OwnedFd, other: &OwnedFd| {
        let mut data = sync_file::MergeData::new_zeroed();
        data.fd2 = other.as_raw_fd();
        let head = Head::new(
            Op::Ioctl,
            one.as_raw_fd() as u64,
            [sync_file::MERGE.0.into(), 0, 0],
        );
        parties[0].client.call(&head, data.as_bytes()).reply
    };
    assert_eq!(merge(&files[0], &files[1]).result, ENOENT);
    assert_eq!(merge(&files[1], &files[0]).result, ENOENT);
    // A submission that is to wait for one.
    let submit = |fence: &OwnedFd| {
        let batch = parties[0].create(4096);
        parties[0].write(batch, &(0x0a_u32 << 23).to_le_bytes());
        let list = [exec::Object {
            handle: batch,
            ..exec::Object::new_zeroed()
        }];
        let mut arg = exec::Execbuffer2 {
            buffers_ptr: list.as_ptr().addr() as u64,
            buffer_count: 1,
            flags: exec::RENDER | exec::FENCE_IN,
            rsvd1: parties[0].context.into(),
            rsvd2: fence.as_raw_fd() as u64,
            ..exec::Execbuffer2::new_zeroed()
        };
        let result = parties[0].ask(exec::EXECBUFFER2.0, arg.as_mut_bytes());
        std::hint::black_box(list);
        result
    };
    assert_eq!(submit(&files[1]), EINVAL);
    assert_eq!(submit(&files[0]), 0);
}

#[test]
fn a_device_that_is_reset_leaves_the_other_at_work_and_has_its_own_error_state() {
    let frames = ["g_gears", "e_depth"].map(|scene| Frame::read_of("ironlake", scene));
    let expected = frames.each_ref().map(|frame| alone("ironlake", frame));
    let (node, name) = start(&BOTH);
    // The other has the driver's own hang check, so that a busy host makes no hang of it.
    node.first()
        .device()
        .set_hang_check_period(Delta::from_millis(4));
    std::thread::scope(|scope| {
        let resets = scope.spawn(|| {
            for _ in 0..3 {
                hang(&party(&name, 0));
            }
        });
        let party = party(&name, 1);
        let mut rounds = 0;
        while !resets.is_finished() || rounds < 2 {
            for (frame, expected) in frames.iter().zip(&expected) {
                assert!(party.draw(frame) == *expected);
            }
            rounds += 1;
        }
        assert_eq!(party.reset_stats(), (0, 0));
    });
    let resets = node.cards().iter().map(|card| card.work().resets);
    assert_eq!(resets.collect::<Vec<_>>(), [3, 0]);
    // The files of the first show it, those of the second do not.
    let (client, _) = Connection::new(&name, Op::Thread);
    let read = |device| error_state(&client, device);
    let state = read(0);
    assert!(state.contains("PCI ID: 0x2a02"), "{state:.300}");
    assert_eq!(read(1), NONE);
    // What is written to the files of one device clears the state of that one.
    let write = |device| open_error_state(&client, device, true).write_all(b"1");
    write(1).unwrap();
    assert_eq!(read(0), state);
    write(0).unwrap();
    assert_eq!(read(0), NONE);
}

#[test]
fn each_device_has_a_tree_with_its_name_and_id() {
    let (node, _) = start(&["gm965", "ironlake", "g45", "gm965"]);
    let tree = tree(&node);
    // i915_pciids.h.
    let expected = [
        ("0x2a02", "GM965"),
        ("0x0042", "Iron"),
        ("0x2e22", "G45"),
        ("0x2a02", "GM965"),
    ];
    let mut places = Vec::new();
    for (number, (id, title)) in expected.into_iter().enumerate() {
        let slot = format!("{number:04x}:00:02.0");
        let device = format!("sys/devices/pci{number:04x}:00/{slot}");
        let read = |path: &str| fs::read_to_string(tree.join(path)).unwrap();
        assert_eq!(
            read(&format!("sys/bus/pci/devices/{slot}/device")).trim(),
            id
        );
        let uevent = read(&format!("{device}/uevent"));
        assert!(uevent.contains(&format!("PCI_SLOT_NAME={slot}\n")));
        let config = fs::read(tree.join(&device).join("config")).unwrap();
        let in_config = u16::from_le_bytes([config[2], config[3]]);
        assert_eq!(format!("{in_config:#06x}"), id);
        for (name, minor) in [
            (format!("card{number}"), number),
            (format!("renderD{}", 128 + number), 128 + number),
        ] {
            assert!(tree.join("dev/dri").join(&name).is_file());
            let link = fs::canonicalize(tree.join(format!("sys/dev/char/226:{minor}"))).unwrap();
            assert_eq!(link, tree.join(format!("{device}/drm/{name}")));
            let by_class = fs::canonicalize(tree.join("sys/class/drm").join(&name)).unwrap();
            assert_eq!(by_class, link);
            let up = fs::canonicalize(link.join("device")).unwrap();
            assert_eq!(up, tree.join(&device));
            let number = fs::read_to_string(link.join("dev")).unwrap();
            assert_eq!(number, format!("226:{minor}\n"));
            let debug = format!("sys/kernel/debug/dri/{minor}");
            assert!(read(&format!("{debug}/name")).contains(&format!("dev={slot} ")));
            let capabilities = read(&format!("{debug}/i915_capabilities"));
            assert!(capabilities.contains(id), "{capabilities}");
            assert!(capabilities.contains(title), "{capabilities}");
        }
        let by_path = tree.join(format!("dev/dri/by-path/pci-{slot}-render"));
        let render = tree.join(format!("dev/dri/renderD{}", 128 + number));
        assert_eq!(fs::canonicalize(by_path).unwrap(), render);
        // One boots; what they answer to does not overlap.
        let boots = read(&format!("{device}/boot_vga"));
        assert_eq!(boots.trim() == "1", number == 0);
        for line in read(&format!("{device}/resource")).lines() {
            let mut words = line.split(' ');
            let mut word = || {
                let digits = words.next().unwrap().trim_start_matches("0x");
                u64::from_str_radix(digits, 16).unwrap()
            };
            let (start, end, flags) = (word(), word(), word());
            if end != 0 {
                // Ports and memory are numbered apart (IORESOURCE_IO).
                places.push((flags & 0x100, start, end));
            }
        }
    }
    places.sort_unstable();
    for pair in places.windows(2) {
        let apart = pair[0].0 != pair[1].0 || pair[0].2 < pair[1].1;
        assert!(apart, "{pair:x?}");
    }
}

#[test]
fn a_node_has_one_to_eight_devices() {
    let count = |count: usize| {
        Node::start(&Options {
            memory: 4 << 20,
            ..Options::of(vec![find("gm965").unwrap(); count])
        })
    };
    for refused in [0, MOST_DEVICES + 1] {
        let error = count(refused).err().unwrap();
        assert!(matches!(error, Error::Devices(n) if n == refused));
        let text = format!("a node has one to 8 devices, not {refused}");
        assert_eq!(error.to_string(), text);
    }
    let node = count(MOST_DEVICES).unwrap();
    let name = node.environment()[0].1.to_str().unwrap().to_owned();
    let (_life, greeting) = Connection::new(&name, Op::Life);
    assert_eq!(greeting.fds.len(), 2 * MOST_DEVICES);
    let (client, _) = Connection::new(&name, Op::Thread);
    for device in 0..MOST_DEVICES as u64 {
        let (_fd, file) = client.open_of(device, false);
        let what = client.call(&Head::new(Op::Identify, file, [0; 3]), &[]);
        assert_eq!((what.reply.value, what.reply.which), (1, device));
    }
}
