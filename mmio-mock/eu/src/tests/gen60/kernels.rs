//! Captured kernels with paths run alike in both modes of the kernel cache.
//!
//! PRM: Sandy Bridge volume 4 part 2; ValleyView volume 2 part 2. The words are what Mesa's compiler made.

use crate::r#gen::{GEN60, GEN70};
use crate::tests::text::{Memory, run, same, thread};
use crate::{InstructionSet, KernelCache, Stop};
use fastrand::Rng;

const SANDY_BRIDGE: &str = include_str!("../../../../../isa/tests/data/snb_kernels.hex");
const VALLEYVIEW: &str = include_str!("../../../../../isa/tests/data/vlv_kernels.hex");

/// Names and words of the captured kernels.
fn kernels(file: &'static str) -> Vec<(&'static str, Vec<u32>)> {
    let mut out: Vec<(&str, Vec<u32>)> = Vec::new();
    for line in file.lines() {
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

// covers: S-0117, S-0118, S-0152
#[test]
fn captured_kernels_end_and_run_alike_in_both_modes() {
    let geometry = |name: &str| name.contains("geometry");
    assert!(run_alike(GEN60, SANDY_BRIDGE, geometry) > 120);
}

/// Kernels of compute and control threads wait for the others of their group, and loops count what memory says.
#[test]
fn captured_valleyview_kernels_end_and_run_alike_in_both_modes() {
    let waits = |name: &str| {
        ["geometry", "compute", "control"]
            .iter()
            .any(|kind| name.contains(kind))
    };
    let loops =
        |name: &str| waits(name) || name.contains("subroutine") || name.contains("intbasic");
    let ended = run_alike(GEN70, VALLEYVIEW, loops);
    assert!(ended > 800, "{ended}");
}

/// Runs each kernel with random registers; how many threads have ended. Those of `may_stay` need not.
fn run_alike(set: InstructionSet, file: &'static str, may_stay: impl Fn(&str) -> bool) -> u32 {
    let mut rng = Rng::with_seed(6);
    let mut count = 0;
    for (name, words) in kernels(file) {
        for round in 0..8 {
            let mask = [u32::MAX, 0xffff, 0xff, rng.u32(..)][round % 4];
            let mut t = thread(set, mask);
            for register in t.grf_mut() {
                for dword in register {
                    // Floats of a middling size, and small integers.
                    *dword = if rng.bool() {
                        rng.u32(..) & 0x83ff_ffff | 0x3c00_0000
                    } else {
                        rng.u32(..64)
                    };
                }
            }
            let mut general = t.clone();
            let [mut fast_memory, mut general_memory] =
                [(); 2].map(|()| Memory::new(words.clone()));
            let mut cache = KernelCache::of(set);
            let stop = run(&mut cache, &mut t, &mut fast_memory);
            let mut cache = KernelCache::general(set.generation()).unwrap();
            let again = run(&mut cache, &mut general, &mut general_memory);
            assert_eq!(stop, again, "{name}");
            assert_eq!(fast_memory.sent, general_memory.sent, "{name}");
            same(&t, &general, name);
            let stays = matches!(stop, Stop::Budget | Stop::Wait(_)) && may_stay(name);
            assert!(stop == Stop::EndOfThread || stays, "{name}: {stop:?}");
            if stop == Stop::EndOfThread {
                assert!(fast_memory.sent.last().unwrap().eot, "{name}");
                count += 1;
            }
        }
    }
    count
}

/// The pixel kernel of a constant colour takes it from a constant buffer and writes it to m1 to m4.
// covers: S-0170, S-0176
#[test]
fn a_constant_colour_reaches_the_render_target() {
    let words = kernels(SANDY_BRIDGE)
        .into_iter()
        .find(|(name, _)| *name == "b_flat: SIMD8 fragment")
        .unwrap()
        .1;
    let mut memory = Memory::new(words);
    let mut t = thread(GEN60, 0xff);
    let mut cache = KernelCache::of(GEN60);
    assert_eq!(run(&mut cache, &mut t, &mut memory), Stop::EndOfThread);
    let [asked, written] = &memory.sent[..] else {
        panic!("two messages");
    };
    // Mesa's text: const mlen 1; render mlen 4.
    assert_eq!((asked.sfid, asked.payload.len(), asked.eot), (9, 1, false));
    assert_eq!((written.sfid, written.payload.len()), (5, 4));
    assert_eq!((written.eot, written.exec_mask), (true, 0xff));
    for (channel, register) in written.payload.iter().enumerate() {
        assert_eq!(*register, [t.grf()[126][channel]; 8]);
    }
}
