//! GPGPU_WALKER: grids of thread groups with local memory and a barrier.
//!
//! genxml gen7 GPGPU_WALKER, INTERFACE_DESCRIPTOR_DATA; what drivers count on: Mesa 22.3.6 crocus_state.c `crocus_upload_compute_state`. All threads
//! of a group start together, so that a barrier is always reached whatever the order of turns. Groups follow one another in X, then Y,
//! then Z, and as many of them are there as find room.

use super::reader::{GroupHeader, GroupKernel, GroupWalker};
use super::threads::{Family, Start, constants};
use super::{Constants, FrontEnd, Media};
use crate::core::fault::UnitFault;
use crate::intel::machine::Machine;
use crate::intel::shared::context::StateBases;
use crate::intel::shared::groups::LOCAL;
use crate::intel::shared::spawner::Member;
use crate::intel::status::Unit;
use crate::intel::td::{Subject, Td, UrbRead};

/// A grid at work.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grid {
    walker: GroupWalker,
    kernel: GroupKernel,
    front_end: FrontEnd,
    constants: Option<Constants>,
    /// The next group.
    next: [u32; 3],
}

fn bad(what: String) -> UnitFault {
    UnitFault::Command { unit: "VFE", what }
}

impl GroupWalker {
    /// Threads of a group.
    fn threads(&self) -> u32 {
        self.threads.iter().product()
    }

    /// Whether there is a group.
    fn has_groups(&self) -> bool {
        self.first.iter().zip(&self.end).all(|(a, b)| a < b)
    }

    /// The group behind another one.
    fn behind(&self, mut group: [u32; 3]) -> Option<[u32; 3]> {
        for axis in 0..3 {
            // PANIC: three axes.
            group[axis] += 1;
            if group[axis] < self.end[axis] {
                return Some(group);
            }
            group[axis] = self.first[axis];
        }
        None
    }

    /// The channels of a thread: those at the right and lower edges of a group have masks of their own.
    fn channels(&self, thread: u32) -> u32 {
        let [across, down, _] = self.threads;
        let all = match self.channels {
            8 => 0xff,
            16 => 0xffff,
            _ => u32::MAX,
        };
        let (x, y) = (thread % across, thread / across % down);
        let right = if x + 1 == across {
            self.right
        } else {
            u32::MAX
        };
        let bottom = if y + 1 == down { self.bottom } else { u32::MAX };
        all & right & bottom
    }
}

impl Media {
    /// Begins a GPGPU_WALKER. `dimensions`: groups in X, Y and Z as the registers have them, for a command that takes them from there.
    pub fn begin_grid(
        &mut self,
        command: &[u32],
        dimensions: [u32; 3],
        bases: &StateBases,
        constants: Option<Constants>,
        machine: &mut Machine<'_>,
    ) -> Result<(), UnitFault> {
        let mut walker = self.reader.grid(command);
        if walker.indirect {
            walker.end = dimensions;
        }
        let front_end = self.front_end(bases, machine)?;
        if !front_end.groups {
            let what = "GPGPU_WALKER without the GPGPU mode of MEDIA_VFE_STATE";
            return Err(bad(what.to_owned()));
        }
        let loaded = &self.state.descriptors;
        let pointer = front_end
            .descriptors
            .wrapping_add(loaded.start)
            .wrapping_add(walker.descriptor);
        let kernel = self
            .reader
            .group_kernel(machine.mem, bases, loaded, pointer)?;
        let threads = walker.threads();
        let room = machine.shared.groups.room();
        let room = room.min(usize::from(front_end.threads));
        if threads as usize > room {
            return Err(bad(format!(
                "thread groups of {threads} threads; there is room for {room}"
            )));
        }
        if kernel.local > LOCAL {
            return Err(bad(format!(
                "thread groups with {} bytes of shared local memory; there are {LOCAL}",
                kernel.local
            )));
        }
        self.stalled = false;
        self.starved = false;
        self.state.works(true);
        self.grid = walker.has_groups().then_some(Grid {
            walker,
            kernel,
            front_end,
            constants,
            next: walker.first,
        });
        Ok(())
    }

    /// Starts the groups for which there is room; comes back with how many those were.
    pub(super) fn start_groups(
        &mut self,
        td: &mut Td,
        machine: &mut Machine<'_>,
    ) -> Result<usize, UnitFault> {
        let mut started = 0;
        while let Some(grid) = self.grid {
            if !self.start_group(&grid, td, machine) {
                if started == 0 && self.living == 0 {
                    let [x, y, z] = grid.next;
                    return Err(bad(format!(
                        "thread group {x}, {y}, {z} of {} threads finds no room, though no thread is alive",
                        grid.walker.threads()
                    )));
                }
                break;
            }
            started += 1;
            let next = grid.walker.behind(grid.next);
            self.grid = next.map(|next| Grid { next, ..grid });
        }
        Ok(started)
    }

    /// Starts all threads of a group; `false`, with nothing done, when there is no room for them.
    fn start_group(&mut self, grid: &Grid, td: &mut Td, machine: &mut Machine<'_>) -> bool {
        let front_end = &grid.front_end;
        let threads = grid.walker.threads();
        let places = usize::from(front_end.threads);
        if self.families.len() < places {
            self.families.resize(places, None);
        }
        let families = self.families.iter().take(places);
        let free = families.filter(|family| family.is_none()).count();
        let slots = td.room(Unit::Media, machine.debug);
        if free.min(slots) < threads as usize {
            return false;
        }
        let shared = &mut *machine.shared;
        let barrier = match grid.kernel.barrier {
            None => None,
            Some(threads) => match shared.gateway.take_barrier(threads) {
                None => return false,
                taken => taken,
            },
        };
        // CAST: there is a place for each thread.
        let group = shared
            .groups
            .begin(threads as u16, grid.kernel.local, barrier);
        let Some(group) = group else {
            if let Some(barrier) = barrier {
                shared.gateway.release_barrier(barrier);
            }
            return false;
        };
        for thread in 0..threads {
            self.start_thread(grid, (group, barrier, thread), td, machine);
        }
        true
    }

    /// Starts one of them.
    fn start_thread(
        &mut self,
        grid: &Grid,
        (group, barrier, thread): (u16, Option<u8>, u32),
        td: &mut Td,
        machine: &mut Machine<'_>,
    ) {
        let (front_end, kernel) = (grid.front_end, &grid.kernel.kernel);
        let places = usize::from(front_end.threads);
        let mut free = self.families.iter().take(places);
        let Some(number) = free.position(Option::is_none) else {
            return;
        };
        let own = front_end.scratch_bytes.saturating_mul(number as u32);
        let r0 = self.reader.group_root(&GroupHeader {
            group: grid.next,
            barrier: barrier.unwrap_or(0),
            context: kernel.context,
            scratch_power: front_end.scratch_power,
            scratch: front_end.scratch.wrapping_add(own),
            // CAST: a place among at most 255.
            number: number as u8,
        });
        let member = Member {
            // CAST: the same.
            family: number as u8,
            ..Member::default()
        };
        // Each thread has rows of its own, one behind the other.
        let rows = constants(kernel, grid.constants).map(|read| UrbRead {
            // CAST: rows of a URB, of which there are fewer than 2^16.
            offset: read
                .offset
                .saturating_add(read.rows.saturating_mul(thread as u16)),
            ..read
        });
        let channels = grid.walker.channels(thread);
        let start = Start {
            kernel: *kernel,
            constants: rows,
            r0,
            data: &[],
            member,
            snapshot: false,
            channels,
            subject: Subject::Group {
                group: grid.next,
                thread,
                channels: grid.walker.channels.into(),
            },
        };
        let Some((eu, slot)) = self.launch(&start, td, machine) else {
            return;
        };
        machine.shared.groups.enter(eu, slot, group);
        let count = &mut machine.status.statistics.cs_invocations;
        *count = count.wrapping_add(channels.count_ones().into());
        self.living += 1;
        // PANIC: the place was just found.
        self.families[number] = Some(Family {
            entry: None,
            members: 1,
            running: 1,
            silent: 0,
            last_silent: (0, 0, 0),
            front_end,
            constants: grid.constants,
            place: None,
        });
    }

    /// The next group of a grid, for reports.
    pub(super) fn next_group(&self) -> Option<([u32; 3], u32)> {
        let grid = self.grid?;
        Some((grid.next, grid.walker.threads()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walker() -> GroupWalker {
        GroupWalker {
            descriptor: 0,
            channels: 16,
            threads: [3, 2, 1],
            first: [1, 0, 0],
            end: [3, 1, 2],
            right: 0x00ff,
            bottom: 0x0fff_ff0f,
            indirect: false,
            predicated: false,
        }
    }

    #[test]
    fn groups_go_along_x_first() {
        let walker = walker();
        let mut at = Some(walker.first);
        let mut groups = Vec::new();
        while let Some(group) = at {
            groups.push(group);
            at = walker.behind(group);
        }
        assert_eq!(groups, [[1, 0, 0], [2, 0, 0], [1, 0, 1], [2, 0, 1]]);
        let none = GroupWalker {
            end: [1, 1, 1],
            ..walker
        };
        assert!(walker.has_groups() && !none.has_groups());
    }

    #[test]
    fn edges_have_masks() {
        let walker = walker();
        let masks: Vec<u32> = (0..6).map(|thread| walker.channels(thread)).collect();
        assert_eq!(masks, [0xffff, 0xffff, 0x00ff, 0xff0f, 0xff0f, 0x000f]);
        let eight = GroupWalker {
            channels: 8,
            threads: [1; 3],
            right: u32::MAX,
            bottom: u32::MAX,
            ..walker
        };
        assert_eq!(eight.channels(0), 0xff);
        let wide = GroupWalker {
            channels: 32,
            ..eight
        };
        assert_eq!(wide.channels(0), u32::MAX);
    }
}
