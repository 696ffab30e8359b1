//! Descriptor bits of URB_WRITE, one by one.
//!
//! PRM: volume 4, 8.1, 8.4.

use super::*;
use crate::intel::status::Unit;

const COMPLETE: u16 = 1 << 15;
const USED: u16 = 1 << 14;
const ALLOCATE: u16 = 1 << 13;
const INTERLEAVED: u16 = 1 << 10;
const TRANSPOSE: u16 = 2 << 10;

/// All rows.
fn contents(urb: &Urb) -> Vec<Grf> {
    (0..512)
        .map(|row| *urb.row(UrbHandle(row), 0).unwrap())
        .collect()
}

/// The table of combinations: only Allocate with EOT is invalid.
// covers: 8.4.2-09, 8.4.2-10, 8.4.2-01, 8.4.2-02, S-0086, S-0087
#[test]
fn combinations_of_complete_used_allocate_and_end() {
    for bits in 0..16u16 {
        let control = bits << 12 & (COMPLETE | USED | ALLOCATE);
        let end = bits & 1 != 0;
        let (mut urb, mut events) = (Urb::new(), Events::default());
        events.free.push(MessageHandle { id: 5, handle: 64 });
        let payload = [header(20, 0), numbered(1)];
        let (result, _) = send(control, 0xff, end, &payload, &mut urb, &mut events);
        if control & ALLOCATE != 0 && end {
            assert_eq!(result, Err(Reject::AllocateAtEot));
            continue;
        }
        assert_eq!(result, Ok(Outcome::Done), "{bits:04b}");
        // The bits are for who listens; the data are written all the same.
        let mut want = vec![[0; 8]; 512];
        want[20] = numbered(1);
        assert_eq!(contents(&urb), want, "{bits:04b}");
        let event = events.urb[0];
        let complete = control & COMPLETE != 0;
        assert_eq!(event.complete, complete);
        assert_eq!(event.used, complete && control & USED != 0);
        assert_eq!(event.allocated.is_some(), control & ALLOCATE != 0);
        assert_eq!(event.eot, end);
        let prim = (event.prim_type, event.prim_start, event.prim_end);
        let want = if complete {
            (0b10110, true, true)
        } else {
            (0, false, false)
        };
        assert_eq!(prim, want, "{bits:04b}");
    }
}

// covers: 8.4.2-05
#[test]
fn bit_12_is_ignored() {
    for control in [0, INTERLEAVED, TRANSPOSE] {
        let rows = [false, true].map(|set| {
            let (mut urb, mut events) = (Urb::new(), Events::default());
            let payload = [header(4, 12), numbered(1), numbered(2), numbered(3)];
            let control = control | u16::from(set) << 12;
            let sent = send(control, 0xff, false, &payload, &mut urb, &mut events);
            assert_eq!(sent.0, Ok(Outcome::Done));
            (contents(&urb), events.urb)
        });
        assert_eq!(rows[0], rows[1]);
    }
}

/// Offsets count rows from each handle; transposed data begin at an even one.
// covers: 8.4.2-07, 8.1-02, S-0078, S-0090
#[test]
fn offsets_count_rows() {
    for offset in 0..64u16 {
        let (mut urb, mut events) = (Urb::new(), Events::default());
        let mut send = |control: u16, payload: &[Grf]| {
            let control = control | offset << 4;
            send(control, 0xff, false, payload, &mut urb, &mut events).0
        };
        let one = [header(100, 300), numbered(1), numbered(2), numbered(3)];
        assert_eq!(send(INTERLEAVED, &one[..3]), Ok(Outcome::Done));
        let plain = [header(200, 0), numbered(4)];
        assert_eq!(send(0, &plain), Ok(Outcome::Done));
        let mut third = one;
        third[0] = header(400, 0);
        let even = offset % 2 == 0;
        let want = if even {
            Ok(Outcome::Done)
        } else {
            Err(Reject::Alignment)
        };
        assert_eq!(send(TRANSPOSE, &third), want, "offset {offset}");
        let at = usize::from(offset);
        let mut want = vec![[0; 8]; 512];
        want[100 + at] = [16, 17, 18, 19, 32, 33, 34, 35];
        want[300 + at] = [20, 21, 22, 23, 36, 37, 38, 39];
        want[200 + at] = numbered(4);
        if even {
            for row in 0..4u32 {
                let n = row * 2;
                want[400 + at + row as usize] =
                    [16 + n, 32 + n, 0, 48 + n, 17 + n, 33 + n, 0, 49 + n];
            }
        }
        assert_eq!(contents(&urb), want, "offset {offset}");
    }
}

// covers: 8.4.3.2-07
#[test]
fn transposed_rows_come_in_threes() {
    for length in 0..13 {
        for mask in [0, 0xff] {
            let (mut urb, mut events) = (Urb::new(), Events::default());
            let mut payload = vec![header(4, 0)];
            payload.extend((1..=length).map(numbered));
            let (result, _) = send(TRANSPOSE, mask, false, &payload, &mut urb, &mut events);
            if length % 3 != 0 {
                assert_eq!(result, Err(Reject::Length), "{length} rows");
                continue;
            }
            assert_eq!(result, Ok(Outcome::Done), "{length} rows");
            let written = contents(&urb).iter().filter(|row| **row != [0; 8]).count();
            assert_eq!(written as u32, length / 3 * 4, "mask {mask:#x}");
        }
    }
}

// covers: 8.4.2-08, 8.4-01, 8.2-03, S-0085
#[test]
fn there_is_nothing_but_writing() {
    for opcode in 0..16 {
        let (mut urb, mut events) = (Urb::new(), Events::default());
        let payload = [header(4, 0), numbered(1)];
        let (result, w) = send(opcode, 0xff, false, &payload, &mut urb, &mut events);
        let want = if opcode == 0 {
            Ok(Outcome::Done)
        } else {
            Err(Reject::Opcode)
        };
        assert_eq!(result, want, "opcode {opcode}");
        assert_eq!(w, [9; 8], "nothing comes back");
        // Who listens hears of writes alone.
        assert_eq!(events.urb.len(), usize::from(opcode == 0));
    }
}

// covers: 8.4-02
#[test]
fn threads_of_four_units_may_end_here() {
    let units = [
        (Unit::Vs, true),
        (Unit::Gs, true),
        (Unit::Clip, true),
        (Unit::Sf, true),
        (Unit::Wiz, false),
        (Unit::Media, false),
    ];
    for (unit, allowed) in units {
        for eot in [false, true] {
            let (mut urb, mut events) = (Urb::new(), Events::default());
            let payload = [header(4, 0), numbered(1)];
            let thread = ThreadId {
                ffid: unit.ffid(),
                ..ThreadId::default()
            };
            let msg = Message {
                thread,
                sfid: 6,
                function_control: COMPLETE | USED,
                desc: 0,
                response_length: 0,
                eot,
                exec_mask: 0xff,
                exec_size: 8,
                payload: &payload,
                ip: 0,
                float_mode: FloatMode::Ieee,
            };
            let result = execute(&msg, &mut [], &mut urb, &mut events);
            let want = if allowed || !eot {
                Ok(Outcome::Done)
            } else {
                Err(Reject::Eot)
            };
            assert_eq!(result, want, "{unit:?}");
        }
    }
}

/// 512 rows of eight dwords: 16 KB, of which any row can be the first of an entry.
// covers: 8.1-01
#[test]
fn the_buffer_has_512_rows() {
    let (mut urb, mut events) = (Urb::new(), Events::default());
    for row in 0..600 {
        let payload = [header(row, 0), numbered(row)];
        let (result, _) = send(0, 0xff, false, &payload, &mut urb, &mut events);
        let want = if row < 512 {
            Ok(Outcome::Done)
        } else {
            Err(Reject::Range)
        };
        assert_eq!(result, want, "row {row}");
    }
    let want: Vec<Grf> = (0..512).map(numbered).collect();
    assert_eq!(contents(&urb), want);
    assert_eq!(want.as_flattened().len() * 4, 16 << 10);
}

/// What a message does is in it: writes before it change nothing about it.
// covers: 8.3-01
#[test]
fn messages_do_not_depend_on_earlier_ones() {
    let probe = [header(8, 16), numbered(7), numbered(8)];
    let outcomes = [false, true].map(|busy| {
        let (mut urb, mut events) = (Urb::new(), Events::default());
        if busy {
            let payload = [header(40, 80), numbered(1), numbered(2), numbered(3)];
            for control in [COMPLETE | USED, INTERLEAVED | 5 << 4, TRANSPOSE, 3] {
                let _ = send(control, 0x5a, false, &payload, &mut urb, &mut events);
            }
            events.urb.clear();
        }
        let sent = send(INTERLEAVED, 0xff, false, &probe, &mut urb, &mut events);
        (sent, contents(&urb)[8..20].to_vec(), events.urb)
    });
    assert_eq!(outcomes[0], outcomes[1]);
}

/// Who may say of a complete entry that it is no output.
// covers: 8.4.2-03
#[test]
fn unused_entries_are_for_gs_and_clipper() {
    let units = [
        (Unit::Vs, false),
        (Unit::Gs, true),
        (Unit::Clip, true),
        (Unit::Sf, false),
        (Unit::Media, false),
    ];
    for (unit, permitted) in units {
        for control in [0, USED, COMPLETE, COMPLETE | USED] {
            let (mut urb, mut events) = (Urb::new(), Events::default());
            let payload = [header(20, 0), numbered(1)];
            let mut response = [[0; 8]];
            let msg = Message {
                thread: ThreadId {
                    ffid: unit.ffid(),
                    ..ThreadId::default()
                },
                sfid: 6,
                function_control: control,
                desc: u32::from(control),
                response_length: 0,
                eot: false,
                exec_mask: 0xff,
                exec_size: 8,
                payload: &payload,
                ip: 0,
                float_mode: FloatMode::Ieee,
            };
            let result = execute(&msg, &mut response, &mut urb, &mut events);
            // On partial writes the bit means nothing.
            if control == COMPLETE && !permitted {
                assert_eq!(result, Err(Reject::Unused), "{unit:?}");
                assert!(events.urb.is_empty());
                assert_eq!(contents(&urb), vec![[0; 8]; 512]);
            } else {
                assert_eq!(result, Ok(Outcome::Done), "{unit:?} {control:#x}");
                let event = events.urb[0];
                assert_eq!(event.used, control == COMPLETE | USED);
            }
        }
    }
}
