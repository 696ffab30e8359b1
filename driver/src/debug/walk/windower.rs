//! The windower's part of the walk: from the pixel to its pixel shader thread, and SF's primitive.
//!
//! PRM vol4 3.3.9. No published mux value tells the thread id or the lit pixels of a trapped subspan, so its thread is
//! flagged, halted at the first instruction of its kernel, and asked for the header of its payload: r0.0 (lit pixels),
//! r0.6 (thread id), r0.7 (primitive), r1.2 to r1.5 (where the subspans are). Not modelled: kernels of a pixel shader
//! whose General State Base Address is not the last of its submission.
use alloc::vec::Vec;

use kernel::error::{self, code::ETIMEDOUT};
use kernel::time::Delta;

use super::units::{self, Occurrence, Once, Outputs};
use super::{PixelThread, Probe, Rerun, Setup, WalkError, Walker};
use crate::debug::halted::Register;
use crate::debug::{DebugSession, Threads, Which};
use crate::device::Device;

/// Primitives are numbered with so many bits.
const PRIMITIVE_BITS: u32 = 24;
/// r0.7: the snapshot flag, and the number of the primitive.
const FLAG: u32 = 1 << 31;
const PRIMITIVE: u32 = 0x00ff_ffff;

/// A submission, as far as the windower is concerned.
#[derive(Clone, Copy, Debug)]
pub(super) struct Count {
    /// How often the subspan came by.
    pub(super) instances: u32,
    /// General State Base Address at its end.
    pub(super) base: u32,
}

/// Counts over the whole frame.
#[derive(Default)]
struct Counting {
    pixel: (u16, u16),
    before: u32,
    counts: Vec<Count>,
}

impl Probe for Counting {
    fn before(&mut self, device: &Device, submission: usize) -> error::Result {
        if submission == 0 {
            units::disable(device);
            units::enable(device);
            units::arm_wiz(device, self.pixel, Occurrence::Count, false);
        }
        Ok(())
    }

    fn after(&mut self, device: &Device, _: usize) -> error::Result<bool> {
        let now = units::read_instances(device);
        self.counts.push(Count {
            instances: now.wrapping_sub(self.before),
            base: units::read_base(device),
        });
        self.before = now;
        Ok(true)
    }
}

/// Halts the flagged thread and reads the header of its payload.
struct Halting {
    submission: usize,
    pixel: (u16, u16),
    occurrence: Occurrence,
    primitive: u32,
    address: u32,
    session: Option<DebugSession>,
    header: Option<[Register; 2]>,
    setup: Option<Outputs>,
}

impl Probe for Halting {
    fn before(&mut self, device: &Device, submission: usize) -> error::Result {
        if submission == 0 {
            units::disable(device);
        }
        if submission == self.submission {
            let session = device.debug()?;
            session.set_threads(Threads::Flagged);
            session.set_address_breakpoint(Which::First, Some(self.address))?;
            units::enable(device);
            units::arm_sf(device, self.primitive);
            units::arm_wiz(device, self.pixel, self.occurrence, true);
            self.session = Some(session);
        }
        Ok(())
    }

    fn during(&mut self, _: &Device) -> error::Result {
        let Some(session) = &self.session else {
            return Ok(());
        };
        let halted = match session.wait(Delta::from_nanos(0)) {
            Err(ETIMEDOUT) => return Ok(()),
            halted => halted?,
        };
        for thread in halted {
            if self.header.is_none() {
                let registers = thread.read_registers()?;
                self.header = Some([registers.grf[0], registers.grf[1]]);
            }
            thread.resume()?;
        }
        Ok(())
    }

    fn after(&mut self, device: &Device, submission: usize) -> error::Result<bool> {
        if submission != self.submission {
            return Ok(true);
        }
        self.setup = units::read_sf(device);
        self.session = None;
        units::disable(device);
        Ok(false)
    }
}

impl<R: Rerun> Walker<'_, R> {
    /// How often the subspan comes by in each submission.
    pub(super) fn count(&mut self) -> Result<Vec<Count>, WalkError<R::Error>> {
        let mut probe = Counting {
            pixel: self.pixel,
            ..Counting::default()
        };
        self.run(&mut probe)?;
        Ok(probe.counts)
    }

    /// The thread of an occurrence and the setup of its primitive; `None` when the pixel itself is not lit.
    pub(super) fn pixel_thread(
        &mut self,
        submission: usize,
        count: Count,
        instance: u32,
    ) -> Result<Option<(PixelThread, Setup)>, WalkError<R::Error>> {
        let lost = WalkError::Occurrence {
            instance,
            instances: count.instances,
        };
        // The windower compares up to 255 (PRM vol4 3.3.9.1, bits 23:16).
        let (occurrence, upstream) = if let Ok(number) = u8::try_from(instance) {
            (Occurrence::Number(number), None)
        } else {
            let primitive = self.primitive_of(submission, instance)?;
            (Occurrence::Upstream, Some(primitive))
        };
        let pixel = self.pixel;
        let mut probe = Once::new(submission, units::read_wiz, |device: &Device| {
            if let Some(primitive) = upstream {
                units::arm_sf(device, primitive);
            }
            units::arm_wiz(device, pixel, occurrence, false);
        });
        self.run(&mut probe)?;
        let Some([kernel, _, primitive, ..]) = probe.found.flatten() else {
            return Err(lost);
        };
        let mut probe = Halting {
            submission,
            pixel,
            occurrence,
            primitive,
            address: count.base.wrapping_add(kernel),
            session: None,
            header: None,
            setup: None,
        };
        self.run(&mut probe)?;
        let Some([r0, r1]) = probe.header else {
            return Err(WalkError::NotHalted {
                address: probe.address,
            });
        };
        if r0[7] & FLAG == 0 || r0[7] & PRIMITIVE != primitive & PRIMITIVE {
            return Err(WalkError::OtherThread { r0_7: r0[7] });
        }
        let (lit, at) = (
            r0[0] as u16,
            u32::from(pixel.1 & !1) << 16 | u32::from(pixel.0 & !1),
        );
        let bit = (pixel.1 & 1) * 2 + (pixel.0 & 1);
        let slot = (0u8..4)
            .zip(&r1[2..6])
            .find(|(slot, place)| **place == at && lit >> (u16::from(*slot) * 4 + bit) & 1 != 0);
        let Some((slot, _)) = slot else {
            return Ok(None);
        };
        let setup = Self::setup(primitive, probe.setup)?;
        Ok(Some((
            PixelThread {
                kernel,
                base: count.base,
                primitive,
                id: r0[6] & PRIMITIVE,
                lit,
                slot,
                instance,
                instances: count.instances,
            },
            setup,
        )))
    }

    /// The primitive of an occurrence that is too late to be compared: the last that SF must not drop for it to come.
    /// What comes before it is drawn as ever.
    fn primitive_of(
        &mut self,
        submission: usize,
        instance: u32,
    ) -> Result<u32, WalkError<R::Error>> {
        let pixel = self.pixel;
        let (mut low, mut high) = (0, (1 << PRIMITIVE_BITS) - 1);
        while low < high {
            let middle = low + (high - low) / 2;
            let mut probe = Once::new(submission, units::read_instances, |device: &Device| {
                units::limit_sf(device, middle);
                units::arm_wiz(device, pixel, Occurrence::Count, false);
            });
            self.run(&mut probe)?;
            if probe.found.unwrap_or(0) >= instance {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        Ok(low)
    }
}
