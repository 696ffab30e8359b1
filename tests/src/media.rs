//! Batches of media threads that write to one buffer.
//!
//! PRM: volume 2 (media pipeline). The batches are those that `ringbuf` builds.

use driver::{BatchDesc, Object, Request};
use isa::Verx10;
use regs::platform::GENERATIONS;
use regs::platform::Generation;
use ringbuf::batch::{Batch, Target};
use ringbuf::r#gen::media::MediaOps;
use ringbuf::media::{Code, FrontEnd, Kernel, Media as _, Surface};

use crate::rig::Rig;

/// Where the batch lies.
pub const BATCH: u32 = 0x0010_0000;
/// Where the output has to lie.
pub const OUT: u32 = 0x0020_0000;

/// Each thread writes its number into an OWord of its own and ends.
pub const WRITE: &str = "
    mov(8)          m1<1>UD         g0<8,8,1>UD                     { align1 };
    shl(1)          m1.2<1>UD       g1<0,1,0>UD     4UD             { align1 };
    mov(8)          m2<1>UD         g1<0,1,0>UD                     { align1 };
    send(8) 1       null<1>UW       null<8,8,1>UW   write MsgDesc: OWord block write MsgCtrl = 0x0 Surface = 0 mlen 2 rlen 0 { align1 };
    send(8) 0       null<1>UW       g0<8,8,1>UW     thread_spawner MsgDesc: mlen 1 rlen 0 resource { align1 EOT };
";

/// The same for all generations: G45 and Ironlake say of a message that it has a header.
pub const WRITE_LATER: &str = "
    mov(8)          m1<1>UD         g0<8,8,1>UD                     { align1 };
    shl(1)          m1.2<1>UD       g1<0,1,0>UD     4UD             { align1 };
    mov(8)          m2<1>UD         g1<0,1,0>UD                     { align1 };
    send(8) 1       null<1>UW       null<8,8,1>UW   write MsgDesc: OWord block write MsgCtrl = 0x0 Surface = 0 mlen 2 rlen 0 header { align1 };
    send(8) 0       null<1>UW       g0<8,8,1>UW     thread_spawner MsgDesc: mlen 1 rlen 0 resource { align1 EOT };
";

/// What batches of a generation are made of.
pub fn ops(version: u8) -> &'static MediaOps {
    ringbuf::r#gen::media::of(tables(version)).unwrap()
}

/// A batch of so many threads of a kernel, with the output of `owords` OWords as surface 0.
pub fn submit(rig: &Rig, text: &str, owords: u32, threads: u32) -> (Object, Request) {
    submit_with(rig, text, owords, |batch, _| {
        for number in 0..threads {
            batch.object(ops(40), 0, &[number]).unwrap();
        }
    })
}

/// The same with threads of the caller's; what it gets is the output's buffer.
pub fn submit_with(
    rig: &Rig,
    text: &str,
    owords: u32,
    threads: impl FnOnce(&mut Batch, Target),
) -> (Object, Request) {
    let (dwords, commands) = build(40, text, owords, threads);
    let object = rig.object(BATCH, dwords.len() * 4, &dwords);
    let request = rig
        .device
        .submit(&BatchDesc {
            object: &object,
            start: 0,
            len: commands,
        })
        .unwrap();
    (object, request)
}

/// The tables of a generation.
fn tables(version: u8) -> &'static Generation {
    let mut all = GENERATIONS.into_iter();
    all.find(|tables| tables.times_ten() == version).unwrap()
}

/// The dwords of such a batch for a generation (40, 45 or 50), and bytes of commands among them.
pub fn build(
    version: u8,
    text: &str,
    owords: u32,
    threads: impl FnOnce(&mut Batch, Target),
) -> (Vec<u32>, u32) {
    let isa = Verx10::from_times_ten(version);
    let program = isa::parse::assemble(isa, "kernel", text).unwrap();
    let words: Vec<[u32; 4]> = program.items.iter().map(|item| item.words).collect();
    let mut batch = Batch::new();
    let out = batch.buffer();
    let ops = ops(version);
    let surface = Surface::Buffer {
        entries: owords,
        pitch: 16,
        format: 0,
    };
    let surface = batch.surface(ops, &surface, out, 0);
    let table = batch.binding_table(&[surface]);
    let code = Code::State(batch.kernel(&words));
    let kernel = Kernel {
        code,
        registers: 128,
        constants: 0,
        surfaces: Some((table, 1)),
    };
    let descriptors = batch.descriptors(ops, &[kernel]).unwrap();
    // As many as the devices have places for: Mesa `intel_device_info.c`, `max_wm_threads`.
    let threads_at_once = match version {
        40 => 32,
        45 => 50,
        _ => 72,
    };
    let front_end = FrontEnd {
        threads: threads_at_once,
        entries: threads_at_once,
        entry_units: 1,
        constant_units: 0,
        children: false,
        scratch: None,
    };
    batch.begin(ops, descriptors, &front_end, &[]).unwrap();
    threads(&mut batch, out);
    batch.end(ops);
    let built = batch.build(BATCH, &[OUT]).unwrap();
    let dwords = built.bytes.as_chunks::<4>().0.iter();
    let dwords = dwords.map(|bytes| u32::from_le_bytes(*bytes)).collect();
    (dwords, built.commands)
}
