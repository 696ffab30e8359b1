//! What a node has done: the figures of the closing line.

use std::fmt;
use std::time::Duration;

use kernel::string_helpers::Counted;

/// Counters of a node.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// What clients said of their renderers, each once.
    pub renderers: Vec<String>,
    /// Frames presented by programs that were seen presenting any.
    pub frames: u64,
    /// What all devices have done together.
    pub work: Work,
    /// What each has done, with its number and its name.
    pub cards: Vec<(String, Work)>,
}

/// Counters of a device.
#[derive(Clone, Copy, Debug, Default)]
pub struct Work {
    /// Submissions of clients.
    pub submissions: u64,
    /// Times that its nodes were opened.
    pub opened: u64,
    /// Primitives drawn (3DPRIMITIVE).
    pub draws: u64,
    /// Triangles, lines and points that reached strips-and-fans.
    pub objects: u64,
    /// Threads.
    pub threads: u64,
    /// EU instructions.
    pub instructions: u64,
    /// Those of them that machine code did.
    pub compiled: u64,
    /// Pixel threads that were computed with others.
    pub waves: u64,
    /// Device time in nanoseconds.
    pub device_nanos: u64,
    /// Wall time that the device was at work.
    pub busy: Duration,
    /// Resets.
    pub resets: u32,
}

impl Work {
    /// Adds that of another device.
    pub(crate) fn add(&mut self, other: &Work) {
        self.submissions += other.submissions;
        self.opened += other.opened;
        self.draws += other.draws;
        self.objects += other.objects;
        self.threads += other.threads;
        self.instructions += other.instructions;
        self.compiled += other.compiled;
        self.waves += other.waves;
        self.device_nanos += other.device_nanos;
        self.busy += other.busy;
        self.resets += other.resets;
    }
}

/// Several lines for several devices: what programs said, then a line for each device.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.renderers.as_slice() {
            [] if self.work.submissions > 0 => {
                write!(f, "the program has not asked for its renderer")?;
            }
            [] => write!(f, "no renderer")?,
            names => write!(f, "{}", names.join(", "))?,
        }
        write!(f, "; {} presented", Counted(self.frames, "frame"))?;
        if let [_] = self.cards.as_slice() {
            return write!(f, ", {}", self.work);
        }
        for (name, work) in &self.cards {
            write!(f, "\n{name}: {work}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}, {} ({}), {}, {}",
            Counted(self.submissions, "batch"),
            Counted(self.draws, "draw"),
            Counted(self.objects, "object"),
            Counted(self.threads, "thread"),
            Counted(self.instructions, "instruction")
        )?;
        if !self.busy.is_zero() {
            let rate = self.instructions as f64 / self.busy.as_secs_f64() / 1e6;
            write!(
                f,
                " ({rate:.1} million per second while the device was busy)"
            )?;
        }
        if self.compiled > 0 {
            let share = 100.0 * self.compiled as f64 / self.instructions.max(1) as f64;
            write!(f, ", {share:.0} % as machine code")?;
        }
        if self.waves > 0 {
            let share = 100.0 * self.waves as f64 / self.threads.max(1) as f64;
            write!(f, ", {share:.0} % of threads in waves")?;
        }
        if self.resets > 0 {
            write!(f, "; {}", Counted(self.resets, "reset"))?;
        }
        Ok(())
    }
}
