//! URB_WRITE against the layout tables of PRM 8.4.3.2.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use super::*;
use eu::ThreadId;
use eu::port::FloatMode;

/// Sends a message of a GS thread.
fn send(
    control: u16,
    mask: u16,
    eot: bool,
    payload: &[Grf],
    urb: &mut Urb,
    events: &mut Events,
) -> (Result<Outcome, Reject>, Grf) {
    let msg = Message {
        thread: ThreadId {
            ffid: Unit::Gs.ffid(),
            ..ThreadId::default()
        },
        sfid: 6,
        function_control: control,
        desc: u32::from(control),
        response_length: 1,
        eot,
        exec_mask: mask,
        exec_size: 8,
        payload,
        ip: 0,
        float_mode: FloatMode::Ieee,
    };
    let mut response = [[9; 8]];
    let result = execute(&msg, &mut response, urb, events);
    (result, response[0])
}

/// Serves a message of a 3D thread by its function control.
fn execute(
    msg: &Message<'_>,
    response: &mut [Grf],
    urb: &mut Urb,
    events: &mut Events,
) -> Result<Outcome, Reject> {
    let request = crate::intel::r#gen::gen40::message::urb(msg.function_control);
    super::execute(request, 1, msg, response, urb, events)
}

/// Register `m` of a payload in which every dword names its place as m * 16 + dword.
fn numbered(m: u32) -> Grf {
    std::array::from_fn(|dword| m * 16 + dword as u32)
}

fn header(handle0: u32, handle1: u32) -> Grf {
    [
        0x00aa_0000 | handle0,
        0x00bb_0000 | handle1,
        0b10110 << 2 | 0b11,
        0,
        0,
        0x42,
        0,
        0,
    ]
}

// covers: 8.4.2-06, 8.4.3.1-01, 8.4.3.1-02, 8.4.3.1-04, 8.4.3.2-02, 8.4.3.2-03, 8.1-02, S-0007, S-0091, S-0092
#[test]
fn no_swizzle_writes_rows_in_order_whatever_the_mask() {
    let (mut urb, mut events) = (Urb::new(), Events::default());
    let payload = [header(20, 0), numbered(1), numbered(2)];
    let (result, _) = send(0xc000 | 3 << 4, 0, false, &payload, &mut urb, &mut events);
    assert_eq!(result, Ok(Outcome::Done));
    assert_eq!(urb.row(UrbHandle(20), 3), Some(&numbered(1)));
    assert_eq!(urb.row(UrbHandle(20), 4), Some(&numbered(2)));
    let event = events.urb[0];
    assert_eq!(
        (event.entry, event.second, event.fftid),
        (
            MessageHandle {
                id: 0xaa,
                handle: 20
            },
            None,
            0x42
        )
    );
    assert!(event.complete && event.used && event.prim_start && event.prim_end);
    assert_eq!(event.prim_type, 0b10110);
}

// covers: 8.4.2-06, 8.4.3.1-03, 8.4.3.2-04, S-0006, S-0080, S-0089, S-0093
#[test]
fn interleaved_separates_two_vertices() {
    let (mut urb, mut events) = (Urb::new(), Events::default());
    let payload = [
        header(8, 16),
        numbered(1),
        numbered(2),
        numbered(3),
        numbered(4),
    ];
    send(
        1 << 10 | 1 << 4,
        0xff,
        false,
        &payload,
        &mut urb,
        &mut events,
    )
    .0
    .unwrap();
    // Vertex data [0..3] of vertex 0 is M1.3:0, [4..7] is M2.3:0; vertex 1 has the high halves.
    assert_eq!(
        urb.row(UrbHandle(8), 1),
        Some(&[16, 17, 18, 19, 32, 33, 34, 35])
    );
    assert_eq!(
        urb.row(UrbHandle(8), 2),
        Some(&[48, 49, 50, 51, 64, 65, 66, 67])
    );
    assert_eq!(
        urb.row(UrbHandle(16), 1),
        Some(&[20, 21, 22, 23, 36, 37, 38, 39])
    );
    assert_eq!(
        events.urb[0].second,
        Some(MessageHandle {
            id: 0xbb,
            handle: 16
        })
    );
    assert!(!events.urb[0].complete && !events.urb[0].used);
    assert_eq!(events.urb[0].prim_type, 0, "primitive fields need Complete");
}

// covers: 8.4.1-01, 8.4.3.2-05
#[test]
fn interleaved_obeys_channel_enables() {
    let (mut urb, mut events) = (Urb::new(), Events::default());
    let payload = [header(8, 16), numbered(1), numbered(2)];
    send(1 << 10, 0b0010_0001, false, &payload, &mut urb, &mut events)
        .0
        .unwrap();
    assert_eq!(urb.row(UrbHandle(8), 0), Some(&[16, 0, 0, 0, 32, 0, 0, 0]));
    assert_eq!(urb.row(UrbHandle(16), 0), Some(&[0, 21, 0, 0, 0, 37, 0, 0]));
}

#[test]
fn a_lone_vertex_needs_no_second_handle() {
    let (mut urb, mut events) = (Urb::new(), Events::default());
    let payload = [header(8, 0xffff), numbered(1), numbered(2)];
    let (result, _) = send(1 << 10, 0x0f, false, &payload, &mut urb, &mut events);
    assert_eq!(result, Ok(Outcome::Done));
    assert_eq!(
        urb.row(UrbHandle(8), 0),
        Some(&[16, 17, 18, 19, 32, 33, 34, 35])
    );
}

// covers: 11.2-02, 8.4.2-06, 8.4.3.2-06, 8.4.3.2-08, 8.4.3.2-09
#[test]
fn transpose_follows_table_8_2() {
    let (mut urb, mut events) = (Urb::new(), Events::default());
    let mut payload = vec![header(4, 0)];
    payload.extend((1..=6).map(numbered));
    send(2 << 10 | 2 << 4, 0, false, &payload, &mut urb, &mut events)
        .0
        .unwrap();
    let m = |register: u32, dword: u32| register * 16 + dword;
    for row in 0..8u32 {
        let base = row / 4 * 3;
        let (low, high) = (row % 4 * 2, row % 4 * 2 + 1);
        let want = [
            m(base + 1, low),
            m(base + 2, low),
            0,
            m(base + 3, low),
            m(base + 1, high),
            m(base + 2, high),
            0,
            m(base + 3, high),
        ];
        assert_eq!(
            urb.row(UrbHandle(4), 2 + row as u16),
            Some(&want),
            "row n+{row}"
        );
    }
}

// covers: 8.4.2-04, 8.4.3.3-01, 8.4.3.3-02, S-0088
#[test]
fn allocation_returns_a_handle_or_waits() {
    let (mut urb, mut events) = (Urb::new(), Events::default());
    let entry = MessageHandle { id: 5, handle: 32 };
    events.free.push(entry);
    let payload = [header(0, 0)];
    let (result, w) = send(1 << 13, 0xff, false, &payload, &mut urb, &mut events);
    assert_eq!(result, Ok(Outcome::Done));
    assert_eq!(w, [5 << 16 | 32, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(events.urb[0].allocated, Some(entry));
    let (result, w) = send(1 << 13, 0xff, false, &payload, &mut urb, &mut events);
    assert_eq!((result, w), (Ok(Outcome::Busy), [9; 8]));
    assert_eq!(events.urb.len(), 1, "a message that waits has no effect");
}

// covers: 8.4.2-06, 8.4.2-10
#[test]
fn invalid_messages_have_no_effect() {
    let (mut urb, mut events) = (Urb::new(), Events::default());
    let row = numbered(1);
    let cases = [
        (0x1, false, vec![header(0, 0), row], Reject::Opcode),
        (3 << 10, false, vec![header(0, 0), row], Reject::Swizzle),
        (2 << 10, false, vec![header(0, 0), row], Reject::Length),
        (0, false, vec![], Reject::Length),
        (1 << 13, true, vec![header(0, 0)], Reject::AllocateAtEot),
        (0, false, vec![header(511, 0), row, row], Reject::Range),
        (0, false, vec![header(0xffff, 0), row], Reject::Range),
        (
            1 << 10,
            false,
            vec![header(0, 511), row, row, row],
            Reject::Range,
        ),
    ];
    for (control, eot, payload, want) in cases {
        let (result, _) = send(control, 0xff, eot, &payload, &mut urb, &mut events);
        assert_eq!(result, Err(want), "control {control:#x}");
    }
    assert!(events.urb.is_empty());
    assert!((0..512).all(|r| urb.row(UrbHandle(r), 0) == Some(&[0; 8])));
}

mod modes;
mod sync;
