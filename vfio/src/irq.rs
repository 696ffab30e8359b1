//! Interrupts of the function: the pin and the message.
//!
//! Each has a descriptor that is signalled.
//! Linux vfio_pci_intrs.c: the pin masks itself when it is signalled, and signals again when it is unmasked while it is still
//! asserted; a message is sent when the device's line rises. The line is looked at after each slice of the device and
//! after each access that may change it.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use parking_lot::Mutex;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl, readlinkat};
use rustix::io::Errno;

use crate::protocol::{IrqSet, irq};

/// What `/proc/self/fd` says of an eventfd.
const EVENTFD: &[u8] = b"anon_inode:[eventfd]";

/// An eventfd of a client.
#[derive(Debug)]
pub struct Event(OwnedFd);

impl Event {
    /// Takes a descriptor that is an eventfd; reads and writes of it will not block.
    ///
    /// # Errors
    /// `EINVAL` for every other kind of file: a write to it might last.
    pub fn new(file: OwnedFd) -> Result<Self, Errno> {
        use std::os::fd::AsRawFd as _;
        let path = format!("/proc/self/fd/{}", file.as_raw_fd());
        let is = readlinkat(rustix::fs::CWD, path, Vec::new())?;
        if is.as_bytes() != EVENTFD {
            return Err(Errno::INVAL);
        }
        let event = Event(file);
        event.unblock()?;
        Ok(event)
    }

    /// Clients share the flags of the file and may have changed them.
    fn unblock(&self) -> Result<(), Errno> {
        let flags = fcntl_getfl(&self.0)?;
        if !flags.contains(OFlags::NONBLOCK) {
            fcntl_setfl(&self.0, flags | OFlags::NONBLOCK)?;
        }
        Ok(())
    }

    fn is(&self, what: PollFlags) -> bool {
        let mut fds = [PollFd::new(&self.0, what)];
        poll(&mut fds, Some(&Timespec::default())).is_ok_and(|n| n > 0)
            && fds[0].revents().contains(what)
    }

    /// Adds one to it. One that is full has been signalled often enough.
    pub fn signal(&self) {
        if self.unblock().is_ok() && self.is(PollFlags::OUT) {
            let _ = rustix::io::write(&self.0, &1_u64.to_ne_bytes());
        }
    }

    /// Whether somebody has signalled it since the last look.
    #[must_use]
    pub fn take(&self) -> bool {
        let mut count = [0; 8];
        self.unblock().is_ok()
            && self.is(PollFlags::IN)
            && rustix::io::read(&self.0, &mut count).is_ok()
    }
}

impl AsFd for Event {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// What the client has set.
#[derive(Debug, Default)]
struct State {
    /// Signalled for the pin.
    pin: Option<Event>,
    /// Signalled by the client to unmask the pin.
    unmask: Option<Event>,
    /// The pin does not signal until it is unmasked.
    masked: bool,
    /// The guest has switched the pin off.
    off: bool,
    /// Signalled for the message.
    message: Option<Event>,
    /// The line at the last look.
    line: bool,
    /// How often each was signalled.
    pins: u64,
    messages: u64,
}

/// The interrupts of a function. The device's thread and the client's look at the line.
#[derive(Debug, Default)]
pub struct Interrupts(Mutex<State>);

/// How often interrupts were signalled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Signalled {
    /// By the pin.
    pub pins: u64,
    /// By messages.
    pub messages: u64,
}

impl State {
    fn look(&mut self, line: bool) {
        let rises = line && !self.line;
        self.line = line;
        if let Some(message) = &self.message {
            if rises {
                message.signal();
                self.messages += 1;
            }
        } else if let Some(pin) = &self.pin
            && line
            && !self.masked
            && !self.off
        {
            self.masked = true;
            pin.signal();
            self.pins += 1;
        }
    }

    fn unmask(&mut self) {
        self.masked = false;
        self.look(self.line);
    }
}

/// How many interrupts of a kind there are.
#[must_use]
pub fn count(index: u32) -> u32 {
    u32::from(index == irq::INTX || index == irq::MSI)
}

/// What can be done with those of a kind.
#[must_use]
pub fn flags(index: u32) -> u32 {
    match index {
        irq::INTX => irq::EVENTFD | irq::MASKABLE | irq::AUTOMASKED,
        _ => irq::EVENTFD | irq::NORESIZE,
    }
}

impl Interrupts {
    /// The device's line, as it is now.
    pub fn look(&self, line: bool) {
        self.0.lock().look(line);
    }

    /// The guest switches the pin on or off.
    pub fn switch_pin(&self, off: bool) {
        let mut state = self.0.lock();
        state.off = off;
        let line = state.line;
        state.look(line);
    }

    /// A duplicate of the descriptor by which the client unmasks the pin, if it has given one: to wait for it.
    #[must_use]
    pub fn unmask_event(&self) -> Option<OwnedFd> {
        let state = self.0.lock();
        state.unmask.as_ref()?.0.try_clone().ok()
    }

    /// Unmasks the pin if the client has said so by its descriptor.
    pub fn take_unmask(&self) {
        let mut state = self.0.lock();
        if state.unmask.as_ref().is_some_and(Event::take) {
            state.unmask();
        }
    }

    /// How often interrupts were signalled.
    #[must_use]
    pub fn signalled(&self) -> Signalled {
        let state = self.0.lock();
        Signalled {
            pins: state.pins,
            messages: state.messages,
        }
    }

    /// The client has gone: its descriptors are closed.
    pub fn clear(&self) {
        let mut state = self.0.lock();
        *state = State {
            pins: state.pins,
            messages: state.messages,
            ..State::default()
        };
    }

    /// Carries [`command::DEVICE_SET_IRQS`](crate::protocol::command::DEVICE_SET_IRQS) out. `meant` has a byte for each interrupt.
    ///
    /// # Errors
    /// `EINVAL` for a kind, range, action or data that there is not; `EOPNOTSUPP` for masks of messages.
    pub fn set(&self, set: &IrqSet, meant: &[u8], files: Vec<OwnedFd>) -> Result<(), Errno> {
        let (data, action) = (set.flags & irq::DATA, set.flags & irq::ACTION);
        let known = set.flags & !(irq::DATA | irq::ACTION) == 0;
        let end = set.start.checked_add(set.count);
        if !known || set.index >= irq::COUNT || end.is_none_or(|end| end > count(set.index)) {
            return Err(Errno::INVAL);
        }
        // The kind is switched off.
        if (set.start, set.count, data, action) == (0, 0, irq::DATA_NONE, irq::TRIGGER) {
            let mut state = self.0.lock();
            match set.index {
                irq::INTX => (state.pin, state.unmask, state.masked) = (None, None, false),
                irq::MSI => state.message = None,
                _ => {}
            }
            return Ok(());
        }
        let fits = match data {
            irq::DATA_NONE => meant.is_empty() && files.is_empty(),
            irq::DATA_BOOL => meant.len() == set.count as usize && files.is_empty(),
            irq::DATA_EVENTFD => files.is_empty() || files.len() == set.count as usize,
            _ => false,
        };
        // There is one interrupt of each kind, so that a range has one, too.
        if !fits || set.count != 1 {
            return Err(Errno::INVAL);
        }
        if data == irq::DATA_BOOL && meant.first() == Some(&0) {
            return match action {
                irq::MASK | irq::UNMASK | irq::TRIGGER => Ok(()),
                _ => Err(Errno::INVAL),
            };
        }
        let event = files.into_iter().next().map(Event::new).transpose()?;
        let mut state = self.0.lock();
        let is_event = data == irq::DATA_EVENTFD;
        match (set.index, action) {
            (irq::INTX, irq::TRIGGER) if is_event => {
                state.pin = event;
                state.masked = false;
                let line = state.line;
                state.look(line);
            }
            (irq::MSI, irq::TRIGGER) if is_event => {
                state.message = event;
                // What is pending is sent at once.
                let line = std::mem::take(&mut state.line);
                state.look(line);
            }
            (_, irq::TRIGGER) => {
                let event = match set.index {
                    irq::INTX => state.pin.as_ref(),
                    _ => state.message.as_ref(),
                };
                if let Some(event) = event {
                    event.signal();
                }
            }
            (irq::INTX, irq::UNMASK) if is_event => state.unmask = event,
            (irq::INTX, irq::UNMASK) => state.unmask(),
            (irq::INTX, irq::MASK) if !is_event => state.masked = true,
            (_, irq::MASK | irq::UNMASK) => return Err(Errno::OPNOTSUPP),
            _ => return Err(Errno::INVAL),
        }
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests;
