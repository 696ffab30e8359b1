//! Error files: cleared by any write, never two states for one reader.
//!
//! What Linux does: i915 i915_sysfs.c, `error_state_read` and `error_state_write`.

use crate::support;

use std::fs::{self, File};
use std::io::{Read as _, Seek as _, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use wire::{Head, Op};

use crate::support::frame::Party;
use crate::support::{error_state, open_error_state};

const NONE: &str = "No error state collected\n";
const PLACES: [&str; 3] = [
    "sys/class/drm/card0/error",
    "sys/kernel/debug/dri/0/i915_error_state",
    "sys/kernel/debug/dri/128/i915_error_state",
];

/// Runs a batch that begins with an unknown command.
fn hang(name: &str) {
    let party = Party::new(name);
    let batch = party.create(4096);
    party.write(batch, &0x7fff_0000_u32.to_le_bytes());
    party.run(batch);
    assert_eq!(party.wait(batch, -1), 0);
}

#[test]
fn a_write_clears_at_once_and_a_reader_sees_one_state() {
    let (_node, name) = support::start();
    let party = Party::new(&name);
    let client = &party.client;
    let read = || error_state(client, 0);
    assert_eq!(read(), NONE);
    for length in [1, 2, NONE.len(), 70_000] {
        hang(&name);
        let state = read();
        assert!(state.len() > 1000 && state.contains("GPU hang"), "{state}");
        // The first stays, as long as nobody clears it.
        hang(&name);
        assert_eq!(read(), state);
        let mut reader = open_error_state(client, 0, false);
        assert!(reader.write_all(b"1").is_err(), "opened to be read");
        let mut begun = vec![0; 100];
        reader.read_exact(&mut begun).unwrap();
        let mut writer = open_error_state(client, 0, true);
        assert_eq!(read(), state);
        writer.write_all(&vec![b'1'; length]).unwrap();
        assert_eq!(read(), NONE);
        // The next state is another; the reader goes on with the one that it began with.
        hang(&name);
        assert_ne!(read(), state);
        reader.read_to_end(&mut begun).unwrap();
        assert_eq!(String::from_utf8(begun).unwrap(), state);
        // Also through a file that was read before, or that was opened before the state was there.
        let mut both = open_error_state(client, 0, true);
        assert!(both.read(&mut [0; 100]).unwrap() == 100);
        for mut file in [both, writer] {
            file.write_all(b"x").unwrap();
            assert_eq!(read(), NONE);
            hang(&name);
            assert_ne!(read(), NONE);
        }
        open_error_state(client, 0, true).write_all(b"1").unwrap();
        assert_eq!(read(), NONE);
    }
}

/// Files belong to the client that has opened them: what it does there shows in no other's.
#[test]
fn what_a_client_writes_shows_to_no_other() {
    let (_node, name) = support::start();
    let [one, other] = [(); 2].map(|()| Party::new(&name));
    let mut first = open_error_state(&one.client, 0, true);
    let second = open_error_state(&other.client, 0, true);
    first.rewind().unwrap();
    first.write_all(b"something else").unwrap();
    first.set_len(1 << 20).unwrap();
    let mut texts = [second, open_error_state(&other.client, 0, false)].map(|mut file| {
        let mut text = String::new();
        file.read_to_string(&mut text).unwrap();
        text
    });
    texts.sort();
    assert_eq!(texts, [NONE, NONE]);
    let answer = one
        .client
        .call(&Head::new(Op::ErrorState, 0, [1, 0, 0]), &[]);
    assert_eq!(answer.reply.result, -nix::libc::ENODEV);
}

/// However many read a large state, there is one text of it, and none that waits for another one's.
#[test]
fn those_that_read_a_state_have_one_text_together() {
    const SIZE: u64 = 8 << 20;
    let (_node, name) = support::start();
    let party = Party::new(&name);
    let batch = party.create(SIZE);
    let noise: Vec<u8> = (0..SIZE as u32)
        .map(|i| (i.wrapping_mul(0x9e37_79b9) >> 24) as u8)
        .collect();
    party.write(batch, &noise);
    party.write(batch, &0x7fff_0000_u32.to_le_bytes());
    party.run(batch);
    assert_eq!(party.wait(batch, -1), 0);
    let clients: Vec<Party> = (0..16).map(|_| Party::new(&name)).collect();
    let files: Vec<File> = std::thread::scope(|scope| {
        let one = |party: Party| scope.spawn(move || open_error_state(&party.client, 0, false));
        let threads: Vec<_> = clients.into_iter().map(one).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    let metas: Vec<_> = files.iter().map(|file| file.metadata().unwrap()).collect();
    assert!(metas[0].len() > SIZE, "{} bytes", metas[0].len());
    assert!(metas.iter().all(|meta| meta.ino() == metas[0].ino()));
    let text = std::io::read_to_string(&files[15]).unwrap();
    assert!(text.len() as u64 == metas[0].len() && text.contains("GPU hang"));
}

#[test]
fn the_tree_lists_them() {
    let (node, _) = support::start();
    for place in PLACES {
        let text = fs::read_to_string(node.directory().join(place)).unwrap();
        assert_eq!(text, NONE);
    }
}

#[test]
fn the_tree_goes_with_its_node() {
    let (node, _) = support::start();
    let tree = node.environment()[1].1.clone();
    assert!(Path::new(&tree).is_dir());
    drop(node);
    assert!(!Path::new(&tree).exists());
}

/// inotify(7): equal events that follow each other are one, others are not.
#[test]
fn a_client_that_writes_without_end_holds_no_others_up() {
    let (node, name) = support::start();
    let writing = Party::new(&name);
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            let mut files = [(); 2].map(|()| open_error_state(&writing.client, 0, true));
            let stop = &stop;
            scope.spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    for file in &mut files {
                        file.rewind().unwrap();
                        file.write_all(b"1").unwrap();
                    }
                }
            });
        }
        drop(writing);
        std::thread::sleep(Duration::from_millis(300));
        // What is closed is noticed by the thread that looks at these files, too.
        drop(Party::new(&name));
        let quiet = node.quiesce(Duration::from_secs(10));
        stop.store(true, Ordering::Relaxed);
        assert!(quiet);
    });
    let party = Party::new(&name);
    let until = std::time::Instant::now() + Duration::from_secs(20);
    hang(&name);
    // The last of the events clear it, and then it stays.
    while !error_state(&party.client, 0).contains("GPU hang") {
        assert!(std::time::Instant::now() < until);
        hang(&name);
    }
}
