//! Error files: cleared by any write, never two states for one reader.
//!
//! What Linux does: i915 i915_sysfs.c, `error_state_read` and `error_state_write`.

use crate::support;

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use wire::{Head, Op};

use crate::support::frame::Party;

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

fn refresh(party: &Party) {
    let answer = party.client.call(&Head::new(Op::Refresh, 0, [0; 3]), &[]);
    assert_eq!(answer.reply.result, 0);
}

#[test]
fn a_write_clears_at_once_and_a_reader_sees_one_state() {
    let (node, name) = support::start();
    let environment = node.environment();
    let tree = Path::new(&environment[1].1);
    let party = Party::new(&name);
    let read = |place: &str| {
        refresh(&party);
        fs::read_to_string(tree.join(place)).unwrap()
    };
    for place in PLACES {
        assert_eq!(read(place), NONE);
    }
    for length in [1, 2, NONE.len(), 70_000] {
        hang(&name);
        let state = read(PLACES[0]);
        assert!(state.len() > 1000 && state.contains("GPU hang"), "{state}");
        for place in PLACES {
            assert_eq!(read(place), state);
        }
        // The first stays, as long as nobody clears it.
        hang(&name);
        assert_eq!(read(PLACES[1]), state);
        let mut reader = File::open(tree.join(PLACES[0])).unwrap();
        let mut begun = vec![0; 100];
        reader.read_exact(&mut begun).unwrap();
        let sink = tree.join(format!("{}0", wire::env::WRITTEN));
        let mut writer = File::options().write(true).open(sink).unwrap();
        writer.write_all(&vec![b'1'; length]).unwrap();
        for place in PLACES {
            assert_eq!(read(place), NONE);
        }
        // The next state is another; the reader goes on with the one that it began with.
        hang(&name);
        assert_ne!(read(PLACES[0]), state);
        reader.read_to_end(&mut begun).unwrap();
        assert_eq!(String::from_utf8(begun).unwrap(), state);
        // Also who writes to the file itself, through a descriptor to read and write.
        let mut both = File::options()
            .write(true)
            .open(tree.join(PLACES[2]))
            .unwrap();
        both.write_all(b"x").unwrap();
        assert_eq!(read(PLACES[2]), NONE);
        assert_eq!(
            fs::metadata(tree.join(format!("{}0", wire::env::WRITTEN)))
                .unwrap()
                .len(),
            0
        );
    }
}

/// Runs a request that must not wait for what lies in the tree; a FIFO that it waits for is opened then, so that the test
/// ends.
fn in_time(party: Party, fifo: &Path, run: fn(&Party)) -> Party {
    let (done, wait) = std::sync::mpsc::channel();
    let thread = std::thread::spawn(move || {
        run(&party);
        let _ = done.send(());
        party
    });
    // TIMEOUT: the request takes some milliseconds.
    let in_time = wait.recv_timeout(std::time::Duration::from_secs(10));
    let ends = (in_time.is_err()).then(|| File::options().read(true).write(true).open(fifo));
    let party = thread.join().unwrap();
    drop(ends);
    assert!(in_time.is_ok(), "a FIFO keeps the node waiting");
    party
}

/// The tree is the clients' to write.
#[test]
fn fifos_and_links_in_the_tree_keep_nobody_waiting() {
    use nix::sys::stat::Mode;
    let (node, name) = support::start();
    let environment = node.environment();
    let tree = Path::new(&environment[1].1);
    let party = Party::new(&name);
    refresh(&party);
    // Where the next state is written first.
    let fifo = tree.join("new0");
    nix::unistd::mkfifo(&fifo, Mode::S_IRWXU).unwrap();
    hang(&name);
    let party = in_time(party, &fifo, refresh);
    let read = |place: &str| fs::read_to_string(tree.join(place)).unwrap();
    for place in PLACES {
        assert!(read(place).contains("GPU hang"));
    }
    // A link there leads nowhere.
    let elsewhere = tree.join("elsewhere");
    std::os::unix::fs::symlink(&elsewhere, &fifo).unwrap();
    let mut writer = File::options()
        .write(true)
        .open(tree.join(PLACES[0]))
        .unwrap();
    writer.write_all(b"1").unwrap();
    refresh(&party);
    assert!(PLACES.iter().all(|place| read(place) == NONE) && !elsewhere.exists());
    // In place of the file that is written to clear the state, which is still written.
    let sink = tree.join(format!("{}0", wire::env::WRITTEN));
    let mut writer = File::options().write(true).open(&sink).unwrap();
    fs::remove_file(&sink).unwrap();
    nix::unistd::mkfifo(&sink, Mode::S_IRWXU).unwrap();
    writer.write_all(b"1").unwrap();
    let party = in_time(party, &sink, refresh);
    drop(party);
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
    let tree = Path::new(&node.environment()[1].1).to_owned();
    let sink = format!("{}0", wire::env::WRITTEN);
    let places = [sink.as_str(), PLACES[0]];
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let open = |place| File::options().append(true).open(tree.join(place)).unwrap();
                let mut files = places.map(open);
                while !stop.load(Ordering::Relaxed) {
                    for file in &mut files {
                        file.write_all(b"1").unwrap();
                    }
                }
            });
        }
        std::thread::sleep(Duration::from_millis(300));
        // What is closed is noticed by the thread that looks at these files, too.
        drop(Party::new(&name));
        let quiet = node.quiesce(Duration::from_secs(10));
        stop.store(true, Ordering::Relaxed);
        assert!(quiet);
    });
    let party = Party::new(&name);
    hang(&name);
    refresh(&party);
    let shown = || fs::read_to_string(tree.join(PLACES[1])).unwrap();
    let until = std::time::Instant::now() + Duration::from_secs(20);
    // The last of the events clear it, and then it stays.
    while !shown().contains("GPU hang") {
        assert!(std::time::Instant::now() < until);
        hang(&name);
        refresh(&party);
    }
}
