//! Messages with sample masks, with alpha of source 0, and with two sources.
//!
//! Descriptors and order of the registers: Mesa 22.3.6 brw_lower_logical_sends.cpp `lower_fb_write_logical_send`. State: genxml gen6.

use super::*;
use crate::intel::cc::pixel::lanes::Mixed;
use crate::intel::cc::pixel_position;
use crate::intel::r#gen::{Readers, find};
use crate::intel::shared::context::{OneColour, StateBases};
use crate::intel::shared::dataport::DataPort;
use crate::intel::shared::dataport::made::Lit;
use crate::intel::shared::dataport::request::WriteRequest;
use crate::intel::shared::message::{Descriptor, Request};
use eu::ThreadId;
use eu::port::FloatMode;
use mem::GpuAddr;

/// Surface states; dynamic state lies half a page behind.
const STATE: u32 = 0x1_0000;
const TARGET: u32 = 0x10_0000;

/// A write of eight pixels to surface 0, the last of them; with bit 19, a header.
const SINGLE: u32 = 0x1_9400;
/// The same with two sources, for subspans 0 and 1.
const DUAL: u32 = 0x1_9200;
const HEADER: u32 = 1 << 19;

fn readers() -> &'static Readers {
    &find("sandybridge").unwrap().readers
}

struct Bench {
    mem: Memory,
    port: DataPort,
    backend: PixelBackend,
    events: Events,
}

impl Bench {
    /// A target of 40 by 20 pixels, R8G8B8A8_UNORM, all zero; two lit subspans at (4, 2) and (8, 2).
    fn new() -> Self {
        let mut mem = Memory::new(4 << 20, 1 << 12);
        mem.alloc_mapped(GpuAddr::from(STATE), 0x1000).unwrap();
        mem.alloc_mapped(GpuAddr::from(TARGET), 0x1_0000).unwrap();
        mem.write_u32(GpuAddr::from(STATE + 0x40), 0x200).unwrap();
        let surface = [
            1 << 29 | 0x0c7 << 18,
            TARGET,
            19 << 19 | 39 << 6,
            1023 << 3,
            0,
            0,
        ];
        mem.write_dwords(GpuAddr::from(STATE + 0x200), &surface)
            .unwrap();
        let mut events = Events::default();
        events.pixels.origins[..2].copy_from_slice(&[(4, 2), (8, 2)]);
        events.pixels.mask = 0xff;
        events.pixels.coverage = [0xff; SAMPLES];
        let mut backend = PixelBackend::default();
        backend.pointers.blend = 0x40;
        backend.pointers.color_calc = 0x80;
        Bench {
            mem,
            port: DataPort::new(readers().functions),
            backend,
            events,
        }
    }

    fn dynamic(&mut self, at: u32, words: &[u32]) {
        let at = GpuAddr::from(STATE + 0x800 + at);
        self.mem.write_dwords(at, words).unwrap();
    }

    fn send(&mut self, desc: u32, payload: &[Grf]) -> Result<(), UnitFault> {
        let (request, msg) = message(desc, payload);
        let (mem, events) = (&mut self.mem, &mut self.events);
        self.port
            .write(request, &msg, mem, &context(), &self.backend, events)
    }

    /// Sends a whole square of one colour; gives what was seen of it.
    fn square(&mut self, at: (u16, u16), rgba: [f32; 4]) -> Option<OneColour> {
        let pixels = &mut self.events.pixels;
        let places = [(0, 0), (2, 0), (0, 2), (2, 2)];
        pixels.origins[..4].copy_from_slice(&places.map(|(x, y)| (at.0 + x, at.1 + y)));
        pixels.mask = 0xffff;
        pixels.coverage = [0xffff; SAMPLES];
        self.events.watch_colour = true;
        let mut payload = [0; 8];
        payload[..4].copy_from_slice(&rgba.map(f32::to_bits));
        self.send(0x1_9100, &[payload]).unwrap();
        self.events.one_colour.take()
    }

    fn fill(&mut self, colour: &OneColour, at: (u16, u16)) -> bool {
        self.port.is_target(&self.mem, &context(), colour)
            && self.port.fill(&mut self.mem, colour, at)
    }

    /// All of the target's memory.
    fn picture(&self) -> Vec<u32> {
        let mut words = vec![0; 0x4000];
        self.mem
            .read_dwords(GpuAddr::from(TARGET), &mut words)
            .unwrap();
        words
    }

    /// The pixels of the eight slots: two rows of two for each subspan.
    fn slots(&self) -> [u32; 8] {
        std::array::from_fn(|slot| {
            let x = 4 + slot / 4 * 4 + slot % 2;
            let y = 2 + slot / 2 % 2;
            let at = TARGET + (y * 1024 + x * 4) as u32;
            self.mem.read_u32(GpuAddr::from(at)).unwrap()
        })
    }
}

fn message(desc: u32, payload: &[Grf]) -> (WriteRequest, Message<'_>) {
    // The first two types of message are of sixteen pixels.
    let size = if desc >> 8 & 7 < 2 { 16 } else { 8 };
    let msg = Message {
        thread: ThreadId::default(),
        sfid: 5,
        function_control: desc as u16,
        desc,
        response_length: 0,
        eot: true,
        exec_mask: u16::MAX >> (16 - size),
        exec_size: size,
        payload,
        ip: 0,
        float_mode: FloatMode::Ieee,
    };
    match readers().messages.request(Descriptor::from(&msg)).unwrap() {
        Request::Write(write) => (write, msg),
        other => unreachable!("{other:?}"),
    }
}

fn context() -> ThreadContext {
    ThreadContext {
        bases: StateBases {
            surface_state_base: STATE,
            dynamic_state_base: Some(STATE + 0x800),
            ..StateBases::default()
        },
        binding_table_pointer: 0x40,
        ..ThreadContext::default()
    }
}

fn floats(values: [f32; 8]) -> Grf {
    values.map(f32::to_bits)
}

/// Registers of a colour: red, green, blue, alpha.
fn colour(rgba: [f32; 4]) -> [Grf; 4] {
    rgba.map(|value| floats([value; 8]))
}

#[test]
fn without_anything_else_a_message_is_four_registers() {
    let mut bench = Bench::new();
    bench.send(SINGLE, &colour([1.0, 0.0, 0.0, 1.0])).unwrap();
    assert_eq!(bench.slots(), [0xff00_00ff; 8]);
    let five = [colour([0.0; 4]).as_slice(), &[[0; 8]]].concat();
    assert!(bench.send(SINGLE, &five).is_err());
}

/// Colours that nothing changes go straight into the target. Every kind of message, with pixels left out and across the edges.
#[test]
fn the_straight_way_writes_what_the_long_one_does() {
    let mut rng = fastrand::Rng::with_seed(0x5742_6174);
    let (mut straight, mut long) = (Bench::new(), Bench::new());
    let black = colour([0.0; 4]);
    for bench in [&mut straight, &mut long] {
        bench.send(SINGLE, &black).unwrap();
    }
    assert!(straight.port.targets[0].direct.is_some());
    long.port.targets[0].direct = None;
    for round in 0..2000 {
        let (kind, registers) = [(0x1_9000, 8), (0x1_9100, 1), (SINGLE, 4)][round % 3];
        let values = [0.0, 1.0, 0.5, -1.0, 7.0, f32::NAN, f32::INFINITY];
        let mut value = || match rng.u8(..12) {
            n @ ..7 => values[usize::from(n)].to_bits(),
            _ => rng.f32().to_bits(),
        };
        let mut payload: Vec<Grf> = (0..registers)
            .map(|_| std::array::from_fn(|_| value()))
            .collect();
        let whole = rng.bool();
        let (x, y) = (rng.u16(..11) * 4, rng.u16(..6) * 4);
        let origins = [(0, 0), (2, 0), (0, 2), (2, 2)].map(|(dx, dy)| {
            let (dx, dy) = if whole {
                (dx, dy)
            } else {
                (rng.u16(..9), rng.u16(..9))
            };
            (x + dx, y + dy)
        });
        let mask = if whole {
            0xffff
        } else {
            u32::from(rng.u16(..))
        };
        let coverage = if rng.bool() {
            mask
        } else {
            u32::from(rng.u16(..))
        };
        let header = rng.u8(..4) == 0;
        if header {
            let mut m1 = [0; 8];
            for (to, (x, y)) in m1[2..].iter_mut().zip(origins) {
                *to = u32::from(x) | u32::from(y) << 16;
            }
            m1[7] = mask;
            payload.splice(0..0, [[0; 8], m1]);
        }
        for bench in [&mut straight, &mut long] {
            let pixels = &mut bench.events.pixels;
            pixels.origins[..4].copy_from_slice(&origins);
            pixels.mask = mask;
            pixels.coverage[0] = coverage;
            let desc = if header { kind | HEADER } else { kind };
            bench.send(desc, &payload).unwrap();
        }
        assert_eq!(straight.port.pixels, long.port.pixels, "round {round}");
        let scoreboard = |bench: &mut Bench| std::mem::take(&mut bench.events.scoreboard_clear);
        assert_eq!(
            scoreboard(&mut straight),
            scoreboard(&mut long),
            "round {round}"
        );
        assert!(straight.picture() == long.picture(), "round {round}");
    }
}

/// Pixels that are made ready, and mixed with those of the target afterwards, become what their message makes of them.
#[test]
fn pixels_that_are_ready_become_what_their_message_makes_of_them() {
    use crate::intel::surface::format::codes as f;
    const MESSAGE: u32 = 0x1_9000;
    const FORMATS: [u32; 5] = [
        f::R8G8B8A8_UNORM,
        f::B8G8R8A8_UNORM,
        f::B5G6R5_UNORM,
        f::R16G16B16A16_FLOAT,
        f::B8G8R8A8_UNORM_SRGB,
    ];
    let mut rng = fastrand::Rng::with_seed(0x6d69_7865);
    let (mut ready, mut sent) = (Bench::new(), Bench::new());
    let surface = [TARGET, 19 << 19 | 39 << 6, 1023 << 3 | 3];
    let (mut mixed, mut written) = (Mixed::default(), [0; 2]);
    let (mut reads, mut refused, mut wholes) = (0, 0, 0);
    for round in 0..3000 {
        let format = FORMATS[rng.usize(..FORMATS.len())];
        let factors = [1, 2, 3, 4, 5, 6, 17, 18, 19, 20, 21];
        let mut factor = || factors[rng.usize(..factors.len())];
        let blend = factor() << 20 | factor() << 15 | factor() << 5 | factor();
        let blend = blend | u32::from(rng.bool()) << 31 | u32::from(rng.bool()) << 30;
        let rest = 0xf << 24 | 1 << 22 | 0xf << 18 | 1 << 16 | 7 << 13 | 1 << 12 | 3;
        let rest = rng.u32(..) & rng.u32(..) & rest;
        let whole = rng.bool();
        let (x, y) = (rng.u16(..9) * 4, rng.u16(..5) * 4);
        let origins = [(0, 0), (2, 0), (0, 2), (2, 2)].map(|(dx, dy)| {
            let away = if whole { 0 } else { rng.u16(..3) * 2 };
            (x + dx + away, y + dy)
        });
        let mask = if whole { u16::MAX } else { rng.u16(..) };
        let mut payload = [[0; 8]; 8];
        payload
            .as_flattened_mut()
            .fill_with(|| (rng.f32() * 1.5 - 0.25).to_bits());
        let alone = rng.u8(..8) == 0;
        for bench in [&mut ready, &mut sent] {
            let at = GpuAddr::from(STATE + 0x200);
            bench.mem.write_u32(at, 1 << 29 | format << 18).unwrap();
            bench.mem.write_dwords(at.offset(4), &surface).unwrap();
            bench.dynamic(0x40, &[blend, rest]);
            bench.dynamic(0x80, &[1, 0.5f32.to_bits(), 0, 0, 0, 0]);
            bench.port.invalidate();
            let pixels = &mut bench.events.pixels;
            pixels.origins[..4].copy_from_slice(&origins);
            pixels.mask = u32::from(mask);
            pixels.coverage[0] = u32::from(mask);
            // One message lets the port find out about target and state.
            if !alone {
                bench.send(MESSAGE, &payload).unwrap();
            }
        }
        payload.as_flattened_mut().reverse();
        let (request, msg) = message(MESSAGE, &payload);
        let at = GpuAddr::from(STATE + 0x200);
        let (backend, kept) = (&ready.backend, &ready.events.pixels);
        // The target is read before, as long as the message names the thread's pixels.
        let mut lit = Lit { origins, mask };
        if rng.u8(..4) == 0 {
            lit.mask = rng.u16(..);
        }
        let named = lit.mask & mask == mask;
        let early = rng.bool().then_some((&ready.mem, lit));
        let mut making = Making {
            early,
            mixed: &mut mixed,
        };
        let packed = {
            let kept = (Some(kept), &mut making);
            let port = &ready.port;
            port.packed((request, at), &msg, &context(), backend, kept)
        };
        let ctx = context();
        let again = ready.port.ready((request, at), &ctx, backend, kept);
        let mut other = Mixed::default();
        let mut making = Making {
            early,
            mixed: &mut other,
        };
        let all = again.and_then(|again| again.whole(&msg, &origins, Some(&ready.mem)));
        let again = again.and_then(|ready| ready.packed(&msg, kept, &mut making));
        assert_eq!(packed.is_some(), again.is_some(), "round {round}");
        let early = early.is_some();
        if alone {
            assert!(packed.is_none(), "round {round}");
            continue;
        }
        if let Some(packed) = &packed {
            if rng.bool() {
                mixed = other;
            }
            let is_mixed = matches!(packed.1, direct::Packed::Mixed);
            let done = ready.port.write_packed(&mut ready.mem, packed, &mixed);
            if !done.unwrap() {
                // Of two subspans in one place the second meets what the first has left.
                let lit = |s: &usize| mask >> (4 * s) & 15 != 0;
                let mut places: Vec<_> = (0..4).filter(lit).map(|s| origins[s]).collect();
                places.sort_unstable();
                let count = places.len();
                places.dedup();
                assert!(is_mixed && places.len() < count, "round {round}");
                assert!(ready.picture() == sent.picture(), "round {round}");
                sent.port.pixels = ready.port.pixels;
                continue;
            }
            written[usize::from(is_mixed)] += 1;
            reads += u32::from(early && !is_mixed);
            refused += u32::from(early && !named && is_mixed);
            sent.send(MESSAGE, &payload).unwrap();
            assert_eq!(ready.port.pixels, sent.port.pixels, "round {round}");
            assert!(ready.picture() == sent.picture(), "round {round}");
            if let Some(dwords) = all.filter(|_| whole) {
                let surface = &ready.port.kept(at).unwrap();
                for (i, dword) in dwords.iter().enumerate() {
                    let (x, y) = pixel_position(&origins, i);
                    let there = surface.address(x, y, 0, 0);
                    if x < 40 && y < 20 {
                        assert_eq!(ready.mem.read_u32(there), Ok(*dword), "round {round}");
                        wholes += 1;
                    }
                }
            }
            if is_mixed {
                // The state may be another one.
                ready.port.cc.forget_ways();
                let done = ready.port.write_packed(&mut ready.mem, packed, &mixed);
                assert!(!done.unwrap(), "round {round}");
                assert!(ready.picture() == sent.picture(), "round {round}");
            }
        }
    }
    assert!(written[0] > 500 && written[1] > 1000, "{written:?}");
    assert!(
        reads > 500 && refused > 100 && wholes > 5000,
        "{reads} {refused} {wholes}"
    );
}

/// Squares like one that was seen become what messages would have made of them, or are left to a message.
#[test]
fn squares_of_one_colour_are_filled() {
    let (mut filled, mut sent) = (Bench::new(), Bench::new());
    let rgba = [0.25, 1.0, 0.0, 0.5];
    let colour = filled.square((8, 4), rgba).unwrap();
    sent.square((8, 4), rgba).unwrap();
    for at in [(12, 4), (36, 16), (0, 0)] {
        assert!(filled.fill(&colour, at), "{at:?}");
        sent.square(at, rgba).unwrap();
        assert!(filled.picture() == sent.picture(), "{at:?}");
    }
    assert_eq!(filled.port.pixels, sent.port.pixels);
    // Over the edges of 40 by 20 pixels, and where a row is not one OWord.
    for at in [(37, 0), (40, 0), (0, 17), (0, 20), (u16::MAX, 0), (2, 0)] {
        assert!(!filled.fill(&colour, at), "{at:?}");
    }
    assert!(filled.picture() == sent.picture());
    // The binding table says something else now, as when the draw has written over it.
    let entry = GpuAddr::from(STATE + 0x40);
    filled.mem.write_u32(entry, 0x300).unwrap();
    assert!(!filled.fill(&colour, (0, 4)));
    filled.mem.write_u32(entry, 0x200).unwrap();
    assert!(filled.fill(&colour, (0, 4)));
    // State may have changed: what was derived from it is forgotten.
    filled.port.invalidate();
    assert!(!filled.fill(&colour, (0, 8)));
}

#[test]
fn a_square_of_several_colours_tells_nothing() {
    let mut bench = Bench::new();
    assert!(bench.square((8, 4), [1.0; 4]).is_some());
    // A pixel is not lit.
    bench.events.pixels.mask = 0xfffe;
    bench.send(0x1_9100, &[[0; 8]]).unwrap();
    assert_eq!(bench.events.one_colour.take(), None);
    bench.events.pixels.mask = 0xffff;
    let mut colours = [[0; 8]; 8];
    bench.send(0x1_9000, &colours).unwrap();
    assert!(bench.events.one_colour.take().is_some());
    colours[3][5] = 1.0f32.to_bits();
    bench.send(0x1_9000, &colours).unwrap();
    assert_eq!(bench.events.one_colour.take(), None);
    // Nobody asked.
    bench.events.watch_colour = false;
    bench.send(0x1_9100, &[[0; 8]]).unwrap();
    assert_eq!(bench.events.one_colour, None);
}

/// oMask (3DSTATE_WM, oMask Present to RenderTarget): a register before the colour, a word a slot; its bit 0 is sample 0.
#[test]
fn a_mask_of_samples_comes_before_the_colour() {
    let mut bench = Bench::new();
    bench.backend.sample_mask = true;
    let red = colour([1.0, 0.0, 0.0, 1.0]);
    assert!(bench.send(SINGLE, &red).is_err(), "the mask is missing");
    // Slots 0, 3, 4 and 5; slots 1 and 2 have sample 1 and sample 15 alone.
    let mask = [0x0002_0001, 0xffff_8000, 0x0001_0001, 0, 0, 0, 0, 0];
    let message = [[mask].as_slice(), &red].concat();
    bench.send(SINGLE, &message).unwrap();
    let on = 0xff00_00ff;
    assert_eq!(bench.slots(), [on, 0, 0, on, on, on, 0, 0]);
}

/// Bit 11 of the header: alpha of source 0 comes first, and the alpha test looks at it instead of at the colour's.
#[test]
fn alpha_of_source_0_is_tested() {
    let mut bench = Bench::new();
    // Alpha Test Enable, and Alpha Test Function COMPAREFUNCTION_GREATER (5); Alpha Test Format FLOAT32, reference 0.5.
    bench.dynamic(0x40, &[0, 1 << 16 | 5 << 13]);
    bench.dynamic(0x80, &[1, 0.5f32.to_bits(), 0, 0, 0, 0]);
    let header = |bits: u32| {
        let m0 = [bits, 0x80, 0, 0, 0, 0, 0, 0];
        let m1 = [0, 0, 2 << 16 | 4, 2 << 16 | 8, 0, 0, 0, 0xff];
        [m0, m1]
    };
    let red = colour([1.0, 0.0, 0.0, 0.0]);
    let plain = [header(0).as_slice(), &red].concat();
    bench.send(SINGLE | HEADER, &plain).unwrap();
    assert_eq!(bench.slots(), [0; 8]);
    let alpha = floats([1.0, 0.25, 0.75, 0.5, 0.0, 0.6, 1.0, 0.0]);
    let message = [header(1 << 11).as_slice(), &[alpha], &red].concat();
    bench.send(SINGLE | HEADER, &message).unwrap();
    // The colour that is written keeps its own alpha.
    let on = 0x0000_00ff;
    assert_eq!(bench.slots(), [on, 0, on, 0, 0, on, on, 0]);
}

/// Source 1 follows source 0 and is a factor: red by SRC1_COLOR (9), what was there by ZERO (17).
#[test]
fn the_second_source_is_a_factor() {
    let mut bench = Bench::new();
    bench.dynamic(0x40, &[1 << 31 | 9 << 5 | 0x11, 0]);
    let sources = [colour([1.0, 1.0, 1.0, 1.0]), colour([0.2, 0.4, 0.6, 0.8])];
    bench.send(DUAL, sources.as_flattened()).unwrap();
    // 51, 102, 153 and 204 of 255.
    assert_eq!(bench.slots(), [0xcc99_6633; 8]);
    let mut one = Bench::new();
    assert!(
        one.send(DUAL, &sources[0]).is_err(),
        "the second is missing"
    );
}

#[test]
fn words_of_a_mask_and_quarters_of_alpha() {
    let register = [0x0001_0000, 0x0000_0001, 0, 0, 0, 0, 0, 0x8001_0002];
    assert_eq!(named(&register, 0), 1 << 1 | 1 << 2 | 1 << 15);
    assert_eq!(named(&register, 1), 1 << 14);
    assert_eq!(named(&register, 15), 1 << 15);
    // A half of full coverage is two of four samples.
    let alpha = [0.5f32.to_bits(); 16];
    let lit = |count| (0..count).map(move |sample| covered(&alpha, (sample, count)));
    assert!(lit(4).eq([0xffff, 0xffff, 0, 0]));
    assert_eq!(lit(8).filter(|lit| *lit != 0).count(), 4);
}
