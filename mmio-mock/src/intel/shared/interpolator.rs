//! The pixel interpolator: weights of vertices at places a kernel chooses.
//!
//! Payload and answer: Mesa 22.3.6 brw_fs_nir.cpp `emit_pixel_interpolater_send` (offsets of all channels across, then of all channels down),
//! brw_fs.cpp `lower_barycentrics` (of eight channels each, weight by weight). Offsets are sixteenths of a pixel, from -8 to 7, from the pixel's
//! centre. Not modelled: the number of bits of the hardware's interpolator.

use eu::{Grf, Message};

use super::context::{SAMPLES, ThreadPixels};
use super::error::{Rule, refuse};
use crate::UnitFault;

/// Where in its pixel each channel asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// So many sixteenths of a pixel to the right of the centre, and below it.
    Offset(i8, i8),
    /// At the sample of a number.
    Sample(u8),
    /// At a sample that the object covers.
    Centroid,
    /// At an offset of the channel's own.
    Offsets,
}

/// A message, wherever a generation's descriptor has its parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InterpolatorRequest {
    /// Where.
    pub place: Place,
    /// Weights do not regard w.
    pub linear: bool,
    /// Sixteen channels, and not eight.
    pub sixteen: bool,
    /// The channels are those from 16 on.
    pub upper: bool,
}

/// A value that is linear on the screen.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Plane {
    /// Change with each pixel to the right, and down.
    pub slope: [f64; 2],
    /// The value at the origin.
    pub base: f64,
}

impl Plane {
    #[inline]
    fn at(&self, [x, y]: [f64; 2]) -> f64 {
        self.base + self.slope[0] * x + self.slope[1] * y
    }
}

/// What changes over the primitive of a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Planes {
    /// 1/w.
    pub rhw: Plane,
    /// Weights of the second and third vertex, divided by w.
    pub weights: [Plane; 2],
    /// Weights of the second and third vertex without regard to w.
    pub linear: [Plane; 2],
    /// Added to a pixel's coordinates to find its sample point on the screen that the planes are for.
    pub origin: [f64; 2],
    /// The sample point, in pixels from the upper left corner.
    pub pixel: [f32; 2],
    /// Places of the samples, in the same way.
    pub samples: [[f32; 2]; SAMPLES],
    /// Samples of a pixel.
    pub sample_count: u8,
}

/// Sixteenths of a pixel, of which four bits count.
const fn offset(bits: u32) -> f32 {
    // CAST: four bits with a sign.
    (((bits << 28) as i32) >> 28) as f32 / 16.0
}

impl Planes {
    /// Where a channel asks, in pixels from the upper left corner of its pixel.
    fn place(&self, place: Place, own: [u32; 2], lit: impl Fn(usize) -> bool) -> [f32; 2] {
        let moved = |x: f32, y: f32| [self.pixel[0] + x, self.pixel[1] + y];
        let sample = |n: usize| self.samples.get(n).copied().unwrap_or(self.pixel);
        match place {
            Place::Offset(x, y) => moved(f32::from(x) / 16.0, f32::from(y) / 16.0),
            Place::Offsets => moved(offset(own[0]), offset(own[1])),
            _ if self.sample_count <= 1 => self.pixel,
            Place::Sample(n) => sample(n.into()),
            Place::Centroid => {
                let count = usize::from(self.sample_count).min(SAMPLES);
                let first = (0..count).find(|n| lit(*n));
                match first {
                    // Covered whole, or not at all: the pixel's own place.
                    Some(first) if !(0..count).all(&lit) => sample(first),
                    _ => self.pixel,
                }
            }
        }
    }

    /// The weights at a place in a pixel.
    fn weights(&self, (x, y): (u16, u16), place: [f32; 2], linear: bool) -> [f32; 2] {
        let from = |coordinate: u16, i: usize| {
            // PANIC: two directions.
            f64::from(coordinate) + self.origin[i] + f64::from(place[i]) - f64::from(self.pixel[i])
        };
        let at = [from(x, 0), from(y, 1)];
        // CAST: the one rounding.
        if linear {
            return self.linear.map(|plane| plane.at(at) as f32);
        }
        let w = 1.0 / self.rhw.at(at);
        self.weights.map(|plane| (plane.at(at) * w) as f32)
    }
}

/// The thread is no pixel shader thread with such planes.
const PLANES: Rule = Rule::new("interpolation in a thread without a primitive", 0);
/// Registers that do not fit the descriptor.
const LENGTH: Rule = Rule::new("message length of the pixel interpolator", 0);

/// Serves a message.
pub fn execute(
    request: InterpolatorRequest,
    msg: &Message<'_>,
    response: &mut [Grf],
    pixels: &ThreadPixels,
) -> Result<(), UnitFault> {
    let refused = |rule: Rule| refuse("pixel interpolator", msg, rule);
    let planes = pixels.planes.as_ref().ok_or_else(|| refused(PLANES))?;
    let halves = if request.sixteen { 2 } else { 1 };
    let offsets = match request.place {
        Place::Offsets => 2 * halves,
        _ => 0,
    };
    let fits = msg.payload.len() >= offsets && usize::from(msg.response_length) == 2 * halves;
    if !fits || msg.eot {
        return Err(refused(LENGTH));
    }
    let first = if request.upper { 16 } else { 0 };
    for channel in (0..8 * halves).filter(|channel| msg.exec_mask >> channel & 1 == 1) {
        let own = |n: usize| {
            let register = msg.payload.get(n * halves + channel / 8);
            register.map_or(0, |register| register[channel % 8])
        };
        let slot = first + channel;
        let lit = |sample: usize| {
            let coverage = pixels.coverage.get(sample);
            coverage.is_some_and(|coverage| coverage >> slot & 1 == 1)
        };
        let place = planes.place(request.place, [own(0), own(1)], lit);
        let (x, y) = pixels.origins.get(slot / 4).copied().unwrap_or_default();
        // CAST: a pixel of four.
        let pixel = (
            x.wrapping_add((slot % 2) as u16),
            y.wrapping_add((slot % 4 / 2) as u16),
        );
        let weights = planes.weights(pixel, place, request.linear);
        for (n, weight) in weights.into_iter().enumerate() {
            if let Some(to) = response.get_mut(channel / 8 * 2 + n) {
                to[channel % 8] = weight.to_bits();
            }
        }
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use eu::{FloatMode, ThreadId};

    use super::*;

    /// w doubles from the left side of the screen to column 16; the first weight is x / 16 in space, the second y / 8.
    fn planes() -> Planes {
        let plane = |x: f64, y: f64, base: f64| Plane {
            slope: [x, y],
            base,
        };
        Planes {
            rhw: plane(-1.0 / 32.0, 0.0, 1.0),
            weights: [plane(1.0 / 32.0, 0.0, 0.0), plane(0.0, 0.125, 0.0)],
            linear: [plane(1.0 / 16.0, 0.0, 0.0), plane(0.0, 0.125, 0.0)],
            origin: [0.5; 2],
            pixel: [0.5; 2],
            samples: [
                [0.375, 0.125],
                [0.875, 0.375],
                [0.125, 0.625],
                [0.625, 0.875],
                [0.0; 2],
                [0.0; 2],
                [0.0; 2],
                [0.0; 2],
            ],
            sample_count: 4,
        }
    }

    fn pixels() -> ThreadPixels {
        let mut pixels = ThreadPixels {
            planes: Some(planes()),
            mask: 0xffff,
            // Channel 0 whole, channel 1 in samples 2 and 3, the others in none but the last.
            coverage: [1, 1, 3, 0xffff, 0, 0, 0, 0],
            ..ThreadPixels::default()
        };
        pixels.origins[..4].copy_from_slice(&[(0, 0), (2, 0), (0, 2), (2, 2)]);
        pixels
    }

    fn ask(request: InterpolatorRequest, payload: &[Grf], mask: u16) -> Vec<[f32; 8]> {
        let registers = if request.sixteen { 4 } else { 2 };
        let mut response = vec![[0; 8]; registers];
        let msg = Message {
            thread: ThreadId::default(),
            sfid: 11,
            function_control: 0,
            desc: 0,
            response_length: registers as u8,
            eot: false,
            exec_mask: mask,
            exec_size: 16,
            payload,
            ip: 0,
            float_mode: FloatMode::Ieee,
        };
        execute(request, &msg, &mut response, &pixels()).unwrap();
        response.iter().map(|r| r.map(f32::from_bits)).collect()
    }

    const CENTRE: InterpolatorRequest = InterpolatorRequest {
        place: Place::Offset(0, 0),
        linear: true,
        sixteen: false,
        upper: false,
    };

    #[test]
    fn offsets_count_sixteenths_from_the_centre() {
        let got = ask(CENTRE, &[[0; 8]], 0xff);
        assert_eq!(
            got[0].map(|x| x * 16.0),
            [0.5, 1.5, 0.5, 1.5, 2.5, 3.5, 2.5, 3.5]
        );
        assert_eq!(
            got[1].map(|y| y * 8.0),
            [0.5, 0.5, 1.5, 1.5, 0.5, 0.5, 1.5, 1.5]
        );
        let moved = InterpolatorRequest {
            place: Place::Offset(-8, 4),
            ..CENTRE
        };
        let got = ask(moved, &[[0; 8]], 0b10);
        assert_eq!(
            (got[0][0], got[0][1] * 16.0, got[1][1] * 8.0),
            (0.0, 1.0, 0.75)
        );
    }

    #[test]
    fn weights_regard_w() {
        let got = ask(
            InterpolatorRequest {
                linear: false,
                ..CENTRE
            },
            &[[0; 8]],
            0xff,
        );
        // x/32 over 1 - x/32.
        let x = 3.5f64;
        assert_eq!(got[0][5], (x / 32.0 / (1.0 - x / 32.0)) as f32);
    }

    #[test]
    fn sixteen_channels_have_eight_after_eight() {
        let own = InterpolatorRequest {
            place: Place::Offsets,
            sixteen: true,
            ..CENTRE
        };
        // Across: 0 for channels 0 to 7, 4 for the others; down: -8 and 2.
        let payload = [[0; 8], [4; 8], [0xffff_fff8; 8], [2; 8]];
        let got = ask(own, &payload, 0xffff);
        assert_eq!((got[0][1] * 16.0, got[1][1] * 8.0), (1.5, 0.0));
        assert_eq!((got[2][4] * 16.0, got[3][4] * 8.0), (2.75, 2.625));
    }

    #[test]
    fn samples_have_their_places() {
        let at = |place| ask(InterpolatorRequest { place, ..CENTRE }, &[[0; 8]], 0xff);
        let second = at(Place::Sample(1));
        assert_eq!((second[0][0] * 16.0, second[1][0] * 8.0), (0.875, 0.375));
        let centroid = at(Place::Centroid);
        // Covered whole; in the third and fourth; in the fourth alone.
        assert_eq!(centroid[0][0] * 16.0, 0.5);
        assert_eq!(centroid[0][1] * 16.0, 1.125);
        assert_eq!(
            (centroid[0][2] * 16.0, centroid[1][2] * 8.0),
            (0.625, 1.875)
        );
    }
}
