//! The driver's debugger in batches that change the base of instructions.
//!
//! PRM: volume 2 (STATE_BASE_ADDRESS, STATE_SIP); volume 4, 3.5; on Ironlake, Mesa's genxml (gen5). Not covered:
//! captured frames (debug_frames.rs).

use std::collections::BTreeMap;
use std::sync::Arc;

use crestline_tests::media::{self, BATCH, OUT, WRITE_LATER};
use crestline_tests::rig::{Rig, SHORT};
use driver::debug::{DebugSession, HaltMatch, HaltedThread, Threads, Which};
use driver::uapi::{context, exec, gem};
use driver::{BatchDesc, Device, Driver, File, Node, Object, Request};
use kernel::error::code::ENOSPC;
use kernel::platform::Platform;
use kernel::time::Delta;
use mmio_mock::ModelPlatform;
use ringbuf::media::Media as _;

use crate::client::Client;

/// Device time in which threads halt.
const LONG: Delta = Delta::from_millis(20);
/// Where the commands of a test lie.
const COMMANDS: u32 = 0x0030_0000;
/// Where batches go on.
const CHAINED: u32 = 0x0034_0000;
/// Bases at which what lies at [`BATCH`] lies again.
const BASES: [u32; 3] = [0, 0x0060_0000, 0x0090_1000];
/// Threads under each base.
const EACH: u32 = 4;
const END: [u32; 2] = [0x0500_0000, 0];

/// Version of the tables by the name of a device.
const DEVICES: [(&str, u8); 3] = [("gm965", 40), ("g45", 45), ("ironlake", 50)];

/// MI_FLUSH and a STATE_BASE_ADDRESS that moves the base of kernels, with an upper bound right behind them; on Ironlake
/// the general base stays.
fn set_base(version: u8, base: u32) -> Vec<u32> {
    let bound = base + BATCH + 0x0008_0000;
    let mut out = vec![0x0200_0000 | 1 << 1];
    if version == 50 {
        out.extend([0x6101_0006, 0, 0, 0, base | 1, 0, 0, bound | 1]);
    } else {
        out.extend([0x6101_0004, base | 1, 0, 0, bound | 1, 0]);
    }
    out
}

/// A device with kernel and state at every base.
struct Bench {
    rig: Rig,
    out: Object,
    copies: Vec<Object>,
    /// The commands that come before the threads.
    begin: Vec<u32>,
    /// The commands of each thread.
    threads: Vec<Vec<u32>>,
}

/// A batch of threads that write, as it lies at [`BATCH`]: all of it, the commands before the threads, those of each
/// thread.
fn parts(version: u8, count: u32) -> (Vec<u32>, Vec<u32>, Vec<Vec<u32>>) {
    let (dwords, commands) = media::build(version, WRITE_LATER, count, |batch, _| {
        for number in 0..count {
            batch.object(media::ops(version), 0, &[number]).unwrap();
        }
    });
    let commands = &dwords[..commands as usize / 4];
    // MEDIA_OBJECT.
    let starts = commands.iter().enumerate();
    let starts: Vec<usize> = starts
        .filter(|(_, word)| **word >> 16 == 0x7100)
        .map(|(at, _)| at)
        .collect();
    assert_eq!(starts.len(), count as usize);
    let len = starts[1] - starts[0];
    let threads = starts.iter().map(|at| commands[*at..at + len].to_vec());
    let (begin, threads) = (commands[..starts[0]].to_vec(), threads.collect());
    (dwords, begin, threads)
}

impl Bench {
    fn new(device: &str, version: u8) -> Self {
        let rig = Rig::on(device);
        let (dwords, begin, threads) = parts(version, EACH * BASES.len() as u32);
        let copy = |base: &u32| rig.object(base + BATCH, dwords.len() * 4, &dwords);
        Bench {
            begin,
            threads,
            copies: BASES.iter().map(copy).collect(),
            out: rig.object(OUT, 4096, &[]),
            rig,
        }
    }

    /// Threads of one of the bases.
    fn some(&self, base: usize) -> Vec<u32> {
        self.threads[base * EACH as usize..][..EACH as usize].concat()
    }

    fn object(&self, at: u32, dwords: &[u32]) -> Object {
        self.rig.object(at, dwords.len() * 4, dwords)
    }

    fn submit(&self, batch: &Object) -> kernel::error::Result<Request> {
        self.rig.device.submit(&BatchDesc {
            object: batch,
            start: 0,
            len: batch.size() as u32,
        })
    }

    /// All threads of a request that halt: number by number, the base that each says it has. Each is stepped twice.
    fn halts(session: &DebugSession, request: &Request) -> BTreeMap<u32, u32> {
        let mut seen = BTreeMap::new();
        while let Ok(threads) = session.wait(LONG) {
            for thread in threads {
                let number = Self::check(session, &thread);
                seen.insert(number, thread.origin.instructions);
                let (_, left) = session.step_many(&thread, 2, LONG).unwrap();
                left.unwrap().resume().unwrap();
            }
        }
        request.wait(SHORT).expect("the batch ends");
        seen
    }

    /// The number of a thread, which stands at its first instruction.
    fn check(session: &DebugSession, thread: &HaltedThread) -> u32 {
        let address = thread.address().unwrap();
        assert_eq!(address, thread.origin.instructions + thread.ip);
        let mut first = [0; 4];
        session.read_memory(address, &mut first).unwrap();
        // mov is opcode 1 (PRM vol4 11).
        assert_eq!(first[0] & 0x7f, 1, "{thread:?}");
        assert_eq!(thread.instruction().unwrap()[0], u32::from_le_bytes(first));
        thread.read_registers().unwrap().grf[1][0]
    }

    /// Ends the test; every thread has written its number.
    fn finish(self, objects: impl IntoIterator<Item = Object>) {
        for number in 0..self.threads.len() as u32 {
            assert_eq!(self.out.read32(number as usize * 16).unwrap(), number);
        }
        self.leave(objects);
    }

    fn leave(self, objects: impl IntoIterator<Item = Object>) {
        drop(objects.into_iter().collect::<Vec<_>>());
        drop((self.out, self.copies));
        self.rig.finish();
    }
}

/// What every thread has to say.
fn expected() -> BTreeMap<u32, u32> {
    let of = |number| (number, BASES[(number / EACH) as usize]);
    (0..EACH * BASES.len() as u32).map(of).collect()
}

#[test]
fn threads_halt_under_each_base_of_a_batch() {
    for (device, version) in DEVICES {
        let bench = Bench::new(device, version);
        let mut commands = bench.begin.clone();
        commands.extend(bench.some(0));
        for base in [1, 2] {
            commands.extend(set_base(version, BASES[base]));
            commands.extend(bench.some(base));
        }
        commands.extend(END);
        let batch = bench.object(COMMANDS, &commands);
        let session = bench.rig.device.debug().unwrap();
        session.halt_on_match(Some(HaltMatch::default()));
        let request = bench.submit(&batch).unwrap();
        let seen = Bench::halts(&session, &request);
        assert_eq!(seen, expected(), "{device}");
        // What the client wrote is there again.
        session.halted().unwrap();
        for (at, dword) in commands.iter().enumerate() {
            assert_eq!(batch.read32(at * 4).unwrap(), *dword, "{device}");
        }
        drop((session, request));
        bench.finish([batch]);
    }
}

/// An address breakpoint is at one of the copies, so it stops the threads of one base.
#[test]
fn an_address_belongs_to_one_base() {
    for (device, version) in DEVICES {
        let bench = Bench::new(device, version);
        let mut commands = bench.begin.clone();
        for base in [1, 0, 2] {
            commands.extend(set_base(version, BASES[base]));
            commands.extend(bench.some(base));
        }
        commands.extend(END);
        let batch = bench.object(COMMANDS, &commands);
        let session = bench.rig.device.debug().unwrap();
        session.halt_next();
        session.set_threads(Threads::All);
        let request = bench.submit(&batch).unwrap();
        let first = session.wait(LONG).unwrap().remove(0);
        assert_eq!(first.origin.instructions, BASES[1], "{device}");
        let second = first.ip + 16;
        for (which, base) in [(Which::First, 2), (Which::Second, 0)] {
            let address = Some(BASES[base] + second);
            session.set_address_breakpoint(which, address).unwrap();
        }
        first.resume().unwrap();
        let mut seen = Vec::new();
        while let Ok(threads) = session.wait(LONG) {
            for thread in threads {
                assert!(
                    thread.reason.breakpoint && thread.ip == second,
                    "{thread:?}"
                );
                seen.push(thread.origin.instructions);
                thread.resume().unwrap();
            }
        }
        request.wait(SHORT).expect("the batch ends");
        seen.sort_unstable();
        let each = EACH as usize;
        let all = [vec![BASES[0]; each], vec![BASES[2]; each]].concat();
        assert_eq!(seen, all, "{device}");
        drop((session, request, first));
        bench.finish([batch]);
    }
}

/// The base changes in a batch that another one goes on with.
#[test]
fn chained_batches_change_the_base() {
    for (device, version) in DEVICES {
        let bench = Bench::new(device, version);
        let mut commands = bench.begin.clone();
        commands.extend(bench.some(0));
        // MI_BATCH_BUFFER_START.
        commands.extend([0x1880_0180, CHAINED]);
        let mut rest = Vec::new();
        for base in [1, 2] {
            rest.extend(set_base(version, BASES[base]));
            rest.extend(bench.some(base));
        }
        rest.extend(END);
        let batch = bench.object(COMMANDS, &commands);
        let chained = bench.object(CHAINED, &rest);
        let session = bench.rig.device.debug().unwrap();
        session.halt_on_match(Some(HaltMatch::default()));
        let request = bench.submit(&batch).unwrap();
        assert_eq!(Bench::halts(&session, &request), expected(), "{device}");
        drop((session, request));
        bench.finish([batch, chained]);
    }
}

/// A base that a batch has set is still there in the next one, with other batches and other sessions in between.
#[test]
fn a_base_stays_for_the_batches_behind() {
    for (device, version) in DEVICES {
        let bench = Bench::new(device, version);
        let mut objects = Vec::new();
        let mut seen = BTreeMap::new();
        let session = bench.rig.device.debug().unwrap();
        session.halt_on_match(Some(HaltMatch::default()));
        for (n, base) in [0, 1, 2].into_iter().enumerate() {
            // The base alone, then the threads.
            let mut first = if n == 0 {
                bench.begin.clone()
            } else {
                Vec::new()
            };
            if n > 0 {
                first.extend(set_base(version, BASES[base]));
            }
            first.extend(END);
            let second = [bench.some(base), END.to_vec()].concat();
            let at = COMMANDS + n as u32 * 0x2_0000;
            for (at, commands) in [(at, first), (at + 0x1_0000, second)] {
                let batch = bench.object(at, &commands);
                let request = bench.submit(&batch).unwrap();
                seen.append(&mut Bench::halts(&session, &request));
                objects.push(batch);
            }
        }
        assert_eq!(seen, expected(), "{device}");
        drop(session);
        bench.finish(objects);
    }
}

/// Bases with no common offset: the submission is refused, and the next one runs.
#[test]
fn bases_without_a_common_offset_are_refused() {
    // The tables have 512 MiB and 2 GiB.
    const FAR: u32 = 0x8000_0000;
    for (device, version) in DEVICES {
        let bench = Bench::new(device, version);
        let mut commands = bench.begin.clone();
        commands.extend(bench.some(0));
        commands.extend(set_base(version, FAR));
        commands.extend(bench.some(1));
        commands.extend(END);
        let mut many = bench.begin.clone();
        for base in 0..100 {
            many.extend(set_base(version, base << 12));
            many.extend(bench.some(1));
        }
        many.extend(END);
        let session = bench.rig.device.debug().unwrap();
        let far = bench.object(COMMANDS, &commands);
        let many = bench.object(CHAINED, &many);
        for batch in [&far, &many] {
            assert_eq!(bench.submit(batch).err(), Some(ENOSPC), "{device}");
        }
        // What it has is as the client wrote it.
        for (at, dword) in commands.iter().enumerate() {
            assert_eq!(far.read32(at * 4).unwrap(), *dword, "{device}");
        }
        let good = [bench.begin.clone(), bench.some(0), END.to_vec()].concat();
        let good = bench.object(COMMANDS + 0x1_0000, &good);
        session.halt_on_match(Some(HaltMatch::default()));
        let request = bench.submit(&good).unwrap();
        assert_eq!(Bench::halts(&session, &request).len(), EACH as usize);
        drop((session, request));
        bench.leave([far, many, good]);
    }
}

/// On Ironlake the general base may change alone, which one copy of the routine cannot follow.
#[test]
fn two_general_bases_with_one_of_instructions_are_refused() {
    let bench = Bench::new("ironlake", 50);
    let mut commands = bench.begin.clone();
    commands.extend(bench.some(0));
    commands.extend([0x6101_0006, BASES[1] | 1, 0, 0, 0, 0, 0, 0]);
    commands.extend(bench.some(1));
    commands.extend(END);
    let batch = bench.object(COMMANDS, &commands);
    let session = bench.rig.device.debug().unwrap();
    assert_eq!(bench.submit(&batch).err(), Some(ENOSPC));
    drop(session);
    bench.leave([batch]);
}

/// A process with an object for each of the bench's, at the same addresses.
struct Process {
    client: Client,
    context: u32,
    list: Vec<exec::Object>,
}

impl Process {
    fn new(device: &Device, context: u32, objects: &[(u32, Vec<u32>)]) -> Self {
        let client = Client::new(File::open(device, Node::Render));
        for _ in 0..context {
            let mut arg = context::Create::default();
            client.call(context::CREATE, &mut arg).unwrap();
        }
        let create = |(address, dwords): &(u32, Vec<u32>)| {
            let bytes: Vec<u8> = dwords.iter().flat_map(|d| d.to_le_bytes()).collect();
            let mut arg = gem::Create {
                size: bytes.len().next_multiple_of(4096) as u64,
                ..Default::default()
            };
            client.call(gem::CREATE, &mut arg).unwrap();
            client.pwrite(arg.handle, &bytes);
            exec::Object {
                handle: arg.handle,
                offset: u64::from(*address),
                flags: exec::OBJECT_PINNED,
                ..Default::default()
            }
        };
        Process {
            list: objects.iter().map(create).collect(),
            client,
            context,
        }
    }

    /// Submits the object of this number, with all others before it in the list.
    fn submit(&self, batch: usize) {
        let mut list = self.list.clone();
        let last = list.remove(batch);
        list.push(last);
        let mut arg = exec::Execbuffer2 {
            buffers_ptr: self.client.place(&list),
            buffer_count: list.len() as u32,
            batch_len: 4096,
            flags: exec::NO_RELOC,
            rsvd1: self.context.into(),
            ..Default::default()
        };
        self.client.call(exec::EXECBUFFER2, &mut arg).unwrap();
    }
}

/// Contexts take turns: each keeps the base that it has set.
#[test]
fn every_context_has_its_bases() {
    for (device, version) in DEVICES {
        let info = mmio_mock::intel::r#gen::find(device).unwrap();
        let platform = ModelPlatform::new(info, 64 << 20);
        let device = Driver::probe(Arc::clone(&platform) as Arc<dyn Platform>).unwrap();
        let count = EACH * BASES.len() as u32;
        let (state, begin, threads) = parts(version, count);
        let some = |base: usize| threads[base * EACH as usize..][..EACH as usize].concat();
        let session = device.debug().unwrap();
        session.halt_on_match(Some(HaltMatch::default()));
        let processes = [1, 2].map(|base: usize| {
            let first = [begin.clone(), set_base(version, BASES[base]), END.to_vec()].concat();
            let second = [some(base), END.to_vec()].concat();
            let shift = base as u32 * 0x1_0000;
            let objects = [
                (BATCH, state.clone()),
                (BASES[base] + BATCH, state.clone()),
                (OUT, vec![0; 1024]),
                (COMMANDS + shift, first),
                (CHAINED + shift, second),
            ];
            Process::new(&device, base as u32 - 1, &objects)
        });
        // Both set their bases; then the one and the other starts threads, the base of the other having been set last.
        for process in &processes {
            process.submit(3);
            device.wait_idle(SHORT).unwrap();
        }
        for (process, base) in processes.iter().zip([1, 2]) {
            process.submit(4);
            let mut seen = Vec::new();
            while let Ok(halted) = session.wait(LONG) {
                for thread in halted {
                    seen.push(thread.origin.instructions);
                    thread.resume().unwrap();
                }
            }
            assert_eq!(seen, [BASES[base]; EACH as usize], "{version}");
            device.wait_idle(SHORT).unwrap();
            let out = process.client.pread(process.list[2].handle, 4096);
            for number in base * EACH as usize..(base + 1) * EACH as usize {
                assert_eq!(out[number * 16], number as u8, "{version}");
            }
        }
        drop((session, processes));
        assert!(device.error_state().is_none());
        device.remove().unwrap();
    }
}
