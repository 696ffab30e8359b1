//! Kernels of captured frames: all is known, and small ones compute what they say.
//!
//! PRM: volume 4, chapter 14. The words are what Mesa's compiler made for a GM965.

use super::{TestPort, thread};
use crate::{KernelCache, NoObserver, RunStats, Stop, Thread};

struct Kernel {
    stage: &'static str,
    scene: &'static str,
    words: Vec<[u32; 4]>,
}

fn kernels() -> Vec<Kernel> {
    let mut out: Vec<Kernel> = Vec::new();
    for line in include_str!("kernels.txt").lines() {
        let fields: Vec<&str> = line.split_whitespace().collect();
        match fields[..] {
            [">", stage, scene] => out.push(Kernel {
                stage,
                scene,
                words: Vec::new(),
            }),
            [a, b, c, d] if !line.starts_with('#') => {
                let w = [a, b, c, d].map(|x| u32::from_str_radix(x, 16).unwrap());
                out.last_mut().unwrap().words.push(w);
            }
            _ => {}
        }
    }
    out
}

fn kernel(stage: &str, scene: &str) -> TestPort {
    let k = kernels()
        .into_iter()
        .find(|k| k.stage == stage && k.scene == scene)
        .unwrap();
    TestPort::new(k.words)
}

fn run(t: &mut Thread, port: &mut TestPort) -> RunStats {
    let (mut budget, mut stats) = (10_000, RunStats::default());
    let stop = t.run(
        &mut KernelCache::new(isa::Verx10::GEN40).unwrap(),
        port,
        &mut NoObserver,
        &mut budget,
        &mut stats,
    );
    assert_eq!(stop, Stop::EndOfThread);
    stats
}

#[test]
fn every_instruction_runs() {
    let mut count = 0;
    for k in kernels() {
        let mut port = TestPort::new(k.words);
        for i in 0..port.words.len() as u32 {
            let mut t = thread();
            t.set_ip(i * 16);
            let (mut budget, mut stats) = (1, RunStats::default());
            let stop = t.run(
                &mut KernelCache::new(isa::Verx10::GEN40).unwrap(),
                &mut port,
                &mut NoObserver,
                &mut budget,
                &mut stats,
            );
            assert!(
                matches!(stop, Stop::Budget | Stop::EndOfThread),
                "{} of {} at {i}: {stop:?}",
                k.stage,
                k.scene
            );
            count += 1;
        }
    }
    assert!(count > 600);
}

#[test]
fn every_kernel_ends() {
    // Clip kernels count their vertices down from the payload: zeros are no valid payload.
    for k in kernels().into_iter().filter(|k| k.stage != "clip") {
        let mut port = TestPort::new(k.words);
        let stats = run(&mut thread(), &mut port);
        assert!(port.sent.last().unwrap().eot, "{} of {}", k.stage, k.scene);
        assert_eq!(stats.sends as usize, port.sent.len());
    }
}

/// The pixel kernel of a constant colour copies g2.0 to g2.3 (its disassembly is in the
/// capture) into sixteen pixels of each channel.
#[test]
fn constant_pixel_kernel() {
    let mut port = kernel("wm", "b_flat");
    let mut t = thread();
    let colour = [0.25f32, 0.5, 0.75, 1.0].map(f32::to_bits);
    for (i, c) in colour.iter().enumerate() {
        t.grf_mut()[2][i] = *c;
    }
    run(&mut t, &mut port);
    let m = &port.sent.last().unwrap().payload;
    assert_eq!(m.len(), 10);
    for i in 0..4 {
        assert_eq!(m[2 + i], [colour[i]; 8], "first half of channel {i}");
        assert_eq!(m[6 + i], [colour[i]; 8], "second half of channel {i}");
    }
}
