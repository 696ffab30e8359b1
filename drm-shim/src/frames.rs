//! Frames and renderers for the node's closing report.
//!
//! Not modelled: programs that find the functions by `dlsym` or `eglGetProcAddress` are not seen.

use core::sync::atomic::{AtomicUsize, Ordering};

use wire::{Head, NO_FILE, Op};

use crate::sys::memory::Block;
use crate::{config, link};

/// A frame has been presented.
pub fn presented() {
    if config::get().node().is_some() {
        let head = Head::new(Op::Frames, NO_FILE, [1, 0, 0]);
        // A report that lacks a frame is no error of the program.
        let _ = link::with(|link| link.send(head, Block::of(&[])));
    }
}

/// Contexts whose renderer is known.
static CONTEXTS: [AtomicUsize; 64] = [const { AtomicUsize::new(0) }; 64];

/// Whether a context is current for the first time. When there are very many, some count as new again.
pub fn is_new(context: usize) -> bool {
    if context == 0 || config::get().node().is_none() {
        return false;
    }
    let slot = CONTEXTS.get((context >> 4) % CONTEXTS.len());
    slot.is_some_and(|slot| slot.swap(context, Ordering::Relaxed) != context)
}

/// What a context draws with.
pub fn renderer(name: &[u8]) {
    link::note(0, name);
}
