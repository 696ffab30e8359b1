//! Strips and fans that set up attributes by themselves: no threads, no entries.
//!
//! Fields from genxml gen6 3DSTATE_SF. A component of an attribute has four dwords of the two registers that pixel shaders get
//! for it: what the second and the third vertex have beyond the first, nothing, and the first (Mesa brw_fs.cpp `interp_reg`,
//! the operands of `pln`).

mod planes;

use std::collections::VecDeque;

use eu::Grf;

use super::Step;
use super::link::{Cargo, Link, Piece};
use super::sf::{number, restarts_stipple};
use super::stage::{Stage, StepContext};
use super::state::setup::{AttributeSource, ConstantSource, FillMode};
use super::state::{CullMode, DrawState, SetupState};
use super::topology::Topology;
use super::wiz::{PrimitiveKind, ScreenVertex, SetupPrimitive};
use crate::intel::machine::Machine;
use crate::intel::status::Busy;
use crate::intel::urb::{Urb, UrbHandle};

use planes::Placed;

/// Ticks of an object: viewport transform, culling, setup of the rasteriser.
const OBJECT_TICKS: u64 = 16;
/// Ticks of an attribute.
const ATTRIBUTE_TICKS: u64 = 2;

/// The unit.
#[derive(Clone, Debug, Default)]
pub struct Setup {
    /// Primitives of the present piece that are still to be handed on: a triangle has three edges and corners.
    ready: VecDeque<SetupPrimitive>,
    attributes: Vec<Grf>,
    /// The attributes of the corners among them, where these are sprites: of each in turn.
    corners: VecDeque<Vec<Grf>>,
}

impl Stage for Setup {
    fn part(&self) -> Busy {
        Busy::Sf
    }

    fn takes(&self) -> &'static [Cargo] {
        &[Cargo::Pieces]
    }

    fn gives(&self) -> &'static [Cargo] {
        &[Cargo::Primitive]
    }

    fn room(&self, input: &Link) -> bool {
        input.pieces.is_empty()
    }

    fn step(&mut self, input: &mut Link, out: &mut Link, ctx: &mut StepContext<'_, '_>) -> Step {
        if self.ready.is_empty() {
            let Some(piece) = input.pieces.pop_front() else {
                return Step::Idle;
            };
            self.piece(&piece, ctx);
        }
        if let Some(primitive) = self.ready.pop_front() {
            match self.corners.pop_front() {
                Some(attributes) => out.attributes = attributes,
                None => out.attributes.clone_from(&self.attributes),
            }
            out.primitive = Some(primitive);
        }
        Step::Progress
    }

    fn busy(&self, input: &Link) -> bool {
        !self.ready.is_empty() || !input.pieces.is_empty()
    }

    fn finish(&mut self, _machine: &mut Machine<'_>) {
        self.ready.clear();
        self.corners.clear();
    }
}

impl Setup {
    /// Sets up a piece, and gives its references back.
    fn piece(&mut self, piece: &Piece, ctx: &mut StepContext<'_, '_>) {
        let machine = &mut *ctx.machine;
        machine.charge(OBJECT_TICKS);
        let debug = number(&piece.object, ctx.draw, machine);
        if !debug.culled
            && let Some(primitive) = primitive(piece, ctx.draw, machine.urb)
        {
            let primitive = SetupPrimitive {
                sequence: debug.thread.id,
                snapshot: debug.upstream,
                ..primitive
            };
            attributes(
                &mut self.attributes,
                piece,
                &ctx.draw.setup,
                primitive.back_facing,
                machine.urb,
            );
            machine.charge(ATTRIBUTE_TICKS * u64::from(ctx.draw.setup.attributes));
            self.fill(&primitive, piece, ctx.draw, machine.urb);
        }
        machine.status.activity.objects += 1;
        for &handle in piece.object.handles() {
            machine.urb.release(handle);
        }
    }

    /// What is drawn of a primitive: a triangle's area, its edges, or its corners.
    fn fill(&mut self, primitive: &SetupPrimitive, piece: &Piece, draw: &DrawState, urb: &Urb) {
        let state = &draw.setup;
        let mode = state.fill[usize::from(primitive.back_facing)];
        let slope = primitive
            .interpolation
            .map(|planes| planes.depth.max_slope());
        let offset = |on: bool| slope.filter(|_| on);
        let each = (0..3).zip(piece.edges).filter(|(_, edge)| *edge);
        match (primitive.kind, mode) {
            (PrimitiveKind::Triangle, FillMode::Wireframe) => {
                self.ready.extend(each.map(|(i, _)| SetupPrimitive {
                    kind: PrimitiveKind::Line,
                    v: [primitive.v[i], primitive.v[(i + 1) % 3], primitive.v[i]],
                    line_width: state.line_width,
                    depth_slope: offset(state.offset.wireframe),
                    ..*primitive
                }));
            }
            (PrimitiveKind::Triangle, FillMode::Point) => {
                let widths = piece.vertices.map(|v| width(piece, v, urb));
                let left = |i: usize| !state.original_corners_only || is_original(piece, i, urb);
                for (i, _) in each.filter(|(i, _)| left(*i)) {
                    let [x, y] = [primitive.v[i].x, primitive.v[i].y].map(f64::from);
                    let at = primitive.interpolation.map(|planes| planes.fixed(x, y));
                    let width = state.point_width.unwrap_or_else(|| {
                        let weights = at.map(|at| at.weights(x, y).perspective);
                        weights.map_or(widths[0], |weights| between(widths, weights))
                    });
                    let width = clamp(width, draw);
                    let mut interpolation = at;
                    // As points of their own they are sprites too (OpenGL 2.1, 3.5.4: such points are rasterised as points are).
                    if let Some(at) = at.filter(|_| state.sprites != 0) {
                        let weights = at.weights(x, y).perspective;
                        self.corners
                            .push_back(sprite(&self.attributes, weights, state));
                        interpolation = Some(planes::sprite(&at, [x, y], width));
                    }
                    self.ready.push_back(SetupPrimitive {
                        kind: PrimitiveKind::Point,
                        v: [primitive.v[i]; 3],
                        point_width: width,
                        interpolation,
                        depth_slope: offset(state.offset.point),
                        ..*primitive
                    });
                }
            }
            (PrimitiveKind::Triangle, FillMode::Solid) => self.ready.push_back(SetupPrimitive {
                depth_slope: offset(state.offset.solid),
                ..*primitive
            }),
            _ => self.ready.push_back(*primitive),
        }
    }
}

/// The width of a point between the clipper's limits (3DSTATE_CLIP), and at least a pixel.
fn clamp(width: f32, draw: &DrawState) -> f32 {
    let (least, greatest) = draw.clipper.point_width;
    let width = if draw.clipper.enable {
        width.max(least).min(greatest)
    } else {
        width
    };
    width.max(1.0)
}

/// Row of a vertex's entry.
fn row(urb: &Urb, handle: UrbHandle, row: u16) -> Grf {
    urb.row(handle, row).copied().unwrap_or_default()
}

/// Whether a corner of a piece is a vertex of its object, and not one that the clipper made.
fn is_original(piece: &Piece, corner: usize, urb: &Urb) -> bool {
    let position = piece.corners.get(corner).map(|corner| corner.position);
    piece.vertices.iter().any(|&v| {
        let handle = piece.object.vertices.get(usize::from(v)).copied();
        let row = row(urb, handle.unwrap_or_default(), 0);
        let vertex = [row[4], row[5], row[6], row[7]].map(|v| f64::from(f32::from_bits(v)));
        position == Some(vertex)
    })
}

/// The width of a point at a vertex of an object, in pixels: what its header says.
fn width(piece: &Piece, vertex: u8, urb: &Urb) -> f32 {
    let handle = piece.object.vertices.get(usize::from(vertex)).copied();
    f32::from_bits(row(urb, handle.unwrap_or_default(), 0)[3])
}

/// What a corner has of a value of three vertices: that of its vertex, or the clipper's of several.
fn between(values: [f32; 3], weights: [f32; 2]) -> f32 {
    let [first, second, third] = values;
    if first == second && second == third {
        return first;
    }
    let beyond = [second - first, third - first];
    first + beyond[0] * weights[0] + beyond[1] * weights[1]
}

/// The primitive of a piece; `None` when it is culled or has no area.
fn primitive(piece: &Piece, draw: &DrawState, urb: &Urb) -> Option<SetupPrimitive> {
    let state = &draw.setup;
    let viewports = state.viewports.as_ref();
    let viewport = viewports.and_then(|all| all.get(usize::from(piece.viewport)));
    let place = |position: [f64; 4]| Placed::new(position, viewport, draw.clipper.divide_disable);
    let object = &piece.object;
    let ends = piece.vertices.map(|v| {
        let handle = object.vertices.get(usize::from(v)).copied();
        let row = row(urb, handle.unwrap_or_default(), 0);
        place([row[4], row[5], row[6], row[7]].map(|v| f64::from(f32::from_bits(v))))
    });
    let corners = piece.corners.map(|corner| place(corner.position));
    let v = corners.map(|corner| corner.screen());
    let finite = |v: &ScreenVertex| v.x.is_finite() && v.y.is_finite();
    if !v.iter().take(piece.count).all(finite) {
        return None;
    }
    let mut primitive = SetupPrimitive {
        v,
        order: piece.vertices,
        topology: object.topology as u8,
        polygon_stipple: object.topology != Topology::TriFanNoStipple,
        stipple_restart: restarts_stipple(object),
        viewport_index: piece.viewport,
        render_target_array_index: piece.array_index,
        ..SetupPrimitive::default()
    };
    let interpolation = match piece.count {
        1 => {
            let width = state.point_width;
            let width = width.unwrap_or_else(|| self::width(piece, piece.vertices[0], urb));
            primitive.kind = PrimitiveKind::Point;
            primitive.point_width = clamp(width, draw);
            planes::point(&corners[0], primitive.point_width)
        }
        2 => {
            primitive.kind = PrimitiveKind::Line;
            primitive.line_width = state.line_width;
            planes::line(
                [&ends[0], &ends[1]],
                [
                    (&corners[0], piece.corners[0].along),
                    (&corners[1], piece.corners[1].along),
                ],
            )?
        }
        _ => {
            // y points down: a positive area is clockwise on the screen.
            let (area, planes) = planes::triangle(&ends, &corners)?;
            let front = (area > 0.0) != state.front_counter_clockwise;
            if object.topology == Topology::RectList {
                primitive.kind = PrimitiveKind::Rectangle;
            } else {
                primitive.back_facing = !front;
                let culled = match state.cull {
                    CullMode::Both => true,
                    CullMode::Front => front,
                    CullMode::Back => !front,
                    CullMode::Neither => false,
                };
                if culled {
                    return None;
                }
            }
            planes
        }
    };
    primitive.interpolation = Some(interpolation);
    Some(primitive)
}

/// Which vertex of its object provokes.
fn provoking(piece: &Piece, state: &SetupState) -> u32 {
    let object = &piece.object;
    match (object.count, object.topology) {
        (2, _) => state.provoking_line,
        // A polygon's colour is that of its first vertex. Quadrilaterals are polygons here, and so do not follow the choice
        // (Mesa crocus_screen.c, QUADS_FOLLOW_PROVOKING_VERTEX_CONVENTION).
        (1, _) | (_, Topology::Polygon) => 0,
        (_, Topology::TriFan | Topology::TriFanNoStipple) => state.provoking_fan,
        _ => state.provoking_triangle,
    }
}

/// An attribute of a vertex with what the state makes of it.
fn attribute(
    urb: &Urb,
    handle: UrbHandle,
    (state, source): (&SetupState, &AttributeSource),
    (back, primitive): (bool, u32),
) -> [f32; 4] {
    let number = u16::from(source.source) + u16::from(source.facing && back);
    let row = row(urb, handle, state.read_offset + number / 2);
    let at = usize::from(number % 2) * 4;
    let mut value: [f32; 4] = std::array::from_fn(|i| f32::from_bits(row[at + i]));
    if source.replicate_w {
        value = [value[3]; 4];
    }
    let constant = match source.constant {
        ConstantSource::Zeros => [0.0; 4],
        ConstantSource::PrimitiveId => [f32::from_bits(primitive); 4],
        ConstantSource::ZeroZeroZeroOne => [0.0, 0.0, 0.0, 1.0],
        ConstantSource::Ones => [1.0; 4],
    };
    for (i, constant) in constant.into_iter().enumerate() {
        if source.overrides >> i & 1 != 0 {
            value[i] = constant;
        }
    }
    value
}

/// The shorter way from a value to another on a circle of length 1.
fn shorter(difference: f32) -> f32 {
    if difference > 0.5 {
        difference - 1.0
    } else if difference < -0.5 {
        difference + 1.0
    } else {
        difference
    }
}

/// Two registers for each attribute.
fn attributes(out: &mut Vec<Grf>, piece: &Piece, state: &SetupState, back: bool, urb: &Urb) {
    out.clear();
    let object = &piece.object;
    let handle = |v: usize| object.vertices.get(v).copied().unwrap_or_default();
    let vertices = piece.vertices.map(|v| handle(usize::from(v)));
    let provoking = handle(provoking(piece, state) as usize);
    for number in 0..state.attributes {
        let source = state.source(number);
        let of = |handle| attribute(urb, handle, (state, &source), (back, object.number));
        let flag = |bits: u32| bits >> u32::from(number).min(31) & 1 != 0;
        let wrap = state.wraps(number);
        // What the first vertex has, and the second and third beyond it.
        let (first, second, third);
        if object.count == 1 && flag(state.sprites) {
            [first, second, third] = sprite_coordinates(state);
        } else if flag(state.constant) || object.count == 1 {
            first = of(provoking);
            (second, third) = ([0.0; 4], [0.0; 4]);
        } else {
            let [a, b, c] = vertices.map(of);
            let beyond = |v: [f32; 4]| {
                std::array::from_fn(|i| {
                    let difference = v[i] - a[i];
                    if wrap >> i & 1 != 0 {
                        shorter(difference)
                    } else {
                        difference
                    }
                })
            };
            first = a;
            second = beyond(b);
            third = if object.count == 2 {
                [0.0; 4]
            } else {
                beyond(c)
            };
        }
        out.extend(registers([first, second, third]));
    }
}

/// The coordinates of a sprite: at its corner in the origin, and what they grow by over its width and its height.
fn sprite_coordinates(state: &SetupState) -> [[f32; 4]; 3] {
    let (from, down) = if state.sprite_origin_lower {
        (1.0, -1.0)
    } else {
        (0.0, 1.0)
    };
    [
        [0.0, from, 0.0, 1.0],
        [1.0, 0.0, 0.0, 0.0],
        [0.0, down, 0.0, 0.0],
    ]
}

/// The two registers of an attribute.
fn registers([first, second, third]: [[f32; 4]; 3]) -> [Grf; 2] {
    [0, 2].map(|pair| {
        let mut register = [0; 8];
        for (i, component) in (pair..pair + 2).enumerate() {
            let words = [second[component], third[component], 0.0, first[component]];
            register[i * 4..][..4].copy_from_slice(&words.map(f32::to_bits));
        }
        register
    })
}

/// The attributes of a corner of a triangle that is drawn as a sprite: its coordinates, and what the others are at the corner,
/// where the second and third vertex have these weights.
fn sprite(attributes: &[Grf], weights: [f32; 2], state: &SetupState) -> Vec<Grf> {
    let mut out = Vec::with_capacity(attributes.len());
    for (number, pair) in attributes.chunks(2).enumerate() {
        if state.sprites >> number.min(31) & 1 != 0 {
            out.extend(registers(sprite_coordinates(state)));
            continue;
        }
        out.extend(pair.iter().map(|register| {
            let value = register.map(f32::from_bits);
            let mut fixed = [0; 8];
            for at in [0, 4] {
                let sum = value[at + 3] + value[at] * weights[0] + value[at + 1] * weights[1];
                fixed[at + 3] = sum.to_bits();
            }
            fixed
        }));
    }
    out
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests;
