//! Mutated messages of a VMM, and clients that are killed.
//!
//! Whatever comes, replies keep the protocol's form and the next client is served.
//! 20,000 messages in the normal suite, `CRESTLINE_FUZZ_MILLIONS` million otherwise; `CRESTLINE_FUZZ_SEED` gives others.

use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;

use fastrand::Rng;
use vfio::client::Client;
use vfio::function::Modelled;
use vfio::protocol::{Header, MAX_PAYLOAD, flag};
use vfio::session::{Next, Session};
use zerocopy::{FromBytes, IntoBytes};

use crate::corpus::{self, Attached, MEMORY, Message};
use crate::served::{Served, event, memory};

const NORMAL: u64 = 20_000;
const SEED: u64 = 0x7666_696f;

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().expect("a number"))
}

fn rng() -> Rng {
    let seed = number("CRESTLINE_FUZZ_SEED").unwrap_or(SEED);
    println!("seed {seed}");
    Rng::with_seed(seed)
}

fn goal() -> u64 {
    number("CRESTLINE_FUZZ_MILLIONS").map_or(NORMAL, |millions| millions * 1_000_000)
}

/// Values at the edges of what fields mean.
const EDGES: [u32; 14] = [
    0,
    1,
    2,
    7,
    8,
    16,
    4096,
    0x10_0000,
    0x10_0001,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_f000,
    0xffff_ffff,
    0x0100_0000,
];

/// Changes a message a little, or much.
fn mutate(rng: &mut Rng, message: &mut Message) {
    for _ in 0..rng.usize(0..4) {
        match rng.u8(0..8) {
            0 if !message.payload.is_empty() => {
                let at = rng.usize(0..message.payload.len());
                message.payload[at] ^= 1 << rng.u8(0..8);
            }
            1 | 2 if message.payload.len() >= 4 => {
                let at = rng.usize(0..message.payload.len() / 4) * 4;
                let edge = EDGES[rng.usize(0..EDGES.len())];
                let value = if rng.bool() { edge } else { rng.u32(..) };
                message.payload[at..at + 4].copy_from_slice(&value.to_le_bytes());
            }
            3 => message
                .payload
                .truncate(rng.usize(0..=message.payload.len())),
            4 => {
                let more = rng.usize(0..64);
                message.payload.extend((0..more).map(|_| rng.u8(..)));
            }
            5 => message.command = rng.u16(0..24),
            6 => {
                message.attached = match rng.u8(0..3) {
                    0 => Attached::Nothing,
                    1 => Attached::Memory,
                    _ => Attached::Event,
                }
            }
            _ => {}
        }
    }
}

/// Descriptors of all kinds.
fn files(rng: &mut Rng, attached: Attached) -> Vec<OwnedFd> {
    let count = match attached {
        Attached::Nothing => 0,
        _ if rng.u8(0..16) == 0 => rng.usize(2..8),
        _ => 1,
    };
    let file = |attached, rng: &mut Rng| match attached {
        _ if rng.u8(0..32) == 0 => File::open("/dev/null").unwrap().into(),
        Attached::Event => event(),
        _ => memory(MEMORY >> rng.u32(0..4)),
    };
    (0..count).map(|_| file(attached, rng)).collect()
}

fn header(rng: &mut Rng, message: &Message) -> Header {
    let flags = match rng.u8(0..24) {
        0 => flag::NO_REPLY,
        1 => flag::REPLY,
        2 => rng.u32(..),
        _ => flag::COMMAND,
    };
    Header {
        id: rng.u16(..),
        command: message.command,
        size: (size_of::<Header>() + message.payload.len()) as u32,
        flags,
        error: 0,
    }
}

/// vfio-user.rst: a reply has the command and the number of its question; one with an error has nothing behind its header.
fn check(asked: &Header, reply: &[u8]) {
    let silent = asked.flags & (flag::TYPE | flag::NO_REPLY) != 0;
    assert_eq!(reply.is_empty(), silent, "{asked:?}");
    let Ok((header, rest)) = Header::read_from_prefix(reply) else {
        return;
    };
    assert_eq!((header.id, header.command), (asked.id, asked.command));
    assert_eq!(header.size as usize, reply.len());
    assert!(rest.len() <= MAX_PAYLOAD);
    match header.flags {
        flag::REPLY => assert_eq!(header.error, 0),
        flags => {
            assert_eq!(flags, flag::REPLY | flag::ERROR);
            assert!(rest.is_empty() && header.error > 0, "{header:?}");
        }
    }
}

/// The protocol on a device, without a socket.
#[test]
fn random_messages_get_replies_in_form() {
    let mut rng = rng();
    let corpus = corpus::messages();
    let mut function = Modelled::new(mmio_mock::intel::r#gen::first(), None).unwrap();
    let mut session = Session::default();
    let mut reply = Vec::new();
    let (mut at, mut done, mut well) = (usize::MAX, 0, 0_u64);
    while done < goal() {
        // Mostly in their order, so that later messages find what earlier ones have made.
        let mut message = match corpus.get(at) {
            Some(message) => message.clone(),
            None => corpus::version(),
        };
        at = match rng.u16(0..400) {
            0 => usize::MAX,
            1..40 => rng.usize(0..corpus.len()),
            _ => at.wrapping_add(1),
        };
        if rng.u8(0..3) > 0 {
            mutate(&mut rng, &mut message);
        }
        let header = header(&mut rng, &message);
        let files = files(&mut rng, message.attached);
        let next = session.handle(&mut function, &header, &message.payload, files, &mut reply);
        check(&header, &reply);
        well += u64::from(reply.get(8) == Some(&1));
        done += 1;
        if next == Next::End || rng.u16(0..2000) == 0 {
            session = Session::default();
            at = usize::MAX;
            if rng.u8(0..8) == 0 {
                function.leave();
                assert!(function.guest().is_empty());
            }
        }
    }
    // Not all of it was refused at the door.
    assert!(
        well > done / 4,
        "{well} of {done} messages were carried out"
    );
}

/// Clients that are killed in the midst of anything, at a socket.
#[test]
fn random_ends_leave_a_server_that_serves() {
    let mut rng = rng();
    let served = Served::new();
    let corpus = corpus::messages();
    let mut sent = 0;
    let mut clients = 0;
    while sent < goal() / 10 {
        clients += 1;
        let client = Client::bare(UnixStream::connect(&served.socket).unwrap());
        let count = rng.usize(0..corpus.len());
        for message in std::iter::once(&corpus::version()).chain(corpus.iter().cycle().take(count))
        {
            let mut message = message.clone();
            if rng.u8(0..8) == 0 {
                mutate(&mut rng, &mut message);
            }
            let mut header = header(&mut rng, &message);
            if rng.u8(0..64) == 0 {
                header.size = rng.u32(..) >> rng.u32(0..32);
            }
            let mut bytes = header.as_bytes().to_vec();
            bytes.extend_from_slice(&message.payload);
            if rng.u8(0..64) == 0 {
                bytes.truncate(rng.usize(1..=bytes.len()));
            }
            let files = files(&mut rng, message.attached);
            let files: Vec<_> = files.iter().map(AsFd::as_fd).collect();
            sent += 1;
            // Replies are left unread, as by a client that is being killed.
            if client.send(&bytes, &files).is_err() {
                break;
            }
        }
        if rng.bool() {
            let _ = client.stream().shutdown(std::net::Shutdown::Write);
        }
        drop(client);
        if clients % 16 == 0 {
            works(&mut served.client());
        }
    }
    works(&mut served.client());
    assert!(served.end() > clients);
}

/// A client that finds a device after power-on, and all of it works.
fn works(client: &mut Client) {
    use vfio::protocol::region::{BAR0, BAR2, CONFIG};
    assert_eq!(client.read32(CONFIG, 0).unwrap() & 0xffff, 0x8086);
    assert_eq!(client.read32(CONFIG, 4).unwrap() & 0xffff, 0);
    assert_eq!(client.read32(BAR0, 0x2080).unwrap(), 0);
    assert_eq!(client.read32(BAR0, 512 << 10).unwrap(), 0);
    let file = memory(1 << 20);
    client.map(Some(file.as_fd()), 0, 1 << 20, 1 << 20).unwrap();
    client.write32(BAR0, 512 << 10, 1 << 20 | 1).unwrap();
    client.write32(BAR2, 0x10, 0x1234_5678).unwrap();
    let mut bytes = [0; 4];
    rustix::io::pread(&file, &mut bytes, 0x10).unwrap();
    assert_eq!(u32::from_le_bytes(bytes), 0x1234_5678);
}
