//! State that submissions leave for the next survives what others do between.
//!
//! PRM volume 1, MI_SET_CONTEXT. The pictures are those of the whole frame on a node that serves nobody else.

use crate::support::{self, DEVICES};

use std::time::Duration;

use driver::uapi::{context, exec};
use kernel::time::Delta;
use zerocopy::{FromZeros as _, IntoBytes as _};

use crate::support::child::{self, hear};
use crate::support::frame::{Frame, Party};

const PATIENCE: Duration = Duration::from_secs(20);
const UNKNOWN: u32 = 0x7fff_0000;

/// A client that submits its frame piece by piece.
struct Painter {
    party: Party,
    frame: Frame,
    handles: Vec<u32>,
    pieces: std::vec::IntoIter<Frame>,
    expected: Vec<Vec<u8>>,
}

impl Painter {
    fn new((device, name): (&str, &str), scene: &str) -> Self {
        let frame = Frame::read_of(device, scene);
        let party = Party::new(name);
        Painter {
            handles: party.load(&frame),
            pieces: frame.pieces().into_iter(),
            expected: whole(device, &frame),
            frame,
            party,
        }
    }

    /// Submits the next piece; whether there was one.
    fn step(&mut self) -> bool {
        let Some(piece) = self.pieces.next() else {
            return false;
        };
        let batch = piece.batch();
        // Waits for the piece before.
        self.party
            .write(self.handles[batch], &piece.buffers[batch].data);
        assert_eq!(self.party.submit(&piece, &self.handles), 0);
        true
    }

    fn check(&self) {
        let now = self.party.contents(&self.frame, &self.handles);
        assert!(now == self.expected, "another picture");
    }
}

fn whole(device: &str, frame: &Frame) -> Vec<Vec<u8>> {
    let (_node, name) = support::start_on(device);
    Party::new(&name).draw(frame)
}

fn painters(on: (&str, &str)) -> Vec<Painter> {
    [
        "g_gears",
        "k_stencil_scissor",
        "d_tex_nearest",
        "e_depth",
        "g_gears",
    ]
    .map(|scene| Painter::new(on, scene))
    .into()
}

/// Lets everybody submit a piece; how many still had one.
fn round(painters: &mut [Painter]) -> usize {
    painters
        .iter_mut()
        .map(|painter| usize::from(painter.step()))
        .sum()
}

#[test]
fn frames_in_pieces_are_exact_while_others_draw_between_them() {
    DEVICES.into_iter().for_each(exact);
}

fn exact(device: &str) {
    let (node, name) = support::start_on(device);
    let mut painters = painters((device, &name));
    let pieces: Vec<_> = painters.iter().map(|p| p.pieces.len()).collect();
    assert!(pieces.iter().all(|pieces| *pieces >= 3), "{pieces:?}");
    println!("pieces {pieces:?}");
    while round(&mut painters) > 0 {}
    painters.iter().for_each(Painter::check);
    drop(painters);
    assert!(node.quiesce(PATIENCE));
    assert_eq!(node.report().work.resets, 0);
}

#[test]
fn state_outlives_the_resets_that_others_cause() {
    DEVICES.into_iter().for_each(outlives);
}

fn outlives(device: &str) {
    let (node, name) = support::start_on(device);
    node.first()
        .device()
        .set_hang_check_period(Delta::from_millis(20));
    let mut painters = painters((device, &name));
    let mut rounds = 0;
    loop {
        if rounds % 2 == 1 {
            let hostile = Party::new(&name);
            let batch = hostile.create(4096);
            hostile.write(batch, &UNKNOWN.to_le_bytes());
            hostile.run(batch);
        }
        // The first has no one between itself and the hang.
        if round(&mut painters) == 0 {
            break;
        }
        rounds += 1;
    }
    painters.iter().for_each(Painter::check);
    drop(painters);
    assert!(node.quiesce(PATIENCE));
    let resets = node.report().work.resets;
    println!("{resets} resets");
    assert!(resets >= 2);
}

/// A client that fills lines of a buffer on the blitter, each time with another colour.
struct Filler {
    party: Party,
    batch: u32,
    target: u32,
    expected: Vec<u8>,
    seed: u32,
}

const BATCH_END: u32 = 0x0a << 23;
/// XY_COLOR_BLT: a raster operation of the pattern alone, 32 bits a pixel, rows of this many bytes.
const PITCH: usize = 256;
const FILL: [u32; 2] = [
    2 << 29 | 0x50 << 22 | 3 << 20 | 4,
    3 << 24 | 0xf0 << 16 | PITCH as u32,
];
/// The byte of the batch with the destination's address.
const DESTINATION: u64 = 16;
/// Domain of pixels (uAPI `I915_GEM_DOMAIN_RENDER`).
const PIXELS: u32 = 2;

/// Submits a batch to the blitter; `target` is what it fills.
fn blit(party: &Party, batch: u32, target: Option<u32>) -> i32 {
    let relocations: Vec<exec::Relocation> = target
        .map(|target_handle| exec::Relocation {
            target_handle,
            offset: DESTINATION,
            presumed_offset: u64::MAX,
            read_domains: PIXELS,
            write_domain: PIXELS,
            ..exec::Relocation::new_zeroed()
        })
        .into_iter()
        .collect();
    let mut list: Vec<exec::Object> = Vec::new();
    if let Some(handle) = target {
        list.push(exec::Object {
            handle,
            ..exec::Object::new_zeroed()
        });
    }
    list.push(exec::Object {
        handle: batch,
        relocation_count: relocations.len() as u32,
        relocs_ptr: relocations.as_ptr().addr() as u64,
        ..exec::Object::new_zeroed()
    });
    let mut arg = exec::Execbuffer2 {
        buffers_ptr: list.as_ptr().addr() as u64,
        buffer_count: list.len() as u32,
        flags: exec::BLT,
        rsvd1: party.context.into(),
        ..exec::Execbuffer2::new_zeroed()
    };
    let result = party.ask(exec::EXECBUFFER2.0, arg.as_mut_bytes());
    std::hint::black_box((list, relocations));
    result
}

impl Filler {
    fn new(name: &str, seed: u32) -> Self {
        let party = Party::new(name);
        Filler {
            batch: party.create(4096),
            target: party.create(4096),
            expected: vec![0; 4096],
            party,
            seed,
        }
    }

    /// Fills four pixels of a line, by a batch of its own.
    fn step(&mut self, round: usize) {
        let (line, column) = (round % 16, round / 16 % 16 * 4);
        let colour = self.seed.wrapping_mul(round as u32 + 1) | 1;
        let corner = |x: usize, y: usize| (y << 16 | x) as u32;
        let words = [
            FILL[0],
            FILL[1],
            corner(column, line),
            corner(column + 4, line + 1),
            0,
            colour,
            BATCH_END,
            0,
        ];
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        // Waits for the batch before.
        self.party.write(self.batch, &bytes);
        assert_eq!(blit(&self.party, self.batch, Some(self.target)), 0);
        let begin = line * PITCH + column * 4;
        for pixel in self.expected[begin..begin + 16].chunks_exact_mut(4) {
            pixel.copy_from_slice(&colour.to_le_bytes());
        }
    }

    fn check(&self) {
        let now = self.party.bytes(self.target, 4096);
        assert!(now == self.expected, "other pixels");
    }
}

/// Two programs of different state draw by turns while others fill on the blitter, and batches hang on both engines in between.
#[test]
fn both_engines_are_exact_with_resets_of_either_between() {
    ["sandybridge", "valleyview"].into_iter().for_each(both);
}

fn both(device: &str) {
    let (node, name) = support::start_on(device);
    node.first()
        .device()
        .set_hang_check_period(Delta::from_millis(20));
    let mut painters = painters((device, &name));
    let mut fillers = [0x0123_4567, 0x89ab_cdef].map(|seed| Filler::new(&name, seed));
    let mut rounds = 0;
    loop {
        for filler in &mut fillers {
            filler.step(rounds);
        }
        // Clients that hang often get no more contexts: a new one each time.
        match rounds % 4 {
            1 => {
                let hostile = Party::new(&name);
                let batch = hostile.create(4096);
                hostile.write(batch, &UNKNOWN.to_le_bytes());
                hostile.run(batch);
            }
            3 => {
                let hostile = Party::new(&name);
                let batch = hostile.create(4096);
                hostile.write(batch, &UNKNOWN.to_le_bytes());
                assert_eq!(blit(&hostile, batch, None), 0);
            }
            _ => {}
        }
        for filler in &mut fillers {
            filler.step(rounds + 100);
        }
        if round(&mut painters) == 0 && rounds >= 40 {
            break;
        }
        rounds += 1;
    }
    painters.iter().for_each(Painter::check);
    fillers.iter().for_each(Filler::check);
    drop((painters, fillers));
    assert!(node.quiesce(PATIENCE));
    let resets = node.report().work.resets;
    println!("{rounds} rounds, {resets} resets");
    assert!(resets >= 10, "{resets}");
}

/// Uses contexts until one is refused, and stays.
#[test]
fn in_a_child() {
    let Some((_, name, _)) = child::role() else {
        return;
    };
    let mut party = Party::new(&name);
    let batch = party.create(4096);
    party.write(batch, &BATCH_END.to_le_bytes());
    let mut used = 0;
    while party.run(batch) == 0 {
        used += 1;
        let mut made = context::CreateExt::new_zeroed();
        assert_eq!(party.ask(context::CREATE_EXT.0, made.as_mut_bytes()), 0);
        party.context = made.ctx_id;
    }
    let refused = party.run(batch);
    println!("\n{used} images, then {refused}");
    std::thread::sleep(Duration::from_secs(600));
}

/// Of 8 MiB that the driver keeps for itself a process has a quarter, its family one half.
#[test]
fn images_of_a_process_leave_room_for_others() {
    let (node, name) = support::start();
    let innocent = Party::new(&name);
    let frame = Frame::read("g_gears");
    let expected = innocent.draw(&frame);
    for _ in 0..2 {
        let bomb = || child::spawn("contexts::in_a_child", "images", &name, 0);
        // An image of GM965 is one page.
        let mut bombs = [bomb(), bomb()];
        for bomb in &mut bombs {
            hear(bomb, "512 images, then -12");
        }
        let other = Party::new(&name);
        assert!(other.draw(&frame) == expected);
        for mut bomb in bombs {
            bomb.kill().unwrap();
            bomb.wait().unwrap();
        }
        drop(other);
    }
    assert!(innocent.draw(&frame) == expected);
    drop(innocent);
    assert!(node.quiesce(PATIENCE));
}

/// Five objects of a page in 64 MiB of addresses each: two clients do not fit into the 512 MiB of a GM965 together.
#[test]
fn clients_that_do_not_fit_together_take_turns() {
    let (node, name) = support::start();
    let take_turns = |name: &str| {
        let party = Party::new(name);
        let mut list: Vec<exec::Object> = (0..5)
            .map(|_| exec::Object {
                handle: party.create(4096),
                flags: exec::OBJECT_PAD_TO_SIZE,
                pad_to_size: 64 << 20,
                ..exec::Object::new_zeroed()
            })
            .collect();
        let batch = list.last().unwrap().handle;
        party.write(batch, &BATCH_END.to_le_bytes());
        let run = |_| {
            let mut arg = exec::Execbuffer2 {
                buffers_ptr: list.as_mut_ptr().addr() as u64,
                buffer_count: list.len() as u32,
                flags: exec::RENDER,
                rsvd1: party.context.into(),
                ..exec::Execbuffer2::new_zeroed()
            };
            party.ask(exec::EXECBUFFER2.0, arg.as_mut_bytes())
        };
        // The first error, and how many there are.
        let refused: Vec<i32> = (0..200).map(run).filter(|result| *result != 0).collect();
        (refused.first().copied(), refused.len())
    };
    let refused: Vec<_> = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..2).map(|_| scope.spawn(|| take_turns(&name))).collect();
        clients.into_iter().map(|c| c.join().unwrap()).collect()
    });
    assert_eq!(refused, [(None, 0), (None, 0)]);
    assert!(node.quiesce(PATIENCE));
}
