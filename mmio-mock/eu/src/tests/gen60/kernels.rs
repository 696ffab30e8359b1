//! Captured Sandy Bridge kernels run alike in both modes of the kernel cache.
//!
//! PRM: Sandy Bridge volume 4 part 2. The words are what Mesa's compiler made.

use super::{Memory, generation, run, same, thread};
use crate::{KernelCache, Stop};
use fastrand::Rng;

/// Names and words of the captured kernels.
fn kernels() -> Vec<(&'static str, Vec<u32>)> {
    let mut out: Vec<(&str, Vec<u32>)> = Vec::new();
    for line in include_str!("../../../../../isa/tests/data/snb_kernels.hex").lines() {
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
    let mut rng = Rng::with_seed(6);
    let mut count = 0;
    for (name, words) in kernels() {
        for round in 0..8 {
            let mask = [u32::MAX, 0xffff, 0xff, rng.u32(..)][round % 4];
            let mut t = thread(mask);
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
            let [mut fast_memory, mut general_memory] = [(); 2].map(|()| Memory {
                words: words.clone(),
                sent: Vec::new(),
            });
            let mut cache = KernelCache::new(generation()).unwrap();
            let stop = run(&mut cache, &mut t, &mut fast_memory);
            let mut cache = KernelCache::general(generation()).unwrap();
            let again = run(&mut cache, &mut general, &mut general_memory);
            assert_eq!(stop, again, "{name}");
            assert_eq!(fast_memory.sent, general_memory.sent, "{name}");
            same(&t, &general, name);
            // Loops of geometry kernels count what the payload says.
            assert!(
                stop == Stop::EndOfThread || name.contains("geometry"),
                "{name}: {stop:?}"
            );
            if stop == Stop::EndOfThread {
                assert!(fast_memory.sent.last().unwrap().eot, "{name}");
                count += 1;
            }
        }
    }
    assert!(count > 120, "{count}");
}

/// The pixel kernel of a constant colour takes it from a constant buffer and writes it to m1 to m4.
// covers: S-0170, S-0176
#[test]
fn a_constant_colour_reaches_the_render_target() {
    let words = kernels()
        .into_iter()
        .find(|(name, _)| *name == "b_flat: SIMD8 fragment")
        .unwrap()
        .1;
    let mut memory = Memory {
        words,
        sent: Vec::new(),
    };
    let mut t = thread(0xff);
    let mut cache = KernelCache::new(generation()).unwrap();
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
