//! Triangles between two rows of points.
//!
//! Microsoft's tessellator.cpp, `StitchRegular`, `StitchTransition`.

use crate::axis::Axis;

/// Where triangles go.
#[derive(Debug)]
pub struct Mesh<'a> {
    /// Their list.
    pub triangles: &'a mut Vec<[u16; 3]>,
    /// They go round as they are given, which is clockwise.
    pub clockwise: bool,
}

impl Mesh<'_> {
    /// Adds a triangle, whose corners are given clockwise.
    pub fn push(&mut self, [a, b, c]: [u16; 3]) {
        let corners = if self.clockwise { [a, b, c] } else { [a, c, b] };
        self.triangles.push(corners);
    }
}

/// A row of points: numbers that follow one another, but for one.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    base: u32,
    backwards: bool,
    /// The place in the row that has another number, and that number.
    other: Option<(u32, u32)>,
}

impl Row {
    /// The points from a number on.
    pub fn from(base: u32) -> Self {
        Row {
            base,
            backwards: false,
            other: None,
        }
    }

    /// The points from a number down.
    pub fn down(base: u32) -> Self {
        Row {
            backwards: true,
            ..Row::from(base)
        }
    }

    /// The same row with another number at a place: where a ring closes.
    pub fn with(self, place: u32, number: u32) -> Self {
        Row {
            other: Some((place, number)),
            ..self
        }
    }

    /// The number at a place.
    fn at(&self, place: u32) -> u16 {
        let number = match self.other {
            Some((other, number)) if other == place => number,
            _ if self.backwards => self.base.wrapping_sub(place),
            _ => self.base + place,
        };
        // CAST: a patch has at most 4225 points.
        number as u16
    }
}

/// How the quadrilaterals between two rows with points side by side are halved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Diagonals {
    /// From the inner row forward to the outer.
    Forward,
    /// From the outer row forward to the inner, but for the quadrilateral in the middle.
    ForwardExceptMiddle,
    /// Each half the mirror image of the other.
    Mirrored,
}

/// Two rows and how far along them triangles have come.
struct Walk<'m, 'a> {
    mesh: &'m mut Mesh<'a>,
    inside: (Row, u32),
    outside: (Row, u32),
}

impl Walk<'_, '_> {
    fn inner(&self, ahead: u32) -> u16 {
        self.inside.0.at(self.inside.1 + ahead)
    }

    fn outer(&self, ahead: u32) -> u16 {
        self.outside.0.at(self.outside.1 + ahead)
    }

    /// A triangle on the next segment of the outer row.
    fn outer_segment(&mut self) {
        self.mesh
            .push([self.outer(0), self.outer(1), self.inner(0)]);
        self.outside.1 += 1;
    }

    /// A triangle on the next segment of the inner row.
    fn inner_segment(&mut self) {
        self.mesh
            .push([self.inner(0), self.outer(0), self.inner(1)]);
        self.inside.1 += 1;
    }

    /// A quadrilateral, whose triangles are given by places: `o` and `i` the near corners, `O` and `I` the far ones.
    fn quadrilateral(&mut self, triangles: [[u8; 3]; 2]) {
        for corners in triangles {
            let corners = corners.map(|corner| match corner {
                b'o' => self.outer(0),
                b'O' => self.outer(1),
                b'i' => self.inner(0),
                _ => self.inner(1),
            });
            self.mesh.push(corners);
        }
        self.inside.1 += 1;
        self.outside.1 += 1;
    }
}

/// The diagonal goes from the inner row forward.
const FROM_INSIDE: [[u8; 3]; 2] = [*b"ioO", *b"iOI"];
/// The same diagonal, begun at the outer row.
const FROM_OUTSIDE: [[u8; 3]; 2] = [*b"oOi", *b"iOI"];
/// The diagonal goes from the outer row forward.
const CROSSED: [[u8; 3]; 2] = [*b"oIi", *b"oOI"];

/// Two rows with points side by side, the inner one of `count` points. With a trapezoid, the outer row has one more at each end.
pub fn regular(
    mesh: &mut Mesh<'_>,
    (trapezoid, diagonals): (bool, Diagonals),
    count: u32,
    inside: Row,
    outside: Row,
) {
    let mut walk = Walk {
        mesh,
        inside: (inside, 0),
        outside: (outside, 0),
    };
    if trapezoid {
        walk.outer_segment();
    }
    let all = count.saturating_sub(1);
    for at in 0..all {
        walk.quadrilateral(match diagonals {
            Diagonals::ForwardExceptMiddle if at + 1 == count / 2 => CROSSED,
            Diagonals::ForwardExceptMiddle => FROM_OUTSIDE,
            Diagonals::Mirrored if at < count / 2 => CROSSED,
            Diagonals::Forward | Diagonals::Mirrored => FROM_INSIDE,
        });
    }
    if trapezoid {
        walk.outer_segment();
    }
}

/// When each point of a half comes in as its factor grows, from the end to the middle of an edge of 64 segments.
const ORDER: [u8; 33] = {
    let mut order = [0; 33];
    order[1] = 32;
    let mut at = 2;
    while at <= 32 {
        // Each new point halves a segment, and the halvings of one round go from the end to the middle: the numbers of a binary
        // tree, from left to right.
        let number = at as u32 - 1;
        let round = number.trailing_zeros();
        // CAST: below 32.
        order[at] = ((number >> (round + 1)) + (16 >> round)) as u8;
        at += 1;
    }
    order
};

/// Two rows of any factors, with one segment more at each end of the outer one than of the inner.
pub fn transition(mesh: &mut Mesh<'_>, inside: (Row, &Axis), outside: (Row, &Axis)) {
    let mut walk = Walk {
        mesh,
        inside: (inside.0, 0),
        outside: (outside.0, 0),
    };
    let [inner, outer] = [inside.1, outside.1].map(|axis| axis.half - u32::from(axis.odd));
    let comes_in = |at: usize, half: u32| u32::from(ORDER[at]) < half;
    if comes_in(0, outer) {
        walk.outer_segment();
    }
    for at in 1..ORDER.len() {
        if comes_in(at, inner) {
            walk.inner_segment();
        }
        if comes_in(at, outer) {
            walk.outer_segment();
        }
    }
    match (inside.1.odd, outside.1.odd) {
        (true, true) => {
            walk.inner_segment();
            walk.mesh
                .push([walk.inner(0), walk.outer(0), walk.outer(1)]);
            walk.outside.1 += 1;
        }
        (false, true) => {
            walk.mesh
                .push([walk.inner(0), walk.outer(0), walk.outer(1)]);
            walk.outside.1 += 1;
        }
        (true, false) => walk.inner_segment(),
        (false, false) => {}
    }
    for at in (1..ORDER.len()).rev() {
        if comes_in(at, outer) {
            walk.outer_segment();
        }
        if comes_in(at, inner) {
            walk.inner_segment();
        }
    }
    if comes_in(0, outer) {
        walk.outer_segment();
    }
}

#[cfg(test)]
mod tests {
    use super::ORDER;

    /// The reference's `finalPointPositionTable`, its first half.
    #[test]
    fn points_come_in_by_halving() {
        let first = [
            0, 32, 16, 8, 17, 4, 18, 9, 19, 2, 20, 10, 21, 5, 22, 11, 23, 1,
        ];
        assert_eq!(ORDER[..first.len()], first);
        assert_eq!(ORDER[28..], [14, 29, 7, 30, 15, 31][1..]);
    }
}
