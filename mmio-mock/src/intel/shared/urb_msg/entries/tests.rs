//! Messages with a place in each of two entries: masks, offsets, reads, ends.
//!
//! Orders of dwords are those of PRM 8.4.3.2; offsets and masks those of Mesa 22.3.6 brw_vec4_generator.cpp.

use super::*;
use eu::ThreadId;
use eu::port::FloatMode;

const ROWS: EntryRequest = EntryRequest {
    op: Some(EntryOp::Write(Step::Row)),
    offset: 0,
    interleaved: true,
    per_slot: false,
    complete: false,
};

const fn of(op: EntryOp) -> EntryRequest {
    EntryRequest {
        op: Some(op),
        ..ROWS
    }
}

/// Register `m` of a payload in which every dword names its place as m * 16 + dword.
fn numbered(m: u32) -> Grf {
    std::array::from_fn(|dword| m * 16 + dword as u32)
}

/// Handles 8 and 16, offsets 1 and 3 of their own, all channels.
const HEADER: Grf = [8, 16, 0x0005_0007, 1, 3, 0xff42, 0, 0];

struct Sent {
    urb: Urb,
    events: Events,
    result: Result<(), Reject>,
    response: Vec<Grf>,
}

impl Sent {
    fn row(&self, row: u16) -> Grf {
        *self.urb.row(UrbHandle(row), 0).unwrap()
    }
}

fn send(request: EntryRequest, payload: &[Grf], (mask, eot, length): (u16, bool, usize)) -> Sent {
    let mut urb = Urb::new();
    for row in 0..64 {
        *urb.row_mut(UrbHandle(row), 0).unwrap() = [u32::from(row) + 1000; 8];
    }
    let msg = Message {
        thread: ThreadId {
            ffid: Unit::Gs.ffid(),
            ..ThreadId::default()
        },
        sfid: 6,
        function_control: 0,
        desc: 0,
        response_length: length as u8,
        eot,
        exec_mask: mask,
        exec_size: 8,
        payload,
        ip: 0,
        float_mode: FloatMode::Ieee,
    };
    let mut events = Events::default();
    let mut response = vec![[9; 8]; length];
    let result = execute(request, &msg, &mut response, &mut urb, &mut events);
    Sent {
        urb,
        events,
        result,
        response,
    }
}

#[test]
fn rows_of_two_entries_are_interleaved() {
    let request = EntryRequest {
        offset: 2,
        per_slot: true,
        ..ROWS
    };
    let payload = [HEADER, numbered(1), numbered(2), numbered(3)];
    let sent = send(request, &payload, (0xff, false, 0));
    assert_eq!(sent.result, Ok(()));
    assert_eq!(sent.row(8 + 3), [16, 17, 18, 19, 32, 33, 34, 35]);
    assert_eq!(sent.row(16 + 5), [20, 21, 22, 23, 36, 37, 38, 39]);
    // Three registers: half a row at the end.
    assert_eq!(sent.row(8 + 4), [48, 49, 50, 51, 1012, 1012, 1012, 1012]);
    assert!(sent.events.urb.is_empty());
}

/// The cut bits of a captured geometry shader: one OWord of each entry.
#[test]
fn offsets_of_halves_count_128_bits() {
    let request = EntryRequest {
        offset: 0,
        per_slot: true,
        ..of(EntryOp::Write(Step::Half))
    };
    let mut header = HEADER;
    // Dword 2 of the first entry's OWord, dword 0 of the second's.
    header[5] = 0x1400;
    let sent = send(request, &[header, numbered(1)], (0xff, false, 0));
    assert_eq!(sent.row(8), [1008, 1008, 1008, 1008, 1008, 1008, 18, 1008]);
    assert_eq!(sent.row(17), [1017, 1017, 1017, 1017, 20, 1017, 1017, 1017]);
}

#[test]
fn channels_that_are_off_write_nothing() {
    let sent = send(ROWS, &[HEADER, numbered(1), numbered(2)], (0x0f, false, 0));
    assert_eq!(sent.row(8), [16, 17, 18, 19, 32, 33, 34, 35]);
    assert_eq!(sent.row(16), [1016; 8]);
    let mut header = HEADER;
    header[5] = 0;
    let sent = send(ROWS, &[header, numbered(1), numbered(2)], (0xff, false, 0));
    assert_eq!(sent.row(8), [1008; 8]);
}

#[test]
fn registers_go_to_one_entry_where_they_are_not_interleaved() {
    let whole = EntryRequest {
        interleaved: false,
        ..ROWS
    };
    let sent = send(whole, &[HEADER, numbered(1), numbered(2)], (0xff, false, 0));
    assert_eq!((sent.row(8), sent.row(9)), (numbered(1), numbered(2)));
    assert_eq!(sent.row(16), [1016; 8]);
    // The end of Mesa's hull shaders: dword 0 of an OWord.
    let mut header = HEADER;
    header[5] = 0x100;
    let half = EntryRequest {
        op: Some(EntryOp::Write(Step::Half)),
        ..whole
    };
    let sent = send(half, &[header, [0; 8]], (0xff, true, 0));
    assert_eq!(sent.row(8), [0, 1008, 1008, 1008, 1008, 1008, 1008, 1008]);
}

#[test]
fn a_read_has_a_half_of_each_entry() {
    let request = EntryRequest {
        offset: 1,
        per_slot: true,
        ..of(EntryOp::Read(Step::Half))
    };
    let sent = send(request, &[HEADER], (0x3f, false, 1));
    // Units of 128 bits: 1 + 1 from row 8 on, 1 + 3 from row 16 on; two channels are off.
    assert_eq!(sent.response, [[1009, 1009, 1009, 1009, 1018, 1018, 9, 9]]);
    let rows = EntryRequest {
        interleaved: false,
        ..of(EntryOp::Read(Step::Row))
    };
    let sent = send(rows, &[HEADER], (0xff, false, 2));
    assert_eq!(sent.response, [[1008; 8], [1009; 8]]);
}

/// `generate_gs_set_vertex_count`: words 4 and 5 of the header.
/// piglit's tes-patch-input-array-float-index-rd reads `m2[index - 16]` behind a descriptor's offset of 18 whatever `index` is.
#[test]
fn an_entrys_offset_may_be_negative_and_reads_past_the_end_are_zero() {
    let request = EntryRequest {
        offset: 18,
        per_slot: true,
        ..of(EntryOp::Read(Step::Half))
    };
    let mut header = HEADER;
    (header[3], header[4]) = (-16i32 as u32, 1 << 20);
    let sent = send(request, &[header], (0xff, false, 1));
    assert_eq!(sent.result, Ok(()));
    // The first entry begins at row 8: 128 bits with number 2 are the low half of row 9.
    assert_eq!(sent.response[0][..4], [1009; 4]);
    assert_eq!(sent.response[0][4..], [0; 4]);
    // A write there is refused.
    let request = EntryRequest {
        op: Some(EntryOp::Write(Step::Half)),
        ..request
    };
    let sent = send(request, &[header, numbered(1)], (0xff, false, 0));
    assert_eq!(sent.result, Err(Reject::Range));
}

#[test]
fn the_last_message_has_the_numbers_of_vertices() {
    let sent = send(ROWS, &[HEADER], (0xff, true, 0));
    let [event] = sent.events.urb[..] else {
        panic!("one event");
    };
    assert!(event.eot);
    assert_eq!((event.counts, event.fftid), ([7, 5], 0x42));
    assert_eq!((event.entry.handle, event.second.unwrap().handle), (8, 16));
}

#[test]
fn atomics_work_on_dwords_and_answer_what_was_there() {
    let place = EntryRequest {
        offset: 3,
        per_slot: true,
        ..of(EntryOp::Increment)
    };
    let sent = send(place, &[HEADER], (0xff, false, 1));
    assert_eq!(sent.row(8)[3..6], [1008, 1009, 1008]);
    assert_eq!(sent.response[0][0], 1008);
    let place = EntryRequest {
        op: Some(EntryOp::Move),
        ..place
    };
    let sent = send(place, &[HEADER, numbered(1)], (0xff, false, 0));
    assert_eq!(sent.row(8)[3..6], [1008, 16, 1008]);
}

#[test]
fn messages_past_the_end_and_reserved_ones_are_refused() {
    let mut header = HEADER;
    header[3] = 1 << 20;
    let far = EntryRequest {
        offset: 2047,
        per_slot: true,
        ..ROWS
    };
    for op in [
        EntryOp::Write(Step::Row),
        EntryOp::Write(Step::Half),
        EntryOp::Increment,
    ] {
        let request = EntryRequest {
            op: Some(op),
            ..far
        };
        let sent = send(request, &[header, numbered(1)], (0xff, false, 1));
        assert_eq!(sent.result, Err(Reject::Range), "{op:?}");
        assert_eq!(sent.response, [[9; 8]]);
    }
    // The second entry's half is off: its place may be anything.
    let mut header = HEADER;
    header[4] = u32::MAX;
    let sent = send(
        EntryRequest {
            per_slot: true,
            ..ROWS
        },
        &[header, numbered(1)],
        (0x0f, false, 0),
    );
    assert_eq!(sent.result, Ok(()));
    let reserved = EntryRequest { op: None, ..ROWS };
    let sent = send(reserved, &[HEADER], (0xff, false, 0));
    assert_eq!(sent.result, Err(Reject::Opcode));
    assert_eq!(
        send(ROWS, &[], (0xff, false, 0)).result,
        Err(Reject::Length)
    );
}
