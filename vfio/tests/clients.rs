//! Clients at a socket, as VMMs behave and as they may not.

use std::fs::File;
use std::io::Write as _;
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use vfio::client::Client;
use vfio::protocol::region::{BAR0, BAR2, BAR4, CONFIG};
use vfio::protocol::{Header, command, irq, region};
use zerocopy::IntoBytes as _;

use crate::served::{Served, event, memory};

/// TIMEOUT: an interrupt on a machine that has other things to do.
const PATIENCE: Timespec = Timespec {
    tv_sec: 20,
    tv_nsec: 0,
};

fn comes(event: &impl std::os::fd::AsFd, patience: Timespec) -> bool {
    let mut fds = [PollFd::new(event, PollFlags::IN)];
    let came = poll(&mut fds, Some(&patience)).unwrap() > 0;
    if came {
        rustix::io::read(event, &mut [0; 8]).unwrap();
    }
    came
}

fn errno<T: std::fmt::Debug>(result: std::io::Result<T>) -> i32 {
    result.unwrap_err().raw_os_error().unwrap()
}

/// Linux vfio.h: nine regions and five kinds of interrupts of a PCI device.
#[test]
fn a_vmm_finds_the_device() {
    let served = Served::new();
    let mut client = served.client();
    let device = client.device().unwrap();
    assert_eq!((device.flags, device.regions, device.irqs), (3, 9, 5));
    let regions = (0..9).map(|index| {
        let info = client.region(index).unwrap();
        (info.size, info.flags)
    });
    let none = (0, 0);
    assert_eq!(
        regions.collect::<Vec<_>>(),
        [
            (1 << 20, 3),
            none,
            (256 << 20, 3),
            none,
            (8, 3),
            none,
            none,
            (256, 3),
            none
        ]
    );
    let irqs = (0..5).map(|index| {
        let info = client.irq(index).unwrap();
        (info.count, info.flags)
    });
    assert_eq!(
        irqs.collect::<Vec<_>>(),
        [(1, 7), (1, 9), (0, 9), (0, 9), (0, 9)]
    );
    assert_eq!(client.read32(CONFIG, 8).unwrap() >> 16, 0x0300);
    assert_eq!(errno(client.read32(region::COUNT, 0)), 22);
    assert_eq!(errno(client.read32(CONFIG, 254)), 22);
}

/// Registers by bytes, words and more at once: dwords on the device's bus.
#[test]
fn registers_take_accesses_of_all_sizes() {
    let served = Served::new();
    let mut client = served.client();
    client
        .write(BAR0, 0x2080, &0x1234_5000_u32.to_le_bytes())
        .unwrap();
    let mut byte = [0];
    client.read(BAR0, 0x2083, &mut byte).unwrap();
    assert_eq!(byte, [0x12]);
    client.write(BAR0, 0x2082, &[0x77]).unwrap();
    assert_eq!(client.read32(BAR0, 0x2080).unwrap(), 0x1277_5000);
    // Two entries of the GTT by one access, and a read across three of them.
    let entries = 0x0000_2001_0000_1001_u64;
    client
        .write(BAR0, 512 << 10, &entries.to_le_bytes())
        .unwrap();
    let mut bytes = [0; 6];
    client.read(BAR0, (512 << 10) + 1, &mut bytes).unwrap();
    assert_eq!(bytes, [0x10, 0, 0, 0x01, 0x20, 0]);
    // The ports: an index and the register behind it.
    client.write32(BAR4, 0, 0x2080).unwrap();
    assert_eq!(client.read32(BAR4, 4).unwrap(), 0x1277_5000);
    client.write32(BAR4, 4, 0x5555_5000).unwrap();
    assert_eq!(client.read32(BAR0, 0x2080).unwrap(), 0x5555_5000);
    assert_eq!(errno(client.read(BAR4, 1, &mut [0; 2])), 22);
    // A transfer of the largest size, and one byte more.
    let mut large = vec![0; 1 << 20];
    client.read(BAR2, 0, &mut large).unwrap();
    assert_eq!(errno(client.read(BAR2, 0, &mut vec![0; (1 << 20) + 1])), 22);
}

/// PRM volume 1: user interrupts of a ring; PCI 3.0, 6.2.2 and 6.2.3: Interrupt Disable and Interrupt Status.
#[test]
fn a_command_interrupts_by_the_pin() {
    let served = Served::new();
    let mut client = served.client();
    let (pin, unmask) = (event(), event());
    client
        .set_irq(irq::INTX, irq::TRIGGER, Some(pin.as_fd()))
        .unwrap();
    client
        .set_irq(irq::INTX, irq::UNMASK, Some(unmask.as_fd()))
        .unwrap();
    let mut guest = Ring::new(&mut client);
    guest.interrupt(&mut client);
    assert!(comes(&pin, PATIENCE));
    assert_eq!(client.read32(CONFIG, 4).unwrap() >> 19 & 1, 1, "status");
    // Masked until it is unmasked, and asserted still.
    let short = Timespec {
        tv_sec: 0,
        tv_nsec: 50_000_000,
    };
    assert!(!comes(&pin, short));
    rustix::io::write(&unmask, &1_u64.to_ne_bytes()).unwrap();
    assert!(comes(&pin, PATIENCE));
    acknowledge(&mut client);
    assert_eq!(client.read32(CONFIG, 4).unwrap() >> 19 & 1, 0);
    client.set_irq(irq::INTX, irq::UNMASK, None).unwrap();
    assert!(!comes(&pin, short));
    // Switched off by the guest, the status says so all the same.
    client.write(CONFIG, 5, &[4]).unwrap();
    guest.interrupt(&mut client);
    assert!(!comes(&pin, short));
    assert_eq!(client.read32(CONFIG, 4).unwrap() >> 19 & 1, 1);
    client.write(CONFIG, 5, &[0]).unwrap();
    assert!(comes(&pin, PATIENCE));
}

#[test]
fn a_command_interrupts_by_a_message() {
    let served = Served::new();
    let mut client = served.client();
    let message = event();
    client
        .set_irq(irq::MSI, irq::TRIGGER, Some(message.as_fd()))
        .unwrap();
    let mut guest = Ring::new(&mut client);
    for _ in 0..3 {
        guest.interrupt(&mut client);
        assert!(comes(&message, PATIENCE));
        acknowledge(&mut client);
    }
}

/// A ring of one page at graphics address 0, in a guest's memory.
struct Ring {
    memory: std::os::fd::OwnedFd,
    tail: u32,
}

/// i915_reg.h: RING_TAIL, RING_HEAD, RING_START, RING_CTL of the render ring; IER, IIR, IMR; I915_USER_INTERRUPT.
const TAIL: u64 = 0x2030;
const IER: u64 = 0x20a0;
const IIR: u64 = 0x20a4;
const IMR: u64 = 0x20a8;
const USER: u32 = 1 << 1;
/// MI_USER_INTERRUPT (intel_gpu_commands.h: MI_INSTR(0x02, 0)).
const USER_INTERRUPT: u32 = 0x02 << 23;

impl Ring {
    fn new(client: &mut Client) -> Self {
        let memory = memory(1 << 20);
        client
            .map(Some(memory.as_fd()), 0, 4 << 30, 1 << 20)
            .unwrap();
        // A page above 4 GiB: address bits 35:32 are bits 7:4 of the entry (i965_pte_encode).
        client
            .write32(BAR0, 512 << 10, 0x3000 | 1 << 4 | 1)
            .unwrap();
        for (register, value) in [
            (IMR, !USER),
            (IER, USER),
            (0x2038, 0),
            (0x2034, 0),
            (TAIL, 0),
            (0x203c, 1),
        ] {
            client.write32(BAR0, register, value).unwrap();
        }
        Ring { memory, tail: 0 }
    }

    fn interrupt(&mut self, client: &mut Client) {
        let commands = [USER_INTERRUPT, 0].map(u32::to_le_bytes);
        let at = 0x3000 + u64::from(self.tail);
        rustix::io::pwrite(&self.memory, commands.as_flattened(), at).unwrap();
        self.tail += 8;
        client.write32(BAR0, TAIL, self.tail).unwrap();
        let begun = Instant::now();
        while client.read32(BAR0, IIR).unwrap() & USER == 0 {
            assert!(
                begun.elapsed() < Duration::from_secs(20),
                "the ring does not move"
            );
        }
    }
}

fn acknowledge(client: &mut Client) {
    client.write32(BAR0, IIR, USER).unwrap();
    assert_eq!(client.read32(BAR0, IIR).unwrap() & USER, 0);
}

#[test]
fn a_client_is_served_when_the_one_before_has_gone() {
    let served = Served::new();
    let mut first = served.client();
    let file = memory(1 << 20);
    first.map(Some(file.as_fd()), 0, 0, 1 << 20).unwrap();
    first.write32(BAR0, 0x2080, 0x1000).unwrap();
    let second = UnixStream::connect(&served.socket).unwrap();
    drop(first);
    let mut second = Client::bare(second);
    let version = [0, 0, 0, 0];
    second.ask(command::VERSION, &version, &[]).unwrap();
    assert_eq!(second.read32(BAR0, 0x2080).unwrap(), 0, "after power-on");
    second.map(Some(file.as_fd()), 0, 0, 1 << 20).unwrap();
    drop(second);
    // In the midst of a header, of a payload, and before anything.
    for bytes in [0, 5, 16, 20] {
        let header = Header {
            id: 1,
            command: command::VERSION,
            size: 60,
            flags: 0,
            error: 0,
        };
        let mut stream = UnixStream::connect(&served.socket).unwrap();
        let message = [header.as_bytes(), &[0; 44]].concat();
        stream.write_all(&message[..bytes]).unwrap();
    }
    assert_eq!(served.client().device().unwrap().regions, 9);
    assert_eq!(served.end(), 7);
}

#[test]
fn what_cannot_be_understood_ends_the_connection_with_a_reply() {
    let served = Served::new();
    for size in [0, 15, 0x0010_0021, u32::MAX] {
        let mut client = served.client();
        let header = Header {
            id: 9,
            command: command::REGION_WRITE,
            size,
            flags: 0,
            error: 0,
        };
        client.send(header.as_bytes(), &[]).unwrap();
        let (reply, rest) = client.receive().unwrap();
        assert_eq!(
            (reply.id, reply.flags, reply.error),
            (9, 0x21, 90),
            "EMSGSIZE"
        );
        assert!(rest.is_empty() && client.is_closed());
    }
}

#[test]
fn descriptors_that_are_too_many_or_of_another_kind() {
    let served = Served::new();
    let mut client = served.client();
    let null = File::open("/dev/null").unwrap();
    assert!(client.map(Some(null.as_fd()), 0, 0, 4096).is_err());
    assert_eq!(
        errno(client.set_irq(irq::INTX, irq::TRIGGER, Some(null.as_fd()))),
        22
    );
    let files = vec![null.as_fd(); 12];
    assert_eq!(
        errno(client.ask(command::DEVICE_RESET, &[], &files)),
        24,
        "EMFILE"
    );
    // Those that a command does not want are closed, and it is carried out.
    client.ask(command::DEVICE_RESET, &[], &files[..8]).unwrap();
    assert_eq!(client.device().unwrap().irqs, 5);
}

/// The client's file becomes shorter under the device: it cannot.
#[test]
fn a_file_that_shrinks_ends_nobody() {
    let served = Served::new();
    let mut client = served.client();
    let file =
        File::from(rustix::fs::memfd_create("g", rustix::fs::MemfdFlags::ALLOW_SEALING).unwrap());
    file.set_len(1 << 20).unwrap();
    client.map(Some(file.as_fd()), 0, 0, 1 << 20).unwrap();
    client.write32(BAR0, 512 << 10, 0x8_0001).unwrap();
    assert!(file.set_len(0).is_err());
    client.write32(BAR2, 0, 7).unwrap();
    assert_eq!(client.read32(BAR2, 0).unwrap(), 7);
    // Without leave to seal it is refused.
    let other = File::from(rustix::fs::memfd_create("g", rustix::fs::MemfdFlags::empty()).unwrap());
    other.set_len(1 << 20).unwrap();
    assert_eq!(
        errno(client.map(Some(other.as_fd()), 0, 1 << 30, 1 << 20)),
        1,
        "EPERM"
    );
    client.unmap(0, 1 << 20).unwrap();
    assert_eq!(client.read32(BAR2, 0).unwrap(), u32::MAX);
    client.map(Some(file.as_fd()), 0, 0, 1 << 20).unwrap();
    assert_eq!(errno(client.unmap(0, 1 << 12)), 22, "a part of it");
}

#[test]
fn a_socket_that_was_left_is_taken_and_one_that_is_served_is_not() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s");
    let options = || vfio::Options {
        device: mmio_mock::intel::r#gen::first(),
        socket: path.clone(),
        trace: None,
    };
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    let server = vfio::Server::start(options()).unwrap();
    let mode = std::os::unix::fs::MetadataExt::mode(&std::fs::metadata(&path).unwrap());
    assert_eq!(mode & 0o777, 0o600);
    assert!(matches!(
        vfio::Server::start(options()),
        Err(vfio::server::Error::Served)
    ));
    drop(server);
    assert!(!path.exists());
    std::fs::write(&path, "text").unwrap();
    assert!(matches!(
        vfio::Server::start(options()),
        Err(vfio::server::Error::Occupied)
    ));
    assert!(path.exists());
}
