//! Small kernels through the public interface, in both modes of the cache.

use eu::{
    Delivery, FloatMode, Grf, KernelCache, Message, NoObserver, Port, RunStats, Stop, Thread,
    ThreadInit,
};
use isa::inst::Compression;
use isa::{Inst, Opcode, Verx10};

/// Every generation that the interpreter runs; what the tests ask for is the same on all but for rounding.
const ALL: [Verx10; 5] = [
    Verx10::GEN40,
    Verx10::from_times_ten(45),
    Verx10::from_times_ten(50),
    Verx10::from_times_ten(60),
    Verx10::from_times_ten(70),
];
/// The generations with `pln`.
pub const LATER: &[Verx10] = &[ALL[1], ALL[2], ALL[3], ALL[4]];
/// Those whose rounding instructions ask for an addition.
pub const TWO_STEPS: &[Verx10] = &[ALL[0], ALL[1], ALL[2]];
/// Sandy Bridge and ValleyView.
pub const SNB: &[Verx10] = &[ALL[3], ALL[4]];
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

/// The instruction as Sandy Bridge has it: halves are quarters, registers of a compressed one follow by themselves, and what
/// updated the accumulator says so.
fn as_quarters(inst: &Inst) -> Inst {
    use Opcode::{
        Add, Avg, Dp2, Dp3, Dp4, Dph, Frc, Line, Lzd, Mac, Mach, Mul, Pln, Rndd, Rnde, Rndu, Rndz,
        Sad2, Sada2,
    };
    let mut inst = *inst;
    if inst.compression == Compression::SecHalf {
        inst.qtr_ctrl = 1;
    }
    inst.compression = Compression::None;
    let rounds = matches!(inst.opcode, Frc | Rndd | Rnde | Rndu | Rndz);
    let sums = matches!(
        inst.opcode,
        Dp2 | Dp3 | Dp4 | Dph | Line | Pln | Sad2 | Sada2
    );
    let others = matches!(inst.opcode, Add | Avg | Lzd | Mac | Mach | Mul);
    inst.acc_wr_ctrl |= rounds || sums || others;
    inst
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

/// Two caches over the same words, and a thread for each; a full page of kernels is followed by one
/// of the next generation.
pub struct Bench {
    generations: &'static [Verx10],
    turn: usize,
    caches: [KernelCache; 2],
    threads: Vec<Thread>,
    port: Words,
}

pub const MODES: [&str; 2] = ["fast", "general"];

impl Bench {
    pub fn new() -> Bench {
        Bench::of(&ALL)
    }

    /// A bench of some generations only.
    pub fn of(generations: &'static [Verx10]) -> Bench {
        Bench {
            generations,
            turn: 0,
            caches: Bench::caches(generations[0]),
            threads: vec![Thread::new(); 2],
            port: Words(Vec::new()),
        }
    }

    fn caches(generation: Verx10) -> [KernelCache; 2] {
        [
            KernelCache::new(generation).unwrap(),
            KernelCache::general(generation).unwrap(),
        ]
    }

    fn generation(&self) -> Verx10 {
        self.generations[self.turn % self.generations.len()]
    }

    /// Whether results of what was loaded last are rounded to the nearest.
    pub fn nearest(&self) -> bool {
        SNB.contains(&self.generation())
    }

    /// Whether of two dwords `mul` takes the low word of the second.
    pub fn second_word(&self) -> bool {
        self.generation() == ALL[4]
    }

    /// Places a kernel of at most three instructions and returns its address.
    pub fn load(&mut self, kernel: &[Inst]) -> u32 {
        if self.port.0.len() as u32 + STEP > 256 {
            self.port.0.clear();
            self.turn += 1;
            self.caches = Bench::caches(self.generation());
        }
        let generation = self.generation();
        let at = self.port.0.len() as u32;
        for inst in kernel {
            let inst = &if SNB.contains(&generation) {
                as_quarters(inst)
            } else {
                *inst
            };
            let raw = isa::encode(generation, inst).unwrap_or_else(|e| panic!("{e:?}: {inst:?}"));
            let back = isa::decode(generation, raw).unwrap();
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
                dispatch_mask: state.dispatch.into(),
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
