//! Mappings of processes: whole pages, and no more than there is room for.
#![allow(clippy::unwrap_used, reason = "tests")]
use driver::{Device, Driver, Tiling};
use kernel::platform::Platform;
use mmio_mock::ModelPlatform;
use mmio_mock::core::live::LivePlatform;
use nix::sys::socket::{AddressFamily, SockFlag, SockType, socketpair};

use super::*;
use crate::pin::Pin;

fn device() -> Device {
    let model = ModelPlatform::new(mmio_mock::intel::r#gen::find("gm965").unwrap(), 16 << 20);
    Driver::probe(LivePlatform::new(model) as Arc<dyn Platform>).unwrap()
}

/// A mapping of so many pages, which need not be as many as the object has.
fn mapped(object: &Object, pages: u64) -> Mapped {
    Mapped {
        len: pages * PAGE,
        object: object.show(false),
        kind: Kind::Gtt,
        start: 0,
        place: Place::default(),
    }
}

fn total(processes: &Processes) -> usize {
    processes.lock().total.load(Relaxed)
}

#[test]
fn ranges_are_whole_pages() {
    let (processes, object) = (Processes::default(), device());
    let object = object.create_object(1 << 16, Tiling::None, 0).unwrap();
    let peer = Arc::new(Peer::here().unwrap());
    let (pid, _life) = (peer.pid(), processes.begin(&peer, None, 0).unwrap());
    assert!(processes.map(pid, 16 * PAGE, mapped(&object, 16)));
    // munmap(2) of what is no page is EINVAL; a length is that of the pages it touches.
    processes.unmap(pid, 18 * PAGE + 1, 1);
    assert!(processes.copy(pid, 16 * PAGE, 64 * PAGE + 8, PAGE));
    assert_eq!(total(&processes), 1);
    processes.unmap(pid, 20 * PAGE, 1);
    processes.unmap(pid, 31 * PAGE, 1);
    let places = processes.fenced(pid, &object).into_iter();
    let places = places.map(|(at, mapped)| (at / PAGE, mapped.len / PAGE, mapped.start / PAGE));
    assert_eq!(places.collect::<Vec<_>>(), [(16, 4, 0), (21, 10, 5)]);
    processes.unmap(pid, 0, u64::MAX);
    assert_eq!(total(&processes), 0);
}

#[test]
fn pieces_that_unmapping_leaves_are_counted() {
    let (processes, object) = (Processes::default(), device());
    let object = object.create_object(4096, Tiling::None, 0).unwrap();
    let peer = Arc::new(Peer::here().unwrap());
    let (pid, life) = (peer.pid(), processes.begin(&peer, None, 0).unwrap());
    assert!(processes.map(pid, 0, mapped(&object, 1 << 20)));
    for page in (1..1 << 20).step_by(2) {
        processes.unmap(pid, page * PAGE, PAGE);
    }
    assert_eq!(total(&processes), MOST);
    // What has no room is refused, and nothing that is mapped is forgotten for it: what was left stays in one piece, but for the last
    // page.
    let last = 2 * (MOST as u64 - 1);
    let rest = |processes: &Processes| processes.at(pid, last * PAGE).unwrap().len / PAGE;
    let left = (1 << 20) - 1 - last;
    assert_eq!(rest(&processes), left);
    assert!(!processes.map(pid, 1 << 40, mapped(&object, 1)));
    assert!(!processes.map(pid, (last + 1) * PAGE, mapped(&object, 1)));
    assert!(!processes.copy(pid, 0, 1 << 40, PAGE) && !processes.has_room(pid));
    assert_eq!((total(&processes), rest(&processes)), (MOST, left));
    // There is room again when something goes.
    processes.unmap(pid, 0, PAGE);
    assert!(processes.map(pid, 1 << 40, mapped(&object, 1)));
    assert_eq!(total(&processes), MOST);
    processes.end(pid, life, &[]);
    processes.release();
    assert_eq!(total(&processes), 0);
}

#[test]
fn what_is_inherited_counts_again() {
    let object = device();
    let object = object.create_object(4096, Tiling::None, 0).unwrap();
    let total = Arc::default();
    let mut parent = Mappings::of(&total, &Arc::default());
    for page in 0..1 << 17 {
        parent.insert(page * PAGE, mapped(&object, 1));
    }
    let child = || {
        let mut child = Mappings::of(&total, &Arc::default());
        (child.inherit(&parent), child)
    };
    // Each has half of what is left at most: of eight shares the last two are never given out.
    let children: Vec<(bool, Mappings)> = (0..12).map(|_| child()).collect();
    assert_eq!(total.load(Relaxed), MOST_OF_ALL - MOST);
    assert_eq!(
        children.iter().filter(|(is_there, _)| *is_there).count(),
        MOST_OF_ALL / MOST - 2
    );
    for (is_there, child) in &children {
        assert_eq!(*is_there, !child.by_address.is_empty());
    }
    // A program with few has them all the same.
    let mut other = Mappings::of(&total, &Arc::default());
    for page in 0..100 {
        assert!(other.has_room());
        other.insert(page * PAGE, mapped(&object, 1));
    }
    let mut of_other = Mappings::of(&total, &Arc::default());
    assert!(of_other.inherit(&other));
    assert_eq!(of_other.by_address.len(), 100);
    drop((children, parent, other, of_other));
    assert_eq!(total.load(Relaxed), 0);
}

#[test]
fn a_process_has_its_share_once_however_often_it_begins_or_forks() {
    let (processes, object) = (Processes::default(), device());
    let object = object.create_object(4096, Tiling::None, 0).unwrap();
    // Others leave nothing.
    processes.lock().total.fetch_add(MOST_OF_ALL, Relaxed);
    let others = MOST_OF_ALL;
    let peer = Arc::new(Peer::here().unwrap());
    let pid = peer.pid();
    let mut lives = vec![processes.begin(&peer, None, 0).unwrap()];
    for page in 0..100 {
        assert!(processes.map(pid, page * PAGE, mapped(&object, 1)));
    }
    let forks = std::iter::from_fn(|| processes.forks(pid)).count();
    assert_eq!((forks + 1) * 100, total(&processes) - others);
    assert_eq!(forks, ALWAYS / 100 - 1);
    // A life more is the same process's.
    lives.push(processes.begin(&peer, None, 0).unwrap());
    let more = (0..1000).filter(|page| processes.map(pid, page * PAGE, mapped(&object, 1)));
    assert_eq!(more.count(), ALWAYS - (forks + 1) * 100);
    assert_eq!(total(&processes), others + ALWAYS);
    for life in lives {
        processes.end(pid, life, &[]);
    }
    processes.release();
    assert_eq!(total(&processes), others);
}

#[test]
fn a_child_has_what_was_mapped_at_the_fork() {
    let (processes, object) = (Processes::default(), device());
    let object = object.create_object(1 << 16, Tiling::None, 0).unwrap();
    let peer = Arc::new(Peer::here().unwrap());
    let (pid, life) = (peer.pid(), processes.begin(&peer, None, 0).unwrap());
    assert!(processes.map(pid, 16 * PAGE, mapped(&object, 4)));
    let fork = processes.forks(pid).unwrap();
    processes.unmap(pid, 16 * PAGE, 4 * PAGE);
    let child = processes.kept(fork).unwrap();
    // Nobody else has that number.
    assert!(processes.kept(fork).is_none());
    assert_eq!(child.by_address.keys().collect::<Vec<_>>(), [&(16 * PAGE)]);
    drop(child);
    // Forks that have failed keep no more than the latest. Children of the others have nothing, also where the process has something.
    assert!(processes.map(pid, 16 * PAGE, mapped(&object, 4)));
    let all: Vec<u64> = (0..FORKS + 12)
        .filter_map(|_| processes.forks(pid))
        .collect();
    assert_eq!(total(&processes), 1 + FORKS);
    let first = processes.begin(&peer, Some(pid), all[0]);
    assert_eq!(first, Err(Refused::Unknown));
    assert!(processes.kept(all[FORKS + 11]).is_some());
    processes.end(pid, life, &[]);
    processes.release();
    assert_eq!(total(&processes), 0);
}

#[test]
fn a_child_is_known_by_its_fork_whatever_its_parent_is_called() {
    let (processes, object) = (Processes::default(), device());
    let object = object.create_object(1 << 16, Tiling::None, 0).unwrap();
    let peer = Arc::new(Peer::here().unwrap());
    let pid = peer.pid();
    let life = processes.begin(&peer, None, 0).unwrap();
    assert!(processes.map(pid, 16 * PAGE, mapped(&object, 4)));
    let (first, second) = (processes.forks(pid).unwrap(), processes.forks(pid).unwrap());
    // In another namespace the parent has another number. This process stands for its child, and for a program that its parent executes
    // meanwhile: the connection of the one before is still open.
    let stranger = i32::MAX;
    let child = processes.begin(&peer, Some(stranger), first).unwrap();
    assert!(processes.at(pid, 16 * PAGE).is_some());
    // A number counts once, and what nobody knows is nobody's.
    let again = processes.begin(&peer, Some(stranger), first);
    assert_eq!(again, Err(Refused::Unknown));
    // Nobody is a copy of itself.
    let own = processes.begin(&peer, Some(pid), u64::MAX);
    assert_eq!(own, Err(Refused::Unknown));
    assert_eq!(total(&processes), 3);
    // When the parent's connection ends nothing is kept for children any more.
    processes.end(pid, life, &[]);
    processes.release();
    assert_eq!(total(&processes), 1);
    let late = processes.begin(&peer, Some(stranger), second);
    assert_eq!(late, Err(Refused::Unknown));
    processes.end(pid, child, &[]);
    processes.release();
    assert_eq!(total(&processes), 0);
}

#[test]
fn pieces_know_where_they_were() {
    let (processes, object) = (Processes::default(), device());
    let object = object.create_object(1 << 16, Tiling::None, 0).unwrap();
    let peer = Arc::new(Peer::here().unwrap());
    let (pid, _life) = (peer.pid(), processes.begin(&peer, None, 0).unwrap());
    let place = |offset| Place { which: 1, offset };
    let whole = Mapped {
        place: place(0x8000),
        ..mapped(&object, 8)
    };
    assert!(processes.map(pid, 16 * PAGE, whole));
    processes.unmap(pid, 18 * PAGE, PAGE);
    let rest = processes.at(pid, 19 * PAGE).unwrap();
    assert_eq!((rest.start, rest.place), (3 * PAGE, place(0xb000)));
    // Made anew; a mapping that is another one by now is left alone.
    processes.moved(pid, 19 * PAGE, &rest, place(0x1000));
    assert_eq!(processes.at(pid, 19 * PAGE).unwrap().place, place(0x1000));
    processes.moved(pid, 19 * PAGE, &rest, place(0x2000));
    assert_eq!(processes.at(pid, 19 * PAGE).unwrap().place, place(0x1000));
}

/// mremap(2) puts a mapping in the place of another one, or fails.
#[test]
fn what_a_move_replaces_is_held_until_it_has_moved() {
    let (processes, device) = (Processes::default(), device());
    let object = || device.create_object(1 << 16, Tiling::None, 0).unwrap();
    let (first, second) = (object(), object());
    let peer = Arc::new(Peer::here().unwrap());
    let (pid, life) = (peer.pid(), processes.begin(&peer, None, 0).unwrap());
    let shown = |page: u64| {
        processes
            .at(pid, page * PAGE)
            .map(|mapped| mapped.object.key())
    };
    let pages = |page: u64| page * PAGE;
    assert!(processes.map(pid, pages(16), mapped(&first, 4)));
    assert!(processes.map(pid, pages(32), mapped(&second, 4)));
    assert!(processes.copy(pid, pages(16), pages(33), pages(2)));
    // Both, what is left of the second at both sides, the copy, and what is replaced.
    assert_eq!(total(&processes), 5);
    assert_eq!(shown(33), Some(first.key()));
    // It does not move.
    let back = processes.stay(pid, pages(33), pages(2));
    assert_eq!(back.len(), 1);
    assert_eq!([shown(33), shown(35)], [Some(second.key()); 2]);
    assert_eq!(total(&processes), 4);
    assert!(processes.stay(pid, pages(33), pages(2)).is_empty());
    // It moves.
    assert!(processes.copy(pid, pages(16), pages(33), pages(2)));
    processes.unmap(pid, pages(16), pages(4));
    assert_eq!([shown(16), shown(33)], [None, Some(first.key())]);
    assert_eq!(total(&processes), 3);
    // What is replaced counts until then, also of a process that ends.
    assert!(processes.copy(pid, pages(33), pages(35), PAGE));
    assert_eq!(total(&processes), 4);
    processes.end(pid, life, &[]);
    processes.release();
    assert_eq!(total(&processes), 0);
}

#[test]
fn nothing_is_kept_for_children_of_a_process_that_has_ended_without_a_connection() {
    let (processes, device) = (Processes::default(), device());
    let object = device.create_object(1 << 16, Tiling::None, 0).unwrap();
    let mut child = std::process::Command::new("cat")
        .stdin(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let (kind, flags) = (SockType::SeqPacket, SockFlag::SOCK_CLOEXEC);
    let (socket, _other) = socketpair(AddressFamily::Unix, kind, None, flags).unwrap();
    let pid = child.id() as i32;
    let pin = Pin::by_number(&socket, nix::unistd::Pid::from_raw(pid), 0).unwrap();
    let peer = Arc::new(Peer::of(&Arc::new(pin)).unwrap());
    processes.know(&peer);
    assert!(processes.map(pid, 16 * PAGE, mapped(&object, 4)));
    assert!(processes.forks(pid).is_some() && processes.forks(pid).is_some());
    processes.look();
    processes.release();
    assert_eq!(total(&processes), 3);
    // It begins after all: its children may still come.
    let life = processes.begin(&peer, None, 0).unwrap();
    let number = processes.forks(pid).unwrap();
    processes.release();
    assert!(processes.kept(number).is_some());
    processes.end(pid, life, &[]);
    processes.release();
    assert_eq!(total(&processes), 0);
    processes.know(&peer);
    assert!(processes.map(pid, 16 * PAGE, mapped(&object, 4)));
    assert!(processes.forks(pid).is_some());
    child.kill().unwrap();
    child.wait().unwrap();
    processes.look();
    processes.release();
    assert_eq!(total(&processes), 0);
    assert!(processes.lock().kept.is_empty());
}
