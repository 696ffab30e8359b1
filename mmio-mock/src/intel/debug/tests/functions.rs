//! Media threads, dispatcher, breakpoints, shared functions and attention.
//!
//! PRM: volume 4, 3.3.10 to 3.6. Does not test the units that call in.

use super::super::*;
use super::{enabled, read, show, write};

#[test]
fn vfe_and_thread_spawner_trap_media_threads() {
    let mut d = enabled();
    write(&mut d, 0x7d04, 0x0123_4567);
    write(&mut d, 0x7d00, 1);
    assert!(!d.vfe_thread(0x0123_4566));
    assert!(d.vfe_thread(0xf123_4567), "27:0 are compared");
    assert_eq!(read(&d, 0x7d00), 0x8000_0001);

    let child = MediaThread {
        child: true,
        r0_6: 0x7700_0001,
        r0_7: 0x0500_0002,
        interface_descriptor: 0x0012_3450,
    };
    write(&mut d, 0x7e04, 1);
    write(&mut d, 0x7e08, 2);
    write(&mut d, 0x7e00, 0x0301);
    assert!(!d.ts_thread(&MediaThread { r0_7: 3, ..child }));
    assert!(d.ts_thread(&child), "23:0 of both are compared");
    assert_eq!(read(&d, 0x7e00), 0x8000_0301);
    assert_eq!(read(&d, 0x7e0c), 0x2012_3450, "bit 29: child thread");
    // All roots: no compare, children are left alone.
    write(&mut d, 0x7e00, 3);
    assert!(d.ts_thread(&MediaThread::default()) && !d.ts_thread(&child));
    write(&mut d, 0x7e00, 4);
    assert!(!d.ts_thread(&MediaThread::default()) && d.ts_thread(&child));
    // Mux 0: error word with bit 15 valid.
    d.ts_error(regs::gen40::TsMessageError([0x0540_0001]));
    write(&mut d, 0x7e00, 0);
    assert_eq!(read(&d, 0x7e0c), 0x0540_8001);
}

// covers: 12.4-06, 12.4-01, 12.4-03, 12.4-04
#[test]
fn the_dispatcher_enables_breakpoints_and_halts() {
    let mut d = enabled();
    write(&mut d, 0x8000, 0x04);
    assert!(d.td_dispatch(true, 0, 0).breakpoint_enable);
    assert!(!d.td_dispatch(false, 0, 0).breakpoint_enable);
    write(&mut d, 0x8000, 0x10);
    assert!(d.td_dispatch(false, 0, 0).breakpoint_enable, "every thread");
    // Forced halt: the next dispatch alone.
    write(&mut d, 0x8000, 0x40);
    assert!(d.td_dispatch(false, 0, 0).external_halt);
    assert!(!d.td_dispatch(false, 0, 0).external_halt);
    // Match on r0.6 and r0.7 under masks.
    write(&mut d, 0x801c, 0x0012_3400);
    write(&mut d, 0x8024, 0x00ff_ff00);
    write(&mut d, 0x8020, 5);
    write(&mut d, 0x8028, 0x00ff_ffff);
    write(&mut d, 0x8000, 0x80);
    assert!(d.td_dispatch(false, 0xee12_34ab, 0x8000_0005).external_halt);
    assert!(!d.td_dispatch(false, 0xee12_34ab, 0x8000_0004).external_halt);
    assert!(!d.td_dispatch(false, 0xee12_35ab, 0x8000_0005).external_halt);
    // TD_CTL2 bits 28, 26, 25 count while TD_CTL bit 5 is set.
    write(&mut d, 0x8004, 0x1200_0000);
    assert!(d.td_exceptions().is_none());
    write(&mut d, 0x8000, 0x20);
    let e = d.td_exceptions().unwrap();
    assert!(e.illegal_opcode && !e.mask_stack && e.software);
    write(&mut d, 0x8004, 0x0400_0000);
    let e = d.td_exceptions().unwrap();
    assert!(!e.illegal_opcode && e.mask_stack && !e.software);
}

#[test]
fn breakpoints_match_address_opcode_and_end_of_thread() {
    let hit = |d: &DebugRegs, fetch| d.ic_breakpoints().is_some_and(|b| b.hit(fetch));
    let mut d = DebugRegs::new(&regs::platform::GEN40);
    let at = |address: u32, opcode: u32| Fetch {
        address,
        opcode,
        end_of_thread: false,
    };
    assert!(d.ic_breakpoints().is_none());
    write(&mut d, 0x8288, 0x0001_2340);
    assert!(d.ic_breakpoints().is_none() && !hit(&d, at(0x0001_2340, 1)));
    write(&mut d, 0x8288, 0x0001_2341);
    assert!(d.ic_breakpoints().is_some() && hit(&d, at(0x0001_2340, 1)));
    assert!(!hit(&d, at(0x0001_2350, 1)));
    write(&mut d, 0x8290, 0x0001_2351);
    assert!(hit(&d, at(0x0001_2350, 1)));
    write(&mut d, 0x8294, 0x0040_0001);
    assert!(hit(&d, at(0, 0x40)) && !hit(&d, at(0, 0x41)));
    write(&mut d, 0x8298, 0x0041_0001);
    assert!(hit(&d, at(0, 0x41)));
    write(&mut d, 0x8294, 0x0000_0002);
    assert!(!hit(&d, at(0, 0x31)));
    assert!(hit(
        &d,
        Fetch {
            end_of_thread: true,
            ..at(0, 0x31)
        }
    ));
}

#[test]
fn shared_functions_show_their_errors() {
    let mut d = enabled();
    let words = |header| ErrorWords {
        header,
        dword6: 0x66,
        dword7: 0x77,
    };
    d.shared_error(SharedUnit::DataPort, words(0x0600_0020));
    d.shared_error(SharedUnit::DataPort, words(1));
    assert_eq!(show(&mut d, 0x8500, 0, 0x8504), 0x0600_0020, "first error");
    assert_eq!(show(&mut d, 0x8500, 1, 0x8504), 0x77);
    assert_eq!(show(&mut d, 0x8500, 2, 0x8504), 0x66);
    d.dp_binding_table(31, 0x1_0000);
    assert_eq!(show(&mut d, 0x8500, 63, 0x8504), 0x1_0000);
    assert_eq!(show(&mut d, 0x8500, 64, 0x8504), 0);
    d.shared_error(SharedUnit::Sampler, words(2));
    assert_eq!(show(&mut d, 0x8400, 0, 0x8404), 2);
    assert_eq!(show(&mut d, 0x8400, 1, 0x8404), 0x66);
    assert_eq!(show(&mut d, 0x8400, 2, 0x8404), 0x77);
    d.shared_error(SharedUnit::Math(1), words(0x0600_0001));
    assert_eq!(read(&d, 0x8104), 0);
    write(&mut d, 0x8100, 0x0001_0002);
    assert_eq!(read(&d, 0x8104), 0x0600_0001, "EM 1");
    assert!(d.non_pipelined());
    write(&mut d, 0x8604, 0xff00_00ff);
    write(&mut d, 0x8600, 4);
    assert_eq!(d.rc_default_color(), Some(0xff00_00ff));
}

#[test]
fn non_pipelined_functions_keep_every_message() {
    let mut d = enabled();
    let words = |header| ErrorWords {
        header,
        dword6: 1,
        dword7: 2,
    };
    d.shared_message(SharedUnit::DataPort, words(0x0604_0000));
    assert_eq!(read(&d, 0x8504), 0, "pipelined");
    // MA_DEBUG_1 bit 1.
    write(&mut d, 0x8300, 2);
    d.shared_message(SharedUnit::DataPort, words(0x0604_0000));
    assert_eq!(read(&d, 0x8504), 0x0604_0000);
    d.shared_error(SharedUnit::DataPort, words(0x0605_0001));
    d.shared_message(SharedUnit::DataPort, words(0x0606_0000));
    assert_eq!(read(&d, 0x8504), 0x0605_0001, "the error stays");
}

#[test]
fn the_urb_traps_the_nth_data_phase_of_a_flagged_write() {
    let mut d = enabled();
    let phases = [[1; 8], [10, 11, 12, 13, 14, 15, 16, 17]];
    write(&mut d, 0x8700, 0x0001_0001);
    d.urb_write(0, &phases);
    assert_eq!(read(&d, 0x8700) >> 31, 0, "no flag in r0.7");
    d.urb_write(0x8000_0000, &phases[..1]);
    assert_eq!(read(&d, 0x8700) >> 31, 0, "no such phase");
    d.urb_write(0x8000_0000, &phases);
    assert_eq!(read(&d, 0x8700), 0x8001_0001);
    for n in 0..8 {
        assert_eq!(show(&mut d, 0x8700, 8 + n, 0x8708), 10 + n);
    }
    d.shared_error(
        SharedUnit::Urb,
        ErrorWords {
            header: 4,
            ..ErrorWords::default()
        },
    );
    assert_eq!(show(&mut d, 0x8700, 0, 0x8708), 4);
}

#[test]
fn attention_bits_run_opposite_ways() {
    let mut d = DebugRegs::new(&regs::platform::GEN40);
    assert!(!d.attention());
    d.raise_attention(0, 0);
    d.raise_attention(1, 2);
    d.set_attention_data(1, 2, true);
    assert!(d.attention());
    // EU_ATT: msb is EU 0 thread 0; EU 1 thread 2 is the seventh from above.
    assert_eq!(read(&d, 0x8810), 0x8200_0000);
    assert_eq!(read(&d, 0x8820), 0x0200_0000);
    assert_eq!((read(&d, 0x8814), read(&d, 0x881c)), (0, 0));
    // EU_ATT_CLR: lsb is EU 0 thread 0; write-only.
    write(&mut d, 0x8830, 1 << 6);
    assert_eq!(read(&d, 0x8830), 0);
    assert_eq!((read(&d, 0x8810), read(&d, 0x8820)), (0x8000_0000, 0));
    assert!(!d.take_attention_clear(0, 0) && d.take_attention_clear(1, 2));
    assert!(!d.take_attention_clear(1, 2), "a pulse");
    // The wait ends when the bit is set back, and only once.
    assert!(!d.take_attention_release(1, 2));
    write(&mut d, 0x8830, 1 << 6);
    assert!(!d.take_attention_clear(1, 2) && !d.take_attention_release(1, 2));
    write(&mut d, 0x8830, 0);
    assert!(d.take_attention_release(1, 2) && !d.take_attention_release(1, 2));
    write(&mut d, 0x8834, 1);
    assert!(d.attention(), "bits 127:32 are reserved");
    write(&mut d, 0x8830, 1);
    assert!(!d.attention());
    d.raise_attention(8, 0);
    d.raise_attention(0, 4);
    assert!(!d.attention(), "no such thread");
}
