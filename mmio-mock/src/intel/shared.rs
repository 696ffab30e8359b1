//! Shared functions: what a `send` reaches, and the router that chooses among them.
//!
//! PRM: volume 4, 2.5, 2.6 and chapters 4-8.

pub mod aside;
pub mod binding;
pub mod context;
pub mod dataport;
pub mod error;
pub mod gateway;
pub mod groups;
pub mod interpolator;
pub mod math;
pub mod message;
pub mod null;
pub mod places;
pub mod reader;
pub mod router;
pub mod sampler;
pub mod spawner;
pub mod urb_msg;

pub use context::{EotEvent, Events, ForwardEvent, StateBases, ThreadContext, UrbEvent};
pub use error::MessageError;
pub use message::MessageSet;
pub use router::Router;

/// IDs of functions that a message can have: four bits (Mesa brw_eu_defines.h, `brw_message_target`); three before Sandy Bridge.
pub const FUNCTIONS: usize = 16;

/// Work done since the last reset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Messages by function ID.
    pub messages: [u64; FUNCTIONS],
    /// Messages refused (PRM 2.6.11).
    pub dropped: u64,
}

/// The state of all shared functions.
#[derive(Clone, Debug)]
pub struct SharedFunctions {
    /// Sampling engine.
    pub sampler: sampler::SamplingEngine,
    /// Data port.
    pub dataport: dataport::DataPort,
    /// What commands latched for the pixel back end; see [`dataport::render`].
    pub pixel: dataport::render::PixelBackend,
    /// Open gateways.
    pub gateway: gateway::Gateway,
    /// Threads that share local memory.
    pub groups: groups::Groups,
    /// Threads and requests of the thread spawner.
    pub spawner: spawner::ThreadSpawner,
    /// First refused message since the status unit cleared it.
    pub error: Option<MessageError>,
    /// Counters.
    pub stats: Stats,
    /// What messages ask for, by their descriptors.
    requests: message::Requests,
}

impl SharedFunctions {
    /// Everything as after reset, for the structures and messages of a generation and the threads of a device.
    #[must_use]
    pub fn new(
        reader: &'static dyn reader::FunctionReader,
        messages: &'static dyn MessageSet,
        places: places::Places,
    ) -> Self {
        SharedFunctions {
            sampler: sampler::SamplingEngine::new(reader),
            dataport: dataport::DataPort::new(reader),
            pixel: dataport::render::PixelBackend::default(),
            gateway: gateway::Gateway::new(places),
            groups: groups::Groups::new(places),
            spawner: spawner::ThreadSpawner::new(places),
            error: None,
            stats: Stats::default(),
            requests: message::Requests::new(messages),
        }
    }

    /// What programs have done since the last call that the manual forbids without saying what comes of it: text for people.
    pub fn take_notes(&mut self) -> Vec<String> {
        let differ = self.dataport.disagreement.take().map(|what| {
            format!("render targets and depth buffer of a draw differ: {what} (PRM vol4 4.7.2)")
        });
        let compared = self.sampler.open_comparison.take().map(|format| {
            format!("texels of {format}, which is no shadow map, are compared (PRM vol4 4.4)")
        });
        differ.into_iter().chain(compared).collect()
    }

    /// Drops whatever was derived from state in memory: call it at each primitive and flush.
    pub fn invalidate(&mut self) {
        self.sampler.invalidate();
        self.dataport.invalidate();
    }
}
