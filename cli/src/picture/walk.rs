//! A batch followed without running it: what it draws into, and where it ends.
//!
//! PRM: volume 1 (MI commands), volume 2 (3DPRIMITIVE, pointers). Not modelled: memory that the batch
//! itself changes before it reads it.

use mmio_mock::intel::ff::state::PipelineState;
use mmio_mock::intel::r#gen::DeviceInfo;
use regs::desc::Property;
use regs::walk::{self, Limits, Stop};

use super::target::State;
use crate::pipeline;

/// Dwords of commands looked at before a batch counts as endless.
const MAX_DWORDS: u64 = 1 << 22;
/// Changes of state between primitives that are kept.
const MAX_DRAWS: usize = 1 << 16;

/// State at a primitive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draw {
    /// How many primitives of the batch come before it.
    pub ordinal: u64,
    /// The pointers.
    pub state: State,
}

/// Where the commands of the batch's own buffer end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End {
    /// Address behind the command.
    pub address: u32,
    /// Whether it is MI_BATCH_BUFFER_END; else it goes on elsewhere.
    pub last: bool,
}

/// What a batch does.
#[derive(Clone, Debug, Default)]
pub struct Walk {
    /// First primitive of each state that differs from the one before.
    pub draws: Vec<Draw>,
    /// End of the first stretch of commands, if there was one.
    pub end: Option<End>,
    /// Commands up to the first jump to where a jump went before: such a batch has no end.
    pub circle: Option<u64>,
}

impl Walk {
    /// The state at the last primitive.
    pub fn last(&self) -> Option<State> {
        self.draws.last().map(|draw| draw.state)
    }
}

/// Follows a batch from `start`, changing `state`.
///
/// The walk ends where the batch does, or at the first thing that is no command: a faulty batch
/// still has a picture of what came before.
pub fn walk(
    device: &DeviceInfo,
    dword: &impl Fn(u32) -> Option<u32>,
    start: u32,
    state: &mut PipelineState,
) -> Walk {
    let mut walk = Walk::default();
    let mut ordinal = 0;
    let mut commands = 0;
    let mut memory = |at: u64| dword(u32::try_from(at).ok()?);
    let limits = Limits {
        dwords: MAX_DWORDS,
        jumps: u32::MAX,
        ..Limits::default()
    };
    let mut batch = walk::Walk::new(device.tables, start.into(), limits);
    while let Some(step) = batch.step(&mut memory) {
        let Some(command) = step.command else {
            break;
        };
        let mut words = [0; 8];
        batch.words(&mut memory, &step, &mut words);
        commands += 1;
        if command.is(Property::Draw) {
            let state = pipeline::target_state(device, state);
            if pipeline::is_empty(command.fields, &words) {
                ordinal += 1;
                continue;
            }
            if walk.last() != Some(state) && walk.draws.len() < MAX_DRAWS {
                walk.draws.push(Draw { ordinal, state });
            }
            ordinal += 1;
        } else if command.is(Property::Ends) || command.is(Property::Chains) {
            walk.end.get_or_insert(End {
                // CAST: addresses of these devices have 32 bits.
                address: batch.at() as u32,
                last: command.is(Property::Ends),
            });
        } else {
            pipeline::latch(device, state, command.id, &words);
        }
    }
    if matches!(batch.stop(), Some(Stop::Loop { .. })) {
        walk.circle = Some(commands);
    }
    walk
}
