//! The command line of `cargo xtask scenes`.
//! Only read here; `scenes.rs` acts on it.

use std::path::PathBuf;

use super::program::Size;
use crate::node::{self, Device};

/// What it takes.
pub const USAGE: &str = "\
usage: cargo xtask scenes [options]
  --program NAME    glscenes unless told, or glscenes3: scenes with names
  --device NAME     the device, gm965 unless told
  --size SIZES      256x256,1024x768 unless told; 256x256 for glscenes3
  --frames N        frames of each scene, 3 unless told; the last one is compared
  --scene LETTERS   abcdDmefghijklnxqo unless told; for glscenes3 names with commas between
  --demand LETTERS  scenes that have to agree, all unless told; - for none
  --animate LETTERS scenes that are animated, g unless told; - for none
  --animation N     frames of an animation, 300 unless told
  --list FILE       for glscenes3: which scenes have to agree how far, tests/conformance/glscenes3-NAME.list unless told
  --timeout S       seconds for a run, 600 unless told
  --out DIR         pictures, differences, scenes.md
  --exec PROGRAM    instead of crestline: `PROGRAM exec --device NAME -- CMD ARGS`
  --platform NAME   glscenes' platform there, gbm unless told
  --renderer TEXT   what the renderer's name must have in it there
";

/// All scenes of `tests/tools/glscenes.c`.
pub const SCENES: &str = "abcdDmefghijklnxqo";
const DEMANDED: &str = SCENES;

/// The program that draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Draws {
    /// `tests/tools/glscenes.c`.
    Letters,
    /// `tests/tools/glscenes3.c`.
    Names,
}

/// What the command line says.
#[derive(Debug, PartialEq, Eq)]
pub struct Options<'a> {
    pub draws: Draws,
    pub device: &'static Device,
    pub sizes: Vec<Size>,
    pub frames: usize,
    /// Letters, or names with commas between; empty for all names.
    pub scenes: &'a str,
    pub demanded: &'a str,
    pub animated: &'a str,
    pub animation: usize,
    pub list: Option<PathBuf>,
    pub timeout: u64,
    pub out: Option<PathBuf>,
    pub exec: Option<&'a str>,
    pub platform: &'a str,
    pub renderer: &'a str,
}

impl<'a> Options<'a> {
    /// None for anything that is not understood.
    pub fn parse(args: &[&'a str]) -> Option<Self> {
        let draws = draws(args)?;
        let (size, scenes) = match draws {
            Draws::Letters => ("256x256,1024x768", SCENES),
            Draws::Names => ("256x256", ""),
        };
        let mut options = Options {
            draws,
            device: node::device("gm965")?,
            sizes: sizes(size)?,
            frames: 3,
            scenes,
            demanded: DEMANDED,
            animated: "g",
            animation: 300,
            list: None,
            timeout: 600,
            out: None,
            exec: None,
            platform: "gbm",
            renderer: "",
        };
        let mut args = args.iter().copied();
        while let Some(arg) = args.next() {
            let value = args.next()?;
            match arg {
                "--device" => options.device = node::device(value)?,
                "--size" => options.sizes = sizes(value)?,
                "--frames" => options.frames = number(value)?,
                "--program" => {}
                "--scene" if draws == Draws::Names => options.scenes = value,
                "--list" if draws == Draws::Names => options.list = Some(value.into()),
                "--scene" => options.scenes = letters(value).filter(|l| !l.is_empty())?,
                "--demand" => options.demanded = letters(value)?,
                "--animate" => options.animated = letters(value)?,
                "--animation" => options.animation = number(value)?,
                "--timeout" => options.timeout = value.parse().ok().filter(|&s| s > 0)?,
                "--out" => options.out = Some(value.into()),
                "--exec" => options.exec = Some(value),
                "--platform" => options.platform = value,
                "--renderer" => options.renderer = value,
                _ => return None,
            }
        }
        if options.renderer.is_empty() {
            options.renderer = options.device.renderer;
        }
        Some(options)
    }
}

/// Which program the arguments name.
fn draws(args: &[&str]) -> Option<Draws> {
    let given = args.windows(2).find(|pair| pair[0] == "--program");
    match given.map_or("glscenes", |pair| pair[1]) {
        "glscenes" => Some(Draws::Letters),
        "glscenes3" => Some(Draws::Names),
        _ => None,
    }
}

fn number(text: &str) -> Option<usize> {
    text.parse().ok().filter(|&number| number > 0)
}

fn letters(text: &str) -> Option<&str> {
    let text = if text == "-" { "" } else { text };
    text.chars().all(|c| SCENES.contains(c)).then_some(text)
}

fn sizes(text: &str) -> Option<Vec<Size>> {
    let size = |text: &str| {
        let (width, height) = text.split_once('x')?;
        Some(Size {
            width: number(width)?,
            height: number(height)?,
        })
    };
    text.split(',').map(size).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn options() {
        let args = ["--size", "64x32", "--scene", "ab", "--demand", "-"];
        let options = Options::parse(&args).unwrap();
        let size = Size {
            width: 64,
            height: 32,
        };
        assert_eq!(options.sizes, [size]);
        assert_eq!((options.scenes, options.demanded), ("ab", ""));
        assert_eq!(options.renderer, "965GM");
        let args = ["--scene", "mrt,srgb", "--program", "glscenes3"];
        let options = Options::parse(&args).unwrap();
        assert_eq!((options.draws, options.scenes), (Draws::Names, "mrt,srgb"));
        assert_eq!(options.sizes.len(), 1);
        for wrong in [
            &["--size", "64"][..],
            &["--size", "0x1"],
            &["--scene", "z"],
            &["--scene", "-"],
            &["--scene", "mrt"],
            &["--program", "glscenes2"],
            &["--list", "file"],
            &["--frames", "0"],
            &["--device", "gm964"],
            &["a"],
        ] {
            assert_eq!(Options::parse(wrong), None);
        }
    }
}
