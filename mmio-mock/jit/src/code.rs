//! The compiler: which steps it takes on, and the memory of machine code.

use crate::emit::Emitter;
use eu::graph::{Blocks, NO_TIME, Progress, Whole, stepped};
use eu::stretch::{Channels, Compiled, Compiler, Registers, Step};
use memmap2::{Mmap, MmapMut};
use std::sync::Arc;

/// Bytes of a kernel's machine code at most.
const LARGEST: usize = 1 << 18;

/// Makes code for AVX2 and FMA.
#[derive(Debug)]
struct Avx2;

pub(crate) fn compiler() -> Option<Arc<dyn Compiler>> {
    let host = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
    // `ret`, to see whether the system lets code be made.
    (host && executable(&[0xc3]).is_some()).then(|| Arc::new(Avx2) as Arc<dyn Compiler>)
}

fn executable(code: &[u8]) -> Option<Mmap> {
    let mut memory = MmapMut::map_anon(code.len()).ok()?;
    memory.get_mut(..code.len())?.copy_from_slice(code);
    memory.make_exec().ok()
}

impl Compiler for Avx2 {
    fn takes(&self, step: &Step) -> bool {
        let rounds = !step.truncate && !step.operation.is_integer();
        !(step.operation.only_rounds() && step.truncate || step.accumulator.is_some() && rounds)
    }

    fn compile(&self, stretches: &[Vec<Step>]) -> Option<Arc<dyn Compiled>> {
        if !stretches.iter().flatten().all(Step::is_inside) {
            return None;
        }
        let mut emitter = Emitter::new()?;
        for steps in stretches {
            emitter.stretch(steps);
        }
        Some(Arc::new(Stretches(code(emitter)?)))
    }

    fn whole(&self, blocks: &Blocks) -> Option<Arc<dyn Whole>> {
        if !blocks.is_inside() {
            return None;
        }
        let mut emitter = Emitter::new()?;
        emitter.whole(blocks);
        match code(emitter) {
            Some(code) => Some(Arc::new(Kernel(code))),
            // Too long as one.
            None => stepped(self, blocks),
        }
    }
}

/// What was emitted, in memory that may be executed.
fn code(emitter: Emitter) -> Option<Code> {
    let (code, begins) = emitter.finish()?;
    if code.len() > LARGEST || begins.iter().any(|at| *at >= code.len()) {
        return None;
    }
    let memory = executable(&code)?;
    Some(Code { memory, begins })
}

/// Machine code.
#[derive(Debug)]
struct Code {
    memory: Mmap,
    /// The first byte of each stretch, or of the entry of each block, all of them inside of the memory.
    begins: Vec<usize>,
}

impl Code {
    fn begin(&self, number: usize) -> Option<&u8> {
        let at = self.begins.get(number)?;
        self.memory.get(*at)
    }
}

/// Functions that take [`Channels`].
#[derive(Debug)]
struct Stretches(Code);

/// Functions that take a [`Progress`].
#[derive(Debug)]
struct Kernel(Code);

impl Compiled for Stretches {
    #[inline]
    fn run(&self, stretch: usize, registers: &mut Registers, channels: &mut Channels<'_>) -> u32 {
        let begin = self.0.begin(stretch);
        begin.map_or(0, |begin| call(begin, registers, channels))
    }
}

impl Whole for Kernel {
    #[inline]
    fn run(&self, block: u16, registers: &mut Registers, progress: &mut Progress<'_>) -> u32 {
        let begin = self.0.begin(usize::from(block));
        begin.map_or(NO_TIME, |begin| call(begin, registers, progress))
    }
}

/// What machine code has in `rsi`: [`Channels`], or what begins with them.
trait State {}

impl State for Channels<'_> {}
impl State for Progress<'_> {}

#[allow(unsafe_code, reason = "machine code is called")]
#[inline]
fn call<S: State>(begin: &u8, registers: &mut Registers, state: &mut S) -> u32 {
    type Function<S> = unsafe extern "sysv64" fn(*mut u32, *mut S) -> u32;
    // SAFETY: `begin` is the first byte of a function of this type that `Emitter::stretch` made for `Channels`, or `Emitter::whole` for
    // `Progress`, in memory that is executable and lives as long as the reference: `Stretches` and `Kernel` have functions of one kind each. It reads and writes no memory but its own constants, what `registers` refers to (`compile` and `whole` have looked that every
    // place lies inside), what `state` refers to (every mask is one of those that it has) and the accumulators that it refers to in turn, whose
    // lanes are 0 to 31, keeps the registers that its calling convention asks for, and returns: a kernel does after as many instructions as
    // `Progress` has left. It calls nothing but `results` of `emit::extended`, with its own stack as the place of the values and the stack
    // aligned as calls need it. The host has the instructions: otherwise there is no compiler.
    unsafe {
        let function: Function<S> = std::mem::transmute(std::ptr::from_ref(begin));
        function(registers.as_flattened_mut().as_mut_ptr(), state)
    }
}
