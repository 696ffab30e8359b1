//! What frames and clients leave behind: nothing.
//!
//! A program of its own, as the threads of other tests would count.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod support;

use std::time::Duration;

use node::{Node, Options};

use support::frame::{Frame, Party};

/// Bytes of this process that are in memory (proc(5): statm counts pages).
fn resident() -> u64 {
    if std::env::var_os("CRESTLINE_SANITIZER").is_some() {
        println!("skipped: a sanitizer keeps freed memory, which would count");
        return 0;
    }
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    text.split(' ').nth(1).unwrap().parse::<u64>().unwrap() * 4096
}

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").unwrap().count()
}

#[test]
fn three_hundred_frames_leave_nothing() {
    let device = mmio_mock::intel::r#gen::find("gm965").unwrap();
    let node = Node::start(&Options {
        memory: 64 << 20,
        ..Options::new(device)
    })
    .unwrap();
    let name = node.environment()[0].1.to_str().unwrap().to_owned();
    let frame = Frame::read("d_tex_nearest");
    let patience = Duration::from_secs(20);
    let begin = (
        node.first().platform().allocated_pages(),
        node.first().device().ggtt().bound(),
    );
    let fds = descriptors();
    let party = Party::new(&name);
    let expected = party.draw(&frame);
    for _ in 0..20 {
        party.draw(&frame);
    }
    let held = (
        node.first().platform().allocated_pages(),
        node.first().device().ggtt().bound(),
    );
    let before = resident();
    for number in 0..300 {
        assert!(party.draw(&frame) == expected, "frame {number}");
    }
    let grown = resident().saturating_sub(before);
    println!("{grown} bytes more after 300 frames");
    assert!(grown < 4 << 20, "{grown} bytes more");
    assert_eq!(
        (
            node.first().platform().allocated_pages(),
            node.first().device().ggtt().bound()
        ),
        held
    );
    // A file that is closed with all its objects.
    let kept: Vec<_> = (0..4).map(|_| party.load(&frame)).collect();
    assert!(
        kept.iter()
            .all(|handles| party.submit(&frame, handles) == 0)
    );
    drop(party);
    assert!(node.quiesce(patience));
    // Two hundred clients that come and go.
    for _ in 0..20 {
        drop(Party::new(&name));
    }
    assert!(node.quiesce(patience));
    let threads_before = threads();
    let before = resident();
    for _ in 0..200 {
        let party = Party::new(&name);
        let handle = party.create(1 << 20);
        party.write(handle, &[1; 4096]);
    }
    assert!(node.quiesce(patience));
    let until = std::time::Instant::now() + patience;
    while threads() > threads_before || descriptors() > fds {
        assert!(
            std::time::Instant::now() < until,
            "threads or descriptors stay"
        );
        std::thread::sleep(Duration::from_millis(1));
    }
    let grown = resident().saturating_sub(before);
    println!("{grown} bytes more after 200 clients");
    assert!(grown < 8 << 20, "{grown} bytes more");
    let end = (
        node.first().platform().allocated_pages(),
        node.first().device().ggtt().bound(),
    );
    // The images of the driver's context and of the last client's, in which the engine stays.
    assert_eq!(end, (begin.0 + 2, begin.1 + 2));
}
