//! Compacted instructions, and messages to extended math in two halves.
//!
//! Words of a kernel that Mesa 22.3.6 compiled for Ironlake; what they say is its own disassembly.

use super::{TestPort, thread};
use crate::tests::{Outside, Sent};
use crate::{KernelCache, NoObserver, RunStats, Stop, Thread};
use isa::Verx10;

/// mul(16) g8<1>F g6<8,8,1>F g2<8,8,1>F { compr compacted }
const MUL_8: [u32; 2] = [0x6000_6641, 0x0206_0808];
/// mul(16) g10<1>F g6<8,8,1>F g2<8,8,1>F { compr compacted }
const MUL_10: [u32; 2] = [0x6000_6641, 0x0206_0a08];
/// send(16) 2 g2<1>F g6<8,8,1>F 0x02100001 math inv mlen 1 rlen 1 { compr }
const INV: [u32; 4] = [0x0280_2031, 0x2040_0fbd, 0x108d_00c0, 0x0210_0001];
/// mul(16) g2<1>F g8<8,8,1>F 2F { compr }
const TWICE: [u32; 4] = [0x0080_2041, 0x2040_7fbd, 0x008d_0100, 0x4000_0000];
/// G45's filler between a compacted instruction and one of sixteen bytes.
const NENOP: [u32; 2] = [0x2000_007d, 0];

fn port(words: &[&[u32]]) -> TestPort {
    let words = words.concat();
    let mut port = TestPort::new(words.as_chunks::<4>().0.to_vec());
    port.fill = 0.25f32.to_bits();
    port
}

fn start() -> Thread {
    let mut t = thread();
    for (nr, value) in [(2, 0.5f32), (3, 0.5), (6, 3.0), (7, 4.0)] {
        t.grf_mut()[nr] = [value.to_bits(); 8];
    }
    t
}

fn run(generation: u8, t: &mut Thread, port: &mut TestPort, count: u64) -> (Stop<Outside>, u64) {
    let mut stats = RunStats::default();
    let mut cache = KernelCache::new(Verx10::from_times_ten(generation)).unwrap();
    let mut budget = count;
    let stop = t.run(&mut cache, port, &mut NoObserver, &mut budget, &mut stats);
    (stop, stats.instructions)
}

fn values(t: &Thread, first: usize) -> [f32; 2] {
    [first, first + 1].map(|nr| f32::from_bits(t.grf()[nr][5]))
}

#[test]
fn eight_and_sixteen_bytes_follow_one_another() {
    let mut port = port(&[&MUL_8, &INV, &MUL_10, &TWICE]);
    let mut t = start();
    assert_eq!(run(50, &mut t, &mut port, 4), (Stop::Budget, 4));
    assert_eq!(t.ip(), 0x30);
    assert_eq!(values(&t, 8), [1.5, 2.0]);
    // A message of one register each: the second has the register behind the first one's.
    let half = |value: f32| Sent {
        sfid: 1,
        exec_mask: 0xff,
        eot: false,
        payload: vec![[value.to_bits(); 8]],
    };
    assert_eq!(port.sent, [half(3.0), half(4.0)]);
    assert_eq!(values(&t, 10), [0.75, 1.0]);
    assert_eq!(values(&t, 2), [3.0, 4.0]);
}

/// A region that does not advance has the same value for all sixteen channels (Mesa: `1 / uniform`).
#[test]
fn both_halves_read_one_scalar() {
    // send(16) 2 g2<1>F g6.1<0,1,0>F 0x02100001 math inv mlen 1 rlen 1 { compr }
    let scalar = [INV[0], INV[1], 0x1000_00c4, INV[3]];
    let mut port = port(&[&scalar]);
    let mut t = start();
    t.grf_mut()[6][1] = 5.0f32.to_bits();
    assert_eq!(run(50, &mut t, &mut port, 1), (Stop::Budget, 1));
    let payloads: Vec<_> = port.sent.iter().map(|sent| &sent.payload).collect();
    assert_eq!(payloads, [&vec![[5.0f32.to_bits(); 8]]; 2]);
}

#[test]
fn nothing_is_fetched_behind_the_last_instruction() {
    let mut port = port(&[&MUL_8, &MUL_10]);
    let mut t = start();
    assert_eq!(run(50, &mut t, &mut port, 2), (Stop::Budget, 2));
    assert_eq!(run(50, &mut t, &mut port, 1), (Stop::Fault(Outside(16)), 0));
}

#[test]
fn g45_fills_up() {
    let mut port = port(&[&MUL_8, &NENOP, &TWICE]);
    let mut t = start();
    assert_eq!(run(45, &mut t, &mut port, 3), (Stop::Budget, 3));
    assert_eq!(t.ip(), 0x20);
    assert_eq!(values(&t, 2), [3.0, 4.0]);
}

/// On 965 the bit is no compaction: the words are an instruction of sixteen bytes, or none.
#[test]
fn the_first_generation_has_none() {
    let mut port = port(&[&MUL_8, &MUL_10]);
    let mut t = start();
    let (stop, _) = run(40, &mut t, &mut port, 1);
    assert!(matches!(stop, Stop::Illegal(_)), "{stop:?}");
}

/// Both modes of the cache, with the accumulator updates that nothing reads left out in one.
#[test]
fn both_modes_agree() {
    for count in 1..=3 {
        let generation = Verx10::from_times_ten(50);
        let caches = [
            KernelCache::new(generation).unwrap(),
            KernelCache::general(generation).unwrap(),
        ];
        let [fast, general] = caches.map(|mut cache| {
            let mut t = start();
            let mut port = port(&[&MUL_8, &MUL_10, &TWICE]);
            let (mut budget, mut stats) = (count, RunStats::default());
            t.run(
                &mut cache,
                &mut port,
                &mut NoObserver,
                &mut budget,
                &mut stats,
            );
            (t.grf().to_vec(), t.ip())
        });
        assert_eq!(fast, general, "{count}");
    }
}
