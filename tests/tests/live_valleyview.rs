//! ValleyView: registers that batches may name, and pages that they reach.
//!
//! i915 `i915_cmd_parser.c`, `gt/gen6_engine_cs.c`; numbers of `intel_gpu_commands.h` and `intel_gt_regs.h`.
mod corners;
mod hostile;
mod spaces;

use crestline_tests::rig::{Rig, SHORT};
use driver::uapi::{drm, exec, gem};
use driver::{BatchDesc, File, Node};
use kernel::error::Result;
use kernel::error::code::EINVAL;
use kernel::platform::Platform;

use crate::client::Client;

const END: u32 = 0x0500_0000;
const LRI: u32 = 0x1100_0001;
const LRM: u32 = 0x1480_0001;
const SRM: u32 = 0x1200_0001;
/// MI_STORE_DATA_IMM of a dword.
const STORE: u32 = 0x1000_0002;
const GLOBAL: u32 = 1 << 22;
/// SO_WRITE_OFFSET of the second buffer, L3CNTLREG2, INSTPM.
const OFFSET: u32 = 0x5284;
const L3: u32 = 0xb020;
const INSTPM: u32 = 0x20c0;

const RENDER: u64 = 1;
const BSD: u64 = 2;
const BLT: u64 = 3;

fn rig() -> Rig {
    Rig::on("valleyview")
}

/// What a client knows of its objects: handle and address.
#[derive(Clone, Copy)]
struct Bound {
    handle: u32,
    address: u32,
}

struct Party(Client);

impl Party {
    fn new(rig: &Rig) -> Self {
        Party(Client::new(File::open(&rig.device, Node::Render)))
    }

    fn object(&self, address: u32, dwords: &[u32]) -> Bound {
        let mut create = gem::Create {
            size: 0x4000,
            ..Default::default()
        };
        self.0.call(gem::CREATE, &mut create).unwrap();
        let bytes: Vec<u8> = dwords.iter().flat_map(|d| d.to_le_bytes()).collect();
        self.0.pwrite(create.handle, &bytes);
        let handle = create.handle;
        Bound { handle, address }
    }

    /// Runs the last object, which is a batch of so many bytes.
    fn exec(&self, flags: u64, objects: &[Bound], length: u32) -> Result<i32> {
        let list: Vec<_> = objects
            .iter()
            .map(|bound| exec::Object {
                handle: bound.handle,
                offset: bound.address.into(),
                flags: exec::OBJECT_PINNED,
                ..Default::default()
            })
            .collect();
        let mut arg = exec::Execbuffer2 {
            buffers_ptr: self.0.place(&list),
            buffer_count: list.len() as u32,
            batch_len: length,
            flags: flags | exec::NO_RELOC,
            ..Default::default()
        };
        self.0.call(exec::EXECBUFFER2_WR, &mut arg)
    }

    fn wait(&self, object: Bound) {
        let mut arg = gem::Wait {
            bo_handle: object.handle,
            timeout_ns: -1,
            ..Default::default()
        };
        self.0.call(gem::WAIT, &mut arg).unwrap();
    }

    fn dword(&self, object: Bound, index: usize) -> u32 {
        let bytes = self.0.pread(object.handle, 4 * (index + 1));
        u32::from_le_bytes(bytes[4 * index..].try_into().unwrap())
    }

    /// Runs words on an engine to their end.
    fn run(&self, flags: u64, data: Bound, words: &[u32], length: u32) -> Result<()> {
        let batch = self.object(0x20_0000, words);
        self.exec(flags, &[data, batch], length)?;
        self.wait(batch);
        let mut close = drm::GemClose {
            handle: batch.handle,
            pad: 0,
        };
        self.0.call(drm::GEM_CLOSE, &mut close).map(drop)
    }
}

/// Registers of the list are loaded from words and from memory, and stored, in the space of the process.
#[test]
fn batches_load_and_store_registers_of_the_list() {
    let rig = rig();
    let party = Party::new(&rig);
    let data = party.object(0x10_0000, &[0x1234]);
    let at = data.address;
    let words = [
        LRI,
        OFFSET,
        8,
        SRM,
        OFFSET,
        at + 4,
        LRM,
        OFFSET,
        at,
        SRM,
        OFFSET,
        at + 8,
        LRI,
        L3,
        0x55,
        STORE,
        0,
        at + 12,
        9,
        END,
    ];
    party.run(RENDER, data, &words, 80).unwrap();
    let found = [1, 2, 3].map(|index| party.dword(data, index));
    assert_eq!(found, [8, 0x1234, 9]);
    assert_eq!(rig.platform.io().read32(L3 as usize), 0x55);
    drop(party);
    rig.finish();
}

/// Something that is forbidden: the batch runs without privileges, and the device leaves out what names other registers than those
/// that are for everybody.
#[test]
fn forbidden_registers_are_left_out() {
    const UCGCTL4: u32 = 0x940c;
    let rig = rig();
    let party = Party::new(&rig);
    let data = party.object(0x10_0000, &[0]);
    let io = rig.platform.io();
    let before = [UCGCTL4, L3].map(|register| io.read32(register as usize));
    let at = data.address;
    let words = [
        LRI,
        UCGCTL4,
        0x77,
        LRI,
        L3,
        0x55,
        LRI,
        INSTPM,
        1 << 22 | 1 << 6,
        LRI,
        OFFSET,
        8,
        SRM,
        OFFSET,
        at + 4,
        STORE,
        0,
        at + 8,
        9,
        END,
    ];
    party.run(RENDER, data, &words, 80).unwrap();
    let after = [UCGCTL4, L3].map(|register| io.read32(register as usize));
    assert_eq!(before, after);
    assert_eq!(io.read32(INSTPM as usize) & 1 << 6, 1 << 6);
    assert_eq!([party.dword(data, 1), party.dword(data, 2)], [8, 9]);
    // The same without a length: nobody looks at it.
    let words = [LRI, UCGCTL4, 0x77, STORE, 0, at + 12, 5, END];
    party.run(RENDER, data, &words, 0).unwrap();
    assert_eq!(io.read32(UCGCTL4 as usize), before[0]);
    assert_eq!(party.dword(data, 3), 5);
    drop(party);
    rig.finish();
}

/// A batch that asks for the global GTT gets it neither with privileges nor without.
#[test]
fn the_global_gtt_is_out_of_reach() {
    let rig = rig();
    let party = Party::new(&rig);
    let data = party.object(0x10_0000, &[3]);
    for length in [40, 0] {
        let words = [
            STORE | GLOBAL,
            0,
            0x10_0000,
            9,
            STORE,
            0,
            0x10_0004,
            5,
            END,
            0,
        ];
        party.run(RENDER, data, &words, length).unwrap();
        let found = [0, 1].map(|index| party.dword(data, index));
        assert_eq!(found, [3, 5], "length {length}");
    }
    drop(party);
    rig.finish();
}

/// Requests of all engines end: their breadcrumbs go to status pages that lie beside one another.
#[test]
fn all_engines_take_requests() {
    let rig = rig();
    let party = Party::new(&rig);
    let data = party.object(0x10_0000, &[0]);
    for (round, flags) in [RENDER, BSD, BLT, RENDER, BLT, BSD].into_iter().enumerate() {
        let value = round as u32 + 1;
        let words = [STORE, 0, data.address, value, END, 0];
        party.run(flags, data, &words, 24).unwrap();
        assert_eq!(party.dword(data, 0), value, "{flags}");
        // Commands that i915's parser cannot read are an error on each.
        let outcome = party.run(flags, data, &[u32::MAX, END], 8);
        assert_eq!(outcome, Err(EINVAL));
    }
    drop(party);
    rig.finish();
}

/// A batch that another one starts is not looked at: both run without privileges.
#[test]
fn chained_batches_run_without_privileges() {
    let rig = rig();
    let party = Party::new(&rig);
    let data = party.object(0x10_0000, &[0]);
    let before = rig.platform.io().read32(L3 as usize);
    let words = [LRI, L3, 0x99, STORE, 0, data.address, 4, END];
    let second = party.object(0x30_0000, &words);
    let first = party.object(0x20_0000, &[0x1880_0100, second.address, END, 0]);
    party.exec(RENDER, &[data, second, first], 16).unwrap();
    party.wait(first);
    let after = rig.platform.io().read32(L3 as usize);
    assert_eq!(before, after);
    assert_eq!(party.dword(data, 0), 4);
    drop(party);
    rig.finish();
}

/// The device only reads the copies: a batch that stores into one does not change it.
#[test]
fn copies_cannot_be_changed() {
    let rig = rig();
    let run = |words: &[u32]| {
        let batch = rig.object(0x20_0000, 4096, words);
        let desc = BatchDesc {
            object: &batch,
            start: 0,
            len: 32,
        };
        let request = rig.device.submit(&desc).unwrap();
        let outcome = request.wait(SHORT);
        (outcome, batch)
    };
    let (outcome, batch) = run(&[0, 0, 0, END]);
    assert_eq!(outcome, Ok(()));
    // Where the copy is, the request's MI_BATCH_BUFFER_START says.
    let state = rig.device.capture("where");
    let bytes = &state.buffer("ring").unwrap().bytes;
    let words: Vec<_> = bytes.as_chunks::<4>().0.to_vec();
    let words: Vec<_> = words.into_iter().map(u32::from_le_bytes).collect();
    let start = words.windows(2).find(|pair| pair[0] == 0x1880_0000);
    let copy = start.unwrap()[1];
    batch.unbind();
    drop((state, batch));
    let (outcome, batch) = run(&[STORE, 0, copy, u32::MAX, END, 0, 0, 0]);
    assert!(outcome.is_err(), "{outcome:?}");
    let faults = rig.platform.device().status().faults().to_vec();
    assert_eq!(faults.len(), 1, "{faults:?}");
    assert!(rig.device.error_state().is_some());
    rig.device.reset().unwrap();
    batch.unbind();
    drop(batch);
    let (outcome, batch) = run(&[0, 0, 0, END]);
    assert_eq!(outcome, Ok(()));
    batch.unbind();
    drop(batch);
    rig.finish_after_fault();
}
