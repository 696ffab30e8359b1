//! Random kernels: registers, flags and counts are those of the interpreter.

use crate::kernels::{self, Kernel};
use eu::stretch::{Compiled, Compiler, Operand, Operation, Part, Place, Step};
use eu::{KernelCache, NoObserver, RunStats, Stop, Thread};
use fastrand::Rng;
use isa::Verx10;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

/// Kernels of each generation.
const KERNELS: u32 = 400;
/// Threads of each, behind those that warm it up.
const THREADS: u32 = 24;
const WARM: u32 = 40;

/// A kernel as text, to find what differs.
pub fn text(generation: Verx10, words: &[[u32; 4]]) -> String {
    let line = |words: &[u32; 4]| match isa::decode::decode(generation, *words) {
        Ok(inst) => isa::print::print(generation, &inst) + "\n",
        Err(error) => format!("{error}\n"),
    };
    words.iter().map(line).collect()
}

fn run(
    cache: &mut KernelCache,
    port: &mut Kernel,
    thread: &mut Thread,
    budget: u64,
) -> (String, RunStats, u64) {
    let mut left = budget;
    let mut stats = RunStats::default();
    let stop: Stop<u32> = thread.run(cache, port, &mut NoObserver, &mut left, &mut stats);
    // The engines differ in that alone.
    stats.compiled = 0;
    (format!("{stop:?}"), stats, left)
}

/// The compilers of this host: machine code where it has some, and loops.
pub fn compilers() -> impl Iterator<Item = (&'static str, Arc<dyn Compiler>)> {
    let code = jit::compiler().map(|compiler| ("machine code", compiler));
    if code.is_none() {
        println!("skipped: machine code, which this host does not run");
    }
    code.into_iter().chain([
        ("loops", jit::loops()),
        ("loops of any host", jit::plain_loops()),
    ])
}

/// A compiler that notes what it was given.
#[derive(Debug)]
struct Noting {
    compiler: Arc<dyn Compiler>,
    seen: Mutex<BTreeSet<String>>,
}

impl Compiler for Noting {
    fn takes(&self, step: &Step) -> bool {
        self.compiler.takes(step)
    }

    fn compile(&self, stretches: &[Vec<Step>]) -> Option<Arc<dyn Compiled>> {
        let mut seen = self.seen.lock().unwrap();
        for step in stretches.iter().flatten() {
            let name = |text: String| {
                let end = text.find(|c: char| !c.is_alphanumeric());
                text[..end.unwrap_or(text.len())].to_owned()
            };
            seen.insert(name(format!("{:?}", step.operation)));
            match step.operation {
                Operation::Extended(function) => {
                    seen.insert(format!("{function:?}"));
                }
                Operation::Dot(dot) => {
                    seen.insert(format!("{dot:?}"));
                }
                Operation::Bits(bits) => {
                    seen.insert(name(format!("{bits:?}")));
                }
                _ => {}
            }
            for source in &step.sources {
                seen.insert(name(format!("{:?}", source.place)));
            }
            let signed = |p: &Place| matches!(p, Place::Words { signed: true, .. });
            let parts = |is: fn(&Part) -> bool| {
                let part = |s: &Operand| matches!(&s.place, Place::Part(part) if is(part));
                step.sources.iter().any(part)
            };
            for (has, what) in [
                (step.accumulator.is_some(), "accumulator"),
                (
                    step.predicate.is_some_and(|p| p.replicated.is_some()),
                    "replicated",
                ),
                (
                    step.wide
                        && step
                            .destination
                            .is_some_and(|first| first + 8 != step.second),
                    "apart",
                ),
                (
                    step.sources.iter().any(|s| signed(&s.place)),
                    "signed words",
                ),
                (
                    step.operation == Operation::ToFloat { signed: false },
                    "unsigned floats",
                ),
                (
                    step.operation == Operation::MultiplyDwords && step.accumulator.is_some(),
                    "products kept",
                ),
                (
                    matches!(step.operation, Operation::AddPart { .. })
                        && step.accumulator.is_some(),
                    "parts kept",
                ),
                (step.shift % 8 == 4, "halves of quarters"),
                (step.flag > 1, "second flags"),
                (
                    matches!(step.operation, Operation::ToFloat { .. }) && step.sources[0].negate,
                    "negative numbers",
                ),
                (parts(|part| part.bits == 8), "bytes"),
                (parts(|part| part.signed), "signed parts"),
                (
                    step.operation == Operation::ToDword { signed: false },
                    "unsigned dwords",
                ),
            ] {
                if has {
                    seen.insert(what.to_owned());
                }
            }
        }
        self.compiler.compile(stretches)
    }
}

/// All that is compiled.
const FORMS: &[&str] = &[
    "Log",
    "Exp",
    "Sin",
    "Cos",
    "Fdiv",
    "Pow",
    "Two",
    "Three",
    "Four",
    "Homogeneous",
    "Copy",
    "Select",
    "SelectFloat",
    "SelectFloats",
    "CompareFloatsOrNan",
    "FloorAndRest",
    "unsigned floats",
    "products kept",
    "parts kept",
    "Not",
    "And",
    "Or",
    "Xor",
    "ShiftLeft",
    "ShiftRight",
    "ShiftSigned",
    "AddDwords",
    "CompareDwords",
    "CompareFloats",
    "ToFloat",
    "ToDword",
    "Move",
    "Add",
    "Multiply",
    "MultiplyAdd",
    "Plane",
    "Line",
    "Accumulate",
    "Interpolate",
    "Dot",
    "AddWords",
    "AddPart",
    "MultiplyDwords",
    "MultiplyHigh",
    "AccumulateProduct",
    "SelectDwords",
    "Magnitude",
    "Divide",
    "Extended",
    "SetFlag",
    "GetFlag",
    "Floor",
    "NearestWhole",
    "Truncate",
    "Fraction",
    "Inverse",
    "SquareRoot",
    "InverseRoot",
    "Leave",
    "Vector",
    "Scalar",
    "Constant",
    "Gather",
    "Words",
    "Part",
    "bytes",
    "signed parts",
    "unsigned dwords",
    "accumulator",
    "replicated",
    "apart",
    "signed words",
    "Bits",
    "Reverse",
    "Count",
    "Lowest",
    "Highest",
    "Ones",
    "Insert",
    "Extract",
    "halves of quarters",
    "second flags",
    "negative numbers",
];

#[test]
fn compiled_stretches_agree_with_the_interpreter() {
    for (name, compiler) in compilers() {
        println!("{name}:");
        let noting = Arc::new(Noting {
            compiler,
            seen: Mutex::default(),
        });
        let compiler: Arc<dyn Compiler> = noting.clone();
        agrees(&compiler);
        let seen = noting.seen.lock().unwrap();
        let missing: Vec<_> = FORMS.iter().filter(|form| !seen.contains(**form)).collect();
        assert!(missing.is_empty(), "{name} was not given {missing:?}");
    }
}

/// A number that the environment gives.
pub fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

fn agrees(compiler: &Arc<dyn Compiler>) {
    let seed = number("CRESTLINE_SEED").unwrap_or(0x0c0d_e5ee);
    let kernels = number("CRESTLINE_KERNELS");
    let count = kernels.map_or(KERNELS, |n| n as u32);
    println!("seed {seed}, {count} kernels a generation");
    for generation in [40, 45, 50, 60, 70].map(Verx10::from_times_ten) {
        let mut rng = Rng::with_seed(seed ^ u64::from(generation.times_ten()));
        let (mut all, mut compiled) = (0, 0);
        for number in 0..count {
            let words = kernels::kernel(&mut rng, generation);
            let mut port = Kernel(words);
            let mut plain = KernelCache::new(generation).unwrap();
            let mut cache = KernelCache::new(generation).unwrap();
            cache.set_compiler(Some(compiler.clone()), false);
            let mut thread = Thread::of(cache.instructions());
            for n in 0..WARM + THREADS {
                kernels::thread(&mut rng, &mut thread);
                let mut other = thread.clone();
                // Some stop within a stretch, and go on.
                let budget = if n % 4 == 3 { 1 + rng.u64(..12) } else { 1000 };
                for budget in [budget, 1000] {
                    let a = run(&mut cache, &mut port, &mut thread, budget);
                    let b = run(&mut plain, &mut port, &mut other, budget);
                    all += b.1.instructions;
                    let place = || {
                        format!(
                            "{generation:?} kernel {number} thread {n}:\n{}",
                            text(generation, &port.0)
                        )
                    };
                    assert_eq!(a, b, "{}", place());
                    for r in 0..128 {
                        assert_eq!(thread.grf()[r], other.grf()[r], "r{r} of {}", place());
                    }
                    assert_eq!(thread.view(), other.view(), "{}", place());
                    assert!(thread.is_as(&other), "{}", place());
                    if a.0 == "EndOfThread" {
                        break;
                    }
                }
            }
            compiled += cache.compiled();
        }
        println!("{generation:?}: {all} instructions, {compiled} of them compiled");
        assert!(
            compiled * 4 > all / 2,
            "{generation:?}: {compiled} of {all}"
        );
    }
}

/// While no channel leaves, a stretch goes on; else the branch and what is behind it are the interpreter's.
#[test]
fn stretches_go_on_over_branches_that_no_channel_takes() {
    let generation = Verx10::from_times_ten(60);
    for (name, compiler) in compilers() {
        let mut cache = KernelCache::new(generation).unwrap();
        cache.set_compiler(Some(compiler), false);
        let mut port = Kernel(kernels::adds_and_leaves(3, 2));
        let mut thread = Thread::of(cache.instructions());
        let mut rng = Rng::with_seed(9);
        let mut seen = BTreeMap::new();
        for n in 0..WARM + 200 {
            kernels::thread(&mut rng, &mut thread);
            let (mut left, mut stats) = (1000, RunStats::default());
            let _: Stop<u32> = thread.run(
                &mut cache,
                &mut port,
                &mut NoObserver,
                &mut left,
                &mut stats,
            );
            if n >= WARM {
                *seen
                    .entry((stats.compiled, stats.instructions))
                    .or_insert(0) += 1;
            }
        }
        println!("{name}: {seen:?}");
        // All six and the message; three, and then the branch with or without what is behind it.
        assert!(seen.contains_key(&(6, 7)), "{name}: {seen:?}");
        assert!(seen.contains_key(&(3, 5)), "{name}: {seen:?}");
    }
}

/// What is compiled is in proportion to what has run, however many kernels there are: compiling takes longer than running.
#[test]
fn kernels_that_hardly_run_are_not_compiled_for_ever() {
    const COUNT: u64 = 800;
    const STEPS: u64 = 64;
    let Some((_, compiler)) = compilers().next() else {
        return;
    };
    let generation = Verx10::from_times_ten(40);
    let mut cache = KernelCache::new(generation).unwrap();
    cache.set_compiler(Some(compiler), false);
    let mut thread = Thread::of(cache.instructions());
    let mut rng = Rng::with_seed(5);
    let mut compiled = [0; 2];
    for compiled in &mut compiled {
        let before = cache.compiled_kernels();
        for number in 0..COUNT {
            let mut port = Kernel(kernels::adds(generation, number as u32, STEPS as usize));
            cache.invalidate();
            for _ in 0..WARM {
                kernels::thread(&mut rng, &mut thread);
                run(&mut cache, &mut port, &mut thread, 1000);
            }
        }
        *compiled = cache.compiled_kernels() - before;
        // One kernel runs so long that all might be compiled.
        let mut port = Kernel(kernels::adds(generation, 0, STEPS as usize));
        for _ in 0..(COUNT * 2048) {
            kernels::thread(&mut rng, &mut thread);
            run(&mut cache, &mut port, &mut thread, 1000);
        }
    }
    let [first, second] = compiled;
    println!("{first} and {second} of {COUNT} kernels");
    assert!(first > 100 && first < COUNT / 2, "{first}");
    assert!(second > 100 && second < COUNT / 2, "{second}");
}
