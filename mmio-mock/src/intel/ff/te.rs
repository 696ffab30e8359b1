//! Tessellation engine: factors of a patch in, points of its domain out.
//!
//! Intel's manual of Gen7, volume 2 part 1, TE stage; the cutting itself is the crate `tess`. Not modelled: points that software puts into memory (TE Mode SW_TESS),
//! strips of triangles, which hardware may hand on where a list goes here.

use tess::{Domain, Factors, Output, Tessellator};

use super::Step;
use super::link::{Cargo, DomainVertex, Link, Patch};
use super::stage::{Stage, StartContext, StepContext};
use super::state::tessellation::FactorPlaces;
use super::state::{DrawState, TeState};
use super::topology::Topology;
use crate::core::fault::UnitFault;
use crate::intel::machine::Machine;
use crate::intel::status::Busy;
use crate::intel::trace::Event;
use crate::intel::urb::{Urb, UrbHandle};

/// Points that go on at once, but for the rest of a triangle.
const BATCH: usize = 48;
/// Ticks of a patch, besides one for each of its points.
const PATCH_TICKS: u64 = 64;

/// The tessellation engine.
#[derive(Clone, Debug, Default)]
pub struct Te {
    cut: Tessellator,
    /// The patch that was cut, and how many of its objects' points have gone on.
    patch: Option<(Patch, usize)>,
}

impl Stage for Te {
    fn part(&self) -> Busy {
        Busy::Te
    }

    fn takes(&self) -> &'static [Cargo] {
        &[Cargo::Patches]
    }

    fn gives(&self) -> &'static [Cargo] {
        &[Cargo::Domain]
    }

    fn off(&self, draw: &DrawState) -> bool {
        draw.te.is_none()
    }

    fn start(
        &mut self,
        ctx: &StartContext<'_>,
        _machine: &mut Machine<'_>,
    ) -> Result<(), UnitFault> {
        let refuse = |what: &str| {
            Err(UnitFault::Command {
                unit: "TE",
                what: what.to_owned(),
            })
        };
        let Some(state) = &ctx.draw.te else {
            return Ok(());
        };
        if ctx.draw.hs.is_none() || ctx.draw.ds.is_none() {
            return refuse("TE is enabled without HS and DS");
        }
        if state.software {
            return Err(UnitFault::Unimplemented {
                unit: "TE",
                what: "TE Mode SW_TESS",
                prm: "IVB PRM vol2 part 1, 3DSTATE_TE",
            });
        }
        match (state.setting.domain, state.setting.output) {
            (Domain::Isoline, Output::Clockwise | Output::CounterClockwise) => {
                refuse("triangles of isolines")
            }
            (Domain::Quad | Domain::Triangle, Output::Lines) => {
                refuse("lines of a domain that is no isoline")
            }
            _ => Ok(()),
        }
    }

    fn room(&self, input: &Link) -> bool {
        input.patches.is_empty()
    }

    /// Cuts a patch, or hands on some of its points.
    fn step(&mut self, input: &mut Link, out: &mut Link, ctx: &mut StepContext<'_, '_>) -> Step {
        let Some(state) = &ctx.draw.te else {
            return Step::Idle;
        };
        if self.patch.is_none() {
            let Some(patch) = input.patches.pop_front() else {
                return Step::Idle;
            };
            let machine = &mut *ctx.machine;
            let factors = factors(machine.urb, patch.entry, state.places);
            let drawn = self.cut.patch(&state.setting, &factors);
            machine.charge(PATCH_TICKS + self.cut.points().len() as u64);
            let drawn = drawn && self.total() > 0;
            self.count(patch, &factors, drawn, machine);
            if !drawn {
                machine.urb.release(patch.entry);
                return Step::Progress;
            }
            self.patch = Some((patch, 0));
        }
        self.hand_on(state, out);
        Step::Progress
    }

    fn busy(&self, input: &Link) -> bool {
        self.patch.is_some() || !input.patches.is_empty()
    }
}

/// The factors of a patch. What lies behind the end of the URB is zero.
fn factors(urb: &Urb, entry: UrbHandle, places: FactorPlaces) -> Factors {
    let factor = |dword: u8| {
        let row = urb.row(entry, u16::from(dword / 8));
        // PANIC: a row has eight dwords.
        f32::from_bits(row.map_or(0, |row| row[usize::from(dword % 8)]))
    };
    Factors {
        outside: places.outside.map(factor),
        inside: places.inside.map(factor),
    }
}

impl Te {
    /// Counts a patch that was cut, or dropped, for the model's users.
    fn count(&self, patch: Patch, factors: &Factors, drawn: bool, machine: &mut Machine<'_>) {
        let (mut points, mut objects) = (0, 0);
        if drawn {
            // CAST: a patch has at most 4225 points, and two triangles for each.
            points = self.cut.points().len() as u32;
            objects = match self.cut.strip() {
                0 => self.cut.triangles().len(),
                1 => self.cut.points().len(),
                strip => self.cut.points().len() / strip * (strip - 1),
            } as u32;
        }
        let done = &mut machine.status.activity.tessellation;
        done.patches += 1;
        done.dropped += u64::from(!drawn);
        done.points += u64::from(points);
        done.objects += u64::from(objects);
        if machine.trace.is_detailed() {
            let mut all = [0; 6];
            let each = factors.outside.iter().chain(&factors.inside);
            for (to, factor) in all.iter_mut().zip(each) {
                *to = factor.to_bits();
            }
            machine.note(Event::Cut {
                handle: patch.entry.0,
                factors: all,
                points,
                objects,
            });
        }
    }

    /// Points that all objects of the patch have together.
    fn total(&self) -> usize {
        match self.cut.strip() {
            0 => 3 * self.cut.triangles().len(),
            _ => self.cut.points().len(),
        }
    }

    /// Hands on the next points of the patch that was cut.
    fn hand_on(&mut self, state: &TeState, out: &mut Link) {
        let Some((patch, from)) = self.patch.take() else {
            return;
        };
        let total = self.total();
        let strip = self.cut.strip();
        let to = from.saturating_add(BATCH).min(total);
        let topology = match state.setting.output {
            Output::Points => Topology::PointList,
            Output::Lines => Topology::LineStrip,
            Output::Clockwise | Output::CounterClockwise => Topology::TriList,
        };
        let points = self.cut.points();
        let indices = self.cut.triangles().as_flattened();
        out.domain.extend((from..to).map(|at| {
            let last = at + 1 == total;
            let (index, start, end) = match strip {
                0 => (indices.get(at).copied().unwrap_or(0), at == 0, last),
                // Points are a list of their own.
                // CAST: a patch has at most 4225 points.
                1 => (at as u16, at == 0, last),
                strip => {
                    let place = at % strip;
                    // CAST: as above.
                    (at as u16, place == 0, place + 1 == strip)
                }
            };
            DomainVertex {
                patch,
                index,
                point: points.get(usize::from(index)).copied().unwrap_or_default(),
                topology,
                start,
                end,
                last,
            }
        }));
        if to < total {
            self.patch = Some((patch, to));
        }
    }
}
