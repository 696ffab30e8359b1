//! Assembly text and generation names, for the commands that take them.
//!
//! No PRM chapter.

use std::fmt::Display;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use isa::Verx10;
use isa::tables::Table;

use super::Error;

/// Longest source text in bytes.
pub const LIMIT: u64 = 64 << 20;

/// A generation as people write it: 4, 4.5, g45, 5, ilk, 6, 7, 9, or version times ten.
pub fn generation(text: &str) -> Result<Verx10, String> {
    let times_ten = match text.to_ascii_lowercase().as_str() {
        "4" | "40" | "brw" | "gm965" => 40,
        "4.5" | "45" | "g45" | "g4x" => 45,
        "5" | "50" | "ilk" => 50,
        "6" | "60" | "snb" => 60,
        "7" | "70" | "ivb" | "vlv" => 70,
        "7.5" | "75" | "hsw" => 75,
        "8" | "80" | "bdw" => 80,
        "9" | "90" | "skl" | "bxt" => 90,
        _ => 0,
    };
    let generation = Verx10::new(times_ten);
    match Table::of(generation) {
        Some(_) => Ok(generation),
        None => Err("expected 4, 4.5 (g45), 5, 6, 7, 7.5, 8 or 9".to_owned()),
    }
}

/// The same for commands that run what they assemble.
pub fn modelled_generation(text: &str) -> Result<Verx10, String> {
    const RUN: &str = "the model runs 4, 4.5 (g45) and 5";
    let known = generation(text).map_err(|_| RUN.to_owned())?;
    if matches!(known.0, 40 | 45 | 50) {
        return Ok(known);
    }
    Err(format!(
        "{RUN}; `asm` and `disasm` know 6, 7, 7.5, 8 and 9 too"
    ))
}

/// Help of `--gen` wherever it stands.
pub const GENERATIONS: &str = "Generation: 4, 4.5, 5, 6, 7, 7.5, 8, 9, also times ten (40, 45, ..) or by name (gm965, g45, ilk, snb, ivb, vlv, hsw, bdw, skl, bxt)";

/// A file's name for messages and its bytes; `-` is standard input.
pub fn bytes(path: &Path) -> Result<(String, Vec<u8>), Error> {
    let mut bytes = Vec::new();
    let (name, read) = if path == Path::new("-") {
        let stdin = std::io::stdin();
        (
            "<stdin>".to_owned(),
            stdin.lock().take(LIMIT + 1).read_to_end(&mut bytes),
        )
    } else {
        let name = path.display().to_string();
        let read = File::open(path).and_then(|file| {
            let meta = file.metadata()?;
            if meta.is_dir() {
                return Err(std::io::ErrorKind::IsADirectory.into());
            }
            file.take(LIMIT + 1).read_to_end(&mut bytes)
        });
        (name, read)
    };
    read.map_err(|e| format!("{name}: {e}"))?;
    if bytes.len() as u64 > LIMIT {
        return Err(format!("{name}: longer than {LIMIT} bytes").into());
    }
    Ok((name, bytes))
}

/// A file's name for messages and its text; `-` is standard input.
pub fn text(path: &Path) -> Result<(String, String), Error> {
    let (name, bytes) = bytes(path)?;
    let text = String::from_utf8(bytes).map_err(|e| {
        let at = e.utf8_error().valid_up_to();
        format!("{name}: byte {at} is not UTF-8: expected assembly text")
    })?;
    // Some editors put a byte order mark before the text.
    let text = match text.strip_prefix('\u{feff}') {
        Some(rest) => rest.to_owned(),
        None => text,
    };
    Ok((name, text))
}

/// Errors as one block of text, one after the other.
pub fn listing(errors: &[impl Display]) -> String {
    let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
    format!("the text does not assemble\n{}", lines.join("\n"))
}
