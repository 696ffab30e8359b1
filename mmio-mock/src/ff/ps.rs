//! The pixel shader thread payload, registers r0 to at most r6.
//!
//! PRM: volume 2, pixel shader thread payload; volume 4, 3.3.9 (r0.6, r0.7), 5.10.6.3 (what of r0
//! and r1 becomes the header of a render target write). Register order from the public drivers
//! (Mesa brw_fs_thread_payload): header, subspans, source depth in two registers for either SIMD
//! width, stencil and antialias alpha, destination depth in two registers.
//!
//! Not modelled: r0.2 and the low half of r1.7, which no known kernel reads.

use eu::Grf;

use super::wiz::iz::IzCase;

/// Registers of the longest payload before constants and setup data.
pub const MAX_REGISTERS: usize = 7;

/// Subspans of the widest thread.
pub const MAX_SUBSPANS: usize = 4;

/// A 2x2 block of pixels on its way into a thread. Pixels are numbered upper left, upper right,
/// lower left, lower right (PRM vol4 5.10.6.1).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Subspan {
    /// Column of the upper left pixel.
    pub x: u16,
    /// Row of the upper left pixel.
    pub y: u16,
    /// Lit pixels, one bit each.
    pub mask: u8,
    /// Source depth.
    pub depth: [f32; 4],
    /// Destination depth in the depth buffer's format, without stencil.
    pub destination_depth: [u32; 4],
    /// Destination stencil, a byte a pixel, pixel 0 lowest.
    pub destination_stencil: u32,
    /// Antialias alpha as U0.4, a nibble a pixel, pixel 0 lowest.
    pub alpha: u16,
}

/// Up to four subspans of one primitive.
#[derive(Clone, Copy, Debug, Default)]
pub struct PixelGroup {
    subspans: [Subspan; MAX_SUBSPANS],
    count: usize,
}

impl PixelGroup {
    /// Adds a subspan; a full group ignores it.
    #[inline]
    pub fn push(&mut self, subspan: Subspan) {
        if let Some(slot) = self.slot() {
            *slot = subspan;
            self.keep();
        }
    }

    /// The slot of the next subspan, to be filled in place; none when the group is full.
    #[inline]
    pub fn slot(&mut self) -> Option<&mut Subspan> {
        self.subspans.get_mut(self.count)
    }

    /// Takes the slot into the group.
    #[inline]
    pub fn keep(&mut self) {
        self.count = (self.count + 1).min(MAX_SUBSPANS);
    }

    /// Forgets the subspans.
    pub fn clear(&mut self) {
        self.count = 0;
    }

    /// The subspans, in the order of their slots.
    pub fn subspans(&self) -> &[Subspan] {
        // PANIC: count never exceeds the array (see `keep`).
        &self.subspans[..self.count]
    }

    /// Lit pixels: four bits a subspan.
    pub fn pixel_mask(&self) -> u16 {
        let each = self.subspans().iter().enumerate();
        each.fold(0, |mask, (i, s)| mask | u16::from(s.mask & 15) << (i * 4))
    }

    /// Channels of the thread: all four pixels of every subspan that is there, so that kernels
    /// can take differences between neighbours.
    pub fn dispatch_mask(&self) -> u16 {
        // CAST: sixteen bits for the four that a group has at most.
        ((1u32 << (self.count * 4)) - 1) as u16
    }
}

/// The parts of the payload that do not depend on the pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PayloadState {
    /// Colour calculator state, relative to General State Base Address.
    pub color_calc_state: u32,
    /// Sampler state table, relative to General State Base Address.
    pub sampler_state: u32,
    /// Per-Thread Scratch Space as in the unit state.
    pub scratch_space: u32,
    /// Scratch space base, relative to General State Base Address.
    pub scratch_base: u32,
    /// Binding table, relative to Surface State Base Address.
    pub binding_table: u32,
    /// Fixed function thread ID.
    pub fftid: u8,
    /// Debug dwords r0.6 and r0.7: thread number, primitive sequence number, snapshot flag.
    pub debug: [u32; 2],
    /// Start vertex, where the setup planes have their origin, as pixel coordinates whose integers
    /// are sample points.
    pub start: [f32; 2],
    /// The back side is seen.
    pub back_facing: bool,
    /// Primitive topology type (R1.6 bits 4:0).
    pub topology: u8,
    /// Antialias alpha is sent on (R1.6 bit 26).
    pub antialias: bool,
    /// Viewport index.
    pub viewport_index: u8,
    /// Render target array index.
    pub render_target_array_index: u16,
    /// What of depth and stencil the payload holds.
    pub case: IzCase,
}

/// A finished payload.
#[derive(Clone, Copy, Debug, Default)]
pub struct Payload {
    registers: [Grf; MAX_REGISTERS],
    count: usize,
}

impl Payload {
    /// The registers from r0 on.
    pub fn registers(&self) -> &[Grf] {
        // PANIC: count never exceeds the array (see `build`).
        &self.registers[..self.count]
    }

    /// Lays out the payload of a thread for `group`.
    pub fn build(&mut self, state: &PayloadState, group: &PixelGroup) {
        let case = &state.case;
        let pixels = u32::from(group.pixel_mask());
        self.registers[0] = [
            pixels << 16 | pixels,
            state.color_calc_state & !63,
            0,
            (state.sampler_state & !31) | (state.scratch_space & 15),
            state.binding_table & !31,
            (state.scratch_base & !1023) | u32::from(state.fftid),
            state.debug[0],
            state.debug[1],
        ];
        let mut r1 = [0; 8];
        r1[0] = state.start[0].to_bits();
        r1[1] = state.start[1].to_bits();
        for (word, s) in r1[2..6].iter_mut().zip(group.subspans()) {
            *word = u32::from(s.y) << 16 | u32::from(s.x);
        }
        // The data port ignores bits 25:0 (PRM vol4 5.10.6.3), kernels do not: to negate the facing
        // Mesa takes the sign of -R1.6, and only the topology tells -0 from 0 (brw_fs_nir.cpp).
        r1[6] = u32::from(state.back_facing) << 31
            | u32::from(state.topology & 31)
            | u32::from(case.source_depth_to_target) << 29
            | u32::from(case.destination_depth) << 28
            | u32::from(case.destination_stencil) << 27
            | u32::from(state.antialias) << 26;
        r1[7] = u32::from(state.viewport_index & 15) << 27
            | u32::from(state.render_target_array_index & 0x7ff) << 16;
        self.registers[1] = r1;
        self.count = 2;
        if case.source_depth {
            self.pairs(group, |s| s.depth.map(f32::to_bits));
        }
        if case.destination_stencil || state.antialias {
            let mut r = [0; 8];
            for (i, s) in group.subspans().iter().enumerate() {
                r[i] = s.destination_stencil;
                r[6 + i / 2] |= u32::from(s.alpha) << (i % 2 * 16);
            }
            self.registers[self.count] = r;
            self.count += 1;
        }
        if case.destination_depth {
            self.pairs(group, |s| s.destination_depth);
        }
    }

    fn pairs(&mut self, group: &PixelGroup, f: impl Fn(&Subspan) -> [u32; 4]) {
        let registers = &mut self.registers[self.count..self.count + 2];
        registers.fill([0; 8]);
        for (i, s) in group.subspans().iter().enumerate() {
            registers[i / 2][i % 2 * 4..][..4].copy_from_slice(&f(s));
        }
        self.count += 2;
    }
}

#[cfg(test)]
mod tests;
