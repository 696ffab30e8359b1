//! Scenes on a served device beside Mesa's rasterisers: `cargo xtask scenes`.
//! The program that draws them is `tests/tools/glscenes.c`; a quad strip's diagonal may be chosen.

mod floor;
pub mod named;
mod options;
mod picture;
mod program;
mod table;

use std::path::Path;
use std::{fs, io};

use self::floor::Lod;
pub use self::options::Options;
use self::program::{Program, Run, Scene, Size, Who};
use self::table::{Animation, Row};
use crate::bench;
use crate::finding::counted;
use crate::node::{self, Exec, Served};
use crate::progress::Progress;

/// What the device is compared with.
const REFERENCES: [&str; 2] = ["llvmpipe", "softpipe"];

/// The LOD of the device and of the references.
const RULES: [Lod; 3] = [Lod::Ideal, Lod::Lines, Lod::Largest];

/// Draws and compares; false when something is wrong.
pub fn run(root: &Path, options: &Options) -> io::Result<bool> {
    let Some(path) = bench::glscenes(root)? else {
        return Ok(false);
    };
    let served = &options.served;
    let program = program(root, &path, served, options.out.as_deref(), options.timeout)?;
    let exec = Exec::new(root, served)?;
    let device = Who::Device(&exec, &served.platform);

    let still = still(options);
    let animated = animated(options);
    let runs = 3 * (still.len() + animated.len());
    let mut bench = Bench {
        program,
        progress: Progress::new(runs as u64),
    };
    let mut findings = Vec::new();
    let mut notes = Vec::new();
    let mut page = format!(
        "# Scenes on the modelled {}\n\n{}",
        served.device.name,
        table::HEAD
    );
    bench.progress.print(table::HEAD.trim_end());
    for scene in still {
        let demanded = options.demanded.contains(scene.letter);
        let row = bench.row(scene, device, demanded)?;
        let line = table::markdown(&row);
        bench.progress.print(line.trim_end());
        page += &line;
        notes.extend(row.note());
        findings.extend(row.findings(served.renderer()));
    }
    page.push('\n');
    for note in &notes {
        bench.progress.print(note);
        page = page + note + "\n";
    }
    for scene in animated {
        match bench.animation(scene, device)? {
            Ok(animation) => {
                bench.progress.print(&animation.line());
                page = page + &animation.line() + "\n";
                findings.extend(animation.findings());
            }
            Err(error) => findings.push(error),
        }
    }
    let Bench { program, progress } = bench;
    progress.end();
    for finding in &findings {
        println!("{finding}");
        page = page + "\n- " + finding;
    }
    let file = program.out.join("scenes.md");
    fs::write(&file, page + "\n")?;
    println!(
        "scenes: {}, {}",
        counted(findings.len(), "finding"),
        file.display()
    );
    Ok(findings.is_empty())
}

/// A program whose files go where the command line says, or below the target directory.
fn program(
    root: &Path,
    path: &Path,
    served: &Served,
    out: Option<&Path>,
    timeout: u64,
) -> io::Result<Program> {
    let usual = || node::target(root).join("scenes").join(served.device.name);
    let out = out.map_or_else(usual, Path::to_owned);
    fs::create_dir_all(&out)?;
    Ok(Program {
        path: path.canonicalize()?,
        out: out.canonicalize()?,
        timeout,
        strips: !served.device.quad_strips,
    })
}

/// The scenes that are drawn and compared, in their order.
fn still(options: &Options) -> Vec<Scene> {
    let mut scenes = Vec::new();
    for &size in &options.sizes {
        for letter in options.scenes.chars() {
            scenes.extend(apis(letter).iter().map(|api| Scene {
                letter,
                api,
                size,
                frames: options.frames,
            }));
        }
    }
    scenes
}

/// The scenes of many frames, in the first of the sizes.
fn animated(options: &Options) -> Vec<Scene> {
    let letters = options.animated.chars();
    let drawn = letters.filter(|&letter| options.scenes.contains(letter));
    let scene = |letter| {
        Some(Scene {
            letter,
            api: "gles2",
            size: *options.sizes.first()?,
            frames: options.animation,
        })
    };
    drawn.filter_map(scene).collect()
}

/// With which interfaces a scene is drawn: quads and queries are not in GLES 2, points take their size
/// from the program in GLES 2 and from the state in GL.
fn apis(letter: char) -> &'static [&'static str] {
    match letter {
        'q' => &["gl"],
        'o' | 'j' => &["gles2", "gl"],
        _ => &["gles2"],
    }
}

/// The program, and how far the whole is.
struct Bench {
    program: Program,
    progress: Progress,
}

impl Bench {
    fn draw(&mut self, scene: Scene, who: Who<'_>) -> io::Result<Result<Run, String>> {
        let label = format!("{}, {}", table::label(&scene), who.name());
        self.progress.next(label);
        let run = self.program.run(&scene, who)?;
        self.progress.step();
        Ok(run)
    }

    /// One scene on all three.
    fn row(&mut self, scene: Scene, device: Who<'_>, demanded: bool) -> io::Result<Row> {
        let device = self.draw(scene, device)?;
        let references = [
            self.draw(scene, Who::Software(REFERENCES[0]))?,
            self.draw(scene, Who::Software(REFERENCES[1]))?,
        ];
        let picture = |run: &Result<Run, String>| run.as_ref().ok()?.picture.clone();
        let differences = [0, 1].map(|i: usize| {
            let theirs = picture(&references[i])?;
            picture(&device)?.compare(&theirs)
        });
        let formula = (scene.letter == 'm').then(|| {
            let runs = [&device, &references[0], &references[1]];
            [0, 1, 2].map(|i: usize| {
                let Size { width, height } = scene.size;
                let formula = floor::picture(width, height, RULES[i]);
                picture(runs[i])?.compare(&formula)
            })
        });
        let row = Row {
            scene,
            demanded,
            device,
            references,
            differences,
            formula,
        };
        let better = &row.references[row.better()];
        if let (Some(ours), Some(theirs)) = (picture(&row.device), picture(better)) {
            self.program.write_difference(&scene, &ours, &theirs)?;
        }
        Ok(row)
    }

    /// Many frames: the last one, and the memory on the way.
    fn animation(
        &mut self,
        scene: Scene,
        device: Who<'_>,
    ) -> io::Result<Result<Animation, String>> {
        let warm = Scene {
            frames: table::WARM,
            ..scene
        };
        let runs = [
            self.draw(warm, device)?,
            self.draw(scene, device)?,
            self.draw(scene, Who::Software(REFERENCES[0]))?,
        ];
        let [warm, all, reference] = match runs {
            [Ok(warm), Ok(all), Ok(reference)] => [warm, all, reference],
            runs => {
                let errors = runs.into_iter().filter_map(Result::err);
                return Ok(Err(errors.collect::<Vec<_>>().join("; ")));
            }
        };
        let difference = match (&all.picture, &reference.picture) {
            (Some(ours), Some(theirs)) => ours.compare(theirs),
            _ => None,
        };
        Ok(Ok(Animation {
            scene,
            ms: all.ms,
            difference,
            peaks: [warm.peak, all.peak],
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scene_of_the_program_is_drawn() {
        let source = include_str!("../../tests/tools/glscenes.c");
        for letter in options::SCENES.chars() {
            let known = letter == 'a' || source.contains(&format!("'{letter}'"));
            assert!(known, "{letter}");
            assert!(!apis(letter).is_empty());
        }
        assert_eq!(options::SCENES.len(), 18);
    }
}
