//! Which shared functions may have a thread's last message, and which may not.
//!
//! PRM: volume 4, 2.6.8.

use super::*;
use crate::intel::shared::spawner::Member;

/// A bench whose buffer of index 2 has become a null surface, and a thread that the spawner knows.
fn end_bench() -> Bench {
    let mut bench = buffer_bench();
    let null = regs::gen40::SurfaceState::new()
        .with_surface_type(regs::gen40::values::surftype::SURFTYPE_NULL);
    let at = GpuAddr(0x11200);
    bench.mem.write_dwords(at, null.dwords()).unwrap();
    bench.shared.spawner.enter(3, 1, Member::default());
    bench
}

/// Sends the end of a thread of a unit; what became of it, and what dispatcher and units snooped.
fn ends(
    bench: &mut Bench,
    unit: Unit,
    id: u8,
    control: u16,
    payload: &[Grf],
) -> (Delivery, Option<EotEvent>) {
    let mut msg = message(id, control, true, payload);
    msg.thread.ffid = unit.ffid();
    bench.ctx.ffid = unit.ffid();
    let delivery = bench.router().send(&msg, &mut []).unwrap();
    (delivery, bench.events.eot)
}

// covers: 2.6.8-02, 2.6.8-04
#[test]
fn five_functions_take_the_end_of_a_thread() {
    let mut payload = [[0; 8]; 10];
    payload[0] = [0x1234_0014, 0, 0, 0, 0, 0x100, 0, 0];
    payload[1] = [1, 2, 3, 4, 5, 6, 7, 8];
    let render = 4 << 12 | 1 << 11 | 2;
    for (unit, id, control, length) in [
        (Unit::Wiz, sfid::NULL, 0, 1),
        (Unit::Wiz, sfid::DATAPORT_WRITE, render, 10),
        (Unit::Vs, sfid::URB, 0xc000, 2),
        (Unit::Gs, sfid::URB, 0xc000, 2),
        (Unit::Clip, sfid::URB, 0xc000, 2),
        (Unit::Sf, sfid::URB, 0xc000, 2),
        (Unit::Media, sfid::GATEWAY, 1, 1),
        (Unit::Media, sfid::SPAWNER, 0, 1),
    ] {
        let mut bench = end_bench();
        let (delivery, snooped) = ends(&mut bench, unit, id, control, &payload[..length]);
        let error = bench.shared.error.map(|e| e.what);
        assert_eq!((delivery, error), (Delivery::Done, None), "{unit:?} {id}");
        let end = EotEvent { sfid: id, fftid: 0 };
        assert_eq!(snooped, Some(end), "{unit:?} {id}");
        // The message does its work besides.
        match id {
            sfid::URB => {
                let row = bench.urb.row(crate::intel::urb::UrbHandle(0x14), 0);
                assert_eq!(row, Some(&payload[1]));
                assert!(bench.events.urb[0].eot && bench.events.urb[0].complete);
            }
            sfid::DATAPORT_WRITE => assert_eq!(bench.events.scoreboard_clear, 0x1234),
            sfid::SPAWNER => assert!(bench.shared.spawner.has_news()),
            _ => {}
        }
    }
}

// covers: 2.6.8-02, 2.6.8-03
#[test]
fn three_functions_refuse_what_they_serve_in_the_middle_of_a_thread() {
    let payload = [[0; 8]; 3];
    for (id, control, length, response) in [
        (sfid::DATAPORT_READ, 2u16, 1, 1u8),
        (sfid::MATH, 1, 1, 1),
        // ld of u, v and r in SIMD8, to four registers.
        (sfid::SAMPLER, 0xf002, 3, 4),
    ] {
        let mut served = Vec::new();
        for eot in [false, true] {
            let mut bench = buffer_bench();
            let mut msg = message(id, control, eot, &payload[..length]);
            msg.response_length = if eot { 0 } else { response };
            let mut w = [[0; 8]; 4];
            let into = &mut w[..usize::from(msg.response_length)];
            let _ = bench.router().send(&msg, into);
            let what = bench.shared.error.map(|error| error.what);
            let refused = what.is_some_and(|what| {
                let what = what.to_lowercase();
                what.contains("end of thread") || what.contains("eot")
            });
            served.push((refused, what));
        }
        assert!(!served[0].0 && served[1].0, "{id}: {served:?}");
    }
}
