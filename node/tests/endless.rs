//! Clients whose work gets on and never ends do not keep others waiting for good.
//!
//! The limits are the driver's own; i915 cancels what a closed context leaves (`kill_context`) and ends a
//! request that lets no heartbeat through. The other client is another process: files of one process are one program.

use std::time::{Duration, Instant};

use driver::TimeLimits;
use kernel::time::Delta;
use node::Node;
use wire::Op;

use crate::support::child::{self, Child, hear};
use crate::support::frame::{Frame, Party};
use crate::support::{Connection, DEVICES, at_most, start_as_is, start_as_is_on};

const PATIENCE: Duration = Duration::from_secs(20);
/// A processor may be somebody else's for a while.
const SOON: Duration = Duration::from_secs(20);
const NEVER: Delta = Delta::from_secs(3600);
/// Files of a process that has several, and children of one.
const FILES: usize = 6;
/// Threads that submit at a time: more than the queue takes.
const CROWD: usize = 48;
/// What a client can submit that never ends, and on which device it is tried.
const KINDS: [(&str, &str); 5] = [
    ("instances", "gm965"),
    ("draws", "g45"),
    ("stores", "ironlake"),
    ("own stores", "sandybridge"),
    ("later draws", "valleyview"),
];

fn endless(device: &str, kind: &str) -> Frame {
    let frame = Frame::read_of(device, "b_flat");
    match kind {
        "instances" => frame.with_instances(1 << 30),
        "draws" | "later draws" => frame.that_draws_for_ever(),
        _ => frame.that_stores_for_ever(),
    }
}

/// The other side of the tests below; nothing where no role is given.
#[test]
fn in_a_child() {
    let Some((role, name, _)) = child::role() else {
        return;
    };
    let parent = std::os::unix::process::parent_id();
    let (_life, _) = Connection::new(&name, Op::Life);
    if role == "crowd" {
        return crowd(&name, parent);
    }
    let (kind, files) = match role.as_str() {
        "files" => (KINDS[0].0, FILES),
        "family" => (KINDS[0].0, 0),
        kind => (kind, 1),
    };
    let device = KINDS.iter().find(|(other, _)| *other == kind).unwrap().1;
    let frame = endless(device, kind);
    let parties: Vec<_> = (0..files).map(|_| Party::new(&name)).collect();
    for party in &parties {
        let handles = party.load(&frame);
        assert_eq!(party.submit(&frame, &handles), 0);
    }
    let children = if role == "family" { FILES } else { 0 };
    let _children: Vec<_> = (0..children).map(|_| Endless::new(&name, kind)).collect();
    println!("\nsubmitted");
    // Until it is killed, or its parent is.
    while std::os::unix::process::parent_id() == parent {
        std::thread::sleep(Duration::from_millis(20));
    }
    // Nobody reads what the test harness says at the end.
    std::process::exit(0);
}

/// Threads that submit one frame after another, each through a file of its own, until the process is killed or its parent is.
fn crowd(name: &str, parent: u32) {
    let frame = Frame::read("b_flat");
    let begun = std::sync::Barrier::new(CROWD);
    std::thread::scope(|scope| {
        for _ in 0..CROWD {
            scope.spawn(|| {
                let party = Party::new(name);
                let handles = party.load(&frame);
                if begun.wait().is_leader() {
                    println!("\nsubmitted");
                }
                while std::os::unix::process::parent_id() == parent {
                    assert_eq!(party.submit(&frame, &handles), 0);
                }
            });
        }
    });
    std::process::exit(0);
}

/// Another process that has submitted work without end; ends with this value.
struct Endless(Child);

impl Endless {
    fn new(name: &str, kind: &str) -> Self {
        let mut child = child::spawn("endless::in_a_child", kind, name, 0);
        hear(&mut child, "submitted");
        Endless(child)
    }
}

impl Drop for Endless {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

fn limits(node: &Node, after_close: Delta, while_others_wait: Delta) {
    node.first().device().set_time_limits(TimeLimits {
        after_close,
        while_others_wait,
    });
}

/// A picture that is drawn while the node is busy with something else.
fn draw(name: &str, frame: &Frame, expected: &[Vec<u8>]) {
    let begun = Instant::now();
    assert!(Party::new(name).draw(frame) == expected);
    let took = begun.elapsed();
    assert!(took < at_most(SOON), "{took:?}");
}

#[test]
fn another_client_gets_its_frame_while_the_first_goes_on() {
    for (kind, device) in KINDS {
        let (node, name) = start_as_is_on(device);
        limits(&node, NEVER, Delta::from_secs(1));
        let frame = Frame::read_of(device, "g_gears");
        let expected = Party::new(&name).draw(&frame);
        let other = Endless::new(&name, kind);
        draw(&name, &frame, &expected);
        assert_eq!(node.report().work.resets, 1, "{kind}");
        let error = node.first().device().take_error_state().unwrap();
        let program = format!(
            "[{}] is ended: it has kept the device for 1 s",
            other.0.id()
        );
        assert!(error.to_string().contains(&program), "{error}");
        drop(other);
        assert!(node.quiesce(PATIENCE));
    }
}

#[test]
fn another_client_gets_its_frame_after_the_first_has_ended() {
    for (kind, device) in KINDS {
        let (node, name) = start_as_is_on(device);
        limits(&node, Delta::from_millis(500), NEVER);
        let frame = Frame::read_of(device, "g_gears");
        let expected = Party::new(&name).draw(&frame);
        drop(Endless::new(&name, kind));
        draw(&name, &frame, &expected);
        assert_eq!(node.report().work.resets, 1, "{kind}");
        assert!(node.first().device().error_state().is_none());
        assert!(node.quiesce(PATIENCE));
    }
}

#[test]
fn a_program_alone_goes_on_for_as_long_as_it_has_its_files() {
    let (node, name) = start_as_is();
    limits(&node, Delta::from_millis(200), Delta::from_millis(100));
    let frame = endless(DEVICES[0], "instances");
    let (first, second) = (Party::new(&name), Party::new(&name));
    for party in [&first, &second] {
        let handles = party.load(&frame);
        assert_eq!(party.submit(&frame, &handles), 0);
    }
    std::thread::sleep(Duration::from_secs(1));
    assert_eq!(node.report().work.resets, 0);
    drop((first, second));
    assert!(node.quiesce(PATIENCE));
    assert_eq!(node.report().work.resets, 1, "of one process");
}

#[test]
fn several_files_of_a_process_keep_others_waiting_no_longer_than_one() {
    let (node, name) = start_as_is();
    limits(&node, NEVER, Delta::from_millis(500));
    let frame = Frame::read("g_gears");
    let expected = Party::new(&name).draw(&frame);
    let other = Endless::new(&name, "files");
    draw(&name, &frame, &expected);
    // The third bans the process, whose further requests are skipped.
    assert_eq!(node.report().work.resets, 3);
    drop(other);
    assert!(node.quiesce(PATIENCE));
}

#[test]
fn several_files_of_a_process_that_ends_are_ended_together() {
    let (node, name) = start_as_is();
    limits(&node, Delta::from_secs(1), NEVER);
    let frame = Frame::read("g_gears");
    let expected = Party::new(&name).draw(&frame);
    drop(Endless::new(&name, "files"));
    draw(&name, &frame, &expected);
    assert_eq!(node.report().work.resets, 1);
    assert!(node.quiesce(PATIENCE));
}

#[test]
fn processes_that_one_has_started_have_shorter_and_shorter_limits() {
    let (node, name) = start_as_is();
    limits(&node, NEVER, Delta::from_secs(1));
    let frame = Frame::read("g_gears");
    let expected = Party::new(&name).draw(&frame);
    let other = Endless::new(&name, "family");
    let mut ends = Vec::new();
    std::thread::scope(|scope| {
        let drawn = scope.spawn(|| draw(&name, &frame, &expected));
        while !drawn.is_finished() {
            let error = node.first().device().take_error_state();
            ends.extend(error.map(|error| error.to_string()));
            std::thread::sleep(Duration::from_millis(1));
        }
    });
    assert_eq!(node.report().work.resets, FILES as u32);
    let of = |text: &str| ends.iter().filter(|end| end.contains(text)).count();
    assert!(of("it has kept the device for 1 s") <= 3, "{ends:?}");
    // On a busy host an end may come before the state of the one before has been taken, and leaves none.
    let missed = FILES - ends.len();
    assert!(
        of("the program and those that belong to it") + missed > 0,
        "{ends:?}"
    );
    drop(other);
    assert!(node.quiesce(PATIENCE));
}

#[test]
fn many_threads_that_submit_keep_nobody_waiting_and_nothing_when_they_are_killed() {
    let (node, name) = start_as_is();
    let frame = Frame::read("g_gears");
    let expected = Party::new(&name).draw(&frame);
    for _ in 0..2 {
        let crowd = Endless::new(&name, "crowd");
        for _ in 0..3 {
            draw(&name, &frame, &expected);
        }
        // Most of its threads are in the line.
        drop(crowd);
        draw(&name, &frame, &expected);
    }
    assert_eq!(node.report().work.resets, 0);
    assert!(node.quiesce(PATIENCE));
}
