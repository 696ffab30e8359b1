//! What a guest says of itself: a word a line.
//!
//! The words are those of the script in `init.rs`. Any other line is passed over: the guest may write anything.

/// How far a guest is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Its kernel boots.
    Boots,
    /// i915 is loaded.
    Loads,
    /// The program runs.
    Runs,
    /// There is a shell.
    Shell,
    /// Files are sent.
    Packs,
}

impl Stage {
    /// A sentence without its end.
    pub fn text(self) -> &'static str {
        match self {
            Stage::Boots => "the guest's kernel boots",
            Stage::Loads => "the guest loads i915",
            Stage::Runs => "the program runs",
            Stage::Shell => "the guest's shell runs",
            Stage::Packs => "the guest sends its files",
        }
    }
}

/// A word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Word {
    /// The guest is so far.
    At(Stage),
    /// i915 has bound the device, so many seconds after the kernel's start.
    Bound(String),
    /// i915 has not.
    NotBound,
    /// All is done, with this exit code.
    Exit(u8),
}

impl Word {
    /// A word of a line.
    pub fn of(line: &str) -> Option<Self> {
        let mut parts = line.split_whitespace();
        let word = match parts.next()? {
            "up" => Word::At(Stage::Loads),
            "bound" => {
                let seconds = parts.next()?;
                let is_number = seconds.bytes().all(|b| b.is_ascii_digit() || b == b'.');
                (is_number && seconds.len() < 12).then(|| Word::Bound(seconds.to_owned()))?
            }
            "none" => Word::NotBound,
            "runs" => Word::At(Stage::Runs),
            "shell" => Word::At(Stage::Shell),
            "packs" => Word::At(Stage::Packs),
            "exit" => Word::Exit(parts.next()?.parse().ok()?),
            _ => return None,
        };
        Some(word)
    }
}

#[cfg(test)]
mod tests {
    use super::{Stage, Word};

    #[test]
    fn words_and_what_is_none() {
        assert_eq!(Word::of("up 3.1"), Some(Word::At(Stage::Loads)));
        assert_eq!(Word::of("exit 7"), Some(Word::Exit(7)));
        assert_eq!(Word::of("bound 20.15"), Some(Word::Bound("20.15".into())));
        for line in [
            "",
            "exit",
            "exit 256",
            "exit -1",
            "bound \u{1b}[2J",
            "hello",
        ] {
            assert_eq!(Word::of(line), None, "{line}");
        }
    }
}
