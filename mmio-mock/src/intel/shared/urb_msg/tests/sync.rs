//! FF_SYNC of Ironlake, with the descriptor of Mesa's clip threads.
//!
//! Mesa 22.3.6: `brw_ff_sync` and `brw_set_ff_sync_message` of `brw_eu_emit.c`; the answer has the entry in its first dword
//! (`brw_ff_gs_emit.c`), as that of an allocation has it (PRM 8.4.3.3).

use super::*;

/// The descriptor: FF_SYNC, allocate; one register there and back.
const SYNC: u32 = 0x0218_2001;
const ALLOCATE: u32 = 1 << 13;

/// Sends a message of a unit's thread to Ironlake's URB unit.
fn ironlake(
    unit: Unit,
    (desc, eot): (u32, bool),
    payload: &[Grf],
    events: &mut Events,
) -> (Result<Outcome, Reject>, Grf) {
    let msg = Message {
        thread: ThreadId {
            ffid: unit.ffid(),
            ..ThreadId::default()
        },
        sfid: 6,
        function_control: desc as u16,
        desc,
        response_length: 1,
        eot,
        exec_mask: 0xff,
        exec_size: 8,
        payload,
        ip: 0,
        float_mode: FloatMode::Ieee,
    };
    let mut response = [[9; 8]];
    let set = crate::intel::r#gen::readers(isa::Verx10::from_times_ten(50))
        .unwrap()
        .messages;
    let Ok(crate::intel::shared::message::Request::Urb(request)) = set.request((&msg).into())
    else {
        panic!("{desc:#x}");
    };
    let mut urb = Urb::new();
    let result = super::super::execute(request, 1, &msg, &mut response, &mut urb, events);
    assert!((0..512).all(|row| urb.row(UrbHandle(row), 0) == Some(&[0; 8])));
    (result, response[0])
}

#[test]
fn the_first_entry_comes_back() {
    for unit in [Unit::Gs, Unit::Clip] {
        let mut events = Events::default();
        let entry = MessageHandle { id: 5, handle: 64 };
        events.free.push(entry);
        let payload = [header(20, 0)];
        let (result, answer) = ironlake(unit, (SYNC, false), &payload, &mut events);
        assert_eq!(result, Ok(Outcome::Done));
        assert_eq!(answer, [5 << 16 | 64, 0, 0, 0, 0, 0, 0, 0]);
        assert!(events.free.is_empty());
        // The unit hears of an entry that has an owner now, and of no vertex.
        let event = events.urb[0];
        assert_eq!((event.allocated, event.fftid), (Some(entry), 0x42));
        assert!(!event.complete && !event.used && !event.eot);
    }
}

#[test]
fn without_an_entry_the_thread_waits() {
    let mut events = Events::default();
    let payload = [header(20, 0)];
    let (result, answer) = ironlake(Unit::Clip, (SYNC, false), &payload, &mut events);
    assert_eq!((result, answer), (Ok(Outcome::Busy), [9; 8]));
    assert!(events.urb.is_empty());
}

#[test]
fn without_allocate_it_only_waits_for_its_turn() {
    let mut events = Events::default();
    events.free.push(MessageHandle { id: 5, handle: 64 });
    let payload = [header(20, 0)];
    let turn = (SYNC & !ALLOCATE, false);
    let (result, answer) = ironlake(Unit::Gs, turn, &payload, &mut events);
    assert_eq!((result, answer), (Ok(Outcome::Done), [9; 8]));
    assert_eq!((events.free.len(), events.urb[0].allocated), (1, None));
}

#[test]
fn it_is_one_register_of_a_thread_that_goes_on() {
    let mut events = Events::default();
    events.free.push(MessageHandle { id: 5, handle: 64 });
    let payload = [header(20, 0), numbered(1)];
    let mut sent =
        |unit, eot, length| ironlake(unit, (SYNC, eot), &payload[..length], &mut events).0;
    assert_eq!(sent(Unit::Clip, false, 2), Err(Reject::Length));
    assert_eq!(sent(Unit::Clip, false, 0), Err(Reject::Length));
    assert_eq!(sent(Unit::Clip, true, 1), Err(Reject::Sync));
    for unit in [Unit::Vs, Unit::Sf, Unit::Wiz, Unit::Media] {
        assert_eq!(sent(unit, false, 1), Err(Reject::Sync), "{unit:?}");
    }
    assert_eq!((events.free.len(), events.urb.len()), (1, 0));
}
