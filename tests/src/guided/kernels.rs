//! Arbitrary kernels on one thread: both modes of the kernel cache do the same.
//!
//! PRM: volume 4, chapters 11 to 14; G45 and Ironlake by their tables. What stops a thread is stepped over, so that the
//! words behind it are reached; so many instructions are executed.

use arbitrary::{Result, Unstructured};
use eu::{
    Delivery, FloatMode, Grf, KernelCache, Masks, Message, NoObserver, Port, RunStats, Stop,
    Thread, ThreadInit, View,
};
use fastrand::Rng;
use isa::Verx10;
use isa::tables::Table;

/// Instructions of a kernel at most.
const LENGTH: usize = 48;
/// Instructions executed of a kernel at most.
const BUDGET: u64 = 192;
/// Times that a thread is helped on.
const STOPS: usize = 64;

/// What a thread starts from.
struct Start {
    generation: Verx10,
    init: ThreadInit,
    masks: Masks,
    flag: [u16; 2],
    /// Seed of registers and answers.
    seed: u64,
    words: Vec<[u32; 4]>,
}

impl Start {
    fn take(input: &mut Unstructured<'_>) -> Result<Self> {
        let generation = Verx10::from_times_ten([40, 45, 50, 60, 70][input.choose_index(5)?]);
        let switches: u8 = input.arbitrary()?;
        let dispatch_mask: u16 = input.arbitrary()?;
        let (sip, levels, seed): (u8, u8, u16) = input.arbitrary()?;
        let flag: [u16; 2] = input.arbitrary()?;
        let all = if switches & 1 == 0 { 0xffff } else { flag[0] };
        let masks = Masks {
            amask: all,
            imask: all,
            lmask: all,
            cmask: all,
            ims: [flag[1]; 16],
            lms: [flag[1]; 16],
            cms: [flag[1]; 16],
            imsd: u16::from(levels & 15) + u16::from(levels & 3 == 3),
            lmsd: u16::from(levels >> 4),
        };
        let init = ThreadInit {
            sip: u32::from(sip) % LENGTH as u32 * 16,
            dispatch_mask: dispatch_mask.into(),
            float_mode: if switches & 2 == 0 {
                FloatMode::Ieee
            } else {
                FloatMode::Alt
            },
            single_program_flow: switches & 4 != 0,
            illegal_opcode_exception: switches & 8 != 0,
            mask_stack_exception: switches & 16 != 0,
            software_exception: switches & 32 != 0,
            breakpoint: switches & 64 != 0,
            grf_count: 128,
            ..ThreadInit::default()
        };
        let opcodes: Vec<u8> = Table::of(generation)
            .map(|table| table.rows().map(|row| row.hw).collect())
            .unwrap_or_default();
        let mut words = Vec::new();
        while !input.is_empty() && words.len() < LENGTH {
            words.push(word(input, &opcodes)?);
        }
        Ok(Start {
            generation,
            init,
            masks,
            flag,
            seed: u64::from(seed),
            words,
        })
    }
}

/// An instruction: a byte of 128 and more keeps the opcode of the words, a smaller one chooses another.
fn word(input: &mut Unstructured<'_>, opcodes: &[u8]) -> Result<[u32; 4]> {
    let choice: u8 = input.arbitrary()?;
    let mut words: [u32; 4] = input.arbitrary()?;
    if choice < 0x80 {
        let opcode = opcodes[usize::from(choice) % opcodes.len()];
        words[0] = words[0] & !0x7f | u32::from(opcode);
    }
    Ok(words)
}

/// Fetches the words; messages are answered by a generator.
struct Shared<'a> {
    words: &'a [[u32; 4]],
    random: Rng,
}

impl Port for Shared<'_> {
    type Fault = u32;

    fn fetch(&mut self, ip: u32) -> std::result::Result<[u32; 4], u32> {
        self.words.get(ip as usize / 16).copied().ok_or(ip)
    }

    fn send(
        &mut self,
        _: &Message<'_>,
        response: &mut [Grf],
    ) -> std::result::Result<Delivery, u32> {
        for dword in response.iter_mut().flatten() {
            *dword = self.random.u32(..);
        }
        Ok(match self.random.u32(..16) {
            0 => Delivery::Dropped,
            1 => Delivery::Busy,
            _ => Delivery::Done,
        })
    }
}

/// What a thread leaves; its accumulator is left out, because an update that is never read may be left out too.
#[derive(Debug, PartialEq)]
struct End {
    stops: Vec<Stop<u32>>,
    grf: Vec<Grf>,
    mrf: Vec<Grf>,
    view: View,
    stats: RunStats,
}

fn execute(start: &Start, cache: &mut KernelCache) -> End {
    let mut thread = Thread::new();
    let mut random = Rng::with_seed(start.seed);
    thread.dispatch(&start.init);
    for dword in thread.grf_mut().iter_mut().flatten() {
        // Small integers, floats of every size, anything.
        let any = random.u32(..);
        *dword = match random.u32(..4) {
            0 => any & 0x1ff,
            1 => any & 0x83ff_ffff | 0x3c00_0000,
            _ => any,
        };
    }
    thread.set_flag(start.flag);
    thread.set_masks(start.masks);
    let mut port = Shared {
        words: &start.words,
        random,
    };
    let (mut budget, mut stats, mut stops) = (BUDGET, RunStats::default(), Vec::new());
    while stops.len() < STOPS {
        let stop = thread.run(cache, &mut port, &mut NoObserver, &mut budget, &mut stats);
        stops.push(stop);
        let ip = match stop {
            Stop::Budget => break,
            Stop::Busy | Stop::Observer => continue,
            Stop::Fault(_) => 16 * port.random.u32(..start.words.len() as u32),
            _ => thread.ip().wrapping_add(16),
        };
        if matches!(stop, Stop::Hung(_)) {
            // Registers of a dropped message are valid again.
            thread.dispatch(&ThreadInit { ip, ..start.init });
        }
        thread.set_ip(ip);
    }
    let mut view = thread.view();
    (view.acc, view.acc_words) = ([0; 16], [0; 16]);
    End {
        stops,
        grf: thread.grf().to_vec(),
        mrf: thread.mrf().to_vec(),
        view,
        stats,
    }
}

/// Runs one input.
pub fn run(data: &[u8]) {
    let Ok(start) = Start::take(&mut Unstructured::new(data)) else {
        return;
    };
    if start.words.is_empty() {
        return;
    }
    let fast = execute(&start, &mut KernelCache::new(start.generation).unwrap());
    let general = execute(&start, &mut KernelCache::general(start.generation).unwrap());
    assert!(
        fast == general,
        "{:08x?}: fast {fast:x?}\ngeneral {general:x?}",
        start.words
    );
}
