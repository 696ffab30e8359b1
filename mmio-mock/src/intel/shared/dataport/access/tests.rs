//! Accesses by channel beside Mesa's payloads and plain arithmetic.
#![allow(clippy::unwrap_used, reason = "tests")]

mod texels;

use eu::{FloatMode, ThreadId};
use regs::gen40::{SurfaceState, values};

use super::*;
use crate::intel::shared::StateBases;
use crate::intel::surface::{SurfaceDesc, SurfaceKind};

const STATE: u32 = 0x1_0000;
const DATA: u32 = 0x2_0000;
/// Surface format RAW of genxml gen7.
const RAW: u32 = 0x1ff;

/// The channels of a register, which are numbered by these registers from `first` on.
fn count(first: u32, step: u32) -> Grf {
    std::array::from_fn(|n| first + n as u32 * step)
}

struct Bench {
    mem: Memory,
    ctx: ThreadContext,
    port: DataPort,
    local: Vec<u8>,
}

impl Bench {
    /// Memory whose data dwords hold their own number, and 1 KB of local memory.
    fn new() -> Self {
        let mut mem = Memory::new(1 << 20, 1 << 12);
        mem.alloc_mapped(GpuAddr::from(STATE), 0x1000).unwrap();
        mem.alloc_mapped(GpuAddr::from(DATA), 0x8000).unwrap();
        for n in 0..0x2000 {
            mem.write_u32(GpuAddr::from(DATA + n * 4), n).unwrap();
        }
        let bases = StateBases {
            general_state_base: DATA - 0x1000,
            surface_state_base: STATE,
            ..StateBases::default()
        };
        Bench {
            mem,
            ctx: ThreadContext {
                bases,
                binding_table_pointer: 0x100,
                ..ThreadContext::default()
            },
            port: DataPort::new(&crate::intel::r#gen::gen40::functions::Reader),
            local: vec![0; 1 << 10],
        }
    }

    fn bind(&mut self, state: SurfaceState) {
        let at = GpuAddr::from(STATE + 0x600);
        self.mem.write_dwords(at, state.dwords()).unwrap();
        let entry = GpuAddr::from(STATE + 0x100 + 12);
        self.mem.write_u32(entry, 0x600).unwrap();
        self.port.invalidate();
    }

    /// A buffer of so many bytes at index 3.
    fn bind_bytes(&mut self, bytes: u32) {
        let last = bytes - 1;
        self.bind(
            SurfaceState::new()
                .with_surface_type(values::surftype::SURFTYPE_BUFFER)
                .with_surface_format(RAW)
                .with_surface_base_address(DATA)
                .with_width(last & 0x7f)
                .with_height(last >> 7 & 0x1fff),
        );
    }

    /// 8x4 texels of a format at index 3.
    fn bind_texels(&mut self, format: u32) {
        self.bind(
            SurfaceState::new()
                .with_surface_type(values::surftype::SURFTYPE_2D)
                .with_surface_format(format)
                .with_surface_base_address(DATA)
                .with_width(7)
                .with_height(3)
                .with_surface_pitch(32 - 1),
        );
    }

    fn send(
        &mut self,
        access: Access,
        mask: u16,
        payload: &[Grf],
        registers: usize,
    ) -> Result<Vec<Grf>, UnitFault> {
        let mut response = vec![[0xdead_beef; 8]; registers];
        let msg = Message {
            thread: ThreadId::default(),
            sfid: 10,
            function_control: 0,
            desc: 0,
            response_length: registers as u8,
            eot: false,
            exec_mask: mask,
            exec_size: 16,
            payload,
            ip: 0,
            float_mode: FloatMode::Ieee,
        };
        let local = self.local.as_mut_slice();
        let memory = (&mut self.mem, Some(local));
        self.port
            .access(access, &msg, &mut response, memory, &self.ctx)?;
        Ok(response)
    }

    fn dword(&self, n: u32) -> u32 {
        self.mem.read_u32(GpuAddr::from(DATA + n * 4)).unwrap()
    }
}

const fn of(kind: AccessKind) -> Access {
    Access {
        surface: 3,
        header: false,
        kind,
    }
}

const fn typed(kind: AccessKind) -> Access {
    Access {
        surface: 3,
        header: true,
        kind,
    }
}

const EIGHT: Option<Lanes> = Some(Lanes::Simd8);
const SIXTEEN: Option<Lanes> = Some(Lanes::Simd16);

#[test]
fn dwords_are_read_by_channel_and_nothing_past_the_end() {
    let mut bench = Bench::new();
    bench.bind_bytes(40);
    let read = of(AccessKind::Read {
        lanes: EIGHT,
        parts: 0b0101,
    });
    // Bytes 0, 8, .. 56; two low bits do not count.
    let got = bench.send(read, 0b0111_1011, &[count(1, 8)], 2).unwrap();
    assert_eq!(got[0], [0, 2, 0xdead_beef, 6, 8, 0, 0, 0xdead_beef]);
    // The third dword behind the address.
    assert_eq!(got[1], [2, 4, 0xdead_beef, 8, 0, 0, 0, 0xdead_beef]);
    assert_eq!(bench.port.outside[&3].reads, 5 * 4);
}

#[test]
fn sixteen_channels_have_two_registers_for_each_parameter() {
    let mut bench = Bench::new();
    bench.bind_bytes(4096);
    let read = of(AccessKind::Read {
        lanes: SIXTEEN,
        parts: 0b0011,
    });
    let payload = [count(0, 16), count(256, 16)];
    let got = bench.send(read, 0xffff, &payload, 4).unwrap();
    assert_eq!(
        got,
        [count(0, 4), count(64, 4), count(1, 4), count(65, 4)].to_vec()
    );
    let write = of(AccessKind::Write {
        lanes: SIXTEEN,
        parts: 1,
    });
    let payload = [count(0, 4), count(32, 4), count(100, 1), count(108, 1)];
    bench.send(write, 0x8001, &payload, 0).unwrap();
    assert_eq!((bench.dword(0), bench.dword(1)), (100, 1));
    assert_eq!((bench.dword(14), bench.dword(15)), (14, 115));
    // Lengths have to fit.
    assert!(bench.send(write, 1, &payload[..3], 0).is_err());
    assert!(bench.send(read, 1, &payload[..2], 3).is_err());
}

#[test]
fn two_slots_share_a_register() {
    let mut bench = Bench::new();
    bench.bind_bytes(4096);
    let read = of(AccessKind::Read {
        lanes: Some(Lanes::Simd4x2),
        parts: 15,
    });
    let payload = [[16, 0, 0, 0, 64, 0, 0, 0]];
    let got = bench.send(read, 0xff, &payload, 1).unwrap();
    assert_eq!(got[0], [4, 5, 6, 7, 16, 17, 18, 19]);
    let got = bench.send(read, 0xf0, &payload, 1).unwrap();
    assert_eq!(got[0][..4], [0xdead_beef; 4]);
}

#[test]
fn the_pixel_mask_of_a_header_counts() {
    let mut bench = Bench::new();
    bench.bind_bytes(4096);
    let write = Access {
        header: true,
        ..of(AccessKind::Write {
            lanes: EIGHT,
            parts: 1,
        })
    };
    let header = [0, 0, 0, 0, 0, 0, 0, 0b10];
    let payload = [header, count(0, 4), count(70, 1)];
    bench.send(write, 0b11, &payload, 0).unwrap();
    assert_eq!((bench.dword(0), bench.dword(1)), (0, 71));
}

#[test]
fn atomic_operations_answer_what_was_there_before() {
    let mut bench = Bench::new();
    bench.bind_bytes(64);
    let atomic = |op, answer| {
        of(AccessKind::Atomic {
            lanes: EIGHT,
            op: Some(op),
            answer,
        })
    };
    // All channels at one place, in their order.
    let add = atomic(AtomicOp::Add, true);
    let got = bench.send(add, 0xff, &[[8; 8], count(1, 1)], 1).unwrap();
    assert_eq!(got[0], [2, 3, 5, 8, 12, 17, 23, 30]);
    assert_eq!(bench.dword(2), 2 + 36);
    let count_down = atomic(AtomicOp::PreDecrement, true);
    let got = bench.send(count_down, 0b11, &[[8; 8]], 1).unwrap();
    assert_eq!(got[0][..2], [37, 36]);
    // The compared value comes first.
    let exchange = atomic(AtomicOp::CompareWrite, true);
    let payload = [[8; 8], [36; 8], count(5, 1)];
    let got = bench.send(exchange, 0b11, &payload, 1).unwrap();
    assert_eq!((got[0][0], got[0][1], bench.dword(2)), (36, 5, 5));
    // Past the end: nothing, and zero.
    let got = bench.send(add, 1, &[[64; 8], [1; 8]], 1).unwrap();
    assert_eq!((got[0][0], bench.dword(16)), (0, 16));
}

/// The names of Mesa's `BRW_AOP_*` as arithmetic.
#[test]
fn operations_by_their_numbers() {
    let minus = -7i32 as u32;
    for (number, old, sources, new) in [
        (1, 0b1100, [0b1010, 0], 0b1000),
        (2, 0b1100, [0b1010, 0], 0b1110),
        (3, 0b1100, [0b1010, 0], 0b0110),
        (4, 5, [9, 0], 9),
        (5, u32::MAX, [9, 0], 0),
        (6, 0, [9, 0], u32::MAX),
        (7, u32::MAX, [2, 0], 1),
        (8, 1, [2, 0], u32::MAX),
        (9, 1, [3, 0], 2),
        (10, minus, [3, 0], 3),
        (11, minus, [3, 0], minus),
        (12, minus, [3, 0], minus),
        (13, minus, [3, 0], 3),
        (14, 4, [4, 8], 8),
        (14, 5, [4, 8], 5),
        (15, 4, [0, 0], 3),
    ] {
        let op = AtomicOp::of(number).unwrap();
        assert_eq!(op.apply(old, sources), new, "{op:?}");
    }
    assert_eq!(AtomicOp::of(0), None);
    assert_eq!(AtomicOp::of(16), None);
}

#[test]
fn local_memory_ends_where_the_group_s_does() {
    let mut bench = Bench::new();
    let local = |kind| Access {
        surface: LOCAL,
        ..of(kind)
    };
    let write = local(AccessKind::Write {
        lanes: EIGHT,
        parts: 1,
    });
    bench
        .send(write, 0xff, &[count(1000, 4), count(1, 1)], 0)
        .unwrap();
    assert_eq!(bench.local[1000..1004], [1, 0, 0, 0]);
    assert_eq!(bench.local[1020..], [6, 0, 0, 0]);
    let bytes = local(AccessKind::Bytes {
        write: false,
        lanes: Lanes::Simd8,
        size: Some(1),
    });
    let got = bench.send(bytes, 0xff, &[count(1017, 1)], 1).unwrap();
    assert_eq!(got[0], [0, 0, 0, 6, 0, 0, 0, 0]);
    assert_eq!(bench.port.outside[&LOCAL].writes, 2 * 4);
}

#[test]
fn bytes_and_words_lie_in_the_low_bits() {
    let mut bench = Bench::new();
    bench.bind_bytes(4096);
    let words = |write| {
        of(AccessKind::Bytes {
            write,
            lanes: Lanes::Simd8,
            size: Some(2),
        })
    };
    let payload = [count(3, 2), [0xffff_1234; 8]];
    bench.send(words(true), 0b1, &payload, 0).unwrap();
    assert_eq!((bench.dword(0), bench.dword(1)), (0x3400_0000, 0x12));
    let got = bench.send(words(false), 0b11, &payload[..1], 1).unwrap();
    assert_eq!(got[0][..2], [0x1234, 0]);
}

/// Offsets of scattered dwords count dwords (PRM vol4 5.10.5); the last one is in the buffer, the next is not.
#[test]
fn scattered_dwords_are_counted_by_dwords() {
    let mut bench = Bench::new();
    bench.bind_bytes(4096);
    let dwords = |write| {
        of(AccessKind::Dwords {
            write,
            lanes: Lanes::Simd16,
        })
    };
    let offsets = [count(100, 3), count(1020, 1)];
    let got = bench.send(dwords(false), 0x0fff, &offsets, 2).unwrap();
    assert_eq!(got[0], count(100, 3));
    assert_eq!(got[1][..5], [1020, 1021, 1022, 1023, 0xdead_beef]);
    let past = bench.send(dwords(false), 0xf000, &offsets, 2).unwrap();
    assert_eq!(past[1][4..], [0; 4]);
    let payload = [offsets[0], offsets[1], [7; 8], [8; 8]];
    bench.send(dwords(true), 0xf101, &payload, 0).unwrap();
    let dwords = [100, 103, 1020, 1021, 1024].map(|n| bench.dword(n));
    assert_eq!(dwords, [7, 103, 8, 1021, 1024]);
}

#[test]
fn structures_are_addressed_by_number_and_offset() {
    let state = SurfaceState::new()
        .with_surface_type(values::surftype::SURFTYPE_BUFFER)
        .with_surface_base_address(DATA)
        .with_width(3)
        .with_surface_pitch(12 - 1);
    let desc = crate::intel::r#gen::gen40::surface::surface(state.dwords());
    let raw = Raw::new(&SurfaceDesc {
        kind: Ok(SurfaceKind::Structured),
        ..desc
    })
    .unwrap();
    assert_eq!(raw.parameters(), 2);
    let at = |n| Some(GpuAddr::from(DATA + n));
    assert_eq!(raw.at(2, 4, 4), at(28));
    assert_eq!(raw.at(3, 8, 4), at(44));
    assert_eq!(raw.at(4, 0, 4), None);
    assert_eq!(raw.at(0, 12, 4), None);
}

#[test]
fn scratch_blocks_lie_behind_the_thread_s_base() {
    let mut bench = Bench::new();
    let scratch = |write| {
        typed(AccessKind::Scratch {
            write,
            registers: Some(2),
            offset: 3,
            dwords: false,
        })
    };
    // General state begins 1000h bytes before the data; r0.5 has the thread's number in its low bits.
    let header = [0, 0, 0, 0, 0, 0x1000 | 7, 0, 0];
    let payload = [header, count(1000, 1), count(2000, 1)];
    bench.send(scratch(true), 0x10ff, &payload, 0).unwrap();
    assert_eq!(
        (bench.dword(23), bench.dword(24), bench.dword(31)),
        (23, 1000, 1007)
    );
    // Of the second register the upper four channels, all of them for one.
    assert_eq!(
        (bench.dword(35), bench.dword(36), bench.dword(39)),
        (35, 2004, 2007)
    );
    let got = bench
        .send(scratch(false), 0xffff, &payload[..1], 2)
        .unwrap();
    assert_eq!(got[0], count(1000, 1));
    assert_eq!(got[1], [32, 33, 34, 35, 2004, 2005, 2006, 2007]);
}

#[test]
fn unaligned_blocks_begin_at_any_dword() {
    let mut bench = Bench::new();
    bench.bind_bytes(64);
    let read = typed(AccessKind::Unaligned(Some(OwordBlock {
        count: 2,
        high: false,
    })));
    let header = [0, 0, 20, 0, 0, 0, 0, 0];
    let got = bench.send(read, 0xff, &[header], 1).unwrap();
    assert_eq!(got[0], count(5, 1));
}
