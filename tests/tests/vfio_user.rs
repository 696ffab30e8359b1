//! The driver on a device behind a socket: the same frames, the same bytes.
//!
//! The unchanged driver works by region messages, with its memory in a file of its own; a replay in this process is what
//! its buffers are compared with.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crestline_cli::capture::Capture;
use crestline_cli::debug::Debugger;
use crestline_cli::debug::backend::HostBackend;
use crestline_cli::debug::target::Target;
use crestline_cli::replay::Session;
use crestline_tests::remote::{Remote, Signal};
use crestline_tests::scenes::options;
use driver::{BatchDesc, Driver, Object};
use kernel::platform::Platform;
use kernel::time::Delta;
use vfio::protocol::region;
use vfio::{Options, Server};

/// TIMEOUT: wall time of a frame, on a machine that has other things to do.
const PATIENCE: Delta = Delta::from_secs(120);

/// A server on a thread of its own.
struct Served {
    socket: PathBuf,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<String>>,
    _dir: tempfile::TempDir,
}

impl Served {
    fn new(device: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let socket = dir.path().join("s.sock");
        let options = Options {
            device: mmio_mock::intel::r#gen::find(device).unwrap(),
            socket: socket.clone(),
            trace: None,
        };
        let mut server = Server::start(options).unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            server.run(&stopped, |_| ()).unwrap();
            server.function().report().burndown()
        });
        Served {
            socket,
            stop,
            thread: Some(thread),
            _dir: dir,
        }
    }

    /// The unmodelled registers that were touched.
    fn end(mut self) -> String {
        self.stop.store(true, Ordering::SeqCst);
        self.thread.take().unwrap().join().unwrap()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
    }
}

fn capture(device: &str, scene: &str) -> Capture {
    let path = format!("data/captures/{device}/{scene}/frame.crest");
    Capture::load(&Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

/// Writes what the processor has changed between two submissions; bytes behind the contents are zero.
fn upload(object: &Object, before: &[u8], now: &[u8]) {
    let byte = |bytes: &[u8], at: usize| bytes.get(at).copied().unwrap_or(0);
    let same = |at: usize| byte(before, at) == byte(now, at);
    let len = before.len().max(now.len());
    let mut at = 0;
    while at < len {
        if same(at) {
            at += 1;
            continue;
        }
        let end = (at..len).find(|&i| same(i)).unwrap_or(len);
        let bytes: Vec<u8> = (at..end).map(|i| byte(now, i)).collect();
        object.write(at, &bytes).unwrap();
        at = end;
    }
}

/// Runs a capture on the device behind the socket and in this process; every buffer has the same bytes afterwards.
fn replays_alike(socket: &Path, device: &str, scene: &str, signal: Signal, by_pages: bool) {
    let capture = capture(device, scene);
    let mut local = Session::new(options(&capture), capture.buffer_bytes()).unwrap();
    let remote = Remote::connect(socket, signal, by_pages).unwrap();
    let driver = Driver::probe(Arc::clone(&remote) as Arc<dyn Platform>).unwrap();
    // The clock is the wall's, and the host may have other things to do.
    driver.set_hang_check_period(PATIENCE);
    let mut objects: BTreeMap<u64, (Object, Vec<u8>)> = BTreeMap::new();
    for exec in &capture.execs {
        local.run(exec).unwrap();
        for (object, _) in objects.values() {
            object.unbind();
        }
        for buffer in &exec.buffers {
            let (object, before) = objects.entry(buffer.bo_id).or_insert_with(|| {
                let size = buffer.size as usize;
                let object = driver.create_object(size, buffer.tiling, buffer.stride);
                (object.unwrap(), Vec::new())
            });
            upload(object, before, &buffer.data);
            before.clone_from(&buffer.data);
            driver.bind_at(object, buffer.address).unwrap();
        }
        let (batch, _) = &objects[&exec.buffers[exec.batch].bo_id];
        let request = driver.submit(&BatchDesc {
            object: batch,
            start: exec.batch_start,
            len: exec.batch_len,
        });
        request.unwrap().wait(PATIENCE).unwrap();
        for buffer in &exec.buffers {
            let mut bytes = vec![0; buffer.size as usize];
            objects[&buffer.bo_id].0.read(0, &mut bytes).unwrap();
            assert!(
                local.contents(buffer).unwrap() == bytes,
                "{device} {scene}: {} differs",
                buffer.file
            );
        }
    }
    // A request is seen to be done by its number in memory, too; its interrupt may come later.
    let begun = Instant::now();
    while remote.interrupts.load(Ordering::SeqCst) == 0 {
        assert!(
            begun.elapsed().as_nanos() < u128::from(PATIENCE.as_nanos()),
            "no interrupt came"
        );
        std::thread::sleep(Duration::from_millis(1));
    }
    assert!(driver.error_state().is_none());
    drop(objects);
    driver.remove().unwrap();
    assert_eq!(remote.held_pages(), 0);
    local.finish().unwrap();
}

#[test]
fn a_frame_of_gm965_by_the_pin() {
    let served = Served::new("gm965");
    replays_alike(&served.socket, "gm965", "g_gears", Signal::Pin, false);
    // The next guest finds the device after power-on.
    replays_alike(&served.socket, "gm965", "e_depth", Signal::Pin, false);
    assert_eq!(
        served.end(),
        "",
        "the driver touches no register that is not modelled"
    );
}

#[test]
fn a_frame_of_sandybridge_by_messages_and_pages() {
    let served = Served::new("sandybridge");
    replays_alike(
        &served.socket,
        "sandybridge",
        "c_gouraud",
        Signal::Message,
        true,
    );
    served.end();
}

#[test]
fn a_frame_of_valleyview() {
    let served = Served::new("valleyview");
    replays_alike(&served.socket, "valleyview", "b_flat", Signal::Pin, false);
    served.end();
}

/// Commands of the debugger, each with its answer.
fn answers(debugger: &mut Debugger, commands: &[&str]) -> Vec<String> {
    let each = commands.iter().map(|command| {
        let answer = debugger.execute(command);
        answer.unwrap_or_else(|refusal| panic!("{command}: {}", refusal.0))
    });
    each.collect()
}

/// A pixel's thread of a guest has the registers, the code and the steps that it has in a replay in this process, and the guest notices
/// nothing of it.
#[test]
fn threads_of_guests_stop() {
    for (device, scene, signal, pixel) in [
        ("gm965", "e_depth", Signal::Pin, "120,100"),
        ("sandybridge", "c_gouraud", Signal::Message, "128,128"),
        ("valleyview", "b_flat", Signal::Pin, "128,128"),
    ] {
        let info = mmio_mock::intel::r#gen::find(device).unwrap();
        let at = format!("break pixel {pixel}");
        let commands = [
            &at,
            "run",
            "regs r0 r1 r2 arf",
            "disasm",
            "step",
            "regs r3 r4 r5 r6 r7 r8 r9 r10 r11 r12",
        ];
        let backend = || Arc::new(HostBackend::default());

        let file = format!("data/captures/{device}/{scene}/frame.crest");
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
        let target = Target::capture(file, options(&capture(device, scene))).unwrap();
        let mut debugger = Debugger::new(target, backend(), info, Arc::default()).unwrap();
        let want = answers(&mut debugger, &commands);
        answers(&mut debugger, &["kill"]);
        debugger.conclude();

        let dir = tempfile::tempdir().unwrap();
        let socket = dir.path().join("s.sock");
        let server = Server::start(Options {
            device: info,
            socket: socket.clone(),
            trace: None,
        });
        let target = Target::served(server.unwrap()).unwrap();
        let is_over = Arc::new(AtomicBool::new(false));
        let interrupt = Arc::clone(&is_over);
        let mut debugger = Debugger::new(target, backend(), info, interrupt).unwrap();
        let guest = std::thread::spawn(move || {
            // A machine's firmware resets the device before its driver comes.
            let remote = Remote::connect(&socket, Signal::Pin, false).unwrap();
            remote.client().reset().unwrap();
            drop(remote);
            replays_alike(&socket, device, scene, signal, false);
            is_over.store(true, Ordering::SeqCst);
        });
        let got = answers(&mut debugger, &commands);
        assert!(got[1].contains("breakpoint 1"), "{device}: {}", got[1]);
        assert_eq!(got, want, "{device}");
        answers(&mut debugger, &["delete all", "continue"]);
        guest.join().unwrap();
        answers(&mut debugger, &["kill"]);
        assert_eq!(debugger.conclude(), (0, "2 guests served".to_owned()));
    }
}

/// Through the aperture: pages of the guest that entries of the GTT point at, in pieces of any size.
#[test]
fn the_aperture_shows_the_guest_s_pages() {
    let served = Served::new("gm965");
    let remote = Remote::connect(&served.socket, Signal::Pin, false).unwrap();
    let page = remote.dma().alloc(2).unwrap();
    // i965_pte_encode: address and valid bit; two pages of the guest in the other order.
    for (index, page) in [page + 0x1000, page].into_iter().enumerate() {
        let entry = (page as u32) | 1;
        remote.io().write32(entry, (512 << 10) + 4 * (16 + index));
    }
    let bytes: Vec<u8> = (0..0x2000_u32).map(|i| (i % 251) as u8).collect();
    remote
        .client()
        .write(region::BAR2, 0x1_0000, &bytes)
        .unwrap();
    let mut seen = [0; 16];
    remote.dma().read(page + 0x1000 + 0xff0, &mut seen).unwrap();
    assert_eq!(seen, bytes[0xff0..0x1000]);
    let mut seen = vec![0; 0x1804];
    remote
        .client()
        .read(region::BAR2, 0x1_0400, &mut seen)
        .unwrap();
    assert_eq!(seen, bytes[0x400..0x1c04]);
    remote.dma().write(page + 2, &[0xab]).unwrap();
    assert_eq!(
        remote.client().read32(region::BAR2, 0x1_1000).unwrap() >> 16 & 0xff,
        0xab
    );
    // What no entry maps reads all ones, as a bus does.
    assert_eq!(
        remote.client().read32(region::BAR2, 0x5_0000).unwrap(),
        u32::MAX
    );
    remote.client().write32(region::BAR2, 0x5_0000, 1).unwrap();
    let past = remote.client().read32(region::BAR2, 256 << 20);
    assert_eq!(past.unwrap_err().raw_os_error(), Some(22));
    served.end();
}

/// i915 intel_reset.c `g4x_do_reset`: GDRST at C0h of configuration space; a reset by the VMM, and one by a new guest.
#[test]
fn resets_of_all_kinds() {
    let served = Served::new("gm965");
    let remote = Remote::connect(&served.socket, Signal::Pin, false).unwrap();
    let hws = 0x2080;
    let write = |value| remote.io().write32(value, hws);
    let read = || remote.io().read32(hws);
    write(0x1000);
    assert_eq!(read(), 0x1000);
    remote.config().write8(0x01, 0xc0);
    assert_eq!(read(), 0, "the device's own reset");
    assert_eq!(remote.config().read8(0xc0) & 3, 2, "it is over");
    write(0x2000);
    remote.config().write16(0x0006, 4);
    remote.io().write32(0x1001, 512 << 10);
    remote.client().reset().unwrap();
    assert_eq!((read(), remote.config().read16(4)), (0, 0));
    assert_eq!(remote.io().read32(512 << 10), 0, "an entry of the GTT");
    write(0x3000);
    drop(remote);
    let remote = Remote::connect(&served.socket, Signal::Pin, false).unwrap();
    assert_eq!(remote.io().read32(hws), 0);
    served.end();
}
