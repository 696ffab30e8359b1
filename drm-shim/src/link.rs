//! A thread's connection: one message, one answer.
//!
//! No PRM chapter. The connection is taken out of its thread while it is used: a handler of a signal that comes in
//! between, or one that never comes back, leaves no half-read answer to others. A wait is not cut short by signals.

use core::time::Duration;
use std::os::fd::RawFd;
use std::time::Instant;

use wire::{Head, Op, Reply, VERSION};
use zerocopy::IntoBytes;

use crate::sys::memory::Block;
use crate::sys::socket::{self, Packet};
use crate::sys::{self, Result, key};
use crate::{config, life, own, report};

/// How long to look for an answer before sleeping. To wake a thread on an idle processor takes longer than most answers.
const SPIN: Duration = Duration::from_micros(40);

/// A connection in use.
pub struct Link {
    fd: RawFd,
    broken: bool,
}

/// Uses the thread's connection, which is made when there is none.
pub fn with<T>(run: impl Fn(&mut Link) -> Result<T>) -> Result<T> {
    let mut link = Link::get()?;
    let mut result = run(&mut link);
    if link.broken && result.as_ref().is_err_and(|error| *error == libc::EBADF) {
        // The program has closed all descriptors that it did not know. Nothing was sent.
        own::disown(link.fd);
        link = Link::new()?;
        result = run(&mut link);
    }
    if link.broken {
        own::close(link.fd);
        life::lost();
        return result.map_err(|_| libc::ENODEV);
    }
    if !key::put(link.fd) {
        own::close(link.fd);
    }
    result
}

/// Sends text for the node's report, see [`Op::Note`]; it is lost when there is no node.
pub fn note(what: u64, text: &[u8]) {
    if config::get().name().is_some() {
        let head = Head::new(Op::Note, 0, [what, 0, 0]);
        // What cannot be noted is not worth an error of the program's call.
        let _ = with(|link| link.send(head, Block::of(text)));
    }
}

impl Link {
    fn get() -> Result<Link> {
        // After a loss every call fails alike, also on connections that are still open.
        life::begin()?;
        match key::take() {
            Some(fd) => Ok(Link { fd, broken: false }),
            None => Link::new(),
        }
    }

    fn new() -> Result<Link> {
        let name = config::get().name().ok_or(libc::ENODEV)?;
        let fd = own::adopt(socket::connect(name).map_err(|error| {
            if matches!(error, libc::EMFILE | libc::ENFILE | libc::ENOMEM) {
                return error;
            }
            life::lost();
            libc::ENODEV
        })?);
        let mut link = Link { fd, broken: false };
        let process = life::process() as u64;
        let head = Head::new(Op::Thread, 0, [u64::from(VERSION), process, 0]);
        let mut packet = Packet::new();
        let answer = link.ask(head, Block::of(&[]), &mut packet);
        match answer {
            Ok(_) => Ok(link),
            Err(error) => {
                own::close(fd);
                if link.broken {
                    life::lost();
                }
                Err(error)
            }
        }
    }

    /// Sends a message without an answer.
    pub fn send(&mut self, mut head: Head, payload: Block) -> Result<()> {
        head.len = payload.len as u32;
        match socket::send(self.fd, head.as_bytes(), payload) {
            Ok(()) => Ok(()),
            // The caller's block cannot be read, or there is no memory.
            Err(error @ (libc::EFAULT | libc::ENOMEM | libc::ENOBUFS)) => Err(error),
            Err(error) => {
                self.broken = true;
                Err(match error {
                    libc::EBADF | libc::ENOTSOCK => libc::EBADF,
                    _ => libc::ENODEV,
                })
            }
        }
    }

    /// Sends a message and waits for its answer; a result below zero is an error.
    pub fn ask(&mut self, head: Head, payload: Block, packet: &mut Packet) -> Result<i32> {
        self.send(head, payload)?;
        loop {
            self.receive(packet)?;
            if packet.head.kind == Reply::INSTALL {
                let number = install(packet);
                let head = Head::new(Op::Installed, 0, [number as u64, 0, 0]);
                self.send(head, Block::of(&[]))?;
                continue;
            }
            return match packet.head.result {
                result if result < 0 => Err(result.wrapping_neg()),
                result => Ok(result),
            };
        }
    }

    fn receive(&mut self, packet: &mut Packet) -> Result<()> {
        let start = Instant::now();
        let mut wait = false;
        loop {
            match socket::receive(self.fd, packet, wait) {
                Ok(true) => return Ok(()),
                Err(libc::EINTR) => {}
                // TIMEOUT: none; the node answers or hangs up, and a wait in the driver has the caller's limit.
                Err(libc::EAGAIN) if start.elapsed() > SPIN => wait = true,
                Err(libc::EAGAIN) => sys::give_way(),
                Ok(false) | Err(_) => {
                    self.broken = true;
                    return Err(libc::ENODEV);
                }
            }
        }
    }
}

/// Takes a descriptor into the program's table; its number, or the negative of an errno.
fn install(packet: &mut Packet) -> i64 {
    match packet.take_fd(0) {
        Some(fd) => {
            if packet.head.which != 1 {
                sys::set_cloexec(fd, false);
            }
            i64::from(fd)
        }
        // The table was full.
        None => -i64::from(libc::EMFILE),
    }
}

/// Opens a node; the descriptor.
#[inline(never)]
pub fn open(minor: usize, cloexec: bool) -> Result<RawFd> {
    with(|link| {
        let head = Head::new(Op::Open, 0, [minor as u64, u64::from(cloexec), 0]);
        let mut packet = Packet::new();
        link.ask(head, Block::of(&[]), &mut packet)?;
        let Some(fd) = packet.take_fd(0) else {
            return Err(libc::EMFILE);
        };
        if !cloexec {
            sys::set_cloexec(fd, false);
        }
        crate::inodes::opened(packet.head.value, minor);
        Ok(fd)
    })
}

/// Says what is not known where it does not matter whether anybody hears it.
pub fn protocol(what: &str) {
    report::say(report::Kind::Protocol, what, &[]);
}
