//! Literal bytes, as docs/interop/vfio-user.rst lays messages out.

use super::*;
use crate::protocol::MAX_WINDOWS;
use std::fmt::Write as _;

/// A function of one region of 16 bytes that remembers what it was asked.
#[derive(Default)]
struct Toy {
    bytes: [u8; 16],
    asked: Vec<String>,
}

impl Function for Toy {
    fn region_size(&self, index: u32) -> u64 {
        if index == 0 { 16 } else { 0 }
    }
    fn read(&mut self, _: u32, offset: u64, into: &mut [u8]) -> Result<(), Errno> {
        if offset == 15 {
            return Err(Errno::IO);
        }
        into.copy_from_slice(&self.bytes[offset as usize..][..into.len()]);
        Ok(())
    }
    fn write(&mut self, _: u32, offset: u64, from: &[u8]) -> Result<(), Errno> {
        self.bytes[offset as usize..][..from.len()].copy_from_slice(from);
        Ok(())
    }
    fn irq(&self, index: u32) -> (u32, u32) {
        (u32::from(index == 0), 7)
    }
    fn set_irqs(&mut self, set: &IrqSet, meant: &[u8], files: Vec<OwnedFd>) -> Result<(), Errno> {
        self.asked.push(format!(
            "irqs {:#x} of {} from {} count {}, {meant:?}, {} files",
            set.flags,
            set.index,
            set.start,
            set.count,
            files.len()
        ));
        Ok(())
    }
    fn map(&mut self, range: &DmaMap, file: Option<OwnedFd>) -> Result<(), Errno> {
        let DmaMap {
            flags,
            offset,
            address,
            size,
            ..
        } = range;
        self.asked.push(format!(
            "map {flags} {offset:#x} {address:#x} {size:#x} {}",
            file.is_some()
        ));
        if *address == 0 {
            Err(Errno::EXIST)
        } else {
            Ok(())
        }
    }
    fn unmap(&mut self, range: &DmaUnmap) -> Result<(), Errno> {
        self.asked
            .push(format!("unmap {:#x} {:#x}", range.address, range.size));
        Ok(())
    }
    fn reset(&mut self) -> Result<(), Errno> {
        self.asked.push("reset".to_owned());
        Ok(())
    }
}

struct Wire {
    session: Session,
    toy: Toy,
}

impl Wire {
    /// A connection whose version is agreed.
    fn new() -> Self {
        let mut wire = Wire {
            session: Session::default(),
            toy: Toy::default(),
        };
        let (next, reply) = wire.send(
            &hex("0100 0100 14000000 00000000 00000000 0000 0000"),
            vec![],
        );
        assert_eq!(next, Next::GoOn);
        assert!(reply.len() > 20);
        wire
    }

    /// Sends a whole message.
    fn send(&mut self, message: &[u8], files: Vec<OwnedFd>) -> (Next, Vec<u8>) {
        let (header, payload) = Header::read_from_prefix(message).unwrap();
        assert_eq!(header.size as usize, message.len());
        let mut reply = vec![0xaa; 3];
        let next = self
            .session
            .handle(&mut self.toy, &header, payload, files, &mut reply);
        (next, reply)
    }

    /// Sends hexadecimal digits; what comes back in the same form, a space behind each dword.
    fn ask(&mut self, message: &str) -> String {
        let (next, reply) = self.send(&hex(message), vec![]);
        assert_eq!(next, Next::GoOn);
        let mut text = String::new();
        for (n, byte) in reply.iter().enumerate() {
            let space = if n > 0 && n % 4 == 0 { " " } else { "" };
            write!(text, "{space}{byte:02x}").unwrap();
        }
        text
    }
}

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.chunks(2).map(byte).collect()
}

/// QEMU's proposal, as `vfio_user_validate_version` writes it.
#[test]
fn a_version_is_agreed_with_what_the_server_can_do() {
    let text = b"{\"capabilities\": {\"max_msg_fds\": 8, \"max_data_xfer_size\": 1048576, \"pgsizes\": 4096, \"max_dma_maps\": 65535}}\0";
    let mut message = hex("3412 0100 00000000 00000000 00000000 0000 0000");
    message.extend_from_slice(text);
    let size = message.len() as u32;
    message[4..8].copy_from_slice(&size.to_le_bytes());
    let mut wire = Wire {
        session: Session::default(),
        toy: Toy::default(),
    };
    let (next, reply) = wire.send(&message, vec![]);
    assert_eq!(next, Next::GoOn);
    assert_eq!(reply[..4], [0x34, 0x12, 1, 0]);
    assert_eq!(reply[4..8], (reply.len() as u32).to_le_bytes());
    assert_eq!(
        reply[8..20],
        hex("01000000 00000000 0000 0000"),
        "the minor one is the client's"
    );
    let text: serde_json::Value =
        serde_json::from_slice(reply[20..].strip_suffix(&[0]).unwrap()).unwrap();
    let able = &text["capabilities"];
    assert_eq!(able["max_msg_fds"], 8);
    assert_eq!(able["max_data_xfer_size"], 1 << 20);
    assert_eq!(able["max_dma_maps"], MAX_WINDOWS);
    assert_eq!(able["pgsizes"], 4096);
}

#[test]
fn what_is_no_version_ends_the_connection() {
    for (message, errno) in [
        // Another major number; a text without its end; one that is no JSON; one that is no object; another command first.
        ("0100 0100 14000000 00000000 00000000 0100 0000", 22),
        ("0100 0100 16000000 00000000 00000000 0000 0000 7b7d", 22),
        ("0100 0100 16000000 00000000 00000000 0000 0000 7b00", 22),
        ("0100 0100 16000000 00000000 00000000 0000 0000 3100", 22),
        ("0100 0100 12000000 00000000 00000000 0000", 22),
        ("0100 0d00 10000000 00000000 00000000", 22),
    ] {
        let mut wire = Wire {
            session: Session::default(),
            toy: Toy::default(),
        };
        let (next, reply) = wire.send(&hex(message), vec![]);
        assert_eq!(next, Next::End, "{message}");
        assert_eq!(reply[8..12], [0x21, 0, 0, 0], "{message}");
        assert_eq!(reply[12..], [errno, 0, 0, 0], "{message}");
        assert!(wire.toy.asked.is_empty());
    }
    // And a second one is a mistake.
    let mut wire = Wire::new();
    let reply = wire.ask("0100 0100 14000000 00000000 00000000 0000 0000");
    assert_eq!(reply, "01000100 10000000 21000000 16000000");
}

#[test]
fn device_region_and_interrupts_are_described() {
    let mut wire = Wire::new();
    assert_eq!(
        wire.ask("0200 0400 20000000 00000000 00000000  10000000 00000000 00000000 00000000"),
        "02000400 20000000 01000000 00000000 10000000 03000000 09000000 05000000"
    );
    assert_eq!(
        wire.ask("0300 0500 30000000 00000000 00000000  20000000 00000000 00000000 00000000 0000000000000000 0000000000000000"),
        "03000500 30000000 01000000 00000000 20000000 03000000 00000000 00000000 10000000 00000000 00000000 00000000"
    );
    assert_eq!(
        wire.ask("0300 0500 30000000 00000000 00000000  00010000 00000000 08000000 00000000 0000000000000000 0000000000000000"),
        "03000500 30000000 01000000 00000000 20000000 00000000 08000000 00000000 00000000 00000000 00000000 00000000",
        "one that the device lacks"
    );
    assert_eq!(
        wire.ask("0400 0700 20000000 00000000 00000000  10000000 00000000 00000000 00000000"),
        "04000700 20000000 01000000 00000000 10000000 07000000 00000000 01000000"
    );
    for (command, rest) in [
        // No room for the answer, an index that there is not, a message that is cut.
        ("0400", "0f000000 00000000 00000000 00000000"),
        (
            "0500",
            "1f000000 00000000 00000000 00000000 0000000000000000 0000000000000000",
        ),
        (
            "0500",
            "20000000 00000000 09000000 00000000 0000000000000000 0000000000000000",
        ),
        ("0500", "20000000 00000000 00000000"),
        ("0700", "10000000 00000000 05000000 00000000"),
        ("0700", "10000000 00000000 ffffffff 00000000"),
        ("0400", ""),
    ] {
        let size = format!("{:02x}000000", 16 + hex(rest).len());
        let reply = wire.ask(&format!("0500 {command} {size} 00000000 00000000 {rest}"));
        assert_eq!(
            reply,
            format!("0500{command} 10000000 21000000 16000000"),
            "{rest}"
        );
    }
}

#[test]
fn regions_are_read_and_written_inside_their_bounds() {
    let mut wire = Wire::new();
    assert_eq!(
        wire.ask(
            "0700 0a00 24000000 00000000 00000000  0400000000000000 00000000 04000000 78563412"
        ),
        "07000a00 20000000 01000000 00000000 04000000 00000000 00000000 04000000"
    );
    assert_eq!(
        wire.ask("0800 0900 20000000 00000000 00000000  0200000000000000 00000000 06000000"),
        "08000900 26000000 01000000 00000000 02000000 00000000 00000000 06000000 00007856 3412"
    );
    let read = |offset: &str, region: &str, count: &str| {
        format!("0900 0900 20000000 00000000 00000000 {offset} {region} {count}")
    };
    for (message, errno) in [
        (read("0d00000000000000", "00000000", "04000000"), "16"),
        (read("ffffffffffffffff", "00000000", "04000000"), "16"),
        (read("0000000000000000", "00000000", "ffffffff"), "16"),
        (read("0000000000000000", "01000000", "01000000"), "16"),
        (read("0000000000000000", "ffffffff", "00000001"), "16"),
        (read("0f00000000000000", "00000000", "01000000"), "05"),
    ] {
        let reply = wire.ask(&message);
        assert_eq!(
            reply,
            format!("09000900 10000000 21000000 {errno}000000"),
            "{message}"
        );
    }
    // More or fewer bytes than were said.
    let write = "0a00 0a00 22000000 00000000 00000000  0000000000000000 00000000 04000000 0102";
    assert_eq!(wire.ask(write), "0a000a00 10000000 21000000 16000000");
    assert_eq!(wire.toy.bytes, *b"\0\0\0\0\x78\x56\x34\x12\0\0\0\0\0\0\0\0");
}

#[test]
fn memory_and_interrupts_reach_the_function() {
    let mut wire = Wire::new();
    let map = "0b00 0200 30000000 00000000 00000000  20000000 03000000 0010000000000000 0000100000000000 0020000000000000";
    let file = std::fs::File::open("/dev/null").unwrap();
    let (_, reply) = wire.send(&hex(map), vec![file.into()]);
    assert_eq!(reply, hex("0b00 0200 10000000 01000000 00000000"));
    let second = map.replacen("0000100000000000", "0000000000000000", 1);
    assert_eq!(
        wire.ask(&second),
        "0b000200 10000000 21000000 11000000",
        "EEXIST"
    );
    assert_eq!(
        wire.ask("0c00 0300 28000000 00000000 00000000  18000000 00000000 0000100000000000 0020000000000000"),
        "0c000300 28000000 01000000 00000000 18000000 00000000 00001000 00000000 00200000 00000000"
    );
    let irqs =
        "0d00 0800 25000000 00000000 00000000  15000000 12000000 00000000 00000000 01000000 01";
    assert_eq!(wire.ask(irqs), "0d000800 10000000 01000000 00000000");
    assert_eq!(
        wire.ask("0e00 0d00 10000000 00000000 00000000"),
        "0e000d00 10000000 01000000 00000000"
    );
    assert_eq!(
        wire.toy.asked,
        [
            "map 3 0x1000 0x100000 0x2000 true",
            "map 3 0x1000 0x0 0x2000 false",
            "unmap 0x100000 0x2000",
            "irqs 0x12 of 0 from 0 count 1, [1], 0 files",
            "reset",
        ]
    );
}

#[test]
fn replies_are_left_out_and_replies_are_left() {
    let mut wire = Wire::new();
    // No_reply, of a command that works and of one that does not.
    let write = "0f00 0a00 21000000 10000000 00000000  0000000000000000 00000000 01000000 55";
    assert_eq!(wire.ask(write), "");
    assert_eq!(wire.toy.bytes[0], 0x55);
    assert_eq!(wire.ask("0f00 6300 10000000 10000000 00000000"), "");
    // A reply, and messages of no kind.
    assert_eq!(wire.ask("0f00 0d00 10000000 01000000 00000000"), "");
    assert_eq!(wire.ask("0f00 0d00 10000000 0f000000 00000000"), "");
    assert!(wire.toy.asked.is_empty());
    // Commands that the server sends, that it does not serve, and that there are not: EOPNOTSUPP.
    for command in [
        "0600", "0b00", "0c00", "0e00", "0f00", "1000", "1100", "0000", "ffff",
    ] {
        let reply = wire.ask(&format!("1000 {command} 10000000 00000000 00000000"));
        assert_eq!(reply, format!("1000{command} 10000000 21000000 5f000000"));
    }
}

#[test]
fn a_message_that_is_refused_unread_is_answered() {
    let header = Header {
        id: 7,
        command: 2,
        size: 48,
        flags: 0,
        error: 0,
    };
    let mut reply = vec![1];
    refuse(&header, Errno::MFILE, &mut reply);
    assert_eq!(reply, hex("0700 0200 10000000 21000000 18000000"));
    let silent = Header {
        flags: flag::NO_REPLY,
        ..header
    };
    refuse(&silent, Errno::MFILE, &mut reply);
    assert!(reply.is_empty());
}
