//! Traces as JSON lines and as Chrome's trace events.
//!
//! Expectations: the device's own counters, and Google's "Trace Event Format" (what each phase needs).

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::{Arc, Mutex};

use crestline_cli::capture::Capture;
use crestline_cli::replay::{Report, Session};
use crestline_cli::trace::{Format, stream};
use crestline_tests::rig::Rig;
use crestline_tests::scenes::{SCENES, capture, capture_of, options};
use driver::Tiling;
use mmio_mock::intel::shared::FUNCTIONS;
use mmio_mock::intel::status::Unit;
use mmio_mock::intel::trace::{Event, Sink, Trace};
use serde_json::Value;

/// A file in memory.
#[derive(Clone, Default)]
struct Memory(Arc<Mutex<Vec<u8>>>);

impl Write for Memory {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// The trace of a capture, what the device counted, and messages by function ID.
fn traced(capture: &Capture, format: Format) -> (String, Report, [u64; FUNCTIONS]) {
    let memory = Memory::default();
    let options = options(capture);
    let out = Box::new(memory.clone());
    let (trace, file) = stream(format, options.device, out).unwrap();
    let mut session = Session::with_trace(options, capture.buffer_bytes(), trace).unwrap();
    for exec in &capture.execs {
        session.run(exec).unwrap();
    }
    let report = session.report();
    let messages = session.platform().device().messages();
    session.platform().device().set_trace(Trace::default());
    session.finish().unwrap();
    assert!(file.finish().unwrap() > 0);
    let bytes = memory.0.lock().unwrap().clone();
    (String::from_utf8(bytes).unwrap(), report, messages)
}

/// The lines of a trace; of the register writes, of which a driver that starts makes half a million, the first ones.
fn lines(text: &str) -> Vec<Value> {
    assert!(text.ends_with('\n'));
    let mut registers = 0;
    let wanted = text.lines().filter(|line| {
        registers += u32::from(line.contains("\"mmio\""));
        registers < 5000 || !line.contains("\"mmio\"")
    });
    wanted
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value[name]
        .as_str()
        .unwrap_or_else(|| panic!("{name} of {value}"))
}

/// `0x0010b174` as a number.
fn hex(value: &Value, name: &str) -> u32 {
    u32::from_str_radix(text(value, name).strip_prefix("0x").unwrap(), 16).unwrap()
}

/// Compares the lines of a capture with what the device counts; comes back with the lines and the counts.
fn counted(scene: &str, capture: &Capture) -> (Vec<Value>, Report) {
    let (written, report, messages) = traced(capture, Format::Jsonl);
    let lines = lines(&written);
    let mut tally: BTreeMap<String, u64> = BTreeMap::new();
    for line in &lines {
        let event = text(line, "event");
        let mut count = |name: String, n| *tally.entry(name).or_default() += n;
        count(event.to_owned(), 1);
        if let Some(unit) = line["unit"].as_str().filter(|_| event != "message") {
            count(format!("{event} {unit}"), 1);
            if event == "end" {
                let executed = line["instructions"].as_u64().unwrap();
                count(format!("instructions {unit}"), executed);
            }
        }
        if event == "message" {
            count(format!("function {}", line["sfid"]), 1);
        }
    }
    let of = |name: &str| tally.get(name).copied().unwrap_or(0);
    let activity = &report.activity;
    assert_eq!(of("command"), activity.commands, "{scene}");
    assert_eq!(of("vertex"), activity.vertices, "{scene}");
    for unit in Unit::ALL {
        let name = unit.name();
        let threads = activity.threads[unit as usize];
        assert_eq!(of(&format!("dispatch {name}")), threads, "{scene} {name}");
        assert_eq!(of(&format!("end {name}")), threads, "{scene} {name}");
        let executed = activity.instructions[unit as usize];
        let told = of(&format!("instructions {name}"));
        assert_eq!(told, executed, "{scene} {name}");
    }
    for (sfid, &sent) in messages.iter().enumerate() {
        assert_eq!(of(&format!("function {sfid}")), sent, "{scene} {sfid}");
    }
    assert_eq!(of("object SF"), activity.objects, "{scene}");
    let times = lines.iter().map(|line| line["t"].as_u64().unwrap());
    assert!(times.is_sorted(), "{scene}");
    // The submission's seqno store, and the interrupt that tells of it.
    assert!(of("memory") > 0 && of("interrupt") > 0, "{scene}");
    let last = lines.iter().rfind(|line| line["event"] == "interrupt");
    assert_eq!(hex(last.unwrap(), "bits"), 0, "{scene}: acknowledged");
    (lines, report)
}

#[test]
fn lines_count_what_the_device_counts() {
    for scene in SCENES {
        counted(scene, &capture(scene));
    }
}

/// Tessellation, geometry shaders and stream output of ValleyView, against counters that the batches enable.
#[test]
fn lines_of_later_stages_count_what_the_device_counts() {
    for scene in ["tessquad", "tessiso", "geom", "xfb", "compute"] {
        let (lines, report) = counted(scene, &capture_of("valleyview", scene));
        let of = |event: &str| {
            let event = event.to_owned();
            lines.iter().filter(move |line| line["event"] == event)
        };
        let sum = |event: &str, member: &str| -> u64 {
            of(event).map(|line| line[member].as_u64().unwrap()).sum()
        };
        let s = &report.statistics;
        assert_eq!(of("patch").count() as u64, s.hs_invocations, "{scene}");
        assert_eq!(of("cut").count() as u64, s.hs_invocations, "{scene}");
        assert_eq!(of("point").count() as u64, s.ds_invocations, "{scene}");
        let emitted = |unit: &str| of("emit").filter(|line| line["unit"] == unit).count() as u64;
        assert_eq!(emitted("DS"), s.ds_invocations, "{scene}");
        let objects = of("object").filter(|line| line["unit"] == "GS").count() as u64;
        assert_eq!(objects, s.gs_invocations, "{scene}");
        let te = &report.activity.tessellation;
        assert_eq!(sum("cut", "points"), te.points, "{scene}");
        // 36 bytes of each vertex of a written triangle (`glscenes3.c`, xfb).
        let written: u64 = s.so_prims_written.iter().sum();
        assert_eq!(sum("streamed", "dwords"), written * 3 * 9, "{scene}");
        assert_eq!(written > 0, scene == "xfb");
        assert_eq!(s.cs_invocations > 0, scene == "compute");
    }
}

#[test]
fn the_same_capture_has_the_same_lines() {
    let capture = capture("c_gouraud");
    assert_eq!(
        traced(&capture, Format::Jsonl).0,
        traced(&capture, Format::Jsonl).0
    );
}

/// Checks an array of trace events against the format's description; returns the events.
fn checked(written: &str) -> Vec<Value> {
    let Value::Array(events) = serde_json::from_str(written).unwrap() else {
        panic!("no array");
    };
    let mut named = BTreeMap::new();
    let mut last: BTreeMap<(u64, u64), f64> = BTreeMap::new();
    for event in &events {
        let (pid, tid) = (
            event["pid"].as_u64().unwrap(),
            event["tid"].as_u64().unwrap(),
        );
        assert!(!text(event, "name").is_empty());
        let ts = event["ts"].as_f64().unwrap();
        assert!(event["args"].is_object(), "{event}");
        match text(event, "ph") {
            "M" => {
                let what = text(event, "name");
                assert!(["process_name", "thread_name"].contains(&what));
                let name = text(&event["args"], "name").to_owned();
                assert_eq!(named.insert((pid, tid), name), None, "named twice");
                continue;
            }
            "X" => {
                assert!(event["dur"].as_f64().unwrap() >= 0.0);
            }
            "i" => assert!(["g", "p", "t"].contains(&text(event, "s"))),
            other => panic!("phase {other}"),
        }
        assert!(named.contains_key(&(pid, tid)), "track without a name");
        let before = last.insert((pid, tid), ts).unwrap_or(0.0);
        assert!(before <= ts, "time goes back: {event}");
    }
    events
}

#[test]
fn trace_events_are_what_viewers_take() {
    for (device, scene) in [
        ("gm965", "c_gouraud"),
        ("gm965", "g_gears"),
        ("valleyview", "tessquad"),
    ] {
        let (written, report, messages) = traced(&capture_of(device, scene), Format::Perfetto);
        let events = checked(&written);
        let count = |category: &str| events.iter().filter(|e| e["cat"] == category).count() as u64;
        assert_eq!(count("command"), report.activity.commands, "{scene}");
        assert_eq!(count("thread"), report.activity.threads.iter().sum::<u64>());
        assert_eq!(count("message"), messages.iter().sum::<u64>(), "{scene}");
        // Slices of a track are within one another or apart.
        let mut open: BTreeMap<(u64, u64), Vec<u64>> = BTreeMap::new();
        let nanos = |value: &Value| (value.as_f64().unwrap() * 1000.0).round() as u64;
        for event in events.iter().filter(|event| event["ph"] == "X") {
            let key = (
                event["pid"].as_u64().unwrap(),
                event["tid"].as_u64().unwrap(),
            );
            let (start, dur) = (nanos(&event["ts"]), nanos(&event["dur"]));
            let open = open.entry(key).or_default();
            while open.last().is_some_and(|&end| end <= start) {
                open.pop();
            }
            if let Some(&end) = open.last() {
                assert!(start + dur <= end, "{scene}: {event} sticks out");
            }
            if event["cat"] == "message" {
                assert_eq!(open.len(), 1, "{scene}: a message outside of a thread");
            }
            open.push(start + dur);
        }
    }
}

#[test]
fn what_cannot_be_written_is_told() {
    struct Full;
    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let capture = capture("a_clear");
    let options = options(&capture);
    let (trace, file) = stream(Format::Jsonl, options.device, Box::new(Full)).unwrap();
    let mut session = Session::with_trace(options, capture.buffer_bytes(), trace).unwrap();
    for exec in &capture.execs {
        session.run(exec).unwrap();
    }
    session.platform().device().set_trace(Trace::default());
    session.finish().unwrap();
    let error = file.finish().unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::StorageFull);
}

#[test]
fn text_is_left_to_the_device() {
    assert!(
        stream(
            Format::Text,
            mmio_mock::intel::r#gen::find("gm965").unwrap(),
            Box::new(std::io::sink())
        )
        .is_none()
    );
}

/// Events as they come.
#[derive(Clone, Default)]
struct Events(Arc<Mutex<Vec<(u64, Event)>>>);

impl Sink<Event> for Events {
    fn event(&mut self, ticks: u64, event: &Event) {
        self.0.lock().unwrap().push((ticks, *event));
    }
}

/// Commands that write: their addresses and sizes, by hand; and the interrupt that ends the submission.
#[test]
fn writes_of_commands_and_blits_are_told() {
    // XY_COLOR_BLT of 32 bits a pixel (i915 gt/intel_gpu_commands.h), linear and X-tiled.
    const COLOR_BLT: u32 = 2 << 29 | 0x50 << 22 | 3 << 20 | 4;
    const DST_TILED: u32 = 1 << 11;
    // Depth 32, PATCOPY.
    const BR13: u32 = 3 << 24 | 0xf0 << 16;
    const TARGET: u32 = 0x0100_0000;
    // MI_STORE_DATA_IMM of one dword to a graphics address, MI_BATCH_BUFFER_END.
    const STORE: u32 = 0x20 << 23 | 1 << 22 | 2;
    const END: u32 = 0x0a << 23;
    let rig = Rig::new();
    let target = rig.device.create_object(1 << 16, Tiling::None, 0).unwrap();
    rig.device.bind_at(&target, TARGET).unwrap();
    let events = Events::default();
    let trace = Trace::to(Box::new(events.clone()));
    rig.platform.device().set_trace(trace);
    let corners = [0x0008_0004, 0x000b_0014, TARGET, 7];
    let blit = |header: u32, pitch: u32| [&[header, BR13 | pitch], corners.as_slice()].concat();
    let linear = blit(COLOR_BLT, 512);
    let tiled = blit(COLOR_BLT | DST_TILED, 512 / 4);
    let store = [STORE, 0, TARGET + 0x40, 5, END, 0];
    rig.run(&[linear, tiled, store.to_vec()].concat());
    rig.platform.device().set_trace(Trace::default());
    let seen = events.0.lock().unwrap().clone();
    let writes = seen.iter().filter_map(|(_, event)| match *event {
        Event::Memory {
            client,
            addr,
            bytes,
            write: true,
        } if (TARGET..TARGET + (1 << 16)).contains(&addr) => Some((client, addr, bytes)),
        _ => None,
    });
    // Rows 8 to 10, columns 4 to 19. An X tile has 8 rows of 512 bytes; the pitch is one tile.
    let row = |at: u32| ("BLT", TARGET + at, 64);
    let expected = [
        row(8 * 512 + 16),
        row(9 * 512 + 16),
        row(10 * 512 + 16),
        row(4096 + 16),
        row(4096 + 512 + 16),
        row(4096 + 1024 + 16),
        ("CS", TARGET + 0x40, 4),
    ];
    assert_eq!(writes.collect::<Vec<_>>(), expected);
    // MI_USER_INTERRUPT is bit 1 (i915 i915_reg.h); the handler acknowledges.
    let lines = seen.iter().filter_map(|(_, event)| match event {
        Event::Irq { bits } => Some(*bits),
        _ => None,
    });
    assert_eq!(lines.collect::<Vec<_>>(), [2, 0]);
    // The seqno goes to the status page before the interrupt.
    let place = |wanted: &dyn Fn(&Event) -> bool| seen.iter().position(|(_, e)| wanted(e));
    let status = place(&|e| {
        matches!(
            e,
            Event::Memory {
                client: "CS physical",
                ..
            }
        )
    });
    let interrupt = place(&|e| matches!(e, Event::Irq { .. }));
    assert!(status.unwrap() < interrupt.unwrap());
    assert!(seen.is_sorted_by_key(|(ticks, _)| *ticks));
    drop(target);
    rig.finish();
}
