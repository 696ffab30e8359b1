//! What the example kernels compute, written down plainly.
//!
//! Pixels outside of an image are those at its edge.

struct Image<'a> {
    width: i32,
    height: i32,
    bytes: &'a [u8],
}

impl Image<'_> {
    fn at(&self, x: i32, y: i32) -> u32 {
        let (x, y) = (x.clamp(0, self.width - 1), y.clamp(0, self.height - 1));
        u32::from(self.bytes[(y * self.width + x) as usize])
    }
}

fn image(width: u32, height: u32, bytes: &[u8]) -> Image<'_> {
    Image {
        width: width as i32,
        height: height as i32,
        bytes,
    }
}

/// 3x3 with the weights 1 2 1 in both directions, rounded.
pub fn blur(width: u32, height: u32, bytes: &[u8]) -> Vec<u8> {
    let image = image(width, height, bytes);
    let weight = [1, 2, 1];
    let mut out = Vec::new();
    for y in 0..height as i32 {
        for x in 0..width as i32 {
            let mut sum = 8;
            for dy in 0..3 {
                for dx in 0..3 {
                    let pixel = image.at(x + dx - 1, y + dy - 1);
                    sum += weight[dx as usize] * weight[dy as usize] * pixel;
                }
            }
            out.push((sum / 16) as u8);
        }
    }
    out
}

/// For each block of 16x16: smallest sum of absolute differences, and where it is; the first of equals.
pub fn motion(width: u32, height: u32, frame: &[u8], before: &[u8]) -> Vec<u32> {
    let (frame, before) = (image(width, height, frame), image(width, height, before));
    let mut out = Vec::new();
    for by in 0..height.div_ceil(16) as i32 {
        for bx in 0..width.div_ceil(16) as i32 {
            let (x, y) = (bx * 16, by * 16);
            let mut best = (u32::MAX, 0, 0);
            for dy in -8..=8 {
                for dx in -8..=8 {
                    let mut sum = 0;
                    for i in 0..256 {
                        let (px, py) = (x + i % 16, y + i / 16);
                        // Sums only grow.
                        if sum > best.0 {
                            break;
                        }
                        sum += frame.at(px, py).abs_diff(before.at(px + dx, py + dy));
                    }
                    if sum < best.0 {
                        best = (sum, dx, dy);
                    }
                }
            }
            out.extend([best.0, best.1 as u32, best.2 as u32, 0]);
        }
    }
    out
}

/// Sums of parts of so many dwords, each in the first of four dwords.
pub fn sums(dwords: &[u32], share: usize, parts: usize) -> Vec<u32> {
    (0..parts)
        .flat_map(|part| {
            let part = dwords.iter().skip(part * share).take(share);
            [part.fold(0u32, |sum, d| sum.wrapping_add(*d)), 0, 0, 0]
        })
        .collect()
}

/// The token after all laps: each child makes 3 token + its number.
pub fn token(children: u32, laps: u32, mut token: u32) -> u32 {
    for _ in 0..laps {
        for child in 1..=children {
            token = token.wrapping_mul(3).wrapping_add(child);
        }
    }
    token
}
