//! Captured ValleyView kernels do in each engine what they do interpreted.

use crate::agree;
use eu::r#gen::GEN70;
use eu::straight::{Registers, Runner};
use eu::stretch::Compiler;
use eu::{
    Delivery, Grf, KernelCache, Message, NoObserver, Port, RunStats, Stop, Thread, ThreadId,
    ThreadInit,
};
use fastrand::Rng;
use std::sync::Arc;

const KERNELS: &str = include_str!("../../../isa/tests/data/vlv_kernels.hex");
/// Registers that threads begin with.
const FILLED: usize = 128;
/// Threads that run before all parts of a kernel that threads come by are compiled, and those that are compared.
const WARM: usize = 100;
const THREADS: usize = 12;
/// Instructions of a thread at most.
const BUDGET: u64 = 4000;

type Sent = (u8, u32, u16, u32, Vec<Grf>);

/// Instruction memory as dwords, as instructions may be compacted; answers depend on the message.
#[derive(Clone)]
struct Memory {
    words: Vec<u32>,
    sent: Vec<Sent>,
}

impl Port for Memory {
    type Fault = u32;

    fn fetch(&mut self, ip: u32) -> Result<[u32; 4], u32> {
        let at = ip as usize / 4;
        let four = self.words.get(at..at + 4).ok_or(ip)?;
        Ok([four[0], four[1], four[2], four[3]])
    }

    fn send(&mut self, msg: &Message<'_>, response: &mut [Grf]) -> Result<Delivery, u32> {
        let payload = msg.payload.to_vec();
        self.sent
            .push((msg.sfid, msg.desc, msg.exec_mask, msg.ip, payload));
        for (n, register) in response.iter_mut().enumerate() {
            for (channel, to) in register.iter_mut().enumerate() {
                if msg.exec_mask >> channel & 1 != 0 {
                    let from = msg.payload.first().map_or(7, |first| first[channel]);
                    *to = from.rotate_left(3 * n as u32) & 0xbfff_ffff;
                }
            }
        }
        Ok(Delivery::Done)
    }
}

/// Names and words of the kernels.
fn kernels() -> Vec<(&'static str, Vec<u32>)> {
    let mut out: Vec<(&str, Vec<u32>)> = Vec::new();
    for line in KERNELS.lines() {
        if let Some(name) = line.strip_prefix("## ") {
            out.push((name, Vec::new()));
        } else if let Some((words, _)) = line.split_once("  ") {
            let words = words
                .split(' ')
                .map(|word| u32::from_str_radix(word, 16).unwrap());
            out.last_mut().unwrap().1.extend(words);
        }
    }
    for (_, words) in &mut out {
        words.resize(words.len().next_multiple_of(4), 0);
    }
    out
}

fn filled(rng: &mut Rng) -> Vec<Grf> {
    let value = |rng: &mut Rng| match rng.u32(..4) {
        0 => rng.u32(..64),
        1 => rng.u32(..),
        _ => rng.u32(..) & 0x83ff_ffff | 0x3c00_0000,
    };
    (0..FILLED)
        .map(|_| std::array::from_fn(|_| value(rng)))
        .collect()
}

fn begin(thread: &mut Thread, id: ThreadId, mask: u32, filled: &[Grf]) {
    thread.dispatch(&ThreadInit {
        id,
        dispatch_mask: mask,
        ..ThreadInit::default()
    });
    thread.load(FILLED).copy_from_slice(filled);
}

fn run(cache: &mut KernelCache, thread: &mut Thread, port: &mut Memory) -> (Stop<u32>, u64) {
    let (mut left, mut stats) = (BUDGET, RunStats::default());
    let stop = thread.run(cache, port, &mut NoObserver, &mut left, &mut stats);
    (stop, stats.instructions)
}

/// How many parts of the kernels were compiled, as a list of instructions and as blocks.
#[derive(Default)]
struct Seen {
    straight: usize,
    graphs: usize,
    compiled: u64,
}

fn compare(
    rng: &mut Rng,
    (name, words): (&str, &[u32]),
    compiler: &Arc<dyn Compiler>,
    seen: &mut Seen,
) {
    let mut cache = KernelCache::of(GEN70);
    cache.set_compiler(Some(compiler.clone()), false);
    let mut plain = KernelCache::of(GEN70);
    let mut thread = Thread::of(GEN70);
    let port = Memory {
        words: words.to_vec(),
        sent: Vec::new(),
    };
    let id = ThreadId {
        ffid: 6,
        fftid: 3,
        eu: 1,
        slot: 2,
    };
    // Kernels of 32 channels are not for threads of sixteen.
    let masks = if name.contains("SIMD32") {
        [u32::MAX, u32::MAX, rng.u32(..)]
    } else {
        [0xffff, 0xff, u32::from(rng.u16(..))]
    };
    for n in 0..WARM + THREADS {
        let (mask, filled) = (masks[n % 3], filled(rng));
        begin(&mut thread, id, mask, &filled);
        let mut other = thread.clone();
        let [mut one, mut two] = [port.clone(), port.clone()];
        let ended = run(&mut cache, &mut thread, &mut one);
        if n < WARM {
            continue;
        }
        assert_eq!(ended, run(&mut plain, &mut other, &mut two), "{name}");
        assert_eq!(one.sent, two.sent, "{name}");
        assert_eq!(thread.grf(), other.grf(), "{name}");
        assert_eq!(thread.view(), other.view(), "{name}");
        // The same over registers alone.
        let (mut registers, runner) = (
            Registers::default(),
            Runner {
                id,
                dispatch_mask: mask,
            },
        );
        let mut three = port.clone();
        if let Some(straight) = cache.straight(0) {
            straight
                .load(&mut registers, FILLED, mask)
                .copy_from_slice(&filled);
            assert_eq!(
                straight.run(&mut registers, &runner, &mut three),
                Ok(()),
                "{name}"
            );
        } else if let Some(graph) = cache.graph(0) {
            graph
                .load(&mut registers, FILLED, mask)
                .copy_from_slice(&filled);
            let (mut left, mut stats) = (BUDGET, RunStats::default());
            if graph.run(&mut registers, &runner, &mut three, &mut left, &mut stats) != Ok(()) {
                continue;
            }
            assert_eq!(stats.instructions, ended.1, "{name}");
        } else {
            continue;
        }
        assert_eq!(two.sent, three.sent, "{name}");
    }
    seen.straight += usize::from(cache.straight(0).is_some());
    seen.graphs += usize::from(cache.graph(0).is_some());
    seen.compiled += cache.compiled();
    if std::env::var("CRESTLINE_LISTS").is_ok()
        && cache.straight(0).is_none()
        && cache.graph(0).is_none()
    {
        println!("neither list nor blocks: {name}");
    }
}

#[test]
fn captured_kernels_do_the_same_in_every_engine() {
    for (engine, compiler) in agree::compilers() {
        let mut rng = Rng::with_seed(0x70);
        let mut seen = Seen::default();
        let all = kernels();
        for (name, words) in &all {
            compare(&mut rng, (name, words), &compiler, &mut seen);
        }
        let Seen {
            straight,
            graphs,
            compiled,
        } = seen;
        println!(
            "{engine}: of {} kernels {straight} are lists and {graphs} blocks; {compiled} instructions compiled",
            all.len()
        );
        assert!(straight > all.len() / 3, "{engine}: {straight}");
        assert!(graphs > 4 || engine != "machine code", "{engine}: {graphs}");
    }
}
