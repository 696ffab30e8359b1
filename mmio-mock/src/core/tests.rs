//! A device of no vendor runs under the platform, the live shell and the bus.
//!
//! It has two registers and a counter. GO starts as many ticks of work as are written; each tick counts COUNT up, and
//! the end of the work raises the line until GO is written again.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, Weak};

use kernel::dma::DmaAllocator;
use kernel::io::Io;
use kernel::irq::{Handler, IrqLine, IrqReturn};
use kernel::pci::ConfigSpace;
use kernel::platform::Platform;
use kernel::time::{Clock as _, Delta};

use super::bus::{RegFile, RegisterMap, RegisterRules};
use super::fault::UnitFault;
use super::live::LivePlatform;
use super::platform::ModelPlatform;
use super::status::{FaultLog, FaultRecord};
use super::trace::{Detail, Log, Trace};
use super::{Clock, Ended, Identity, Model};

const GO: usize = 0x10;
const COUNT: usize = 0x14;
/// A byte of configuration space that resets the device and reads as 80h then.
const RESET: usize = 0x44;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reg {
    Go,
    Count,
}

/// Bits that a write changes.
#[derive(Debug)]
struct Rules(u32);

impl RegisterRules for Rules {
    fn count(&self) -> u32 {
        1
    }
    fn dwords(&self) -> u32 {
        1
    }
    fn at_reset(&self, _: u32) -> u32 {
        0
    }
    fn read(&self, _: u32, stored: u32) -> u32 {
        stored
    }
    fn read_clears(&self, _: u32) -> u32 {
        0
    }
    fn write(&self, _: u32, old: u32, new: u32) -> u32 {
        old & !self.0 | new & self.0
    }
}

/// GO has 16 bits; COUNT is read only.
static RULES: [(Reg, Rules); 2] = [(Reg::Go, Rules(0xffff)), (Reg::Count, Rules(0))];

#[derive(Clone, Copy, Debug)]
struct Map;

impl RegisterMap for Map {
    type Id = Reg;
    type Rules = Rules;
    const IDS: usize = RULES.len();

    fn number(id: Reg) -> usize {
        id as usize
    }
    fn all(self) -> impl Iterator<Item = (Reg, &'static Rules)> {
        RULES.iter().map(|(id, rules)| (*id, rules))
    }
    fn lookup(self, offset: u32) -> Option<(Reg, u32, u32)> {
        let id = match offset as usize {
            GO => Reg::Go,
            COUNT => Reg::Count,
            _ => return None,
        };
        Some((id, 0, 0))
    }
    fn rules(self, id: Reg) -> Option<&'static Rules> {
        RULES.get(Map::number(id)).map(|(_, rules)| rules)
    }
}

/// The only thing that ever happens.
struct Counted(u32);

impl std::fmt::Display for Counted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "counted to {}", self.0)
    }
}

impl Detail for Counted {
    fn is_detail(&self) -> bool {
        false
    }
}

struct Counter {
    regs: RegFile<Map>,
    clock: Clock,
    left: u64,
    raised: bool,
    faults: FaultLog,
    trace: Trace<Counted>,
}

impl Counter {
    fn new() -> Self {
        Counter {
            regs: RegFile::new(Map),
            clock: Clock::new(1000),
            left: 0,
            raised: false,
            faults: FaultLog::default(),
            trace: Trace::default(),
        }
    }
}

impl Model for Counter {
    fn identity(&self) -> Identity {
        Identity {
            pci: (0x1234, 0x5678),
            revision: 9,
            bars: [0, 0, 4096, 0, 0, 0],
            config: &[],
        }
    }
    fn clock(&self) -> &Clock {
        &self.clock
    }
    fn clock_mut(&mut self) -> &mut Clock {
        &mut self.clock
    }
    fn read32(&mut self, offset: u32) -> u32 {
        let place = self.regs.place(offset);
        place.map_or(0, |place| self.regs.bus_read(place))
    }
    fn write32(&mut self, offset: u32, value: u32) {
        let Some(place) = self.regs.place(offset) else {
            let what = format!("write to {offset:#x}");
            let fault = UnitFault::Command { unit: "bus", what };
            self.faults.note("host", fault, || "counter".to_owned());
            return;
        };
        self.regs.bus_write(place, value);
        if place.id == Reg::Go {
            self.left = u64::from(self.regs.get(Reg::Go));
            self.raised = false;
        }
    }
    fn write_config(&mut self, offset: u8, value: u8) -> u8 {
        if usize::from(offset) != RESET {
            return value;
        }
        self.reset();
        0x80
    }
    fn irq_line(&self) -> bool {
        self.raised
    }
    fn work(
        &mut self,
        ticks: u64,
        quantum: u64,
        stop: &mut dyn FnMut(u64) -> bool,
    ) -> (u64, Ended) {
        let mut used = 0;
        while used < ticks {
            let now = self.left.min(ticks - used).min(quantum);
            if now == 0 {
                return (used, Ended::Idle);
            }
            self.left -= now;
            used += now;
            self.clock.pass(now);
            let count = self.regs.get(Reg::Count) + now as u32;
            self.regs.set(Reg::Count, count);
            if self.left == 0 {
                self.raised = true;
                self.trace.event(Counted(count));
            }
            if stop(used) {
                break;
            }
        }
        (used, Ended::Busy)
    }
    fn idle(&self) -> bool {
        self.left == 0
    }
    fn reset(&mut self) {
        self.regs.reset();
        self.left = 0;
        self.raised = false;
    }
    fn take_faults(&mut self) -> (Vec<FaultRecord>, u64) {
        self.faults.take()
    }
    fn log_events(&mut self, limit: Option<usize>) {
        self.trace = limit.map(Trace::with_limit).unwrap_or_default();
    }
    fn event_log(&self) -> &Log {
        self.trace.log()
    }
}

/// Starts the work again until it has run so often.
struct Again<P> {
    platform: Weak<P>,
    calls: AtomicU32,
    most: u32,
}

impl<P: Platform> Handler for Again<P> {
    fn handle(&self) -> IrqReturn {
        let Some(platform) = self.platform.upgrade() else {
            return IrqReturn::None;
        };
        let call = self.calls.fetch_add(1, Ordering::SeqCst) + 1;
        let next = if call < self.most { 500 } else { 0 };
        platform.io().write32(next, GO);
        IrqReturn::Handled
    }
}

fn handler<P: Platform>(platform: &Arc<P>, most: u32) -> Arc<Again<P>> {
    Arc::new(Again {
        platform: Arc::downgrade(platform),
        calls: AtomicU32::new(0),
        most,
    })
}

fn power_on<M: Model>(device: M) -> Arc<ModelPlatform<M>> {
    let memory = mem::Memory::new(1 << 20, 16);
    ModelPlatform::over(device, Arc::new(Mutex::new(memory)))
}

#[test]
fn waiting_on_the_platform_lets_the_device_work() {
    let platform = power_on(Counter::new());
    platform.device().log_events(Some(1 << 10));
    let handler = handler(&platform, 3);
    IrqLine::request(&*platform, handler.clone()).unwrap();
    Io::write32(&*platform, 0x1_0000 + 700, GO);
    // 1000 MHz: a tick is a nanosecond.
    platform.relax(Delta::from_nanos(600));
    assert_eq!(Io::read32(&*platform, COUNT), 600);
    assert_eq!(platform.now().as_nanos(), 600);
    assert!(!platform.device().idle());
    for _ in 0..3 {
        platform.relax(Delta::from_nanos(1000));
    }
    assert_eq!(handler.calls.load(Ordering::SeqCst), 3);
    assert_eq!(Io::read32(&*platform, COUNT), 1700);
    // What nothing used has passed all the same.
    assert_eq!(platform.now().as_nanos(), 3600);
    let device = platform.device();
    assert!(device.idle() && !device.irq_line());
    assert_eq!(
        device.event_log().text(),
        "counted to 700\ncounted to 1200\ncounted to 1700\n"
    );
}

#[test]
fn the_platform_shows_what_the_device_says_it_is() {
    let platform = power_on(Counter::new());
    assert_eq!(ConfigSpace::read32(&*platform, 0), 0x5678_1234);
    assert_eq!(ConfigSpace::read8(&*platform, 8), 9);
    assert!(platform.bar(0).is_none() && platform.bar(6).is_none());
    assert_eq!(platform.bar(2).unwrap().len, 4096);
    // The header is read only; other bytes keep what is written, unless the device has an answer.
    ConfigSpace::write32(&*platform, 0, 0);
    assert_eq!(ConfigSpace::read16(&*platform, 0), 0x1234);
    ConfigSpace::write8(&*platform, 7, 0x50);
    assert_eq!(ConfigSpace::read8(&*platform, 0x50), 7);
    Io::write32(&*platform, 9, GO);
    platform.run(4);
    ConfigSpace::write8(&*platform, 1, RESET);
    assert_eq!(ConfigSpace::read8(&*platform, RESET), 0x80);
    assert_eq!(Io::read32(&*platform, COUNT), 0);
    assert!(platform.device().idle());
    // Nothing lies there: reads are 0, and the device keeps its fault.
    Io::write32(&*platform, 1, 0x20);
    assert_eq!(Io::read32(&*platform, 0x20), 0);
    let (faults, dropped) = platform.device().take_faults();
    assert_eq!((faults.len(), dropped), (1, 0));
    assert_eq!(faults[0].client, "host");
    let page = platform.alloc(1).unwrap();
    assert_eq!(platform.allocated_pages(), 1);
    DmaAllocator::free(&*platform, page, 1);
}

/// On a thread of its own, and with a kind that is chosen when the program runs.
#[test]
fn the_live_shell_runs_any_device() {
    let device: Box<dyn Model> = Box::new(Counter::new());
    let live = LivePlatform::new(power_on(device));
    let handler = handler(&live, 20);
    live.irq().request(handler.clone()).unwrap();
    live.io().write32(500, GO);
    let mut waits = 0;
    while handler.calls.load(Ordering::SeqCst) < 20 {
        waits += 1;
        // TIMEOUT: a second of device time for 10,000 ticks of it.
        assert!(waits < 1000, "the work does not end");
        live.relax(Delta::from_millis(1));
    }
    assert_eq!(live.io().read32(COUNT), 500 * 20);
    live.with_device(|device| assert!(device.idle() && !device.irq_line()));
    live.irq().free();
}

/// A busy host may let the device's thread wait: that is no time of the device.
#[test]
fn no_time_passes_on_a_device_that_is_kept_from_its_work() {
    let live = LivePlatform::new(power_on(Counter::new()));
    let wait = || std::thread::sleep(std::time::Duration::from_millis(20));
    // It has nothing to do.
    live.relax(Delta::from_millis(1));
    let idle = live.now();
    wait();
    assert!(live.now() > idle);
    let device = live.model().device();
    live.io().write32(500, GO);
    let kept = live.now();
    wait();
    assert_eq!(live.now(), kept);
    drop(device);
    // A wait also ends when something has happened.
    let done = (0..1000).any(|_| {
        live.relax(Delta::from_millis(1));
        live.now() > kept && live.io().read32(COUNT) == 500
    });
    assert!(done);
}

/// Without a thread, calls in the same order make the same time.
#[test]
fn a_device_in_step_moves_only_while_somebody_waits() {
    let times: Vec<u64> = (0..2)
        .map(|_| {
            let live = LivePlatform::in_step(power_on(Counter::new()));
            let handler = handler(&live, 2);
            live.irq().request(handler.clone()).unwrap();
            live.io().write32(500, GO);
            assert_eq!(live.io().read32(COUNT), 0);
            live.settle(Delta::from_millis(1));
            assert_eq!(live.io().read32(COUNT), 1000);
            live.irq().free();
            live.now().as_nanos()
        })
        .collect();
    assert_eq!(times[0], times[1]);
}
