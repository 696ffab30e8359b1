//! State that submissions leave for the next survives what others do between.
//!
//! PRM volume 1, MI_SET_CONTEXT. The pictures are those of the whole frame on a node that serves nobody else.

use crate::support;

use std::time::Duration;

use kernel::time::Delta;

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
    fn new(name: &str, scene: &str) -> Self {
        let frame = Frame::read(scene);
        let party = Party::new(name);
        Painter {
            handles: party.load(&frame),
            pieces: frame.pieces().into_iter(),
            expected: whole(&frame),
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

fn whole(frame: &Frame) -> Vec<Vec<u8>> {
    let (_node, name) = support::start();
    Party::new(&name).draw(frame)
}

fn painters(name: &str) -> Vec<Painter> {
    [
        "g_gears",
        "k_stencil_scissor",
        "d_tex_nearest",
        "e_depth",
        "g_gears",
    ]
    .map(|scene| Painter::new(name, scene))
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
    let (node, name) = support::start();
    let mut painters = painters(&name);
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
    let (node, name) = support::start();
    node.first()
        .device()
        .set_hang_check_period(Delta::from_millis(20));
    let mut painters = painters(&name);
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
