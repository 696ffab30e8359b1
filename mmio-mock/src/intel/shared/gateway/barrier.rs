//! Barriers: all threads of a group are notified when the last has come.
//!
//! Payload: Mesa 22.3.6 brw_fs_visitor.cpp `emit_barrier` (M0.2 27:24 names the barrier, as r0.2 of the thread does),
//! brw_vec4_generator.cpp `generate_tcs_create_barrier_header` (M0.2 15 and 14:9: the number of threads). There are sixteen.

use eu::{Grf, Message};

use super::super::context::{Events, ForwardEvent};
use super::Gateway;

/// Barriers of a device.
pub const BARRIERS: u8 = 16;

/// A barrier.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Barrier {
    /// A group has it.
    taken: bool,
    /// Threads of that group.
    threads: u16,
    /// EU and slot of those that wait.
    waiting: Vec<(u8, u8)>,
}

impl Gateway {
    /// Takes a barrier for a group of so many threads: its number; `None` when all are taken.
    pub fn take_barrier(&mut self, threads: u16) -> Option<u8> {
        let free = self.barriers.iter().position(|barrier| !barrier.taken)?;
        let barrier = self.barriers.get_mut(free)?;
        barrier.taken = true;
        barrier.threads = threads;
        barrier.waiting.clear();
        // CAST: one of sixteen.
        Some(free as u8)
    }

    /// Gives a barrier back: its group has ended.
    pub fn release_barrier(&mut self, number: u8) {
        if let Some(barrier) = self.barriers.get_mut(usize::from(number)) {
            *barrier = Barrier::default();
        }
    }

    /// The barrier at which a thread waits, how many threads have come to it, and how many there are.
    pub fn at_barrier(&self, eu: u8, slot: u8) -> Option<(u8, usize, u16)> {
        let mut all = (0..).zip(&self.barriers);
        let at = |(_, barrier): &(u8, &Barrier)| barrier.waiting.contains(&(eu, slot));
        let (number, barrier) = all.find(at)?;
        Some((number, barrier.waiting.len(), barrier.threads))
    }

    /// A thread has come to a barrier. The last one lets all go on.
    pub(super) fn arrive(&mut self, msg: &Message<'_>, payload: &Grf, events: &mut Events) {
        let number = payload[2] >> 24 & 0xf;
        let Some(barrier) = self.barriers.get_mut(number as usize) else {
            return;
        };
        if payload[2] >> 15 & 1 == 1 {
            // CAST: six bits.
            barrier.threads = (payload[2] >> 9 & 0x3f) as u16;
        }
        let sender = (msg.thread.eu, msg.thread.slot);
        if !barrier.waiting.contains(&sender) {
            barrier.waiting.push(sender);
        }
        if barrier.waiting.len() < usize::from(barrier.threads) {
            return;
        }
        for (eu, slot) in barrier.waiting.drain(..) {
            events.forwards.push(ForwardEvent {
                eu,
                slot,
                notify: true,
                ..ForwardEvent::default()
            });
        }
    }

    /// A thread has ended: it waits for nothing any more.
    pub(super) fn forget_at_barriers(&mut self, eu: u8, slot: u8) {
        for barrier in &mut self.barriers {
            barrier.waiting.retain(|thread| *thread != (eu, slot));
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use eu::{FloatMode, ThreadId};

    use super::super::super::places::Places;
    use super::super::{GatewayOp, GatewayRequest};
    use super::*;

    fn send(gateway: &mut Gateway, slot: u8, dword: u32) -> Vec<ForwardEvent> {
        let mut events = Events::default();
        let payload = [[0, 0, dword, 0, 0, 0, 0, 0]];
        let msg = Message {
            thread: ThreadId {
                eu: 1,
                slot,
                ..ThreadId::default()
            },
            sfid: 3,
            function_control: 4,
            desc: 0x0200_0004,
            response_length: 0,
            eot: false,
            exec_mask: 0xffff,
            exec_size: 16,
            payload: &payload,
            ip: 0,
            float_mode: FloatMode::Ieee,
        };
        let request = GatewayRequest {
            op: GatewayOp::Barrier,
            acknowledge: false,
            notify: false,
            tid: 7,
        };
        gateway.execute(request, &msg, &mut [], &mut events);
        events.forwards
    }

    fn gateway() -> Gateway {
        Gateway::new(Places {
            eus: 4,
            threads_per_eu: 8,
        })
    }

    #[test]
    fn the_last_thread_lets_all_go_on_and_the_barrier_serves_again() {
        let mut gateway = gateway();
        assert_eq!(gateway.take_barrier(1), Some(0));
        let number = gateway.take_barrier(3).unwrap();
        let dword = u32::from(number) << 24;
        for _ in 0..2 {
            assert_eq!(send(&mut gateway, 2, dword), []);
            assert_eq!(gateway.at_barrier(1, 2), Some((number, 1, 3)));
            assert_eq!(send(&mut gateway, 0, dword), []);
            let told = send(&mut gateway, 5, dword);
            let who: Vec<_> = told
                .iter()
                .map(|e| (e.eu, e.slot, e.notify, e.length))
                .collect();
            assert_eq!(who, [(1, 2, true, 0), (1, 0, true, 0), (1, 5, true, 0)]);
            assert_eq!(gateway.at_barrier(1, 2), None);
        }
    }

    /// Tessellation control shaders say how many they are: `instances << 9 | 1 << 15`.
    #[test]
    fn a_message_may_say_how_many_threads_there_are() {
        let mut gateway = gateway();
        let dword = 5 << 24 | 1 << 15 | 2 << 9;
        assert_eq!(send(&mut gateway, 0, dword), []);
        assert_eq!(send(&mut gateway, 1, dword).len(), 2);
    }

    #[test]
    fn there_are_sixteen() {
        let mut gateway = gateway();
        for number in 0..BARRIERS {
            assert_eq!(gateway.take_barrier(1), Some(number));
        }
        assert_eq!(gateway.take_barrier(1), None);
        gateway.release_barrier(7);
        assert_eq!(gateway.take_barrier(1), Some(7));
        gateway.release_barrier(200);
    }
}
