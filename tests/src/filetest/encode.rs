//! Kind `encode`: words through decoder and encoder, until there is an assembler.
//!
//! PRM: volume 4, 13.2. Input: `roundtrip WORDS` gives the words that come back, `canonical WORDS` the same without
//! bits that the format does not define, `reserved WORDS` those bits.

use super::Kind;
use super::file::{Case, File, Problem};
use super::value::words;

/// The kind.
pub struct Encode;

impl Kind for Encode {
    fn name(&self) -> &'static str {
        "encode"
    }

    fn options(&self) -> &'static [&'static str] {
        &["gen"]
    }

    fn run(&self, file: &File, case: &Case) -> Result<Vec<String>, Problem> {
        let generation = file.generation()?;
        let mut out = Vec::new();
        for line in &case.input {
            let (verb, rest) = line.text.split_once(' ').unwrap_or((&line.text, ""));
            let raw = words(rest).map_err(|what| line.problem(what))?;
            let mut inst = isa::decode(generation, raw).map_err(|e| line.problem(e.to_string()))?;
            let back = match verb {
                "roundtrip" => isa::encode(generation, &inst),
                "canonical" => {
                    inst.reserved = [0; 4];
                    isa::encode(generation, &inst)
                }
                "reserved" => Ok(inst.reserved),
                _ => return Err(line.problem(format!("unknown statement `{verb}`"))),
            };
            out.push(match back {
                Ok([a, b, c, d]) => format!("{a:08x} {b:08x} {c:08x} {d:08x}"),
                Err(error) => format!("error: {error}"),
            });
        }
        Ok(out)
    }
}
