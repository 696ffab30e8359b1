//! Where the elements of an operand are: regions, swizzles, addresses, masks.
//!
//! PRM: volume 4, 11.3.6 to 11.3.8, 11.3.11, 11.5. Moves of raw elements from anywhere to anywhere;
//! the whole register file is compared, so that a stray write shows. Address arithmetic here is the
//! manual's, one channel at a time.

use crate::bench::{Bench, MODES, SNB, State, TWO_STEPS};
use crate::cases::{goal, seed};
use crate::values::pick;
use eu::Grf;
use fastrand::Rng;
use isa::inst::{AccessMode, Compression, PredCtrl};
use isa::operand::{Addr, Dst, RegFile, Region, Src, Type};
use isa::{Inst, Opcode, Verx10};

/// Bytes of the general registers.
const FILE: usize = 128 * 32;
/// The register that the address register is loaded from.
const ADDRESSES: usize = 127;
/// Raw moves: integers of one type, no conversion.
const TYPES: [Type; 5] = [Type::Ud, Type::Ud, Type::Uw, Type::W, Type::Ub];

/// A source and the byte address of each channel's element.
struct From {
    src: Src,
    at: [usize; 16],
}

/// A destination likewise.
struct To {
    dst: Dst,
    at: [usize; 16],
    /// Channels that a write mask leaves.
    enabled: u16,
}

/// What an instruction looks like before its operands are drawn.
#[derive(Clone, Copy)]
struct Shape {
    lanes: usize,
    compressed: bool,
    ty: Type,
}

impl Shape {
    /// The half of a compressed instruction that a channel is in, and its number there. Halves
    /// of dwords are a register apart; narrower elements are one region.
    fn half(self, lane: usize) -> (usize, usize) {
        if self.compressed && self.ty.size() == 4 {
            (lane / 8, lane % 8)
        } else {
            (0, lane)
        }
    }
}

fn size(shape: Shape) -> usize {
    shape.ty.size()
}

/// A multiple of `align` that leaves `span` bytes and a compressed half in the file.
fn origin(rng: &mut Rng, align: usize, span: usize) -> usize {
    let room = (ADDRESSES * 32 - span - 64) / align;
    rng.u64(..room as u64) as usize * align
}

fn direct(at: usize) -> Addr {
    Addr::Direct {
        nr: (at / 32) as u8,
        subnr: (at % 32) as u8,
    }
}

/// An address split between a0 and the displacement of the instruction.
fn split(
    rng: &mut Rng,
    a0: &mut [u16; 8],
    subreg: usize,
    at: usize,
    align: usize,
    reach: i16,
) -> i16 {
    let step = align as i16;
    let mut imm = (rng.u64(..2 * reach as u64) as i16 - reach) / step * step;
    let rest = at as i32 - i32::from(imm);
    if !(0..FILE as i32).contains(&rest) {
        imm = 0;
    }
    a0[subreg] = (at as i32 - i32::from(imm)) as u16;
    imm
}

fn region(rng: &mut Rng, lanes: usize) -> Region {
    let widths: Vec<u8> = [1, 2, 4, 8, 16]
        .into_iter()
        .filter(|w| usize::from(*w) <= lanes)
        .collect();
    let width = pick(rng, &widths);
    Region {
        vstride: pick(rng, &[0, 1, 2, 4, 8, 16]),
        width,
        hstride: if width == 1 {
            0
        } else {
            pick(rng, &[0, 1, 2, 4])
        },
    }
}

/// Offset of a channel's element in a region, in bytes.
fn offset(r: Region, shape: Shape, lane: usize) -> usize {
    let scalar = r.vstride == 0 && r.hstride == 0;
    let (half, chan) = shape.half(lane);
    let (row, column) = (chan / usize::from(r.width), chan % usize::from(r.width));
    let element = row * usize::from(r.vstride) + column * usize::from(r.hstride);
    element * size(shape) + if scalar { 0 } else { half * 32 }
}

fn plain(shape: Shape, addr: Addr, region: Region) -> Src {
    Src {
        file: RegFile::Grf,
        ty: shape.ty,
        addr,
        region,
        ..Src::NULL
    }
}

/// 11.3.7: direct, or one address for the whole region.
fn align1_source(rng: &mut Rng, shape: Shape, a0: &mut [u16; 8], indirect: bool) -> From {
    let r = region(rng, shape.lanes);
    let at = origin(rng, size(shape), 16 * 16 * 4 + 64);
    let addr = if indirect {
        let subreg = rng.u64(..8) as usize;
        Addr::Indirect {
            subreg: subreg as u8,
            imm: split(rng, a0, subreg, at, size(shape), 512),
        }
    } else {
        direct(at)
    };
    From {
        src: plain(shape, addr, r),
        at: std::array::from_fn(|lane| at + offset(r, shape, lane)),
    }
}

/// 11.3.7: one address a row (Vx1), or one an element (VxH): the width says which.
fn rows(rng: &mut Rng, shape: Shape, a0: &mut [u16; 8]) -> From {
    let shape = Shape {
        compressed: false,
        ..shape
    };
    let least = (shape.lanes / 8).max(1);
    let widths: Vec<usize> = [1, 2, 4, 8, 16]
        .into_iter()
        .filter(|w| *w <= shape.lanes && *w >= least)
        .collect();
    let width = pick(rng, &widths);
    let count = shape.lanes / width;
    let r = Region {
        vstride: Region::VXH,
        width: width as u8,
        hstride: if width == 1 { 0 } else { pick(rng, &[0, 1, 2]) },
    };
    // As many subregisters as rows, aligned to their number.
    let first = rng.u64(..8 / count as u64) as usize * count;
    let at = origin(rng, size(shape), 512);
    let imm = split(rng, a0, first, at, size(shape), 512);
    for a in &mut a0[first + 1..first + count] {
        let at = origin(rng, size(shape), 512) as i32 - i32::from(imm);
        *a = at.clamp(0, FILE as i32 - 1) as u16 & !(size(shape) as u16 - 1);
    }
    let a0 = *a0;
    From {
        src: plain(
            shape,
            Addr::Indirect {
                subreg: first as u8,
                imm,
            },
            r,
        ),
        at: std::array::from_fn(|lane| {
            let row = (lane / width).min(count - 1);
            let column = lane % width * usize::from(r.hstride) * size(shape);
            (i32::from(a0[first + row]) + i32::from(imm)) as usize + column
        }),
    }
}

/// 11.3.8: groups of four channels, each channel choosing one of four elements.
fn align16_source(rng: &mut Rng, shape: Shape, a0: &mut [u16; 8], indirect: bool) -> From {
    let swizzle: [u8; 4] = std::array::from_fn(|_| rng.u64(..4) as u8);
    let vstride = pick(rng, &[0u8, 4]);
    let at = origin(rng, 16, 64 + 64);
    let addr = if indirect {
        let subreg = rng.u64(..8) as usize;
        Addr::Indirect {
            subreg: subreg as u8,
            imm: split(rng, a0, subreg, at, 16, 512),
        }
    } else {
        direct(at)
    };
    let mut src = plain(
        shape,
        addr,
        Region {
            vstride,
            width: 4,
            hstride: 1,
        },
    );
    src.swizzle = swizzle;
    From {
        src,
        at: std::array::from_fn(|lane| {
            let (half, chan) = shape.half(lane);
            let group = chan / 4 * usize::from(vstride);
            let element = group + usize::from(swizzle[chan % 4]);
            at + element * size(shape) + if vstride == 0 { 0 } else { half * 32 }
        }),
    }
}

/// 11.3.11: a row with a horizontal stride, direct or from one address.
fn destination(
    rng: &mut Rng,
    shape: Shape,
    a0: &mut [u16; 8],
    align16: bool,
    indirect: bool,
) -> To {
    let hstride = if align16 || shape.compressed {
        1
    } else {
        pick(rng, &[1u8, 1, 2, 4])
    };
    let align = if align16 { 16 } else { size(shape) };
    let at = origin(rng, align, 16 * 16);
    let addr = if indirect {
        // Not the subregister of the source.
        let subreg = 7;
        Addr::Indirect {
            subreg: subreg as u8,
            imm: split(rng, a0, subreg, at, align, 512),
        }
    } else {
        direct(at)
    };
    let writemask = if align16 {
        rng.u64(..15) as u8 + 1
    } else {
        0xf
    };
    To {
        dst: Dst {
            file: RegFile::Grf,
            ty: shape.ty,
            addr,
            hstride,
            writemask,
            compr4: false,
        },
        at: std::array::from_fn(|lane| {
            let (half, chan) = shape.half(lane);
            at + chan * usize::from(hstride) * size(shape) + half * 32
        }),
        enabled: u16::from(writemask) * 0x1111,
    }
}

fn load_addresses() -> Inst {
    let mut i = Inst::blank(Opcode::Mov);
    i.exec_size = 8;
    i.no_mask = true;
    i.dst = Dst {
        file: RegFile::Arf,
        ty: Type::Uw,
        addr: Addr::Direct { nr: 0x10, subnr: 0 },
        ..Dst::NULL
    };
    i.num_src = 1;
    i.src[0] = Src {
        file: RegFile::Grf,
        ty: Type::Uw,
        addr: direct(ADDRESSES * 32),
        region: Region::VEC8,
        ..Src::NULL
    };
    i
}

fn byte_of(grf: &[Grf], at: usize, size: usize) -> u32 {
    State::bytes(grf, at, size)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Direct,
    Indirect,
    Rows,
    Align16,
    Align16Indirect,
    IndirectDst,
}

fn run(kind: Kind, salt: u64) {
    run_on(TWO_STEPS, true, kind, salt);
    // Regions of Sandy Bridge go on over sixteen dwords as over eight.
    run_on(SNB, false, kind, salt);
}

/// With `halves` sixteen dwords are compressed: two times eight, a register apart.
fn run_on(generations: &'static [Verx10], halves: bool, kind: Kind, salt: u64) {
    let mut rng = Rng::with_seed(seed() ^ salt);
    let mut bench = Bench::of(generations);
    let mut done = 0;
    while done < goal() {
        let align16 = matches!(kind, Kind::Align16 | Kind::Align16Indirect);
        let lanes = if align16 {
            pick(&mut rng, &[4, 8, 16])
        } else {
            pick(&mut rng, &[1, 2, 4, 8, 16])
        };
        let ty = if align16 {
            Type::Ud
        } else {
            pick(&mut rng, &TYPES)
        };
        // Sixteen dwords are two registers, as a destination and as halves.
        let compressed = halves && lanes == 16 && ty.size() == 4;
        if compressed && kind == Kind::Rows {
            continue;
        }
        let shape = Shape {
            lanes,
            compressed,
            ty,
        };
        let mut a0 = [0u16; 8];
        let dst_indirect = kind == Kind::IndirectDst;
        let mut from = match kind {
            Kind::Direct | Kind::IndirectDst => align1_source(&mut rng, shape, &mut a0, false),
            Kind::Indirect => align1_source(&mut rng, shape, &mut a0, true),
            Kind::Rows => rows(&mut rng, shape, &mut a0),
            Kind::Align16 => align16_source(&mut rng, shape, &mut a0, false),
            Kind::Align16Indirect => align16_source(&mut rng, shape, &mut a0, true),
        };
        let to = destination(&mut rng, shape, &mut a0, align16, dst_indirect);
        let mut inst = Inst::blank(Opcode::Mov);
        inst.access = if align16 {
            AccessMode::Align16
        } else {
            AccessMode::Align1
        };
        inst.exec_size = lanes as u8;
        inst.compression = match (compressed, lanes, rng.u64(..3)) {
            (true, ..) => Compression::Compressed,
            (false, 1..=8, 0) => Compression::SecHalf,
            _ => Compression::None,
        };
        let second = inst.compression == Compression::SecHalf;
        if rng.u64(..3) == 0 && !align16 {
            inst.pred_ctrl = PredCtrl::Normal;
            inst.pred_inv = rng.u64(..2) == 0;
            inst.flag_subreg = rng.u64(..2) as u8;
        }
        inst.no_mask = rng.u64(..4) == 0;
        inst.num_src = 1;
        inst.dst = to.dst;
        if align16 {
            inst.dst.hstride = 1;
        }
        from.src.ty = ty;
        inst.src[0] = from.src;
        let ip = bench.load(&[load_addresses(), inst]);
        for _ in 0..4 {
            let mut s = State {
                grf: (0..128)
                    .map(|_| std::array::from_fn(|_| rng.u32(..)))
                    .collect(),
                flag: [rng.u32(..) as u16, rng.u32(..) as u16],
                dispatch: rng.u32(..) as u16 | if rng.u64(..2) == 0 { 0xffff } else { 0 },
                alt: false,
            };
            for (i, a) in a0.iter().enumerate() {
                State::set(&mut s.grf, ADDRESSES * 32 + 2 * i, 2, u32::from(*a));
            }
            let mut channels = if inst.no_mask { 0xffff } else { s.dispatch };
            if inst.pred_ctrl == PredCtrl::Normal {
                let flag = s.flag[usize::from(inst.flag_subreg)];
                channels &= if inst.pred_inv { !flag } else { flag };
            }
            if second {
                channels >>= 8;
            }
            channels &= to.enabled;
            let mut want = s.grf.clone();
            for lane in (0..lanes).filter(|lane| channels >> lane & 1 != 0) {
                let element = byte_of(&s.grf, from.at[lane], ty.size());
                State::set(&mut want, to.at[lane], ty.size(), element);
            }
            for (t, mode) in bench.run(&s, ip, 2).iter().zip(MODES) {
                for (nr, (got, want)) in t.grf().iter().zip(&want).enumerate() {
                    assert_eq!(got, want, "{mode} r{nr} {a0:x?} {inst:#?}");
                }
            }
            done += lanes as u64;
        }
    }
    println!(
        "mov {kind:?}, halves {halves}: {done} elements, seed {:#x}",
        seed()
    );
}

// covers: 11.3.6-01, 11.3.7-01, 11.3.10-05, 11.5-04, S-0137, S-0138, S-0139, S-0140, S-0146, S-0154, S-0155, S-0157, S-0161, S-0164, S-0165
#[test]
fn direct_regions() {
    run(Kind::Direct, 0x61);
}

// covers: 11.3.7-02, 11.3.4.4-05, S-0158, S-0159
#[test]
fn regions_at_an_address() {
    run(Kind::Indirect, 0x62);
}

// covers: 11.3.7-03, 11.3.7-04, S-0124, S-0144, S-0163
#[test]
fn rows_at_addresses() {
    run(Kind::Rows, 0x63);
}

// covers: 11.3.8-02, S-0167, S-0168
#[test]
fn swizzles_and_write_masks() {
    run(Kind::Align16, 0x64);
}

// covers: 11.3.8-02, 13.2.4-04
#[test]
fn swizzles_at_an_address() {
    run(Kind::Align16Indirect, 0x65);
}

// covers: 13.2.3-04
#[test]
fn destinations_at_an_address() {
    run(Kind::IndirectDst, 0x66);
}
