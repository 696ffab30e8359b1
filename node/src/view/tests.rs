//! Linear views: both sides see what the other wrote, and how much is looked at.
#![allow(clippy::unwrap_used, reason = "tests")]
use std::sync::Arc;

use driver::mmap::Kind;
use driver::{Device, Driver, Tiling};
use kernel::platform::Platform;
use mmio_mock::ModelPlatform;

use super::*;
use crate::peer::Peer;
use crate::process::{Mapped, Processes};

fn device() -> (Arc<LivePlatform>, Device) {
    let model = ModelPlatform::new(mmio_mock::intel::r#gen::find("gm965").unwrap(), 16 << 20);
    let live = LivePlatform::new(model);
    let device = Driver::probe(Arc::clone(&live) as Arc<dyn Platform>).unwrap();
    (live, device)
}

/// PRM volume 1: X tiles are 512 bytes by 8 rows; Y tiles 128 bytes by 32 rows in columns of 16 bytes.
fn home(tiling: Tiling, stride: usize, x: usize, y: usize) -> usize {
    let (width, height) = if tiling == Tiling::X {
        (512, 8)
    } else {
        (128, 32)
    };
    let tile = (y / height) * (stride / width) + x / width;
    let (x, y) = (x % width, y % height);
    let inside = match tiling {
        Tiling::X => y * 512 + x,
        _ => x / 16 * 512 + y * 16 + x % 16,
    };
    tile * 4096 + inside
}

fn bytes_of(object: &Object) -> Vec<u8> {
    let mut bytes = vec![0; object.size()];
    object.read(0, &mut bytes).unwrap();
    bytes
}

#[test]
fn both_sides_see_what_the_other_wrote() {
    for (tiling, stride) in [(Tiling::X, 1024), (Tiling::Y, 256)] {
        let (live, device) = device();
        let views = Views::new().unwrap();
        let object = device.create_object(16384, tiling, stride as u32).unwrap();
        let tiled: Vec<u8> = (0..16384_u32).map(|i| ((i * 7) >> 3) as u8).collect();
        object.write(0, &tiled).unwrap();
        let start = views.show(&live, &object).unwrap();
        let mut client = crate::edge::map(views.fd()).unwrap();
        for (y, x) in [(0, 0), (3, 17), (9, 200), (15, stride - 1)] {
            let expected = tiled[home(tiling, stride, x, y)];
            assert_eq!(
                client[start + y * stride + x],
                expected,
                "{tiling:?} {x},{y}"
            );
        }
        // The CPU writes one byte, the device another and the same row.
        client[start + 5 * stride + 40] = 0xa5;
        let behind = home(tiling, stride, 41, 5);
        object.write(behind, &[0x5a]).unwrap();
        views.before(&live, std::iter::once(&object));
        views.after(std::iter::once(&object));
        let now = bytes_of(&object);
        assert_eq!(now[home(tiling, stride, 40, 5)], 0xa5);
        assert_eq!(now[behind], 0x5a);
        views.pull(&live, &object);
        assert_eq!(client[start + 5 * stride + 41], 0x5a);
        assert_eq!(client[start + 5 * stride + 40], 0xa5);
    }
}

#[test]
fn what_the_cpu_wrote_survives_a_pull() {
    let (live, device) = device();
    let views = Views::new().unwrap();
    let object = device.create_object(8192, Tiling::X, 512).unwrap();
    let start = views.show(&live, &object).unwrap();
    let mut client = crate::edge::map(views.fd()).unwrap();
    client[start + 700] = 1;
    object.write(home(Tiling::X, 512, 189, 1), &[2]).unwrap();
    views.changed(&object);
    views.pull(&live, &object);
    assert_eq!((client[start + 700], client[start + 701]), (1, 2));
    views.push(&live, &object);
    assert_eq!(bytes_of(&object)[home(Tiling::X, 512, 188, 1)], 1);
}

#[test]
fn views_of_objects_that_are_gone_make_room_and_show_in_no_later_ones() {
    let (live, device) = device();
    let views = Views::new().unwrap();
    let first = device.create_object(4096, Tiling::X, 512).unwrap();
    first.write(0, &[9; 4096]).unwrap();
    let start = views.show(&live, &first).unwrap();
    drop(first);
    let second = device.create_object(4096, Tiling::X, 512).unwrap();
    assert_eq!(views.show(&live, &second), Some(start));
    let client = crate::edge::map(views.fd()).unwrap();
    assert!(client[start..start + 4096].iter().all(|byte| *byte == 0));
}

#[test]
fn contents_stay_while_a_view_is_merged() {
    let (live, device) = device();
    let views = Views::new().unwrap();
    let object = device.create_object(8192, Tiling::X, 512).unwrap();
    let start = views.show(&live, &object).unwrap();
    let mut client = crate::edge::map(views.fd()).unwrap();
    views.changed(&object);
    for (number, merge) in [Views::pull, Views::push].into_iter().enumerate() {
        client[start] = 1 + number as u8;
        assert!(!object.is_shown());
        let door = views.door.lock();
        std::thread::scope(|scope| {
            scope.spawn(|| merge(&views, &live, &object));
            // TIMEOUT: it is at the door at once, on a machine with much else to do.
            let until = std::time::Instant::now() + std::time::Duration::from_secs(20);
            while !object.is_shown() {
                assert!(std::time::Instant::now() < until, "the contents may go");
                std::thread::yield_now();
            }
            drop(door);
        });
    }
    assert!(!object.is_shown());
}

#[test]
fn a_new_layout_keeps_the_linear_bytes_of_the_cpu_at_home() {
    let (live, device) = device();
    let views = Views::new().unwrap();
    let object = device.create_object(8192, Tiling::X, 512).unwrap();
    let start = views.show(&live, &object).unwrap();
    let mut client = crate::edge::map(views.fd()).unwrap();
    client[start + 512 + 3] = 7;
    views.relayout(&live, &object);
    assert_eq!(bytes_of(&object)[home(Tiling::X, 512, 3, 1)], 7);
}

/// Mapped tiled objects, each through a mapping of its own.
fn mapped(objects: &[Object]) -> Arc<Processes> {
    let processes = Arc::new(Processes::default());
    let peer = Arc::new(Peer::here().unwrap());
    let _life = processes.begin(&peer, None, 0);
    for (address, object) in (0..).step_by(4096).zip(objects) {
        let mapped = Mapped {
            len: 4096,
            object: object.show(false),
            kind: Kind::Gtt,
            start: 0,
            place: crate::map::Place::default(),
        };
        assert!(processes.map(peer.pid(), address, mapped));
    }
    processes
}

fn tiled(device: &Device, count: usize) -> Vec<Object> {
    let objects = (0..count).map(|_| device.create_object(4096, Tiling::X, 512));
    objects.collect::<Result<_, _>>().unwrap()
}

/// Twice as many objects take twice the work, and not four times: the first half, and as many again.
fn is_in_proportion(mut take: impl FnMut(usize)) {
    let (half, ()) = work::of(|| (0..500).for_each(&mut take));
    let (rest, ()) = work::of(|| (500..1000).for_each(&mut take));
    assert!(half > 0 && rest <= half + half / 4, "{half} then {rest}");
}

#[test]
fn a_mapping_takes_the_same_work_however_many_there_are() {
    let (live, device) = device();
    let views = Views::new().unwrap();
    let objects = tiled(&device, 1000);
    is_in_proportion(|n| {
        views.show(&live, &objects[n]).unwrap();
    });
}

#[test]
fn mappings_of_short_lived_objects_take_the_same_work_and_leave_no_views() {
    let (live, device) = device();
    let views = Views::new().unwrap();
    let kept = tiled(&device, 300);
    for object in &kept {
        views.show(&live, object).unwrap();
    }
    is_in_proportion(|_| {
        let object = device.create_object(4096, Tiling::X, 512).unwrap();
        views.show(&live, &object).unwrap();
    });
    // They are found in the turns of the others.
    let count = views.lock().views.len();
    assert!(count < 2 * kept.len(), "{count}");
}

#[test]
fn a_wait_looks_at_what_its_process_has_mapped_and_at_no_other_views() {
    let (live, device) = device();
    let views = Views::new().unwrap();
    let (own, others) = (tiled(&device, 10), tiled(&device, 1000));
    for object in own.iter().chain(&others) {
        views.show(&live, object).unwrap();
    }
    let own = mapped(&own);
    let pid = Peer::here().unwrap().pid();
    let wait_of = |processes: &Processes| {
        let mut stale = BTreeSet::new();
        processes.with_mappings(pid, |mapped| stale = views.stale(mapped));
        views.pull_all(&live, &stale);
    };
    let wait = || wait_of(&own);
    is_in_proportion(|n| {
        views.changed(&others[n]);
        wait();
    });
    let others = mapped(&others);
    // A look at each, and the one piece of each.
    let (looks, ()) = work::of(|| wait_of(&others));
    assert!(looks <= 2000, "{looks}");
    assert!(views.lock().stale.is_empty());
}

#[test]
fn views_of_objects_that_are_gone_are_found_when_there_is_no_room() {
    let (live, device) = device();
    let views = Views::new().unwrap();
    let mut objects = tiled(&device, 4 * LOOKS);
    for object in &objects {
        views.show(&live, object).unwrap();
    }
    let free = views.lock().room.take(SPACE - objects.len() * PAGE);
    assert!(free.is_some());
    // The one that the search would reach as the last.
    let gone = objects.swap_remove(0);
    views.lock().reached = gone.key();
    drop(gone);
    let next = device.create_object(4096, Tiling::X, 512).unwrap();
    assert!(views.show(&live, &next).is_some());
    assert_eq!(views.lock().views.len(), objects.len() + 1);
}

#[test]
fn others_go_on_while_one_view_is_at_work() {
    let (live, device) = device();
    let views = Views::new().unwrap();
    let objects = tiled(&device, 3);
    let [slow, quick, bare] = &objects[..] else {
        panic!("three objects");
    };
    views.show(&live, slow).unwrap();
    let start = views.show(&live, quick).unwrap();
    let mut client = crate::edge::map(views.fd()).unwrap();
    client[start + 3] = 7;
    let (done, is_done) = std::sync::mpsc::channel();
    std::thread::scope(|scope| {
        let view = views.find(slow).unwrap();
        let at_work = view.copy.lock();
        scope.spawn(|| {
            // A submission with objects with and without views, a wait, a first and a second mapping.
            views.before(&live, [quick, bare].into_iter());
            views.after([quick, bare, slow].into_iter());
            let own = mapped(&objects[1..]);
            let mut stale = BTreeSet::new();
            let pid = Peer::here().unwrap().pid();
            own.with_mappings(pid, |mapped| stale = views.stale(mapped));
            views.pull_all(&live, &stale);
            views.show(&live, quick).unwrap();
            views.show(&live, bare).unwrap();
            views.relayout(&live, quick);
            views.collect_all();
            done.send(()).unwrap();
        });
        // TIMEOUT: some milliseconds of work, on a machine with much else to do.
        let in_time = is_done.recv_timeout(std::time::Duration::from_secs(60));
        drop(at_work);
        assert!(in_time.is_ok(), "another view was waited for");
    });
    assert_eq!(bytes_of(quick)[home(Tiling::X, 512, 3, 0)], 7);
}

#[test]
fn what_changes_while_a_view_is_brought_up_to_date_is_brought_the_next_time() {
    let (live, device) = device();
    let views = Views::new().unwrap();
    let object = device.create_object(4096, Tiling::X, 512).unwrap();
    let start = views.show(&live, &object).unwrap();
    let client = crate::edge::map(views.fd()).unwrap();
    views.changed(&object);
    let seen = views.lock().stale.get(&object.key()).copied();
    // A submission is queued while the bytes are brought.
    views
        .find(&object)
        .unwrap()
        .copy
        .lock()
        .pull(&views.sides(&live), &object);
    object.write(home(Tiling::X, 512, 9, 2), &[4]).unwrap();
    views.changed(&object);
    views.lock().settle(object.key(), seen);
    assert!(views.lock().stale.contains_key(&object.key()));
    views.pull(&live, &object);
    assert_eq!(client[start + 2 * 512 + 9], 4);
    assert!(views.lock().stale.is_empty());
}

#[test]
fn a_large_object_is_merged_in_pieces_and_whole() {
    // Rows of 1536 bytes that do not divide a piece, and bytes behind the last whole tile.
    let (stride, size) = (1536, 3 * merge::PIECE + 4096 * 5);
    for tiling in [Tiling::X, Tiling::Y] {
        let (live, device) = device();
        let views = Views::new().unwrap();
        let object = device.create_object(size, tiling, stride as u32).unwrap();
        let mut random = fastrand::Rng::with_seed(7);
        let tiled: Vec<u8> = (0..size).map(|_| random.u8(..)).collect();
        object.write(0, &tiled).unwrap();
        let start = views.show(&live, &object).unwrap();
        let mut client = crate::edge::map(views.fd()).unwrap();
        let height = if tiling == Tiling::X { 8 } else { 32 };
        let whole = size / (stride * height) * (stride * height);
        assert!(whole < size);
        let place = |at: usize| {
            if at < whole {
                home(tiling, stride, at % stride, at / stride)
            } else {
                at
            }
        };
        assert!((0..size).all(|at| client[start + at] == tiled[place(at)]));
        let mut expected = tiled;
        for at in (0..size).step_by(977) {
            client[start + at] ^= 0x5a;
            expected[place(at)] ^= 0x5a;
        }
        let (pieces, ()) = work::of(|| views.push(&live, &object));
        assert!((4..=6).contains(&pieces), "{pieces}");
        assert!(bytes_of(&object) == expected);
    }
}

#[test]
fn relayouts_pushes_and_pulls_at_once_lose_nothing() {
    let (live, device) = device();
    let views = Views::new().unwrap();
    let object = device
        .create_object(2 * merge::PIECE, Tiling::X, 512)
        .unwrap();
    let bytes: Vec<u8> = (0..2 * merge::PIECE).map(|i| (i / 16) as u8).collect();
    object.write(0, &bytes).unwrap();
    views.show(&live, &object).unwrap();
    std::thread::scope(|scope| {
        for number in 0..4 {
            let (views, live, object) = (&views, &live, &object);
            scope.spawn(move || {
                for turn in 0..20 {
                    match (number + turn) % 4 {
                        0 => views.relayout(live, object),
                        1 => drop(views.show(live, object)),
                        2 => views.before(live, std::iter::once(object)),
                        _ => {
                            views.changed(object);
                            views.pull(live, object);
                        }
                    }
                }
            });
        }
    });
    views.push(&live, &object);
    assert!(bytes_of(&object) == bytes);
}
