//! Orders of walkers beside published patterns and loops written out.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeSet;

use super::*;

/// All threads of a walk that ends within so many steps.
fn threads(walker: Walker, most: usize) -> Vec<(i32, i32, u8)> {
    let mut walk = Walk::new(walker);
    let mut out = Vec::new();
    for _ in 0..most {
        match walk.step().unwrap() {
            Next::Thread((x, y), color) => out.push((x, y, color)),
            Next::Nothing => {}
            Next::Over => return out,
        }
    }
    panic!("more than {most} steps");
}

fn places(walker: Walker) -> Vec<Vector> {
    let threads = threads(walker, 1_000_000);
    assert!(threads.iter().all(|(_, _, color)| *color == 0));
    threads.into_iter().map(|(x, y, _)| (x, y)).collect()
}

/// One block that is the whole picture, as media-driver has it for all patterns but one.
fn whole(width: i32, height: i32, local: Loops) -> Walker {
    Walker {
        colors: 1,
        middle: (0, 0),
        middle_lines: 1,
        local,
        global: Loops {
            start: (0, 0),
            outer: (width, 0),
            inner: (0, height),
            lines: 2,
        },
        block: (width, height),
        resolution: (width, height),
    }
}

fn loops(outer: Vector, inner: Vector, lines: i32) -> Loops {
    Loops {
        start: (0, 0),
        outer,
        inner,
        lines: lines as u32,
    }
}

const SIZES: [(i32, i32); 7] = [(1, 1), (1, 5), (5, 1), (2, 3), (7, 4), (4, 7), (20, 12)];

fn once_each(places: &[Vector], width: i32, height: i32) {
    let all: BTreeSet<_> = places.iter().copied().collect();
    assert_eq!(places.len(), (width * height) as usize);
    assert_eq!(all.len(), places.len());
    let inside = |p: &Vector| (0..width).contains(&p.0) && (0..height).contains(&p.1);
    assert!(places.iter().all(inside));
}

/// Each place comes behind those at the distances, where these are in the picture.
fn behind(places: &[Vector], distances: &[Vector]) {
    let number = |at: Vector| places.iter().position(|p| *p == at);
    for (n, at) in places.iter().enumerate() {
        for distance in distances {
            let before = number(moved(*at, *distance, 1));
            assert!(
                before.is_none_or(|before| before < n),
                "{at:?} {distance:?}"
            );
        }
    }
}

/// CM_WALK_HORIZONTAL and CM_WALK_VERTICAL; the counts of codechal_utilities.cpp are the greatest that the field holds.
#[test]
fn rows_and_columns() {
    for (width, height) in SIZES {
        let rows: Vec<_> = (0..height)
            .flat_map(|y| (0..width).map(move |x| (x, y)))
            .collect();
        let columns: Vec<_> = (0..width)
            .flat_map(|x| (0..height).map(move |y| (x, y)))
            .collect();
        for (rows_of, columns_of) in [(height, width), (1024, 1024)] {
            let walker = whole(width, height, loops((0, 1), (1, 0), rows_of));
            assert_eq!(places(walker), rows);
            assert_eq!(walker.first_end(), Some((width - 1, 0)));
            let walker = whole(width, height, loops((1, 0), (0, 1), columns_of));
            assert_eq!(places(walker), columns);
            assert_eq!(walker.first_end(), Some((0, height - 1)));
        }
    }
}

/// CM_WALK_WAVEFRONT and CM_WALK_WAVEFRONT26: place (x, y) is in wave x + n y, and there are W + n (H - 1) waves.
#[test]
fn wave_fronts() {
    for (width, height) in SIZES {
        for n in [1, 2] {
            let waves = width + (height - 1) * n;
            let walker = whole(width, height, loops((1, 0), (-n, 1), waves));
            let found = places(walker);
            once_each(&found, width, height);
            let mut sorted = found.clone();
            sorted.sort_by_key(|(x, y)| (x + n * y, *y));
            assert_eq!(found, sorted);
            let neighbours = [(-1, 0), (-1, -1), (0, -1), (1, -1)];
            behind(&found, &neighbours[..2 + n as usize]);
            assert_eq!(walker.first_end(), Some((0, 0)));
        }
    }
}

/// CM_WALK_WAVEFRONT26X: pairs of rows, first the upper rows of a wave and then the lower ones.
#[test]
fn wave_fronts_of_pairs_of_rows() {
    for (width, height) in SIZES.into_iter().filter(|(width, _)| *width > 1) {
        let walker = Walker {
            middle: (0, 1),
            middle_lines: 2,
            ..whole(width, height, loops((1, 0), (-2, 2), 1024))
        };
        let found = places(walker);
        once_each(&found, width, height);
        let mut sorted = found.clone();
        sorted.sort_by_key(|(x, y)| (x + 2 * (y / 2), y % 2, *y));
        assert_eq!(found, sorted);
    }
}

/// CM_WALK_WAVEFRONT26ZIG: blocks of two by two in waves, rows inside of a block, and as many waves as the driver counts.
#[test]
fn waves_of_blocks_that_the_edges_cut() {
    for (width, height) in SIZES {
        let (columns, rows) = ((width + 1) / 2, (height + 1) / 2);
        let walker = Walker {
            local: loops((0, 1), (1, 0), 2),
            global: loops((2, 0), (-4, 2), columns + (rows - 1) * 2),
            block: (2, 2),
            ..whole(width, height, Loops::default())
        };
        let found = places(walker);
        once_each(&found, width, height);
        let mut sorted = found.clone();
        sorted.sort_by_key(|(x, y)| (x / 2 + y / 2 * 2, y / 2, y % 2, *x));
        assert_eq!(found, sorted);
    }
}

#[test]
fn colors_are_the_innermost_loop() {
    let walker = Walker {
        colors: 3,
        ..whole(2, 1, loops((0, 1), (1, 0), 1))
    };
    let expected = [
        (0, 0, 0),
        (0, 0, 1),
        (0, 0, 2),
        (1, 0, 0),
        (1, 0, 1),
        (1, 0, 2),
    ];
    assert_eq!(threads(walker, 100), expected);
}

#[test]
fn what_cannot_end_is_told_and_empty_loops_end() {
    let still = whole(3, 3, loops((0, 1), (0, 0), 3));
    let mut walk = Walk::new(still);
    let ends = std::iter::from_fn(|| Some(walk.step())).take(10);
    assert!(ends.into_iter().any(|step| step == Err(Endless)));
    // Outer loops are counted, so that the same line comes as often.
    let same = whole(2, 2, loops((0, 0), (1, 0), 1024));
    assert_eq!(threads(same, 10_000).len(), 2048);
    // Nothing is inside of a block or a picture without places, whatever the loops are.
    let widest = Walker {
        middle_lines: 32,
        colors: 16,
        ..whole(0, 0, loops((0, 0), (0, 0), 1024))
    };
    assert_eq!(threads(widest, 5000), []);
    let outside = Walker {
        local: Loops {
            start: (511, 511),
            ..loops((0, 0), (0, 0), 1024)
        },
        middle_lines: 32,
        ..whole(4, 4, Loops::default())
    };
    assert_eq!(threads(outside, 100_000), []);
}

/// The loops written out: a place is looked at when it is so far along the line, and counts when it is inside.
fn by_hand(w: &Walker) -> Vec<(i32, i32, u8)> {
    const FAR: i32 = 1200;
    let mut out = Vec::new();
    let inside = |at: Vector, low: Vector, high: Vector| {
        at.0 >= low.0 && at.0 < high.0 && at.1 >= low.1 && at.1 < high.1
    };
    for g in 0..w.global.lines as i32 {
        for i in 0..FAR {
            let bx = w.global.start.0 + g * w.global.outer.0 + i * w.global.inner.0;
            let by = w.global.start.1 + g * w.global.outer.1 + i * w.global.inner.1;
            // A block of which a part is in the picture.
            if bx >= w.resolution.0
                || by >= w.resolution.1
                || bx + w.block.0 <= 0
                || by + w.block.1 <= 0
            {
                continue;
            }
            for l in 0..w.local.lines as i32 {
                for m in 0..w.middle_lines as i32 {
                    for k in 0..FAR {
                        let x = w.local.start.0
                            + l * w.local.outer.0
                            + m * w.middle.0
                            + k * w.local.inner.0;
                        let y = w.local.start.1
                            + l * w.local.outer.1
                            + m * w.middle.1
                            + k * w.local.inner.1;
                        let (px, py) = (bx + x, by + y);
                        if inside((x, y), (0, 0), w.block) && inside((px, py), (0, 0), w.resolution)
                        {
                            out.extend((0..w.colors).map(|color| (px, py, color)));
                        }
                    }
                }
            }
        }
    }
    out
}

/// A linear congruential generator.
struct Numbers(u32);

impl Numbers {
    fn i32(&mut self, range: std::ops::RangeInclusive<i32>) -> i32 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let count = (range.end() - range.start() + 1) as u32;
        range.start() + (self.0 >> 16) as i32 % count as i32
    }
}

#[test]
fn random_walkers_are_the_loops_written_out() {
    let mut rng = Numbers(60);
    let mut some = 0;
    for _ in 0..150 {
        let mut unit = |most: i32| (rng.i32(-most..=most), rng.i32(-most..=most));
        let (outer, inner, global_outer, global_inner) = (unit(3), unit(3), unit(6), unit(6));
        let (middle, global_start) = (unit(1), unit(5));
        if inner == (0, 0) || global_inner == (0, 0) {
            continue;
        }
        let walker = Walker {
            colors: rng.i32(1..=2) as u8,
            middle,
            middle_lines: rng.i32(1..=2) as u32,
            local: Loops {
                start: (rng.i32(0..=4), rng.i32(0..=4)),
                outer,
                inner,
                lines: rng.i32(1..=4) as u32,
            },
            global: Loops {
                start: global_start,
                outer: global_outer,
                inner: global_inner,
                lines: rng.i32(1..=3) as u32,
            },
            block: (rng.i32(0..=6), rng.i32(0..=6)),
            resolution: (rng.i32(0..=11), rng.i32(0..=11)),
        };
        let expected = by_hand(&walker);
        some += usize::from(!expected.is_empty());
        assert_eq!(threads(walker, 1_000_000), expected, "{walker:?}");
    }
    assert!(some > 30, "{some} walkers with threads");
}
