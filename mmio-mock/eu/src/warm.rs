//! Which kernels are compiled, and which of their stretches begin where.
//!
//! A kernel is compiled once threads have begun there often enough, or a thread has gone round in a loop of it. Its stretches lie between messages, branches, places
//! that branches lead to and what no compiler takes on. Decoded kernels are forgotten often, with each flush of the
//! instruction cache; compiled code is kept by the instructions that it does, so the same kernel is compiled once.

mod graphs;

use crate::cache::KernelCache;
use crate::decoded::{Decoded, Slot};
use crate::graph::{Blocks, Graph, Whole};
use crate::reached::Looked;
use crate::scoreboard::{Check, Registers};
use crate::straight::Straight;
use crate::stretch::resolve;
use crate::stretch::{Compiled, Compiler, Operation, Step};
use isa::Opcode;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

/// Threads of a kernel before it is compiled; and again, for what the first ones did not come by.
const WARM: [u32; 4] = [24, 96, 512, 4096];
/// Jumps back of one thread before the loop is compiled that it is in.
pub(crate) const TURNS: u32 = 48;
/// Kernels that are counted at once, and loops that are compiled for themselves.
const COUNTED: usize = 32;
/// Steps of a kernel at most.
const LONGEST: usize = 4096;
/// Kernels whose compiled code is kept, and most of them that are in use at once.
const KEPT: usize = 128;
/// Steps that may be compiled before kernels have run, and at most at once.
const ALLOWED: u64 = 1 << 14;
/// Instructions that have to run for each step that is compiled beyond these: about what compiling it takes.
const EARNS: u64 = 2048;
/// What it costs to look at a kernel: as many steps.
const LOOKED: u64 = 32;
/// Places where stretches begin, at most: their numbers have sixteen bits.
const BEGINS: usize = 1 << 15;

/// Where a stretch begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Begin {
    /// Number of the kernel among those of the cache, and of the stretch in it.
    pub(crate) kernel: u16,
    pub(crate) stretch: u16,
    /// All of it.
    pub(crate) done: Done,
    /// Number of what is in front of the first branch that it can end before, and how many of these branches there are.
    first_leave: u16,
    pub(crate) leaves: u16,
}

/// A part of a stretch, from its beginning on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Done {
    /// Instructions, and the same in units of eight channels.
    pub(crate) steps: u16,
    pub(crate) simd8: u16,
    /// Bytes.
    pub(crate) bytes: u16,
}

/// The stretches of a kernel.
struct Found {
    /// The slots where they begin.
    begins: Vec<(usize, Begin)>,
    /// What is in front of branches that they can end before.
    fronts: Vec<Done>,
    stretches: Vec<Vec<Step>>,
}

/// Threads that began at a place.
#[derive(Clone, Copy, Debug)]
struct Count {
    ip: u32,
    threads: u32,
}

/// What a kernel cache knows of compiled kernels.
#[derive(Debug, Default)]
pub(crate) struct Warm {
    compiler: Option<Arc<dyn Compiler>>,
    /// What compiled code does is compared with what the interpreter does.
    pub(crate) checked: bool,
    /// The first place where they differed.
    difference: OnceLock<String>,
    /// Instructions that have run for what may be compiled: kernels that begin loops all the time would take longer to compile
    /// than to run.
    earned: u64,
    /// Kernels that were compiled.
    compilations: u64,
    /// Instructions that compiled code did.
    instructions: u64,
    counts: Vec<Count>,
    /// Where loops begin that were compiled for themselves.
    loops: Vec<u32>,
    /// Those of the decoded kernels.
    kernels: Vec<Arc<dyn Compiled>>,
    /// Where stretches begin, by their numbers.
    begins: Vec<Begin>,
    /// What is in front of branches that stretches can end before.
    fronts: Vec<Done>,
    /// Kernels that were looked at for what they reach.
    pub(crate) looked: Vec<Looked>,
    /// Kernels without branches, by their places.
    pub(crate) straight: Vec<(u32, Straight)>,
    /// Kernels with branches, by their places.
    graphs: Vec<(u32, Graph)>,
    /// Those that were compiled, by what they do; nothing where a compiler gave up.
    wholes: HashMap<Blocks, Option<Arc<dyn Whole>>>,
    /// Stretches by what they do; nothing where a compiler gave up.
    kept: HashMap<Vec<Vec<Step>>, Option<Arc<dyn Compiled>>>,
}

impl Warm {
    /// The stretch of a number, and the compiled code of its kernel.
    #[inline(always)]
    pub(crate) fn begin(&self, number: u16) -> Option<(Begin, &dyn Compiled)> {
        let begin = self.begins.get(usize::from(number).wrapping_sub(1))?;
        let kernel = self.kernels.get(usize::from(begin.kernel))?;
        Some((*begin, kernel.as_ref()))
    }

    /// What has been done of a stretch that has ended as [`Compiled::run`] says.
    #[inline(always)]
    pub(crate) fn done(&self, begin: Begin, ended: u32) -> Done {
        if ended == 0 {
            return begin.done;
        }
        let number = usize::from(begin.first_leave) + ended as usize - 1;
        self.fronts.get(number).copied().unwrap_or_default()
    }

    /// Notes a difference.
    #[cold]
    pub(crate) fn differs(&self, place: String) {
        // The first one stands.
        let _ = self.difference.set(place);
    }

    /// Forgets where kernels are, not what was compiled.
    pub(crate) fn forget(&mut self) {
        self.counts.clear();
        self.loops.clear();
        self.kernels.clear();
        self.begins.clear();
        self.fronts.clear();
        self.straight.clear();
        self.graphs.clear();
        self.looked.clear();
    }

    /// Takes what so many steps cost from what has been earned; `false` when it is not enough.
    fn pay(&mut self, steps: u64) -> bool {
        let left = self.earned.checked_sub(steps * EARNS);
        self.earned = left.unwrap_or(self.earned);
        left.is_some()
    }

    /// A thread begins or goes on at `ip`: whether to compile what is there.
    #[inline(always)]
    fn count(&mut self, ip: u32) -> bool {
        if let Some(count) = self.counts.first_mut()
            && count.ip == ip
        {
            count.threads = count.threads.saturating_add(1);
            return WARM.contains(&count.threads);
        }
        self.count_other(ip)
    }

    #[cold]
    fn count_other(&mut self, ip: u32) -> bool {
        let at = self.counts.iter().position(|c| c.ip == ip);
        let at = at.unwrap_or_else(|| {
            self.counts.truncate(COUNTED - 1);
            self.counts.push(Count { ip, threads: 0 });
            self.counts.len() - 1
        });
        // The latest is looked at first.
        self.counts.swap(0, at);
        self.counts[0].threads = self.counts[0].threads.saturating_add(1);
        WARM.contains(&self.counts[0].threads)
    }
}

impl KernelCache {
    /// Lets a compiler make compiled code of stretches; without one the interpreter runs everything.
    /// `checked`: the interpreter runs all the same, its results count, and [`difference`](Self::difference) tells where
    /// compiled code had others.
    pub fn set_compiler(&mut self, compiler: Option<Arc<dyn Compiler>>, checked: bool) {
        self.warm = Warm {
            compiler,
            checked,
            earned: ALLOWED * EARNS,
            ..Warm::default()
        };
        self.invalidate();
    }

    /// Instructions that compiled stretches executed since the compiler was set.
    #[must_use]
    pub const fn compiled(&self) -> u64 {
        self.warm.instructions
    }

    /// Kernels that were compiled since then.
    #[must_use]
    pub const fn compiled_kernels(&self) -> u64 {
        self.warm.compilations
    }

    /// Where compiled code that was checked first did something else than the interpreter.
    #[must_use]
    pub fn difference(&self) -> Option<String> {
        self.warm.difference.get().cloned()
    }

    /// Adds to them what threads did that ran by [`Thread::run_decoded`](crate::Thread::run_decoded).
    #[inline]
    pub fn count_compiled(&mut self, instructions: u64) {
        self.warm.instructions += instructions;
    }

    /// Instructions have run, by whatever engine.
    #[inline(always)]
    pub fn ran(&mut self, instructions: u64) {
        let earned = self.warm.earned + instructions;
        self.warm.earned = earned.min(ALLOWED * EARNS);
    }

    /// Counts a thread that begins or goes on at `ip`, and compiles its kernel when it is time. Running it does that, too.
    #[inline(always)]
    pub fn warm_up(&mut self, ip: u32) {
        if self.warm.compiler.is_some() && self.warm.count(ip) {
            self.compile(ip);
            self.compile_graph(ip);
        }
    }

    /// A thread has come back to `ip` often enough: compiles from there on.
    #[cold]
    pub(crate) fn compile_loop(&mut self, ip: u32) {
        if !self.warm.loops.contains(&ip) && self.warm.loops.len() < COUNTED {
            self.warm.loops.push(ip);
            self.compile(ip);
        }
    }

    #[cold]
    fn compile(&mut self, ip: u32) {
        let Some(compiler) = self.warm.compiler.clone() else {
            return;
        };
        // Looking at the kernel takes time, too.
        if !self.warm.pay(LOOKED) {
            return;
        }
        let page = self.page(ip);
        let Found {
            begins,
            fronts,
            stretches,
        } = self.stretches(page, ip, compiler.as_ref());
        if stretches.is_empty() {
            return;
        }
        let known = self.warm.kept.get(&stretches).cloned();
        let steps: usize = stretches.iter().map(Vec::len).sum();
        if known.is_none() && !self.warm.pay(steps as u64) {
            return;
        }
        let compiled = known.unwrap_or_else(|| {
            let compiled = compiler.compile(&stretches);
            self.warm.compilations += u64::from(compiled.is_some());
            if self.warm.kept.len() >= KEPT {
                self.warm.kept.clear();
            }
            self.warm.kept.insert(stretches.clone(), compiled.clone());
            compiled
        });
        let Some(compiled) = compiled else {
            return;
        };
        let same = |other: &Arc<dyn Compiled>| Arc::ptr_eq(other, &compiled);
        let known = self.warm.kernels.iter().position(same);
        let number = known.unwrap_or(self.warm.kernels.len());
        let full = self.warm.begins.len() + begins.len() > BEGINS
            || self.warm.fronts.len() + fronts.len() > BEGINS;
        if number >= KEPT || full {
            // Too many at once: as if the instruction cache had been flushed.
            self.invalidate();
            return;
        }
        self.keep_straight((page, ip), (&compiled, &stretches), &begins);
        if known.is_none() {
            self.warm.kernels.push(compiled);
        }
        // CAST: below `KEPT`, and `BEGINS` at most.
        let (number, before) = (number as u16, self.warm.fronts.len() as u16);
        self.warm.fronts.extend(fronts);
        for (at, begin) in begins {
            self.warm.begins.push(Begin {
                kernel: number,
                first_leave: before + begin.first_leave,
                ..begin
            });
            let Ok(number) = u16::try_from(self.warm.begins.len()) else {
                return;
            };
            self.begin_at(page, at, number);
        }
    }

    /// The stretches of the kernel at `ip`, as far as it is decoded in its page, and the slots where they begin.
    fn stretches(&self, page: usize, ip: u32, compiler: &dyn Compiler) -> Found {
        let set = self.instructions();
        let place = set.rules.place;
        let slots = self.slots(page);
        let first = KernelCache::slot_index(ip, place);
        let end = end_of(slots, first, place);
        let targets = targets(slots, first..end, place, set.rules.paths);
        let mut begins: Vec<(usize, Begin)> = Vec::new();
        let mut stretches: Vec<Vec<Step>> = Vec::new();
        let mut fronts = Vec::new();
        let mut steps = 0;
        // Whether the instruction before belongs to a stretch.
        let mut open = false;
        // Lanes of the accumulator that the stretch has made floats.
        let mut floats = 0;
        // Registers that wait for another instruction of the stretch, and how far none did.
        let mut stale = 0;
        let mut sound = Sound::default();
        let mut at = first;
        while at < end && steps < LONGEST {
            // PANIC: `end` is at most the number of slots.
            let hot = &looked_at(&slots[at]);
            if !open || targets[at] {
                floats = 0;
                sound.end(stale, &mut begins, &mut stretches);
                stale = 0;
            }
            let behind = Check::of(&slots[at]).behind(stale);
            let step = resolve::step(hot, set.rules)
                .filter(|step| step.is_inside() && compiler.takes(step))
                .filter(|step| {
                    behind.is_some() && (step.operation != Operation::Leave || stale == 0)
                })
                .and_then(|step| Some((step, step.known_lanes(floats)?)));
            floats = step.as_ref().map_or(0, |(_, floats)| *floats);
            let step = step.map(|(step, _)| step);
            let size = if hot.empty { 1 } else { length(hot, place) };
            match (step, begins.last_mut(), stretches.last_mut()) {
                (Some(step), Some((_, begin)), Some(stretch)) if open && !targets[at] => {
                    if step.operation == Operation::Leave {
                        fronts.push(begin.done);
                        begin.leaves += 1;
                    }
                    stretch.push(step);
                    begin.done.extend(hot);
                    steps += 1;
                }
                // A stretch does something before it can end.
                (Some(step), ..) if step.operation == Operation::Leave => open = false,
                (Some(step), ..) => {
                    // CAST: fewer than there are slots in a page.
                    let mut begin = Begin {
                        kernel: 0,
                        stretch: stretches.len() as u16,
                        done: Done::default(),
                        first_leave: fronts.len() as u16,
                        leaves: 0,
                    };
                    begin.done.extend(hot);
                    begins.push((at, begin));
                    stretches.push(vec![step]);
                    steps += 1;
                    open = true;
                }
                (None, ..) => open = false,
            }
            if open {
                stale = behind.unwrap_or(0);
                sound.look(stale, &begins, &stretches);
            } else {
                sound.end(stale, &mut begins, &mut stretches);
                stale = 0;
            }
            at += size;
        }
        sound.end(stale, &mut begins, &mut stretches);
        Found {
            begins,
            fronts,
            stretches,
        }
    }
}

/// How far the present stretch goes so that no register waits behind it.
#[derive(Default)]
struct Sound {
    done: Done,
    steps: usize,
    /// Stretches in front of it.
    before: usize,
}

impl Sound {
    /// Looks at a stretch that has one step more.
    fn look(&mut self, stale: Registers, begins: &[(usize, Begin)], stretches: &[Vec<Step>]) {
        if self.before + 1 != stretches.len() {
            *self = Sound {
                before: stretches.len().saturating_sub(1),
                ..Sound::default()
            };
        }
        if let (0, Some((_, begin)), Some(stretch)) = (stale, begins.last(), stretches.last()) {
            (self.done, self.steps) = (begin.done, stretch.len());
        }
    }

    /// The stretch ends: without those behind which registers wait.
    fn end(
        &self,
        stale: Registers,
        begins: &mut Vec<(usize, Begin)>,
        stretches: &mut Vec<Vec<Step>>,
    ) {
        if stale == 0 {
            return;
        }
        if self.steps == 0 {
            begins.pop();
            stretches.pop();
        } else if let (Some((_, begin)), Some(stretch)) = (begins.last_mut(), stretches.last_mut())
        {
            stretch.truncate(self.steps);
            begin.done = self.done;
        }
    }
}

impl Done {
    fn extend(&mut self, hot: &Decoded) {
        self.steps += 1;
        self.simd8 += u16::from(hot.weight);
        self.bytes += u16::from(hot.bytes);
    }
}

/// An instruction as it is for a compiler: what is rare about it.
pub(crate) fn looked_at(slot: &Slot) -> Decoded {
    let hot = slot.hot;
    // Who makes stretches looks at registers that wait.
    Decoded {
        rare: hot.empty || hot.breakpoint,
        ..hot
    }
}

/// Slots that an instruction takes up.
pub(crate) fn length(hot: &Decoded, place: u8) -> usize {
    (usize::from(hot.bytes) >> place).max(1)
}

/// The slot behind the first message that ends a thread.
pub(crate) fn end_of(slots: &[Slot], first: usize, place: u8) -> usize {
    let mut at = first;
    while let Some(slot) = slots.get(at) {
        let hot = &slot.hot;
        let message = matches!(hot.op, Opcode::Send | Opcode::Sendc);
        if !hot.empty && message && hot.send.eot {
            break;
        }
        at += if hot.empty { 1 } else { length(hot, place) };
    }
    at.min(slots.len())
}

/// The slots that branches of a kernel lead to.
fn targets(slots: &[Slot], kernel: std::ops::Range<usize>, place: u8, paths: bool) -> Vec<bool> {
    let mut targets = vec![false; slots.len()];
    for at in kernel {
        let hot = &slots[at].hot;
        // Where channels have pointers of their own, the second distance is a place, too.
        let waits = if paths { hot.pop } else { 0 };
        for distance in [hot.jump, waits] {
            if hot.empty || distance == 0 {
                continue;
            }
            let to = at as i64 + i64::from(distance >> place);
            if let Some(target) = usize::try_from(to).ok().and_then(|to| targets.get_mut(to)) {
                *target = true;
            }
        }
    }
    targets
}
