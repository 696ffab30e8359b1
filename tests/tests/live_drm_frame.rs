//! Captured frames through the user API: create, write, submit, wait, read.
//!
//! What is expected is what the same frame draws when it is replayed inside, at the captured addresses.
//! Relocations and object flags are those that crocus gave to EXECBUFFER2.

use std::collections::BTreeMap;
use std::io::Read;
use std::sync::Arc;

use crestline_cli::capture::{Buffer, Exec};
use crestline_cli::replay::{Session, device_of};
use crestline_tests::scenes::{SCENES, capture, file, options};
use driver::debug::HaltMatch;
use driver::uapi::{context, exec, gem, syncobj};
use driver::{Device, Driver, File, Node, Tiling};
use kernel::platform::Platform;
use kernel::time::Delta;
use mmio_mock::ModelPlatform;
use serde_json::Value;

use crate::client::Client;

/// The `exec.json` of the first submission of a packed capture (docs/captures.md).
fn json(scene: &str) -> Value {
    let packed = std::fs::read(file(scene, "frame.crest")).unwrap();
    let mut records = Vec::new();
    let mut stream = flate2::read::ZlibDecoder::new(&packed[8..]);
    stream.read_to_end(&mut records).unwrap();
    let mut rest = records.as_slice();
    while !rest.is_empty() {
        let word = |at: usize| u32::from_le_bytes(rest[at..at + 4].try_into().unwrap()) as usize;
        let (name, len) = (word(0), word(4));
        let (head, tail) = rest[8..].split_at(name);
        let (contents, tail) = tail.split_at(len);
        if head.ends_with(b"/exec.json") {
            return serde_json::from_slice(contents).unwrap();
        }
        rest = tail;
    }
    panic!("no exec.json in {scene}");
}

fn hex(value: &Value) -> u64 {
    let text = value.as_str().unwrap();
    u64::from_str_radix(text.trim_start_matches("0x"), 16).unwrap()
}

/// Where user space believes objects to be when it submits.
#[derive(Clone, Copy, PartialEq)]
enum Belief {
    /// Where they were captured, as contents already say.
    Captured,
    /// Nowhere: new objects. All addresses have to be patched.
    Nowhere,
}

struct Frame {
    exec: Exec,
    json: Value,
    handles: Vec<u32>,
}

fn relocations(json: &Value, buffers: &[Buffer]) -> Vec<exec::Relocation> {
    let list = json["relocs"].as_array().unwrap();
    let one = |r: &Value| {
        let target = r[1].as_u64().unwrap() as usize;
        exec::Relocation {
            offset: r[0].as_u64().unwrap(),
            target_handle: target as u32,
            delta: r[2].as_i64().unwrap() as u32,
            // The contents were dumped as they were after relocation.
            presumed_offset: u64::from(buffers[target].address),
            read_domains: r[4].as_u64().unwrap() as u32,
            write_domain: r[5].as_u64().unwrap() as u32,
        }
    };
    list.iter().map(one).collect()
}

impl Frame {
    /// Makes the objects of a frame.
    fn load(scene: &str, client: &Client) -> Self {
        let capture = capture(scene);
        assert_eq!(capture.execs.len(), 1, "{scene}");
        let exec = capture.execs.into_iter().next().unwrap();
        let create = |buffer: &Buffer| {
            let mut arg = gem::Create {
                size: buffer.size.into(),
                ..Default::default()
            };
            client.call(gem::CREATE, &mut arg).unwrap();
            assert_eq!(arg.size, u64::from(buffer.size));
            let handle = arg.handle;
            let mut tiling = gem::SetTiling {
                handle,
                tiling_mode: match buffer.tiling {
                    Tiling::None => 0,
                    Tiling::X => 1,
                    Tiling::Y => 2,
                },
                stride: buffer.stride,
                ..Default::default()
            };
            client.call(gem::SET_TILING, &mut tiling).unwrap();
            client.pwrite(handle, &buffer.data);
            handle
        };
        Frame {
            handles: exec.buffers.iter().map(create).collect(),
            json: json(scene),
            exec,
        }
    }

    /// Submits with the flags of the capture; returns the addresses.
    fn submit(&self, client: &Client, belief: Belief, context: u32, fence: u32) -> Vec<u64> {
        let buffers = &self.exec.buffers;
        let rows = self.json["buffers"].as_array().unwrap();
        let mut list = Vec::new();
        for ((buffer, handle), row) in buffers.iter().zip(&self.handles).zip(rows) {
            let relocs = relocations(row, buffers);
            list.push(exec::Object {
                handle: *handle,
                relocation_count: relocs.len() as u32,
                relocs_ptr: client.place(&relocs),
                offset: match belief {
                    Belief::Captured => buffer.address.into(),
                    Belief::Nowhere => 0,
                },
                flags: hex(&row["flags"]),
                ..Default::default()
            });
        }
        let at = client.place(&list);
        let flags = hex(&self.json["flags"]);
        // RENDER, NO_RELOC, HANDLE_LUT, BATCH_FIRST, FENCE_ARRAY.
        assert_eq!((flags, self.exec.batch), (0x000c_1801, 0));
        let mut arg = exec::Execbuffer2 {
            buffers_ptr: at,
            buffer_count: list.len() as u32,
            batch_start_offset: self.exec.batch_start,
            batch_len: self.exec.batch_len.next_multiple_of(8),
            num_cliprects: 1,
            cliprects_ptr: client.place(&[exec::Fence {
                handle: fence,
                flags: exec::FENCE_SIGNAL,
            }]),
            flags,
            rsvd1: context.into(),
            ..Default::default()
        };
        client.call(exec::EXECBUFFER2, &mut arg).unwrap();
        let offset = |index: usize| client.get::<exec::Object>(at + index as u64 * 56).offset;
        (0..list.len()).map(offset).collect()
    }
}

/// Contents of all buffers, by index, after a replay at the captured addresses.
fn replayed(scene: &str) -> BTreeMap<usize, Vec<u8>> {
    let capture = capture(scene);
    let mut session = Session::new(options(&capture), capture.buffer_bytes()).unwrap();
    session.run(&capture.execs[0]).unwrap();
    let buffers = capture.execs[0].buffers.iter().enumerate();
    let contents = buffers.map(|(index, buffer)| (index, session.contents(buffer).unwrap()));
    let contents = contents.collect();
    session.finish().unwrap();
    contents
}

fn power_on(scene: &str) -> (Arc<ModelPlatform>, Device) {
    let capture = capture(scene);
    let bytes = usize::try_from(capture.buffer_bytes()).unwrap() + (2 << 20);
    let platform = ModelPlatform::new(device_of(&capture).unwrap(), bytes);
    let device = Driver::probe(Arc::clone(&platform) as Arc<dyn Platform>).unwrap();
    (platform, device)
}

fn draw(scene: &str, belief: Belief) {
    draw_debugged(scene, belief, false);
}

/// The first threads of the frame halt and are stepped when `debugged`.
fn draw_debugged(scene: &str, belief: Belief, debugged: bool) {
    let (platform, device) = power_on(scene);
    let client = Client::new(File::open(&device, Node::Render));
    let mut made = context::CreateExt::default();
    client.call(context::CREATE_EXT, &mut made).unwrap();
    let mut fence = syncobj::Create::default();
    client.call(syncobj::CREATE, &mut fence).unwrap();
    let frame = Frame::load(scene, &client);
    let session = debugged.then(|| device.debug().unwrap());
    if let Some(session) = &session {
        session.halt_on_match(Some(HaltMatch::default()));
    }
    let addresses = frame.submit(&client, belief, made.ctx_id, fence.handle);
    if let Some(session) = session {
        for _ in 0..8 {
            for thread in session.wait(Delta::from_millis(10)).unwrap() {
                session
                    .step_many(&thread, 20, Delta::from_millis(10))
                    .unwrap();
            }
        }
        // Threads that stand in the middle go on when it ends.
        drop(session);
    }
    for (address, buffer) in addresses.iter().zip(&frame.exec.buffers) {
        let same = *address == u64::from(buffer.address);
        assert_eq!(same, belief == Belief::Captured, "{scene}");
    }
    let mut wait = syncobj::Wait {
        handles: client.place(&[fence.handle]),
        count_handles: 1,
        timeout_nsec: i64::MAX,
        ..Default::default()
    };
    client.call(syncobj::WAIT, &mut wait).unwrap();
    assert!(device.error_state().is_none(), "{scene}");

    let rows = frame.json["buffers"].as_array().unwrap();
    let mut drawn = 0;
    for (index, expected) in replayed(scene) {
        // What holds addresses differs where the objects lie elsewhere.
        let holds_addresses = !rows[index]["relocs"].as_array().unwrap().is_empty();
        if holds_addresses && belief == Belief::Nowhere {
            continue;
        }
        let now = client.pread(frame.handles[index], expected.len());
        assert!(now == expected, "{scene}: buffer {index} differs");
        let buffer = &frame.exec.buffers[index];
        drawn += usize::from(buffer.data.is_empty() && now.iter().any(|byte| *byte != 0));
    }
    assert!(drawn > 0, "{scene}: there is a picture");
    drop(client);
    device.wait_idle(Delta::from_millis(1)).unwrap();
    assert_eq!(
        device.ggtt().bound(),
        4,
        "ring, scratch page and two context images are left"
    );
    device.remove().unwrap();
    assert_eq!(platform.allocated_pages(), 0);
}

#[test]
fn believed_addresses_are_kept_and_need_no_relocation() {
    for scene in SCENES {
        draw(scene, Belief::Captured);
    }
}

/// Buffers are compared after the session: the batches, which set a system routine, have been put back.
#[test]
fn a_debugged_frame_draws_the_same() {
    for scene in ["b_flat", "g_gears"] {
        draw_debugged(scene, Belief::Captured, true);
        draw_debugged(scene, Belief::Nowhere, true);
    }
}

#[test]
fn relocated_frames_draw_the_same() {
    for scene in SCENES {
        draw(scene, Belief::Nowhere);
    }
}

#[test]
fn two_clients_do_not_disturb_one_another() {
    let (platform, device) = power_on("g_gears");
    let draw = |scene: &str, client: &Client| {
        let mut fence = syncobj::Create::default();
        client.call(syncobj::CREATE, &mut fence).unwrap();
        let frame = Frame::load(scene, client);
        frame.submit(client, Belief::Nowhere, 0, fence.handle);
        frame
    };
    let clients = [0; 2].map(|_| Client::new(File::open(&device, Node::Render)));
    let scenes = ["b_flat", "c_gouraud"];
    let drawn: Vec<Frame> = (clients.iter().zip(scenes))
        .map(|(client, scene)| draw(scene, client))
        .collect();
    for ((client, frame), scene) in clients.iter().zip(&drawn).zip(scenes) {
        let rows = frame.json["buffers"].as_array().unwrap();
        for (index, expected) in replayed(scene) {
            if rows[index]["relocs"].as_array().unwrap().is_empty() {
                // PREAD waits for the frame.
                let now = client.pread(frame.handles[index], expected.len());
                assert!(now == expected, "{scene}: buffer {index} differs");
            }
        }
    }
    drop((clients, drawn));
    device.wait_idle(Delta::from_millis(1)).unwrap();
    device.remove().unwrap();
    assert_eq!(platform.allocated_pages(), 0);
}
