//! Assembly text and generation names, for the commands that take them.

use std::fmt::Display;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::LazyLock;

use crestline_cli::shown;
use isa::Verx10;
use isa::tables::Table;
use mmio_mock::intel::r#gen::readers;

use super::{Error, device};

/// Longest source text in bytes.
pub const LIMIT: u64 = 64 << 20;

/// A generation as people write it: 4, 4.5, version times ten, or a name of it or of a device.
pub fn generation(text: &str) -> Result<Verx10, String> {
    let table = Table::spelled(text).map(|table| table.generation);
    table
        .or_else(|| device::called(text).map(|(_, model)| model.info.isa))
        .ok_or_else(|| {
            format!(
                "expected {}, a name ({}) or a device",
                listed(&numbers(|_| true), "or"),
                names().join(", ")
            )
        })
}

/// The same for commands that run what they assemble.
pub fn modelled_generation(text: &str) -> Result<Verx10, String> {
    let modelled = |isa| readers(isa).is_some();
    let run = format!("the model runs {}", listed(&numbers(modelled), "and"));
    let known = generation(text).map_err(|_| run.clone())?;
    if modelled(known) {
        return Ok(known);
    }
    let others = listed(&numbers(|isa| !modelled(isa)), "and");
    Err(format!("{run}; `asm` and `disasm` know {others} too"))
}

/// Help of `--gen` wherever it stands.
pub fn help() -> String {
    format!(
        "Generation: {}, also times ten (40, 45, ..), by name ({}) or by a device's name",
        numbers(|_| true).join(", "),
        names().join(", ")
    )
}

/// What a command does with a kernel, which may be of any generation with a table.
pub fn about(what: &str) -> String {
    let all = numbers(|_| true);
    match all.as_slice() {
        [first, .., last] => format!("{what} a kernel of generation {first} to {last}"),
        all => format!("{what} a kernel of generation {}", all.concat()),
    }
}

/// Help of `--gen` where the kernel is run.
pub fn modelled_help() -> String {
    let run = numbers(|isa| readers(isa).is_some());
    format!("Generation: {}, or a device's name", listed(&run, "or"))
}

/// The generation that commands run where none is named: the first.
pub fn first() -> &'static str {
    static FIRST: LazyLock<String> =
        LazyLock::new(|| mmio_mock::intel::r#gen::first().isa.dotted().to_string());
    &FIRST
}

/// Generations with a table, as people write them.
fn numbers(wanted: impl Fn(Verx10) -> bool) -> Vec<String> {
    let all = Table::GENERATIONS.into_iter().filter(|isa| wanted(*isa));
    all.map(|isa| isa.dotted().to_string()).collect()
}

fn names() -> Vec<&'static str> {
    let tables = Table::GENERATIONS.into_iter().filter_map(Table::of);
    tables.flat_map(|table| table.names).copied().collect()
}

/// "4, 4.5 and 5".
fn listed(names: &[String], word: &str) -> String {
    match names {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} {word} {last}", first.join(", ")),
    }
}

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
        let name = shown::path(path);
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

#[cfg(test)]
mod tests {
    use super::{generation, modelled_generation};

    /// Mesa 22.3.6 intel_device_info.c `name_map` and crocus_pci_ids.h say which device is of which generation.
    #[test]
    fn generations_have_numbers_names_and_devices() {
        for (texts, number) in [
            (&["4", "40", "brw", "GM965", "965g", "g35"][..], 40),
            (&["4.5", "45", "g4x", "g45", "ctg", "cantiga", "GM45"], 45),
            (&["5", "50", "ILK", "ironlake"], 50),
            (&["6", "60", "snb"], 60),
            (&["7", "70", "ivb", "vlv"], 70),
            (&["7.5", "75", "hsw"], 75),
            (&["8", "80", "bdw"], 80),
            (&["9", "90", "skl", "bxt"], 90),
        ] {
            for text in texts {
                let found = generation(text).map(isa::Verx10::times_ten);
                assert_eq!(found, Ok(number), "{text}");
                let runs = modelled_generation(text).is_ok();
                assert_eq!(runs, number <= 70, "{text}");
            }
        }
        for text in [
            "", "3", "4.", ".5", "4.4", "+4", "55", "100", "g4", "2a02", "voodoo",
        ] {
            let error = generation(text).err();
            assert!(
                error.is_some_and(|e| e.contains("7.5") && e.contains("snb")),
                "{text}"
            );
        }
    }
}
