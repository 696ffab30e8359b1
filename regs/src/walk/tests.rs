//! Walks over short batches: jumps, ends, damage.
//! Expected words are the manual's opcodes, written out by hand.

use alloc::vec::Vec;

use super::{Limits, Stop, Walk};
use crate::platform::{GEN40, GEN45, Generation};

const NOOP: u32 = 0;
const END: u32 = 0x0500_0000;
const START: u32 = 0x1880_0080;
const SIP: u32 = 0x6102_0000;
const JUNK: u32 = 0x7fff_0003;

fn run(
    generation: &'static Generation,
    words: &[u32],
    limits: Limits,
) -> (Vec<(u64, Option<&'static str>)>, Option<Stop>) {
    let mut memory = |at: u64| {
        let i = usize::try_from(at.checked_sub(0x1000)?).ok()? / 4;
        words.get(i).copied()
    };
    let mut walk = Walk::new(generation, 0x1000, limits);
    let mut met = Vec::new();
    while let Some(step) = walk.step(&mut memory) {
        met.push((step.address, step.command.map(|c| c.name)));
    }
    (met, walk.stop())
}

fn stop(words: &[u32], limits: Limits) -> Option<Stop> {
    run(&GEN40, words, limits).1
}

#[test]
fn a_chain_is_followed_to_its_end() {
    let words = [NOOP, START, 0x1014, JUNK, JUNK, SIP, 0, END];
    let (met, stop) = run(&GEN40, &words, Limits::default());
    let noop = (0x1000, Some("MI_NOOP"));
    let start = (0x1004, Some("MI_BATCH_BUFFER_START"));
    let sip = (0x1014, Some("STATE_SIP"));
    let end = (0x101c, Some("MI_BATCH_BUFFER_END"));
    assert_eq!(met, [noop, start, sip, end]);
    assert_eq!(stop, Some(Stop::End { behind: 0x1020 }));
    // Without following, the dwords behind the jump are next.
    let limits = Limits {
        follow: false,
        ..Limits::default()
    };
    let unknown = Stop::Unknown {
        address: 0x100c,
        header: JUNK,
    };
    assert_eq!(run(&GEN40, &words, limits).1, Some(unknown));
}

#[test]
fn each_end_is_told() {
    let free = Limits::default();
    let at = |address| Some(Stop::Unmapped { address });
    assert_eq!(stop(&[NOOP], free), at(0x1004));
    assert_eq!(stop(&[START], free), at(0x1004));
    assert_eq!(stop(&[START, 0x5000], free), at(0x5000));
    let bytes = |bytes| Limits {
        bytes: Some(bytes),
        ..free
    };
    let over = Some(Stop::Over { behind: 0x1004 });
    assert_eq!(stop(&[NOOP, END], bytes(4)), over);
    let truncated = stop(&[NOOP, SIP, 0, END], bytes(8));
    let Some(Stop::Truncated {
        address,
        dwords,
        left,
        ..
    }) = truncated
    else {
        panic!("{truncated:?}");
    };
    assert_eq!((address, dwords, left), (0x1004, 2, 1));
    let dwords = Limits { dwords: 2, ..free };
    let long = Some(Stop::Long { address: 0x1008 });
    assert_eq!(stop(&[NOOP, NOOP, END], dwords), long);
}

#[test]
fn a_loop_ends_the_walk_unless_it_may_go_round() {
    let words = [NOOP, START, 0x1000];
    let around = Stop::Loop {
        address: 0x1004,
        header: START,
        target: 0x1000,
    };
    assert_eq!(stop(&words, Limits::default()), Some(around));
    let limits = Limits {
        again: true,
        jumps: 5,
        ..Limits::default()
    };
    let (met, stop) = run(&GEN40, &words, limits);
    assert_eq!(met.len(), 12);
    let jumps = Stop::Jumps {
        address: 0x1004,
        header: START,
    };
    assert_eq!(stop, Some(jumps));
}

#[test]
fn unknown_dwords_are_shown_before_the_walk_gives_up() {
    let limits = Limits {
        unknown: 3,
        ..Limits::default()
    };
    let (met, stop) = run(&GEN40, &[JUNK, JUNK, NOOP, JUNK, JUNK, JUNK, END], limits);
    let unknown = met.iter().filter(|m| m.1.is_none()).count();
    assert_eq!((met.len(), unknown), (6, 5));
    let last = Stop::Unknown {
        address: 0x1014,
        header: JUNK,
    };
    assert_eq!(stop, Some(last));
}

#[test]
fn addresses_wrap_at_the_end_of_the_address_space() {
    let mut memory = |at: u64| match at {
        0xffff_fffc => Some(NOOP),
        0 => Some(END),
        _ => None,
    };
    let mut walk = Walk::new(&GEN40, 0xffff_fffc, Limits::default());
    while walk.step(&mut memory).is_some() {}
    assert_eq!(walk.stop(), Some(Stop::End { behind: 4 }));
}

#[test]
fn the_generation_says_what_a_command_is() {
    // PIPELINE_SELECT moved from 6104h to 6904h.
    let words = [0x6904_0000, END];
    assert_eq!(run(&GEN45, &words, Limits::default()).0.len(), 2);
    let unknown = Stop::Unknown {
        address: 0x1000,
        header: 0x6904_0000,
    };
    assert_eq!(stop(&words, Limits::default()), Some(unknown));
}
