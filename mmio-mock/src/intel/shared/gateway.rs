//! Message gateway: register writes from one thread into another.
//!
//! PRM: volume 4, chapter 7. GetTimeStamp (7.1.5) does not exist on these devices: its code is
//! reserved in 7.1.1. The write itself is an event that the thread dispatcher delivers. Not modelled: answers of more
//! than one register, of which the others would stay in flight.

mod barrier;

use eu::{Grf, Message};

use super::context::{Events, ForwardEvent};
use super::places::{ByThread, Places};
pub use barrier::BARRIERS;
use barrier::Barrier;

/// The gateway's own function ID, part of every acknowledgement.
const SFID: u32 = 3;

/// What a message asks for (PRM 7.1.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GatewayOp {
    /// The sender's gateway opens.
    Open,
    /// It closes.
    Close,
    /// Data for another thread.
    Forward,
    /// The sender waits for the other threads of its group.
    Barrier,
    /// No sub-function has this code.
    Reserved,
}

/// A message to the gateway, wherever a generation's descriptor has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GatewayRequest {
    /// Sub-function.
    pub op: GatewayOp,
    /// The sender wants an acknowledgement. Without one, registers that it waits for never become valid (PRM 2.6.11).
    pub acknowledge: bool,
    /// The recipient's notification counter counts the message.
    pub notify: bool,
    /// Bits of a recipient's TID that count.
    pub tid: u8,
}

/// Error codes of an acknowledgement (PRM 7.1.2.2, 7.1.4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ack {
    /// No error.
    Ok = 0,
    /// More than 32 registers asked for.
    SizeExceeded = 1,
    /// The recipient's gateway is closed.
    Closed = 2,
    /// The key does not match.
    KeyMismatch = 3,
    /// The write would leave the recipient's range.
    LimitExceeded = 4,
    /// Reserved sub-function.
    Opcode = 5,
    /// Reserved length.
    Size = 6,
}

/// One open gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    key: u16,
    base: u16,
    registers: u16,
}

/// The gateway's table: one entry a thread.
#[derive(Clone, Debug)]
pub struct Gateway {
    entries: ByThread<Entry>,
    /// Entries that are open.
    open: usize,
    barriers: [Barrier; BARRIERS as usize],
    /// A thread has come to a barrier since all were free.
    met: bool,
}

impl Gateway {
    /// The gateway of a device with so many threads, closed for all of them.
    pub fn new(places: Places) -> Self {
        Gateway {
            entries: ByThread::new(places),
            open: 0,
            barriers: Default::default(),
            met: false,
        }
    }

    fn set(&mut self, eu: u8, slot: u8, entry: Option<Entry>) {
        let closed = self.entries.replace(eu, slot, entry).is_some();
        let opened = self.entries.get(eu, slot).is_some();
        self.open = self.open + usize::from(opened) - usize::from(closed);
    }

    /// The open gateway of a thread: its key, and its first and last register.
    pub fn opened(&self, eu: u8, slot: u8) -> Option<(u16, u16, u16)> {
        let entry = self.entries.get(eu, slot)?;
        Some((entry.key, entry.base, entry.base + entry.registers - 1))
    }

    /// Forgets the gateway of a thread that has ended: the next one in its place starts with a
    /// closed gateway, and messages to the old one have no recipient.
    #[inline]
    pub fn ended(&mut self, eu: u8, slot: u8) {
        if self.open > 0 {
            self.set(eu, slot, None);
        }
        if self.met {
            self.forget_at_barriers(eu, slot);
        }
    }

    /// Serves one message; the acknowledgement, when asked for, is in `response`.
    pub fn execute(
        &mut self,
        request: GatewayRequest,
        msg: &Message<'_>,
        response: &mut [Grf],
        events: &mut Events,
    ) -> Ack {
        let payload = msg.payload.first().copied().unwrap_or_default();
        let code = match request.op {
            // PRM 7.1.2: Open with EOT closes.
            GatewayOp::Open if msg.eot => self.shut(msg),
            GatewayOp::Open => self.open(msg, &payload),
            GatewayOp::Close => self.shut(msg),
            GatewayOp::Forward => self.forward(request, &payload, events),
            GatewayOp::Barrier => {
                self.met = true;
                self.arrive(msg, &payload, events);
                Ack::Ok
            }
            GatewayOp::Reserved => Ack::Opcode,
        };
        if request.acknowledge
            && let Some(w) = response.first_mut()
        {
            w[0] = SFID << 16 | code as u32;
        }
        code
    }

    fn shut(&mut self, msg: &Message<'_>) -> Ack {
        self.set(msg.thread.eu, msg.thread.slot, None);
        Ack::Ok
    }

    fn open(&mut self, msg: &Message<'_>, payload: &Grf) -> Ack {
        let size = payload[5] >> 8 & 7;
        if size > 5 {
            return Ack::SizeExceeded;
        }
        let entry = Entry {
            key: payload[4] as u16,
            base: (payload[5] >> 21 & 0x7f) as u16,
            registers: 1 << size,
        };
        self.set(msg.thread.eu, msg.thread.slot, Some(entry));
        Ack::Ok
    }

    fn forward(&mut self, request: GatewayRequest, payload: &Grf, events: &mut Events) -> Ack {
        // CAST: an EUID of four bits, and a byte whose lower bits are the TID.
        let (eu, slot) = (
            (payload[4] >> 24 & 0xf) as u8,
            (payload[4] >> 16) as u8 & request.tid,
        );
        let length = match payload[5] >> 8 & 7 {
            0 => 1u8,
            2 => 4,
            3 => 8,
            4 => 16,
            _ => return Ack::Size,
        };
        let Some(entry) = self.entries.get(eu, slot) else {
            return Ack::Closed;
        };
        if entry.key != payload[4] as u16 {
            return Ack::KeyMismatch;
        }
        // Bytes from RegBase: register 28:21, dword 20:18, byte 17:16.
        let offset = (payload[5] >> 16 & 0x1fff) as u16;
        if !offset.is_multiple_of(u16::from(length)) {
            return Ack::LimitExceeded;
        }
        if offset + u16::from(length) > entry.registers * 32 {
            return Ack::LimitExceeded;
        }
        events.forwards.push(ForwardEvent {
            eu,
            slot,
            byte: entry.base * 32 + offset,
            length,
            data: [payload[0], payload[1], payload[2], payload[3]],
            notify: request.notify,
        });
        Ack::Ok
    }
}

#[cfg(test)]
mod tests;
