//! Buffer messages: descriptors, masks, models and bounds.
//!
//! PRM: volume 4, 5.2, 5.3, 5.10.1, 5.10.2, 5.10.3, 5.10.5.

use super::*;

// covers: 5.2.1-01, 5.10.1.1-05, 5.10.1.2-04
#[test]
fn the_index_chooses_the_surface() {
    let mut bench = Bench::new();
    for (index, at, first) in [(0u32, 0x600, 0), (3, 0x620, 0x100), (254, 0x640, 0x200)] {
        let state = buffer(4).with_surface_base_address(DATA + first * 4);
        bench.bind_at(index, at, state);
    }
    // What follows the table is no entry: 255 has no place in it.
    bench.bind_at(
        255,
        0x660,
        buffer(4).with_surface_base_address(DATA + 0x1000),
    );
    let mut head = header(0);
    // M0.4 is the hardware's own: the table that counts is the thread's.
    head[4] = 0x7777_7777;
    for (index, first) in [(0, 0), (3, 0x100), (254, 0x200)] {
        let mut w = [KEEP];
        bench.read(2 << 8 | index, 0xff, &[head], &mut w);
        assert_eq!(w[0], up(first), "index {index}");
    }
    head[5] = 0x1400;
    let mut w = [KEEP];
    bench.read(2 << 8 | 255, 0xff, &[head], &mut w);
    assert_eq!(w[0], up(0x100), "base of the header");
}

// covers: 5.10.1.1-01, 5.10.1.1-02, 5.10.1.1-04, 5.10.1.1-06, 5.5-01
#[test]
fn message_types_and_models() {
    let mut bench = Bench::new();
    bench.bind_buffer(64);
    let offsets = [0x40, 0x60, 0x10, 0x20, 0x80, 0x50, 0x30, 0x70];
    // Type, block size, message behind the header, what the first response register holds.
    let reads: [(u16, u16, &[Grf], Grf); 3] = [
        (0, 2 << 8, &[], up(4)),
        (1, 0, &[offsets], [20, 21, 22, 23, 36, 37, 38, 39]),
        (3, 2 << 8, &[offsets], offsets.map(|n| 4 + n / 4)),
    ];
    for (index, base) in [(3u16, 0), (255, 0x1000)] {
        let mut head = header(0x10);
        head[5] = base;
        for (kind, size, body, want) in reads {
            let payload = [&[head][..], body].concat();
            for cache in [0u16, 1, 2] {
                let control = cache << 14 | kind << 12 | size | index;
                let mut w = [KEEP];
                bench.read(control, 0xff, &payload, &mut w);
                assert_eq!(w[0], want, "{control:#x}");
            }
            // The same numbers are the types of writes; bit 15 is the commit there.
            let data = up(0x5000 + u32::from(kind) * 0x100 + u32::from(index));
            let payload = [&[head][..], body, &[data]].concat();
            bench.write(kind << 12 | size | index, 0xff, &payload);
            let mut w = [KEEP];
            let payload = [&[head][..], body].concat();
            bench.read(kind << 12 | size | index, 0xff, &payload, &mut w);
            assert_eq!(w[0], data, "write of type {kind}");
            for n in 0..64 {
                bench.mem.write_u32(GpuAddr::from(DATA + n * 4), n).unwrap();
            }
        }
    }
}

// covers: 5.2.2-01, 5.10.1.2-03
#[test]
fn stateless_accesses_know_no_size_but_the_bound() {
    let mut bench = Bench::new();
    let mut head = header(0x7000);
    // 31:10 is the base, 9:0 is not.
    head[5] = 0x1000 | 0x3ff;
    let mut w = [KEEP];
    bench.read(2 << 8 | 255, 0xff, &[head], &mut w);
    assert_eq!(w[0], up(0x1c00));
    bench.ctx.bases.general_state_upper_bound = DATA + 0x7010;
    bench.read(2 << 8 | 255, 0xff, &[head], &mut w);
    assert_eq!(w[0][..4], up(0x1c00)[..4]);
    assert_eq!(w[0][4..], [0; 4], "past the bound");
    bench.write(2 << 8 | 255, 0xff, &[head, [7; 8]]);
    assert_eq!(bench.dwords(0x1c00, 5), [7, 7, 7, 7, 0x1c04]);
    bench.write(
        3 << 12 | 2 << 8 | 255,
        3,
        &[head, [0, 0x10, 0, 0, 0, 0, 0, 0], [8; 8]],
    );
    assert_eq!(bench.dwords(0x1c00, 5), [8, 7, 7, 7, 0x1c04]);
}

// covers: 5.5-02, 5.10.2-02
#[test]
fn formats_and_pitches_mean_nothing_to_buffers() {
    let mut bench = Bench::new();
    let bits = [
        0x7fc0_1234,
        0xff80_0001,
        0x8000_0000,
        0x0000_0001,
        0xdead_beef,
        0,
        1,
        2,
    ];
    for format in [
        f::RGBA32F,
        f::BGRA8,
        f::R32_UINT,
        f::R16_UINT,
        f::R8_UINT,
        f::YCRCB_NORMAL,
    ] {
        for pitch in [0, 3, 255] {
            let state = buffer(2)
                .with_surface_format(format)
                .with_surface_pitch(pitch);
            bench.bind(state);
            bench.write(2 << 8 | 3, 0xff, &[header(0), bits]);
            assert_eq!(bench.dwords(0, 9)[..8], bits);
            let mut w = [KEEP; 2];
            bench.read(3 << 8 | 3, 0xffff, &[header(0x10)], &mut w);
            // Two elements of 16 bytes, whatever the pitch.
            assert_eq!(w[0][..4], bits[4..], "format {format:#x}");
            assert_eq!((&w[0][4..], w[1]), (&[0; 4][..], [0; 8]));
        }
    }
}

// covers: 5.10.2-01, 5.10.2-04, 5.10.2-05, 5.10.2-10
#[test]
fn each_mask_bit_writes_its_dword_of_two_registers() {
    let payload = [header(0x20), up(100), up(200), up(300), up(400)];
    for bit in 0..16u32 {
        let mut bench = Bench::new();
        bench.bind_buffer(64);
        bench.write(4 << 8 | 3, 1 << bit, &payload);
        let mut want: Vec<u32> = (0..64).collect();
        // Low bits serve M1 and M3, high ones M2 and M4; a register is two OWords.
        let (first, dword) = (bit / 8, bit % 8);
        for register in [first, first + 2] {
            want[(8 + register * 8 + dword) as usize] = 100 + register * 100 + dword;
        }
        assert_eq!(bench.dwords(0, 64), want, "bit {bit}");
    }
    for (size, owords) in [(0u16, 1u32), (2, 2), (3, 4), (4, 8)] {
        let mut bench = Bench::new();
        bench.bind_buffer(64);
        let registers = owords.div_ceil(2) as usize;
        bench.write(size << 8 | 3, 0xffff, &payload[..=registers]);
        let data = payload[1..].as_flattened().iter().copied();
        let want: Vec<u32> = data.take(owords as usize * 4).collect();
        assert_eq!(bench.dwords(8, owords * 4), want);
        assert_eq!(bench.dwords(8 + owords * 4, 1), [8 + owords * 4]);
    }
}

// covers: 5.10.2-06, 5.10.2-09, 5.10.2-11
#[test]
fn single_owords_look_at_their_half_of_the_low_bits() {
    let mut bench = Bench::new();
    bench.bind_buffer(64);
    for (size, half, mine) in [(0u16, 0usize, 0x000f), (1, 4, 0x00f0)] {
        for bit in 0..16 {
            let mut w = [KEEP];
            bench.read(size << 8 | 3, 1 << bit, &[header(0x40)], &mut w);
            let mut want = KEEP;
            if mine >> bit & 1 != 0 {
                want[half..half + 4].copy_from_slice(&[16, 17, 18, 19]);
            }
            assert_eq!(w[0], want, "size {size} bit {bit}");
        }
        for bit in 0..16u32 {
            let mut bench = Bench::new();
            bench.bind_buffer(64);
            bench.write(size << 8 | 3, 1 << bit, &[header(0x40), up(90)]);
            let mut want = vec![16, 17, 18, 19, 20];
            if mine >> bit & 1 != 0 {
                want[bit as usize % 4] = 90 + bit;
            }
            assert_eq!(bench.dwords(16, 5), want, "size {size} bit {bit}");
        }
    }
}

// covers: 5.10.2-11, 5.10.1.2-05
#[test]
fn low_bits_of_offsets_are_discarded() {
    let mut bench = Bench::new();
    bench.bind_buffer(64);
    for low in [0, 4, 12, 15] {
        let mut w = [KEEP];
        bench.read(2 << 8 | 3, 0xff, &[header(0x40 + low)], &mut w);
        assert_eq!(w[0], up(16), "bytes {low}");
    }
    let mut w = [KEEP];
    let payload = [header(1), up(0).map(|n| n * 8 + 2)];
    bench.read(READ_SCATTERED | 2 << 8 | 3, 0xff, &payload, &mut w);
    assert_eq!(w[0], up(0).map(|n| n * 2));
}

// covers: 5.10.3-01, 5.10.3-03, 5.10.3-05, 5.10.3-06, 5.10.3-07, 5.10.3-08
#[test]
fn dual_writes_take_four_registers_of_two_streams() {
    // What stands beside the offsets is ignored.
    let offsets = [0x40, 9, 9, 9, 0x200, 9, 9, 9];
    let data = [up(100), up(200), up(300), up(400)];
    for bit in 0..16u32 {
        let mut bench = Bench::new();
        bench.bind_buffer(128);
        let payload = [&[header(0x20), offsets][..], &data].concat();
        bench.write(WRITE_DUAL | 2 << 8 | 3, 1 << bit, &payload);
        let mut want: Vec<u32> = (0..512).collect();
        if bit < 8 {
            // OWord[Offset0 + n] is in DWords 3:0 of the n-th register, OWord[Offset1 + n] in 7:4.
            let start = [0x60, 0x220][bit as usize / 4] / 4;
            for n in 0..4 {
                want[(start + n * 4 + bit % 4) as usize] = 100 + n * 100 + bit;
            }
        }
        assert_eq!(bench.dwords(0, 512), want, "bit {bit}");
    }
    for bit in 0..16 {
        let mut bench = Bench::new();
        bench.bind_buffer(128);
        let mut w = [KEEP; 4];
        bench.read(
            READ_DUAL | 2 << 8 | 3,
            1 << bit,
            &[header(0x20), offsets],
            &mut w,
        );
        for (n, got) in (0..4).zip(w) {
            let (a, b) = (24 + n * 4, 136 + n * 4);
            let mut want = KEEP;
            match bit {
                0..4 => want[..4].copy_from_slice(&[a, a + 1, a + 2, a + 3]),
                4..8 => want[4..].copy_from_slice(&[b, b + 1, b + 2, b + 3]),
                _ => {}
            }
            assert_eq!(got, want, "bit {bit}");
        }
    }
}

// covers: 5.10.3-04, 5.10.2-08, 5.10.5-02
#[test]
fn each_buffer_message_stops_at_the_end() {
    let mut bench = Bench::new();
    bench.bind_buffer(4);
    let offsets = [0x30, 0, 0, 0, 0xffff_fff0, 0, 0, 0];
    let mut w = [KEEP; 4];
    bench.read(READ_DUAL | 2 << 8 | 3, 0xff, &[header(0), offsets], &mut w);
    assert_eq!(w[0], [12, 13, 14, 15, 0, 0, 0, 0]);
    // The second stream goes over the top of the offsets and is back inside.
    assert_eq!(w[1], [0, 0, 0, 0, 0, 1, 2, 3]);
    let data = [[9; 8]; 4];
    let payload = [&[header(0), offsets][..], &data].concat();
    bench.write(WRITE_DUAL | 2 << 8 | 3, 0x0f, &payload);
    assert_eq!(bench.dwords(11, 7), [11, 9, 9, 9, 9, 16, 17]);
    let places = [0x3c, 0x40, 0x7fff_fffc, 0xffff_fffc, 0x38, 0, 0, 0];
    let mut w = [KEEP];
    bench.read(
        READ_SCATTERED | 2 << 8 | 3,
        0x1f,
        &[header(0), places],
        &mut w,
    );
    assert_eq!(w[0], [9, 0, 0, 0, 9, 0xeeee, 0xeeee, 0xeeee]);
    bench.write(
        WRITE_SCATTERED | 2 << 8 | 3,
        0x1f,
        &[header(0), places, up(50)],
    );
    assert_eq!(bench.dwords(13, 5), [9, 54, 50, 16, 17]);
}

// covers: 5.10.5-01, 5.10.5-04, 5.10.5-05, 5.10.5-06, 5.10.5-07, 5.10.5-08
#[test]
fn scattered_channels_are_their_own() {
    let places: [Grf; 2] = [
        [0x100, 0x20, 0x3c, 0xf0, 0x08, 0x74, 0x1f8, 0x50],
        [0x04, 0x1fc, 0x80, 0x44, 0x60, 0xa4, 0x180, 0x120],
    ];
    for bit in 0..16u32 {
        let (register, channel) = ((bit / 8) as usize, (bit % 8) as usize);
        let place = 1 + places[register][channel] / 4;
        for size in [2u16, 3] {
            let registers = usize::from(size) - 1;
            let mut bench = Bench::new();
            bench.bind_buffer(64);
            let mut w = vec![KEEP; registers];
            let payload = [&[header(4)][..], &places[..registers]].concat();
            bench.read(READ_SCATTERED | size << 8 | 3, 1 << bit, &payload, &mut w);
            let mut want = vec![KEEP; registers];
            if register < registers {
                want[register][channel] = place;
            }
            assert_eq!(w, want, "bit {bit}");
            // Data come right behind the offsets: M2, or M3 and M4.
            let data = [up(1000), up(2000)];
            let payload = [payload, data[..registers].to_vec()].concat();
            bench.write(WRITE_SCATTERED | size << 8 | 3, 1 << bit, &payload);
            let mut want: Vec<u32> = (0..160).collect();
            if register < registers {
                want[place as usize] = data[register][channel];
            }
            assert_eq!(bench.dwords(0, 160), want, "bit {bit}");
        }
    }
}

// covers: 5.3-01, 5.10.1.1-03, 5.10.1.3-01, 5.10.7-02
#[test]
fn commits_are_one_register_on_request() {
    let mut bench = Bench::new();
    bench.bind_buffer(64);
    let body = |length: usize| vec![header(0); length];
    // OWord block, dual block, scattered, flush (whose bits 12:8 say nothing).
    let writes = [
        (0, 2),
        (WRITE_DUAL, 3),
        (WRITE_SCATTERED | 2 << 8, 3),
        (FLUSH | 0xf00, 1),
    ];
    for (control, length) in writes {
        for (commit, response, fits) in [
            (0, 0, true),
            (0, 1, false),
            (COMMIT, 1, true),
            (COMMIT, 0, false),
            (COMMIT, 2, false),
        ] {
            let sent = bench.try_write(control | commit | 3, 0, &body(length), response);
            let rule = match sent {
                Ok(()) => "",
                Err(UnitFault::Message { what, .. }) => what,
                Err(other) => panic!("{other}"),
            };
            let want = if fits { "" } else { rules::RESPONSE.what };
            assert_eq!(rule, want, "{control:#x} {commit:#x} {response}");
        }
    }
    // After a write, and after a flush that was waited for, every cache has the new data.
    let data = [header(0), up(700)];
    bench
        .try_write(COMMIT | 2 << 8 | 3, 0xff, &data, 1)
        .unwrap();
    for cache in [1, 0, 2] {
        let mut w = [KEEP];
        bench.read(cache << 14 | 2 << 8 | 3, 0xff, &[header(0)], &mut w);
        assert_eq!(w[0], up(700));
        bench
            .try_write(COMMIT | FLUSH | 3, 0xff, &data[..1], 1)
            .unwrap();
    }
}

/// What takes nothing stops nobody: crocus has kernels run over surfaces that it has not filled.
#[test]
fn streamed_elements_go_to_buffers_alone() {
    let mut bench = Bench::new();
    let state = buffer(2).with_surface_base_address(DATA);
    let desc = crate::intel::r#gen::gen40::functions::Reader.surface(&state.0);
    let mut head = up(0x77);
    head[5] = 1;
    let payload = [head];
    let msg = message(5, 0, 1, &payload);
    for kind in [
        Ok(SurfaceKind::OneD),
        Ok(SurfaceKind::TwoD),
        Ok(SurfaceKind::Null),
        Err(6),
    ] {
        let desc = SurfaceDesc { kind, ..desc };
        let lost = buffer::write_element(&desc, 0, &mut bench.mem, &msg).unwrap();
        let counts = u32::from(kind != Ok(SurfaceKind::Null));
        assert_eq!(lost.0, counts * 16, "{kind:?}");
        assert_eq!(bench.dwords(0, 8), up(0), "{kind:?}");
    }
    buffer::write_element(&desc, 0, &mut bench.mem, &msg).unwrap();
    assert_ne!(bench.dwords(0, 8), up(0));
}
