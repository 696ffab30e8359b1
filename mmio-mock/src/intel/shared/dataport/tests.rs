//! Buffer and media messages against the layout tables of PRM 5.10.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use super::*;
use crate::intel::shared::StateBases;
use eu::ThreadId;
use eu::port::FloatMode;
use mem::{GpuAddr, Tiling, tiling};
use regs::gen40::{SurfaceState, values};

/// Surface format codes of PRM 4.7.2.1.1.
mod f {
    pub const RGBA32F: u32 = 0x000;
    pub const BGRA8: u32 = 0x0c0;
    pub const R32_UINT: u32 = 0x0d7;
    pub const R16_UINT: u32 = 0x10d;
    pub const R8_UINT: u32 = 0x143;
    pub const YCRCB_NORMAL: u32 = 0x182;
    pub const YCRCB_SWAPUVY: u32 = 0x183;
    pub const YCRCB_SWAPUV: u32 = 0x18f;
    pub const YCRCB_SWAPY: u32 = 0x190;
}

/// Read message types in 13:12 (PRM 5.10.1.1).
const READ_DUAL: u16 = 1 << 12;
const READ_SCATTERED: u16 = 3 << 12;
/// A media block read through the render cache (15:14).
const READ_MEDIA: u16 = 1 << 14 | 2 << 12;
/// Write message types in 14:12.
const WRITE_DUAL: u16 = 1 << 12;
const WRITE_MEDIA: u16 = 2 << 12;
const WRITE_SCATTERED: u16 = 3 << 12;
const FLUSH: u16 = 7 << 12;
const COMMIT: u16 = 1 << 15;

const STATE: u32 = 0x1_0000;
const DATA: u32 = 0x2_0000;

struct Bench {
    mem: Memory,
    ctx: ThreadContext,
    port: DataPort,
    events: Events,
}

impl Bench {
    /// Memory whose data dwords hold their own number.
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
        let ctx = ThreadContext {
            bases,
            binding_table_pointer: 0x100,
            ..ThreadContext::default()
        };
        Bench {
            mem,
            ctx,
            port: DataPort::new(&crate::intel::r#gen::gen40::functions::Reader),
            events: Events::default(),
        }
    }

    /// Binds a surface to index 3.
    fn bind(&mut self, state: SurfaceState) {
        self.bind_at(3, 0x600, state);
    }

    /// Puts a surface state at `at` of the surface states and its place in the binding table.
    fn bind_at(&mut self, index: u32, at: u32, state: SurfaceState) {
        self.mem
            .write_u32(GpuAddr::from(STATE + 0x100 + index * 4), at)
            .unwrap();
        self.mem
            .write_dwords(GpuAddr::from(STATE + at), state.dwords())
            .unwrap();
        self.port.invalidate();
    }

    /// A buffer of `entries` 16-byte elements at the data.
    fn bind_buffer(&mut self, entries: u32) {
        self.bind(buffer(entries));
    }

    fn read(&mut self, control: u16, mask: u16, payload: &[Grf], response: &mut [Grf]) {
        self.try_read(control, mask, payload, response).unwrap();
    }

    fn try_read(
        &mut self,
        control: u16,
        mask: u16,
        payload: &[Grf],
        response: &mut [Grf],
    ) -> Result<(), UnitFault> {
        let mut msg = message(4, control, mask, payload);
        msg.response_length = response.len() as u8;
        let request = crate::intel::r#gen::gen40::message::read(control);
        self.port
            .read(request, &msg, response, &self.mem, &self.ctx)
    }

    fn write(&mut self, control: u16, mask: u16, payload: &[Grf]) {
        self.try_write(control, mask, payload, 0).unwrap();
    }

    fn try_write(
        &mut self,
        control: u16,
        mask: u16,
        payload: &[Grf],
        response: u8,
    ) -> Result<(), UnitFault> {
        let mut msg = message(5, control, mask, payload);
        msg.response_length = response;
        self.send(&msg)
    }

    fn send(&mut self, msg: &Message<'_>) -> Result<(), UnitFault> {
        self.port.write(
            crate::intel::r#gen::gen40::message::write(msg.function_control),
            msg,
            &mut self.mem,
            &self.ctx,
            &PixelBackend::default(),
            &mut self.events,
        )
    }

    fn dwords(&self, from: u32, count: u32) -> Vec<u32> {
        (from..from + count)
            .map(|n| self.mem.read_u32(GpuAddr::from(DATA + n * 4)).unwrap())
            .collect()
    }
}

fn message(sfid: u8, control: u16, exec_mask: u16, payload: &[Grf]) -> Message<'_> {
    Message {
        thread: ThreadId::default(),
        sfid,
        function_control: control,
        desc: u32::from(control),
        response_length: 0,
        eot: false,
        exec_mask,
        exec_size: 16,
        payload,
        ip: 0,
        float_mode: FloatMode::Ieee,
    }
}

/// A buffer of `entries` 16-byte elements at the data.
fn buffer(entries: u32) -> SurfaceState {
    let n = entries - 1;
    SurfaceState::new()
        .with_surface_type(values::surftype::SURFTYPE_BUFFER)
        .with_surface_base_address(DATA)
        .with_width(n & 0x7f)
        .with_height(n >> 7 & 0x1fff)
        .with_depth(n >> 20)
}

fn header(offset: u32) -> Grf {
    [0, 0, offset, 0, 0, 0, 0, 0]
}

const KEEP: Grf = [0xeeee; 8];

fn up(from: u32) -> [u32; 8] {
    std::array::from_fn(|n| from + n as u32)
}

/// Bytes by what the messages enable: the surface has 32, the eight OWords begin at 16.
#[test]
fn accesses_past_the_end_are_counted() {
    let mut bench = Bench::new();
    bench.bind_buffer(2);
    let eight = 4 << 8 | 3;
    bench.read(eight, 0xffff, &[header(16)], &mut [KEEP; 4]);
    let outside = |bench: &Bench| bench.port.outside.get(&3).copied().unwrap_or_default();
    let mut want = Outside {
        reads: 7 * 16,
        writes: 0,
    };
    assert_eq!(outside(&bench), want);
    let payload = [header(16), KEEP, KEEP, KEEP, KEEP];
    // Two dwords of each OWord.
    bench.write(eight, 0x3333, &payload);
    want.writes = 7 * 8;
    assert_eq!(outside(&bench), want);
    // Two dwords of three are past the end.
    let offsets = [0, 32, 0xffff_fff0, 4, 0, 0, 0, 0];
    let eight = 2 << 8 | 3;
    bench.read(
        READ_SCATTERED | eight,
        0x7,
        &[header(0), offsets],
        &mut [KEEP],
    );
    bench.write(WRITE_SCATTERED | eight, 0x7, &[header(0), offsets, KEEP]);
    want.reads += 8;
    want.writes += 8;
    assert_eq!(outside(&bench), want);
    // One block inside, one outside.
    let offsets = [0, 0, 0, 0, 32, 0, 0, 0];
    bench.read(READ_DUAL | 3, 0xff, &[header(0), offsets], &mut [KEEP]);
    bench.write(WRITE_DUAL | 3, 0xff, &[header(0), offsets, KEEP]);
    want.reads += 16;
    want.writes += 16;
    assert_eq!(outside(&bench), want);
    // A null surface has no end.
    bench.bind(SurfaceState::new().with_surface_type(values::surftype::SURFTYPE_NULL));
    bench.read(3, 0xffff, &[header(0)], &mut [KEEP]);
    assert_eq!(outside(&bench), want);
}

/// Threads that run aside read like others, once the port has a view of the buffer; what is past the end is not counted yet.
#[test]
fn reads_of_kept_views_change_nothing() {
    let eight = 4 << 8 | 3;
    let offsets = [0, 32, 68, 4, 0x30, 0, 0, 0];
    let dual = [16, 0, 0, 0, 64, 0, 0, 0];
    let messages: [(u16, &[Grf], usize); 3] = [
        (eight, &[header(16)], 4),
        (READ_DUAL | 3, &[header(16), dual], 1),
        (READ_SCATTERED | 2 << 8 | 3, &[header(4), offsets], 1),
    ];
    for (control, payload, registers) in messages {
        let mut bench = Bench::new();
        let kept = |bench: &Bench, control, eot| {
            let mut response = vec![KEEP; registers];
            let mut msg = message(4, control, 0xff7f, payload);
            msg.response_length = registers as u8;
            msg.eot = eot;
            let request = crate::intel::r#gen::gen40::message::read(control);
            let (mem, ctx) = (&bench.mem, &bench.ctx);
            let read = bench.port.read_kept(request, &msg, &mut response, mem, ctx);
            read.map(|(at, lost)| (at, u64::from(lost.0), response))
        };
        let at = bench.mem.on_bus(GpuAddr::from(STATE + 0x600));
        for entries in [64, 2] {
            bench.bind_buffer(entries);
            assert_eq!(kept(&bench, control, false), None);
            bench.port.outside.clear();
            let mut want = vec![KEEP; registers];
            bench.read(control, 0xff7f, payload, &mut want);
            let lost = bench.port.outside.get(&3).map_or(0, |past| past.reads);
            assert_eq!(lost == 0, entries == 64);
            assert_eq!(kept(&bench, control, false), Some((at, lost, want)));
            assert_eq!(kept(&bench, control, true), None);
            // The stateless model has no surface state.
            assert_eq!(kept(&bench, control | 0xff, false), None);
        }
    }
}

// covers: 5.10.2-01, 5.10.2-09, 5.10.2-11
#[test]
fn oword_block_read_fills_registers_in_order() {
    let mut bench = Bench::new();
    bench.bind_buffer(64);
    let mut w = [KEEP; 4];
    bench.read(4 << 8 | 3, 0xffff, &[header(0x40)], &mut w);
    assert_eq!(w, [up(16), up(24), up(32), up(40)]);
    let mut w = [KEEP; 1];
    bench.read(3, 0xffff, &[header(0x40)], &mut w);
    assert_eq!(
        (&w[0][..4], &w[0][4..]),
        (&[16, 17, 18, 19][..], &KEEP[4..])
    );
    let mut w = [KEEP; 1];
    bench.read(1 << 8 | 3, 0xffff, &[header(0x40)], &mut w);
    assert_eq!(
        (&w[0][..4], &w[0][4..]),
        (&KEEP[..4], &[16, 17, 18, 19][..])
    );
}

// covers: 5.10.2-04, 5.10.2-05, 5.10.2-10
#[test]
fn block_masks_alternate_between_low_and_high_bits() {
    let mut bench = Bench::new();
    bench.bind_buffer(64);
    // Any bit of a group of four reads its whole OWord; high bits serve W1 and W3.
    let mut w = [KEEP; 4];
    bench.read(4 << 8 | 3, 0x8001, &[header(0)], &mut w);
    let k = 0xeeee;
    assert_eq!(w[0], [0, 1, 2, 3, k, k, k, k]);
    assert_eq!(w[1], [k, k, k, k, 12, 13, 14, 15]);
    assert_eq!(w[2], [16, 17, 18, 19, k, k, k, k]);
    assert_eq!(w[3], [k, k, k, k, 28, 29, 30, 31]);
    // Writes look at each bit.
    bench.write(3 << 8 | 3, 0x0101, &[header(0), [70; 8], [71; 8]]);
    assert_eq!(bench.dwords(0, 10), [70, 1, 2, 3, 4, 5, 6, 7, 71, 9]);
    bench.write(1 << 8 | 3, 0x00ff, &[header(0x10), up(80)]);
    assert_eq!(bench.dwords(4, 5), [84, 85, 86, 87, 71]);
}

// covers: 5.10.2-08
#[test]
fn out_of_bounds_reads_are_zero_and_writes_vanish() {
    let mut bench = Bench::new();
    bench.bind_buffer(3);
    let mut w = [KEEP; 2];
    bench.read(3 << 8 | 3, 0xffff, &[header(0x10)], &mut w);
    assert_eq!(w, [up(4), [0; 8]]);
    bench.write(3 << 8 | 3, 0xffff, &[header(0x10), [9; 8], [9; 8]]);
    assert_eq!(bench.dwords(11, 3), [9, 12, 13]);
    let mut w = [KEEP; 1];
    bench.read(2 << 8 | 3, 0xff, &[header(0xffff_fff0)], &mut w);
    assert_eq!(w[0][..4], [0; 4], "an offset that wraps stays outside");
}

// covers: 5.2.2-01, 5.10.1.2-03
#[test]
fn stateless_adds_both_bases_and_obeys_the_general_bound() {
    let mut bench = Bench::new();
    let mut head = header(0x20);
    head[5] = 0x1000 | 0x3ff;
    let mut w = [KEEP; 1];
    bench.read(2 << 8 | 255, 0xff, &[head], &mut w);
    assert_eq!(w[0], up(8));
    bench.ctx.bases.general_state_upper_bound = DATA + 0x30;
    bench.read(2 << 8 | 255, 0xff, &[head], &mut w);
    assert_eq!(w[0], [8, 9, 10, 11, 0, 0, 0, 0]);
}

// covers: 5.10.3-01, 5.10.3-06, 5.10.3-09
#[test]
fn dual_blocks_interleave_two_streams() {
    let mut bench = Bench::new();
    bench.bind_buffer(64);
    let offsets = [0x40, 0, 0, 0, 0x80, 0, 0, 0];
    let mut w = [KEEP; 4];
    bench.read(1 << 12 | 2 << 8 | 3, 0xff, &[header(0x10), offsets], &mut w);
    for (n, register) in (0u32..).zip(w) {
        let (a, b) = (20 + n * 4, 36 + n * 4);
        assert_eq!(register, [a, a + 1, a + 2, a + 3, b, b + 1, b + 2, b + 3]);
    }
    let mut w = [KEEP; 1];
    bench.read(1 << 12 | 3, 0x10, &[header(0), offsets], &mut w);
    assert_eq!(w[0], [0xeeee, 0xeeee, 0xeeee, 0xeeee, 32, 33, 34, 35]);
    bench.write(1 << 12 | 3, 0x81, &[header(0), offsets, up(90)]);
    assert_eq!(
        (bench.dwords(16, 2), bench.dwords(34, 2)),
        (vec![90, 17], vec![34, 97])
    );
}

#[test]
fn scattered_dwords_follow_their_offsets_and_mask() {
    let mut bench = Bench::new();
    bench.bind_buffer(64);
    let first = up(0).map(|n| n * 12);
    let second = up(0).map(|n| 0x3fc - n * 4);
    let mut w = [KEEP; 2];
    bench.read(
        3 << 12 | 3 << 8 | 3,
        0xfffe,
        &[header(4), first, second],
        &mut w,
    );
    assert_eq!(w[0], [0xeeee, 4, 7, 10, 13, 16, 19, 22]);
    assert_eq!(
        w[1],
        [0, 255, 254, 253, 252, 251, 250, 249],
        "0x400 is outside"
    );
    bench.write(
        3 << 12 | 3 << 8 | 3,
        0x0101,
        &[header(0), first, second, [5; 8], [6; 8]],
    );
    assert_eq!(
        (bench.dwords(0, 1), bench.dwords(255, 1)),
        (vec![5], vec![6])
    );
    bench.write(3 << 12 | 2 << 8 | 3, 0x0002, &[header(0), first, [7; 8]]);
    assert_eq!(bench.dwords(3, 1), [7], "data follow the offsets directly");
}

fn media_surface(height: u32, format: u32, tiled: Tiling) -> SurfaceState {
    SurfaceState::new()
        .with_surface_type(values::surftype::SURFTYPE_2D)
        .with_surface_format(format)
        .with_surface_base_address(DATA)
        .with_surface_pitch(511)
        .with_width(1)
        .with_height(height - 1)
        .with_tiled_surface(tiled != Tiling::Linear)
        .with_tile_walk(u32::from(tiled == Tiling::Y))
}

/// Reads one byte column of rows -4 to 7 and gives the row numbers found.
fn rows_found(bench: &mut Bench, state: SurfaceState) -> Vec<u32> {
    bench.bind(state);
    let head = [0, -4i32 as u32, 11 << 16 | 3, 0, 0, 0, 0, 0];
    let mut w = [KEEP; 2];
    bench.read(READ_MEDIA | 3, 0, &[head], &mut w);
    w.as_flattened()[..12].to_vec()
}

// covers: 5.6.1-01, 5.6.1-02, 4.7.2-26
#[test]
fn rows_outside_a_media_surface_follow_the_boundary_table() {
    let mut bench = Bench::new();
    // Four rows of 512 bytes that hold their number.
    for row in 0..4 {
        for n in 0..128 {
            bench
                .mem
                .write_u32(GpuAddr::from(DATA + row * 512 + n * 4), row)
                .unwrap();
        }
    }
    let frame = media_surface(4, f::R32_UINT, Tiling::Linear);
    let field = |odd| {
        media_surface(2, f::R32_UINT, Tiling::Linear)
            .with_vertical_line_stride(true)
            .with_vertical_line_stride_offset(odd)
    };
    let table = [
        (frame, 0, "000001233333"),
        (field(false), 0, "000002222222"),
        (field(true), 0, "111113333333"),
        (frame, 2, "000001233333"),
        (field(false), 2, "000002333333"),
        (field(true), 2, "000013333333"),
        (frame, 3, "010101232323"),
        (field(false), 3, "000002222222"),
        (field(true), 3, "111113333333"),
    ];
    for (state, mode, want) in table {
        let got: String = rows_found(&mut bench, state.with_media_boundary_pixel_mode(mode))
            .into_iter()
            .map(|n| char::from_digit(n, 10).unwrap_or('?'))
            .collect();
        assert_eq!(got, want, "mode {mode} {state:?}");
    }
}

// covers: 5.10.4-11, 5.10.4-12, 5.10.4-13, 5.10.4-14
#[test]
fn columns_outside_a_media_surface_follow_the_pixel_size() {
    let mut bench = Bench::new();
    bench
        .mem
        .write_dwords(GpuAddr::from(DATA), &[0x3322_1100, 0x7766_5544])
        .unwrap();
    // Eight bytes a row; the block covers one dword to the left and right.
    let cases = [
        (f::R8_UINT, 0x0000_0000, 0x7777_7777),
        (f::R16_UINT, 0x1100_1100, 0x7766_7766),
        (f::R32_UINT, 0x3322_1100, 0x7766_5544),
        (f::YCRCB_NORMAL, 0x3300_1100, 0x7766_5566),
        (f::YCRCB_SWAPY, 0x1122_1100, 0x7766_7744),
    ];
    for (format, left, right) in cases {
        bench.bind(media_surface(1, format, Tiling::Linear));
        let mut w = [KEEP; 1];
        bench.read(
            READ_MEDIA | 3,
            0,
            &[[-4i32 as u32, 0, 15, 0, 0, 0, 0, 0]],
            &mut w,
        );
        assert_eq!(
            w[0][..4],
            [left, 0x3322_1100, 0x7766_5544, right],
            "format {format:#x}"
        );
    }
}

#[test]
fn media_blocks_walk_tiles_and_pad_their_rows() {
    for walk in [Tiling::Linear, Tiling::X, Tiling::Y] {
        let mut bench = Bench::new();
        bench.bind(media_surface(40, f::R8_UINT, walk).with_width(127));
        // 12 bytes wide: rows are 16 bytes apart in the registers.
        let head = [60, 30, 2 << 16 | 0xb, 0, 0, 0, 0, 0];
        bench.write(2 << 12 | 3, 0, &[head, up(1000), up(2000)]);
        for (row, want) in [[1000, 1001, 1002], [1004, 1005, 1006], [2000, 2001, 2002]]
            .iter()
            .enumerate()
        {
            for (n, want) in want.iter().enumerate() {
                let at = tiling::offset(walk, 512, 60 + n as u32 * 4, 30 + row as u32);
                assert_eq!(
                    bench.mem.read_u32(GpuAddr::from(DATA + at)).unwrap(),
                    *want,
                    "{walk:?}"
                );
            }
        }
        let mut w = [[0; 8]; 2];
        bench.read(READ_MEDIA | 3, 0, &[head], &mut w);
        assert_eq!(w[0], [1000, 1001, 1002, 0, 1004, 1005, 1006, 0]);
        assert_eq!(w[1][..4], [2000, 2001, 2002, 0]);
    }
}

#[test]
fn media_line_stride_can_be_overridden() {
    let mut bench = Bench::new();
    bench.bind(media_surface(8, f::R32_UINT, Tiling::Linear));
    let mut w = [KEEP; 1];
    // Bottom field of a frame: rows 1, 3, 5, 7, then the last again.
    bench.read(
        READ_MEDIA | 7 << 8 | 3,
        0,
        &[[0, 0, 5 << 16 | 3, 0, 0, 0, 0, 0]],
        &mut w,
    );
    assert_eq!(w[0][..6], [128, 384, 640, 896, 896, 896]);
}

mod descriptors;
mod media_blocks;
mod refusals;
