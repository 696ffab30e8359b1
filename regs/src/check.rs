//! Rules that software has to keep, asked of the commands of a batch.
//! Each rule cites its source; a generation's rules are in its room.
//! Executes nothing. State that a batch does not set is not known, and rules about it stay silent.
//!
//! ```
//! use regs::check::{self, Options};
//! use regs::decode::Source;
//! use regs::platform::GEN70;
//!
//! /// A 3DSTATE_SO_BUFFER with a pitch of two bytes, and the end of the batch.
//! struct Memory;
//! impl Source for Memory {
//!     fn dword(&mut self, address: u32) -> Option<u32> {
//!         [0x7918_0002, 2, 0x1000, 0x2000, 0x0500_0000].get(address as usize / 4).copied()
//!     }
//! }
//! let mut found = Vec::new();
//! check::batch(&GEN70, &mut Memory, (0, 20), Options::default(), &mut |finding| found.push(finding));
//! assert_eq!(found[0].rule, "stream-pitch");
//! assert_eq!((found[0].command, found[0].address), ("3DSTATE_SO_BUFFER", 0));
//! ```

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

use crate::decode::Source;
use crate::desc::{CommandDesc, Property};
use crate::ids::CommandId;
use crate::platform::Generation;
use crate::walk::{Limits, Memory, Walk};

/// Dwords of the longest command with an eight-bit length.
const LONGEST: usize = 257;
/// Commands between two draws that rules on sequences look back at.
const MAX_SINCE: usize = 1 << 14;
/// Findings of a batch.
const MAX_FINDINGS: usize = 1000;
/// Batches that one batch may go on in.
const MAX_CHAIN: u32 = 1023;

/// When a rule is asked.
#[derive(Debug, Clone, Copy)]
pub(crate) enum When {
    /// At each command, before it counts.
    Each,
    /// At these commands, before they count.
    At(&'static [CommandId]),
    /// At each draw.
    Draw,
}

/// What software has to do.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// Its name.
    pub name: &'static str,
    /// What it asks for.
    pub asks: &'static str,
    /// Where that is written.
    pub source: &'static str,
    pub(crate) when: When,
    /// What is wrong, if anything is.
    pub(crate) broken: fn(&mut View<'_>) -> Option<String>,
}

/// A rule that a batch breaks. The same words are said once of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Name of the rule.
    pub rule: &'static str,
    /// The command at which it was asked.
    pub command: &'static str,
    /// Its address.
    pub address: u32,
    /// What is wrong: fields and their values.
    pub what: String,
}

/// How much is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Dwords of commands.
    pub max_dwords: u32,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            max_dwords: 1 << 20,
        }
    }
}

/// A command as rules on sequences see it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sent {
    /// Which.
    pub id: CommandId,
    /// Its first dwords.
    pub words: [u32; 2],
}

/// What a batch has set so far.
#[derive(Debug, Default)]
struct State {
    /// The last command of each kind, and that of the last draw.
    kept: BTreeMap<CommandId, Vec<u32>>,
    drawn: BTreeMap<CommandId, Vec<u32>>,
    /// Commands since the last draw; how many draws there were.
    since: Vec<Sent>,
    draws: u32,
    surface_base: u32,
    dynamic_base: u32,
    general_base: u32,
}

/// What a rule looks at.
pub(crate) struct View<'a> {
    source: &'a mut dyn Source,
    state: &'a State,
    /// The command at which the rule is asked.
    pub command: &'static CommandDesc,
    /// Its dwords.
    pub words: &'a [u32],
}

impl View<'_> {
    /// The dwords of the last command of a kind.
    pub fn kept(&self, id: CommandId) -> Option<&[u32]> {
        self.state.kept.get(&id).map(Vec::as_slice)
    }

    /// The dwords of a command as the draw before found them.
    pub fn drawn(&self, id: CommandId) -> Option<&[u32]> {
        self.state.drawn.get(&id).map(Vec::as_slice)
    }

    /// Commands since the last draw, oldest first; none when there were too many.
    pub fn since(&self) -> &[Sent] {
        if self.state.since.len() < MAX_SINCE {
            &self.state.since
        } else {
            &[]
        }
    }

    /// Whether the batch has drawn before.
    pub fn has_drawn(&self) -> bool {
        self.state.draws > 0
    }

    /// Dwords of dynamic state, `None` where nothing is mapped.
    pub fn dynamic<const N: usize>(&mut self, offset: u32) -> Option<[u32; N]> {
        self.memory(self.state.dynamic_base.wrapping_add(offset))
    }

    /// Dwords of surface state.
    pub fn surface<const N: usize>(&mut self, offset: u32) -> Option<[u32; N]> {
        self.memory(self.state.surface_base.wrapping_add(offset))
    }

    /// Whether the first and the last dword of a range of general state are mapped.
    pub fn general(&mut self, offset: u32, bytes: u32) -> (bool, bool) {
        let first = self.state.general_base.wrapping_add(offset);
        let last = first.saturating_add(bytes.saturating_sub(4));
        let mut mapped = |at| self.source.dword(at & !3).is_some();
        (mapped(first), mapped(last))
    }

    fn memory<const N: usize>(&mut self, address: u32) -> Option<[u32; N]> {
        let mut out = [0; N];
        for (at, word) in (0..).step_by(4).zip(&mut out) {
            *word = self.source.dword(address.wrapping_add(at))?;
        }
        Some(out)
    }
}

impl State {
    /// Remembers a command.
    fn take(&mut self, command: &CommandDesc, words: &[u32]) {
        if command.is(Property::Draw) {
            self.draws = self.draws.saturating_add(1);
            for sent in core::mem::take(&mut self.since) {
                if let Some(words) = self.kept.get(&sent.id) {
                    self.drawn.insert(sent.id, words.clone());
                }
            }
            return;
        }
        if self.since.len() < MAX_SINCE {
            let at = |i: usize| words.get(i).copied().unwrap_or(0);
            self.since.push(Sent {
                id: command.id,
                words: [at(0), at(1)],
            });
        }
        self.kept.insert(command.id, words.to_vec());
        if command.id == CommandId::StateBaseAddress {
            let field = |name: &str| {
                let field = command.fields.iter().find(|f| f.name == name);
                // CAST: addresses and flags of 32 bits.
                field.map_or(0, |f| f.raw(words) as u32)
            };
            let put = |base: &mut u32, address: &str, enable: &str| {
                if field(enable) != 0 {
                    *base = field(address);
                }
            };
            put(
                &mut self.surface_base,
                "Surface State Base Address",
                "Surface State Base Address Modify Enable",
            );
            put(
                &mut self.dynamic_base,
                "Dynamic State Base Address",
                "Dynamic State Base Address Modify Enable",
            );
            put(
                &mut self.general_base,
                "General State Base Address",
                "General State Base Address Modify Enable",
            );
        }
    }
}

/// The source as a walk sees it.
struct Words<'a>(&'a mut dyn Source);

impl Memory for Words<'_> {
    fn dword(&mut self, address: u64) -> Option<u32> {
        self.0.dword(u32::try_from(address).ok()?)
    }
}

/// Asks the rules of a generation of the batch at `start`, at most `bytes` long, and of what it goes on in.
/// `report` gets what is broken, in the order of the commands.
pub fn batch(
    generation: &'static Generation,
    source: &mut dyn Source,
    (start, bytes): (u32, u32),
    options: Options,
    report: &mut dyn FnMut(Finding),
) {
    if generation.rules.is_empty() {
        return;
    }
    let limits = Limits {
        bytes: Some(bytes.into()),
        dwords: options.max_dwords.into(),
        jumps: MAX_CHAIN,
        again: false,
        follow: true,
        unknown: 0,
    };
    let mut walk = Walk::new(generation, start.into(), limits);
    let mut state = State::default();
    let mut said = BTreeSet::new();
    let mut words = [0; LONGEST];
    while let Some(step) = walk.step(&mut Words(source)) {
        let Some(command) = step.command else {
            continue;
        };
        if command.id == CommandId::MiNoop {
            continue;
        }
        let count = walk.words(&mut Words(source), &step, &mut words);
        let words = words.get(..count).unwrap_or_default();
        let draws = command.is(Property::Draw);
        for rule in generation.rules {
            let asked = match rule.when {
                When::Each => true,
                When::At(ids) => ids.contains(&command.id),
                When::Draw => draws,
            };
            if !asked {
                continue;
            }
            let mut view = View {
                source: &mut *source,
                state: &state,
                command,
                words,
            };
            let Some(what) = (rule.broken)(&mut view) else {
                continue;
            };
            if said.len() < MAX_FINDINGS && said.insert((rule.name, what.clone())) {
                report(Finding {
                    rule: rule.name,
                    command: command.name,
                    // CAST: addresses of batches have 32 bits.
                    address: step.address as u32,
                    what,
                });
            }
        }
        state.take(command, words);
    }
}
