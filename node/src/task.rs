//! The caller of an ioctl as the driver sees it: memory and descriptors.
//!
//! Memory is read and written as a debugger does, see `peer`.

use std::cell::{Cell, RefCell};
use std::os::fd::AsFd as _;
use std::sync::Arc;
use std::time::Duration;

use driver::uapi::Request;
use driver::{FdTable, Opening, Origin, Shared, Task};
use kernel::error::{
    Error, Result,
    code::{EBADF, EFAULT, EINVAL, EMFILE},
};
use kernel::time::Ktime;
use kernel::uaccess::UserMemory;
use nix::time::{ClockId, clock_gettime};
use wire::{Op, Reply};

use crate::card::Card;
use crate::descriptors::What;
use crate::packet::Socket;
use crate::peer::Peer;
use crate::server::Server;

/// The argument block of the call, which came with the request and goes back with the reply.
pub struct Block {
    /// Its address in the client.
    pub address: u64,
    /// Its bytes.
    pub bytes: RefCell<Vec<u8>>,
    /// They came with the request.
    pub given: bool,
    /// They go back with the reply.
    pub taken: bool,
    /// How many of them the driver has written, from the first on.
    pub written: Cell<usize>,
}

impl Block {
    /// The block of a request with its payload.
    pub fn new(request: u32, address: u64, mut payload: Vec<u8>) -> Self {
        let direction = Request(request);
        let text = driver::dma_buf::is_set_name(request);
        let size = if text { 0 } else { direction.size() };
        payload.resize(size, 0);
        Block {
            address,
            bytes: RefCell::new(payload),
            given: request & Request::IN != 0,
            taken: request & Request::OUT != 0,
            written: Cell::new(0),
        }
    }

    /// What goes back: nothing when the driver has not written.
    pub fn into_reply(self) -> Vec<u8> {
        let mut bytes = self.bytes.into_inner();
        bytes.truncate(self.written.get());
        bytes
    }

    fn offset(&self, addr: u64, len: usize) -> Option<std::ops::Range<usize>> {
        let start = usize::try_from(addr.checked_sub(self.address)?).ok()?;
        let end = start.checked_add(len)?;
        (end <= self.bytes.borrow().len()).then_some(start..end)
    }
}

/// A call of a client.
pub struct Caller<'a> {
    pub server: &'a Server,
    /// The device of the descriptor that the call is about.
    pub card: &'a Arc<Card>,
    pub peer: &'a Peer,
    pub socket: RefCell<&'a mut Socket>,
    pub block: Block,
}

impl UserMemory for Caller<'_> {
    fn read(&self, addr: u64, out: &mut [u8]) -> Result {
        if self.block.given
            && let Some(range) = self.block.offset(addr, out.len())
        {
            out.copy_from_slice(self.block.bytes.borrow().get(range).ok_or(EFAULT)?);
            return Ok(());
        }
        let base = usize::try_from(addr).map_err(|_| EFAULT)?;
        let len = out.len();
        let socket = self.socket.borrow();
        self.complete(self.peer.read(base, out, socket.fd()), len)
    }

    fn write(&self, addr: u64, data: &[u8]) -> Result {
        if self.block.taken
            && let Some(range) = self.block.offset(addr, data.len())
        {
            let written = self.block.written.get().max(range.end);
            self.block.written.set(written);
            let mut bytes = self.block.bytes.borrow_mut();
            bytes.get_mut(range).ok_or(EFAULT)?.copy_from_slice(data);
            return Ok(());
        }
        let base = usize::try_from(addr).map_err(|_| EFAULT)?;
        let socket = self.socket.borrow();
        self.complete(self.peer.write(base, data, socket.fd()), data.len())
    }
}

impl Caller<'_> {
    fn complete(&self, done: nix::Result<usize>, len: usize) -> Result {
        match done {
            Ok(n) if n == len => Ok(()),
            Err(nix::errno::Errno::EPERM) => {
                self.server.say_closed("memory", self.peer);
                Err(EFAULT)
            }
            _ => Err(EFAULT),
        }
    }
}

impl FdTable for Caller<'_> {
    fn install(&self, what: Shared, how: Opening) -> Result<i32> {
        let fd = self.server.share(self.card, what, how.read_only);
        let fd = fd.map_err(|_| EMFILE)?;
        let reply = Reply {
            kind: Reply::INSTALL,
            which: u64::from(!how.inherit),
            ..Reply::default()
        };
        let mut socket = self.socket.borrow_mut();
        socket
            .send(&reply, &[], &[fd.as_fd()])
            .map_err(|_| EMFILE)?;
        drop(fd);
        match socket.receive() {
            Ok(Some((head, _))) if head.op == Op::Installed as u32 => {
                let number = head.a as i64 as i32;
                if number < 0 {
                    return Err(Error::from_errno(number));
                }
                Ok(number)
            }
            _ => Err(EMFILE),
        }
    }

    fn get(&self, fd: i32) -> Result<Shared> {
        let fd = self.peer.descriptor(fd).map_err(|_| EBADF)?;
        let Some(found) = self.server.descriptors.find(fd) else {
            return Err(EINVAL);
        };
        match found.what {
            // The driver looks of which device an object is.
            What::Shared(shared @ Shared::Object(_)) => Ok(shared),
            // A fence is a number on the timeline of its device, and no other device waits for that.
            What::Shared(shared) if Arc::ptr_eq(&found.card, self.card) => Ok(shared),
            What::Shared(_) | What::File(_) => Err(EINVAL),
        }
    }
}

impl Task for Caller<'_> {
    fn memory(&self) -> &dyn UserMemory {
        self
    }

    fn fds(&self) -> &dyn FdTable {
        self
    }

    fn monotonic(&self) -> Ktime {
        let now = clock_gettime(ClockId::CLOCK_MONOTONIC).map(Duration::from);
        let nanos = now.map_or(0, |now| now.as_nanos());
        Ktime::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }

    fn signal_pending(&self) -> bool {
        self.socket.borrow().hung_up()
    }

    fn name(&self) -> String {
        self.peer.name().to_owned()
    }

    fn pid(&self) -> u32 {
        self.peer.pid().unsigned_abs()
    }

    fn origin(&self) -> Origin {
        self.peer.origin()
    }

    fn is_admin(&self) -> bool {
        self.peer.is_admin()
    }
}
