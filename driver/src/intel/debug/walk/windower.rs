//! The windower's part of the walk: from the pixel to thread and primitive.
//!
//! PRM vol4 3.3.9. No published mux value tells the thread id or the lit pixels of a trapped subspan, so its thread is
//! flagged, halted at the first instruction of its kernel, and asked for the header of its payload: r0.0 (lit pixels),
//! r0.6 (thread id), r0.7 (primitive), r1.2 to r1.5 (where the subspans are). Where its kernel lies depends on the base that
//! it began under; with several in a submission they are tried. Not modelled: threads that are not there in every run.
use alloc::vec::Vec;

use kernel::error;

use super::ask::{Begin, Header, Questions};
use super::{PixelThread, Probe, Rerun, Setup, Tag, WalkError, Walker};
use crate::intel::debug::snapshot::limits::Limits;
use crate::intel::debug::snapshot::units::{Subspan, WIZ_INSTANCES, Wiz};
use crate::intel::debug::snapshot::{Flag, Snapshot};
use crate::intel::device::Device;

/// Primitives are numbered with so many bits.
const PRIMITIVE_BITS: u32 = 24;
/// r0.7: the snapshot flag, and the number of the primitive; r0.6: the thread id in the same bits.
const FLAG: u32 = 1 << 31;
const NUMBER: u32 = (1 << PRIMITIVE_BITS) - 1;

/// A submission, as far as the windower is concerned.
#[derive(Clone, Debug)]
pub(super) struct Count {
    /// How often the subspan came by.
    pub(super) instances: u32,
    /// What its kernels are relative to, one base after the other.
    bases: Vec<u32>,
}

/// Counts over the whole frame.
struct Counting {
    subspan: Subspan,
    submissions: usize,
    armed: Option<Snapshot<Wiz>>,
    before: u32,
    counts: Vec<Count>,
}

impl Probe for Counting {
    fn before(&mut self, device: &Device, _: usize) -> error::Result {
        if self.armed.is_none() {
            self.armed = Some(device.arm_snapshot(&self.subspan)?);
            device.debug_hook().watch_bases(true);
        }
        Ok(())
    }

    fn after(&mut self, device: &Device, submission: usize) -> error::Result<bool> {
        let armed = self.armed.as_ref();
        let now = armed.map_or(0, |armed| armed.output(WIZ_INSTANCES));
        self.counts.push(Count {
            instances: now.wrapping_sub(self.before),
            bases: device.debug_hook().kernel_bases(),
        });
        self.before = now;
        if submission + 1 >= self.submissions
            && let Some(armed) = self.armed.take()
        {
            armed.disarm();
            device.debug_hook().watch_bases(false);
        }
        Ok(true)
    }
}

impl<R: Rerun> Walker<'_, R> {
    /// The subspan of the pixel, of which the windower only counts the occurrences: they count from 1 (PRM vol4 3.3.9.1),
    /// number 0 never comes.
    fn counted(&self) -> Subspan {
        let (x, y) = self.pixel;
        Subspan {
            x,
            y,
            instance: Some(0),
            ..Subspan::default()
        }
    }

    /// How often the subspan comes by in each submission.
    pub(super) fn count(&mut self) -> Result<Vec<Count>, WalkError<R::Error>> {
        let mut counting = Counting {
            subspan: self.counted(),
            submissions: self.rerun.submissions(),
            armed: None,
            before: 0,
            counts: Vec::new(),
        };
        self.run(&mut counting)?;
        Ok(counting.counts)
    }

    /// The thread of an occurrence and the setup of its primitive; `None` when the pixel itself is not lit.
    pub(super) fn pixel_thread(
        &mut self,
        submission: usize,
        count: &Count,
        instance: u32,
    ) -> Result<Option<(PixelThread, Setup)>, WalkError<R::Error>> {
        // The windower compares up to 255 (PRM vol4 3.3.9.1, bits 23:16).
        let number = u8::try_from(instance).ok();
        let sf = match number {
            Some(_) => None,
            None => Some(self.primitive_of(submission, instance)?),
        };
        let subspan = Subspan {
            instance: number,
            upstream: sf.is_some(),
            ..self.counted()
        };
        let questions = Questions {
            wiz: Some(subspan),
            sf,
            ..Questions::default()
        };
        let Some(trapped) = self.ask(submission, questions)?.wiz else {
            return Err(WalkError::Occurrence {
                instance,
                instances: count.instances,
            });
        };
        let (kernel, primitive) = (trapped.kernel_pointer, trapped.primitive & NUMBER);
        let wiz = Some(Subspan {
            flag: Flag::Trapped,
            ..subspan
        });
        let mut found = None;
        for bases in count.bases.chunks(2) {
            let begin = Begin {
                kernel,
                bases: [bases.first().copied(), bases.get(1).copied()],
            };
            let questions = Questions {
                wiz,
                sf: Some(primitive),
                header_at: Some(begin),
                ..Questions::default()
            };
            let answers = self.ask(submission, questions)?;
            if let Some(header) = answers.header {
                found = Some((header, answers.sf));
                break;
            }
        }
        let Some((header, setup)) = found else {
            let begin = |base: &u32| base.wrapping_add(kernel);
            return Err(WalkError::NotHalted {
                addresses: count.bases.iter().map(begin).collect(),
            });
        };
        let Header {
            base,
            registers: [r0, r1],
        } = header;
        if r0[7] & FLAG == 0 || r0[7] & NUMBER != primitive {
            return Err(WalkError::OtherThread { r0_7: r0[7] });
        }
        let lit = r0[0] as u16;
        let Some(slot) = self.slot(lit, &r1[2..6]) else {
            return Ok(None);
        };
        let setup = setup.ok_or(WalkError::Primitive(primitive))?;
        let vertices = setup.vertices.iter().map(|tag| Tag::of("SF", tag));
        Ok(Some((
            PixelThread {
                kernel,
                base,
                primitive,
                id: r0[6] & NUMBER,
                lit: lit.into(),
                slot,
                instance,
                instances: count.instances,
            },
            Setup {
                primitive,
                kernel: Some(setup.kernel_pointer),
                vertices: vertices.collect::<Result<_, _>>()?,
            },
        )))
    }

    /// Which subspan of a thread holds the pixel, if it is lit there.
    fn slot(&self, lit: u16, subspans: &[u32]) -> Option<u8> {
        let (x, y) = self.pixel;
        let at = u32::from(y & !1) << 16 | u32::from(x & !1);
        let bit = (y & 1) * 2 + (x & 1);
        let mut slots = (0u8..4).zip(subspans);
        let slot = slots
            .find(|(slot, place)| **place == at && lit >> (u16::from(*slot) * 4 + bit) & 1 != 0);
        slot.map(|(slot, _)| slot)
    }

    /// The primitive of an occurrence whose number is too large to be compared: the last that SF must not drop for it to
    /// come. What comes before is drawn as ever.
    fn primitive_of(
        &mut self,
        submission: usize,
        instance: u32,
    ) -> Result<u32, WalkError<R::Error>> {
        // A primitive comes to a subspan hardly more than once: so many of them it takes.
        let (mut low, mut high) = (0, instance.min(NUMBER));
        while high < NUMBER && !self.reaches(submission, instance, high)? {
            low = high + 1;
            high = high.saturating_mul(2).min(NUMBER);
        }
        while low < high {
            let middle = low + (high - low) / 2;
            if self.reaches(submission, instance, middle)? {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        Ok(low)
    }

    /// Whether an occurrence comes when SF drops all primitives behind one.
    fn reaches(
        &mut self,
        submission: usize,
        instance: u32,
        last: u32,
    ) -> Result<bool, WalkError<R::Error>> {
        let questions = Questions {
            wiz: Some(self.counted()),
            limits: Limits {
                primitives: Some((0, last)),
                ..Limits::default()
            },
            ..Questions::default()
        };
        Ok(self.ask(submission, questions)?.instances >= instance)
    }
}
