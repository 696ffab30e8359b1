//! Reference images, and how a picture is compared with one.
//!
//! Not modelled: alpha (the references have none).

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use crestline_cli::picture::Picture;

/// An RGB image, row 0 on top.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Pixels across.
    pub width: usize,
    /// Pixels down.
    pub height: usize,
    /// The pixels, row after row.
    pub pixels: Vec<[u8; 3]>,
}

impl Image {
    /// Reads a PNG of any colour type.
    pub fn read(path: &Path) -> Self {
        let file = File::open(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let mut decoder = png::Decoder::new(BufReader::new(file));
        decoder.set_transformations(png::Transformations::EXPAND | png::Transformations::STRIP_16);
        let mut reader = decoder.read_info().expect("header");
        let mut bytes = vec![0; reader.output_buffer_size().expect("size")];
        let info = reader.next_frame(&mut bytes).expect("pixels");
        let samples = info.color_type.samples();
        let rgb = |p: &[u8]| match *p {
            [grey] | [grey, _] => [grey; 3],
            [r, g, b] | [r, g, b, _] => [r, g, b],
            _ => unreachable!("1 to 4 samples"),
        };
        Image {
            width: info.width as usize,
            height: info.height as usize,
            pixels: bytes.chunks_exact(samples).map(rgb).collect(),
        }
    }

    fn at(&self, x: usize, y: usize) -> [u8; 3] {
        self.pixels[y * self.width + x]
    }

    /// Whether a pixel that was drawn with another colour lies on an edge.
    ///
    /// It does where its 3x3 neighbourhood has a contrast of more than 8 in some channel, or where
    /// the colour drawn is that of a neighbour, so that a border between two areas (texels of
    /// almost one colour, say) lies less than a pixel off.
    pub fn on_edge(&self, x: usize, y: usize, drawn: [u8; 3]) -> bool {
        let here = self.at(x, y);
        let rows = y.saturating_sub(1)..(y + 2).min(self.height);
        rows.flat_map(|v| (x.saturating_sub(1)..(x + 2).min(self.width)).map(move |u| (u, v)))
            .any(|(u, v)| {
                let near = self.at(u, v);
                distance(near, here) > 8 || (near != here && distance(near, drawn) <= 2)
            })
    }
}

/// Largest difference of a channel.
pub fn distance(a: [u8; 3], b: [u8; 3]) -> u8 {
    a.iter()
        .zip(b)
        .map(|(a, b)| a.abs_diff(b))
        .max()
        .unwrap_or(0)
}

/// How a picture differs from a reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Pixels in all.
    pub pixels: usize,
    /// Pixels that differ by more than 2 in some channel.
    pub off: usize,
    /// Those of them that lie on no edge of the reference.
    pub off_edge: Vec<(usize, usize)>,
    /// Largest difference of all.
    pub largest: u8,
}

impl Difference {
    /// Compares colours; alpha does not count.
    pub fn of(picture: &Picture, reference: &Image) -> Self {
        assert_eq!(
            (picture.width as usize, picture.height as usize),
            (reference.width, reference.height)
        );
        let mut difference = Difference {
            pixels: reference.pixels.len(),
            off: 0,
            off_edge: Vec::new(),
            largest: 0,
        };
        let pixels = picture.rgba.chunks_exact(4).zip(&reference.pixels);
        for (i, (pixel, expected)) in pixels.enumerate() {
            let drawn = [pixel[0], pixel[1], pixel[2]];
            let far = distance(drawn, *expected);
            difference.largest = difference.largest.max(far);
            if far > 2 {
                difference.off += 1;
                let place = (i % reference.width, i / reference.width);
                if !reference.on_edge(place.0, place.1, drawn) {
                    difference.off_edge.push(place);
                }
            }
        }
        difference
    }

    /// Within 2 on at least 99.8 % of the pixels, and the rest on edges.
    pub fn acceptable(&self) -> bool {
        self.off * 1000 <= self.pixels * 2 && self.off_edge.is_empty()
    }
}
