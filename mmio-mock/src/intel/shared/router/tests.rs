//! The router: fetch, function IDs, errors and the end of a thread.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use super::*;
use crate::intel::debug::SharedUnit;
use crate::intel::shared::StateBases;
use crate::intel::shared::places::Places;
use eu::ThreadId;
use eu::port::FloatMode;

/// As many threads as a GM965 has (PRM volume 4, 3.5).
const PLACES: Places = Places {
    eus: 8,
    threads_per_eu: 4,
};

fn message(sfid: u8, control: u16, eot: bool, payload: &[Grf]) -> Message<'_> {
    Message {
        thread: ThreadId {
            ffid: 1,
            fftid: 2,
            eu: 3,
            slot: 1,
        },
        sfid,
        function_control: control,
        desc: u32::from(sfid) << 24 | u32::from(control),
        response_length: 0,
        eot,
        exec_mask: 0xffff,
        exec_size: 16,
        payload,
        ip: 0x40,
        float_mode: FloatMode::Ieee,
    }
}

struct Bench {
    mem: Memory,
    urb: Urb,
    shared: SharedFunctions,
    ctx: ThreadContext,
    events: Events,
    debug: DebugRegs,
    trace: crate::intel::trace::Trace,
    met: Option<UnitFault>,
}

impl Bench {
    fn new() -> Self {
        let mut mem = Memory::new(1 << 20, 1 << 12);
        mem.alloc_mapped(GpuAddr(0x10000), 0x2000).unwrap();
        let bases = StateBases {
            general_state_base: 0x10000,
            ..StateBases::default()
        };
        Bench {
            mem,
            urb: Urb::new(),
            shared: SharedFunctions::new(
                &crate::intel::r#gen::gen40::functions::Reader,
                &crate::intel::r#gen::gen40::message::Messages,
                PLACES,
            ),
            ctx: ThreadContext {
                bases,
                ..ThreadContext::default()
            },
            events: Events::default(),
            debug: DebugRegs::new(&regs::platform::GEN40),
            trace: crate::intel::trace::Trace::default(),
            met: None,
        }
    }

    fn router(&mut self) -> Router<'_> {
        Router {
            mem: &mut self.mem,
            urb: &mut self.urb,
            shared: &mut self.shared,
            ctx: &self.ctx,
            events: &mut self.events,
            arbiter: self.debug.arbiter(),
            debug: &mut self.debug,
            trace: &mut self.trace,
            owed: 0,
            met: &mut self.met,
        }
    }
}

/// Instruction pointers of Ironlake count from Instruction Base Address (genxml gen5, STATE_BASE_ADDRESS).
#[test]
fn kernels_lie_behind_a_base_of_their_own_where_there_is_one() {
    let mut bench = Bench::new();
    let at = GpuAddr(0x11000 + 0x40);
    bench.mem.write_dwords(at, &[5, 6, 7, 8]).unwrap();
    bench.ctx.bases.instruction_base = Some(0x11000);
    assert_eq!(bench.router().fetch(0x40), Ok([5, 6, 7, 8]));
}

#[test]
fn instructions_come_from_the_general_state_base() {
    let mut bench = Bench::new();
    bench
        .mem
        .write_dwords(GpuAddr(0x10ff0), &[1, 2, 3, 4])
        .unwrap();
    assert_eq!(bench.router().fetch(0xff0), Ok([1, 2, 3, 4]));
    assert!(matches!(
        bench.router().fetch(0x2000),
        Err(UnitFault::Memory(_))
    ));
}

/// Ironlake's data port and URB unit have nothing to go by without a header (bit 19); a 965 always has one.
#[test]
fn messages_without_their_header_are_dropped_and_latched() {
    let header = [9; 8];
    for (sfid, desc, what) in [
        (
            5,
            0x1400_4800,
            "data port message without a header (PRM 5.10.1.2)",
        ),
        (
            4,
            0x0210_1000,
            "data port message without a header (PRM 5.10.1.2)",
        ),
        (6, 0x0800_c000, "URB message without a header (PRM 8.4.3)"),
    ] {
        let mut bench = Bench::new();
        let readers = crate::intel::r#gen::readers(isa::Verx10::from_times_ten(50)).unwrap();
        bench.shared = SharedFunctions::new(readers.functions, readers.messages, PLACES);
        let sent = Message {
            desc,
            ..message(sfid, desc as u16, false, std::slice::from_ref(&header))
        };
        let delivery = bench.router().send(&sent, &mut []);
        assert_eq!(delivery, Ok(Delivery::Dropped), "{sfid}");
        let error = bench.shared.error.unwrap();
        assert_eq!((error.sfid, error.what), (sfid, what));
    }
}

// covers: 2.6.11-03
#[test]
fn a_bad_function_id_is_dropped_and_latched_once() {
    let mut bench = Bench::new();
    let header = [9; 8];
    let bad = message(9, 0x123, false, std::slice::from_ref(&header));
    assert_eq!(bench.router().send(&bad, &mut []), Ok(Delivery::Dropped));
    let later = message(1, 0, false, std::slice::from_ref(&header));
    assert_eq!(bench.router().send(&later, &mut []), Ok(Delivery::Dropped));
    let error = bench.shared.error.unwrap();
    assert_eq!(
        (error.sfid, error.desc, error.thread.eu, error.ip),
        (9, 0x0900_0123, 3, 0x40)
    );
    assert_eq!((error.header, error.message_length), (header, 1));
    // FFID, TID, EUID and error code 4, invalid S/F id (PRM 3.4.9.1).
    let (unit, words) = error.words().unwrap();
    assert_eq!(unit, SharedUnit::Urb);
    assert_eq!(words.header, 1 << 24 | 1 << 21 | 3 << 16 | 4);
    assert_eq!(bench.shared.stats.dropped, 2);
}

/// Error codes of PRM 3.4.2.1 and 3.4.6.1.
// covers: 2.6.8-03, 2.6.11-01
#[test]
fn error_words_say_what_was_wrong() {
    let regs = [[9; 8]; 3];
    let cases = [
        // POW with one register, function 9, end of thread.
        (1, 0x0a, false, 1, SharedUnit::Math(0), 1),
        (1, 0x09, false, 1, SharedUnit::Math(0), 2),
        (1, 0x01, true, 1, SharedUnit::Math(0), 4),
        // No sampler message of type 0 has one register; ld of three may not end a thread.
        (2, 0x0000, false, 1, SharedUnit::Sampler, 1),
        (2, 0xc000, true, 3, SharedUnit::Sampler, 2),
    ];
    for (sfid, control, eot, length, unit, code) in cases {
        let mut bench = Bench::new();
        let bad = message(sfid, control, eot, &regs[..length]);
        assert_eq!(bench.router().send(&bad, &mut []), Ok(Delivery::Dropped));
        let (found, words) = bench.shared.error.unwrap().words().unwrap();
        assert_eq!((found, words.header & 0xf), (unit, code), "{control:#x}");
    }
}

#[test]
fn the_end_of_a_thread_is_snooped_on_every_target() {
    let mut bench = Bench::new();
    let header = [0, 0, 0, 0, 0, 0x77, 0, 0];
    for id in [sfid::NULL, sfid::URB, sfid::GATEWAY] {
        bench.events.clear();
        let eot = message(id, 0, true, std::slice::from_ref(&header));
        assert_eq!(bench.router().send(&eot, &mut []), Ok(Delivery::Done));
        assert_eq!(
            bench.events.eot,
            Some(EotEvent {
                sfid: id,
                fftid: 0x77
            })
        );
    }
}

#[test]
fn the_spawner_listens_to_its_own_threads() {
    let mut bench = Bench::new();
    let result = bench
        .router()
        .send(&message(7, 0, false, &[[0; 8]]), &mut []);
    assert_eq!(result, Ok(Delivery::Dropped));
    let error = bench.shared.error.unwrap();
    assert!(error.what.contains("not started by the thread spawner"));
}

#[test]
fn messages_cost_by_registers_and_channels() {
    let mut bench = Bench::new();
    let regs = [[0; 8]; 4];
    let mut cost = |sfid, length: usize| {
        let mut router = bench.router();
        let msg = message(sfid, 1, false, &regs[..length]);
        let _ = router.send(&msg, &mut []);
        let most = router.charge(u64::MAX);
        assert_eq!(router.charge(u64::MAX), 0, "paid once");
        most
    };
    assert!(cost(sfid::NULL, 1) >= 1);
    assert!(cost(sfid::NULL, 4) >= cost(sfid::NULL, 1) + 3);
    assert!(cost(sfid::MATH, 1) >= 8, "a channel at a time");
    // What does not fit into the slice is kept.
    let mut router = bench.router();
    let _ = router.send(&message(sfid::MATH, 1, false, &regs[..1]), &mut []);
    assert_eq!((router.charge(0), router.charge(3)), (0, 3));
    assert!(router.charge(u64::MAX) > 0);
}

/// A bench with a buffer of 16 bytes bound to index 2: the surface state is at 0x11000, the data at
/// 0x11800.
fn buffer_bench() -> Bench {
    let mut bench = Bench::new();
    bench.ctx.bases.surface_state_base = 0x11000;
    bench.ctx.binding_table_pointer = 0x100;
    let state = regs::gen40::SurfaceState::new()
        .with_surface_type(regs::gen40::values::surftype::SURFTYPE_BUFFER)
        .with_surface_base_address(0x11800);
    bench.mem.write_u32(GpuAddr(0x11108), 0x200).unwrap();
    let at = GpuAddr(0x11200);
    bench.mem.write_dwords(at, state.dwords()).unwrap();
    let data = [1, 2, 3, 4];
    bench.mem.write_dwords(GpuAddr(0x11800), &data).unwrap();
    bench
}

/// Function 4 reads and function 5 writes, with the same function control.
// covers: 5.0-01, 5.10.1-01, 5.3-04
#[test]
fn the_data_port_is_two_functions() {
    let mut bench = buffer_bench();
    let payload = [[0; 8], [5, 6, 7, 8, 0, 0, 0, 0]];
    let mut read = message(sfid::DATAPORT_READ, 2, false, &payload[..1]);
    read.response_length = 1;
    let mut w = [[9; 8]];
    assert_eq!(bench.router().send(&read, &mut w), Ok(Delivery::Done));
    assert_eq!(w, [[1, 2, 3, 4, 9, 9, 9, 9]]);
    // A commit answers, and its register keeps what it held.
    let mut write = message(sfid::DATAPORT_WRITE, 1 << 15 | 2, false, &payload);
    write.response_length = 1;
    let mut w = [[9; 8]];
    assert_eq!(bench.router().send(&write, &mut w), Ok(Delivery::Done));
    assert_eq!(w, [[9; 8]]);
    assert_eq!(bench.router().send(&read, &mut w), Ok(Delivery::Done));
    assert_eq!(w, [[5, 6, 7, 8, 9, 9, 9, 9]]);
    assert_eq!(bench.shared.stats.dropped, 0);
}

/// The error word's bits, its sender, and dwords 7 and 6 of the header.
// covers: 3.4.7-01, 5.10.1.2-02
#[test]
fn the_data_port_says_what_was_wrong() {
    let header = [0, 0, 0, 0, 0, 0, 0x6666, 0x7777];
    // Six OWords (bit 6), the data cache for a rectangle (bit 4), end of thread (bit 1).
    for (id, control, eot, bit) in [
        (sfid::DATAPORT_READ, 5 << 8 | 2, false, 6),
        (sfid::DATAPORT_READ, 2 << 12 | 2, false, 4),
        (sfid::DATAPORT_WRITE, 7 << 12, true, 1),
    ] {
        let mut bench = buffer_bench();
        let bad = message(id, control, eot, std::slice::from_ref(&header));
        assert_eq!(bench.router().send(&bad, &mut []), Ok(Delivery::Dropped));
        // A later mistake changes nothing.
        let later = message(
            sfid::DATAPORT_READ,
            3 << 14,
            false,
            std::slice::from_ref(&header),
        );
        assert_eq!(bench.router().send(&later, &mut []), Ok(Delivery::Dropped));
        let (unit, words) = bench.shared.error.unwrap().words().unwrap();
        assert_eq!(unit, SharedUnit::DataPort);
        assert_eq!(words.header, 1 << 24 | 1 << 21 | 3 << 16 | 1 << bit);
        assert_eq!((words.dword6, words.dword7), (0x6666, 0x7777));
    }
}

/// A render target write to a null surface ends its thread, whose slot its header names.
// covers: 5.10.1-03, 5.10.6-06, 5.10.6.3-02
#[test]
fn a_render_target_write_ends_its_thread() {
    let mut bench = buffer_bench();
    let null = regs::gen40::SurfaceState::new()
        .with_surface_type(regs::gen40::values::surftype::SURFTYPE_NULL);
    let at = GpuAddr(0x11200);
    bench.mem.write_dwords(at, null.dwords()).unwrap();
    let mut payload = [[0; 8]; 10];
    payload[0] = [0x1234_0000, 0x800, 0, 0, !0, 0xffff_ff77, 0, 0];
    let control = 4 << 12 | 1 << 11 | 2;
    let last = message(sfid::DATAPORT_WRITE, control, true, &payload);
    assert_eq!(bench.router().send(&last, &mut []), Ok(Delivery::Done));
    let end = EotEvent {
        sfid: sfid::DATAPORT_WRITE,
        fftid: 0x77,
    };
    assert_eq!(bench.events.eot, Some(end));
    assert_eq!(bench.events.scoreboard_clear, 0x1234);
}

mod ends;
