//! Small kernels through the public interface, in both modes of the cache.
//!
//! No PRM chapter.

use eu::{
    Delivery, FloatMode, Grf, KernelCache, Message, NoObserver, Port, RunStats, Stop, Thread,
    ThreadInit,
};
use isa::{Inst, Verx10};

const GEN: Verx10 = Verx10::GEN40;
/// Slots between two kernels: three instructions and an empty one.
const STEP: u32 = 4;

struct Words(Vec<[u32; 4]>);

impl Port for Words {
    type Fault = u32;

    fn fetch(&mut self, ip: u32) -> Result<[u32; 4], u32> {
        self.0.get(ip as usize / 16).copied().ok_or(ip)
    }

    fn send(&mut self, msg: &Message<'_>, _: &mut [Grf]) -> Result<Delivery, u32> {
        Err(msg.ip)
    }
}

/// Registers and modes before the instruction.
#[derive(Clone)]
pub struct State {
    pub grf: Vec<Grf>,
    pub flag: [u16; 2],
    pub dispatch: u16,
    pub alt: bool,
}

impl State {
    pub fn bytes(grf: &[Grf], at: usize, size: usize) -> u32 {
        let dword = grf[at / 32][at % 32 / 4];
        let mask = if size == 4 {
            u32::MAX
        } else {
            (1 << (8 * size)) - 1
        };
        dword >> (8 * (at % 4)) & mask
    }

    pub fn set(grf: &mut [Grf], at: usize, size: usize, value: u32) {
        let mask = if size == 4 {
            u32::MAX
        } else {
            (1 << (8 * size)) - 1
        };
        let shift = 8 * (at % 4);
        let dword = &mut grf[at / 32][at % 32 / 4];
        *dword = *dword & !(mask << shift) | (value & mask) << shift;
    }
}

/// Two caches over the same words, and a thread for each.
pub struct Bench {
    caches: [KernelCache; 2],
    threads: Vec<Thread>,
    port: Words,
}

pub const MODES: [&str; 2] = ["fast", "general"];

impl Bench {
    pub fn new() -> Bench {
        Bench {
            caches: [KernelCache::new(GEN), KernelCache::general(GEN)],
            threads: vec![Thread::new(); 2],
            port: Words(Vec::new()),
        }
    }

    /// Places a kernel of at most three instructions and returns its address.
    pub fn load(&mut self, kernel: &[Inst]) -> u32 {
        if self.port.0.len() as u32 + STEP > 256 {
            self.port.0.clear();
            for c in &mut self.caches {
                c.invalidate();
            }
        }
        let at = self.port.0.len() as u32;
        for inst in kernel {
            let raw = isa::encode(GEN, inst).unwrap_or_else(|e| panic!("{e:?}: {inst:?}"));
            let back = isa::decode(GEN, raw).unwrap();
            assert_eq!(&back, inst, "decoded differently");
            self.port.0.push(raw);
        }
        self.port.0.resize((at + STEP) as usize, [0; 4]);
        at * 16
    }

    /// Runs `count` instructions at `ip` in both modes.
    pub fn run(&mut self, state: &State, ip: u32, count: u64) -> &[Thread] {
        for (t, cache) in self.threads.iter_mut().zip(&mut self.caches) {
            t.dispatch(&ThreadInit {
                ip,
                dispatch_mask: state.dispatch,
                float_mode: if state.alt {
                    FloatMode::Alt
                } else {
                    FloatMode::Ieee
                },
                grf_count: 128,
                ..ThreadInit::default()
            });
            t.set_flag(state.flag);
            t.grf_mut()[..state.grf.len()].copy_from_slice(&state.grf);
            let mut budget = count;
            let mut stats = RunStats::default();
            let stop = t.run(
                cache,
                &mut self.port,
                &mut NoObserver,
                &mut budget,
                &mut stats,
            );
            assert_eq!(stop, Stop::Budget);
            assert_eq!(stats.instructions, count);
        }
        &self.threads
    }
}
