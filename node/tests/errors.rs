//! Error files: cleared by any write, never two states for one reader.
//!
//! No PRM chapter. What Linux does: i915 i915_sysfs.c, `error_state_read` and `error_state_write`.

use crate::support;

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::path::Path;

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
        let sink = tree.join(wire::env::WRITTEN);
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
            fs::metadata(tree.join(wire::env::WRITTEN)).unwrap().len(),
            0
        );
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
