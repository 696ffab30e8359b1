//! Driver and model with two engines: I915_EXEC_BSD, order, hangs of one.
//!
//! Behaviour of i915 (`i915_gem_execbuffer.c`, `i915_gem_busy.c`, `intel_reset.c`); numbers of engines and classes from
//! i915_drm.h. After intel-gpu-tools' gem_exec_basic, gem_busy, gem_exec_await, gem_exec_fence, gem_ctx_engines.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::client::Client;
use crestline_tests::rig::Rig;
use driver::uapi::{context, exec, gem, query, syncobj};
use driver::{File, Node};
use kernel::error::Result;
use kernel::error::code::{EINVAL, ENOENT};
use kernel::platform::Platform;

const NOOP: u32 = 0;
const END: u32 = 0x0a << 23;
/// MI_STORE_DATA_IMM of a dword in the GTT.
const STORE_DWORD: u32 = 0x20 << 23 | 1 << 22 | 2;
/// CMD_AVC_BSD_IMG_STATE of six dwords (intel-vaapi-driver i965_defines.h): the model has no decoder.
const IMG_STATE: u32 = 0x7400_0004;
const UNKNOWN: u32 = 0x7fff_0000;

/// I915_EXEC_*.
const RENDER: u64 = 1;
const BSD: u64 = 2;
const BLT: u64 = 3;
/// GEM_BUSY: 10000h << class for a reader; class + 1 for the writer.
const RENDER_READS: u32 = 0x1_0000;
const RENDER_WRITES: u32 = RENDER_READS | 1;
const BSD_READS: u32 = 0x4_0000;
const BSD_WRITES: u32 = BSD_READS | 3;

const DEVICES: [&str; 3] = ["g45", "gm45", "ironlake"];

struct Party(Client);

impl Party {
    fn new(rig: &Rig) -> Self {
        Party(Client::new(File::open(&rig.device, Node::Render)))
    }

    fn object(&self, dwords: &[u32]) -> u32 {
        let mut create = gem::Create {
            size: 0x10000,
            ..Default::default()
        };
        self.0.call(gem::CREATE, &mut create).unwrap();
        let bytes: Vec<u8> = dwords.iter().flat_map(|d| d.to_le_bytes()).collect();
        if !bytes.is_empty() {
            self.0.pwrite(create.handle, &bytes);
        }
        create.handle
    }

    /// Runs the last object, which is a batch; all are pinned to addresses.
    fn exec(
        &self,
        flags: u64,
        objects: &[(u32, u32, u64)],
        change: impl FnOnce(&mut exec::Execbuffer2),
    ) -> Result<i32> {
        let list: Vec<_> = objects
            .iter()
            .map(|&(handle, address, flags)| exec::Object {
                handle,
                offset: address.into(),
                flags: exec::OBJECT_PINNED | flags,
                ..Default::default()
            })
            .collect();
        let mut arg = exec::Execbuffer2 {
            buffers_ptr: self.0.place(&list),
            buffer_count: list.len() as u32,
            flags: flags | exec::NO_RELOC,
            ..Default::default()
        };
        change(&mut arg);
        self.0.call(exec::EXECBUFFER2_WR, &mut arg)
    }

    fn busy(&self, handle: u32) -> u32 {
        let mut busy = gem::Busy {
            handle,
            ..Default::default()
        };
        self.0.call(gem::BUSY, &mut busy).unwrap();
        busy.busy
    }

    fn wait(&self, handle: u32) {
        let mut wait = gem::Wait {
            bo_handle: handle,
            timeout_ns: -1,
            ..Default::default()
        };
        assert_eq!(self.0.call(gem::WAIT, &mut wait), Ok(0));
    }

    fn dword(&self, handle: u32) -> u32 {
        u32::from_le_bytes(self.0.pread(handle, 4).try_into().unwrap())
    }

    fn parameter(&self, param: i32) -> i32 {
        let at = self.0.place(&[-1_i32]);
        let mut arg = query::Getparam {
            param,
            value: at,
            ..Default::default()
        };
        self.0.call(query::GETPARAM, &mut arg).unwrap();
        self.0.get(at)
    }

    /// Hangs of the default context, and its requests that resets have caught.
    fn stats(&self) -> (u32, u32) {
        let mut stats = context::ResetStats::default();
        self.0.call(context::GET_RESET_STATS, &mut stats).unwrap();
        (stats.batch_active, stats.batch_pending)
    }
}

/// Stores behind so many dwords of nothing.
fn store(address: u32, value: u32, before: usize) -> Vec<u32> {
    let mut words = vec![NOOP; before];
    words.extend([STORE_DWORD, 0, address, value, END, NOOP]);
    words
}

const DATA: u32 = 0x20_0000;
const WRITE: u64 = exec::OBJECT_WRITE;
/// Dwords that take much longer than a short batch with all that is around it.
const LONG: usize = 8000;

/// I915_PARAM_HAS_BSD is 10, HAS_BLT 11; drm_i915_engine_info has 56 bytes behind a header of 16.
#[test]
fn user_space_is_told_of_the_engines() {
    for (device, classes) in [
        ("gm965", &[0][..]),
        ("g45", &[0, 2]),
        ("ironlake-m", &[0, 2]),
    ] {
        let rig = Rig::on(device);
        let party = Party::new(&rig);
        // There is no decoder behind the ring.
        assert_eq!(party.parameter(10), 0, "{device}");
        assert_eq!(party.parameter(11), 0, "{device}");
        let total = 16 + 56 * classes.len();
        let data = party.0.place(&vec![0_u32; total / 4]);
        let item = query::QueryItem {
            query_id: query::QUERY_ENGINE_INFO,
            length: total as i32,
            data_ptr: data,
            ..Default::default()
        };
        let mut arg = query::Query {
            num_items: 1,
            items_ptr: party.0.place(&[item]),
            ..Default::default()
        };
        party.0.call(query::QUERY, &mut arg).unwrap();
        assert_eq!(party.0.get::<u32>(data), classes.len() as u32, "{device}");
        for (index, class) in (0..).zip(classes) {
            assert_eq!(
                party.0.get::<u32>(data + 16 + 56 * index),
                *class,
                "{device}"
            );
        }
        drop(party);
        rig.finish();
    }
}

#[test]
fn a_batch_runs_on_the_engine_that_was_asked_for() {
    for device in DEVICES {
        let rig = Rig::on(device);
        let party = Party::new(&rig);
        let (data, batch) = (party.object(&[]), party.object(&store(DATA, 7, 0)));
        let list = [(data, DATA, WRITE), (batch, 0x30_0000, 0)];
        // With one video engine I915_EXEC_BSD_RING1 and _RING2 mean nothing.
        for flags in [BSD, BSD | 1 << 13, BSD | 2 << 13] {
            party.exec(flags, &list, |_| ()).unwrap();
            assert_eq!(party.busy(data), BSD_WRITES, "{device}");
            assert_eq!(party.busy(batch), BSD_READS, "{device}");
            party.wait(data);
            assert_eq!((party.busy(data), party.busy(batch)), (0, 0), "{device}");
            assert_eq!(party.dword(data), 7, "{device}");
            party.0.pwrite(data, &[0; 4]);
        }
        party.exec(RENDER, &list, |_| ()).unwrap();
        assert_eq!(party.busy(data), RENDER_WRITES, "{device}");
        party.wait(data);
        assert_eq!(party.dword(data), 7, "{device}");
        for flags in [BLT, 4, 5, RENDER | 1 << 13] {
            assert_eq!(party.exec(flags, &list, |_| ()), Err(EINVAL), "{flags:#x}");
        }
        drop(party);
        rig.finish();
    }
    let rig = Rig::new();
    let party = Party::new(&rig);
    let batch = party.object(&[END]);
    let list = [(batch, 0x30_0000, 0)];
    assert_eq!(party.exec(BSD, &list, |_| ()), Err(EINVAL), "GM965");
    drop(party);
    rig.finish();
}

/// A short batch behind a long one of the other engine.
#[test]
fn a_request_waits_for_the_other_engine_where_they_share_an_object() {
    for device in DEVICES {
        for (first, second) in [(RENDER, BSD), (BSD, RENDER)] {
            let rig = Rig::on(device);
            let party = Party::new(&rig);
            let data = party.object(&[]);
            let slow = party.object(&store(DATA, 1, LONG));
            let quick = party.object(&store(DATA, 2, 0));
            let list = |batch, at, flags| [(data, DATA, flags), (batch, at, 0)];
            party
                .exec(first, &list(slow, 0x30_0000, WRITE), |_| ())
                .unwrap();
            party
                .exec(second, &list(quick, 0x40_0000, WRITE), |_| ())
                .unwrap();
            party.wait(data);
            assert_eq!(party.dword(data), 2, "{device}, {first} before {second}");
            // Without the flag that says that they write, or with that for unordered access, they run side by side.
            for flags in [0, exec::OBJECT_ASYNC | WRITE] {
                party
                    .exec(first, &list(slow, 0x30_0000, flags), |_| ())
                    .unwrap();
                party
                    .exec(second, &list(quick, 0x40_0000, flags), |_| ())
                    .unwrap();
                assert_eq!(party.busy(data) & 0xffff_0000, RENDER_READS | BSD_READS);
                party.wait(data);
                assert_eq!(party.dword(data), 1, "{device}, {flags:#x}");
            }
            drop(party);
            rig.finish();
        }
    }
}

/// A batch on the video engine stays in use for long. A submission that needs its place, and one that writes addresses into
/// it, wait for it; another program on the render engine does not.
#[test]
fn waits_for_one_engine_leave_the_other_to_others() {
    for device in DEVICES {
        for (flags, relocates) in [(RENDER, false), (BSD, false), (BSD, true)] {
            let rig = Rig::on(device);
            let (party, victim) = (Arc::new(Party::new(&rig)), Party::new(&rig));
            let data = party.object(&[]);
            let slow = party.object(&store(DATA, 1, LONG));
            let list = [(data, DATA, WRITE), (slow, 0x30_0000, 0)];
            party.exec(BSD, &list, |_| ()).unwrap();
            let of_victim = victim.object(&[END]);
            let served = Arc::new(AtomicUsize::new(0));
            let (count, first) = (Arc::clone(&served), Arc::clone(&party));
            party.0.meanwhile(Some(Box::new(move || {
                if count.load(Ordering::Relaxed) >= 3 {
                    return;
                }
                let list = [(of_victim, 0x50_0000, 0)];
                victim.exec(RENDER, &list, |_| ()).unwrap();
                victim.wait(of_victim);
                assert_ne!(first.busy(slow), 0, "still at work");
                count.fetch_add(1, Ordering::Relaxed);
            })));
            if relocates {
                let reloc = party.0.place(&[exec::Relocation {
                    target_handle: data,
                    offset: 0x8000,
                    presumed_offset: u64::MAX,
                    ..Default::default()
                }]);
                let list = party.0.place(&[
                    exec::Object {
                        handle: data,
                        ..Default::default()
                    },
                    exec::Object {
                        handle: slow,
                        relocs_ptr: reloc,
                        relocation_count: 1,
                        ..Default::default()
                    },
                ]);
                let mut arg = exec::Execbuffer2 {
                    buffers_ptr: list,
                    buffer_count: 2,
                    flags,
                    ..Default::default()
                };
                party.0.call(exec::EXECBUFFER2_WR, &mut arg).unwrap();
            } else {
                let quick = party.object(&[END]);
                party.exec(flags, &[(quick, 0x30_0000, 0)], |_| ()).unwrap();
            }
            let case = (device, flags, relocates);
            assert_eq!(served.load(Ordering::Relaxed), 3, "{case:?}");
            party.0.meanwhile(None);
            party.wait(data);
            party.wait(slow);
            assert_eq!(party.dword(data), 1, "{case:?}");
            drop(party);
            rig.finish();
        }
    }
}

#[test]
fn a_request_waits_for_fences_of_the_other_engine() {
    let rig = Rig::on("ironlake");
    let party = Party::new(&rig);
    let mut create = syncobj::Create::default();
    party.0.call(syncobj::CREATE, &mut create).unwrap();
    let fence = |flags| exec::Fence {
        handle: create.handle,
        flags,
    };
    let named = |arg: &mut exec::Execbuffer2, at| {
        arg.flags |= exec::FENCE_ARRAY;
        (arg.cliprects_ptr, arg.num_cliprects) = (at, 1);
    };
    let signals = party.0.place(&[fence(exec::FENCE_SIGNAL)]);
    let waits = party.0.place(&[fence(exec::FENCE_WAIT)]);
    let data = party.object(&[]);
    let (slow, quick) = (
        party.object(&store(DATA, 1, LONG)),
        party.object(&store(DATA, 2, 0)),
    );
    let first = [(data, DATA, WRITE), (slow, 0x30_0000, 0)];
    // It does not say that it uses the object.
    let second = [(quick, 0x40_0000, 0)];
    for (after, value) in [(None, 1), (Some(waits), 2)] {
        party
            .exec(RENDER, &first, |arg| named(arg, signals))
            .unwrap();
        let wait = |arg: &mut exec::Execbuffer2| after.into_iter().for_each(|at| named(arg, at));
        party.exec(BSD, &second, wait).unwrap();
        party.wait(data);
        party.wait(quick);
        assert_eq!(party.dword(data), value);
    }
    drop(party);
    rig.finish();
}

#[test]
fn a_context_has_the_engines_of_its_map() {
    let rig = Rig::on("g45");
    let party = Party::new(&rig);
    let mut create = context::CreateExt::default();
    party.0.call(context::CREATE_EXT, &mut create).unwrap();
    // No extension; the video engine, none, the render engine (class and instance).
    let map = |slots: &[[u16; 2]]| {
        let mut words = vec![0_u16; 4];
        words.extend(slots.iter().flatten());
        party.0.place(&words)
    };
    let set = |value, size| {
        let mut param = context::Param {
            ctx_id: create.ctx_id,
            size,
            param: context::param::ENGINES,
            value,
        };
        party.0.call(context::SETPARAM, &mut param)
    };
    assert_eq!(set(map(&[[2, 1]]), 12), Err(ENOENT), "one of them");
    assert_eq!(set(map(&[[1, 0]]), 12), Err(ENOENT), "no blitter");
    assert_eq!(set(map(&[[2, 0], [u16::MAX; 2], [0, 0]]), 20), Ok(0));
    let (data, batch) = (party.object(&[]), party.object(&store(DATA, 7, 0)));
    let list = [(data, DATA, WRITE), (batch, 0x30_0000, 0)];
    for (slot, busy) in [
        (0, Ok(BSD_WRITES)),
        (1, Err(EINVAL)),
        (2, Ok(RENDER_WRITES)),
        (3, Err(EINVAL)),
    ] {
        let outcome = party.exec(slot, &list, |arg| arg.rsvd1 = create.ctx_id.into());
        assert_eq!(outcome.map(|_| party.busy(data)), busy, "slot {slot}");
        party.wait(data);
    }
    drop(party);
    rig.finish();
}

#[test]
fn a_hang_of_one_engine_leaves_the_requests_of_the_other() {
    for device in DEVICES {
        for (hanging, flags, other, name, ipehr) in [
            (
                vec![IMG_STATE, 0, 0, 0, 0, 0, END],
                BSD,
                RENDER,
                "vcs0",
                IMG_STATE,
            ),
            (vec![UNKNOWN, END], RENDER, BSD, "rcs0", UNKNOWN),
        ] {
            let rig = Rig::on(device);
            let (guilty, innocent) = (Party::new(&rig), Party::new(&rig));
            let hangs = guilty.object(&hanging);
            guilty
                .exec(flags, &[(hangs, 0x50_0000, 0)], |_| ())
                .unwrap();
            // More than a hang takes to be found: 2.5 s of a clock of 533 MHz and more are too much to wait for, so
            // that this one waits behind the hang in the same ring.
            let data = innocent.object(&[]);
            let behind = innocent.object(&store(DATA, 3, 0));
            let list = [(data, DATA, WRITE), (behind, 0x30_0000, 0)];
            innocent.exec(flags, &list, |_| ()).unwrap();
            let free = innocent.object(&store(0x60_0000, 4, 0));
            let target = innocent.object(&[]);
            let list = [(target, 0x60_0000, WRITE), (free, 0x70_0000, 0)];
            innocent.exec(other, &list, |_| ()).unwrap();
            innocent.wait(target);
            assert_eq!(innocent.dword(target), 4);
            assert_eq!(
                rig.device.reset_count(),
                0,
                "{device}: it did not have to wait"
            );
            innocent.wait(data);
            assert_eq!(innocent.dword(data), 3, "{device}");
            assert_eq!(rig.device.reset_count(), 1, "{device}");
            assert_eq!((guilty.stats(), innocent.stats()), ((1, 0), (0, 1)));
            let text = rig.device.error_text().unwrap();
            assert!(
                text.contains(&format!("\n{name} command stream:\n")),
                "{text}"
            );
            // Linux 6.1, intel_engine_id: RCS0 is 0, VCS0 10; the mask of engines stands behind the generation.
            let mask = if name == "vcs0" { ":400:" } else { ":1:" };
            let head = text.lines().next().unwrap();
            assert!(head.starts_with("GPU HANG: ecode "), "{head}");
            assert!(head.contains(mask), "{head}");
            assert!(
                text.contains(&format!("\n  IPEHR: 0x{ipehr:08x}\n")),
                "{text}"
            );
            assert!(text.contains(&format!("\n{name} --- ring = ")), "{text}");
            // The other engine has nothing under way (i915 `capture_engine`).
            assert_eq!(text.matches(" command stream:\n").count(), 1, "{text}");
            // Both engines go on.
            for flags in [flags, other] {
                innocent.0.pwrite(target, &[0; 4]);
                innocent.exec(flags, &list, |_| ()).unwrap();
                innocent.wait(target);
                assert_eq!(innocent.dword(target), 4, "{device}");
            }
            drop((guilty, innocent));
            rig.finish_after_fault();
        }
    }
}

/// The render engine is in the middle of a batch, and holds the state of a context whose image has never been written.
#[test]
fn a_hang_beside_the_render_engine_leaves_it_at_what_it_is_at() {
    // CCID, by i915.
    const CONTEXT: usize = 0x2180;
    for (device, flags) in [
        ("g45", BSD),
        ("ironlake", BSD),
        ("sandybridge", BSD),
        ("sandybridge", BLT),
        ("valleyview", BSD),
        ("valleyview", BLT),
    ] {
        let rig = Rig::on(device);
        rig.device
            .set_hang_check_period(kernel::time::Delta::from_millis(2));
        let (guilty, innocent) = (Party::new(&rig), Party::new(&rig));
        let mut create = context::CreateExt::default();
        innocent.0.call(context::CREATE_EXT, &mut create).unwrap();
        let first = innocent.object(&[END]);
        let ours = |arg: &mut exec::Execbuffer2| arg.rsvd1 = create.ctx_id.into();
        innocent
            .exec(RENDER, &[(first, 0x30_0000, 0)], ours)
            .unwrap();
        innocent.wait(first);
        let io = rig.platform.io();
        let holds = io.read32(CONTEXT);
        assert_ne!(holds & 1, 0, "{device}: valid");
        // MI_BATCH_BUFFER_START of itself, in the batch's own address space.
        let own = ["sandybridge", "valleyview"].contains(&device);
        let space = if own { 1 << 8 } else { 1 << 7 };
        let long = innocent.object(&[0x31 << 23 | space, 0x54_0000]);
        innocent
            .exec(RENDER, &[(long, 0x54_0000, 0)], ours)
            .unwrap();
        let hangs = guilty.object(&[UNKNOWN, END]);
        guilty
            .exec(flags, &[(hangs, 0x50_0000, 0)], |_| ())
            .unwrap();
        guilty.wait(hangs);
        assert_eq!(rig.device.reset_count(), 1, "{device}");
        assert_eq!(guilty.stats(), (1, 0), "{device}");
        assert_eq!(innocent.busy(long), RENDER_READS, "{device}");
        assert_eq!(io.read32(CONTEXT), holds, "{device}");
        // The engine that was reset goes on: it ends the other one's batch.
        let global = if own { 0 } else { 1 << 22 };
        let words = [0x20 << 23 | global | 2, 0, 0x54_0000, END, END];
        let ends = innocent.object(&words);
        let list = [(long, 0x54_0000, exec::OBJECT_ASYNC), (ends, 0x70_0000, 0)];
        innocent.exec(flags, &list, |_| ()).unwrap();
        innocent.wait(long);
        let mut stats = context::ResetStats {
            ctx_id: create.ctx_id,
            ..Default::default()
        };
        let call = innocent.0.call(context::GET_RESET_STATS, &mut stats);
        assert_eq!(call, Ok(0), "{device}");
        let caught = (stats.batch_active, stats.batch_pending);
        assert_eq!(caught, (0, 0), "{device}: no reset has caught it");
        assert_eq!(rig.device.reset_count(), 1, "{device}");
        drop((guilty, innocent));
        rig.finish_after_fault();
    }
}

/// A reset of all domains catches what runs on the other engine, which runs again and is not to blame.
#[test]
fn a_reset_by_hand_ends_the_oldest_request_of_each_engine() {
    let rig = Rig::on("g45");
    let party = Party::new(&rig);
    let forever = party.object(&[0x31 << 23 | 1 << 7, 0x50_0000]);
    let video = party.object(&[0x31 << 23 | 1 << 7, 0x54_0000]);
    party
        .exec(RENDER, &[(forever, 0x50_0000, 0)], |_| ())
        .unwrap();
    party.exec(BSD, &[(video, 0x54_0000, 0)], |_| ()).unwrap();
    assert_eq!(party.busy(forever), RENDER_READS);
    assert_eq!(party.busy(video), BSD_READS);
    // Both rings are in an error state (i915 `gt_record_engines`), the engine first that it is about.
    let text = rig.device.capture("by hand").text().to_string();
    let engines = text.split(" command stream:\n").collect::<Vec<_>>();
    let [_, render, decoder] = engines.as_slice() else {
        panic!("{text}");
    };
    assert!(engines[0].ends_with("\nrcs0") && render.ends_with("\nvcs0"));
    // START of each is where its ring lies.
    for (engine, name) in [(render, "rcs0"), (decoder, "vcs0")] {
        let start = engine.split("  START: 0x").nth(1).unwrap();
        let ring = format!("\n{name} --- ring = 0x00000000 {}\n", &start[..8]);
        assert!(text.contains(&ring), "{ring}");
        assert!(text.contains(&format!("\n{name} --- batch = ")), "{name}");
    }
    assert!(!decoder.contains("INSTDONE1") && render.contains("INSTDONE1"));
    rig.device.reset().unwrap();
    assert_eq!((party.busy(forever), party.busy(video)), (0, 0));
    assert_eq!(party.stats(), (2, 0));
    drop(party);
    rig.finish_after_fault();
}
