//! MEDIA_OBJECT_WALKER: the places of its root threads, in their order.
//!
//! genxml gen6 names the fields; which loop is inside of which: Intel's media-driver, `CM_MW_GROUP_SELECT` (colours, inner, middle
//! and outer local loop, global loop). How the loops run: the same driver's cm_command_buffer.cpp
//! (`AddMediaObjectWalkerCmd`), whose patterns cover a picture with so many turns of the outer loop, counted from 0, and begin
//! lines outside of it. Not modelled: Dual Mode, Repel, and a Local End that is not where the first line ends.

/// Columns and rows.
pub type Vector = (i32, i32);

/// Two loops: the outer one moves the start of a line, and the inner one goes along the line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Loops {
    /// The start of the first line.
    pub start: Vector,
    /// From the start of a line to that of the next.
    pub outer: Vector,
    /// From one place of a line to the next.
    pub inner: Vector,
    /// Lines, at most.
    pub lines: u32,
}

/// The fields of a walker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Walker {
    /// Threads at each place.
    pub colors: u8,
    /// Between two lines of the local loop: lines that begin so far from one another,
    pub middle: Vector,
    /// and how many of them.
    pub middle_lines: u32,
    /// The places of a block.
    pub local: Loops,
    /// The blocks of the picture.
    pub global: Loops,
    /// Size of a block.
    pub block: Vector,
    /// Size of the picture.
    pub resolution: Vector,
}

/// Places on a line that are left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Line {
    at: Vector,
    unit: Vector,
    left: i32,
}

/// The loops go on for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Endless;

/// The numbers of the steps from `start` with which a coordinate is from `low` on and below `high`.
fn steps(start: i32, unit: i32, low: i32, high: i32) -> (i32, i32) {
    let (start, unit, low, last) = if unit < 0 {
        (-start, -unit, 1 - high, -low)
    } else {
        (start, unit, low, high - 1)
    };
    if unit == 0 {
        let inside = (low..=last).contains(&start);
        return (0, if inside { i32::MAX } else { -1 });
    }
    let first = (low - start).max(0);
    let first = first / unit + i32::from(first % unit > 0);
    (first, (last - start).div_euclid(unit))
}

impl Line {
    /// The part of a line that is inside of a rectangle.
    fn within(start: Vector, unit: Vector, low: Vector, high: Vector) -> Result<Self, Endless> {
        let x = steps(start.0, unit.0, low.0, high.0);
        let y = steps(start.1, unit.1, low.1, high.1);
        let (first, last) = (x.0.max(y.0), x.1.min(y.1));
        if first > last {
            return Ok(Line::default());
        }
        if last == i32::MAX {
            return Err(Endless);
        }
        Ok(Line {
            at: moved(start, unit, first),
            unit,
            left: last - first + 1,
        })
    }

    fn take(&mut self) -> Option<Vector> {
        self.left = self.left.checked_sub(1).filter(|left| *left >= 0)?;
        let at = self.at;
        self.at = moved(at, self.unit, 1);
        Some(at)
    }
}

/// So many steps further. Fields have ten bits and loops fewer than 2^11 turns, so that sums are small.
fn moved(from: Vector, by: Vector, times: i32) -> Vector {
    (from.0 + by.0 * times, from.1 + by.1 * times)
}

/// What the next step of a walk gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// A place and a colour.
    Thread(Vector, u8),
    /// Nothing: a line without a place, or the end of a loop.
    Nothing,
    /// No more.
    Over,
}

/// How far the loops are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Walk {
    walker: Walker,
    /// Lines of blocks that were begun.
    global_lines: u32,
    blocks: Line,
    block: Vector,
    /// Lines of the local loop that were begun in this block.
    local_lines: u32,
    /// Lines of the middle loop that were begun.
    middle_lines: u32,
    line: Line,
    /// The place whose colours are not over.
    place: Option<(Vector, u8)>,
}

impl Walk {
    /// A walk before its first step.
    pub fn new(walker: Walker) -> Self {
        Walk {
            walker,
            global_lines: 0,
            blocks: Line::default(),
            block: (0, 0),
            local_lines: walker.local.lines,
            middle_lines: walker.middle_lines,
            line: Line::default(),
            place: None,
        }
    }

    /// The next step; each takes the same time.
    pub fn step(&mut self) -> Result<Next, Endless> {
        let w = &self.walker;
        if let Some((at, color)) = self.place {
            self.place = (color + 1 < w.colors).then_some((at, color + 1));
            return Ok(Next::Thread(at, color));
        }
        if let Some(at) = self.line.take() {
            self.place = Some((moved(at, self.block, 1), 0));
            return self.step();
        }
        if self.middle_lines < w.middle_lines {
            let start = moved(w.local.start, w.local.outer, self.local_lines as i32 - 1);
            let start = moved(start, w.middle, self.middle_lines as i32);
            self.middle_lines += 1;
            // The part of the block that is in the picture.
            let low = (-self.block.0.min(0), -self.block.1.min(0));
            let high = (
                w.block.0.min(w.resolution.0 - self.block.0),
                w.block.1.min(w.resolution.1 - self.block.1),
            );
            self.line = Line::within(start, w.local.inner, low, high)?;
            return Ok(Next::Nothing);
        }
        if self.local_lines < w.local.lines {
            self.local_lines += 1;
            self.middle_lines = 0;
            return Ok(Next::Nothing);
        }
        if let Some(block) = self.blocks.take() {
            self.block = block;
            self.local_lines = 0;
            return Ok(Next::Nothing);
        }
        if self.global_lines < w.global.lines {
            let start = moved(w.global.start, w.global.outer, self.global_lines as i32);
            self.global_lines += 1;
            let low = (1 - w.block.0, 1 - w.block.1);
            self.blocks = Line::within(start, w.global.inner, low, w.resolution)?;
            return Ok(Next::Nothing);
        }
        Ok(Next::Over)
    }
}

impl Walker {
    /// Where the first line of the local loop ends in a whole block; `None` when there is no place on it.
    pub fn first_end(&self) -> Option<Vector> {
        let line = Line::within(self.local.start, self.local.inner, (0, 0), self.block).ok()?;
        (line.left > 0).then(|| moved(line.at, line.unit, line.left - 1))
    }
}

#[cfg(test)]
mod tests;
