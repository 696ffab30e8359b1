//! Media batches through the driver: hung ones are reset, the next one runs.
//!
//! PRM: volume 4, 2.6.8, 7.1; volume 2 (media pipeline). The batches are those that `ringbuf` builds.

use crestline_tests::media::{OUT, WRITE, ops, submit, submit_with};
use crestline_tests::rig::{Rig, SHORT};
use driver::Object;
use ringbuf::media::{Data, Indirect, Media as _, Object as Root};

/// OWords of the output.
const OWORDS: u32 = 8;

/// Each thread writes what stands behind its inline data into an OWord of its own and ends.
const INDIRECT: &str = "
    mov(8)          m1<1>UD         g0<8,8,1>UD                     { align1 };
    shl(1)          m1.2<1>UD       g1<0,1,0>UD     4UD             { align1 };
    mov(8)          m2<1>UD         g2<8,8,1>UD                     { align1 };
    send(8) 1       null<1>UW       null<8,8,1>UW   write MsgDesc: OWord block write MsgCtrl = 0x0 Surface = 0 mlen 2 rlen 0 { align1 };
    send(8) 0       null<1>UW       g0<8,8,1>UW     thread_spawner MsgDesc: mlen 1 rlen 0 resource { align1 EOT };
";
/// Nobody sends a notification.
const WAIT: &str = "
    wait(1)         n0<1>UD                                         { align1 };
    send(8) 0       null<1>UW       g0<8,8,1>UW     thread_spawner MsgDesc: mlen 1 rlen 0 resource { align1 EOT };
";
/// There is no end.
const CIRCLE: &str = "AGAIN: jmpi(1) AGAIN { align1 nomask };";
/// The end of the first thread is not told to the spawner, which waits for it.
const SILENT: &str = "
    send(8) 1       null<1>UD       null<8,8,1>UD   null MsgDesc: mlen 1 rlen 0 { align1 EOT };
";
/// Memory that is not there.
const FAULT: &str = "
    mov(8)          m1<1>UD         0x1f000000UD                    { align1 };
    send(8) 1       g9<1>UD         null<8,8,1>UD   read MsgDesc: OWord Block Read MsgCtrl = 0x0 Surface = 255 mlen 1 rlen 1 { align1 };
    mov(8)          g9<1>UD         g9<8,8,1>UD                     { align1 };
    send(8) 0       null<1>UW       g0<8,8,1>UW     thread_spawner MsgDesc: mlen 1 rlen 0 resource { align1 EOT };
";

fn works(rig: &Rig, out: &Object) {
    out.write_dwords(0, &[0xffff_ffff; 4 * OWORDS as usize])
        .unwrap();
    let (batch, request) = submit(rig, WRITE, OWORDS, OWORDS);
    request.wait(SHORT).unwrap();
    batch.unbind();
    for number in 0..OWORDS {
        let mut bytes = [0; 16];
        out.read(number as usize * 16, &mut bytes).unwrap();
        let dwords = bytes
            .as_chunks::<4>()
            .0
            .iter()
            .map(|b| u32::from_le_bytes(*b));
        assert!(dwords.eq([number; 4]), "thread {number}");
    }
}

#[test]
fn a_batch_of_threads_runs() {
    let rig = Rig::new();
    let out = rig.object(OUT, 4096, &[]);
    works(&rig, &out);
    works(&rig, &out);
    drop(out);
    rig.finish();
}

/// Data from memory come behind the inline data, in a register of their own; what is missing of it is 0.
#[test]
fn threads_get_indirect_data() {
    let rig = Rig::new();
    let out = rig.object(OUT, 4096, &[]);
    out.write_dwords(0x804, &[0x5555_0001, 0x5555_0002])
        .unwrap();
    let (batch, request) = submit_with(&rig, INDIRECT, OWORDS, |batch, out| {
        let words = batch.state(64, &[7, 8, 9]);
        let data = [
            (Data::State(words), 12),
            (Data::Buffer(out, 0x804), 8),
            (Data::Buffer(out, 0x808), 4),
        ];
        for (number, (from, bytes)) in (0..).zip(data) {
            batch
                .root(
                    ops(40),
                    &Root {
                        inline: &[number],
                        indirect: Some(Indirect { from, bytes }),
                        ..Root::default()
                    },
                )
                .unwrap();
        }
    });
    request.wait(SHORT).unwrap();
    batch.unbind();
    let expected = [
        [7, 8, 9, 0],
        [0x5555_0001, 0x5555_0002, 0, 0],
        [0x5555_0002, 0, 0, 0],
    ];
    for (number, expected) in expected.into_iter().enumerate() {
        let mut bytes = [0; 16];
        out.read(number * 16, &mut bytes).unwrap();
        let dwords = bytes
            .as_chunks::<4>()
            .0
            .iter()
            .map(|b| u32::from_le_bytes(*b));
        assert!(dwords.eq(expected), "thread {number}");
    }
    drop((out, batch, request));
    rig.finish();
}

#[test]
fn a_hung_batch_is_reset_and_the_next_one_runs() {
    for (name, text) in [
        ("wait", WAIT),
        ("circle", CIRCLE),
        ("silent", SILENT),
        ("fault", FAULT),
    ] {
        let rig = Rig::new();
        let out = rig.object(OUT, 4096, &[]);
        works(&rig, &out);
        let (batch, request) = submit(&rig, text, OWORDS, 40);
        assert!(request.wait(SHORT).is_err(), "{name}");
        assert!(!request.is_complete(), "{name}");
        rig.device.reset().unwrap();
        assert!(
            request.wait(SHORT).is_err(),
            "{name}: the request ends with an error"
        );
        drop((batch, request));
        let _ = rig.device.take_error_state();
        works(&rig, &out);
        drop(out);
        rig.finish_after_fault();
    }
}
