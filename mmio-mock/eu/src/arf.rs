//! Architecture registers as explicit operands, and the accumulators.
//!
//! PRM: volume 4, 11.3.4. Positions that the public text lacks (sr0, cr0 beyond the bits it
//! names) follow later manuals; see docs/known-gaps.md.

use crate::exception;
use crate::port::FloatMode;
use crate::thread::Thread;

/// One register as eight dwords.
pub(crate) type Image = [u32; 8];

/// Both accumulators: the first eight channels of acc0, those of acc1, then the other eight word
/// channels of each. Each group of eight knows whether it holds floats or integers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Accumulator {
    /// Doubles or signed integers.
    pub lanes: [u64; 32],
    /// Whether eight lanes are floats.
    pub float: [bool; 4],
}

pub(crate) use Accumulator as Acc;

impl Accumulator {
    pub(crate) const fn new() -> Acc {
        Acc {
            lanes: [0; 32],
            float: [false; 4],
        }
    }

    #[inline(always)]
    fn at(lane: u8) -> (usize, usize) {
        (usize::from(lane & 31), usize::from(lane >> 3 & 3))
    }

    /// Whether a lane holds a float; one that does not is moved as bits (PRM vol4 10.3.1.2).
    #[inline(always)]
    pub(crate) fn holds_float(&self, lane: u8) -> bool {
        self.float[Acc::at(lane).1]
    }

    /// Lane as an extended float.
    #[inline(always)]
    pub(crate) fn float(&self, lane: u8) -> f64 {
        let (i, group) = Acc::at(lane);
        if self.float[group] {
            f64::from_bits(self.lanes[i])
        } else {
            f64::from(f32::from_bits(self.lanes[i] as u32))
        }
    }

    /// Lane as an extended integer.
    #[inline(always)]
    pub(crate) fn int(&self, lane: u8) -> i64 {
        let (i, group) = Acc::at(lane);
        if self.float[group] {
            i64::from((f64::from_bits(self.lanes[i]) as f32).to_bits())
        } else {
            self.lanes[i] as i64
        }
    }

    pub(crate) fn set_float(&mut self, lane: u8, v: f64) {
        self.become_kind(lane, true);
        self.lanes[usize::from(lane & 31)] = v.to_bits();
    }

    pub(crate) fn set_int(&mut self, lane: u8, v: i64) {
        self.become_kind(lane, false);
        self.lanes[usize::from(lane & 31)] = v as u64;
    }

    /// `N` (8 or 16) float lanes from `first` (0 or 8).
    #[inline(always)]
    pub(crate) fn floats<const N: usize>(&self, first: u8) -> [f64; N] {
        let mut out = [0.0; N];
        let at = usize::from(first & 8);
        // PANIC: at <= 8 and N <= 16 stay inside 32 lanes.
        if self.float[at / 8..(at + N) / 8].iter().all(|&f| f) {
            let src = &self.lanes[at..at + N];
            for i in 0..N {
                out[i] = f64::from_bits(src[i]);
            }
        } else {
            self.floats_of_ints(first, &mut out);
        }
        out
    }

    #[cold]
    fn floats_of_ints(&self, first: u8, out: &mut [f64]) {
        for (i, o) in out.iter_mut().enumerate() {
            *o = self.float(first + i as u8);
        }
    }

    /// Eight integer lanes from `first` (a multiple of 8).
    #[inline(always)]
    pub(crate) fn ints(&self, first: u8) -> [i64; 8] {
        let group = usize::from(first >> 3 & 3);
        if self.float[group] {
            return std::array::from_fn(|i| self.int(first + i as u8));
        }
        let mut out = [0; 8];
        for (out, lane) in out.iter_mut().zip(&self.lanes[group * 8..]) {
            *out = *lane as i64;
        }
        out
    }

    /// Replaces `N` (8 or 16) float lanes from `first` (0 or 8).
    #[inline(always)]
    pub(crate) fn set_floats<const N: usize>(&mut self, first: u8, v: &[f64; N]) {
        let at = usize::from(first & 8);
        // PANIC: as in `floats`.
        self.float[at / 8..(at + N) / 8].fill(true);
        let dst = &mut self.lanes[at..at + N];
        for i in 0..N {
            dst[i] = v[i].to_bits();
        }
    }

    /// Replaces the first `exec` float lanes from `first`.
    #[inline(never)]
    pub(crate) fn set_few<const N: usize>(&mut self, first: u8, exec: u8, v: [f64; N]) {
        for (i, &v) in v.iter().enumerate().take(usize::from(exec)) {
            self.set_float(first + i as u8, v);
        }
    }

    /// Replaces the first `exec` of `N` integer lanes from `first`: 16 from 0, 8 from any multiple.
    #[inline(always)]
    pub(crate) fn write_ints<const N: usize>(&mut self, first: u8, exec: u8, v: &[i64; N]) {
        if exec < 8 {
            for (i, &v) in v.iter().enumerate().take(usize::from(exec)) {
                self.set_int(first + i as u8, v);
            }
            return;
        }
        // PANIC: the minimum leaves room for N of 32 lanes.
        let at = usize::from(first & 0x18).min(32 - N);
        self.float[at / 8..(at + N) / 8].fill(false);
        let dst = &mut self.lanes[at..at + N];
        for i in 0..N {
            dst[i] = v[i] as u64;
        }
    }

    /// The other lanes of the group keep their bits when its kind changes.
    fn become_kind(&mut self, lane: u8, float: bool) {
        let group = lane & 0x18;
        if self.float[usize::from(group >> 3)] == float {
            return;
        }
        for lane in group..group + 8 {
            self.lanes[usize::from(lane)] = if float {
                self.float(lane).to_bits()
            } else {
                self.int(lane) as u64
            };
        }
        self.float[usize::from(group >> 3)] = float;
    }
}

fn words(src: &[u16]) -> Image {
    let mut out = [0; 8];
    for (i, &w) in src.iter().enumerate().take(16) {
        out[i / 2] |= u32::from(w) << (16 * (i % 2));
    }
    out
}

fn word(image: &Image, i: usize) -> u16 {
    image
        .get(i / 2)
        .map_or(0, |dw| (dw >> (16 * (i % 2))) as u16)
}

impl Thread {
    /// The 32-byte image of an architecture register; reserved numbers read zero.
    pub(crate) fn arf_read(&self, nr: u8) -> Image {
        let index = nr & 0xf;
        let mut out = [0; 8];
        match nr >> 4 {
            1 => out = words(&self.a0),
            2 => {
                for (i, o) in out.iter_mut().enumerate() {
                    *o = self.acc.int((index & 1) * 8 + i as u8) as u32;
                }
            }
            3 => {
                let [low, high] = self.flags_of(index);
                out[0] = u32::from(self.flag[low]) | u32::from(self.flag[high]) << 16;
            }
            4..=6 if self.paths => {}
            4 => {
                let m = &self.masks;
                out = words(&[m.amask, m.imask, m.lmask, m.cmask]);
            }
            5 => {
                out = words(match index {
                    0 => &self.masks.ims,
                    1 => &self.masks.lms,
                    _ => &self.masks.cms,
                });
            }
            6 => out = words(&[self.masks.imsd, self.masks.lmsd]),
            7 => {
                let id = self.id();
                out[0] = u32::from(id.slot & 7)
                    | u32::from(id.eu & 0xf) << 8
                    | u32::from(id.fftid) << 16
                    | u32::from(id.ffid & 0xf) << 24;
                out[1] = self.dispatch_mask;
                out[2] = self.sip;
            }
            8 => out[..3].copy_from_slice(&self.cr),
            9 if self.one_notification && index == 0 => out[..2].copy_from_slice(&self.notify),
            9 if !self.one_notification => {
                out[0] = self.notify.get(usize::from(index)).copied().unwrap_or(0);
            }
            10 => out[0] = self.ip,
            // CAST: both halves.
            12 if index == 0 => (out[0], out[1]) = (self.time as u32, (self.time >> 32) as u32),
            _ => {}
        }
        out
    }

    /// The two subregisters of a flag register.
    fn flags_of(&self, index: u8) -> [usize; 2] {
        if self.second_flags && index & 1 != 0 {
            [2, 3]
        } else {
            [0, 1]
        }
    }

    /// Replaces an architecture register; read-only and reserved ones ignore it (11.3.4.2).
    pub(crate) fn arf_write(&mut self, nr: u8, image: &Image) {
        let index = nr & 0xf;
        match nr >> 4 {
            1 => {
                for i in 0..8 {
                    // a0.2 to a0.7 have twelve bits (11.3.4.4).
                    let mask = if i < 2 { 0xffff } else { 0x0fff };
                    self.a0[i] = word(image, i) & mask;
                }
            }
            3 => {
                let [low, high] = self.flags_of(index);
                (self.flag[low], self.flag[high]) = (word(image, 0), word(image, 1));
            }
            4..=6 if self.paths => {}
            4 => {
                let m = &mut self.masks;
                m.amask = word(image, 0);
                m.imask = word(image, 1);
                m.lmask = word(image, 2);
                m.cmask = word(image, 3);
                self.update_emask();
            }
            5 => {
                let stack = match index {
                    0 => &mut self.masks.ims,
                    1 => &mut self.masks.lms,
                    _ => &mut self.masks.cms,
                };
                for (i, s) in stack.iter_mut().enumerate() {
                    *s = word(image, i);
                }
            }
            6 => {
                self.masks.imsd = word(image, 0);
                self.masks.lmsd = word(image, 1);
            }
            8 => exception::write_control(self, image[0], image[1], image[2]),
            9 if self.one_notification && index == 0 => self.notify.copy_from_slice(&image[..2]),
            9 if !self.one_notification => {
                if let Some(n) = self.notify.get_mut(usize::from(index)) {
                    *n = image[0];
                }
            }
            10 => self.jump_to(image[0]),
            _ => {}
        }
    }

    /// The float mode that CR0 bit 0 selects.
    pub(crate) fn float_mode(&self) -> FloatMode {
        if self.alt {
            FloatMode::Alt
        } else {
            FloatMode::Ieee
        }
    }
}
