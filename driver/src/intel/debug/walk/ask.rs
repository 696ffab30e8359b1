//! One run with questions to the units: arm, run, read.
//!
//! PRM vol4 3.2. The snapshots of different units do not disturb one another, so that one run asks all of them. Not
//! modelled: units of the media pipeline.
use kernel::error::{self, code::ETIMEDOUT};
use kernel::time::Delta;

use super::{Probe, Rerun, WalkError, Walker};
use crate::intel::debug::halted::Register;
use crate::intel::debug::snapshot::limits::Limits;
use crate::intel::debug::snapshot::units::{
    Clip, Gs, PrimitiveSnapshot, Sf, ShaderSnapshot, Subspan, ThreadTrigger, VertexSnapshot,
    VertexTrigger, Vf, Vs, WIZ_INSTANCES, Wiz,
};
use crate::intel::debug::snapshot::{PixelSnapshot, Snapshot, Unit};
use crate::intel::debug::{DebugSession, Threads, Which};
use crate::intel::device::Device;

/// What a run is to tell.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Questions {
    /// Which thread shaded the vertex of this number?
    pub(super) vf: Option<u32>,
    /// What does this thread work on?
    pub(super) vs: Option<u32>,
    /// What does this thread work on?
    pub(super) gs: Option<u32>,
    /// What does this thread work on?
    pub(super) clip: Option<u32>,
    /// What are the vertices of the primitive of this number?
    pub(super) sf: Option<u32>,
    /// Which thread is for this subspan?
    pub(super) wiz: Option<Subspan>,
    /// What does the flagged thread hold when it comes to the first instruction of its kernel?
    pub(super) header_at: Option<Begin>,
    /// What the units let through.
    pub(super) limits: Limits,
}

/// Where a thread begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Begin {
    /// Kernel start pointer.
    pub(super) kernel: u32,
    /// What it may be relative to: as many as there are breakpoints.
    pub(super) bases: [Option<u32>; 2],
}

/// The begin of a thread that has halted there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Header {
    /// What its kernel start pointer is relative to.
    pub(super) base: u32,
    /// r0 and r1.
    pub(super) registers: [Register; 2],
}

/// What it has told.
#[derive(Default)]
pub(super) struct Answers {
    pub(super) vf: Option<VertexSnapshot>,
    pub(super) vs: Option<ShaderSnapshot>,
    pub(super) gs: Option<PrimitiveSnapshot>,
    pub(super) clip: Option<PrimitiveSnapshot>,
    pub(super) sf: Option<PrimitiveSnapshot>,
    pub(super) wiz: Option<PixelSnapshot>,
    /// How often the subspan has come by, at the end or up to the trapped one.
    pub(super) instances: u32,
    /// Of the thread that has halted first.
    pub(super) header: Option<Header>,
}

/// The units as they are armed.
#[derive(Default)]
struct Armed {
    vf: Option<Snapshot<Vf>>,
    vs: Option<Snapshot<Vs>>,
    gs: Option<Snapshot<Gs>>,
    clip: Option<Snapshot<Clip>>,
    sf: Option<Snapshot<Sf>>,
    wiz: Option<Snapshot<Wiz>>,
}

impl Armed {
    fn arm(device: &Device, questions: &Questions) -> error::Result<Self> {
        let thread = |id| ThreadTrigger {
            id,
            ..ThreadTrigger::default()
        };
        // The limits stand before a unit is armed, which leaves them alone.
        device.set_debug_limits(&questions.limits)?;
        Ok(Armed {
            vf: arm(device, questions.vf.map(VertexTrigger::Sequence))?,
            vs: arm(device, questions.vs.map(thread))?,
            gs: arm(device, questions.gs.map(thread))?,
            clip: arm(device, questions.clip.map(thread))?,
            sf: arm(device, questions.sf.map(thread))?,
            wiz: arm(device, questions.wiz)?,
        })
    }

    fn read(self, answers: &mut Answers) {
        answers.vf = read(self.vf);
        answers.vs = read(self.vs);
        answers.gs = read(self.gs);
        answers.clip = read(self.clip);
        answers.sf = read(self.sf);
        if let Some(wiz) = &self.wiz {
            answers.instances = wiz.output(WIZ_INSTANCES);
        }
        answers.wiz = read(self.wiz);
    }
}

fn arm<U: Unit>(
    device: &Device,
    trigger: Option<U::Trigger>,
) -> error::Result<Option<Snapshot<U>>> {
    let armed = trigger.map(|trigger| device.arm_snapshot::<U>(&trigger));
    armed.transpose()
}

fn read<U: Unit>(armed: Option<Snapshot<U>>) -> Option<U::Data> {
    let armed = armed?;
    let data = armed.read().ok();
    armed.disarm();
    data
}

/// Asks during one submission, and has seen enough of the frame then.
struct Asking {
    submission: usize,
    questions: Questions,
    armed: Option<Armed>,
    session: Option<DebugSession>,
    answers: Answers,
}

impl Probe for Asking {
    fn before(&mut self, device: &Device, submission: usize) -> error::Result {
        let Some(begin) = self.questions.header_at else {
            return self.arm(device, submission);
        };
        // Bases that an earlier submission has set are still in force.
        device.debug_hook().watch_bases(true);
        if submission == self.submission {
            let session = device.debug()?;
            session.set_threads(Threads::Flagged);
            for (which, base) in [Which::First, Which::Second].into_iter().zip(begin.bases) {
                let address = base.map(|base| base.wrapping_add(begin.kernel) & !0xf);
                session.set_address_breakpoint(which, address)?;
            }
            self.session = Some(session);
        }
        self.arm(device, submission)
    }

    fn during(&mut self, _: &Device) -> error::Result {
        let Some(session) = &self.session else {
            return Ok(());
        };
        let halted = match session.wait(Delta::from_nanos(0)) {
            Err(ETIMEDOUT) => return Ok(()),
            halted => halted?,
        };
        let kernel = self.questions.header_at.map(|begin| begin.kernel);
        for thread in halted {
            // It may have come to the address that its kernel would have with the other base.
            if self.answers.header.is_none() && Some(thread.ip) == kernel {
                let registers = thread.read_registers()?;
                self.answers.header = Some(Header {
                    base: thread.origin.instructions,
                    registers: [registers.grf[0], registers.grf[1]],
                });
            }
            thread.resume()?;
        }
        Ok(())
    }

    fn after(&mut self, device: &Device, submission: usize) -> error::Result<bool> {
        let Some(armed) = self.armed.take().filter(|_| submission == self.submission) else {
            return Ok(true);
        };
        armed.read(&mut self.answers);
        device.set_debug_limits(&Limits::default())?;
        self.session = None;
        device.debug_hook().watch_bases(false);
        Ok(false)
    }
}

impl Asking {
    /// Arms the units before the submission that is asked.
    fn arm(&mut self, device: &Device, submission: usize) -> error::Result {
        if submission == self.submission {
            self.armed = Some(Armed::arm(device, &self.questions)?);
        }
        Ok(())
    }
}

impl<R: Rerun> Walker<'_, R> {
    /// Runs the frame up to the end of a submission, with questions during it. Counters begin with it.
    pub(super) fn ask(
        &mut self,
        submission: usize,
        questions: Questions,
    ) -> Result<Answers, WalkError<R::Error>> {
        let mut asking = Asking {
            submission,
            questions,
            armed: None,
            session: None,
            answers: Answers::default(),
        };
        self.run(&mut asking)?;
        Ok(asking.answers)
    }
}
