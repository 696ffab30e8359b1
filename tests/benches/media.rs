//! Media kernels at 1920x1080: instructions per second, beside a plain EU loop.
//!
//! `cargo xtask bench`, or `cargo bench -p crestline-tests --bench media`; time on the core. A run is
//! everything that `crestline media run` does but for the files: driver, batch, threads, results.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a measurement that fails shall say so"
)]

use std::sync::OnceLock;
use std::time::Instant;

use crestline_cli::media::{Format, Job, Shape, Source, Surface, View};
use eu::{
    Delivery, Grf, KernelCache, Message, NoObserver, Port, RunStats, Stop, Thread, ThreadInit,
};
use isa::Verx10;
use isa::parse::assemble;
use mmio_mock::intel::status::Unit;

const WIDTH: u32 = 1920;
const HEIGHT: u32 = 1080;
/// Runs of which the best counts.
const RUNS: usize = 3;

/// The mixed loop of the EU's own benchmark (`cargo bench -p crestline-eu`), eight channels.
const LOOP: &str = "
    mov(1)          g100<1>D        400000D                         { align1 };
    do(8)                                                           { align1 };
AGAIN:
    mul(8)          g10<1>F         g20<8,8,1>F     g22<8,8,1>F     { align1 };
    add(8)          g12<1>F         g10<8,8,1>F     g24<8,8,1>F     { align1 };
    line(8)         null<1>F        g4<0,1,0>F      g26<8,8,1>F     { align1 };
    mac(8)          g14<1>F         g5<0,1,0>F      g28<8,8,1>F     { align1 };
    mul(8)          g16<1>F         g14<8,8,1>F     0.5F            { align1 };
    mov(8)          g18<1>F         g16<8,8,1>F                     { align1 };
    add(8)          g30<1>D         g30<8,8,1>D     3D              { align1 };
    and(8)          g32<1>D         g30<8,8,1>D     g32<8,8,1>D     { align1 };
    add(1)          g100<1>D        g100<0,1,0>D    -1D             { align1 };
    cmp.g.f0.0(8)   null<1>D        g100<0,1,0>D    0D              { align1 };
    (+f0.0) while(8) Jump: AGAIN                                    { align1 };
    send(8) 1       null<1>UD       null<8,8,1>UD   null MsgDesc: mlen 1 rlen 0 { align1 EOT };
";

/// Instructions, what they are in SIMD8, and seconds.
#[derive(Clone, Copy)]
struct Measured {
    threads: u64,
    instructions: u64,
    simd8: u64,
    seconds: f64,
}

impl Measured {
    fn print(&self, name: &str, eu: Option<f64>) {
        let million = |count: u64| count as f64 / self.seconds / 1e6;
        let beside = eu.map_or_else(String::new, |eu| {
            format!(
                ", {:3.0} % of the EU loop",
                million(self.simd8) / eu * 100.0
            )
        });
        println!(
            "{name:<22} {:6} threads {:9} instructions {:7.1} ms {:7.1} M/s {:7.1} M SIMD8/s{beside}",
            self.threads,
            self.instructions,
            self.seconds * 1e3,
            million(self.instructions),
            million(self.simd8),
        );
    }
}

/// Time on a core where the system tells it (other programs do not count), else elapsed time.
fn cpu_seconds() -> f64 {
    static START: OnceLock<Instant> = OnceLock::new();
    let elapsed = START.get_or_init(Instant::now).elapsed().as_secs_f64();
    std::fs::read_to_string("/proc/self/schedstat")
        .ok()
        .and_then(|s| s.split_whitespace().next()?.parse::<f64>().ok())
        .map_or(elapsed, |ns| ns * 1e-9)
}

fn best(run: impl Fn() -> Measured) -> Measured {
    let all = (0..RUNS).map(|_| run());
    all.min_by(|a, b| a.seconds.total_cmp(&b.seconds)).unwrap()
}

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

/// One thread, no device around it.
fn eu_loop() -> Measured {
    let program = assemble(Verx10::GEN40, "loop", LOOP).unwrap();
    let words = program.items.iter().map(|item| item.words);
    let mut port = Kernel(words.collect());
    let mut cache = KernelCache::of(eu::r#gen::GEN40);
    let mut thread = Thread::new();
    thread.dispatch(&ThreadInit {
        dispatch_mask: 0xffff,
        grf_count: 128,
        ..ThreadInit::default()
    });
    for (i, register) in (0u16..).zip(thread.grf_mut()) {
        *register = [(1.0 + f32::from(i) / 128.0).to_bits(); 8];
    }
    let (mut stats, mut budget) = (RunStats::default(), u64::MAX);
    let began = cpu_seconds();
    let stop = thread.run(
        &mut cache,
        &mut port,
        &mut NoObserver,
        &mut budget,
        &mut stats,
    );
    let seconds = cpu_seconds() - began;
    assert_eq!(stop, Stop::EndOfThread);
    Measured {
        threads: 1,
        instructions: stats.instructions,
        simd8: stats.simd8,
        seconds,
    }
}

fn media(job: &Job) -> Measured {
    let mut job = job.clone();
    let began = cpu_seconds();
    let outcome = job.run().unwrap();
    let seconds = cpu_seconds() - began;
    assert_eq!(outcome.fault, None);
    let activity = outcome.report.activity;
    let unit = Unit::Media as usize;
    Measured {
        threads: activity.threads[unit],
        instructions: activity.instructions[unit],
        simd8: activity.simd8[unit],
        seconds,
    }
}

/// Grey with some structure, the second a bit further.
fn image(moved: u32) -> Surface {
    let pixel = |i: u32| {
        let (x, y) = (i % WIDTH + moved, i / WIDTH);
        ((x * x / 7 + y * y / 5 + x * y / 3) >> 4) as u8
    };
    Surface {
        name: "image".into(),
        view: View::Image(Shape {
            width: WIDTH,
            height: HEIGHT,
            format: Format::R8,
        }),
        bytes: (0..WIDTH * HEIGHT).map(pixel).collect(),
    }
}

fn job(name: &str, text: &str, block: (u32, u32), surfaces: Vec<Surface>) -> Job {
    let program = assemble(Verx10::GEN40, name, text).unwrap();
    Job {
        kernels: vec![Source {
            name: name.to_owned(),
            program,
        }],
        grid: (WIDTH.div_ceil(block.0), HEIGHT.div_ceil(block.1)),
        surfaces,
        ..Job::new(mmio_mock::intel::r#gen::find("gm965").unwrap())
    }
}

fn main() {
    let eu = best(eu_loop);
    eu.print("EU loop", None);
    let rate = eu.simd8 as f64 / eu.seconds / 1e6;
    let empty = |size| Surface {
        name: "out".into(),
        view: View::Buffer(size),
        bytes: Vec::new(),
    };
    let mut out = image(0);
    out.bytes.clear();
    let text = include_str!("../../examples/kernels/blur.asm");
    let blur = job("blur.asm", text, (16, 8), vec![image(0), out]);
    best(|| media(&blur)).print("3x3 blur", Some(rate));
    let text = include_str!("../../examples/kernels/motion.asm");
    let vectors = (WIDTH.div_ceil(16) * HEIGHT.div_ceil(16) * 16) as usize;
    let surfaces = vec![image(0), image(3), empty(vectors)];
    let motion = job("motion.asm", text, (16, 16), surfaces);
    best(|| media(&motion)).print("motion search, SAD", Some(rate));
}
