//! What a thread that runs aside has ended with: its writes.

use eu::{FloatMode, Grf, Message, ThreadId};
use mem::GpuAddr;

use crate::intel::cc::direct::Packed;
use crate::intel::cc::pixel::lanes::Mixed;
use crate::intel::shared::dataport::request::{WriteKind, WriteRequest};

/// Registers of the longest message.
const LONGEST: usize = 15;

/// The message that ends a thread.
#[derive(Clone, Debug)]
pub struct Last {
    /// What it asks for.
    pub request: WriteRequest,
    thread: ThreadId,
    sfid: u8,
    desc: u32,
    exec_mask: u16,
    exec_size: u8,
    ip: u32,
    float_mode: FloatMode,
    payload: [Grf; LONGEST],
    length: u8,
}

impl Default for Last {
    fn default() -> Self {
        Last {
            request: WriteRequest {
                surface: 0,
                commit: false,
                elements: false,
                kind: WriteKind::Reserved,
            },
            thread: ThreadId::default(),
            sfid: 0,
            desc: 0,
            exec_mask: 0,
            exec_size: 0,
            ip: 0,
            float_mode: FloatMode::Ieee,
            payload: [Grf::default(); LONGEST],
            length: 0,
        }
    }
}

impl Last {
    pub(super) fn set(&mut self, request: WriteRequest, msg: &Message<'_>) {
        self.request = request;
        self.thread = msg.thread;
        self.sfid = msg.sfid;
        self.desc = msg.desc;
        self.exec_mask = msg.exec_mask;
        self.exec_size = msg.exec_size;
        self.ip = msg.ip;
        self.float_mode = msg.float_mode;
        for (to, from) in self.payload.iter_mut().zip(msg.payload) {
            *to = *from;
        }
        // CAST: four bits.
        self.length = msg.payload.len().min(LONGEST) as u8;
    }

    /// The message as its thread has sent it.
    #[must_use]
    pub fn message(&self) -> Message<'_> {
        Message {
            thread: self.thread,
            sfid: self.sfid,
            function_control: self.desc as u16,
            desc: self.desc,
            response_length: 0,
            eot: true,
            exec_mask: self.exec_mask,
            exec_size: self.exec_size,
            // PANIC: no longer than the array.
            payload: &self.payload[..usize::from(self.length)],
            ip: self.ip,
            float_mode: self.float_mode,
        }
    }
}

/// Pixels that a thread has written before its last message: of another target, or the lower half of 32.
#[derive(Clone, Debug)]
pub struct Earlier {
    /// The pixels, ready for the target whose state is at an address.
    pub packed: (GpuAddr, Packed),
    /// Those that are to be mixed with the target's.
    pub mixed: Mixed,
}

/// What a thread has ended with. Used again for the next thread: it is large.
#[derive(Clone, Debug, Default)]
pub struct Ending {
    /// There is one.
    pub is_there: bool,
    /// What was written before.
    pub earlier: Vec<Earlier>,
    /// The pixels, ready for the target whose state is at an address: they are all that is left to do.
    pub packed: Option<(GpuAddr, Packed)>,
    /// Pixels that are ready to be mixed with those of the target.
    pub mixed: Mixed,
    /// The message, where no pixels are ready.
    pub message: Last,
}

impl Ending {
    /// Nothing has been written yet.
    #[inline]
    pub fn begin(&mut self) {
        self.is_there = false;
        self.earlier.clear();
    }

    /// Whether its pixels are ready, whatever the target holds by the turn of the thread.
    #[inline]
    pub fn is_ready(&self) -> bool {
        let ready = |(_, packed): &(GpuAddr, Packed)| !matches!(packed, Packed::Mixed);
        self.earlier.is_empty() && self.packed.as_ref().is_some_and(ready)
    }
}
