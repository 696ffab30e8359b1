//! The thread spawner as a shared function: what media threads ask of it.
//!
//! PRM: volume 4, 2.5, 2.6.8, 3.3.11, 3.4.10. The message formats are in volume 2, which is not at hand:
//! they are those of the kernels of intel-vaapi-driver (shaders/h264, ILDB_header.inc, SpawnChild, scoreboard).
//! Not modelled: restarted and interrupted threads of later devices (descriptor bit 2).

use std::collections::VecDeque;

use eu::Message;
use regs::any::{TsMessageError, values};

use super::places::{ByThread, Places};

/// Requests that wait for a thread slot. The public text has no number.
pub const QUEUE: usize = 64;

/// What the spawner knows of a thread that it started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Member {
    /// The root thread's number: its dispatch ID, and the family of all that it spawned.
    pub family: u8,
    /// Spawned by another thread.
    pub child: bool,
    /// It may spawn (Children Present of VFE_STATE).
    pub parent: bool,
    /// It has told the spawner that it ends.
    pub told: bool,
}

/// A wish for a thread, from the message that carried it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Child {
    /// Family of the parent.
    pub family: u8,
    /// Interface descriptor, relative to the general state base (M0.2).
    pub descriptor: u32,
    /// First URB row of the payload, which begins with r0 (M0.4 9:0).
    pub row: u16,
    /// Rows of the payload (M0.4 15:10, minus one).
    pub rows: u16,
    /// r0.6 and r0.7 of the child as the message repeats them (PRM 3.3.11).
    pub debug: [u32; 2],
}

/// What waits in the spawner, in order of arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// A child thread.
    Child(Child),
    /// Leave for one synchronised root thread.
    Root,
}

/// A thread has said that it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Farewell {
    /// Its family.
    pub family: u8,
    /// It is not the root.
    pub child: bool,
    /// The root's URB entry is to be given back.
    pub release: bool,
}

/// Whether a message could be served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Served.
    Done,
    /// The queue is full; try again.
    Busy,
}

/// Why a message is refused; the error word knows two kinds (PRM 3.3.11.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reject {
    /// Not one register, or an answer is expected.
    Length,
    /// Bits of the descriptor that have no meaning.
    Reserved,
    /// The sender was not started by the spawner.
    Stranger,
    /// Requester Type says root and the sender is a child, or the other way round.
    Requester,
    /// The dispatch ID is not the sender's.
    DispatchId,
    /// The sender has told its end already.
    Twice,
    /// The sender's URB entry went back when it started: it has no handle to give a child.
    NoHandle,
    /// The child's payload does not lie in the front end's part of the URB.
    Range,
}

impl Reject {
    /// The rule in words.
    #[must_use]
    pub const fn what(self) -> &'static str {
        match self {
            Reject::Length => "message length is not one, or an answer is expected",
            Reject::Reserved => "reserved bits of the thread spawner's descriptor",
            Reject::Stranger => "the thread was not started by the thread spawner",
            Reject::Requester => "requester type does not fit the thread",
            Reject::DispatchId => "dispatch ID is not the thread's (M0.5 7:0)",
            Reject::Twice => "the thread has released its resources before",
            Reject::NoHandle => "spawn without a URB handle: VFE_STATE has no children",
            Reject::Range => "the child's payload is not in the URB entries of VFE",
        }
    }

    /// The error code of the message error word.
    #[must_use]
    pub const fn code(self) -> u32 {
        match self {
            Reject::Length => values::ts_error::BAD_LENGTH,
            _ => values::ts_error::UNEXPECTED_MESSAGE,
        }
    }
}

/// A message to the spawner, wherever a generation's descriptor has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpawnerRequest {
    /// It asks for a thread; otherwise the sender tells its end.
    pub spawn: bool,
    /// The sender is a child.
    pub child: bool,
    /// Of a spawn: a root thread. Of an end: the URB entry stays.
    pub select: bool,
    /// Bits without a meaning are set.
    pub reserved: bool,
}

/// The spawner's side of the messages; the media pipeline acts on what stands here.
#[derive(Clone, Debug)]
pub struct ThreadSpawner {
    members: ByThread<Member>,
    queue: VecDeque<Request>,
    farewells: Vec<Farewell>,
    /// URB rows of the front end: where payloads of children may lie.
    rows: (u16, u16),
}

impl ThreadSpawner {
    /// The spawner of a device with so many threads, before it has started any.
    pub fn new(places: Places) -> Self {
        ThreadSpawner {
            members: ByThread::new(places),
            queue: VecDeque::new(),
            farewells: Vec::new(),
            rows: (0, 0),
        }
    }

    /// Sets the URB rows of the front end: first, and behind the last.
    pub fn set_rows(&mut self, first: u16, end: u16) {
        self.rows = (first, end);
    }

    /// A thread was started.
    pub fn enter(&mut self, eu: u8, slot: u8, member: Member) {
        self.members.replace(eu, slot, Some(member));
    }

    /// A thread has left its slot.
    pub fn leave(&mut self, eu: u8, slot: u8) -> Option<Member> {
        self.members.replace(eu, slot, None)
    }

    /// The next request.
    pub fn peek(&self) -> Option<Request> {
        self.queue.front().copied()
    }

    /// Takes the next request.
    pub fn take(&mut self) -> Option<Request> {
        self.queue.pop_front()
    }

    /// Requests that wait.
    pub fn waiting(&self) -> usize {
        self.queue.len()
    }

    /// Requests for children of a family.
    pub fn wanted(&self, family: u8) -> usize {
        let of = |r: &&Request| matches!(r, Request::Child(child) if child.family == family);
        self.queue.iter().filter(of).count()
    }

    /// Takes the ends that threads have told.
    pub fn farewells(&mut self) -> std::vec::Drain<'_, Farewell> {
        self.farewells.drain(..)
    }

    /// Whether there is something that the pipeline has not looked at.
    pub fn has_news(&self) -> bool {
        !self.farewells.is_empty()
    }

    /// Serves one message.
    pub fn execute(
        &mut self,
        request: SpawnerRequest,
        msg: &Message<'_>,
    ) -> Result<Outcome, Reject> {
        let [m0] = msg.payload else {
            return Err(Reject::Length);
        };
        if msg.response_length != 0 {
            return Err(Reject::Length);
        }
        if request.reserved {
            return Err(Reject::Reserved);
        }
        let (eu, slot) = (msg.thread.eu, msg.thread.slot);
        let member = self.members.get(eu, slot).ok_or(Reject::Stranger)?;
        if member.child != request.child {
            return Err(Reject::Requester);
        }
        if member.told {
            return Err(Reject::Twice);
        }
        if request.spawn {
            return self.spawn(member, request.select, m0);
        }
        // Only a thread of the fixed function has a dispatch ID of its own (PRM 7.1.2.1 says the
        // same of the gateway's message).
        if !member.child && m0[5] as u8 != member.family {
            return Err(Reject::DispatchId);
        }
        let told = Member {
            told: true,
            ..member
        };
        self.members.replace(eu, slot, Some(told));
        self.farewells.push(Farewell {
            family: member.family,
            child: member.child,
            release: !request.select,
        });
        Ok(Outcome::Done)
    }

    fn spawn(&mut self, member: Member, root: bool, m0: &eu::Grf) -> Result<Outcome, Reject> {
        let request = if root {
            Request::Root
        } else {
            if !member.parent {
                return Err(Reject::NoHandle);
            }
            let row = (m0[4] & 0x3ff) as u16;
            let rows = (m0[4] >> 10 & 0x3f) as u16 + 1;
            if row < self.rows.0 || row + rows > self.rows.1 {
                return Err(Reject::Range);
            }
            Request::Child(Child {
                family: member.family,
                descriptor: m0[2] & !0xf,
                row,
                rows,
                debug: [m0[6], m0[7]],
            })
        };
        if self.queue.len() >= QUEUE {
            return Ok(Outcome::Busy);
        }
        self.queue.push_back(request);
        Ok(Outcome::Done)
    }
}

/// The error word of a refused message (PRM 3.3.11.1).
#[must_use]
pub fn error_word(request: SpawnerRequest, msg: &Message<'_>, reject: Reject) -> TsMessageError {
    let m0 = msg.payload.first().copied().unwrap_or_default();
    let handle = if request.spawn { m0[4] } else { m0[0] };
    TsMessageError::default()
        .with_error_code(reject.code())
        .with_urb_handle(handle & 0x1ff)
        .with_dispatch_id(m0[5] & 0x1f)
        .with_tid(u32::from(msg.thread.slot) & 3)
        .with_euid(u32::from(msg.thread.eu) & 0xf)
        .with_ffid(u32::from(msg.thread.ffid) & 0xf)
        .with_end_of_thread(msg.eot)
        .with_function_control(u32::from(msg.function_control) & 0x1f)
}

#[cfg(test)]
mod tests;
