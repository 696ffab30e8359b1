//! Requests and packets that no program means: the node answers, and goes on.
//!
//! Requests are those of Mesa with bits turned over; CRESTLINE_FUZZ_SEED gives others.

use std::os::fd::AsRawFd as _;
use std::time::Duration;

use driver::uapi;
use kernel::time::Delta;
use nix::errno::Errno;
use nix::sys::socket::{MsgFlags, recv, send, setsockopt, sockopt::ReceiveTimeout};
use nix::sys::time::TimeVal;
use node::{Node, Options};
use wire::{Head, Op};
use zerocopy::IntoBytes as _;

use crate::support::Connection;
use crate::support::frame::{Frame, Party};
use crate::support::random::Random;
use crate::support::recorded::recorded;

const PATIENCE: Duration = Duration::from_secs(20);
/// Sequences of all connections together.
const SEQUENCES: usize = 10_000;
const CONNECTIONS: usize = 4;
const BATCH_END: [u8; 4] = (0x0a_u32 << 23).to_le_bytes();

fn start() -> (Node, String) {
    start_on("gm965")
}

fn start_on(device: &str) -> (Node, String) {
    let device = mmio_mock::intel::r#gen::find(device).unwrap();
    let node = Node::start(&Options {
        memory: 256 << 20,
        // Hangs are found soon.
        hang_check: Some(Delta::from_millis(2)),
        ..Options::new(device)
    })
    .unwrap();
    let name = node.environment()[0].1.to_str().unwrap().to_owned();
    (node, name)
}

/// A device whose thread has to wait for a processor must not seem to hang from now on.
fn be_patient(node: &Node) {
    node.first()
        .device()
        .set_hang_check_period(Delta::from_millis(500));
}

fn draws_exactly(name: &str, expected: &[Vec<u8>]) {
    assert!(Party::new(name).draw(&Frame::read("b_flat")) == expected);
}

/// A hostile client: its requests point into `memory` more often than not.
struct Hostile {
    party: Party,
    memory: Vec<u8>,
    random: Random,
    requests: Vec<(u32, Vec<u8>)>,
    answered: [u64; 2],
}

impl Hostile {
    fn new(name: &str, seed: u64) -> Self {
        let mut requests = recorded();
        // Requests that Mesa had no reason for.
        for request in [
            uapi::drm::PRIME_HANDLE_TO_FD,
            uapi::drm::PRIME_FD_TO_HANDLE,
            uapi::drm::GEM_FLINK,
            uapi::drm::GEM_OPEN,
            uapi::syncobj::HANDLE_TO_FD,
            uapi::syncobj::FD_TO_HANDLE,
            uapi::syncobj::RESET,
            uapi::syncobj::SIGNAL,
            uapi::syncobj::QUERY,
            uapi::syncobj::TRANSFER,
            uapi::syncobj::TIMELINE_SIGNAL,
            uapi::syncobj::TIMELINE_WAIT,
            uapi::gem::CREATE_EXT,
            uapi::gem::USERPTR,
            uapi::gem::MMAP,
            uapi::gem::SET_CACHING,
            uapi::gem::GET_CACHING,
            uapi::gem::THROTTLE,
            uapi::gem::WAIT,
            uapi::query::QUERY,
            uapi::query::REG_READ,
            uapi::context::SETPARAM,
            uapi::context::VM_CREATE,
            uapi::context::VM_DESTROY,
            uapi::exec::EXECBUFFER2_WR,
        ] {
            requests.push((request.0, vec![0; request.size()]));
        }
        let mut random = Random::new(seed);
        let memory = (0..8192).map(|i| {
            if i % 8 == 0 {
                random.next() as u8 & 15
            } else {
                0
            }
        });
        Hostile {
            memory: memory.collect(),
            party: Party::new(name),
            random,
            requests,
            answered: [0; 2],
        }
    }

    /// A block with things in it that may mean something: handles, addresses, small and huge numbers.
    fn mutate(&mut self, block: &mut Vec<u8>) {
        let random = &mut self.random;
        let address = self.memory.as_ptr().addr() as u64;
        for at in (0..block.len() / 8 * 8).step_by(8) {
            let old = u64::from_le_bytes(block[at..at + 8].try_into().unwrap());
            // An address of the recorded program.
            let pointer = (0x1000_0000_0000..0x8000_0000_0000_u64).contains(&old);
            let new = match random.below(if pointer { 2 } else { 16 }) {
                0 => address + random.below(4096) as u64 / 8 * 8,
                1 if pointer => 8,
                1 => u64::from(random.next()) << random.below(33),
                2 => random.below(16) as u64,
                3 => u64::MAX - random.below(4096) as u64,
                4 => old ^ 1 << random.below(64),
                5 => u64::from(random.below(16) as u32) | u64::from(random.next() & 15) << 32,
                _ => old,
            };
            block[at..at + 8].copy_from_slice(&new.to_le_bytes());
        }
        if random.below(4) == 0 && !block.is_empty() {
            let at = random.below(block.len());
            block[at] = random.next() as u8;
        }
        if random.below(64) == 0 {
            block.resize(random.below(2 * block.len() + 1), 0xa5);
        }
    }

    /// A submission that may well be carried out: two objects, the second with the batch.
    fn submission(&mut self, block: &mut Vec<u8>) {
        let random = &mut self.random;
        let mut list = [uapi::exec::Object::default(); 2];
        for object in &mut list {
            object.handle = 1 + random.below(12) as u32;
            if random.below(4) == 0 {
                object.flags = 1 << random.below(10);
            }
            if random.below(8) == 0 {
                object.offset = u64::from(random.next()) << 12;
                object.alignment = 1 << random.below(40);
            }
            if random.below(8) == 0 {
                object.relocation_count = random.next() >> random.below(32);
                object.relocs_ptr = self.memory.as_ptr().addr() as u64;
            }
        }
        self.memory[..112].copy_from_slice(list.as_bytes());
        let mut arg = uapi::exec::Execbuffer2 {
            buffers_ptr: self.memory.as_ptr().addr() as u64,
            buffer_count: 1 + random.below(2) as u32,
            flags: uapi::exec::RENDER,
            ..Default::default()
        };
        if random.below(4) == 0 {
            arg.flags |= 1 << random.below(24);
        }
        *block = arg.as_bytes().to_vec();
    }

    fn request(&mut self) {
        let which = self.random.below(self.requests.len());
        let (mut request, mut block) = self.requests[which].clone();
        if request & 0xff == uapi::exec::EXECBUFFER2.number() && self.random.below(4) != 0 {
            self.submission(&mut block);
        } else {
            self.mutate(&mut block);
        }
        self.confine(request, &mut block);
        match self.random.below(256) {
            0 => request ^= 1 << self.random.below(32),
            1 => request = request & !0xff | self.random.next() & 0xff,
            _ => {}
        }
        let address = block.as_ptr().addr() as u64;
        let numbers = [u64::from(request), address, 0];
        let head = Head::new(Op::Ioctl, self.party.file, numbers);
        self.party.client.send(&head, &block);
        let mut answer = self.party.client.receive();
        while answer.reply.kind == wire::Reply::INSTALL {
            // A descriptor: its number, or a lie.
            let number = match self.random.below(8) {
                0 => -(self.random.next() as i64),
                1 => i64::from(self.random.next()),
                _ => answer.fds.first().map_or(-24, |fd| fd.as_raw_fd().into()),
            };
            let head = Head::new(Op::Installed, 0, [number as u64, 0, 0]);
            answer = self.party.client.call(&head, &[]);
        }
        self.answered[usize::from(answer.reply.result < 0)] += 1;
    }

    /// Keeps a request from doing what it is allowed to, to this very process or for long: writes into memory that is not
    /// ours, waits that do not end.
    fn confine(&mut self, request: u32, block: &mut [u8]) {
        let is = |other: uapi::Request| other.number() == request & 0xff;
        let address = self.memory.as_ptr().addr() as u64;
        let mine = address..address + 4096;
        let mut pointers = Vec::new();
        let mut times = Vec::new();
        if is(uapi::gem::PREAD) {
            pointers.push(24);
        } else if is(uapi::drm::VERSION) {
            pointers.extend([24, 40, 56]);
        } else if is(uapi::query::GETPARAM) || is(uapi::query::QUERY) {
            pointers.push(8);
        } else if is(uapi::context::GETPARAM) {
            pointers.push(16);
        } else if is(uapi::gem::WAIT) || is(uapi::syncobj::WAIT) {
            times.push(8);
        } else if is(uapi::syncobj::TIMELINE_WAIT) {
            times.push(16);
        }
        let mut set = |at: usize, allowed: &dyn Fn(u64) -> bool, other: u64| {
            if let Some(place) = block.get_mut(at..at + 8) {
                let value = u64::from_le_bytes((&*place).try_into().unwrap());
                if !allowed(value) {
                    place.copy_from_slice(&other.to_le_bytes());
                }
            }
        };
        for at in pointers {
            // Kernel addresses and the first page fault.
            set(
                at,
                &|value| mine.contains(&value) || value < 4096 || value >> 47 != 0,
                address,
            );
        }
        for at in times {
            set(at, &|value| value < 1 << 16, 1000);
        }
        if is(uapi::gem::PREAD) {
            set(16, &|size| size <= 4096 || size > 1 << 40, 4096);
        }
    }

    fn sequences(&mut self, count: usize, name: &str) {
        for number in 0..count {
            if number % 256 == 255 {
                // The file goes with all that it holds, and a new one comes.
                self.party = Party::new(name);
            }
            if number % 8 == 0 {
                // Something that the numbers below 16 may name.
                let handle = self.party.create(4096 << self.random.below(4));
                if self.random.below(4) != 0 {
                    self.party.write(handle, &BATCH_END.repeat(1024));
                }
            }
            for _ in 0..=self.random.below(4) {
                self.request();
            }
        }
    }
}

#[test]
fn ten_thousand_random_sequences_leave_the_node_well() {
    assert_eq!(random_sequences("gm965"), 4);
}

#[test]
fn ten_thousand_random_sequences_leave_three_engines_well() {
    random_sequences("sandybridge");
}

#[test]
fn ten_thousand_random_sequences_leave_spaces_of_processes_well() {
    random_sequences("valleyview");
}

/// What stays in the GTT: rings, scratch page, two context images.
fn random_sequences(device: &str) -> usize {
    let (node, name) = start_on(device);
    be_patient(&node);
    let frame = Frame::read_of(device, "b_flat");
    let expected = Party::new(&name).draw(&frame);
    assert!(node.quiesce(PATIENCE));
    let bound = node.first().device().ggtt().bound();
    node.first()
        .device()
        .set_hang_check_period(Delta::from_millis(2));
    let answered: Vec<[u64; 2]> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..CONNECTIONS)
            .map(|number| {
                let name = &name;
                scope.spawn(move || {
                    let mut hostile = Hostile::new(name, 0x5eed + number as u64);
                    hostile.sequences(SEQUENCES / CONNECTIONS, name);
                    hostile.answered
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    let (well, refused): (u64, u64) = answered
        .iter()
        .fold((0, 0), |sum, a| (sum.0 + a[0], sum.1 + a[1]));
    let report = node.report();
    println!(
        "{well} requests carried out, {refused} refused, {} batches, {} resets",
        report.work.submissions, report.work.resets
    );
    assert!(well > 1000 && refused > 1000 && report.work.submissions > 10);
    assert!(node.quiesce(PATIENCE));
    be_patient(&node);
    assert!(Party::new(&name).draw(&frame) == expected);
    assert!(node.quiesce(PATIENCE));
    assert_eq!(node.first().device().ggtt().bound(), bound);
    bound
}

/// Whether the node still answers on a connection that may have been closed.
fn speaks(connection: &Connection) -> bool {
    let head = Head::new(Op::Identify, 0, [0; 3]);
    if send(connection.raw(), head.as_bytes(), MsgFlags::MSG_NOSIGNAL).is_err() {
        return false;
    }
    // TIMEOUT: an answer that does not come fails the test.
    let patience = TimeVal::new(10, 0);
    setsockopt(&connection.borrow(), ReceiveTimeout, &patience).unwrap();
    let mut bytes = vec![0; 1 << 15];
    match recv(connection.raw(), &mut bytes, MsgFlags::empty()) {
        Ok(len) => len > 0,
        Err(Errno::ECONNRESET) => false,
        Err(error) => panic!("no answer: {error}"),
    }
}

#[test]
fn wild_packets_are_answered_or_end_their_connection() {
    let (node, name) = start();
    be_patient(&node);
    let expected = Party::new(&name).draw(&Frame::read("b_flat"));
    let mut random = Random::new(7);
    let holder = Party::new(&name);
    let mut alive = 0;
    for round in 0..600 {
        // What a process says on the connection of its life is not answered.
        let life = random.below(8) == 0;
        let connection = match random.below(8) {
            _ if life => Connection::new(&name, Op::Life).0,
            0 => Connection::silent(&name),
            _ => Connection::new(&name, Op::Thread).0,
        };
        let mut packet: Vec<u8> = (0..random.below(200))
            .map(|_| random.next() as u8)
            .collect();
        let mut head = Head {
            op: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, random.next()][random.below(13)],
            len: random.next(),
            file: [holder.file, 0, u64::MAX][random.below(3)],
            a: u64::from(random.next()) << random.below(33),
            b: [0, 4096, u64::MAX, 1 << 63][random.below(4)],
            c: [0, 4096, u64::MAX, u64::MAX - 4095][random.below(4)],
        };
        match round % 6 {
            // Short heads.
            0 => packet.truncate(39),
            // Nothing at all, which ends a connection.
            1 => packet.clear(),
            // Huge ones, which are cut.
            2 => {
                packet = head.as_bytes().to_vec();
                packet.resize(100_000, 0x5a);
            }
            // Ioctls with blocks of any length.
            3 => {
                head.op = Op::Ioctl as u32;
                packet.splice(0..0, head.as_bytes().iter().copied());
            }
            _ => {
                packet.splice(0..0, head.as_bytes().iter().copied());
            }
        }
        let _ = send(connection.raw(), &packet, MsgFlags::MSG_NOSIGNAL);
        alive += u32::from(!life && speaks(&connection));
    }
    println!("{alive} of 600 connections go on");
    assert!(alive > 100);
    // A mapping that was not asked for; one that was, by a process that has not begun.
    let (client, _) = Connection::new(&name, Op::Thread);
    client.call(
        &Head::new(Op::Mapped, holder.file, [0, 1 << 20, u64::MAX]),
        &[],
    );
    client.send(&Head::new(Op::Unmapped, 0, [0, u64::MAX, u64::MAX]), &[]);
    assert!(speaks(&client));
    drop(holder);
    assert!(node.quiesce(PATIENCE));
    draws_exactly(&name, &expected);
}

#[test]
fn clients_that_never_read_and_hundreds_of_connections_disturb_nobody() {
    let (node, name) = start();
    be_patient(&node);
    let expected = Party::new(&name).draw(&Frame::read("b_flat"));
    // Answers pile up until the node's thread for it waits; only that one.
    let (deaf, _) = Connection::new(&name, Op::Thread);
    let head = Head::new(Op::Identify, 0, [0; 3]);
    while send(
        deaf.raw(),
        head.as_bytes(),
        MsgFlags::MSG_DONTWAIT | MsgFlags::MSG_NOSIGNAL,
    )
    .is_ok()
    {}
    // Files by the hundred: those that are closed are given back while the others stay.
    let (client, _) = Connection::new(&name, Op::Thread);
    let mut files: Vec<_> = (0..150).map(|_| client.open(false)).collect();
    let others: Vec<_> = (0..50)
        .map(|_| Connection::new(&name, Op::Thread))
        .collect();
    let gone: Vec<u64> = files.drain(..100).map(|(_, file)| file).collect();
    draws_exactly(&name, &expected);
    let known = |file: &u64| {
        client
            .call(&Head::new(Op::Identify, *file, [0; 3]), &[])
            .reply
            .value
            != 0
    };
    let until = std::time::Instant::now() + PATIENCE;
    while gone.iter().any(known) {
        assert!(std::time::Instant::now() < until, "files stay open");
        std::thread::sleep(Duration::from_millis(1));
    }
    assert!(files.iter().all(|(_, file)| known(file)));
    // Texts without end are not kept.
    for number in 0..2000 {
        client.send(
            &Head::new(Op::Note, 0, [0, 0, 0]),
            format!("renderer {number}").as_bytes(),
        );
    }
    assert!(known(&files[0].1));
    assert!(node.report().renderers.len() < 1000);
    drop((deaf, files, others));
    assert!(node.quiesce(PATIENCE));
    draws_exactly(&name, &expected);
}

#[test]
fn a_process_that_begins_again_keeps_what_it_maps() {
    // A program that is executed has the number of the one before: its connection may come before the end of the other
    // is seen.
    let (node, name) = start();
    be_patient(&node);
    let (before, _) = Connection::new(&name, Op::Life);
    let (after, _) = Connection::new(&name, Op::Life);
    let party = Party::new(&name);
    let handle = party.create(8192);
    let mut arg = uapi::gem::MmapOffset {
        handle,
        flags: 2,
        ..Default::default()
    };
    assert_eq!(party.ask(uapi::gem::MMAP_OFFSET.0, arg.as_mut_bytes()), 0);
    let map = Head::new(Op::Map, party.file, [3, arg.offset, 8192]);
    assert_eq!(party.client.call(&map, &[]).reply.result, 0);
    party.client.call(
        &Head::new(Op::Mapped, party.file, [arg.offset, 1 << 20, 8192]),
        &[],
    );
    party.client.call(&Head::new(Op::Identify, 0, [0; 3]), &[]);
    let held = node.first().platform().allocated_pages();
    drop(before);
    party.close(handle);
    std::thread::sleep(Duration::from_millis(20));
    assert_eq!(node.first().platform().allocated_pages(), held);
    drop(after);
    let until = std::time::Instant::now() + PATIENCE;
    while node.first().platform().allocated_pages() != held - 2 {
        assert!(std::time::Instant::now() < until, "the object stays");
        std::thread::sleep(Duration::from_millis(1));
    }
    // The last words of a process that has ended.
    let handle = party.create(8192);
    arg.handle = handle;
    assert_eq!(party.ask(uapi::gem::MMAP_OFFSET.0, arg.as_mut_bytes()), 0);
    let map = Head::new(Op::Map, party.file, [3, arg.offset, 8192]);
    assert_eq!(party.client.call(&map, &[]).reply.result, 0);
    party.client.send(
        &Head::new(Op::Mapped, party.file, [arg.offset, 1 << 20, 8192]),
        &[],
    );
    drop(party);
    assert!(node.quiesce(PATIENCE), "nothing is kept for it");
}
