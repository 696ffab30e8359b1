//! Measures interpreter, loops and machine code on the same straight kernels.
#![allow(clippy::expect_used, reason = "a measuring program")]

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Instant;

use eu::stretch::Compiler;
use eu::{
    Delivery, Grf, KernelCache, Message, NoObserver, Port, RunStats, Stop, Thread, ThreadInit,
};
use isa::Verx10;

/// Times that the body of a kernel stands in it, threads that run it, and rounds of which the best counts.
const BODIES: usize = 24;
const THREADS: usize = 10_000;
const ROUNDS: usize = 5;

/// What pixel kernels are made of.
const MIXED: &str = "
mul(16) g20<1>F g40<8,8,1>F g42<8,8,1>F { align1 };
add(16) g22<1>F g20<8,8,1>F g44<8,8,1>F { align1 };
mul(16) g24<1>F g22<8,8,1>F 0.5F { align1 };
add(16) g26<1>F g24<8,8,1>F g5<0,1,0>F { align1 };
mov(16) g28<1>F g26<8,8,1>F { align1 };
add(16) g30<1>D g30<8,8,1>D 3D { align1 };
and(16) g32<1>D g30<8,8,1>D g34<8,8,1>D { align1 };
";

const FLOATS: &str = "
mul(16) g20<1>F g20<8,8,1>F g42<8,8,1>F { align1 };
add(16) g22<1>F g22<8,8,1>F g44<8,8,1>F { align1 };
mul(16) g24<1>F g24<8,8,1>F g46<8,8,1>F { align1 };
add(16) g26<1>F g26<8,8,1>F g48<8,8,1>F { align1 };
";

struct Kernel(Vec<[u32; 4]>);

impl Port for Kernel {
    type Fault = u32;

    fn fetch(&mut self, ip: u32) -> Result<[u32; 4], u32> {
        self.0.get(ip as usize / 16).copied().ok_or(ip)
    }

    fn send(&mut self, _: &Message<'_>, _: &mut [Grf]) -> Result<Delivery, u32> {
        Ok(Delivery::Done)
    }
}

fn kernel(generation: Verx10, body: &str) -> Kernel {
    let mut text = String::new();
    for _ in 0..BODIES {
        // Compressed instructions of the older generations are in the text.
        let line = if generation.times_ten() < 60 {
            body.replace("{ align1 }", "{ align1 compr }")
        } else {
            body.to_owned()
        };
        let _ = write!(text, "{line}");
    }
    let assembled = isa::parse::assemble(generation, "bench", &text).expect("assembles");
    let words = assembled.insts();
    let words = words.map(|inst| isa::encode(generation, inst).expect("encodes"));
    Kernel(words.collect())
}

/// Millions of instructions a second, in units of eight channels. The kernel ends where nothing is to be fetched.
fn measure(generation: Verx10, body: &str, compiler: Option<Arc<dyn Compiler>>) -> f64 {
    let mut port = kernel(generation, body);
    let mut cache = KernelCache::new(generation).expect("a generation that is run");
    cache.set_compiler(compiler, false);
    let mut thread = Thread::of(cache.instructions());
    let mut best = 0.0f64;
    for _ in 0..ROUNDS {
        let mut stats = RunStats::default();
        let began = Instant::now();
        for _ in 0..THREADS {
            thread.dispatch(&ThreadInit {
                dispatch_mask: 0xffff,
                grf_count: 128,
                ..ThreadInit::default()
            });
            for (register, value) in thread.load(64).iter_mut().zip(1u16..) {
                *register = [(1.0 + f32::from(value) / 1024.0).to_bits(); 8];
            }
            let mut budget = u64::MAX;
            let stop = thread.run(
                &mut cache,
                &mut port,
                &mut NoObserver,
                &mut budget,
                &mut stats,
            );
            assert!(matches!(stop, Stop::Fault(_)));
        }
        best = best.max(stats.simd8 as f64 / began.elapsed().as_secs_f64() / 1e6);
    }
    best
}

fn main() {
    println!(
        "{:<28} {:>12} {:>12} {:>12}",
        "M SIMD8 instructions/s", "interpreter", "loops", "machine code"
    );
    for generation in [40, 60].map(Verx10::from_times_ten) {
        for (name, body) in [("mixed", MIXED), ("floats", FLOATS)] {
            let compilers = [None, Some(jit::loops()), jit::compiler()];
            let [interpreted, loops, code] = compilers.map(|c| measure(generation, body, c));
            println!(
                "{:<28} {interpreted:>12.1} {loops:>12.1} {code:>12.1}",
                format!("{name}, generation {generation}")
            );
        }
    }
}
