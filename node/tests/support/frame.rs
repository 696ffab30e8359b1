//! Captured frames, drawn through the node by requests alone.
//!
//! docs/captures.md has the format; objects are new, so that every address is patched.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::os::fd::{AsRawFd as _, OwnedFd};

use driver::uapi::{context, drm, exec, gem, syncobj};
use serde_json::Value;
use zerocopy::{FromZeros as _, IntoBytes as _};

use super::Connection;
use wire::{Head, Op};

const BATCH_END: u32 = 0x0a << 23;
/// MI_BATCH_BUFFER_START and MI_STORE_DATA_IMM in the GTT (PRM volume 1).
const GLOBAL: [u32; 2] = [0x31 << 23 | 2 << 6, 0x20 << 23 | 1 << 22 | 2];
/// The same in the tables of a process (genxml gen6: Address Space Indicator, Use Global GTT).
const OWN: [u32; 2] = [0x31 << 23 | 1 << 8, 0x20 << 23 | 2];
/// Domain of commands (uAPI `I915_GEM_DOMAIN_COMMAND`).
const COMMAND: u32 = 8;

/// One buffer of a frame.
#[derive(Clone)]
pub struct Buffer {
    pub size: u64,
    pub tiling: u32,
    pub stride: u32,
    pub flags: u64,
    address: u64,
    pub data: Vec<u8>,
    /// Byte, target, delta, domains.
    pub relocations: Vec<(u64, u32, u32, u32, u32)>,
}

/// A frame of one submission.
#[derive(Clone)]
pub struct Frame {
    pub buffers: Vec<Buffer>,
    flags: u64,
    start: u32,
    len: u32,
    commands: fn(u32) -> Option<&'static regs::desc::CommandDesc>,
    /// Headers of a jump and of a store.
    headers: [u32; 2],
}

fn hex(value: &Value) -> u64 {
    u64::from_str_radix(value.as_str().unwrap().trim_start_matches("0x"), 16).unwrap()
}

fn number(value: &Value) -> u32 {
    value.as_i64().unwrap() as u32
}

impl Frame {
    /// A checked-in frame of the first device.
    pub fn read(scene: &str) -> Self {
        Self::read_of(super::DEVICES[0], scene)
    }

    /// A checked-in frame of a device.
    pub fn read_of(device: &str, scene: &str) -> Self {
        let captures = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/captures");
        let packed = std::fs::read(format!("{captures}/{device}/{scene}/frame.crest")).unwrap();
        let mut records = Vec::new();
        let mut stream = flate2::read::ZlibDecoder::new(&packed[8..]);
        stream.read_to_end(&mut records).unwrap();
        let mut files = BTreeMap::new();
        let mut rest = records.as_slice();
        while !rest.is_empty() {
            let word =
                |at: usize| u32::from_le_bytes(rest[at..at + 4].try_into().unwrap()) as usize;
            let (name, len) = (word(0), word(4));
            let (head, tail) = rest[8..].split_at(name);
            let (contents, tail) = tail.split_at(len);
            let name = String::from_utf8(head.to_vec()).unwrap();
            // Of several submissions the first is drawn; the others copy its picture.
            files
                .entry(name.rsplit('/').next().unwrap().to_owned())
                .or_insert_with(|| contents.to_vec());
            rest = tail;
        }
        let json: Value = serde_json::from_slice(&files["exec.json"]).unwrap();
        let buffer = |row: &Value| Buffer {
            size: row["size"].as_u64().unwrap(),
            tiling: number(&row["tiling"]),
            stride: number(&row["stride"]),
            flags: hex(&row["flags"]),
            address: hex(&row["gtt_offset"]),
            data: files
                .get(row["file"].as_str().unwrap())
                .cloned()
                .unwrap_or_default(),
            relocations: (row["relocs"].as_array().unwrap().iter())
                .map(|r| {
                    let at = r[0].as_u64().unwrap();
                    (
                        at,
                        number(&r[1]),
                        number(&r[2]),
                        number(&r[4]),
                        number(&r[5]),
                    )
                })
                .collect(),
        };
        let info = mmio_mock::intel::r#gen::find(device).unwrap();
        Frame {
            buffers: json["buffers"]
                .as_array()
                .unwrap()
                .iter()
                .map(buffer)
                .collect(),
            flags: hex(&json["flags"]),
            start: number(&json["batch_start_offset"]),
            len: number(&json["batch_len"]).next_multiple_of(8),
            commands: info.tables.command,
            headers: match info.render.space {
                None => GLOBAL,
                Some(_) => OWN,
            },
        }
    }
}

impl Frame {
    /// The frame in pieces, each with its draws' share of the batch and nothing else: what they draw depends on the state
    /// that the pieces before have left.
    pub fn pieces(&self) -> Vec<Self> {
        let at = self.batch();
        let (draws, next) = self.draws();
        let mut ends: Vec<usize> = draws.into_iter().flatten().collect();
        ends.push(next);
        let mut begin = self.start as usize;
        let mut pieces = Vec::new();
        for end in ends {
            let mut piece = self.clone();
            let batch = &mut piece.buffers[at];
            batch.data[self.start as usize..begin].fill(0);
            batch.data[end..end + 4].copy_from_slice(&BATCH_END.to_le_bytes());
            let share = begin as u64..end as u64;
            batch
                .relocations
                .retain(|relocation| share.contains(&relocation.0));
            pieces.push(piece);
            begin = end;
        }
        pieces
    }

    /// Where each draw begins and ends, and where the batch ends.
    fn draws(&self) -> (Vec<[usize; 2]>, usize) {
        let batch = &self.buffers[self.batch()].data;
        let word = |at: usize| u32::from_le_bytes(batch[at..at + 4].try_into().unwrap());
        let mut draws = Vec::new();
        let mut next = self.start as usize;
        while word(next) != BATCH_END {
            let desc = (self.commands)(word(next)).unwrap();
            let end = next + desc.dwords(word(next)) * 4;
            if desc.id == regs::gen40::CommandId::Primitive3d {
                draws.push([next, end]);
            }
            next = end;
        }
        (draws, next)
    }

    /// The frame with a number of instances in its last draw.
    pub fn with_instances(mut self, instances: u32) -> Self {
        let (draws, _) = self.draws();
        let at = draws.last().unwrap()[0] + 12;
        let batch = self.batch();
        self.buffers[batch].data[at..at + 4].copy_from_slice(&instances.to_le_bytes());
        self
    }

    /// The frame with a jump back to its last draw instead of its end.
    pub fn that_draws_for_ever(mut self) -> Self {
        let (draws, end) = self.draws();
        self.jump(end, draws.last().unwrap()[0]);
        self
    }

    /// The frame with an endless loop instead of its batch, which stores a word behind itself.
    pub fn that_stores_for_ever(mut self) -> Self {
        let (_, end) = self.draws();
        let start = self.start as usize;
        self.set(start, &[self.headers[1], 0, 0, 1]);
        let batch = self.batch();
        self.buffers[batch].relocations.clear();
        self.relocate(start + 8, end);
        self.jump(start + 16, start);
        self
    }

    /// The frame with a batch that jumps to itself.
    pub fn that_jumps_for_ever(mut self) -> Self {
        let (start, batch) = (self.start as usize, self.batch());
        self.buffers[batch].relocations.clear();
        self.jump(start, start);
        self
    }

    fn set(&mut self, at: usize, words: &[u32]) {
        let batch = self.batch();
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let end = at + bytes.len();
        let data = &mut self.buffers[batch].data;
        data.resize(data.len().max(end), 0);
        data[at..end].copy_from_slice(&bytes);
        let len = (end as u32 - self.start).next_multiple_of(8);
        self.len = self.len.max(len);
    }

    /// Makes a word of the batch an address in the batch.
    fn relocate(&mut self, at: usize, to: usize) {
        let batch = self.batch();
        let buffer = &mut self.buffers[batch];
        let address = buffer.address as u32 + to as u32;
        let row = (at as u64, batch as u32, to as u32, COMMAND, 0);
        buffer.relocations.push(row);
        self.set(at, &[address]);
    }

    fn jump(&mut self, at: usize, to: usize) {
        self.set(at, &[self.headers[0]]);
        self.relocate(at + 4, to);
    }

    /// Index of the buffer that holds the batch.
    pub fn batch(&self) -> usize {
        match self.flags & exec::BATCH_FIRST {
            0 => self.buffers.len() - 1,
            _ => 0,
        }
    }
}

/// A client with an open file and a context.
pub struct Party {
    pub client: Connection,
    pub fd: OwnedFd,
    pub file: u64,
    pub context: u32,
}

impl Party {
    pub fn new(name: &str) -> Self {
        Self::on(Connection::new(name, Op::Thread).0)
    }

    /// The same over a connection that has been made.
    pub fn on(client: Connection) -> Self {
        Self::of(client, 0)
    }

    /// The same on one of several devices.
    pub fn of(client: Connection, device: u64) -> Self {
        let (fd, file) = client.open_of(device, false);
        let mut party = Party {
            client,
            fd,
            file,
            context: 0,
        };
        let mut made = context::CreateExt::new_zeroed();
        assert_eq!(party.ask(context::CREATE_EXT.0, made.as_mut_bytes()), 0);
        party.context = made.ctx_id;
        party
    }

    /// A request; its result.
    pub fn ask(&self, request: u32, block: &mut [u8]) -> i32 {
        self.client.ioctl(self.file, request, block)
    }

    /// A request whose answer comes behind a descriptor; the descriptor.
    pub fn installed(&self, request: u32, block: &[u8]) -> OwnedFd {
        let head = Head::new(Op::Ioctl, self.file, [request.into(), 0, 0]);
        let mut install = self.client.call(&head, block);
        assert_eq!(install.reply.kind, wire::Reply::INSTALL);
        let fd = install.fds.remove(0);
        let number = fd.as_raw_fd() as u64;
        let head = Head::new(Op::Installed, wire::NO_FILE, [number, 0, 0]);
        assert_eq!(self.client.call(&head, &[]).reply.result, 0);
        fd
    }

    /// A dma-buf of an object.
    pub fn export(&self, handle: u32, flags: u32) -> OwnedFd {
        let mut arg = drm::PrimeHandle::new_zeroed();
        (arg.handle, arg.flags) = (handle, flags);
        self.installed(drm::PRIME_HANDLE_TO_FD.0, arg.as_bytes())
    }

    /// A new object.
    pub fn create(&self, size: u64) -> u32 {
        let mut arg = gem::Create {
            size,
            ..gem::Create::new_zeroed()
        };
        assert_eq!(self.ask(gem::CREATE.0, arg.as_mut_bytes()), 0);
        arg.handle
    }

    /// Closes a handle.
    pub fn close(&self, handle: u32) {
        let mut arg = drm::GemClose::new_zeroed();
        arg.handle = handle;
        assert_eq!(self.ask(drm::GEM_CLOSE.0, arg.as_mut_bytes()), 0);
    }

    /// Writes the beginning of an object.
    pub fn write(&self, handle: u32, data: &[u8]) {
        let mut arg = gem::Transfer {
            handle,
            size: data.len() as u64,
            data_ptr: data.as_ptr().addr() as u64,
            ..gem::Transfer::new_zeroed()
        };
        assert_eq!(self.ask(gem::PWRITE.0, arg.as_mut_bytes()), 0);
    }

    /// The beginning of an object, once the device is done with it.
    pub fn bytes(&self, handle: u32, len: usize) -> Vec<u8> {
        let mut out = vec![0; len];
        let mut arg = gem::Transfer {
            handle,
            size: len as u64,
            data_ptr: out.as_mut_ptr().addr() as u64,
            ..gem::Transfer::new_zeroed()
        };
        assert_eq!(self.ask(gem::PREAD.0, arg.as_mut_bytes()), 0);
        std::hint::black_box(out)
    }

    /// Makes the objects of a frame.
    pub fn load(&self, frame: &Frame) -> Vec<u32> {
        let one = |buffer: &Buffer| {
            let handle = self.create(buffer.size);
            let mut tiling = gem::SetTiling {
                handle,
                tiling_mode: buffer.tiling,
                stride: buffer.stride,
                ..gem::SetTiling::new_zeroed()
            };
            assert_eq!(self.ask(gem::SET_TILING.0, tiling.as_mut_bytes()), 0);
            if !buffer.data.is_empty() {
                self.write(handle, &buffer.data);
            }
            handle
        };
        frame.buffers.iter().map(one).collect()
    }

    /// Submits a frame; what the node says to it.
    pub fn submit(&self, frame: &Frame, handles: &[u32]) -> i32 {
        let lists: Vec<Vec<exec::Relocation>> = (frame.buffers.iter())
            .map(|buffer| {
                let list = buffer.relocations.iter();
                list.map(|(offset, target, delta, read, write)| exec::Relocation {
                    offset: *offset,
                    target_handle: *target,
                    delta: *delta,
                    presumed_offset: frame.buffers[*target as usize].address,
                    read_domains: *read,
                    write_domain: *write,
                })
                .collect()
            })
            .collect();
        let list: Vec<exec::Object> = (frame.buffers.iter().zip(&lists).zip(handles))
            .map(|((buffer, relocations), handle)| exec::Object {
                handle: *handle,
                relocation_count: relocations.len() as u32,
                relocs_ptr: relocations.as_ptr().addr() as u64,
                flags: buffer.flags,
                ..exec::Object::new_zeroed()
            })
            .collect();
        let mut made = syncobj::Create::new_zeroed();
        assert_eq!(self.ask(syncobj::CREATE.0, made.as_mut_bytes()), 0);
        let fences = [exec::Fence {
            handle: made.handle,
            flags: exec::FENCE_SIGNAL,
        }];
        let mut arg = exec::Execbuffer2 {
            buffers_ptr: list.as_ptr().addr() as u64,
            buffer_count: list.len() as u32,
            batch_start_offset: frame.start,
            batch_len: frame.len,
            num_cliprects: 1,
            cliprects_ptr: fences.as_ptr().addr() as u64,
            flags: frame.flags,
            rsvd1: self.context.into(),
            ..exec::Execbuffer2::new_zeroed()
        };
        let result = self.ask(exec::EXECBUFFER2.0, arg.as_mut_bytes());
        let mut destroy = syncobj::Destroy::new_zeroed();
        destroy.handle = made.handle;
        assert_eq!(self.ask(syncobj::DESTROY.0, destroy.as_mut_bytes()), 0);
        std::hint::black_box((lists, list, fences));
        result
    }

    /// What the buffers without addresses in them hold now, pictures among them; waits for the device.
    pub fn contents(&self, frame: &Frame, handles: &[u32]) -> Vec<Vec<u8>> {
        let plain = (frame.buffers.iter().zip(handles)).filter(|(b, _)| b.relocations.is_empty());
        plain
            .map(|(buffer, handle)| self.bytes(*handle, buffer.size as usize))
            .collect()
    }

    /// Draws a frame with objects of its own; what has come of it.
    pub fn draw(&self, frame: &Frame) -> Vec<Vec<u8>> {
        let handles = self.load(frame);
        assert_eq!(self.submit(frame, &handles), 0);
        let contents = self.contents(frame, &handles);
        for handle in handles {
            self.close(handle);
        }
        contents
    }

    /// Waits for an object, `timeout` nanoseconds at most when not negative.
    pub fn wait(&self, handle: u32, timeout: i64) -> i32 {
        let mut arg = gem::Wait {
            bo_handle: handle,
            timeout_ns: timeout,
            ..gem::Wait::new_zeroed()
        };
        self.ask(gem::WAIT.0, arg.as_mut_bytes())
    }

    /// Hangs that the context is to blame for, and those that it has seen.
    pub fn reset_stats(&self) -> (u32, u32) {
        let mut stats = context::ResetStats {
            ctx_id: self.context,
            ..context::ResetStats::new_zeroed()
        };
        assert_eq!(
            self.ask(context::GET_RESET_STATS.0, stats.as_mut_bytes()),
            0
        );
        (stats.batch_active, stats.batch_pending)
    }

    /// Runs a batch in one object, without anything else.
    pub fn run(&self, handle: u32) -> i32 {
        let list = [exec::Object {
            handle,
            ..exec::Object::new_zeroed()
        }];
        let mut arg = exec::Execbuffer2 {
            buffers_ptr: list.as_ptr().addr() as u64,
            buffer_count: 1,
            flags: exec::RENDER,
            rsvd1: self.context.into(),
            ..exec::Execbuffer2::new_zeroed()
        };
        let result = self.ask(exec::EXECBUFFER2.0, arg.as_mut_bytes());
        std::hint::black_box(list);
        result
    }
}
