//! Linear views of tiled objects, asked for by many at once.
//!
//! i915 `i915_gem_tiling.c`; PRM volume 1 (memory layouts).

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use driver::Object;
use driver::observe::{Observer, Queued};
use driver::uapi::gem;
use wire::{Head, Op};
use zerocopy::{FromZeros as _, IntoBytes as _};

use crate::support::frame::Party;
use crate::support::{Connection, at_most, start};

const BATCH_END: [u8; 4] = (0x0a_u32 << 23).to_le_bytes();

/// Takes its time with the first submission that comes in, as one with a large view does.
struct Slow {
    is_next: AtomicBool,
    begun: Sender<()>,
    go_on: Mutex<Receiver<()>>,
}

impl Observer for Slow {
    fn arrives(&self, objects: &mut dyn Iterator<Item = &Object>) {
        assert_eq!(objects.count(), 1);
        if !self.is_next.swap(true, Ordering::SeqCst) {
            self.begun.send(()).unwrap();
            self.go_on.lock().unwrap().recv().unwrap();
        }
    }

    fn before(&self, _queued: &Queued<'_>) {}
}

#[test]
fn a_submission_whose_views_take_long_keeps_no_other_from_its_turn() {
    let (node, name) = start();
    let ((begun, is_begun), (let_go, go_on)) = (channel(), channel());
    let slow = Slow {
        is_next: AtomicBool::new(false),
        begun,
        go_on: Mutex::new(go_on),
    };
    node.first().device().observe(Some(Arc::new(slow)));
    let run = || {
        let party = Party::new(&name);
        let batch = party.create(4096);
        party.write(batch, &BATCH_END);
        assert_eq!((party.run(batch), party.wait(batch, -1)), (0, 0));
    };
    let (done, is_done) = channel();
    std::thread::scope(|scope| {
        scope.spawn(run);
        is_begun.recv().unwrap();
        scope.spawn(|| {
            run();
            done.send(()).unwrap();
        });
        // TIMEOUT: some milliseconds of work, on a machine with much else to do.
        let in_time = is_done.recv_timeout(at_most(Duration::from_secs(20)));
        let_go.send(()).unwrap();
        assert!(in_time.is_ok(), "the other submission was waited for");
    });
}

/// Where a linear byte lies in rows of 512 bytes: X tiles are 512 bytes by 8 rows; Y tiles 128 bytes by 32 rows in columns of 16.
fn home(mode: u32, at: usize) -> usize {
    let (x, y) = (at % 512, at / 512);
    if mode == 1 {
        return at;
    }
    let tile = y / 32 * 4 + x / 128;
    tile * 4096 + x % 128 / 16 * 512 + y % 32 * 16 + x % 16
}

#[test]
fn threads_that_change_the_layout_of_one_object_leave_a_view_of_the_last_one() {
    const SIZE: usize = 1 << 20;
    let (_node, name) = start();
    let (_life, hello) = Connection::new(&name, Op::Life);
    let party = Party::new(&name);
    let handle = party.create(SIZE as u64);
    let bytes: Vec<u8> = (0..SIZE).map(|at| ((at * 7) >> 4) as u8).collect();
    party.write(handle, &bytes);
    let file = party.file;
    let set_tiling = |client: &Connection, mode: u32| {
        let mut arg = gem::SetTiling::new_zeroed();
        (arg.handle, arg.tiling_mode, arg.stride) = (handle, mode, 512);
        let head = [u64::from(gem::SET_TILING.0), 0, 0];
        let mut answer = client.call(&Head::new(Op::Ioctl, file, head), arg.as_bytes());
        while answer.reply.kind == wire::Reply::REMAP {
            answer = client.receive();
        }
        assert_eq!(answer.reply.result, 0);
    };
    set_tiling(&party.client, 1);
    let mut arg = gem::MmapGtt::new_zeroed();
    arg.handle = handle;
    assert_eq!(party.ask(gem::MMAP_GTT.0, arg.as_mut_bytes()), 0);
    let head = Head::new(Op::Map, file, [3, arg.offset, SIZE as u64]);
    let place = party.client.call(&head, &[]).reply;
    assert_eq!((place.result, place.which), (0, 1));
    let mapped = [arg.offset, 1 << 20, SIZE as u64];
    party.client.call(&Head::new(Op::Mapped, file, mapped), &[]);
    // SAFETY: the memory is a file that nobody shortens.
    let view = unsafe {
        memmap2::MmapOptions::new()
            .offset(place.value)
            .len(SIZE)
            .map(&hello.fds[1])
            .unwrap()
    };
    std::thread::scope(|scope| {
        for number in 0..4 {
            let (name, set_tiling) = (&name, &set_tiling);
            scope.spawn(move || {
                let (client, _) = Connection::new(name, Op::Thread);
                for turn in 0..25 {
                    set_tiling(&client, 1 + (number + turn) % 2);
                    let mut arg = gem::SetDomain::new_zeroed();
                    (arg.handle, arg.read_domains) = (handle, 0x40);
                    assert_eq!(client.ioctl(file, gem::SET_DOMAIN.0, arg.as_mut_bytes()), 0);
                }
            });
        }
        scope.spawn(|| {
            for _ in 0..10 {
                assert!(party.bytes(handle, SIZE) == bytes);
            }
        });
    });
    for mode in [2, 1] {
        set_tiling(&party.client, mode);
        assert!((0..SIZE).all(|at| view[at] == bytes[home(mode, at)]));
    }
    assert!(party.bytes(handle, SIZE) == bytes);
}
