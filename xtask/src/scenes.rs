//! Scenes on a served device beside Mesa's rasterisers: `cargo xtask scenes`.
//! The programs that draw them are `tests/tools/glscenes.c`, of which only a quad strip's diagonal is chosen, and
//! `tests/tools/glscenes3.c`.

mod floor;
mod named;
mod options;
mod picture;
mod program;
mod table;

use std::path::Path;
use std::{fs, io};

use self::floor::Lod;
use self::options::{Draws, Options};
use self::program::{Program, Run, Scene, Size, Who};
use self::table::{Animation, Row};
use crate::bench;
use crate::node::{self, Exec};

/// What the device is compared with.
const REFERENCES: [&str; 2] = ["llvmpipe", "softpipe"];

/// The LOD of the device and of the references.
const RULES: [Lod; 3] = [Lod::Ideal, Lod::Lines, Lod::Largest];

/// Draws and compares; false when something is wrong.
pub fn run(root: &Path, args: &[&str]) -> io::Result<bool> {
    let Some(options) = Options::parse(args) else {
        eprint!("{}", options::USAGE);
        return Ok(false);
    };
    let path = match options.draws {
        Draws::Letters => bench::glscenes(root)?,
        Draws::Names => bench::compile(root, "glscenes3", "OpenGL")?,
    };
    let Some(path) = path else {
        return Ok(false);
    };
    let usual = || node::target(root).join("scenes").join(options.device.name);
    let out = options.out.clone().unwrap_or_else(usual);
    fs::create_dir_all(&out)?;
    let program = Program {
        path: path.canonicalize()?,
        out: out.canonicalize()?,
        timeout: options.timeout,
    };
    let exec = Exec::new(root, options.device, options.exec)?;
    let device = Who::Device(&exec, options.platform);
    match options.draws {
        Draws::Letters => lettered(&program, device, &options),
        Draws::Names => named::run(root, &program, device, &options),
    }
}

/// The scenes of `glscenes`.
fn lettered(program: &Program, device: Who<'_>, options: &Options<'_>) -> io::Result<bool> {
    let mut findings = Vec::new();
    let mut notes = Vec::new();
    let mut page = format!(
        "# Scenes on the modelled {}\n\n{}",
        options.device.name,
        table::HEAD
    );
    print!("{}", table::HEAD);
    for &size in &options.sizes {
        for letter in options.scenes.chars() {
            for &api in apis(letter) {
                let scene = Scene {
                    letter,
                    api,
                    size,
                    frames: options.frames,
                };
                let demanded = options.demanded.contains(letter);
                let row = row(program, scene, device, demanded)?;
                let line = table::markdown(&row);
                print!("{line}");
                page += &line;
                notes.extend(row.note());
                findings.extend(row.findings(options.renderer));
            }
        }
    }
    page.push('\n');
    for note in &notes {
        println!("{note}");
        page = page + note + "\n";
    }
    for letter in options.animated.chars() {
        if options.scenes.contains(letter) {
            let size = options.sizes.first().copied().unwrap_or(Size {
                width: 256,
                height: 256,
            });
            let scene = Scene {
                letter,
                api: "gles2",
                size,
                frames: options.animation,
            };
            match animation(program, scene, device)? {
                Ok(animation) => {
                    println!("{}", animation.line());
                    page = page + &animation.line() + "\n";
                    findings.extend(animation.findings());
                }
                Err(error) => findings.push(error),
            }
        }
    }
    for finding in &findings {
        println!("{finding}");
        page = page + "\n- " + finding;
    }
    let file = program.out.join("scenes.md");
    fs::write(&file, page + "\n")?;
    println!("scenes: {} findings, {}", findings.len(), file.display());
    Ok(findings.is_empty())
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

/// One scene on all three.
fn row(program: &Program, scene: Scene, device: Who<'_>, demanded: bool) -> io::Result<Row> {
    let device = program.run(&scene, device)?;
    let references = [
        program.run(&scene, Who::Software(REFERENCES[0]))?,
        program.run(&scene, Who::Software(REFERENCES[1]))?,
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
        program.write_difference(&scene, &ours, &theirs)?;
    }
    Ok(row)
}

/// Many frames: the last one, and the memory on the way.
fn animation(
    program: &Program,
    scene: Scene,
    device: Who<'_>,
) -> io::Result<Result<Animation, String>> {
    let warm = Scene {
        frames: table::WARM,
        ..scene
    };
    let runs = [
        program.run(&warm, device)?,
        program.run(&scene, device)?,
        program.run(&scene, Who::Software(REFERENCES[0]))?,
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
