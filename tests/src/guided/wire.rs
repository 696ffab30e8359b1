//! Packets of clients, served by a node on the caller's thread.
//!
//! The first byte of an input chooses the device. The rest is one connection of a client without memory: its requests have their argument blocks in the packets,
//! and all other memory faults. All packets are in the socket and the client is gone before the node reads the first, so
//! that no wait is long, and only what a batch does depends on another thread, the device's.

use std::cell::RefCell;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::time::Duration;

use ::wire::message::MAX_PACKET;
use ::wire::{Head, NO_FILE, Op, VERSION};
use arbitrary::Unstructured;
use kernel::time::Delta;
use nix::sys::socket::{AddressFamily, MsgFlags, SockFlag, SockType, send, socketpair};
use node::{Node, Options};
use zerocopy::{FromBytes as _, IntoBytes as _};

use super::calls::{BLOCK, Call};
use crate::scenes::{self, DEVICES};

/// Packets of an input: a socket holds some hundred kilobytes.
const PACKETS: usize = 32;
/// TIMEOUT: wall time of a batch before it is taken for one that hangs.
const BATCH: Duration = Duration::from_millis(50);
/// TIMEOUT: wall time for the end of everything that was open; more than libFuzzer gives an input.
const PATIENCE: Duration = Duration::from_secs(60);

thread_local! {
    static NODES: RefCell<[Option<Node>; DEVICES.len()]> = const { RefCell::new([const { None }; DEVICES.len()]) };
}

fn start(name: &str) -> Node {
    let info = scenes::device(name);
    let options = Options {
        memory: 16 << 20,
        hang_check: Some(Delta::from_millis(1)),
        ..Options::new(info)
    };
    Node::start(&options).expect("a node")
}

/// Runs one input.
pub fn run(data: &[u8]) {
    let mut input = Unstructured::new(data);
    let first: u8 = input.arbitrary().unwrap_or_default();
    let which = usize::from(first) % DEVICES.len();
    let kept = NODES.with_borrow_mut(|nodes| nodes[which].take());
    let node = kept.unwrap_or_else(|| start(DEVICES[which]));
    let files = [driver::Node::Render, driver::Node::Primary];
    let files = files.map(|which| node.open(node.first(), which).expect("a descriptor"));
    let numbers = files.each_ref().map(|file| file.as_raw_fd() as u64);
    let packets = packets(&mut input, numbers);
    serve(&node, &packets);
    drop(files);
    if !node.quiesce(BATCH) {
        // Sooner than the hang check does it, and however slow the host is.
        node.first().device().reset().expect("reset");
        assert!(node.quiesce(PATIENCE), "something stays open");
    }
    NODES.with_borrow_mut(|nodes| nodes[which] = Some(node));
}

/// A pair of sockets as the node's clients have them.
fn pair() -> (OwnedFd, OwnedFd) {
    let flags = SockFlag::SOCK_CLOEXEC;
    socketpair(AddressFamily::Unix, SockType::SeqPacket, None, flags).expect("sockets")
}

fn put(socket: &OwnedFd, packet: &[u8]) {
    // What does not fit is not sent.
    let _ = send(socket.as_raw_fd(), packet, MsgFlags::MSG_DONTWAIT);
}

/// Sends all packets, goes away, and lets the node read them.
fn serve(node: &Node, packets: &[Vec<u8>]) {
    let (client, server) = pair();
    for packet in packets {
        put(&client, packet);
    }
    drop(client);
    node.serve_here(server).expect("a process");
}

/// The packets of an input. Their first byte is 0 for a life, odd for a thread, else the input begins the connection.
fn packets(input: &mut Unstructured<'_>, files: [u64; 2]) -> Vec<Vec<u8>> {
    let mut packets = Vec::new();
    let first: u8 = input.arbitrary().unwrap_or_default();
    let begin = match first {
        0 => Some(Op::Life),
        _ if first & 1 == 1 => Some(Op::Thread),
        _ => None,
    };
    if let Some(op) = begin {
        let head = Head::new(op, NO_FILE, [VERSION.into(), 1, u64::from(first)]);
        packets.push(head.as_bytes().to_vec());
    }
    while packets.len() < PACKETS && !input.is_empty() {
        match packet(input, files) {
            Ok(packet) => packets.push(packet),
            Err(_) => break,
        }
    }
    packets
}

/// A packet: an ioctl, noise, or an operation with arbitrary numbers.
fn packet(input: &mut Unstructured<'_>, files: [u64; 2]) -> arbitrary::Result<Vec<u8>> {
    let kind: u8 = input.arbitrary()?;
    if kind == u8::MAX {
        let len: u8 = input.arbitrary()?;
        let len = (usize::from(len) * 80).min(MAX_PACKET + 1);
        let mut packet = input.bytes(len.min(input.len()))?.to_vec();
        packet.resize(len, 0);
        // A packet without bytes is the end of the connection, which would hide those behind it.
        packet.resize(len.max(1), 0);
        return Ok(packet);
    }
    if u32::from(kind) == Op::Ioctl as u32 {
        let Some(call) = Call::take(input) else {
            return Err(arbitrary::Error::NotEnoughData);
        };
        let file = files[usize::from(call.primary)];
        let mut head = Head::new(Op::Ioctl, file, [call.request.into(), BLOCK, 0]);
        head.len = call.block.len() as u32;
        return Ok([head.as_bytes(), &call.block].concat());
    }
    let bytes = input.bytes(size_of::<Head>().min(input.len()))?;
    let mut whole = [0; size_of::<Head>()];
    whole[..bytes.len()].copy_from_slice(bytes);
    let mut head = Head::read_from_bytes(&whole).expect("the size of a head");
    head.op = kind.into();
    head.file = match head.file {
        0 => files[0],
        1 => files[1],
        other => other,
    };
    let payload = input.bytes((head.len as usize & 0x3ff).min(input.len()))?;
    Ok([head.as_bytes(), payload].concat())
}
