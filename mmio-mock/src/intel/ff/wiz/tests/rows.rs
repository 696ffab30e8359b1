//! Threads that wait are those that start one by one, at the same ticks.

use super::*;
use crate::intel::ff::payload::pixels::MAX_SUBSPANS;
use crate::intel::ff::wiz::run::{Meter, Row};
use crate::intel::ff::wiz::thread::Begin;
use crate::intel::td::wave::{Record, Run};

/// Ticks of a thread.
const TICKS: u64 = 37;
/// Ticks of a slice that neither threads nor further pieces of work take.
const RESERVE: u64 = 64;

/// Subspans of a thread, each with its lit pixels.
type Group = Vec<((u16, u16), u8)>;

/// A machine with time slices, which takes threads as they come or lets them wait.
struct Sliced {
    bench: Bench,
    waits: bool,
    budget: u64,
    debt: u64,
    rounds: u32,
    threads: Vec<Group>,
    /// Threads that were taken as rows.
    rows: u32,
}

impl Sliced {
    fn new(waits: bool) -> Sliced {
        Sliced {
            bench: Bench::new(),
            waits,
            budget: 0,
            debt: 0,
            rounds: 0,
            threads: Vec::new(),
            rows: 0,
        }
    }

    fn pay(&mut self, ticks: u64) {
        let paid = ticks.min(self.budget);
        self.budget -= paid;
        self.debt += ticks - paid;
    }

    fn room(&self) -> bool {
        self.waits && self.budget > RESERVE + TICKS
    }

    fn next(&mut self) -> bool {
        if self.rounds <= 1 || self.budget <= RESERVE + 1 {
            return false;
        }
        self.pay(1);
        self.rounds -= 1;
        true
    }

    fn take(&mut self, origins: &[(u16, u16)], mask: u32) {
        let each = origins.iter().enumerate();
        // CAST: four bits.
        let group = each.map(|(n, at)| (*at, (mask >> (4 * n) & 15) as u8));
        self.threads.push(group.collect());
        self.pay(TICKS);
    }

    fn take_whole(&mut self, (at, first): ((u16, u16), u8)) {
        let run = Run {
            primitive: 0,
            number: 0,
            kernel: KernelState::default(),
            at,
            first,
            threads: 1,
            registers: 0,
            debug: [0; 2],
            snapshot: false,
            ticks: TICKS,
            charged: true,
        };
        self.take(&run.origins(0), 0xffff);
    }
}

impl WizPort for Sliced {
    fn memory(&mut self) -> &mut Memory {
        &mut self.bench.mem
    }
    fn urb_row(&self, handle: UrbHandle, row: u16) -> Grf {
        self.bench.urb_row(handle, row)
    }
    fn layout(&self) -> &'static dyn PayloadLayout {
        &Layout
    }
    fn wait(&mut self, record: Record, _: impl FnOnce() -> Plain) -> bool {
        if !self.room() {
            return false;
        }
        let count = usize::from(record.subspans).min(MAX_SUBSPANS);
        self.take(&record.origins[..count], record.mask);
        true
    }
    fn wait_whole(
        &mut self,
        _: &KernelState,
        square: ((u16, u16), u8),
        _: impl FnOnce(&mut DebugRegs) -> Begin,
    ) -> bool {
        let room = self.room();
        if room {
            self.take_whole(square);
        }
        room
    }
    fn takes_rows(&self, _: &KernelState) -> bool {
        self.waits
    }
    fn wait_row(
        &mut self,
        _: &KernelState,
        row: &Row,
        _: impl FnOnce(&mut DebugRegs) -> Begin,
    ) -> (u32, bool) {
        let mut meter = Meter {
            budget: self.budget,
            rounds: self.rounds,
            kept: [RESERVE; 2],
        };
        let (taken, goes_on) = meter.pay(row, TICKS, u32::MAX);
        self.rows += taken;
        for n in 0..taken as u16 {
            let ((x, y), first) = row.from;
            self.take_whole(((x + 4 * n, y), first));
        }
        (self.budget, self.rounds) = (meter.budget, meter.rounds);
        (taken, goes_on)
    }
    fn waits(&self) -> bool {
        self.waits && !self.threads.is_empty()
    }
    fn charge(&mut self, ticks: u64) {
        self.pay(ticks);
    }
    fn go_on(&mut self) -> bool {
        self.next()
    }
    fn dispatch(&mut self, thread: &PsThread<'_>) -> Dispatch {
        let [r0, r1] = [thread.payload[0], thread.payload[1]];
        let count = thread.dispatch_mask.count_ones() as usize / 4;
        let origins: Vec<_> = r1[2..2 + count]
            .iter()
            .map(|word| (*word as u16, (word >> 16) as u16))
            .collect();
        self.take(&origins, r0[0] & 0xffff);
        Dispatch::Done
    }
    fn count_invocations(&mut self, pixels: u32) {
        self.bench.invocations += pixels;
    }
    fn count_depth(&mut self, pixels: u32) {
        self.bench.depth_count += pixels;
    }
    fn debug(&mut self) -> &mut DebugRegs {
        &mut self.bench.debug
    }
}

/// What is seen at the end of each slice, threads and pixels at the end of all, and the threads that were taken as rows.
type Seen = (Vec<(usize, u64, u64)>, Vec<Group>, [u32; 2]);

fn drawn(waits: bool, state: &WizState, primitives: &[SetupPrimitive], seed: u64) -> (Seen, u32) {
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut port = Sliced::new(waits);
    let mut wiz = Wiz::new();
    let mut slices = Vec::new();
    for primitive in primitives {
        if !wiz.begin(state, primitive, &mut port).unwrap() {
            continue;
        }
        loop {
            (port.budget, port.debt) = (100 + rng.u64(..20_000), 0);
            port.rounds = 1 + rng.u32(..300);
            let step = loop {
                let step = wiz.step(state, &mut port).unwrap();
                port.pay(wiz.take_ticks());
                if step != Step::Progress || !wiz.busy() || !port.next() {
                    break step;
                }
            };
            slices.push((port.threads.len(), port.budget, port.debt));
            assert_ne!(step, Step::Blocked);
            if !wiz.busy() {
                break;
            }
        }
    }
    let counts = [port.bench.invocations, port.bench.depth_count];
    ((slices, port.threads, counts), port.rows)
}

fn random(rng: &mut fastrand::Rng) -> SetupPrimitive {
    let mut place = || rng.f32() * 300.0 - 20.0;
    let corners = [(); 3].map(|()| (place(), place()));
    if rng.u32(..3) == 0 {
        let [(a, b), (c, d), _] = corners;
        return rect(a.min(c), b.min(d), a.max(c), b.max(d));
    }
    SetupPrimitive {
        v: vertices(corners),
        sequence: 3,
        ..SetupPrimitive::default()
    }
}

#[test]
fn rows_of_squares_change_nothing() {
    let mut rng = fastrand::Rng::with_seed(0x0a11);
    let mut plain = state();
    plain.drawing_rectangle.clip = PixelRect {
        x_min: 5,
        y_min: 2,
        x_max: 261,
        y_max: 250,
    };
    // Once with depth tests, whose squares are taken one by one.
    let mut tested = plain.clone();
    tested.drawing_rectangle.clip.x_max = 63;
    tested.drawing_rectangle.clip.y_max = 63;
    tested.cc.depth.test = true;
    tested.cc.depth.write = true;
    tested.cc.depth.function = crate::intel::cc::Compare::Always;
    tested.depth_buffer = Some(depth_buffer());
    let (mut rows, mut threads) = (0, 0);
    for round in 0..400 {
        let state = if round % 4 == 0 { &tested } else { &plain };
        let primitives = [random(&mut rng), random(&mut rng)];
        let seed = rng.u64(..);
        let (alone, none) = drawn(false, state, &primitives, seed);
        let (waiting, taken) = drawn(true, state, &primitives, seed);
        assert_eq!(none, 0);
        assert!(alone == waiting, "round {round}: {primitives:?}");
        rows += taken;
        threads += alone.1.len();
    }
    // Most threads are of whole squares.
    assert!(rows as usize > threads / 4, "{rows} of {threads}");
}
