//! Literal descriptors of the later generations and what they ask for.
//!
//! Words of Mesa 22.3.6: src/intel/tools/tests/gen4.5/send.asm and gen5/send.asm, and its shaders for G45 (8086:2e22) and Ironlake
//! (8086:0046). Words of intel-vaapi-driver: h264/mc/header.inc, h264/ildb/ILDB_header.inc. Other words are put together from the fields of
//! Mesa's brw_eu.h and brw_eu_emit.c. PRM: volume 4, 4.8.1.1, 5.10.1.1, 6.1.1, 7.1.1, 8.4.2.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod sampler;

use crate::intel::r#gen::{gen40, gen45, gen50};
use crate::intel::shared::context::sfid;
use crate::intel::shared::dataport::request::{
    Cache, Form, LineOverride, OwordBlock, ReadKind, ReadRequest, WriteKind, WriteRequest,
};
use crate::intel::shared::dataport::rules;
use crate::intel::shared::gateway::{GatewayOp, GatewayRequest};
use crate::intel::shared::math::{Function, MathRequest};
use crate::intel::shared::message::{Descriptor, MessageSet, Request};
use crate::intel::shared::spawner::SpawnerRequest;
use crate::intel::shared::urb_msg::{Swizzle, UrbOp, UrbRequest};

const G45: &dyn MessageSet = &gen45::message::Messages;
const ILK: &dyn MessageSet = &gen50::message::Messages;

/// What a set makes of a descriptor with so many registers.
fn request(
    set: &dyn MessageSet,
    sfid: u8,
    desc: u32,
    length: usize,
) -> Result<Request, &'static str> {
    set.request(Descriptor {
        function: sfid,
        length: length as u8,
        desc,
    })
}

/// A word of Ironlake, whose message length is in 28:25.
fn ironlake(sfid: u8, desc: u32) -> Result<Request, &'static str> {
    request(ILK, sfid, desc, (desc >> 25 & 0xf) as usize)
}

/// A word of G45: message length in 23:20, function in 27:24.
fn g45(desc: u32) -> Result<Request, &'static str> {
    request(
        G45,
        (desc >> 24 & 0xf) as u8,
        desc,
        (desc >> 20 & 0xf) as usize,
    )
}

/// `inv scalar` of both devices as Mesa's setup threads send it; a signed remainder.
#[test]
fn math_words_have_their_fields_where_they_were() {
    let inv = Request::Math(MathRequest {
        function: Some(Function::Inv),
        signed: false,
        saturate: false,
        scalar: true,
    });
    assert_eq!(ironlake(sfid::MATH, 0x0210_0081), Ok(inv));
    assert_eq!(g45(0x0111_0081), Ok(inv));
    let modulo = Request::Math(MathRequest {
        function: Some(Function::IntDivRemainder),
        signed: true,
        saturate: true,
        scalar: false,
    });
    assert_eq!(ironlake(sfid::MATH, 0x0410_005d), Ok(modulo));
    assert_eq!(g45(0x0121_005d), Ok(modulo));
}

const WRITE: UrbRequest = UrbRequest {
    op: Some(UrbOp::Write),
    offset: 0,
    swizzle: Some(Swizzle::None),
    allocate: false,
    used: false,
    complete: false,
};

/// Words of clip, setup and vertex threads.
#[test]
fn urb_words_have_their_fields_where_they_were() {
    let clip = UrbRequest {
        allocate: true,
        used: true,
        complete: true,
        ..WRITE
    };
    let setup = UrbRequest {
        offset: 4,
        swizzle: Some(Swizzle::Transposed),
        used: true,
        complete: true,
        ..WRITE
    };
    let vertex = UrbRequest {
        swizzle: Some(Swizzle::Interleaved),
        used: true,
        complete: true,
        ..WRITE
    };
    for (word, want) in [
        (0x0818_e000, clip),
        (0x8808_c840, setup),
        (0x8a08_c400, vertex),
    ] {
        assert_eq!(
            ironlake(sfid::URB, word),
            Ok(Request::Urb(want)),
            "{word:#x}"
        );
    }
    assert_eq!(g45(0x8650_c400), Ok(Request::Urb(vertex)));
}

/// The word of Ironlake's clip threads; G45 has no such opcode.
#[test]
fn ff_sync_is_an_opcode_of_ironlake() {
    let sync = UrbRequest {
        op: Some(UrbOp::Sync),
        allocate: true,
        ..WRITE
    };
    assert_eq!(ironlake(sfid::URB, 0x0218_2001), Ok(Request::Urb(sync)));
    let unknown = UrbRequest { op: None, ..sync };
    assert_eq!(g45(0x0611_2001), Ok(Request::Urb(unknown)));
}

fn read(surface: u8, cache: Cache, kind: ReadKind) -> Request {
    Request::Read(ReadRequest {
        elements: false,
        surface,
        cache,
        kind,
    })
}

/// Type in 13:11 and control in 10:8, on Ironlake behind bit 19.
#[test]
fn read_messages_have_their_type_in_three_bits() {
    let block = ReadKind::Block(Some(OwordBlock {
        count: 4,
        high: false,
    }));
    let lines = LineOverride {
        stride: true,
        offset: true,
    };
    for (control, want) in [
        // Vertex threads: scratch and constants (Mesa's words 0421_50ff and 0421_1000).
        (
            0x50ff,
            read(0xff, Cache::Render, ReadKind::DualBlock(Some(1))),
        ),
        (0x1000, read(0, Cache::Data, ReadKind::DualBlock(Some(1)))),
        (0x1205, read(5, Cache::Data, ReadKind::DualBlock(Some(4)))),
        (0x0305, read(5, Cache::Data, block)),
        (0x6003, read(3, Cache::Render, ReadKind::Media(None))),
        (0x6703, read(3, Cache::Render, ReadKind::Media(Some(lines)))),
        (
            0xb301,
            read(1, Cache::Sampler, ReadKind::Scattered(Some(2))),
        ),
        // No message has these types.
        (0x2800, read(0, Cache::Data, ReadKind::Reserved)),
        (0x3800, read(0, Cache::Data, ReadKind::Reserved)),
    ] {
        let g45 = request(G45, sfid::DATAPORT_READ, control, 1);
        assert_eq!(g45, Ok(want), "{control:#x}");
        let ilk = request(ILK, sfid::DATAPORT_READ, 1 << 19 | control, 1);
        assert_eq!(ilk, Ok(want), "{control:#x}");
    }
    // The same word is another message on 965: type in 13:12, control in 11:8.
    assert_eq!(
        gen40::message::read(0x1000).kind,
        ReadKind::DualBlock(Some(1))
    );
    assert_eq!(gen40::message::read(0x2000).kind, ReadKind::Media(None));
}

/// Words of the kernels that decode H.264 on Ironlake and on G45 ("pre DEV_ILK"): rectangles of the frame and of its fields, through the
/// render cache and the sampler cache, which Ironlake has twice.
#[test]
fn rectangles_of_video_kernels() {
    let field = |offset| {
        ReadKind::Media(Some(LineOverride {
            stride: true,
            offset,
        }))
    };
    let frame = ReadKind::Media(None);
    for (ilk, older, cache, kind) in [
        (0x0208_6000, 0x0410_6000, Cache::Render, frame),
        (0x0208_6600, 0x0410_6600, Cache::Render, field(false)),
        (0x0208_6700, 0x0410_6700, Cache::Render, field(true)),
        (0x0208_a000, 0x0410_a000, Cache::Sampler, frame),
        (0x0208_e600, 0x0410_a600, Cache::Sampler, field(false)),
        (0x0208_e700, 0x0410_a700, Cache::Sampler, field(true)),
    ] {
        let want = Ok(read(0, cache, kind));
        assert_eq!(ironlake(sfid::DATAPORT_READ, ilk), want, "{ilk:#x}");
        assert_eq!(g45(older), want, "{older:#x}");
    }
    let commit = Request::Write(WriteRequest {
        elements: false,
        surface: 0,
        commit: true,
        kind: WriteKind::Media(None),
    });
    assert_eq!(ironlake(sfid::DATAPORT_WRITE, 0x0218_a000), Ok(commit));
    assert_eq!(g45(0x0511_a000), Ok(commit));
    // 965 and G45 have three caches.
    let reserved = read(0, Cache::Reserved, ReadKind::Media(None));
    assert_eq!(g45(0x0410_e000), Ok(reserved));
}

/// The second is the word for the control data of the deblocking filter.
#[test]
fn reads_without_a_description_are_told() {
    for (set, header) in [(G45, 0), (ILK, 1 << 19)] {
        let read = |control: u32| request(set, sfid::DATAPORT_READ, header | control, 1);
        assert_eq!(read(1 << 11), Err("render target UNORM read"));
        assert_eq!(read(0x5800), Err("AVC loop filter read"));
    }
}

fn target(surface: u8, form: Form, last: bool) -> Request {
    Request::Write(WriteRequest {
        elements: false,
        surface,
        commit: false,
        kind: WriteKind::RenderTarget {
            form: Some(form),
            last,
        },
    })
}

/// Words of Mesa's pixel shaders, dual source among them, and of a vertex shader's scratch; a flush.
#[test]
fn write_messages_are_where_they_were() {
    for (word, want) in [
        (0x9408_4800, target(0, Form::Single16, true)),
        (0x1408_4002, target(2, Form::Single16, false)),
        (0x8c08_4c00, target(0, Form::Single8, true)),
        (0x1408_4a00, target(0, Form::Dual8 { upper: false }, true)),
        (0x9408_4b00, target(0, Form::Dual8 { upper: true }, true)),
    ] {
        assert_eq!(ironlake(sfid::DATAPORT_WRITE, word), Ok(want), "{word:#x}");
    }
    assert_eq!(g45(0x85a0_4800), Ok(target(0, Form::Single16, true)));
    let scratch = Request::Write(WriteRequest {
        elements: false,
        surface: 255,
        commit: true,
        kind: WriteKind::DualBlock(Some(1)),
    });
    assert_eq!(ironlake(sfid::DATAPORT_WRITE, 0x0618_90ff), Ok(scratch));
    assert_eq!(g45(0x0531_90ff), Ok(scratch));
    let flush = Request::Write(WriteRequest {
        elements: false,
        surface: 0,
        commit: true,
        kind: WriteKind::Flush,
    });
    assert_eq!(ironlake(sfid::DATAPORT_WRITE, 0x0218_f000), Ok(flush));
}

#[test]
fn ironlake_asks_for_headers() {
    let header = Ok(Request::Broken("DP", rules::HEADER));
    assert_eq!(ironlake(sfid::DATAPORT_WRITE, 0x9000_4800), header);
    assert_eq!(ironlake(sfid::DATAPORT_READ, 0x0210_1000), header);
    for word in [0x0800_c000, 0x0210_2001] {
        let urb = ironlake(sfid::URB, word);
        assert!(matches!(urb, Ok(Request::Broken("URB", _))), "{urb:?}");
    }
}

/// Words of the same kernels: a message to a parent, a child to start, the last messages of a root thread and of a child. Bit 16 is the
/// gateway's second bit of Notify, of which the text (7.1.1) says that it is no part of the message.
#[test]
fn gateway_and_spawner_words_are_the_same() {
    let gateway = |op, acknowledge, notify| {
        Ok(Request::Gateway(GatewayRequest {
            op,
            acknowledge,
            notify,
            tid: 7,
        }))
    };
    let open = gateway(GatewayOp::Open, false, false);
    let close = gateway(GatewayOp::Close, false, false);
    let forward = gateway(GatewayOp::Forward, false, true);
    for (ilk, older, want) in [
        (0x0200_0000, 0x0310_0000, open),
        (0x0200_0001, 0x0310_0001, close),
        (0x0200_8002, 0x0310_8002, forward),
    ] {
        assert_eq!(ironlake(sfid::GATEWAY, ilk), want);
        assert_eq!(ironlake(sfid::GATEWAY, ilk | 1 << 16), want);
        assert_eq!(g45(older), want);
    }
    let acknowledged = gateway(GatewayOp::Open, true, false);
    assert_eq!(ironlake(sfid::GATEWAY, 0x0210_4000), acknowledged);
    let spawner = |spawn, child, select| {
        Ok(Request::Spawner(SpawnerRequest {
            spawn,
            child,
            select,
            reserved: false,
        }))
    };
    for (ilk, older, want) in [
        (0x0200_0001, 0x0710_0001, spawner(true, false, false)),
        (0x0200_0011, 0x0710_0011, spawner(true, false, true)),
        (0x0200_0000, 0x8710_0000, spawner(false, false, false)),
        (0x0200_0012, 0x8710_0012, spawner(false, true, true)),
    ] {
        assert_eq!(ironlake(sfid::SPAWNER, ilk), want);
        assert_eq!(g45(older), want);
    }
    for set in [G45, ILK] {
        assert_eq!(request(set, sfid::NULL, 0, 1), Ok(Request::Null));
        assert_eq!(request(set, 9, 0, 1), Ok(Request::Unknown));
    }
}
