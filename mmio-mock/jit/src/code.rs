//! The compiler: which steps it takes on, and the memory of machine code.

use crate::emit::Emitter;
use eu::stretch::{Channels, Compiled, Compiler, Operation, Registers, Step};
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
        // The host converts signed integers only.
        let is_unsigned = step.operation == Operation::ToFloat { signed: false };
        let rounds = !step.truncate && !step.operation.is_integer();
        !(is_unsigned
            || step.operation.only_rounds() && step.truncate
            || step.accumulator.is_some() && rounds)
    }

    fn compile(&self, stretches: &[Vec<Step>]) -> Option<Arc<dyn Compiled>> {
        if !stretches.iter().flatten().all(Step::is_inside) {
            return None;
        }
        let mut emitter = Emitter::new()?;
        for steps in stretches {
            emitter.stretch(steps);
        }
        let (code, begins) = emitter.finish()?;
        if code.len() > LARGEST || begins.iter().any(|at| *at >= code.len()) {
            return None;
        }
        let memory = executable(&code)?;
        Some(Arc::new(Code { memory, begins }))
    }
}

/// The machine code of a kernel.
#[derive(Debug)]
struct Code {
    memory: Mmap,
    /// The first byte of each stretch, all of them inside of the memory.
    begins: Vec<usize>,
}

impl Compiled for Code {
    #[inline]
    fn run(&self, stretch: usize, registers: &mut Registers, channels: &mut Channels<'_>) -> u32 {
        let begin = self.begins.get(stretch).and_then(|at| self.memory.get(*at));
        begin.map_or(0, |begin| call(begin, registers, channels))
    }
}

#[allow(unsafe_code, reason = "machine code is called")]
#[inline]
fn call(begin: &u8, registers: &mut Registers, channels: &mut Channels<'_>) -> u32 {
    type Stretch = unsafe extern "sysv64" fn(*mut u32, *mut Channels<'_>) -> u32;
    // SAFETY: `begin` is the first byte of a function of this type that `Emitter::stretch` made, in memory that is executable
    // and lives as long as the reference. It reads and writes no memory but its own constants, what `registers` refers to
    // (`compile` has looked that every place lies inside), what `channels` refers to and the accumulators that `channels` refers
    // to, whose lanes are 0 to 31, keeps the registers that its calling convention asks for, and returns. It calls nothing but
    // `results` of `emit::extended`, with its own stack as the place of the values and the stack aligned as calls need it. The host has the instructions: otherwise there is no compiler.
    unsafe {
        let stretch: Stretch = std::mem::transmute(std::ptr::from_ref(begin));
        stretch(registers.as_flattened_mut().as_mut_ptr(), channels)
    }
}
