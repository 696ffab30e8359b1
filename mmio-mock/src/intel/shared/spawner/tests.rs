//! The messages of the thread spawner, with the descriptors of public kernels.
//!
//! Descriptors: intel-vaapi-driver shaders/h264/ildb/ILDB_header.inc and mc/header.inc. Error word: PRM volume 4, 3.3.11.1.
#![allow(clippy::unwrap_used, reason = "tests")]

use super::*;
use eu::port::FloatMode;
use eu::{Grf, ThreadId};

/// Spawn a child.
const CHILD: u32 = 0x0710_0001;
/// Let a synchronised root thread go.
const ROOT: u32 = 0x0710_0011;
/// The end of a root thread, with its URB entry.
const END: u32 = 0x8710_0000;
/// The end of a root thread that keeps its URB entry.
const END_KEEP: u32 = 0x8710_0010;
/// The end of a child.
const END_CHILD: u32 = 0x8710_0012;

const PARENT: Member = Member {
    family: 5,
    child: false,
    parent: true,
    told: false,
};

/// A header as the kernels make it: descriptor pointer, three further rows behind row 8, dispatch ID 5.
const HEADER: Grf = [4, 0, 0x1230, 0, 3 << 10 | 8, 0x0000_2005, 0x66, 0x77];

fn message(desc: u32, payload: &[Grf]) -> Message<'_> {
    Message {
        thread: ThreadId {
            ffid: 7,
            fftid: 9,
            eu: 6,
            slot: 2,
        },
        sfid: (desc >> 24 & 0xf) as u8,
        function_control: desc as u16,
        desc,
        response_length: (desc >> 16 & 0xf) as u8,
        eot: desc >> 31 != 0,
        exec_mask: 0xff,
        exec_size: 8,
        payload,
        ip: 0,
        float_mode: FloatMode::Ieee,
    }
}

fn spawner(member: Member) -> ThreadSpawner {
    let mut spawner = ThreadSpawner::new(Places {
        eus: 8,
        threads_per_eu: 4,
    });
    spawner.set_rows(0, 64);
    spawner.enter(6, 2, member);
    spawner
}

fn request(desc: u32) -> SpawnerRequest {
    crate::intel::r#gen::gen40::message::spawner(desc as u16)
}

/// Serves a message by its function control.
fn execute(spawner: &mut ThreadSpawner, msg: &Message<'_>) -> Result<Outcome, Reject> {
    spawner.execute(
        crate::intel::r#gen::gen40::message::spawner(msg.function_control),
        msg,
    )
}

fn send(spawner: &mut ThreadSpawner, desc: u32, header: Grf) -> Result<Outcome, Reject> {
    execute(spawner, &message(desc, &[header]))
}

// covers: 1.2-16, 1.2-18, 3.3.11-02
#[test]
fn requests_queue_in_order_with_what_the_message_says() {
    let mut spawner = spawner(PARENT);
    assert_eq!(send(&mut spawner, CHILD, HEADER), Ok(Outcome::Done));
    assert_eq!(send(&mut spawner, ROOT, HEADER), Ok(Outcome::Done));
    let child = Child {
        family: 5,
        descriptor: 0x1230,
        row: 8,
        rows: 4,
        debug: [0x66, 0x77],
    };
    assert_eq!(spawner.wanted(5), 1);
    assert_eq!(spawner.take(), Some(Request::Child(child)));
    assert_eq!(spawner.take(), Some(Request::Root));
    assert_eq!(spawner.take(), None);
}

// covers: 2.6.8-05
#[test]
fn ends_are_told_once() {
    for (desc, member, release) in [
        (END, PARENT, true),
        (END_KEEP, PARENT, false),
        (
            END_CHILD,
            Member {
                child: true,
                ..PARENT
            },
            false,
        ),
    ] {
        let mut spawner = spawner(member);
        assert_eq!(send(&mut spawner, desc, HEADER), Ok(Outcome::Done));
        let farewells: Vec<_> = spawner.farewells().collect();
        let want = Farewell {
            family: 5,
            child: member.child,
            release,
        };
        assert_eq!(farewells, [want]);
        assert_eq!(send(&mut spawner, desc, HEADER), Err(Reject::Twice));
        assert_eq!(
            send(&mut spawner, CHILD | desc & 2, HEADER),
            Err(Reject::Twice)
        );
        let left = spawner.leave(6, 2).unwrap();
        assert!(left.told);
        assert_eq!(send(&mut spawner, desc, HEADER), Err(Reject::Stranger));
    }
}

#[test]
fn a_full_queue_takes_no_more() {
    let mut spawner = spawner(PARENT);
    for _ in 0..QUEUE {
        assert_eq!(send(&mut spawner, CHILD, HEADER), Ok(Outcome::Done));
    }
    assert_eq!(send(&mut spawner, CHILD, HEADER), Ok(Outcome::Busy));
    assert_eq!(send(&mut spawner, ROOT, HEADER), Ok(Outcome::Busy));
    assert_eq!(send(&mut spawner, END, HEADER), Ok(Outcome::Done));
    spawner.take();
    assert_eq!(spawner.waiting(), QUEUE - 1);
}

// covers: 3.4.10-01
#[test]
fn bad_messages_are_refused_and_change_nothing() {
    let with = |dword: usize, value: u32| {
        let mut header = HEADER;
        header[dword] = value;
        header
    };
    let orphan = Member {
        parent: false,
        ..PARENT
    };
    let child = Member {
        child: true,
        ..PARENT
    };
    let cases = [
        (PARENT, CHILD | 1 << 16, HEADER, Reject::Length),
        (PARENT, CHILD | 1 << 2, HEADER, Reject::Reserved),
        (PARENT, CHILD | 1 << 8, HEADER, Reject::Reserved),
        (PARENT, END_CHILD, HEADER, Reject::Requester),
        (child, CHILD, HEADER, Reject::Requester),
        (PARENT, END, with(5, 0x2006), Reject::DispatchId),
        (orphan, CHILD, HEADER, Reject::NoHandle),
        (PARENT, CHILD, with(4, 3 << 10 | 0x3d), Reject::Range),
        (PARENT, CHILD, with(4, 0x3ff), Reject::Range),
    ];
    for (member, desc, header, want) in cases {
        let mut spawner = spawner(member);
        assert_eq!(send(&mut spawner, desc, header), Err(want), "{desc:#x}");
        assert_eq!((spawner.waiting(), spawner.has_news()), (0, false));
        let code = u32::from(want == Reject::Length);
        assert_eq!(want.code(), code);
        assert!(!want.what().is_empty());
    }
    for length in [0, 2] {
        let payload = vec![HEADER; length];
        let result = execute(&mut spawner(PARENT), &message(CHILD, &payload));
        assert_eq!(result, Err(Reject::Length));
    }
}

// covers: 3.3.11-04
#[test]
fn the_error_word_has_sender_handle_and_kind() {
    // Function control 12h, end of thread, FFID 7, EUID 6, TID 2, dispatch ID 5, handle 4 of M0.0.
    let payload = [HEADER];
    let word = error_word(
        request(END_CHILD),
        &message(END_CHILD, &payload),
        Reject::Requester,
    );
    assert_eq!(
        word.0[0],
        0x12 << 27 | 1 << 26 | 7 << 22 | 6 << 18 | 2 << 16 | 5 << 10 | 4 << 1
    );
    // Function control 1, handle 8 of M0.4, bad length.
    let word = error_word(request(CHILD), &message(CHILD, &payload), Reject::Length);
    assert_eq!(
        word.0[0],
        1 << 27 | 7 << 22 | 6 << 18 | 2 << 16 | 5 << 10 | 8 << 1 | 1
    );
}
