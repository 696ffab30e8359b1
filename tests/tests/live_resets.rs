//! The driver on the model: one client hangs, others go on; what error files say.
//!
//! Behaviour of i915 (`intel_reset.c`, `i915_gpu_error.c`); names of commands and registers are those that
//! `intel_error_decode` of intel-gpu-tools prints.

use std::io::Write;
use std::process::{Command, Stdio};

use crate::client::Client;
use crestline_cli::frame_map::FrameMap;
use crestline_cli::replay::{Options, Session};
use crestline_tests::rig::Rig;
use crestline_tests::scenes::{capture, capture_of, options};
use driver::uapi::{context, exec, gem};
use driver::{File, Node};
use kernel::error::code::EIO;
use kernel::time::Delta;

const END: u32 = 0x0a << 23;
const STORE_DWORD: u32 = 0x20 << 23 | 1 << 22 | 2;
const UNKNOWN: u32 = 0x7fff_0000;
const RECOVERABLE: u64 = 8;

struct Party {
    client: Client,
    context: u32,
}

impl Party {
    fn new(rig: &Rig, recoverable: bool) -> Self {
        let client = Client::new(File::open(&rig.device, Node::Render));
        let mut create = context::CreateExt::default();
        client.call(context::CREATE_EXT, &mut create).unwrap();
        let mut param = context::Param {
            ctx_id: create.ctx_id,
            param: RECOVERABLE,
            value: u64::from(recoverable),
            ..Default::default()
        };
        client.call(context::SETPARAM, &mut param).unwrap();
        Party {
            client,
            context: create.ctx_id,
        }
    }

    fn object(&self, dwords: &[u32]) -> u32 {
        let mut create = gem::Create {
            size: 4096,
            ..Default::default()
        };
        self.client.call(gem::CREATE, &mut create).unwrap();
        let bytes: Vec<u8> = dwords.iter().flat_map(|d| d.to_le_bytes()).collect();
        if !bytes.is_empty() {
            self.client.pwrite(create.handle, &bytes);
        }
        create.handle
    }

    /// Runs a batch on an object that is pinned to an address; both are pinned.
    fn run(&self, data: (u32, u64), batch: (u32, u64)) -> kernel::error::Result<i32> {
        let entry = |(handle, offset): (u32, u64), flags| exec::Object {
            handle,
            offset,
            flags: exec::OBJECT_PINNED | flags,
            ..Default::default()
        };
        let list = [
            entry(data, exec::OBJECT_WRITE),
            entry(batch, exec::OBJECT_CAPTURE),
        ];
        let mut arg = exec::Execbuffer2 {
            buffers_ptr: self.client.place(&list),
            buffer_count: 2,
            flags: exec::RENDER | exec::NO_RELOC,
            rsvd1: self.context.into(),
            ..Default::default()
        };
        self.client.call(exec::EXECBUFFER2_WR, &mut arg)
    }

    fn wait(&self, handle: u32) -> kernel::error::Result<i32> {
        let mut wait = gem::Wait {
            bo_handle: handle,
            timeout_ns: -1,
            ..Default::default()
        };
        self.client.call(gem::WAIT, &mut wait)
    }

    /// Runs requests that take no time, so that further ones of the program are queued beside those of others.
    fn prove_quick(&self) {
        let (data, batch) = (self.object(&[]), self.object(&[END, 0]));
        for _ in 0..4 {
            self.run((data, 0x60_0000), (batch, 0x61_0000)).unwrap();
            assert_eq!(self.wait(batch), Ok(0));
        }
    }

    /// Guilty, then innocent.
    fn stats(&self) -> (u32, u32) {
        let mut stats = context::ResetStats {
            ctx_id: self.context,
            ..Default::default()
        };
        self.client
            .call(context::GET_RESET_STATS, &mut stats)
            .unwrap();
        (stats.batch_active, stats.batch_pending)
    }

    fn dwords(&self, handle: u32, count: usize) -> Vec<u32> {
        let bytes = self.client.pread(handle, count * 4);
        let words = bytes
            .chunks(4)
            .map(|b| u32::from_le_bytes(b.try_into().unwrap()));
        words.collect()
    }
}

fn store(address: u32, value: u32) -> Vec<u32> {
    vec![STORE_DWORD, 0, address, value]
}

#[test]
fn batches_behind_a_hang_of_somebody_else_run() {
    let rig = Rig::new();
    let (guilty, innocent) = (Party::new(&rig, false), Party::new(&rig, true));
    let hanging = guilty.object(&[0, UNKNOWN, END, 0]);
    let mine = guilty.object(&[]);
    let lost = guilty.object(&[store(0x20_0000, 1), vec![END, 0]].concat());
    let yours = innocent.object(&[]);
    let first = innocent.object(&[store(0x40_0000, 7), vec![END, 0]].concat());
    let second =
        innocent.object(&[store(0x40_0000, 8), store(0x40_0004, 9), vec![END, 0]].concat());
    for party in [&guilty, &innocent] {
        party.prove_quick();
    }
    guilty.run((mine, 0x20_0000), (hanging, 0x21_0000)).unwrap();
    innocent
        .run((yours, 0x40_0000), (first, 0x41_0000))
        .unwrap();
    guilty.run((mine, 0x20_0000), (lost, 0x22_0000)).unwrap();
    innocent
        .run((yours, 0x40_0000), (second, 0x42_0000))
        .unwrap();
    // Waiting itself succeeds, whatever becomes of the request.
    assert_eq!(guilty.wait(hanging), Ok(0));
    assert_eq!(innocent.wait(yours), Ok(0));
    assert_eq!(innocent.dwords(yours, 2), [8, 9]);
    assert_eq!(guilty.wait(mine), Ok(0));
    assert_eq!(guilty.dwords(mine, 1), [0], "banned");
    assert_eq!((guilty.stats(), innocent.stats()), ((1, 0), (0, 2)));
    assert_eq!(rig.device.reset_count(), 1);
    assert_eq!(guilty.run((mine, 0x20_0000), (lost, 0x22_0000)), Err(EIO));
    innocent
        .run((yours, 0x40_0000), (first, 0x41_0000))
        .unwrap();
    assert_eq!(innocent.wait(yours), Ok(0));
    assert_eq!(innocent.dwords(yours, 2), [7, 9]);

    let text = rig.device.error_text().unwrap();
    assert!(text.contains("in unknown [0]\n"));
    assert!(text.contains("\nrcs0 --- user = 0x00000000 00210000\n"));
    assert!(text.contains("\nrcs0 --- HW context = 0x00000000 "));
    drop((guilty, innocent));
    rig.finish_after_fault();
}

#[test]
fn hangs_are_found_while_nobody_waits() {
    let rig = Rig::new();
    let party = Party::new(&rig, true);
    let (data, batch) = (party.object(&[]), party.object(&[UNKNOWN, END]));
    party.run((data, 0x20_0000), (batch, 0x21_0000)).unwrap();
    for _ in 0..70 {
        rig.device.watch();
        kernel::platform::Platform::clock(&*rig.platform).relax(Delta::from_millis(100));
    }
    assert_eq!((rig.device.reset_count(), party.stats()), (1, (1, 0)));
    drop(party);
    rig.finish_after_fault();
}

/// What a program makes of a text, when it is installed.
fn through(program: &str, text: &str) -> Option<String> {
    let spawned = Command::new(program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let Ok(mut child) = spawned else {
        println!("skipped: {program} is not installed");
        return None;
    };
    let mut input = child.stdin.take().unwrap();
    let text = text.to_owned();
    let writer = std::thread::spawn(move || input.write_all(text.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// `jmpi -1` of intel-gen4asm, which counts from the instruction behind: an endless loop.
const JMPI_SELF: [u32; 4] = [0x0000_0020, 0x3400_1c00, 0x0000_1400, 0xffff_ffff];

#[test]
fn the_error_file_of_a_hanging_kernel_is_readable() {
    // crocus's decode of the scene: the pixel shader of the second draw is at 001040c0h, in buffer 3 at 00104000h.
    let mut capture = capture("b_flat");
    let cache = &mut capture.execs[0].buffers[3];
    for (i, word) in JMPI_SELF.iter().enumerate() {
        cache.data[0xc0 + i * 4..][..4].copy_from_slice(&word.to_le_bytes());
    }
    let options = Options {
        timeout: Delta::from_millis(5),
        ..options(&capture)
    };
    let mut session = Session::new(options, capture.buffer_bytes()).unwrap();
    assert!(session.run(&capture.execs[0]).is_err());
    let text = session.device().error_text().unwrap();
    session.device().reset().unwrap();
    session.finish().unwrap();

    // The structure, without any tool.
    let lines: Vec<&str> = text.lines().collect();
    let expected = include_str!("live_resets/structure.txt");
    let mut at = 0;
    for wanted in expected.lines().filter(|line| !line.starts_with('#')) {
        let found = lines[at..].iter().position(|line| line.starts_with(wanted));
        at += found.unwrap_or_else(|| panic!("no {wanted:?} behind {:?}", lines[at])) + 1;
    }
    let Some(decoded) = through("intel_error_decode", &text) else {
        return;
    };
    for wanted in [
        "Detected GEN4 chipset",
        "    busy: Windowizer",
        "    len=16384, enabled",
        "    at batch: 0x0010b",
        "batch (rcs0) at 0x00000000_0010b000",
        "ring (rcs0) at 0x00000000_",
        "3DSTATE_PIPELINED_POINTERS",
        "STATE_BASE_ADDRESS",
        "3DPRIMITIVE: ",
        "MI_BATCH_BUFFER_START",
        "MI_USER_INTERRUPT",
    ] {
        assert!(decoded.contains(wanted), "{wanted}\n{decoded}");
    }
}

/// A domain shader that does not end, on ValleyView: `jmpi` counts half instructions there (Mesa `brw_jump_scale`).
#[test]
fn the_error_file_of_a_hanging_domain_shader_is_readable() {
    let mut capture = capture_of("valleyview", "tessquad");
    let map = FrameMap::of(&capture, options(&capture)).unwrap();
    let draw = map
        .draws()
        .iter()
        .find(|draw| draw.kernels.ds.is_some())
        .unwrap();
    let at = draw.state.kernel_base + draw.kernels.ds.unwrap();
    let exec = draw.exec;
    let (buffer, offset) = capture.execs[exec].find(at).unwrap();
    let code = &mut capture.execs[exec].buffers[buffer].data[offset as usize..];
    let [a, b, c, _] = JMPI_SELF;
    for (i, word) in [a, b, c, 0xffff_fffe].iter().enumerate() {
        code[i * 4..][..4].copy_from_slice(&word.to_le_bytes());
    }
    let options = Options {
        timeout: Delta::from_millis(5),
        ..options(&capture)
    };
    let mut session = Session::new(options, capture.buffer_bytes()).unwrap();
    let ran: Vec<_> = capture
        .execs
        .iter()
        .map(|exec| session.run(exec).is_ok())
        .collect();
    assert!(!ran[exec]);
    let text = session.device().error_text().unwrap();
    session.device().reset().unwrap();
    session.finish().unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let expected = include_str!("live_resets/valleyview.txt");
    let mut from = 0;
    for wanted in expected.lines().filter(|line| !line.starts_with('#')) {
        let found = lines[from..]
            .iter()
            .position(|line| line.starts_with(wanted));
        from += found.unwrap_or_else(|| panic!("no {wanted:?} behind {:?}", lines[from])) + 1;
    }
    // The kernel that does not end is the domain shader.
    let own = format!(
        "  DS kernel at 0x{at:08x}:\n    0x{at:08x}: 00000020 34001c00 00001400 fffffffe  jmpi"
    );
    assert!(text.contains(&own), "{own}\n{text}");
    // The batch is the client's, where the parser is, and has all of its commands.
    let batch = &capture.execs[exec].buffers[capture.execs[exec].batch];
    let start = batch.address;
    for line in [
        format!("  batch: [0x00000000_{start:08x}, 0x"),
        format!("\nrcs0 --- batch = 0x00000000 {start:08x}\n"),
    ] {
        assert!(text.contains(&line), "{line}\n{text}");
    }
    let acthd = lines
        .iter()
        .find_map(|line| line.strip_prefix("  ACTHD: 0x"));
    let acthd = u64::from_str_radix(&acthd.unwrap()[..8], 16).unwrap();
    assert!((start.into()..batch.end()).contains(&acthd), "{acthd:#x}");
    let Some(decoded) = through("intel_error_decode", &text) else {
        return;
    };
    for wanted in [
        "Detected GEN7 chipset",
        "    len=16384, enabled",
        "    at batch: 0x",
        "HW status (rcs0) at 0x00000000_",
        "ring (rcs0) at 0x00000000_",
        "3DSTATE_VS",
        "3DSTATE_HS",
        "3DSTATE_TE",
        "3DSTATE_DS",
        "3DSTATE_STREAMOUT",
        "3DSTATE_PS",
        "STATE_BASE_ADDRESS",
        "3DPRIMITIVE",
        "MI_BATCH_BUFFER_START",
        "MI_USER_INTERRUPT",
    ] {
        assert!(decoded.contains(wanted), "{wanted}\n{decoded}");
    }
    let batch = format!("batch (rcs0) at 0x00000000_{start:08x}");
    assert!(decoded.contains(&batch), "{batch}\n{decoded}");
}
