//! Random runs: goals, seeds, what the model counted, and what a failure says.
//!
//! Not modelled: shrinking of a failing input.

use std::fmt;

use mmio_mock::intel::device::Device;

use fastrand::Rng;

use crate::scenes::DEVICES;

/// Executed commands or instructions in the normal suite.
const NORMAL: u64 = 270_000;
/// What an input of noise counts at most towards the goal, so that one endless loop does not reach it.
const MOST: u64 = 4096;

/// Parts of a goal, of which a device gets one: each generation has three.
const SHARES: u64 = 15;

/// A number from the environment; anything else there is an error, not the default.
fn number(variable: &str) -> Option<u64> {
    let text = std::env::var_os(variable)?;
    let text = text.to_str().expect("a number");
    Some(
        text.parse()
            .unwrap_or_else(|_| panic!("{variable}={text}: not a number")),
    )
}

/// How many commands or instructions a test executes: CRESTLINE_FUZZ_MILLIONS or 270,000.
pub fn goal() -> u64 {
    number("CRESTLINE_FUZZ_MILLIONS").map_or(NORMAL, |millions| millions.saturating_mul(1_000_000))
}

/// What the model did, by its own counters; the driver's commands in the ring are not among them.
#[derive(Clone, Copy, Default)]
pub struct Counts {
    /// Headers parsed in batches, refused ones included.
    pub parsed: u64,
    /// Commands executed in batches.
    pub commands: u64,
    /// EU instructions retired.
    pub instructions: u64,
}

impl Counts {
    /// The counters of a device since it was made.
    pub fn of(device: &Device) -> Self {
        let activity = device.status().activity;
        Counts {
            parsed: activity.batch_headers,
            commands: activity.batch_commands,
            instructions: activity.instructions.iter().sum(),
        }
    }

    /// What has come since an earlier look.
    #[must_use]
    pub fn since(self, before: Counts) -> Self {
        Counts {
            parsed: self.parsed - before.parsed,
            commands: self.commands - before.commands,
            instructions: self.instructions - before.instructions,
        }
    }

    fn add(&mut self, new: Counts) {
        self.parsed += new.parsed;
        self.commands += new.commands;
        self.instructions += new.instructions;
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} headers parsed, {} commands executed, {} instructions retired",
            self.parsed, self.commands, self.instructions
        )
    }
}

/// A test's way through its seeds: device after device, input after input. The n-th device has the
/// n-th seed from the first on, so that a failure is the first device of its own seed.
pub struct Run {
    name: &'static str,
    seed: u64,
    goal: u64,
    /// Which counter the goal is compared with.
    counter: fn(&Counts) -> u64,
    total: Counts,
    inputs: u64,
    /// Dwords or bits that were made up.
    generated: u64,
    /// What counted towards the goal.
    reached: u64,
    most: u64,
    /// The dwords that run, for the message of a failure.
    words: Vec<u32>,
    /// What else there is to say about them.
    note: String,
    in_device: u32,
    /// Names of the devices, which take turns, and of the present one.
    devices: &'static [&'static str],
    device: &'static str,
}

impl Run {
    /// A run with the seed of CRESTLINE_FUZZ_SEED, or `seed`, which is printed.
    pub fn new(name: &'static str, seed: u64, goal: u64, counter: fn(&Counts) -> u64) -> Self {
        let seed = number("CRESTLINE_FUZZ_SEED").unwrap_or(seed);
        println!("{name}: seed {seed}");
        Run {
            name,
            seed,
            goal,
            counter,
            total: Counts::default(),
            inputs: 0,
            generated: 0,
            reached: 0,
            most: MOST,
            words: Vec::new(),
            note: String::new(),
            in_device: 0,
            devices: &DEVICES,
            device: "",
        }
    }

    /// Lets an input count for all that it did: a frame that draws as it should executes a lot.
    #[must_use]
    pub fn uncapped(mut self) -> Self {
        self.most = u64::MAX;
        self
    }

    /// Lets no others than these devices take turns.
    #[must_use]
    pub fn only(mut self, devices: &'static [&'static str]) -> Self {
        self.devices = devices;
        self
    }

    /// Whether there is more to do.
    pub fn going(&self) -> bool {
        self.reached < self.goal
    }

    /// Adds what one input did.
    pub fn count(&mut self, new: Counts) {
        self.total.add(new);
        let before = self.reached;
        self.reached += (self.counter)(&new).min(self.most);
        if self.goal > NORMAL && before / NORMAL != self.reached / NORMAL {
            // For the bar of `cargo xtask fuzz`.
            println!("progress: {} {}", self.name, self.reached);
        }
    }

    /// Makes devices with `fresh`, which gets the name of each generation's in turn, and gives each at most `lifetime`
    /// inputs with `step`, which says whether the device can be used further.
    pub fn devices<T>(
        mut self,
        lifetime: u32,
        fresh: impl Fn(&mut Rng, &'static str) -> T,
        step: impl Fn(&mut Run, &mut Rng, &mut T) -> bool,
        finish: impl Fn(T),
    ) {
        let first = self.seed;
        while self.going() {
            let mut random = Rng::with_seed(self.seed);
            // So that a failure is of the same device when it is run again with its seed.
            self.device = self.devices[(self.seed % self.devices.len() as u64) as usize];
            let mut device = fresh(&mut random, self.device);
            let enough = self.reached + (self.goal / SHARES).max(1);
            for input in 1..=lifetime {
                self.in_device = input;
                self.inputs += 1;
                let usable = step(&mut self, &mut random, &mut device);
                if !usable || !self.going() || self.reached >= enough {
                    break;
                }
            }
            finish(device);
            self.seed = self.seed.wrapping_add(1);
        }
        println!(
            "{}: seeds {first} to {}: {} inputs with {} random dwords or bits; {}",
            self.name,
            self.seed.wrapping_sub(1),
            self.inputs,
            self.generated,
            self.total
        );
    }

    /// Remembers the dwords that run next, and what they are.
    pub fn input(&mut self, note: &str, words: &[u32]) {
        self.generated += words.len() as u64;
        note.clone_into(&mut self.note);
        self.words.clear();
        self.words.extend_from_slice(words);
    }

    /// Remembers another input than dwords: `values` random choices in words.
    pub fn choices(&mut self, note: String, values: u64) {
        self.generated += values;
        self.note = note;
        self.words.clear();
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let rows: Vec<String> = self
                .words
                .chunks(8)
                .enumerate()
                .map(|(i, row)| {
                    let row: Vec<String> = row.iter().map(|w| format!("{w:08x}")).collect();
                    format!("  {:#06x}: {}", i * 32, row.join(" "))
                })
                .collect();
            eprintln!(
                "{name}: failed at input {} of the first device of seed {seed}, {}; to run it again:\n  \
                 CRESTLINE_FUZZ_SEED={seed} cargo test -p crestline-tests --test suite fuzz_random::{name}\n\
                 input: {}\n{}",
                self.in_device,
                self.device,
                self.note,
                rows.join("\n"),
                name = self.name,
                seed = self.seed,
            );
        }
    }
}
