//! A batch followed without running it: what it draws into, and where it ends.
//!
//! PRM: volume 1 (MI commands), volume 2 (3DPRIMITIVE, pointers). Not modelled: memory that the batch
//! itself changes before it reads it.

use std::collections::BTreeSet;

use regs::gen40::{self, CommandId};

use super::target::State;

/// Dwords of commands looked at before a batch counts as endless.
const MAX_DWORDS: u32 = 1 << 22;
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
pub fn walk(dword: &impl Fn(u32) -> Option<u32>, start: u32, state: &mut State) -> Walk {
    let mut walk = Walk::default();
    let mut ordinal = 0;
    let mut commands = 0;
    let mut targets = BTreeSet::from([start]);
    let mut at = start;
    let mut left = MAX_DWORDS;
    while let Some(header) = dword(at) {
        let Some(command) = gen40::command(header) else {
            break;
        };
        let count = command.dwords(header) as u32;
        left = match left.checked_sub(count) {
            Some(left) => left,
            None => break,
        };
        let mut words = [0; 8];
        for (i, word) in words.iter_mut().enumerate().take(count as usize) {
            *word = dword(at.wrapping_add(i as u32 * 4)).unwrap_or(0);
        }
        at = at.wrapping_add(count.wrapping_mul(4));
        commands += 1;
        match command.id {
            CommandId::StateBaseAddress => {
                let c = gen40::StateBaseAddress::from_dwords(&words);
                if c.general_state_base_address_modify_enable() {
                    state.general_base = c.general_state_base_address();
                }
                if c.surface_state_base_address_modify_enable() {
                    state.surface_base = c.surface_state_base_address();
                }
            }
            CommandId::State3dPipelinedPointers => {
                state.wm_state =
                    gen40::State3dPipelinedPointers::from_dwords(&words).pointer_to_wm_state();
            }
            CommandId::State3dBindingTablePointers => {
                let c = gen40::State3dBindingTablePointers::from_dwords(&words);
                state.binding_table = c.pointer_to_ps_binding_table();
            }
            CommandId::Primitive3d => {
                let state = *state;
                if walk.last() != Some(state) && walk.draws.len() < MAX_DRAWS {
                    walk.draws.push(Draw { ordinal, state });
                }
                ordinal += 1;
            }
            CommandId::MiBatchBufferStart => {
                walk.end.get_or_insert(End {
                    address: at,
                    last: false,
                });
                at = gen40::MiBatchBufferStart::from_dwords(&words).batch_buffer_start_address();
                if !targets.insert(at) {
                    walk.circle = Some(commands);
                    break;
                }
            }
            CommandId::MiBatchBufferEnd => {
                walk.end.get_or_insert(End {
                    address: at,
                    last: true,
                });
                break;
            }
            _ => {}
        }
    }
    walk
}
