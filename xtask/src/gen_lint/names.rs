//! Names of generations and devices, and PCI ids, as the tables have them.
//! A new row's name is known at once. Names that no table has yet are a short list here.

use std::collections::BTreeSet;

use crate::source::{Kind, RustFile};
use crate::workspace::Workspace;

use super::rooms;

/// What the folders of tables are called, before the version.
const FOLDER: &str = "gen";

/// What stands before a version in names: the tables' and Mesa's.
const PREFIXES: [&str; 2] = [FOLDER, "gfx"];

/// Ordinals from zero on, for the first, the second or the ninth generation.
const ORDINALS: [&str; 10] = [
    "zeroth", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth",
];

/// Functions whose calls in rooms are rows of devices, instruction sets or the like; their strings are names.
const ROWS: [&str; 4] = ["device", "mobile", "model", "named"];

/// Types of statics that are named after a device or a generation.
const ROW_TYPES: [&str; 2] = ["DeviceInfo", "Generation"];

/// The vendor of all ids.
const VENDOR: u64 = 0x8086;

/// Names of generations and devices without a table.
const WITHOUT_TABLE: &str = include_str!("without_table.txt");

/// What names a generation or a device of one.
#[derive(Debug, Default)]
pub struct Names {
    /// Words in lower case.
    words: BTreeSet<String>,
    /// PCI device ids.
    ids: BTreeSet<u64>,
    /// Versions times ten.
    versions: BTreeSet<u64>,
}

impl Names {
    /// The names of a workspace's tables.
    pub fn of(workspace: &Workspace) -> Names {
        let mut names = Names::default();
        let without = WITHOUT_TABLE.lines().filter(|line| !line.starts_with('#'));
        names.words.extend(without.map(str::to_owned));
        for file in &workspace.text {
            // regs/tables/VENDOR/GENERATION/..
            let folder = file.path.strip_prefix("regs/tables/");
            if let Some([_, generation, ..]) =
                folder.map(|f| f.split('/').collect::<Vec<_>>()).as_deref()
            {
                names.add_generation(generation);
            }
            let table = file.path.strip_prefix("isa/src/tables/");
            let stem = table.and_then(|table| table.strip_suffix(".rs"));
            if let Some(stem) =
                stem.filter(|stem| stem.starts_with(FOLDER) && *stem != "generations")
            {
                names.add_generation(stem);
            }
        }
        for file in workspace.rust.iter().filter(|f| rooms::is_room(&f.path)) {
            names.add_rows(file);
        }
        names
    }

    /// A folder or a file of tables; its name says the version.
    fn add_generation(&mut self, name: &str) {
        if let Some(version) = name.strip_prefix(FOLDER).and_then(|n| n.parse().ok()) {
            self.versions.insert(version);
        }
        self.words.insert(name.to_owned());
    }

    /// Strings and ids of calls that make rows, and names of statics.
    fn add_rows(&mut self, file: &RustFile) {
        for (i, token) in file.tokens.iter().enumerate().filter(|(_, t)| !t.test) {
            let Kind::Ident(name) = &token.kind else {
                continue;
            };
            let definition = i > 0 && file.is_ident(i - 1, "fn");
            if ROWS.contains(&name.as_str()) && file.is_open(i + 1, '(') && !definition {
                self.add_row(file, i + 1);
            }
            let binding = i > 0 && file.is_ident(i - 1, "static");
            if binding
                && file.is_punct(i + 1, ':')
                && ROW_TYPES.iter().any(|t| file.is_ident(i + 2, t))
            {
                self.words.insert(name.to_ascii_lowercase());
            }
        }
    }

    fn add_row(&mut self, file: &RustFile, open: usize) {
        for token in &file.tokens[open..file.closing(open)] {
            let Kind::Literal(text) = &token.kind else {
                continue;
            };
            if let Some(number) = number(text) {
                // Revisions and clocks are no ids: an id is written with four hexadecimal digits.
                if is_id(text) {
                    self.ids.insert(number);
                }
            } else if let Some(text) = string(text) {
                self.add_name(&text.to_ascii_lowercase());
            }
        }
    }

    /// A name of one word and a number of three digits in it, or the words of a title that have letters and digits. A number of
    /// a title counts with the word behind it (`4 Series`).
    fn add_name(&mut self, name: &str) {
        if !name.contains(' ') {
            let letters = name.bytes().any(|b| b.is_ascii_alphabetic());
            if letters && name.len() > 2 {
                self.words.insert(name.to_owned());
                let numbers = name.split(|c: char| !c.is_ascii_digit());
                self.words
                    .extend(numbers.filter(|n| n.len() == 3).map(str::to_owned));
            }
            return;
        }
        let all: Vec<&str> = words(name).filter(|word| !word.is_empty()).collect();
        let pairs = all.windows(2).filter(|pair| all_digits(pair[0]));
        self.words.extend(pairs.map(<[&str]>::concat));
        let mixed = words(name).filter(|word| {
            let digits = word.bytes().any(|b| b.is_ascii_digit());
            digits && word.len() > 2 && word.bytes().any(|b| b.is_ascii_alphabetic())
        });
        self.words.extend(mixed.map(str::to_owned));
    }

    /// Whether a word in lower case is a name, or `gen` or `gfx` with a number.
    fn is_name(&self, word: &str) -> bool {
        let mut versions = PREFIXES
            .iter()
            .filter_map(|prefix| word.strip_prefix(prefix));
        self.words.contains(word) || versions.any(|n| n.starts_with(|c: char| c.is_ascii_digit()))
    }

    /// What an identifier names, if it does.
    pub fn identifier(&self, name: &str) -> Option<String> {
        let lower = name.to_ascii_lowercase();
        let parts: Vec<&str> = lower.split('_').filter(|part| !part.is_empty()).collect();
        let named = self.is_name(&lower)
            || parts.iter().any(|part| self.is_name(part))
            || self.is_spelled(&parts)
            || camel(name).iter().any(|part| self.is_name(part));
        named.then(|| name.to_owned())
    }

    /// What a string or a number names, if it does.
    pub fn literal(&self, text: &str) -> Option<String> {
        if let Some(number) = number(text) {
            let known = self.ids.contains(&number) && (number > 0xff || is_id(text));
            let [low, high] = [number & 0xffff, number >> 16];
            let pair = [(low, high), (high, low)]
                .into_iter()
                .any(|(vendor, device)| vendor == VENDOR && self.ids.contains(&device));
            return (known || pair).then(|| text.to_owned());
        }
        self.text(string(text)?)
    }

    /// What a text for people or programs names, if it does: a name, the words of one, or an id as four hexadecimal digits.
    pub fn text(&self, text: &str) -> Option<String> {
        let lower = text.to_ascii_lowercase();
        let all: Vec<&str> = words(&lower).filter(|word| !word.is_empty()).collect();
        let mut single = all.iter().copied().chain([lower.as_str()]);
        if let Some(word) = single.find(|word| {
            self.is_name(word) || self.identifier(word).is_some() || self.is_id_text(word)
        }) {
            return Some(format!("{word:?}"));
        }
        // Between the words of a name are spaces and dashes, no other signs.
        let mut phrases = lower.split(|c: char| !c.is_ascii_alphanumeric() && !" -_".contains(c));
        let phrase = phrases.find(|phrase| {
            let words: Vec<&str> = words(phrase).filter(|word| !word.is_empty()).collect();
            self.is_spelled(&words)
        })?;
        Some(format!("{phrase:?}"))
    }

    /// Whether words that follow one another are a name when they are put together (`Sandy Bridge`, `Gen 5`), or a generation and
    /// its number.
    fn is_spelled(&self, words: &[&str]) -> bool {
        let together = |count| {
            let mut runs = words.windows(count);
            runs.any(|run: &[&str]| self.is_name(&run.concat()))
        };
        let is_version = |n: u64| self.versions.contains(&n) || self.versions.contains(&(n * 10));
        let numbered = |pair: &[&str]| {
            let ordinal = ORDINALS.iter().zip(0..).find(|(word, _)| **word == pair[0]);
            let ordinal = ordinal.is_some_and(|(_, n)| self.versions.contains(&(n * 10)));
            let noun = ["generation", "generations", "verx10", "ver"].contains(&pair[0]);
            noun && pair[1].parse().is_ok_and(is_version) || ordinal && pair[1] == "generation"
        };
        together(2) || together(3) || words.windows(2).any(numbered)
    }

    /// Whether a word is an id: four hexadecimal digits, behind `0x` or not.
    fn is_id_text(&self, word: &str) -> bool {
        let digits = word.strip_prefix("0x").unwrap_or(word);
        let id = (digits.len() == 4).then(|| u64::from_str_radix(digits, 16));
        id.is_some_and(|id| id.is_ok_and(|id| self.ids.contains(&id)))
    }

    /// Whether a string is a part of a name by which devices could be told apart.
    pub fn part(&self, text: &str, begins: bool) -> bool {
        let Some(text) = string(text).map(str::to_ascii_lowercase) else {
            return false;
        };
        let digits = text.bytes().any(|b| b.is_ascii_digit());
        let letters = text.bytes().any(|b| b.is_ascii_alphabetic());
        let mut names = self.words.iter();
        if begins {
            let long = text.len() > 2 || digits && text.len() > 1;
            letters && long && names.any(|name| name.starts_with(&text))
        } else {
            letters
                && (digits || text.len() > 3)
                && text.len() > 1
                && names.any(|name| name.contains(&text))
        }
    }

    /// Whether a number is the version of a generation.
    pub fn is_version(&self, number: u64) -> bool {
        self.versions.contains(&number)
    }
}

fn all_digits(word: &str) -> bool {
    word.bytes().all(|b| b.is_ascii_digit())
}

/// The words of a text.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric())
}

/// `IlkGdsr` as `ilk`, `gdsr`; `I965GM` as one.
fn camel(name: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut before = '_';
    for c in name.chars() {
        let begins =
            c.is_ascii_uppercase() && (before.is_ascii_lowercase() || before.is_ascii_digit());
        if begins || c == '_' {
            parts.push(String::new());
        }
        if c != '_'
            && let Some(last) = parts.last_mut()
        {
            last.push(c.to_ascii_lowercase());
        }
        before = c;
    }
    parts
}

/// The value of a literal that is an integer.
pub fn number(text: &str) -> Option<u64> {
    if !text.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let plain = text.replace('_', "").to_ascii_lowercase();
    if let Some(digits) = plain.strip_prefix("0x") {
        let digits = digits.split(['u', 'i']).next()?;
        return u64::from_str_radix(digits, 16).ok();
    }
    for (prefix, radix) in [("0b", 2), ("0o", 8)] {
        if let Some(digits) = plain.strip_prefix(prefix) {
            let digits = digits.split(['u', 'i']).next()?;
            return u64::from_str_radix(digits, radix).ok();
        }
    }
    let digits = plain.split(['u', 'i', '.']).next()?;
    digits.parse().ok()
}

/// Whether a number is written as PCI ids are: with four hexadecimal digits, or with zeros before these.
fn is_id(text: &str) -> bool {
    let plain = text.replace('_', "");
    let digits = plain.strip_prefix("0x").unwrap_or_default();
    digits.split(['u', 'i']).next().map(str::len) >= Some(4)
}

/// What is between the quotation marks of a string or character.
fn string(text: &str) -> Option<&str> {
    let begin = text.find(['"', '\''])?;
    let inner = &text[begin + 1..];
    let end = inner.rfind(['"', '\''])?;
    Some(&inner[..end])
}
