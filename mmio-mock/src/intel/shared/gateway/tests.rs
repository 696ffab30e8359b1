//! Messages to the gateway against the layouts and codes of the manual.
//!
//! PRM: volume 4, chapter 7.

use super::*;
use eu::port::FloatMode;
use eu::{Grf, ThreadId};

const OPEN: u16 = 0;
const CLOSE: u16 = 1;
const FORWARD: u16 = 2;
const ACK: u16 = 1 << 14;
/// Shared function ID in 19:16 of an acknowledgement.
const GATEWAY: u32 = 3 << 16;

/// A gateway and what it asks to be delivered.
struct Bench {
    gateway: Gateway,
    events: Events,
}

impl Bench {
    /// As many threads as a GM965 has (PRM volume 4, 3.5).
    fn new() -> Self {
        let places = Places {
            eus: 8,
            threads_per_eu: 4,
        };
        Bench {
            gateway: Gateway::new(places),
            events: Events::default(),
        }
    }

    /// A message of thread 1 of an EU; the first register of the answer, which held fives.
    fn send(&mut self, eu: u8, control: u16, payload: Grf) -> (Ack, Grf) {
        self.message(eu, control, false, payload)
    }

    fn message(&mut self, eu: u8, control: u16, eot: bool, payload: Grf) -> (Ack, Grf) {
        let mut response = [[5; 8]];
        let msg = Message {
            thread: ThreadId {
                eu,
                slot: 1,
                ..ThreadId::default()
            },
            sfid: 3,
            function_control: control,
            desc: u32::from(control),
            response_length: 1,
            eot,
            exec_mask: 0xff,
            exec_size: 8,
            payload: &[payload],
            ip: 0,
            float_mode: FloatMode::Ieee,
        };
        let request = crate::intel::r#gen::gen40::message::gateway(control);
        let ack = self
            .gateway
            .execute(request, &msg, &mut response, &mut self.events);
        (ack, response[0])
    }

    /// With the gateway of EU 7 open: key 1234h, four registers from r10 on.
    fn open() -> Self {
        let mut bench = Bench::new();
        assert_eq!(bench.send(7, OPEN, opening(10, 2)).0, Ack::Ok);
        bench
    }
}

fn opening(register: u32, size: u32) -> Grf {
    [0, 0, 0, 0, 0x1234, register << 21 | size << 8, 0, 0]
}

/// A write to thread 1 of EU 7 of the dwords 1, 2, 3 and 4.
fn forward(offset: u32, length: u32, key: u32) -> Grf {
    let to = 7 << 24 | 1 << 16;
    [1, 2, 3, 4, to | key, offset << 16 | length << 8, 0, 0]
}

// covers: 7.0-02, 7.1.1-02, 7.1.2-01, 7.1.2-02, 7.1.2-08, 7.1.3-01, 7.1.3-02, 7.1.4-09
#[test]
fn acknowledgements_have_id_and_code_in_the_lowest_dword() {
    let mut bench = Bench::new();
    let ack = |code: u32| [GATEWAY | code, 5, 5, 5, 5, 5, 5, 5];
    let word = forward(0, 2, 0x1234);
    assert_eq!(bench.send(0, FORWARD | ACK, word), (Ack::Closed, ack(2)));
    assert_eq!(
        bench.send(7, OPEN | ACK, opening(10, 6)),
        (Ack::SizeExceeded, ack(1))
    );
    assert_eq!(bench.send(7, OPEN | ACK, opening(10, 2)), (Ack::Ok, ack(0)));
    assert_eq!(bench.send(0, FORWARD | ACK, word), (Ack::Ok, ack(0)));
    let other = forward(0, 2, 0x1235);
    assert_eq!(
        bench.send(0, FORWARD | ACK, other),
        (Ack::KeyMismatch, ack(3))
    );
    let far = forward(128, 2, 0x1234);
    assert_eq!(
        bench.send(0, FORWARD | ACK, far),
        (Ack::LimitExceeded, ack(4))
    );
    let long = forward(0, 5, 0x1234);
    assert_eq!(bench.send(0, FORWARD | ACK, long), (Ack::Size, ack(6)));
    assert_eq!(bench.send(0, 3 | ACK, word), (Ack::Opcode, ack(5)));
    assert_eq!(bench.send(7, CLOSE | ACK, [0; 8]), (Ack::Ok, ack(0)));
    assert_eq!(bench.send(0, FORWARD | ACK, word), (Ack::Closed, ack(2)));
    // Without the request nothing comes back, whatever the code.
    assert_eq!(bench.send(0, FORWARD, word), (Ack::Closed, [5; 8]));
    assert_eq!(bench.send(7, OPEN, opening(10, 2)), (Ack::Ok, [5; 8]));
}

// covers: 7.1.1-04, 7.1.5-01
#[test]
fn the_code_of_time_stamps_is_reserved() {
    let mut bench = Bench::open();
    let (code, answer) = bench.send(7, 3 | ACK, [0; 8]);
    assert_eq!((code, answer[0]), (Ack::Opcode, GATEWAY | 5));
    assert_eq!(answer[1..], [5; 7], "no time stamp");
}

// covers: 7.1.2-04, 7.1.2-05
#[test]
fn sizes_are_powers_of_two_from_any_register() {
    for (size, registers) in [(0, 1), (1, 2), (2, 4), (3, 8), (4, 16), (5, 32)] {
        for base in [0, 1, 96, 127] {
            let mut bench = Bench::new();
            bench.send(7, OPEN, opening(base, size));
            let open = bench.gateway.opened(7, 1);
            let (first, last) = (base as u16, base as u16 + registers - 1);
            assert_eq!(open, Some((0x1234, first, last)));
            let end = u32::from(registers) * 32;
            assert_eq!(
                bench.send(0, FORWARD, forward(end - 4, 2, 0x1234)).0,
                Ack::Ok
            );
            assert_eq!(bench.events.forwards[0].byte, first * 32 + end as u16 - 4);
            let beyond = forward(end, 2, 0x1234);
            assert_eq!(bench.send(0, FORWARD, beyond).0, Ack::LimitExceeded);
        }
    }
    for size in [6, 7] {
        let mut bench = Bench::open();
        assert_eq!(bench.send(7, OPEN, opening(0, size)).0, Ack::SizeExceeded);
        assert_eq!(
            bench.gateway.opened(7, 1),
            Some((0x1234, 10, 13)),
            "as it was"
        );
    }
}

// covers: 7.1.2-06, 7.1.3-01, 7.1.4-07
#[test]
fn dispatch_id_and_ignored_bits_do_not_matter() {
    let mut bench = Bench::new();
    let mut open = opening(10, 2);
    open[5] |= 0xff;
    open[..4].fill(u32::MAX);
    assert_eq!(bench.send(7, OPEN, open).0, Ack::Ok);
    assert_eq!(bench.gateway.opened(7, 1), Some((0x1234, 10, 13)));
    let mut word = forward(4, 2, 0x1234);
    word[5] |= 0x5a;
    // 31:28 and 23:18 of M0.4 are ignored.
    word[4] |= 0xf0fc_0000;
    assert_eq!(bench.send(0, FORWARD, word).0, Ack::Ok);
    let event = bench.events.forwards[0];
    assert_eq!((event.eu, event.slot), (7, 1));
    assert_eq!(bench.send(7, CLOSE, [u32::MAX; 8]).0, Ack::Ok);
    assert_eq!(bench.gateway.opened(7, 1), None);
}

// covers: 7.1.2-07, 7.1.4-02
#[test]
fn each_thread_has_a_gateway_and_a_key_of_its_own() {
    let mut bench = Bench::open();
    let mut second = opening(50, 0);
    second[4] = 0xbeef;
    bench.send(6, OPEN, second);
    assert_eq!(bench.gateway.opened(6, 1), Some((0xbeef, 50, 50)));
    assert_eq!(bench.gateway.opened(7, 1), Some((0x1234, 10, 13)));
    assert_eq!(
        bench.send(0, FORWARD, forward(0, 2, 0xbeef)).0,
        Ack::KeyMismatch
    );
    // Opened again, the last message counts.
    bench.send(7, OPEN, opening(20, 0));
    assert_eq!(bench.gateway.opened(7, 1), Some((0x1234, 20, 20)));
}

// covers: 7.1.4-01, 7.1.4-04, 7.1.4-05, 7.1.4-06, 7.1.4-08, 7.1.4-11
#[test]
fn lengths_and_offsets_are_in_bytes_and_aligned() {
    for (code, bytes) in [(0, 1u32), (2, 4), (3, 8), (4, 16)] {
        let mut bench = Bench::open();
        for offset in 0..128 {
            let (ack, _) = bench.send(0, FORWARD, forward(offset, code, 0x1234));
            let fits = offset % bytes == 0;
            assert_eq!(ack == Ack::Ok, fits, "{bytes} bytes at {offset}");
            if fits {
                let event = bench.events.forwards.pop();
                let want = ForwardEvent {
                    eu: 7,
                    slot: 1,
                    // Register, dword and byte.
                    byte: 10 * 32
                        + (offset >> 5) as u16 * 32
                        + (offset >> 2 & 7) as u16 * 4
                        + (offset & 3) as u16,
                    length: bytes as u8,
                    data: [1, 2, 3, 4],
                    notify: false,
                };
                assert_eq!(event, Some(want));
            }
        }
        assert!(bench.events.forwards.is_empty());
    }
    for code in [1, 5, 6, 7] {
        assert_eq!(
            Bench::open().send(0, FORWARD, forward(0, code, 0x1234)).0,
            Ack::Size
        );
    }
}

// covers: 7.1.1-01, 7.1.1-05
#[test]
fn one_bit_notifies_and_only_with_a_forward() {
    let mut bench = Bench::open();
    for (control, notify) in [(FORWARD, false), (FORWARD | 1 << 15, true)] {
        bench.send(0, control, forward(0, 2, 0x1234));
        assert_eq!(bench.events.forwards.pop().map(|e| e.notify), Some(notify));
    }
    bench.send(7, OPEN | 1 << 15, opening(10, 2));
    bench.send(7, CLOSE | 1 << 15, [0; 8]);
    assert!(bench.events.forwards.is_empty());
}

// covers: 7.1.2-03
#[test]
fn open_with_the_end_of_the_thread_closes() {
    let mut bench = Bench::open();
    assert_eq!(bench.message(7, OPEN, true, opening(20, 0)).0, Ack::Ok);
    assert_eq!(bench.gateway.opened(7, 1), None);
    // Whatever it was before.
    assert_eq!(bench.message(7, OPEN, true, opening(20, 7)).0, Ack::Ok);
    assert_eq!(bench.gateway.opened(7, 1), None);
}

#[test]
fn a_thread_that_has_ended_leaves_no_gateway() {
    let mut bench = Bench::open();
    bench.gateway.ended(7, 2);
    assert_eq!(bench.send(0, FORWARD, forward(0, 2, 0x1234)).0, Ack::Ok);
    bench.gateway.ended(7, 1);
    assert_eq!(bench.send(0, FORWARD, forward(0, 2, 0x1234)).0, Ack::Closed);
    assert_eq!(bench.gateway.open, 0);
}
