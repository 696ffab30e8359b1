//! Timeline of an engine: what requests of i915 do and use.
//!
//! Sequence numbers land in the hardware status page (i915 `I915_GEM_HWS_SEQNO`).
use alloc::format;
use alloc::string::String;
use alloc::sync::{Arc, Weak};
use alloc::vec::Vec;
use core::ops::Deref;

use kernel::dma::DmaAddress;
use kernel::error::Result;
use kernel::platform::Platform;
use kernel::sync::SpinLock;
use kernel::time::Ktime;

use crate::core::account::{Account, Permit};
use crate::core::gem::Object;
use crate::core::program::Program;
use crate::core::timeline::{self, Blame};
use crate::intel::context::Context;
use crate::intel::r#gen::HWS_SEQNO;
use crate::intel::identity::INFO;
use crate::intel::prologue::Prologue;
use crate::intel::switch::Held;

/// A request under way.
pub type Pending = timeline::Pending<Work>;

/// What the engine does for a request.
#[derive(Clone)]
pub struct Work {
    /// Graphics address of the batch that the ring starts.
    pub batch: u32,
    /// What it uses, kept until the device is done with it.
    pub uses: Uses,
    /// Contexts whose state the device saves when it begins.
    pub saves: Vec<Arc<Held>>,
    /// The commands that are in the ring for it.
    pub commands: Arc<[u32]>,
}

/// Whose a request was; the context may be gone by now.
#[derive(Clone)]
pub struct Left {
    context: Weak<Context>,
    program: Option<Program>,
}

impl Left {
    /// Whose it was; `None` for the driver's own.
    pub fn program(&self) -> Option<&Program> {
        self.program.as_ref()
    }

    /// A reset found that it went on behind its number.
    pub fn mark_guilty(&self, now: Ktime) {
        if let Some(context) = self.context.upgrade() {
            context.mark_guilty(now);
        }
    }

    /// What messages call its program.
    pub fn name(&self) -> String {
        let who = self
            .program
            .as_ref()
            .and_then(|program| program.client().who());
        who.map_or_else(
            || format!("[{}]", INFO.name),
            |who| format!("{}[{}]", who.name, who.pid),
        )
    }
}

impl Work {
    /// Graphics address of the batch whose commands the device carries out.
    pub fn executed(&self) -> u32 {
        let original = self.uses.original.filter(|original| original.runs);
        original.map_or(self.batch, |original| original.address)
    }

    fn mark_saved(&self) {
        for held in &self.saves {
            held.mark_saved();
        }
    }
}

impl timeline::Work for Work {
    type Left = Left;

    fn left(&self) -> Left {
        let context = self.uses.context.as_ref();
        Left {
            context: context.map_or_else(Weak::new, Arc::downgrade),
            program: self.uses.program(),
        }
    }

    fn program(&self) -> Option<Program> {
        self.uses.program()
    }

    fn ended(&self) {
        self.mark_saved();
    }

    fn is_banned(&self) -> bool {
        self.uses.is_banned()
    }

    fn mark_guilty(&self, now: Ktime) {
        if let Some(context) = &self.uses.context {
            context.mark_guilty(now);
        }
    }

    fn mark_innocent(&self) {
        if let Some(context) = &self.uses.context {
            context.mark_innocent();
        }
    }
}

/// What a request uses.
#[derive(Clone, Default)]
pub struct Uses {
    /// The objects, the batch among them.
    pub objects: Vec<Object>,
    /// Those whose contents belong into an error state (uAPI `EXEC_OBJECT_CAPTURE`).
    pub capture: Vec<Object>,
    /// On whose behalf it runs.
    pub context: Option<Arc<Context>>,
    /// The process that has submitted it, when that is known.
    pub account: Option<Arc<Account>>,
    /// The image of that context; without one it runs in the driver's own.
    pub image: Option<Arc<Held>>,
    /// What is done around the batch.
    pub prologue: Prologue,
    /// What the pages of a copy of the batch count for.
    pub copy: Option<Arc<[Permit; 3]>>,
    /// What the copy of the batch stands for.
    pub original: Option<Original>,
}

/// A client's batch that the request does not start itself, but a copy of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Original {
    /// Graphics address of its first command.
    pub address: u32,
    /// Bytes.
    pub len: u32,
    /// The device runs this one: the copy is empty and leads there.
    pub runs: bool,
}

impl Original {
    /// Bytes behind a copy: what its request starts second (i915 `I915_CMD_PARSER_TRAMPOLINE_SIZE`).
    pub const BEHIND: usize = 8;
}

impl Uses {
    /// Whose it is; `None` for the driver's own.
    pub fn program(&self) -> Option<Program> {
        let context = self.context.as_ref()?;
        Some(Program::new(context.client(), self.account.clone()))
    }

    /// Whether it may not run any more.
    pub fn is_banned(&self) -> bool {
        let context = self.context.as_ref();
        context.is_some_and(|context| context.is_banned())
            || self.program().is_some_and(|program| program.is_banned())
    }
}

/// Where the ring lies, for error states.
#[derive(Clone, Copy, Default)]
pub struct RingPlace {
    /// Graphics address.
    pub address: u32,
    /// Bus address.
    pub bus: DmaAddress,
    /// Bytes.
    pub size: usize,
}

/// The timeline, and what error states and resets have to know of the ring.
pub struct Timeline {
    requests: timeline::Timeline<Work>,
    ring: SpinLock<RingPlace>,
    /// The image that was current when the engine was stopped for a reset.
    stopped_in: SpinLock<Option<u32>>,
}

impl Deref for Timeline {
    type Target = timeline::Timeline<Work>;

    fn deref(&self) -> &timeline::Timeline<Work> {
        &self.requests
    }
}

impl Timeline {
    /// A timeline over a fresh status page; nothing has been submitted, number 0 is complete.
    pub fn new(platform: &Arc<dyn Platform>) -> Result<Self> {
        Ok(Timeline {
            requests: timeline::Timeline::new(platform, HWS_SEQNO)?,
            ring: SpinLock::new(RingPlace::default()),
            stopped_in: SpinLock::new(None),
        })
    }

    /// Notes where the ring lies.
    pub fn set_ring(&self, ring: RingPlace) {
        *self.ring.lock() = ring;
    }

    /// Where the ring lies.
    pub fn ring(&self) -> RingPlace {
        *self.ring.lock()
    }

    /// What the oldest request under way wants to see in an error state.
    pub fn captures(&self) -> Vec<Object> {
        self.first()
            .map_or_else(Vec::new, |first| first.work.uses.capture)
    }

    /// Notes the context's image that the engine was stopped in.
    pub fn note_context(&self, image: Option<u32>) {
        *self.stopped_in.lock() = image;
    }

    /// What a reset does with the requests under way; see [`timeline::Timeline::rewind`].
    pub fn rewind(&self, blame: Blame) -> Result<usize> {
        let stopped_in = self.stopped_in.lock().take();
        self.requests.rewind(blame, |first| {
            // When it was stopped in its own context, the device had saved those before it.
            let image = first.uses.image.as_ref().map(|image| image.address());
            if image.is_some() && image == stopped_in {
                first.mark_saved();
            }
        })
    }
}
