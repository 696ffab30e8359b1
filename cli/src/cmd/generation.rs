//! `--gen`: how generations are written, the same in every subcommand.
//!
//! No PRM chapter. Names are those of the parts' first products; steppings are not told apart.

use isa::Verx10;

/// Help of `--gen` wherever it stands.
pub const HELP: &str = "Generation: 4, 4.5, 5, 6, 7, 7.5, 8, 9, the same times ten (40, 45, ..), or a name (gm965, g45, ilk, snb, ivb, vlv, hsw, bdw, skl, bxt)";

/// Names and numbers of the generations.
const NAMES: &[(Verx10, &[&str])] = &[
    (Verx10::new(40), &["4", "4.0", "40", "965", "gm965", "g965", "g35", "brw"]),
    (Verx10::new(45), &["4.5", "45", "g45", "gm45", "g4x", "ctg", "elk"]),
    (Verx10::new(50), &["5", "5.0", "50", "ilk", "ironlake"]),
    (Verx10::new(60), &["6", "6.0", "60", "snb", "sandybridge"]),
    (Verx10::new(70), &["7", "7.0", "70", "ivb", "ivybridge", "vlv", "byt"]),
    (Verx10::new(75), &["7.5", "75", "hsw", "haswell"]),
    (Verx10::new(80), &["8", "8.0", "80", "bdw", "broadwell", "chv"]),
    (Verx10::new(90), &["9", "9.0", "90", "skl", "skylake", "bxt", "kbl", "glk"]),
];

/// The generation behind a number or name; capitals do not matter.
///
/// # Errors
/// The list of what can be written, for anything else.
pub fn parse(text: &str) -> Result<Verx10, String> {
    let name = text.to_ascii_lowercase();
    let name = name.strip_prefix("gen").unwrap_or(&name);
    NAMES
        .iter()
        .find(|(_, names)| names.contains(&name))
        .map(|(generation, _)| *generation)
        .ok_or_else(|| "generations are 4, 4.5, 5, 6, 7, 7.5, 8 and 9".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generations_have_numbers_and_names() {
        for (text, number) in [
            ("4", 40),
            ("4.5", 45),
            ("G45", 45),
            ("gen7", 70),
            ("75", 75),
            ("SKL", 90),
        ] {
            assert_eq!(parse(text), Ok(Verx10::new(number)), "{text}");
        }
        for text in ["", "3", "41", "10", "4.50", "gen"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
