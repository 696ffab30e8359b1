//! A MEDIA_OBJECT_WALKER at work: object after object, as the front end has room.
//!
//! genxml gen6 MEDIA_OBJECT_WALKER. The order is that of [`walker`](super::walker).

use super::reader::{MediaObject, Place};
use super::state::missing;
use super::walker::{Next, Walk};
use super::{Constants, Media};
use crate::core::fault::UnitFault;
use crate::intel::machine::Machine;
use crate::intel::shared::context::StateBases;

/// Steps of the loops between two looks at the time.
const STEPS: u32 = 64;

/// The command and how far it is.
#[derive(Clone, Debug)]
pub(super) struct Walking {
    command: Vec<u32>,
    walk: Walk,
}

/// How far a walker came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Walked {
    /// It has more to do, and did something.
    On,
    /// The front end has no room.
    Waits,
    /// All objects are there.
    Over,
}

impl Media {
    /// Begins a MEDIA_OBJECT_WALKER.
    pub fn begin_walk(&mut self, command: &[u32]) -> Result<(), UnitFault> {
        let (_, walker) = self.reader.walker(command).map_err(missing)?;
        self.walking = Some(Walking {
            command: command.to_vec(),
            walk: Walk::new(walker),
        });
        Ok(())
    }

    /// Goes on with the walker, for a while.
    pub fn walk(
        &mut self,
        bases: &StateBases,
        constants: Option<Constants>,
        machine: &mut Machine<'_>,
    ) -> Result<Walked, UnitFault> {
        let Some(mut walking) = self.walking.take() else {
            return Ok(Walked::Over);
        };
        let mut walked = Walked::Waits;
        for _ in 0..STEPS {
            if !self.accepts(machine) {
                break;
            }
            let before = walking.walk;
            let next = walking.walk.step().map_err(|_| UnitFault::Command {
                unit: "VFE",
                what: "MEDIA_OBJECT_WALKER with an inner loop that never ends: its unit is 0"
                    .to_owned(),
            })?;
            walked = Walked::On;
            match next {
                Next::Over => return Ok(Walked::Over),
                Next::Nothing => machine.charge(1),
                Next::Thread((x, y), color) => {
                    let (object, _) = self.reader.walker(&walking.command).map_err(missing)?;
                    // CAST: inside of a picture whose sides have nine bits.
                    let (x, y) = (x as u16, y as u16);
                    let place = Place { x, y, color };
                    let object = MediaObject { place, ..object };
                    if !self.take(&object, bases, constants, machine)? {
                        walking.walk = before;
                        break;
                    }
                }
            }
        }
        self.walking = Some(walking);
        Ok(walked)
    }
}
