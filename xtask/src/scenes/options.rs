//! The command line of `cargo xtask scenes`.
//! Only read here; `scenes.rs` acts on it.

use std::path::PathBuf;

use clap::Args;

use super::program::Size;
use crate::node::{Served, at_least_one};

/// All scenes of `tests/tools/glscenes.c`.
pub const SCENES: &str = "abcdDmefghijklnxqo";

/// What the command line says.
#[derive(Args, Debug)]
pub struct Options {
    #[command(flatten)]
    pub served: Served,
    /// Sizes of the pictures
    #[arg(long = "size", value_name = "SIZES", value_delimiter = ',', value_parser = size, default_value = "256x256,1024x768")]
    pub sizes: Vec<Size>,
    /// Frames of each scene; the last one is compared
    #[arg(long, value_name = "N", value_parser = at_least_one::<usize>, default_value = "3")]
    pub frames: usize,
    /// Scenes that are drawn
    #[arg(long = "scene", value_name = "LETTERS", value_parser = some_letters, default_value = SCENES)]
    pub scenes: String,
    /// Scenes that have to agree; - for none
    #[arg(long = "demand", value_name = "LETTERS", value_parser = letters, default_value = SCENES)]
    pub demanded: String,
    /// Scenes that are animated; - for none
    #[arg(long = "animate", value_name = "LETTERS", value_parser = letters, default_value = "g")]
    pub animated: String,
    /// Frames of an animation
    #[arg(long, value_name = "N", value_parser = at_least_one::<usize>, default_value = "300")]
    pub animation: usize,
    /// Seconds for a run
    #[arg(long, value_name = "S", value_parser = at_least_one::<u64>, default_value = "600")]
    pub timeout: u64,
    /// Directory for pictures, differences and scenes.md
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

fn letters(text: &str) -> Result<String, String> {
    let text = if text == "-" { "" } else { text };
    match text.chars().find(|letter| !SCENES.contains(*letter)) {
        None => Ok(text.to_owned()),
        Some(letter) => Err(format!("no scene {letter}; there are {SCENES}")),
    }
}

fn some_letters(text: &str) -> Result<String, String> {
    let letters = letters(text)?;
    (!letters.is_empty())
        .then_some(letters)
        .ok_or_else(|| "no scene".to_owned())
}

pub fn size(text: &str) -> Result<Size, String> {
    let (width, height) = text.split_once('x').ok_or("WIDTHxHEIGHT")?;
    Ok(Size {
        width: at_least_one(width)?,
        height: at_least_one(height)?,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;
    use crate::node;

    #[test]
    fn options() {
        let parse = node::parsed::<Options>;
        let args = ["--size", "64x32", "--scene", "ab", "--demand", "-"];
        let options = parse(&args).unwrap();
        let size = Size {
            width: 64,
            height: 32,
        };
        assert_eq!(options.sizes, [size]);
        assert_eq!(
            (options.scenes.as_str(), options.demanded.as_str()),
            ("ab", "")
        );
        assert_eq!(options.served.renderer(), "965GM");
        assert_eq!(parse(&[]).unwrap().sizes.len(), 2);
        for wrong in [
            &["--size", "64"][..],
            &["--size", "0x1"],
            &["--scene", "z"],
            &["--scene", "-"],
            &["--frames", "0"],
            &["--device", "gm964"],
            &["a"],
        ] {
            assert!(parse(wrong).is_err(), "{wrong:?}");
        }
    }
}
