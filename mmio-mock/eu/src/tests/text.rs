//! Programs from text, for instruction sets with instruction pointers of channels.

use super::{Outside, Sent};
use crate::{
    Delivery, Grf, InstructionSet, KernelCache, Message, NoObserver, Port, RunStats, Stop, Thread,
    ThreadInit,
};

/// Instruction memory as dwords, so that instructions may be compacted. Answers are numbers that depend on the message.
pub(super) struct Memory {
    pub(super) words: Vec<u32>,
    pub(super) sent: Vec<Sent>,
    pub(super) times: u64,
}

impl Memory {
    pub(super) const fn new(words: Vec<u32>) -> Memory {
        Memory {
            words,
            sent: Vec::new(),
            times: 0,
        }
    }
}

impl Port for Memory {
    type Fault = Outside;

    fn fetch(&mut self, ip: u32) -> Result<[u32; 4], Outside> {
        let at = ip as usize / 4;
        let four = self.words.get(at..at + 4).ok_or(Outside(ip))?;
        Ok([four[0], four[1], four[2], four[3]])
    }

    /// How often it was asked for, from 2^33 on.
    fn timestamp(&mut self) -> u64 {
        self.times += 1;
        (2 << 32) + self.times
    }

    fn send(&mut self, msg: &Message<'_>, response: &mut [Grf]) -> Result<Delivery, Outside> {
        for (n, register) in response.iter_mut().enumerate() {
            let first = msg.desc ^ msg.payload.first().map_or(0, |m| m[n & 7]);
            *register = std::array::from_fn(|i| first.rotate_left(i as u32) ^ n as u32);
        }
        self.sent.push(Sent {
            sfid: msg.sfid,
            exec_mask: msg.exec_mask,
            eot: msg.eot,
            payload: msg.payload.to_vec(),
        });
        Ok(Delivery::Done)
    }
}

/// The words of a program.
pub(super) fn assemble(set: InstructionSet, text: &str) -> Vec<u32> {
    let program = isa::parse::assemble(set.generation(), "test", text);
    let program = program.unwrap_or_else(|errors| panic!("{}\n{text}", errors[0]));
    let mut words: Vec<u32> = program.dwords().collect();
    // Memory is read in pieces of sixteen bytes.
    words.resize(words.len().next_multiple_of(4), 0);
    words
}

/// A dispatched thread.
pub(super) fn thread(set: InstructionSet, mask: u32) -> Thread {
    let mut t = Thread::of(set);
    t.dispatch(&ThreadInit {
        dispatch_mask: mask,
        grf_count: 128,
        ..ThreadInit::default()
    });
    t
}

/// Runs a program to the end of its words, or until it stops.
pub(super) fn run(cache: &mut KernelCache, t: &mut Thread, memory: &mut Memory) -> Stop<Outside> {
    let mut budget = 20_000;
    let stats = &mut RunStats::default();
    t.run(cache, memory, &mut NoObserver, &mut budget, stats)
}

/// Runs the text in both modes of the kernel cache, which agree, and gives the thread and what it sent.
pub(super) fn execute(set: InstructionSet, text: &str, mut t: Thread) -> (Thread, Vec<Sent>) {
    let words = assemble(set, text);
    let end = Stop::Fault(Outside(words.len() as u32 * 4));
    let mut general = t.clone();
    let mut sent = Vec::new();
    for (t, cache) in [
        (
            &mut general,
            KernelCache::general(set.generation()).unwrap(),
        ),
        (&mut t, KernelCache::of(set)),
    ] {
        let mut cache = cache;
        let mut memory = Memory::new(words.clone());
        assert_eq!(run(&mut cache, t, &mut memory), end, "{text}");
        sent = memory.sent;
    }
    same(&t, &general, text);
    (t, sent)
}

/// Two threads that have done the same are the same.
pub(super) fn same(a: &Thread, b: &Thread, what: &str) {
    assert_eq!(a.view(), b.view(), "{what}");
    assert_eq!(a.exec_mask(), b.exec_mask(), "{what}");
    for (nr, (a, b)) in a.grf().iter().zip(b.grf()).enumerate() {
        assert_eq!(a, b, "r{nr}: {what}");
    }
    for (nr, (a, b)) in a.mrf().iter().zip(b.mrf()).enumerate() {
        assert_eq!(a, b, "m{nr}: {what}");
    }
}

/// The lanes of a register as floats.
pub(super) fn floats(t: &Thread, nr: usize) -> [f32; 8] {
    t.grf()[nr].map(f32::from_bits)
}
