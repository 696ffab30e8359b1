//! What is debugged: a capture that is replayed, a program on a node, or a guest.
//!
//! Each runs on threads of its own. Not modelled: several targets at once.

mod capture;
mod live;
mod served;
mod threads;

use std::sync::Arc;
use std::time::Duration;

use mem::Memory;
use mmio_mock::LivePlatform;
use mmio_mock::core::memory::lock;
use mmio_mock::{Device, ModelPlatform};

pub use live::{Program, Recording};

use super::gate::{Ending, Gate, Holder, State};
use super::{Answer, Refusal};
use crate::capture::Origin;
use crate::replay::{Attendant, Options};

/// The way to the modelled device.
#[derive(Clone)]
pub enum Reach {
    /// It runs while a thread waits for it.
    Model(Arc<ModelPlatform>),
    /// It runs by itself.
    Live(Arc<LivePlatform>),
}

impl Reach {
    /// Looks at the device, or changes it, between two of its steps.
    pub fn with_device<T>(&self, look: impl FnOnce(&mut Device) -> T) -> T {
        match self {
            Reach::Model(platform) => look(&mut platform.device()),
            Reach::Live(platform) => platform.with_device(look),
        }
    }

    /// Looks at memory, or changes it.
    pub fn with_memory<T>(&self, look: impl FnOnce(&mut Memory) -> T) -> T {
        match self {
            Reach::Model(platform) => look(&mut lock(platform.memory())),
            Reach::Live(platform) => platform.with_memory(look),
        }
    }
}

enum Kind {
    Capture(capture::Runner),
    Live(live::Runner),
    Served(served::Runner),
}

/// Said of what goes through the driver, where the driver is a guest's.
pub fn of_guest() -> Refusal {
    Refusal::of(
        "the guest's driver has the debug registers; `break`, `watch` and `step` need none (`--backend host`)",
    )
}

/// What is debugged.
pub struct Target {
    kind: Kind,
    gate: Arc<Gate>,
    reach: Reach,
    device: Option<driver::Device>,
}

impl Target {
    /// A capture, which is opened once for each run. Its first submission is in place when this returns.
    pub fn capture(origin: impl Into<Origin>, options: Options) -> Answer<Self> {
        let runner = capture::Runner::new(origin.into(), options);
        Self::of(Kind::Capture(runner))
    }

    /// A program that is not started yet.
    pub fn program(program: Program) -> Answer<Self> {
        Self::of(Kind::Live(live::Runner::new(program)))
    }

    /// A device at a socket, for guests.
    pub fn served(server: vfio::Server) -> Answer<Self> {
        Self::of(Kind::Served(served::Runner::new(server)))
    }

    fn of(mut kind: Kind) -> Answer<Self> {
        let gate = match &mut kind {
            Kind::Capture(runner) => runner.begin()?,
            Kind::Live(runner) => runner.begin(),
            Kind::Served(runner) => runner.begin(),
        };
        let (reach, device) = gate.reach().ok_or("there is no device")?;
        Ok(Target {
            kind,
            gate,
            reach,
            device,
        })
    }

    /// What it is, for messages.
    pub fn name(&self) -> &str {
        match &self.kind {
            Kind::Capture(_) => "the frame",
            Kind::Live(_) => "the program",
            Kind::Served(_) => "the guest",
        }
    }

    /// Whether it is a program or a guest, which does not run again.
    pub fn is_live(&self) -> bool {
        matches!(self.kind, Kind::Live(_) | Kind::Served(_))
    }

    /// The way to the device.
    pub fn reach(&self) -> &Reach {
        &self.reach
    }

    /// The driver's device; `None` where the driver is a guest's.
    pub fn device(&self) -> Option<&driver::Device> {
        self.device.as_ref()
    }

    /// The gate.
    pub fn gate(&self) -> &Arc<Gate> {
        &self.gate
    }

    /// How far it is.
    pub fn state(&self) -> State {
        self.gate.state()
    }

    /// Says who knows of stops; again after each [`restart`](Self::restart).
    pub fn set_holder(&self, holder: Arc<dyn Holder>) {
        self.gate.set_holder(holder);
    }

    /// Lets it run from its beginning.
    pub fn run(&mut self) -> Answer<()> {
        match &mut self.kind {
            Kind::Capture(_) => self.gate.resume(),
            Kind::Live(runner) => runner.start()?,
            Kind::Served(runner) => runner.start()?,
        }
        Ok(())
    }

    /// Takes it to its beginning, with a device just powered on.
    pub fn restart(&mut self) -> Answer<()> {
        let runner = match &mut self.kind {
            Kind::Capture(runner) => runner,
            Kind::Live(_) => return Err("a live program cannot be run again; record it with `crestline exec --record DIR`, and debug the capture".into()),
            Kind::Served(_) => return Err("guests are served one after another by themselves; none can be run again".into()),
        };
        runner.abandon();
        let gate = runner.begin()?;
        (self.reach, self.device) = gate.reach().ok_or("there is no device")?;
        self.gate = gate;
        Ok(())
    }

    /// Lets it go on after a stop.
    pub fn resume(&self) {
        self.gate.resume();
    }

    /// Waits until it does not run, for some time at most.
    pub fn wait(&self, patience: Duration) -> State {
        self.gate.wait(patience)
    }

    /// Whether every submission of it is in place, or has been.
    pub fn is_all_placed(&self) -> bool {
        match &self.kind {
            Kind::Capture(runner) => self.gate.submissions() >= runner.submissions(),
            Kind::Live(_) | Kind::Served(_) => false,
        }
    }

    /// How a pixel came about, by runs of its own that `attendant` may leave.
    pub fn why(&self, pixel: (u16, u16), attendant: Arc<dyn Attendant>) -> Answer {
        match &self.kind {
            Kind::Capture(runner) => runner.why(pixel, attendant),
            Kind::Live(runner) => runner.why(pixel, attendant),
            Kind::Served(_) => Err(
                "the walk runs the frame again, and what a guest submits is not recorded".into(),
            ),
        }
    }

    /// Sends a program a signal, from any thread; nothing for captures.
    pub fn signaller(&self) -> Option<impl Fn(nix::sys::signal::Signal) + Send + use<>> {
        match &self.kind {
            Kind::Capture(_) | Kind::Served(_) => None,
            Kind::Live(runner) => Some(runner.signaller()),
        }
    }

    /// Ends a program, or leaves a capture where it is.
    pub fn kill(&mut self) -> Ending {
        match &mut self.kind {
            Kind::Capture(runner) => {
                runner.abandon();
                Ending {
                    code: 0,
                    text: "left before its end".to_owned(),
                }
            }
            Kind::Live(runner) => runner.kill(),
            Kind::Served(runner) => runner.kill(),
        }
    }

    /// After the end: gives everything back.
    pub fn conclude(self) -> Answer<Ending> {
        let Target {
            mut kind,
            gate,
            device,
            ..
        } = self;
        let ending = gate.ending().ok_or("it has not ended")?;
        // The driver is unbound only when nothing else holds its device.
        drop(device);
        gate.forget();
        match &mut kind {
            Kind::Capture(runner) => {
                runner.join();
                if let Some(session) = gate.take_session()
                    && ending.code == 0
                {
                    session.finish().map_err(Refusal::of)?;
                }
            }
            Kind::Live(runner) => runner.join(),
            Kind::Served(runner) => runner.join(),
        }
        Ok(ending)
    }
}
