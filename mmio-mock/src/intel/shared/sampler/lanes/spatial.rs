//! Volumes, cubes, rows; offsets, gradients, gathers.
//!
//! PRM: volume 4, 4.1.2, 4.2.1.1, 4.2.3, 4.2.4.6. Texel offsets, given gradients and gathers of maps of two dimensions are served here as well. All is
//! bit for bit what the general filters give.
#![expect(
    clippy::needless_range_loop,
    reason = "loops over vectors are by number: iterators are functions that are not always inlined"
)]

use eu::Grf;
use jit::eight::{Eight, Loops, each};

use super::colours::mix;
use super::faces;
use super::form::{Channel, Values};
use super::kernel::{Kernel, Texel, element};
use super::layout::Place;
use super::levels::{Chosen, longer, pixel_lods, subspan_lods};
use super::place::{linear, nearest};
use super::source::Source;
use crate::intel::shared::sampler::message::{Op, write_registers};
use crate::intel::shared::sampler::state::Filter;
use crate::intel::surface::SurfaceKind;

/// A message that is not one of plain samples.
pub(super) struct Spatial<'a, S, const H: usize, const SIZE: u32, const D: usize>(
    pub Kernel<'a, S, H, SIZE, D, false>,
);

/// Where eight pixels sample.
#[derive(Clone, Copy)]
struct Point<E: Eight> {
    /// As filters take them; of cubes on the face.
    coord: [E::F; 3],
    /// Slice of an array, or the first one of a cube.
    slice: E::I,
    /// Face of a cube, else 0.
    face: E::I,
    reference: E::F,
}

/// Texels of two by two places of each pixel, row by row.
type Square<E, const D: usize> = [Texel<E, D>; 4];

impl<S: Source, const H: usize, const SIZE: u32, const D: usize> Loops
    for Spatial<'_, S, H, SIZE, D>
{
    /// `None`: a texel cannot be read, and nothing has been written.
    type Out = Option<()>;

    #[inline(always)]
    fn run<E: Eight>(self, e: E) -> Option<()> {
        let mut kernel = self.0;
        let coords = kernel.coords3(e);
        let mut faces = [e.all(0); H];
        if kernel.kind() == SurfaceKind::Cube {
            for half in 0..H {
                faces[half] = faces::face(e, coords[half]);
            }
        }
        let gathers = kernel.gathers();
        let lanes = kernel.lanes;
        let (chosen, filters) = if gathers {
            let level = lanes.control.given(0.0).level;
            let chosen = Chosen {
                level: e.all(level),
                beta: e.all_f(0.0),
                mag: e.all(0),
            };
            ([chosen; H], (Filter::Linear, Filter::Linear))
        } else {
            let chosen = kernel.choose(
                e,
                #[inline(always)]
                |kernel| kernel.lods(e, &coords, &faces),
            );
            (chosen, (lanes.min, lanes.mag))
        };
        let mut colours = [[e.all_f(0.0); 4]; H];
        for half in 0..H {
            // CAST: eight pixels.
            let lit = (kernel.active >> (half * 8)) as u8;
            if lit == 0 {
                continue;
            }
            let coord = kernel.counted(e, coords[half], half);
            let point = kernel.point(e, coord, faces[half], half);
            colours[half] = kernel.blended(
                e,
                (&chosen[half], filters, lit),
                #[inline(always)]
                |kernel, filter, level, lit| kernel.around(e, filter, &point, level, lit),
            )?;
        }
        for half in 0..H {
            let lit = (kernel.active >> (half * 8)) as u8;
            let planes = if gathers {
                kernel.gathered(e, &colours[half])
            } else {
                kernel.finished(e, colours[half])
            };
            write_registers::<H>(kernel.request, (half, lit), &planes, kernel.response);
        }
        Some(())
    }
}

impl<S: Source, const H: usize, const SIZE: u32, const D: usize> Kernel<'_, S, H, SIZE, D, false> {
    #[inline(always)]
    fn kind(&self) -> SurfaceKind {
        self.lanes.surface.kind
    }

    /// Dimensions that are filtered.
    #[inline(always)]
    fn dimensions(&self) -> usize {
        match self.kind() {
            SurfaceKind::OneD => 1,
            SurfaceKind::ThreeD => 3,
            _ => 2,
        }
    }

    #[inline(always)]
    fn gathers(&self) -> bool {
        self.request.shape.op.gathers()
    }

    /// Three coordinates of all pixels, normalized; array indices as they are.
    #[inline(always)]
    fn coords3<E: Eight>(&self, e: E) -> [[E::F; 3]; H] {
        let surface = &self.lanes.surface;
        let size = [surface.width, surface.height, surface.depth];
        let mut coords = [[e.all_f(0.0); 3]; H];
        for half in 0..H {
            let order = self.request.order;
            coords[half] = [
                self.float(e, order.u, half),
                self.float(e, order.v, half),
                self.float(e, order.r, half),
            ];
            if self.lanes.unnormalized {
                for d in 0..self.dimensions() {
                    coords[half][d] = e.div_f(coords[half][d], e.all_f(size[d] as f32));
                }
            }
        }
        coords
    }

    /// Where pixels of a half sample.
    #[inline(always)]
    fn point<E: Eight>(&self, e: E, coord: [E::F; 3], face: E::I, half: usize) -> Point<E> {
        let surface = &self.lanes.surface;
        let none = e.all(0);
        let (coord, slice) = match surface.kind {
            SurfaceKind::OneD => (coord, self.element(e, coord[1])),
            SurfaceKind::ThreeD => (coord, none),
            SurfaceKind::Cube => {
                let [s, t] = faces::project(e, face, coord);
                let first = e.all(surface.min_array_element);
                let mut cube = first;
                if surface.depth > 6 {
                    let index = self.float(e, self.request.order.cube, half);
                    let number = element(e, index, (surface.depth / 6).saturating_sub(1));
                    cube = e.add(first, e.mul(number, e.all(6)));
                }
                ([half_way(e, s), half_way(e, t), coord[2]], cube)
            }
            _ => (coord, self.element(e, coord[2])),
        };
        Point {
            coord,
            slice,
            face,
            reference: self.reference(e, half),
        }
    }

    /// Slices by array indices.
    #[inline(always)]
    fn element<E: Eight>(&self, e: E, index: E::F) -> E::I {
        let surface = &self.lanes.surface;
        let first = e.all(surface.min_array_element);
        if surface.depth <= 1 {
            return first;
        }
        e.add(first, element(e, index, surface.depth - 1))
    }

    /// A gradient that the message brings.
    #[inline(always)]
    fn gradient<E: Eight>(&self, e: E, at: [u8; 3], half: usize) -> [E::F; 3] {
        [
            self.float(e, at[0], half),
            self.float(e, at[1], half),
            self.float(e, at[2], half),
        ]
    }

    /// The LODs that gradients give: between the pixels of a subspan, or those that the message brings.
    #[inline(always)]
    fn lods<E: Eight>(&self, e: E, coords: &[[E::F; 3]; H], faces: &[E::I; H]) -> [E::F; H] {
        let surface = &self.lanes.surface;
        let sizes = [surface.width, surface.height, surface.depth];
        let mut scale = each(
            &sizes,
            0.0,
            #[inline(always)]
            |size| size as f32,
        );
        let cube = surface.kind == SurfaceKind::Cube;
        if cube {
            scale = [scale[0] * 0.5, scale[1] * 0.5, 0.0];
        }
        let scale = (scale, self.dimensions());
        let given = self.request.shape.op == Op::SampleGradients;
        let mut squares = [e.all_f(0.0); H];
        // Pixels of a subspan differ.
        let mut differ = given;
        for half in 0..H {
            let (x, y) = if given {
                let order = self.request.order;
                (
                    self.gradient(e, order.dx, half),
                    self.gradient(e, order.dy, half),
                )
            } else {
                let mut first = each_of::<E, 0>(e, coords[half]);
                let mut right = each_of::<E, 1>(e, coords[half]);
                let mut lower = each_of::<E, 2>(e, coords[half]);
                if cube {
                    // Neighbours count as projected on the plane of a pixel's own face.
                    let face = faces[half];
                    let common = e.bits(e.of_four::<0>(e.float(face)));
                    differ |= e.mask(e.equal(face, common)) != 0xff;
                    let mut corners = [first, right, lower];
                    for n in 0..3 {
                        let [s, t] = faces::project(e, face, corners[n]);
                        corners[n] = [s, t, e.all_f(0.0)];
                    }
                    [first, right, lower] = corners;
                }
                (minus(e, right, first), minus(e, lower, first))
            };
            squares[half] = longer(e, length(e, x, &scale), length(e, y, &scale));
        }
        if !differ {
            return subspan_lods(e, &squares);
        }
        for half in 0..H {
            squares[half] = pixel_lods(e, squares[half]);
        }
        squares
    }

    /// Samples the lit pixels, each on its level: nearest texels, or what lies between two, four or eight.
    #[inline(always)]
    fn around<E: Eight>(
        &mut self,
        e: E,
        filter: Filter,
        point: &Point<E>,
        level: E::I,
        lit: u8,
    ) -> Option<Values<E>> {
        let dimensions = self.dimensions();
        let lanes = self.lanes;
        let place = lanes.levels.level(e, level);
        let mut sizes = [place.width, place.height, place.width];
        if dimensions == 3 {
            sizes[2] = lanes.levels.depth(e, &place);
        }
        let mut coord = point.coord;
        if self.kind() != SurfaceKind::Cube {
            for d in 0..3 {
                let by = self.request.offsets[d];
                if by != 0 && d < dimensions {
                    let part = e.div_f(e.all_f(f32::from(by)), self.axis(e, d, sizes[d]).1);
                    coord[d] = e.add_f(coord[d], part);
                }
            }
        }
        let modes = lanes.modes;
        let zero = e.all(0);
        if filter == Filter::Nearest {
            let mut at = [zero, zero, e.add(point.slice, point.face)];
            for d in 0..3 {
                if d < dimensions {
                    at[d] = nearest(e, modes[d], coord[d], self.axis(e, d, sizes[d]));
                }
            }
            let here = lanes.levels.slice(e, &place, self.inside(e, at[2]));
            let [column] = self.columns(e, &here, [at[0]]);
            let [row] = self.rows(e, &here, [at[1]]);
            let texel = self.texel(e, [(at[0], column), (e.or(at[1], at[2]), row)], lit)?;
            return Some(self.values(
                e,
                &[texel],
                point.reference,
                #[inline(always)]
                |[value]| value,
            ));
        }
        let slice = e.add(point.slice, point.face);
        let mut axes = [([zero; 2], e.all_f(0.0)); 3];
        axes[2].0 = [slice; 2];
        for d in 0..3 {
            if d < dimensions {
                axes[d] = linear(e, modes[d], coord[d], self.axis(e, d, sizes[d]));
            }
        }
        let [(x, fx), (y, fy), (z, fz)] = axes;
        let edges = self.kind() == SurfaceKind::Cube && {
            let last = e.sub(place.width, e.all(1));
            let before = e.or(e.or(x[0], x[1]), e.or(y[0], y[1]));
            let behind = e.more(e.max(e.max(x[0], x[1]), e.max(y[0], y[1])), last);
            e.mask(e.or(before, behind)) & lit != 0
        };
        let mut colours = [e.all_f(0.0); 4];
        for plane in 0..2 {
            if plane == 1 && dimensions != 3 {
                break;
            }
            let texels = if edges {
                self.over_edges(e, &place, [x, y], point, lit)?
            } else {
                self.square(e, &place, [x, y], z[plane], lit)?
            };
            if self.gathers() {
                return Some(self.gathered_channel(e, &texels, point.reference));
            }
            let values = self.values(
                e,
                &texels,
                point.reference,
                #[inline(always)]
                |[a, b, c, d]| {
                    let upper = mix(e, a, b, fx);
                    if dimensions == 1 {
                        return upper;
                    }
                    mix(e, upper, mix(e, c, d, fx), fy)
                },
            );
            for n in 0..4 {
                colours[n] = match plane {
                    0 => values[n],
                    _ => mix(e, colours[n], values[n], fz),
                };
            }
        }
        Some(colours)
    }

    /// Texels of two columns and two rows of slices.
    #[inline(always)]
    fn square<E: Eight>(
        &mut self,
        e: E,
        place: &Place<E>,
        [x, y]: [[E::I; 2]; 2],
        z: E::I,
        lit: u8,
    ) -> Option<Square<E, D>> {
        let here = self.lanes.levels.slice(e, place, self.inside(e, z));
        let (columns, rows) = (self.columns(e, &here, x), self.rows(e, &here, y));
        let [left, right] = [(x[0], columns[0]), (x[1], columns[1])];
        let [upper, lower] = [(e.or(y[0], z), rows[0]), (e.or(y[1], z), rows[1])];
        Some([
            self.texel(e, [left, upper], lit)?,
            self.texel(e, [right, upper], lit)?,
            self.texel(e, [left, lower], lit)?,
            self.texel(e, [right, lower], lit)?,
        ])
    }

    /// Texels of two columns and two rows of faces, of which some may lie beyond the edges.
    #[inline(always)]
    fn over_edges<E: Eight>(
        &mut self,
        e: E,
        place: &Place<E>,
        [x, y]: [[E::I; 2]; 2],
        point: &Point<E>,
        lit: u8,
    ) -> Option<Square<E, D>> {
        let last = e.sub(place.width, e.all(1));
        let none = Texel {
            dwords: [e.all(0); D],
            border: e.all(0),
        };
        let mut texels = [none; 4];
        for n in 0..4 {
            let (x, y) = (x[n & 1], y[n >> 1]);
            let outside = e.or(e.or(x, y), e.more(e.max(x, y), last));
            let [face, column, row] = faces::beyond(e, point.face, [x, y], place.width);
            let face = e.select(outside, face, point.face);
            let (x, y) = (e.select(outside, column, x), e.select(outside, row, y));
            let here = self.lanes.levels.slice(e, place, e.add(point.slice, face));
            let [column] = self.columns(e, &here, [x]);
            let [row] = self.rows(e, &here, [y]);
            texels[n] = self.texel(e, [(x, column), (y, row)], lit)?;
        }
        Some(texels)
    }

    /// The channel that is gathered.
    #[inline(always)]
    fn channel(&self) -> Channel {
        let channel = if self.compares() {
            0
        } else {
            self.request.channel
        };
        self.lanes.form.channels[usize::from(channel & 3)]
    }

    /// A channel of texels: lower left, lower right, upper right, upper left.
    #[inline(always)]
    fn gathered_channel<E: Eight>(
        &self,
        e: E,
        texels: &Square<E, D>,
        reference: E::F,
    ) -> Values<E> {
        let Channel::Value(at) = self.channel() else {
            return [e.all_f(0.0); 4];
        };
        let [a, b, c, d] = self.value(e, texels, at, reference);
        [c, d, b, a]
    }

    /// Gathered values as they are.
    #[inline(always)]
    fn gathered<E: Eight>(&self, e: E, values: &Values<E>) -> [Grf; 4] {
        if let Channel::Constant(bits) = self.channel() {
            return [[bits; 8]; 4];
        }
        [
            e.array(e.bits(values[0])),
            e.array(e.bits(values[1])),
            e.array(e.bits(values[2])),
            e.array(e.bits(values[3])),
        ]
    }
}

/// Of each subspan, the coordinates of one pixel.
#[inline(always)]
fn each_of<E: Eight, const N: usize>(e: E, coord: [E::F; 3]) -> [E::F; 3] {
    each(
        &coord,
        e.all_f(0.0),
        #[inline(always)]
        |c| e.of_four::<N>(c),
    )
}

/// From -1..1 to 0..1.
#[inline(always)]
fn half_way<E: Eight>(e: E, c: E::F) -> E::F {
    e.mul_f(e.add_f(c, e.all_f(1.0)), e.all_f(0.5))
}

/// The square of the length of a gradient in texels.
#[inline(always)]
fn length<E: Eight>(e: E, gradient: [E::F; 3], (scale, dimensions): &([f32; 3], usize)) -> E::F {
    let mut sum = e.all_f(0.0);
    for d in 0..3 {
        if d < *dimensions {
            let texels = e.mul_f(gradient[d], e.all_f(scale[d]));
            sum = e.add_f(sum, e.mul_f(texels, texels));
        }
    }
    sum
}

#[inline(always)]
fn minus<E: Eight>(e: E, a: [E::F; 3], b: [E::F; 3]) -> [E::F; 3] {
    [
        e.sub_f(a[0], b[0]),
        e.sub_f(a[1], b[1]),
        e.sub_f(a[2], b[2]),
    ]
}
