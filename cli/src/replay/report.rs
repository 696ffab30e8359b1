//! What a replay did, and what the pixel snapshot trapped.
//!
//! PRM: volume 4 3.2, 3.3.9 (windower snapshot). Not modelled: wall time, which is the program's.

use driver::debug::snapshot::ArmedSnapshot;
use isa::compact::instruction_at;
use isa::inst::Verx10;
use mmio_mock::intel::status::{Activity, Statistics};

use crate::capture::Exec;
use crate::places::describe;

/// Counters of a replay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Submissions.
    pub execs: usize,
    /// What the model counted.
    pub activity: Activity,
    /// The pipeline statistics counters.
    pub statistics: Statistics,
    /// Device time in nanoseconds.
    pub nanos: u64,
    /// Events of the trace, and a hash over them; zeros without a trace.
    pub trace: (u64, u64),
}

impl Report {
    /// EU instructions of all units.
    pub fn instructions(&self) -> u64 {
        self.activity.instructions.iter().sum()
    }

    /// SIMD8-equivalent EU instructions of all units.
    pub fn simd8(&self) -> u64 {
        self.activity.simd8.iter().sum()
    }
}

/// What the windower trapped at a pixel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// Whether the subspan came by.
    pub complete: bool,
    /// Kernel start pointer of its thread, relative to the general state base.
    pub kernel_pointer: u32,
    /// Where that lies in the capture.
    pub place: Option<String>,
    /// How often the subspan had come by.
    pub instances: u32,
    /// Number of its primitive.
    pub primitive: u32,
    /// First instructions of the kernel.
    pub kernel: Vec<String>,
}

/// Instructions of a kernel that are shown.
const SHOWN: u32 = 16;

impl Snapshot {
    /// Reads the snapshot registers; `dword` reads the kernel.
    pub(super) fn read(
        armed: &ArmedSnapshot,
        exec: &Exec,
        kernel_base: u32,
        isa: Verx10,
        dword: impl Fn(u32) -> Option<u32>,
    ) -> Self {
        let Ok(trapped) = armed.read() else {
            return Snapshot {
                complete: false,
                kernel_pointer: 0,
                place: None,
                instances: 0,
                primitive: 0,
                kernel: Vec::new(),
            };
        };
        let start = kernel_base.wrapping_add(trapped.kernel_pointer);
        Snapshot {
            complete: true,
            kernel_pointer: trapped.kernel_pointer,
            place: describe(exec, start),
            instances: trapped.subspan_instances,
            primitive: trapped.primitive,
            kernel: disassemble(isa, start, dword),
        }
    }
}

fn disassemble(isa: Verx10, start: u32, dword: impl Fn(u32) -> Option<u32>) -> Vec<String> {
    let mut lines = Vec::new();
    let mut at = start;
    for _ in 0..SHOWN {
        let Some(item) = instruction_at(isa, at, &dword) else {
            return lines;
        };
        // CAST: eight or sixteen bytes.
        at = at.wrapping_add(item.size as u32);
        match &item.inst {
            Ok(inst) => {
                lines.extend(isa::print(isa, inst).lines().map(str::to_owned));
                if item.ends_thread() {
                    break;
                }
            }
            Err(error) => {
                let raw = item.raw;
                lines.push(format!(
                    "{:08x} {:08x} {:08x} {:08x}  {error}",
                    raw[0], raw[1], raw[2], raw[3]
                ));
                break;
            }
        }
    }
    lines
}
