//! A small frame under the driver's debugger.
//!
//! PRM: volume 4, 3.5.

use driver::debug::{DebugSession, HaltedThread};
use kernel::time::Delta;

use crate::scene::Scene;
use crate::scene::draw::Draw;
use crate::scene::surface::Surface;

/// Device time in which a thread halts.
pub const LONG: Delta = Delta::from_millis(20);

/// A triangle over half of a 64x64 target.
pub fn triangle(scene: &mut Scene, target: &Surface) -> Draw {
    let mut draw = Draw::flat(target.state());
    let corners: Vec<[f32; 8]> = [[0.0, 0.0], [64.0, 0.0], [0.0, 64.0]]
        .iter()
        .map(|[x, y]| [*x, *y, 0.5, 1.0, 0.75, 0.25, 0.5, 1.0])
        .collect();
    scene.vertices(&mut draw, &corners);
    draw
}

/// The picture that nobody disturbs.
#[must_use]
pub fn undisturbed() -> Vec<u32> {
    let mut scene = Scene::new();
    let target = scene.target(64, 64);
    let draw = triangle(&mut scene, &target);
    scene.draw(&draw);
    scene.run();
    let words = target.words();
    drop(target);
    scene.finish();
    words
}

/// A frame of that triangle under a debugging session.
pub struct Debugged {
    /// The frame.
    pub scene: Scene,
    /// What it draws on.
    pub target: Surface,
    /// The session.
    pub session: DebugSession,
}

impl Debugged {
    /// The frame, built and not submitted.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "it powers a device on")]
    pub fn new() -> Self {
        let mut scene = Scene::new();
        let target = scene.target(64, 64);
        let draw = triangle(&mut scene, &target);
        scene.draw(&draw);
        let session = scene.rig.device.debug().unwrap();
        Debugged {
            scene,
            target,
            session,
        }
    }

    /// The one thread that halts.
    #[must_use]
    pub fn first(&self) -> HaltedThread {
        let mut threads = self.session.wait(LONG).unwrap();
        assert_eq!(threads.len(), 1);
        threads.remove(0)
    }

    /// Compares the picture and ends everything.
    pub fn end(self, words: &[u32]) {
        assert!(self.target.words() == words);
        drop(self.session);
        drop(self.target);
        self.scene.finish();
    }
}
