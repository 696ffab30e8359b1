//! Batches and threads that go round for ever are found, but not too soon.
//!
//! The hang check is the driver's own: two and a half seconds of standing still.

use std::time::{Duration, Instant};

use driver::uapi::{exec, gem};
use wire::{Head, Op};
use zerocopy::{FromZeros as _, IntoBytes as _};

use crate::support::frame::{Frame, Party};
use crate::support::{Connection, at_most, start_as_is};

/// MI_BATCH_BUFFER_START in the GTT, MI_BATCH_BUFFER_END (PRM volume 1).
const START: u32 = 0x31 << 23 | 2 << 6;
const END: u32 = 0x0a << 23;
/// A processor may be somebody else's for a while; three seconds when it is not.
const SOON: Duration = Duration::from_secs(15);

/// Submits a batch whose word `jump + 1` is made the address of its own word `to`.
fn submit(party: &Party, handle: u32, jump: u64, to: u32) {
    let relocations = [exec::Relocation {
        offset: jump * 4 + 4,
        target_handle: handle,
        delta: to * 4,
        presumed_offset: u64::MAX,
        read_domains: 8,
        write_domain: 0,
    }];
    let list = [exec::Object {
        handle,
        relocation_count: 1,
        relocs_ptr: relocations.as_ptr().addr() as u64,
        ..exec::Object::new_zeroed()
    }];
    let mut arg = exec::Execbuffer2 {
        buffers_ptr: list.as_ptr().addr() as u64,
        buffer_count: 1,
        flags: exec::RENDER,
        rsvd1: party.context.into(),
        ..exec::Execbuffer2::new_zeroed()
    };
    assert_eq!(party.ask(exec::EXECBUFFER2.0, arg.as_mut_bytes()), 0);
    std::hint::black_box((relocations, list));
}

fn batch(party: &Party, words: &[u32]) -> u32 {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let handle = party.create(bytes.len().next_multiple_of(4096) as u64);
    party.write(handle, &bytes);
    handle
}

#[test]
fn batches_that_jump_to_themselves_are_found_soon() {
    let (node, name) = start_as_is();
    // To itself; over a few words; over half a megabyte of them.
    for (round, noops) in [0, 60, 1 << 17].into_iter().enumerate() {
        let party = Party::new(&name);
        let mut words = vec![0; noops];
        words.extend([START, 0, END, 0]);
        let handle = batch(&party, &words);
        let begun = Instant::now();
        submit(&party, handle, noops as u64, 0);
        assert_eq!(party.wait(handle, -1), 0);
        let took = begun.elapsed();
        assert!(
            took > Duration::from_secs(2) && took < at_most(SOON),
            "{took:?}"
        );
        assert_eq!(party.reset_stats(), (1, 0));
        assert_eq!(node.report().work.resets as usize, round + 1);
    }
}

#[test]
fn a_thread_that_goes_round_unchanged_is_found_soon() {
    let (node, name) = start_as_is();
    let party = Party::new(&name);
    let mut frame = Frame::read("b_flat");
    // `jmpi -1` of intel-gen4asm, which counts from the instruction behind, for the shader of the second draw.
    let jump: [u32; 4] = [0x0000_0020, 0x3400_1c00, 0x0000_1400, 0xffff_ffff];
    frame.buffers[3].data[0xc0..0xd0].copy_from_slice(jump.as_bytes());
    let handles = party.load(&frame);
    let begun = Instant::now();
    assert_eq!(party.submit(&frame, &handles), 0);
    assert_eq!(party.wait(handles[0], -1), 0);
    let took = begun.elapsed();
    assert!(
        took > Duration::from_secs(2) && took < at_most(SOON),
        "{took:?}"
    );
    assert_eq!(party.reset_stats(), (1, 0));
    assert_eq!(node.report().work.resets, 1);
}

#[test]
fn a_batch_that_waits_for_the_host_goes_on_when_the_host_says_so() {
    let (node, name) = start_as_is();
    let (_life, hello) = Connection::new(&name, Op::Life);
    let party = Party::new(&name);
    for _ in 0..4 {
        let handle = batch(&party, &[START, 0, END, 0]);
        let mut arg = gem::MmapOffset {
            handle,
            flags: 1,
            ..gem::MmapOffset::new_zeroed()
        };
        assert_eq!(party.ask(gem::MMAP_OFFSET.0, arg.as_mut_bytes()), 0);
        let ask = Head::new(Op::Map, party.file, [3, arg.offset, 4096]);
        let place = party.client.call(&ask, &[]);
        assert_eq!((place.reply.result, place.reply.which), (0, 0));
        // SAFETY: the memory is a file that nobody shortens.
        let mut map = unsafe {
            let mut options = memmap2::MmapOptions::new();
            let options = options.offset(place.reply.value).len(4096);
            options.map_mut(&hello.fds[0]).unwrap()
        };
        submit(&party, handle, 0, 0);
        let hundred = Duration::from_millis(100);
        assert!(party.wait(handle, hundred.as_nanos() as i64) < 0, "busy");
        map[..4].copy_from_slice(&END.to_le_bytes());
        assert_eq!(party.wait(handle, -1), 0);
    }
    assert_eq!(party.reset_stats(), (0, 0));
    assert_eq!(node.report().work.resets, 0);
}
