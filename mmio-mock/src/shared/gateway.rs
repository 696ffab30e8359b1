//! Message gateway: register writes from one thread into another.
//!
//! PRM: volume 4, chapter 7. GetTimeStamp (7.1.5) does not exist on these devices: its code is
//! reserved in 7.1.1. The write itself is an event that the thread dispatcher delivers.

use eu::{Grf, Message};

use super::context::{Events, ForwardEvent};

/// EUs that a 4-bit EUID can name.
const EUS: usize = 16;
/// Threads that a 2-bit TID can name.
const THREADS: usize = 4;
/// The gateway's own function ID, part of every acknowledgement.
const SFID: u32 = 3;

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
#[derive(Clone, Debug, Default)]
pub struct Gateway {
    entries: [[Option<Entry>; THREADS]; EUS],
    /// Entries that are open.
    open: usize,
}

impl Gateway {
    fn entry(&self, eu: u8, slot: u8) -> Option<Entry> {
        self.entries[usize::from(eu) % EUS][usize::from(slot) % THREADS]
    }

    fn set(&mut self, eu: u8, slot: u8, entry: Option<Entry>) {
        let opened = usize::from(entry.is_some());
        let old = &mut self.entries[usize::from(eu) % EUS][usize::from(slot) % THREADS];
        let closed = usize::from(old.is_some());
        *old = entry;
        self.open = self.open + opened - closed;
    }

    /// The open gateway of a thread: its key, and its first and last register.
    pub fn opened(&self, eu: u8, slot: u8) -> Option<(u16, u16, u16)> {
        let entry = self.entry(eu, slot)?;
        Some((entry.key, entry.base, entry.base + entry.registers - 1))
    }

    /// Forgets the gateway of a thread that has ended: the next one in its place starts with a
    /// closed gateway, and messages to the old one come to nobody.
    #[inline]
    pub fn ended(&mut self, eu: u8, slot: u8) {
        if self.open > 0 {
            self.set(eu, slot, None);
        }
    }

    /// Serves one message; the acknowledgement, when asked for, is in `response`.
    pub fn execute(&mut self, msg: &Message<'_>, response: &mut [Grf], events: &mut Events) -> Ack {
        let payload = msg.payload.first().copied().unwrap_or_default();
        let code = match msg.function_control & 3 {
            // PRM 7.1.2: Open with EOT closes.
            0 if msg.eot => self.shut(msg),
            0 => self.open(msg, &payload),
            1 => self.shut(msg),
            2 => self.forward(msg, &payload, events),
            _ => Ack::Opcode,
        };
        if msg.function_control & 1 << 14 != 0
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

    fn forward(&mut self, msg: &Message<'_>, payload: &Grf, events: &mut Events) -> Ack {
        let (eu, slot) = ((payload[4] >> 24 & 0xf) as u8, (payload[4] >> 16 & 3) as u8);
        let length = match payload[5] >> 8 & 7 {
            0 => 1u8,
            2 => 4,
            3 => 8,
            4 => 16,
            _ => return Ack::Size,
        };
        let Some(entry) = self.entry(eu, slot) else {
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
            notify: msg.function_control & 1 << 15 != 0,
        });
        Ack::Ok
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eu::port::FloatMode;
    use eu::{Grf, ThreadId};

    const ACK: u16 = 1 << 14;

    fn send(
        gateway: &mut Gateway,
        events: &mut Events,
        eu: u8,
        control: u16,
        payload: Grf,
    ) -> (Ack, Grf) {
        let mut response = [[5; 8]];
        let msg = Message {
            thread: ThreadId {
                eu,
                slot: 1,
                ..ThreadId::default()
            },
            sfid: 3,
            function_control: control,
            desc: u32::from(control),
            response_length: 1,
            eot: false,
            exec_mask: 0xff,
            exec_size: 8,
            payload: &[payload],
            ip: 0,
            float_mode: FloatMode::Ieee,
        };
        let ack = gateway.execute(&msg, &mut response, events);
        (ack, response[0])
    }

    fn forward(offset: u32, length: u32, key: u32) -> Grf {
        [
            1,
            2,
            3,
            4,
            7 << 24 | 1 << 16 | key,
            offset << 16 | length << 8,
            0,
            0,
        ]
    }

    #[test]
    fn a_write_needs_an_open_gateway_and_its_key() {
        let (mut gateway, mut events) = (Gateway::default(), Events::default());
        let send = |g: &mut Gateway, e: &mut Events, eu, control, p| send(g, e, eu, control, p);
        let (ack, w) = send(&mut gateway, &mut events, 0, 2 | ACK, forward(0, 2, 0x99));
        assert_eq!((ack, w[0], w[1]), (Ack::Closed, 3 << 16 | 2, 5));
        // Four registers from r10 on.
        let open = [0, 0, 0, 0, 0x1234, 10 << 21 | 2 << 8, 0, 0];
        let (ack, w) = send(&mut gateway, &mut events, 7, ACK, open);
        assert_eq!((ack, w[0]), (Ack::Ok, 3 << 16));
        let cases = [
            (forward(0, 2, 0x99), Ack::KeyMismatch),
            (forward(0, 5, 0x1234), Ack::Size),
            (forward(128, 2, 0x1234), Ack::LimitExceeded),
            (forward(112, 4, 0x1234), Ack::Ok),
            (forward(2, 0, 0x1234), Ack::Ok),
        ];
        for (payload, want) in cases {
            assert_eq!(send(&mut gateway, &mut events, 0, 2, payload).0, want);
        }
        let first = events.forwards[0];
        assert_eq!(
            (first.eu, first.slot, first.byte, first.length),
            (7, 1, 10 * 32 + 112, 16)
        );
        assert_eq!(first.data, [1, 2, 3, 4]);
        assert_eq!(events.forwards[1].byte, 10 * 32 + 2);
        assert_eq!(
            send(&mut gateway, &mut events, 7, 1, [0; 8]),
            (Ack::Ok, [5; 8])
        );
        assert_eq!(
            send(&mut gateway, &mut events, 0, 2, forward(0, 2, 0x1234)).0,
            Ack::Closed
        );
        assert_eq!(send(&mut gateway, &mut events, 0, 3, [0; 8]).0, Ack::Opcode);
    }

    #[test]
    fn more_than_32_registers_are_refused() {
        let (mut gateway, mut events) = (Gateway::default(), Events::default());
        let open = [0, 0, 0, 0, 1, 6 << 8, 0, 0];
        assert_eq!(
            send(&mut gateway, &mut events, 0, 0, open).0,
            Ack::SizeExceeded
        );
    }
}
