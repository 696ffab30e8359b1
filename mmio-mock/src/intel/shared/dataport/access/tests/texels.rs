//! Typed messages beside Mesa's payloads and plain arithmetic.

use super::*;

/// Surface formats of Mesa's isl: R32_UINT, R16_UINT, R8_UINT, R16_SINT, R8G8B8A8_UNORM.
const R32_UINT: u32 = 0x0d7;
const R16_UINT: u32 = 0x10d;
const R8_UINT: u32 = 0x143;
const R16_SINT: u32 = 0x10c;
const RGBA8: u32 = 0x0c7;

#[test]
fn texels_are_written_as_their_format_has_them() {
    let mut bench = Bench::new();
    bench.bind_texels(RGBA8);
    let write = typed(AccessKind::TypedWrite {
        upper: false,
        parts: 15,
    });
    let one = 1f32.to_bits();
    let header = [0, 0, 0, 0, 0, 0, 0, 0x7f];
    let payload = [
        header,
        count(6, 1),
        [2; 8],
        [one; 8],
        [0; 8],
        [0.5f32.to_bits(); 8],
        [one; 8],
    ];
    bench.send(write, 0xff, &payload, 0).unwrap();
    // Rows of 32 bytes: columns 6 and 7 of row 2, and nothing of the row behind.
    assert_eq!((bench.dword(21), bench.dword(22)), (21, 0xff80_00ff));
    assert_eq!((bench.dword(23), bench.dword(24)), (0xff80_00ff, 24));
    // Such texels cannot be read.
    let read = typed(AccessKind::TypedRead {
        upper: false,
        parts: 1,
    });
    assert!(bench.send(read, 0xff, &payload[..3], 1).is_err());
}

#[test]
fn texels_of_a_dword_are_read_and_changed() {
    let mut bench = Bench::new();
    bench.bind_texels(R32_UINT);
    let header = [0, 0, 0, 0, 0, 0, 0, 0xff0f];
    let payload = [header, count(0, 1), [1; 8], [100; 8]];
    let read = |upper| typed(AccessKind::TypedRead { upper, parts: 1 });
    let got = bench.send(read(false), 0xff, &payload[..3], 1).unwrap();
    assert_eq!(got[0][..4], [8, 9, 10, 11]);
    // The mask of the upper half has all pixels.
    let got = bench.send(read(true), 0xff, &payload[..3], 1).unwrap();
    assert_eq!(got[0], count(8, 1));
    let atomic = typed(AccessKind::TypedAtomic {
        upper: false,
        op: Some(AtomicOp::Add),
        answer: true,
    });
    let got = bench.send(atomic, 0b11, &payload, 1).unwrap();
    assert_eq!((got[0][0], got[0][1]), (8, 9));
    assert_eq!((bench.dword(8), bench.dword(10)), (108, 10));
    // Below the last row.
    let outside = [header, [0; 8], [4; 8], [1; 8]];
    let got = bench.send(atomic, 1, &outside, 1).unwrap();
    assert_eq!((got[0][0], bench.dword(32)), (0, 32));
    assert!(bench.send(atomic, 1, &outside[..1], 1).is_err());
}

/// Mesa's isl_storage_image.c: typed reads of R8_UINT and R16_UINT "actually do a 32-bit misaligned read"; its kernels mask the high bits.
#[test]
fn bytes_and_words_are_read_as_the_dword_at_their_address() {
    let mut bench = Bench::new();
    bench
        .mem
        .write_u64(GpuAddr::from(DATA + 32), 0x8877_6655_4433_2211)
        .unwrap();
    let header = [0, 0, 0, 0, 0, 0, 0, 0xff];
    let payload = [header, count(0, 1), [1; 8]];
    let read = typed(AccessKind::TypedRead {
        upper: false,
        parts: 1,
    });
    bench.bind_texels(R16_UINT);
    let got = bench.send(read, 0b111, &payload, 1).unwrap();
    assert_eq!(got[0][..3], [0x4433_2211, 0x6655_4433, 0x8877_6655]);
    bench.bind_texels(R8_UINT);
    let got = bench.send(read, 0b1111, &payload, 1).unwrap();
    let bytes = [0x4433_2211, 0x5544_3322, 0x6655_4433, 0x7766_5544];
    assert_eq!(got[0][..4], bytes);
    // Below the last row.
    let got = bench.send(read, 1, &[header, [0; 8], [4; 8]], 1).unwrap();
    assert_eq!(got[0][0], 0);
    // Writes leave the neighbours.
    let write = typed(AccessKind::TypedWrite {
        upper: false,
        parts: 1,
    });
    let payload = [header, count(1, 1), [1; 8], [0xab; 8]];
    bench.send(write, 1, &payload, 0).unwrap();
    assert_eq!(bench.dword(8), 0x4433_ab11);
    // Others are refused, and all of them by atomic operations.
    let atomic = typed(AccessKind::TypedAtomic {
        upper: false,
        op: Some(AtomicOp::Add),
        answer: true,
    });
    assert!(bench.send(atomic, 1, &payload, 1).is_err());
    bench.bind_texels(R16_SINT);
    assert!(bench.send(read, 1, &payload[..3], 1).is_err());
}

/// The last word of mapped memory is read, though the dword at its address is not all there.
#[test]
fn a_word_at_the_end_of_memory_is_read() {
    let mut bench = Bench::new();
    let last = DATA + 0x8000 - 2;
    bench.mem.write_u16(GpuAddr::from(last), 0x1234).unwrap();
    bench.bind(
        SurfaceState::new()
            .with_surface_type(values::surftype::SURFTYPE_2D)
            .with_surface_format(R16_UINT)
            .with_surface_base_address(DATA + 0x8000 - 32)
            .with_width(15)
            .with_surface_pitch(32 - 1),
    );
    let read = typed(AccessKind::TypedRead {
        upper: false,
        parts: 1,
    });
    let payload = [[0, 0, 0, 0, 0, 0, 0, 0xff], [15; 8]];
    let got = bench.send(read, 1, &payload, 1).unwrap();
    assert_eq!(got[0][0] & 0xffff, 0x1234);
}
