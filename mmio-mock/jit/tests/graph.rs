//! Kernels with branches send what threads send, and leave the same registers.

use crate::flow::Maker;
use crate::straight::{Noting, compiled, send};
use crate::{agree, kernels};
use eu::graph::{Blocks, Graph, Whole, stepped};
use eu::straight::{Broken, Registers, Runner};
use eu::stretch::{Compiled, Compiler, Step};
use eu::{Grf, KernelCache, NoObserver, RunStats, Stop, Thread, ThreadId, ThreadInit};
use fastrand::Rng;
use isa::Verx10;
use std::collections::BTreeMap;
use std::sync::Arc;

const FILLED: usize = 24;
const KERNELS: usize = 120;
const THREADS: usize = 16;
/// Threads that run before all parts of a kernel that threads come by are compiled.
const WARM: usize = 100;
/// Instructions of a thread at most.
const BUDGET: u64 = 3000;

fn noting(words: &[[u32; 4]]) -> Noting {
    Noting {
        words: words.to_vec(),
        sent: Vec::new(),
    }
}

fn filled(rng: &mut Rng) -> Vec<Grf> {
    (0..FILLED)
        .map(|_| std::array::from_fn(|_| kernels::value(rng)))
        .collect()
}

fn mask(rng: &mut Rng) -> u32 {
    match rng.u32(..4) {
        0 => 0xff,
        1 => u32::from(rng.u16(..)),
        _ => 0xffff,
    }
}

/// A cache that has compiled a kernel, as far as threads came.
fn warm(
    rng: &mut Rng,
    set: Verx10,
    words: &[[u32; 4]],
    compiler: &Arc<dyn Compiler>,
) -> KernelCache {
    let mut cache = KernelCache::new(set).unwrap();
    cache.set_compiler(Some(compiler.clone()), false);
    let mut thread = Thread::of(cache.instructions());
    for _ in 0..WARM {
        thread.dispatch(&ThreadInit {
            dispatch_mask: mask(rng),
            ..ThreadInit::default()
        });
        thread.load(FILLED).copy_from_slice(&filled(rng));
        let (mut left, mut stats) = (BUDGET, RunStats::default());
        let _: Stop<u32> = thread.run(
            &mut cache,
            &mut noting(words),
            &mut NoObserver,
            &mut left,
            &mut stats,
        );
    }
    cache
}

/// How a thread ended in both.
fn compare(
    rng: &mut Rng,
    (set, words): (Verx10, &[[u32; 4]]),
    graph: &Graph,
    used: &mut Registers,
) -> &'static str {
    let id = ThreadId {
        ffid: 6,
        fftid: rng.u8(..),
        eu: 1,
        slot: 2,
    };
    let dispatch_mask = mask(rng);
    let filled = filled(rng);
    let budget = if rng.u32(..4) == 0 {
        1 + rng.u64(..200)
    } else {
        BUDGET
    };
    let mut cache = KernelCache::new(set).unwrap();
    let mut thread = Thread::of(cache.instructions());
    thread.dispatch(&ThreadInit {
        id,
        dispatch_mask,
        ..ThreadInit::default()
    });
    thread.load(FILLED).copy_from_slice(&filled);
    let (mut one, mut other) = (noting(words), noting(words));
    let (mut left, mut stats) = (budget, RunStats::default());
    let stop: Stop<u32> = thread.run(&mut cache, &mut one, &mut NoObserver, &mut left, &mut stats);
    // In half of the cases nobody has run with the registers before, so that all of them are those of the thread.
    let mut own = Registers::default();
    let fresh = rng.bool();
    let registers = if fresh { &mut own } else { used };
    let loaded = graph.load(registers, FILLED, dispatch_mask);
    loaded.copy_from_slice(&filled);
    let runner = Runner { id, dispatch_mask };
    let (mut rest, mut counts) = (budget, RunStats::default());
    let ended = graph.run(registers, &runner, &mut other, &mut rest, &mut counts);
    let text = || {
        format!(
            "{set:?} mask {dispatch_mask:#x}\n{}",
            agree::text(set, words)
        )
    };
    match ended {
        Err(Broken::Other) => return "not decoded",
        Err(Broken::Time) => {
            assert_eq!(stop, Stop::Budget, "{}", text());
            return "budget";
        }
        Err(Broken::Fault(_)) | Ok(()) => assert_eq!(stop, Stop::EndOfThread, "{}", text()),
    }
    for (a, b) in one.sent.iter().zip(&other.sent) {
        assert_eq!(a, b, "{}", text());
    }
    assert_eq!(one.sent.len(), other.sent.len(), "{}", text());
    assert_eq!(left, rest, "{}", text());
    assert_eq!(counts.compiled, counts.instructions - counts.sends);
    counts.compiled = 0;
    stats.compiled = 0;
    assert_eq!(stats, counts, "{}", text());
    if fresh {
        for (r, (a, b)) in thread.grf().iter().zip(registers.general()).enumerate() {
            assert_eq!(a, b, "r{r} {}", text());
        }
    }
    "end"
}

/// A compiler whose whole kernels are its stretches.
#[derive(Debug)]
struct Stepping(Arc<dyn Compiler>);

impl Compiler for Stepping {
    fn takes(&self, step: &Step) -> bool {
        self.0.takes(step)
    }

    fn compile(&self, stretches: &[Vec<Step>]) -> Option<Arc<dyn Compiled>> {
        self.0.compile(stretches)
    }

    fn whole(&self, blocks: &Blocks) -> Option<Arc<dyn Whole>> {
        stepped(self, blocks)
    }
}

#[test]
fn kernels_with_branches_do_what_threads_do() {
    let seed = agree::number("CRESTLINE_SEED").unwrap_or(0x6ea9_0001);
    let count = agree::number("CRESTLINE_KERNELS").map_or(KERNELS, |n| n as usize);
    println!("seed {seed}");
    for (name, compiler) in agree::compilers() {
        let machine_code = name == "machine code";
        let compiler = if machine_code {
            compiler
        } else {
            Arc::new(Stepping(compiler))
        };
        for set in [40, 45, 50, 60, 70].map(Verx10::from_times_ten) {
            let mut rng = Rng::with_seed(seed ^ u64::from(set.times_ten()));
            let mut pool = compiled(&mut rng, set, kernels::end(set));
            // Masks of blocks are those of sixteen channels.
            pool.retain(|words| isa::decode(set, *words).unwrap().qtr_ctrl < 2);
            let mut registers = Registers::default();
            let (mut kernels, mut seen) = (0, BTreeMap::new());
            for _ in 0..count {
                let sends = |rng: &mut Rng| send(rng, set);
                let words = Maker::new(&mut rng, set, &pool, &sends).kernel();
                let cache = warm(&mut rng, set, &words, &compiler);
                let Some(graph) = cache.graph(0) else {
                    continue;
                };
                kernels += 1;
                // The other form is for kernels that are too long.
                let stepped = format!("{graph:?}").contains("Stepped");
                assert_eq!(stepped, !machine_code, "{name}");
                for _ in 0..THREADS {
                    let ended = compare(&mut rng, (set, &words), graph, &mut registers);
                    *seen.entry(ended).or_insert(0) += 1;
                }
            }
            println!("{name}, {set:?}: {kernels} kernels, {seen:?}");
            let number = |what| seen.get(what).copied().unwrap_or(0);
            assert!(kernels > count / 2, "{set:?} {kernels}");
            assert!(number("end") > kernels * THREADS / 2, "{set:?} {seen:?}");
            assert!(number("budget") > kernels / 4, "{set:?} {seen:?}");
            assert!(number("not decoded") < kernels, "{set:?} {seen:?}");
        }
    }
}
