//! Empty batches per second through a node; round trip of the cheapest request.
//!
//! Client and node share one process, but nothing else than the sockets and memory that they would share otherwise.
#![allow(clippy::unwrap_used, reason = "a benchmark")]

#[path = "../tests/support/mod.rs"]
mod support;

use std::time::{Duration, Instant};

use driver::uapi;
use node::{Node, Options};
use support::Connection;
use wire::Op;
use zerocopy::{FromZeros as _, IntoBytes as _};

/// How long each figure is measured.
const TIME: Duration = Duration::from_secs(2);
const NO_RELOC_HANDLE_LUT: u64 = 1 << 11 | 1 << 12;

fn rate(mut call: impl FnMut()) -> f64 {
    let start = Instant::now();
    let mut calls = 0_u32;
    while start.elapsed() < TIME {
        for _ in 0..64 {
            call();
        }
        calls += 64;
    }
    f64::from(calls) / start.elapsed().as_secs_f64()
}

fn main() {
    let device = mmio_mock::intel::r#gen::find("gm965").unwrap();
    let node = Node::start(&Options::new(device)).unwrap();
    let name = node.environment()[0].1.to_str().unwrap().to_owned();
    let (client, _) = Connection::new(&name, Op::Thread);
    let (_fd, file) = client.open(false);
    let mut create = uapi::gem::Create {
        size: 4096,
        ..uapi::gem::Create::new_zeroed()
    };
    client.ioctl(file, uapi::gem::CREATE.0, create.as_mut_bytes());
    // MI_BATCH_BUFFER_END.
    let words = [0x0500_0000_u32, 0];
    let mut write = uapi::gem::Transfer {
        handle: create.handle,
        size: 8,
        data_ptr: words.as_ptr().addr() as u64,
        ..uapi::gem::Transfer::new_zeroed()
    };
    client.ioctl(file, uapi::gem::PWRITE.0, write.as_mut_bytes());
    let mut list = [uapi::exec::Object {
        handle: create.handle,
        ..uapi::exec::Object::new_zeroed()
    }];
    let mut exec = uapi::exec::Execbuffer2 {
        buffers_ptr: list.as_mut_ptr().addr() as u64,
        buffer_count: 1,
        flags: NO_RELOC_HANDLE_LUT,
        ..uapi::exec::Execbuffer2::new_zeroed()
    };
    let batches = rate(|| {
        let result = client.ioctl(file, uapi::exec::EXECBUFFER2.0, exec.as_mut_bytes());
        assert_eq!(result, 0);
    });
    let mut busy = uapi::gem::Busy {
        handle: create.handle,
        ..uapi::gem::Busy::new_zeroed()
    };
    let requests = rate(|| {
        client.ioctl(file, uapi::gem::BUSY.0, busy.as_mut_bytes());
    });
    println!("empty batches through the node: {batches:.0} per second");
    println!("GEM_BUSY through the node:      {requests:.0} per second");
}
