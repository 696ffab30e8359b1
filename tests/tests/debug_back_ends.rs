//! Both back ends of the debugger: memory that media threads and blits change.
//!
//! PRM: volume 4, 3.5, 3.6; volume 1 (blitter). Captured frames, whose threads run one after the other, are with
//! the program's tests. Not covered: live programs.

use std::sync::Arc;

use crestline_cli::debug::Held;
use crestline_cli::debug::backend::{Backend, Going, HostBackend, Reason, RegistersBackend, Spec};
use crestline_cli::debug::target::Reach;
use crestline_tests::media::{self, OUT, WRITE};
use crestline_tests::rig::Rig;
use driver::Request;
use kernel::platform::Platform as _;
use kernel::time::Delta;
use mmio_mock::intel::debug::host::ThreadKey;
use mmio_mock::intel::status::Unit;

/// Lets a request run to its end with every stop on the way.
fn stops(
    backend: &dyn Backend,
    (rig, request): (&Rig, &Request),
    mut look: impl FnMut(Option<ThreadKey>),
) -> Vec<(Option<ThreadKey>, Reason)> {
    let mut seen = Vec::new();
    for _ in 0..200_000 {
        rig.platform.clock().relax(Delta::from_micros(1));
        if backend.held() == Held::Yes {
            let stop = backend.stopped().unwrap();
            let key = stop.thread.map(|(key, _)| key);
            look(key);
            seen.push((key, stop.reason));
            backend.go(None, Going::Continue).unwrap();
        } else if request.is_complete() {
            return seen;
        }
    }
    panic!("no end: {seen:?}");
}

fn back_ends() -> [Box<dyn Backend>; 2] {
    [
        Box::new(HostBackend::default()),
        Box::new(RegistersBackend::default()),
    ]
}

fn attach(backend: &dyn Backend, rig: &Rig) {
    let reach = Reach::Model(Arc::clone(&rig.platform));
    backend.attach(&reach, Some(&rig.device)).unwrap();
}

/// Many threads at once: each change is the thread's that has made it.
#[test]
fn threads_that_write_are_known() {
    const THREADS: u32 = 12;
    for backend in back_ends() {
        let rig = Rig::new();
        let out = rig.object(OUT, 4096, &[]);
        attach(&*backend, &rig);
        backend.add(1, Spec::Memory(OUT, 4096)).unwrap();
        let (object, request) = media::submit(&rig, WRITE, THREADS, THREADS);
        let seen = stops(&*backend, (&rig, &request), |key| {
            let number = key.unwrap().ordinal as u32;
            let word = |n: u32| out.read32(n as usize * 16).unwrap();
            assert_eq!(word(number), number, "{}", backend.name());
        });
        let mut seen: Vec<_> = seen
            .into_iter()
            .map(|(key, why)| (key.unwrap(), why))
            .collect();
        seen.sort_by_key(|(key, _)| *key);
        // The first writes the zeros that are there.
        let unit = Unit::Media;
        let expected: Vec<_> = (1..u64::from(THREADS))
            .map(|ordinal| (ThreadKey { unit, ordinal }, Reason::Break(1)))
            .collect();
        assert_eq!(seen, expected, "{}", backend.name());
        backend.detach(&mut || {});
        drop((request, object, out, backend));
        rig.finish();
    }
}

/// A blit is no thread's.
#[test]
fn what_the_blitter_changes_is_nobody_s() {
    for backend in back_ends() {
        let rig = Rig::new();
        let out = rig.object(OUT, 4096, &[]);
        attach(&*backend, &rig);
        backend.add(7, Spec::Memory(OUT + 8, 4)).unwrap();
        // XY_COLOR_BLT: 4x1 pixels of 32 bits (i915 gt/intel_gpu_commands.h), then the end of the batch.
        let batch = rig.object(
            media::BATCH,
            4096,
            &[
                2 << 29 | 0x50 << 22 | 3 << 20 | 4,
                3 << 24 | 0xf0 << 16 | 512,
                0,
                1 << 16 | 4,
                OUT,
                0x1234_5678,
                0x0a << 23,
                0,
            ],
        );
        let request = rig.submit(&batch);
        let seen = stops(&*backend, (&rig, &request), |_| {});
        assert_eq!(seen, [(None, Reason::Break(7))], "{}", backend.name());
        assert_eq!(out.read32(8).unwrap(), 0x1234_5678);
        backend.detach(&mut || {});
        drop((request, batch, out, backend));
        rig.finish();
    }
}
