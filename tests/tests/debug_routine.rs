//! The debugger's system routine on a bare EU: only m0 of a thread changes.
//!
//! PRM: volume 4, 3.5, 5.10.2, 5.10.7, 11.3, 12.3. Block messages are written down here again, after the manual. Not
//! covered: caches, other exceptions than the external halt.

use std::collections::BTreeMap;

use driver::debug::system_routine::{self, ROW_COMMAND, ROW_MAILBOX, ROW_STATE, offset};
use driver::debug::{Origin, Place};
use driver::r#gen::I965GM;
use eu::{
    Delivery, FloatMode, Grf, KernelCache, Message, NoObserver, Port, RunStats, Stop, Thread,
    ThreadId, ThreadInit,
};
use fastrand::Rng;
use isa::inst::Verx10;

const ROUTINE: u32 = 0x0010_0000;
const AREA: u32 = 0x0020_0000;
const KERNEL: u32 = 0x1000;
/// Addresses are absolute here; the base of instructions is only told.
const ORIGIN: Origin = Origin {
    general: 0,
    instructions: 0x0bad_5000,
};

#[derive(Default)]
struct Memory(BTreeMap<u32, u32>);

impl Memory {
    fn put(&mut self, at: u32, dwords: impl IntoIterator<Item = u32>) {
        for (n, dword) in (0..).zip(dwords) {
            self.0.insert(at + n * 4, dword);
        }
    }

    fn get(&self, at: u32) -> u32 {
        self.0.get(&at).copied().unwrap_or(0)
    }

    /// A row of a thread: 32 dwords.
    fn row(&self, place: Place, row: u32) -> Vec<u32> {
        let at = AREA + offset(place, row);
        (0..32).map(|n| self.get(at + n * 4)).collect()
    }
}

impl Port for Memory {
    type Fault = String;

    fn fetch(&mut self, ip: u32) -> Result<[u32; 4], String> {
        Ok([0, 4, 8, 12].map(|n| self.get(ip + n)))
    }

    /// PRM vol4 5.10.2, stateless, eight or two OWords; 5.10.7.
    fn send(&mut self, msg: &Message<'_>, response: &mut [Grf]) -> Result<Delivery, String> {
        let header = msg.payload[0];
        let at = (header[5] & !0x3ff) + header[2];
        let registers = match msg.function_control {
            0xf000 if msg.sfid == 5 => return Ok(Delivery::Done),
            0x04ff | 0x44ff => 4,
            0x02ff | 0x42ff => 1,
            other => return Err(format!("message {other:#x}")),
        };
        assert_eq!(msg.exec_mask, if registers == 4 { 0xffff } else { 0xff });
        assert!(!msg.eot);
        match msg.sfid {
            5 => {
                assert_eq!(msg.payload.len(), 1 + registers);
                self.put(at, msg.payload[1..].concat());
            }
            4 => {
                assert_eq!(msg.payload.len(), 1);
                assert_eq!(response.len(), registers);
                for (n, dword) in (0..).zip(response.iter_mut().flatten()) {
                    *dword = self.get(at + n * 4);
                }
            }
            other => return Err(format!("target {other}")),
        }
        Ok(Delivery::Done)
    }
}

/// A routine that does nothing but leave: status off, then the master bit.
const LEAVE: &str = "
and (1) cr0.1<1>UD cr0.1<0,1,0>UD 0x07ffffffUD { align1 nomask switch };
and (1) cr0<1>UD cr0<0,1,0>UD 0x7fffffffUD { align1 nomask switch };
";

/// Leaves guard bits in both accumulators, addresses, flags and stacks behind.
const PROLOGUE: &str = "
mul (16) g2<1>F g10<8,8,1>F g12<8,8,1>F { align1 compr };
mov (8) a0<1>UW g1<8,8,1>UW { align1 nomask };
mov (1) f0<1>UD g1.6<0,1,0>UD { align1 nomask };
iff (16) 2 { align1 };
mov (8) g3<1>UD g4<8,8,1>UD { align1 };
mov (8) g5<1>UD g6<8,8,1>UD { align1 };
nop;
nop;
";

fn thread(place: Place, random: &mut Rng, mode: FloatMode) -> Thread {
    let mut thread = Thread::new();
    for register in thread.grf_mut().iter_mut().flatten() {
        // Floats between 1 and 2 or so, as good as other bits.
        *register = 0x3f80_0000 | random.u32(..) >> 9;
    }
    for register in thread.mrf_mut().iter_mut().flatten() {
        *register = random.u32(..);
    }
    thread.dispatch(&ThreadInit {
        id: ThreadId {
            ffid: 6,
            fftid: 0x5a,
            eu: place.eu,
            slot: place.slot,
        },
        ip: KERNEL,
        sip: ROUTINE,
        dispatch_mask: u32::from(random.u32(..) as u16 | 1),
        float_mode: mode,
        software_exception: true,
        breakpoint: true,
        ..ThreadInit::default()
    });
    thread
}

fn run(thread: &mut Thread, memory: &mut Memory, mut budget: u64) -> Stop<String> {
    let mut cache = KernelCache::new(Verx10::GEN40).unwrap();
    let mut stats = RunStats::default();
    thread.run(&mut cache, memory, &mut NoObserver, &mut budget, &mut stats)
}

fn loaded() -> Memory {
    let mut memory = Memory::default();
    memory.put(
        ROUTINE,
        system_routine::code(&I965GM, AREA, ORIGIN).unwrap(),
    );
    let kernel = isa::parse::assemble(Verx10::GEN40, "prologue", PROLOGUE).unwrap();
    memory.put(KERNEL, kernel.dwords());
    memory
}

/// The area has the general registers of a thread, and its message registers but m0.
fn assert_saved(memory: &Memory, place: Place, t: &Thread) {
    for (nr, register) in t.grf().iter().enumerate() {
        let row = memory.row(place, nr as u32 / 4);
        assert_eq!(row[nr % 4 * 8..][..8], register[..], "g{nr}");
    }
    for (nr, register) in t.mrf().iter().enumerate().skip(1) {
        let (row, at) = if nr < 13 {
            (32 + (nr - 1) / 4, (nr - 1) % 4)
        } else {
            (35, nr - 12)
        };
        let row = memory.row(place, row as u32);
        assert_eq!(row[at * 8..][..8], register[..], "m{nr}");
    }
}

#[test]
fn nothing_but_m0_changes() {
    let mut random = Rng::with_seed(0x1234_5678_9abc_def1);
    for eu in 0..8 {
        for slot in 0..4 {
            let place = Place { eu, slot };
            let mode = [FloatMode::Ieee, FloatMode::Alt][usize::from(slot % 2)];
            let mut memory = loaded();
            let mut t = thread(place, &mut random, mode);
            // Exact accumulators: an observer or a breakpoint keeps them so; here breakpoints are on.
            assert_eq!(run(&mut t, &mut memory, 6), Stop::Budget);
            let before = t.clone();
            let view = t.view();
            t.external_halt();
            assert_eq!(run(&mut t, &mut memory, 100_000), Stop::Wait(1));

            // What the driver reads is what the EU has.
            assert_saved(&memory, place, &before);
            let state = memory.row(place, ROW_STATE);
            let word = |n: usize| (state[n / 2] >> (16 * (n % 2))) as u16;
            let address: [u16; 8] = std::array::from_fn(word);
            assert_eq!(address, view.address);
            assert_eq!([word(8), word(9)], view.flag);
            assert_eq!(state[8] & !(1 << 31), view.control[0]);
            assert_eq!(state[9], view.control[1] | 1 << 30, "external halt");
            assert_eq!(state[10], view.ip);
            assert_eq!(state[11] >> 8 & 0xf, u32::from(eu));
            assert_eq!(state[11] & 7, u32::from(slot));
            assert_eq!(state[11] >> 24, 6);
            let m = &view.masks;
            let masks = [m.amask, m.imask, m.lmask, m.cmask, m.imsd, m.lmsd];
            let saved: [u16; 6] = std::array::from_fn(|n| word(32 + n));
            assert_eq!(saved, masks);
            let ims: [u16; 16] = std::array::from_fn(|n| word(48 + n));
            assert_eq!(ims, m.ims);
            let acc = memory.row(place, 37);
            assert_eq!([&acc[..8], &acc[16..24]].concat(), view.acc);
            assert_eq!(memory.row(place, ROW_MAILBOX)[0], 1);

            // Nothing else of the area was written.
            let written = memory
                .0
                .keys()
                .filter(|at| (AREA..AREA + 0x8_0000).contains(at));
            assert_eq!(written.count(), 38 * 32 + 8);

            // The host clears the status and lets it go.
            memory.put(
                AREA + offset(place, ROW_STATE) + 32,
                [state[8] & !(1 << 31), state[9] & 0x07ff_ffff],
            );
            t.notify(1);
            while t.ip() != before.ip() {
                assert_eq!(run(&mut t, &mut memory, 1), Stop::Budget);
            }
            t.mrf_mut()[0] = before.mrf()[0];
            // The way in and out leaves its address in AIP, whatever is in between.
            let mut other = before.clone();
            let leave = isa::parse::assemble(Verx10::GEN40, "leave", LEAVE).unwrap();
            memory.put(ROUTINE, leave.dwords());
            other.external_halt();
            assert_eq!(run(&mut other, &mut memory, 2), Stop::Budget);
            assert_eq!(other.ip(), before.ip());
            assert!(t.is_as(&other), "{eu}.{slot}:\n{:?}\n{:?}", t.view(), view);
        }
    }
}

#[test]
fn registers_that_the_host_writes_arrive() {
    let place = Place { eu: 3, slot: 2 };
    let mut random = Rng::with_seed(77);
    let mut memory = loaded();
    let mut t = thread(place, &mut random, FloatMode::Ieee);
    assert_eq!(run(&mut t, &mut memory, 3), Stop::Budget);
    t.external_halt();
    assert_eq!(run(&mut t, &mut memory, 100_000), Stop::Wait(1));
    // Everything anew, row by row.
    for row in 0..38 {
        let dwords: Vec<u32> = (0..32).map(|_| random.u32(..)).collect();
        memory.put(AREA + offset(place, row), dwords);
    }
    let state = AREA + offset(place, ROW_STATE);
    memory.put(state + 32, [1, 1 << 15, KERNEL + 0x60]);
    memory.put(state + 64, [0x00ff_0fff, 0x7fff_3fff, 3 << 16 | 2]);
    memory.put(AREA + offset(place, ROW_COMMAND), [2]);
    t.notify(1);
    while t.ip() != KERNEL + 0x60 {
        assert_eq!(run(&mut t, &mut memory, 1), Stop::Budget);
    }
    assert_saved(&memory, place, &t);
    let view = t.view();
    let words = memory.row(place, ROW_STATE);
    let word = |n: usize| (words[n / 2] >> (16 * (n % 2))) as u16;
    for n in 0..8 {
        // a0.2 to a0.7 have twelve bits (11.3.4.4).
        let mask = if n < 2 { 0xffff } else { 0x0fff };
        assert_eq!(view.address[n], word(n) & mask);
    }
    assert_eq!(view.flag, [word(8), word(9)]);
    assert_eq!(view.control, [1, 1 << 15, KERNEL + 0x60]);
    let m = &view.masks;
    assert_eq!(
        [m.amask, m.imask, m.lmask, m.cmask, m.imsd, m.lmsd],
        [0x0fff, 0x00ff, 0x3fff, 0x7fff, 2, 3]
    );
    let acc = memory.row(place, 37);
    assert_eq!([&acc[..8], &acc[16..24]].concat(), view.acc);
    let cms: [u16; 16] = std::array::from_fn(|n| (acc[24 + n / 2] >> (16 * (n % 2))) as u16);
    assert_eq!(cms, m.cms);
}
