//! The two copies of a tiled object, merged in pieces.
//!
//! Between two pieces the device and its memory are free for others.

use std::ops::Range;

use driver::{Object, Shown, Tiling};
use mem::PhysAddr;
use mmio_mock::LivePlatform;
use parking_lot::{Mutex, MutexGuard};

use crate::edge::Window;
use crate::work;

/// Bytes after which others come to the device and its memory, or a row where one is longer.
pub const PIECE: usize = 256 << 10;
/// Bytes of the CPU's copy that are compared and written at a time: what a client writes in that moment is lost.
const STEP: usize = 64;

/// What is known of an object's linear copy.
pub struct Copy {
    pub tiling: Tiling,
    pub stride: u32,
    /// Where the linear bytes lie in the memory of views.
    start: usize,
    /// How many of them are those of earlier views, until `known` has them.
    left: usize,
    /// The linear bytes as both sides knew them last; none until there was memory for them.
    known: Vec<u8>,
}

/// Where bytes are copied from and to.
pub struct Sides<'a> {
    pub platform: &'a LivePlatform,
    pub window: &'a Window,
    /// Held at the device: of all lanes that merge copies one at a time competes with the device's thread.
    pub door: &'a Mutex<()>,
}

impl Copy {
    /// That of an object, which begins where `left` does: there may be bytes of earlier views. Behind it are zeros.
    pub fn new(object: &Object, left: Range<usize>) -> Self {
        Copy {
            tiling: object.tiling(),
            stride: object.stride(),
            start: left.start,
            left: left.len(),
            known: Vec::new(),
        }
    }

    /// Allocates `known` for an object of so many bytes, and fills it with what shows; false when the memory for it is missing: the
    /// client has decided on the size.
    pub fn allocate(&mut self, window: &Window, size: usize) -> bool {
        if self.known.len() < size {
            if self.known.try_reserve_exact(size).is_err() {
                return false;
            }
            self.known.resize(size, 0);
            if let Some(left) = self.known.get_mut(..self.left.min(size)) {
                window.read(self.start, left);
            }
        }
        true
    }

    /// Whether the layout has changed.
    pub fn set_layout(&mut self, object: &Object) -> bool {
        let layout = (object.tiling(), object.stride());
        let is_new = layout != (self.tiling, self.stride);
        (self.tiling, self.stride) = layout;
        is_new
    }

    /// Linear bytes that lie in whole rows of tiles; those behind show as they are.
    fn whole(&self, size: usize) -> usize {
        let height = match self.tiling {
            Tiling::None => return 0,
            Tiling::X => mem::Tiling::X.tile_height(),
            Tiling::Y => mem::Tiling::Y.tile_height(),
        };
        let row = self.stride as usize * height as usize;
        size.checked_div(row).unwrap_or(0) * row
    }

    /// The linear bytes in pieces; those of whole tiles are whole rows.
    fn pieces(&self, size: usize) -> impl Iterator<Item = Range<usize>> + use<> {
        let whole = self.whole(size);
        let stride = (self.stride as usize).max(1);
        let rows = (PIECE / stride).max(1) * stride;
        let tiles = (0..whole).step_by(rows);
        let tiles = tiles.map(move |start| start..whole.min(start + rows));
        let rest = (whole..size).step_by(PIECE);
        tiles.chain(rest.map(move |start| start..size.min(start + PIECE)))
    }

    /// Calls `copy(offset in the piece, tiled offset, bytes)` for every run of bytes of a piece that lie side by side in
    /// both copies.
    fn runs(&self, piece: &Range<usize>, size: usize, mut copy: impl FnMut(usize, usize, usize)) {
        let (tiling, unit) = match self.tiling {
            Tiling::X if piece.start < self.whole(size) => (mem::Tiling::X, 512),
            Tiling::Y if piece.start < self.whole(size) => (mem::Tiling::Y, 16),
            _ => return copy(0, piece.start, piece.len()),
        };
        let stride = self.stride as usize;
        for (row, y) in (piece.start / stride..piece.end / stride).enumerate() {
            for x in (0..stride).step_by(unit) {
                let at = mem::tiling::offset(tiling, self.stride, x as u32, y as u32);
                copy(row * stride + x, at as usize, unit);
            }
        }
    }

    /// CPU to device: bytes that differ from what both knew.
    pub fn push(&mut self, sides: &Sides<'_>, object: &Object) {
        let size = object.size();
        let mut buffer = Vec::new();
        let Some((_held, address)) = hold(object) else {
            return;
        };
        let mut all = std::mem::take(&mut self.known);
        for piece in self.pieces(size) {
            work::one();
            let Some(known) = all.get_mut(piece.clone()) else {
                break;
            };
            buffer.resize(piece.len(), 0);
            // The client may write meanwhile: its bytes are read once.
            if !sides.window.read(self.start + piece.start, &mut buffer) {
                break;
            }
            if buffer == known {
                continue;
            }
            let is_there = sides.with_bytes(address, size, |tiled| {
                self.runs(&piece, size, |lin, at, n| {
                    if let (Some(new), Some(old), Some(to)) = (
                        buffer.get(lin..lin + n),
                        known.get(lin..lin + n),
                        tiled.get_mut(at..at + n),
                    ) && new != old
                    {
                        push_run(new, old, to);
                    }
                });
            });
            if !is_there {
                break;
            }
            known.copy_from_slice(&buffer);
        }
        self.known = all;
    }

    /// Device to CPU: everything but what the CPU has written since.
    pub fn pull(&mut self, sides: &Sides<'_>, object: &Object) {
        let size = object.size();
        let mut buffer = Vec::new();
        let Some((_held, address)) = hold(object) else {
            return;
        };
        let mut all = std::mem::take(&mut self.known);
        for piece in self.pieces(size) {
            work::one();
            let Some(known) = all.get_mut(piece.clone()) else {
                break;
            };
            buffer.resize(piece.len(), 0);
            let is_there = sides.with_bytes(address, size, |tiled| {
                self.runs(&piece, size, |lin, at, n| {
                    if let (Some(from), Some(to)) =
                        (tiled.get(at..at + n), buffer.get_mut(lin..lin + n))
                    {
                        to.copy_from_slice(from);
                    }
                });
            });
            if !is_there {
                break;
            }
            if buffer == known {
                continue;
            }
            let start = self.start + piece.start;
            let steps = buffer.chunks(STEP).zip(known.chunks_mut(STEP));
            for ((new, old), at) in steps.zip((start..).step_by(STEP)) {
                if new != old {
                    pull_step(sides.window, at, new, old);
                }
            }
        }
        self.known = all;
    }
}

/// Keeps the contents of an object while its view is merged, and says where they lie; `None` when they are gone. An object without
/// contents gives its view's place to another object.
fn hold(object: &Object) -> Option<(Shown, u64)> {
    let held = object.show(false);
    let address = held.dma_address()?;
    Some((held, address))
}

/// Brings the bytes of a run that the CPU has changed.
fn push_run(new: &[u8], old: &[u8], to: &mut [u8]) {
    for ((to, old), new) in to.iter_mut().zip(old).zip(new) {
        if *new != *old {
            *to = *new;
        }
    }
}

/// Brings what the device has changed to the client's copy and to `old`, except where the client has written.
fn pull_step(window: &Window, start: usize, new: &[u8], old: &mut [u8]) {
    let mut copy = [0; STEP];
    let Some(now) = copy.get_mut(..new.len()) else {
        return;
    };
    if !window.read(start, now) {
        return;
    }
    if now == old {
        window.write(start, new);
        old.copy_from_slice(new);
        return;
    }
    for (((now, old), new), at) in now.iter().zip(old).zip(new).zip(start..) {
        if *now == *old && *new != *old {
            window.write(at, &[*new]);
            *old = *new;
        }
    }
}

impl Sides<'_> {
    /// Looks at the bytes of an object that lies at an address; false when there is no such memory.
    fn with_bytes(&self, address: u64, size: usize, look: impl FnOnce(&mut [u8])) -> bool {
        let door = self.door.lock();
        // With the device stopped: its slices leave the memory's lock free for too short a time.
        let is_there = self.platform.with_device(|_| {
            let mut memory = mmio_mock::core::memory::lock(self.platform.model().memory());
            let bytes = memory.phys_slice_mut(PhysAddr(address), size);
            bytes.map(look).is_ok()
        });
        // To the one that has waited longest.
        MutexGuard::unlock_fair(door);
        is_there
    }
}
