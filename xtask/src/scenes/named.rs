//! Scenes with names, one a capability of OpenGL, as many as a device offers.
//!
//! The program is `tests/tools/glscenes3.c`; which scenes have to agree, and how far, stands in a file for each device
//! (`list.rs`). Result buffers hold exact numbers, so their hashes have to be llvmpipe's.

mod list;

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io, iter};

use clap::Args;

use self::list::{Demand, List};
use super::options::size;
use super::picture::Difference;
use super::program::{Outcome, Program, Run, Size, Who};
use super::{REFERENCES, table};
use crate::bench;
use crate::finding::counted;
use crate::node::{Exec, Served, at_least_one};
use crate::progress::Progress;

/// What the command line says.
#[derive(Args, Debug)]
pub struct Options {
    #[command(flatten)]
    served: Served,
    /// Sizes of the pictures
    #[arg(long = "size", value_name = "SIZES", value_delimiter = ',', value_parser = size, default_value = "256x256")]
    sizes: Vec<Size>,
    /// Frames of each scene; the last one is compared
    #[arg(long, value_name = "N", value_parser = at_least_one::<usize>, default_value = "3")]
    frames: usize,
    /// Scenes that are drawn; all when it is missing
    #[arg(long = "scene", value_name = "NAMES", value_delimiter = ',')]
    scenes: Vec<String>,
    /// Which scenes have to agree, and how far; tests/conformance/glscenes3-DEVICE.list when it is missing
    #[arg(long, value_name = "FILE")]
    list: Option<PathBuf>,
    /// Seconds for a run
    #[arg(long, value_name = "S", value_parser = at_least_one::<u64>, default_value = "600")]
    timeout: u64,
    /// Directory for pictures, differences and glscenes3.md
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// A scene on the device, and on the references where the device offers it.
#[derive(Debug)]
struct Row<'a> {
    name: &'a str,
    size: Size,
    demand: Option<Demand>,
    device: Outcome,
    references: Vec<Outcome>,
    differences: Vec<Option<Difference>>,
}

/// The table's head.
const HEAD: &str = "\
| scene | demanded % | llvmpipe: exact % | within 2 % | largest | softpipe: exact % | within 2 % | largest | result buffers | ms: device | llvmpipe | softpipe |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
";

/// Draws and compares; false when something is wrong.
pub fn run(root: &Path, options: &Options) -> io::Result<bool> {
    let Some(path) = bench::compile(root, "glscenes3", "OpenGL")? else {
        return Ok(false);
    };
    let served = &options.served;
    let out = options.out.as_deref();
    let program = super::program(root, &path, served, out, options.timeout)?;
    let exec = Exec::new(root, served)?;
    let device = Who::Device(&exec, &served.platform);
    let known = names(&program.path)?;
    let file = format!("tests/conformance/glscenes3-{}.list", served.device.name);
    let file = options.list.clone().unwrap_or_else(|| root.join(file));
    let list = list::parse(&fs::read_to_string(&file)?).map_err(io::Error::other)?;
    let chosen: BTreeSet<&str> = options.scenes.iter().map(String::as_str).collect();

    let mut findings: Vec<String> = Vec::new();
    for name in list
        .keys()
        .map(String::as_str)
        .chain(chosen.iter().copied())
    {
        if !known.iter().any(|known| known == name) {
            findings.push(format!("{name}: the program has no such scene"));
        }
    }
    let mut page = format!(
        "# Scenes of glscenes3 on the modelled {}\n\n{HEAD}",
        served.device.name
    );
    let drawn = |name: &str| chosen.is_empty() || chosen.contains(name);
    let count = known.iter().filter(|name| drawn(name)).count() * options.sizes.len();
    let mut progress = Progress::new(count as u64);
    progress.print(HEAD.trim_end());
    let mut skipped = Vec::new();
    for &size in &options.sizes {
        for name in known.iter().map(String::as_str) {
            if !drawn(name) {
                continue;
            }
            progress.next(name.to_owned());
            let row = row(&program, device, (name, size, options.frames), &list)?;
            progress.step();
            findings.extend(row.findings(served.renderer()));
            if let Outcome::Skipped(why) = &row.device {
                skipped.push(format!("{name}: {why}"));
                continue;
            }
            let line = row.markdown();
            progress.print(line.trim_end());
            page += &line;
        }
    }
    progress.end();
    println!("not offered: {}", counted(skipped.len(), "scene"));
    for line in skipped.iter().chain(&findings) {
        page = page + "\n- " + line;
    }
    for finding in &findings {
        println!("{finding}");
    }
    let file = program.out.join("glscenes3.md");
    fs::write(&file, page + "\n")?;
    println!(
        "scenes: {}, {}",
        counted(findings.len(), "finding"),
        file.display()
    );
    Ok(findings.is_empty())
}

/// All scenes of the program, in its order.
fn names(program: &Path) -> io::Result<Vec<String>> {
    let output = Command::new(program).args(["-s", "list"]).output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let words = text
        .lines()
        .filter_map(|line| line.split_whitespace().next());
    Ok(words.map(str::to_owned).collect())
}

/// One scene on all three. The references draw it in the same way: in the oldest context, if the device did.
fn row<'a>(
    program: &Program,
    device: Who<'_>,
    (name, size, frames): (&'a str, Size, usize),
    list: &List,
) -> io::Result<Row<'a>> {
    let line = list.get(name);
    let settings = line.map_or(&[][..], |line| &line.settings);
    let mut row = Row {
        name,
        size,
        demand: line.map(|line| line.demand),
        device: program.run_named(name, size, frames, false, device, settings)?,
        references: Vec::new(),
        differences: Vec::new(),
    };
    let oldest = match &row.device {
        Outcome::Ran(run) => run.legacy,
        Outcome::Failed(_) => false,
        Outcome::Skipped(_) => return Ok(row),
    };
    for reference in REFERENCES {
        let theirs =
            program.run_named(name, size, frames, oldest, Who::Software(reference), &[])?;
        let pair = picture(&row.device).zip(picture(&theirs));
        row.differences
            .push(pair.and_then(|(ours, theirs)| ours.compare(theirs)));
        row.references.push(theirs);
    }
    let better = row
        .best()
        .and_then(|best| row.differences.iter().position(|d| *d == Some(best)));
    let theirs = better.and_then(|n| picture(&row.references[n]));
    if let Some((ours, theirs)) = picture(&row.device).zip(theirs) {
        let Size { width, height } = size;
        let file = format!("{width}x{height}-{name}-difference.png");
        ours.apart(theirs).write(&program.out.join(file))?;
    }
    Ok(row)
}

fn ran(outcome: &Outcome) -> Option<&Run> {
    match outcome {
        Outcome::Ran(run) => Some(run),
        _ => None,
    }
}

fn picture(outcome: &Outcome) -> Option<&super::picture::Picture> {
    ran(outcome)?.picture.as_ref()
}

impl Row<'_> {
    /// The difference from the better reference.
    fn best(&self) -> Option<Difference> {
        let found = self.differences.iter().copied();
        found.fold(None, table::nearer)
    }

    /// What is wrong, if anything.
    fn findings(&self, renderer: &str) -> Vec<String> {
        let Size { width, height } = self.size;
        let label = format!("{} {width}x{height}", self.name);
        let device = match &self.device {
            Outcome::Ran(run) => run,
            Outcome::Skipped(why) if self.demand.is_some() => {
                return vec![format!("{label}: in the list, and not offered: {why}")];
            }
            Outcome::Failed(why) if self.demand != Some(Demand::Any) => return vec![why.clone()],
            _ => return Vec::new(),
        };
        let mut findings = Vec::new();
        if !device.renderer.contains(renderer) {
            findings.push(format!("{label}: drawn by {}", device.renderer));
        }
        let Some(Demand::Near(demanded)) = self.demand else {
            return findings;
        };
        match self.best() {
            None => findings.push(format!("{label}: no reference draws it")),
            Some(best) if best.near < demanded => {
                findings.push(format!(
                    "{label}: {:.3} % within 2, not {demanded}",
                    best.near
                ));
            }
            Some(_) => {}
        }
        let theirs = self.references.first().and_then(ran);
        if let Some(theirs) = theirs.filter(|theirs| theirs.buffers != device.buffers) {
            findings.push(format!(
                "{label}: {:?}, not {:?}",
                device.buffers, theirs.buffers
            ));
        }
        findings
    }

    /// A row of the table.
    fn markdown(&self) -> String {
        let Size { width, height } = self.size;
        let demanded = match self.demand {
            Some(Demand::Near(share)) => share.to_string(),
            Some(Demand::Any) => "any".to_owned(),
            None => String::new(),
        };
        let mut text = format!("| {} {width}x{height} | {demanded} |", self.name);
        for n in 0..REFERENCES.len() {
            // Writing to a string cannot fail.
            let _ = match self.differences.get(n).copied().flatten() {
                Some(d) => write!(text, " {:.3} | {:.3} | {} |", d.exact, d.near, d.largest),
                None => write!(text, " | | |"),
            };
        }
        let theirs = self.references.first().and_then(ran);
        let _ = match (&self.device, theirs) {
            (Outcome::Ran(run), Some(theirs)) if !run.buffers.is_empty() => {
                let same = run.buffers == theirs.buffers;
                write!(text, " {} |", if same { "same" } else { "different" })
            }
            (Outcome::Ran(_), _) => write!(text, " |"),
            _ => write!(text, " no picture |"),
        };
        let theirs = (0..REFERENCES.len()).map(|n| self.references.get(n).and_then(ran));
        for run in iter::once(ran(&self.device)).chain(theirs) {
            let _ = match run {
                Some(run) => write!(text, " {:.2} |", run.ms),
                None => write!(text, " |"),
            };
        }
        text.push('\n');
        text
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    fn row(demand: Option<Demand>) -> Row<'static> {
        let run = |renderer: &str| {
            Outcome::Ran(Run {
                renderer: renderer.to_owned(),
                buffers: vec!["fnv=1".to_owned()],
                ..Run::default()
            })
        };
        let near = |near| {
            Some(Difference {
                exact: 90.0,
                near,
                largest: 9,
            })
        };
        Row {
            name: "mrt",
            size: Size {
                width: 4,
                height: 2,
            },
            demand,
            device: run("Mesa 965GM"),
            references: vec![run("llvmpipe"), run("softpipe")],
            differences: vec![near(99.0), near(99.9)],
        }
    }

    #[test]
    fn the_better_reference_counts() {
        assert!(row(Some(Demand::Near(99.8))).findings("965GM").is_empty());
        let found = row(Some(Demand::Near(99.95))).findings("965GM");
        assert_eq!(found, ["mrt 4x2: 99.900 % within 2, not 99.95"]);
        assert!(row(None).findings("965GM").is_empty());
        let found = row(None).findings("G45");
        assert_eq!(found, ["mrt 4x2: drawn by Mesa 965GM"]);
    }

    #[test]
    fn results_are_those_of_llvmpipe() {
        let mut row = row(Some(Demand::Near(0.0)));
        if let Outcome::Ran(run) = &mut row.device {
            run.buffers = vec!["fnv=2".to_owned()];
        }
        let found = row.findings("");
        assert_eq!(found, [r#"mrt 4x2: ["fnv=2"], not ["fnv=1"]"#]);
        row.demand = Some(Demand::Any);
        assert!(row.findings("").is_empty());
        assert!(row.markdown().contains("| different |"));
    }

    #[test]
    fn what_is_listed_is_offered_and_drawn() {
        let mut listed = row(Some(Demand::Near(99.8)));
        listed.device = Outcome::Skipped("needs GL 3.2".to_owned());
        let found = listed.findings("");
        assert_eq!(
            found,
            ["mrt 4x2: in the list, and not offered: needs GL 3.2"]
        );
        listed.device = Outcome::Failed("it crashed".to_owned());
        assert_eq!(listed.findings(""), ["it crashed"]);
        listed.demand = Some(Demand::Any);
        assert!(listed.findings("").is_empty());
        let mut other = row(None);
        other.device = Outcome::Skipped(String::new());
        assert!(other.findings("").is_empty());
    }

    #[test]
    fn rows_have_the_heads_columns() {
        let columns = |line: &str| line.matches('|').count();
        let mut row = row(None);
        let head = HEAD.lines().next().map(columns);
        assert_eq!(Some(columns(&row.markdown())), head);
        row.references.clear();
        row.differences.clear();
        assert_eq!(Some(columns(&row.markdown())), head);
        row.device = Outcome::Failed(String::new());
        assert_eq!(Some(columns(&row.markdown())), head);
    }

    #[test]
    fn lists_name_scenes_of_the_program() {
        let source = include_str!("../../../tests/tools/glscenes3.c");
        let list = include_str!("../../../tests/conformance/glscenes3-gm965.list");
        let list = list::parse(list).unwrap();
        assert_eq!(list.len(), 30);
        for name in list.keys() {
            assert!(source.contains(&format!("{{ \"{name}\", ")), "{name}");
        }
    }
}
