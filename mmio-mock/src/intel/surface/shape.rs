//! Render targets and depth buffer of one draw: what they have to have in common.
//!
//! PRM: volume 4 4.7.2 (Surface Type, Height, Width, MIP Count / LOD, Depth). Not modelled: what hardware does with those that
//! differ, which the manual leaves open; each is rendered by its own state.

use super::{DepthBuffer, Surface, SurfaceKind};

/// The fields that are compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    kind: SurfaceKind,
    width: u32,
    height: u32,
    depth: u32,
    lod: u32,
}

/// What differs first, in the order of SURFACE_STATE.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Disagreement {
    /// Neither is null, and the types differ.
    #[error("surface types")]
    Type,
    /// Heights of level 0, which count for arrays, levels, volumes and cubes.
    #[error("heights")]
    Height,
    /// Widths likewise.
    #[error("widths")]
    Width,
    /// Levels that are rendered to.
    #[error("levels")]
    Level,
    /// Numbers of slices.
    #[error("depths")]
    Depth,
}

impl Shape {
    /// What keeps two targets, or a target and the depth buffer, from being rendered together.
    #[must_use]
    pub fn disagreement(&self, other: &Shape) -> Option<Disagreement> {
        let null = [self.kind, other.kind].contains(&SurfaceKind::Null);
        if !null && self.kind != other.kind {
            return Some(Disagreement::Type);
        }
        let plain = |s: &Shape| {
            let flat = !matches!(s.kind, SurfaceKind::ThreeD | SurfaceKind::Cube);
            flat && s.depth == 1 && s.lod == 0
        };
        let any_size = plain(self) && plain(other);
        if !any_size && self.height != other.height {
            return Some(Disagreement::Height);
        }
        if !any_size && self.width != other.width {
            return Some(Disagreement::Width);
        }
        if self.lod != other.lod {
            return Some(Disagreement::Level);
        }
        (self.depth != other.depth).then_some(Disagreement::Depth)
    }
}

impl Surface {
    /// What other targets and the depth buffer are compared with.
    #[must_use]
    pub fn shape(&self) -> Shape {
        Shape {
            kind: self.kind,
            width: self.width,
            height: self.height,
            depth: self.depth,
            lod: self.render_lod,
        }
    }
}

impl DepthBuffer {
    /// What render targets are compared with; `None` when there is no buffer.
    #[must_use]
    pub fn shape(&self) -> Option<Shape> {
        (self.kind != SurfaceKind::Null).then_some(Shape {
            kind: self.kind,
            width: self.width,
            height: self.height,
            depth: self.depth,
            lod: self.lod,
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::super::state::Use;
    use super::*;

    /// A target of BGRA8: type, width, height, depth, level.
    fn target([kind, width, height, depth, lod]: [u32; 5]) -> Shape {
        let words = [
            kind << 29 | 0x0c0 << 18,
            0x1000,
            (height - 1) << 19 | (width - 1) << 6 | lod << 2,
            (depth - 1) << 21 | 255 << 3,
            // Surface Min LOD, which is nothing to a target.
            5 << 28,
        ];
        crate::intel::r#gen::gen40::surface::resolve(&words, Use::RenderTarget)
            .unwrap()
            .shape()
    }

    /// A depth buffer of D32_FLOAT in Y tiles likewise.
    fn buffer([kind, width, height, depth, lod]: [u32; 5]) -> Option<Shape> {
        let command = [
            0x7905_0003,
            kind << 29 | 1 << 27 | 1 << 26 | 1 << 18 | 255,
            0x1000,
            (height - 1) << 19 | (width - 1) << 6 | lod << 2,
            (depth - 1) << 21,
        ];
        crate::intel::r#gen::gen40::surface::resolve_depth(&command)
            .unwrap()
            .shape()
    }

    // covers: 4.7.2-04, 4.7.2-40, 4.7.2-46, 4.7.2-49, 4.7.2-53
    #[test]
    fn targets_and_depth_buffer_have_the_same_shape() {
        use Disagreement::{Depth, Height, Level, Type, Width};
        let array = [1, 16, 8, 4, 0];
        let level = [1, 16, 8, 1, 1];
        let volume = [2, 16, 8, 4, 0];
        let flat = [1, 16, 8, 1, 0];
        for (one, other, want) in [
            (flat, flat, None),
            // Without array and levels sizes are free.
            (flat, [1, 32, 8, 1, 0], None),
            (flat, [1, 16, 4, 1, 0], None),
            (flat, [0, 16, 1, 1, 0], Some(Type)),
            (volume, array, Some(Type)),
            (array, array, None),
            (array, [1, 16, 4, 4, 0], Some(Height)),
            (array, [1, 32, 8, 4, 0], Some(Width)),
            (array, [1, 16, 8, 5, 0], Some(Depth)),
            (array, flat, Some(Depth)),
            (level, level, None),
            (level, flat, Some(Level)),
            (level, [1, 32, 8, 1, 1], Some(Width)),
            (volume, volume, None),
            (volume, [2, 16, 4, 4, 0], Some(Height)),
            (volume, [2, 16, 8, 4, 1], Some(Level)),
            (volume, [2, 16, 8, 5, 0], Some(Depth)),
            // Null: any type, but the sizes of what goes beside it.
            ([7, 16, 8, 4, 0], array, None),
            ([7, 16, 8, 1, 0], [0, 16, 1, 1, 0], None),
            ([7, 16, 8, 1, 0], level, Some(Level)),
        ] {
            let shape = target(one);
            assert_eq!(
                shape.disagreement(&target(other)),
                want,
                "{one:?} {other:?}"
            );
            assert_eq!(
                target(other).disagreement(&shape),
                want,
                "{other:?} {one:?}"
            );
            let beside = buffer(other).unwrap();
            assert_eq!(shape.disagreement(&beside), want, "{one:?} {other:?}");
        }
        assert_eq!(buffer([7, 1, 1, 1, 0]), None);
    }
}
