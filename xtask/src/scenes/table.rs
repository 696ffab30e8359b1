//! The scenes' comparison as a table, and what is wrong with it.
//! A reference is another rasteriser's picture; the better of two counts.

use std::fmt::Write;

use super::picture::Difference;
use super::program::{Run, Scene, Size};

/// Percent of the pixels that have to be within 2.
pub const DEMAND: f64 = 99.8;
/// Growth of the peak memory between the 50th frame and the last that is none, KiB and percent.
const SLACK: (u64, u64) = (4096, 2);

/// One scene on the device and on both references, in this order: llvmpipe, softpipe.
#[derive(Debug)]
pub struct Row {
    pub scene: Scene,
    /// Whether it has to agree.
    pub demanded: bool,
    pub device: Result<Run, String>,
    pub references: [Result<Run, String>; 2],
    pub differences: [Option<Difference>; 2],
    /// Where the picture can be computed: the device, llvmpipe and softpipe beside the formula, each with
    /// its own rule for the level of detail.
    pub formula: Option<[Option<Difference>; 3]>,
}

/// An animation: the last frame's difference from llvmpipe's, and the peak memory of the serving
/// process after 50 frames and after all.
#[derive(Debug)]
pub struct Animation {
    pub scene: Scene,
    pub ms: f64,
    pub difference: Option<Difference>,
    pub peaks: [u64; 2],
}

/// Frames that a server's caches may take to fill.
pub const WARM: usize = 50;

impl Row {
    /// The difference from the better reference.
    fn best(&self) -> Option<Difference> {
        let [a, b] = self.differences;
        nearer(a, b)
    }

    /// A line about the formula.
    pub fn note(&self) -> Option<String> {
        let [device, llvmpipe, softpipe] = self.formula?.map(words);
        Some(format!(
            "{}, computed: the device beside the manual's formula: {device}; llvmpipe beside it with straight lines for the logarithm: {llvmpipe}; softpipe beside it with the largest component for the length: {softpipe}",
            self.label()
        ))
    }

    /// The number of the better reference.
    pub fn better(&self) -> usize {
        usize::from(
            self.best().is_some()
                && self.best() == self.differences[1]
                && self.differences[0] != self.differences[1],
        )
    }

    fn label(&self) -> String {
        label(&self.scene)
    }

    /// What is wrong, if anything.
    pub fn findings(&self, renderer: &str) -> Vec<String> {
        let label = self.label();
        let mut findings: Vec<String> = self
            .references
            .iter()
            .chain([&self.device])
            .filter_map(|run| run.as_ref().err())
            .map(|error| format!("{label}: {error}"))
            .collect();
        let Ok(device) = &self.device else {
            return findings;
        };
        if !device.renderer.contains(renderer) {
            findings.push(format!("{label}: drawn by {}", device.renderer));
        }
        if !self.demanded {
            return findings;
        }
        let formula = self.formula.and_then(|formula| formula[0]);
        let best = nearer(self.best(), formula);
        if let Some(best) = best.filter(|best| best.near < DEMAND) {
            findings.push(format!(
                "{label}: {:.3} % within 2, not {DEMAND}",
                best.near
            ));
        }
        for reference in self.references.iter().flatten().take(1) {
            let pairs = device.queries.iter().zip(&reference.queries);
            let share = |(&ours, &theirs): (&u64, &u64)| {
                100.0 - 100.0 * ours.abs_diff(theirs) as f64 / theirs.max(1) as f64
            };
            let same = device.queries.len() == reference.queries.len();
            if !same || pairs.map(share).any(|share| share < DEMAND) {
                findings.push(format!(
                    "{label}: queries {:?}, not {:?}",
                    device.queries, reference.queries
                ));
            }
        }
        findings
    }
}

impl Animation {
    /// What is wrong, if anything.
    pub fn findings(&self) -> Vec<String> {
        let label = label(&self.scene);
        let mut findings = Vec::new();
        match self.difference {
            Some(difference) if difference.near >= DEMAND => {}
            Some(difference) => findings.push(format!(
                "{label}: frame {}: {:.3} % within 2, not {DEMAND}",
                self.scene.frames, difference.near
            )),
            None => findings.push(format!("{label}: no picture")),
        }
        let [warm, all] = self.peaks;
        let allowed = warm + SLACK.0 + warm * SLACK.1 / 100;
        if all > allowed {
            findings.push(format!(
                "{label}: {all} KiB after {} frames, {warm} KiB after {WARM}",
                self.scene.frames
            ));
        }
        findings
    }

    /// A line for the terminal and the page.
    pub fn line(&self) -> String {
        let [warm, all] = self.peaks;
        let difference = words(self.difference);
        format!(
            "{}, {} frames: {:.2} ms a frame; the last beside llvmpipe's: {difference}; peak memory {warm} KiB after {WARM} frames, {all} KiB after all",
            label(&self.scene),
            self.scene.frames,
            self.ms
        )
    }
}

/// The one with more pixels within 2; the first of two that are equal.
pub fn nearer(a: Option<Difference>, b: Option<Difference>) -> Option<Difference> {
    match (a, b) {
        (Some(a), Some(b)) => Some(if b.near > a.near { b } else { a }),
        (a, b) => a.or(b),
    }
}

fn words(difference: Option<Difference>) -> String {
    difference.map_or("no picture".to_owned(), |d| {
        format!(
            "{:.3} % exact, {:.3} % within 2, largest {}",
            d.exact, d.near, d.largest
        )
    })
}

/// What a scene is called.
pub fn label(scene: &Scene) -> String {
    let Size { width, height } = scene.size;
    format!("{} {} {width}x{height}", scene.letter, scene.api)
}

/// The table's head.
pub const HEAD: &str = "\
| scene | demanded | renderer | llvmpipe: exact % | within 2 % | largest | softpipe: exact % | within 2 % | largest | ms: device | llvmpipe | softpipe | samples: device | llvmpipe |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
";

/// A row of it.
pub fn markdown(row: &Row) -> String {
    let mut text = format!(
        "| {} | {} |",
        row.label(),
        if row.demanded { "yes" } else { "" }
    );
    let renderer = match &row.device {
        Ok(run) => &run.renderer,
        Err(error) => error,
    };
    // Writing to a string cannot fail.
    let _ = write!(text, " {renderer} |");
    for difference in row.differences {
        let _ = match difference {
            Some(d) => write!(text, " {:.3} | {:.3} | {} |", d.exact, d.near, d.largest),
            None => write!(text, " | | |"),
        };
    }
    for run in [&row.device].into_iter().chain(&row.references) {
        let _ = match run {
            Ok(run) => write!(text, " {:.2} |", run.ms),
            Err(_) => write!(text, " |"),
        };
    }
    for run in [&row.device, &row.references[0]] {
        let queries = run.as_ref().map(|run| run.queries.as_slice());
        let numbers = queries.unwrap_or_default().iter().map(u64::to_string);
        let _ = write!(text, " {} |", numbers.collect::<Vec<_>>().join(" "));
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCENE: Scene = Scene {
        letter: 'b',
        api: "gl",
        size: Size {
            width: 4,
            height: 2,
        },
        frames: 300,
    };

    fn run(renderer: &str, queries: &[u64]) -> Run {
        Run {
            renderer: renderer.to_owned(),
            ms: 1.5,
            queries: queries.to_vec(),
            ..Run::default()
        }
    }

    fn near(near: f64) -> Difference {
        Difference {
            exact: 90.0,
            near,
            largest: 9,
        }
    }

    fn row() -> Row {
        Row {
            scene: SCENE,
            demanded: true,
            device: Ok(run("Mesa 965GM", &[1000])),
            references: [Ok(run("llvmpipe", &[1001])), Ok(run("softpipe", &[1000]))],
            differences: [Some(near(99.0)), Some(near(99.9))],
            formula: None,
        }
    }

    #[test]
    fn the_better_reference_counts() {
        let mut row = row();
        assert!(row.findings("965GM").is_empty());
        assert_eq!(row.better(), 1);
        row.differences = [Some(near(99.0)), Some(near(99.0))];
        assert_eq!(row.better(), 0);
        assert_eq!(
            row.findings("965GM"),
            ["b gl 4x2: 99.000 % within 2, not 99.8"]
        );
        row.demanded = false;
        assert!(row.findings("965GM").is_empty());
        assert_eq!(row.findings("G45"), ["b gl 4x2: drawn by Mesa 965GM"]);
    }

    #[test]
    fn the_formula_counts_too() {
        let mut row = row();
        assert_eq!(row.note(), None);
        row.differences = [Some(near(95.0)), Some(near(90.0))];
        row.formula = Some([Some(near(100.0)), Some(near(99.0)), None]);
        assert!(row.findings("965GM").is_empty());
        assert!(
            row.note()
                .is_some_and(|note| note.contains("100.000 % within 2"))
        );
        row.formula = Some([None, Some(near(100.0)), Some(near(100.0))]);
        assert_eq!(row.findings("965GM").len(), 1, "the device's own counts");
    }

    #[test]
    fn queries_and_failed_runs() {
        let mut row = row();
        row.references[0] = Ok(run("llvmpipe", &[1100]));
        assert_eq!(row.findings(""), ["b gl 4x2: queries [1000], not [1100]"]);
        row.device = Err("it hangs".to_owned());
        assert_eq!(row.findings(""), ["b gl 4x2: it hangs"]);
        let line = markdown(&row);
        let columns = |line: &str| line.matches('|').count();
        assert_eq!(Some(columns(&line)), HEAD.lines().next().map(columns));
    }

    #[test]
    fn memory_may_not_grow() {
        let mut animation = Animation {
            scene: SCENE,
            ms: 1.0,
            difference: Some(near(100.0)),
            peaks: [100_000, 106_000],
        };
        assert!(animation.findings().is_empty());
        animation.peaks[1] = 107_000;
        assert_eq!(
            animation.findings(),
            ["b gl 4x2: 107000 KiB after 300 frames, 100000 KiB after 50"]
        );
        animation.difference = None;
        assert_eq!(animation.findings().len(), 2);
    }
}
