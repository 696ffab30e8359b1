//! Motion compensation by libIntelXvMC's kernels, beside arithmetic on the host.
//!
//! PRM: volume 2 (media pipeline); volume 4, 5.10.4. State as i965_xvmc.c of xf86-video-intel sets it up, arithmetic as
//! xvmc/shader/mc writes it down. It is not that of MPEG-2 (ISO/IEC 13818-2, 7.6.4): a mean of four is not rounded, chroma
//! of frame prediction has whole samples only, and chroma of fields between two rows (read_field_x0y1_uv.g4i) has the
//! field's first row below its last one, and no second row at all where the column is the last byte of a dword.
//! Not tested: backward prediction (the forward kernels with other surfaces), fields from past and future.

use crestline_tests::rig::Rig;
use crestline_tests::scene::kernels;
use driver::BatchDesc;
use kernel::time::Delta;
use regs::gen40::values::surface_format as sf;
use ringbuf::batch::{Batch, Target};
use ringbuf::r#gen::media::MediaOps;
use ringbuf::media::{Code, Data, FrontEnd, Indirect, Kernel, Media as _, Object, Surface};

const WIDTH: usize = 96;
const HEIGHT: usize = 64;
const LUMA: usize = WIDTH * HEIGHT;
/// A picture, then what reads beyond its last row meet.
const BYTES: usize = 3 * 4096;
/// Bytes of a macroblock's residual data: six blocks of 64 words.
const RESIDUAL: usize = 6 * 128;
const BATCH: u32 = 0x0010_0000;
const TARGET: u32 = 0x0020_0000;
const PAST: u32 = 0x0030_0000;
const FUTURE: u32 = 0x0040_0000;
const BLOCKS: u32 = 0x0050_0000;
/// TIMEOUT: device time for a picture of 24 macroblocks; one takes a thousand instructions.
const PICTURE: Delta = Delta::from_millis(100);

/// Offset in the picture, columns and rows: Y, U, V.
const PLANES: [(usize, usize, usize); 3] = [
    (0, WIDTH, HEIGHT),
    (LUMA, WIDTH / 2, HEIGHT / 2),
    (LUMA + LUMA / 4, WIDTH / 2, HEIGHT / 2),
];

type Vector = [i16; 2];

#[derive(Clone, Debug)]
struct Macroblock {
    /// Upper left sample of its luma.
    at: [usize; 2],
    /// PMV: first and second vector, each forward and backward.
    vectors: [[Vector; 2]; 2],
    /// motion_vertical_field_select.
    fields: u8,
    field_dct: bool,
    coded: u16,
    residual: Vec<i16>,
}

impl Macroblock {
    fn random(rng: &mut fastrand::Rng, at: [usize; 2], reach: i16) -> Self {
        let mut vector = || [0; 2].map(|_: i16| rng.i16(-reach..=reach));
        Macroblock {
            at,
            vectors: [[vector(), vector()], [vector(), vector()]],
            fields: rng.u8(0..16),
            field_dct: rng.bool(),
            coded: rng.u16(0..64),
            residual: (0..RESIDUAL / 2).map(|_| rng.i16(-255..=255)).collect(),
        }
    }

    /// Inline data (`send_media_object`); `residual` is where the residual data lie.
    fn inline(&self, residual: u32) -> [u32; 9] {
        // CAST: two's complement in the halves of a dword.
        let [a, b, c, d, e, f, g, h] = [0, 1, 2, 3, 4, 5, 6, 7]
            .map(|n| u32::from(self.vectors[n / 4][n / 2 % 2][n % 2] as u16));
        let bytes = u32::from(self.field_dct) << 16 | u32::from(self.fields) << 24;
        [
            self.at[0] as u32,
            self.at[1] as u32,
            residual,
            u32::from(self.coded) | a << 16,
            b | c << 16,
            d | e << 16,
            f | g << 16,
            h | bytes,
            // Residual data are in the thread's registers, as on all parts but the 965Q.
            0xffff_ffff,
        ]
    }

    /// What is added to a sample of a plane; blocks that are not coded count as 0.
    fn residual(&self, plane: usize, x: usize, y: usize) -> i32 {
        let (bit, at) = match plane {
            0 => {
                let row = if self.field_dct { y / 2 + y % 2 * 8 } else { y };
                (row / 8 * 2 + x / 8, row * 16 + x)
            }
            _ => (3 + plane, 192 + plane * 64 + y * 8 + x),
        };
        if self.coded & 0x20 >> bit == 0 {
            return 0;
        }
        i32::from(self.residual[at])
    }
}

/// A reference picture's sample as a media block read has it: rows are repeated above and below, the first column to the
/// left. The driver gives the width in samples where the part counts dwords, so there is no right edge in reach.
fn sample(picture: &[u8], plane: usize, x: i32, y: i32) -> i32 {
    let (start, width, height) = PLANES[plane];
    let y = y.clamp(0, height as i32 - 1) as usize;
    i32::from(picture[start + y * width + x.max(0) as usize])
}

/// The mean of the samples that a half-sample position lies between; `below` is the other row.
fn mean(picture: &[u8], plane: usize, [x, y]: [i32; 2], half: [bool; 2], below: i32) -> i32 {
    let at = |x, y| sample(picture, plane, x, y);
    match half {
        [false, false] => at(x, y),
        [true, false] => (at(x, y) + at(x + 1, y) + 1) / 2,
        [false, true] => (at(x, y) + at(x, below) + 1) / 2,
        [true, true] => (at(x, y) + at(x + 1, y) + at(x, below) + at(x + 1, below)) / 4,
    }
}

/// Where a macroblock's samples of a plane begin.
fn origin(mb: &Macroblock, plane: usize) -> [i32; 2] {
    mb.at.map(|place| place as i32 >> i32::from(plane != 0))
}

fn frame(picture: &[u8], mb: &Macroblock, plane: usize, way: usize, [x, y]: [i32; 2]) -> i32 {
    let vector = mb.vectors[0][way].map(i32::from);
    let shift = if plane == 0 { 1 } else { 2 };
    let half = vector.map(|v| plane == 0 && v & 1 != 0);
    let [left, top] = [0, 1].map(|n| origin(mb, plane)[n] + (vector[n] >> shift));
    let at = [left + x, top + y];
    mean(picture, plane, at, half, at[1] + 1)
}

fn field(picture: &[u8], mb: &Macroblock, plane: usize, [x, y]: [i32; 2]) -> i32 {
    let parity = y as usize % 2;
    let vector = mb.vectors[parity][0].map(i32::from);
    let shift = if plane == 0 { 1 } else { 2 };
    let half = vector.map(|v| v & shift != 0);
    let [left, top] = [0, 1].map(|n| origin(mb, plane)[n] + (vector[n] >> shift));
    let top = top & !1 | i32::from(mb.fields >> (2 * parity) & 1);
    let row = top + (y & !1);
    let below = match (plane, half) {
        (1 | 2, [false, true]) if (left & 3) == 3 => row,
        (1 | 2, [false, true]) if y / 2 == 3 => top,
        _ => row + 2,
    };
    mean(picture, plane, [left + x, row], half, below)
}

#[derive(Clone, Copy, Debug)]
enum Prediction {
    Forward,
    Both,
    Field,
}

impl Prediction {
    fn kernel(self) -> &'static str {
        match self {
            Prediction::Forward => "frame_forward",
            Prediction::Both => "frame_f_b",
            Prediction::Field => "field_forward",
        }
    }

    fn of(self, [past, future]: [&[u8]; 2], mb: &Macroblock, plane: usize, at: [i32; 2]) -> i32 {
        match self {
            Prediction::Forward => frame(past, mb, plane, 0, at),
            Prediction::Both => {
                (frame(past, mb, plane, 0, at) + frame(future, mb, plane, 1, at) + 1) / 2
            }
            Prediction::Field => field(past, mb, plane, at),
        }
    }
}

/// The picture that the host computes.
fn expected(prediction: Prediction, pictures: [&[u8]; 2], macroblocks: &[Macroblock]) -> Vec<u8> {
    let mut out = vec![0; LUMA * 3 / 2];
    for mb in macroblocks {
        for (plane, (start, width, _)) in PLANES.into_iter().enumerate() {
            let side = if plane == 0 { 16 } else { 8 };
            for (x, y) in (0..side * side).map(|n| (n % side, n / side)) {
                let sum = prediction.of(pictures, mb, plane, [x as i32, y as i32])
                    + mb.residual(plane, x, y);
                // Luma is added as signed words, chroma as unsigned ones, which wrap below 0.
                let value = match plane {
                    0 => sum.clamp(0, 255),
                    _ => (sum & 0xffff).min(255),
                };
                let [left, top] = origin(mb, plane).map(|place| place as usize);
                out[start + (top + y) * width + left + x] = value as u8;
            }
        }
    }
    out
}

fn ops() -> &'static MediaOps {
    ringbuf::r#gen::media::of(&regs::platform::GEN40).unwrap()
}

fn surfaces(batch: &mut Batch, picture: Target) -> [ringbuf::batch::StateOffset; 3] {
    PLANES.map(|(start, width, height)| {
        let plane = Surface::Image {
            width: width as u32,
            height: height as u32,
            pitch: width as u32,
            format: sf::R8_SINT,
        };
        batch.surface(ops(), &plane, picture, start as u32)
    })
}

/// Runs a picture's macroblocks and compares.
fn compare(prediction: Prediction, rng: &mut fastrand::Rng, macroblocks: &[Macroblock]) {
    let rig = Rig::new();
    let object = |address, bytes: &[u8]| {
        let object = rig.object(address, bytes.len().next_multiple_of(4096), &[]);
        object.write(0, bytes).unwrap();
        object
    };
    let pictures = [(); 2].map(|()| (0..BYTES).map(|_| rng.u8(..)).collect::<Vec<_>>());
    let residual: Vec<u8> = macroblocks
        .iter()
        .flat_map(|mb| mb.residual.iter().flat_map(|word| word.to_le_bytes()))
        .collect();
    let target = object(TARGET, &[0; BYTES]);
    let others = [
        object(PAST, &pictures[0]),
        object(FUTURE, &pictures[1]),
        object(BLOCKS, &residual),
    ];

    let mut batch = Batch::new();
    let buffers = [(); 4].map(|()| batch.buffer());
    let [to, past, future, blocks] = buffers;
    let mut table = surfaces(&mut batch, to).to_vec();
    let state = Surface::Buffer {
        entries: residual.len() as u32,
        pitch: 1,
        format: sf::R8_UINT,
    };
    table.push(batch.surface(ops(), &state, blocks, 0));
    table.extend(surfaces(&mut batch, past));
    table.extend(surfaces(&mut batch, future));
    let table = batch.binding_table(&table);
    let words = kernels::xvmc(prediction.kernel());
    let code = Code::State(batch.kernel(words.as_chunks().0));
    let kernel = Kernel {
        code,
        registers: 128,
        constants: 0,
        surfaces: Some((table, 10)),
    };
    let descriptors = batch.descriptors(ops(), &[kernel]).unwrap();
    let front_end = FrontEnd {
        threads: 32,
        entries: 1,
        // The driver's one entry has 3 units and the URB behind it.
        entry_units: 13,
        constant_units: 0,
        children: false,
        scratch: None,
    };
    batch.begin(ops(), descriptors, &front_end, &[]).unwrap();
    for (mb, offset) in macroblocks.iter().zip((0..).step_by(RESIDUAL)) {
        let data = Indirect {
            from: Data::Buffer(blocks, offset),
            bytes: RESIDUAL as u32,
        };
        let root = Object {
            inline: &mb.inline(BLOCKS + offset),
            indirect: Some(data),
            ..Object::default()
        };
        batch.root(ops(), &root).unwrap();
    }
    batch.end(ops());
    let built = batch.build(BATCH, &[TARGET, PAST, FUTURE, BLOCKS]).unwrap();
    let commands = object(BATCH, &built.bytes);
    let request = rig
        .device
        .submit(&BatchDesc {
            object: &commands,
            start: 0,
            len: built.commands,
        })
        .unwrap();
    let ended = request.wait(PICTURE);
    let faults = rig.platform.device().status().faults().to_vec();
    assert!(ended.is_ok(), "{prediction:?}: {faults:?}");

    let mut got = vec![0; LUMA * 3 / 2];
    target.read(0, &mut got).unwrap();
    let wanted = expected(prediction, [&pictures[0], &pictures[1]], macroblocks);
    for mb in macroblocks {
        for (plane, (start, width, _)) in PLANES.into_iter().enumerate() {
            let side = if plane == 0 { 16 } else { 8 };
            let [left, top] = origin(mb, plane).map(|place| place as usize);
            for y in 0..side {
                let row = start + (top + y) * width + left;
                let row = row..row + side;
                assert_eq!(
                    got[row.clone()],
                    wanted[row],
                    "{prediction:?}, plane {plane}, row {y} of {:?}, vectors {:?}, fields {:#x}, coded {:#x}, field DCT {}",
                    mb.at,
                    mb.vectors,
                    mb.fields,
                    mb.coded,
                    mb.field_dct
                );
            }
        }
    }
    commands.unbind();
    drop((target, others, commands, request));
    rig.finish();
}

/// Every place of the picture, with vectors that a closure makes.
fn picture(mut each: impl FnMut([usize; 2]) -> Macroblock) -> Vec<Macroblock> {
    (0..HEIGHT / 16)
        .flat_map(|row| (0..WIDTH / 16).map(move |column| [column * 16, row * 16]))
        .map(&mut each)
        .collect()
}

fn check(prediction: Prediction) {
    let mut rng = fastrand::Rng::with_seed(0x13818);
    // All sixteen phases of a column in its dword and a half in either direction, without and with residual data.
    for coded in [0, 0x3f] {
        let mut phase = 0;
        let macroblocks = picture(|at| {
            let mut mb = Macroblock::random(&mut rng, at, 0);
            mb.coded = coded;
            mb.vectors = [0, 5].map(|second| {
                [0, 3].map(|way| [(phase + second + way) % 8, (phase / 8 + way + second) % 4])
            });
            phase += 1;
            mb
        });
        compare(prediction, &mut rng, &macroblocks);
    }
    // All phases of chroma, then beyond the edges.
    for reach in [12, 40, 300] {
        let macroblocks = picture(|at| Macroblock::random(&mut rng, at, reach));
        compare(prediction, &mut rng, &macroblocks);
    }
}

#[test]
fn frames_are_predicted_from_the_past() {
    check(Prediction::Forward);
}

#[test]
fn frames_are_predicted_from_past_and_future() {
    check(Prediction::Both);
}

#[test]
fn fields_are_predicted_from_the_past() {
    check(Prediction::Field);
}
